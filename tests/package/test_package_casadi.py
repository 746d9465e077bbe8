"""External functions of CasADi: loaded, differentiated, and printed again with what calls them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.package.building import STRICT, built, run, tool

import cardan

casadi = pytest.importorskip("casadi", reason="CasADi is not installed: its package is UNTESTED")


def library(folder: Path) -> Path:
    """The package compiled as one shared library."""
    path = folder / "library.so"
    command = [tool("gcc"), "-std=c99", "-shared", "-fPIC", *STRICT]
    run(*command, "-I", folder / "include", *(folder / "src").glob("*.c"), "-lm", "-o", path)
    return path


def compared(function: Any, program: cardan.Program) -> None:
    """Values and Jacobians against CasADi's own of the program's nodes."""
    own = program.to_casadi()
    assert function.name_in() == own.name_in()
    assert function.name_out() == own.name_out()
    rng = np.random.default_rng(0)
    given = [1 + rng.random(own.size_in(k)) for k in range(own.n_in())]
    unknown = [casadi.DM.zeros(*own.size_out(k)) for k in range(own.n_out())]
    for ours, theirs in ((function, own), (function.jacobian(), own.jacobian())):
        arguments = given if ours is function else given + unknown
        pairs = zip(ours.call(arguments), theirs.call(arguments), strict=True)
        for name, (a, b) in zip(ours.name_out(), pairs, strict=True):
            expected = np.array(casadi.densify(b))
            scale = max(1.0, np.abs(expected).max())
            assert np.abs(np.array(casadi.densify(a)) - expected).max() <= 1e-9 * scale, name


def test_values_and_jacobians(tmp_path: Path) -> None:
    """Vectors, matrices whose rows become columns, scalars, parameters; derivatives of the menu
    with the model's own options."""
    robot = replace(cardan.load("planar2r"), name="arm")
    models = [("direct-dynamics", {"friction": True}), "inertia-matrix", "energies"]
    path = library(built(robot, models, "casadi", tmp_path))
    for model in models:
        name, options = model if isinstance(model, tuple) else (model, {})
        function = casadi.external(f"arm_{name.replace('-', '_')}", str(path))
        assert "External" in repr(function)
        compared(function, cardan.model(robot, name, **options))


def test_zeros_are_left_out(tmp_path: Path) -> None:
    scara = cardan.load("scara")
    folder = built(scara, ["inverse-dynamics"], "casadi", tmp_path, effort="plain", name="arm")
    function = casadi.external("arm_inverse_dynamics", str(library(folder)))
    slopes = cardan.model(scara, "inverse-dynamics-derivatives", effort="plain")
    assert function.jacobian().nnz_out("jac_tau_q") == slopes.sparsity["dtau_dq"].sum() == 6
    compared(function, cardan.model(scara, "inverse-dynamics", effort="plain"))


def test_printed_with_what_calls_them(tmp_path: Path) -> None:
    """C of an expression that holds the function, and of its Jacobian, as acados compiles it."""
    robot = replace(cardan.load("planar2r"), name="arm")
    folder = built(robot, ["gravity"], "casadi", tmp_path)
    gravity = casadi.external("arm_gravity", str(library(folder)))
    q, p = casadi.MX.sym("q", 2), casadi.MX.sym("p", *gravity.size_in("p"))
    y = casadi.sumsqr(gravity(q, p)) + q[0]
    cost = casadi.Function("cost", [q, p], [y, casadi.jacobian(y, q)])
    generator = casadi.CodeGenerator("cost.c")
    generator.add(cost)
    generator.generate(f"{tmp_path}/")
    path = tmp_path / "cost.so"
    sources = [tmp_path / "cost.c", *(folder / "src").glob("*.c")]
    run(tool("gcc"), "-shared", "-fPIC", "-I", folder / "include", *sources, "-lm", "-o", path)
    given = [[0.3, -0.4], np.linspace(0.5, 1.5, gravity.size_in("p")[0])]
    for a, b in zip(casadi.external("cost", str(path))(*given), cost(*given), strict=True):
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-12)
