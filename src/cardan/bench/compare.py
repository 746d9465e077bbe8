"""Measure: agreement first, then time, turn about."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from math import prod

import numpy as np

from ..describe.robot import Robot
from ..errors import InputError, UnknownNameError
from ..run.native import machine
from .case import (
    Case,
    Peer,
    States,
    comparable,
    fastest,
    inputs_of,
    models_of,
    rows_of,
    states_of,
)
from .limits import copy_bandwidth, fma_peak
from .ours import cardan_c_peer, cardan_peer
from .report import TRIG, Report, Row

# name -> (package that must be installed, module and function here)
PEERS = {
    "pinocchio": ("pinocchio", "pinocchio.pinocchio_peer"),
    "casadi": ("casadi", "casadi.casadi_peer"),
    "mujoco": ("mujoco", "mujoco.mujoco_peer"),
    "drake": ("pydrake", "drake.drake_peer"),
    "exudyn": ("exudyn", "exudyn.exudyn_peer"),
    "toolbox": ("roboticstoolbox", "toolbox.toolbox_peer"),
    "skidy": ("skidy", "skidy.skidy_peer"),
}
AGREEMENT = 1e-9  # relative; a peer beyond it is reported, and not ranked
_LOOP = 1000  # states of the loops
_NUMBERS = 28  # of a state of a 7R; batches of states with more are shorter, of the same bytes
_SHOWN = 20  # states on which results are compared


def bench(
    robots: Sequence[Robot], *, peers: Iterable[str] | None = None, states: int = 100_000,
    rounds: int = 9, seed: int = 0, say: Callable[[str], None] = lambda text: None,
) -> Report:  # fmt: skip
    """Every model of every robot by Cardan and its peers; by default every peer installed."""
    if states < _LOOP or rounds < 1:
        raise InputError(f"at least {_LOOP} states and one round are needed")
    wanted = list(PEERS) if peers is None else list(peers)
    for name in wanted:
        if name not in PEERS:
            raise UnknownNameError.of("peer", name, PEERS)
    rows: list[Row] = []
    absent = {name: "not installed" for name in wanted if find_spec(PEERS[name][0]) is None}
    for robot in map(comparable, robots):
        say(f"{robot.name}: building the models")
        systems = _systems(robot, [name for name in wanted if name not in absent], absent)
        x = states_of(robot, states, seed)
        for model in models_of(robot):
            say(f"{robot.name}: {model}")
            rows += _measured(robot, model, systems, x, rounds)
    say("limits of the machine")
    limits = {"fma64": fma_peak("float64"), "fma32": fma_peak("float32"), "copy": copy_bandwidth()}
    return Report(_machine(), limits, tuple(rows), absent)


def _systems(robot: Robot, names: Iterable[str], absent: dict[str, str]) -> list[Peer]:
    peers = [cardan_peer(robot)]
    printed = cardan_c_peer(robot)
    if printed is not None:
        peers.append(printed)
    for name in names:
        module, _, function = PEERS[name][1].partition(".")
        try:
            peer = getattr(import_module(f".{module}", __package__), function)(robot)
        except Exception as error:  # whatever another system does with a robot, the rest goes on
            peer = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        if isinstance(peer, str):
            absent[f"{name} on {robot.name}"] = peer
        else:
            peers.append(peer)
    return peers


def _measured(robot: Robot, model: str, systems: list[Peer], x: States, rounds: int) -> list[Row]:
    """Rows of one model; the times of all systems are taken turn about."""
    names = inputs_of(robot, model)
    numbers = sum(x[key].shape[1] for key in names) + prod(rows_of(robot, model))
    count = min(len(x["q"]), max(_LOOP, len(x["q"]) * _NUMBERS // numbers))
    inputs = {key: x[key][:count] for key in names}
    works: dict[str, Callable[[], object]] = {}
    present = [peer for peer in systems if model in peer.cases]
    for k, peer in enumerate(present):
        for kind, work in _works(peer.cases[model], inputs).items():
            works[f"{kind} {k}"] = work
    times = fastest(rounds, works)
    reference = _results(present[0].cases[model], inputs)
    rows = []
    for k, peer in enumerate(present):
        case = peer.cases[model]
        loop, batch, single = (times.get(f"{kind} {k}") for kind in ("loop", "batch", "single"))
        difference = _difference(reference, _results(case, inputs))
        rows.append(
            Row(
                robot.name, model, peer.name, peer.version, peer.note,
                call=times[f"call {k}"],
                loop=None if loop is None else (loop - times[f"start {k}"]) / (_LOOP - 1),
                batch=None if batch is None else batch / count,
                single=None if single is None else single / count,
                generation=case.generation, operations=case.operations,
                work=None if case.operations is None else case.operations + TRIG * case.trig / 2,
                traffic=8 * numbers,
                difference=difference, agrees=difference <= AGREEMENT,
            )
        )  # fmt: skip
    return rows


def _works(case: Case, given: States) -> dict[str, Callable[[], object]]:
    """What is timed of a system, on states that are as it wants them."""
    own = case.own(given) if case.own is not None else given
    some = {key: array[:_LOOP].copy() for key, array in own.items()}
    state = [array[0].copy() for array in own.values()]
    call, loop, batch, single = case.call, case.loop, case.batch, case.single
    works: dict[str, Callable[[], object]] = {"call": lambda: call(*state)}
    if loop is not None:
        first = {key: array[:1].copy() for key, array in own.items()}
        works["loop"] = lambda: loop(some)
        works["start"] = lambda: loop(first)  # what it takes to get into machine code
    if batch is not None:
        works["batch"] = lambda: batch(own)
    if single is not None:
        works["single"] = lambda: single(own)
    return works


def _results(case: Case, given: States) -> np.ndarray:
    """The first results, each called by itself, in our terms."""
    few = {key: array[:_SHOWN] for key, array in given.items()}
    own = case.own(few) if case.own is not None else few
    rows = []
    for k in range(_SHOWN):
        y = case.call(*(array[k].copy() for array in own.values()))
        if case.ours is not None:
            y = case.ours(y, {key: array[k] for key, array in few.items()})
        rows.append(np.array(y, copy=True))
    return np.array(rows)


def _difference(reference: np.ndarray, values: np.ndarray) -> float:
    """The largest difference over the states, relative to the largest element of each result."""
    axes = tuple(range(1, reference.ndim))
    scale = np.abs(reference).max(axes)
    return float((np.abs(values - reference).max(axes) / scale).max())


def _machine() -> dict[str, str]:
    host = machine()
    return {
        "processor": host.name, "vector bits": str(8 * host.vector_bytes),
        "python": platform.python_version(), "numpy": np.__version__,
    }  # fmt: skip
