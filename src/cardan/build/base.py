"""Base parameters of a robot as an object: the table, the robot that carries them, and the map."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra.scalar import function
from ..describe.files import FORMATS
from ..describe.robot import DRIVE, FIXED, FURTHER, GEOMETRY, INERTIA, Joint, Link, Robot
from ..describe.symbolic import parametrised
from ..describe.values.expression import (
    Expression,
    Value,
    add,
    call,
    evaluate,
    multiply,
    number,
    power,
    symbol,
    symbols,
)
from ..describe.values.parser import to_value
from ..describe.values.polynomial import collected
from ..document.notebook import (
    FORMS,
    equations_page,
    equations_shown,
    notebook_html,
    notebook_latex,
)
from ..document.structure import Part, Words, words
from ..emit import latex
from ..emit.header import wrapped
from ..emit.latex import symbol_of
from ..emit.reading import Reading, Section, reading
from ..emit.reading.spell import Notation
from ..emit.text import lines
from ..errors import ModelError
from ..files import write_atomic
from ..ir.trace import Tracer
from ..latex import escaped
from ..mechanism.coordinates import Coordinates, is_floating
from ..models.base_parameters import (
    Column,
    Drop,
    Merge,
    Project,
    Step,
    Transfer,
    regroup,
    regrouping_steps,
    tree_steps,
    unit_bodies,
)
from ..models.bodies import Bodies, bodies
from ..models.friction import COEFFICIENTS
from ..program import Program
from .base_file import States, base_file
from .mechanism import Mechanism, require_available
from .observe import motion_symbols, observe

CUT_COLUMNS = ("IA", "FV", "FS")  # the parameters of a cut joint, in the order of regressors

MODES = (
    "the loops have assembly modes that need more base parameters; these hold in the one that needs"
    " fewest (of a parallelogram: uncrossed)"
)


_DIGITS = 13  # of coefficients that are solved for; the last ones are round-off


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a robot.

    kept: (name, link) of each base parameter; regrouped: those whose value gathers others, as
    formulas; eliminated: all others, with the reason; robot: the same robot carrying the base
    parameters (same torques); apart: rotors of joints without a motor, passive and cut ones, that
    the robot has all the same and that others do not give; remarks: where a rule could not decide
    and the rank did. Rotors and friction of joints that others lead (couplings) are regrouped into
    those of the leaders, friction of passive joints that move as another one into that one's.

    >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
    >>> base
    7 base parameters of Planar 2R: ZZ1R MX1R MY1 ZZ2 MX2 MY2 IA2
      ZZ1R = ZZ1 + L1^2*M2
      MX1R = MX1 + L1*M2"""

    kept: tuple[Column, ...]
    regrouped: Mapping[Column, Value]
    eliminated: Mapping[Column, str]
    robot: Robot
    original: Robot
    steps: tuple[Step, ...]
    remarks: tuple[str, ...] = ()
    apart: tuple[Column, ...] = ()
    states: States = field(default=(), compare=False, repr=False)  # of loops, where it was decided

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `robot`, which every model takes, as .toml, .par, .urdf or .xml. What is written is
        read back and gives the torques of the original at random states; what a format cannot
        hold (of symbols all but .toml and .par, in URDF links whose mass was regrouped) is refused
        by name.

        >>> cardan.model(cardan.load("planar2r"), "base-parameters").save("arm.toml")
        >>> cardan.load("arm.toml").links[0].ZZ
        ZZ1 + L1^2*M2"""
        text = base_file(self.original, self.robot, Path(path).suffix, self.states)
        write_atomic(path, text)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters; R marks the regrouped ones, as SYMORO+ does.

        >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
        >>> base.names
        ('ZZ1R', 'MX1R', 'MY1', 'ZZ2', 'MX2', 'MY2', 'IA2')"""
        return tuple(f"{n}{j}{'R' if (n, j) in self.regrouped else ''}" for n, j in self.kept)

    @property
    def values(self) -> dict[str, Value]:
        """The base parameters by name: numbers, or formulas in the symbols of the robot.

        >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
        >>> str(base.values["ZZ1R"])
        'ZZ1 + L1^2*M2'"""
        carried = _values(self.robot)
        return {name: carried[c] for name, c in zip(self.names, self.kept, strict=True)}

    @cached_property
    def map(self) -> np.ndarray:
        """The matrix from the full parameters (`full`) to the base parameters (`kept`).

        Geometry with free symbols has no such matrix: give them numbers with robot.with_values.

        >>> base = cardan.model(cardan.load("ur5"), "base-parameters")
        >>> base.map.shape == (len(base.kept), len(base.full))
        True"""
        scene = bodies(self.original, _no_symbols)
        units, listed = unit_bodies(scene)
        for x in (c for step in self.steps if isinstance(step, Merge) for c, _ in step.into):
            if isinstance(x, Expression):
                _no_symbols(symbols(x)[0])
        columns = regroup(units, self.steps)
        return np.array([np.broadcast_to(columns[c], len(listed)) for c in self.kept])

    @property
    def full(self) -> tuple[Column, ...]:
        """The full parameters in the order of the map's columns.

        >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
        >>> base.full[:3]
        (('XX', 0), ('XY', 0), ('XZ', 0))"""
        return tuple(unit_bodies(_instance(self.original, 0))[1])

    def renamed(self) -> Robot:
        """The robot with one new symbol per regrouped parameter (XX2R, ...).

        >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
        >>> base.renamed().links[0].ZZ
        ZZ1R"""
        new = {
            column: symbol(name)
            for column, name in zip(self.kept, self.names, strict=True)
            if column in self.regrouped and symbols(self.regrouped[column])
        }
        return _carrying(self.robot, {**_values(self.robot), **new})

    @cached_property
    def program(self) -> Program:
        """The base parameters K (in the order of `names`) as a program of the robot's parameters p:
        its symbols, or, where all its inertial values are numbers, those by their usual names.

        >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
        >>> base.program.parameters
        ('L1', 'ZZ1', 'MX1', 'MY1', 'ZZ2', 'MX2', 'MY2', 'M2')"""
        formulas, order, known = self._formulas
        tracer = Tracer()
        rows = [evaluate(formulas[c], tracer.parameter, function) for c in self.kept]
        code, used = tracer.program({"K": ((len(rows),), rows)}, order=order)
        meaning = {"K": f"base parameters {', '.join(self.names)}", "p": "parameters, SI units"}
        defaults = {name: known[name] for name in used if name in known}
        return Program(
            "base-parameters", self.original.name, code, used, defaults, meaning, columns=self.names
        )

    def equations(self, form: str = "text") -> str:
        """The base parameters and the regrouping relations, one equation per regrouped parameter;
        form 'text', 'latex' (the relations alone), 'markdown' or 'html'.

        >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
        >>> print(base.equations())
        7 base parameters of Planar 2R: ZZ1R MX1R MY1 ZZ2 MX2 MY2 IA2
          ZZ1R = ZZ1 + L1^2*M2
          MX1R = MX1 + L1*M2"""
        if form not in ("text", "latex"):
            title = f"Base parameters of {self.original.name}"
            return equations_page(title, self._parts()[0], self.equations("latex"), form)
        page = self._relations
        if form == "text":
            rows = lines(page.equations, Notation())
            words = (row for line in self.remarks for row in wrapped(line))
            return "\n".join([*wrapped(self._head), *rows, *words])
        if not page.equations:
            return escaped(f"no parameter of {self.original.name} is regrouped")
        return latex.document(page)

    @cached_property
    def _relations(self) -> Reading:
        """The equations of the regrouped parameters, each in the order of its formula."""
        formulas, order, _ = self._formulas
        listed = sorted(self.regrouped.items(), key=lambda item: _position(item[0]))
        rows = {f"{n}{j}R": formulas.get((n, j), value) for (n, j), value in listed}

        def read(names: Collection[str]) -> Reading:
            tracer = Tracer()
            values = {x: evaluate(rows[x], tracer.parameter, function) for x in names}
            outputs = {x: ((), [value]) for x, value in values.items()}
            code, used = tracer.program(outputs, order=order)
            return reading(
                Program("base-parameters", self.original.name, code, used, expanded=True)
            )

        equations = tuple(x for name in rows for x in read([name]).equations)
        return replace(read(rows), sections=(Section("", "", equations),))

    def emit(self, language: str, **options: Any) -> str:
        """Self-contained code of a function that gives the base parameters of the parameters; as
        text, latex, markdown or html the regrouping relations, as toml, par, urdf or xml the robot
        (`save`).

        >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
        >>> "K[0]" in base.emit("c")
        True
        >>> "MX1 + L1*M2" in base.emit("toml")
        True"""
        if language in FORMS:
            return self.equations(language)
        if f".{language}" in FORMATS:
            return base_file(self.original, self.robot, language, self.states)
        return self.program.emit(language, **options)

    @cached_property
    def _formulas(self) -> tuple[dict[Column, Value], tuple[str, ...], dict[str, float]]:
        """The base parameters as formulas, their symbols in order, and values of these."""
        robot, known = self.original, dict[str, float]()
        own = _values(robot)
        if not any(symbols(value) for value in own.values()):
            named, every = parametrised(robot)
            robot = _carrying(robot, _values(named))
            known = {name: every[name] for name in robot.parameters if name in every}
            own = _values(robot)
        linear = {name for value in own.values() for name in symbols(value)}
        regrouped = regroup(bodies(robot, symbol), self.steps)
        solved = any(isinstance(step, Merge) and not step.exact for step in self.steps)
        digits = _DIGITS if solved else 0
        formulas = {c: collected(_as_value(v), linear, digits) for c, v in regrouped.items()}
        return formulas, robot.parameters, known

    def table(self) -> list[tuple[str, str, str]]:
        """Rows (parameter, what becomes of it, formula).

        >>> base = cardan.model(cardan.load("planar2r"), "base-parameters")
        >>> base.table()[5]
        ('ZZ1R', 'regrouped', 'ZZ1 + L1^2*M2')"""
        rows = []
        for column in sorted({*self.kept, *self.regrouped, *self.eliminated}, key=_position):
            name = f"{column[0]}{column[1]}"
            if column in self.regrouped:
                rows.append((f"{name}R", "regrouped", str(self.regrouped[column])))
            elif column in self.kept:
                rows.append((name, "kept", ""))
            else:
                rows.append((name, "eliminated", self.eliminated[column]))
        return rows

    def _parts(self) -> tuple[Words, Sequence[Part]]:
        """What a notebook shows: the names, and the relations of those that are regrouped."""
        names = ", ".join(f"${symbol_of(name)}$" for name in self.names)
        head = f"{len(self.names)} base parameters of {{robot}}: {names}"
        parts: list[Part] = list(self.remarks)
        if self.regrouped:
            parts = [*equations_shown(self.equations("latex"), "print(base)"), *parts]
        return words(head, robot=self.original.name), parts

    def _repr_html_(self) -> str:
        return notebook_html(*self._parts())

    def _repr_latex_(self) -> str:
        return notebook_latex(*self._parts())

    def __repr__(self) -> str:
        return self.equations()

    @property
    def _head(self) -> str:
        return f"{len(self.kept)} base parameters of {self.original.name}: {' '.join(self.names)}"


