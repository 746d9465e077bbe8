"""Base parameters of a robot as an object: the table, the robot that carries them, and the map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ..describe.robot import DRIVE, FIXED, GEOMETRY, INERTIA, Link, Robot
from ..describe.values.expression import Value, symbol, symbols
from ..describe.values.parser import to_value
from ..describe.values.polynomial import collected
from ..errors import ModelError
from ..models.base_parameters import (
    Column,
    Drop,
    Merge,
    Project,
    Step,
    Transfer,
    regroup,
    regrouping_steps,
    tree_steps,
    unit_bodies,
)
from ..models.bodies import Bodies, bodies
from ..program import Program
from .common import refuse

__all__ = [
    "CUT_COLUMNS", "MODES", "BaseParameters", "base_parameters", "cheaper_parameters",
    "driven_cuts", "motion_symbols", "rotors_apart", "with_base",
]  # fmt: skip

CUT_COLUMNS = ("IA", "FV", "FS")  # the parameters of a cut joint, in the order of regressors

MODES = (
    "the loops have assembly modes that need more base parameters; these hold in the one that needs"
    " fewest (of a parallelogram: uncrossed)"
)


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a robot.

    kept: (name, link) of each base parameter; regrouped: those whose value gathers others, as
    formulas; eliminated: all others, with the reason; robot: the same robot carrying the base
    parameters (same torques); apart: rotors of joints without a motor, passive and cut ones, that
    the robot has all the same, left as they are beside the base parameters; remarks: where a rule
    could not decide and the rank did."""

    kept: tuple[Column, ...]
    regrouped: Mapping[Column, Value]
    eliminated: Mapping[Column, str]
    robot: Robot
    original: Robot
    steps: tuple[Step, ...]
    remarks: tuple[str, ...] = ()
    apart: tuple[Column, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters; R marks the regrouped ones, as SYMORO+ does."""
        return tuple(f"{n}{j}{'R' if (n, j) in self.regrouped else ''}" for n, j in self.kept)

    @property
    def values(self) -> dict[str, Value]:
        """The base parameters by name: numbers, or formulas in the symbols of the robot."""
        carried = _values(self.robot)
        return {name: carried[c] for name, c in zip(self.names, self.kept, strict=True)}

    @cached_property
    def map(self) -> np.ndarray:
        """The matrix from the full parameters (`full`) to the base parameters (`kept`).

        Geometry with free symbols has no such matrix: give them numbers with robot.with_values."""
        scene = bodies(self.original, _no_symbols)
        units, listed = unit_bodies(scene)
        found = regroup(units, self.steps)
        return np.array([np.broadcast_to(found[c], len(listed)) for c in self.kept])

    @property
    def full(self) -> tuple[Column, ...]:
        """The full parameters in the order of the map's columns."""
        return tuple(unit_bodies(_instance(self.original, 0))[1])

    def renamed(self) -> Robot:
        """The robot with one new symbol per regrouped parameter (XX2R, ...)."""
        new = {
            column: symbol(name)
            for column, name in zip(self.kept, self.names, strict=True)
            if column in self.regrouped and symbols(self.regrouped[column])
        }
        return _carrying(self.robot, {**_values(self.robot), **new})

    def table(self) -> list[tuple[str, str, str]]:
        """Rows (parameter, what becomes of it, formula)."""
        rows = []
        for column in sorted({*self.kept, *self.eliminated}, key=_position):
            name = f"{column[0]}{column[1]}"
            if column in self.regrouped:
                rows.append((f"{name}R", "regrouped", str(self.regrouped[column])))
            elif column in self.kept:
                rows.append((name, "kept", ""))
            else:
                rows.append((name, "eliminated", self.eliminated[column]))
        return rows

    def __repr__(self) -> str:
        head = f"{len(self.kept)} base parameters of {self.original.name}: {' '.join(self.names)}"
        lines = [f"  {name} = {text}" for name, kind, text in self.table() if kind == "regrouped"]
        return "\n".join([head, *lines, *self.remarks])


def base_parameters(robot: Robot, *, method: str = "symbolic") -> BaseParameters:
    """The base inertial parameters (with IA); friction parameters are always base parameters."""
    refuse(robot, "base-parameters", loops=False, floating=True)
    return _looped(robot, method) if robot.constrained else _derived(robot, method)


@lru_cache(maxsize=8)
def _looped(robot: Robot, method: str) -> BaseParameters:
    """Kept: several models ask for the same ones, and loops take seconds to decide."""
    return _derived(robot, method)


def _derived(robot: Robot, method: str) -> BaseParameters:
    steps, remarks = _steps(robot, method == "symbolic")
    scene = bodies(robot, symbol)
    original = _values(robot)
    linear = {name for value in original.values() for name in symbols(value)}
    values = {
        c: collected(_as_value(v), linear) for c, v in regroup(scene, steps).items() if c[1] > 0
    }
    apart = rotors_apart(robot)
    kept = tuple(sorted((c for c in values if c not in apart), key=_position))
    left = [c for c in sorted(apart, key=_position) if original[c] != 0]
    rotors = [k for k in driven_cuts(robot) if robot.loops[k - 1].cut.IA != 0]
    left += [("IA", len(robot.joints) + k) for k in rotors]
    regrouped = {c: values[c] for c in kept if values[c] != original[c]}
    eliminated = {c: _reason(c, steps, scene) for c in original if c not in values}
    carried = dict.fromkeys(original, 0) | values
    return BaseParameters(
        kept, regrouped, eliminated, _carrying(robot, carried), robot, tuple(steps), tuple(remarks),
        tuple(left),
    )  # fmt: skip


def _steps(robot: Robot, symbolic: bool) -> tuple[list[Step], list[str]]:
    """The steps of a tree, or of a closed-loop robot seen through its active joints."""
    if not robot.constrained:
        varied = any(symbols(getattr(j, key)) for j in robot.joints for key in GEOMETRY)
        varied = varied or bool(motion_symbols(robot))
        samples = [_instance(robot, seed) for seed in range(3 if varied else 1)]
        return _decided(samples, symbolic)
    from .closed.base import observe

    apart = rotors_apart(robot)
    seen = observe(robot, tree_steps(_instance(robot, 0), symbolic, apart)[1])
    samples = [_instance(robot, 0, values) for values in seen.values]
    steps, remarks = _decided(
        samples, symbolic, observed=seen.matrix, formula=seen.formula, apart=apart
    )
    if seen.several:
        remarks.append(MODES)
    return steps, remarks


def _decided(samples: list[Bodies], symbolic: bool, **how: Any) -> tuple[list[Step], list[str]]:
    """Numerical steps where the geometry has numbers, the symbolic rules where it has not.

    Coefficients that change with the symbols of the geometry leave dependent parameters in a
    numerical choice; the rules have formulas for them, and the rank decides what remains."""
    steps, remarks = regrouping_steps(samples, symbolic=symbolic, **how)
    if symbolic or not remarks:
        return steps, remarks
    steps, remarks = regrouping_steps(samples, symbolic=True, **how)
    words = (
        "the geometry has symbols, with which numerical coefficients would change: regrouped by the"
        " symbolic rules instead"
    )
    return steps, [words, *remarks]


def motion_symbols(robot: Robot) -> set[str]:
    """The symbols of how the base moves and of gravity."""
    base = robot.base
    given = (*base.W0, *base.WP0, *base.V0, *base.VP0, *robot.gravity)
    return {name for value in given for name in symbols(value)}


def rotors_apart(robot: Robot) -> set[Column]:
    """Rotor inertias of the passive joints of a closed-loop robot: there is no motor to have them.

    Where a description has them all the same they are left as they are, as friction is."""
    passive = enumerate(robot.joints, 1) if robot.constrained else ()
    return {("IA", j) for j, joint in passive if joint.sigma != FIXED and not joint.active}


def driven_cuts(robot: Robot) -> tuple[int, ...]:
    """The loops, from 1, whose cut joint has friction or a rotor."""
    return tuple(
        k
        for k, loop in enumerate(robot.loops, 1)
        if loop.cut.sigma != FIXED and any(getattr(loop.cut, name) != 0 for name in CUT_COLUMNS)
    )


def _instance(robot: Robot, seed: int, known: Mapping[str, float] | None = None) -> Bodies:
    """The robot with random numbers for its symbols, but for those known."""
    rng = np.random.default_rng(1000 + seed)
    values = {name: float(rng.uniform(0.3, 1.7)) for name in robot.parameters}
    values |= known or {}
    return bodies(robot, values.__getitem__)


def _no_symbols(name: str) -> Any:
    raise ModelError(
        f"the map needs numbers, but '{name}' is a symbol: fix it with robot.with_values first"
    )


def _as_value(x: Any) -> Value:
    return to_value(float(x)) if isinstance(x, float | np.floating) else x


def _position(column: Column) -> tuple[int, int]:
    return column[1], (*INERTIA, *DRIVE).index(column[0])


def _values(robot: Robot) -> dict[Column, Value]:
    found: dict[Column, Value] = {}
    for j, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True), 1):
        found |= {(key, j): getattr(link, key) for key in INERTIA}
        if joint.sigma != 2:
            found["IA", j] = joint.IA
    return found


