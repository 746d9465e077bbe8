"""Closed forms where a multiple root costs digits, or two singularities nearly coincide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan

from .arms import reached

H = np.pi / 2
Row = tuple[float, ...]  # alpha, d, theta, r; of a fixed frame gamma, b before them
MIDDLE: list[Row] = [
    (-H, 0.189, -0.821, -0.37), (-H, 0.237, -2.983, 0.341), (1.1, 0, -2.957, 0),
    (-0.7, 0, 0.701, 0), (H, -0.473, 0.553, 0.309), (-H, 0.043, 1.037, 0.25),
    (-1.765, 0.512, -1.035, 0.1, -2.381, 0.596),
]  # fmt: skip
SQUARE_MIDDLE: list[Row] = [
    (H, -0.055, 2.69, -0.225), (-H, -0.257, 1.607, -0.579), (H, 0, -2.221, 0),
    (-H, 0, -1.444, 0), (-H, 0.444, -1.065, -0.02), (-H, 0.08, -2.424, -0.43),
    (1.806, -0.307, -2.632, 0.122, -2.121, -0.537),
]  # fmt: skip
WRIST: list[Row] = [
    (H, -0.468, -1.222, 0.013), (H, -0.003, -1.538, 0.39), (-H, 0.415, -1.407, 0.53),
    (H, -0.466, 1.615, -0.576), (H, 0, -1.582, 0), (-H, 0, 2.223, 0),
    (-0.899, 0.519, 2.577, 0.36, -0.623, 0.43),
]  # fmt: skip
PUMA: list[Row] = [
    (0, 0, 0, 0), (-H, 0, 0, 0), (0, 0.4318, 0, 0.15005), (-H, 0.0203, 0, 0.4318), (H, 0, 0, 0),
    (-H, 0, 0, 0),
]  # fmt: skip


def solved(rows: list[Row], q: list[float]) -> tuple[Any, float, np.ndarray]:
    """The answers of the pose of q, how far the nearest is from q, and the smallest singular value
    of the Jacobian at each."""
    keys = ("gamma", "b", "alpha", "d", "theta", "r")
    links = [
        {"joint": "fixed" if len(row) == 6 else "revolute",
         **dict(zip(keys[-len(row):], row, strict=True))}
        for row in rows
    ]  # fmt: skip
    ik = cardan.model(cardan.load({"name": "arm", "link": links}), "inverse-geometry")
    chain = ik.chain.numeric()
    T = chain.pose(np.array(q))
    found = ik.solve(T[None])
    count = int(found.count[0])
    assert count
    answers = found.q[0, :count]
    near(chain.pose(answers), T, absolute=1e-9)
    least = np.linalg.svd(chain.jacobian(answers), compute_uv=False)[:, -1]
    return found, float(reached(found, np.array([q]), chain.sigma)[0]), least


@pytest.mark.parametrize(
    "q",
    [
        [-0.74979632705, 4.5537963267949, 2.957, 2.440587738475, 1.0177963267949, 2.10459096742],
        [0.81928335303, 1.41220002886, 6.0985926535898, 2.44059471, -2.12380594393, 1.82357931],
    ],
)  # fmt: skip
def test_a_multiple_root_that_rounding_cuts_off_is_found(q: list[float]) -> None:
    found, far, _ = solved(MIDDLE, q)
    assert found.singular[0, 0]
    assert far < 1e-3  # of a triple root few digits are right


def test_answers_beside_a_singularity_keep_their_digits() -> None:
    q = [4.363592651721981, -0.6829659071378322, 0.5225626352631543, 0.11828163319091622,
         4.7236227780116975, 2.5862753268582193]  # fmt: skip
    _, far, least = solved(WRIST, q)
    assert far < 1e-8
    assert least.min() > 1e-6


@pytest.mark.parametrize(
    ("rows", "q"),
    [
        (PUMA, [0, 3.14159265359203, 1.57321, -1.5707963267963, -3.0741e-05, -1.57063876]),
        (SQUARE_MIDDLE, [2.225160771054555, -0.036203673205103426, 5.362607403414374,
                         4.585592653588485, -0.5057963267951695, 5.565592919515385]),
    ],
)  # fmt: skip
def test_two_singularities_that_nearly_coincide_are_said(rows: list[Row], q: list[float]) -> None:
    found, far, least = solved(rows, q)
    assert (least < 1e-9).any()
    assert found.singular[0, : found.count[0]][least < 1e-9].all()
    assert far < 1e-3
