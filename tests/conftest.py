"""The tests import their own helpers as `tests.<module>`, however pytest was started; what they
derive and compile is shared within the run, and not taken from, nor kept in, the user's cache."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

gc.disable()  # until all tests are collected: nothing of what is imported goes away
for _name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):  # compilers must not seek make's jobs
    os.environ.pop(_name, None)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.remembered import keep_in_this_run  # noqa: E402  on the path from here on

keep_in_this_run()
settings.register_profile("cardan", deadline=None)  # a busy machine is no failure
settings.load_profile("cardan")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The many small tests of this folder last: processes that share a run then end together."""
    here = Path(__file__).parent
    items.sort(key=lambda item: item.path.parent == here)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """What is there stays: the collector need not go through it again and again (a fifth of the
    processor time of the tests of loops and kernels)."""
    gc.freeze()
    gc.set_threshold(20_000, 10, 20)
    gc.enable()
