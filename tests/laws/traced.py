"""Laws of whole programs: what `cardan.model` derives, evaluated, against the models themselves."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from tests.laws.draw import (
    STATES,
    close,
    draw_elastic,
    draw_floating,
    fixed_base,
    matrix,
    scene_of,
    stack,
)  # fmt: skip
from tests.laws.laws import is_singular, law, parameters
from tests.laws.laws import torques as torques_of

import cardan
from cardan.catalogue import MENU
from cardan.describe.robot import Link, Robot
from cardan.errors import ModelError
from cardan.ir.code import Code, arguments
from cardan.ir.derivative import derivative
from cardan.ir.interpret import FUNCTIONS
from cardan.models.composite import inertia_matrix
from cardan.models.newton_euler import inverse_dynamics
from cardan.program import Program

__all__ = ["complex_step", "inputs_of"]

Array = np.ndarray
Rng = np.random.Generator


def inputs_of(program: Program, rng: Rng, count: int = STATES) -> dict[str, Array]:
    """Random values for every input but the parameters."""
    return {
        name: rng.uniform(-3, 3, (count, *shape))
        for name, shape in program.inputs.items()
        if name != "p"
    }


def derived(robot: Robot, name: str, **options: Any) -> Program:
    """The program; the search for fewer operations takes seconds where there are many links."""
    if "effort" in MENU[name].options and len(robot.links) > 4:
        options["effort"] = "plain"
    program: Program = cardan.model(robot, name, **options)
    return program


def run(robot: Robot, name: str, x: dict[str, Array], **options: Any) -> Any:
    program = derived(robot, name, **options)
    return program.evaluate(**{key: x[key] for key in program.inputs})


def state(robot: Robot, rng: Rng) -> dict[str, Array]:
    x = {key: rng.uniform(-3, 3, (STATES, robot.n)) for key in ("q", "qd", "qdd", "tau")}
    rows = len(robot.links) + (robot.base.kind == "floating")
    return {
        **x, "f_e": rng.uniform(-9, 9, (STATES, rows, 6)),
        "V0": rng.uniform(-2, 2, (STATES, 6)), "g0": rng.uniform(-9, 9, (STATES, 3)),
    }  # fmt: skip


def product(A: Array, x: Array) -> Array:
    return np.einsum("sij,sj->si", A, x)


def size(*arrays: Array) -> float:
    return max(float(np.max(np.abs(array), initial=0)) for array in arrays)


@law(200)
def law_programs_of_the_dynamic_models_agree(robot: Robot, rng: Rng) -> None:
    """inverse = A qdd + H = D K with standard and base parameters; gravity; reactions; energies."""
    x = state(robot, rng)
    tau = run(robot, "inverse-dynamics", x, f_e=True)
    for base in (False, True):
        A = run(robot, "inertia-matrix", x, base_parameters=base)
        H = run(robot, "bias", x, f_e=True, base_parameters=base)
        close(product(A, x["qdd"]) + H, tau, f"A qdd + H, base parameters {base}", size(H))
        found = run(robot, "inverse-dynamics", x, f_e=True, base_parameters=base)
        close(found, tau, f"inverse dynamics, base parameters {base}", size(H))
        D = run(robot, "regressor", x, base_parameters=base)
        _check_regressor(robot, x, D, tau, base, size(H))
    zeros = {**x, "qd": 0 * x["qd"], "qdd": 0 * x["qdd"], "f_e": 0 * x["f_e"]}
    wrench = run(robot, "reactions", x, f_e=True)
    axes = [(j, 2 if b.sigma else 5) for j, b in enumerate(robot.joints) if b.sigma != 2]
    drive = np.array([[float(getattr(b, key)) for key in ("IA", "FV", "FS")]
                      for b in robot.joints if b.sigma != 2])  # fmt: skip
    losses = drive[:, 0] * x["qdd"] + drive[:, 1] * x["qd"] + drive[:, 2] * np.sign(x["qd"])
    close(np.stack([wrench[:, j, k] for j, k in axes], -1) + losses, tau, "reactions", size(H))
    still = fixed_base(replace(robot, links=tuple(map(_bare, robot.links))))
    close(run(robot, "gravity", x), run(still, "inverse-dynamics", zeros), "gravity", 1e-3)


def _bare(link: Any) -> Any:
    return replace(link, FX=0, FY=0, FZ=0, CX=0, CY=0, CZ=0)


def _check_regressor(
    robot: Robot, x: dict[str, Array], D: Array, tau: Array, base: bool, scale: float
) -> None:
    program = derived(robot, "regressor", base_parameters=base)
    names = [name.removesuffix("R") for name in program.columns]
    assert len(names) == D.shape[-1]
    carrying = cardan.model(robot, "base-parameters").robot if base else robot
    wanted = [(name.rstrip("0123456789"), int(name.lstrip("AFIMSVXYZ"))) for name in names]
    K = parameters(carrying, wanted)
    bare = replace(robot, links=tuple(map(_bare, robot.links)))
    loads = tau - run(bare, "inverse-dynamics", x)
    close(D @ K, tau - loads, f"D K, base parameters {base}", scale)


@law(200)
def law_programs_of_the_direct_models_agree(robot: Robot, rng: Rng) -> None:
    """Both methods give back qdd; a singular robot is refused by a ModelError."""
    x = state(robot, rng)
    A = run(robot, "inertia-matrix", x)
    singular = is_singular(A)
    x["tau"] = run(robot, "inverse-dynamics", x, f_e=True)
    for method in ("recursive", "inertia-matrix", "auto"):
        for base in (False, True):
            try:
                found = run(
                    robot, "direct-dynamics", x, f_e=True, method=method, base_parameters=base
                )  # fmt: skip
            except ModelError:
                assert singular, f"{method}: a regular robot was refused"
                continue
            if not singular:
                loss = size(np.linalg.inv(A)) * size(x["tau"])
                close(found, x["qdd"], f"direct dynamics {method}, base {base}", loss * 1e-3)


@law(50)
def law_a_massless_tip_is_refused(robot: Robot, rng: Rng) -> None:
    """The last joint carries nothing: ModelError, by both methods and on any base."""
    last = max(j for j, joint in enumerate(robot.joints) if joint.sigma != 2)
    bare = list(robot.links)
    for j in range(last, len(bare)):
        if _beyond(robot, last, j):
            bare[j] = Link(bare[j].name)
    joints = list(robot.joints)
    joints[last] = replace(joints[last], IA=0)
    tip = replace(robot, links=tuple(bare), joints=tuple(joints))
    for some in (tip, draw_floating(tip, rng)):
        for method in ("recursive", "inertia-matrix"):
            try:
                derived(some, "direct-dynamics", method=method)
            except ModelError as error:
                message = str(error)
            else:
                message = ""
            assert message, f"{method}: a joint without inertia was accepted"
            assert "inertia" in message, f"unclear message: {message}"


def _beyond(robot: Robot, i: int, j: int) -> bool:
    """Is link index j link i, or carried by it?"""
    while j > i:
        j = robot.joints[j].antecedent - 1
    return j == i


@law(200)
def law_lagrange_is_newton_euler(robot: Robot, rng: Rng) -> None:
    robot = _shortened(fixed_base(robot), 6)
    x = state(robot, rng)
    tau = run(robot, "inverse-dynamics", x, f_e=True)
    found = run(robot, "inverse-dynamics", x, f_e=True, method="lagrange")
    close(found, tau, "inverse dynamics by Lagrange", size(tau))
    bare = replace(robot, links=tuple(map(_bare, robot.links)),
                   joints=tuple(replace(b, FV=0, FS=0) for b in robot.joints))  # fmt: skip
    H, qd = run(bare, "bias", x), x["qd"]
    Q = run(bare, "gravity", x)
    n = robot.n
    for method in ("christoffel", "renaud"):
        for base in (False, True):
            one = run(bare, "lagrange", x, method=method, base_parameters=base)
            what = f"lagrange {method}, base {base}"
            close(one["A"], run(bare, "inertia-matrix", x), f"{what}: A", 1e-3)
            close(one["Q"], Q, f"{what}: Q", 1e-3)
            B = one["B"]
            close(B, B.transpose(0, 1, 3, 2), f"{what}: symmetry of B", 1e-3)
            close(np.einsum("sijk,sj,sk->si", B, qd, qd) + Q, H, f"{what}: B", size(H, Q, B))
        two = run(bare, "lagrange", x, method=method, form="configuration")
        pairs = [(j, k) for j in range(n) for k in range(j + 1, n)]
        cross = np.stack([2 * qd[:, j] * qd[:, k] for j, k in pairs], -1) if pairs else None
        bias = np.einsum("sij,sj->si", two["C2"], qd**2) + Q
        bias = bias + np.einsum("sip,sp->si", two["C1"], cross) if pairs else bias
        close(bias, H, f"configuration form, {method}", size(H, Q))


def _shortened(robot: Robot, most: int) -> Robot:
    """The first links only: expressions of Lagrange's equations grow fast."""
    if len(robot.links) <= most:
        return robot
    cut = replace(robot, links=robot.links[:most], joints=robot.joints[:most])
    if cut.n:
        return cut
    return replace(cut, joints=(replace(cut.joints[0], sigma=0), *cut.joints[1:]))


