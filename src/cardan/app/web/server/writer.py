"""Files of the server: private ones, written by a thread, as disks can be slow and pages must not
wait for them."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

_WRITER = ThreadPoolExecutor(1, "projects")  # one, so that files are written in order


def later(work: Callable[..., None], *args: Any) -> None:
    """Done after what was asked for before."""
    _WRITER.submit(work, *args)


def written() -> None:
    """Wait until everything is on the disk."""
    _WRITER.submit(lambda: None).result()


def private_folder(path: Path) -> Path:
    """The folder, made where it is missing, which only its user can look into."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(PermissionError):  # of another user, who shares it
        if stat.S_IMODE(path.stat().st_mode) != 0o700:
            path.chmod(0o700)
    return path


def private_files(folder: Path, pattern: str) -> list[tuple[Path, os.stat_result]]:
    """The files of a folder, latest first, which only their user can read. What is no file there, a
    folder or a link that leads nowhere, is passed over and named in the log."""
    files = []
    for path in folder.glob(pattern):
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise OSError("not a file")
        except OSError as error:
            reason = error.strerror or str(error)
            logging.getLogger("cardan").warning("%s is passed over: %s", path, reason)
            continue
        with suppress(OSError):
            if status.st_mode & 0o077 and not path.is_symlink():
                path.chmod(0o600)
        files.append((path, status))
    return sorted(files, key=lambda file: -file[1].st_mtime)
