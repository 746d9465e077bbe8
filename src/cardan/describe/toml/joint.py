"""Tables within a joint of our own format: its limits, and the joint it mimics."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from ..fields import COUPLING, LIMITS
from ..robot import Coupling, Limits

__all__ = ["read_coupling", "read_limits"]


def read_limits(reader: Any, table: Any) -> Limits:
    """limits = { lower = ..., upper = ..., velocity = ..., effort = ... }"""
    if not isinstance(table, Mapping):
        reader.report("limits must be a table { lower = ..., upper = ... }", "limits")
        return Limits()
    reader.known(table, LIMITS)
    return Limits(**reader.numbers_of(table, LIMITS))


def read_coupling(reader: Any, table: Any) -> Coupling | None:
    """mimic = { joint = "name", ratio = 1, offset = 0 }; the joint by its name, that of its link,
    or its number."""
    if table is None:
        return None
    if not isinstance(table, Mapping) or "joint" not in table:
        reader.report('mimic must be a table { joint = "name", ratio = 1, offset = 0 }', "mimic")
        return None
    reader.known(table, ("joint", *COUPLING))
    given = table["joint"]
    if isinstance(given, str):
        if given not in reader.joint_numbers:
            near = difflib.get_close_matches(given, reader.joint_numbers, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "use a joint's name or number"
            reader.report(f"mimics {given!r:.60}, which is no joint; {hint}", "mimic")
            return None
    elif isinstance(given, bool) or not isinstance(given, int):
        reader.report("mimic: joint must be the name or the number of a joint", "mimic")
        return None
    number = reader.joint_numbers[given] if isinstance(given, str) else int(given)
    return Coupling(number, **reader.numbers_of(table, COUPLING))
