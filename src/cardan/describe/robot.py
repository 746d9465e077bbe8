"""`Robot`: what the user wrote, as frozen data with exact values and no mechanics.

Geometry is Khalil's modified Denavit-Hartenberg notation ([KC97] 2.1, [K10] 2): frame j is placed
on its antecedent i = a(j) by

    iTj = Rot(z, gamma) Tran(z, b) Rot(x, alpha) Tran(x, d) Rot(z, theta) Tran(z, r)

The joint variable q_j is added to theta_j (sigma 0, revolute) or r_j (sigma 1, prismatic); what
those two fields hold is the constant part, the offset. Frames are numbered from 1 in file order;
0 is the base. Joint j carries link j. With B loops on n links, the cut joint of loop k is frame n+k
and its twin, fixed on the other link, is frame n+B+k; an antecedent may be any earlier frame.

Formats that place frames freely have frames of their own beside Khalil's (`Frame`): a name means
the file's frame where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..arguments import named_arguments
from ..errors import InputError, UnknownNameError
from ..exact import Exact
from .interactions import Interaction, parameters
from .values.expression import Expression, Value, number, substitute, symbols

GEOMETRY = ("gamma", "b", "alpha", "d", "theta", "r")
INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
WRENCH = ("FX", "FY", "FZ", "CX", "CY", "CZ")
DRIVE = ("IA", "FV", "FS")
FRICTION = ("FV", "FS", "FQ", "FVA", "FSA", "FB", "FO", "VB", "VS")
SPRING = ("spring", "neutral")
FURTHER = (*FRICTION[2:], *SPRING)  # of a drive, beside IA FV FS
MOTION = ("W0", "WP0", "V0", "VP0")
IDENTITY_4: tuple[Value, ...] = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)

REVOLUTE, PRISMATIC, FIXED = 0, 1, 2
COMPOUND = ("cylindrical", "universal", "spherical")  # cut joints of more than one freedom


SLIPS = ("", "along", "across")  # directions in which a wheel may slip


def _short(item: Any) -> str:
    """A dataclass with the fields alone that differ from their defaults; formulas as text."""
    parts = [
        f"{f.name}={_spelled(getattr(item, f.name))}"
        for f in fields(item)
        if f.default is MISSING or getattr(item, f.name) != f.default
    ]
    return f"{type(item).__name__}({', '.join(parts)})"


def _spelled(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_spelled, value))}{',' if len(value) == 1 else ''})"
    return str(value) if isinstance(value, Exact | Expression) else repr(value)


@dataclass(frozen=True, repr=False)
class Limits:
    """Limits of a joint; None where the file says nothing. rad or m, per second, N m or N."""

    lower: Value | None = None
    upper: Value | None = None
    velocity: Value | None = None
    effort: Value | None = None

    __repr__ = _short


@dataclass(frozen=True, repr=False)
class Motor:
    """What a drive can do, seen at its joint behind the gear, for torques and sizing: numbers that
    no model feels. N m or N, rad/s or m/s."""

    rated: Value | None = None  # torque that it bears for ever: the root mean square stays below
    curve: tuple[tuple[Value, Value], ...] = ()  # (speed, greatest torque), speeds rising
    efficiency: Value = 1  # of the gear: what is lost between the rotor, IA, and the load
    cogging: tuple[Value, ...] = ()  # (amplitude, waves per rad or m, phase): A sin(N q + phase)

    __repr__ = _short


@dataclass(frozen=True, repr=False)
class Coupling:
    """A joint that another one leads, by gears, a belt or a tendon: q_j = ratio q_k + offset; or
    several, as what holds a wrist level: each adds its ratio times its position."""

    joint: int  # k, the number of the joint that leads
    ratio: Value = 1
    offset: Value = 0
    others: tuple[tuple[int, Value], ...] = ()  # further joints that lead, and their ratios

    @property
    def leaders(self) -> tuple[tuple[int, Value], ...]:
        """The joints that lead, and their ratios."""
        return ((self.joint, self.ratio), *self.others)

    __repr__ = _short


@dataclass(frozen=True, repr=False)
class Joint:
    """Frame j: how it sits on its antecedent, what kind of joint moves it, and its drive.

    >>> robot = cardan.load("planar2r")
    >>> robot.joints[1]
    Joint(name='joint2', antecedent=1, d=L1, FV=FV2)
    >>> robot.joints[1].d
    L1"""

    name: str
    antecedent: int
    sigma: int = REVOLUTE
    gamma: Value = 0
    b: Value = 0
    alpha: Value = 0
    d: Value = 0
    theta: Value = 0
    r: Value = 0
    variable: str = ""  # the name the file gives q_j; "" for the default q<j>
    active: bool = True  # mu
    IA: Value = 0  # rotor inertia seen at the joint
    FV: Value = 0  # viscous friction
    FS: Value = 0  # Coulomb friction
    elastic: bool = False  # eta
    stiffness: Value = 0  # k
    rest: Value = 0  # q0: the position without elastic force
    damping: Value = 0
    FQ: Value = 0  # drag that grows with the square of the velocity
    FVA: Value = 0  # FV is FV + FVA forwards, FV - FVA backwards
    FSA: Value = 0  # FS alike
    FB: Value = 0  # to break loose, above FS: Stribeck
    FO: Value = 0  # a torque that does not depend on the motion
    VB: Value = 0  # the velocity beyond which FB is gone
    VS: Value = 0  # the width in which Coulomb friction turns from -FS to FS; 0: it jumps
    spring: Value = 0  # stiffness of a spring beside the motor
    neutral: Value = 0  # its position without force
    home: Value | None = None  # where pictures and simulations find it; None: not said
    mimic: Coupling | None = None  # the joint it follows
    limits: Limits = Limits()
    motor: Motor | None = None
    symbols: tuple[Value, ...] = ()  # QP QDP GAM, where a .par file does not name them QP<j> ...

    __repr__ = _short


@dataclass(frozen=True, repr=False)
class Link:
    """Inertial parameters about the origin of frame j; the wrench exerted on the environment.

    >>> robot = cardan.load("planar2r")
    >>> robot.links[0].ZZ, robot.links[0].M
    (ZZ1, M1)
    >>> cardan.Link("rod", M=1, MX=0.5)
    Link(name='rod', MX=0.5, M=1)"""

    name: str
    XX: Value = 0
    XY: Value = 0
    XZ: Value = 0
    YY: Value = 0
    YZ: Value = 0
    ZZ: Value = 0
    MX: Value = 0
    MY: Value = 0
    MZ: Value = 0
    M: Value = 0
    FX: Value = 0
    FY: Value = 0
    FZ: Value = 0
    CX: Value = 0
    CY: Value = 0
    CZ: Value = 0
    flexible: Any = None  # a Beam or an ElasticBody, where the link deforms

    __repr__ = _short


@dataclass(frozen=True, repr=False)
class Loop:
    """A closed loop: the cut joint k, and frame k+B on the other link, which coincides with it.

    kind: "" where the cut joint is what its sigma says; a `COMPOUND` joint has sigma 2, its frames
    share their origin (cylindrical: lie on one z axis) and turn against each other."""

    name: str
    cut: Joint
    twin: Joint
    kind: str = ""

    __repr__ = _short


@dataclass(frozen=True, repr=False)
class Wheel:
    """A wheel that rolls on a plane without slipping: its axis is z of its link's frame, its centre
    the origin; the joint of the link turns it.

    The point of the wheel on the ground, radius below its centre, has no velocity along the way
    that the wheel heads (z × normal) and none across it (z). It may slip along, as a blade does, or
    across, as a wheel with rollers on its rim."""

    name: str
    link: int
    radius: Value
    normal: tuple[Value, ...] = (0, 0, 1)  # of the ground, in frame 0; of length 1
    slip: str = ""  # of SLIPS

    __repr__ = _short


@dataclass(frozen=True, repr=False)
class Drive:
    """A motor that several joints turn, as in a coupled wrist: its position is x = Σ ratio q_j.

    Its rotor and friction, seen at x, load each of these joints with its ratio times the torque
    IA xdd + f(xd), beside what `Joint` has of its own. In names of parameters its number follows
    those of the frames.

    >>> cardan.Drive("motor6", ((5, 1), (6, 1)), IA=0.01, FV=0.6)
    Drive(name='motor6', joints=((5, 1), (6, 1)), IA=0.01, FV=0.6)"""

    name: str
    joints: tuple[tuple[int, Value], ...]  # numbers of joints that move, and their ratios
    IA: Value = 0
    FV: Value = 0
    FS: Value = 0
    FQ: Value = 0
    FVA: Value = 0
    FSA: Value = 0
    FB: Value = 0
    FO: Value = 0
    VB: Value = 0
    VS: Value = 0

    __repr__ = _short


def _moves(value: object) -> bool:
    """Is this component of a motion not zero? A symbol may be anything."""
    if isinstance(value, Expression) and not symbols(value):
        return number(value) != 0
    return bool(value != 0)


@dataclass(frozen=True, repr=False)
class Frame:
    """A frame that the file names, at rest on link j (0: the base): where a tool or a sensor sits,
    or the frame in which a URDF or MJCF file describes the link itself.

    Its placement in Khalil's frame j is jTE = Tran(xyz) Rot(z, yaw) Rot(y, pitch) Rot(x, roll)."""

    name: str
    link: int
    xyz: tuple[Value, ...] = (0, 0, 0)
    rpy: tuple[Value, ...] = (0, 0, 0)
    kind: str = "frame"  # what it is in its file: "link", "fixed link", "body", "site" ...

    @property
    def at_link(self) -> bool:
        """Is it Khalil's frame of its link?"""
        return not any(isinstance(x, Expression) or x != 0 for x in (*self.xyz, *self.rpy))

    __repr__ = _short


