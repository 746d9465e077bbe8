"""modelDescription.xml of FMI 3.0: the variables of the unit, their units and their structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from xml.sax.saxutils import quoteattr

from ..describe.robot import FIXED, PRISMATIC
from ..emit.names import Names
from ..version import __version__
from .plan import Array, Function, Plan

__all__ = ["STEP", "Variable", "description", "inputs", "positions", "variables"]

STEP = 0.001  # s, of the integration within co-simulation
_UNITS = {
    "s": {"s": 1}, "rad": {"rad": 1}, "m": {"m": 1}, "rad/s": {"rad": 1, "s": -1},
    "m/s": {"m": 1, "s": -1}, "rad/s2": {"rad": 1, "s": -2}, "m/s2": {"m": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2}, "N.m": {"kg": 1, "m": 2, "s": -2},
}  # fmt: skip


@dataclass(frozen=True)
class Variable:
    """A Float64 of the unit; its value reference is its place in the list."""

    name: str
    words: str
    causality: str = ""  # local, as the standard has it
    variability: str = "continuous"
    unit: str = ""
    start: float | None = None
    state: int | None = None  # the value reference that this is the derivative of
    depends: int | None = None  # the only variable this depends on


def variables(plan: Plan, function: Function, step: float) -> list[Variable]:
    """time, q, qd, der(q), qdd, inputs, parameters, step: the order of fmu.c."""
    joints = [joint for joint in plan.robot.joints if joint.sigma != FIXED]
    lengths = ["m" if joint.sigma == PRISMATIC else "rad" for joint in joints]
    names = [f"joint {joint.name}" for joint in joints]
    deformed = positions(function) - len(joints)  # links that bend have coordinates of their own
    lengths += [""] * deformed
    names += [f"elastic coordinate {k}" for k in range(1, deformed + 1)]
    n = len(names)
    found = [Variable("time", "time", "independent", unit="s")]
    for k, unit in enumerate(lengths, 1):
        words = f"position of {names[k - 1]}"
        found.append(Variable(f"q[{k}]", words, "output", unit=unit, start=0.0, depends=k))
    for k, unit in enumerate(lengths, 1):
        words = f"velocity of {names[k - 1]}"
        found.append(
            Variable(f"qd[{k}]", words, "output", unit=_per(unit, "s"), start=0.0, depends=n + k)
        )
    for k, unit in enumerate(lengths, 1):
        words = f"derivative of q[{k}]"
        found.append(Variable(f"der(q[{k}])", words, unit=_per(unit, "s"), state=k, depends=n + k))
    for k, unit in enumerate(lengths, 1):
        words = f"acceleration of {names[k - 1]}"
        found.append(Variable(f"qdd[{k}]", words, "output", unit=_per(unit, "s2"), state=n + k))
    for array in inputs(function):
        found += _elements(plan, array)
    return [*found, *_parameters(function), _step(step)]


def positions(function: Function) -> int:
    """The number of coordinates q."""
    return next(array.size for array in function.inputs if array.name == "q")


def _per(unit: str, time: str) -> str:
    """A unit by a power of time; elastic coordinates have none."""
    return f"{unit}/{time}" if unit else ""


def inputs(function: Function) -> list[Array]:
    """The arrays that come from outside at every moment."""
    return [array for array in function.inputs if array.name not in ("q", "qd", "p")]


def _elements(plan: Plan, array: Array) -> Iterator[Variable]:
    rigid = [j for j in plan.robot.joints if j.sigma != FIXED and not j.elastic]
    for index in product(*(range(size) for size in array.shape)):
        unit = ""
        if array.name == "tau":
            unit = "N" if rigid[index[0]].sigma == PRISMATIC else "N.m"
        elif array.name == "f_e":
            unit = "N" if index[1] < 3 else "N.m"
        name = f"{array.spelled}[{','.join(str(k + 1) for k in index)}]"
        yield Variable(name, array.meaning, "input", unit=unit, start=0.0)


def _parameters(function: Function) -> Iterator[Variable]:
    names = Names()
    for name in function.program.parameters:
        value = function.program.defaults[name]
        words = f"parameter {name} of the robot, SI units"
        yield Variable(f"p.{names.claim(name)}", words, "parameter", "fixed", start=value)


def _step(step: float) -> Variable:
    words = "largest step of the integration (Runge-Kutta of order 4) in co-simulation"
    return Variable("step", words, "parameter", "fixed", "s", step)


def description(plan: Plan, found: list[Variable], token: str) -> str:
    """The file."""
    words = f"Direct dynamics of the robot {plan.title}"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<fmiModelDescription fmiVersion="3.0" modelName={_quoted(plan.title)} '
        f'instantiationToken="{token}" description={_quoted(words)} '
        f'generationTool="Cardan {__version__}" variableNamingConvention="structured">',
        f'  <ModelExchange modelIdentifier="{plan.name}" canGetAndSetFMUState="true" '
        'canSerializeFMUState="true"/>',
        f'  <CoSimulation modelIdentifier="{plan.name}" canGetAndSetFMUState="true" '
        'canSerializeFMUState="true" canHandleVariableCommunicationStepSize="true"/>',
        "  <UnitDefinitions>",
        *(_unit(name) for name in _UNITS if any(name == x.unit for x in found)),
        "  </UnitDefinitions>",
        '  <LogCategories><Category name="logStatusError"/></LogCategories>',
        '  <DefaultExperiment startTime="0" stopTime="1" stepSize="0.01"/>',
        "  <ModelVariables>",
        *(_variable(k, variable) for k, variable in enumerate(found)),
        "  </ModelVariables>",
        "  <ModelStructure>",
        *_structure(found),
        "  </ModelStructure>",
        "</fmiModelDescription>",
        "",
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return quoteattr("".join(c if c.isprintable() else " " for c in text))


def _unit(name: str) -> str:
    base = " ".join(f'{unit}="{power}"' for unit, power in _UNITS[name].items())
    return f'    <Unit name="{name}"><BaseUnit {base}/></Unit>'


def _variable(k: int, x: Variable) -> str:
    parts = [f"name={_quoted(x.name)}", f'valueReference="{k}"']
    parts += [f'causality="{x.causality}"'] if x.causality else []
    parts.append(f'variability="{x.variability}"')
    if x.causality == "output":
        parts.append(f'initial="{"calculated" if x.start is None else "exact"}"')
    parts += [f'start="{x.start!r}"'] if x.start is not None else []
    parts += [f'derivative="{x.state}"'] if x.state is not None else []
    parts += [f'unit="{x.unit}"'] if x.unit else []
    parts += ['min="0"'] if x.name == "step" else []
    return f"    <Float64 {' '.join(parts)} description={_quoted(x.words)}/>"


def _structure(found: list[Variable]) -> Iterator[str]:
    """Outputs, derivatives of the states in the order of the states, and what is computed at the
    start. A variable without dependencies listed depends on everything."""

    def line(tag: str, k: int, x: Variable) -> str:
        known = "" if x.depends is None else (
            f' dependencies="{x.depends}" dependenciesKind="constant"')  # fmt: skip
        return f'    <{tag} valueReference="{k}"{known}/>'

    every = list(enumerate(found))
    yield from (line("Output", k, x) for k, x in every if x.causality == "output")
    yield from (line("ContinuousStateDerivative", k, x) for k, x in every if x.state is not None)
    yield from (line("InitialUnknown", k, x) for k, x in every if x.state is not None)
