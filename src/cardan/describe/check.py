"""Faults of a robot that any format can have: every one of them at once, with the link they are in.

Readers say where a value stands, so that a fault points at the line: `line(key, frame)` is the line
of that field of that frame (0 the base, 1.. the frames), or 0 where a format has no lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise

from ..errors import DescriptionError, Fault
from ..exact import Exact
from .couplings import coupling_faults
from .flexible import flexible_faults
from .interactions import interaction_faults, parameters
from .robot import (
    COMPOUND,
    DRIVE,
    FIXED,
    FRICTION,
    FURTHER,
    GEOMETRY,
    INERTIA,
    MOTION,
    PRISMATIC,
    REVOLUTE,
    SLIPS,
    WRENCH,
    Base,
    Joint,
    Link,
    Loop,
    Robot,
)
from .values.expression import Expression, number, symbol, symbols
from .values.parser import is_name

Line = Callable[[str, int], int]
LARGEST_NAME = 200
_EXTREME = 1e60  # products of several are computed
_LIMITS = ("lower", "upper", "velocity", "effort")  # compared, never multiplied
UNREAD = symbol("unread")  # stands for a value that a reader could not read
_TOLERANCE = 1e-6  # of the inertia's size: files round their numbers


def moving_base(base: Base) -> str:
    """What a reader warns of where a file calls a base fixed that it lets move."""
    return (
        f"the base is called fixed, but it moves ({', '.join(base.motion)} not zero): it is taken"
        " as mobile, and models that have no such base refuse it; write mobile, or zeros"
    )


def require_sound(robot: Robot) -> None:
    """Raise every error of a robot that was made or changed in Python."""
    if len(robot.links) != len(robot.joints):
        raise DescriptionError(
            f"'{robot.name}' has {len(robot.links)} links and {len(robot.joints)} joints; every"
            " joint carries one link"
        )
    errors = [fault for fault in check(robot) if fault.severity == "error"]
    if errors:
        raise DescriptionError(errors)


def check(robot: Robot, file: str = "", line: Line = lambda key, frame: 0) -> list[Fault]:
    """Every fault of the robot, errors and warnings, in the order of its frames."""
    checker = _Checker(robot, file, line)
    checker.structure()
    for message, j in coupling_faults(robot):
        checker.report(message, "mimic", j)
    checker.names()
    checker.named_frames()
    checker.wheels()
    checker.shared_drives()
    checker.interactions()
    checker.values()
    checker.variables()
    checker.limits()
    checker.motors()
    checker.drives()
    checker.base()
    for j, link in enumerate([robot.base.link, *robot.links]):
        checker.inertia(j, link)
    checker.flexible()
    return checker.faults


def completed(
    robot: Robot | None, faults: list[Fault], file: str = "", line: Line = lambda key, frame: 0
) -> tuple[Robot | None, list[Fault]]:
    """The robot as a reader leaves it, or None where it has found an error, and every fault: the
    reader's own, and those of the rest of the robot.

    A value that could not be read is the symbol `UNREAD`, of which nothing is known, so that no
    fault follows from it; a warning of a link that has an error may follow from that."""
    wrong = {fault.link for fault in faults if fault.severity == "error"}
    if robot is None or (wrong and not robot.links):
        return None, faults
    more = [x for x in check(robot, file, line) if x.severity == "error" or x.link not in wrong]
    if not wrong:
        return robot, faults + more
    return None, sorted([*faults, *more], key=lambda fault: fault.line)


class _Checker:
    def __init__(self, robot: Robot, file: str, line: Line) -> None:
        self.robot = robot
        self.file = file
        self.line = line
        self.faults: list[Fault] = []
        # every frame by its number: the tree, the cut joints, their twins
        self.frames = [
            *robot.joints,
            *(loop.cut for loop in robot.loops),
            *(loop.twin for loop in robot.loops),
        ]

    def report(self, message: str, key: str = "", j: int = -1, severity: str = "error") -> None:
        where = self.line(key, j) if j >= 0 else 0
        self.faults.append(Fault(message, self.file, where, self.name(j), severity))

    def name(self, j: int) -> str:
        if j == 0:
            return self.robot.base.link.name
        if 0 < j <= len(self.robot.links):
            return self.robot.links[j - 1].name
        if not 0 < j <= len(self.frames):
            return ""
        loop = self.robot.loops[(j - len(self.robot.joints) - 1) % len(self.robot.loops)]
        return f"{self.frames[j - 1].name} of loop {loop.name}"

    def structure(self) -> None:
        robot = self.robot
        if not robot.links and robot.base.kind != "floating":  # a body that flies is a robot
            self.report(
                "the robot has no link that moves: describe at least one joint, or a floating base"
            )
        if len(robot.links) != len(robot.joints):
            self.report(
                f"{len(robot.links)} links and {len(robot.joints)} joints; link j needs joint j"
            )
        n = len(robot.joints)
        for j, joint in enumerate(self.frames, 1):
            if joint.sigma not in (0, 1, 2):
                self.report(
                    f"sigma = {joint.sigma} is not a joint type (0 revolute, 1 prismatic, 2 fixed)",
                    "sigma",
                    j,
                )
            self.antecedent(j, joint, n)
        for k, loop in enumerate(robot.loops, 1):
            self.compound(n + k, loop)
            if loop.twin.sigma != FIXED:
                j = n + len(robot.loops) + k
                self.report(
                    "the second frame of a loop must be fixed (sigma 2) on its link; "
                    "put the cut joint into the first one",
                    "sigma",
                    j,
                )

    def compound(self, j: int, loop: Loop) -> None:
        if not loop.kind:
            return
        if loop.kind not in COMPOUND:
            allowed = ", ".join(COMPOUND)
            self.report(f"cut joint {loop.kind!r:.40}; allowed: {allowed}, or none", "joint", j)
        if loop.cut.sigma != FIXED or loop.cut.variable:
            self.report(f"a {loop.kind} cut joint has sigma 2 and no variable", "joint", j)
        drive = any(getattr(loop.cut, key) != 0 for key in (*DRIVE, *FURTHER))
        if drive or loop.cut.elastic:
            self.report(f"a {loop.kind} cut joint has no drive, friction or spring", "IA", j)

    def antecedent(self, j: int, joint: Joint, n: int) -> None:
        i = joint.antecedent
        last = len(self.frames) if j > n else n
        if not 0 <= i <= last:
            self.report(f"antecedent {i} does not exist; allowed: 0 to {j - 1}", "antecedent", j)
        elif i >= j:
            cyclic = " and closes a cycle" if self.leads_back(j) else ""
            self.report(
                f"antecedent {i} comes after its own frame {j}{cyclic}; number the links from the "
                f"base outwards, so that it is within 0 to {j - 1}",
                "antecedent",
                j,
            )

    def leads_back(self, j: int) -> bool:
        seen = set()
        while 0 < j <= len(self.frames) and j not in seen:
            seen.add(j)
            j = self.frames[j - 1].antecedent
        return j in seen

    def names(self) -> None:
        robot = self.robot
        links = [robot.base.link.name, *(link.name for link in robot.links)]
        joints = ["", *(joint.name for joint in self.frames)]
        for kind, key, names in (("link", "name", links), ("joint", "joint_name", joints)):
            for j, name in _repeated(names):
                self.report(f"{kind} name {name!r} is used twice; give each its own", key, j)
        loops = ["", *(loop.name for loop in robot.loops)]
        for k, name in _repeated(loops):
            j = len(robot.joints) + k
            self.report(f"loop name {name!r} is used twice; give each its own", "name", j)
        for name in dict.fromkeys([robot.name, *links, *joints[1:], *loops[1:]]):
            if not name or len(name) > LARGEST_NAME or not name.isprintable():
                self.report(
                    f"{name[:40]!r} cannot be a name; allowed: 1 to {LARGEST_NAME} printable "
                    "characters"
                )

    def named_frames(self) -> None:
        """Frames of the file: each name once, on a link that exists; a link's own name may only
        mean a frame of that link."""
        robot, n = self.robot, len(self.robot.links)
        names = [frame.name for frame in robot.frames]
        for _, name in _repeated(["", *names]):
            self.report(f"frame name {name!r} is used twice; give each its own")
        numbers = {link.name: j for j, link in enumerate([robot.base.link, *robot.links])}
        for frame in robot.frames:
            what = f"frame {frame.name[:40]!r}"
            if not frame.name or len(frame.name) > LARGEST_NAME or not frame.name.isprintable():
                self.report(
                    f"{frame.name[:40]!r} cannot be the name of a frame; allowed: 1 to"
                    f" {LARGEST_NAME} printable characters"
                )
            if not 0 <= frame.link <= n:
                self.report(f"{what} is on link {frame.link}, which does not exist: 0 to {n} do")
            elif numbers.get(frame.name, frame.link) != frame.link:
                self.report(
                    f"{what} is on link {frame.link}, but link {numbers[frame.name]} bears that"
                    " name; give the frame another"
                )
            if len(frame.xyz) != 3 or len(frame.rpy) != 3:
                self.report(f"{what}: xyz and rpy have three values each")
        end = robot.end_effector
        if end and end not in names and end not in numbers:
            self.report(f"the end effector {end!r:.60} is no frame and no link of the robot")

    def wheels(self) -> None:
        """Each on a link that turns on its joint, or slips along; with a radius."""
        n = len(self.robot.links)
        for _, name in _repeated(["", *(wheel.name for wheel in self.robot.wheels)]):
            self.report(f"wheel name {name!r:.40} is used twice; give each its own")
        for wheel in self.robot.wheels:
            what, radius = f"wheel {wheel.name[:40]!r}", _number(wheel.radius)
            if not 1 <= wheel.link <= n:
                self.report(f"{what} is on link {wheel.link}, which does not exist: 1 to {n} do")
            elif self.robot.joints[wheel.link - 1].sigma != REVOLUTE and wheel.slip != "along":
                self.report(
                    f"{what} does not turn: the joint of its link is not revolute; a blade that"
                    " does not has slip = 'along'"
                )
            if radius is not None and radius <= 0:
                self.report(f"{what}: radius = {wheel.radius}; expected a positive length")
            lengths = [_number(x) for x in wheel.normal]
            square = sum(x * x for x in lengths if x is not None)
            if len(lengths) != 3 or (None not in lengths and abs(square - 1) > 1e-9):
                self.report(f"{what}: normal = {wheel.normal}; expected three values of length 1")
            if wheel.slip not in SLIPS:
                self.report(f"{what}: slip = {wheel.slip!r:.40}; allowed: {', '.join(SLIPS[1:])}")
        if self.robot.wheels and self.robot.base.kind != "fixed":
            self.report(
                f"wheels on a {self.robot.base.kind} base; describe how the vehicle moves by joints"
                ' from a fixed one, as [platform] freedoms = ["x", "y", "rz"] does'
            )

    def shared_drives(self) -> None:
        """Each of several joints that move; where links or joints bend there is no such motor."""
        robot = self.robot
        for _, name in _repeated(["", *(drive.name for drive in robot.drives)]):
            self.report(f"drive name {name!r:.40} is used twice; give each its own")
        bends = robot.ne or any(joint.elastic for joint in robot.joints)
        for drive in robot.drives:
            what, numbers = f"drive {drive.name[:40]!r}", [j for j, _ in drive.joints]
            wrong = [j for j in numbers if not 1 <= j <= len(robot.joints)]
            fixed = [j for j in numbers if j not in wrong and robot.joints[j - 1].sigma == FIXED]
            if not numbers:
                self.report(f"{what} has no joints; give joint = [...] and ratio = [...]")
            elif wrong or fixed:
                self.report(f"{what}: joint {(wrong or fixed)[0]} does not exist or does not move")
            elif len(set(numbers)) < len(numbers):
                self.report(f"{what} names a joint twice; add up its ratios")
            elif bends:
                self.report(f"{what}: motors of several joints are for rigid links and joints")
            for key in ("VB", "VS"):
                width = _number(getattr(drive, key))
                if width is not None and width < 0:
                    self.report(f"{key} of {what} is {width:g}; a velocity's size is 0 or more")
            if drive.FB != 0 and drive.VB == 0:
                self.report(f"FB of {what} needs VB, the velocity beyond which it is gone")

    def interactions(self) -> None:
        for words in interaction_faults(self.robot.interactions, len(self.robot.links)):
            self.report(words)

    def values(self) -> None:
        for key, j, value in self.every_value():
            if isinstance(value, float) and math.isfinite(value):
                continue  # given in Python; files give exact numbers
            if isinstance(value, bool) or not isinstance(value, int | Exact | Expression):
                self.report(
                    f"{key} = {value!r} is no value; a finite number or a formula is", key, j
                )
            elif isinstance(value, Expression) and not symbols(value) and number(value) is None:
                self.report(f"{key} = {value} has no finite value; correct the formula", key, j)

    def drives(self) -> None:
        """Velocities of a friction law are widths; springs are of joints that have a motor."""
        n = len(self.robot.joints)
        for j, joint in enumerate(self.frames, 1):
            for key in ("VB", "VS"):
                width = number(getattr(joint, key))
                if width is not None and width < 0:
                    self.report(f"{key} = {width:g} is a velocity's size; 0 or more is", key, j)
            if joint.FB != 0 and joint.VB == 0:
                self.report("FB needs VB, the velocity beyond which it is gone", "FB", j)
            if joint.spring == 0:
                if joint.neutral != 0:
                    self.report("neutral belongs to a spring; give its stiffness", "neutral", j)
            elif joint.sigma == FIXED or j > n:
                what = "a fixed frame" if joint.sigma == FIXED else "a cut joint"
                self.report(f"{what} has no spring; give it to a joint that moves", "spring", j)
            elif joint.elastic:
                words = "an elastic joint has a stiffness: a spring beside it is part of that"
                self.report(words, "spring", j)

    def every_value(self) -> Iterator[tuple[str, int, object]]:
        base = self.robot.base
        for j, joint in enumerate(self.frames, 1):
            for key in (*GEOMETRY, *DRIVE, "stiffness", "rest", "damping", *FURTHER):
                yield key, j, getattr(joint, key)
            if joint.home is not None:
                yield "home", j, joint.home
            if joint.mimic is not None:
                yield from (("ratio", j, ratio) for _, ratio in joint.mimic.leaders)
                yield "offset", j, joint.mimic.offset
            for key in _LIMITS:
                if getattr(joint.limits, key) is not None:
                    yield key, j, getattr(joint.limits, key)
        for j, link in enumerate([base.link, *self.robot.links]):
            for key in (*INERTIA, *WRENCH):
                yield key, j, getattr(link, key)
        for key in (*MOTION, "Z"):
            for value in getattr(base, key):
                yield key, 0, value
        for value in self.robot.gravity:
            yield "gravity", 0, value
        for item in self.robot.interactions:
            for key, value in parameters(item):
                yield f"{key} of {item.name[:40]}", -1, value
        for wheel in self.robot.wheels:
            for value in (wheel.radius, *wheel.normal):
                yield f"radius or normal of wheel {wheel.name[:40]}", -1, value
        for drive in self.robot.drives:
            what = f"of drive {drive.name[:40]}"
            yield from ((f"ratio {what}", -1, ratio) for _, ratio in drive.joints)
            yield from ((f"{key} {what}", -1, getattr(drive, key)) for key in ("IA", *FRICTION))
        for frame in self.robot.frames:
            for value in (*frame.xyz, *frame.rpy):
                yield f"xyz or rpy of frame {frame.name[:40]}", -1, value

    def variables(self) -> None:
        """A variable is a name of its own: a parameter of that name would silently move with it."""
        owners: dict[str, int] = {}
        parameters = set(self.robot.parameters)
        for j, joint in enumerate(self.frames, 1):
            name = joint.variable or f"q{j}"
            if joint.sigma == FIXED:
                continue
            if not is_name(name):
                self.report(
                    f"{name[:40]!r} cannot be a joint variable; allowed: letters, digits and _",
                    "variable",
                    j,
                )
            elif name in owners:
                self.report(
                    f"joint variable {name} is also that of {self.name(owners[name])}; "
                    "give each joint its own",
                    "variable",
                    j,
                )
            elif name in parameters:
                self.report(
                    f"{name} is the joint variable and also a parameter; rename one of them",
                    "variable",
                    j,
                )
            owners.setdefault(name, j)

    def limits(self) -> None:
        for j, joint in enumerate(self.robot.joints, 1):
            lower, upper = _number(joint.limits.lower), _number(joint.limits.upper)
            if lower is not None and upper is not None and lower > upper:
                self.report(
                    f"lower limit {joint.limits.lower} is above the upper one, "
                    f"{joint.limits.upper}; exchange them",
                    "lower",
                    j,
                )

    def motors(self) -> None:
        """What a motor can do is numbers, and its curve goes towards higher speeds."""
        n = len(self.robot.joints)
        for j, joint in enumerate(self.frames, 1):
            motor = joint.motor
            if motor is None:
                continue
            if joint.sigma == FIXED or joint.elastic or j > n:
                words = "a motor belongs to a joint that it drives"
                self.report(f"{words}; remove it, or change the joint", "motor", j)
            rated = [] if motor.rated is None else [motor.rated]
            values = [number(x) for x in (motor.efficiency, *rated, *motor.cogging)]
            curve = [(number(v), number(t)) for v, t in motor.curve]
            sizes = [*values[1 : 1 + len(rated)], *(x for pair in curve for x in pair)]
            if None in values or None in sizes:
                self.report("the data of a motor are finite numbers without symbols", "motor", j)
                continue
            if any(x is not None and x < 0 for x in sizes):
                self.report("rated and curve are sizes: 0 or more is expected", "motor", j)
            if any(u >= v for (u, _), (v, _) in pairwise(curve) if u is not None and v is not None):
                self.report("the speeds of a motor's curve must rise", "motor", j)
            if values[0] is not None and not 0 < values[0] <= 1:
                words = f"efficiency = {motor.efficiency}: more than 0 and at most 1 is expected"
                self.report(words, "motor", j)

    def base(self) -> None:
        base = self.robot.base
        if base.kind not in ("fixed", "mobile", "floating"):
            self.report(f"base kind {base.kind!r}; allowed: fixed, mobile, floating", "kind", 0)
        for key, length in (("Z", 16), ("W0", 3), ("WP0", 3), ("V0", 3), ("VP0", 3)):
            if len(getattr(base, key)) != length:
                self.report(f"{key} has {len(getattr(base, key))} values, not {length}", key, 0)
        if len(self.robot.gravity) != 3:
            self.report(f"gravity has {len(self.robot.gravity)} values, not 3", "gravity", 0)
        Z = [number(z) if isinstance(z, int | Exact | Expression) else None for z in base.Z]
        if len(Z) == 16 and not _is_placement(Z):
            self.report(
                "Z is not a placement; its rotation must be orthonormal and right-handed, its last "
                "row 0 0 0 1",
                "Z",
                0,
            )

    def flexible(self) -> None:
        pairs = zip(self.robot.links, self.robot.joints, strict=False)
        for j, (link, joint) in enumerate(pairs, 1):
            if link.flexible is not None:
                passive = joint.sigma == REVOLUTE and not joint.active and joint.mimic is None
                for message in flexible_faults(link.flexible, passive):
                    self.report(message, "flexible", j)

    def inertia(self, j: int, link: Link) -> None:
        """A body's pseudo-inertia [[Σ, h], [hᵀ, m]], Σ = tr(J)/2 - J, is positive semidefinite."""
        mass = _number(link.M)
        if mass is not None and mass < 0:
            self.report(f"mass {link.M} is negative; a mass is 0 or more", "M", j)
            return
        values = [_number(getattr(link, key)) for key in INERTIA]
        numbers = [x for x in values if x is not None]
        if len(numbers) == len(values) and not is_body(numbers):
            self.report(
                "no body has this inertia (a principal moment about the centre of mass exceeds the "
                "sum of the others, or is negative); check units, signs and the reference point",
                "XX",
                j,
                "warning",
            )


