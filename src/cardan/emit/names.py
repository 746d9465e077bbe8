"""Names that are safe in generated code: valid, not reserved, and never twice the same."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPARE = 7  # characters left for what is added to a name: _module, a number


class Names:
    """Hands out identifiers: what a user calls a symbol can never change the code's meaning.

    `longest` is what the language reads of a name; `separator` stands before the number that tells
    a second symbol of one name from the first."""

    def __init__(
        self,
        reserved: Iterable[str] = (),
        *,
        case_sensitive: bool = True,
        longest: int = 200,
        separator: str = "_",
    ) -> None:
        self._case_sensitive = case_sensitive
        self._longest = longest
        self._separator = separator
        self._taken = {self._fold(name) for name in reserved}

    def _fold(self, name: str) -> str:
        return name if self._case_sensitive else name.lower()

    def spell(self, name: str) -> str:
        """An ASCII identifier as this language may write it."""
        return name

    def child(self) -> Names:
        """The names of an inner scope: all of this one are taken, and it takes none from it."""
        names = type(self)(
            case_sensitive=self._case_sensitive, longest=self._longest, separator=self._separator
        )
        names._taken = set(self._taken)
        return names

    def claim(self, wanted: str) -> str:
        """The identifier nearest to the wanted name that is still free."""
        name = re.sub(r"[^A-Za-z0-9_]", "_", wanted).lstrip("_") or "x"
        if not name[0].isalpha():
            name = f"x{name}"
        base = self.spell(name)[: self._longest - _SPARE]
        name, k = base, 0
        while self._fold(name) in self._taken:
            k += 1
            name = f"{base}{self._separator}{k if k > 1 else ''}"
        self._taken.add(self._fold(name))
        return name
