"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[str]:
    """An empty file beside the target, put in its place when the block ends well; links stay. A
    private file can be read by its user alone."""
    target = os.path.realpath(path)
    handle, temporary = tempfile.mkstemp(prefix=".cardan-", dir=os.path.dirname(target))
    os.close(handle)
    try:
        yield temporary
        if not private:  # a temporary file is
            os.chmod(temporary, 0o666 & ~umask())
        os.replace(temporary, target)
    finally:
        Path(temporary).unlink(missing_ok=True)


def write_atomic(path: str | os.PathLike[str], text: str | bytes, private: bool = False) -> None:
    """Write UTF-8 text or bytes, and read them back before they take the file's place; devices are
    written to."""
    try:
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        target = Path(path)
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        with replacing(path, private=private) as temporary:
            Path(temporary).write_bytes(data)
            if Path(temporary).read_bytes() != data:
                raise OSError("what was written does not read back the same: the disk is at fault")
    except (OSError, ValueError, TypeError) as error:
        raise _failed(path, error) from None


def write_whole(path: str | os.PathLike[str], write: Callable[[str], object]) -> None:
    """Let `write` fill a temporary file of the name it is given, then put it in its place."""
    try:
        with replacing(path) as temporary:
            write(temporary)
    except OSError as error:
        raise _failed(path, error) from None


def umask() -> int:
    """The permissions that new files do without."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _failed(path: object, error: Exception) -> InputError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(
        f"cannot be written: {why}", where=str(path),
        remedy="check the path and its permissions",
    )  # fmt: skip
