"""The robot as the algorithms see it: a tree of bodies whose constants are scalars of the run.

`bodies(robot, lookup)` evaluates every value of the description once; `lookup(name)` gives the
scalar of a free symbol (a traced parameter, a float, an array).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from ..algebra.inertia import congruence
from ..algebra.rotation import Rotation, X, Z, turn
from ..algebra.scalar import HALF, cos_sin, function, is_zero, vanishes
from ..algebra.vector import Mat, Vec, zero
from ..describe.robot import FRICTION, MOTION, PRISMATIC, REVOLUTE, Base, Joint, Link, Robot
from ..describe.values.expression import Value, evaluate
from ..errors import ModelError
from ..mechanism.tree import Tree
from .flexible.body import Elastic, elastic_of, rigid_part
from .flexible.shapes import Place
from .frame import Frame, bent
from .friction import Friction

Scalar = Any


class Placement(NamedTuple):
    """Frame j on its antecedent i, by the parameters of [K10] (1), and its kind of joint."""

    j: int
    i: int
    s: int
    sbar: int
    gamma: Scalar
    b: Scalar
    alpha: Scalar
    d: Scalar
    theta: Scalar
    r: Scalar

    @property
    def normal(self) -> Vec:
        """Where the common normal of axes i and j meets axis j: [d cos γ, d sin γ, b] from O_i."""
        cg, sg = cos_sin(self.gamma)
        return Vec(self.d * cg, self.d * sg, self.b)


@dataclass(frozen=True, eq=False)
class Body:
    """Link j and the joint that carries it."""

    j: int
    i: int  # a(j)
    joint: int  # the joint that moves frame j on its antecedent; 0: none, it is fixed
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
    rubs: Friction
    elastic: bool
    stiffness: Scalar
    rest: Scalar
    damping: Scalar
    spring: Scalar  # beside the motor
    neutral: Scalar
    f_e: Vec
    n_e: Vec
    flexible: Elastic | None = None  # J, MS and M then include the undeformed flexible body
    place: Place | None = None  # shape functions of a flexible antecedent where joint j sits
    leaders: tuple[tuple[int, Scalar], ...] = ()  # joints it follows, and ratios: q_j is their sum
    offset: Scalar = 0  # plus this
    turned: Rotation = Rotation([])  # noqa: RUF009  from frame j to the axes of the computation

    def friction(self, qd: Scalar) -> Scalar:
        """FS sign(q̇) + FV q̇, and what else the joint's law has."""
        return self.rubs.torque(qd)

    def spring_torque(self, q: Scalar) -> Scalar:
        """K (q - q0) that the motor needs against a spring beside it, [B23] (3.10)."""
        return self.spring * (q - self.neutral) if not vanishes(self.spring) else 0

    def elastic_torque(self, q: Scalar, qd: Scalar) -> Scalar:
        """Γ = -k (q - q0) - damping q̇ of an elastic joint, [K10] (69), (70)."""
        return -(self.stiffness * (q - self.rest)) - self.damping * qd

    def elastic_energy(self, q: Scalar) -> Scalar:
        """½ k (q - q0)² of an elastic joint, or of the spring beside a motor."""
        k, rest = (self.stiffness, self.rest) if self.elastic else (self.spring, self.neutral)
        stretch = q - rest
        return HALF * k * stretch * stretch

    def rotated(self, R: Rotation) -> Body:
        """The link in axes turned about z_j by R."""
        return replace(
            self, J=congruence(R, self.J), MS=R @ self.MS, f_e=R @ self.f_e, n_e=R @ self.n_e,
            turned=R @ self.turned,
        )  # fmt: skip

    @cached_property
    def placement(self) -> Placement:
        return Placement(
            self.j, self.i, self.s, self.sbar,
            self.gamma, self.b, self.alpha, self.d, self.theta, self.r,
        )  # fmt: skip

    @property
    def normal(self) -> Vec:
        """Where the common normal of axes i and j meets axis j, from O_i."""
        return self.placement.normal

    def frame(self, q: Scalar, qe: Sequence[Scalar] = ()) -> Frame:
        """iTj = Rot(z,γ) Tran(z,b) Rot(x,α) Tran(x,d) Rot(z,θ) Tran(z,r) at q_j = q, [K10] (1).

        qe: elastic coordinates of a flexible antecedent."""
        angle, offset = (q, self.theta) if self.sbar else (self.theta, 0)
        iRj = Rotation(_turns(self.gamma, self.alpha, angle, offset))
        along: Vec = iRj @ Vec(0, 0, self.r + self.s * q)
        _, C, S = iRj.turns[-1]
        T = Frame(iRj, self.normal + along, trig=((str(self.j), C, S),) if self.sbar else ())
        if self.place is None:
            return T
        flat = (angle, offset + self.gamma) if is_zero(self.alpha) else None
        return replace(bent(T, self.place, qe, flat), trig=T.trig)