def base_parameters(robot: Robot, *, method: str = "symbolic") -> BaseParameters:
    """The base inertial parameters (with IA); friction parameters are base parameters too, but for
    those of joints that move as another one, which that one has."""
    require_available(robot, "base-parameters")
    return _looped(robot, method) if robot.constrained else _derived(robot, method)


@lru_cache(maxsize=8)
def _looped(robot: Robot, method: str) -> BaseParameters:
    """Kept: several models ask for the same ones, and loops take seconds to decide."""
    return _derived(robot, method)


def _derived(robot: Robot, method: str) -> BaseParameters:
    steps, remarks, alike, states = _steps(robot, method == "symbolic")
    led = _rates(robot, {})
    steps = [_to_leader("IA", j, *led[j]) for j in led] + steps
    rates = _rates(robot, alike)
    frictions = [
        _to_leader(key, j, *rates[j]) for j in rates for key in _shared(robot, j, rates[j][0])
    ]
    scene = bodies(robot, symbol)
    original = _values(robot)
    linear = {name for value in original.values() for name in symbols(value)}
    values = {
        c: collected(_as_value(v), linear) for c, v in regroup(scene, steps).items()
        if c in original
    }  # fmt: skip
    apart = rotors_apart(robot)
    columns = tuple(sorted((c for c in values if c not in apart), key=_position))
    left = [c for c in sorted(apart, key=_position) if values.get(c, 0) != 0]
    rotors = [k for k in driven_cuts(robot) if robot.loops[k - 1].cut.IA != 0]
    left += [("IA", len(robot.joints) + k) for k in rotors]
    left += [("IA", j) for j in robot.driving]
    rubbing = _rubbing(robot, frictions)
    regrouped = {c: values[c] for c in values if values[c] != original[c]}
    regrouped |= {c: value for c, value in rubbing.items() if value != 0}
    eliminated = {c: _reason(c, steps, robot) for c in original if c not in values}
    eliminated |= {step.column: _reason(step.column, frictions, robot) for step in frictions}
    carried = dict.fromkeys(original, 0) | values
    return BaseParameters(
        columns, regrouped, eliminated, _carrying(robot, {**carried, **rubbing}), robot,
        tuple(steps), tuple(remarks), tuple(left), states,
    )  # fmt: skip


