"""Base inertial parameters: the fewest parameters that give the same torques, [KC97] 6.4, refs
28-32.

Three kinds of steps, applied from the tips to the base:

- **transfer.** What link j cannot show as its own is given to its antecedent i. On a revolute
  joint a body
  symmetric about z_j (XX = YY, MZ, M) moves as if fixed to link i: YY_j, MZ_j and M_j vanish. On a
  prismatic joint link j turns as link i does: all of J_j goes over. On a fixed frame everything
  does. On a prismatic joint parallel to the only direction about which links have turned so far,
  MS_j too.
- **project.** While all links have turned about one direction only, the first moment along it has
  no effect: one component of MS_j (of a prismatic link, say) is exchanged for the others.
- **drop.** Parameters whose column in the regressor is zero have no effect (links near the base).
- **merge.** A column that is a constant combination of others: IA_1 with ZZ_1, say.

Transfers are identities, exact over any scalar. Which parameters then remain without effect or
dependent is decided by the rank of the regressor at random states, with random values for
symbols; so the result is minimal by construction. A merge whose coefficients are neither integers
nor simple fractions is numerical, and the result says so.

The same steps run over formulas (readable regroupings), over numbers, and over unit vectors: the
last gives the matrix from the full parameters to the base ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra.inertia import Inertia
from ..algebra.scalar import vanishes
from ..algebra.vector import Mat, Vec
from ..exact import Exact, exact
from .bodies import Bodies, Body
from .newton_euler import inverse_dynamics
from .regressor import INERTIA_COLUMNS, Columns, columns, regressor
from .transfer import transfer

Scalar = Any
Column = tuple[str, int]
Parameters = dict[Column, Scalar]

_TOLERANCE = 1e-9  # of the part of a column that others do not give, where it is judged first
_SURE = 1e-12  # of the same, where the regrouped torques are tried
_CLOSED = 1e-10  # where the states of closed loops have been found by iteration
# the order in which columns are kept when they depend on each other: rotors last
_PREFERENCE = ("ZZ", "XX", "XY", "XZ", "YZ", "MX", "MY", "M", "MZ", "YY", "IA")


@dataclass(frozen=True)
class Transfer:
    """Parameters of link j given to its antecedent. `moments`: MS_j too."""

    j: int
    moments: bool = False


@dataclass(frozen=True)
class Project:
    """Component k of MS_j is removed along the direction of z_r, the last revolute axis before j.

    `chain`: the links from r (excluded) to j, whose frames do not turn against each other."""

    j: int
    k: int
    chain: tuple[int, ...]


@dataclass(frozen=True)
class Drop:
    """A parameter without effect."""

    column: Column


@dataclass(frozen=True)
class Merge:
    """A parameter given to others: column = sum of coefficient · others."""

    column: Column
    into: tuple[tuple[Any, Column], ...]

    @property
    def exact(self) -> bool:
        return not any(isinstance(c, float) for c, _ in self.into)


Step = Transfer | Project | Drop | Merge


def regroup(robot: Bodies, steps: Sequence[Step]) -> Parameters:
    """The base parameters: every parameter after these steps; eliminated ones are missing."""
    inertia = {b.j: Inertia(b.J, b.MS, b.M) for b in (robot.base, *robot.links)}
    links = {link.j: link for link in robot.links}
    for step in steps:
        if isinstance(step, Transfer):
            transfer(inertia, links[step.j], step.moments)
        elif isinstance(step, Project):
            own = inertia[step.j]
            u = _direction(links, step.chain)
            MS = own.MS - (own.MS[step.k] / u[step.k]) * u
            inertia[step.j] = Inertia(own.J, MS, own.M)
    values: Parameters = {}
    for link in robot.links:
        values |= _named(inertia[link.j], link.j)
        if link.s or link.sbar:
            values["IA", link.j] = link.IA
    values |= {(name, 0): value for (name, _), value in _named(inertia[0], 0).items()}
    gone = {column for step in steps for column in _eliminated(step, links)}
    for step in steps:
        if isinstance(step, Merge):
            for coefficient, column in step.into:
                values[column] = values[column] + coefficient * values[step.column]
    return {column: value for column, value in values.items() if column not in gone}


def _eliminated(step: Step, links: Mapping[int, Body]) -> list[Column]:
    if isinstance(step, Project):
        return [(("MX", "MY", "MZ")[step.k], step.j)]
    if not isinstance(step, Transfer):
        return [step.column]
    link = links[step.j]
    names = ("YY", "MZ", "M") if link.sbar else INERTIA_COLUMNS[:6] if link.s else INERTIA_COLUMNS
    moments = ("MX", "MY", "MZ") if step.moments else ()
    return [(name, step.j) for name in (*names, *moments)]


def _named(body: Inertia, j: int) -> Parameters:
    J = body.J
    entries = (J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2], *body.MS, body.M)
    return {(name, j): value for name, value in zip(INERTIA_COLUMNS, entries, strict=True)}


# choosing the steps


def regrouping_steps(
    samples: Sequence[Bodies], *, symbolic: bool = True, seed: int = 0,
    observed: Callable[[int, Columns], np.ndarray] | None = None,
    formula: Callable[[Sequence[float]], Any] = lambda values: None,
    apart: Collection[Column] = (), last: Collection[Column] = (), base: bool = False,
) -> tuple[list[Step], list[str]]:  # fmt: skip
    """The steps for a robot, from numeric instances of it (several when its geometry has symbols);
    `base`: one that floats, whose parameters count and whose six rows are seen.

    `observed(k, columns)`: the regressor of instance k where it is not that of a tree; `formula`:
    a coefficient from its values in the instances, or None where they do not show one; `apart`:
    parameters left as they are; `last`: those to be given to others before any else.
    Returns the steps and remarks: which merges are numerical, what could not be decided."""
    steps, wanted = tree_steps(samples[0], symbolic, apart, base)
    look = observed or (lambda k, names: _observed(samples[k], names, seed + k, base))
    matrices = [look(k, wanted) for k in range(len(samples))]
    sure = _SURE if observed is None else _CLOSED
    zeros = {c for k, c in enumerate(wanted) if all(_is_null(D[:, k], sure) for D in matrices)}
    steps += [Drop(column) for column in wanted if column in zeros]
    places = [k for k, column in enumerate(wanted) if column not in zeros]
    merges, remarks = _dependencies(
        [D[:, places] for D in matrices], [wanted[k] for k in places], symbolic, formula, sure, last
    )
    return [*steps, *merges], remarks


def tree_steps(
    robot: Bodies, symbolic: bool = True, apart: Collection[Column] = (), base: bool = False
) -> tuple[list[Step], list[Column]]:
    """The steps that a tree's geometry decides, and the parameters that they leave."""
    steps: list[Step] = []
    if symbolic:
        parallel, oblique = (set(), {}) if base else _single_direction(robot)
        steps = [Transfer(link.j, link.j in parallel) for link in reversed(robot.links)]
        steps += [Project(j, *oblique[j]) for j in sorted(oblique)]
    links = {link.j: link for link in robot.links}
    gone = {column for step in steps for column in _eliminated(step, links)}
    listed = columns(robot, drives=("IA",), base=base)
    return steps, [c for c in listed if c not in gone and c not in apart]


