"""LaTeX of a derivation: names with subscripts, sentences as text, equations displayed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from ...emit.latex import broken, escaped, symbol_of, visible

_LONG = 24  # signs of a left side
_WIDTH = 46  # signs of a line of an article
MARK = "\x01"  # before and behind a formula in words

GREEK = {"th": r"\theta", "theta": r"\theta", "alpha": r"\alpha", "gamma": r"\gamma", "q": "q",
         "tau": r"\tau", "eps": r"\epsilon"}  # fmt: skip


def greek(name: str) -> str:
    """A name in LaTeX: th1 is \\theta_{1}, RL4 is \\mathit{RL}_{4}."""
    found = re.fullmatch(r"([A-Za-z]+?)_?(\d*|(?<=^[a-z]_)[a-z])", name)
    base = found and (GREEK.get(found[1]) or (found[1] if len(found[1]) == 1 else ""))
    if not found or not base:
        return symbol_of(name)
    return base + (f"_{{{found[2]}}}" if found[2] else "")


def spelled(formula: str) -> str:
    """A formula of the templates in LaTeX; 1T0 is T with frames before and behind."""

    def name(match: re.Match[str]) -> str:
        word: str = match[0]
        frames = re.fullmatch(r"(\d+|i)T(\d+|j)", word)
        if frames:
            return rf"{{}}^{{{frames[1]}}}T_{{{frames[2]}}}"
        if word in ("sqrt", "atan2"):
            return word
        if re.fullmatch(r"e\d+", word):
            return rf"\varepsilon_{{{word[1:]}}}"
        return rf"\{word}" if word in ("pi", "psi", "cos", "sin", "tan") else greek(word)

    formula = re.sub(r"\d+T\d+|[A-Za-z]\w*", name, formula)
    formula = re.sub(r"sqrt\(([^()]*)\)", r"\\sqrt{\1}", formula)
    formula = re.sub(r"\^(-\d+)", r"^{\1}", formula)
    formula = formula.replace("atan2(", r"\operatorname{atan2}(")
    formula = re.sub(r"(?<=[\w})]) (?=[\w{(\\])", r"\\, ", formula)
    return formula.replace(",  ", r", \quad ")


def document(lines: list[str], tree: Sequence[tuple[tuple[int, ...], str, str]]) -> str:
    """Lines indented by six are equations; the tree is indented by the number of signs."""
    out = [r"\begingroup\sloppy\allowdisplaybreaks"]
    for is_equation, group in groupby(lines, lambda line: line.startswith("      ")):
        if is_equation:
            rows = [_aligned(line.strip()) for line in group]
            body = [f"  {part} \\\\" for row in rows for part in broken(row, _WIDTH)]
            body[-1] = body[-1][:-3]
            out += [r"\begin{align*}", *body, r"\end{align*}"]
        else:
            sentences = [_sentence(line.strip()) for line in group]
            follows = [False, *(bool(x) and x[0] != "\\" for x in sentences)]
            out += [
                rf"\par\noindent {x}" if x and after and not x.startswith(r"\paragraph") else x
                for x, after in zip(sentences, follows, strict=False)
            ]
    out += ["Branches:", r"\begin{flushleft}"]
    for signs, names, leaf in tree:
        sign = f"{MARK}e{len(signs)} = {'+' if signs[-1] > 0 else '-'}1{MARK}: " if signs else ""
        arrow = rf" $\rightarrow$ {leaf}" if leaf else ""
        out.append(rf"\hspace*{{{2 * len(signs)}em}}{prose(sign + names)}{arrow} \\")
    out[-1] = out[-1][:-3]
    return "\n".join([*out, r"\end{flushleft}", r"\endgroup"]) + "\n"


def _aligned(equation: str) -> str:
    """An equation aligned at its sign, or where its left side is long at the beginning."""
    left, _, right = equation.partition(" = ")
    return f"&{left} = {right}" if visible(left) > _LONG else f"{left} &= {right}"


def _sentence(text: str) -> str:
    """A line of words; the head of a step is a paragraph of its own."""
    step = re.fullmatch(rf"(\d+)\. (?:(\w+)|{MARK}([^{MARK}]*){MARK})", text)
    if not step:
        return prose(text)
    return rf"\paragraph{{{step[1]}. ${greek(step[2]) if step[2] else spelled(step[3])}$}}"


def prose(text: str) -> str:
    """Words with formulas between MARKs; the words as they stand, whatever a robot's name is made
    of (< and > are other characters in the fonts that LaTeX takes by itself)."""
    parts = text.split(MARK)
    words = [
        "".join(map(_word, re.split(r"(\w+\^-?\w+|\+-1|[+-]1|[<>])", part))) for part in parts[::2]
    ]
    formulas = [f"${spelled(part)}$" for part in parts[1::2]]
    formulas = [x.replace(r"\, ", r"\,\allowbreak ") for x in formulas]
    return "".join(x for pair in zip(words, [*formulas, ""], strict=True) for x in pair)


def _word(part: str) -> str:
    if part in ("<", ">", "+1", "-1"):
        return f"${part}$"
    if re.fullmatch(r"\w+\^-?\w+", part):
        return f"${spelled(part)}$"
    return r"$\pm 1$" if part == "+-1" else escaped(part)
