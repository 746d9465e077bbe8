"""Every link of the built site leads to a file, and to an anchor that there is; addresses of other
sites are well formed (they are not asked: the site is built without a network)."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken"]


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if value is not None and key == "id":
                self.anchors.add(value)
            elif value is not None and key in ("href", "src"):
                self.links.append(value)


def broken(folder: Path) -> tuple[int, list[str]]:
    """How many links there are, and "page: link" of each that leads nowhere."""
    folder = folder.resolve()
    files = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in files}
    links = [(path, link) for path, page in pages.items() for link in page.links]
    lost = [(path, link) for path, link in links if not _leads(path, link, pages)]
    return len(links), [f"{path.relative_to(folder)}: {link}" for path, link in lost]


def _leads(page: Path, link: str, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme in ("http", "https"):
        return "." in parts.netloc and not set(link) & set(" <>\"'")
    if parts.scheme or parts.netloc:
        return parts.scheme in ("data", "mailto")
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    anchors = pages[target].anchors if target in pages else None
    return target.exists() and (
        not parts.fragment or anchors is None or unquote(parts.fragment) in anchors
    )
