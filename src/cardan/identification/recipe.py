"""Recipes: how the columns of a recording become joint positions and torques, and how to fit them.

A recipe is a TOML file of the sections below (docs/identification.md explains every key), a dict
with the same keys, or nothing: columns t, q1.., tau1.. in SI units are then expected.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..describe.values.expression import Value, number, symbols
from ..describe.values.parser import to_value
from ..errors import CardanError, InputError, UnknownNameError

Reader = Callable[[str, Any], Any]
MODELS = ("dynamic", "filtered", "power", "energy")
WEIGHTS = ("joint", "covariance", "none")
METHODS = ("least-squares", "instrumental", "didim")
INERTIA_OF_PAYLOAD = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")


def _number(where: str, x: Any) -> float:
    """A number, or a formula of numbers as text ("-pi/2")."""
    try:
        value = None if isinstance(x, bool) else number(to_value(x))
    except (CardanError, TypeError, ValueError) as error:
        raise InputError(f"{where} = {x!r}: {error}") from None
    if value is None or not np.isfinite(value):
        raise InputError(f"{where} = {x!r}; expected a number, or a formula of numbers as text")
    return float(value)


def _checked(allowed: Callable[[float], bool], words: str) -> Reader:
    """A number of a kind."""

    def read(where: str, x: Any) -> float:
        value = _number(where, x)
        if not allowed(value):
            raise InputError(f"{where} = {x!r}; expected {words}")
        return value

    return read


_positive = _checked(lambda x: x > 0, "a positive number")
_share = _checked(lambda x: 0 <= x < 1, "a share from 0 to less than 1")
_zero_or_more = _checked(lambda x: x >= 0, "zero or a positive number")


def _between(low: float, high: float, unit: str) -> Reader:
    return _checked(lambda x: low <= x <= high, f"{low:g} to {high:g} {unit}")


def _count(lowest: int, highest: int = 10**9) -> Reader:
    def read(where: str, x: Any) -> int:
        if not isinstance(x, int) or isinstance(x, bool) or x < lowest:
            raise InputError(f"{where} = {x!r}; expected a whole number, at least {lowest}")
        if x > highest:
            raise InputError(f"{where} = {x!r}; expected a whole number, at most {highest}")
        return x

    return read


def _numbers(where: str, x: Any) -> tuple[float, ...]:
    """One number for all joints, or a list of one per joint."""
    if isinstance(x, list | tuple):
        return tuple(_number(f"{where}[{k}]", part) for k, part in enumerate(x))
    return (_number(where, x),)


def _matrix(where: str, x: Any) -> tuple[tuple[float, ...], ...]:
    """A square matrix by rows, or the list of its diagonal."""
    if not isinstance(x, list | tuple) or not x:
        raise InputError(f"{where} = {x!r}; expected a matrix as a list of rows, or its diagonal")
    if not isinstance(x[0], list | tuple):
        return tuple(map(tuple, np.diag(_numbers(where, x)).tolist()))
    rows = [_numbers(f"{where}[{k}]", row) for k, row in enumerate(x)]
    if any(len(row) != len(rows) for row in rows):
        raise InputError(f"{where} is not square: rows of {[len(row) for row in rows]} values")
    if abs(np.linalg.det(np.array(rows))) < 1e-12:
        raise InputError(f"{where} is singular; joint positions cannot be told from motor ones")
    return tuple(rows)


def _kind(kind: type, words: str) -> Reader:
    """A value of a type."""

    def read(where: str, x: Any) -> Any:
        if not isinstance(x, kind):
            raise InputError(f"{where} = {x!r}; expected {words}")
        return x

    return read


@dataclass(frozen=True)
class Flag:
    """The reader of true or false, or of a word in their place."""

    word: str = ""

    @property
    def allowed(self) -> tuple[str, ...]:
        """As a file has them."""
        return ("true", "false", *filter(None, [self.word]))

    def __call__(self, where: str, x: Any) -> bool | str:
        if not isinstance(x, bool) and (not self.word or x != self.word):
            words = f", or '{self.word}'" if self.word else ""
            raise InputError(f"{where} = {x!r}; expected true or false{words}")
        return x if isinstance(x, bool) else self.word


_text = _kind(str, "text")


def _texts(where: str, x: Any) -> tuple[str, ...]:
    """A list of column names, or one text for all joints with {j} for the number."""
    if isinstance(x, str):
        return (x,)
    if not isinstance(x, list | tuple) or not all(isinstance(part, str) for part in x):
        raise InputError(f"{where} = {x!r}; expected a list of texts")
    return tuple(x)


@dataclass(frozen=True)
class Choice:
    """The reader of a word among several."""

    allowed: tuple[str, ...]

    def __call__(self, where: str, x: Any) -> str:
        if x not in self.allowed:
            raise UnknownNameError.of(f"value of {where}", x, self.allowed)
        return str(x)


def _number_or(*words: str) -> Reader:
    def read(where: str, x: Any) -> float | str:
        if x in words:
            return str(x)
        try:
            return float(_zero_or_more(where, x))
        except InputError:
            allowed = " or ".join(f"'{word}'" for word in words)
            raise InputError(f"{where} = {x!r}; expected a number >= 0, or {allowed}") from None

    return read


def _known(where: str, x: Any) -> tuple[tuple[str, float], ...]:
    if not isinstance(x, Mapping):
        raise InputError(f"{where} = {x!r}; expected a table as {{ M = 5.2, MZ = 0.3 }}")
    for name in x:
        if name not in INERTIA_OF_PAYLOAD:
            raise UnknownNameError.of(f"parameter in {where}", name, INERTIA_OF_PAYLOAD)
    return tuple((str(name), _number(f"{where}.{name}", value)) for name, value in x.items())


def _key(default: Any, read: Reader, words: str) -> Any:
    return field(default=default, metadata={"read": read, "words": words})


@dataclass(frozen=True)
class Records:
    """[log]: what the file holds."""

    time: str = _key(
        "", _text, "column of the time; t or time if empty, else the rows are numbered"
    )
    time_unit: str = _key("s", _text, "unit of the time")
    rate: float | None = _key(
        None, _between(1e-6, 1e9, "Hz"), "rate, Hz, where no column holds the time"
    )
    files: tuple[str, ...] = _key((), _texts, "of a folder: these tables, side by side")
    topic: str = _key("", _text, "topic, of a bag")
    joints: tuple[str, ...] = _key((), _texts, "names of the joints in order, of a bag")
    start: float | None = _key(None, _number, "from, s")
    stop: float | None = _key(None, _number, "to, s")
    missing: str = _key("error", Choice(("error", "drop")), "rows that are not numbers")
    constant: str = _key("error", Choice(("error", "allow")), "joints that do not move")
    check_units: bool = _key(True, Flag(), "check the units")


@dataclass(frozen=True)
class Signal:
    """[position] [velocity] [acceleration] [torque]: joint value = sign gain R^-1 column + offset.

    side "motor": R of [transmission] takes them to the joints (torques by its transpose)."""

    columns: tuple[str, ...] = _key((), _texts, "columns")
    unit: str = _key("", _text, "unit; SI if empty")
    side: str = _key("joint", Choice(("joint", "motor")), "measured at")
    sign: tuple[float, ...] = _key((1.0,), _numbers, "signs")
    gain: tuple[float, ...] = _key((1.0,), _numbers, "gains; of currents: torque constants")
    offset: tuple[float, ...] = _key((0.0,), _numbers, "offsets at the joint, SI")
    used: bool = _key(True, Flag(), "used")


@dataclass(frozen=True)
class Reference:
    """[reference]: the positions that were commanded, recorded as those of [position] are."""

    columns: tuple[str, ...] = _key((), _texts, "columns of the positions commanded")


@dataclass(frozen=True)
class Control:
    """[control]: tau = kp (reference - q) + kd (its rate - qd), at the joints."""

    kp: tuple[float, ...] = _key((), _numbers, "gains kp of the positions")
    kd: tuple[float, ...] = _key((), _numbers, "gains kd of the velocities")


@dataclass(frozen=True)
class Transmission:
    """[transmission]: motor positions = matrix · joint positions, torques by the transpose."""

    matrix: tuple[tuple[float, ...], ...] = _key((), _matrix, "rows of the matrix, or its diagonal")


@dataclass(frozen=True)
class Filter:
    """[filter]: zero-phase Butterworth; central differences; the same low-pass on both sides of
    the equations (parallel), then one sample of `decimate`. kind "kc97": that of both sides is
    F = a^2/(s + a)^2, and F' = a^2 s/(s + a)^2 where they are differentiated, [KC97] (45), (46),
    a = 2 pi parallel."""

    kind: str = _key("butterworth", Choice(("butterworth", "kc97")), "filter of the equations")
    cutoff: float | str = _key("auto", _number_or("auto", "none"), "cut-off of the positions, Hz")
    order: int = _key(4, _count(1, 20), "order")
    parallel: float | str = _key("auto", _number_or("auto", "none"), "cut-off of the equations, Hz")
    decimate: int | str = _key(
        "auto", lambda where, x: x if x == "auto" else _count(1)(where, x), "keep one sample of"
    )
    accuracy: int = _key(
        8,
        lambda where, x: int(Choice(("2", "4", "6", "8"))(where, str(x))),
        "order of the differences",
    )
    trim: float | str = _key("auto", _number_or("auto"), "left out at both ends, s")
    delay: float = _key(0.0, _number, "torques are late by, s")


@dataclass(frozen=True)
class Friction:
    """[friction]: FV qd + FQ qd |qd| + FVA |qd| + (FS + FB / (1 + (qd/VB)^2)) s(qd) + offset;
    s = sign, or qd / sqrt(qd^2 + smooth^2); "auto": what predicts held-out blocks best."""

    viscous: bool = _key(True, Flag(), "viscous, FV")
    coulomb: bool = _key(True, Flag(), "Coulomb, FS")
    offset: bool = _key(True, Flag(), "offset, FO")
    quadratic: bool | str = _key("auto", Flag("auto"), "quadratic, FQ")
    asymmetry: bool | str = _key("auto", Flag("auto"), "asymmetric, FVA")
    stribeck: bool | str = _key("auto", Flag("auto"), "Stribeck, FB and VB")
    passive: bool = _key(True, Flag(), "also of joints that follow in loops")
    smooth: float | str = _key("auto", _number_or("fit", "auto"), "width of the sign, rad/s or m/s")
    dead_zone: float = _key(0.0, _zero_or_more, "left out: slower than, rad/s or m/s")


@dataclass(frozen=True)
class Fit:
    """[fit]: which model, how it is weighted, what is held out."""

    model: str = _key("dynamic", Choice(MODELS), "model")
    method: str = _key("least-squares", Choice(METHODS), "method")
    gains: bool = _key(False, Flag(), "gains of the drives, by a payload")
    weights: str = _key("joint", Choice(WEIGHTS), "weights")
    robust: bool = _key(False, Flag(), "robust, by Huber's weights")
    motor_inertia: bool | str = _key("auto", Flag("auto"), "inertia of the motors, IA")
    window: float = _key(0.02, _positive, "intervals of the energy model, s")
    split: float = _key(0.0, _share, "share held out at the end")
    folds: int = _key(5, _count(0), "folds of the cross-validation; 0: none")
    confidence: float = _key(0.95, _share, "confidence of the F test")


@dataclass(frozen=True)
class Payload:
    """[payload]: a body on a link, in some of the recordings."""

    link: int = _key(0, _count(0), "link; 0: the last")
    known: tuple[tuple[str, float], ...] = _key((), _known, "known, as {M = 5.2, MZ = 0.3}")


@dataclass(frozen=True)
class Assembly:
    """[assembly]: how the loops are closed in the first row, where that is not as the robot
    stands."""

    q: tuple[float, ...] = _key((), _numbers, "joints near it: all, or the passive ones")


@dataclass(frozen=True)
class Consistent:
    """[consistent]: the semidefinite fit of the full parameters."""

    prior: str = _key("auto", Choice(("auto", "robot", "none")), "drawn towards")
    distance: str = _key("quadratic", Choice(("quadratic", "entropic")), "distance")
    # of the pull to the prior, in units of the residual; 0: none where real bodies fit exactly
    strength: float = _key(
        0.0, _between(0.0, 1e12, "units of the residual"), "strength of the draw"
    )


@dataclass(frozen=True)
class Recipe:
    """Everything between a recording and the equations tau = W K."""

    log: Records = Records()
    position: Signal = Signal()
    velocity: Signal = Signal()
    acceleration: Signal = Signal()
    torque: Signal = Signal()
    reference: Reference = Reference()
    control: Control = Control()
    transmission: Transmission = Transmission()
    filter: Filter = Filter()
    friction: Friction = Friction()
    fit: Fit = Fit()
    payload: Payload = Payload()
    assembly: Assembly = Assembly()
    consistent: Consistent = Consistent()
    coupled: tuple[tuple[str, tuple[tuple[int, Value], ...]], ...] = ()
    notes: str = ""
    source: str = ""

    def changed(self, section: str, **values: Any) -> Recipe:
        """The recipe with some keys of one section changed."""
        part: Any = replace(getattr(self, section), **values)
        return replace(self, **{section: part})


_SECTIONS: dict[str, Any] = {
    part.name: type(part.default)
    for part in fields(Recipe)
    if hasattr(part.default, "__dataclass_fields__")
}
_OTHER = ("recipe", "notes", "coupled")


@named_arguments
def read_recipe(source: str | os.PathLike[str] | Mapping[str, Any] | Recipe | None) -> Recipe:
    """A recipe from a path, a dict, or nothing; what is not understood is refused by name."""
    if source is None:
        return Recipe()
    if isinstance(source, Recipe):
        return source
    if isinstance(source, Mapping):
        return _of_table(source, "recipe")
    path = Path(source)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such recipe file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as a recipe: {error}") from None
    return _of_table(table, str(path))


def _of_table(table: Mapping[str, Any], name: str) -> Recipe:
    for key in table:
        if key not in _SECTIONS and key not in _OTHER:
            allowed = (*_SECTIONS, *_OTHER)
            raise UnknownNameError.of(f"section in {name}", key, allowed)
    if table.get("recipe", 1) != 1:
        raise InputError(f"{name}: recipe = {table['recipe']!r}; this Cardan reads recipe = 1")
    parts = {
        key: _section(kind, table.get(key, {}), f"{name}: [{key}]")
        for key, kind in _SECTIONS.items()
    }
    coupled = _coupled(table.get("coupled", {}), f"{name}: [coupled]")
    notes = _text(f"{name}: notes", table.get("notes", ""))
    return Recipe(**parts, coupled=coupled, notes=notes, source=name)


def _section(kind: Any, table: Any, where: str) -> Any:
    if not isinstance(table, Mapping):
        raise InputError(f"{where} must be a table of keys, not {table!r}")
    readers = {part.name: part.metadata["read"] for part in fields(kind)}
    for key in table:
        if key not in readers:
            raise UnknownNameError.of(f"key in {where}", key, readers)
    return kind(**{key: readers[key](f"{where} {key}", value) for key, value in table.items()})


def _coupled(table: Any, where: str) -> tuple[tuple[str, tuple[tuple[int, Value], ...]], ...]:
    """[coupled.NAME] tau5 = "qdd6": the torque of joint 5 gains NAME times the formula."""
    if not isinstance(table, Mapping) or not all(isinstance(x, Mapping) for x in table.values()):
        raise InputError(f'{where}: expected tables, as  [coupled.Iam6]  tau5 = "qdd6"')
    couplings = []
    for name, rows in table.items():
        terms = []
        for key, text in rows.items():
            match = re.fullmatch(r"tau([0-9]{1,4})", key)
            if match is None:
                raise InputError(f"{where} {name}: key '{key}'; expected tau1, tau2, ...")
            try:
                value = to_value(text)
            except CardanError as error:
                raise InputError(f"{where} {name}.{key}: {error}") from None
            for used in symbols(value):
                if not re.fullmatch(r"(q|qd|qdd)[0-9]{1,4}", used):
                    raise InputError(
                        f"{where} {name}.{key} uses '{used}'; allowed: q1.., qd1.., qdd1.."
                    )
            terms.append((int(match[1]), value))
        couplings.append((str(name), tuple(terms)))
    return tuple(couplings)


def per_joint(what: str, values: Sequence[float], n: int) -> np.ndarray:
    """One value per joint, from n values or one for all."""
    if len(values) not in (1, n):
        raise InputError(f"{what} has {len(values)} values; expected {n}, one per joint, or one")
    return np.broadcast_to(np.asarray(values, float), (n,)).copy()
