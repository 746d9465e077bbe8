"""Names as mathematical symbols: F2_3 is F_{2,3}, wd3_1 is ω̇_{3,1}, Jplus2_11 is J⁺_{2,11}."""

from __future__ import annotations

import re

__all__ = ["symbol_of"]

_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau
upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega""".split()  # noqa: SIM905
_STEMS = {
    "q": "q", "qd": r"\dot{q}", "qdd": r"\ddot{q}", "w": r"\omega", "wd": r"\dot{\omega}",
    "V": "V", "Vd": r"\dot{V}", "Jdqd": r"\dot{J}\dot{q}", "Jinv": "J^{-1}",
    **{name: rf"\{name}" for name in _GREEK},
}  # fmt: skip
_MARKS = {"plus": "+", "star": "*"}


def symbol_of(name: str) -> str:
    """LaTeX for a name: stem, marks and indices. Whatever else the name holds is left out or
    becomes an index; callers see to it that no two symbols are the same."""
    stem, rest = re.match(r"([A-Za-z]*)(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    mark = next((m for m in _MARKS if stem.endswith(m) and stem != m), "")
    stem = stem.removesuffix(mark)
    symbol = _STEMS.get(stem) or (stem if len(stem) <= 1 else rf"\mathit{{{stem}}}") or "x"
    indices = ",".join(part for part in re.findall(r"[A-Za-z0-9]+", rest) if part)
    upper = f"^{{{_MARKS[mark]}}}" if mark else ""
    if mark and "^" in symbol:
        symbol = f"{{{symbol}}}"
    return f"{symbol}{upper}" + (f"_{{{indices}}}" if indices else "")
