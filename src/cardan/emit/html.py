"""HTML: one page of equations in MathML, which browsers set without any script.

Every symbol carries its plain name in `data-name`, so that a page can find its definition."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ..ir.spell import ATOM, PRODUCT, SUM, UNARY
from .header import header, quoted
from .printer import Printer
from .statements import Spelling
from .text import Text

if TYPE_CHECKING:
    from ..program import Program

__all__ = ["Equation", "Html", "equations", "symbol"]

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "w": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
_DOTTED = {"qd": ("q", 1), "qdd": ("q", 2), "wd": ("ω", 1), "Vd": ("V", 1)}
_MARKS = {"plus": "+", "star": "*"}
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}}
pre{{color:#555;white-space:pre-wrap}}
.eq{{overflow-x:auto;padding:.15rem 0}}math{{font-size:1.05em}}
@media(prefers-color-scheme:dark){{body{{background:#16191d;color:#dfe3e8}}pre{{color:#9aa4af}}}}
</style></head><body>
<h1>{title}</h1>
<pre>{header}</pre>
{body}
</body></html>
"""


class Equation(NamedTuple):
    """One line: its plain name, the names it reads, and both as MathML."""

    name: str
    reads: tuple[str, ...]
    mathml: str


def symbol(name: str) -> str:
    """MathML for a name: F2_3 is F with the indices 2, 3."""
    return _marked(name, _looks(name))


def _marked(name: str, text: str) -> str:
    return f'<mrow data-name="{html.escape(name)}">{text}</mrow>'


def _looks(name: str) -> str:
    stem, rest = re.match(r"([A-Za-z]*)(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    mark = next((m for m in _MARKS if stem.endswith(m) and stem != m), "")
    stem = stem.removesuffix(mark)
    letter, dots = _DOTTED.get(stem, (_GREEK.get(stem, stem or "x"), 0))
    text = f"<mi>{html.escape(letter)}</mi>"
    if dots:
        text = f'<mover accent="true">{text}<mo>{"." * dots}</mo></mover>'
    indices = ",".join(re.findall(r"[A-Za-z0-9]+", rest))
    lower = f"<mtext>{html.escape(indices)}</mtext>" if indices else ""
    if mark and lower:
        text = f"<msubsup>{text}{lower}<mo>{_MARKS[mark]}</mo></msubsup>"
    elif mark:
        text = f"<msup>{text}<mo>{_MARKS[mark]}</mo></msup>"
    elif lower:
        text = f"<msub>{text}{lower}</msub>"
    return text


class Html(Text):
    """The table for MathML."""

    language = "html"
    longest = 12
    functions: ClassVar[dict[str, str]] = {
        "sqrt": "<msqrt>{}</msqrt>", "abs": "<mrow><mo>|</mo>{}<mo>|</mo></mrow>",
        **{
            name: f"<mrow><mi>{name}</mi><mo>(</mo>{{}}<mo>)</mo></mrow>"
            for name in ("sin", "cos", "sign")
        },
        **{
            name: f"<mrow><mi>{name}</mi><mo>(</mo>{{}}<mo>,</mo>{{}}<mo>)</mo></mrow>"
            for name in ("atan2", "min", "max")
        },
        "select": "<mrow><mo>{{</mo><mtable><mtr><mtd>{1}</mtd><mtd>{0}<mo>&gt;</mo><mn>0</mn>"
        "</mtd></mtr><mtr><mtd>{2}</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>",
    }  # fmt: skip

    def reserve(self) -> None:
        super().reserve()
        self.plain: dict[str, str] = {}  # MathML -> name
        self.shown: dict[str, str] = {}  # what it looks like -> name
        self.symbols = {k: self.set(name) for k, name in self.symbols.items()}
        self.elements = {key: self.set(name) for key, name in self.elements.items()}
        self.found = {key: self.set(name) for key, name in self.found.items()}
        self.targets = {id: self.set(name) for id, name in self.targets.items()}

    def set(self, name: str) -> str:
        """The symbol of a name; as it is written where another name looks the same."""
        looks = _looks(name)
        if self.shown.setdefault(looks, name) != name:
            looks = f"<mtext>{html.escape(name)}</mtext>"
        text = _marked(name, looks)
        self.plain[text] = name
        return text

    def name_of(self, id: int, wanted: str) -> str:
        return self.targets[id] if id in self.targets else self.set(self.names.claim(wanted))

    def leaf(self, node: tuple[object, ...]) -> Spelling:
        """Inputs are read by their own names here, so that a reader can follow them."""
        found = super().leaf(node)
        return found._replace(reads=frozenset({found.text} if node[0] != "const" else ()))

    def constant(self, value: object) -> Spelling:
        mantissa, _, exponent = self.number(float(value)).partition("e")  # type: ignore[arg-type]
        if not exponent:
            return Spelling(f"<mn>{mantissa}</mn>", ATOM)
        power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
        return Spelling(f"<mn>{mantissa}</mn><mo>·</mo>{power}", PRODUCT)

    def operation(self, op: str, args: list[Spelling]) -> Spelling:
        reads = frozenset().union(*(arg.reads for arg in args))

        def within(arg: Spelling, least: int) -> str:
            inside = f"<mo>(</mo>{arg.text}<mo>)</mo>" if arg.precedence < least else arg.text
            return f"<mrow>{inside}</mrow>"

        if op in ("add", "sub"):
            sign = "+" if op == "add" else "−"
            left, right = within(args[0], SUM), within(args[1], PRODUCT)
            return Spelling(f"{left}<mo>{sign}</mo>{right}", SUM, reads)
        if op == "div":
            return Spelling(f"<mfrac>{within(args[0], SUM)}{within(args[1], SUM)}</mfrac>",
                            ATOM, reads)  # fmt: skip
        if op == "mul" and args[0] == args[1]:
            return Spelling(f"<msup>{within(args[0], ATOM)}<mn>2</mn></msup>", UNARY, reads)
        if op == "mul":
            dot = "<mo>·</mo>" if "<mn>" in args[1].text[:4] else '<mspace width="0.17em"/>'
            text = f"{within(args[0], PRODUCT)}{dot}{within(args[1], UNARY)}"
            return Spelling(text, PRODUCT, reads)
        return super().operation(op, args)

    def minus(self, x: Spelling) -> str:
        inside = x.text if x.precedence >= PRODUCT else f"<mo>(</mo>{x.text}<mo>)</mo>"
        return f"<mo>−</mo>{inside}"

    def equations(self) -> list[Equation]:
        """The lines of the function, in order."""
        return [
            Equation(
                self.plain[s.name],
                tuple(sorted(self.plain[text] for text in s.reads if text in self.plain)),
                f"<math>{s.name}<mo>=</mo>{s.value}</math>",
            )
            for s in self.parts[0][0].statements
        ]

    @classmethod
    def file(cls, program: Program, printers: Sequence[Printer]) -> str:
        title = html.escape(f"{program.model} of {quoted(program.robot)}", quote=False)
        lines = html.escape("\n".join(header(program, printers)))
        body = "\n".join(
            f'<div class="eq">{equation.mathml}</div>'
            for printer in printers
            for equation in printer.equations()  # type: ignore[attr-defined]
        )
        return _PAGE.format(title=title, header=lines, body=body)


def equations(program: Program) -> list[Equation]:
    """The equations of a program, for a page that shows them itself."""
    from .options import checked

    return Html(program, "model", checked("html", Html.honours, {}), Html.scope()).equations()
