"""The lowest versions that pyproject.toml declares, as constraints for pip.

python tests/lowest.py     print them: numpy==1.26 and so on, as this Python gets them

`make lowest` installs Cardan with them into an environment of its own and runs a part of the tests.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

__all__ = ["constraints", "declared"]

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9_.-]+)>=(?P<lowest>[0-9.]+)(,!=[0-9.]+)*"
    r"(; python_version >= '(?P<major>\d+)\.(?P<minor>\d+)')?"
)


def declared() -> list[str]:
    """The dependencies of the core, as pyproject.toml lists them."""
    path = Path(__file__).resolve().parent.parent / "pyproject.toml"
    found: list[str] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["dependencies"]
    return found


def constraints(version: tuple[int, int]) -> dict[str, str]:
    """Package -> the lowest version that a Python of this version may have. A requirement of a form
    not known here is an error: it would not be tried."""
    lowest: dict[str, str] = {}
    for text in declared():
        found = _REQUIREMENT.fullmatch(text)
        if found is None:
            raise ValueError(f"'{text}': expected name>=version, and no marker but python_version")
        since = (int(found["major"] or 0), int(found["minor"] or 0))
        before = lowest.get(found["name"], "0")
        if version >= since and _numbers(found["lowest"]) > _numbers(before):
            lowest[found["name"]] = found["lowest"]
    return lowest


def _numbers(version: str) -> list[int]:
    return [int(x) for x in version.split(".")]


if __name__ == "__main__":
    for name, version in constraints(sys.version_info[:2]).items():
        print(f"{name}=={version}")
