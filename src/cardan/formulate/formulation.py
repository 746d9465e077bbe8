"""Formulations: the same robot written in other axes and with other parameters, for fewer
operations.

Nothing here changes a torque. What may be chosen, and what it saves:

- `still`: link j is computed in the axes of joint j before its turn. Its inertia then turns with
  q_j, but w, wd and Vd need no turn; towards a parallel child two turns are one, by an angle sum.
- `grouped`: w and wd of a link follow from the link before a group of parallel joints, by the
  sum of their angles and rates, instead of from its antecedent.
- `carried`: U_j follows from U_i, turned, plus what the joint adds; it pays where the turn is free.
- `column`: the third column of U_j is taken from before the turn, which it does not change.
- `axial`: that column is turned instead of wd, and all of U follows from it (see economy).
- `apart`: the moment of the inertia J_j is formed in the axes before the joint's turn, all else of
  the link after it; it pays near the base, where the spin before the turn is simple.
- `slide`: the translation r_j is applied in frame j (see posture).
- `regroup`: what a link cannot show as its own (YY, MZ, M of a revolute link) is given to its
  antecedent, as in base_parameters. Work on parameters alone, done once.
- `balance`: a symmetric body about z_j is exchanged with the antecedent so that ∫z² dm = 0: one
  product less in the moment.
- `rotors`: inertias of rotors are part of links that turn by their joint alone.
- `lump`, `rod`: what of it stays on link j as masses and a rod on its axis, so that first moments
  and YZ of the antecedent vanish (see lump).
- `align`: the frame of a last link is turned about its joint axis by a constant until MY = 0.
- `unit`: one of the robot's lengths is the unit of length and need not be multiplied by.
Reactions inside the joints are not preserved from `regroup` on (see reform): models that output
them use none of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Unit = tuple[str, int] | None  # a length of a link: ("d", 3)
LENGTHS = ("d", "r", "b")


@dataclass(frozen=True)
class Formulation:
    """The choices, by link number."""

    still: frozenset[int] = frozenset()
    slide: frozenset[int] = frozenset()
    grouped: frozenset[int] = frozenset()
    carried: frozenset[int] = frozenset()
    regroup: bool = False
    rotors: bool = False
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
        """The formulation with all of a link's mass in its inertia, for composite links."""
        return replace(self, lump=frozenset(), rod=frozenset())

    def remarks(self) -> tuple[str, ...]:
        """What a reader of the program must know to read its intermediate values."""
        remarks = []
        if self.still:
            remarks.append(
                f"{_links(self.still)} computed in the axes of the joint before its turn"
            )
        if self.regroup or self.balance or self.lump or self.rod:
            remarks.append(
                "inertial parameters are exchanged between neighbouring links: the torques are the"
                " same, forces and moments between links are not"
            )
        if self.align:
            turned = "computed in axes turned about the joint's by a constant"
            remarks.append(f"{_links(self.align)} {turned}")
        if self.unit:
            key, j = self.unit
            remarks.append(f"the unit of length is {key} of link {j}")
        return tuple(remarks)


PLAIN = Formulation()


def _links(numbers: frozenset[int]) -> str:
    listed = " ".join(map(str, sorted(numbers)))
    return f"links {listed} are" if len(numbers) > 1 else f"link {listed} is"
