"""Files of sweeps in object stores, by the addresses of fsspec (s3://, gs://, memory:// ...).

A result is written on this machine, chunk by chunk, so that a kill loses nothing, and goes to the
store when it is whole; one that is there already is fetched first, to be known again."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import InputError, MissingExtraError


def is_address(path: Any) -> bool:
    """Is this the address of a store, and not a path?"""
    return isinstance(path, str) and "://" in path


def _opened(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError.of("fsspec", "dist", "a file in an object store") from None
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise InputError(f"{address}: this store cannot be opened: {error}") from None
    return system, path


def _beside(address: str) -> Path:
    """Where the file lies on this machine."""
    name = PurePosixPath(address).name
    if not name or name in (".", ".."):
        raise InputError(f"{address}: names no file")
    key = hashlib.sha256(address.encode()).hexdigest()[:24]
    folder = Path(tempfile.gettempdir(), f"cardan-store-{key}")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / name


@contextmanager
def fetched(address: str) -> Iterator[Path]:
    """A copy of a file of a store, as long as it is needed."""
    system, path = _opened(address)
    suffix = PurePosixPath(path).suffix
    with tempfile.TemporaryDirectory(prefix="cardan-") as folder:
        local = Path(folder, f"states{suffix}")
        try:
            system.get_file(path, str(local))
        except (OSError, ValueError) as error:
            raise InputError(f"{address}: cannot be read: {error}") from None
        yield local


@contextmanager
def stored(address: str) -> Iterator[Path]:
    """A path on this machine for a result; what is there in the end goes to the store."""
    system, path = _opened(address)
    local = _beside(address)
    try:
        if system.exists(path):
            system.get_file(path, str(local))
        before = local.stat().st_mtime_ns if local.exists() else None
        yield local
        if local.exists() and local.stat().st_mtime_ns != before:
            system.put_file(str(local), path)
    except OSError as error:
        raise InputError(f"{address}: {error}; run the same sweep again: it goes on") from None
    local.unlink(missing_ok=True)
