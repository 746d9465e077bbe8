"""Arms of no vendor: kinds of arms with lengths drawn at random, written as files write them.

`strangers(count, seed)` draws a kind (jointed arms with offsets, oblique and three-roll wrists,
SCARAs, Cartesian, cylindrical and polar arms, four and five joints), its lengths, a `Writing` and a
format (URDF, .par, Denavit-Hartenberg tables of three conventions), and gives the robot as it is
read back, with the direct model of the numbers in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
from tests.real.arms import Arm, Row, Writing, direct, direct_of_urdf, urdf_text, written_rows

import cardan
from cardan.describe.dh.tables import from_dh
from cardan.describe.robot import Robot

__all__ = ["FORMATS", "KINDS", "Stranger", "strangers"]

H = pi / 2
FORMATS = ("urdf", "par", "standard", "craig", "khalil")
Lengths = Callable[[], float]  # a length, in mm a whole number, at times zero or negative


def _jointed(x: Lengths, turn: float) -> list[Row]:
    return [
        (0, 0.0, 0.0, 0.0, x()), (0, -H, x(), -H, 0.0), (0, 0.0, 0.1 + abs(x()), 0.0, x()),
        (0, -H, x(), 0.0, 0.1 + abs(x())), (0, H, 0.0, 0.0, 0.0), (0, -H, 0.0, turn, x()),
    ]  # fmt: skip


def _three_roll(x: Lengths, turn: float) -> list[Row]:
    """A spherical wrist of oblique axes."""
    lean = float(np.copysign(pi / 3 if turn > 0 else pi / 4, x() + 0.01))
    rows = _jointed(x, turn)
    rows[4] = (0, lean, 0.0, 0.0, 0.0)
    rows[5] = (0, -lean, 0.0, turn, x())
    return rows


def _oblique(x: Lengths, turn: float) -> list[Row]:
    """Oblique axes that do not meet: the general method's."""
    rows = _jointed(x, turn)
    rows[4] = (0, pi / 3, 0.0, 0.0, 0.05 + abs(x()))
    rows[5] = (0, pi / 3, 0.0, turn, x())
    return rows


def _offset_wrist(x: Lengths, turn: float) -> list[Row]:
    side = float(np.copysign(H, x() + 0.01))
    return [
        (0, 0.0, 0.0, 0.0, x()), (0, side, 0.0, 0.0, x()), (0, 0.0, -0.1 - abs(x()), turn, x()),
        (0, 0.0, -0.1 - abs(x()), 0.0, x()), (0, side, 0.0, 0.0, 0.05 + abs(x())),
        (0, -side, 0.0, 0.0, x()),
    ]  # fmt: skip


def _scara(x: Lengths, turn: float) -> list[Row]:
    return [
        (0, 0.0, 0.0, 0.0, x()), (0, 0.0, 0.1 + abs(x()), turn, x()), (0, pi, 0.1 + abs(x()), 0.0,
         x()), (1, 0.0, 0.0, 0.0, x()),
    ]  # fmt: skip


def _scara_on_a_column(x: Lengths, turn: float) -> list[Row]:
    return [
        (1, 0.0, 0.0, turn, x()), (0, 0.0, x(), 0.0, 0.0), (0, 0.0, 0.1 + abs(x()), 0.0, x()),
        (0, 0.0, 0.1 + abs(x()), 0.0, x()),
    ]  # fmt: skip


def _cartesian(x: Lengths, turn: float) -> list[Row]:
    return [
        (1, 0.0, 0.0, 0.0, x()), (1, -H, 0.0, -H, x()), (1, -H, 0.0, 0.0, x()),
        (0, 0.0, x(), turn, x()), (0, H, 0.0, 0.0, 0.0), (0, -H, 0.0, 0.0, x()),
    ]  # fmt: skip


def _cartesian_of_four(x: Lengths, turn: float) -> list[Row]:
    return [*_cartesian(x, turn)[:3], (0, pi, x(), turn, x())]


def _cylindrical(x: Lengths, turn: float) -> list[Row]:
    return [
        (0, 0.0, 0.0, 0.0, x()), (1, 0.0, 0.0, turn, x()), (1, -H, x(), 0.0, x()),
        (0, 0.0, 0.0, 0.0, x()), (0, -H, 0.0, 0.0, 0.0), (0, H, 0.0, 0.0, x()),
    ]  # fmt: skip


def _polar(x: Lengths, turn: float) -> list[Row]:
    return [
        (0, 0.0, 0.0, 0.0, x()), (0, -H, x(), 0.0, x()), (1, H, 0.0, turn, x()),
        (0, 0.0, 0.0, 0.0, 0.0), (0, -H, 0.0, 0.0, 0.0), (0, H, 0.0, 0.0, x()),
    ]  # fmt: skip


def _palletizer(x: Lengths, turn: float) -> list[Row]:
    return [
        (0, 0.0, 0.0, 0.0, x()), (0, H, x(), turn, x()), (0, 0.0, 0.1 + abs(x()), 0.0, 0.0),
        (0, 0.0, 0.1 + abs(x()), 0.0, x()),
    ]  # fmt: skip


def _five(x: Lengths, turn: float) -> list[Row]:
    return [*_palletizer(x, turn), (0, -H, x(), 0.0, 0.05 + abs(x()))]


