"""What takes long is kept on disk, so that a model is derived and compiled once per machine and
version.

An entry is named by the hash of everything that shaped it (text, processor, versions) and ends with
the hash of its name and content: what does not match, or was made for another program, is made
again. Writing is atomic; whatever goes wrong here is ignored, because the cache is never needed.
Machine code is only taken from a folder that is the user's own and that nobody else can write to.
When the entries are more than a limit together, those used longest ago go.

CARDAN_CACHE names the folder; "off" switches the cache off. CARDAN_CACHE_MB is its limit.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .files import replacing
from .version import __version__

_HASH = 32  # bytes of a SHA-256
_LIMIT_MB = 500.0
_ROOM = 0.8  # of the limit is left when entries go, so that it is not done at every writing
_UNSEEN = 0.05  # of the limit is written by a process before it counts the entries again
_FRESH = 3600.0  # seconds: a use within this time after the last is not noted
_OBJECT = ".o"

_written = float("inf")  # bytes since the entries were counted; at first nobody knows


def cached_object(key: tuple[str, ...], compile_: Callable[[], bytes]) -> bytes:
    """The object for a key: from disk if it is there and sound, else compiled and kept."""
    stored = recalled(key, _OBJECT)
    if stored is None:
        stored = compile_()
        keep(key, _OBJECT, stored)
    return stored


def recalled(key: tuple[str, ...], kind: str) -> bytes | None:
    """What was kept under a key, if it is there and sound."""
    place = folder()
    return None if place is None else _read(place / _name(key, kind))


def keep(key: tuple[str, ...], kind: str, content: bytes) -> None:
    """Keep what was made for a key, if there is a place."""
    place = folder()
    if place is not None:
        _write(place, _name(key, kind), content)


def _name(key: tuple[str, ...], kind: str) -> str:
    return hashlib.sha256("\0".join((__version__, *key)).encode()).hexdigest() + kind


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
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))  # a relative one counts for nothing there
    return chosen if chosen.is_absolute() else Path.home() / ".cache"


def _mark(name: str, content: bytes) -> bytes:
    """What an entry ends with: it belongs to this name."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
        content, mark = data[:-_HASH], data[-_HASH:]
        if not content or _mark(path.name, content) != mark:
            return None
        if time.time() - path.stat().st_mtime > _FRESH:
            os.utime(path)  # the last use, for `_prune`
    except OSError:
        return None
    return content


def _write(place: Path, name: str, content: bytes) -> None:
    global _written
    with suppress(OSError):
        with replacing(place / name, private=True) as temporary:
            Path(temporary).write_bytes(content + _mark(name, content))
        _written += len(content)
        if _written > _UNSEEN * _limit():
            _written = 0.0
            _prune(place, name)


def _limit() -> float:
    """Bytes that all entries may have together."""
    try:
        limit = float(os.environ.get("CARDAN_CACHE_MB", ""))
    except ValueError:
        limit = _LIMIT_MB
    return 1e6 * (limit if limit >= 0 else _LIMIT_MB)


def _prune(place: Path, newest: str) -> None:
    """Remove the entries used longest ago while all together are more than the limit."""
    with os.scandir(place) as entries:
        files = [(x.stat(), x) for x in entries if not x.name.startswith(".") and x.is_file()]
    limit, total = _limit(), sum(status.st_size for status, _ in files)
    if total <= limit:
        return
    for status, entry in sorted(files, key=lambda item: item[0].st_mtime):
        if total <= _ROOM * limit:
            return
        if entry.name != newest:
            Path(entry.path).unlink(missing_ok=True)
            total -= status.st_size
