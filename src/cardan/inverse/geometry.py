"""`InverseGeometry`: what cardan.model(robot, "inverse-geometry") gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .chain import Chain

__all__ = ["InverseGeometry"]


@dataclass(frozen=True)
class InverseGeometry:
    """All configurations of a chain for a pose, as equations, as code and as numbers."""

    chain: Chain
    method: str
    reason: str
    solver: Any
