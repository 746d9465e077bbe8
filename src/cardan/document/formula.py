"""Formulas: the LaTeX that Cardan writes, read into a tree; its width; its lines.

A tree is spelled again by the tables of `spelling` as LaTeX, MathML or Typst, so that a formula is
written once. What the reader does not know it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..errors import InputError

GREEK = dict(
    zip(
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "varepsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "pi",
            "rho",
            "sigma",
            "tau",
            "upsilon",
            "phi",
            "chi",
            "psi",
            "omega",
            "Gamma",
            "Delta",
            "Theta",
            "Lambda",
            "Xi",
            "Pi",
            "Sigma",
            "Phi",
            "Psi",
            "Omega",
        ],
        "αβγδϵεζηθικλμνξπρστυϕχψωΓΔΘΛΞΠΣΦΨΩ",
        strict=True,
    )
)
# commands that are one character: binary operations, relations, and what stands by itself
BINARY = {"cdot": "⋅", "times": "×", "otimes": "⊗", "pm": "±", "mp": "∓"}
RELATIONS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠", "ne": "≠", "approx": "≈", "to": "→",
    "in": "∈", "Rightarrow": "⇒", "rightarrow": "→", "equiv": "≡", "mapsto": "↦",
    "Leftrightarrow": "⇔", "leftrightarrow": "↔", "iff": "⇔", "parallel": "∥", "perp": "⟂",
}  # fmt: skip
PLAIN = {
    "infty": "∞", "partial": "∂", "ldots": "…", "dots": "…", "cdots": "⋯", "vdots": "⋮",
    "ddots": "⋱", "top": "⊤", "circ": "∘", "prime": "′", "ell": "ℓ", "lvert": "|", "rvert": "|",
    "mid": "|", "lbrace": "{", "rbrace": "}", "{": "{", "}": "}", "vert": "|", "lVert": "‖",
    "rVert": "‖", "degree": "°", "dagger": "†", "ast": "∗", "star": "∗",
}  # fmt: skip
FUNCTIONS = {"sin", "cos", "tan", "atan", "arctan", "min", "max", "det", "log", "exp", "arccos"}
SPACES = {",": 0.17, ":": 0.22, ">": 0.22, ";": 0.28, "!": 0.0, " ": 0.25, "quad": 1.0, "qquad": 2}
ACCENTS = {"dot", "ddot", "hat", "bar", "tilde", "vec", "widehat", "overline"}
FONTS = {
    "mathrm": "upright", "mathit": "italic", "mathbf": "bold", "boldsymbol": "bold",
    "operatorname": "function", "text": "text", "mathtt": "code", "textrm": "text",
    "mathsf": "upright", "textit": "text", "mbox": "text", "mathbb": "upright",
}  # fmt: skip
MATRICES = {"matrix": "", "bmatrix": "[]", "pmatrix": "()", "vmatrix": "||", "cases": "{",
            "array": "", "smallmatrix": "", "aligned": "", "Bmatrix": "{}"}  # fmt: skip
_SKIPPED = {"displaystyle", "textstyle", "limits", "nolimits", "hfill", "allowbreak"}
_TOKEN = re.compile(r"\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.S)


@dataclass(frozen=True)
class Node:
    """A part of a formula: its kind, its character or word, and what it is made of.

    Leaves: letter (italic), upright, italic, bold, function, code (words), number, binary,
    relation, open, close, punctuation, sign (a minus of what follows), text, space.
    Others: row, sub, sup, subsup, frac, root, accent (of the name), fence (of two characters),
    matrix (of two delimiters; its parts are rows of cells)."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()


@lru_cache(maxsize=4096)
def formula(latex: str) -> Node:
    """The tree of a formula.

    >>> formula("q_{1}").kind
    'sub'"""
    reader = _Reader(_TOKEN.findall(latex), latex)
    row = reader.row(())
    if reader.left():
        raise reader.fault()
    return row


def sides(node: Node) -> tuple[Node, Node]:
    """What stands before the first relation of a formula, and the rest with it."""
    items = _items(node)
    at = next((k for k, item in enumerate(items) if item.kind == "relation"), 0)
    return Node("row", parts=tuple(items[:at])), Node("row", parts=tuple(items[at:]))