@dataclass(frozen=True, repr=False)
class Base:
    """Link 0: 'fixed'; 'mobile', moving as W0 WP0 V0 VP0 say; 'floating', unknown acceleration.

    A base whose motion is not zero is no fixed one, whatever it is called: its kind is 'mobile',
    so that every model takes the motion or refuses it. Readers of files say so.

    >>> cardan.load("ur5").base.kind
    'fixed'
    >>> cardan.Base(V0=(1, 0, 0)).kind
    'mobile'"""

    kind: str = "fixed"
    Z: tuple[Value, ...] = IDENTITY_4  # placement of frame 0 in the world, 4x4 row by row
    W0: tuple[Value, ...] = (0, 0, 0)
    WP0: tuple[Value, ...] = (0, 0, 0)
    V0: tuple[Value, ...] = (0, 0, 0)
    VP0: tuple[Value, ...] = (0, 0, 0)
    link: Link = Link("base")
    drive: tuple[Value, ...] = (0, 0, 0)  # IA FV FS of link 0: kept only to be written back

    def __post_init__(self) -> None:
        if self.kind == "fixed" and self.motion:
            object.__setattr__(self, "kind", "mobile")

    @property
    def motion(self) -> tuple[str, ...]:
        """Which of W0 WP0 V0 VP0 are not zero.

        >>> cardan.Base(V0=(1, 0, 0)).motion
        ('V0',)"""
        return tuple(key for key in MOTION if any(map(_moves, getattr(self, key))))

    __repr__ = _short


