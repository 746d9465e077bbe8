"""What a sweep asks of the disk: room for a file, bytes at a place, safety from a power cut.

A process that is killed leaves what it has written: the system keeps it. A machine that loses its
power may not, so marks are trusted after a restart only where the bytes were forced to the disk
first. Where the system cannot do a thing (locks, room in advance), it is left out.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from ..errors import CardanError, InputError

__all__ = ["boot", "force", "lock", "reserve", "said", "write_at"]

_AT_ONCE = 1024  # pieces that a system takes in one call
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK)


@contextmanager
def said(target: Path) -> Iterator[None]:
    """What the disk refuses, as an error of ours."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        again = "; make room and run the same sweep again: it goes on where it stopped"
        raise CardanError(
            f"{target}: cannot be written: {why}{again if error.errno == errno.ENOSPC else ''}"
        ) from None


def boot() -> str:
    """Names the time since the machine was started; empty where that is not known."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def lock(file: FileIO, target: Path) -> None:
    """This process alone writes the file, until it closes it or dies."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            raise InputError(
                f"{target}: another sweep is writing it; wait for that one, or name another file"
            ) from None


def reserve(file: FileIO, size: int, target: Path) -> None:
    """Room for the whole file: a disk too small is found now, and later writes are quicker."""
    with suppress(AttributeError, OSError):
        take = ctypes.CDLL(None, use_errno=True).fallocate64
        take.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
        if take(file.fileno(), 0, 0, size) and ctypes.get_errno() in (errno.ENOSPC, errno.EDQUOT):
            raise InputError(f"{target}: there is no room for the results, {size / 1e9:.3g} GB")


def force(file: FileIO) -> None:
    """Wait until what was written is on the disk."""
    with suppress(OSError):
        getattr(os, "fdatasync", os.fsync)(file.fileno())


def write_at(file: FileIO, place: int, pieces: Sequence[bytes | memoryview]) -> None:
    """Pieces one after the other: many in one call where the system can, else one by one."""
    at_once = hasattr(os, "pwritev")
    step = _AT_ONCE if at_once else 1
    for first in range(0, len(pieces), step):
        some = pieces[first : first + step]
        size = sum(map(len, some))
        done = os.pwritev(file.fileno(), some, place) if at_once else 0
        if done < size:  # the system may take a part at a time
            rest = memoryview(b"".join(some))[done:]
            file.seek(place + done)
            while len(rest):
                rest = rest[file.write(rest) or 0 :]
        place += size