class _Reader:
    """One pass over the tokens."""

    def __init__(self, tokens: list[str], source: str) -> None:
        self.tokens, self.source, self.at = tokens, source, 0

    def left(self) -> bool:
        return bool(self.peek())

    def peek(self) -> str:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        if not token:
            raise self.fault()
        self.at += 1
        return token

    def fault(self) -> InputError:
        rest = "".join(self.tokens[self.at : self.at + 4]) or "the end"
        return InputError(f"the formula {self.source[:60]!r} cannot be read at {rest!r}")

    def row(self, ends: Sequence[str]) -> Node:
        """Items as far as one of the tokens `ends`, which is not taken."""
        items: list[Node] = []
        while self.left() and self.peek() not in ends:
            token = self.peek()
            if token in ("_", "^"):
                items.append(self.scripts(items.pop() if items else Node("row")))
                continue
            if token in ("}", "&", r"\\", r"\right"):
                break
            item = self.item()
            if item is not None:
                items.append(item)
        return items[0] if len(items) == 1 else Node("row", parts=tuple(_signed(items)))

    def scripts(self, base: Node) -> Node:
        places: dict[str, Node] = {}
        while self.peek() in ("_", "^") and self.peek() not in places:
            mark = self.take()
            places[mark] = self.argument()
        kind = {"_": "sub", "^": "sup"}.get("".join(places), "subsup")
        return Node(kind, parts=(base, *(places[k] for k in ("_", "^") if k in places)))

    def argument(self) -> Node:
        """One group or one item."""
        if self.peek() == "{":
            self.take()
            inner = self.row(("}",))
            if self.peek() != "}":
                raise self.fault()
            self.take()
            return inner
        if self.peek() in ("", "}", "_", "^"):
            raise self.fault()
        item = self.item()
        return Node("row") if item is None else item

    def words(self) -> str:
        """The text of a group, as it is written."""
        depth, taken = 0, list[str]()
        while not taken or depth:
            if self.at >= len(self.tokens):
                raise self.fault()
            taken.append(self.tokens[self.at])
            depth += {"{": 1, "}": -1}.get(taken[-1], 0)
            self.at += 1
        return re.sub(r"\\([_&%$#{} ])", r"\1", "".join(taken[1:-1]))

    def item(self) -> Node | None:
        token = self.take()
        if token == "{":
            self.at -= 1
            return self.argument()
        if token.startswith(r"\begin{"):
            return self.matrix(token[7:-1])
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[0].isdigit():
            return Node("number", token)
        if token.isalpha():
            return Node("letter", token)
        if token in "+-−":
            return Node("binary", "−" if token in "-−" else "+")
        kinds = {"=": "relation", "<": "relation", ">": "relation", "(": "open", "[": "open",
                 ")": "close", "]": "close", ",": "punctuation", ";": "punctuation",
                 ".": "punctuation", ":": "relation", "/": "plain", "|": "plain", "*": "plain",
                 "'": "plain", "!": "plain", "~": "space"}  # fmt: skip
        if token in kinds:
            return Node(kinds[token], {"'": "′", "~": " ", "*": "∗"}.get(token, token))
        if token in "⋅×±·°":
            return Node("binary", token)
        raise self.fault()

    def command(self, name: str) -> Node | None:
        for table, kind in ((GREEK, "letter"), (BINARY, "binary"), (RELATIONS, "relation"),
                            (PLAIN, "plain")):  # fmt: skip
            if name in table:
                return Node(kind, table[name])
        if name in SPACES:
            return Node("space", str(SPACES[name]))
        if name in FUNCTIONS:
            return Node("function", name)
        if name in FONTS:
            if self.peek() != "{":
                raise self.fault()
            if FONTS[name] == "bold":
                return Node("bold", _letters(self.argument()))
            return Node(FONTS[name], self.words())
        if name in ACCENTS:
            return Node("accent", name, (self.argument(),))
        if name in ("frac", "tfrac", "dfrac"):
            return Node("frac", parts=(self.argument(), self.argument()))
        if name == "sqrt":
            return Node("root", parts=(self.argument(),))
        if name == "left":
            return self.fence()
        if name in ("big", "Big", "bigl", "bigr", "Bigl", "Bigr", *_SKIPPED):
            return None
        if name in "_%$#&":
            return Node("plain", name)
        self.at -= 1
        raise self.fault()

    def delimiter(self) -> str:
        token = self.take()
        token = PLAIN.get(token[1:], token[1:]) if token.startswith("\\") else token
        return "" if token == "." else token

    def fence(self) -> Node:
        before = self.delimiter()
        inner = self.row((r"\right",))
        if self.peek() != r"\right":
            raise self.fault()
        self.take()
        return Node("fence", f"{before or ' '}{self.delimiter() or ' '}", (inner,))

    def matrix(self, name: str) -> Node:
        if name not in MATRICES:
            raise self.fault()
        if name == "array":
            self.argument()
        rows: list[Node] = []
        cells: list[Node] = []
        end = rf"\end{{{name}}}"
        while True:
            cells.append(self.row(("&", r"\\", end)))
            token = self.take()
            if token == "&":
                continue
            if len(cells) > 1 or cells[0] != Node("row"):
                rows.append(Node("row", parts=tuple(cells)))
            cells = []
            if token == end:
                return Node("matrix", MATRICES[name], tuple(rows))
            if token != r"\\":
                self.at -= 1
                raise self.fault()


def _letters(node: Node) -> str:
    return node.text + "".join(map(_letters, node.parts))


def _signed(items: list[Node]) -> Iterator[Node]:
    """A plus or minus that stands before a value, not between two, is its sign."""
    before = ""
    for item in items:
        first = before in ("", "relation", "open", "punctuation", "binary", "sign")
        if item.kind == "binary" and item.text in "+−±∓" and first:
            item = Node("sign", item.text)
        yield item
        before = before if item.kind == "space" else item.kind


