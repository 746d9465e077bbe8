"""A formula in three languages: LaTeX, MathML, Typst. One table each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from .formula import BINARY, GREEK, PLAIN, RELATIONS, Node

Leaves = Mapping[str, Callable[[str], str]]


_OPERATORS = {"sin", "cos", "tan", "arctan", "arccos", "min", "max", "det", "log", "exp"}


def _command(character: str) -> str:
    return _COMMANDS.get(character, character)


_COMMANDS = {
    **{v: rf"\{k} " for table in (GREEK, BINARY, RELATIONS) for k, v in reversed(table.items())},
    **{v: rf"\{k} " for k, v in reversed(PLAIN.items()) if v not in "|*"},
    "−": "-", "∗": "*", "‖": r"\lVert ", "′": "'", "_": r"\_", "%": r"\%", "$": r"\$", "#": r"\#",
    "&": r"\&", "{": r"\{", "}": r"\}", "→": r"\to ", "|": r"\vert ",
}  # fmt: skip


def _words(text: str) -> str:
    return "".join(f"\\{c}" if c in "_%$#&" else c for c in text)


_TEX_LEAVES: Leaves = {
    "upright": lambda t: rf"\mathrm{{{_words(t)}}}", "italic": lambda t: rf"\mathit{{{_words(t)}}}",
    "bold": lambda t: rf"\mathbf{{{''.join(map(_command, t))}}}",
    "function": lambda t: rf"\{t} " if t in _OPERATORS else rf"\operatorname{{{_words(t)}}}",
    "text": lambda t: rf"\text{{{_words(t)}}}", "code": lambda t: rf"\mathtt{{{_words(t)}}}",
    "sign": _command, "space": lambda t: _space(t), "number": str,
}  # fmt: skip


def _space(text: str) -> str:
    size = float(text) if text.strip() else 0.25
    return r"\qquad " if size >= 2 else r"\quad " if size >= 1 else r"\;" if size > 0.2 else r"\,"


def latex(node: Node) -> str:
    """LaTeX, in mathematics."""
    kind, text, parts = node.kind, node.text, node.parts
    inner = [latex(part) for part in parts]
    if kind == "row":
        return "".join(inner)
    if kind in ("sub", "sup", "subsup"):
        base = inner[0] if parts[0].kind in ("letter", "upright", "italic", "accent") else (
            f"{{{inner[0]}}}"
        )  # fmt: skip
        marks = {"sub": "_", "sup": "^", "subsup": "_^"}[kind]
        return base + "".join(f"{m}{{{x}}}" for m, x in zip(marks, inner[1:], strict=True))
    if kind == "frac":
        return rf"\frac{{{inner[0]}}}{{{inner[1]}}}"
    if kind == "root":
        return rf"\sqrt{{{inner[0]}}}"
    if kind == "accent":
        return rf"\{text}{{{inner[0]}}}"
    if kind == "fence":
        ends = ["." if c == " " else _command(c).strip() for c in text]
        return rf"\left{ends[0]} {inner[0]}\right{ends[1]} "
    if kind == "matrix":
        rows = r"\\ ".join(" & ".join(map(latex, row.parts)) for row in parts)
        name = {"[]": "bmatrix", "()": "pmatrix", "||": "vmatrix", "{": "cases"}.get(text, "matrix")
        return rf"\begin{{{name}}}{rows}\end{{{name}}}"
    if kind == "sign":
        return f"{{{_command(text)}}}"
    return _TEX_LEAVES.get(kind, _command)(text)


_ACCENTS = {"dot": "˙", "ddot": "¨", "hat": "^", "bar": "¯", "tilde": "~", "vec": "→",
            "widehat": "^", "overline": "¯"}  # fmt: skip
_ML_LEAVES: Leaves = {
    "letter": lambda t: f"<mi>{escape(t)}</mi>",
    "upright": lambda t: f'<mi mathvariant="normal">{escape(t)}</mi>',
    "italic": lambda t: f"<mi>{escape(_italic(t))}</mi>",
    "bold": lambda t: f'<mi style="font-weight:bold">{escape(t)}</mi>',
    "function": lambda t: f'<mi mathvariant="normal">{escape(t)}</mi><mspace width=".12em"/>',
    "text": lambda t: f"<mtext>{escape(t).replace(' ', chr(0xA0))}</mtext>",
    "code": lambda t: f'<mtext style="font-family:monospace">{escape(t)}</mtext>',
    "number": lambda t: f"<mn>{t}</mn>",
    "sign": lambda t: f'<mo form="prefix">{t}</mo>',
    "open": lambda t: f'<mo form="prefix" stretchy="false">{t}</mo>',
    "close": lambda t: f'<mo form="postfix" stretchy="false">{t}</mo>',
    "space": lambda t: f'<mspace width="{float(t) if t.strip() else 0.25:g}em"/>',
    "punctuation": lambda t: f'<mo separator="true">{t}</mo>',
    "binary": lambda t: f'<mo form="infix">{t}</mo>',
    "relation": lambda t: f'<mo form="infix">{escape(t)}</mo>',
    "plain": lambda t: f'<mo stretchy="false" lspace="0" rspace="0">{escape(t)}</mo>',
}


def _italic(word: str) -> str:
    """A word in the italic letters of mathematics."""

    def letter(c: str) -> str:
        if "A" <= c <= "Z":
            return chr(0x1D434 + ord(c) - ord("A"))
        if "a" <= c <= "z":
            return "ℎ" if c == "h" else chr(0x1D44E + ord(c) - ord("a"))
        return c

    return "".join(map(letter, word))


def mathml(node: Node) -> str:
    """The inside of a <math> element."""
    kind, text, parts = node.kind, node.text, node.parts
    inner = [mathml(part) for part in parts]
    if kind == "row":
        return f"<mrow>{''.join(inner)}</mrow>"
    if kind in ("sub", "sup", "subsup", "frac"):
        return f"<m{kind}>{''.join(inner)}</m{kind}>"
    if kind == "root":
        return f"<msqrt>{inner[0]}</msqrt>"
    if kind == "accent":
        return f'<mover accent="true">{inner[0]}<mo>{_ACCENTS[text]}</mo></mover>'
    if kind == "fence":
        ends = ["" if c == " " else f"<mo>{escape(c)}</mo>" for c in text]
        return f"<mrow>{ends[0]}{inner[0]}{ends[1]}</mrow>"
    if kind == "matrix":
        left = ' style="text-align:left"' if text == "{" else ""
        rows = "".join(
            "<mtr>" + "".join(f"<mtd{left}>{mathml(cell)}</mtd>" for cell in row.parts) + "</mtr>"
            for row in parts
        )
        before, after = (f"<mo>{c}</mo>" if c.strip() else "" for c in f"{text}  "[:2])
        return f"<mrow>{before}<mtable>{rows}</mtable>{after}</mrow>"
    return _ML_LEAVES[kind](text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_TYPST_LEAVES: Leaves = {
    "letter": lambda t: f"{t} ",
    "upright": lambda t: f"upright({_quoted(t)})", "italic": lambda t: f"italic({_quoted(t)})",
    "bold": lambda t: f"bold({_quoted(t)})", "function": lambda t: f"op({_quoted(t)})",
    "text": lambda t: _quoted(t), "code": lambda t: f"mono({_quoted(t)})",
    "number": lambda t: f"{t} ",
    "space": lambda t: f"#h({float(t) if t.strip() else 0.25:g}em)",
    "punctuation": lambda t: f"\\{t} ",
    "open": lambda t: f"\\{t}", "close": lambda t: f"\\{t} ",
    "plain": lambda t: {"/": "\\/ ", "|": "\\| ", "_": "\\_ ", "&": "\\& ", "#": "\\# ",
                        "$": "\\$ ", "{": "\\{", "}": "\\} ", "∗": "ast "}.get(t, f"{t} "),
}  # fmt: skip
_TYPST_ACCENTS = {
    "dot": "dot", "ddot": "dot.double", "hat": "hat", "bar": "macron", "tilde": "tilde",
    "vec": "arrow", "widehat": "hat", "overline": "overline",
}  # fmt: skip


def typst(node: Node) -> str:
    """Typst, in mathematics."""
    kind, text, parts = node.kind, node.text, node.parts
    inner = [typst(part) for part in parts]
    if kind == "row":
        return "".join(inner)
    if kind in ("sub", "sup", "subsup"):
        marks = {"sub": "b", "sup": "t", "subsup": "bt"}[kind]
        places = ", ".join(f"{m}: {x or '#none'}" for m, x in zip(marks, inner[1:], strict=True))
        return f"attach({inner[0].strip() or '#sym.zwj'}, {places}) "
    if kind == "frac":
        return f"frac({inner[0]}, {inner[1]}) "
    if kind == "root":
        return f"sqrt({inner[0]}) "
    if kind == "accent":
        return f"{_TYPST_ACCENTS[text]}({inner[0].strip()}) "
    if kind == "fence":
        before, after = ("" if c == " " else f"{c}" for c in text)
        return f"lr(\\{before} {inner[0]} \\{after}) " if before and after else inner[0]
    if kind == "matrix":
        gap = " & " if text == "{" else ", "
        rows = [gap.join(typst(cell).strip() or "#none" for cell in row.parts) for row in parts]
        if text == "{":
            return f"cases({', '.join(rows)}) "
        delimiters = f'#("{text[0]}", "{text[1]}")' if text else "#none"
        return f"mat(delim: {delimiters}, {'; '.join(rows)}) "
    return _TYPST_LEAVES[kind](text) if kind in _TYPST_LEAVES else f"{text} "


def svg(node: Node, size: float) -> str:
    """The inside of a <text> element: letters, words, indices; no fractions."""
    kind, text, parts = node.kind, node.text, node.parts
    if kind in ("sub", "sup"):
        shift = 0.28 * size if kind == "sub" else -0.35 * size
        return (
            f'{svg(parts[0], size)}<tspan dy="{shift:.2f}" font-size="{0.7 * size:.2f}">'
            f'{svg(parts[1], 0.7 * size)}</tspan><tspan dy="{-shift:.2f}">&#8203;</tspan>'
        )
    if parts:
        return "".join(svg(part, size) for part in parts)
    if kind in ("letter", "italic"):
        return f'<tspan font-style="italic">{escape(text)}</tspan>'
    if kind == "space":
        return " "
    gap = " " if kind == "punctuation" or kind == "relation" else ""
    return ("" if kind != "relation" else " ") + escape(text) + gap