def _rates(robot: Robot, alike: Mapping[int, tuple[int, Value]]) -> dict[int, tuple[int, Value]]:
    """By joint that moves as another one, `alike` or by couplings: which one in the end, and the
    ratio of their velocities."""
    rates = dict(alike)
    for j, (k, *others) in Coordinates.of(robot).led.items() if robot.couplings else ():
        if others:  # it moves as none of them: its drive keeps parameters of its own
            continue
        first, before = rates.get(k, (k, 1))
        rates[j] = first, multiply(before, to_value(robot.couplings[j].ratio))
    return rates


def _to_leader(key: str, j: int, leader: int, ratio: Value) -> Merge:
    """A drive parameter of a joint that is led, given to its leader: qd_j = ratio qd_k, and the
    torque on k is ratio times that on j."""
    size = _magnitude(ratio)
    gain = {
        "FS": size, "FQ": power(size, 3), "FVA": multiply(ratio, size), "FSA": ratio, "FO": ratio,
    }.get(key, power(ratio, 2))  # fmt: skip
    return Merge((key, j), ((gain, (key, leader)),))


def _shared(robot: Robot, j: int, leader: int) -> list[str]:
    """The friction of joint j that its leader can have: laws of one shape in the velocity. What
    only some joints have stays where it is, if the leader has none."""
    own, led = robot.joints[leader - 1], robot.joints[j - 1]
    jumps = own.VS == 0 and led.VS == 0
    alike = ("FQ", "FVA", "FO", *(("FSA",) if jumps else ()))
    both = [key for key in alike if getattr(own, key) != 0 and getattr(led, key) != 0]
    return ["FV", *(["FS"] if jumps else []), *both]


