"""Deriving: run a model's algorithm on expressions and keep the program.

Where formulations compete, each is traced and the cheapest kept: a trace costs milliseconds.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ..describe.robot import Robot
from ..describe.symbolic import parametrised
from ..ir.cost import cost
from ..ir.reuse import reused
from ..program import Program
from .common import MEANING
from .derivation import Derivation, Form, Route, Way, is_defined, polished, verify
from .search import cheapest

_NEAR = 1.05  # times the least price


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the search for what only refers to itself: it would go through all nodes of a
    derivation again and again, and find nothing."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@uncollected()
def build(
    robot: Robot, model: str, inputs: Mapping[str, tuple[int, ...]], forms: Iterable[Form],
    outputs: Sequence[str], *, symbolic: bool = False, expanded: bool = False,
    meaning: Mapping[str, str] | None = None, search: Way | None = None, effort: str = "normal",
    rivals: Sequence[Way] = (), routes: Sequence[Route] = (), finals: bool = False,
    rough: bool = False,
) -> Program:  # fmt: skip
    """The cheapest program among `forms`, and among the formulations of `search`.

    `meaning`: of arrays, where it is not the common one (MEANING).
    `rivals`: other algorithms of the same model, searched as far as they stand a chance.
    `routes`: ways through other models; one is taken where it costs less than all of these.
    `finals`: the sums of every form and algorithm are rewritten before they are compared, not those
    of the cheapest alone: for forms so different that the rest may decide.
    `rough`: formulations are compared as they are traced: for programs of thousands of nodes."""
    defaults: dict[str, float] = {}
    if symbolic:
        robot, defaults = parametrised(robot)
    derivation, forms = Derivation(robot, model, inputs), list(forms)
    candidates = [derivation.trace(form) for form in forms]
    through = [derivation.compose(route) for route in routes]
    for way in (search, *rivals) if search is not None else ():
        prices = [candidate.price for candidate in candidates]
        beaten = min(prices) if prices and not finals else None
        candidates.append(cheapest(derivation, *way, effort, beaten, rough))
    page = candidates[0]
    if finals and effort != "plain":
        candidates = [polished(derivation, candidate) for candidate in candidates]
    best = min(candidates, key=lambda candidate: candidate.price)
    if effort != "plain":
        if finals:
            verify(derivation, page.code, page.parameters, best.code, best.parameters)
        else:
            best = polished(derivation, best)
        sines = cost(page.code)[0].trig  # the dearest operation on most machines: none is added
        ways = [x for x in through if cost(x.code)[0].trig <= sines]
        # what is left to do may decide between those that cost nearly the same
        most = min(x.price for x in (best, *ways)) * (_NEAR if effort != "part" else 1)
        ways = [x for x in ways if x.price <= most]
        for x in ways:
            verify(derivation, page.code, page.parameters, x.code, x.parameters)
        last = [best, *ways] if best.price <= most else ways
        if effort != "part":
            last = [polished(derivation, polished(derivation, x, reused)) for x in last]
        best = min(last, key=lambda candidate: candidate.price)
    if not is_defined(derivation, best):
        raise derivation.undefined()
    reading = derivation.page(forms[0] if forms else search[0])  # type: ignore[index]
    names = dict.fromkeys((*best.parameters, *reading.parameters))
    known = {name: defaults[name] for name in names if name in defaults}
    words = {name: MEANING[name] for name in (*inputs, *outputs, "p") if name in MEANING}
    return Program(
        model, robot.name, best.code, best.parameters, known, {**words, **(meaning or {})},
        expanded, best.remarks, page=replace(reading, elsewhere=best.remarks),
    )  # fmt: skip
