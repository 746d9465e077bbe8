"""What a package is made of: functions with their arrays and their verified examples.

The plan knows no language; the modules of the kinds turn it into files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from ..catalogue import MENU
from ..catalogue import model as derive
from ..describe.robot import Robot
from ..emit import printers
from ..emit.cpp import Cpp
from ..emit.header import harmless, one_line
from ..emit.names import Names
from ..errors import InputError, ModelError, UnknownNameError
from ..program import Program
from .reference import Example, Reference, checked

if TYPE_CHECKING:
    from ..emit.printer import Printer

# how the text of a function is written, as `emit` takes it, and what is the default
PRINTING: dict[str, Any] = {"dtype": "float64", "arguments": "array", "split": None, "chunk": None}

Wanted = str | tuple[str, Mapping[str, Any]] | Program  # a model, one with options, a law


def name_of(item: Wanted) -> str:
    """The model that is wanted."""
    if isinstance(item, Program):
        return item.model
    return item if isinstance(item, str) else item[0]


@dataclass(frozen=True)
class Array:
    """An input or output of a function; matrices are flat, row by row."""

    name: str  # in the program
    spelled: str  # in C and C++, and good elsewhere
    shape: tuple[int, ...]
    meaning: str

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Function:
    """A model as a function of the package."""

    model: str
    short: str  # inverse_dynamics
    name: str  # rx90_inverse_dynamics
    summary: str
    program: Program
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    examples: tuple[Example, ...]
    reference: Reference  # what computed the expected numbers
    tolerance: float  # of the largest element, at least of 1
    printing: Mapping[str, Any]
    options: Mapping[str, Any] | None  # of the model; None of a program that is in no menu

    def emit(self, language: str, name: str = "") -> str:
        return self.program.emit(language, function=name or self.name, **self.printing)

    def printers(self, language: str, name: str = "") -> list[Printer]:
        """What prints the functions of the text, the one of the model first."""
        written = printers(self.program, language, function=name or self.name, **self.printing)
        return [*written[-1:], *written[:-1]]

    def calls(self, language: str) -> list[Printer]:
        """The functions that are called for a result, in order."""
        written = self.printers(language)
        return written[::-1] if self.printing.get("split") else written[:1]

    @cached_property
    def parts(self) -> tuple[tuple[str, Program], ...]:
        """What the text defines beside the function itself: (ending of its name, program) of the
        work on parameters alone and of that of every state."""
        program = self.program
        split, struct = self.printing.get("split"), "arguments" in self.printing
        alone = len(program.inputs) == 1
        apart = "p" in program.inputs and (split or not (alone or struct or split is False))
        setup, loop = program.split() if apart else (None, program)
        return () if setup is None else (("setup", setup), ("loop", loop))


@dataclass(frozen=True)
class Plan:
    """All of a package but its language."""

    name: str
    robot: Robot
    functions: tuple[Function, ...]
    printing: Mapping[str, Any]

    @property
    def dtype(self) -> str:
        return str(self.printing.get("dtype", "float64"))

    @property
    def tolerance(self) -> float:
        """That of the function that needs most."""
        return max(function.tolerance for function in self.functions)

    @property
    def title(self) -> str:
        """The robot's own name as it stands in heads and descriptions."""
        return harmless(self.robot.name) or self.name

    def function(self, model: str) -> Function:
        return next(function for function in self.functions if function.model == model)


def make_plan(
    robot: Robot, name: str, models: Sequence[Wanted], options: dict[str, Any],
    printing: Mapping[str, Any] | None = None,
) -> Plan:  # fmt: skip
    """Derive and verify every model. Common options go to each model that knows them; `printing`
    says how texts are written."""
    printing = printing or {}
    wanted = [item if isinstance(item, Program) else _wanted(item) for item in models]
    if not wanted:
        raise InputError("a package holds at least one model; none was given")
    named = [item for item in wanted if not isinstance(item, Program)]
    for model, _ in named:
        if model not in MENU:
            raise UnknownNameError.of("model", model, MENU)
        if not MENU[model].program:
            raise ModelError(f"'{model}' is no program and cannot be in a package: leave it out")
    known = {key: None for model, _ in named for key in MENU[model].options}
    for key in options:
        if key not in known:
            raise UnknownNameError.of("option of these models", key, known)
    functions: list[Function] = []
    for item in wanted:
        model, own = (item.model, {}) if isinstance(item, Program) else item
        before = sum(other.model == model for other in functions)
        short = model.replace("-", "_").replace(" ", "_") + (f"_{before + 1}" if before else "")
        if isinstance(item, Program):
            functions.append(_function(robot, name, short, item, None, printing))
            continue
        common = {key: x for key, x in options.items() if key in MENU[model].options}
        chosen = {**common, **own}
        program = derive(robot, model, **chosen)
        functions.append(_function(robot, name, short, program, chosen, printing))
    return Plan(name, robot, tuple(functions), printing)


def _wanted(item: Any) -> tuple[str, Mapping[str, Any]]:
    """A model and its own options."""
    if isinstance(item, str):
        return item, {}
    pair = tuple(item) if isinstance(item, tuple | list) else ()
    if len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], Mapping):
        raise InputError(f"{item!r} is no model: give its name, or (name, options)")
    return pair


def _function(
    robot: Robot, package: str, short: str, program: Program, options: dict[str, Any] | None,
    printing: Mapping[str, Any],
) -> Function:  # fmt: skip
    """Of a model with its options; of a program that is in no menu, as a law, without."""
    model = program.model
    names = Names(Cpp.reserved)
    arrays = []
    for shapes in (program.inputs, program.outputs):
        arrays.append(
            tuple(
                Array(name, names.claim(name), shape, one_line(program.meaning.get(name, "")))
                for name, shape in shapes.items()
            )
        )
    inputs, outputs = arrays
    for array in (*inputs, *outputs):
        if not array.size:
            raise ModelError(
                f"'{model}' of '{robot.name}': {array.name} has no elements; leave the model out"
            )
    single = printing.get("dtype") == "float32"
    examples, reference, tolerance = checked(robot, model, options, program, single)
    summary = model if options is None else MENU[model].summary
    return Function(
        model, short, f"{package}_{short}", summary, program, inputs, outputs,
        examples, reference, tolerance, printing, options,
    )  # fmt: skip