@law(200)
def law_programs_of_the_kinematic_models_agree(robot: Robot, rng: Rng) -> None:
    """velocities, accelerations and jdot-qdot against jacobian; the inverse of the Jacobian."""
    robot = _shortened(fixed_base(robot), 7)
    x = state(robot, rng)
    frame, axes = (int(rng.integers(1, len(robot.links) + 1)) for _ in range(2))
    J = run(robot, "jacobian", x, frame=frame, projection=frame)
    V = run(robot, "velocities", x)
    close(product(J, x["qd"]), V[:, frame - 1], "J qd", 1.0)
    Vd = run(robot, "accelerations", x)
    drift = run(robot, "jdot-qdot", x, frame=frame, projection=frame)
    close(product(J, x["qdd"]) + drift, Vd[:, frame - 1], "J qdd + Jdot qd", 1.0)
    seen = run(robot, "jacobian", x, frame=frame, projection=axes, tool=(1, "2/7", -1))
    T = run(robot, "transform", x, frame=frame, reference=axes)
    shift = np.array([1, 2 / 7, -1])
    R = T[:, :3, :3]
    arm = R @ shift
    expected = np.concatenate([R @ J[:, :3], R @ J[:, 3:]], 1)
    expected[:, :3] -= np.cross(arm[:, None], expected[:, 3:].transpose(0, 2, 1)).transpose(0, 2, 1)
    close(seen, expected, "tool point and projection", 1.0)
    world = run(robot, "transform", x, frame=frame, reference="world")
    close(world, run(robot, "transform", x, frame=frame), "world", 1.0)
    _check_inverse(robot, x)


