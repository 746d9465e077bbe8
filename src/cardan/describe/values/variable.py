"""Which symbol of theta_j or r_j is the joint variable, in formats that write one formula for both.

SYMORO's files hold `-a + q2` where the variable q2 and the constant offset -a are not told apart.
The variable is the symbol that enters with coefficient +1 and appears in no other geometric
parameter.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from .expression import Expression, Value, add, subtract, symbols

_USUAL = ("q", "t", "th", "theta", "r")


def split_variable(value: Value, j: int, used: Collection[str]) -> tuple[str, Value] | str:
    """(variable, offset) of joint j, or why it cannot be told; `used`: symbols used elsewhere."""
    names = symbols(value)
    if not names:
        return "", value
    able = [name for name in names if name not in used and _without(value, name) is not None]
    usual = [name for name in able if name.lower() in {f"{word}{j}" for word in _USUAL}]
    likely = [name for name in able if re.fullmatch(r"(q|t|th|theta|r)\d+", name.lower())]
    for names_left in (able, usual, likely):
        if len(names_left) == 1:
            offset = _without(value, names_left[0])
            assert offset is not None
            return names_left[0], offset
    if not able:
        return (
            f"{value} has no joint variable: a symbol of its own, added with the factor +1; "
            f"write it as q{j} + offset"
        )
    return f"{value} may have {' or '.join(able)} as its joint variable; rename the variable q{j}"


def _without(value: Value, name: str) -> Value | None:
    """value - name, by taking the only term `name` out of a sum; None when that cannot be done."""
    if value == Expression("symbol", name):
        return 0
    if not isinstance(value, Expression) or value.op not in ("+", "-"):
        return None
    left, right = value.args
    if name in symbols(right):
        if name in symbols(left) or value.op == "-":
            return None
        rest = _without(right, name)
        return None if rest is None else add(left, rest)
    rest = _without(left, name)
    if rest is None:
        return None
    return add(rest, right) if value.op == "+" else subtract(rest, right)
