"""What a URDF looks like: the surfaces of its links, placed in the frames of the robot.

A link of the file and the frame that carries it move together. At the zero of all joints both are
known, the one from the file's placements, the other from the Denavit-Hartenberg table; so their
difference is known, and stays."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ...closure.numeric import skeleton
from ...describe.files import accepted, dumps, read_bytes
from ...describe.frames import frame, inverse, rotation_of_rpy
from ...describe.robot import Robot
from ...describe.urdf_xml import UrdfFile, element_text, parsed_xml, read_elements
from ...errors import CardanError, InputError
from ...use.frames import link_frames
from .meshes import as_stl, cuboid, cylinder, read_mesh, sphere

__all__ = ["opened"]

Data = dict[str, Any]
ROBOTS = ("urdf", "toml", "par", "xml")
_MOST_FILES = 2000
_MOST_BYTES = 256_000_000  # of all files of an archive
_MOST_DRAWN = 600_000  # triangles of a robot
_GREY = "#9aa4af"


def opened(robot: None, data: Data, say: Callable[[str], None]) -> Data:
    """The robot among the uploaded files, and its surfaces; names of files only tell which is
    which."""
    files = _unpacked([(name, base64.b64decode(text)) for name, text in data["attached"]])
    name, content = _robot_file(files)
    say("reading the robot")
    suffix = name.rpartition(".")[2].lower()
    shown = f"upload.{suffix}" if suffix.isalnum() and len(suffix) < 9 else "upload"
    read, faults = read_bytes(content, shown)
    found = accepted(read, [x for x in faults if x.severity == "error"], shown)
    doubts = [str(fault) for fault in faults if fault.severity != "error"]
    answer: Data = {
        "robot": dumps(found, "toml"), "meshes": [], "notes": [], "doubts": doubts, "parts": {}
    }  # fmt: skip
    if suffix == "urdf":
        _draw(found, content, files, answer, say)
    return answer


def _unpacked(files: list[tuple[str, bytes]]) -> dict[str, bytes]:
    """All files by the name they came with; archives are opened in memory."""
    found: dict[str, bytes] = {}
    for name, content in files:
        if not name.lower().endswith(".zip"):
            found[name] = content
            continue
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                _unzip(archive, found)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError,
                ValueError) as error:  # fmt: skip
            raise InputError(f"the archive cannot be read: {str(error)[:100]}") from None
    return found


def _unzip(archive: zipfile.ZipFile, found: dict[str, bytes]) -> None:
    room = _MOST_BYTES
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > _MOST_FILES:
        raise InputError(f"the archive holds {len(entries)} files; at most {_MOST_FILES} are read")
    for entry in entries:
        with archive.open(entry) as file:
            content = file.read(room + 1)  # what an archive says about its sizes may be wrong
        room -= len(content)
        if room < 0:
            raise InputError(f"the archive holds more than {_MOST_BYTES // 1_000_000} MB")
        found[entry.filename] = content


def _robot_file(files: dict[str, bytes]) -> tuple[str, bytes]:
    """The one that describes a robot: of several, the one nearest to the top."""
    if len(files) == 1:
        return next(iter(files.items()))
    found = [
        name
        for name in files
        if name.rpartition(".")[2].lower() in ROBOTS
        and not name.rpartition("/")[2].startswith(("package.", "."))
    ]
    urdf = [name for name in found if name.lower().endswith(".urdf")]
    best = sorted(urdf or found, key=lambda name: (name.count("/"), name))
    if not best:
        raise InputError("there is no robot among the files: .urdf, .toml, .par or .xml")
    if len(best) > 1 and best[0].count("/") == best[1].count("/"):
        few = ", ".join(name[-60:] for name in best[:5])
        raise InputError(f"there are several robots among the files ({few}): leave one")
    return best[0], files[best[0]]


def _draw(robot: Robot, content: bytes, files: dict[str, bytes], answer: Data, say: Any) -> None:
    elements = read_elements(content, "upload.urdf", 0.0)
    text = element_text(content, elements, "")
    root = None if text is None else parsed_xml(text, UrdfFile("upload.urdf", 0.0))
    if root is None:
        return
    frames, place = _attached(robot, elements)
    colours = {m.get("name"): _colour(m) for m in root.iter("material") if _colour(m)}
    drawn, lacking = 0, []
    for link in root.findall("link"):
        for visual in link.findall("visual"):
            say(f"reading the surfaces of {str(link.get('name'))[:60]}")
            try:
                triangles = _surface(visual, files)
            except CardanError as error:
                lacking.append(str(error))
                continue
            name = str(link.get("name"))
            if triangles is None or name not in place:
                continue
            drawn += len(triangles)
            if drawn > _MOST_DRAWN:
                lacking.append(f"more than {_MOST_DRAWN} triangles: the rest is left out")
                break
            T = place[name] @ _origin(visual)
            stl = as_stl(triangles @ T[:3, :3].T.astype("f4") + T[:3, 3].astype("f4"))
            digest = hashlib.sha256(stl).hexdigest()
            answer["parts"][digest] = base64.b64encode(stl).decode()
            material = visual.find("material")
            colour = _colour(material) or colours.get(
                None if material is None else material.get("name"))  # fmt: skip
            answer["meshes"].append([frames[name], digest, colour or _GREY])
    answer["notes"] = list(dict.fromkeys(lacking))


def _attached(robot: Robot, found: UrdfFile) -> tuple[dict[str, str], dict[str, Any]]:
    """For each link of the file: the link of the robot that carries it ("" the base), and its
    placement in that one's frame."""
    T = link_frames(skeleton(robot), np.zeros(robot.n))
    number = {joint.name: j for j, joint in enumerate(robot.joints, 1)}
    children = {joint.child for joint in found.joints}
    root = next(link.name for link in found.links if link.name not in children)
    world = {root: np.eye(4)}
    body = {root: 0}
    waiting = list(found.joints)
    while waiting:
        ready = [joint for joint in waiting if joint.parent in world]
        for joint in ready:
            body[joint.child] = number.get(joint.name, body[joint.parent])
            step = np.eye(4) if joint.type == "floating" else joint.placement
            world[joint.child] = world[joint.parent] @ step
        waiting = [joint for joint in waiting if joint.parent not in world or
                   joint.child not in world]  # fmt: skip
        if not ready:
            break
    names = ["", *(link.name for link in robot.links)]
    return ({name: names[j] for name, j in body.items()},
            {name: inverse(T[body[name]]) @ at for name, at in world.items()})  # fmt: skip