def _magnitude(x: Value) -> Value:
    value = number(x)
    return call("abs", x) if value is None else x if value >= 0 else multiply(-1, x)


def _rubbing(robot: Robot, steps: Sequence[Merge]) -> dict[Column, Value]:
    """The friction of joints that are led, zero, and of their leaders, which have it all."""
    values: dict[Column, Value] = {}
    for step in steps:
        own = to_value(getattr(robot.joints[step.column[1] - 1], step.column[0]))
        ((gain, (key, k)),) = step.into
        if own != 0:
            before = values.get((key, k), getattr(robot.joints[k - 1], key))
            values[key, k] = add(before, multiply(gain, own))
        values[step.column] = 0
    return values


def _steps(
    robot: Robot, symbolic: bool
) -> tuple[list[Step], list[str], dict[int, tuple[int, Value]], States]:
    """The steps of a tree, or of a closed-loop robot seen through its active joints; remarks; the
    passive joints that move as others; the states of the loops that were looked at."""
    if not robot.constrained:
        varied = any(symbols(getattr(j, key)) for j in robot.joints for key in GEOMETRY)
        varied = varied or bool(motion_symbols(robot))
        samples = [_instance(robot, seed) for seed in range(3 if varied else 1)]
        return *_decided(samples, symbolic, base=is_floating(robot)), {}, ()
    rotors, led = rotors_apart(robot), robot.couplings
    last = {(key, j) for key, j in rotors if robot.joints[j - 1].IA != 0 and j not in led}
    apart = rotors - last
    seen = observe(robot, tree_steps(_instance(robot, 0), symbolic, apart)[1])
    samples = [_instance(robot, 0, values) for values in seen.values]
    steps, remarks = _decided(
        samples, symbolic, observed=seen.matrix, formula=seen.formula, apart=apart, last=last
    )
    if seen.several:
        remarks.append(MODES)
    states = tuple(zip(seen.values, seen.states, strict=True))
    return steps, remarks, seen.proportional(), states