def weightless(robot: Robot) -> list[str]:
    """The links that a joint moves against nothing: at the end of their branch, without mass, or
    with all of it on the axis, and no rotor. Their accelerations are not determined."""
    loaded = {end.antecedent for loop in robot.loops for end in (loop.cut, loop.twin)}
    loaded |= {j for drive in robot.drives if drive.IA != 0 for j, _ in drive.joints}
    loaded |= {leader for c in robot.couplings.values() for leader, _ in c.leaders}
    names = []
    for j in range(len(robot.joints), 0, -1):
        joint, link = robot.joints[j - 1], robot.links[j - 1]
        moves = joint.sigma != FIXED
        resisting = (link.M if joint.sigma == PRISMATIC else link.ZZ, joint.IA)
        if moves and j not in loaded and joint.mimic is None and resisting == (0, 0):
            names.append(link.name)
        if moves or j in loaded or any(getattr(link, key) != 0 for key in INERTIA):
            loaded.add(joint.antecedent)
    return names[::-1]


def _repeated(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    seen = set()
    for i, name in enumerate(names):
        if name in seen:
            yield i, name
        seen.add(name)


def extremes(robot: Robot) -> str:
    """The values of a robot that are so large, or so near zero, that products of several leave the
    range of numbers, and what to do about them; '' where there is none."""
    checker = _Checker(robot, "", lambda key, frame: 0)
    listed = []
    for key, j, value in checker.every_value():
        size = abs(value) if isinstance(value, float) else _size(value)
        if key not in _LIMITS and size and not 1 / _EXTREME < size < _EXTREME:
            listed.append(f"{key} = {size:.3g} of {checker.name(j) or 'the base'}")
    if not listed:
        return ""
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    what = f"{', '.join(listed[:3])}{more}"
    return f"extreme values: {what}: check the unit and the exponent, or write 0"


def _size(value: object) -> float | None:
    """How large a value is, or None where that is not known."""
    try:
        size = _number(value)
    except OverflowError:
        return math.inf
    return None if size is None else abs(size)


def _number(value: object) -> float | None:
    return number(value) if isinstance(value, int | Exact | Expression) else None


def _is_placement(Z: list[float | None]) -> bool:
    """Is the 4x4 a rigid placement? A row that holds a symbol is taken on trust."""
    rows = [Z[0:3], Z[4:7], Z[8:11]]
    for i, row in enumerate(rows):
        for k, other in enumerate(rows[i:], i):
            pairs = [(x, y) for x, y in zip(row, other, strict=True)]
            if any(x is None or y is None for x, y in pairs):
                continue
            product = sum(x * y for x, y in pairs if x is not None and y is not None)
            if abs(product - (1 if i == k else 0)) > _TOLERANCE:
                return False
    flat = [x for row in rows for x in row if x is not None]
    if len(flat) == 9 and _determinant(flat) < 0:
        return False
    last = Z[12:]
    return all(x is None or x == (1 if i == 3 else 0) for i, x in enumerate(last))


def _determinant(m: list[float]) -> float:
    a, b, c, d, e, f, g, h, i = m
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def is_body(parameters: list[float]) -> bool:
    """Can a body have these inertial parameters, in the order of `INERTIA`?"""
    if not any(parameters):
        return True
    XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = (Fraction(value) for value in parameters)
    if M == 0 and (MX or MY or MZ):
        return False
    x, y, z = (h / (M or 1) for h in (MX, MY, MZ))
    half = (XX + YY + ZZ) / 2
    # about the centre of mass
    sigma = [
        [half - XX - MX * x, -XY - MX * y, -XZ - MX * z],
        [-XY - MX * y, half - YY - MY * y, -YZ - MY * z],
        [-XZ - MX * z, -YZ - MY * z, half - ZZ - MZ * z],
    ]
    # scaled to size 1, so that the tolerance means the same for all bodies
    size = max(*map(abs, (XX, XY, XZ, YY, YZ, ZZ)), MX * x + MY * y + MZ * z) or Fraction(1)
    return _is_positive([[entry / size for entry in row] for row in sigma])


def _is_positive(matrix: list[list[Fraction]]) -> bool:
    """Cholesky's test, with the tolerance added to the diagonal: exact, so it cannot break down."""
    n = len(matrix)
    a = [list(row) for row in matrix]
    for k in range(n):
        a[k][k] += Fraction(_TOLERANCE)
    for k in range(n):
        if a[k][k] <= 0:
            return False
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            for c in range(k, n):
                a[i][c] -= factor * a[k][c]
    return True
