"""Identification models: regressors for standard or base parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..describe.robot import Robot
from ..models.bodies import Bodies, bodies
from ..models.formulation import Formulation
from ..models.regressor import SPRING_COLUMN, Columns, columns
from ..models.regressor import energy_regressor as energy_model
from ..models.regressor import filtered_regressor as filtered_model
from ..models.regressor import regressor as regressor_model
from ..program import Program
from .base import CUT_COLUMNS, BaseParameters, driven_cuts
from .base import base_parameters as base_parameters_of
from .common import Arrays, build, flat, is_floating, refuse, state
from .derivation import Form, Result

__all__ = [
    "ENERGY_DRIVES", "energy_regressor", "filtered_regressor", "regressor", "wanted_columns",
]  # fmt: skip

ENERGY_DRIVES = ("IA", SPRING_COLUMN)  # of joints: what stores energy
_FRICTION = (
    "FV",
    "FS",
    "offset",
)  # beside the base parameters; of a joint that is led, its leader's


def regressor(
    robot: Robot, *, base_parameters: bool = False, offset: bool = False, symbolic: bool = False,
    effort: str = "normal",
) -> Program:  # fmt: skip
    """D with tau = D K; of a floating base (0, tau) = D K, its six rows and link 0's columns
    first."""
    refuse(robot, "regressor")
    floats = is_floating(robot)
    wanted = wanted_columns(robot, base_parameters, offset)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            names = wanted(scene)
            motion = (x["q"], x["qd"], x["qdd"])
            D = regressor_model(scene.unloaded(), *motion, names, form, base=floats)
            return Result({"D": ((len(D), len(names)), flat(D))})

        return run

    program = build(
        robot, "regressor", state(robot, "q", "qd", "qdd", driven=True), [], ["D"],
        symbolic=symbolic, formulate=formulate, effort=effort,
        choices=("still", "grouped", "axial", "column", "slide"),
    )  # fmt: skip
    return wanted.naming(program, robot)


def filtered_regressor(
    robot: Robot, *, base_parameters: bool = False, offset: bool = False, symbolic: bool = False
) -> Program:
    """D1, D2 with tau = d/dt(D1 K) + D2 K: no accelerations."""
    refuse(robot, "filtered-regressor", floating=True, mobile=True)
    wanted = wanted_columns(robot, base_parameters, offset)

    def run(scene: Bodies, x: Arrays) -> Result:
        names = wanted(scene)
        found = filtered_model(scene, x["q"], x["qd"], names)
        shape = (robot.n, len(names))
        return Result({"D1": (shape, flat(found.D1)), "D2": (shape, flat(found.D2))})

    program = build(
        robot, "filtered-regressor", state(robot, "q", "qd"), [run], ["D1", "D2"], symbolic=symbolic
    )
    return wanted.naming(program, robot)


def energy_regressor(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """h with E + U = h K, up to the constant energy of parameters without effect; K has the
    stiffness of elastic joints."""
    refuse(robot, "energy-regressor", mobile=True)
    wanted = wanted_columns(robot, base_parameters, False, ENERGY_DRIVES)

    def run(scene: Bodies, x: Arrays) -> Result:
        names = wanted(scene)
        return Result({"h": ((len(names),), energy_model(scene, x["q"], x["qd"], names))})

    inputs = state(robot, "q", "qd")
    program = build(robot, "energy-regressor", inputs, [run], ["h"], symbolic=symbolic)
    return wanted.naming(program, robot)


@dataclass(frozen=True)
class _Wanted:
    """Which columns: all of the standard parameters, or those of the base set with friction,
    springs and the rotors of joints that have no motor, joints that move as others left out; then
    those of the cut joints that rub or have a rotor, by their frames."""

    drives: tuple[str, ...]
    base: BaseParameters | None
    floats: bool = False
    cuts: tuple[int, ...] = ()

    def __call__(self, scene: Bodies) -> Columns:
        listed = columns(scene, drives=self.drives, base=self.floats)
        listed += [(name, j) for j in self.cuts for name in CUT_COLUMNS if name in self.drives]
        if self.base is None:
            return listed
        beside, gone = {*self.base.kept, *self.base.apart}, self.base.eliminated
        return [
            c for c in listed
            if c in beside or c[0] == SPRING_COLUMN
            or (c[0] in _FRICTION and ("FV", c[1]) not in gone)
        ]  # fmt: skip

    def naming(self, program: Program, robot: Robot) -> Program:
        """The program with its columns named, in its header too; R marks regrouped parameters."""
        regrouped = self.base.regrouped if self.base else {}
        listed = self(bodies(robot, lambda name: 1.0))
        names = tuple(f"{n}{j}{'R' if (n, j) in regrouped else ''}" for n, j in listed)
        rows = "rows: wrench on the base, then joints; " if "V0d" in program.inputs else ""
        meaning = {output: f"{rows}columns: {' '.join(names)}" for output in program.outputs}
        return replace(program, columns=names, meaning={**program.meaning, **meaning})


def wanted_columns(
    robot: Robot, base: bool, offset: bool, drives: tuple[str, ...] = ("IA", "FV", "FS")
) -> _Wanted:
    kinds = (*drives, "offset") if offset else drives
    cuts = tuple(len(robot.joints) + k for k in driven_cuts(robot))
    return _Wanted(kinds, base_parameters_of(robot) if base else None, is_floating(robot), cuts)
