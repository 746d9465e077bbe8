"""Robots that a user has put aside under names of their own: one JSON file for each browser."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ....describe.robot import Robot
from ....errors import CardanError, InputError
from ....files import write_atomic
from .remembered import fitting
from .store import robot_of
from .writer import later, private_folder, written

_MOST = 300  # robots
_LONGEST = 80  # letters of a name
_VERSIONS = 30  # of a robot, beside the last


@dataclass(frozen=True)
class Kept:
    """A robot as .toml text, with the numbers that were given to its symbols; versions: what was
    kept under its name before, the latest first; surfaces: [link's name, digest, colour]."""

    key: str
    name: str
    text: str
    values: dict[str, Any] = field(default_factory=dict)
    time: float = 0.0
    versions: tuple[Kept, ...] = ()
    surfaces: list[list[str]] = field(default_factory=list)

    @property
    def robot(self) -> Robot:
        return robot_of(self.text)


class Shelf:
    """What is in a file, read anew each time: pages and servers may share it."""

    def __init__(self, folder: Path, browser: str) -> None:
        self.path = private_folder(folder / "shelves") / f"{browser}.json"

    def all(self) -> list[Kept]:
        """The latest first; what cannot be read is left out, and stays in the file."""
        robots = []
        for item in self._items():
            try:
                kept = _kept(item)
                _ = kept.robot
            except (CardanError, KeyError, TypeError, ValueError):
                continue
            robots.append(kept)
        return sorted(robots, key=lambda kept: -kept.time)

    def find(self, key: str) -> Kept:
        for kept in self.all():
            if kept.key == key:
                return kept
        raise InputError("this robot is no longer there")

    def put(
        self, name: str, text: str, values: dict[str, Any], versions: tuple[Kept, ...] = (),
        surfaces: Sequence[list[str]] = (),
    ) -> Kept:  # fmt: skip
        """One more robot, of a name that no other has."""
        items, name = self._items(), name.strip()[:_LONGEST]
        if not name:
            raise InputError("a name is missing")
        if name in {str(item.get("name")) for item in items}:
            raise InputError(f"there is a robot called '{name}': choose another name")
        if len(items) >= _MOST:
            raise InputError(f"there are {_MOST} robots already: delete some first")
        kept = Kept(secrets.token_hex(8), name, text, values, time.time(), versions,
                    list(surfaces))  # fmt: skip
        self._write([*items, asdict(kept)])
        return kept

    def keep(
        self, name: str, text: str, values: dict[str, Any], surfaces: Sequence[list[str]] = ()
    ) -> Kept:
        """A robot under a name; if there is one already, it becomes a version of this one."""
        old = next((kept for kept in self.all() if kept.name == name.strip()[:_LONGEST]), None)
        if old is None:
            return self.put(name, text, values, surfaces=surfaces)
        before = (replace(old, versions=()), *old.versions)[:_VERSIONS]
        kept = replace(old, text=text, values=values, time=time.time(), versions=before,
                       surfaces=list(surfaces))  # fmt: skip
        self._replace(kept)
        return kept

    def duplicate(self, key: str) -> Kept:
        kept, names = self.find(key), {other.name for other in self.all()}
        copies = (f"{kept.name} ({k})" for k in range(2, _MOST + 3))
        name = next(x for x in copies if x not in names)
        return self.put(name, kept.text, kept.values, surfaces=kept.surfaces)

    def rename(self, key: str, name: str) -> None:
        kept, name = self.find(key), name.strip()[:_LONGEST]
        if not name or name in {other.name for other in self.all() if other.key != key}:
            raise InputError("a name is needed that no other robot has")
        self._replace(replace(kept, name=name))

    def _replace(self, kept: Kept) -> None:
        items = self._items()
        self._write([asdict(kept) if item.get("key") == kept.key else item for item in items])

    def remove(self, key: str) -> None:
        self._write([item for item in self._items() if item.get("key") != key])

    def _items(self) -> list[dict[str, Any]]:
        written()
        try:
            items = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise InputError(f"your robots cannot be read: {self.path}: {error}") from None
        if not isinstance(items, list):
            raise InputError(f"your robots cannot be read: {self.path}: a list is expected")
        return [item for item in items if isinstance(item, dict)]

    def _write(self, items: list[dict[str, Any]]) -> None:
        later(lambda: write_atomic(self.path, json.dumps(items), private=True))


def _kept(item: dict[str, Any]) -> Kept:
    """What the file has of a robot; older versions that cannot be read are left out."""
    versions = []
    for old in item.get("versions", []):
        with suppress(KeyError, TypeError, ValueError):
            versions.append(_kept({**old, "versions": []}))
    more = {"values": item["values"], "surfaces": {"of": "", "list": item.get("surfaces", [])}}
    fit, _ = fitting(more)
    return Kept(str(item["key"]), str(item["name"]), str(item["text"]), fit.get("values", {}),
                float(item["time"]), tuple(versions),
                fit.get("surfaces", {}).get("list", []))  # fmt: skip
