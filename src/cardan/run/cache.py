"""Compiled objects kept on disk, so that a model is compiled once per machine and version.

An entry is named by the hash of everything that shaped it (text, processor, versions) and ends with
the hash of its content: what does not match is compiled again. Writing is atomic; whatever goes
wrong here is ignored, because the cache is never needed. Machine code is only taken from a folder
that is the user's own and that nobody else can write to.

CARDAN_CACHE names the folder; "off" switches the cache off.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..version import __version__

__all__ = ["cached_object", "folder"]

_HASH = 32  # bytes of a SHA-256


def cached_object(key: tuple[str, ...], compile_: Callable[[], bytes]) -> bytes:
    """The object for a key: from disk if it is there and sound, else compiled and kept."""
    name = hashlib.sha256("\0".join((__version__, *key)).encode()).hexdigest()
    place = folder()
    if place is None:
        return compile_()
    found = _read(place / f"{name}.o")
    if found is None:
        found = compile_()
        _write(place, f"{name}.o", found)
    return found


def folder() -> Path | None:
    """Where the cache is, or None when there is none to trust."""
    chosen = os.environ.get("CARDAN_CACHE", "")
    if chosen.lower() == "off":
        return None
    try:
        place = Path(chosen).expanduser() if chosen else _standard() / "cardan"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid"):
            status = place.stat()
            if status.st_uid != os.getuid() or status.st_mode & 0o022:
                return None
    except (OSError, RuntimeError):
        return None
    return place


def _standard() -> Path:
    """The platform's folder for caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content, mark = data[:-_HASH], data[-_HASH:]
    return content if content and hashlib.sha256(content).digest() == mark else None


def _write(place: Path, name: str, content: bytes) -> None:
    try:
        handle, temporary = tempfile.mkstemp(dir=place, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content + hashlib.sha256(content).digest())
            os.replace(temporary, place / name)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
    except OSError:
        return