def _decided(samples: list[Bodies], symbolic: bool, **how: Any) -> tuple[list[Step], list[str]]:
    """Numerical steps where the geometry has numbers, the symbolic rules where it has not.

    Coefficients that change with the symbols of the geometry leave dependent parameters in a
    numerical choice; the rules have formulas for them, and the rank decides what remains."""
    steps, remarks = regrouping_steps(samples, symbolic=symbolic, **how)
    if symbolic or not remarks:
        return steps, remarks
    steps, remarks = regrouping_steps(samples, symbolic=True, **how)
    words = (
        "the geometry has symbols, with which numerical coefficients would change: regrouped by the"
        " symbolic rules instead"
    )
    return steps, [words, *remarks]


def rotors_apart(robot: Robot) -> set[Column]:
    """Rotor inertias of the passive joints of a closed-loop robot: there is no motor to have them.

    Where a description has them all the same they stand beside the base parameters, as friction
    does; but for those that others give, as the rotors of joints that are led."""
    passive = enumerate(robot.joints, 1) if robot.constrained else ()
    return {("IA", j) for j, joint in passive if joint.sigma != FIXED and not joint.active}


def driven_cuts(robot: Robot) -> tuple[int, ...]:
    """The loops, from 1, whose cut joint has friction or a rotor."""
    return tuple(
        k
        for k, loop in enumerate(robot.loops, 1)
        if loop.cut.sigma != FIXED
        and any(getattr(loop.cut, name) != 0 for name in ("IA", *COEFFICIENTS))
    )


def _instance(robot: Robot, seed: int, known: Mapping[str, float] | None = None) -> Bodies:
    """The robot with random numbers for its symbols, but for those known."""
    rng = np.random.default_rng(1000 + seed)
    values = {name: float(rng.uniform(0.3, 1.7)) for name in robot.parameters}
    values |= known or {}
    return bodies(robot, values.__getitem__)


def _no_symbols(name: str) -> Any:
    raise ModelError(f"the map needs numbers, but '{name}' is a symbol", action="values")