def _check_inverse(robot: Robot, x: dict[str, Array]) -> None:
    J = run(robot, "jacobian", x)
    moving = np.abs(J).max(axis=(0, 1)) > 0  # joints of other branches do not count
    J, n = J[..., moving], int(moving.sum())
    rank = min(np.linalg.matrix_rank(Jk, 1e-7) for Jk in J)
    try:
        found = run(robot, "jacobian-inverse", x, rows="x y z rx ry rz")
    except ModelError:
        assert rank < min(n, 6) or not n, "a regular Jacobian was refused"
        return
    if rank < min(n, 6):
        return
    square = J if n == 6 else J.swapaxes(1, 2) @ J if n < 6 else J @ J.swapaxes(1, 2)
    det = np.linalg.det(square)
    scale = float(np.prod(np.linalg.norm(square, axis=2), -1).max())
    close(found["det"], det, "determinant", scale, 1e-10)
    inverse = found["Jinv"][:, moving]
    product_ = inverse @ J if n <= 6 else J @ inverse
    loss = float(np.max(np.linalg.cond(square)))
    close(product_, np.broadcast_to(np.eye(min(n, 6)), product_.shape), "Jinv J", loss * 1e-3)


@law(200)
def law_programs_of_identification_models_agree(robot: Robot, rng: Rng) -> None:
    """d/dt (D1 K) + D2 K = D K by the programs' own derivatives, and h K is an energy of D K."""
    robot = _shortened(fixed_base(robot), 5)
    x = state(robot, rng)
    for base in (False, True):
        D = run(robot, "regressor", x, base_parameters=base, offset=True)
        program = derived(robot, "filtered-regressor", base_parameters=base, offset=True)
        xs = {key: x[key] for key in ("q", "qd")}
        D2 = program.evaluate(**xs)["D2"]
        D1_q = program.derivative("D1", "q").evaluate(**xs)
        D1_v = program.derivative("D1", "qd").evaluate(**xs)
        D1d = np.einsum("sipk,sk->sip", D1_q, x["qd"]) + np.einsum("sipk,sk->sip", D1_v, x["qdd"])
        close(D1d + D2, D, f"d/dt D1 + D2, base {base}", size(D1d, D2))
    h = cardan.model(robot, "energy-regressor")
    K = _energy_parameters(robot, h)
    found = run(robot, "energies", x)
    close(run(robot, "energy-regressor", x) @ K, found["E"] + found["U"], "h K", 1.0)


