"""Runs the pages of docs/tutorials and keeps the pictures that they draw, in docs/pictures/tutorials.

python docs/make_tutorials.py [PAGE ...]
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")

DOCS = Path(__file__).resolve().parent
FOLDER = DOCS / "tutorials"
PICTURES = DOCS / "pictures" / "tutorials"


def run(page: str, folder: Path) -> list[Path]:
    """Run the Python of a page in a folder that has the files of the tutorials; its pictures."""
    for path in [*FOLDER.glob("*.toml"), *FOLDER.glob("*.csv")]:
        shutil.copy(path, folder)
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    back = Path.cwd()
    os.chdir(folder)
    try:
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, page, "exec"), names)  # noqa: S102
    finally:
        os.chdir(back)
    return sorted(folder.glob("*.png"))


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for page in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            for picture in run(page, Path(folder)):
                shutil.copy(picture, PICTURES)
