"""`cardan count`: the operations of every model of a robot, beside what others need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import CardanError, UnknownNameError
from ..published import BARE, SOURCES, Figure, kind_of, published

if TYPE_CHECKING:
    from ...catalogue import Entry
    from ...describe.robot import Robot
    from ...ir.cost import Cost

__all__ = ["HEADER", "Row", "as_cells", "as_dict", "count", "footnotes"]

HEADER = ("robot", "model", "parameters", "mul", "add", "div", "trig", "published mul/add")
_COLUMNS = ("mul", "add", "div", "trig")
_MARK = " *"
_MASSLESS = ("geometric", "kinematic")  # groups of models without inertial parameters


@dataclass(frozen=True)
class Row:
    """The cost of one model of one robot, or the reason why there is none."""

    robot: str
    model: str
    parameters: str  # standard, base, given; "" where there are no inertial ones
    cost: Cost | None
    reason: str = ""
    figures: tuple[tuple[Figure, bool], ...] = ()  # with: was it counted on this very robot?


def count(
    name: str,
    robot: Robot,
    *,
    models: Sequence[str] = (),
    compare: bool = True,
    begin: Callable[[str], None] = lambda text: None,
) -> Iterator[Row]:
    """Every program of the catalogue, or these; with base parameters too where a model has that
    option. `begin` is told what is derived next."""
    from ...catalogue import catalogue

    programs = [entry for entry in catalogue() if entry.program]
    known = [entry.name for entry in programs]
    for wanted in models:
        if wanted not in known:
            raise UnknownNameError.of("model with a cost", wanted, known)
    for entry in programs:
        if models and entry.name not in models:
            continue
        for parameters, options in _kinds(name, entry):
            begin(f"counting {name}: {entry.name} {parameters}".rstrip())
            cost, reason = _cost(robot, entry, options)
            figures = published(name, robot, entry.name, parameters) if compare else ()
            marked = tuple((figure, figure.holds_for(robot)) for figure in figures)
            yield Row(name, entry.name, parameters, cost, reason, marked)


def _kinds(name: str, entry: Entry) -> list[tuple[str, dict[str, Any]]]:
    """The inertial parameters to count a model with, and the options that choose them.

    Regressors have a column for each parameter, whatever value a robot gives it."""
    kind = "" if entry.group in _MASSLESS else kind_of(name)
    if "base_parameters" not in entry.options:
        return [(kind, {})]
    standard = "standard" if entry.group == "identification" else kind
    if standard == "base":
        return [(kind, {})]
    return [(standard, {"base_parameters": False}), ("base", {"base_parameters": True})]


def _cost(robot: Robot, entry: Entry, options: dict[str, Any]) -> tuple[Cost | None, str]:
    from ...catalogue import model

    try:
        return model(robot, entry.name, **options).cost, ""
    except CardanError as error:
        return None, str(error)


def as_cells(row: Row) -> tuple[str, ...]:
    """The row of the table: a dash where the model does not exist for this robot."""
    costs = [str(getattr(row.cost, key)) if row.cost else "-" for key in _COLUMNS]
    figures = ", ".join(f"{figure}{'' if same else _MARK}" for figure, same in row.figures)
    return row.robot, row.model, row.parameters, *costs, figures


def as_dict(row: Row) -> dict[str, Any]:
    """The row for programs, with the reason of a dash and the source of each figure."""
    cost = (
        {key: getattr(row.cost, key) for key in (*_COLUMNS, "sqrt", "sign", "total")}
        if row.cost
        else {}
    )
    return {
        "robot": row.robot,
        "model": row.model,
        "parameters": row.parameters,
        **(cost or {"mul": None, "add": None, "div": None, "trig": None, "reason": row.reason}),
        "published": [
            {
                "system": figure.system, "mul": figure.mul, "add": figure.add,
                "counted": figure.condition, "same_robot": same, "source": SOURCES[figure.system],
            }
            for figure, same in row.figures
        ],
    }  # fmt: skip


def footnotes(rows: list[Row]) -> list[str]:
    """What a reader must know about the dashes and the figures in these rows."""
    figures = [pair for row in rows for pair in row.figures]
    systems = dict.fromkeys(figure.system for figure, _ in figures)
    lines = [f"{system}: {SOURCES[system]}" for system in systems]
    lines += ["Published multiplications include divisions."] if figures else []
    for condition in dict.fromkeys(figure.condition for figure, same in figures if not same):
        lines.append(f"* counted {condition}{'; so does --bare' if condition == BARE else ''}.")
    reasons = [row.reason for row in rows if row.cost is None]
    lines += ["- " + reasons[0].replace("robot.tree()", "--tree")] if reasons else []
    lines += [f"- and {len(reasons) - 1} more: --json says why"] if reasons[1:] else []
    return ["", *lines] if lines else []
