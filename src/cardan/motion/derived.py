"""Models of robots, derived and compiled once: simulation and control ask for the same ones."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..catalogue import model
from ..describe.robot import Robot
from ..program import Program


@lru_cache(maxsize=128)
def derived(robot: Robot, name: str, **options: Any) -> Program:
    """cardan.model, remembered."""
    program: Program = model(robot, name, **options)
    return program


@lru_cache(maxsize=128)
def compiled(robot: Robot, name: str, **options: Any) -> Any:
    """The model compiled for this machine, remembered."""
    return derived(robot, name, **options).compile()