def _carrying(robot: Robot, values: Mapping[Column, Value]) -> Robot:
    """The robot with these inertial parameters."""

    def loaded(j: int, link: Link) -> Link:
        changed: dict[str, Any] = {key: values.get((key, j), 0) for key in INERTIA}
        return replace(link, **changed)

    links = tuple(loaded(j, link) for j, link in enumerate(robot.links, 1))
    joints = tuple(
        replace(joint, IA=values.get(("IA", j), 0)) for j, joint in enumerate(robot.joints, 1)
    )
    return replace(robot, links=links, joints=joints)


def _reason(column: Column, steps: list[Step], scene: Bodies) -> str:
    for step in steps:
        if isinstance(step, Drop) and step.column == column:
            return "has no effect on the torques"
        if isinstance(step, Project) and (("MX", "MY", "MZ")[step.k], step.j) == column:
            return f"regrouped into the other first moments of link {step.j}"
        if isinstance(step, Merge) and step.column == column:
            into = ", ".join(f"{name}{j}" for _, (name, j) in step.into)
            return f"regrouped into {into}"
        if isinstance(step, Transfer) and step.j == column[1] and column[0] != "IA":
            i = scene.links[step.j - 1].i
            last = f"regrouped into link {i}" if i else "has no effect: link 0 does not move"
    return last


def cheaper_parameters(
    builder: Callable[..., Program], robot: Robot, options: Mapping[str, Any]
) -> Program:
    """The program with base parameters; where it costs more than that with the robot's own, which
    gives the same values, that one: fewer parameters only mostly mean fewer operations."""
    found = builder(robot, **options)
    searched = options.get("effort") != "plain" and not options.get("symbolic")
    if not searched or (not robot.constrained and with_base(robot, True) == robot):
        return found
    own = builder(robot, **{**options, "base_parameters": False})
    return own if own.cost.price < found.cost.price else found


def with_base(robot: Robot, wanted: bool) -> Robot:
    """The robot that carries its base parameters, if wanted."""
    if not wanted:
        return robot
    return base_parameters(robot).robot
