"""Sheets of the bundled robots in every format: python -m tests.sheets.every FOLDER [ROBOT...]

Prints the pages that TeX makes of each and its overfull boxes; exits with 1 where there is one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import cardan
from cardan.document import html, markdown, tex, typst
from cardan.document.structure import Document
from cardan.sheets.sheet import sheet_document

__all__ = ["typeset"]


def typeset(document: Document, folder: Path, name: str) -> tuple[int, list[str]]:
    """The pages that TeX makes of a document, and how far its boxes are overfull."""
    (folder / f"{name}.tex").write_text(tex.page(document), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, log[-2000:]
    pages = re.findall(r"\((\d+) pages?", log)
    return int(pages[-1]), re.findall(r"Overfull .*", log)


def main(folder: Path, names: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    faults = 0
    for name in names:
        document = sheet_document(cardan.load(name))
        (folder / f"{name}.html").write_text(html.page(document), encoding="utf-8")
        (folder / f"{name}.md").write_text(markdown.page(document, name), encoding="utf-8")
        (folder / f"{name}-typst.pdf").write_bytes(typst.pdf(document))
        pages, overfull = typeset(document, folder, name)
        print(name, pages, "pages", *overfull, flush=True)
        faults += len(overfull)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:] or list(cardan.robots())))
