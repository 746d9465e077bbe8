"""<include> of MJCF: other files of the same folder, put where the main one names them.

[MJCF: the XML reference of the MuJoCo documentation: names are relative to the folder of the main
file; the root of an included file, <mujoco> or <mujocoinclude>, goes, its children stay; no file
is included twice.] A file may come from anywhere, so nothing outside that folder is ever read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputError
from .mjcf_xml import Mjcf
from .urdf_xml import LARGEST_FILE, UrdfFile, element_text, parsed_xml, shown

__all__ = ["Beside", "beside", "include"]

Beside = Callable[[str], bytes]  # the content of a file by its name; InputError where there is none
_MOST = 200  # files


def beside(folder: Path) -> Beside:
    """Files of a folder and of those in it."""

    def read(name: str) -> bytes:
        top = os.path.realpath(folder)
        path = Path(os.path.realpath(folder / name))
        if not path.is_relative_to(top):
            raise InputError(f"'{shown(name)}' is not in the folder of the main file: put it there")
        if not path.is_file():
            raise InputError(f"there is no file '{shown(name)}' beside the main one")
        with path.open("rb") as stream:
            return stream.read(LARGEST_FILE + 1)

    return read


def include(mjcf: Mjcf, read: Beside | None) -> None:
    """Put every included file in its place, as deep as they go; what is wrong is a fault."""
    seen, room = {_plain(os.path.basename(mjcf.found.file))}, LARGEST_FILE
    while (element := mjcf.root.find(".//include")) is not None:
        name = str(element.get("file") or "")
        data = _content(mjcf, element, name, seen, read)
        seen.add(_plain(name))
        room -= len(data or b"")
        if room < 0:
            mjcf.fault(f"more than {LARGEST_FILE / 1e6:.0f} MB are included", element)
            data = None
        _replace(mjcf, element, None if data is None else _opened(mjcf, data, name))
    _one_world(mjcf.root)


def _content(
    mjcf: Mjcf, element: Any, name: str, seen: set[str], read: Beside | None
) -> bytes | None:
    """What the file of an <include> holds; None, and a fault, where it is refused."""
    wrong = _refused(name, seen, read)
    if not wrong and read is not None:
        try:
            return read(_plain(name))
        except (InputError, OSError) as error:
            wrong = str(error)
    mjcf.fault(wrong, element)
    return None


def _plain(name: str) -> str:
    """One spelling of names that mean the same file."""
    return os.path.normpath(name.replace("\\", "/"))


def _refused(name: str, seen: set[str], read: Beside | None) -> str:
    """Why a file is not included, or ''."""
    if not name:
        return "<include> names no file: write file=..."
    if re.match(r"[a-zA-Z]:|[/\\]", name) or ".." in re.split(r"[/\\]", name) or "\0" in name:
        return f"'{shown(name)}' is not in the folder of the main file: put it there"
    if read is None:
        return f"'{shown(name)}' is included: open the main file by its path, beside that one"
    if _plain(name) in seen:
        return f"'{shown(name)}' is included a second time; MJCF allows it once"
    if len(seen) > _MOST:
        return f"more than {_MOST} files are included"
    return ""


def _opened(mjcf: Mjcf, data: bytes, name: str) -> Any:
    """The root of an included file; its own faults bear its name."""
    found = UrdfFile(shown(_plain(name)), mjcf.found.snap, faults=mjcf.found.faults)
    text = element_text(data, found, "an included file has a <mujocoinclude> element")
    root = None if text is None else parsed_xml(text, found)
    if root is None:
        return None
    if root.tag not in ("mujoco", "mujocoinclude"):
        found.fault(f"the root element is <{shown(root.tag)}>, not <mujocoinclude>", 1)
        return None
    mjcf.sources.update(dict.fromkeys(root, found))
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


def _one_world(root: Any) -> None:
    """What stands in several <worldbody> belongs to one world."""
    first, *others = root.findall("worldbody") or [None]
    for other in others:
        first.extend(list(other))
        root.remove(other)
