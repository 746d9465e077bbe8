"""Dynamic models of parallel robots in Cartesian space, leg by leg, [K10] 5 (59)-(66)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.solve import factored, solve_symmetric
from ..algebra.vector import Vec
from ..describe.robot import Robot
from ..errors import ModelError
from ..mechanism.loops import opened
from ..mechanism.parallel import Parallel
from ..models.bodies import Bodies, bodies
from ..models.formulation import Formulation
from ..models.inertia_matrix import inertia_matrix as inertia_model
from ..models.jacobian import jacobian as jacobian_model
from ..models.newton_euler import inverse_dynamics as newton_euler
from ..models.parallel import Legs, Twist, legs, platform_matrix, platform_wrench
from ..program import Program
from .common import RECURSION, Arrays, with_friction
from .derive import Form, Result
from .loops import Closing, closing

__all__ = ["platform_direct_dynamics", "platform_inverse_dynamics"]

Scalar = Any
_COMPONENTS = ("vx", "vy", "vz", "wx", "wy", "wz")


@dataclass(frozen=True)
class _Platform:
    """A parallel robot, and the components of twist its platform can have."""

    made: Closing
    parallel: Parallel
    kept: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]

    @property
    def m(self) -> int:
        return len(self.kept)

    def twist(self, V: Sequence[Scalar], Vd: Sequence[Scalar]) -> Twist:
        full: list[Any] = [0] * 6
        rate: list[Any] = [0] * 6
        for k, x, y in zip(self.kept, V, Vd, strict=True):
            full[k], rate[k] = x, y
        return Twist(Vec(*full[:3]), Vec(*full[3:]), Vec(*rate[:3]), Vec(*rate[3:]))

    def views(self, kind: str) -> list[int]:
        if kind == "base":
            return [0] * len(self.parallel.legs)
        return [leg.end if kind == "end" else leg.joints[-1] for leg in self.parallel.legs]

    def needed(
        self, scene: Bodies, x: Arrays, twist: Twist, form: Formulation, kind: str
    ) -> tuple[Legs, list[Scalar], Any]:
        """(legs, F_x, record): what the platform needs, its legs included."""
        q = x["q"]
        found = legs(scene, q, self.parallel, self.rows, twist, self.views(kind))
        zero = dict.fromkeys(self.parallel.coordinates, 0)
        moving = self.made.connection.moving
        qd, qdd = ({**zero, **rates} for rates in (found.qd, found.qdd))
        record = newton_euler(
            scene, q, [qd[j] for j in moving], [qdd[j] for j in moving], form=form
        )
        total = platform_wrench(scene, q, self.parallel.body, twist, scene.gravity)
        for k, leg in enumerate(self.parallel.legs):
            more = found.wrench(k, [record.tau[j] for j in leg.joints])
            total = [s + f for s, f in zip(total, more, strict=True)]
        return found, [total[c] for c in self.kept], record


def _platform(robot: Robot, model: str, symbolic: bool) -> _Platform:
    if not robot.loops:
        raise ModelError(f"'{model}' of '{robot.name}': this robot has no closed loop")
    made = closing(robot, model, symbolic=symbolic)
    if robot.base.kind != "fixed":
        raise ModelError(f"'{model}' of '{robot.name}' needs a fixed base")
    parallel = Parallel.of(made.connection, model)
    rows = []
    for leg, keep in zip(parallel.legs, made.analysis.chosen, strict=True):
        held = tuple("xyz".index(name[1]) for name in keep.rows if name[0] == "v")
        if len(held) != len(keep.rows) or len(held) != len(leg.joints):
            raise ModelError(
                f"'{model}' of '{robot.name}' needs legs that hold a point of the platform with as"
                f" many joints as directions; leg '{leg.name}' has {len(leg.joints)} joints and"
                f" holds {' '.join(keep.rows)}"
            )
        rows.append(held)
    return _Platform(made, parallel, _kept(made, parallel, model), tuple(rows))


def _kept(made: Closing, parallel: Parallel, model: str) -> tuple[int, ...]:
    """The components of the platform's twist in frame 0 that are not always zero."""
    sample = made.analysis.samples[0]
    names = made.analysis.connection.robot
    scene = bodies(opened(names), sample.values.__getitem__)
    largest = np.zeros(6)
    for q in sample.q[:4]:
        J = np.array(jacobian_model(scene, list(q), parallel.body, 0, 0).rows(), float)
        largest = np.maximum(largest, np.abs(J).max(axis=1))
    kept = tuple(int(k) for k in np.flatnonzero(largest > 1e-9))
    if len(kept) != len(parallel.coordinates):
        raise ModelError(
            f"'{model}' of '{made.robot.name}': the platform has {len(parallel.coordinates)}"
            f" coordinates but moves in {len(kept)} components of its twist; place its frame so"
            " that they are as many"
        )
    return kept


