"""Records of the general method: a robot of six joints, the ways to eliminate, the answers.

Lengths are in units of the robot's size; the arm stands between the identities, and a pose is moved
to it by the inverses of base and tool.
"""

from __future__ import annotations

from ...kernel.language import OPEN, Array, Integers, record
from ..approach import Frame, SixArm
from ..solutions import Solutions

MOST = 16  # configurations of a pose
SEEDS = 24  # configurations from which families are followed
MOST_FORMS = 8  # of a robot some of whose joints are given


@record(joints=6)
class Way:
    """Which joints a formulation eliminates, and how far it can be trusted."""

    joints: Integers  # h, two of H, a, b, c
    near: float  # how far from the real axis a root is tried
    trusted: bool  # alone; else the answers of the next formulation are to be added
    rank: int  # of S(i)
    lack: int  # of rank of S(x)
    first: int  # joint of H
    mode: int  # 1: the pose stands among H; 2: N is found from the geometry


@record(W=512, basis=64)
class Form:
    """A formulation: W of (1) in kernels.py, or the basis of H; the basis of L."""

    W: Array
    basis: Array
    way: Way


@record()
class Head(SixArm):
    """An arm of six joints with what is before and after it."""

    before: Frame  # inverse of the base
    after: Frame  # inverse of the tool
    unit: float


@record(forms=OPEN)
class Robot(Head):
    """A robot with its formulations."""

    ways: int
    forms: list[Form]


@record(forms=MOST_FORMS)
class HeldRobot(Robot):
    """A robot some of whose joints were given."""


@record(turns=4)
class SlidingRobot(Head):
    """A robot of three slides: the orientations between its turns (slides.py)."""

    turns: list[Frame]


@record()
class Turn:
    """Of joint h, by which the unknown of its equation is moved."""

    cosine: float
    sine: float


@record()
class Ratio:
    """u:v of a joint: cosine and sine of half its angle, or 1 and half its length."""

    u: float
    v: float


@record(rows=6)
class Ratios:
    """Those of h, two of H, a, b, c."""

    rows: list[Ratio]


@record(rows=OPEN)
class Ways:
    """Formulations whose geometry is not known yet."""

    count: int
    rows: list[Way]


@record()
class Answer:
    """A configuration: how exact, how regular, how many roots came to it."""

    residual: float  # largest error of an entry of the pose
    quality: float  # smallest pivot of the Jacobian over the largest
    roots: float


@record(rows=MOST, rest=12)
class Answers:
    """The answers of a pose."""

    count: int
    rows: list[Answer]
    used: int  # formulations
    sound: bool  # one of them lost nothing
    nearby: int  # poses nearby that were sound
    rest: Array


@record(rows=6 * SEEDS)
class Seeds:
    """Where Newton's method stalled beside a family, which is followed from there."""

    count: int
    rows: Array


@record(rows=MOST)
class SixteenSolutions(Solutions):
    """The configurations of a pose that the general method gives."""


@record()
class Virtual:
    """A joint that is added: lengths in units of the arm's size."""

    alpha: float
    d: float
    theta: float
    r: float


@record(joints=3)
class Longer:
    """What makes the longer chain of an arm with symbols: virtual joints, and the formulations."""

    joints: list[Virtual]
    ways: Ways
