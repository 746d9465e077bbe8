"""The thread that writes files: disks can be slow, and pages must not wait for them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["later", "written"]

_WRITER = ThreadPoolExecutor(1, "projects")  # one, so that files are written in order


def later(work: Callable[..., None], *given: Any) -> None:
    """Done after what was asked for before."""
    _WRITER.submit(work, *given)


def written() -> None:
    """Wait until everything is on the disk."""
    _WRITER.submit(lambda: None).result()
