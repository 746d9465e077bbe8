"""Kernels with records, vectors, integers and booleans: every form of them at least once."""

from __future__ import annotations

from cardan.kernel.language import (
    OPEN,
    Array,
    Booleans,
    Integers,
    Part,
    Vector,
    booleans,
    cos,
    cross,
    dot,
    empty,
    integers,
    record,
    sin,
    sqrt,
    zeros,
)  # fmt: skip

JOINTS = 3


@record()
class Joint:
    """A joint: its geometry and what it does."""

    alpha: float
    shift: Vector
    slides: bool


@record(limits=2, joints=JOINTS)
class Robot:
    """A robot of a fixed number of joints."""

    count: int
    limits: Array
    first: Joint
    joints: list[Joint]


@record(order=4, seen=4, rows=OPEN)
class Table:
    """Lists, and joints without end."""

    order: Integers
    seen: Booleans
    rows: list[Joint]


@record(rows=2)
class Short(Table):
    """A table of two rows, and more."""

    more: Joint


def length(v: Vector) -> float:
    return sqrt(dot(v, v))


def total(x: Part, n: int) -> float:
    """Sum of the first n numbers of a part of an array."""
    found = 0.0
    for i in range(n):
        found += x[i]
    return found


def turns(joint: Joint, limit: float) -> bool:
    """Is it a revolute joint of a small angle?"""
    small = joint.alpha < limit
    return small and not joint.slides


def move(joint: Joint, by: float, enough: bool) -> None:
    """Writes to a record that is a part of another."""
    axis = zeros(Vector)
    axis[2] = 1.0
    joint.shift = joint.shift + by * axis
    joint.alpha += by
    if enough:
        joint.slides = joint.alpha > 1.0


def sorted_places(x: Array, order: Integers, n: int) -> int:
    """The places of x from the smallest on; how many exchanges it took."""
    for k in range(n):
        order[k] = k
    exchanges = 0
    for k in range(n):
        for i in range(n - 1):
            if x[order[i]] > x[order[i + 1]]:
                place = order[i]
                order[i] = order[i + 1]
                order[i + 1] = place
                exchanges += 1
        if k > n:
            break
    return exchanges


def any_of(seen: Booleans, n: int) -> bool:
    for k in range(n):
        if seen[k]:
            return k < n
    return False


def first_alpha(table: Table) -> float:
    """Of a table of any length."""
    return table.rows[0].alpha + 10.0 * table.rows[1].alpha


def with_records(x: Array, table: Table, y: Array) -> None:
    """x: 4 numbers; table: lists and two rows; y: 20 numbers."""
    for k in range(2):
        table.rows[k].alpha = x[k]
        table.rows[k].shift[0] = x[k + 1]
        table.rows[k].shift[2] = x[k + 2]
        table.rows[k].slides = x[3 - k] < 0.0
    robot = zeros(Robot)
    robot.count = JOINTS
    robot.limits[0] = x[3]
    robot.limits[1] = 2.0 * x[3]
    for j in range(robot.count):
        joint = robot.joints[j]
        joint.alpha = x[j]
        joint.shift[0] = sin(x[j])
        joint.shift[1] = cos(x[j])
        joint.shift[2] = x[3]
        joint.slides = x[j] > 0.0 and (j != 1 or x[3] < 0.0)
        move(joint, 0.5, True)
    robot.first.alpha = robot.joints[2].alpha
    robot.first.shift = -robot.joints[0].shift / 2.0
    move(robot.first, 0.25, x[0] < x[1])
    a = robot.joints[0].shift
    b = robot.joints[1].shift
    normal = cross(a, b)
    normal = cross(normal, a) + 0.5 * (a - b)
    a[1] = a[1] + 1.0
    for k in range(3):
        y[k] = normal[k]
    y[3] = length(normal)
    y[4] = length(robot.joints[0].shift)
    y[5] = total(robot.limits, 2)
    y[6] = total(x, 4)
    y[7] = total(robot.first.shift, 3)
    places = integers(4)
    exchanges = sorted_places(x, places, 4)
    y[8] = float(exchanges)
    exchanges = sorted_places(x, table.order, 4)
    y[9] = float(exchanges + table.order[0])
    y[10] = float(places[3])
    flags = booleans(4)
    flags[1] = x[1] > 0.0
    some = any_of(flags, 4) or x[0] > 1.0
    y[11] = float(some)
    y[12] = float(int(not some))
    table.seen[2] = turns(robot.joints[2], 0.3)
    y[13] = float(any_of(table.seen, 4))
    work = empty(Joint)
    work.alpha = table.rows[0].alpha + table.rows[1].alpha
    work.shift = table.rows[0].shift + table.rows[1].shift
    work.slides = table.rows[1].slides
    right = turns(work, 10.0)
    if right:
        y[14] = work.alpha
    y[15] = dot(work.shift, table.rows[0].shift - a)
    row = table.rows[0]
    if x[0] > 0.0:
        row = table.rows[1]
    y[16] = row.alpha
    row.alpha = 7.0
    y[17] = table.rows[0].alpha - table.rows[1].alpha
    y[18] = robot.first.alpha + robot.joints[1].alpha
    brief = zeros(Short)
    brief.rows[1].alpha = x[2]
    brief.more = robot.joints[1]
    robot.joints[2] = brief.more
    y[18] = y[18] + first_alpha(brief) + robot.joints[2].shift[1]
    y[19] = float(robot.first.slides) + 2.0 * float(robot.joints[1].slides)
