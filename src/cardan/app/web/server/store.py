"""Projects on disk: the robot with its history, and where the page stands.

A project is one JSON file, written atomically, so that a page reload or a server restart finds it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import re
import secrets
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ....describe.bundled import bundled
from ....describe.files import accepted, dumps, read_bytes
from ....describe.robot import Robot
from ....errors import CardanError, InputError
from ....files import write_atomic
from .remembered import fitting
from .results import Results
from .writer import later, private_files, private_folder, written

_ID = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SURFACES = 1_000_000_000  # bytes of surfaces on disk
_DEPTH = 100  # steps that can be undone
_FIRST = "rx90"
_KEPT = 200  # projects on disk
_OPEN = 64  # projects in memory; they are written at every change


@lru_cache(maxsize=64)
def robot_of(text: str) -> Robot:
    """The robot of a .toml text: frozen, so that pages can share it. What is only doubtful was
    said when it was opened."""
    robot, faults = read_bytes(text.encode(), "robot.toml")
    return accepted(robot, [x for x in faults if x.severity == "error"], "robot.toml")


def data_folder() -> Path:
    """Where this user's programs keep their data."""
    folder = os.environ.get("CARDAN_DATA")
    if folder:
        return Path(folder)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "cardan"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "cardan"
    return Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share")) / "cardan"


@dataclass(eq=False)
class Project:
    """A robot being worked on: its texts, oldest first, and which of them is shown.

    Several pages may show it, of this server and of another one on the same folder: those of this
    one are told of every change, and what another one wrote is read before it is changed."""

    path: Path
    texts: list[str] = field(default_factory=list)
    index: int = 0
    page: dict[str, Any] = field(default_factory=dict)  # what the page wants to find again
    watchers: list[Callable[[], None]] = field(default_factory=list)  # pages that show it
    opened: int = 0  # how often another robot took the place
    trouble: str = ""  # why it could not be saved
    notice: str = ""  # what of it could not be read
    asked: int = 0  # how often it was to be written
    done: int = 0  # the last of these that was
    stamp: tuple[int, int] = (0, 0)  # of the file as it was read or written last
    _revisions: dict[str, str] = field(default_factory=dict)  # of the texts

    @property
    def robot(self) -> Robot:
        return robot_of(self.texts[self.index])

    def revisions(self) -> list[str]:
        """A short name for each text."""
        known = self._revisions
        self._revisions = {text: known.get(text) or digest_of(text)[:7] for text in self.texts}
        return [self._revisions[text] for text in self.texts]

    @property
    def can_undo(self) -> bool:
        return self.index > 0

    @property
    def can_redo(self) -> bool:
        return self.index + 1 < len(self.texts)

    def change(self, robot: Robot) -> None:
        """A new state of the robot; what was undone before is forgotten."""
        text = dumps(robot, "toml")
        if text != self.texts[self.index]:
            self.texts = [*self.texts[: self.index + 1], text][-_DEPTH:]
            self.index = len(self.texts) - 1
            self.save()
            self.tell()

    def open(self, robot: Robot, surfaces: Sequence[Any] = (), **values: Any) -> None:
        """Another robot takes the place; surfaces: [link's name, digest, colour] of each."""
        text = dumps(robot, "toml")
        if text != self.texts[self.index]:
            before = [x for x in self.page.get("openings", []) if x in self._digests()]
            self.page["openings"] = [*before, digest_of(text)]
            self._swap_values(text)
        known = {"of": digest_of(text), "list": list(surfaces)} if surfaces else {}
        self.page.update(values, q=[], surfaces=known)
        self.opened += 1
        if text == self.texts[self.index]:
            self.save()
            self.tell()
        self.change(robot)

    def undo(self) -> None:
        self._go(self.index - 1)

    def redo(self) -> None:
        self._go(self.index + 1)

    def _go(self, index: int) -> None:
        if not 0 <= index < len(self.texts):
            return
        try:
            robot_of(self.texts[index])
        except CardanError:  # a step of a damaged file: those beyond it can still be reached
            step = index - self.index
            del self.texts[index]
            self.index -= step < 0
            self._go(self.index + step)
            return
        other = max(index, self.index)
        if digest_of(self.texts[other]) in self.page.get("openings", []):
            self._swap_values(self.texts[index])
        self.index = index
        self.save()
        self.tell()

    def _digests(self) -> list[str]:
        return [digest_of(text) for text in self.texts]

    def _swap_values(self, text: str) -> None:
        """The robot of this text comes: numbers given to symbols are those of the robot they were
        given for, and come back with it; another one may mean something else by the same name."""
        known = self.page.get("values_of", {})
        known = {key: x for key, x in known.items() if key in self._digests()}
        known[digest_of(self.texts[self.index])] = self.page.get("values", {})
        self.page.update(values_of=known, values=known.get(digest_of(text), {}))

    def remember(self, **values: Any) -> None:
        if any(name not in self.page or self.page[name] != x for name, x in values.items()):
            self.page.update(values)
            self.save()

    def tell(self) -> None:
        """Every page that shows it: it has changed."""
        for watcher in list(self.watchers):
            watcher()

    def reread(self) -> bool:
        """Take what another server has written meanwhile; whether there was anything."""
        if self.asked != self.done:  # asked first: what is being written here is no news
            return False
        stamp = _stamp(self.path)
        if stamp in ((0, 0), self.stamp):
            return False
        self.stamp = stamp
        try:
            texts, index, page, wrong = _parsed(self.path)
        except Exception:
            return False
        self.texts, self.index, self.page = texts, index, page
        if wrong:
            self.mend(wrong)
        self.tell()
        return True

    def mend(self, wrong: Sequence[str]) -> None:
        """Go on without parts of the page, which are no longer in it; the file as it is is kept."""
        aside = _set_aside(self.path)
        self.notice = (
            f"Parts of this project have a form that this version does not know and were left "
            f"out ({', '.join(wrong)}). The file as it was is kept: {aside}"
        )
        self.save()

    def save(self) -> None:
        """Written by a thread of its own."""
        data = {"texts": self.texts, "index": self.index, "page": self.page}
        self.asked += 1
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        later(self._write, json.dumps(data), self.asked, loop)

    def _write(self, text: str, number: int, loop: asyncio.AbstractEventLoop | None) -> None:
        if number < self.asked:
            return  # a later one follows
        trouble = ""
        try:
            private_folder(self.path.parent)
            write_atomic(self.path, text, private=True)
            self.stamp = _stamp(self.path)
        except (OSError, CardanError) as error:
            trouble = str(error)
            logging.getLogger("cardan").error("the project could not be saved: %s", error)
        self.done = number
        if trouble != self.trouble:
            self.trouble = trouble
            if loop is not None:
                with suppress(RuntimeError):  # the server ends
                    loop.call_soon_threadsafe(self.tell)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_ino


