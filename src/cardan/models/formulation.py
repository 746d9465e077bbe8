"""Formulations: the same robot written in other axes and with other parameters, for fewer
operations.

Nothing here changes a torque. What may be chosen, and what it saves:

- `still`: link j is computed in the axes of joint j before its turn. Its inertia then turns with
  q_j,
  but w, wd and Vd need no turn; towards a parallel child the two turns are one, by an angle sum.
- `grouped`: w and wd of a link follow from the link before a group of parallel joints, by the
  sum of their angles and rates, instead of from its antecedent.
- `carried`: U_j follows from U_i, turned, plus what the joint adds; it pays where the turn is free.
- `column`: the third column of U_j is taken from before the turn, which it does not change.
- `axial`: that column is turned instead of wd, and all of U follows from it (see spin).
- `apart`: the moment of the inertia J_j is formed in the axes before the joint's turn, all else of
  the link after it; it pays near the base, where the spin before the turn is simple.
- `slide`: the translation r_j is applied in frame j (see newton_euler).
- `regroup`: what a link cannot show as its own (YY, MZ, M of a revolute link) is given to its
  antecedent, as in base_parameters. Work on parameters alone, done once.
- `balance`: a symmetric body about z_j is exchanged with the antecedent so that ∫z² dm = 0: one
  product
  less in the moment.
- `lump`, `rod`: what of it stays on link j as masses and a rod on its axis, so that first moments
  and YZ of the antecedent vanish (see lump).
- `align`: the frame of a last link is turned about its joint axis by a constant until MY = 0.
- `unit`: one of the robot's lengths is the unit of length and need not be multiplied by.
Reactions inside the joints are not preserved from `regroup` on (see reform): models that output
them use none of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..algebra.rotation import Rotation, X, Z
from ..algebra.rotation import turn as turn_about
from ..algebra.vector import Vec
from .bodies import Bodies, Body, Frame
from .reform import Unit, reparametrised
from .transform import Turn, merged_turns

__all__ = ["PLAIN", "Formulation", "Placed", "formulated", "trigonometry"]

Scalar = Any


@dataclass(frozen=True)
class Formulation:
    """The choices, by link number."""

    still: frozenset[int] = frozenset()
    slide: frozenset[int] = frozenset()
    grouped: frozenset[int] = frozenset()
    carried: frozenset[int] = frozenset()
    regroup: bool = False
    balance: frozenset[int] = frozenset()
    column: frozenset[int] = frozenset()
    axial: frozenset[int] = frozenset()
    apart: frozenset[int] = frozenset()
    align: frozenset[int] = frozenset()
    unit: Unit = None
    lump: frozenset[int] = frozenset()
    rod: frozenset[int] = frozenset()

    @property
    def whole(self) -> Formulation:
        """The same with all of a link's mass in its inertia: for models of composite links."""
        return replace(self, lump=frozenset(), rod=frozenset())

    def remarks(self) -> tuple[str, ...]:
        """What a reader of the program must know to read its intermediate values."""
        found = []
        if self.still:
            listed = " ".join(map(str, sorted(self.still)))
            found.append(f"links {listed} are computed in the axes of their joint before its turn")
        if self.regroup or self.balance or self.lump or self.rod:
            found.append(
                "inertial parameters are exchanged between neighbouring links: the torques are the"
                " same, forces and moments between links are not"
            )
        if self.align:
            listed = " ".join(map(str, sorted(self.align)))
            found.append(f"links {listed} are computed in axes turned about their joint's by a"
                " constant")
        if self.unit:
            key, j = self.unit
            found.append(f"the unit of length is {key} of link {j}")
        return tuple(found)


PLAIN = Formulation()


