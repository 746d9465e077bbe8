"""The files of a package: templates filled in, a folder written so that nobody sees half of it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path, PurePosixPath

from ..errors import InputError
from ..files import umask

_PLACE = re.compile(r"@([A-Z_]+)@")  # in the templates of `data/`
Files = Mapping[str, str | bytes]  # path below the folder, with / -> content


def check_target(folder: Path, force: bool) -> None:
    """Refuse a folder that holds something, unless it may be overwritten."""
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: a file of this name exists; choose another folder")
        if folder.is_dir() and any(folder.iterdir()) and not force:
            raise InputError(
                "the folder is not empty", where=str(folder),
                remedy="choose another, or overwrite the package in it with force=True",
                action="force",
            )  # fmt: skip
    except OSError as error:
        raise _failed(folder, error) from None


def write_folder(folder: Path, files: Files, *, force: bool = False) -> None:
    """Write the files beside the folder, then move them into place.

    A new folder appears whole. One that exists keeps the files that are not of the package, and
    every file of it is replaced whole."""
    check_target(folder, force)
    beside: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=".cardan-", dir=folder.parent))
        for name, content in files.items():
            path = beside / PurePosixPath(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(content))
        _read_back(beside, files)
        beside.chmod(0o777 & ~umask())
        if folder.is_dir() and any(folder.iterdir()):
            _merge(beside, folder, files)
        else:
            if folder.is_dir():
                folder.rmdir()
            beside.rename(folder)
        _read_back(folder, files)
    except OSError as error:
        raise _failed(folder, error) from None
    finally:
        if beside is not None:
            shutil.rmtree(beside, ignore_errors=True)


def _merge(source: Path, target: Path, files: Files) -> None:
    places = [target / PurePosixPath(name) for name in files]
    blocked = [path for path in places if path.is_dir()]
    if blocked:
        raise InputError(f"{blocked[0]}: this is a folder; move it away, a file is to be written")
    for name, path in zip(files, places, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source / PurePosixPath(name), path)


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _read_back(folder: Path, files: Files) -> None:
    """Every file of the package is there, and holds what was meant."""
    for name, content in files.items():
        if (folder / PurePosixPath(name)).read_bytes() != _bytes(content):
            raise InputError(
                f"{folder}: '{name}' does not read back as it was written: the disk is at fault, or"
                " another program writes there; write the package again, to another folder"
            )


def _failed(folder: Path, error: OSError) -> InputError:
    return InputError(f"{folder}: {error.strerror or error}; check the path and its permissions")


def template(path: str, **values: object) -> str:
    """A file of `data/` with its places filled; what is filled in is never searched again."""
    return fill(files(__package__).joinpath("data", *path.split("/")).read_text("utf-8"), **values)


def fill(text: str, **values: object) -> str:
    """The text with @NAME@ replaced by the value of that name."""
    return _PLACE.sub(lambda found: str(values[found[1].lower()]), text)
