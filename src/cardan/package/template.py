"""Templates: files of `data/` with places written @LIKE_THIS@."""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["fill", "template"]

_PLACE = re.compile(r"@([A-Z_]+)@")


def template(path: str, **values: object) -> str:
    """A file of `data/` with its places filled; what is filled in is never searched again."""
    return fill(files(__package__).joinpath("data", *path.split("/")).read_text("utf-8"), **values)


def fill(text: str, **values: object) -> str:
    """The text with @NAME@ replaced by the value of that name."""
    return _PLACE.sub(lambda found: str(values[found[1].lower()]), text)
