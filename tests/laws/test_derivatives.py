"""Program.derivative: forward and reverse mode, complex steps, 50-digit differences, sparsity."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from tests.compare import near
from tests.laws.traced import check_derivative, inputs_of
from tests.random_robots import bundled_trees, random_robot, random_values

import cardan
from cardan.ir.code import Code
from cardan.ir.derivative import derivative

ROBOTS = ["cartpole", "planar2r", "rx90", "scara", "stanford", "tree", "ur5", "panda"]


def numeric(name: str) -> cardan.Robot:
    robot = bundled_trees()[name]
    return robot.with_values(random_values(robot))


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics_of_bundled_robots(name: str) -> None:
    program = cardan.model(numeric(name), "inverse-dynamics")
    x = inputs_of(program, np.random.default_rng(1))
    for wrt in ("q", "qd", "qdd"):
        check_derivative(program, "tau", wrt, x)


@pytest.mark.parametrize("name", ROBOTS)
def test_direct_dynamics_of_bundled_robots(name: str) -> None:
    robot = numeric(name)
    program = cardan.model(robot, "direct-dynamics")
    x = inputs_of(program, np.random.default_rng(1))
    for wrt in ("q", "qd", "tau"):
        check_derivative(program, "qdd", wrt, x)
    A = cardan.model(robot, "inertia-matrix").evaluate(q=x["q"])
    inverse = program.derivative("qdd", "tau").evaluate(**x)
    near(inverse, np.linalg.inv(A), 1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_derivative_by_accelerations_is_the_inertia_matrix(name: str) -> None:
    robot = numeric(name)
    program = cardan.model(robot, "inverse-dynamics").derivative("tau", "qdd")
    x = inputs_of(program, np.random.default_rng(2))
    A = cardan.model(robot, "inertia-matrix").evaluate(q=x["q"])
    near(program.evaluate(**x), A, 1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("model", ["inverse-dynamics", "direct-dynamics"])
def test_fifty_digits(model: str, seed: int) -> None:
    """Central differences of 1e-20 with 50 digits are right to 1e-30: the oracle of last resort."""
    robot = random_robot(40 + seed, 3, special=False, base_motion=False)
    program = cardan.model(robot, model)
    output = next(iter(program.outputs))
    x = inputs_of(program, np.random.default_rng(seed), count=1)
    for wrt in program.inputs:
        found = program.derivative(output, wrt).evaluate(**x)[0]
        expected = precise_differences(program.code, output, wrt, x)
        near(found, expected, 1e-12, what=str(wrt))


def precise_differences(code: Code, output: str, wrt: str, x: dict[str, np.ndarray]) -> np.ndarray:
    with mpmath.workdps(50):
        step = mpmath.mpf(10) ** -20
        columns = []
        for k in range(x[wrt].size):
            ends = [precise(code, output, x, wrt, k, s * step) for s in (1, -1)]
            columns.append([float((a - b) / (2 * step)) for a, b in zip(*ends, strict=True)])
    return np.array(columns).T


def precise(
    code: Code, output: str, x: dict[str, np.ndarray], wrt: str, k: int, by: Any
) -> list[Any]:
    table = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b, "neg": lambda a: -a, "sin": mpmath.sin, "cos": mpmath.cos,
        "sign": mpmath.sign,
    }  # fmt: skip
    values: list[Any] = [None]
    for node in code.nodes[1:]:
        if node[0] == "input":
            value = mpmath.mpf(float(x[node[1]].ravel()[node[2]]))
            values.append(value + by if node[1:] == (wrt, k) else value)
        elif node[0] == "const":
            values.append(mpmath.mpf(float(node[1])))
        else:
            values.append(table[node[0]](*(values[arg] for arg in node[1:])))
    return [values[ref] if ref > 0 else -values[-ref] for ref in code.outputs[output].refs]


def test_branches_give_structural_zeros() -> None:
    """Torques of one arm do not depend on the other: constants 0, nothing computed."""
    robot = bundled_trees()["tree"]
    program = cardan.model(robot, "inverse-dynamics")
    A = cardan.model(robot, "inertia-matrix").code
    zeros = [k for k, ref in enumerate(A.outputs["A"].refs) if A.nodes[abs(ref)] == ("const", 0)]
    assert zeros
    for mode in ("forward", "reverse"):
        code = derivative(program.code, "tau", "qdd", "found", mode)
        refs = code.outputs["found"].refs
        assert all(code.nodes[abs(refs[k])] == ("const", 0) for k in zeros), mode


def test_derivatives_of_derivatives() -> None:
    """Second derivatives by two routes: of A, and of tau by qdd then q."""
    robot = numeric("rx90")
    one = cardan.model(robot, "inverse-dynamics").derivative("tau", "qdd")
    two = one.derivative("dtau_dqdd", "q")
    x = inputs_of(two, np.random.default_rng(3))
    dA = cardan.model(robot, "inertia-matrix").derivative("A", "q").evaluate(q=x["q"])
    near(two.evaluate(**x), dA, 1e-12)


def test_other_outputs_and_errors() -> None:
    program = cardan.model(numeric("rx90"), "energies")
    x = inputs_of(program, np.random.default_rng(4))
    h = program.derivative("E", "qd").evaluate(**x)
    momentum = cardan.model(numeric("rx90"), "generalized-momentum").evaluate(**x)
    near(h, momentum, 1e-12)
    Q = program.derivative("U", "q").evaluate(**x)
    gravity = cardan.model(numeric("rx90"), "gravity").evaluate(q=x["q"])
    near(Q, gravity, 1e-12)
    with pytest.raises(cardan.errors.UnknownNameError, match="output"):
        program.derivative("K", "q")
    with pytest.raises(cardan.errors.UnknownNameError, match="input"):
        program.derivative("E", "tau")


def test_adjoint_tangent_and_hessian_product() -> None:
    """Against all partial derivatives, first and second, of a program with symbols."""
    program = cardan.model(cardan.load("planar2r"), "direct-dynamics")
    values = random_values(cardan.load("planar2r"))
    rng = np.random.default_rng(4)
    wrt = list(program.inputs)
    x = {name: rng.uniform(0.5, 1, (5, *shape)) for name, shape in program.inputs.items()}
    x["p"] = np.array([values[name] for name in program.parameters])
    first = program.derivatives()
    assert list(first.outputs) == ["qdd", *(f"dqdd_d{name}" for name in wrt)]
    J = first.evaluate(**x)._asdict()
    near(J["qdd"], program.evaluate(**x), 1e-12)
    for name in wrt:
        near(J[f"dqdd_d{name}"], program.derivative("qdd", name).evaluate(**x), 1e-11, what=name)
    w = {"w_qdd": rng.normal(size=(5, 2))}
    v = {f"v_{name}": rng.normal(size=(5, *program.inputs[name])) for name in wrt}
    gradient = program.adjoint().evaluate(**x, **w)._asdict()
    rate = program.tangent().evaluate(**x, **v)
    expected = sum(np.einsum("sij,sj->si", J[f"dqdd_d{n}"], v[f"v_{n}"]) for n in wrt)
    near(rate, expected, 1e-11)
    for name in wrt:
        expected = np.einsum("si,sij->sj", w["w_qdd"], J[f"dqdd_d{name}"])
        near(gradient[f"g_{name}"], expected, 1e-11, what=name)
    product = program.hessian_product(wrt=["q", "qd"]).evaluate(
        **x, **w, v_q=v["v_q"], v_qd=v["v_qd"]
    )
    second = first.derivatives(wrt=["q", "qd"]).evaluate(**x)._asdict()
    for row in ("q", "qd"):
        expected = sum(
            np.einsum("si,sijk,sk->sj", w["w_qdd"], second[f"ddqdd_d{row}_d{n}"], v[f"v_{n}"])
            for n in ("q", "qd")
        )
        near(getattr(product, f"h_{row}"), expected, 1e-10, what=row)
    with pytest.raises(cardan.UnknownNameError, match="input"):
        program.adjoint(wrt="tau_e")


def test_adjoint_costs_a_few_times_the_program() -> None:
    program = cardan.model(numeric("ur5"), "inverse-dynamics")
    assert program.adjoint().cost.total < 5 * program.cost.total
    assert program.derivatives().cost.total < program.cost.total * 6


def test_directions_and_weights_of_their_own() -> None:
    """Derivatives of derivatives turn and weigh by inputs of their own, at every depth."""
    program = cardan.model(numeric("planar2r"), "gravity")
    first, second, third = (
        program.derivatives().evaluate(q=[0.3, 0.4]).dQ_dq,
        program.derivatives().derivatives().evaluate(q=[0.3, 0.4]).ddQ_dq_dq,
        program.derivatives().derivatives().derivatives().evaluate(q=[0.3, 0.4]).dddQ_dq_dq_dq,
    )
    u, v, w = np.array([1.0, 0.2]), np.array([-0.5, 2.0]), np.array([0.3, 0.7])
    along = program.tangent().tangent("q")
    assert list(along.inputs) == ["q", "v_q", "v_q_2"]
    near(along.evaluate(q=[0.3, 0.4], v_q=u, v_q_2=v), np.einsum("ijk,j,k", second, u, v), 1e-12)
    thrice = program.tangent().tangent().tangent()
    assert len(set(thrice.inputs)) == 8
    gradient = program.adjoint("q").adjoint("q").adjoint("q")
    assert list(gradient.inputs) == ["q", "w_Q", "w_g_q", "w_g_q_2"]
    weights = {"w_Q": u, "w_g_q": v, "w_g_q_2": w}
    expected = np.einsum("ijkl,i,j,k", third, u, v, w)
    near(gradient.evaluate(q=[0.3, 0.4], **weights), expected, 1e-12)
    product = program.tangent().hessian_product("q")
    assert list(product.inputs) == ["q", "v_q", "w_t_Q", "v_q_2"]
    expected = np.einsum("ijkl,i,j,k", third, u, v, w)
    near(product.evaluate(q=[0.3, 0.4], w_t_Q=u, v_q=v, v_q_2=w), expected, 1e-12)
    near(program.tangent().evaluate(q=[0.3, 0.4], v_q=u), first @ u, 1e-12)