def _five_oblique(x: Lengths, turn: float) -> list[Row]:
    return [*_palletizer(x, turn), (0, pi / 4, 0.0, 0.0, 0.05 + abs(x()))]


KINDS: dict[str, Callable[[Lengths, float], list[Row]]] = {
    "jointed": _jointed, "three-roll wrist": _three_roll, "oblique wrist": _oblique,
    "offset wrist": _offset_wrist, "scara": _scara, "scara on a column": _scara_on_a_column,
    "cartesian": _cartesian, "cartesian of four": _cartesian_of_four, "cylindrical": _cylindrical,
    "polar": _polar, "palletizer": _palletizer, "five": _five, "five, oblique": _five_oblique,
}  # fmt: skip


@dataclass(frozen=True)
class Stranger:
    """A robot read back from a file, and the direct model of the numbers in it."""

    arm: Arm
    writing: Writing
    format: str
    robot: Robot
    direct: Callable[[Any], Any]


def strangers(count: int, seed: int, folder: Path, only: str = "") -> Iterator[Stranger]:
    """Robots drawn at random, the same for the same seed; only: of names that hold this."""
    for k in range(count):
        rng = np.random.default_rng((seed, k))
        kind = list(KINDS)[k % len(KINDS)]
        if only not in f"{k} {kind}":
            continue

        def length(rng: Any = rng) -> float:
            if rng.random() < 0.3:
                return 0.0
            return float(round(rng.uniform(-0.5, 0.5), 3))

        rows = tuple(KINDS[kind](length, float(rng.choice([0.0, H, -H, 0.7]))))
        file = FORMATS[int(rng.integers(len(FORMATS)))]
        tool = (0.0,) * 6
        if file == "urdf":
            tool = (0.02, 0.0, 0.1, 0.0, float(rng.choice([0.0, H])), 0.3)
        arm = Arm(f"{k} {kind}", rows, tool)
        yield _read_back(arm, _drawn(rng, file), file, folder)


def _drawn(rng: Any, file: str) -> Writing:
    """A way of writing."""
    noise = float(10.0 ** rng.uniform(-12, -4))
    ways: list[dict[str, Any]] = [
        {"decimals": int(rng.integers(4, 13))}, {"degrees": int(rng.integers(1, 6))},
        {"angle_noise": noise}, {"length_noise": noise},
        {"decimals": int(rng.integers(5, 10)), "scale": 1000.0},
        {"angle_noise": noise, "decimals": 9}, {"length_noise": noise, "decimals": 4},
    ]  # fmt: skip
    way = ways[int(rng.integers(len(ways)))]
    name = ", ".join(f"{key} {value:.2g}" for key, value in way.items())
    mirrored = file == "urdf" and bool(rng.integers(2))
    return Writing(name, mirrored=mirrored, seed=int(rng.integers(1000)), **way)


def _read_back(arm: Arm, writing: Writing, file: str, folder: Path) -> Stranger:
    rows = written_rows(arm, writing)
    if file == "urdf":
        text = urdf_text(arm, writing)
        path = folder / "stranger.urdf"
        path.write_text(text, encoding="utf-8")
        robot = cardan.load(path)
        return Stranger(arm, writing, file, robot, lambda q: direct_of_urdf(text, q))
    if file == "par":
        path = folder / "stranger.par"
        path.write_text(_par(rows), encoding="ascii")
        robot = cardan.load(path)
    elif file == "standard":
        ends = [*rows[1:], (0, 0.0, 0.0, 0.0, 0.0)]
        cells = [
            (theta, r, end[2], end[1], sigma)
            for (sigma, _, _, theta, r), end in zip(rows, ends, strict=True)
        ]
        robot = from_dh(_texts(cells), "standard", name=arm.name)
        rows[0] = (rows[0][0], 0.0, 0.0, *rows[0][3:])
    else:
        places = (2, 1, 4, 3, 0) if file == "craig" else (1, 2, 3, 4, 0)
        robot = from_dh(
            _texts([tuple(row[k] for k in places) for row in rows]), file, name=arm.name
        )
    return Stranger(arm, writing, file, robot, lambda q: direct(rows, q))


def _texts(rows: list[Any]) -> list[list[Any]]:
    return [[*(repr(float(x)) for x in row[:4]), row[4]] for row in rows]


def _par(rows: list[Row]) -> str:
    n = len(rows)

    def line(key: str, values: Any) -> str:
        return f"{key} = {{{', '.join(str(x) for x in values)}}}"

    def cell(x: float, variable: str) -> str:
        return f"{x!r} + {variable}" if variable else repr(x)

    names = [f"q{j}" for j in range(1, n + 1)]
    theta = [cell(row[3], "" if row[0] else names[j]) for j, row in enumerate(rows)]
    r = [cell(row[4], names[j] if row[0] else "") for j, row in enumerate(rows)]
    return "\n".join([
        "(* Robotname = 'stranger' *)", f"NF = {n}", f"NL = {n}", f"NJ = {n}", "Type = 0",
        line("Ant", range(n)), line("Sigma", [row[0] for row in rows]), line("B", [0] * n),
        line("d", [repr(row[2]) for row in rows]), line("R", r), line("gamma", [0] * n),
        line("Alpha", [repr(row[1]) for row in rows]), line("Mu", [1] * n), line("Theta", theta),
    ])  # fmt: skip
