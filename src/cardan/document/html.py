"""HTML: a page complete in itself, with its mathematics font inside; or a fragment, for notebooks.

Drawings are SVG, formulas MathML, which browsers set without any script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape
from importlib import resources

from .formula import formula
from .spelling import mathml, svg
from .structure import (
    Document,
    Drawing,
    Fold,
    Image,
    Label,
    Line,
    Part,
    Row,
    Table,
    Words,
    Writer,
    alignment,
    arrow,
)

_CSS = """
@font-face { font-family: "Sheet Math"; src: url(data:font/woff2;base64,@FONT@) format("woff2") }
@page { size: A4; margin: 16mm 17mm }
body { font: 15px/1.45 "STIX Two Text", Georgia, "Times New Roman", serif; color: #111;
       max-width: 46em; margin: 2em auto; padding: 0 1.2em; background: #fff }
math { font-family: "Sheet Math", "STIX Two Math", "Cambria Math", math; font-size: 1em }
h1 { font-size: 1.7em; margin: 0 0 .1em } .about { color: #444; margin: 0 0 1em }
h2 { font-size: 1.2em; margin: 1.5em 0 .4em; border-bottom: 1px solid #999; break-after: avoid }
h3 { font-size: 1em; margin: 1.1em 0 .3em; break-after: avoid }
p { margin: .5em 0 } code, pre { font: .84em/1.35 ui-monospace, Menlo, Consolas, monospace }
pre { overflow-x: auto; margin: .5em 0 }
table.sheet { border-collapse: collapse; font-size: .88em; margin: .5em auto; border-top: 1.5px
       solid #111; border-bottom: 1.5px solid #111; break-inside: avoid }
table.sheet caption { text-align: left; padding: .2em 0; color: #444 }
table.sheet th { border-bottom: .8px solid #111; font-weight: normal; font-style: italic }
table.sheet td, table.sheet th { padding: .16em .7em; text-align: center }
table.sheet .text { text-align: left } table.sheet .number { text-align: right }
.equations { overflow-x: auto; overflow-y: hidden; margin: .55em 0; break-inside: avoid }
figure { margin: .6em auto; text-align: center; break-inside: avoid }
figure svg, img { max-width: 100% }
figcaption { color: #444; font-size: .88em } footer { color: #666; font-size: .82em;
       margin-top: 2em; border-top: 1px solid #999; padding-top: .4em }
@media print { body { margin: 0; padding: 0; max-width: none; font-size: 10.5pt } }
"""
_LEFT, _RIGHT = (
    ' style="text-align:left;text-align:-webkit-left;padding:.2em 0"',
    ' style="text-align:right;text-align:-webkit-right;padding:.2em 0"',
)
_SVG = "http://www.w3.org/2000/svg"
_FONTS = "'Sheet Math', 'STIX Two Text', 'Times New Roman', serif"
_LIE = {"l": ' class="text"', "c": "", "r": ' class="number"'}


def page(document: Document) -> str:
    """The whole file."""
    font = resources.files(__package__) / "font" / "stix-two-math.woff2"
    css = _CSS.replace("@FONT@", b64encode(font.read_bytes()).decode("ascii"))
    title, words = escape(document.title), _Html().words
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{css}</style></head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="about">{words(document.about)}</p>\n{fragment(document.parts)}\n'
        f"<footer>{words(document.foot)}</footer>\n</body></html>\n"
    )


def fragment(parts: Iterable[Part], level: int = 2) -> str:
    """The parts alone."""
    return "\n".join(_Html().parts(parts, level))


class _Html(Writer):
    mathematics = staticmethod(mathml)
    indent = '<mspace width="2em"/>'

    def heading(self, title: Words, level: int) -> str:
        return f"<h{level}>{self.words(title)}</h{level}>"

    def fold(self, fold: Fold, level: int) -> list[str]:
        head = f"<details><summary>{self.words(fold.title)}</summary>"
        return [head, fragment(fold.parts, level + 1), "</details>"]

    def listing(self, text: str) -> str:
        return f"<pre>{escape(text)}</pre>"

    def image(self, image: Image) -> list[str]:
        data = b64encode(image.data).decode("ascii")
        picture = f'<img alt="" src="data:image/png;base64,{data}"/>'
        return [self._figure(picture, image.caption) if image.data else ""]

    def drawing(self, drawing: Drawing) -> str:
        return self._figure(picture(drawing), drawing.caption)

    def _figure(self, inside: str, caption: Words) -> str:
        return f"<figure>{inside}<figcaption>{self.words(caption)}</figcaption></figure>"

    def paragraph(self, text: Words) -> list[str]:
        return [f"<p>{self.words(text)}</p>"]

    def formula(self, inside: str) -> str:
        return f"<math>{inside}</math>"

    def typed(self, text: str) -> str:
        return f"<code>{escape(text)}</code>"

    def plain(self, text: str) -> str:
        return escape(text)

    def table(self, table: Table) -> str:
        caption = f"<caption>{self.words(table.caption)}</caption>" if table.caption else ""
        lie = [_LIE[letter] for letter in alignment(table)]
        head, *rows = (
            "".join(
                f"<{tag}{x}>{self.words(cell)}</{tag}>" for cell, x in zip(row, lie, strict=True)
            )
            for tag, row in (("th", table.head), *(("td", row) for row in table.rows))
        )
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        head = f"<thead><tr>{head}</tr></thead>"
        return f'<table class="sheet">{caption}{head}<tbody>{body}</tbody></table>'

    def block(self, rows: Iterable[Row]) -> str:
        lines = "".join(
            f"<mtr><mtd{_RIGHT}>{mathml(left)}</mtd>"
            f"<mtd{_LEFT}>{self.indent if goes_on else ''}{mathml(right)}</mtd></mtr>"
            for left, right, goes_on in rows
        )
        table = f'<mtable displaystyle="true">{lines}</mtable>'
        return f'<div class="equations"><math display="block">{table}</math></div>'


def picture(drawing: Drawing, title: str = "", scale: float = 1.5) -> str:
    """The drawing as an <svg> element; scale 0: as wide as there is room."""
    high = drawing.height
    parts = []
    for shape in drawing.shapes:
        if isinstance(shape, Label):
            x, y = shape.at[0], high - shape.at[1] + 0.33 * shape.size
            halo = 'paint-order="stroke" stroke="#ffffff" stroke-width="2.4"'
            parts.append(
                f'<text x="{x:.1f}" y="{y:.1f}" font-size="{shape.size:g}" fill="{shape.colour}" '
                f'text-anchor="middle" {halo}>{svg(formula(shape.latex), shape.size)}</text>'
            )
        else:
            parts.append(_line(shape, high))
    wide = f' width="{scale * drawing.width:g}"' if scale else ""
    named = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<svg viewBox="0 0 {drawing.width:g} {high:g}"{wide} role="img" xmlns="{_SVG}"'
        f' font-family="{_FONTS}">{named}{"".join(parts)}</svg>'
    )


def _line(line: Line, high: float) -> str:
    stroke = line.stroke
    points = " ".join(f"{x:.1f},{high - y:.1f}" for x, y in line.points)
    dash = ' stroke-dasharray="3 2"' if stroke.dashed else ""
    name = "polygon" if stroke.fill else "polyline"
    head = ""
    if stroke.arrow:
        head = " ".join(f"{x:.1f},{high - y:.1f}" for x, y in arrow(line))
        head = f'<polygon points="{head}" fill="{stroke.colour}"/>'
    return (
        f'<{name} points="{points}" fill="{stroke.fill or "none"}" stroke="{stroke.colour}" '
        f'stroke-width="{stroke.width:g}" stroke-linecap="round" stroke-linejoin="round"{dash}/>'
        f"{head}"
    )
