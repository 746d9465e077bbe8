"""Files that a xacro file names: $(find package)/..., or relative to the file that names them.

A package is looked for around the file, as packages lie beside each other in a repository, and then
where ROS has its own (AMENT_PREFIX_PATH, ROS_PACKAGE_PATH). Only files of packages that are named,
of the file's own package and of its folder are read, unless the user trusts the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import InputError
from ..xml.source import LARGEST_FILE, shown

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\Z")
_MOST_AROUND = 1000  # files in which the name of another one is looked for
_LEVELS = 6  # folders above the file in which packages are looked for


@dataclass
class Packages:
    """Files of a disk around the main one."""

    main: Path
    trusted: bool = False
    folders: list[Path] = field(default_factory=list)  # whose files may be read

    def __post_init__(self) -> None:
        folder = Path(os.path.realpath(self.main)).parent
        around = (x for x in list(folder.parents)[:_LEVELS] if (x / "package.xml").is_file())
        self.folders = [folder, *list(around)[:1]]

    def find(self, name: str) -> str:
        """The folder of a package; InputError where there is none."""
        if _NAME.match(name):
            for folder in self._places(name):
                if folder.is_dir():
                    self.folders.append(folder)
                    return str(folder)
        raise InputError(
            f"the package '{shown(name)}' lies neither around the file nor where ROS has its own:"
            " put its folder beside that of the file"
        )

    def _places(self, name: str) -> Iterator[Path]:
        above = [Path(os.path.realpath(self.main)).parent]
        above += list(above[0].parents)[:_LEVELS]
        for folder in above:
            manifest = folder / "package.xml"
            named = manifest.is_file() and manifest.stat().st_size < LARGEST_FILE
            if folder.name == name or (
                named and f"<name>{name}</name>".encode() in manifest.read_bytes()
            ):
                yield folder
            yield folder / name
        for root in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
            yield Path(os.path.realpath(root)) / "share" / name
        for root in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)):
            yield Path(os.path.realpath(root)) / name

    def including(self) -> list[str]:
        """The files around the main one that name it, those of other parts behind, by their paths
        from its folder."""
        folder, users = Path(os.path.realpath(self.main)).parent, []
        around = [*folder.glob("*"), *folder.glob("../*"), *folder.glob("../*/*")]
        for path in sorted({Path(os.path.realpath(x)) for x in around[:_MOST_AROUND]}):
            if path.suffix in (".xacro", ".urdf") and path.name != self.main.name and (
                path.is_file() and path.stat().st_size < LARGEST_FILE
            ):  # fmt: skip
                text = path.read_bytes()
                if re.search(rb"[\"'/ ]" + re.escape(self.main.name.encode()) + rb"[\"']", text):
                    users.append((b":macro" in text, os.path.relpath(path, folder)))
        return [name for _, name in sorted(users)]

    def __call__(self, name: str) -> bytes:
        """The content of a file; InputError where there is none, or it is not to be read."""
        path = Path(os.path.realpath(name))
        inside = any(path.is_relative_to(os.path.realpath(folder)) for folder in self.folders)
        if not inside and not self.trusted:
            raise InputError(
                f"'{shown(name)}' is neither in the folder nor in a package of the file: put it"
                " there, or, where you trust the file, load(path, trust_includes=True) or"
                " --trust-includes"
            )
        if not path.is_file():
            raise InputError(f"there is no file '{shown(name)}'")
        with path.open("rb") as stream:
            return stream.read(LARGEST_FILE + 1)


@dataclass
class Among:
    """Files by their names, of which those of a package begin with it."""

    read: Callable[[str], bytes] | None
    main: Path = Path()
    trusted: bool = False

    def find(self, name: str) -> str:
        return name

    def __call__(self, name: str) -> bytes:
        if self.read is None:
            words = "is needed: open the main file by its path, beside that one"
            raise InputError(f"'{shown(name)}' {words}")
        return self.read(name)
