"""The tests import their own helpers as `tests.<module>`, however pytest was started; what they
compile is not taken from, nor kept in, the user's cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

os.environ["CARDAN_CACHE"] = "off"  # tests compile what they test
for _name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):  # compilers must not seek make's jobs
    os.environ.pop(_name, None)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

settings.register_profile("cardan", deadline=None)  # a busy machine is no failure
settings.load_profile("cardan")
