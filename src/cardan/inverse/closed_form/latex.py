"""LaTeX of a derivation: names with subscripts, sentences as text, equations displayed."""

from __future__ import annotations

import re
from itertools import groupby

from ...emit.latex import escaped

__all__ = ["document", "greek", "prose", "spelled"]

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
    """A line of words; the head of a step is a paragraph of its own."""
    step = re.fullmatch(r"(\d+)\. (\w+)", text)
    return rf"\paragraph{{{step[1]}. ${greek(step[2])}$}}" if step else prose(text)


def prose(text: str) -> str:
    """Plain words: powers and signs as formulas, the rest as it stands, whatever a robot's name is
    made of (< and > are other characters in the fonts that LaTeX takes by itself)."""
    return "".join(_formula(part) for part in re.split(r"(\w+\^-?\w+|\+-1|[<>])", text))


def _formula(part: str) -> str:
    if part in ("<", ">"):
        return f"${part}$"
    if part == "+-1":
        return r"$\pm 1$"
    power = re.fullmatch(r"(\w+)\^(-?\w+)", part)
    return f"${greek(power[1])}^{{{power[2]}}}$" if power else escaped(part)
