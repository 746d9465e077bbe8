"""The navigation of the site, read from docs/index.md: the one place where a page is entered.

A section is a heading of the second level, some words, and a table with a row per page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DOCS", "Page", "Section", "sections", "slug"]

DOCS = Path(__file__).resolve().parents[1]
_ROW = re.compile(r"^\| \[(?P<title>[^\]]+)\]\((?P<path>[^)#]+)\) \| (?P<purpose>.*) \|$", re.M)
_HEAD = re.compile(r"^## (.+)\n", re.M)


@dataclass(frozen=True)
class Page:
    """A row of a table: the title of a page, its file under docs/, and what it is for."""

    title: str
    path: str
    purpose: str


@dataclass(frozen=True)
class Section:
    """A section of the site: its title, what is said of it, and its pages."""

    title: str
    words: str
    pages: tuple[Page, ...]


def sections(text: str | None = None) -> list[Section]:
    """The sections of docs/index.md, in order."""
    text = (DOCS / "index.md").read_text(encoding="utf-8") if text is None else text
    _, *parts = _HEAD.split(text)
    return [
        Section(title, body.split("\n|")[0].strip(), tuple(Page(**m) for m in _rows(body)))
        for title, body in zip(parts[::2], parts[1::2], strict=True)
        if _ROW.search(body)
    ]


def _rows(body: str) -> list[dict[str, str]]:
    return [match.groupdict() for match in _ROW.finditer(body)]


def slug(title: str) -> str:
    """The name of a section's page, or of a heading: words with hyphens, in small letters."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
