"""Builds the site:  python docs/site/build.py [--downloads] [FOLDER]   (build/site)

The pages of docs/ are laid out in build/site-source, the front page (front.py), one page per
section and the pages that are made from the program are added, and Sphinx does the rest. A warning
is an error: no link may lead nowhere (links.py looks at the pages that were built), no page may
stand outside the navigation.
--downloads adds the sheet and the C code of every robot of the gallery, which takes some minutes: a
release has them.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import front
import make_gallery
from links import broken
from navigation import DOCS, Section, sections, slug
from reference import PAGES, api, commands, equations
from sphinx.cmd.build import main as sphinx

import cardan
from cardan.describe import show

ROOT = DOCS.parent
COPIED = (".md", ".ipynb", ".png", ".svg", ".csv", ".toml", ".py")
COUNTED = ("transform", "jacobian", "inverse-dynamics", "inertia-matrix", "direct-dynamics")
GENERATED = {"Reference": PAGES}


def main(folder: Path, *, downloads: bool = False) -> int:
    """Lay the pages out and run Sphinx; its exit status."""
    source = ROOT / "build" / "site-source"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cardan.CardanWarning)
        stage(source, downloads)
    here = str(Path(__file__).parent)
    trees = str(source.with_name("site-doctrees"))  # beside the site: they are not to be deployed
    words = ["-b", "html", "-c", here, "-d", trees, "-W", "--keep-going", "-q"]
    words += [str(source), str(folder)]
    status = sphinx(words)
    count, lost = broken(folder)
    print(f"{count} links, {len(lost)} broken", *lost, sep="\n")
    return status or int(bool(lost))


def stage(source: Path, downloads: bool) -> None:
    """Write every source of the site; a file that is as it was keeps its time and is not redone."""
    texts: dict[str, str | bytes] = {}
    for path in DOCS.rglob("*"):
        if path.suffix in COPIED and not path.is_relative_to(DOCS / "site"):
            texts[path.relative_to(DOCS).as_posix()] = path.read_bytes()
    for path in (ROOT / "src/cardan/describe/robots").glob("*.toml"):
        texts[f"robots/{path.name}"] = path.read_bytes()
    files = {name: code_and_sheet(name) if downloads else {} for name in cardan.robots()}
    for own in files.values():
        texts.update(own)
    texts["gallery.md"] = front.gallery(with_tables(make_gallery.text(), files))
    for name in cardan.robots():  # a robot that came since the pictures were drawn
        if f"pictures/gallery/{name}.png" not in texts:
            texts[f"pictures/gallery/{name}.png"] = make_gallery.drawn(name)
    for path in [p for kind in ("*.ipynb", "*.py") for p in (ROOT / "examples").glob(kind)]:
        texts[f"examples/{path.name}"] = path.read_bytes()
    parts = [_completed(section) for section in sections()]
    for section in parts:
        if len(section.pages) > 1:  # the gallery is its own page
            texts[f"{slug(section.title)}.md"] = section_page(section)
    texts["index.md"] = front.page(parts)
    texts.update(api())
    texts["commands.md"], texts["equations.md"] = commands(), equations()
    for name, text in texts.items():
        _write(source / name, text if isinstance(text, bytes) else text.encode())
    for path in source.rglob("*"):
        if path.is_file() and path.relative_to(source).as_posix() not in texts:
            path.unlink()


def code_and_sheet(name: str) -> dict[str, str | bytes]:
    """What the gallery offers of a robot beside its file."""
    robot = cardan.load(name)
    texts: dict[str, str | bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        cardan.sheet(robot, Path(folder) / "sheet.html")
        texts[f"sheets/{name}.html"] = (Path(folder) / "sheet.html").read_bytes()
        texts[f"code/{name}.c"] = cardan.model(robot, "inverse-dynamics").emit("c")
    return texts


def with_tables(page: str, files: Mapping[str, Mapping[str, str | bytes]]) -> str:
    """The gallery with operation counts from the ledger that the tests keep, geometric tables, and
    files where the site has them."""
    ledger = tomllib.loads((ROOT / "tests/golden/costs.toml").read_text(encoding="utf-8"))

    def more(match: re.Match[str]) -> str:
        name = match[1]
        rows = [(m, c) for m, c in ledger.get(name, {}).items() if m in COUNTED]
        lines = []
        if rows:
            head = "| " + " | ".join(f"`{m}`" for m, _ in rows) + " |"
            cells = "| " + " | ".join(f"{c['mul'] + c['div']} / {c['add']}" for _, c in rows) + " |"
            words = "Multiplications / additions, with friction where the robot has it:"
            lines = [words, "", head, "|---" * len(rows) + "|", cells, ""]
        for path in files[name]:
            title = {"sheets": "sheet", "code": "C code of its inverse dynamics"}[
                Path(path).parts[0]
            ]
            lines += [f"- [{title}]({path})"]
        return "\n".join([*lines, "", *geometry(name)])

    page = page.replace("](../src/cardan/describe/robots/", "](robots/")
    page = page.replace("](../examples/", "](examples/")
    return re.sub(r"<!-- counts (\S+) -->", more, page)


def geometry(name: str) -> list[str]:
    """The geometric table of a robot, folded."""
    table = next(t for t in show.tables(cardan.load(name)) if t.title == "Geometry")
    lines = [[*table.header], ["---"] * len(table.header), *map(list, table.rows)]
    rows = ["| " + " | ".join(x.replace("|", r"\|") for x in line) + " |" for line in lines]
    return ["<details><summary>Geometric table</summary>", "", *rows, "", "</details>"]


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def _completed(section: Section) -> Section:
    """The section with the pages that are made from the program; ../examples stands beside it."""
    more = GENERATED.get(section.title, ())
    pages = [replace(p, path=p.path.removeprefix("../")) for p in (*section.pages, *more)]
    return replace(section, pages=tuple(pages))


def section_page(section: Section) -> str:
    """A section's page: its words, its pages in a table, and the tree for the sidebar."""
    rows = [f"| [{p.title}]({p.path}) | {p.purpose} |" for p in section.pages]
    table = "\n".join(["| page | for |", "|---|---|", *rows])
    tree = "\n".join(f"{p.title} <{p.path}>" for p in section.pages)
    toctree = f"```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    return f"# {section.title}\n\n{section.words}\n\n{table}\n\n{toctree}"


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--downloads"]
    target = Path(words[0]) if words else ROOT / "build" / "site"
    status = main(target, downloads="--downloads" in sys.argv)
    if status == 0:
        print(f"the site is in {target}: open {target / 'index.html'}")
    else:
        shutil.rmtree(target, ignore_errors=True)
    raise SystemExit(status)