@dataclass(frozen=True)
class ByLink:
    """A vector of the robot by joints (0 where fixed) and by links (empty where rigid)."""

    joint: dict[int, Scalar]
    elastic: defaultdict[int, list[Scalar]]


Placed = list[tuple[Body, Frame]]


@dataclass(frozen=True)
class Rolling:
    """A wheel of link j on the ground, whose normal is given in frame 0."""

    j: int
    radius: Scalar
    normal: Vec
    slip: str


@dataclass(frozen=True)
class Shared:
    """A motor that several joints turn, by link: the row of its position; its number in names."""

    j: int
    row: dict[int, Scalar]
    IA: Scalar
    rubs: Friction


def cosines(placed: Placed) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
    """(C, S) of the angles that the frames turn by, named by joint or sum of joints: C2, S23."""
    trig = [angle for _, T in placed for angle in T.trig]
    return {k: C for k, C, _ in trig}, {k: S for k, _, S in trig}


def computed(step: Callable[..., Any], *values: Any) -> Any:
    """What a step gives for these values."""
    return step(*values)


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
    wheels: tuple[Rolling, ...] = ()
    drives: tuple[Shared, ...] = ()
    formulation: Any = None  # how it is to be written for fewer operations (see formulate)
    posture: Callable[[Bodies, ByLink], Placed] | None = None  # other axes to be computed in
    recall: Callable[..., Any] = field(default=computed, compare=False, repr=False)  # or as before
    remembered: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

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

    def at(self, q: Sequence[Scalar]) -> Placed:
        """Every link with its frame on its antecedent, from the base to the tips."""
        here = self.split(q)
        if self.posture is not None:
            return self.posture(self, here)
        return [
            (link, self.recall(Body.frame, link, here.joint[link.j], tuple(here.elastic[link.i])))
            for link in self.links
        ]

    def split(self, values: Sequence[Scalar]) -> ByLink:
        """A vector over the joints, then over the elastic coordinates link by link."""
        n = len(self.tree.moving)
        sizes = {j: elastic.N for j, elastic in self.flexible.items()}
        if len(values) != n + sum(sizes.values()):
            raise ModelError(
                f"{len(values)} coordinates for {n} joints and {sum(sizes.values())} elastic ones"
            )
        rest, elastic = list(values[n:]), defaultdict[int, list[Scalar]](list)
        for j, size in sizes.items():
            elastic[j], rest = rest[:size], rest[size:]
        return ByLink(self.spread(values[:n]), elastic)

    def spread(self, values: Sequence[Scalar]) -> dict[int, Scalar]:
        """Joint values by link number: 0 for fixed frames."""
        if len(values) != len(self.tree.moving):
            raise ModelError(f"{len(values)} joint values for {len(self.tree.moving)} joints")
        by_link = dict.fromkeys(range(self.tree.nl + 1), 0)
        by_link.update(zip(self.tree.moving, values, strict=True))
        return by_link

    def written(self, formulation: Any) -> Bodies:
        """The robot to be written so; what it remembers of its formulations goes along."""
        robot = replace(self, formulation=formulation)
        object.__setattr__(robot, "remembered", self.remembered)
        return robot

    def moving_base(
        self, V0: Sequence[Scalar], g0: Sequence[Scalar], V0d: Sequence[Scalar] = (0,) * 6
    ) -> Bodies:
        """The bodies on a base that moves with twist V0 under gravity g0, in frame 0.

        V0d: the acceleration of the origin of frame 0 and the angular one, where it is known."""
        return replace(
            self, V0=Vec(*V0[:3]), w0=Vec(*V0[3:]), Vd0=Vec(*V0d[:3]), wd0=Vec(*V0d[3:]),
            gravity=Vec(*g0),
        )  # fmt: skip

    def unloaded(self, springs: bool = False) -> Bodies:
        """The bodies without external wrenches and friction, and without the springs beside their
        motors, if these are not wanted."""

        def bare(body: Body) -> Body:
            own: Any = {} if springs else {"spring": 0, "neutral": 0}
            return replace(body, f_e=zero, n_e=zero, rubs=body.rubs.frictionless(), **own)

        drives = tuple(replace(x, rubs=x.rubs.frictionless()) for x in self.drives)
        links = tuple(map(bare, self.links))
        return replace(self, base=bare(self.base), links=links, drives=drives)

    def loaded(self, wrenches: Mapping[int, tuple[Vec, Vec]]) -> Bodies:
        """The bodies under further wrenches (force, moment) of links on the environment, in the
        frames described; 0 is the base."""
        if not wrenches:
            return self

        def under(body: Body) -> Body:
            f, n = wrenches.get(body.j, (zero, zero))
            return replace(body, f_e=body.f_e + f, n_e=body.n_e + n)

        return replace(self, base=under(self.base), links=tuple(map(under, self.links)))


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
            body = replace(body, place=carrier.at(body.normal))
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
        wheels=tuple(
            Rolling(x.link, value(x.radius), vector(x.normal), x.slip) for x in robot.wheels
        ),
        drives=tuple(
            Shared(
                j, {i: value(ratio) for i, ratio in x.joints}, value(x.IA),
                Friction(*(value(getattr(x, key)) for key in FRICTION)),
            )
            for j, x in robot.driving.items()
        ),
    )


