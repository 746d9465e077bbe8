"""The robot as the algorithms see it: a tree of bodies whose constants are scalars of the run.

`bodies(robot, lookup)` evaluates every value of the description once; `lookup(name)` gives the
scalar of a free symbol (a traced parameter, a float, an array).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..algebra.inertia import congruence
from ..algebra.rotation import Rotation, X, Z, turn
from ..algebra.scalar import HALF, cos_sin, function
from ..algebra.vector import Mat, Vec, cross, zero
from ..describe.robot import MOTION, PRISMATIC, REVOLUTE, Base, Coupling, Joint, Link, Robot
from ..describe.values.expression import Value, evaluate
from ..errors import ModelError
from ..mechanism.tree import Tree
from .flexible.body import Elastic, elastic_of, rigid_part
from .flexible.shapes import Place

__all__ = ["Bodies", "Body", "Frame", "bodies"]

Scalar = Any


@dataclass(frozen=True)
class Frame:
    """iTj at one joint position: its rotation, and its translation in two parts.

    P = [d cos γ, d sin γ, b] stands in frame i, r along z_j: iPj = P + r iRj a. The part along
    z_j is kept apart because it is cheapest applied in frame j."""

    iRj: Rotation
    P: Vec
    r: Scalar

    @property
    def jRi(self) -> Rotation:
        return self.iRj.T

    @property
    def iPj(self) -> Vec:
        """Position of O_j in frame i."""
        along: Vec = self.iRj @ Vec(0, 0, self.r)
        return self.P + along

    def wrench(self, f: Vec, n: Vec, slide: bool = False) -> tuple[Vec, Vec]:
        """jT_i^T (f; n): a wrench about O_j in frame j, about O_i in frame i, [K10] (25).

        `slide`: the part along z_j is applied in frame j."""
        if slide:
            n = n + cross(Vec(0, 0, self.r), f)
        f = self.iRj @ f
        return f, self.iRj @ n + cross(self.P if slide else self.iPj, f)

    def motion(self, V: Vec, w: Vec, slide: bool = False) -> tuple[Vec, Vec]:
        """jT_i (V; w): a twist (or acceleration) of O_i at O_j, in frame j, [K10] (17)."""
        jw = self.jRi @ w
        if slide:
            return self.jRi @ (V + cross(w, self.P)) + cross(jw, Vec(0, 0, self.r)), jw
        return self.jRi @ (V + cross(w, self.iPj)), jw


@dataclass(frozen=True)
class Body:
    """Link j and the joint that carries it."""

    j: int
    i: int  # a(j)
    s: int  # σ: 1 for a prismatic joint
    sbar: int  # 1 for a revolute joint; both are 0 for a fixed frame
    gamma: Scalar
    b: Scalar
    alpha: Scalar
    d: Scalar
    theta: Scalar
    r: Scalar
    J: Mat
    MS: Vec
    M: Scalar
    IA: Scalar
    FV: Scalar
    FS: Scalar
    elastic: bool
    stiffness: Scalar
    rest: Scalar
    damping: Scalar
    f_e: Vec
    n_e: Vec
    phi: Scalar = 0  # angle about z_j from the frame described to this one (see reform)
    foot: Scalar = 0  # a mass on axis j at the foot of the common normal, P from O_i
    E: Vec | None = None  # diagonal of ∫ r r^T dm, when the moment is to be formed from it
    flexible: Elastic | None = None  # J, MS and M then include the undeformed flexible body
    place: Place | None = None  # shape functions of a flexible antecedent where joint j sits
    leader: int = 0  # the joint it follows: q_j = ratio q_leader + offset; 0: none
    ratio: Scalar = 0
    offset: Scalar = 0

    def elastic_torque(self, q: Scalar, qd: Scalar) -> Scalar:
        """Γ = -k (q - q0) - damping q̇ of an elastic joint, [K10] (69), (70)."""
        return -(self.stiffness * (q - self.rest)) - self.damping * qd

    def elastic_energy(self, q: Scalar) -> Scalar:
        """½ k (q - q0)² of an elastic joint."""
        stretch = q - self.rest
        return HALF * self.stiffness * stretch * stretch

    def rotated(self, R: Rotation) -> Body:
        """The same link in axes turned about z_j by R."""
        J, E = congruence(R, self.J), self.E
        if E is not None:  # E = ½ tr J - J turns the other way on the diagonal
            E = Vec(J[1, 1] - E[2], J[0, 0] - E[2], E[2])
        return replace(self, J=J, MS=R @ self.MS, E=E, f_e=R @ self.f_e, n_e=R @ self.n_e)

    def frame(self, q: Scalar) -> Frame:
        """iTj = Rot(z,γ) Tran(z,b) Rot(x,α) Tran(x,d) Rot(z,θ) Tran(z,r) at q_j = q, [K10] (1)."""
        cg, sg = cos_sin(self.gamma)
        angle, offset = (q, self.theta) if self.sbar else (self.theta, 0)
        return Frame(
            iRj=Rotation(_turns(self.gamma, self.alpha, angle, offset)),
            P=Vec(self.d * cg, self.d * sg, self.b),
            r=self.r + self.s * q,
        )


@dataclass(frozen=True)
class Bodies:
    """All bodies of a tree, its base and gravity (in frame 0)."""

    tree: Tree
    base: Body
    links: tuple[Body, ...]
    gravity: Vec
    w0: Vec
    wd0: Vec
    V0: Vec
    Vd0: Vec
    Z: tuple[Scalar, ...]
    unit: Scalar = 1  # of length, where it is not the described one (see reform)
    reformed: dict[Any, Bodies] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def elastic(self) -> tuple[int, ...]:
        """Links on elastic joints: their acceleration follows, it is not imposed."""
        return tuple(j for j in self.tree.moving if self.links[j - 1].elastic)

    @property
    def rigid(self) -> tuple[int, ...]:
        """Links on the other joints that move."""
        return tuple(j for j in self.tree.moving if not self.links[j - 1].elastic)

    @property
    def flexible(self) -> dict[int, Elastic]:
        """The flexible bodies, by link."""
        return {link.j: link.flexible for link in self.links if link.flexible is not None}

    def spread(self, values: Sequence[Scalar]) -> dict[int, Scalar]:
        """Joint values by link number: 0 for fixed frames."""
        if len(values) != len(self.tree.moving):
            raise ModelError(f"{len(values)} joint values for {len(self.tree.moving)} joints")
        found = dict.fromkeys(range(1, self.tree.nl + 1), 0)
        found.update(zip(self.tree.moving, values, strict=True))
        return found

    def moving_base(
        self, V0: Sequence[Scalar], g0: Sequence[Scalar], V0d: Sequence[Scalar] = (0,) * 6
    ) -> Bodies:
        """The same bodies on a base that moves with twist V0 under gravity g0, in frame 0.

        V0d: the acceleration of the origin of frame 0 and the angular one, where it is known."""
        return replace(
            self, V0=Vec(*V0[:3]), w0=Vec(*V0[3:]), Vd0=Vec(*V0d[:3]), wd0=Vec(*V0d[3:]),
            gravity=Vec(*g0),
        )  # fmt: skip

    def unloaded(self) -> Bodies:
        """The same bodies without external wrenches and friction."""

        def bare(body: Body) -> Body:
            return replace(body, f_e=zero, n_e=zero, FV=0, FS=0)

        return replace(self, base=bare(self.base), links=tuple(map(bare, self.links)))


def _turns(gamma: Scalar, alpha: Scalar, angle: Scalar, offset: Scalar) -> list[Any]:
    """Rot(z,γ) Rot(x,α) Rot(z, angle + offset); for α = 0 or π the two turns about z are one."""
    ca, sa = cos_sin(alpha)
    if isinstance(sa, int) and sa == 0:
        merged = offset + gamma if ca == 1 else offset - gamma
        return [(X, ca, sa), turn(Z, angle, merged)]
    return [turn(Z, gamma), (X, ca, sa), turn(Z, angle, offset)]


def bodies(robot: Robot, lookup: Callable[[str], Scalar]) -> Bodies:
    """The bodies of a robot over the scalars that `lookup` gives for its symbols."""

    def value(x: Value) -> Scalar:
        return evaluate(x, lookup, function)

    def vector(xs: Sequence[Value]) -> Vec:
        return Vec(*map(value, xs))

    fixed = Joint("base", -1, sigma=2)
    links: list[Body] = []
    for j, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True), 1):
        body = _body(j, joint, link, value)
        carrier = links[body.i - 1].flexible if body.i else None
        if carrier is not None:
            body = replace(body, place=carrier.at(body.frame(0).P))
        links.append(body)
    # the twist of a floating base is an input of the models that read it, not of the description
    base = robot.base if robot.base.kind == "mobile" else Base()
    w0, wd0, V0, Vd0 = (vector(getattr(base, key)) for key in MOTION)
    return Bodies(
        tree=Tree.of(robot),
        base=_body(0, fixed, robot.base.link, value),
        links=tuple(links),
        gravity=vector(robot.gravity),
        w0=w0, wd0=wd0, V0=V0, Vd0=Vd0,
        Z=tuple(map(value, robot.base.Z)),
    )


def _body(j: int, joint: Joint, link: Link, value: Callable[[Value], Scalar]) -> Body:
    def of(item: Joint | Link, *keys: str) -> list[Scalar]:
        return [value(getattr(item, key)) for key in keys]

    gamma, b, alpha, d, theta, r = of(joint, "gamma", "b", "alpha", "d", "theta", "r")
    IA, FV, FS = of(joint, "IA", "FV", "FS")
    flexible = None if link.flexible is None else elastic_of(link.flexible, value)
    M, MS, J = rigid_part(link, value, flexible)
    led = joint.mimic or Coupling(0, 0, 0)
    return Body(
        j=j,
        i=joint.antecedent,
        s=int(joint.sigma == PRISMATIC),
        sbar=int(joint.sigma == REVOLUTE),
        gamma=gamma, b=b, alpha=alpha, d=d, theta=theta, r=r,
        J=J, MS=MS, M=M,
        IA=IA, FV=FV, FS=FS,
        elastic=joint.elastic,
        stiffness=value(joint.stiffness), rest=value(joint.rest), damping=value(joint.damping),
        f_e=Vec(*of(link, "FX", "FY", "FZ")),
        n_e=Vec(*of(link, "CX", "CY", "CZ")),
        flexible=flexible,
        leader=led.joint, ratio=value(led.ratio), offset=value(led.offset),
    )  # fmt: skip