@dataclass(frozen=True)
class Placed:
    """A link where it is computed: its frame on its antecedent, and on the link its spin follows
    from.

    spin: w_j = jRr w_r + (sum of the rates of `joints`) a, with r the link before them."""

    T: Frame
    r: int
    jRr: Rotation
    joints: tuple[int, ...]
    turn: Rotation = Rotation([])  # noqa: RUF009  from frame j to the axes of the computation

    def own(self, v: Vec) -> Vec:
        """A vector given in frame j, in the axes in which link j is computed."""
        found: Vec = self.turn @ v
        return found


def formulated(
    robot: Bodies, qs: Mapping[int, Scalar], form: Formulation
) -> tuple[Bodies, dict[int, Placed]]:
    """The bodies of a formulation and where they are placed at a joint position."""
    robot = reparametrised(
        robot, form.regroup, form.balance, form.lump, form.rod, form.align, form.unit
    )
    placed: dict[int, Placed] = {}
    for link in robot.links:
        j, i = link.j, link.i
        P = link.frame(qs[j]).P
        if i in form.still:
            P = _own_turn(robot.links[i - 1], qs[i]).rotation @ P
        T = Frame(_rotation(_turns(robot, (j,), qs, form.still)), P, link.r + link.s * qs[j])
        r: int = i
        joints: tuple[int, ...] = (j,)
        if j in form.grouped and _is_parallel(robot, link):
            before = placed[i]
            r, joints = before.r, (*before.joints, j)
        spin = _rotation(_turns(robot, joints, qs, form.still)).T
        own = _own_turn(link, qs[j]).rotation if j in form.still else Rotation([])
        own = own @ Rotation([turn_about(Z, -link.phi)])
        placed[j] = Placed(T, r, spin, joints, own)
    links = (
        k.rotated(_own_turn(k, qs[k.j]).rotation) if k.j in form.still else k for k in robot.links
    )
    return replace(robot, links=tuple(links)), placed


def trigonometry(
    robot: Bodies, qs: Mapping[int, Scalar], placed: Mapping[int, Placed], form: Formulation
) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
    """Cosines and sines by joint or sum of joints, as they are used: C2, S23, C10_11."""
    C: dict[str, Scalar] = {}
    S: dict[str, Scalar] = {}
    for j, here in placed.items():
        used = [_turns(robot, (j,), qs, form.still), _turns(robot, here.joints, qs, form.still)]
        words = [merged_turns([t for t in turns if not _is_identity(t)]) for turns in used]
        for turn in [*words[0], *words[1], _own_turn(robot.links[j - 1], qs[j])]:
            if turn.joints:
                label = ("_" if max(turn.joints) > 9 else "").join(map(str, turn.joints))
                _, C[label], S[label] = turn.rotation.turns[0]
    return C, S


def _is_parallel(robot: Bodies, link: Body) -> bool:
    """Is the joint parallel to its antecedent's, both revolute?"""
    if not link.i or not link.sbar or not robot.links[link.i - 1].sbar:
        return False
    return isinstance(link.alpha, int) and link.alpha == 0


def _turns(
    robot: Bodies, joints: tuple[int, ...], qs: Mapping[int, Scalar], still: frozenset[int]
) -> list[Turn]:
    """From the axes in which the link before these joints is computed to those of the last."""
    before = robot.links[joints[0] - 1].i
    turns = [_own_turn(robot.links[before - 1], qs[before])] if before in still else []
    for j in joints:
        link = robot.links[j - 1]
        turns += [Turn(Z, link.gamma), Turn(X, link.alpha)]
        if j != joints[-1] or j not in still:
            turns.append(_own_turn(link, qs[j]))
    return turns


def _rotation(turns: list[Turn]) -> Rotation:
    word = [turn for turn in turns if not _is_identity(turn)]
    return Rotation([t for turn in merged_turns(word) for t in turn.rotation.turns])


def _own_turn(link: Body, q: Scalar) -> Turn:
    return Turn(Z, q, link.theta, (link.j,)) if link.sbar else Turn(Z, link.theta)


def _is_identity(turn: Turn) -> bool:
    return all(isinstance(x, int) and x == 0 for x in (turn.angle, turn.offset))
