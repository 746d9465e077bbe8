"""Parallel modules, one or several in series, on active joints and below them: hybrid robots,
leg by leg, [K10] 8.

The motion of a module is the twist of its platform against the link it stands on; its legs and the
joints that place it follow from that alone, (63)-(65). So the velocities of the tree are those of
the modules, qd = G V with a block of G for each, and the torques of the tree for the whole motion
are carried back module by module:

    F_k = J_x^-T tau_x + sum of J_vi^T J_i^-T Gamma_i,    Gamma_k = J_p^T F_k          (66)

with J_x of the joints that place platform k: what stands on it is in tau_x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..algebra.solve import Factors, factored, solve_symmetric
from ..algebra.vector import Vec, dot
from ..errors import ModelError
from ..formulate.economy import inverse_dynamics as newton_euler
from ..formulate.posture import formulated
from ..mechanism.platform import Leg, Parallel
from ..models.bodies import Bodies
from ..models.composite import inertia_matrix as inertia_model
from ..models.parallel import Legs, Twist, legs, placing, placing_bias, platform_wrench
from ..program import Program
from .common import RECURSION, Arrays
from .derivation import Result
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


@dataclass(frozen=True)
class _Moved:
    """A module at work: its legs, J_x of the joints that place its platform, and J_p^-1."""

    platform: Platform
    legs: Legs
    J: Factors
    rows: list[list[Scalar]]
    qd: dict[int, Scalar]
    qdd: dict[int, Scalar]

    def force(self, tau: Mapping[int, Scalar]) -> list[Scalar]:
        """F_k in the components of the module's twist."""
        own = self.platform
        total = self.J.solve_transposed([tau[j] for j in own.parallel.joints])
        for k in range(len(own.parallel.legs)):
            push = self.legs.wrench(k, {j: tau[j] for j in self.legs.joints[k]})
            total = [s + push[c] for s, c in zip(total, own.kept, strict=True)]
        return total

    def gains(self) -> dict[int, list[Scalar]]:
        """The rates of the module's joints by the components of its twist: a block of G."""
        own = self.platform
        units = [[int(k == c) for k in range(own.m)] for c in range(own.m)]
        columns = [self.J.solve(unit) for unit in units]
        G = {j: [column[r] for column in columns] for r, j in enumerate(own.parallel.joints)}
        for k, joints in self.legs.joints.items():
            for j in joints:
                row = self.legs.wrench(k, {m: int(m == j) for m in joints})
                G[j] = [row[c] for c in own.kept]
        return G


@dataclass(frozen=True)
class Series:
    """Modules and the active joints between them."""

    mechanism: Mechanism
    parts: tuple[Platform, ...]
    between: tuple[int, ...]

    @property
    def simple(self) -> bool:
        """Is the robot one platform on the base?"""
        return len(self.parts) == 1 and not self.between and not self.parts[0].parallel.root

    @property
    def m(self) -> int:
        return sum(part.m for part in self.parts) + len(self.between)

    def split(self, V: Sequence[Scalar]) -> tuple[list[list[Scalar]], list[Scalar]]:
        """By module, and of the joints between."""
        rest, parts = list(V), []
        for part in self.parts:
            parts.append(rest[: part.m])
            rest = rest[part.m :]
        return parts, rest

    def moved(
        self, scene: Bodies, x: Arrays
    ) -> tuple[list[_Moved], dict[int, Scalar], dict[int, Scalar]]:
        """The modules, qd and qdd of the whole tree; accelerations are zero where none are given:
        those of the platforms, whatever the legs' are."""
        if "V" in x:
            V, qd = self.split(x["V"])
            Vd, qdd = self.split(x.get("Vd", [0] * self.m))
            twists = [part.twist(*own) for part, *own in zip(self.parts, V, Vd, strict=True)]
        else:
            active = self.mechanism.active
            rates = dict(zip(active, x["qd"], strict=True))
            more = dict(zip(active, x["qdd"], strict=True)) if "qdd" in x else None
            qd = [rates[j] for j in self.between]
            qdd = [more[j] if more else 0 for j in self.between]
            twists = [part.driven(scene, x, rates, more) for part in self.parts]
        modules = [_module(*own, scene, x) for own in zip(self.parts, twists, strict=True)]
        first = dict(zip(self.between, qd, strict=True)), dict(zip(self.between, qdd, strict=True))
        for module in modules:
            first[0].update(module.qd)
            first[1].update(module.qdd)
        return modules, *first

    def needed(
        self, scene: Bodies, x: Arrays
    ) -> tuple[list[_Moved], list[list[Scalar]], list[Scalar], Any]:
        """(modules, F_k of each, torques of the joints between, record)."""
        modules, qd, qdd = self.moved(scene, x)
        moving = self.mechanism.coordinates.moving
        record = newton_euler(scene, x["q"], [qd[j] for j in moving], [qdd[j] for j in moving])
        forces = [module.force(record.tau) for module in modules]
        return modules, forces, [record.tau[j] for j in self.between], record

    def inputs(self, space: str, last: str) -> dict[str, tuple[int, ...]]:
        sizes = {"q": self.mechanism.n, "V": self.m, "Vd": self.m}
        names = {"joint": ("q", "qd"), "cartesian": ("q", "V")}[space]
        return {k: (sizes.get(k, self.mechanism.na),) for k in (*names, last)}

    def meaning(self) -> dict[str, str]:
        link = self.mechanism.coordinates
        parts = [
            f"{' '.join(part.components)} of '{link.robot.links[part.parallel.body - 1].name}'"
            for part in self.parts
        ]
        words = ", then ".join(parts)
        words += f", then the rates of {link.named(self.between)}" if self.between else ""
        return {
            "V": "velocities of the platforms, each against the link it stands on and in its axes,"
            f" at the origin of the platform's frame: {words}",
            "Vd": "their derivatives in those axes",
        }  # fmt: skip


