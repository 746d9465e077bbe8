"""MuJoCo's own schema of MJCF beside the table of what Cardan does with it.

python -m tests.mjcf_schema        every element and attribute, and what becomes of it
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from cardan.describe.mjcf.schema import meaning

__all__ = ["schema", "unaccounted"]

_NAMES = 30  # columns
_STEP = 3  # columns per level


def schema() -> Iterator[tuple[str, list[str]]]:
    """(path, attributes) of every element that this version of MuJoCo knows, without the root."""
    import mujoco

    path: list[str] = []
    attributes: list[str] = []
    for line in mujoco.mj_printSchema(False, True).splitlines():
        head, tail = line[:_NAMES], line[_NAMES:]
        if not head.strip():
            attributes += tail.split()
            continue
        if path:
            yield "/".join(path), attributes
        depth = (len(head) - len(head.lstrip())) // _STEP
        name = re.sub(r"\(.\)$", "", head.strip()).strip()
        path = [*path[:depth], "body" if name == "(world)body" else name]
        attributes = tail.split()
    yield "/".join(path), attributes


def rows() -> Iterator[tuple[str, str, str]]:
    """(path, attribute or '', what becomes of it) of the whole schema."""
    for path, attributes in schema():
        short = path.partition("/")[2] or "mujoco"
        yield short, "", meaning(short)
        for attribute in attributes:
            yield short, attribute, meaning(short, attribute)


def unaccounted() -> list[str]:
    """What the table does not know."""
    return [f"{path} {attribute}".strip() for path, attribute, what in rows() if not what]


def main() -> int:
    count: dict[str, int] = {}
    for path, attribute, what in rows():
        place = f"{path} @{attribute}" if attribute else f"<{path}>"
        print(f"{what or 'NOT ACCOUNTED FOR':18}{place}")
        count[what] = count.get(what, 0) + 1
    print(", ".join(f"{n} {what or 'not accounted for'}" for what, n in count.items()))
    return 1 if count.get("") else 0


if __name__ == "__main__":
    sys.exit(main())
