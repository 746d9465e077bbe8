"""Dynamic models of parallel robots leg by leg, in Cartesian and joint space, [K10] 5 (59)-(66)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.solve import factored, solve_symmetric
from ..algebra.vector import Vec, dot
from ..describe.robot import DRIVE, FURTHER, INERTIA, WRENCH, Robot
from ..errors import ModelError
from ..formulate.economy import inverse_dynamics as newton_euler
from ..formulate.posture import formulated
from ..loops.analysis import independent_rows
from ..mechanism.loops import ROWS, opened
from ..mechanism.platform import Leg, Modules, Parallel
from ..models.bodies import Bodies, bodies
from ..models.composite import inertia_matrix as inertia_model
from ..models.parallel import Legs, Twist, legs, placing, platform_matrix, platform_wrench
from ..program import Program
from .common import RECURSION, Arrays, with_friction
from .derivation import Form, Result
from .hybrid import Series, series_direct, series_inverse
from .idle import spun
from .mechanism import Mechanism

Scalar = Any
_COMPONENTS = ("vx", "vy", "vz", "wx", "wy", "wz")


@dataclass(frozen=True)
class Platform:
    """A parallel robot, and the components of twist its platform can have."""

    mechanism: Mechanism
    parallel: Parallel
    kept: tuple[int, ...]
    rows: tuple[list[tuple[str, ...]], ...]

    @property
    def m(self) -> int:
        return len(self.kept)

    def twist(self, V: Sequence[Scalar], Vd: Sequence[Scalar]) -> Twist:
        full: list[Any] = [0] * 6
        rate: list[Any] = [0] * 6
        for k, x, y in zip(self.kept, V, Vd, strict=True):
            full[k], rate[k] = x, y
        return Twist(Vec(*full[:3]), Vec(*full[3:]), Vec(*rate[:3]), Vec(*rate[3:]))

    def views(self, kind: str) -> list[list[int]]:
        """The axes each leg is written in where it holds the platform: its end's, or those of the
        base where any will do."""
        every = {"vx", "vy", "vz"}
        any_axes = kind == "base" and all(set(own) == every for leg in self.rows for own in leg)
        return [
            [self.parallel.root if any_axes else hold.end for hold in leg.holds]
            for leg in self.parallel.legs
        ]

    def legs(self, scene: Bodies, x: Arrays, twist: Twist, kind: str) -> Legs:
        idle = self.mechanism.analysis.idle
        spins = dict(zip(idle, x.get("qd_i", [0] * len(idle)), strict=True))
        return legs(scene, x["q"], self.parallel, self.rows, twist, self.views(kind), spins)

    @property
    def components(self) -> list[str]:
        """Names of those that its twist has."""
        return [_COMPONENTS[k] for k in self.kept]

    def inverse(self, legs: Legs) -> list[list[Scalar]]:
        """J_p^-1 in the kept components, (62)."""
        return [[row[c] for c in self.kept] for row in legs.inverse_rows(self.parallel)]

    def motion(self, scene: Bodies, x: Arrays, kind: str) -> Twist:
        """The platform's motion: given, or that of the active joints."""
        if "V" in x:
            return self.twist(x["V"], x.get("Vd", [0] * self.m))
        active = self.mechanism.active
        qd = dict(zip(active, x["qd"], strict=True))
        qdd = dict(zip(active, x["qdd"], strict=True)) if "qdd" in x else None
        return self.driven(scene, x, qd, qdd, kind)

    def driven(
        self, scene: Bodies, x: Arrays, qd: Mapping[int, Scalar],
        qdd: Mapping[int, Scalar] | None, kind: str = "end",
    ) -> Twist:  # fmt: skip
        """The motion that its active joints give the platform; qdd None: without accelerations."""
        joints = [j for _, j in self.parallel.driven]
        J = factored(self.inverse(self.legs(scene, x, Twist(), kind)))
        V = J.solve([qd[j] for j in joints])
        if qdd is None:
            return self.twist(V, [0] * self.m)
        bias = self.legs(scene, x, self.twist(V, [0] * self.m), kind)
        return self.twist(V, J.solve([qdd[j] - bias.qdd[j] for j in joints]))

    def needed(
        self, scene: Bodies, x: Arrays, twist: Twist, kind: str
    ) -> tuple[Legs, list[Scalar], dict[int, Scalar], Any]:
        """(legs, F_x, qdd_i, record): what the platform needs, its legs included."""
        q = x["q"]
        legs = self.legs(scene, x, twist, kind)
        zero = dict.fromkeys(self.parallel.joints, 0)
        moving = self.mechanism.coordinates.moving
        qd, qdd = ({**zero, **rates} for rates in (legs.qd, legs.qdd))
        record = newton_euler(scene, q, [qd[j] for j in moving], [qdd[j] for j in moving])
        total = platform_wrench(scene, q, self.parallel, twist, scene.gravity)
        tree = inertia_model(formulated(scene), q) if self.mechanism.free else None
        spins: dict[int, Scalar] = {}
        for k, leg in enumerate(self.parallel.legs):
            tau = {j: record.tau[j] for j in leg.joints}
            if tree is not None:
                idle = self.idle(leg)
                tau, spin = spun(leg.joints, idle, tree.matrix(leg.joints), tau)
                spins |= zip(idle, spin, strict=True)
            more = legs.wrench(k, tau)
            total = [s + f for s, f in zip(total, more, strict=True)]
        return legs, [total[c] for c in self.kept], spins, record

    def idle(self, leg: Leg) -> list[int]:
        return [j for j in leg.joints if j in self.mechanism.analysis.idle]

    def inputs(self, space: str, last: str) -> dict[str, tuple[int, ...]]:
        mechanism = self.mechanism
        sizes: dict[str, int] = {"q": mechanism.n, "V": self.m, "Vd": self.m}
        names = {"joint": ("q", "qd"), "cartesian": ("q", "V")}[space]
        arrays: dict[str, tuple[int, ...]] = {
            k: (sizes.get(k, mechanism.na),) for k in (*names, last)
        }
        return {**arrays, "qd_i": (len(mechanism.analysis.idle),)} if mechanism.free else arrays


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