@dataclass(frozen=True)
class Robot:
    """A robot as described: links with their joints, loops, base and gravity (in frame 0).

    >>> robot = cardan.load("scara")
    >>> robot.name, robot.n, len(robot.links)
    ('SCARA', 4, 4)
    >>> [joint.name for joint in robot.joints]
    ['joint1', 'joint2', 'joint3', 'joint4']"""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    loops: tuple[Loop, ...] = ()
    base: Base = field(default_factory=Base)
    gravity: tuple[Value, ...] = (0, 0, 0)
    source: str = ""  # where the description comes from
    notes: str = ""
    frames: tuple[Frame, ...] = ()  # the frames that names mean; else a link's name is Khalil's
    end_effector: str = ""  # the frame meant when none is named; "": the end of the longest path
    wheels: tuple[Wheel, ...] = ()  # that roll without slipping
    interactions: tuple[Interaction, ...] = ()  # with ground and fluid, in simulations
    drives: tuple[Drive, ...] = ()  # motors that several joints turn

    @property
    def n(self) -> int:
        """Number of joint variables of the tree (fixed frames carry none).

        >>> cardan.load("ur5").n
        6"""
        return sum(joint.sigma != FIXED for joint in self.joints)

    @property
    def ne(self) -> int:
        """Number of elastic coordinates of the flexible links; they follow the joints in q.

        >>> cardan.load("ur5").ne, cardan.load("flexible2r").ne
        (0, 6)"""
        return sum(link.flexible.coordinates for link in self.links if link.flexible)

    @property
    def numbered(self) -> tuple[Joint, ...]:
        """Every frame by its number, from 1: joints of the tree, cut joints, their twins.

        >>> [frame.name for frame in cardan.load("planar2r").numbered]
        ['joint1', 'joint2']"""
        ends = zip(*((loop.cut, loop.twin) for loop in self.loops), strict=True)
        return (*self.joints, *(frame for side in ends for frame in side))

    @property
    def couplings(self) -> dict[int, Coupling]:
        """The joints that follow another one, by number.

        >>> led = {"mimic": {"joint": "joint1", "ratio": -2}}
        >>> cardan.load({"name": "gears", "link": [{}, led]}).couplings
        {2: Coupling(joint=1, ratio=-2)}"""
        return {j: joint.mimic for j, joint in enumerate(self.joints, 1) if joint.mimic}

    @property
    def driving(self) -> dict[int, Drive]:
        """The motors that several joints turn, by the number in the names of their parameters.

        >>> cardan.load("ur5").driving
        {}"""
        first = len(self.joints) + 2 * len(self.loops) + 1
        return dict(enumerate(self.drives, first))

    @property
    def constrained(self) -> bool:
        """Are joints tied to each other, by loops, couplings or wheels?

        >>> cardan.load("ur5").constrained, cardan.load("delta").constrained
        (False, True)"""
        return bool(self.loops or self.couplings or self.wheels)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the joint variables, as the file writes them, in link order.

        >>> cardan.load("planar2r").variables
        ('q1', 'q2')"""
        return tuple(
            joint.variable or f"q{j}"
            for j, joint in enumerate(self.joints, 1)
            if joint.sigma != FIXED
        )

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the free symbols, in the order that `p` has in every model of this robot.

        It is that of `values`: geometry link by link, inertia and drive link by link, the wrenches
        on the links, the base, gravity, frames; a symbol stands where it first appears.

        >>> cardan.load("planar2r").parameters
        ('L1', 'ZZ1', 'MX1', 'MY1', 'M1', 'FV1', 'ZZ2', 'MX2', 'MY2', 'M2', 'FV2', 'G')"""
        names = (name for value in self.values() for name in symbols(value))
        return tuple(dict.fromkeys(names))

    def values(self) -> Iterator[Value]:
        """Every value a model may depend on, in the order of `parameters`.

        >>> [str(value) for value in cardan.load("planar2r").values() if value != 0][:4]
        ['L1', 'ZZ1', 'MX1', 'MY1']"""
        for joint in self.numbered:
            yield from (getattr(joint, key) for key in GEOMETRY)
        for coupling in self.couplings.values():
            yield from (coupling.ratio, coupling.offset, *(ratio for _, ratio in coupling.others))
        for wheel in self.wheels:
            yield from (wheel.radius, *wheel.normal)
        yield from (getattr(self.base.link, key) for key in INERTIA)
        # as many joints as links, or `check` says so: it looks at the values too
        for joint, link in zip(self.joints, self.links, strict=False):
            yield from (getattr(link, key) for key in INERTIA)
            yield from (getattr(joint, key) for key in (*DRIVE, "stiffness", "rest", "damping"))
            yield from (getattr(joint, key) for key in FURTHER)
            if link.flexible is not None:
                yield from link.flexible.values()
        for loop in self.loops:
            yield from (getattr(loop.cut, key) for key in (*DRIVE, *FURTHER))
        for drive in self.drives:
            yield from (ratio for _, ratio in drive.joints)
            yield from (getattr(drive, key) for key in ("IA", *FRICTION))
        for link in (self.base.link, *self.links):
            yield from (getattr(link, key) for key in WRENCH)
        base = self.base
        yield from (*base.W0, *base.WP0, *base.V0, *base.VP0, *base.Z, *self.gravity)
        for frame in self.frames:
            yield from (*frame.xyz, *frame.rpy)
        for item in self.interactions:
            yield from (value for _, value in parameters(item))

    def tree(self) -> Robot:
        """The equivalent tree structure: the same robot with its loops cut open, its couplings
        undone, its wheels off the ground.

        >>> robot = cardan.load("fivebar")
        >>> len(robot.loops), len(robot.tree().loops)
        (1, 0)"""
        joints = tuple(replace(x, mimic=None) if x.mimic else x for x in self.joints)
        return replace(self, loops=(), joints=joints, wheels=())

    @named_arguments
    def with_values(self, values: Mapping[str, Any]) -> Robot:
        """The robot with other values: numbers, or formulas as text.

        A name is that of a symbol (`parameters`), or of a field that holds a number: the key and
        the number of its link, joint or frame, as in M3, d2, alpha4, FV1, upper2; gravity is G1,
        G2, G3, as for models with symbolic=True.

        >>> robot = cardan.load("planar2r").with_values({"L1": 0.5, "M2": "3/2"})
        >>> robot.joints[1].d, robot.links[1].M
        (0.5, 1.5)"""
        from .check import require_sound
        from .values.parser import to_value

        free = self.parameters
        if not all(name in free for name in values):
            self._require_fields([name for name in values if name not in free])
        table = {name: to_value(value) for name, value in values.items()}
        changed: Robot = _map_values(self, lambda value: substitute(value, table))
        own = {name: value for name, value in table.items() if name not in free}
        if own:
            changed = _map_fields(changed, lambda name, value: own.get(name, value))
        require_sound(changed)
        return changed

    def _require_fields(self, names: Iterable[str]) -> None:
        """Each is the name of a field that holds a number."""
        held: dict[str, Value | None] = {}
        _map_fields(self, held.setdefault)
        for name in names:
            if name not in held:
                told = [key for key, value in held.items() if value is not None and value != 0]
                known = [*self.parameters, *told, *(key for key in held if key not in told)]
                raise UnknownNameError.of(f"parameter of robot '{self.name}'", name, known)
            value = held[name]
            if isinstance(value, Expression) and symbols(value):
                raise InputError(
                    f"{name} of robot '{self.name}' is the formula {value}",
                    remedy=f"give its symbols values: {', '.join(symbols(value))}",
                )

    @named_arguments
    def save(self, path: str | Path) -> None:
        """Write the description; the extension chooses the format (.toml .par .urdf).

        >>> cardan.load("ur5").save("ur5.urdf")
        >>> cardan.load("ur5.urdf").n
        6"""
        from .files import save

        save(self, path)

    def __repr__(self) -> str:
        from .show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .show import as_html

        return as_html(self)

    def _repr_latex_(self) -> str:
        from .show import as_latex

        return as_latex(self)


