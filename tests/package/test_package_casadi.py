"""External functions of CasADi: loaded, differentiated, and printed again with what calls them."""

from __future__ import annotations

import ctypes
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


def test_called_as_acados_calls(tmp_path: Path) -> None:
    """The dynamics and their forward sensitivities in C with integers of 32 bits, as acados has
    CasADi print them, and called by their C interface alone."""
    robot = cardan.load("cartpole")
    folder = built(robot, [("direct-dynamics", {})], "casadi", tmp_path, effort="plain", name="arm")
    dynamics = casadi.external("arm_direct_dynamics", str(library(folder)))
    x, u = casadi.MX.sym("x", 4), casadi.MX.sym("u", 2)
    S = casadi.MX.sym("S", 4, 6)  # of the state by the first state and the torques
    rate = casadi.vertcat(x[2:], dynamics(x[:2], x[2:], u))
    forward = casadi.jtimes(rate, x, S) + casadi.horzcat(
        casadi.MX.zeros(4, 4), casadi.jacobian(rate, u)
    )
    vde = casadi.Function("vde", [x, S, u], [rate, forward])
    options = {"mex": False, "casadi_int": "int", "casadi_real": "double"}
    generator = casadi.CodeGenerator("vde.c", options)
    generator.add(vde)
    generator.generate(f"{tmp_path}/")
    path = tmp_path / "vde.so"
    sources = [tmp_path / "vde.c", *(folder / "src").glob("*.c")]
    run(tool("gcc"), "-shared", "-fPIC", "-I", folder / "include", *sources, "-lm", "-o", path)
    code = ctypes.CDLL(str(path))
    sizes = [ctypes.c_int() for _ in range(4)]
    code.vde_work(*map(ctypes.byref, sizes))
    rng = np.random.default_rng(0)
    given = [rng.normal(size=shape) for shape in (4, (4, 6), 2)]
    inside = [np.asfortranarray(a) for a in given]
    results = [np.empty(4), np.empty((4, 6), order="F")]

    def pointers(arrays: list[np.ndarray], size: int) -> Any:
        return (ctypes.c_void_p * size)(*(a.ctypes.data for a in arrays))

    iw, w = (ctypes.c_int * max(1, sizes[2].value))(), np.empty(max(1, sizes[3].value))
    arguments = pointers(inside, sizes[0].value), pointers(results, sizes[1].value)
    assert code.vde(*arguments, iw, ctypes.c_void_p(w.ctypes.data), 0) == 0
    exact = cardan.model(robot, "direct-dynamics-derivatives", effort="plain").evaluate(
        q=given[0][:2], qd=given[0][2:], tau=given[2]
    )
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [exact.dqdd_dq, exact.dqdd_dqd]])
    B = np.vstack([np.zeros((2, 2)), exact.dqdd_dtau])
    np.testing.assert_allclose(results[0], np.r_[given[0][2:], exact.qdd], rtol=1e-12, atol=1e-12)
    expected = A @ given[1] + np.hstack([np.zeros((4, 4)), B])
    np.testing.assert_allclose(results[1], expected, rtol=1e-12, atol=1e-12)
