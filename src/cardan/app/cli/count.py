"""`cardan count`: the operations of every model of a robot, beside what others need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import CardanError, UnknownNameError
from ..published import BARE, SOURCES, Figure, kind_of, published
from .output import WORDS

if TYPE_CHECKING:
    from ...catalogue import Entry
    from ...describe.robot import Robot
    from ...ir.cost import Cost

HEADER = ("robot", "model", "parameters", "mul", "add", "div", "trig", "once", "others mul/add")
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
    once: Cost | None = None  # of the work on parameters alone, once per parameter set
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
            cost, once, reason = _cost(robot, entry, options)
            figures = published(name, robot, entry.name, parameters) if compare else ()
            marked = tuple((figure, figure.holds_for(robot)) for figure in figures)
            yield Row(name, entry.name, parameters, cost, reason, once, marked)


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


def _cost(
    robot: Robot, entry: Entry, options: dict[str, Any]
) -> tuple[Cost | None, Cost | None, str]:
    """Operations per call and once per parameter set, or why there are none."""
    from ...catalogue import model

    try:
        program = model(robot, entry.name, **options)
    except CardanError as error:
        return None, None, error.told(WORDS)
    return program.cost, program.once, ""


def as_cells(row: Row) -> tuple[str, ...]:
    """The row of the table: a dash where the model does not exist for this robot."""
    costs = [str(getattr(row.cost, key)) if row.cost else "-" for key in _COLUMNS]
    figures = ", ".join(f"{figure}{'' if same else _MARK}" for figure, same in row.figures)
    once = [getattr(row.once, key) for key in _COLUMNS] if row.once else []
    again = "/".join(map(str, once)) if any(once) else ""
    return row.robot, row.model, row.parameters, *costs, again, figures


def as_dict(row: Row) -> dict[str, Any]:
    """The row for programs, with the reason of a dash and the source of each figure."""
    cost = _figures(row.cost) if row.cost else {}
    once = {"once": _figures(row.once)} if row.once else {}
    return {
        "robot": row.robot,
        "model": row.model,
        "parameters": row.parameters,
        **(cost or {"mul": None, "add": None, "div": None, "trig": None, "reason": row.reason}),
        **once,
        "published": [
            {
                "system": figure.system, "mul": figure.mul, "add": figure.add,
                "counted": figure.condition, "same_robot": same, "source": SOURCES[figure.system],
            }
            for figure, same in row.figures
        ],
    }  # fmt: skip


def _figures(cost: Cost) -> dict[str, int]:
    return {key: getattr(cost, key) for key in (*_COLUMNS, "sqrt", "sign", "total")}


def footnotes(rows: list[Row]) -> list[str]:
    """What a reader must know about the dashes and the figures in these rows."""
    figures = [pair for row in rows for pair in row.figures]
    systems = dict.fromkeys(figure.system for figure, _ in figures)
    lines = [f"{system}: {SOURCES[system]}" for system in systems]
    lines += ["Multiplications of others include divisions."] if figures else []
    if any(row.once and (row.once.total or row.once.trig) for row in rows):
        lines.append("Operations are those of every call; once: mul/add/div/trig on the parameters"
                     " alone, once per parameter set.")  # fmt: skip
    for condition in dict.fromkeys(figure.condition for figure, same in figures if not same):
        lines.append(f"* counted {condition}{'; so does --bare' if condition == BARE else ''}.")
    reasons = [row.reason for row in rows if row.cost is None]
    lines += ["- " + reasons[0]] if reasons else []
    lines += [f"- and {len(reasons) - 1} more: --json says why"] if reasons[1:] else []
    return ["", *lines] if lines else []