def _items(node: Node) -> list[Node]:
    return list(node.parts) if node.kind == "row" else [node]


# ---- widths, in em of Computer Modern ----

_WIDE = set("mwMWωΩ")
_DELIMITER = {"": 0.0, "[]": 1.1, "()": 1.4, "||": 0.9, "{": 0.9, "{}": 1.6}


@lru_cache(maxsize=16384)
def width(node: Node) -> float:
    """About how wide a formula is, in em: rather more than less."""
    kind, text, parts = node.kind, node.text, node.parts
    if kind == "row":
        return sum(map(width, parts))
    if kind in ("sub", "sup"):
        return width(parts[0]) + 0.72 * width(parts[1]) + 0.08
    if kind == "subsup":
        return width(parts[0]) + 0.72 * max(map(width, parts[1:])) + 0.08
    if kind == "frac":
        return max(map(width, parts)) + 0.25
    if kind == "root":
        return width(parts[0]) + 0.9
    if kind == "accent":
        return width(parts[0]) + 0.05
    if kind == "fence":
        return width(parts[0]) + 1.0
    if kind == "matrix":
        columns = max((len(row.parts) for row in parts), default=0)
        wide = [max((width(row.parts[k]) for row in parts if k < len(row.parts)), default=0.0)
                for k in range(columns)]  # fmt: skip
        return sum(wide) + max(columns - 1, 0) * 1.0 + _DELIMITER.get(text, 1.0) + 0.2
    if kind == "space":
        return float(text) if text.strip() else 0.25
    if kind == "binary":
        return 0.5 if text == "⋅" else 1.25
    if kind == "relation":
        return 1.35
    if kind in ("function", "upright", "italic", "text", "code", "bold"):
        each = 0.53 if kind in ("code",) else 0.52
        capitals = sum(c.isupper() or c in _WIDE for c in text)
        return each * len(text) + 0.24 * capitals + (0.2 if kind == "function" else 0.05)
    if kind == "number":
        return 0.5 * len(text)
    if kind in ("open", "close"):
        return 0.4
    if kind == "punctuation":
        return 0.45
    if kind == "sign":
        return 0.8
    if kind == "letter":
        return 0.88 if text in _WIDE else 0.76 if text.isupper() else 0.57
    return 0.55


def broken(node: Node, room: float, indent: float = 2.0) -> list[Node]:
    """A formula in lines no wider than the room: each but the first begins with the sign before
    which it was broken, and is indented. It is broken where few parentheses are open; one that
    cannot be broken stays whole."""
    if width(node) <= room:
        return [node]
    lines, rest = list[Node](), [*_pieces(_flat(_items(node), room))]
    while rest:
        space = room - (indent if lines else 0.0)
        used, fit = 0.0, 0
        ends: list[tuple[int, int]] = []  # (parentheses open, pieces) of lines that fit
        for k, (depth, piece) in enumerate(rest):
            if k and used >= 0.4 * space:
                ends.append((depth, -k))
            used += sum(map(width, piece))
            if used > space:
                break
            fit = k + 1
        if fit < len(rest):
            fit = -min(ends)[1] if ends else max(fit, 1)
        lines.append(Node("row", parts=tuple(item for _, piece in rest[:fit] for item in piece)))
        rest = rest[fit:]
    return lines


def _flat(items: list[Node], room: float) -> list[Node]:
    """The items, without fences, quotients and roots that are too wide for half a line: a quotient
    is written (a)/(b), a root (a)^{1/2}."""
    out: list[Node] = []
    for item in items:
        if item.kind not in ("fence", "frac", "root") or width(item) <= 0.5 * room:
            out.append(item)
        elif item.kind == "fence":
            inner = _flat(_items(item.parts[0]), room)
            out += [Node("open", item.text[0]), *inner, Node("close", item.text[1])]
        else:
            parts = [_enclosed(part, room) for part in item.parts]
            out += parts[0]
            if item.kind == "frac":
                out += [Node("plain", "/"), *parts[1]]
            else:
                half = Node(
                    "row", parts=(Node("number", "1"), Node("plain", "/"), Node("number", "2"))
                )
                out[-1] = Node("sup", parts=(out[-1], half))
    return out


def _enclosed(node: Node, room: float) -> list[Node]:
    """A part in parentheses, where it is more than one item."""
    items = _flat(_items(node), room)
    return items if len(items) == 1 else [Node("open", "("), *items, Node("close", ")")]


def _pieces(items: list[Node]) -> Iterator[tuple[int, list[Node]]]:
    """What stands together in a line, from one place where a line may end to the next, and how
    many parentheses are open before it."""
    piece: list[Node] = []
    depth = start = 0
    before = ""
    for item in items:
        breaks = item.kind == "binary" or before == "punctuation"
        if breaks and piece:
            yield start, piece
            piece, start = [], depth
        piece.append(item)
        kind = item.parts[0].kind if item.kind in ("sub", "sup", "subsup") else item.kind
        depth += {"open": 1, "close": -1}.get(kind, 0)
        before = item.kind
    if piece:
        yield start, piece
