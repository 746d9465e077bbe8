"""Postures: the axes in which the links are computed, and where their frames are cut in two.

- `still` links are computed in the axes of their joint before its turn: their inertia turns, and
  towards a parallel child two turns are one, by an angle sum.
- `slide`: the frame of a link is cut into the turn of its joint and the translation r_j along z_j
  after it: jR_i U_i iR_j a = U_j a, because a point on the joint axis moves with both links. Two
  frames then, the first one massless, the second one fixed to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..algebra.rotation import Rotation, X, Z
from ..algebra.scalar import is_zero
from ..algebra.vector import Mat, Vec, zero
from ..models.bodies import Bodies, Body, ByLink, Placed, Placement
from ..models.frame import Frame
from ..models.friction import Friction
from ..models.transform import Turn, merged_turns
from .formulation import PLAIN, Formulation
from .reform import reformed

Scalar = Any
Trig = tuple[tuple[str, Scalar, Scalar], ...]


def formulated(robot: Bodies) -> Bodies:
    """The robot as its formulation has it, for pages on whole links: reparametrised, and placed in
    the axes chosen."""
    form: Formulation = robot.formulation or PLAIN
    if form == PLAIN:
        return robot
    written = reformed(robot, form.whole)
    if not (form.still or form.slide):
        return replace(written.robot, formulation=None)

    def posture(robot: Bodies, q: ByLink) -> Placed:
        placed: Placed = []
        for link in robot.links:
            here = axes(robot, link.j, q.joint, form.still)
            body = (
                robot.recall(turned_back, link, q.joint[link.j]) if link.j in form.still else link
            )
            cut = link.j in form.slide and not is_zero(here.r)
            placed += _cut(robot, body, here) if cut else [(body, robot.recall(Axes.frame, here))]
        return placed

    return replace(written.robot, formulation=None, posture=posture)


def with_points(robot: Bodies, turned: Collection[int] = ()) -> Bodies:
    """The robot with point masses on fixed frames in the axes of what carries them.

    `turned`: frames whose axes are needed."""
    points: set[int] = set()
    for link in reversed(robot.links):
        constants = [*(x for row in link.J.rows for x in row), *link.MS, *link.f_e, *link.n_e]
        bare = all(map(is_zero, constants))
        fixed = not link.joint and link.flexible is None
        children = robot.tree.children[link.j]
        if fixed and bare and link.j not in turned and points.issuperset(children):
            points.add(link.j)

    def posture(robot: Bodies, q: ByLink) -> Placed:
        return [
            (link, replace(T, iRj=Rotation([])) if link.j in points else T)
            for link in robot.links
            for T in [link.frame(q.joint[link.j], q.elastic[link.i])]
        ]

    return replace(robot, posture=posture) if points else robot


def _cut(robot: Bodies, link: Body, here: Axes) -> Placed:
    """The turn of the joint, then the translation along its axis, which carries the body."""
    h = robot.tree.nl + link.j  # a number that no link has
    none = Mat([zero, zero, zero])
    joint = replace(link, j=h, J=none, MS=zero, M=0, f_e=zero, n_e=zero)
    body = replace(link, i=h, joint=0, s=0, sbar=0, IA=0, rubs=Friction(), spring=0)
    turn = Frame(here.iRj, here.P, trig=here.trig)
    return [(joint, turn), (body, Frame(Rotation([]), Vec(0, 0, here.r)))]


@dataclass(frozen=True, eq=False)
class Axes:
    """Link j in the axes it is computed in, on its antecedent in the antecedent's axes: its turn,
    and its translation in two parts, P in the axes of i and r along z_j."""

    iRj: Rotation
    P: Vec
    r: Scalar
    trig: Trig

    def frame(self) -> Frame:
        return Frame(self.iRj, self.P + self.iRj @ Vec(0, 0, self.r), trig=self.trig)


def axes(robot: Bodies, j: int, q: Mapping[int, Scalar], still: frozenset[int]) -> Axes:
    """Link j on its antecedent; links in `still` are in the axes before their joint's turn."""
    axes: Axes = robot.recall(_axes, *_chain(robot, (j,), q, still))
    return axes


def turned_back(link: Body, q: Scalar) -> Body:
    """The link in the axes before its joint's turn."""
    return link.rotated(own_turn(link, q).rotation)


def between(
    robot: Bodies, joints: Sequence[int], q: Mapping[int, Scalar], still: frozenset[int]
) -> tuple[Rotation, Trig]:
    """From the axes in which the link before these joints is computed to those of the last; the
    turns by name."""
    turned: tuple[Rotation, Trig] = robot.recall(_between, *_chain(robot, joints, q, still))
    return turned


# joints that follow one another, each with its position
Chain = tuple[tuple[Placement, Scalar], ...]


def _chain(
    robot: Bodies, joints: Sequence[int], q: Mapping[int, Scalar], still: frozenset[int]
) -> tuple[Chain, Chain, bool]:
    """The link before these joints, if it is in the axes before its turn; these joints; is the last
    one in such axes?"""
    before = robot.links[joints[0] - 1].i
    first, then = (
        tuple((robot.links[j - 1].placement, q[j]) for j in listed)
        for listed in ((before,) if before in still else (), joints)
    )
    return first, then, joints[-1] in still


def _axes(first: Chain, then: Chain, still: bool) -> Axes:
    ((link, q),) = then
    P = link.normal
    for before, angle in first:
        P = own_turn(before, angle).rotation @ P
    turns = _turns(first, then, still)
    trig = (*_named(turns), *_named([own_turn(link, q)]))
    return Axes(_rotation(turns), P, link.r + link.s * q, trig)


def _between(first: Chain, then: Chain, still: bool) -> tuple[Rotation, Trig]:
    turns = _turns(first, then, still)
    named = _named(turns)
    return _rotation(turns).T, named


def _turns(first: Chain, then: Chain, still: bool) -> list[Turn]:
    turns = [own_turn(*before) for before in first]
    for link, q in then:
        turns += [Turn(Z, link.gamma), Turn(X, link.alpha), own_turn(link, q)]
    if still:
        turns.pop()
    return merged_turns([turn for turn in turns if not _is_identity(turn)])


def _rotation(turns: Sequence[Turn]) -> Rotation:
    """The product of these turns."""
    return Rotation([t for turn in turns for t in turn.rotation.turns])


def _named(turns: Sequence[Turn]) -> Trig:
    """(label, cosine, sine) of the turns of joints or sums of joints: 2, 23, 10_11."""
    return tuple(
        (("_" if max(turn.joints) > 9 else "").join(map(str, turn.joints)),
         *turn.rotation.turns[0][1:])
        for turn in turns if turn.joints
    )  # fmt: skip


def own_turn(link: Body | Placement, q: Scalar) -> Turn:
    """The turn of a joint; of one that does not turn, that of its constant θ."""
    return Turn(Z, q, link.theta, (link.j,)) if link.sbar else Turn(Z, link.theta)


def _is_identity(turn: Turn) -> bool:
    return is_zero(turn.angle) and is_zero(turn.offset)
