"""Generated text byte for byte, and the ledger of operation counts, which may only go down."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.golden.regenerate import (
    COLUMNS,
    LEDGER,
    LONG,
    LOOPS,
    ROBOTS,
    TEXTS,
    TWINS,
    costs,
    golden,
    ledger,
    read_ledger,
    text,
    with_counts,
)

import cardan
from cardan.build import kept
from cardan.catalogue import MENU
from cardan.ir.cost import Cost

UPDATE = "python -m tests.golden.regenerate"


@pytest.mark.parametrize("item", TEXTS, ids="-".join)
def test_generated_text(item: tuple[str, str, str]) -> None:
    expected = golden(*item).read_bytes()
    found = text(*item).encode()
    assert found == expected, f"the generated text changed; if for the better: {UPDATE}"


@pytest.mark.parametrize("robot", ROBOTS)
def test_ledger(robot: str) -> None:
    known, few = read_ledger().get(robot, {}), robot in TWINS
    found = dict(costs(robot, few))
    for model, cost in found.items():
        line = f"{robot}.{model}: {cost}"
        assert model in known, f"{line} is not in the ledger; update the ledger: {UPDATE}"
        more, fewer = compare(cost, known[model])
        assert not more, f"{line} exceeds the ledger in {more}: {known[model]}"
        assert not fewer, f"{line} is below the ledger; update the ledger: {UPDATE}"
    gone = sorted(model for model in set(known) - set(found) if not few or model in LONG)
    assert not gone, f"{robot}: {gone} can no longer be derived"


def compare(cost: Cost, known: dict[str, int]) -> tuple[list[str], list[str]]:
    more = [column for column in COLUMNS if getattr(cost, column) > known[column]]
    fewer = [column for column in COLUMNS if getattr(cost, column) < known[column]]
    return more, fewer


def test_the_ledger_holds_the_bundled_robots() -> None:
    assert list(read_ledger()) == ROBOTS


def test_the_page_of_closed_loops_has_the_counts_of_the_ledger() -> None:
    page = LOOPS.read_text(encoding="utf-8")
    assert "| `sr400` | " in page
    assert page == with_counts(page), f"the table is old; update it: {UPDATE}"


@pytest.mark.parametrize("name", ["puma560", "scara", "fivebar"])
def test_deriving_again_gives_the_same_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what is kept of programs: no derivation leaves anything behind."""
    monkeypatch.setenv("CARDAN_CACHE", "off")
    texts = set()
    for _ in range(2):
        kept._memory.clear()
        texts.add(MENU["inverse-dynamics"].build(cardan.load(name)).to_json())
    assert len(texts) == 1


SCRIPT = """
import hashlib, cardan
from cardan.emit import languages
from cardan.emit.llvm import kernel_text
from cardan.ir.passes import fuse
for robot in ("rx90", "tree", "kuka-lwr"):
    for name in ("inverse-dynamics", "transform"):
        program = cardan.model(cardan.load(robot), name)
        texts = [program.to_json(), repr(program)]
        texts += [program.emit(language) for language in languages()]
        for part in program.split():
            texts.append(part.to_json() if part else "")
        texts.append(kernel_text(fuse(program.code), name="k", width=8, vector=8, dtype="float64",
                                 fma=True, uniform=frozenset({"p"})))
        print(robot, name, *(hashlib.sha256(text.encode()).hexdigest() for text in texts))
"""


def test_output_does_not_depend_on_hash_seeds() -> None:
    """Byte-identical text, JSON and LLVM code for every PYTHONHASHSEED, each derived anew."""
    printed = set()
    for seed in ("1", "987654321"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "CARDAN_CACHE": "off"}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        printed.add(done.stdout)
    assert len(printed) == 1
    assert printed.pop().count("\n") == 6


def test_a_robot_is_counted_without_the_others() -> None:
    known = read_ledger()
    assert ledger((), known) == LEDGER.read_text(encoding="utf-8")
    without = {name: rows for name, rows in known.items() if name != "planar1r"}
    assert ledger(("planar1r",), without) == LEDGER.read_text(encoding="utf-8")
