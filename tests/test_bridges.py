"""Bridges give the same numbers as the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.random_robots import random_values

import cardan
from cardan.errors import MissingExtraError

MODELS = ("transform", "inverse-dynamics", "inertia-matrix", "energies")


def given(program: cardan.Program, robot: cardan.Robot) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    values = random_values(robot)
    inputs = {name: rng.normal(size=shape) for name, shape in program.inputs.items()}
    if program.parameters:
        inputs["p"] = np.array([values[name] for name in program.parameters])
    return inputs


def expected(program: cardan.Program, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    found = program.evaluate(**inputs)
    return dict(found) if hasattr(found, "keys") else {next(iter(program.outputs)): found}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("expanded", [True, False])
def test_sympy(model: str, expanded: bool) -> None:
    sympy = pytest.importorskip("sympy")
    robot = cardan.load("planar2r")
    program = cardan.model(robot, model)
    inputs = given(program, robot)
    table = {
        sympy.Symbol(program.parameters[k] if name == "p" else f"{name}{k + 1}", real=True): x
        for name, array in inputs.items()
        for k, x in enumerate(array.ravel())
    }
    outputs = program.to_sympy(expanded)
    if not expanded:
        assignments, outputs = outputs
        for name, expression in assignments:
            table[name] = float(expression.subs(table))
    for name, value in expected(program, inputs).items():
        found = outputs[name]
        flat = [found] if not value.shape else list(found)
        got = np.array([float(x.subs(table)) for x in flat]).reshape(value.shape)
        np.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model", [*MODELS, "regressor"])
def test_casadi(model: str) -> None:
    pytest.importorskip("casadi")
    robot = cardan.load("rx90")
    program = cardan.model(robot, model)
    inputs = given(program, robot)
    function = program.to_casadi()
    found = function(*inputs.values())
    listed = found if isinstance(found, tuple) else (found,)
    for (name, value), got in zip(expected(program, inputs).items(), listed, strict=True):
        np.testing.assert_allclose(
            np.array(got).reshape(value.shape), value, rtol=1e-10, atol=1e-10, err_msg=name
        )


def test_a_missing_bridge_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingExtraError, match=r"pip install"):
        cardan.model(cardan.load("planar1r"), "transform").to_casadi()


@pytest.fixture
def jax() -> Iterator[Any]:
    """JAX with float64, while a test lasts."""
    module = pytest.importorskip("jax")
    before = module.config.jax_enable_x64
    module.config.update("jax_enable_x64", True)
    yield module
    module.config.update("jax_enable_x64", before)


def test_jax(jax: Any) -> None:
    """Machine code under jit and vmap, and a gradient by the adjoint program."""
    robot = cardan.load("planar2r")
    program = cardan.model(robot, "direct-dynamics-derivatives")
    values = random_values(robot)
    rng = np.random.default_rng(1)
    p = np.array([values[name] for name in program.parameters])
    function = program.to_jax()
    q, qd, tau = rng.normal(size=(3, 5, 2))
    results = jax.jit(function)(q, qd, tau, p)
    for name, value in program.evaluate(q=q, qd=qd, tau=tau, p=p)._asdict().items():
        np.testing.assert_allclose(getattr(results, name), value, rtol=1e-12, atol=1e-12)
    one = cardan.model(robot, "direct-dynamics").to_jax()
    mapped = jax.vmap(lambda q, qd, tau: one(q=q, qd=qd, tau=tau, p=p))(q, qd, tau)
    np.testing.assert_allclose(mapped, results.qdd, rtol=1e-12, atol=1e-12)
    J = jax.vmap(jax.jacrev(lambda q, qd, tau: one(q, qd, tau, p)))(q, qd, tau)
    np.testing.assert_allclose(J, results.dqdd_dq, rtol=1e-10, atol=1e-10)
    by_p = jax.grad(lambda p: one(q, qd, tau, p).sum())(p)
    gradient = cardan.model(robot, "direct-dynamics").adjoint("p")
    expected = gradient.evaluate(q=q, qd=qd, tau=tau, p=p, w_qdd=np.ones((5, 2)))
    np.testing.assert_allclose(by_p, expected.sum(0), rtol=1e-10)
    with pytest.raises(cardan.InputError, match="each once"):
        one(q, qd, tau)
    with pytest.raises(cardan.InputError, match="real numbers"):
        one(q, qd, tau, p + 1j)
    with pytest.raises(cardan.InputError, match=r"expected \(\.\.\., 2\)"):
        one(q[:, :1], qd, tau, p)


def test_jax_of_every_order(jax: Any) -> None:
    gravity = cardan.model(cardan.load("ur5"), "gravity")
    q = np.linspace(-1, 1, 6)
    third = jax.jacrev(jax.jacrev(jax.jacrev(gravity.to_jax())))(q)
    expected = gravity.derivatives().derivatives().derivatives().evaluate(q=q).dddQ_dq_dq_dq
    np.testing.assert_allclose(third, expected, rtol=1e-10, atol=1e-10)


@pytest.fixture(scope="module")
def torch() -> Any:
    """Left out of the test extra for its size: `pip install torch` runs what follows."""
    return pytest.importorskip("torch", reason="PyTorch is not installed: its bridge is UNTESTED")


def test_torch(torch: Any) -> None:
    """Machine code on tensors, gradients by the adjoint program, of second order too, along
    directions, and mapped."""
    robot = cardan.load("planar2r")
    program = cardan.model(robot, "direct-dynamics-derivatives")
    values = random_values(robot)
    rng = np.random.default_rng(1)
    p = torch.tensor([values[name] for name in program.parameters], dtype=torch.float64)
    q, qd, tau = (torch.from_numpy(x) for x in rng.normal(size=(3, 5, 2)))
    results = program.to_torch()(q, qd, tau, p)
    expected = program.evaluate(q=q.numpy(), qd=qd.numpy(), tau=tau.numpy(), p=p.numpy())
    for name, value in expected._asdict().items():
        np.testing.assert_allclose(getattr(results, name), value, rtol=1e-12, atol=1e-12)
    one = cardan.model(robot, "direct-dynamics").to_torch()
    single = torch.func.vmap(torch.func.jacrev(lambda q, qd, tau: one(q, qd, tau, p=p)))
    np.testing.assert_allclose(single(q, qd, tau), expected.dqdd_dq, rtol=1e-10, atol=1e-10)
    along = torch.func.vmap(torch.func.jacfwd(lambda q: one(q, qd[0], tau[0], p)))(q)
    every = one(q, qd[0], tau[0], p)
    assert every.shape == (5, 2)
    for k in range(5):
        J = torch.autograd.functional.jacobian(lambda x: one(x, qd[0], tau[0], p), q[k])
        np.testing.assert_allclose(along[k], J, rtol=1e-10, atol=1e-10)
    leaves = [x.clone().requires_grad_() for x in (q, qd[0], tau[0], p)]
    assert torch.autograd.gradcheck(one, leaves)
    assert torch.autograd.gradgradcheck(one, leaves)


def test_torch_takes_tensors_as_they_are(torch: Any) -> None:
    """In their own type and place, strided too; numbers follow them."""
    program = cardan.model(cardan.load("ur5"), "gravity")
    function = program.to_torch()
    q = torch.linspace(-1, 1, 60).reshape(6, 10).T.requires_grad_()
    Q = function(q)
    assert Q.dtype == torch.float32
    expected = program.evaluate(q=q.detach().numpy())
    np.testing.assert_allclose(Q.detach(), expected, rtol=1e-4, atol=1e-4)
    Q.square().sum().backward()
    slope = program.adjoint().evaluate(q=q.detach().numpy(), w_Q=2 * expected)
    np.testing.assert_allclose(q.grad, slope, rtol=1e-3, atol=1e-2)
    assert function([0.0] * 6).dtype == torch.float64
    np.testing.assert_array_equal(function([0.1] * 6), program.compile()(q=[0.1] * 6))
    negative = (1j * torch.ones(6) + q[0].detach()).conj().imag
    assert negative.is_neg()
    np.testing.assert_array_equal(function(negative), function(-torch.ones(6)))
    for wrong in (q + 0j, q > 0, q.to_sparse(), "012345", None):
        with pytest.raises(cardan.InputError, match="input 'q'"):
            function(wrong)
    with pytest.raises(cardan.InputError, match="each once"):
        function(q, q=q)


def test_torch_of_every_order(torch: Any) -> None:
    """Backwards and forwards in any order, three deep."""
    gravity = cardan.model(cardan.load("ur5"), "gravity")
    q, function = torch.linspace(-1, 1, 6, dtype=torch.float64), gravity.to_torch()
    expected = gravity.derivatives().derivatives().derivatives().evaluate(q=q.numpy()).dddQ_dq_dq_dq
    back, ahead = torch.func.jacrev, torch.func.jacfwd
    for first, second, third in ((back, back, back), (ahead, ahead, ahead), (back, ahead, back)):
        value = third(second(first(function)))(q)
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-10)
