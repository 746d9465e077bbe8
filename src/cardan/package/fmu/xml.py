"""modelDescription.xml of FMI 3.0 and 2.0: variables of the unit, their units and structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from xml.sax.saxutils import quoteattr

from ...describe.robot import PRISMATIC
from ...emit.names import Names
from ...version import __version__
from ..plan import Array, Plan
from .model import Unit

RATE = 50.0  # 1/s, at which open loops close in model exchange
_UNITS = {
    "s": {"s": 1}, "1/s": {"s": -1}, "rad": {"rad": 1}, "m": {"m": 1}, "rad/s": {"rad": 1, "s": -1},
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
    guess: bool = False  # is the start value a guess?


def variables(unit: Unit, step: float) -> list[Variable]:
    """time, x, der(x), outputs of closed loops, inputs, parameters: the order of fmu.c."""
    x = [*_positions(unit), *_velocities(unit)]
    first = 1 + unit.velocities
    at = {k: first + c for c, k in enumerate(unit.driving)}  # the velocity of each position
    listed = [Variable("time", "time", "independent", unit="s"), *x]
    for k, state in enumerate(x, 1):
        name, words, causality = f"der({state.name})", f"derivative of {state.name}", ""
        if state.name.startswith("qd"):
            name, causality = f"qdd{state.name[2:]}", "output"
            words = state.words.replace("velocity", "acceleration", 1)
        only = at.get(k - 1) if k <= unit.nq else None
        listed.append(
            Variable(name, words, causality, unit=_per(state.unit), state=k, depends=only)
        )
    listed += _following(unit)
    for array in unit.inputs:
        listed += _elements(unit, array)
    return [*listed, *_parameters(unit), *_settings(unit, step)]


def _named(unit: Unit) -> list[tuple[str, str]]:
    """(name, unit) of every element of q; links that bend have coordinates of their own."""
    names = [
        (f"joint {joint.name}", "m" if joint.sigma == PRISMATIC else "rad") for joint in unit.joints
    ]
    bent = unit.nq - len(names)
    return [*names, *((f"elastic coordinate {k}", "") for k in range(1, bent + 1))]


def _positions(unit: Unit) -> Iterator[Variable]:
    start = iter(unit.start.tolist())
    for k, (name, si) in enumerate(_named(unit)):
        guess = k in unit.held
        words = f"position of {name}" + (", which follows the others: a guess" if guess else "")
        yield Variable(
            f"q[{k + 1}]", words, "output", unit=si, start=next(start), depends=k + 1, guess=guess
        )
    if unit.floating:
        first = unit.nq + 1
        for k in range(3):
            words = f"position of the base in the world, {'xyz'[k]}"
            yield Variable(f"P[{k + 1}]", words, "output", "continuous", "m", next(start),
                           depends=first + k)  # fmt: skip
        for k in range(4):
            words = f"orientation of the base in the world, {'wxyz'[k]} of its unit quaternion"
            yield Variable(f"e[{k + 1}]", words, "output", "continuous", "", next(start),
                           depends=first + 3 + k)  # fmt: skip


def _velocities(unit: Unit) -> Iterator[Variable]:
    first, names = unit.velocities + 1, _named(unit)
    for c, k in enumerate(unit.driving):
        name, si = names[k]
        yield Variable(f"qd[{k + 1}]", f"velocity of {name}", "output", unit=_per(si), start=0.0,
                       depends=first + c)  # fmt: skip
    for k in range(6 * unit.floating):
        what = "velocity of the base's origin" if k < 3 else "angular velocity of the base"
        yield Variable(f"V0[{k + 1}]", f"{what} in its axes, {'xyz'[k % 3]}", "output",
                       unit="m/s" if k < 3 else "rad/s", start=0.0,
                       depends=first + unit.nv + k)  # fmt: skip


def _following(unit: Unit) -> Iterator[Variable]:
    """What follows by closed loops, couplings and wheels."""
    names = _named(unit)
    for k in unit.following:
        name, si = names[k]
        yield Variable(f"qd[{k + 1}]", f"velocity of {name}", "output", unit=_per(si))
    for k in unit.following:
        name, si = names[k]
        yield Variable(f"qdd[{k + 1}]", f"acceleration of {name}", "output", unit=_per(_per(si)))
    if unit.closings:
        words = "how far the loops are open: the largest distance by the robot's size, or angle"
        yield Variable("loops.open", words, "output")


def _per(unit: str) -> str:
    """A unit by time; elastic coordinates have none."""
    return f"{unit}2" if unit.endswith("/s") else f"{unit}/s" if unit else ""


def _elements(unit: Unit, array: Array) -> Iterator[Variable]:
    for index in product(*(range(size) for size in array.shape)):
        si, words = "", array.meaning
        if array.name == "tau":
            joint = unit.driven[index[0]]
            si = "N" if joint.sigma == PRISMATIC else "N.m"
            words = f"{'force' if si == 'N' else 'torque'} of joint {joint.name}"
        elif array.name == "f_e":
            si = "N" if index[1] < 3 else "N.m"
        name = f"{array.spelled}[{','.join(str(k + 1) for k in index)}]"
        yield Variable(name, words, "input", unit=si, start=0.0)


def _parameters(unit: Unit) -> Iterator[Variable]:
    names = Names()
    for name, value in unit.parameters.items():
        words = f"parameter {name} of the robot, SI units"
        yield Variable(f"p.{names.claim(name)}", words, "parameter", "fixed", start=value)


def _settings(unit: Unit, step: float) -> Iterator[Variable]:
    words = "largest step of the integration (Runge-Kutta of order 4) in co-simulation"
    yield Variable("step", words, "parameter", "fixed", "s", step)
    if unit.closings:
        words = "rate at which the derivatives of positions close open loops, in model exchange"
        yield Variable("loops.rate", words, "parameter", "fixed", "1/s", RATE)


def description(plan: Plan, listed: list[Variable], token: str, sources: Sequence[str] = ()) -> str:
    """The file of FMI 3.0, or with the names of the sources that of FMI 2.0, which lists them."""
    words, second = f"Direct dynamics of the robot '{plan.title}'", bool(sources)
    version, key, state, plural = ("2.0", "guid", "state", "") if second else (
        "3.0", "instantiationToken", "State", "s")  # fmt: skip
    able = (
        f'modelIdentifier="{plan.name}" canGetAndSetFMU{state}="true" '
        f'canSerializeFMU{state}="true" providesDirectionalDerivative{plural}="true"'
    )
    listing = "".join(f'<File name="{name}"/>' for name in sources)
    files = f"<SourceFiles>{listing}</SourceFiles>"
    wrote = ' numberOfEventIndicators="0"' if second else ""
    ends = {
        tag: f">{files}</{tag}>" if second else "/>" for tag in ("ModelExchange", "CoSimulation")
    }
    several = ' canHandleVariableCommunicationStepSize="true"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<fmiModelDescription fmiVersion="{version}" modelName={_quoted(plan.title)} '
        f'{key}="{token}" description={_quoted(words)} '
        f'generationTool="Cardan {__version__}" variableNamingConvention="structured"{wrote}>',
        f"  <ModelExchange {able}{ends['ModelExchange']}",
        f"  <CoSimulation {able}{several}{ends['CoSimulation']}",
        "  <UnitDefinitions>",
        *(_unit(name) for name in _UNITS if any(name == x.unit for x in listed)),
        "  </UnitDefinitions>",
        '  <LogCategories><Category name="logStatusError"/></LogCategories>',
        '  <DefaultExperiment startTime="0" stopTime="1" stepSize="0.01"/>',
        "  <ModelVariables>",
        *(_variable(k, variable, second) for k, variable in enumerate(listed)),
        "  </ModelVariables>",
        "  <ModelStructure>",
        *(_second_structure(listed) if second else _structure(listed)),
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


def _variable(k: int, x: Variable, second: bool) -> str:
    """A variable; FMI 2.0 counts variables from 1 and keeps what is of numbers in an element."""
    parts = [f"name={_quoted(x.name)}", f'valueReference="{k}"']
    parts += [f'causality="{x.causality}"'] if x.causality else []
    parts.append(f'variability="{x.variability}"')
    if x.causality == "output":
        kind = "calculated" if x.start is None else "approx" if x.guess else "exact"
        parts.append(f'initial="{kind}"')
    numbers = [f'start="{x.start!r}"'] if x.start is not None else []
    numbers += [f'derivative="{x.state + second}"'] if x.state is not None else []
    numbers += [f'unit="{x.unit}"'] if x.unit else []
    numbers += ['min="0"'] if x.name in ("step", "loops.rate") else []
    words = f"description={_quoted(x.words)}"
    if second:
        real = " ".join(["<Real", *numbers])
        return f"    <ScalarVariable {' '.join(parts)} {words}>{real}/></ScalarVariable>"
    return f"    <Float64 {' '.join([*parts, *numbers])} {words}/>"


def _unknowns(listed: list[Variable]) -> tuple[tuple[str, list[tuple[int, Variable]]], ...]:
    """Outputs, derivatives of the states in the order of the states, and what is computed at the
    start: the element of FMI 3.0, places and variables."""
    every = list(enumerate(listed))
    return (
        ("Output", [(k, x) for k, x in every if x.causality == "output"]),
        ("ContinuousStateDerivative", [(k, x) for k, x in every if x.state is not None]),
        ("InitialUnknown", [
            (k, replace(x, depends=None) if x.guess else x) for k, x in every
            if x.state is not None or x.guess or (x.causality == "output" and x.start is None)
        ]),
    )  # fmt: skip


def _structure(listed: list[Variable]) -> Iterator[str]:
    """A variable without dependencies listed depends on everything."""
    for tag, unknowns in _unknowns(listed):
        for k, x in unknowns:
            known = "" if x.depends is None else (
                f' dependencies="{x.depends}" dependenciesKind="constant"')  # fmt: skip
            yield f'    <{tag} valueReference="{k}"{known}/>'


def _second_structure(listed: list[Variable]) -> Iterator[str]:
    for tag, (_, unknowns) in zip(
        ("Outputs", "Derivatives", "InitialUnknowns"), _unknowns(listed), strict=True
    ):
        rows = []
        for k, x in unknowns:
            known = "" if x.depends is None else (
                f' dependencies="{x.depends + 1}" dependenciesKind="constant"')  # fmt: skip
            rows.append(f'      <Unknown index="{k + 1}"{known}/>')
        if rows:
            yield from (f"    <{tag}>", *rows, f"    </{tag}>")
