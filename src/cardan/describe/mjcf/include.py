"""<include> of MJCF: other files of the same folder, put where the main one names them.

[MJCF: the XML reference of the MuJoCo documentation: names are relative to the folder of the main
file, or else to that of the including one; the root of an included file, <mujoco> or
<mujocoinclude>, goes, its children stay; no file is included twice.] A file may come from anywhere,
so nothing outside the folder of the main one is read, unless the user trusts it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError
from ..xml.source import LARGEST_FILE, Source, parsed, shown
from .model import Mjcf

Beside = Callable[[str], bytes]  # the content of a file by its name; InputError where there is none
_MOST = 200  # files
_MESHES = (".stl", ".obj", ".msh")
_LARGEST_MESH = 100_000_000  # bytes


@dataclass(frozen=True)
class Folder:
    """Files of a folder and of those in it; trusted: also files elsewhere that they name."""

    folder: Path
    trusted: bool = False

    def __call__(self, name: str) -> bytes:
        path = Path(os.path.realpath(self.folder / name))
        if not self.trusted and not path.is_relative_to(os.path.realpath(self.folder)):
            raise _outside(name)
        if not path.is_file():
            raise InputError(f"there is no file '{shown(name)}' beside the main one")
        most = _LARGEST_MESH if path.suffix.lower() in _MESHES else LARGEST_FILE
        with path.open("rb") as stream:
            return stream.read(most + 1)


def _outside(name: str) -> InputError:
    return InputError(
        f"'{shown(name)}' is not in the folder of the main file: put it there, or, where you trust"
        " the file, load(path, trust_includes=True) or --trust-includes"
    )


def include(mjcf: Mjcf, read: Beside | None, folder: str = "") -> None:
    """Put every included file in its place, as deep as they go; what is wrong is a fault. folder:
    of the file itself, seen from the main one's."""
    seen, room = {path_of(folder, os.path.basename(mjcf.main.file))}, LARGEST_FILE
    while (element := mjcf.root.find(".//include")) is not None:
        name = str(element.get("file") or "")
        path, data = _content(mjcf, element, name, seen, read)
        seen.add(path)
        room -= len(data or b"")
        if room < 0:
            mjcf.fault(f"more than {LARGEST_FILE / 1e6:.0f} MB are included", element)
            data = None
        root = None if data is None else _opened(mjcf, data, path)
        mjcf.included |= dict.fromkeys(() if root is None else root, os.path.dirname(path))
        _replace(mjcf, element, root)
    _one_world(mjcf)


def _content(
    mjcf: Mjcf, element: Any, name: str, seen: set[str], read: Beside | None
) -> tuple[str, bytes | None]:
    """The path of an included file and what it holds; None, and a fault, where it is refused."""
    wrong = ""
    if not name:
        wrong = "<include> names no file: write file=..."
    elif len(seen) > _MOST:
        wrong = f"more than {_MOST} files are included"
    elif read is None:
        wrong = f"'{shown(name)}' is included: open the main file by its path, beside that one"
    if wrong:
        mjcf.fault(wrong, element)
        return name, None
    for folder in mjcf.places_of(element):
        path = path_of(folder, name)
        if path in seen:
            mjcf.fault(f"'{shown(name)}' is included a second time; MJCF allows it once", element)
            return path, None
        try:
            return path, content(path, name, read)
        except InputError as error:
            wrong = wrong or str(error)  # of the first folder, where MJCF has its files
    mjcf.fault(wrong, element)
    return path, None


def path_of(folder: str, name: str) -> str:
    """One spelling of names that mean the same file."""
    name = name.replace("\\", "/")
    return os.path.normpath(name if os.path.isabs(name) else os.path.join(folder, name))


def content(path: str, name: str, read: Beside | None) -> bytes:
    """What a file holds; InputError where it is refused or missing."""
    trusted = isinstance(read, Folder) and read.trusted
    away = re.match(r"[a-zA-Z]:|/", path) or ".." in path.split("/")
    if (away and not trusted) or "\0" in path:
        raise _outside(name)
    if read is None:
        words = "is needed: open the main file by its path, beside that one"
        raise InputError(f"'{shown(name)}' {words}")
    try:
        return read(path)
    except OSError as error:
        raise InputError(f"'{shown(name)}' cannot be read: {error.strerror or error}") from None


def _opened(mjcf: Mjcf, data: bytes, name: str) -> Any:
    """The root of an included file; its own faults bear its name."""
    source = Source(shown(name), mjcf.main.snap, faults=mjcf.main.faults)
    root = parsed(data, source, "an included file has a <mujocoinclude> element")
    if root is None:
        return None
    if root.tag not in ("mujoco", "mujocoinclude"):
        source.fault(f"the root element is <{shown(root.tag)}>, not <mujocoinclude>", 1)
        return None
    mjcf.sources.update(dict.fromkeys(root, source))
    return root


def _replace(mjcf: Mjcf, element: Any, root: Any) -> None:
    """The children of an included file in place of the <include>."""
    parent = element.getparent()
    at = parent.index(element)
    parent.remove(element)
    if root is None:
        return
    if root.get("model") and not mjcf.root.get("model"):
        mjcf.root.set("model", root.get("model"))
    for k, one in enumerate(list(root)):
        parent.insert(at + k, one)


def _one_world(mjcf: Mjcf) -> None:
    """What stands in several <worldbody> belongs to one world, and keeps the name of its file."""
    first, *others = mjcf.root.findall("worldbody") or [None]
    for other in others:
        source = mjcf.source(other)
        beside = mjcf.included.get(other)
        for element in list(other):
            mjcf.sources.setdefault(element, source)
            if beside is not None:
                mjcf.included.setdefault(element, beside)
            first.append(element)
        mjcf.root.remove(other)