def _observed(robot: Bodies, wanted: Columns, seed: int, base: bool) -> np.ndarray:
    """The regressor at random states, columns scaled to length 1 (zero columns stay zero)."""
    rng = np.random.default_rng(seed)
    n = len(robot.tree.moving)
    states = max(40, 4 * len(wanted) // max(n, 1) + 20)
    q = rng.uniform(-np.pi, np.pi, (n, states))
    qd, qdd = rng.normal(size=(2, n, states))
    bare, state = robot.unloaded(), (list(q), list(qd), list(qdd))
    if base:
        V0, V0d = rng.normal(size=(2, 6, states))
        bare = bare.moving_base(list(V0), list(rng.normal(size=(3, states))), list(V0d))
    D = regressor(bare, *state, inverse_dynamics(bare, *state), wanted, base=base)
    rows = [np.stack([np.broadcast_to(np.asarray(x, float), states) for x in row], 1) for row in D]
    return np.concatenate(rows) if rows else np.zeros((0, len(wanted)))


def _is_null(column: np.ndarray, sure: float) -> bool:
    return bool(np.abs(column).max(initial=0) < 0.1 * sure)


def _dependencies(
    matrices: Sequence[np.ndarray], wanted: Columns, exact_wanted: bool,
    formula: Callable[[Sequence[float]], Any], sure: float, last: Collection[Column],
) -> tuple[list[Step], list[str]]:  # fmt: skip
    """Columns that depend on the ones kept before them, and by which coefficients.

    Coefficients are tried on the states: a column that others give only nearly (angles of a file
    that are rounded) keeps its own parameter, and that is said."""

    def preference(k: int) -> Any:
        name, j = wanted[k]
        return wanted[k] in last, name == "IA", j, _rank(name)

    order = sorted(range(len(wanted)), key=preference)
    independent, dependent = split_columns(matrices[0], order)
    if not dependent:
        return [], []
    solved = [np.linalg.lstsq(D[:, independent], D[:, dependent], rcond=None)[0] for D in matrices]
    steps: list[Step] = []
    remarks: list[str] = []
    for d, k in enumerate(dependent):
        name = f"{wanted[k][0]}{wanted[k][1]}"
        coefficients = [
            _coefficient([s[m, d] for s in solved], formula) for m in range(len(independent))
        ]
        if any(c is None for c in coefficients):
            remarks.append(
                f"{name} depends on other parameters by coefficients that vary with the symbols of"
                " the geometry, the base's motion or gravity; it is kept. Give them numbers"
                " (with_values) to eliminate it"
            )
            continue
        left = _left(matrices[0], k, independent, coefficients)
        if left > sure and all(isinstance(c, int | float | Exact) for c in coefficients):
            coefficients = [float(s) if abs(s) > sure else 0 for s in solved[0][:, d]]
            left = _left(matrices[0], k, independent, coefficients)
        if left > sure:
            remarks.append(
                f"{name} is given by other parameters only to {left:.1g} of its effect (rounded"
                " angles or lengths?); it is kept"
            )
            continue
        into = tuple(
            (c, wanted[i])
            for c, i in zip(coefficients, independent, strict=True)
            if not (isinstance(c, int) and c == 0)
        )
        steps.append(Merge(wanted[k], into))
        if exact_wanted and not steps[-1].exact:  # type: ignore[union-attr]
            remarks.append(f"{name} is regrouped by numerical coefficients (rank of the regressor)")
    return steps, remarks


def _left(D: np.ndarray, k: int, independent: Sequence[int], coefficients: Sequence[Any]) -> float:
    """What coefficients leave of column k, over its length; 0 where they are formulas."""
    if not all(isinstance(c, int | float | Exact) for c in coefficients):
        return 0.0
    combination = D[:, independent] @ np.array([float(c) for c in coefficients])
    return float(np.linalg.norm(D[:, k] - combination) / np.linalg.norm(D[:, k]))


def _coefficient(values: Sequence[float], formula: Callable[[Sequence[float]], Any]) -> Any:
    """The coefficient behind its values in all instances, or None."""
    if all(abs(v) <= 1e-9 for v in values):
        return 0
    if np.allclose(values, values[0], rtol=1e-7, atol=1e-9):
        return _simple(values[0])
    return formula(values)


def _rank(name: str) -> int:
    return _PREFERENCE.index(name)


def split_columns(D: np.ndarray, order: Sequence[int]) -> tuple[list[int], list[int]]:
    """(independent, dependent) columns in the order of preference, by orthogonalisation."""
    scale = np.linalg.norm(D, axis=0)
    basis = np.zeros((D.shape[0], 0))
    independent: list[int] = []
    dependent: list[int] = []
    for k in order:
        column = D[:, k] / scale[k]
        for _ in range(2):  # twice is enough
            column = column - basis @ (basis.T @ column)
        if np.linalg.norm(column) > _TOLERANCE:
            independent.append(k)
            basis = np.column_stack([basis, column / np.linalg.norm(column)])
        else:
            dependent.append(k)
    return independent, dependent


def _simple(x: float) -> int | float | Exact:
    """x as an integer or simple fraction when it is one to rounding."""
    for denominator in (1, 2, 3, 4):
        whole = round(x * denominator)
        if abs(x * denominator - whole) < 1e-9:
            value = exact(f"{whole}/{denominator}")
            assert not isinstance(value, float)
            return value
    return x


def _direction(links: Mapping[int, Body], chain: Sequence[int]) -> Vec:
    """z_r in the frame at the end of a chain of links that do not turn."""
    u = Vec(0, 0, 1)
    for k in chain:
        u = links[k].frame(0).jRi @ u
    return u


def _single_direction(robot: Bodies) -> tuple[set[int], dict[int, tuple[int, tuple[int, ...]]]]:
    """Prismatic joints while the links before have turned about one direction only.

    (parallel, oblique): joints along that direction; and for the others the component of MS to
    remove, the largest along it, and the chain from the last revolute joint."""
    parallel: set[int] = set()
    oblique: dict[int, tuple[int, tuple[int, ...]]] = {}
    if not all(vanishes(x) for v in (robot.w0, robot.wd0, robot.V0, robot.Vd0) for x in v):
        return parallel, oblique
    links = {link.j: link for link in robot.links}
    chains: dict[int, tuple[int, ...] | None] = {0: None}  # None: no turn yet
    several: set[int] = set()  # links that turn about more than one direction
    for link in robot.links:
        i, j = link.i, link.j
        chain = chains[i]
        if i in several or chain is None:
            chains[j] = () if link.sbar else chain
            if i in several:
                several.add(j)
            continue
        u = [abs(float(x)) for x in _direction(links, (*chain, j))]
        along = u[0] < _SURE and u[1] < _SURE
        chains[j] = () if link.sbar else (*chain, j)
        if link.sbar and not along:
            several.add(j)
        elif link.s and along:
            parallel.add(j)
        elif link.s:
            oblique[j] = (max(range(3), key=lambda k: round(u[k], 6)), (*chain, j))
    return parallel, oblique


def unit_bodies(robot: Bodies) -> tuple[Bodies, list[Column]]:
    """The bodies with unit vectors for parameters: `regroup` then gives the rows of the map."""
    listed = [(name, 0) for name in INERTIA_COLUMNS] + columns(robot, drives=("IA",))
    unit = dict(zip(listed, np.eye(len(listed)), strict=True))

    def body(b: Body) -> Body:
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = (unit[name, b.j] for name in INERTIA_COLUMNS)
        J = Mat([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
        return replace(b, J=J, MS=Vec(MX, MY, MZ), M=M, IA=unit.get(("IA", b.j), 0))

    bodies = replace(robot, base=body(robot.base), links=tuple(map(body, robot.links)))
    return bodies, listed
