"""Deriving: run a model's algorithm on expressions and keep the program.

Where formulations compete, each is traced and the cheapest kept: a trace costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..describe.robot import Robot
from ..describe.symbolic import parametrised
from ..models.formulation import Formulation
from ..program import Program
from .derivation import Derivation, Form, Way, is_defined, polished
from .search import cheapest

__all__ = ["derive"]


def derive(
    robot: Robot,
    model: str,
    inputs: Mapping[str, tuple[int, ...]],
    forms: Iterable[Form],
    *,
    meaning: Mapping[str, str],
    symbolic: bool = False,
    expanded: bool = False,
    formulate: Callable[[Formulation], Form] | None = None,
    choices: Sequence[str] = (),
    effort: str = "normal",
    rivals: Sequence[Way] = (),
) -> Program:
    """The cheapest program among `forms`, or among the formulations that `formulate` can take.

    `rivals`: other algorithms of the same model, searched as far as they stand a chance."""
    defaults: dict[str, float] = {}
    if symbolic:
        robot, defaults = parametrised(robot)
    derivation = Derivation(robot, model, inputs)
    candidates = [derivation.trace(form) for form in forms]
    if formulate is not None:
        for way in ((formulate, choices), *rivals):
            beaten = min((found.price for found in candidates), default=None)
            candidates.append(cheapest(derivation, *way, effort, beaten))
    best = min(candidates, key=lambda candidate: candidate.price)
    if effort != "plain":
        best = polished(derivation, best)
    if not is_defined(derivation, best):
        raise derivation.undefined()
    known = {name: defaults[name] for name in best.parameters if name in defaults}
    return Program(
        model, robot.name, best.code, best.parameters, known, dict(meaning), expanded, best.remarks,
    )  # fmt: skip
