"""The conda recipe of a release:  python packaging/conda/recipe.py SDIST OUT

meta.yaml with the checksum of the sdist that was built; its name must be that of the recipe's version.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

TEMPLATE = Path(__file__).with_name("meta.yaml")


def recipe(sdist: Path) -> str:
    text = TEMPLATE.read_text(encoding="utf-8")
    version = re.search(r'version = "(.*)"', text)
    if version is None or sdist.name != f"cardan-{version[1]}.tar.gz":
        raise SystemExit(f"{sdist} is not of the version in {TEMPLATE}")
    return text.replace("sha256: SHA256", f"sha256: {hashlib.sha256(sdist.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(recipe(source), encoding="utf-8")
