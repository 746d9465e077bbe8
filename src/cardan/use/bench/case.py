"""What is compared: one model of one robot as one system computes it, and how it is timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...describe.robot import Base, Limits, Robot
from ...errors import ModelError

__all__ = ["INPUTS", "MODELS", "Case", "Peer", "States", "comparable", "fastest"]

MODELS = ("inverse-dynamics", "inertia-matrix", "direct-dynamics")
INPUTS = {
    "inverse-dynamics": ("q", "qd", "qdd"),
    "inertia-matrix": ("q",),
    "direct-dynamics": ("q", "qd", "tau"),
}
States = Mapping[str, np.ndarray]  # name -> (N, n)


@dataclass(frozen=True)
class Case:
    """One model: what it takes to evaluate one state, or many.

    `call` is one state from Python; `loop` runs many states, one after the other, in machine code;
    `batch` is the system's own way with many states. Each may be missing."""

    call: Callable[..., np.ndarray]
    loop: Callable[[States], np.ndarray] | None = None
    batch: Callable[[States], np.ndarray] | None = None
    single: Callable[[States], np.ndarray] | None = None  # batch in float32
    generation: float | None = None  # seconds from the description to something callable
    operations: int | None = None  # multiplications and additions
    trig: int = 0  # sines and cosines


@dataclass(frozen=True)
class Peer:
    """A system with the models it computes; `note` says how it was asked."""

    name: str
    version: str
    note: str
    cases: Mapping[str, Case] = field(default_factory=dict)


def comparable(robot: Robot) -> Robot:
    """The robot every system can hold: rigid, numeric, on a fixed base, without drives."""
    if robot.parameters:
        raise ModelError(
            f"'{robot.name}' has symbols without a value ({', '.join(robot.parameters[:3])}, ...): "
            "compare a numeric robot, or give values by with_values({...})"
        )
    if robot.loops:
        raise ModelError(f"'{robot.name}' has closed loops: compare its tree, robot.tree()")
    plain: dict[str, Any] = {
        "IA": 0, "FV": 0, "FS": 0, "elastic": False, "stiffness": 0, "rest": 0, "damping": 0,
        "active": True, "limits": Limits(-1000, 1000),  # with limits: one coordinate everywhere
    }  # fmt: skip
    joints = tuple(replace(joint, **plain) for joint in robot.joints)
    links = tuple(replace(link, FX=0, FY=0, FZ=0, CX=0, CY=0, CZ=0) for link in robot.links)
    return replace(robot, joints=joints, links=links, base=Base(link=robot.base.link))


def fastest(rounds: int, works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of the fastest run of each work, taken turn about so that all meet the same machine.

    A short work is repeated until a run takes about two milliseconds."""
    repeats = {name: _repeats(work) for name, work in works.items()}
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            count = repeats[name]
            start = time.perf_counter()
            for _ in range(count):
                work()
            best[name] = min(best[name], (time.perf_counter() - start) / count)
    return best


def _repeats(work: Callable[[], object]) -> int:
    work()
    start = time.perf_counter()
    work()
    return max(1, int(2e-3 / max(1e-7, time.perf_counter() - start)))
