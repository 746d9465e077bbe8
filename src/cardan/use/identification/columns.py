"""The columns of the identification model: which parameters there are, and what each contributes.

    tau_j = (rigid body columns, base parameters) + IA_j qdd_j
          + FV_j qd_j + FS_j s(qd_j) + FB_j s(qd_j) exp(-(qd_j/v_j)^2) + offset_j
          + coupled parameters of the recipe + (columns of the payload, in loaded recordings)

s is the sign, or tanh(qd/w): what a sign becomes when torques are filtered, or the friction creeps.
The widths w_j and the Stribeck velocities v_j enter nonlinearly: they are the `shape`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...build.base import BaseParameters
from ...catalogue import model as derive
from ...describe.expression import Value, evaluate, symbol
from ...describe.robot import DRIVE, INERTIA, Robot
from ...errors import InputError, ModelError
from ...models.base_parameters import split_columns
from ..joints import moving
from .recipe import Recipe
from .signals import Motion, states

__all__ = ["Model", "Rigid", "Term", "model_of", "parametrised", "require_open"]

Array = np.ndarray
WIDTH, SPEED = 0.05, 0.2  # rad/s: where the search for w and v starts
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
    values: tuple[float, ...] | None = None  # known: not a column, moved to the torques


@dataclass(frozen=True)
class Model:
    """All columns, in order: rigid blocks, then terms; `kept` are the independent ones."""

    robot: Robot
    base: BaseParameters
    blocks: tuple[Rigid, ...]
    terms: tuple[Term, ...]
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
        return tuple(self.all_names[k] for k in self.kept)

    @property
    def shape(self) -> dict[str, float]:
        """Start values of all widths w and Stribeck velocities v."""
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
    """The robot with one symbol per inertial parameter and no wrench: names do not depend on
    values."""
    if robot.constrained:
        what = "closed loops" if robot.loops else "coupled joints"
        raise ModelError(
            f"identification of '{robot.name}' is not available for {what}: its regressor is that"
            " of cardan.model(robot, 'regressor', base_parameters=True); robot.tree() is without"
        )
    links, joints = [], []
    for j, (link, joint) in enumerate(zip(robot.links, robot.joints, strict=True), 1):
        inertia: Any = {key: symbol(f"{key}{j}") for key in INERTIA}
        drive: Any = {key: symbol(f"{key}{j}") for key in DRIVE} if joint.sigma != 2 else {}
        wrench: Any = dict.fromkeys(("FX", "FY", "FZ", "CX", "CY", "CZ"), 0)
        links.append(replace(link, **inertia, **wrench))
        joints.append(replace(joint, **drive))
    found = replace(robot, links=tuple(links), joints=tuple(joints))
    own = {f"{key}{j}" for j in range(1, len(links) + 1) for key in (*INERTIA, *DRIVE)}
    free = [name for name in found.parameters if name not in own]
    if free:
        raise ModelError(
            f"identification of '{robot.name}' needs its geometry and gravity as numbers; "
            f"{', '.join(free[:8])} have none: robot.with_values({{...}}) gives them values"
        )
    return found


def require_open(robot: Robot) -> None:
    """Say that joints tied to each other are not identified here."""
    if robot.constrained:
        raise ModelError(
            f"identification takes robots without closed loops and coupled joints; '{robot.name}'"
            f" has {len(robot.loops)} and {len(robot.couplings)}: cardan.model(robot, 'regressor')"
            " gives the equations of its active joints, for a least squares fit of your own"
        )


@lru_cache(maxsize=8)
def model_of(robot: Robot, recipe: Recipe, *, loaded: bool = False) -> Model:
    """The identification model of a robot, as the recipe wants it, with independent columns."""
    require_open(robot)
    named = parametrised(robot)
    base = derive(named, "base-parameters")
    functions = Functions(named)
    listed = functions.columns("regressor", True)
    wanted = ("FV", "FS") if recipe.fit.motor_inertia else ("FV", "FS", "IA")
    columns = tuple(k for k, name in enumerate(listed) if not name.startswith(wanted))
    blocks = [Rigid(tuple(listed[k] for k in columns), columns, functions)]
    if loaded:
        blocks += _payload_blocks(robot, recipe, functions)
    terms = (*_friction(robot, recipe), *_coupled(robot, recipe))
    whole = Model(robot, base, tuple(blocks), terms, rotors=recipe.fit.motor_inertia)
    return _independent(whole, loaded)


def _payload_blocks(robot: Robot, recipe: Recipe, functions: Functions) -> list[Rigid]:
    """The payload's unknown parameters as columns XXL ..., and its known ones as torques."""
    link = recipe.payload.link or len(robot.links)
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
            blocks.append(Rigid(names, columns, functions, True, values))
    return blocks


