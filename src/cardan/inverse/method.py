"""Inverse geometry: choose the method, derive, and say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..describe.robot import PRISMATIC, Robot
from ..describe.symbolic import parametrised
from ..errors import ModelError
from ..ir.code import Code
from .chain.arm_angle import ARM_ANGLE, has_arm_plane, require_arm_plane
from .chain.chain import Chain
from .chain.differences import scaled
from .closed_form.batch import Closed
from .closed_form.branches import one_branch, program
from .closed_form.paul import Unsolved, derive
from .closed_form.relation import QUARTICS
from .closed_form.snap import Snapped, snapped
from .closed_form.trial import Trial, lost_branches, missing, trial_of
from .general.kept import sample_values
from .geometry import InverseGeometry

ROUNDING = 1e-15
FEW = 12  # poses on which a closed form of rounded values is compared with the general method


def inverse_geometry(
    robot: Robot, *, method: str = "auto", frame: Any = None, free: Any = None, reference: Any = 0,
    symbolic: bool = False,
) -> InverseGeometry:  # fmt: skip
    """The inverse geometric model of the chain to a frame, [KC97] 3.3."""
    return _again(robot, method, frame, free, reference, symbolic)


def _again(
    robot: Robot, method: str, frame: Any, free: Any, reference: Any, symbolic: bool,
    turns: int = 0,
) -> InverseGeometry:  # fmt: skip
    """What a pickled solution becomes; `turns`: of the frame, which are not asked for."""
    options = (robot, method, frame, free, reference, symbolic)
    return replace(_solved(*options, turns), origin=(_again, options))


def _solved(
    robot: Robot, method: str, frame: Any, free: Any, reference: Any, symbolic: bool, turns: int
) -> InverseGeometry:
    defaults: dict[str, float] = {}
    if symbolic:
        robot, defaults = parametrised(robot)
    chain = Chain.of(robot, frame, reference, turns)
    plane = free == ARM_ANGLE
    if plane and not any(has_arm_plane(near.chain) for near in snapped(chain)):
        require_arm_plane(chain)
    choices = [()] if plane else _free_joints(chain, free)
    known = {name: defaults[name] for name in chain.parameters if name in defaults}
    if not plane:
        _require_independent(chain, choices[0])
    if method == "general":
        return _general(chain, choices[0], known, True)
    tried: list[Exception] = []
    closed = _closed_form(chain, choices, plane, method, known, tried)
    if closed is not None:
        return closed
    if method in ("paul", "pieper"):
        raise ModelError(_failed(chain, method, tried))
    remarks = tuple(dict.fromkeys(str(x) for x in tried if isinstance(x, Lost)))
    return replace(_general(chain, choices[0], known, False, bool(remarks)), remarks=remarks)


class Lost(Exception):
    """A derivation does not find configurations that are there; says so."""


def _closed_form(
    chain: Chain, choices: Sequence[tuple[int, ...]], plane: bool, asked: str, known: Any,
    tried: list[Exception],
) -> InverseGeometry | None:  # fmt: skip
    """The first closed form that passes its trial: of the exact values that the chain's stand for,
    the simplest chain first, then of its own; the first that passes but for the edge of its reach,
    if no other does."""
    nearby: list[Snapped | None] = [*snapped(chain), None]
    second: InverseGeometry | None = None
    for near in nearby:
        if plane and not has_arm_plane(chain if near is None else near.chain):
            continue
        for held in choices:
            try:
                solution, everywhere = _closed(chain, held, plane, asked, known, near)
            except (Unsolved, Lost) as error:
                tried.append(error)
                continue
            if everywhere:
                return solution
            second = second or solution
    return second


def _closed(
    chain: Chain, held: Sequence[int], plane: bool, asked: str, known: Any, near: Snapped | None
) -> tuple[InverseGeometry, bool]:
    """Paul's method; where it is not enough and allowed, Pieper's. `near`: the chain of the
    equations. And: does it find all, at the edge of its reach too?"""
    quartics = asked != "paul"
    unit = 1.0 if chain.parameters else chain.numeric().unit
    remarks = () if near is None else (_told(near),)
    other = chain.plain if near is None else near.chain
    of, true = (chain, None) if other is None else (other, chain.in_units(unit))
    of = of.in_units(unit)
    found = derive(of, held, quartics=quartics, plane=plane, true=true, unit=unit)

    def guided() -> Code:
        led = derive(of, held, quartics=quartics, guided=True, plane=plane, true=true, unit=unit)
        return one_branch(led)

    branches = replace(program(found, "inverse-geometry"), remarks=remarks)
    solver = Closed(chain, branches, guided, tuple(held), _change(chain, near, known))
    trial = trial_of(chain, held, plane, known)
    everywhere = _require_found(solver, trial, plane, true is not None)
    quartic = [s for s in found.steps if s.relation.kind in QUARTICS]
    names = ["the arm angle"] if plane else [chain.names[j] for j in held]
    given = f" once {', '.join(names)} {'are' if len(names) > 1 else 'is'} given" if names else ""
    why = f"its equations solve one after the other by the types of Paul's method{given}"
    if quartic:
        why = (
            "Paul's types do not suffice, but three of its axes intersect or three joints slide: a"
            f" polynomial of degree 4 gives {chain.names[quartic[0].unknown]}, the rest follows"
            f"{given}"
        )
    elif asked == "pieper":
        why = (
            "three of its axes intersect, are parallel or slide so that the polynomial is of degree"
            f" 2 and Paul's types solve it{given}"
        )
    method = "pieper" if quartic or asked == "pieper" else "paul"
    solution = InverseGeometry(
        chain, method, why, solver, tuple(held), plane, found, known, remarks
    )
    return solution, everywhere


def _change(chain: Chain, near: Snapped | None, known: Any) -> float:
    """How far the arm of the equations is from the arm, rad or over its size. Of one that is
    written by common normals far away, what these cost."""
    numeric = chain.numeric({**sample_values(chain), **known})
    if near is not None:
        return max(near.turn, near.shift / numeric.span)
    return 0.0 if chain.plain is None else ROUNDING * chain.plain.numeric().size / numeric.span


def _told(near: Snapped) -> str:
    return (
        "values of the description are rounded: the equations are of the exact angles and lengths"
        f" they stand for, which moves the frame by up to {near.shift:.1g} m and {near.turn:.1g}"
        " rad; every answer is made exact on the geometry as it is described"
    )


def _require_found(solver: Closed, trial: Trial, plane: bool, rounded: bool) -> bool:
    """Refuse a closed form that loses configurations. One of rounded values is asked for all that
    the general method finds. It may lose some at the edge of its reach, where that method is asked
    anyway; gives whether it does not."""
    values = np.array([trial.values[name] for name in solver.program.parameters])
    p = values if values.size else None
    lost = lost_branches(solver.program, trial)
    if rounded and not (lost.any() and plane):
        answers = solver.solve(trial.T, trial.free, p, trial.numeric, None)
        lost |= trial.lost(answers.q)
        few = trial.of_rows(slice(FEW))
        others = None if plane else _of_general(solver, few)
        if others is not None:
            lost[:FEW] |= missing(trial.numeric, answers.q[:FEW], others)
    count = int(lost.sum())
    if rounded and count and not plane:
        lost &= ~solver.is_close(trial.T, trial.free, p, trial.numeric, answers.count)
    if lost.any():
        raise Lost(
            f"the closed form lost configurations at {count} of {len(lost)} poses it was tried on:"
            " it is not used"
        )
    return count == 0


def _of_general(solver: Closed, trial: Trial) -> Any:
    """Answers of the general method, where there is one for such a chain."""
    try:
        general = solver.general or _general_solver(solver.chain, solver.free, trial.values)
        return general.solve(trial.T, trial.free, None, trial.numeric, None).q
    except ModelError:
        return None


def _free_joints(chain: Chain, free: Any) -> list[tuple[int, ...]]:
    """The joints that are given: as asked, or in the order worth trying."""
    spare = max(0, chain.n - 6)
    if free is not None:
        asked = list(free) if isinstance(free, list | tuple) else [free]
        found = tuple(sorted({chain.index(joint) for joint in asked}))
        if len(found) < spare:
            raise ModelError(
                f"'{chain.robot}' has {chain.n} joints: {spare} must be given, free names"
                f" {len(found)}"
            )
        return [found]
    if spare == 0:
        return [()]
    if spare > 1:
        raise ModelError(
            f"'{chain.robot}' has {chain.n} joints, 6 can be solved for: {spare} must be given",
            action="free",
        )
    return [(j,) for j in (2, 6, 4, 0)]


def _require_independent(chain: Chain, held: Sequence[int]) -> None:
    """Refuse joints that move the frame in fewer ways than there are of them."""
    rng = np.random.default_rng(0)
    numeric = chain.numeric(sample_values(chain))
    others = [j for j in range(chain.n) if j not in held]
    q = rng.uniform(-2, 2, (3, chain.n)) * np.where(numeric.sigma == PRISMATIC, numeric.unit, 1.0)
    J = scaled(numeric, numeric.jacobian(q))[..., others]
    rank = int(np.linalg.matrix_rank(J, tol=1e-9).max())
    if rank < len(others):
        named = [chain.names[j] for j in (*held, *others[rank - len(others) :])]
        raise ModelError(
            f"'{chain.robot}': {len(others)} joints move frame {chain.frame} in {rank} independent"
            f" ways only: {len(named)} must be given, such as {', '.join(named)}",
            action="free",
        )


def _failed(chain: Chain, method: str, tried: Sequence[Exception]) -> str:
    for error in tried:
        if isinstance(error, Lost):
            return f'method="{method}" of \'{chain.robot}\': {error}; use method="general"'
    left = ", ".join(chain.names[j] for j in tried[-1].args[0]) if tried else ""
    need = {
        "paul": "Paul's method needs equations that solve one after the other",
        "pieper": "Pieper's method needs three intersecting axes or three sliding joints",
    }[method]
    return f"{need}; '{chain.robot}' leaves {left} unsolved: use method=\"general\""


def _general_solver(chain: Chain, held: Sequence[int], known: Any) -> Any:
    """The general method for a chain; a ModelError where there is none."""
    if not held and 3 <= chain.n < 6:
        from .general.extended import Extended

        return Extended(chain)
    from .general.solver import general_solver

    return general_solver(chain, held, known)


def _general(
    chain: Chain, held: Sequence[int], known: Any, asked: bool, lost: bool = False
) -> InverseGeometry:
    """Any other chain of six joints, or of three to five. `lost`: a closed form failed its
    trial."""
    if not held and 3 <= chain.n < 6:
        why = "it has no closed form of Paul's or Pieper's: the general method, with virtual joints"
        if asked:
            why = "asked for; with virtual joints it takes three to five joints too"
        solver = _general_solver(chain, held, known)
        return InverseGeometry(chain, "general", why, solver, (), False, None, known)
    if chain.n - len(held) != 6:
        raise ModelError(
            f"'{chain.robot}': no closed form was found for its {chain.n} joints, and the general"
            " method takes 6: use cardan.inverse_kinematics"
        )
    why = "no three of its axes intersect or are parallel: the general method for six joints"
    if lost:
        why = "its closed form is not safe to use: the general method for six joints"
    if asked:
        why = "asked for; it takes any six joints of which three or more turn"
    solver = _general_solver(chain, held, known)
    return InverseGeometry(chain, "general", why, solver, tuple(held), False, None, known)
