"""The columns of the identification model: which parameters there are, and what each contributes.

    tau_j = (rigid body columns, base parameters) + IA_j qdd_j
          + FV_j qd_j + FQ_j qd_j |qd_j| + FVA_j |qd_j| + offset_j + spring_j q_j
          + [FS_j + FB_j / (1 + (qd_j/VB_j)^2)] s(qd_j)
          + coupled parameters of the recipe + (columns of the payload, in loaded recordings)

Friction acts on every joint, also on those that follow the driven ones in closed loops, and reaches
the equations by G^T (see `ties`). Rotors of these, and cut joints, count where the robot has them.
The law is that of `models.friction`: s is the sign, or qd / sqrt(qd^2 + VS^2), which is what a sign
becomes when torques are filtered, or the friction creeps. The widths VS_j and the Stribeck
velocities VB_j enter nonlinearly: they are the `shape`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...build.base import BaseParameters, rotors_apart
from ...catalogue import model as derive
from ...describe.robot import DRIVE, FIXED, FRICTION, FURTHER, INERTIA, Robot
from ...describe.robot import Drive as Shared
from ...describe.values.expression import Value, evaluate, number, symbol
from ...describe.values.parser import to_value
from ...errors import InputError, ModelError
from ...mechanism.tree import Tree
from ...models.friction import Friction
from ..read.signals import Motion
from ..recipe import Recipe
from .ties import Ties, ties_of

Array = np.ndarray
WIDTH, SPEED = 0.05, 0.2  # rad/s: where the search for VS and VB starts
Shape = Mapping[str, float]
Curve = Callable[[Array, Shape], Array]


@dataclass(frozen=True)
class Term:
    """A parameter that is not rigid-body: rows(motion, shape) gives {joint: (rows)}, joints
    from 0; start: the widths and velocities of the shape it uses, and where their search
    starts."""

    name: str
    rows: Callable[[Motion, Shape], dict[int, Array]]
    start: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Rigid:
    """Columns of a compiled regressor: all of those named, of the robot or of its payload."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    dynamic: Any  # Programs' functions, compiled on first use
    payload: bool = False
    full: bool = False  # of the regressor of all parameters, not of the base parameters
    values: tuple[float, ...] | None = None  # known: not a column, moved to the torques


@dataclass(frozen=True)
class Model:
    """All columns, in order: rigid blocks, then terms; `kept` are the independent ones."""

    robot: Robot
    base: BaseParameters
    blocks: tuple[Rigid, ...]
    terms: tuple[Term, ...]
    ties: Ties
    kept: tuple[int, ...] = ()
    dropped: tuple[str, ...] = ()
    rotors: bool = True  # with the inertias IA of the motors

    @property
    def unknown(self) -> tuple[Rigid, ...]:
        return tuple(block for block in self.blocks if block.values is None)

    @property
    def all_names(self) -> tuple[str, ...]:
        rigid = (name for block in self.unknown for name in block.names)
        return (*rigid, *(term.name for term in self.terms))

    @property
    def names(self) -> tuple[str, ...]:
        names = self.all_names
        return tuple(names[k] for k in self.kept)

    @property
    def shape(self) -> dict[str, float]:
        """Start values of all widths VS and Stribeck velocities VB."""
        return {key: x for term in self.terms for key, x in term.start.items()}