def _friction(robot: Robot, recipe: Recipe) -> list[Term]:
    chosen = recipe.friction
    fitted = chosen.smooth == "fit"
    fixed = 0.0 if fitted else float(chosen.smooth)
    terms = []
    for k, j in enumerate(_numbers(robot)):
        w = {f"w{j}": WIDTH} if fitted else {}
        if chosen.viscous:
            terms.append(Term(f"FV{j}", _rows(k, lambda x, shape: x)))
        if chosen.coulomb:
            terms.append(Term(f"FS{j}", _rows(k, _coulomb(f"w{j}", fixed)), w))
        if chosen.stribeck:
            shape = {**w, f"v{j}": SPEED}
            terms.append(Term(f"FB{j}", _rows(k, _breakaway(f"w{j}", f"v{j}", fixed)), shape))
        if chosen.offset:
            terms.append(Term(f"offset{j}", _rows(k, lambda x, shape: np.ones_like(x))))
    return terms


def _coulomb(w: str, fixed: float) -> Curve:
    """s(qd)"""
    return lambda x, shape: _sign(x, shape.get(w, fixed))


def _breakaway(w: str, v: str, fixed: float) -> Curve:
    """s(qd) exp(-(qd/v)^2)"""
    return lambda x, shape: _sign(x, shape.get(w, fixed)) * np.exp(-((x / shape[v]) ** 2))


def _numbers(robot: Robot) -> list[int]:
    """Link numbers of the joint variables: parameters are named by link."""
    return [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != 2]


def _rows(k: int, function: Curve) -> Callable[[Motion, Shape], dict[int, Array]]:
    return lambda motion, shape: {k: function(motion.qd[:, k], shape)}


def _sign(x: Array, width: float) -> Array:
    return np.tanh(x / width) if width > 0 else np.sign(x)


def _coupled(robot: Robot, recipe: Recipe) -> list[Term]:
    fitted = recipe.friction.smooth == "fit"
    fixed = 0.0 if fitted else float(recipe.friction.smooth)
    terms = []
    for name, rows in recipe.coupled:
        for j, _ in rows:
            if not 1 <= j <= robot.n:
                raise InputError(f"[coupled.{name}] tau{j}: the robot has {robot.n} joints")
        signs = any("sign(" in str(value) for _, value in rows)
        start = {f"w.{name}": WIDTH} if fitted and signs else {}
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
                return _sign(args[0], shape.get(f"w.{name}", fixed))
            table = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
                     "min": "minimum", "max": "maximum"}  # fmt: skip
            return np.asarray(getattr(np, table.get(function, function))(*args))

        ones = np.ones(len(motion.q))
        return {j - 1: evaluate(value, lookup, apply) * ones for j, value in rows}

    return found


def _independent(whole: Model, loaded: bool) -> Model:
    """The model with columns that depend on earlier ones at random states left out."""
    from .equations import full_matrix

    n = whole.robot.n
    count = max(40, 4 * len(whole.all_names))
    rng = np.random.default_rng(7)
    slides = np.array([joint.sigma == 1 for joint in moving(whole.robot)])
    q = rng.uniform(-3, 3, (count, n)) * np.where(slides, 0.3, 1)
    qd, qdd = (rng.uniform(-3, 3, (count, n)) for _ in range(2))
    parts = []
    for with_payload in (False, True) if loaded else (False,):
        D = full_matrix(whole, states(q, qd, qdd, loaded=with_payload), whole.shape)
        parts.append(D.reshape(-1, D.shape[-1]))
    W = np.vstack(parts)
    used = [k for k in range(W.shape[1]) if np.linalg.norm(W[:, k]) > 1e-9]
    independent, _ = split_columns(W, used)
    kept = tuple(sorted(independent))
    dropped = tuple(name for k, name in enumerate(whole.all_names) if k not in kept)
    return replace(whole, kept=kept, dropped=dropped)
