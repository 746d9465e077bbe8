"""What tests share in one run: models derived, and machine code compiled, once. The library keeps
both (cardan/cache.py): here in a folder of this run, for all its processes."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

__all__ = ["keep_in_this_run"]


def keep_in_this_run() -> None:
    """A cache of this run for all its processes: nothing is taken from the user's, nor kept."""
    if "PYTEST_XDIST_WORKER" not in os.environ:  # else the first process made it
        folder = tempfile.mkdtemp(prefix="cardan-tests-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["CARDAN_CACHE"] = folder