class Functions:
    """The regressors of a robot, derived and compiled when they are first needed."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.found: dict[tuple[str, bool], Any] = {}

    def __call__(self, name: str, base: bool) -> Any:
        if (name, base) not in self.found:
            # a search for fewer operations would take longer than it saves
            quick = {"effort": "plain"} if name == "regressor" else {}
            program = derive(self.robot, name, base_parameters=base, **quick)
            self.found[name, base] = program.compile()
        return self.found[name, base]

    def columns(self, name: str, base: bool) -> tuple[str, ...]:
        return tuple(self(name, base).program.columns)


def parametrised(robot: Robot) -> Robot:
    """The robot with one symbol per inertial parameter, no wrench and bare cut joints: names do not
    depend on values."""
    links, joints = [], []
    for j, (link, joint) in enumerate(zip(robot.links, robot.joints, strict=True), 1):
        inertia: Any = {key: symbol(f"{key}{j}") for key in INERTIA}
        drive: Any = {key: symbol(f"{key}{j}") for key in DRIVE} if joint.sigma != 2 else {}
        wrench: Any = dict.fromkeys(("FX", "FY", "FZ", "CX", "CY", "CZ"), 0)
        links.append(replace(link, **inertia, **wrench))
        further: Any = dict.fromkeys(FURTHER, 0)
        joints.append(replace(joint, **drive, **further))
    bare: Any = dict.fromkeys((*DRIVE, *FURTHER), 0)
    loops = tuple(replace(loop, cut=replace(loop.cut, **bare)) for loop in robot.loops)
    shared: Any = dict.fromkeys(FRICTION, 0)
    drives = tuple(replace(x, **shared, IA=symbol(f"IA{j}")) for j, x in robot.driving.items())
    changed = replace(robot, links=tuple(links), joints=tuple(joints), loops=loops, drives=drives)
    numbers = (*range(1, len(links) + 1), *robot.driving)
    own = {f"{key}{j}" for j in numbers for key in (*INERTIA, *DRIVE)}
    free = [name for name in changed.parameters if name not in own]
    if free:
        raise ModelError(
            f"identification of '{robot.name}' needs its geometry and gravity as numbers; "
            f"{', '.join(free[:8])} have none",
            remedy="robot.with_values({...}) gives them values", action="values",
        )  # fmt: skip
    return changed


@lru_cache(maxsize=8)
def columns_of(robot: Robot, recipe: Recipe, loaded: bool, any_assembly: bool) -> Model:
    """The model with all columns: recordings that start elsewhere share what is compiled."""
    named = parametrised(robot)
    base = derive(_without_rotors(named) if any_assembly else named, "base-parameters")
    functions = Functions(named)
    apart = rotors_apart(robot)
    names = {
        c: name for c, name in zip(base.kept, base.names, strict=True)
        if c[0] != "IA" or (recipe.fit.motor_inertia and c not in apart)
    }  # fmt: skip
    listed = functions.columns("regressor", not any_assembly)
    columns = tuple(listed.index(f"{c[0]}{c[1]}" if any_assembly else names[c]) for c in names)
    blocks = [Rigid(tuple(names.values()), columns, functions, full=any_assembly)]
    if loaded:
        blocks += _payload_blocks(robot, recipe, functions)
    ties = ties_of(robot)
    terms = terms_of(robot, ties, recipe)
    return Model(robot, base, tuple(blocks), terms, ties, rotors=bool(recipe.fit.motor_inertia))


def terms_of(robot: Robot, ties: Ties, recipe: Recipe) -> tuple[Term, ...]:
    """All that is not rigid-body."""
    return (*drives(ties, recipe), *_coupled(robot, recipe))


def describable(recipe: Recipe) -> Recipe:
    """The recipe without what no robot description holds: coupled parameters."""
    return replace(recipe, coupled=())


def shared_motors(robot: Robot, recipe: Recipe) -> tuple[Shared, ...]:
    """The motors that several joints turn, by the rows of the transmission: those of the robot, or
    of a row with a joint beside its own, which has the ratio 1. A recipe with parameters of its own
    for what joints share has those."""
    moving = [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]
    rows = recipe.transmission.matrix
    if robot.drives or robot.constrained or recipe.coupled or len(rows) != len(moving):
        return robot.drives
    return tuple(
        Shared(f"motor{moving[m]}", tuple(
            (j, to_value(float(f"{x / row[m]:.12g}")))
            for j, x in zip(moving, row, strict=True) if x
        ))
        for m, row in enumerate(rows) if row[m] and sum(map(bool, row)) > 1
    )  # fmt: skip


def plain(recipe: Recipe) -> Recipe:
    """The recipe for programs that read .par and .urdf: of the friction FV and FS alone."""
    nothing = {"smooth": 0.0, "stribeck": False, "offset": False, "quadratic": False,
               "asymmetry": False}  # fmt: skip
    return describable(recipe).changed("friction", **nothing)


def _without_rotors(named: Robot) -> Robot:
    """The tree of a robot with symbols, without rotors on the joints that follow."""
    apart = rotors_apart(named)
    joints = [replace(x, IA=0) if ("IA", j) in apart else x for j, x in enumerate(named.joints, 1)]
    return replace(named, joints=tuple(joints)).tree()


def _payload_blocks(robot: Robot, recipe: Recipe, functions: Functions) -> list[Rigid]:
    """The payload's unknown parameters as columns XXL ..., and its known ones as torques."""
    last = Tree.of(robot).link(None) if robot.constrained else len(robot.links)
    link = recipe.payload.link or last
    if link > len(robot.links):
        raise InputError(f"[payload] link = {link}; '{robot.name}' has {len(robot.links)} links")
    listed = functions.columns("regressor", False)
    known = dict(recipe.payload.known)
    blocks = []
    for given in (False, True):
        keys = [key for key in INERTIA if (key in known) == given]
        if keys:
            names = tuple(f"{key}L" for key in keys)
            columns = tuple(listed.index(f"{key}{link}") for key in keys)
            values = tuple(known[key] for key in keys) if given else None
            blocks.append(Rigid(names, columns, functions, True, True, values))
    return blocks


