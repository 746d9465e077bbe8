"""The search for fewer operations: competing formulations of one model, the cheapest kept.

Candidates are traced into one graph, which gives their price as they stand; those that may be the
cheapest get their sums rewritten too (`ir.factor`). Where the search looks is said in
`formulate.search`. The winner is checked numerically against the plain form of the paper.

    effort "plain"   the paper's form, nothing tried
           "normal"  about a hundred traces; beyond LARGE links only the whole-robot choices
           "safe"    the same, but nothing is divided by a symbol: it may be zero
           "max"     all links, and pairs of changes
           "part"    "normal", for a program that others are composed of
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..formulate.formulation import Formulation
from ..formulate.search import effective, search
from .derivation import Candidate, Derivation, Form, Sketch, Sketches, polished, verify, written

EFFORTS = ("plain", "normal", "safe", "max")
BIG = 1100  # nodes: two formulations of a larger program are compared to the last


def cheapest(
    derivation: Derivation, form: Form, choices: Sequence[str], effort: str = "normal",
    beaten: int | None = None, rough: bool = False,
) -> Candidate:  # fmt: skip
    """The cheapest candidate of an algorithm among the formulations that differ in these choices.

    `beaten`: the price of another algorithm; climbing is spared where it is out of reach.
    `rough`: formulations are compared as they are traced, and only the cheapest is rewritten."""
    plain = derivation.trace(form)
    if effort == "plain":
        return plain
    robot, size = derivation.robot, len(plain.code.nodes)
    if effort == "safe":
        choices = [key for key in choices if key not in ("lump", "rod")]
    trials = _Trials(derivation, form, rough)
    best = search(
        robot, choices, trials, size, thorough=effort == "max", beaten=beaten, rough=rough
    )
    trials.sketches.graph.forget()
    finals = [best]
    if "balance" in choices and size > BIG and not rough:
        # where all links are balanced alike, more is shared in the end
        finals.append(replace(best, balance=frozenset(range(1, len(robot.links) + 1))))
    programs = [
        replace(derivation.trace(written(form, effective(robot, x)), factor=True),
                remarks=x.remarks())
        for x in finals
    ]  # fmt: skip
    if len({id(x.code) for x in programs}) > 1:  # else they are one program
        programs = [polished(derivation, x) for x in programs]
    winner = min(programs, key=lambda x: x.price)
    if winner.price >= plain.price:
        return plain
    verify(derivation, plain.code, plain.parameters, winner.code, winner.parameters)
    return winner


class _Trials:
    """Formulations by price: as traced, and with their sums rewritten."""

    def __init__(self, derivation: Derivation, form: Form, rough: bool) -> None:
        self.form = form
        self.rough = rough
        self.robot = derivation.robot
        self.sketches = Sketches(derivation)
        self.sketched: dict[Formulation, Sketch] = {}
        self.effective: dict[Formulation, Formulation] = {}

    @property
    def tried(self) -> int:
        return len(self.sketched)

    def _sketch(self, form: Formulation) -> Sketch:
        if form not in self.effective:
            self.effective[form] = effective(self.robot, form)
        form = self.effective[form]
        if form not in self.sketched:
            self.sketched[form] = self.sketches.sketch(written(self.form, form))
        return self.sketched[form]

    def sketch(self, form: Formulation) -> int:
        return self._sketch(form).price

    def price(self, form: Formulation) -> int:
        return self.sketch(form) if self.rough else self.sketches.rewritten(self._sketch(form))