def _map_fields(robot: Robot, change: Callable[[str, Any], Any]) -> Robot:
    """The robot with every field that has a name (M3, d2, G3) changed: change(name, value)."""

    def item(x: Any, j: int) -> Any:
        keys = [f.name for f in fields(x) if str(f.type).startswith("Value")]
        return replace(x, **{key: change(f"{key}{j}", getattr(x, key)) for key in keys})

    def joint(j: int, x: Joint) -> Joint:
        led = item(x.mimic, j) if x.mimic else None
        changed: Joint = replace(item(x, j), limits=item(x.limits, j), mimic=led)
        return changed

    def link(j: int, x: Link) -> Link:
        bent = item(x.flexible, j) if x.flexible else None
        changed: Link = replace(item(x, j), flexible=bent)
        return changed

    n, B = len(robot.joints), len(robot.loops)
    return replace(
        robot,
        links=tuple(link(j, x) for j, x in enumerate(robot.links, 1)),
        joints=tuple(joint(j, x) for j, x in enumerate(robot.joints, 1)),
        loops=tuple(
            replace(x, cut=joint(n + k, x.cut), twin=joint(n + B + k, x.twin))
            for k, x in enumerate(robot.loops, 1)
        ),
        base=replace(robot.base, link=link(0, robot.base.link)),
        wheels=tuple(item(x, x.link) for x in robot.wheels),
        drives=tuple(item(x, j) for j, x in robot.driving.items()),
        gravity=tuple(change(f"G{k}", x) for k, x in enumerate(robot.gravity, 1)),
    )


def _map_values(item: Any, change: Any) -> Any:
    """A dataclass, or a tuple, with every Value in it changed."""
    if isinstance(item, tuple):
        return tuple(_map_values(part, change) for part in item)
    if hasattr(item, "__dataclass_fields__"):
        return replace(
            item, **{f.name: _map_values(getattr(item, f.name), change) for f in fields(item)}
        )
    if item is None or isinstance(item, str | bool):
        return item
    return change(item)
