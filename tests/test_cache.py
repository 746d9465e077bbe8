"""The compile cache: used when sound, ignored when not, never needed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.run.cache import cached_object, folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARDAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_an_object_is_compiled_once(place: Path) -> None:
    calls = []
    for _ in range(3):
        assert cached_object(("a", "b"), lambda: calls.append(1) or b"code") == b"code"
    assert len(calls) == 1
    assert cached_object(("a", "c"), lambda: b"other") == b"other"
    assert len(list(place.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"x", b"x" * 100])
def test_a_damaged_entry_is_compiled_again(place: Path, damage: bytes) -> None:
    cached_object(("a",), lambda: b"code")
    (entry,) = place.iterdir()
    entry.write_bytes(damage)
    assert cached_object(("a",), lambda: b"again") == b"again"
    assert cached_object(("a",), lambda: b"no") == b"again"


def test_no_cache_is_fine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CARDAN_CACHE", "off")
    assert folder() is None
    monkeypatch.setenv("CARDAN_CACHE", str(tmp_path / "file" / "below"))
    (tmp_path / "file").write_text("in the way")
    assert folder() is None
    assert cached_object(("a",), lambda: b"code") == b"code"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX permissions")
def test_a_folder_others_can_write_to_is_not_trusted(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)
    assert folder() is None


def test_functions_from_the_cache_are_the_same(place: Path) -> None:
    program = cardan.model(cardan.load("planar2r"), "inverse-dynamics", effort="plain")
    rng = np.random.default_rng(0)
    inputs = {name: rng.normal(size=(20, *s)) for name, s in program.inputs.items() if name != "p"}
    inputs["p"] = rng.normal(size=len(program.parameters))
    first = program.compile()(**inputs)
    count = len(list(place.iterdir()))
    assert count
    np.testing.assert_array_equal(program.compile()(**inputs), first)
    assert len(list(place.iterdir())) == count
