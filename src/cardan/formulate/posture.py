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
from ..models.bodies import Bodies, Body, ByLink, Placed
from ..models.frame import Frame
from ..models.friction import Friction
from ..models.transform import Turn, merged_turns
from .formulation import PLAIN, Formulation
from .reform import reformed

__all__ = ["Axes", "axes", "formulated", "own_turn", "with_points"]

Scalar = Any


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
                link.rotated(own_turn(link, q.joint[link.j]).rotation)
                if link.j in form.still
                else link
            )
            placed += _cut(robot, body, here) if link.j in form.slide else [(body, here.frame)]
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
    if is_zero(here.r):
        return [(link, here.frame)]
    h = robot.tree.nl + link.j  # a number that no link has
    none = Mat([zero, zero, zero])
    joint = replace(link, j=h, J=none, MS=zero, M=0, f_e=zero, n_e=zero)
    body = replace(link, i=h, joint=0, s=0, sbar=0, IA=0, rubs=Friction(), spring=0)
    turn = Frame(here.iRj, here.P, trig=here.trig)
    return [(joint, turn), (body, Frame(Rotation([]), Vec(0, 0, here.r)))]


@dataclass(frozen=True)
class Axes:
    """Link j in the axes it is computed in, on its antecedent in the antecedent's axes: its turn,
    and its translation in two parts, P in the axes of i and r along z_j."""

    iRj: Rotation
    P: Vec
    r: Scalar
    trig: tuple[tuple[str, Scalar, Scalar], ...]

    @property
    def frame(self) -> Frame:
        return Frame(self.iRj, self.P + self.iRj @ Vec(0, 0, self.r), trig=self.trig)


def axes(robot: Bodies, j: int, q: Mapping[int, Scalar], still: frozenset[int]) -> Axes:
    """Link j on its antecedent; links in `still` are in the axes before their joint's turn."""
    link = robot.links[j - 1]
    P = link.normal
    if link.i in still:
        P = own_turn(robot.links[link.i - 1], q[link.i]).rotation @ P
    turns = turns_between(robot, (j,), q, still)
    trig = [*named_turns(turns), *named_turns([own_turn(link, q[j])])]
    return Axes(rotation(turns), P, link.r + link.s * q[j], tuple(trig))


def turns_between(
    robot: Bodies, joints: Sequence[int], q: Mapping[int, Scalar], still: frozenset[int]
) -> list[Turn]:
    """From the axes in which the link before these joints is computed to those of the last."""
    before = robot.links[joints[0] - 1].i
    turns = [own_turn(robot.links[before - 1], q[before])] if before in still else []
    for j in joints:
        link = robot.links[j - 1]
        turns += [Turn(Z, link.gamma), Turn(X, link.alpha)]
        if j != joints[-1] or j not in still:
            turns.append(own_turn(link, q[j]))
    return merged_turns([turn for turn in turns if not _is_identity(turn)])


def rotation(turns: Sequence[Turn]) -> Rotation:
    """The product of these turns."""
    return Rotation([t for turn in turns for t in turn.rotation.turns])


def named_turns(turns: Sequence[Turn]) -> list[tuple[str, Scalar, Scalar]]:
    """(label, cosine, sine) of the turns of joints or sums of joints: 2, 23, 10_11."""
    return [
        (("_" if max(turn.joints) > 9 else "").join(map(str, turn.joints)),
         *turn.rotation.turns[0][1:])
        for turn in turns if turn.joints
    ]  # fmt: skip


def own_turn(link: Body, q: Scalar) -> Turn:
    """The turn of a joint; of one that does not turn, that of its constant θ."""
    return Turn(Z, q, link.theta, (link.j,)) if link.sbar else Turn(Z, link.theta)


def _is_identity(turn: Turn) -> bool:
    return is_zero(turn.angle) and is_zero(turn.offset)