def _body(j: int, joint: Joint, link: Link, value: Callable[[Value], Scalar]) -> Body:
    def of(item: Joint | Link, *keys: str) -> list[Scalar]:
        return [value(getattr(item, key)) for key in keys]

    gamma, b, alpha, d, theta, r = of(joint, "gamma", "b", "alpha", "d", "theta", "r")
    flexible = None if link.flexible is None else elastic_of(link.flexible, value)
    M, MS, J = rigid_part(link, value, flexible)
    led = joint.mimic
    return Body(
        j=j,
        i=joint.antecedent,
        joint=j if joint.sigma in (PRISMATIC, REVOLUTE) else 0,
        s=int(joint.sigma == PRISMATIC),
        sbar=int(joint.sigma == REVOLUTE),
        gamma=gamma, b=b, alpha=alpha, d=d, theta=theta, r=r,
        J=J, MS=MS, M=M,
        IA=value(joint.IA),
        rubs=Friction(*of(joint, *FRICTION)),
        elastic=joint.elastic,
        stiffness=value(joint.stiffness), rest=value(joint.rest), damping=value(joint.damping),
        spring=value(joint.spring), neutral=value(joint.neutral),
        f_e=Vec(*of(link, "FX", "FY", "FZ")),
        n_e=Vec(*of(link, "CX", "CY", "CZ")),
        flexible=flexible,
        leaders=tuple((k, value(ratio)) for k, ratio in led.leaders) if led else (),
        offset=value(led.offset) if led else 0,
    )  # fmt: skip