def _surface(visual: Any, files: dict[str, bytes]) -> Any:
    """The triangles of a <visual>, or None where it has no shape."""
    geometry = visual.find("geometry")
    for item in geometry if geometry is not None else ():
        if item.tag == "mesh":
            name, content = _found(str(item.get("filename", "")), files)
            return read_mesh(name, content) * _numbers(item, "scale", 3, 1.0).astype("f4")
        if item.tag == "box":
            return cuboid(*_numbers(item, "size", 3, 1.0))
        if item.tag == "cylinder":
            radius, length = _numbers(item, "radius", 1, 1.0), _numbers(item, "length", 1, 1.0)
            return cylinder(radius[0], length[0])
        if item.tag == "sphere":
            return sphere(_numbers(item, "radius", 1, 1.0)[0])
    return None


def _found(wanted: str, files: dict[str, bytes]) -> tuple[str, bytes]:
    """The uploaded file that a URDF means: that whose name ends most like it."""
    tail = [part for part in re.split(r"[/\\]+", wanted.partition("://")[2] or wanted) if part]

    def alike(name: str) -> int:
        parts = [x.lower() for x in PurePosixPath(name.replace("\\", "/")).parts]
        pairs = zip(reversed(parts), (x.lower() for x in reversed(tail)), strict=False)
        count = 0
        for a, b in pairs:
            if a != b:
                break
            count += 1
        return count

    best = max(files, key=alike)
    if not tail or not alike(best):
        short = (tail or ["?"])[-1][:60]
        raise InputError(f"{short} is not among the files")
    return best, files[best]


def _numbers(item: Any, key: str, count: int, default: float) -> Any:
    text = str(item.get(key, "")).split()
    try:
        found = np.array([float(word) for word in text]) if text else np.full(count, default)
    except ValueError:
        raise InputError(f"{key} = {' '.join(text)[:40]!r} is not {count} numbers") from None
    if len(found) != count or not np.isfinite(found).all() or np.abs(found).max() > 1e6:
        raise InputError(f"{key} = {' '.join(text)[:40]!r} is not {count} numbers")
    return found


def _origin(element: Any) -> Any:
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    return frame(rotation_of_rpy(_numbers(origin, "rpy", 3, 0.0)), _numbers(origin, "xyz", 3, 0.0))


def _colour(material: Any) -> str:
    rgba = None if material is None else material.find("color")
    if rgba is None:
        return ""
    try:
        red, green, blue = (
            int(255 * min(max(x, 0), 1)) for x in _numbers(rgba, "rgba", 4, 1.0)[:3]
        )
    except InputError:
        return ""
    return f"#{red:02x}{green:02x}{blue:02x}"
