"""Identification models: regressors for standard or base parameters.

Each column is a tree's, projected by G^T as torques are; a cut joint of a loop pushes the joints of
its loop by its row. Of the momentum form d/dt(D1 K) + D2 K = tau of a tree, loops make
d/dt(G^T D1 K) + (G^T D2 - Gdot^T D1) K = tau_a with Gdot = ½ dpsi/dqd_a; the rate c = w qd_a of a
cut joint has wdot = ½ dcdot/dqd_a at qdd_a = 0 alike, so that its rotor has the momentum w^T c in
D1 and -wdot^T c in D2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..algebra.scalar import vanishes
from ..describe.robot import Robot
from ..formulate.economy import motion_in_described_frames
from ..formulate.posture import formulated
from ..mechanism.coordinates import is_floating
from ..models.bodies import Bodies, bodies
from ..models.loops import Constraint
from ..models.regressor import (
    FURTHER_COLUMNS,
    PARALLEL_COLUMNS,
    SPRING_COLUMN,
    Columns,
    columns,
)
from ..models.regressor import energy_regressor as energy_model
from ..models.regressor import filtered_regressor as filtered_model
from ..models.regressor import regressor as regressor_model
from ..program import Program
from .base import CUT_COLUMNS, BaseParameters, driven_cuts
from .base import base_parameters as base_parameters_of
from .common import Arrays, flat
from .cuts import CutMotion, cut_motion
from .derivation import Form, Result
from .differential import half, partial
from .mechanism import Mechanism

Scalar = Any
ENERGY_DRIVES = ("IA", SPRING_COLUMN, *PARALLEL_COLUMNS)  # of joints: what stores energy
_DRIVES = ("IA", "FV", "FS", *FURTHER_COLUMNS, *PARALLEL_COLUMNS)
_BESIDE = (*_DRIVES[1:], SPRING_COLUMN)  # beside the base parameters
CONSTANT_COLUMNS = ("offset", "FO", "FSA", "preload")  # of joints in motion


def regressor(
    robot: Robot, *, base_parameters: bool = False, offset: bool = False, symbolic: bool = False,
    effort: str = "normal",
) -> Program:  # fmt: skip
    """D with tau = D K; of a floating base (0, tau) = D K, its six rows and link 0's columns
    first."""
    mechanism = Mechanism.of(robot, "regressor", symbolic=symbolic)
    wanted = wanted_columns(robot, base_parameters, offset)
    page = regressor_form(mechanism, wanted(bodies(robot, lambda name: 1.0)))
    program = mechanism.program(
        "regressor", mechanism.inputs("q", "qd", "qdd", base=["V0", "V0d", "g0"]), [], ["D"],
        search=(page, ("still", "grouped", "axial", "column", "slide")), effort=effort,
    )  # fmt: skip
    return wanted.naming(program, robot)


def regressor_form(mechanism: Mechanism, names: Columns) -> Form:
    """D of these columns."""
    first, moving = mechanism.floats, mechanism.coordinates.moving

    def page(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, qdd = mechanism.motion(scene, x)
        bare = scene.unloaded()
        record = motion_in_described_frames(bare, x["q"], qd, qdd)
        joints = _of_joints(scene, names)
        D = regressor_model(formulated(bare), x["q"], qd, qdd, record, joints, base=bool(first))
        tree = dict(zip(joints, zip(*D, strict=True), strict=True))
        cuts = cut_motion(mechanism, scene, constraint, names, qd, qdd)
        none = (0,) * (first + len(moving))
        projected = []
        for name, j in names:
            column = tree.get((name, j), none)
            tau = dict(zip(moving, column[first:], strict=True))
            if j in cuts:
                tau |= cuts[j].torques(name)
            projected.append([*column[:first], *constraint.projected(tau)])
        size = first + mechanism.na
        rows: list[Any] = list(zip(*projected, strict=True)) if projected else [[]] * size
        return Result({"D": ((size, len(names)), flat(rows))})

    return page


def filtered_regressor(
    robot: Robot, *, base_parameters: bool = False, offset: bool = False, symbolic: bool = False
) -> Program:
    """D1, D2 with tau = d/dt(D1 K) + D2 K: no accelerations."""
    mechanism = Mechanism.of(robot, "filtered-regressor", symbolic=symbolic)
    wanted = wanted_columns(robot, base_parameters, offset)
    names = wanted(bodies(robot, lambda name: 1.0))
    moving, na = mechanism.coordinates.moving, mechanism.na

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, psi = mechanism.motion(scene, x)
        joints = _of_joints(scene, names)
        tree = filtered_model(scene.unloaded(), x["q"], qd, joints)
        graph = x["q"][0].graph
        rates = [half(value) for value in partial(graph, psi, "qd")] if constraint.rows else []
        cuts = cut_motion(mechanism, scene, constraint, names, qd, psi)
        pairs = []
        both = zip(zip(*tree.D1, strict=True), zip(*tree.D2, strict=True), strict=True)
        columns = dict(zip(joints, both, strict=True))
        for name, j in names:
            if j in cuts:
                pairs.append(_cut_columns(mechanism, constraint, cuts[j], name, graph))
                continue
            one, two = columns[name, j]
            column = constraint.projected(dict(zip(moving, two, strict=True)))
            for k, entry in enumerate(one if rates else ()):  # - Gdot^T D1
                column = [c - rates[k * na + m] * entry for m, c in enumerate(column)]
            pairs.append((constraint.projected(dict(zip(moving, one, strict=True))), column))
        shape = (na, len(names))
        D1, D2 = (flat(list(zip(*D, strict=True))) for D in zip(*pairs, strict=True))
        return Result({"D1": (shape, D1), "D2": (shape, D2)})

    program = mechanism.program(
        "filtered-regressor", mechanism.inputs("q", "qd"), [run], ["D1", "D2"]
    )
    return wanted.naming(program, robot)


def _of_joints(scene: Bodies, names: Columns) -> Columns:
    """The columns of links and joints, without those of motors that several joints turn."""
    shared = {x.j for x in scene.drives}
    return [c for c in names if c[1] not in shared]


def _cut_columns(
    mechanism: Mechanism, constraint: Constraint, cut: CutMotion, name: str, graph: Any
) -> tuple[list[Scalar], list[Scalar]]:
    """Columns of D1 and D2: a rotor's momentum and what its lever's change adds, or friction."""
    still = dict.fromkeys(mechanism.coordinates.moving, 0)
    if name != "IA":
        return [0] * mechanism.na, constraint.projected(still | cut.torques(name))
    momentum = {j: entry * cut.rate for j, entry in cut.row.items()}
    rates = partial(graph, [cut.acceleration], "qd")  # 2 wdot
    return constraint.projected(still | momentum), [-half(r * cut.rate) for r in rates]


def energy_regressor(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """h with E + U = h K, up to the constant energy of parameters without effect; K has the
    stiffness of elastic joints."""
    mechanism = Mechanism.of(robot, "energy-regressor", symbolic=symbolic)
    wanted = wanted_columns(robot, base_parameters, False, ENERGY_DRIVES)
    names = wanted(bodies(robot, lambda name: 1.0))

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint = mechanism.constraint(scene, x)[0]
        qd = mechanism.row(constraint.velocities(x["qd"]))
        joints = _of_joints(scene, names)
        tree = dict(zip(joints, energy_model(scene, x["q"], qd, joints), strict=True))
        cuts = cut_motion(mechanism, scene, constraint, names, qd)
        h = [cuts[j].rate * cuts[j].rate / 2 if j in cuts else tree[x, j] for x, j in names]
        return Result({"h": ((len(names),), h)})

    inputs = mechanism.inputs("q", "qd", base=["V0", "g0"])
    program = mechanism.program("energy-regressor", inputs, [run], ["h"])
    return wanted.naming(program, robot)


@dataclass(frozen=True)
class _Wanted:
    """Which columns: all of the standard parameters, or those of the base set with friction,
    springs and the rotors of joints that have no motor, joints that move as others left out; then
    those of the cut joints that rub or have a rotor, by their frames."""

    drives: tuple[str, ...]
    base: BaseParameters | None
    floats: bool = False
    cuts: tuple[tuple[str, int], ...] = ()

    def __call__(self, scene: Bodies) -> Columns:
        listed = columns(scene, drives=self.drives, base=self.floats)
        listed += [c for c in self.cuts if c[0] in self.drives]
        if self.base is None:
            return listed
        beside, gone = {*self.base.kept, *self.base.apart}, self.base.eliminated
        alike = {c for same in self._alike(scene, listed).values() for c in same[1:]}
        return [
            c for c in listed
            if c in beside or (c[0] in _BESIDE and c not in gone and c not in alike)
            or (c[0] == "offset" and ("FV", c[1]) not in gone)
        ]  # fmt: skip

    def _alike(self, scene: Bodies, listed: Columns) -> dict[int, Columns]:
        """By joint, the columns that no motion tells apart: the first has the sum of them."""
        alike: dict[int, Columns] = {}
        for link in scene.links:
            names = [x for x in CONSTANT_COLUMNS if x != "FSA" or vanishes(link.rubs.VS)]
            alike[link.j] = [(name, link.j) for name in names if (name, link.j) in listed]
        return alike

    def naming(self, program: Program, robot: Robot) -> Program:
        """The program with its columns named, in its header too; R marks regrouped parameters."""
        scene = bodies(robot, lambda name: 1.0)
        listed = self(scene)
        regrouped: set[Any] = set(self.base.regrouped) if self.base else set()
        if self.base:
            every = columns(scene, drives=self.drives, base=self.floats)
            regrouped |= {c[0] for c in self._alike(scene, every).values() if len(c) > 1}
        names = tuple(f"{n}{j}{'R' if (n, j) in regrouped else ''}" for n, j in listed)
        rows = "rows: wrench on the base, then joints; " if "V0d" in program.inputs else ""
        meaning = {output: f"{rows}columns: {' '.join(names)}" for output in program.outputs}
        return replace(program, columns=names, meaning={**program.meaning, **meaning})


def wanted_columns(
    robot: Robot, base: bool, offset: bool, drives: tuple[str, ...] = _DRIVES
) -> _Wanted:
    kinds = (*drives, "offset") if offset else drives
    cuts = tuple(
        (name, len(robot.joints) + k)
        for k in driven_cuts(robot)
        for name in ("IA", "FV", "FS", *FURTHER_COLUMNS)
        if name in CUT_COLUMNS or getattr(robot.loops[k - 1].cut, name) != 0
    )
    cuts += tuple(
        (name, j)
        for j, drive in robot.driving.items()
        for name in ("IA", "FV", "FS", *FURTHER_COLUMNS)
        if name in CUT_COLUMNS or getattr(drive, name) != 0
    )
    return _Wanted(kinds, base_parameters_of(robot) if base else None, is_floating(robot), cuts)
