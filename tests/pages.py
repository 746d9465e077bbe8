"""The code of a page of the docs, run as a reader would type it."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["DOCS", "run_page"]

DOCS = Path(__file__).resolve().parents[1] / "docs"


def run_page(name: str) -> dict[str, object]:
    """Run the Python blocks of a page one after the other; the names they leave."""
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks, name
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)  # noqa: S102
    return names
