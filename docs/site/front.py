"""The front page of the site, and what its gallery begins with: cards that lead on.

The words are those of docs/index.md and README.md, the pictures those of the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import make_gallery
from navigation import DOCS, Page, Section, slug

import cardan

__all__ = ["gallery", "page"]

BARE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n"
MEASURED = "Times of one run beside the peers, on a shared machine: [benchmarks](benchmarks.md)."
Card = tuple[str, str, str, str]  # picture, where it leads, title, words
README = DOCS.parent / "README.md"
# what a robot of each kind looks like
ROBOTS = ("ur5", "delta", "stewart", "sr400", "mobile-manipulator")
ROBOTS += ("scara", "planar3rrr", "snake30", "prrrp", "tree")


def page(parts: list[Section]) -> str:
    """docs/index.md with an example, a card per tutorial, robots, counts, a card per section."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    head = re.split(r"^## ", text, maxsplit=1, flags=re.M)[0].rstrip()
    tutorials = [p for part in parts for p in part.pages if p.path.startswith("tutorials/")]
    blocks = [
        BARE + head,
        _of_readme(r"```python\n.*?```\n\n```text\n.*?```"),
        "## What brings you here?",
        _cards(_tutorial(p) for p in tutorials),
        "## Robots of every kind",
        _cards(_robots(ROBOTS, "gallery.md"), "small"),
        "## Few operations, native speed",
        _of_readme(r"\| inverse dynamics, .*?(?=\n\n)"),
        _of_readme(r"(?<=<!-- speed -->\n).*?(?=<!-- end of speed -->)"),
        MEASURED,
        "## All pages",
        _cards(("", f"{slug(s.title)}.md", s.title, s.words) for s in parts),
        "```{toctree}\n:hidden:\n\n" + "\n".join(f"{slug(s.title)}.md" for s in parts) + "\n```\n",
    ]
    return "\n\n".join(blocks)


def gallery(text: str) -> str:
    """The gallery with small pictures of its robots and examples in front."""
    rows = ((f"pictures/{row[2]}", f"#{slug(row[0])}", row[0], "") for row in make_gallery.EXAMPLES)
    robots = _cards(_robots(cardan.robots()), "small")
    text = text.replace("## Robots\n", f"## Robots\n\n{robots}\n", 1)
    return text.replace("## Worked examples\n", f"## Worked examples\n\n{_cards(rows)}\n", 1)


def _of_readme(pattern: str) -> str:
    part = re.search(pattern, README.read_text(encoding="utf-8"), re.S)
    assert part, f"README has lost what matches {pattern}"
    return part[0]


def _tutorial(page: Page) -> Card:
    picture = f"pictures/{page.path.removesuffix('.md')}.png"
    return picture, page.path, page.title.partition(": ")[2].capitalize(), page.purpose


def _robots(names: Iterable[str], page: str = "") -> Iterable[Card]:
    for name in names:
        title = cardan.load(name).name
        yield f"pictures/gallery/{name}.png", f"{page}#{slug(title)}", title, ""


def _cards(rows: Iterable[Card], kind: str = "") -> str:
    """Links with a picture, a title and some words; site.css sets them in a grid."""
    lines = []
    for picture, path, title, words in rows:
        image = f"![]({picture})" if picture else ""
        lines.append(f"[{image} **{title}** {words}]({path})")
    return "\n\n".join([f"````{{container}} cards {kind}", *lines, "````"])