def drives(ties: Ties, recipe: Recipe) -> list[Term]:
    """Friction and offsets of the driven joints, friction of the others, rotors where the base
    parameters have none: of joints that follow, if the robot has them; of motors that several
    joints turn."""
    followers = [k for k in range(len(ties.numbers)) if k not in ties.active]
    terms = [
        term for k in ties.active for term in _friction({k: 1.0}, ties.numbers[k], recipe, True)
    ]
    sprung = [k for k in ties.active if number(ties.joint(ties.numbers[k]).spring)]
    terms += [Term(f"spring{ties.numbers[k]}", _position(k)) for k in sprung]
    for k in followers:
        j = ties.numbers[k]
        if recipe.friction.passive:
            terms += _friction({k: 1.0}, j, recipe, False)
        if recipe.fit.motor_inertia and number(ties.joint(j).IA) != 0:
            terms.append(Term(f"IA{j}", _rows({k: 1.0}, lambda qdd, shape: qdd, "qdd")))
    for j, drive in ties.robot.driving.items():
        row = {ties.numbers.index(i): float(number(ratio) or 0.0) for i, ratio in drive.joints}
        if recipe.fit.motor_inertia:
            terms.append(Term(f"IA{j}", _rows(row, lambda qdd, shape: qdd, "qdd")))
        terms += _friction(row, j, recipe, False)
    return terms


def _friction(row: Mapping[int, float], j: int, recipe: Recipe, driven: bool) -> Iterator[Term]:
    """Of link j, or of a motor of several joints; row: by column, the ratios of its position."""
    chosen = recipe.friction
    fixed = 0.0 if isinstance(chosen.smooth, str) else chosen.smooth
    width = {f"VS{j}": WIDTH} if chosen.smooth == "fit" else {}

    def column(name: str) -> Curve:
        def curve(x: Array, shape: Shape) -> Array:
            law = Friction(VS=shape.get(f"VS{j}", fixed), VB=shape.get(f"VB{j}", SPEED))
            return np.asarray(law.column(name, x) + 0 * x)

        return curve

    both = {**width, f"VB{j}": SPEED}
    wanted = {
        "FV": (chosen.viscous, {}), "FQ": (chosen.quadratic is True, {}),
        "FVA": (chosen.asymmetry is True, {}), "FS": (chosen.coulomb, width),
        "FB": (chosen.stribeck is True, both),
    }  # fmt: skip
    for name, (there, shape) in wanted.items():
        if there:
            yield Term(f"{name}{j}", _rows(row, column(name)), shape)
    if chosen.offset and driven:
        yield Term(f"offset{j}", _rows(row, column("FO")))


def _position(k: int) -> Callable[[Motion, Shape], dict[int, Array]]:
    return lambda motion, shape: {k: motion.q[:, k]}


def _rows(
    row: Mapping[int, float], function: Curve, of: str = "qd"
) -> Callable[[Motion, Shape], dict[int, Array]]:
    """A torque along the position that the row gives, as it loads each joint."""

    def rows(motion: Motion, shape: Shape) -> dict[int, Array]:
        x = getattr(motion, of)
        own = function(sum((ratio * x[:, k] for k, ratio in row.items()), np.zeros(len(x))), shape)
        return {k: ratio * own for k, ratio in row.items()}

    return rows


def _coupled(robot: Robot, recipe: Recipe) -> list[Term]:
    smooth = recipe.friction.smooth
    fitted = smooth == "fit"
    fixed = 0.0 if isinstance(smooth, str) else smooth
    terms = []
    for name, rows in recipe.coupled:
        for j, _ in rows:
            if not 1 <= j <= robot.n:
                raise InputError(f"[coupled.{name}] tau{j}: the robot has {robot.n} joints")
        signs = any("sign(" in str(value) for _, value in rows)
        start = {f"VS.{name}": WIDTH} if fitted and signs else {}
        terms.append(Term(name, _formula_rows(name, rows, robot.n, fixed), start))
    return terms


def _formula_rows(name: str, rows: Sequence[tuple[int, Value]], n: int, fixed: float) -> Any:
    def found(motion: Motion, shape: Shape) -> dict[int, Array]:
        def lookup(text: str) -> Array:
            key, j = text.rstrip("0123456789"), int(text.lstrip("qd"))
            if not 1 <= j <= n:
                raise InputError(f"[coupled.{name}] uses {text}: the robot has {n} joints")
            return np.asarray(getattr(motion, key)[:, j - 1])

        def apply(function: str, *args: Any) -> Array:
            if function == "sign":
                return np.asarray(Friction(VS=shape.get(f"VS.{name}", fixed)).direction(args[0]))
            table = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
                     "min": "minimum", "max": "maximum"}  # fmt: skip
            return np.asarray(getattr(np, table.get(function, function))(*args))

        ones = np.ones(len(motion.q))
        return {j - 1: evaluate(value, lookup, apply) * ones for j, value in rows}

    return found
