"""Names that are safe in generated code: valid, not reserved, and never twice the same."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Names"]


class Names:
    """Hands out identifiers: what a user calls a symbol can never change the code's meaning."""

    def __init__(self, reserved: Iterable[str] = (), *, case_sensitive: bool = True) -> None:
        self._fold = (lambda name: name) if case_sensitive else str.lower
        self._taken = {self._fold(name) for name in reserved}

    def claim(self, wanted: str) -> str:
        """The identifier nearest to the wanted name that is still free."""
        name = re.sub(r"[^A-Za-z0-9_]", "_", wanted).strip("_") or "x"
        if not name[0].isalpha():
            name = f"x{name}"
        base, k = name, 0
        while self._fold(name) in self._taken:
            k += 1
            name = f"{base}_{k}" if k > 1 else f"{base}_"
        if name.endswith("_") and self._fold(name) in self._taken:
            name = f"{name}1"
        self._taken.add(self._fold(name))
        return name