def _energy_parameters(robot: Robot, program: Program) -> Array:
    names = [name.removesuffix("R") for name in program.columns]
    return parameters(
        robot, [(name.rstrip("0123456789"), int(name.lstrip("AIMXYZ"))) for name in names]
    )


@law(200)
def law_programs_of_floating_robots_agree(robot: Robot, rng: Rng) -> None:
    robot = draw_floating(_shortened(robot, 8), rng)
    x = state(robot, rng)
    found = run(robot, "inverse-dynamics", x, f_e=True)
    A, H = run(robot, "inertia-matrix", x), run(robot, "bias", x, f_e=True)
    both = np.concatenate([found["V0d"], x["qdd"]], -1)
    forces = np.concatenate([np.zeros((STATES, 6)), found["tau"]], -1)
    close(product(A, both) + H, forces, "A x + H", size(H))
    if is_singular(A):
        return
    x["tau"] = found["tau"]
    loss = size(np.linalg.inv(A)) * size(H)
    for method in ("recursive", "inertia-matrix", "auto"):
        direct = run(robot, "direct-dynamics", x, f_e=True, method=method)
        close(direct["qdd"], x["qdd"], f"qdd, {method}", loss * 1e-3)
        close(direct["V0d"], found["V0d"], f"V0d, {method}", loss * 1e-3)
    still = {**x, "qd": 0 * x["qd"], "V0": 0 * x["V0"]}
    bare = replace(robot, links=tuple(map(_bare, robot.links)))
    bare = replace(bare, base=replace(bare.base, link=_bare(bare.base.link)))
    close(run(bare, "gravity", still), run(bare, "bias", still), "gravity", 1.0)