def _parsed(path: Path) -> tuple[list[str], int, dict[str, Any], list[str]]:
    """What a file of a project says, and the names of those parts of the page that were left out;
    raises where it cannot be a project."""
    data = json.loads(path.read_text(encoding="utf-8"))
    texts, index, page = list(map(str, data["texts"])), int(data["index"]), data["page"]
    robot_of(texts[index])
    if index < 0:
        raise ValueError("the state that is shown comes before the first")
    if not isinstance(page, dict):
        return texts, index, {}, ["page"]
    return texts, index, *fitting(page)


def _set_aside(path: Path) -> str:
    """Keep a file that cannot be read under another name, which is returned."""
    aside = path.with_suffix(f".{time.time_ns() // 1000}.damaged")
    try:
        path.replace(aside)
    except OSError as error:
        return f"not, {error.strerror}"
    logging.getLogger("cardan").warning("%s was damaged and is set aside: %s", path, aside)
    return str(aside)


class Shapes:
    """Surfaces of robots on disk, named by their content."""

    def __init__(self, folder: Path) -> None:
        self.folder = private_folder(folder / "surfaces")
        self._prune()

    def path(self, digest: str) -> Path | None:
        """The file of a surface, if it is there."""
        file = self.folder / f"{digest}.stl"
        return file if _DIGEST.fullmatch(digest) and file.is_file() else None

    def add(self, digest: str, content: bytes) -> None:
        if hashlib.sha256(content).hexdigest() != digest:
            raise InputError("a surface was damaged on its way")
        if self.path(digest) is None:
            write_atomic(self.folder / f"{digest}.stl", content, private=True)

    def _prune(self) -> None:
        """Forget those that were not touched for the longest time."""
        room = _SURFACES
        for path, status in private_files(self.folder, "*.stl"):
            room -= status.st_size
            if room < 0:
                path.unlink(missing_ok=True)


class Store:
    """The projects of a folder, by their secret names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "projects"
        try:
            if not folder.exists():
                private_folder(folder)  # one that is there may be meant for more than this
            private_folder(self.folder)
            self.shapes = Shapes(folder)
            self._prune()
            self.results = Results(folder)
        except OSError as error:
            raise InputError(
                f"projects cannot be kept in {folder}: {error.filename or self.folder}: "
                f"{error.strerror}; mend that, or name another folder with CARDAN_DATA"
            ) from None
        self.open: OrderedDict[str, Project] = OrderedDict()

    @staticmethod
    def new_name() -> str:
        return secrets.token_hex(16)

    def project(self, name: str) -> Project:
        """The project of that name; a new one where there is none, or none that can be read."""
        if not _ID.fullmatch(name):
            raise InputError("a project has a name of 32 hexadecimal digits")
        if name in self.open:
            self.open.move_to_end(name)
            self.open[name].reread()
        else:
            self.open[name] = self._read(self.folder / f"{name}.json")
            idle = [key for key, other in self.open.items() if not other.watchers and key != name]
            for key in idle[: max(0, len(self.open) - _OPEN)]:
                del self.open[key]
        return self.open[name]

    def _read(self, path: Path) -> Project:
        written()
        stamp = _stamp(path)
        notice = ""
        try:
            texts, index, page, wrong = _parsed(path)
            project = Project(path, texts, index, page, stamp=stamp)
            if wrong:
                project.mend(wrong)
            return project
        except FileNotFoundError:
            pass
        except Exception:  # a file that cannot be read is set aside, not lost
            notice = f"The project could not be read. The file is kept: {_set_aside(path)}"
        return Project(path, [dumps(bundled(_FIRST), "toml")], notice=notice)

    def failed(self, name: str) -> None:
        """No page could be made of the project: go on without what the page remembered, or, where
        that was no cure, with another robot."""
        written()
        project = self.open[name]
        if not project.notice:
            parts, project.page = sorted(project.page), {}
            project.mend(parts)
        else:
            aside = _set_aside(project.path)
            notice = f"The project could not be shown. The file is kept: {aside}"
            self.open[name] = Project(project.path, [dumps(bundled(_FIRST), "toml")], notice=notice)

    def _prune(self) -> None:
        """Forget the projects that were not touched for the longest time."""
        for path, _ in private_files(self.folder, "*.json")[_KEPT:]:
            path.unlink(missing_ok=True)
