"""Identification models: regressors for standard or base parameters."""

from __future__ import annotations

from collections.abc import Callable

from ..describe.robot import Robot
from ..models.bodies import Bodies
from ..models.formulation import Formulation
from ..models.regressor import Columns, columns
from ..models.regressor import energy_regressor as energy_model
from ..models.regressor import filtered_regressor as filtered_model
from ..models.regressor import regressor as regressor_model
from ..program import Program
from .common import Arrays, build, flat, refuse, state
from .derive import Form, Result

__all__ = ["energy_regressor", "filtered_regressor", "regressor"]


def regressor(
    robot: Robot, *, base_parameters: bool = False, offset: bool = False, symbolic: bool = False,
    effort: str = "normal",
) -> Program:  # fmt: skip
    """D with tau = D K."""
    refuse(robot, "regressor", floating=True)
    wanted = _columns(robot, base_parameters, offset)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            names = wanted(scene)
            D = regressor_model(scene.unloaded(), x["q"], x["qd"], x["qdd"], names, form)
            return Result({"D": ((robot.n, len(names)), flat(D))})

        return run

    return build(
        robot, "regressor", state(robot, "q", "qd", "qdd"), [], ["D"], symbolic=symbolic,
        meaning=_listed(robot, wanted, "D"), formulate=formulate,
        choices=("still", "grouped", "column", "slide"), effort=effort,
    )  # fmt: skip


def filtered_regressor(
    robot: Robot, *, base_parameters: bool = False, offset: bool = False, symbolic: bool = False
) -> Program:
    """D1, D2 with tau = d/dt(D1 K) + D2 K: no accelerations."""
    refuse(robot, "filtered-regressor", floating=True, mobile=True)
    wanted = _columns(robot, base_parameters, offset)

    def run(scene: Bodies, x: Arrays) -> Result:
        names = wanted(scene)
        found = filtered_model(scene, x["q"], x["qd"], names)
        shape = (robot.n, len(names))
        return Result({"D1": (shape, flat(found.D1)), "D2": (shape, flat(found.D2))})

    return build(
        robot, "filtered-regressor", state(robot, "q", "qd"), [run], ["D1", "D2"],
        symbolic=symbolic, meaning=_listed(robot, wanted, "D1", "D2"),
    )  # fmt: skip


def energy_regressor(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """h with E + U = h K, up to the constant energy of parameters without effect."""
    refuse(robot, "energy-regressor", floating=True, mobile=True)
    wanted = _columns(robot, base_parameters, False, ("IA",))

    def run(scene: Bodies, x: Arrays) -> Result:
        names = wanted(scene)
        return Result({"h": ((len(names),), energy_model(scene, x["q"], x["qd"], names))})

    return build(
        robot, "energy-regressor", state(robot, "q", "qd"), [run], ["h"], symbolic=symbolic,
        meaning=_listed(robot, wanted, "h"),
    )  # fmt: skip


def _columns(
    robot: Robot, base: bool, offset: bool, drives: tuple[str, ...] = ("IA", "FV", "FS")
) -> Callable[[Bodies], Columns]:
    """Which columns: all of the standard parameters, or those of the base set."""
    kinds = (*drives, "offset") if offset else drives
    if not base:
        return lambda scene: columns(scene, drives=kinds)
    from .base import base_parameters

    kept = set(base_parameters(robot).kept)

    def chosen(scene: Bodies) -> Columns:
        listed = columns(scene, drives=kinds)
        return [c for c in listed if c in kept or c[0] in ("FV", "FS", "offset")]

    return chosen


def _listed(robot: Robot, wanted: Callable[[Bodies], Columns], *outputs: str) -> dict[str, str]:
    """The column names, for headers and headings."""
    from ..models.bodies import bodies

    scene = bodies(robot, lambda name: 1.0)
    names = " ".join(f"{name}{j}" for name, j in wanted(scene))
    return dict.fromkeys(outputs, f"columns: {names}")