@law(100)
def law_programs_of_elastic_robots_agree(robot: Robot, rng: Rng) -> None:
    """The inverse model's elastic accelerations and torques, put into the direct model."""
    robot = _shortened(robot, 8)
    robot = draw_elastic(draw_floating(robot, rng) if rng.random() < 0.4 else robot, rng)
    if rng.random() < 0.1:  # no rigid joint at all
        joints = tuple(replace(joint, elastic=joint.sigma != 2) for joint in robot.joints)
        robot = replace(robot, joints=joints)
    moving = [joint for joint in robot.joints if joint.sigma != 2]
    elastic = np.array([joint.elastic for joint in moving])
    if not elastic.any():
        return
    x = state(robot, rng)
    A = run(robot, "inertia-matrix", x)
    if is_singular(A) or np.max(np.linalg.cond(A)) > 1e8:
        return
    qdd, x["qdd"] = x["qdd"].copy(), x["qdd"][:, ~elastic]
    found = run(robot, "inverse-dynamics", x, f_e=True)
    qdd[:, elastic] = found["qdd_e"]
    x["tau"] = found["tau"]
    for method in ("recursive", "inertia-matrix"):
        direct = run(robot, "direct-dynamics", x, f_e=True, method=method)
        direct = direct if hasattr(direct, "keys") else {"qdd": direct}
        loss = size(np.linalg.inv(A)) * size(A) * size(qdd)
        close(direct["qdd"], qdd, f"direct of inverse, {method}", loss * 1e-3)
        if "V0d" in found:
            close(direct["V0d"], found["V0d"], f"V0d, {method}", loss * 1e-3)


# derivatives of programs


@law(200)
def law_derivatives_of_programs(robot: Robot, rng: Rng) -> None:
    """Forward and reverse mode, and complex steps of the program itself."""
    robot = _shortened(robot, 5)
    program = derived(robot, "inverse-dynamics")
    x = inputs_of(program, rng)
    for wrt in ("q", "qd", "qdd"):
        check_derivative(program, "tau", wrt, x)
    dtau = program.derivative("tau", "qdd").evaluate(**x)
    close(dtau, run(robot, "inertia-matrix", x), "d tau / d qdd and A", 1e-3)
    try:
        program = derived(robot, "direct-dynamics")
    except ModelError:
        return
    x = inputs_of(program, rng)
    if is_singular(run(robot, "inertia-matrix", x)):
        return
    for wrt in ("q", "qd", "tau"):
        check_derivative(program, "qdd", wrt, x)


def check_derivative(
    program: Program, output: str, wrt: str, x: dict[str, Array], tolerance: float = 1e-9
) -> None:
    expected = complex_step(program.code, output, wrt, x)
    what = f"d{output}/d{wrt}"
    assert program.derivative(output, wrt).outputs == {what.replace("/", "_"): expected.shape[1:]}
    for mode in ("forward", "reverse"):
        code = derivative(program.code, output, wrt, "found", mode)
        found = replace(program, code=code).evaluate(**x)
        close(found, expected, f"{what}, {mode}", tolerance=tolerance)
        _check_zeros(program, code, output, wrt, f"{what}, {mode}")


def _check_zeros(program: Program, code: Code, output: str, wrt: str, what: str) -> None:
    """An entry that no path of the program reaches is the constant 0."""
    count = prod(program.code.inputs[wrt])
    reached: list[set[int]] = [set()]  # elements of wrt on which each node depends
    for node in program.code.nodes[1:]:
        if node[0] == "input":
            reached.append({node[2]} if node[1] == wrt else set())
        else:
            reached.append(set().union(*(reached[arg] for arg in arguments(node))))
    entries = [
        k in reached[abs(ref)] for ref in program.code.outputs[output].refs for k in range(count)
    ]
    for ref, depends in zip(code.outputs["found"].refs, entries, strict=True):
        zero = code.nodes[abs(ref)] == ("const", 0)
        assert depends or zero, f"{what}: a structural zero is computed"


def complex_step(code: Code, output: str, wrt: str, x: dict[str, Array]) -> Array:
    """d output / d wrt, (states, *output, *wrt), by running the program on complex numbers."""
    step, size = 1e-40, prod(code.inputs[wrt])
    count = len(next(iter(x.values())))
    moved = {name: array.reshape(count, 1, -1).astype(complex) for name, array in x.items()}
    moved[wrt] = moved[wrt] + 1j * step * np.eye(size)  # all columns in one run
    values: list[Any] = [None]
    for node in code.nodes[1:]:
        if node[0] == "input":
            values.append(moved[node[1]][:, :, node[2]])
        elif node[0] == "const":
            values.append(float(node[1]))
        elif node[0] == "sign":
            values.append(np.sign(np.real(values[node[1]])))
        else:
            values.append(FUNCTIONS[node[0]](*(values[arg] for arg in node[1:])))
    entries = [values[ref] if ref > 0 else -values[-ref] for ref in code.outputs[output].refs]
    rows = [np.broadcast_to(np.imag(entry) / step, (count, size)) for entry in entries]
    shape = (count, *code.outputs[output].shape, *code.inputs[wrt])
    return np.stack(rows, 1).reshape(shape) if rows else np.zeros(shape)


