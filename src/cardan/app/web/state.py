"""What one browser page works on: its project, its robot, the joint positions, who listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...describe.check import check
from ...describe.robot import Robot
from ...errors import CardanError
from .drawing import drawable, skeleton
from .jobs import Jobs
from .store import Project

__all__ = ["Page"]


class Page:
    """The state shared by the parts of the page; parts subscribe to changes."""

    def __init__(self, project: Project, jobs: Jobs) -> None:
        self.project = project
        self.jobs = jobs
        self.robot: Robot = project.robot
        self._robot_listeners: list[Callable[[], None]] = []
        self._motion_listeners: list[Callable[[], None]] = []
        self.q = self._kept_q()

    # the robot

    @property
    def text(self) -> str:
        """The robot as the .toml text that jobs are given."""
        return self.project.texts[self.project.index]

    def change(self, robot: Robot) -> str:
        """Take a changed robot; a message, and nothing changed, where it is not sound."""
        faults = [fault for fault in check(robot) if fault.severity == "error"]
        if faults:
            return str(faults[0])
        try:
            self.project.change(robot)
        except CardanError as error:
            return str(error)
        self._refresh()
        return ""

    def undo(self) -> None:
        self.project.undo()
        self._refresh()

    def redo(self) -> None:
        self.project.redo()
        self._refresh()

    def _refresh(self) -> None:
        self.robot = self.project.robot
        if len(self.q) != self.robot.n:
            self.q = np.zeros(self.robot.n)
        for listener in list(self._robot_listeners):
            listener()

    def on_robot(self, listener: Callable[[], None]) -> None:
        self._robot_listeners.append(listener)

    # where it stands

    @property
    def values(self) -> dict[str, Any]:
        """Numbers the user gave to symbols, for drawing and evaluating."""
        found: dict[str, Any] = self.project.page.setdefault("values", {})
        return found

    def drawn(self) -> Robot:
        """The geometry of the robot, with numbers."""
        return skeleton(drawable(self.robot, self.values))

    def move(self, q: Any, keep: bool = False) -> None:
        """Joint positions have changed; `keep` writes them to the project."""
        self.q = np.array(q, float)
        if keep:
            self.project.remember(q=self.q.tolist())
        for listener in list(self._motion_listeners):
            listener()

    def on_motion(self, listener: Callable[[], None]) -> None:
        self._motion_listeners.append(listener)

    def _kept_q(self) -> np.ndarray:
        kept = self.project.page.get("q", [])
        return np.array(kept, float) if len(kept) == self.robot.n else np.zeros(self.robot.n)
