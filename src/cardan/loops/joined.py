"""Several texts of code as one: what each defines for itself stays its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

from ..errors import UnknownNameError
from ..kernel.text import KERNEL_LANGUAGES

__all__ = ["Part", "called", "joined"]


@dataclass(frozen=True)
class Part:
    """Self-contained code of the function `name`."""

    name: str
    text: str


def called(language: str) -> str:
    """The language, one that kernels are written in."""
    if language not in KERNEL_LANGUAGES:
        raise UnknownNameError.of("language", language, KERNEL_LANGUAGES)
    return language


def joined(language: str, parts: Sequence[Part], driver: str, head: Sequence[str] = ()) -> str:
    """The parts, and the driver that calls them."""
    mark = {"python": "#", "matlab": "%"}.get(language, "//")
    lines = "".join(f"{mark} {line}".rstrip() + "\n" for line in head)
    if language == "matlab":  # the function that gives the file its name comes first
        return "\n".join([lines + driver, *(_renamed(part) for part in parts)])
    texts = [_scoped(part) if language == "python" else part.text for part in parts]
    return lines + "\n".join([*texts, driver.lstrip("\n")])


def _scoped(part: Part) -> str:
    """Python: what a part defines is seen by it alone."""
    body = indent(part.text.rstrip("\n"), "    ")
    return (
        f"def _{part.name}():\n{body}\n    return {part.name}\n\n\n{part.name} = _{part.name}()\n\n"
    )


def _renamed(part: Part) -> str:
    """MATLAB: local functions bear the name of their part."""
    text = part.text
    for name in re.findall(r"^function (?:[^=\n]*= *)?(\w+)\(", text, re.MULTILINE):
        if name != part.name and not name.startswith(f"{part.name}_"):
            text = re.sub(rf"\b{name}\b", f"{name}_{part.name}", text)
    return text
