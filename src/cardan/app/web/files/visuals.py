"""The work of opening files: the robot among them, and what it looks like."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any

from ....describe.files import accepted, dumps, read_bytes
from ....describe.robot import Robot
from .meshes import as_stl
from .uploads import among, robot_files, unpacked

Data = dict[str, Any]
_MOST_DRAWN = 600_000  # triangles of a robot
_GREY = "#9aa4af"


def opened(robot: None, data: Data, say: Callable[[str], None]) -> Data:
    """The robot among the uploaded files, and its surfaces; names of files only tell which is
    which."""
    files = unpacked([(name, base64.b64decode(text)) for name, text in data["attached"]])
    names = robot_files(files)
    if len(names) > 1 and data.get("choice") not in names:
        return {"several": names}
    name = data["choice"] if len(names) > 1 else names[0]
    content = files[name]
    say("reading the robot")
    shown = "".join(c for c in re.split(r"[/\\]", name)[-1] if c.isprintable())[-60:] or "upload"
    read, faults = read_bytes(content, shown, beside=among(files))
    machine = accepted(read, [x for x in faults if x.severity == "error"], shown)
    doubts = [str(fault) for fault in faults if fault.severity != "error"]
    answer: Data = {
        "robot": dumps(machine, "toml"), "meshes": [], "notes": [], "doubts": doubts, "parts": {}
    }  # fmt: skip
    if name.lower().endswith((".sdf", ".world")) or b"<sdf" in content[:2000]:
        answer["notes"] = ["surfaces of SDFormat: the robot is drawn by its frames"]
    elif name.lower().endswith((".urdf", ".xacro", ".xml")):
        say("reading its surfaces")
        _draw(machine, content, files, answer)
    return answer


def _draw(robot: Robot, content: bytes, files: dict[str, bytes], answer: Data) -> None:
    """Those of the file, as parts [link's name, digest, colour] of the answer."""
    from .visuals_mjcf import mjcf_surfaces
    from .visuals_urdf import urdf_surfaces

    # a URDF may hold a <mujoco> of its own
    mjcf = b"<mujoco" in content.partition(b"<robot")[0]
    reader = mjcf_surfaces if mjcf else urdf_surfaces
    lacking: list[str] = []
    room = _MOST_DRAWN
    for link, (colour, triangles) in reader(robot, content, files, lacking):
        room -= len(triangles)
        if room < 0:
            lacking.append(f"more than {_MOST_DRAWN} triangles: the rest is left out")
            break
        stl = as_stl(triangles)
        digest = hashlib.sha256(stl).hexdigest()
        answer["parts"][digest] = base64.b64encode(stl).decode()
        answer["meshes"].append([link, digest, colour or _GREY])
    answer["notes"] = list(dict.fromkeys(lacking))
