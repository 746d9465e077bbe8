"""Transfer functions of a robot about a configuration at rest, symbols kept: [B23] 3.2.1.3.

    (A s² + F s + K) X(s) = tau(s)        A: inertia,  F: viscous friction,  K = ∂Q/∂q + springs

at a configuration where the torques Q hold the robot. G = (A s² + F s + K)^-1 is written by
cofactors over the determinant, of each group of joints that move one another; powers of s that all
have in common go. With numbers `Linear.transfer` gives the same from A, B, C and D. Dry friction
without a width VS has no slope at rest and is left out by both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.scalar import is_zero
from ..arguments import Numbers, named_arguments
from ..catalogue import model
from ..describe.robot import Robot
from ..describe.values.expression import (
    Value,
    add,
    call,
    divide,
    multiply,
    number,
    substitute,
    subtract,
    symbol,
    symbols,
)
from ..describe.values.parser import to_value
from ..describe.values.polynomial import collected
from ..errors import InputError, ModelError
from ..motion.joints import moving
from ..program import Program
from ..simulation.friction import positive_width, slopeless, smoothed

LARGEST = 4  # joints that move one another: more are no formulas to read
Polynomial = list[Value]  # coefficients of s^0, s^1, ...
_OPERATORS: dict[str, Any] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "neg": lambda x: -x,
}


@dataclass(frozen=True)
class TransferFunctions:
    """G(s) of torques to positions, symbols kept: `num` and `den` are rows of polynomials,
    formulas by rising powers of s. `left_out`: friction that has no slope at rest, "FS of joint1".
    """

    num: list[list[Polynomial]]
    den: list[list[Polynomial]]
    joints: tuple[str, ...]
    torques: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def coefficients(self, row: int, column: int) -> tuple[list[str], list[str]]:
        """(numerator, denominator) of an element as formulas, by falling powers of s."""
        num, den = (x[row][column] for x in (self.num, self.den))
        return [str(x) for x in reversed(num)], [str(x) for x in reversed(den)]

    def __getitem__(self, place: tuple[int, int]) -> str:
        """An element as books write it: numerator/(denominator)."""
        num, den = (_written(x) for x in self.coefficients(*place))
        return num if den == "1" or num == "0" else f"{_bracketed(num)}/{_bracketed(den)}"

    def __str__(self) -> str:
        lines = [
            f"{x}/{u} = {self[i, j]}"
            for i, x in enumerate(self.joints) for j, u in enumerate(self.torques)
            if self[i, j] != "0"
        ]  # fmt: skip
        return "\n".join(lines)

    def evaluate(self, row: int, column: int, **values: float) -> tuple[np.ndarray, np.ndarray]:
        """(numerator, denominator) of an element with numbers for the symbols, by falling powers:
        what scipy.signal.TransferFunction takes."""
        exacts = {name: to_value(float(x)) for name, x in values.items()}
        listed = []
        for rows in (self.num, self.den):
            numbers = [number(substitute(x, exacts)) for x in reversed(rows[row][column])]
            if None in numbers:
                names = dict.fromkeys(n for x in rows[row][column] for n in symbols(x))
                missing = [name for name in names if name not in values]
                raise InputError(f"the symbols {', '.join(missing)} have no value")
            listed.append(np.array(numbers, float))
        return listed[0], listed[1]


def _bracketed(text: str) -> str:
    return f"({text})" if " + " in text or " - " in text or "*" in text else text


def _written(coefficients: Sequence[str]) -> str:
    """A polynomial in s of its coefficients, the highest power first."""
    terms = []
    for k, text in enumerate(coefficients):
        power = len(coefficients) - 1 - k
        if text == "0" and len(coefficients) > 1:
            continue
        s = "" if power == 0 else "s" if power == 1 else f"s^{power}"
        long = " + " in text or " - " in text
        factor = f"({text})" if long and s else text
        terms.append(s if s and text == "1" else f"{factor}*{s}" if s else factor)
    return (" + ".join(terms) or "0").replace("+ -", "- ")


@named_arguments
def transfer_functions(
    robot: Robot, q: Numbers = 0, *, friction: bool = True, smooth: float | None = None
) -> TransferFunctions:
    """G(s) of torques to positions about q, at rest, as formulas. q: values, or exact ones as text
    ("pi/2"), one for all joints or one for each. Dry friction is left out, and named in `left_out`,
    of joints without a width VS; `smooth` (rad/s or m/s) is one for them.

    >>> arm = cardan.load({"name": "arm", "gravity": [0, "-g", 0], "link": [
    ...     {"joint": "revolute", "M": "m", "MX": "m*l", "ZZ": "m*l^2", "FV": "b"}]})
    >>> from cardan.control.transfer import transfer_functions
    >>> print(transfer_functions(arm, ["-pi/2"]))
    q1/tau1 = 1/(m*l^2*s^2 + b*s + g*m*l)"""
    if robot.constrained or robot.ne or robot.base.kind != "fixed":
        raise ModelError(
            f"transfer functions as formulas are for trees on a fixed base; not '{robot.name}'",
            remedy="use cardan.linearise(robot, q).transfer()",
        )
    if smooth is not None:
        robot = smoothed(robot, positive_width(smooth))
    joints = moving(robot)
    n, values = len(joints), _positions(q, len(joints))
    A, H, U = (model(robot, name).plain for name in ("inertia-matrix", "bias", "energies"))
    pull = U.derivative("U", "q")
    slope = pull.derivative(next(iter(pull.outputs)), "q")
    I, K = (_matrix(x, values) for x in (A, slope))
    F = _matrix(H.derivative("H", "qd"), values) if friction else [[0] * n] * n
    lost = [joint.damping if joint.elastic else 0 for joint in joints]
    s = [
        [[K[i][j], F[i][j] + (lost[i] if i == j else 0), I[i][j]] for j in range(n)]
        for i in range(n)
    ]
    motors = [j for j, joint in enumerate(joints) if not joint.elastic]
    num, den = _inverse(s, motors, robot.name)
    torques = tuple(f"tau{j + 1}" for j in motors)
    left_out = slopeless(robot) if friction else ()
    return TransferFunctions(num, den, tuple(robot.variables), torques, left_out)


def _matrix(program: Program, q: list[Value]) -> list[list[Value]]:
    """The output of a program at rest at q, as formulas in its parameters."""
    inputs: dict[str, list[Value]] = {
        "q": q, "qd": [0] * len(q), "p": [symbol(name) for name in program.parameters]
    }  # fmt: skip
    x: list[Any] = [None]
    for op, *args in program.code.nodes[1:]:
        if op == "input":
            x.append(inputs[args[0]][args[1]])
        elif op == "const":
            x.append(args[0])
        else:
            x.append(_applied(op, [x[k] for k in args]))
    (output,) = program.code.outputs.values()
    flat = [collected(x[r] if r > 0 else -x[-r], program.parameters) for r in output.refs]
    return [flat[k : k + len(q)] for k in range(0, len(flat), len(q))]


def _applied(op: str, u: list[Value]) -> Value:
    """An operation of a program on formulas; dry friction is nothing at rest."""
    if op in _OPERATORS:
        value: Value = _OPERATORS[op](*u)
        return value
    if op in ("sin", "cos", "sqrt", "atan2"):
        return call(op, *u)
    if op in ("sign", "abs") and is_zero(u[0]):
        return 0
    raise ModelError(f"'{op}' of what moves has no transfer function", remedy="use friction=False")


def _positions(q: Any, n: int) -> list[Any]:
    """Exact positions, one for all or one for each: a cosine of pi/2 is 0."""
    listed = [q] * n if np.ndim(q) == 0 else list(q)
    if len(listed) != n:
        raise InputError(f"q has {len(listed)} values; expected {n}, one per joint, or one for all")
    values = [to_value(float(x) if isinstance(x, np.floating) else x) for x in listed]
    for x, value in zip(listed, values, strict=True):
        if number(value) is None:
            raise InputError(f"q: '{x}' is no number", remedy='give one, or a text as "pi/2"')
    return values


def _inverse(
    matrix: list[list[Polynomial]], columns: Sequence[int], name: str
) -> tuple[list[list[Polynomial]], list[list[Polynomial]]]:
    """(numerators, denominators) of the inverse, by groups of rows that move one another."""
    n = len(matrix)
    num: list[list[Polynomial]] = [[[0] for _ in columns] for _ in range(n)]
    den: list[list[Polynomial]] = [[[1] for _ in columns] for _ in range(n)]
    for group in _groups(matrix):
        if len(group) > LARGEST:
            raise ModelError(
                f"{len(group)} joints of '{name}' move one another: formulas are given up to"
                f" {LARGEST}", remedy="use cardan.linearise(robot, q).transfer()",
            )  # fmt: skip
        block = [[matrix[i][j] for j in group] for i in group]
        determinant = _determinant(block)
        for a, i in enumerate(group):
            for b, j in enumerate(group):
                if j not in columns:
                    continue
                minor = [
                    [x for c, x in enumerate(row) if c != a]
                    for r, row in enumerate(block)
                    if r != b
                ]
                cofactor = _determinant(minor)
                if (a + b) % 2:
                    cofactor = [-x for x in cofactor]
                place = columns.index(j)
                parts = ([collected(x) for x in poly] for poly in (cofactor, determinant))
                num[i][place], den[i][place] = _cancelled(*parts)
    return num, den


def _groups(matrix: list[list[Polynomial]]) -> list[list[int]]:
    """Rows that are tied by an entry that is not zero, directly or through others."""
    left, groups = set(range(len(matrix))), []
    while left:
        group, waiting = set(), [min(left)]
        while waiting:
            i = waiting.pop()
            if i not in group:
                group.add(i)
                waiting += [j for j in left if not all(map(is_zero, matrix[i][j]))]
        left -= group
        groups.append(sorted(group))
    return groups


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    total: Polynomial = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if not (is_zero(x) or is_zero(y)):
                total[i + j] = total[i + j] + x * y
    return total


def _determinant(rows: list[list[Polynomial]]) -> Polynomial:
    """By the first row; of no rows 1."""
    if not rows:
        return [1]
    total: Polynomial = [0]
    for c, x in enumerate(rows[0]):
        if all(map(is_zero, x)):
            continue
        term = _product(
            x, _determinant([[y for k, y in enumerate(row) if k != c] for row in rows[1:]])
        )
        size = max(len(total), len(term))
        padded = [part + [0] * (size - len(part)) for part in (total, term)]
        total = [a - b if c % 2 else a + b for a, b in zip(*padded, strict=True)]
    return total


def _cancelled(num: Polynomial, den: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Without the powers of s that both have."""
    if all(map(is_zero, num)):
        return [0], [1]
    while is_zero(num[0]) and is_zero(den[0]):
        num, den = num[1:], den[1:]
    return _trimmed(num), _trimmed(den)


def _trimmed(x: Polynomial) -> Polynomial:
    """Without highest powers that have no coefficient."""
    size = max(k for k, c in enumerate(x) if not is_zero(c) or k == 0) + 1
    return x[:size]
