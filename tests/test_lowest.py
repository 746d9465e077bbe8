"""The constraints of `make lowest` say every dependency that pyproject.toml declares."""

from __future__ import annotations

import re

import pytest
from tests.lowest import constraints, declared


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13), (3, 14)])
def test_every_dependency_has_its_lowest(version: tuple[int, int]) -> None:
    assert set(constraints(version)) == {re.split(r"[>=<!~;\[ ]", text)[0] for text in declared()}


def test_later_versions_of_python_need_later_packages() -> None:
    assert constraints((3, 12))["numpy"] == "1.26"
    assert constraints((3, 13))["numpy"] == "2.1"
    assert constraints((3, 11))["typer"] == "0.15.4"