def _inputs(platform: _Platform, *names: str) -> dict[str, tuple[int, ...]]:
    sizes = {"q": platform.made.n, "tau": platform.made.na}
    return {name: (sizes.get(name, platform.m),) for name in names}


def _meaning(platform: _Platform) -> dict[str, str]:
    parts = " ".join(_COMPONENTS[k] for k in platform.kept)
    return {
        "V": f"velocity of the platform in frame 0, at the origin of its frame: {parts}",
        "Vd": f"its derivative in frame 0: {parts}",
    }


def platform_inverse_dynamics(
    robot: Robot, *, friction: bool = True, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """Torques of the active joints for a motion of the platform, (66)."""
    platform = _platform(with_friction(robot, friction), "platform-inverse-dynamics", symbolic)
    made = platform.made

    def run_in(kind: str) -> Any:
        def formulate(form: Formulation) -> Form:
            def run(scene: Bodies, x: Arrays) -> Result:
                twist = platform.twist(x["V"], x["Vd"])
                found, need, record = platform.needed(scene, x, twist, form, kind)
                rows = found.inverse_rows(platform.parallel)
                J = [[row[c] for c in platform.kept] for row in rows]
                tau = factored(J).solve_transposed(need)  # (66)
                return Result({"tau": ((made.na,), tau)}, record)

            return run

        return formulate

    found = [
        made.program(
            "platform-inverse-dynamics", _inputs(platform, "q", "V", "Vd"), [], ["tau"],
            meaning=_meaning(platform), formulate=run_in(kind), choices=RECURSION, effort=effort,
        )
        for kind in ("end", "base")
    ]  # fmt: skip
    return min(found, key=lambda program: program.cost.total + 20 * program.cost.trig)


def platform_direct_dynamics(
    robot: Robot, *, friction: bool = True, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """Acceleration of the platform of given torques: A_x Vd = J_p^-T tau - H_x."""
    platform = _platform(with_friction(robot, friction), "platform-direct-dynamics", symbolic)
    made = platform.made

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            twist = platform.twist(x["V"], [0] * platform.m)
            found, need, record = platform.needed(scene, x, twist, form, "end")
            rows = found.inverse_rows(platform.parallel)
            push = []
            for c, h in zip(platform.kept, need, strict=True):
                value = -h
                for row, tau in zip(rows, x["tau"], strict=True):
                    value = value + row[c] * tau
                push.append(value)
            A = _matrix(platform, scene, x, found, form)
            return Result({"Vd": ((platform.m,), solve_symmetric(A, push))}, record)

        return run

    return made.program(
        "platform-direct-dynamics", _inputs(platform, "q", "V", "tau"), [], ["Vd"],
        meaning=_meaning(platform), formulate=formulate, choices=RECURSION, effort=effort,
    )  # fmt: skip


def _matrix(
    platform: _Platform, scene: Bodies, x: Arrays, found: Legs, form: Formulation
) -> list[list[Scalar]]:
    """A_x: the platform's inertia and that of the legs, carried to it by J_i^-1 J_vi."""
    q, kept = x["q"], platform.kept
    A = platform_matrix(scene, q, platform.parallel.body, kept)
    tree = inertia_model(scene, q, form)
    for k, leg in enumerate(platform.parallel.legs):
        own = tree.matrix(leg.joints)
        # columns of A_i J_i^-1 J_vi, by the rows of J_i^-1 J_vi
        B = [found.wrench(k, [int(m == j) for m in leg.joints]) for j in leg.joints]
        B = [[row[c] for c in kept] for row in B]
        for r in range(platform.m):
            for c in range(r + 1):
                total: Scalar = 0
                for i, row in enumerate(own):
                    inner: Scalar = 0
                    for j, entry in enumerate(row):
                        inner = inner + entry * B[j][c]
                    total = total + B[i][r] * inner
                A[r][c] = A[r][c] + total
                A[c][r] = A[r][c]
    return A
