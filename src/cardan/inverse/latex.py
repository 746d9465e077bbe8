"""LaTeX of a derivation: names with subscripts, sentences as text, equations displayed."""

from __future__ import annotations

import re
from itertools import groupby

__all__ = ["document", "greek", "spelled"]

GREEK = {"th": r"\theta", "theta": r"\theta", "alpha": r"\alpha", "gamma": r"\gamma", "q": "q"}


def greek(name: str) -> str:
    """A name in LaTeX: th1 is \\theta_{1}, RL4 is \\mathrm{RL4}."""
    found = re.fullmatch(r"([A-Za-z]+?)_?(\d*)", name)
    if not found:
        return r"\mathrm{" + name.replace("_", r"\_") + "}"
    word, digits = found.groups()
    base = GREEK.get(word) or (word if len(word) == 1 else r"\mathrm{" + word + "}")
    return base + ("_{" + digits + "}" if digits else "")


def spelled(formula: str) -> str:
    """A formula of the templates in LaTeX."""

    def name(found: re.Match[str]) -> str:
        word: str = found[0]
        if word in ("sqrt", "atan2"):
            return word
        if re.fullmatch(r"e\d+", word):
            return rf"\varepsilon_{{{word[1:]}}}"
        return r"\pi" if word == "pi" else greek(word)

    formula = re.sub(r"[A-Za-z]\w*", name, formula)
    formula = re.sub(r"sqrt\(([^()]*)\)", r"\\sqrt{\1}", formula)
    return formula.replace("atan2(", r"\operatorname{atan2}(").replace(",  ", r", \quad ")


def document(lines: list[str]) -> str:
    """Lines indented by six are equations; the tree of branches stays as it is drawn."""
    out: list[str] = []
    at = lines.index("Branches:")
    for is_equation, group in groupby(lines[:at], lambda line: line.startswith("      ")):
        if is_equation:
            rows = [line.strip().replace(" = ", " &= ", 1) for line in group]
            body = [f"  {row} \\\\" for row in rows]
            body[-1] = body[-1][:-3]
            out += [r"\begin{align*}", *body, r"\end{align*}"]
        else:
            out += [_sentence(line.strip()) for line in group]
    drawn = lines[at + 1 :]
    return "\n".join([*out, r"\begin{verbatim}", *drawn, r"\end{verbatim}"]) + "\n"


def _sentence(text: str) -> str:
    """Plain words: what LaTeX reads as commands is escaped."""
    step = re.fullmatch(r"(\d+)\. (\w+)", text)
    if step:
        return rf"\paragraph{{{step[1]}. ${greek(step[2])}$}}"
    for mark in "&%#_{}":
        text = text.replace(mark, "\\" + mark)
    return re.sub(r"(\w*)\^(-?\w+)", r"$\1^{\2}$", text.replace("+-1", r"$\pm 1$"))