def _as_value(x: Any) -> Value:
    return to_value(float(x)) if isinstance(x, float | np.floating) else x


def _position(column: Column) -> tuple[int, int]:
    return column[1], (*INERTIA, *DRIVE).index(column[0])


def _values(robot: Robot) -> dict[Column, Value]:
    values: dict[Column, Value] = {}
    if is_floating(robot):
        values |= {(key, 0): getattr(robot.base.link, key) for key in INERTIA}
    for j, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True), 1):
        values |= {(key, j): getattr(link, key) for key in INERTIA}
        if joint.sigma != 2:
            values["IA", j] = joint.IA
    return values


def _carrying(robot: Robot, values: Mapping[Column, Value]) -> Robot:
    """The robot with these inertial parameters."""

    def loaded(j: int, link: Link) -> Link:
        changed: dict[str, Any] = {key: values.get((key, j), 0) for key in INERTIA}
        return replace(link, **changed)

    links = tuple(loaded(j, link) for j, link in enumerate(robot.links, 1))

    def driven(j: int, joint: Joint) -> Joint:
        drive: dict[str, Any] = {
            key: values[key, j] for key in (*DRIVE, *FURTHER) if (key, j) in values
        }
        return replace(joint, **{"IA": 0, **drive})

    joints = tuple(driven(j, joint) for j, joint in enumerate(robot.joints, 1))
    base = robot.base
    if is_floating(robot):
        base = replace(base, link=loaded(0, base.link))
    return replace(robot, base=base, links=links, joints=joints)


def _reason(column: Column, steps: Sequence[Step], robot: Robot) -> str:
    for step in steps:
        if isinstance(step, Drop) and step.column == column:
            return "has no effect on the torques"
        if isinstance(step, Project) and (("MX", "MY", "MZ")[step.k], step.j) == column:
            return f"regrouped into the other first moments of link {step.j}"
        if isinstance(step, Merge) and step.column == column:
            into = ", ".join(f"{name}{j}" for _, (name, j) in step.into)
            return f"regrouped into {into}"
        if isinstance(step, Transfer) and step.j == column[1] and column[0] != "IA":
            i = robot.joints[step.j - 1].antecedent
            shows = i or is_floating(robot)
            last = f"regrouped into link {i}" if shows else "has no effect: link 0 does not move"
    return last


def cheaper_parameters(
    builder: Callable[..., Program], own: Callable[[], Program], robot: Robot,
    options: Mapping[str, Any],
) -> Program:  # fmt: skip
    """The program with base parameters; where it costs more than that with the robot's `own`, which
    gives the same values, that one: fewer parameters only mostly mean fewer operations."""
    carried = builder(robot, **options)
    searched = options.get("effort") != "plain" and not options.get("symbolic")
    if not searched or (not robot.constrained and with_base(robot, True) == robot):
        return carried
    program = own()
    if program.cost.price >= carried.cost.price:
        return carried
    words = "with the robot's own parameters: the same values, and base parameters cost more here"
    return replace(program, remarks=(*program.remarks, words))


def mechanism_of(robot: Robot, model: str, with_base: bool = False, **options: Any) -> Mechanism:
    """The mechanism of a model; the robot carries its base parameters if wanted: those that are
    eliminated are no symbols, and the others have the names that they have as base parameters."""
    if not with_base:
        return Mechanism.of(robot, model, **options)
    base = base_parameters(robot)
    remarks = tuple(x for x in base.remarks if x == MODES)
    names = dict.fromkeys(base.eliminated, "")
    names |= {(name, j): f"{name}{j}R" for name, j in base.regrouped}
    return Mechanism.of(base.robot, model, remarks=remarks, names=names, **options)


def with_base(robot: Robot, wanted: bool) -> Robot:
    """The robot that carries its base parameters, if wanted."""
    if not wanted:
        return robot
    return base_parameters(robot).robot
