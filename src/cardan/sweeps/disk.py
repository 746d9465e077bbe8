"""What a sweep asks of the disk: room for a file, bytes at a place, safety from a power cut.

A process that is killed leaves what it has written: the system keeps it. A machine that loses its
power may not, so marks are trusted after a restart only where the bytes were forced to the disk
first. Where the system cannot do a thing (locks, room in advance), it is left out.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

import numpy as np

from ..errors import CardanError, InputError

_AT_ONCE = 1024  # pieces that a system takes in one call
_BLOCK = 256  # words of a sum
_WHOLE = 1 << 26  # bytes of a file that is hashed whole
_SAMPLES, _SAMPLE = 1024, 1 << 14  # places of a larger one, and the bytes read there
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


def own_file(path: Path, mode: str) -> FileIO:
    """A file of a sweep's own folder; a link in its place is not followed."""
    if path.is_symlink():  # where the system cannot refuse it by itself
        raise OSError(errno.ELOOP, "a link stands where a file of the sweep belongs", str(path))
    beside = getattr(os, "O_NOFOLLOW", 0)
    return FileIO(str(path), mode, opener=lambda name, flags: os.open(name, flags | beside, 0o666))


def sums(column: np.ndarray) -> bytes:
    """The sum of the words of every block of a contiguous column, as bytes to be hashed: a changed
    byte changes a sum, a block at another place the order. Fast as memory is read."""
    words = column.view(f"<u{column.dtype.itemsize}")
    whole = len(words) // _BLOCK * _BLOCK
    blocks = np.add.reduce(words[:whole].reshape(-1, _BLOCK), axis=1, dtype="<u8")
    return bytes(blocks.tobytes() + words[whole:].tobytes())


def content(path: Path) -> str:
    """What identifies the content of a file. Up to 64 MB a hash of all of it. Of a larger file the
    size, the time of its last change, and a hash of 16 MB at places spread over it."""
    status = path.stat()
    mark = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        if status.st_size <= _WHOLE:
            mark.update(file.read())
            return f"content {mark.hexdigest()}"
        last = status.st_size - _SAMPLE
        for k in range(_SAMPLES):
            file.seek(last * k // (_SAMPLES - 1))
            mark.update(file.read(_SAMPLE))
    return f"sampled {mark.hexdigest()} {status.st_size} {status.st_mtime_ns}"


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