def _module(part: Platform, twist: Twist, scene: Bodies, x: Arrays) -> _Moved:
    legs = part.legs(scene, x, twist, "end")
    columns = placing(scene, x["q"], part.parallel)
    joints = part.parallel.joints
    J = factored([[[*columns[j][0], *columns[j][1]][c] for j in joints] for c in part.kept])
    V, Vd = [*twist.V, *twist.w], [*twist.Vd, *twist.wd]
    qd = dict(zip(joints, J.solve([V[c] for c in part.kept]), strict=True))
    bias = placing_bias(scene, x["q"], part.parallel, qd)
    qdd = dict(zip(joints, J.solve([Vd[c] - bias[c] for c in part.kept]), strict=True))
    return _Moved(part, legs, J, part.inverse(legs), {**qd, **legs.qd}, {**qdd, **legs.qdd})


def series_inverse(series: Series, model: str, space: str, effort: str) -> Program:
    """Torques of the active joints."""
    mechanism = series.mechanism

    def page(scene: Bodies, x: Arrays) -> Result:
        modules, forces, between, record = series.needed(scene, x)
        tau = dict(zip(series.between, between, strict=True))
        for module, force in zip(modules, forces, strict=True):
            own = [j for _, j in module.platform.parallel.driven]
            tau |= zip(own, factored(module.rows).solve_transposed(force), strict=True)  # (66)
        return Result({"tau": ((mechanism.na,), [tau[j] for j in mechanism.active])}, record)

    inputs = series.inputs(space, "qdd" if space == "joint" else "Vd")
    return _program(series, model, inputs, "tau", page, effort)


def series_direct(series: Series, model: str, space: str, effort: str) -> Program:
    """Accelerations of the platforms and of the joints between, or of the active joints."""
    mechanism = series.mechanism

    def page(scene: Bodies, x: Arrays) -> Result:
        modules, forces, between, record = series.needed(scene, x)
        tau = dict(zip(mechanism.active, x["tau"], strict=True))
        push: list[Scalar] = []
        for module, force in zip(modules, forces, strict=True):
            own = [tau[j] for _, j in module.platform.parallel.driven]
            for c, h in enumerate(force):
                push.append(-h + dot([row[c] for row in module.rows], own))
        push += [tau[j] - h for j, h in zip(series.between, between, strict=True)]
        Vd = solve_symmetric(_inertia(series, scene, x, modules), push)
        if space != "joint":
            return Result({"Vd": ((series.m,), Vd)}, record)
        parts, rest = series.split(Vd)
        qdd = dict(zip(series.between, rest, strict=True))
        for module, rates in zip(modules, parts, strict=True):
            own = module.platform.parallel.driven
            for (_, j), row in zip(own, module.rows, strict=True):
                qdd[j] = module.legs.qdd[j] + dot(row, rates)
        return Result({"qdd": ((mechanism.na,), [qdd[j] for j in mechanism.active])}, record)

    output = "qdd" if space == "joint" else "Vd"
    return _program(series, model, series.inputs(space, "tau"), output, page, effort)


def _inertia(
    series: Series, scene: Bodies, x: Arrays, modules: Sequence[_Moved]
) -> list[list[Scalar]]:
    """G^T A G: the inertia of the tree by the components of all twists."""
    moving = series.mechanism.coordinates.moving
    G: dict[int, list[Scalar]] = {}
    first = 0
    for module in modules:
        for j, row in module.gains().items():
            G[j] = [0] * first + row + [0] * (series.m - first - len(row))
        first += module.platform.m
    for k, j in enumerate(series.between):
        G[j] = [int(c == first + k) for c in range(series.m)]
    idle = series.mechanism.analysis.idle
    joints = [j for j in moving if j not in idle]
    A = inertia_model(formulated(scene), x["q"]).matrix(joints)
    columns = [[G[j][c] for j in joints] for c in range(series.m)]
    AG = [[dot(row, column) for row in A] for column in columns]
    inertia = [[0] * series.m for _ in range(series.m)]
    for r in range(series.m):
        for c in range(r + 1):
            inertia[r][c] = inertia[c][r] = dot(columns[r], AG[c])
    return inertia


def _program(
    series: Series, model: str, inputs: dict[str, tuple[int, ...]], output: str,
    page: Callable[[Bodies, Arrays], Result], effort: str,
) -> Program:  # fmt: skip
    mechanism = series.mechanism
    if mechanism.free:
        raise ModelError(
            f"'{model}' of '{mechanism.robot.name}': parallel modules in series hold their idle"
            " joints",
            remedy="leave out idle='free', or use 'inverse-dynamics' and 'direct-dynamics'",
        )
    return mechanism.program(
        model, inputs, [], mechanism.outputs(output), meaning=series.meaning(),
        search=(page, RECURSION), effort=effort,
    )  # fmt: skip