DERIVED = {
    "inverse-dynamics": ["inverse-dynamics"],
    "direct-dynamics": ["direct-dynamics"],
    "kinematics": ["velocities", "accelerations"],
    "energies": ["energies"],
    "regressor": ["regressor"],
}

_LARGEST = {"regressor": 3, "direct-dynamics": 6, "kinematics": 6}  # links: larger tensors are slow


@law(40)
def law_derivative_models_are_complex_steps(robot: Robot, rng: Rng) -> None:
    """Every model called -derivatives, of trees, elastic joints and floating bases."""
    kind = rng.integers(3)
    robot = [robot, draw_elastic(robot, rng), draw_floating(robot, rng)][kind]
    for name, parents in DERIVED.items():
        if len(robot.links) > _LARGEST.get(name, 12):
            continue
        if name == "direct-dynamics" or (kind == 1 and name == "inverse-dynamics"):
            A = run(robot, "inertia-matrix", {"q": rng.uniform(-3, 3, (STATES, robot.n))})
            if is_singular(A) or np.max(np.linalg.cond(A)) > 1e6:
                continue
        slow = kind > 0 and name.endswith("dynamics")  # a search of differentiated algorithms
        program = derived(robot, f"{name}-derivatives", **({"effort": "plain"} if slow else {}))
        x = inputs_of(program, rng)
        results = program.evaluate(**x)._asdict()
        for parent in (derived(robot, each) for each in parents):
            for y in parent.outputs:
                for wrt in parent.inputs:
                    state = {key: x[key] for key in parent.inputs}
                    expected = complex_step(parent.code, y, wrt, state)
                    if wrt == "g0":  # a base displaced by X0 sees gravity turned back
                        turned = np.cross(np.eye(3), x["g0"][:, None, :])
                        by_X0 = -np.einsum("s...k,sjk->s...j", expected, turned)
                        expected = np.concatenate([0 * by_X0, by_X0], -1)
                    key = f"d{y}_d{'X0' if wrt == 'g0' else wrt}"
                    size = 1e-3 * float(np.max(np.abs(results[y]), initial=0))
                    close(results[key], expected, f"{name}: {key}", size, tolerance=1e-8)


@law(50)
def law_program_is_the_model(robot: Robot, rng: Rng) -> None:
    """What is derived is what the algorithm computes over arrays."""
    scene, x = scene_of(robot), state(robot, rng)
    q, qd, qdd = (list(x[key].T) for key in ("q", "qd", "qdd"))
    found = inverse_dynamics(scene, q, qd, qdd)
    tau = run(robot, "inverse-dynamics", x)
    close(tau, torques_of(scene, found), "inverse dynamics")
    A = matrix(inertia_matrix(scene, q).matrix(scene.tree.moving))
    close(run(robot, "inertia-matrix", x), A, "inertia matrix", 1e-3)
    h = stack([found.tau[j] for j in scene.tree.moving])
    assert h.shape == tau.shape


@law(10)
def law_the_page_is_the_program(robot: Robot, rng: Rng) -> None:
    """What people read gives the numbers of what runs."""
    x, names = state(robot, rng), ("inverse-dynamics", "inertia-matrix", "gravity", "transform")
    for name in names:
        program = derived(robot, name)
        inputs = {key: x[key] for key in program.inputs}
        close(program.plain.evaluate(**inputs), program.evaluate(**inputs), name, 1e-3)
