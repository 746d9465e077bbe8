"""What is compared: one model of one robot as one system computes it, and how it is timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..describe.robot import FURTHER, Base, Limits, Robot
from ..errors import ModelError

DYNAMICS = ("inverse-dynamics", "inertia-matrix", "direct-dynamics")
DERIVATIVES = ("inverse-dynamics-derivatives", "direct-dynamics-derivatives")
MODELS = DYNAMICS + DERIVATIVES
_INPUTS = {
    "inverse-dynamics": ("q", "qd", "qdd"),
    "inertia-matrix": ("q",),
    "direct-dynamics": ("q", "qd", "tau"),
    "inverse-dynamics-derivatives": ("q", "qd", "qdd"),
    "direct-dynamics-derivatives": ("q", "qd", "tau"),
}
_OF_THE_BASE = {
    "inverse-dynamics": ("V0", "V0d", "g0"),
    "inertia-matrix": (),
    "direct-dynamics": ("V0", "g0"),
}
G0 = (1.2, -0.9, -9.7)  # gravity in frame 0 of a floating base: the same for all states
States = Mapping[str, np.ndarray]  # name -> (N, n)


def floats(robot: Robot) -> bool:
    return robot.base.kind == "floating"


def models_of(robot: Robot) -> tuple[str, ...]:
    """What is compared: derivatives of robots on a fixed base, whose states are vectors."""
    return DYNAMICS if floats(robot) else MODELS


def inputs_of(robot: Robot, model: str) -> tuple[str, ...]:
    """What every system is given; a floating base with its acceleration in inverse dynamics.

    Results of a floating base are the base's six rows, then the joints': F0 and tau, V0d and qdd,
    the whole inertia matrix."""
    return _INPUTS[model] + (_OF_THE_BASE[model] if floats(robot) else ())


def options_of(robot: Robot, model: str) -> dict[str, str]:
    """The options of Cardan's model of these inputs."""
    return {"base": "given"} if floats(robot) and model == "inverse-dynamics" else {}


def rows_of(robot: Robot, model: str) -> tuple[int, ...]:
    """The shape of the result."""
    size = robot.n + 6 * floats(robot)
    if model in DERIVATIVES:  # by q, by qd, by qdd or tau
        return (size, 3 * size)
    return (size, size) if model == "inertia-matrix" else (size,)


def states_of(robot: Robot, count: int, seed: int) -> dict[str, np.ndarray]:
    """Random states of everything."""
    rng = np.random.default_rng(seed)
    x = {key: rng.uniform(-2, 2, (count, robot.n)) for key in ("q", "qd", "qdd", "tau")}
    if floats(robot):
        x |= {key: rng.uniform(-2, 2, (count, 6)) for key in ("V0", "V0d")}
        x["g0"] = np.tile(G0, (count, 1))
    return x


@dataclass(frozen=True)
class Case:
    """One model: what it takes to evaluate one state, or many.

    `call` is one state from Python; `loop` runs many states, one after the other, in machine code;
    `batch` is the system's own way with many states. Each may be missing. `own` gives the states
    as the system wants them, `ours` its results as Cardan's; neither is timed."""

    call: Callable[..., np.ndarray]
    loop: Callable[[States], np.ndarray] | None = None
    batch: Callable[[States], np.ndarray] | None = None
    single: Callable[[States], np.ndarray] | None = None  # batch in float32
    generation: float | None = None  # seconds from the description to something callable
    operations: int | None = None  # multiplications and additions
    trig: int = 0  # sines and cosines
    own: Callable[[States], States] | None = None
    ours: Callable[[np.ndarray, States], np.ndarray] | None = None


@dataclass(frozen=True)
class Peer:
    """A system with the models it computes; `note` says how it was asked."""

    name: str
    version: str
    note: str
    cases: Mapping[str, Case] = field(default_factory=dict)


def comparable(robot: Robot) -> Robot:
    """The robot every system can hold: rigid, numeric, on a fixed or floating base, no drives."""
    if robot.parameters:
        raise ModelError(
            f"'{robot.name}' has symbols without a value ({', '.join(robot.parameters[:3])}, ...)",
            remedy="compare a numeric robot, or give values by robot.with_values({...})",
            action="values",
        )
    if robot.constrained:
        what = "closed loops" if robot.loops else "coupled joints"
        remedy = "compare its tree, robot.tree()"
        raise ModelError(f"'{robot.name}' has {what}", remedy=remedy, action="tree")
    plain: dict[str, Any] = {
        "IA": 0, "FV": 0, "FS": 0, "elastic": False, "stiffness": 0, "rest": 0, "damping": 0,
        **dict.fromkeys(FURTHER, 0),
        "active": True, "limits": Limits(-1000, 1000),  # with limits: one coordinate everywhere
    }  # fmt: skip
    base = Base(kind="floating" if floats(robot) else "fixed", link=robot.base.link)
    joints = tuple(replace(joint, **plain) for joint in robot.joints)
    links = tuple(replace(link, FX=0, FY=0, FZ=0, CX=0, CY=0, CZ=0) for link in robot.links)
    return replace(robot, joints=joints, links=links, base=base)


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
    """Runs that take about two milliseconds, by the fastest of a few: any one may be held up."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return max(1, int(2e-3 / max(1e-7, best)))
