"""Numbers and formulas as people and spreadsheets write them: 1,5 and 90° and 2π and 100 mm."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from ....describe.fields import UNIT
from ....describe.robot import REVOLUTE, Robot
from ....describe.values.expression import number, symbols
from ....describe.values.parser import to_value
from ....describe.values.units import parse_quantity
from ....errors import ExpressionError, InputError

_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?(\s*[A-Za-z].*)?")
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}(?![0-9])")


def quantity(text: str, expected: str | None = "", degrees: bool = False) -> Any:
    """The exact SI value of a text; expected: the unit, or one of its kin, that may follow, as in
    "rad or m", None for any. In degrees a number of its own is one of degrees; a formula is in SI
    units, as ever."""
    text = re.sub(r"(?<=[0-9])\s*π", "*pi", text.strip().replace("°", " deg")).replace("π", "pi")
    if _COMMA.fullmatch(text):
        if _GROUPED.match(text):  # 1500 in English, 1.5 in French
            plain = text.replace(",", "", 1), text.replace(",", ".", 1)
            raise InputError(f"'{text[:40]}': write {plain[0][:40]} or {plain[1][:40]}")
        text = text.replace(",", ".", 1)
    if degrees and expected and "pi" not in text and "(" not in text:
        with suppress(ExpressionError):  # it may have a unit
            if not symbols(to_value(text)):
                return parse_quantity(f"({text}) deg{expected.partition(' or ')[0][3:]}")
    return to_value(text) if expected == "" else parse_quantity(text, expected or "")


def figure(text: str, expected: str | None = "", degrees: bool = False) -> float:
    """The number that a text stands for, in SI units; an InputError where it stands for none."""
    try:
        x = number(quantity(text, expected, degrees))
    except ExpressionError as error:
        raise InputError(str(error)) from None
    if x is None:
        raise InputError(f"'{text.strip()[:40]}' is not a number; allowed: 0.4, 2*pi/3, 30 deg")
    return x


def unit_of(robot: Robot, symbol: str) -> str | None:
    """The unit of a symbol that stands alone in a field of the robot; None where it does not."""
    if symbol in map(str, robot.gravity):
        return UNIT["gravity"]
    for joint, link in zip(robot.joints, robot.links, strict=True):
        for item in (joint, link):
            for key, unit in UNIT.items():
                if str(getattr(item, key, None)) == symbol:
                    first, _, other = unit.partition(" or ")
                    return other if other and joint.sigma != REVOLUTE else first
    return None
