"""The last result of each panel of a project, on disk: a reload or a restart shows it again.

A file holds what it is of, the large parts and the result itself, a line each, as jobs answer."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from ....errors import CardanError
from ....files import write_atomic
from ..jobs.pool import Result
from .writer import later, private_files, private_folder, written

_LARGEST = 12_000_000  # bytes of a result that is kept
_ROOM = 400_000_000  # bytes of all of them
_NAME = re.compile(r"([0-9a-f]{32})-[a-z]+")


class Results:
    """Files by project and panel, in a folder beside that of the projects."""

    def __init__(self, folder: Path) -> None:
        self.folder = private_folder(folder / "results")
        self._prune(folder / "projects")

    def _path(self, project: str, panel: str) -> Path:
        return self.folder / f"{project}-{panel}.jsonl"

    def keep(self, project: str, panel: str, about: dict[str, Any], result: Result) -> bool:
        """In place of the one before; False, and none is kept, where it is too large."""
        path = self._path(project, panel)
        if result.size > _LARGEST:
            later(_forget, path)
            return False
        head = json.dumps({**about, "parts": list(result.parts)}).encode()
        later(_write, path, b"\n".join([head, *result.parts.values(), result.text, b""]))
        return True

    def find(self, project: str, panel: str) -> tuple[dict[str, Any], Result] | None:
        """What it is of, and the result; None where there is none that can be read."""
        written()
        path = self._path(project, panel)
        try:
            head, *lines = path.read_bytes().splitlines()
            about = json.loads(head)
            names = about.pop("parts")
            parts = {str(name): lines[k] for k, name in enumerate(names)}
            text = lines[len(names)]
            json.loads(text)
            return about, Result(text, parts)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError):
            _forget(path)
            return None

    def _prune(self, projects: Path) -> None:
        """Forget those of projects that are gone, and what was written longest ago."""
        room = _ROOM
        for path, status in private_files(self.folder, "*"):
            name = _NAME.fullmatch(path.stem)
            room -= status.st_size
            if room < 0 or name is None or not (projects / f"{name[1]}.json").exists():
                _forget(path)


def _write(path: Path, content: bytes) -> None:
    with suppress(OSError, CardanError):  # a full disk is said by the project itself
        private_folder(path.parent)
        write_atomic(path, content, private=True)


def _forget(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
