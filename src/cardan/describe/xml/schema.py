"""What becomes of the elements and attributes of a format: its `schema.toml` as rows.

    read        enters the robot
    harmless    has no part in what a robot holds
    left_out    enters the forces or the motion, and a robot has no place for it: a warning

What the rows do not know is a warning too."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from importlib import resources

READ, HARMLESS, LEFT_OUT = "read", "harmless", "left out"


@dataclass(frozen=True)
class Row:
    """An element: what becomes of it and of its attributes; open: whatever stands in it."""

    meaning: str
    attributes: dict[str, str] = field(default_factory=dict)  # what becomes of each
    words: dict[str, list[str]] = field(default_factory=dict)  # that an attribute may have
    said: dict[str, str] = field(default_factory=dict)  # of an attribute that is left out
    open: bool = False


def rows(package: str) -> dict[str, Row]:
    """The rows of a format by the paths of their elements, as 'joint/limit'."""
    text = (resources.files(package) / "schema.toml").read_text(encoding="utf-8")
    table: dict[str, Row] = {}
    columns = {"read": READ, "harmless": HARMLESS, "older": HARMLESS, "left_out": LEFT_OUT}
    for row in tomllib.loads(text)["row"]:
        attributes = {
            name: what for key, what in columns.items() for name in row.get(key, "").split()
        }
        words = {key: text.split() for key, text in row.get("words", {}).items()}
        meaning, open_ = columns[row["is"]], row.get("open", False)
        read = Row(meaning, attributes, words, row.get("said", {}), open_)
        table |= dict.fromkeys(row["elements"].split(), read)
    return table
