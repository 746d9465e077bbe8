"""The compile cache: used when sound, ignored when not, never needed."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.build import kept
from cardan.cache import cached_object, folder
from cardan.catalogue import MENU
from cardan.version import __version__


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


def test_swapped_entries_are_compiled_again(place: Path) -> None:
    """An entry belongs to its name: machine code of another program is never run."""
    cached_object(("a",), lambda: b"code of a")
    cached_object(("b",), lambda: b"code of b")
    one, two = sorted(place.iterdir())
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert cached_object(("a",), lambda: b"a again") == b"a again"
    assert cached_object(("b",), lambda: b"b again") == b"b again"


def test_the_entries_used_longest_ago_go(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDAN_CACHE_MB", "0.01")
    for k in range(8):
        cached_object((str(k),), lambda: bytes([1]) * 1000)
    for age, entry in enumerate(sorted(place.iterdir())):
        os.utime(entry, (age * 1e6, age * 1e6))
    oldest, second, *_, youngest = sorted(place.iterdir())
    names = {name: k for k in range(8) for name in [_name_of(str(k))]}
    used = cached_object((str(names[oldest.name]),), lambda: b"")  # notes the use
    assert used == bytes([1]) * 1000
    for k in (8, 9):
        cached_object((str(k),), lambda: bytes([1]) * 1000)
    assert oldest.exists()
    assert not second.exists()
    assert youngest.exists()
    assert sum(entry.stat().st_size for entry in place.iterdir()) <= 10_000


def _name_of(key: str) -> str:
    return hashlib.sha256("\0".join((__version__, key)).encode()).hexdigest() + ".o"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="XDG is for the others")
def test_a_relative_folder_of_the_desktop_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CARDAN_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert folder() == tmp_path / "home" / ".cache" / "cardan"
    assert not (tmp_path / "relative").exists()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "absolute"))
    assert folder() == tmp_path / "absolute" / "cardan"


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


def test_a_program_is_derived_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory by this process, on disk by all, never of another robot, option or source."""
    robot = cardan.load("rx90")
    first = derived(robot)
    assert derived(robot) is first
    again = derived(robot, forget=True)
    assert again == first
    assert again.page == first.page
    assert types_of(again) == types_of(first)  # 1 and 1.0 are printed differently
    (entry,) = place.glob("*.program")
    assert entry.stat().st_size > 1000
    assert derived(robot, friction=False, forget=True).cost.total < first.cost.total
    assert derived(robot.with_values({"RL4": 1}), forget=True).parameters != first.parameters
    count = len(list(place.glob("*.program")))
    monkeypatch.setattr(kept, "_source", lambda: "edited")
    derived(robot, forget=True)
    assert len(list(place.glob("*.program"))) == count + 1


def test_a_program_that_cannot_be_read_is_derived(place: Path) -> None:
    robot = cardan.load("rx90")
    first = derived(robot, forget=True)
    (entry,) = place.glob("*.program")
    entry.write_bytes(entry.read_bytes()[:-50])
    assert derived(robot, forget=True) == first


def test_what_is_kept_in_memory_is_bounded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST_NODES", 300)
    kept._memory.clear()
    for name in ("planar1r", "planar2r", "planar3r", "scara"):
        cardan.model(cardan.load(name), "inverse-dynamics")
    assert 1 <= len(kept._memory) < 4


def derived(robot: cardan.Robot, *, forget: bool = False, **options: Any) -> cardan.Program:
    if forget:
        kept._memory.clear()
    return MENU["inverse-dynamics"].build(robot, **options)


def types_of(program: cardan.Program) -> list[type]:
    return [type(x) for node in program.code.nodes for x in node]
