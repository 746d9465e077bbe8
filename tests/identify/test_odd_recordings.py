"""Recordings as they come: irregular, cut, swapped, from spreadsheets; none is fitted badly."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.errors import InputError
from cardan.identification import identify

N = 3


@cache
def arm() -> Any:
    rng = np.random.default_rng(4)
    links = [
        {"mass": m, "com": rng.uniform(-0.2, 0.2, 3).tolist(), "FV": 1.5, "FS": 2.0, "IA": 0.1,
         "inertia_com": [0.05 * m, 0, 0, 0.06 * m, 0, 0.04 * m], "d": 0.4 * (j > 0),
         "alpha": "pi/2" if j == 1 else 0}
        for j, m in enumerate((8.0, 5.0, 3.0))
    ]  # fmt: skip
    return cardan.load({"name": "three", "gravity": [0, -9.81, 0], "link": links})


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A Fourier series that is not at rest at its ends."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, N)) * 0.5
    w = 2 * np.pi / 8 * np.arange(1, 6)
    s, c = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    return (s / w) @ a - (c / w) @ b, c @ a + s @ b, (c * w) @ b - (s * w) @ a


def recorded(t: np.ndarray) -> dict[str, np.ndarray]:
    q, qd, qdd = motion(t)
    tau = cardan.model(arm(), "inverse-dynamics").compile()(q=q, qd=qd, qdd=qdd)
    return {
        "t": t,
        **{f"q{j + 1}": q[:, j] for j in range(N)},
        **{f"tau{j + 1}": tau[:, j] for j in range(N)},
    }


TIMES = np.arange(2000) / 250


def error(log: Any, recipe: dict[str, Any] | None = None) -> float:
    return identify(arm(), log, recipe, consistent=False).errors["fit"]


def test_irregular_times_and_gaps_cost_nothing_without_noise() -> None:
    rng = np.random.default_rng(1)
    assert error(recorded(TIMES + rng.uniform(-1e-3, 1e-3, len(TIMES)))) < 1e-9
    keep = np.ones(len(TIMES), bool)
    keep[rng.integers(10, 1990, 20)] = keep[700:760] = False
    assert error(recorded(TIMES[keep])) < 1e-9


def test_filters_do_not_spoil_the_ends_of_a_motion() -> None:
    """A little noise on the positions makes a low-pass needed; the motion does not end at rest."""
    log, rng = recorded(TIMES), np.random.default_rng(1)
    for j in range(1, N + 1):
        log[f"q{j}"] = log[f"q{j}"] + 1e-6 * rng.normal(size=len(TIMES))
    assert error(log) < 1e-3
    assert error(log, {"filter": {"trim": 0}}) > 1e-2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x.update(q2=x["q3"], q3=x["q2"]), "columns q2, q3 swapped"),
        (lambda x: x.update(tau1=x["tau2"], tau2=x["tau1"]), "columns tau1, tau2 swapped"),
        (lambda x: x.update(tau2=-x["tau2"]), "the sign of column tau2 changed"),
        (lambda x: x.update(t=x["t"] * 1e6), 'time_unit = "us"'),
        (lambda x: x.update(t=x["t"] * 1e9), 'time_unit = "ns"'),
        (lambda x: x.update(**rates(1, 0, 2)), "'q1' moves as 'qd2' says, not as 'qd1'"),
        (lambda x: x.update(**rates(0, 1, 2, sign=-1)), "'qd1' is the rate of 'q1' with the other"),
    ],
)
def test_columns_that_mean_something_else_are_named(change: Any, words: str) -> None:
    log = recorded(TIMES)
    change(log)
    with pytest.raises(InputError, match=words):
        error(log)


def rates(*order: int, sign: int = 1) -> dict[str, np.ndarray]:
    qd = motion(TIMES)[1][:, list(order)]
    qd[:, 0] *= sign
    return {f"qd{j + 1}": qd[:, j] for j in range(N)}


def text(separator: str, point: str) -> str:
    log = recorded(TIMES[:500])
    rows = [[f"{x:.15g}".replace(".", point) for x in row] for row in np.stack([*log.values()], 1)]
    return "\n".join(separator.join(row) for row in [list(log), *rows])


def test_tables_of_spreadsheets_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    for content in (
        text(";", ",").encode(),
        text("\t", ",").encode(),
        text(",", ".").encode("utf-16"),
    ):
        path.write_bytes(content)
        assert error(path) < 1e-9
    np.savez(tmp_path / "log.npz", **recorded(TIMES[:500]))
    assert error(tmp_path / "log.npz") < 1e-9


def test_limits_of_zero_are_none_given() -> None:
    """Exporters of URDF write them where nobody has given any: no torque rests at such a limit."""
    from cardan.motion.joints import bounds

    zero: Any = {"lower": 0, "upper": 0, "velocity": 0, "effort": 0}
    joints = tuple(replace(j, limits=replace(j.limits, **zero)) for j in arm().joints)
    robot = replace(arm(), joints=joints)
    assert np.isinf([bounds(robot, key) for key in zero]).all()
    assert identify(robot, recorded(TIMES), consistent=False).errors["fit"] < 1e-9
