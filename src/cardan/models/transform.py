"""Direct geometric model: the transformation matrix of any frame in any frame, [KC97] 3.1, 3.2.

    rTj = rTi iTk ... lTj                                                              (1-a), (1-b)

The path between the two frames is a word of elementary factors, turns and shifts about and along
the axes, up the tree to the common ancestor (inverted) and down again. Two spellings of the word
compete: as it stands, or with turns about parallel axes merged into angle sums (a shift to the
right of a turn moves to its left: Rot(v) Tran(p) = Tran(Rot p) Rot). And the product is formed
either from the right, moving the unit vectors, or from the left, moving the rows; the position
either nested or as a sum of shifts that shares the products of the rotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.rotation import Rotation, X, Z
from ..algebra.scalar import cos_sin, is_zero
from ..algebra.vector import Mat, Vec, zero
from ..exact import is_exact
from .bodies import Bodies, Body

Scalar = Any


@dataclass(frozen=True)
class Turn:
    """Rotation by angle + offset about an axis."""

    axis: int
    angle: Scalar
    offset: Scalar = 0
    joints: tuple[int, ...] = ()  # whose variables the angle sums

    def inverse(self) -> Turn:
        return Turn(self.axis, -self.angle, -self.offset, self.joints)

    @property
    def rotation(self) -> Rotation:
        return Rotation([(self.axis, *cos_sin(self.angle, self.offset))])


@dataclass(frozen=True)
class Shift:
    """Translation by a vector."""

    by: Vec

    def inverse(self) -> Shift:
        return Shift(-self.by)


Factor = Turn | Shift


@dataclass
class Transform:
    """T as rotation and position; C and S are the cosines and sines, by joint or sum of joints."""

    R: Mat
    P: Vec
    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)

    @property
    def matrix(self) -> list[Scalar]:
        """The 4x4 matrix, row by row."""
        rows = [[*row, p] for row, p in zip(self.R.rows, self.P, strict=True)]
        return [x for row in [*rows, [0, 0, 0, 1]] for x in row]


def transform(
    robot: Bodies, q: Sequence[Scalar], frame: int, reference: int, *,
    merge: bool = True, from_left: bool = False, shared: bool = False, world: bool = False,
) -> Transform:  # fmt: skip
    """Frame `frame` seen from frame `reference` (from the world: reference 0 placed by Z)."""
    factors = word(robot, q, reference, frame)
    if merge:
        factors = merged(factors)
    turns = merged_turns(factors)
    R = (_product_from_left if from_left else _product_from_right)(turns)
    P = _position_from_left(factors) if shared else position(factors, zero)
    if world:
        z = robot.Z
        ZR = Mat([z[0:3], z[4:7], z[8:11]])
        R, P = ZR @ R, ZR @ P + Vec(z[3], z[7], z[11])
    C, S = trigonometry(robot, q, frame, reference)
    return Transform(R, P, C, S)


def position(factors: Sequence[Factor], P: Vec) -> Vec:
    """A point of the last frame seen from the first, moved back factor by factor."""
    for factor in reversed(factors):
        P = factor.rotation @ P if isinstance(factor, Turn) else factor.by + P
    return P


def _position_from_left(factors: Sequence[Factor]) -> Vec:
    """The last origin as a sum of shifts, each turned by the matrix accumulated so far."""
    R, P = Rotation([]).matrix(), zero
    for factor in factors:
        if isinstance(factor, Turn):
            R = (factor.rotation.T @ R.T).T
        else:
            P = P + R @ factor.by
    return P


def trigonometry(
    robot: Bodies, q: Sequence[Scalar], frame: int, reference: int = 0
) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
    """Cosines and sines of joints and sums of joints on a path, by label: C2, S23, C10_11."""
    C: dict[str, Scalar] = {}
    S: dict[str, Scalar] = {}
    factors = word(robot, q, reference, frame)
    for turn in [*merged_turns(factors), *merged(factors), *factors]:
        if isinstance(turn, Turn) and turn.joints:
            label = ("_" if max(turn.joints) > 9 else "").join(map(str, turn.joints))
            _, C[label], S[label] = turn.rotation.turns[0]
    return C, S


def word(robot: Bodies, q: Sequence[Scalar], i: int, j: int) -> list[Factor]:
    """The factors of iTj in order, without those that are identities."""
    up, down = robot.tree.between(i, j)
    qs = robot.spread(q)
    factors: list[Factor] = []
    for k in up:
        link = _factors(robot.links[k - 1], qs[k])
        factors += [factor.inverse() for factor in reversed(link)]
    for k in down:
        factors += _factors(robot.links[k - 1], qs[k])
    return [factor for factor in factors if not _is_identity(factor)]


def _factors(link: Body, q: Scalar) -> list[Factor]:
    """Rot(z,γ) Tran(z,b) Rot(x,α) Tran(x,d) Rot(z,θ) Tran(z,r), [K10] (1)."""
    theta = _turn(Z, q, link.theta, (link.j,)) if link.sbar else _turn(Z, link.theta)
    return [
        _turn(Z, link.gamma),
        Shift(Vec(0, 0, link.b)),
        _turn(X, link.alpha),
        Shift(Vec(link.d, 0, 0)),
        theta,
        Shift(Vec(0, 0, link.r + link.s * q)),
    ]


def _turn(axis: int, angle: Scalar, offset: Scalar = 0, joints: tuple[int, ...] = ()) -> Turn:
    """Rotation by angle + offset; what is known exactly is an offset, whose quarter turns cost
    nothing when turns are merged."""
    angle, offset = (0, angle + offset) if is_exact(angle) else (angle, offset)
    return Turn(axis, angle, offset, joints)


def _is_identity(factor: Factor) -> bool:
    if isinstance(factor, Turn):
        return is_zero(factor.angle) and is_zero(factor.offset)
    return all(map(is_zero, factor.by))


def merged(factors: Sequence[Factor]) -> list[Factor]:
    """The word with turns about parallel axes merged: the shifts between them move left."""
    out: list[Factor] = []
    for factor in factors:
        k = len(out)
        while isinstance(factor, Turn) and k and isinstance(out[k - 1], Shift):
            k -= 1
        previous = out[k - 1] if k else None
        if isinstance(factor, Turn) and isinstance(previous, Turn) and previous.axis == factor.axis:
            shifts = [Shift(previous.rotation @ s.by) for s in out[k:] if isinstance(s, Shift)]
            out[k - 1 :] = [*shifts, _sum(previous, factor)]
        else:
            out.append(factor)
    return out


def merged_turns(factors: Sequence[Factor]) -> list[Turn]:
    """The turns of a word, neighbours about the same axis merged."""
    out: list[Turn] = []
    for factor in factors:
        if isinstance(factor, Turn):
            if out and out[-1].axis == factor.axis:
                out[-1] = _sum(out[-1], factor)
            else:
                out.append(factor)
    return out


def _sum(x: Turn, y: Turn) -> Turn:
    return Turn(x.axis, x.angle + y.angle, x.offset + y.offset, x.joints + y.joints)


def _product_from_right(turns: Sequence[Turn]) -> Mat:
    """R e1, R e2 and R e3, each moved from the last frame to the first."""
    return Rotation([t for turn in turns for t in turn.rotation.turns]).matrix()


def _product_from_left(turns: Sequence[Turn]) -> Mat:
    """The rows of R: the unit vectors of the first frame moved to the last."""
    rotation = Rotation([t for turn in turns for t in turn.rotation.turns])
    return rotation.T.matrix().T
