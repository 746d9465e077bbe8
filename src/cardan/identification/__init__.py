"""Dynamic parameters from recordings: `identify`; motions worth recording: `excite`."""

from .excite import Excitation, excite
from .identify import identify
from .read.logs import Recording, read_recording
from .recipe import Recipe, read_recipe
from .report.result import Identification

__all__ = [
    "Excitation", "Identification", "Recipe", "Recording", "excite", "identify", "read_recipe",
    "read_recording",
]  # fmt: skip
