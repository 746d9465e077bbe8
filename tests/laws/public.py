"""The public URDF files beside the repository, where they are."""

from __future__ import annotations

import math
import re
from pathlib import Path

__all__ = ["FILES", "whole_pi"]

FILES = sorted((Path(__file__).resolve().parents[3] / "shared/robots/urdf").glob("*.urdf"))


def whole_pi(text: str) -> str:
    """1.57079632679 is a right angle on both sides of the comparison."""

    def whole(match: re.Match[str]) -> str:
        x = float(match[0])
        k = round(x / (math.pi / 12))
        return repr(k * math.pi / 12) if 0 < abs(x - k * math.pi / 12) < 1e-11 else match[0]

    return re.sub(r"-?\d\.\d{9,}", whole, text)
