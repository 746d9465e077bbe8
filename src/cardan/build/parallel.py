"""Dynamic models of parallel robots leg by leg, in Cartesian and joint space, [K10] 5 (59)-(66)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra.solve import factored, solve_symmetric
from ..algebra.vector import dot
from ..describe.robot import DRIVE, FURTHER, INERTIA, WRENCH, Robot
from ..errors import ModelError
from ..formulate.posture import formulated
from ..loops.analysis import independent_rows
from ..mechanism.loops import ROWS, opened
from ..mechanism.platform import Modules, Parallel
from ..models.bodies import Bodies, bodies
from ..models.composite import inertia_matrix as inertia_model
from ..models.parallel import Legs, placing, platform_matrix
from ..program import Program
from .common import RECURSION, Arrays, with_friction
from .derivation import Form, Result
from .hybrid import Platform, Series, series_direct, series_inverse
from .mechanism import Mechanism

Scalar = Any


def _platforms(robot: Robot, model: str, symbolic: bool, idle: str) -> Series:
    if not robot.loops:
        raise ModelError(f"'{model}' of '{robot.name}': this robot has no closed loop")
    mechanism = Mechanism.of(robot, model, symbolic=symbolic, idle=idle)
    if robot.base.kind != "fixed":
        raise ModelError(f"'{model}' of '{robot.name}' needs a fixed base")
    modules = Modules.of(mechanism.coordinates, model)
    parts = tuple(_platform(mechanism, parallel, model) for parallel in modules.parts)
    return Series(mechanism, parts, modules.between)


def _platform(mechanism: Mechanism, parallel: Parallel, model: str) -> Platform:
    """One of them, with what its legs share."""
    robot = mechanism.robot
    _require_bare(robot, parallel, model)
    if len(parallel.joints) != len(parallel.driven):
        raise ModelError(
            f"'{model}' of '{robot.name}' needs a platform with as many coordinates as there are"
            f" motors: it has {len(parallel.joints)} for {len(parallel.driven)}, so that its legs"
            " hold it too; leave out those that follow, or use 'inverse-dynamics' and"
            " 'direct-dynamics'"
        )
    rows = []
    for leg in parallel.legs:
        joints = tuple(j for j in leg.joints if j not in mechanism.analysis.idle)
        held = independent_rows(mechanism.analysis, leg.holds, joints)
        if held is None or any(hold.kind in ("prismatic", "cylindrical") for hold in leg.holds):
            what = "; ".join(
                f"a {h.kind} one that holds {' '.join(ROWS[h.kind])}" for h in leg.holds
            )
            raise ModelError(
                f"'{model}' of '{robot.name}' needs legs that hold the platform by a joint that"
                " does not slide, and whose joints follow from the platform's motion; leg"
                f" '{leg.name}' has {len(joints)} joints and {what}"
            )
        rows.append(held)
    return Platform(mechanism, parallel, _kept(mechanism, parallel, model), tuple(rows))


def _require_bare(robot: Robot, parallel: Parallel, model: str) -> None:
    """The joints that place the platform are coordinates only: no mass between, no drive."""
    for j in parallel.joints:
        carried = robot.links[j - 1] if j != parallel.body else None
        parts = [getattr(robot.joints[j - 1], key) for key in (*DRIVE, *FURTHER)]
        parts += [getattr(carried, key) for key in (*INERTIA, *WRENCH)] if carried else []
        if any(not (isinstance(x, int) and x == 0) for x in parts):
            raise ModelError(
                f"'{model}' of '{robot.name}': joint '{robot.joints[j - 1].name}' only places the"
                " platform, and may have no rotor, friction or mass of its own; give the mass to"
                f" '{robot.links[parallel.body - 1].name}', or use 'inverse-dynamics'"
            )


def _kept(mechanism: Mechanism, parallel: Parallel, model: str) -> tuple[int, ...]:
    """The components of the platform's twist that are not always zero, in the axes of the link that
    it stands on."""
    sample = mechanism.analysis.samples[0]
    names = mechanism.analysis.coordinates.robot
    scene = bodies(opened(names), sample.values.__getitem__)
    largest = np.zeros(6)
    for q in sample.q[:4]:
        columns = placing(scene, list(q), parallel).values()
        J = np.array([[*linear, *angular] for linear, angular in columns], float)
        largest = np.maximum(largest, np.abs(J).max(axis=0))
    components = tuple(int(k) for k in np.flatnonzero(largest > 1e-9))
    if len(components) != len(parallel.joints):
        raise ModelError(
            f"'{model}' of '{mechanism.robot.name}': the platform has {len(parallel.joints)}"
            f" coordinates but moves in {len(components)} components of its twist; place its frame"
            " so that they are as many"
        )
    return components


def _meaning(platform: Platform) -> dict[str, str]:
    parts = " ".join(platform.components)
    return {
        "V": f"velocity of the platform in frame 0, at the origin of its frame: {parts}",
        "Vd": f"its derivative in frame 0: {parts}",
    }


def platform_inverse_dynamics(
    robot: Robot, *, space: str = "cartesian", friction: bool = True, idle: str = "held",
    symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """Torques of the active joints for a motion of the platform or of these joints, (66)."""
    model = "platform-inverse-dynamics"
    series = _platforms(with_friction(robot, friction), model, symbolic, idle)
    if not series.simple:
        return series_inverse(series, model, space, effort)
    (platform,), mechanism = series.parts, series.mechanism

    def page(kind: str) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            twist = platform.motion(scene, x, kind)
            legs, need, spins, record = platform.needed(scene, x, twist, kind)
            tau = factored(platform.inverse(legs)).solve_transposed(need)  # (66)
            return Result({"tau": ((mechanism.na,), tau), **_spins(platform, spins)}, record)

        return run

    inputs = platform.inputs(space, "qdd" if space == "joint" else "Vd")
    programs = [
        mechanism.program(
            model, inputs, [], mechanism.outputs("tau"), meaning=_meaning(platform),
            search=(page(kind), RECURSION), effort=effort,
        )
        for kind in ("end", "base")
    ]  # fmt: skip
    return min(programs, key=lambda program: program.cost.total + 20 * program.cost.trig)


def _spins(platform: Platform, spins: Mapping[int, Scalar]) -> dict[str, Any]:
    idle = platform.mechanism.analysis.idle
    return {"qdd_i": ((len(idle),), [spins[j] for j in idle])} if platform.mechanism.free else {}


def platform_direct_dynamics(
    robot: Robot, *, space: str = "cartesian", friction: bool = True, idle: str = "held",
    symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """Acceleration of the platform, or of the active joints: A_x Vd = J_p^-T tau - H_x."""
    model = "platform-direct-dynamics"
    series = _platforms(with_friction(robot, friction), model, symbolic, idle)
    if not series.simple:
        return series_direct(series, model, space, effort)
    (platform,), mechanism = series.parts, series.mechanism

    def page(scene: Bodies, x: Arrays) -> Result:
        twist = platform.motion(scene, x, "end")
        legs, need, spins, record = platform.needed(scene, x, twist, "end")
        rows = platform.inverse(legs)
        push = [-h + dot([row[c] for row in rows], x["tau"]) for c, h in enumerate(need)]
        A, follow = _matrix(platform, scene, x, legs)
        Vd = solve_symmetric(A, push)
        spins = {j: s + dot(follow[j], Vd) for j, s in spins.items()}
        outputs: dict[str, Any] = {"Vd": ((platform.m,), Vd)}
        if space == "joint":
            bias = [legs.qdd[j] for j in mechanism.active]
            qdd = [b + dot(row, Vd) for b, row in zip(bias, rows, strict=True)]
            outputs = {"qdd": ((mechanism.na,), qdd)}
        return Result({**outputs, **_spins(platform, spins)}, record)

    outputs = mechanism.outputs("qdd" if space == "joint" else "Vd")
    return mechanism.program(
        model, platform.inputs(space, "tau"), [], outputs,
        meaning=_meaning(platform), search=(page, RECURSION), effort=effort,
    )  # fmt: skip


def _matrix(
    platform: Platform, scene: Bodies, x: Arrays, legs: Legs
) -> tuple[list[list[Scalar]], dict[int, list[Scalar]]]:
    """(A_x, qdd_i by Vd): the platform's inertia and that of the legs, carried to it by J_i^-1
    J_vi; free idle joints are eliminated, as if every motion of the others turned them along."""
    q, kept = x["q"], platform.kept
    A = platform_matrix(scene, q, platform.parallel, kept)
    tree = inertia_model(formulated(scene), q)
    follow: dict[int, list[Scalar]] = {}
    for k, leg in enumerate(platform.parallel.legs):
        joints = legs.joints[k]
        # rows of J_i^-1 J_vi: the rates of the leg's joints by those of the platform
        B = [legs.wrench(k, {m: int(m == j) for m in joints}) for j in joints]
        B = [[row[c] for c in kept] for row in B]
        own = tree.matrix(leg.joints)
        if platform.mechanism.free:
            own, ratios = _eliminated(own, leg.joints, platform.idle(leg))
            for j, ratio in ratios.items():
                follow[j] = [dot(ratio, column) for column in zip(*B, strict=True)]
        else:
            at = [leg.joints.index(j) for j in joints]
            own = [[own[r][c] for c in at] for r in at]
        AB = [[dot(row, column) for column in zip(*B, strict=True)] for row in own]
        for r in range(platform.m):
            for c in range(r + 1):
                more = dot([row[r] for row in B], [row[c] for row in AB])
                A[r][c] = A[c][r] = A[r][c] + more
    return A, follow


def _eliminated(
    A: list[list[Scalar]], joints: Sequence[int], idle: Sequence[int]
) -> tuple[list[list[Scalar]], dict[int, list[Scalar]]]:
    """A_nn - A_ni A_ii^-1 A_in, and the rows of -A_ii^-1 A_in by idle joint."""
    i = [joints.index(j) for j in idle]
    n = [k for k in range(len(joints)) if k not in i]
    block = [[A[r][c] for c in i] for r in i]
    columns = [solve_symmetric(block, [-A[r][c] for r in i]) for c in n]
    ratios = {j: [column[k] for column in columns] for k, j in enumerate(idle)}
    own = [
        [A[r][c] + dot([A[r][k] for k in i], column) for c, column in zip(n, columns, strict=True)]
        for r in n
    ]
    return own, ratios
