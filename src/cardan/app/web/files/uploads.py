"""Uploaded files: archives opened in memory, the one that describes a robot, those it names."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath

from ....describe.files import READABLE
from ....errors import InputError

LISTED = f"{', '.join(READABLE[:-1])} or {READABLE[-1]}"
_MOST_FILES = 2000
_MOST_BYTES = 256_000_000  # of all files of an archive
_INCLUDED = re.compile(
    rb"<(?:xacro:)?include\s[^>]*?file(?:name)?\s*=\s*[\"'](?:[^\"']*/)?([^\"'/]+)[\"']"
)
_LINKED = re.compile(rb"^\s*(?:\[+\s*(?:link|leg)\b|link\s*=)", re.MULTILINE)
_NAMED = re.compile(rb"<robot\s[^>]*?\bname\s*=")


def unpacked(files: list[tuple[str, bytes]]) -> dict[str, bytes]:
    """All files by the name they came with; archives are opened in memory."""
    contents: dict[str, bytes] = {}
    for name, content in files:
        if not name.lower().endswith(".zip"):
            contents[name] = content
            continue
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                contents |= _unzipped(archive)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError,
                ValueError) as error:  # fmt: skip
            raise InputError(f"the archive cannot be read: {str(error)[:100]}") from None
    return contents


def _unzipped(archive: zipfile.ZipFile) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
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
        contents[entry.filename] = content
    return contents


def robot_files(files: dict[str, bytes]) -> list[str]:
    """Those that describe a robot, the ones nearest to the top first."""
    if len(files) == 1:
        return list(files)
    robots = [
        name
        for name in files
        if name.lower().endswith(READABLE)
        and not name.rpartition("/")[2].startswith(("package.", "."))
    ]
    robots = [x for x in robots if _whole(x, files[x])] or robots
    parts = {part for name in robots for part in _INCLUDED.findall(files[name])}
    robots = [x for x in robots if x.rpartition("/")[2].encode() not in parts] or robots
    if not robots:
        raise InputError(f"there is no robot among the files: {LISTED}")
    return sorted(robots, key=lambda name: (name.count("/"), name))


def _whole(name: str, content: bytes) -> bool:
    """Whether a file is a robot of its own. MJCF: not a part that others include, nor a scene that
    only includes the robot, as it often comes with one. xacro: not macros alone, which bear no
    name. TOML: not the settings of a program."""
    if name.lower().endswith(".toml"):
        return bool(_LINKED.search(content))
    if name.lower().endswith(".xacro"):
        return bool(_NAMED.search(content))
    if not name.lower().endswith(".xml") or b"<robot" in content or b"<sdf" in content:
        return True
    settings = b"<include" in content and (b"<compiler" in content or b"<default" in content)
    return b"<mujocoinclude" not in content and (b"<body" in content or settings)


def among(files: dict[str, bytes]) -> Callable[[str], bytes]:
    """The uploaded file that MJCF includes."""

    def read(name: str) -> bytes:
        try:
            return uploaded(name, files)[1]
        except InputError as error:
            words = f"{error}: upload it with the robot, or a .zip of the folder"
            raise InputError(words) from None

    return read


def uploaded(wanted: str, files: dict[str, bytes]) -> tuple[str, bytes]:
    """The uploaded file that a robot means: that whose name ends most like it."""
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
