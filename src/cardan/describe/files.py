"""Robot files: read, load and save, the format chosen by the extension.

    .toml   our own format            .urdf   bodies and joints as ROS writes them
    .par    SYMORO+, OpenSYMORO       .xml    MJCF
    .xacro  macros of URDF, read only .sdf    Gazebo, Drake; read only
    .usd    UsdPhysics, read only, through usd-core

Readers work on bytes; what a description refers to (meshes) is ignored, but for the files that MJCF
and xacro include, which lie beside it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ..arguments import named_arguments
from ..errors import (
    FOREIGN,
    MOST_FAULTS,
    CardanWarning,
    DescriptionError,
    Fault,
    MissingExtraError,
    UnknownNameError,
    further,
    translated,
)
from ..files import write_atomic
from .bundled import bundled, robots
from .check import check
from .mjcf.include import Folder
from .par.read import OWN, read_par
from .par.write import write_par
from .read_back import Comparison, compared
from .robot import FURTHER, Robot
from .toml.read import read_dict, read_toml
from .toml.write import write_toml
from .usd.stage import EXTENSIONS as USD
from .xacro.packages import Among, Packages

Content = tuple[Robot | None, list[Fault]]
LARGEST_FILE = 20_000_000
FORMATS = (".toml", ".par", ".urdf", ".xml")
READABLE = (*FORMATS, ".xacro", ".sdf", ".world", *USD)
TABLES = (".csv", ".tsv", ".txt")
_DESCRIPTIONS = "robot_descriptions:"
_TABLE = 'a DH table needs its convention, load(path, convention="standard"), "craig" or "khalil"'
_ELSEWHERE = {  # what people have instead, and the way from there
    **dict.fromkeys(TABLES, _TABLE),
}
_OWN = {  # fields in words of our own, by format
    "par": OWN, "symoro+": OWN, "urdf": FURTHER, "xml": FURTHER[1:-2],
}  # fmt: skip

ORDERS = ("file", "pinocchio")


def load(
    source: str | os.PathLike[str] | Mapping[str, Any], *, fixed: str = "merge",
    mimic: bool = False, body: str = "", trust_includes: bool = False, convention: str = "",
    arguments: Mapping[str, str] | None = None, order: str = "file",
) -> Robot:  # fmt: skip
    """A robot by bundled name, path or dict ('-' is standard input); every fault is raised.
    "robot_descriptions:panda_description" is a robot of that package, where it is installed.

    Warnings are issued as CardanWarning. fixed: what becomes of the fixed links of a URDF, parts of
    the link that carries them ("merge") or links of their own ("keep"); their frames (tools,
    sensors) have names either way.
    mimic=True: a joint of a URDF that mimics another follows it, and has no drive; else it is a
    joint like any other, with a warning.
    body: of a scene (MJCF) with several robots, the one that starts with this body; "world": all
    that stands on the world. trust_includes=True: an MJCF file may name files outside its folder, a
    xacro file such outside its folder and packages. arguments: values of a xacro file's arguments,
    as of UR's, {"ur_type": "ur5e"}.
    convention: the file is a table of Denavit and Hartenberg (.csv), as of `from_dh`: "standard",
    "craig" or "khalil".
    order: of the joints of a URDF, thus of q: depth first, below each link as they stand in the
    file ("file") or by name, as Pinocchio has them ("pinocchio").

    >>> cardan.load("ur5").n
    6
    >>> arm = cardan.load({"name": "arm", "link": [{"mass": 2}, {"d": "0.5", "mass": "m"}]})
    >>> arm.parameters
    ('m',)"""
    robot, faults = read(
        source, fixed=fixed, mimic=mimic, body=body, trust_includes=trust_includes,
        convention=convention, arguments=arguments, order=order,
    )  # fmt: skip
    return accepted(robot, faults)


def accepted(robot: Robot | None, faults: list[Fault], file: str = "") -> Robot:
    """The robot, if no fault is an error; what is only a warning is issued as one."""
    errors = [fault for fault in faults if fault.severity == "error"]
    if robot is None or errors:
        raise DescriptionError(errors or [Fault("the description holds no robot", file)])
    for fault in faults:
        warnings.warn(str(fault), CardanWarning, stacklevel=3)
    return robot


def read(
    source: str | os.PathLike[str] | Mapping[str, Any], *, fixed: str = "merge",
    mimic: bool = False, body: str = "", trust_includes: bool = False, convention: str = "",
    arguments: Mapping[str, str] | None = None, order: str = "file",
) -> Content:  # fmt: skip
    """The robot, or None, and every fault: errors and warnings."""
    if isinstance(source, Mapping):
        return read_dict(source)
    if not isinstance(source, str | os.PathLike):
        kind = type(source).__name__
        raise DescriptionError(f"a robot is a bundled name, a path or a dict, not {kind}")
    name = os.fspath(source)
    if convention:
        return _read_table(name, convention)
    if isinstance(source, str) and name in robots():
        robot = bundled(name)
        return robot, check(robot)
    if name.startswith(_DESCRIPTIONS):
        name, own = _described(name.removeprefix(_DESCRIPTIONS))
        arguments = {**own, **(arguments or {})}
    options: dict[str, Any] = {
        "fixed": fixed, "mimic": mimic, "body": body, "arguments": arguments, "order": order,
    }  # fmt: skip
    if name == "-":
        return read_bytes(sys.stdin.buffer.read(LARGEST_FILE + 1), "<stdin>", **options)
    return _read_path(name, trust_includes, **options)


def scene(source: str, trust_includes: bool = False) -> list[tuple[str, str, str]]:
    """What is in a scene (MJCF): kind, name and a description of each robot, prop, piece of scenery
    and keyframe; nothing of other files, of files with faults, and of a robot alone."""
    path = Path(source)
    if path.suffix.lower() != ".xml" or not path.is_file():
        return []
    from .mjcf.attach import open_mjcf
    from .mjcf.scenes import contents

    data = path.read_bytes()[:LARGEST_FILE]
    if b"<mujoco" not in data:
        return []
    mjcf = open_mjcf(data, source, Folder(path.parent, trust_includes))
    rows = [] if mjcf.main.failed else contents(mjcf)
    return rows if len(rows) > 1 else []


def _described(name: str) -> tuple[str, dict[str, str]]:
    """The path of a robot of the package robot_descriptions, which fetches it when asked, and the
    arguments that the package has for a xacro file."""
    package = find_spec("robot_descriptions")
    if package is None:
        raise MissingExtraError(
            f"'{_DESCRIPTIONS}{name:.60}' needs robot_descriptions",
            remedy="type  pip install robot_descriptions",
        )
    modules = (m.name for m in iter_modules(package.submodule_search_locations or ()))
    listed = sorted(x for x in modules if x.endswith("_description") and not x.startswith("_"))
    if name not in listed:
        raise UnknownNameError.of("robot of robot_descriptions", name, listed)
    with translated(f"robot_descriptions gives no '{name}'", DescriptionError, of=(Exception,)):
        module = import_module(f"robot_descriptions.{name}")
    for key in ("URDF_PATH", "MJCF_PATH", "XACRO_PATH"):
        if path := getattr(module, key, None):
            arguments = dict(getattr(module, "XACRO_ARGS", None) or {})
            return str(path), arguments if key == "XACRO_PATH" else {}
    raise DescriptionError(f"'{name}' of robot_descriptions has no file of a robot")


def _read_table(name: str, convention: str) -> Content:
    """The robot of a table of Denavit and Hartenberg."""
    from .dh.tables import COLUMNS, LARGEST_TEXT, read_dh_table

    if convention not in COLUMNS:
        raise UnknownNameError.of("DH convention", convention, COLUMNS)
    file, most = "<stdin>" if name == "-" else name, 4 * LARGEST_TEXT + 4
    try:
        if name == "-":
            data = sys.stdin.buffer.read(most)
        else:
            with Path(name).open("rb") as stream:
                data = stream.read(most)
        text = data.decode("utf-8-sig")[: LARGEST_TEXT + 1]
    except UnicodeDecodeError:
        return None, [Fault("the file is not UTF-8 text", file)]
    except (OSError, ValueError) as error:
        return None, [Fault(f"{getattr(error, 'strerror', '') or error}; check the path", file)]
    title = "robot" if name == "-" else Path(name).stem
    return read_dh_table(text, convention, file, name=title)


def read_bytes(
    data: bytes, file: str, *, fixed: str = "merge", mimic: bool = False, body: str = "",
    beside: Callable[[str], bytes] | None = None, arguments: Mapping[str, str] | None = None,
    order: str = "file",
) -> Content:  # fmt: skip
    """Read a description in memory; the extension of `file`, or else the text, tells its format.
    beside: gives the files that MJCF and xacro include, by name; InputError where there is none."""
    if order not in ORDERS:
        raise UnknownNameError.of("order of the joints", order, ORDERS)
    urdf = {"fixed": fixed, "mimic": mimic, "arguments": arguments, "order": order}
    try:
        robot, faults = _read_format(data, file, urdf, body, beside)
    except RecursionError:
        return None, [Fault("elements nest too deeply; write a long chain as .urdf or .toml", file)]
    except FOREIGN as error:
        why = " ".join(str(error).split())[:300] or type(error).__name__
        return None, [Fault(f"cannot be read: {why}; check its numbers and its form", file)]
    return robot, _listed(faults, file)


def _listed(faults: list[Fault], file: str) -> list[Fault]:
    """At most so many faults, errors before warnings: what is left out is counted, and an error
    among it is one still."""
    if len(faults) <= MOST_FAULTS + 1:  # readers that stop by themselves add their count
        return faults
    errors = [k for k, fault in enumerate(faults) if fault.severity == "error"]
    others = [k for k, fault in enumerate(faults) if fault.severity != "error"]
    chosen = sorted([*errors, *others][:MOST_FAULTS])
    severity = "error" if len(errors) > MOST_FAULTS else "warning"
    return [*(faults[k] for k in chosen), further(len(faults) - MOST_FAULTS, file, severity)]


def _read_format(
    data: bytes, file: str, urdf: Mapping[str, Any], body: str, beside: Any
) -> Content:
    fault = _unreadable(data)
    extension = (os.path.splitext(file)[1].lower() if file != "<stdin>" else "") or _guess(data)
    if fault or extension not in READABLE:
        return None, [Fault(fault or _unknown_format(extension), file)]
    sdf = extension in (".sdf", ".world") or (extension == ".xml" and b"<sdf" in data[:2000])
    if body and extension not in (".xml", *USD) and not sdf:
        words = f"body='{body:.60}' chooses a robot of a scene in MJCF, SDFormat or USD"
        return None, [Fault(words, file)]
    if extension == ".toml":
        return read_toml(data, file)
    if extension == ".par":
        return read_par(data, file)
    files = beside if isinstance(beside, Packages) else Among(beside)
    if sdf:
        from .sdf.read import read_sdf

        options = {key: urdf[key] for key in ("fixed", "mimic")}
        return read_sdf(data, file, files, body=body, **options)
    if extension in USD:
        from .usd.read import read_usd

        return read_usd(data, Path(file), file, body=body, fixed=urdf["fixed"])
    renamed = b"<robot" in data and b"<mujoco" not in data.partition(b"<robot")[0]
    if extension in (".urdf", ".xacro") or renamed:
        from .urdf.read import read_urdf

        if urdf["fixed"] not in ("merge", "keep"):
            raise UnknownNameError.of("value of option 'fixed'", urdf["fixed"], ("merge", "keep"))
        return read_urdf(data, file, files=files, **urdf)
    from .mjcf.read import read_mjcf

    robot, faults = read_mjcf(data, file, beside, body=body)
    return robot, faults if robot is None else [*faults, *check(robot, file)]


@named_arguments
def save(robot: Robot, path: str | os.PathLike[str]) -> None:
    """Write the robot; the file appears whole or not at all. The text is read back before: what
    the format cannot hold is told by a CardanWarning.

    >>> cardan.save(cardan.load("scara"), "arm.par")
    >>> cardan.load("arm.par").parameters == cardan.load("scara").parameters
    True"""
    form = Path(path).suffix
    write_atomic(path, checked(robot, dumps(robot, form), form))


def checked(robot: Robot, text: str, format: str, *, partly: bool = False) -> str:
    """The text of a robot, which reads back as the same robot: every number of it in .toml and
    .par, the same mechanics in .urdf and .xml. partly: drives may have been left out, as told."""
    form = format.removeprefix(".").lower()
    again, faults = read_bytes(
        text.encode("utf-8"), "robot.par" if form == "symoro+" else f"robot.{form}", fixed="keep",
        mimic=True,
    )  # fmt: skip
    errors = [fault.message for fault in faults if fault.severity == "error"]
    if again is None or errors:
        comparison = Comparison(tuple(errors) or ("no robot comes back",))
    else:
        comparison = compared(robot, again, form)
    wrong = (*comparison.wrong, *(() if partly else comparison.drives))
    if wrong:
        raise DescriptionError(
            f"'{robot.name}' cannot be written as {form}: what is read back is not the same robot"
            f" ({'; '.join(wrong[:3])}); save it as .toml"
        )
    if comparison.lost:
        parts = ", ".join(comparison.lost)
        what = f"'{robot.name}' as {form}: {parts} cannot be held and are left out"
        warnings.warn(what, CardanWarning, stacklevel=4)
    own = {key: None for joint in robot.joints for key in _OWN.get(form, ())
           if getattr(joint, key) != 0}  # fmt: skip
    if own:
        what = f"'{robot.name}' as {form}: {', '.join(own)} are words of Cardan, which others skip"
        warnings.warn(what, CardanWarning, stacklevel=4)
    return text


def dumps(robot: Robot, format: str) -> str:
    """The robot as text: toml, par, symoro+ (the other dialect of .par), urdf or xml (MJCF)."""
    from .mjcf.write import write_mjcf
    from .urdf.write import write_urdf

    writers: dict[str, Callable[[Robot], str]] = {
        "toml": write_toml,
        "par": write_par,
        "symoro+": lambda one: write_par(one, "symoro+"),
        "urdf": write_urdf,
        "xml": write_mjcf,
    }
    name = format.removeprefix(".").lower()
    if name not in writers:
        raise UnknownNameError.of("robot format", format, writers)
    return writers[name](robot)


def _read_path(name: str, trusted: bool, **options: Any) -> Content:
    path, data = Path(name), b""
    usd = path.suffix.lower() in USD
    try:
        wrong = _wrong_path(path, name)
        if not wrong and not usd:
            with path.open("rb") as stream:
                data = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        wrong = f"{words}; check the path and its permissions"
    if wrong:
        return None, [Fault(wrong, name)]
    if usd:
        from .usd.read import read_usd

        options = {key: options[key] for key in ("body", "fixed")}
        return read_usd(None, path, name, trusted=trusted, **options)
    mjcf = path.suffix.lower() == ".xml"
    files = Folder(path.parent, trusted) if mjcf else Packages(path, trusted)
    return read_bytes(data, name, beside=files, **options)


def _wrong_path(path: Path, name: str) -> str:
    """Why a path is none of a robot file, or ''."""
    if path.is_dir():
        return "this is a folder; give the path of a robot file"
    if not path.exists():
        if not path.suffix and os.sep not in name:
            raise UnknownNameError.of("robot", name, robots())
        return "there is no such file; check the path"
    if not path.is_file():
        return "this is not a regular file; give the path of a robot file"
    if path.suffix.lower() not in READABLE:
        return _unknown_format(path.suffix.lower())
    size = path.stat().st_size
    # surfaces lie in USD files, too
    most = 50 * LARGEST_FILE if path.suffix.lower() in USD else LARGEST_FILE
    return _too_large(size, most) if size > most else ""


def _unreadable(data: bytes) -> str:
    """Why these bytes are no description at all, or ''."""
    if len(data) > LARGEST_FILE:
        return _too_large(len(data))
    if not data.strip():
        return "the file is empty; a description has at least one link"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "the file is UTF-16 text; save it as UTF-8"
    if b"\0" in data and data[:8] != b"PXR-USDC" and data[:4] != b"PK\3\4":
        return "the file is binary, not text; give a .toml, .par or .urdf file"
    return ""


def _guess(data: bytes) -> str:
    """The format of text without a name, by how it starts."""
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return ".xml" if b"<mujoco" in start[:2000] or b"<sdf" in start[:2000] else ".urdf"
    if data[:8] == b"PXR-USDC" or start[:5] == b"#usda":
        return ".usd"
    return ".par" if start.startswith(b"(*") else ".toml"


def _unknown_format(extension: str) -> str:
    if extension in _ELSEWHERE:
        return f"{extension} is not read: {_ELSEWHERE[extension]}"
    return (
        f"{extension or 'a name without extension'} is no robot format;"
        " allowed: .toml, .par, .urdf, .xacro, .sdf, .xml (MJCF), .usd"
    )


def _too_large(size: int, most: int = LARGEST_FILE) -> str:
    return f"the file has {size / 1e6:.0f} MB, at most {most // 1_000_000} MB are read"
