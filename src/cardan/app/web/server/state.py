"""What one browser page works on: its project, its robot, the joint positions, who listens."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ....describe.check import check
from ....describe.limits import joint_limits
from ....describe.robot import FIXED, Frame, Robot
from ....describe.values.expression import number
from ....errors import CardanError, InputError
from ....loops.numeric import skeleton
from ....mechanism.frames import frame_of
from ....mechanism.tree import Tree
from ....sheets.solids import drawable
from .. import WORDS
from ..jobs.pool import Jobs
from ..jobs.questions import driven, rates
from .quantities import figure, quantity, unit_of
from .results import Results
from .store import Project, Shapes, digest_of

_AGAIN = "while this was at work: start again"


class Page:
    """The state shared by the parts of the page; parts subscribe to changes."""

    def __init__(
        self, project: Project, jobs: Jobs, shapes: Shapes | None = None,
        results: Results | None = None,
    ) -> None:  # fmt: skip
        self.project = project
        self.jobs = jobs
        self.shapes = shapes
        self.results = results
        self.robot: Robot = project.robot
        self._robot_listeners: list[tuple[Any, Callable[[], None]]] = []
        self._motion_listeners: list[Callable[[], None]] = []
        self._themed: list[tuple[Any, Callable[[bool], None]]] = []
        self._drawn: Robot | None = None
        self._numeric: tuple[Robot | None, ...] = ()
        self.q = self._kept_q()
        self.dark = bool(project.page.get("dark"))
        self._tasks: dict[asyncio.Task[Any], Any] = {}  # with the form of the robot they are on
        self.closed = False
        self.within: Callable[[], AbstractContextManager[Any]] = nullcontext  # its browser
        self._opened = project.opened
        self._draft: list[tuple[str, str]] | None = None  # of changes made at once: the renamings
        self._selecting: list[Callable[[int], None]] = []
        self._pointing: list[Callable[[int], None]] = []
        self.selected = self.pointed = -1
        project.watchers.append(self._follow)

    def _follow(self) -> None:
        """The project was changed, here or by another page that shows it."""
        with self.within():
            self.refresh()

    # its work

    def about(self, question: dict[str, Any]) -> dict[str, Any]:
        """What a result is of: the question, and the state of the robot it was asked for."""
        return {
            "question": question, "revision": self.revision, "values": self.known_values(),
            "name": self.robot.name, "form": self.form, "time": time.time(),
        }  # fmt: skip

    @property
    def form(self) -> list[Any]:
        """What is the same of robots that can be moved by each other's results."""
        robot = self.robot
        return [list(robot.variables), robot.ne, len(robot.links), robot.base.kind, driven(robot),
                rates(robot)]  # fmt: skip

    @property
    def revision(self) -> str:
        """Names a state of the robot."""
        return self.project.revisions()[self.project.index]

    def since(self, about: dict[str, Any]) -> str:
        """How the robot has changed since a result; nothing where it has not."""
        revisions = self.project.revisions()
        now, then = self.project.index, about["revision"]
        if revisions[now] == then:
            same = about["values"] == self.known_values()
            return "" if same else "the values of symbols have changed since"
        before = [k for k in range(now) if revisions[k] == then]
        if before:
            count = now - before[-1]
            return f"{count} change{'s' * (count > 1)} of the robot ago"
        return "of a state that was undone" if then in revisions else "the robot has changed since"

    def ask(
        self, function: str, say: Callable[[str], None], **question: Any
    ) -> asyncio.Task[dict[str, Any]]:
        """A job of this page; it ends with the page, and when a robot of another form comes."""
        seconds = self.project.page.get("seconds")  # of processor time, if the user chose them
        task = asyncio.ensure_future(self.jobs.run(function, say, seconds=seconds, **question))
        self._tasks[task] = self.form if "robot" in question else None
        task.add_done_callback(lambda task: self._tasks.pop(task, None))
        return task

    def begin(self, panel: str) -> None:
        """A panel starts its work: should that be left undone, it is told afterwards."""
        self.jobs.at_work.add((self.project.path.stem, panel))
        self._at_work(panel, self.jobs.name)

    def end(self, panel: str) -> None:
        """It is done, has failed or was cancelled; a page that was left, and a server that stops,
        leave it undone."""
        self.jobs.at_work.discard((self.project.path.stem, panel))
        if not (self.closed or self.jobs.closing):
            self._at_work(panel, "")

    def _at_work(self, panel: str, server: str) -> None:
        others = {k: x for k, x in self.project.page.get("at_work", {}).items() if k != panel}
        self.project.remember(at_work={**others, panel: server} if server else others)

    def interrupted(self, panel: str) -> str:
        """What to say of work that an earlier run of the server, or an earlier page, left
        undone; nothing where it goes on. It is said until the work begins again: a browser may
        load the page more than once before anybody sees it."""
        server = self.project.page.get("at_work", {}).get(panel, "")
        if not server or (self.project.path.stem, panel) in self.jobs.at_work:
            return ""
        if server.endswith(_AGAIN):
            return str(server)
        who = "the page was left" if server == self.jobs.name else "the server was stopped"
        self._at_work(panel, f"{who} {_AGAIN}")
        return f"{who} {_AGAIN}"

    def close(self) -> None:
        """The browser has left for good."""
        self.closed = True
        if self._follow in self.project.watchers:
            self.project.watchers.remove(self._follow)
        for task in list(self._tasks):
            task.cancel()
        self._robot_listeners.clear()
        self._motion_listeners.clear()
        self._selecting.clear()
        self._pointing.clear()
        self._themed.clear()

    # the robot

    @property
    def text(self) -> str:
        """The robot as the .toml text that jobs are given."""
        return self.project.texts[self.project.index]

    @property
    def stem(self) -> str:
        """The name of a file for the robot."""
        letters = "".join(c if c.isascii() and c.isalnum() else "_" for c in self.robot.name)
        return letters.strip("_")[:60] or "robot"

    def change(self, robot: Robot, renamed: tuple[str, str] = ("", "")) -> str:
        """Take a changed robot; a message, and nothing changed, where it is not sound. Surfaces
        follow a link that is renamed."""
        if self._draft is not None:
            self.robot = robot
            self._draft.append(renamed)
            return ""

        def work() -> None:
            if self._surfaces_of_another():
                self.project.remember(surfaces={})
            self._rename_surfaces(*renamed)
            self.project.change(robot)

        return self._changed(robot, work)

    def at_once(self, changes: Callable[[], str]) -> str:
        """Several changes as one step that can be undone; none of them, and a message, where one
        is refused or the robot that they make is not sound."""
        before, self._draft = self.robot, []
        try:
            message = changes()
        finally:
            renamings, self._draft = self._draft, None
            robot, self.robot = self.robot, before
        message = message or self.fault(robot) or self.change(robot)
        for renamed in renamings if not message else ():
            self._rename_surfaces(*renamed)
        return message

    def select(self, link: int) -> None:
        """A link, 0 the base, is pointed at in a table or in the picture; -1: none."""
        if link != self.selected:
            self.selected = link
            for listener in list(self._selecting):
                listener(link)

    def on_select(self, listener: Callable[[int], None]) -> None:
        self._selecting.append(listener)

    def point(self, link: int) -> None:
        """The pointer is on a link, in a table or in the picture; -1: on none."""
        if link != self.pointed:
            self.pointed = link
            for listener in list(self._pointing):
                listener(link)

    def on_point(self, listener: Callable[[int], None]) -> None:
        self._pointing.append(listener)

    def open(self, robot: Robot, surfaces: Sequence[Any] = ()) -> str:
        """Another robot takes the place; surfaces: [link's name, digest, colour] of each."""
        return self._changed(robot, lambda: self.project.open(robot, surfaces))

    @staticmethod
    def fault(robot: Robot) -> str:
        """Why a robot is not sound; nothing where it is."""
        return next((str(fault) for fault in check(robot) if fault.severity == "error"), "")

    def _changed(self, robot: Robot, work: Callable[[], None]) -> str:
        if message := self.fault(robot):
            return message
        if self.project.reread():
            return "the robot was changed elsewhere meanwhile: now it is shown as it is there"
        try:
            work()
        except CardanError as error:
            return error.told(WORDS)
        return ""

    def surfaces(self) -> list[tuple[int, str, str]]:
        """What the file of the robot looks like: (frame, digest, colour) of each surface."""
        known = self.project.page.get("surfaces") or {}
        if not known or self._surfaces_of_another():
            return []
        number = {"": 0} | {link.name: j for j, link in enumerate(self.robot.links, 1)}
        return [(number[link], digest, colour)
                for link, digest, colour in known["list"] if link in number]  # fmt: skip

    def kept_surfaces(self) -> list[list[str]]:
        """The same by the names of links, to be put aside with the robot."""
        names = ["", *(link.name for link in self.robot.links)]
        return [[names[j], digest, colour] for j, digest, colour in self.surfaces()]

    def lost_surfaces(self) -> int:
        """How many of them are no longer on the disk, which keeps the latest only."""
        kept = self.shapes.path if self.shapes else lambda digest: None
        return sum(kept(digest) is None for _, digest, _ in self.surfaces())

    def _rename_surfaces(self, old: str, new: str) -> None:
        """Known by both names from now on: the renaming may be undone."""
        known = self.project.page.get("surfaces") or {}
        if known and old != new:
            others = [item for item in known["list"] if item[0] != new]
            more = [[new, *item[1:]] for item in others if item[0] == old]
            self.project.remember(surfaces={**known, "list": [*others, *more]})

    def _surfaces_of_another(self) -> bool:
        """What was opened with surfaces lies ahead: it was undone."""
        known = self.project.page.get("surfaces") or {}
        digests = [digest_of(text) for text in self.project.texts] if known else []
        return (
            bool(known)
            and known["of"] in digests[self.project.index + 1 :]
            and (known["of"] not in digests[: self.project.index + 1])
        )

    def undo(self) -> None:
        if not self.project.reread():
            self.project.undo()

    def redo(self) -> None:
        if not self.project.reread():
            self.project.redo()

    def refresh(self) -> None:
        """Tell every part that the robot, or what it is drawn with, has changed."""
        self.robot = self.project.robot
        self._drawn, self._numeric = None, ()
        for task, form in list(self._tasks.items()):
            if form not in (None, self.form):
                task.cancel()
        if len(self.q) != self.robot.n or self._opened != self.project.opened:
            self._opened = self.project.opened
            self.q = self.rest()
        if not self.robot.constrained:
            self.q = np.clip(self.q, *joint_limits(self.robot))
        for element, listener in list(self._robot_listeners):
            if element is None or not element.is_deleted:
                try:
                    listener()
                except Exception:  # one part that fails must not keep the others from the robot
                    logging.getLogger("cardan").exception("a part of the page failed")

    def on_robot(self, listener: Callable[[], None], element: Any = None) -> None:
        """To be told as long as the element, if one is named, is there."""
        listeners = [x for x in self._robot_listeners if x[0] is None or not x[0].is_deleted]
        self._robot_listeners = [*listeners, (element, listener)]

    def labels(self) -> list[tuple[str, Frame]]:
        """What stands at each frame of the picture: numbers at Khalil's frames, the base first, and
        names at the frames they mean, those of the file where it has its own."""
        robot = self.drawn()
        words = {j: [str(j)] for j in range(len(robot.links) + 1)}
        elsewhere = []
        names = [x.name for x in robot.frames] + [x.name for x in robot.links]
        for name in dict.fromkeys(name for name in names if name):
            frame = frame_of(robot, name)
            if not frame.at_link:
                elsewhere.append((name, frame))
            elif name not in words[frame.link]:
                words[frame.link].append(name)
        return [(" ".join(own), Frame(str(j), j)) for j, own in words.items()] + elsewhere

    # numbers for its symbols

    @property
    def values(self) -> dict[str, Any]:
        """Numbers the user gave to symbols, for drawing and evaluating."""
        values: dict[str, Any] = self.project.page.setdefault("values", {})
        return values

    def known_values(self) -> dict[str, Any]:
        """Those of symbols that the robot has now."""
        return {name: x for name, x in self.values.items() if name in self.robot.parameters}

    def set_values(self, values: dict[str, Any]) -> str:
        """Take other values, as cells take them; a message where one of them is no number."""
        try:
            values = {name: self._read(name, x) for name, x in values.items()}
            known = {k: x for k, x in values.items() if k in self.robot.parameters}
            drawable(self.robot, known)
        except CardanError as error:
            return error.told(WORDS)
        self.project.remember(values=values)
        self.project.tell()
        return ""

    def _read(self, name: str, value: Any) -> Any:
        if name not in self.robot.parameters or value == self.values.get(name):
            return value
        text, unit = str(value), unit_of(self.robot, name)
        try:
            figure(text, unit)
            return str(quantity(text, unit))
        except CardanError as error:
            raise InputError(f"{name}: {error}") from None

    def end_effectors(self) -> dict[str, str]:
        """What can be the end effector: each name of a frame or a link; nothing is the end of the
        longest path, or the platform."""
        robot = self.robot
        end = frame_of(replace(robot, end_effector="")).name
        if Tree.of(robot).platform:
            return {"": end}
        names = dict.fromkeys([*(x.name for x in robot.frames), *(x.name for x in robot.links)])
        return {"": f"{end}, the last", **{name: name for name in names if name}}

    def drawn(self) -> Robot:
        """The geometry of the robot, with numbers."""
        if self._drawn is None:
            self._drawn = skeleton(drawable(self.robot, self.values))
        return self._drawn

    def numeric(self) -> Robot | None:
        """The robot with the numbers it has been given; None while some are missing."""
        if not self._numeric:
            robot = drawable(self.robot, self.values)
            self._numeric = (None if robot.parameters else robot,)
        return self._numeric[0]

    # how it looks

    @property
    def degrees(self) -> bool:
        """Whether angles are shown in degrees, everywhere on the page."""
        return bool(self.project.page.get("degrees"))

    def turn_degrees(self) -> None:
        """The other unit of angles."""
        self.project.remember(degrees=not self.degrees)
        self.project.tell()

    def themed(self, dark: bool) -> None:
        """Dark or light was chosen."""
        self.dark = dark
        for element, listener in list(self._themed):
            if not element.is_deleted:
                listener(dark)

    def on_theme(self, element: Any, listener: Callable[[bool], None]) -> None:
        """To be told as long as the element is there."""
        self._themed = [entry for entry in self._themed if not entry[0].is_deleted]
        self._themed.append((element, listener))

    # where it stands

    def move(self, q: Any, keep: bool = False) -> None:
        """Joint positions have changed; `keep` writes them to the project."""
        self.q = np.array(q, float)
        if keep:
            self.project.remember(q=self.q.tolist())
        for listener in list(self._motion_listeners):
            listener()

    def on_motion(self, listener: Callable[[], None]) -> None:
        self._motion_listeners.append(listener)

    def rest(self) -> np.ndarray:
        """All joints at their home, which is zero where none is said, and within their limits."""
        moving = [joint for joint in self.robot.joints if joint.sigma != FIXED]
        homes = [0 if joint.home is None else number(joint.home) or 0 for joint in moving]
        low, high = joint_limits(self.robot)
        return np.asarray(np.clip(homes, low, high), float)

    def _kept_q(self) -> np.ndarray:
        q = self.project.page.get("q", [])
        return np.array(q, float) if len(q) == self.robot.n else self.rest()
