"""Eigenvalues of the host language in emitted Python, and without NumPy those of the kernel."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import cardan


def test_python_with_and_without_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ik = cardan.model(cardan.load("ur5"), "inverse-geometry", method="general")
    path = tmp_path / "ik.py"
    path.write_text(ik.emit("python", function="ik"), encoding="utf-8")
    T = ik.chain.numeric({}).pose(np.array([0.3, -1.1, 0.8, 0.4, 1.2, -0.5]))
    with_numpy = runpy.run_path(str(path))
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "numpy", None)
        alone = runpy.run_path(str(path))
    assert "numpy" in with_numpy
    assert "numpy" not in alone
    rows = np.array(with_numpy["ik"](T.tolist())), np.array(alone["ik"](T.tolist()))
    expected = ik.solve(T)
    for q in rows:
        assert q.shape == expected.shape
        apart = np.abs(np.sin((q[:, None] - expected[None]) / 2)).max(-1)
        assert apart.min(0).max() < 1e-8
