"""The end effector on the page: which frame it is, where it is in numbers, and the handle it is
moved and turned by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from nicegui.element import Element

from ....algebra.so3 import from_rpy
from ....describe.frames import roll_pitch_yaw
from ....describe.robot import Robot
from ....errors import CardanError
from ....motion.frames import centres_of_mass, frame_poses, link_frames
from ....motion.joints import number
from ..server.quantities import figure
from ..server.state import Page
from .handle import Hand

_PLACES = ("x", "y", "z", "roll", "pitch", "yaw")


class Around(Element, component="../parts/around.js"):
    """The cube of views, the handle of the end effector, shadows: all in the scene."""

    def __init__(
        self, scene: int, hand: Hand, look: Callable[[str], None], lost: Callable[[], None]
    ) -> None:  # fmt: skip
        """look: asked for a view by its name; lost: the robot has moved out of sight."""
        super().__init__()
        self._props.update(scene=scene, pose=[], size=1.0, handle=True, ground=True, looked=0)
        self.on("look", lambda event: look(str(event.args)))
        self.on("lost", lambda event: lost())
        for word, work in (("pull", hand.pull), ("drop", hand.drop)):
            self.on(word, lambda event, work=work: self._moved(work, event.args))

    async def _moved(self, work: Callable[[Any], Any], numbers: Any) -> None:
        pose = np.array(numbers, float)
        if pose.shape == (16,) and np.isfinite(pose).all():
            await work(_rigid(pose.reshape(4, 4)))

    def looked(self) -> None:
        """The camera is where the page has put it."""
        self._props["looked"] += 1

    def place(self, pose: np.ndarray, size: float, handle: bool, ground: bool) -> None:
        shown = {"pose": pose.round(7).ravel().tolist(), "size": size, "handle": handle,
                 "ground": ground}  # fmt: skip
        _told(self, shown)


class Tool(Element, component="../parts/tool.js"):
    """A line of numbers: what is typed there is where the robot goes."""

    def __init__(self, page: Page, hand: Hand, say: Callable[[str], None]) -> None:
        super().__init__()
        self.page, self.hand, self.say = page, hand, say
        self.pose = np.eye(4)
        self._props.update(frames={}, frame="", pose=[], degrees=page.degrees, energy=None)
        self.on("frame", lambda event: self._choose(str(event.args)))
        self.on("pose", lambda event: self._typed(*event.args))

    def build(self) -> None:
        """For a robot that is drawn anew."""
        robot = self.page.robot
        _told(self, {"frames": self.page.end_effectors(), "frame": robot.end_effector,
                     "degrees": self.page.degrees})  # fmt: skip

    def place(self, T: np.ndarray, more: bool) -> np.ndarray:
        """The pose of the end effector among those of all links, which is shown; more: the energy
        too."""
        self.pose = frame_poses(self.page.drawn(), T)
        numbers = [*self.pose[:3, 3], *roll_pitch_yaw(self.pose[:3, :3])]
        _told(
            self,
            {"pose": np.round(numbers, 6).tolist(), "energy": self._energy(T) if more else None},
        )
        return self.pose

    def _energy(self, T: np.ndarray) -> float | None:
        """Of gravity, where all masses are known: the sum of -g . M c."""
        robot = self.page.numeric()
        if robot is None:
            return None
        masses, moments = centres_of_mass(robot, T)
        g = np.array([number(x) for x in robot.gravity])
        return round(float(-(moments @ g).sum()), 6) if masses.any() else None

    def _choose(self, name: str) -> None:
        if name in self._props["frames"]:
            self.say(self.page.change(replace(self.page.robot, end_effector=name)))

    async def _typed(self, k: int, text: str) -> None:
        if not 0 <= k < 6 or not text.strip():
            return
        try:
            value = figure(text, "m" if k < 3 else "rad", self.page.degrees)
        except CardanError as error:
            self.say(f"{_PLACES[k]}: {error}")
            return
        numbers = [*self.pose[:3, 3], *roll_pitch_yaw(self.pose[:3, :3])]
        numbers[k] = value
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = from_rpy(numbers[3:]), numbers[:3]
        await self.hand.drop(pose)


def ellipsoid(robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes, as columns, and half lengths, m/s, of the velocities of the end effector while the
    joint velocities of a tree have sum qd² <= 1."""
    step = 1e-6 * np.vstack([np.zeros(robot.n), np.eye(robot.n)])
    places = frame_poses(robot, link_frames(robot, q + step))[:, :3, 3]
    U, s, _ = np.linalg.svd((places[1:] - places[0]).T / 1e-6)
    U[:, 2] *= np.linalg.det(U)
    return U, np.pad(s, (0, 3 - len(s)))


def _rigid(pose: np.ndarray) -> np.ndarray:
    """The pose whose rotation is nearest to what the page has rounded."""
    U, _, V = np.linalg.svd(pose[:3, :3])
    pose[:3, :3], pose[3] = U @ V, [0, 0, 0, 1]
    return pose


def _told(element: Element, shown: dict[str, Any]) -> None:
    for key, value in shown.items():
        if element._props[key] != value:
            element._props[key] = value
