"""The laws: two independent routes to the same quantity, on any robot.

Each law is a function (robot, rng) that raises AssertionError. Models run directly over NumPy
arrays, several states at once; rates are complex steps, exact to rounding. `LAWS` lists them with
the share of robots they are tried on (1: every robot). Those that derive programs are in
`traced.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tests.laws.draw import (
    STATES,
    STEP,
    close,
    draw_elastic,
    draw_floating,
    draw_wrenches,
    fixed_base,
    matrix,
    rate,
    scene_of,
    stack,
    states_of,
)  # fmt: skip

from cardan.algebra.vector import Vec, cross
from cardan.build.base import base_parameters
from cardan.build.common import COMPOSITE, RECURSION
from cardan.build.equations import solve_backwards
from cardan.describe.robot import GEOMETRY, PRISMATIC, REVOLUTE, Base, Joint, Link, Robot
from cardan.describe.values.expression import number
from cardan.formulate import economy
from cardan.formulate.formulation import Formulation
from cardan.formulate.posture import formulated
from cardan.formulate.search import units
from cardan.mechanism.tree import Tree
from cardan.models.articulated import articulated
from cardan.models.bodies import Bodies
from cardan.models.composite import inertia_matrix, solve_matrix
from cardan.models.coriolis import coriolis_matrix
from cardan.models.energy import energies, momentum
from cardan.models.floating import floating_inverse_dynamics
from cardan.models.jacobian import jacobian
from cardan.models.kinematics import accelerations, velocities
from cardan.models.motion import motion
from cardan.models.newton_euler import inverse_dynamics
from cardan.models.regressor import columns, energy_regressor, filtered_regressor, regressor
from cardan.models.transform import transform

__all__ = ["LAWS", "is_singular", "law"]

Array = np.ndarray
Rng = np.random.Generator
Law = Callable[[Robot, Rng], None]

LAWS: dict[str, tuple[Law, int]] = {}


def law(every: int = 1) -> Callable[[Law], Law]:
    """Register a law, tried on one robot in `every`."""

    def register(function: Law) -> Law:
        LAWS[function.__name__.removeprefix("law_")] = (function, every)
        return function

    return register


def torques(scene: Bodies, found: Any) -> Array:
    return stack([found.tau[j] for j in scene.tree.moving])


def inertia(scene: Bodies, q: list[Array]) -> Array:
    return matrix(inertia_matrix(formulated(scene), q).matrix(scene.tree.moving))


def recursive(scene: Bodies, q: Any, qd: Any, **given: Any) -> Any:
    """The articulated bodies of a robot in its formulation."""
    robot = formulated(scene)
    return articulated(robot, motion(robot, q, qd), **given)


def regression(scene: Bodies, q: Any, qd: Any, qdd: Any, wanted: Any) -> Any:
    """The regressor in the robot's formulation."""
    moving = economy.motion_in_described_frames(scene, q, qd, qdd)
    return regressor(formulated(scene), q, qd, qdd, moving, wanted)


def times(A: Array, x: list[Array]) -> Array:
    return np.einsum("sij,js->si", A, np.array(x).reshape(A.shape[-1], -1))


def some_links(robot: Robot, rng: Rng) -> frozenset[int]:
    return frozenset(j for j in range(1, len(robot.links) + 1) if rng.random() < 0.5)


REGRESSION = ("still", "grouped", "axial", "column", "slide")
FLOATING = tuple(choice for choice in COMPOSITE if choice != "unit")  # see search.units


def any_form(choices: Sequence[str], robot: Robot, rng: Rng) -> Formulation:
    """A random formulation: none changes the result."""
    drawn: dict[str, Any] = {
        key: some_links(robot, rng) for key in choices if key not in ("regroup", "unit")
    }
    if "regroup" in choices:
        drawn["regroup"] = bool(rng.random() < 0.5)
    if "unit" in choices:
        lengths = [None, *units(robot)]
        drawn["unit"] = lengths[rng.integers(len(lengths))]
    return Formulation(**drawn)


def wrench_torques(robot: Robot, scene: Bodies, q: list[Array], wrenches: Any) -> Array:
    """Torques that the wrenches of all links need, by virtual work, from poses in frame 0 alone."""
    T = poses(robot, q)
    total = {j: np.zeros(STATES) for j in scene.tree.moving}
    for link in scene.links:
        force, moment = wrenches.get(link.j, (Vec(0, 0, 0), Vec(0, 0, 0)))
        R, P = T[link.j][:, :3, :3], T[link.j][:, :3, 3]
        f = np.einsum("sij,sj->si", R, stack(list(link.f_e + force)))
        n = np.einsum("sij,sj->si", R, stack(list(link.n_e + moment)))
        for k in scene.tree.path(link.j):
            if k in total:
                z, arm = T[k][:, :3, 2], P - T[k][:, :3, 3]
                axis = scene.links[k - 1]
                turning = n + np.cross(arm, f) if axis.sbar else 0
                total[k] = total[k] + np.sum(z * (axis.s * f + turning), -1)
    return np.stack(list(total.values()), -1)


def poses(robot: Robot, q: list[Array]) -> list[Array]:
    """Frames 0, 1, 2 ... in frame 0, (states, 4, 4), apart from the library's own geometry."""
    values = iter(q)
    T = [np.broadcast_to(np.eye(4), (STATES, 4, 4))]
    for joint in robot.joints:
        gamma, b, alpha, d, theta, r = (float(getattr(joint, key)) for key in GEOMETRY)
        turn = next(values) if joint.sigma == REVOLUTE else np.zeros(STATES)
        slide = next(values) if joint.sigma == PRISMATIC else np.zeros(STATES)
        T.append(T[joint.antecedent] @ _screw(2, gamma, b) @ _screw(0, alpha, d)
                 @ _screw(2, theta + turn, r + slide))  # fmt: skip
    return T


def _screw(axis: int, angle: Any, shift: Any) -> Array:
    """Rot(axis, angle) Tran(axis, shift)."""
    angle, shift = np.broadcast_arrays(angle, shift)
    T = np.zeros((*angle.shape, 4, 4))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T[..., i, i] = T[..., j, j] = np.cos(angle)
    T[..., i, j], T[..., j, i] = -np.sin(angle), np.sin(angle)
    T[..., axis, axis] = T[..., 3, 3] = 1
    T[..., axis, 3] = shift
    return T


def friction(scene: Bodies, qd: list[Array]) -> Array:
    links = [scene.links[j - 1] for j in scene.tree.moving]
    return stack([b.rubs.FS * np.sign(v) + b.rubs.FV * v for b, v in zip(links, qd, strict=True)])


def is_singular(A: Array) -> bool:
    """Is the inertia matrix singular in every state? A massless tip leaves a joint without any."""
    values = np.linalg.eigvalsh(A)
    return bool((values[:, 0] <= 1e-11 * np.maximum(values[:, -1], 1e-9)).all())


# dynamics of a robot on a base with known motion


@law()
def law_inverse_is_A_qdd_plus_H(robot: Robot, rng: Rng) -> None:
    scene, (q, qd, qdd) = scene_of(robot), states_of(robot, rng)
    scene = scene.loaded(draw_wrenches(robot, rng))
    cheap = scene.written(any_form(RECURSION, robot, rng))
    tau = torques(scene, economy.inverse_dynamics(cheap, q, qd, qdd))
    H = torques(scene, inverse_dynamics(scene, q, qd, [0] * robot.n))
    by_A = times(inertia(scene.written(any_form(COMPOSITE, robot, rng)), q), qdd)
    close(by_A + H, tau, "A qdd + H", scale=float(np.max(np.abs(H))))


@law()
def law_inverse_is_D_K_standard_and_base(robot: Robot, rng: Rng) -> None:
    scene, (q, qd, qdd) = scene_of(robot), states_of(robot, rng)
    tau = torques(scene, inverse_dynamics(scene, q, qd, qdd)) - wrench_torques(robot, scene, q, {})
    wanted = columns(scene)
    bare = scene.unloaded().written(any_form(REGRESSION, robot, rng))
    D = matrix(regression(bare, q, qd, qdd, wanted))
    K = parameters(robot, wanted)
    scale = float(np.max(np.abs(D) @ np.abs(K)))
    close(D @ K, tau, "D K", scale)
    base = base_parameters(robot)
    kept = [c in base.kept or c[0] in ("FV", "FS") for c in wanted]
    K_base = parameters(base.robot, wanted)
    close(D[..., kept] @ K_base[kept], tau, "D_base K_base", scale)
    others = [abs(x) for x, keep in zip(K_base, kept, strict=True) if not keep]
    assert not any(others), "the robot carrying the base parameters has others that are not zero"


def parameters(robot: Robot, wanted: Any) -> Array:
    """K: the values of these (name, link) parameters."""
    pairs = dict(enumerate(zip(robot.links, robot.joints, strict=True), 1))
    return np.array(
        [number(getattr(pairs[j][name in ("IA", "FV", "FS")], name)) for name, j in wanted], float
    )


@law()
def law_inertia_matrix_is_symmetric_and_positive(robot: Robot, rng: Rng) -> None:
    scene, (q,) = scene_of(robot), states_of(robot, rng, 3)
    A = inertia(scene, q)
    close(A, A.transpose(0, 2, 1), "A and its transpose")
    units = list(np.eye(robot.n)[:, :, None])  # all columns at once
    found = inverse_dynamics(_still(scene), q, [0] * robot.n, units)
    by_units = stack([found.tau[j] for j in scene.tree.moving], (robot.n, STATES))
    close(by_units.transpose(1, 2, 0), A, "A by unit accelerations")
    values = np.linalg.eigvalsh(A)
    assert (values[:, 0] >= -1e-11 * np.maximum(values[:, -1], 1e-9)).all(), "A is not positive"


def _still(scene: Bodies) -> Bodies:
    """No loads, no gravity, a base at rest."""
    return scene.unloaded().moving_base([0] * 6, [0, 0, 0])


@law()
def law_bias_is_C_qd_plus_Q_and_loads(robot: Robot, rng: Rng) -> None:
    robot = fixed_base(robot)
    scene, (q, qd) = scene_of(robot), states_of(robot, rng, 3, 3)
    wrenches, zeros = draw_wrenches(robot, rng), [0] * robot.n
    H = torques(scene, inverse_dynamics(scene.loaded(wrenches), q, qd, zeros))
    Q = torques(scene, inverse_dynamics(scene.unloaded(), q, zeros, zeros))
    C = matrix(coriolis_matrix(scene, q, qd).matrix(scene.tree.moving))
    loads = friction(scene, qd) + wrench_torques(robot, scene, q, wrenches)
    close(times(C, qd) + Q + loads, H, "C qd + Q + loads", float(np.max(np.abs(loads))))


@law()
def law_Adot_minus_2C_is_skew(robot: Robot, rng: Rng) -> None:
    scene, (q, qd) = scene_of(fixed_base(robot)), states_of(robot, rng, 3, 3)
    A = inertia(scene, rate(q, qd))
    Ad = A.imag / STEP
    C = matrix(coriolis_matrix(scene, q, qd).matrix(scene.tree.moving))
    close(C + C.transpose(0, 2, 1), Ad, "C + C^T and Adot", float(np.max(np.abs(A))))


@law()
def law_energy_balance(robot: Robot, rng: Rng) -> None:
    """d/dt (E + U) = qd . (tau - friction - torques of the wrenches)."""
    robot = fixed_base(robot)
    scene, (q, qd, qdd) = scene_of(robot), states_of(robot, rng)
    wrenches = draw_wrenches(robot, rng)
    tau = torques(scene, inverse_dynamics(scene.loaded(wrenches), q, qd, qdd))
    work = tau - friction(scene, qd) - wrench_torques(robot, scene, q, wrenches)
    found = energies(scene, rate(q, qd), rate(qd, qdd))
    power = np.broadcast_to(np.imag(found.E + found.U) / STEP, STATES)
    scale = float(np.max(np.abs(tau) * np.abs(np.array(qd).T)))
    close(power, np.einsum("si,is->s", work, np.array(qd)), "power", scale)


@law()
def law_reactions_on_the_axes_are_the_torques(robot: Robot, rng: Rng) -> None:
    scene, (q, qd, qdd) = scene_of(robot), states_of(robot, rng)
    found = inverse_dynamics(scene.loaded(draw_wrenches(robot, rng)), q, qd, qdd)
    links = [scene.links[j - 1] for j in scene.tree.moving]
    axial = stack([(b.s * found.f[b.j] + b.sbar * found.n[b.j])[2] for b in links])
    rotors = stack([b.IA * a for b, a in zip(links, qdd, strict=True)])
    close(axial + rotors + friction(scene, qd), torques(scene, found), "reactions on the axes")


@law()
def law_direct_of_inverse_is_identity(robot: Robot, rng: Rng) -> None:
    """Recursive, and by A and H; robots whose A is singular are told so (see `traced`)."""
    scene, (q, qd, qdd) = scene_of(robot), states_of(robot, rng)
    wrenches, form = draw_wrenches(robot, rng), any_form(COMPOSITE, robot, rng)
    A = inertia(scene, q)
    if is_singular(A):
        return
    tau = torques(scene, inverse_dynamics(scene.loaded(wrenches), q, qd, qdd))
    given = dict(zip(scene.tree.moving, tau.T, strict=True))
    loaded = scene.loaded(wrenches)
    by_links = recursive(loaded.written(form), q, qd, tau=given)
    expected = np.array(qdd).T
    # rounding of tau alone moves qdd by |A^-1| |tau| eps
    loss = float(np.max(np.linalg.norm(np.linalg.inv(A), 2, (1, 2))) * np.max(np.abs(tau)))
    for name, values in (
        ("recursive", by_links.qdd),
        ("by A and H", _by_matrix(loaded, q, qd, given)),
    ):
        found = stack([values[j] for j in scene.tree.moving])
        close(found, expected, f"direct dynamics {name}", loss * 1e-3, 1e-9)


def _by_matrix(scene: Bodies, q: Any, qd: Any, given: Any) -> dict[int, Any]:
    H = inverse_dynamics(scene, q, qd, [0] * len(q))
    rhs = {("joint", j, 0): given[j] - H.tau[j] for j in scene.tree.moving}
    solved = solve_matrix(scene, inertia_matrix(scene, q).A, rhs)
    return {key[1]: value for key, value in solved.items()}


@law(8)
def law_mobile_base_is_a_longer_robot(robot: Robot, rng: Rng) -> None:
    """Three slides and three turns without mass, moved so that frame 6 moves as frame 0 did."""
    drawn = {key: tuple(rng.uniform(-2, 2, 3)) for key in ("W0", "WP0", "V0", "VP0")}
    robot = replace(robot, base=Base(kind="mobile", **drawn))
    scene, (q, qd, qdd) = scene_of(robot), states_of(robot, rng)
    wrenches = draw_wrenches(robot, rng)
    tau = torques(scene, inverse_dynamics(scene.loaded(wrenches), q, qd, qdd))
    carrier = tuple(
        Joint(f"carrier{j}", j - 1, int(j <= 3), alpha=float(alpha), theta=float(theta))
        for j, (alpha, theta) in enumerate(rng.uniform(0.5, 1.2, (6, 2)), 1)
    )
    moved = tuple(replace(joint, antecedent=joint.antecedent + 6) for joint in robot.joints)
    links = tuple(Link(f"carrier{j}") for j in range(1, 7)) + robot.links
    longer = replace(robot, base=Base(), joints=carrier + moved, links=links, gravity=(0, 0, 0))
    carried = scene_of(longer)
    q0 = list(rng.uniform(-0.3, 0.3, (6, STATES)))
    rest = [0] * robot.n
    J = matrix(jacobian(carried, [*q0, *rest], 6, 6, 6).rows())[..., :6]
    V, Vd = stack([*drawn["V0"], *drawn["W0"]]), stack([*drawn["VP0"], *drawn["WP0"]])
    q0d = list(np.linalg.solve(J, V[..., None])[..., 0].T)
    drift = accelerations(carried, [*q0, *rest], [*q0d, *rest], [0] * (6 + robot.n))
    Jdqd = stack([*drift.Vd[6], *drift.wd[6]])
    q0dd = list(np.linalg.solve(J, (Vd - Jdqd)[..., None])[..., 0].T)
    T = transform(carried, [*q0, *rest], 6, 0)
    carried = replace(carried, gravity=T.R @ scene.gravity)
    shifted = {j + 6: wrench for j, wrench in wrenches.items() if j}
    found = inverse_dynamics(carried.loaded(shifted), q0 + q, q0d + qd, q0dd + qdd)
    close(torques(carried, found)[:, 6:], tau, "torques of the longer robot", tolerance=1e-8)
    last = longer.n
    one = velocities(scene, q, qd)
    two = velocities(carried, q0 + q, q0d + qd)
    for j in range(1, len(robot.links) + 1):
        close(stack([*two.V[j + 6], *two.w[j + 6]]), stack([*one.V[j], *one.w[j]]), f"V{j}")
    assert last == robot.n + 6


# kinematics


@law()
def law_jacobian_is_the_derivative_of_the_transform(robot: Robot, rng: Rng) -> None:
    """Any frame, tool point, axes and intermediate frame: dP/dq and the vector of dR R^T."""
    scene, (q,) = scene_of(robot), states_of(robot, rng, 3)
    n, r, k = (int(rng.integers(len(robot.links) + 1)) for _ in range(3))
    if rng.random() < 0.5:
        n = Tree.of(robot).last
    tool = Vec(*rng.uniform(-1, 1, 3)) if rng.random() < 0.5 else Vec(0, 0, 0)
    merge, accumulate = rng.random() < 0.5, rng.random() < 0.5
    J = matrix(
        jacobian(scene, q, n, r, k, tool=tool, merge=merge, accumulate=accumulate).rows()
    )  # fmt: skip
    expected = derivative_of_transform(scene, q, n, r, np.array(tool, float))
    close(J, expected, f"jacobian of {n} in {r} by {k}", 1.0)


def derivative_of_transform(scene: Bodies, q: Any, n: int, r: int, tool: Array) -> Array:
    """(states, 6, n): a complex step of every joint variable at once."""
    count = len(q)
    shape = (count, STATES)
    steps = 1j * STEP * np.eye(count)
    moved = [np.broadcast_to(x, shape) + steps[k][:, None] for k, x in enumerate(q)]
    T = transform(scene, moved, n, 0, merge=False)
    R, P = matrix(T.R.rows, shape), stack(list(T.P), shape)
    point = P + R @ tool
    spin = (R.imag / STEP) @ R.real.swapaxes(-1, -2)
    angular = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], -1)
    R_r = matrix(transform(scene, q, r, 0, merge=False).R.rows)
    linear, angular = (
        np.einsum("sji,csj->sic", R_r, v) for v in (point.imag / STEP, angular)
    )  # fmt: skip
    return np.concatenate([linear, angular], 1)


@law(8)
def law_velocities_are_J_qd(robot: Robot, rng: Rng) -> None:
    scene, (q, qd) = scene_of(robot), states_of(robot, rng, 3, 3)
    cut = formulated(scene.written(any_form(["slide"], robot, rng)))
    moving, carried = velocities(cut, q, qd), velocities(scene, q, [0] * robot.n)
    for j in range(1, len(robot.links) + 1):
        J = matrix(jacobian(scene, q, j, j, 0).rows())
        V = stack([*moving.V[j], *moving.w[j]]) - stack([*carried.V[j], *carried.w[j]])
        close(times(J, qd), V, f"velocity of link {j}", 1.0)


@law(8)
def law_accelerations_are_the_rate_of_J_qd(robot: Robot, rng: Rng) -> None:
    """Also jdot-qdot: the accelerations of qdd = 0."""
    scene, (q, qd, qdd) = scene_of(fixed_base(robot)), states_of(robot, rng)
    cuts = [formulated(scene.written(any_form(["slide"], robot, rng))) for _ in range(2)]
    found = accelerations(cuts[0], q, qd, qdd)
    drift = accelerations(cuts[1], q, qd, [0] * robot.n)
    for j in range(1, len(robot.links) + 1):
        J = matrix(jacobian(scene, rate(q, qd), j, 0, 0, merge=False).rows())
        Jdqd, Jqdd = times(J.imag / STEP, qd), times(J.real, qdd)
        R = matrix(transform(scene, q, j, 0).R.rows)
        for record, expected in ((found, Jdqd + Jqdd), (drift, Jdqd)):
            Vd, wd = (R @ stack(list(v))[..., None] for v in (record.Vd[j], record.wd[j]))
            both = np.concatenate([Vd[..., 0], wd[..., 0]], -1)
            close(both, expected, f"acceleration of link {j}", 1.0)


# momentum and identification


@law(4)
def law_momentum_is_A_qd_and_the_derivative_of_E(robot: Robot, rng: Rng) -> None:
    scene, (q, qd) = scene_of(robot), states_of(robot, rng, 3, 3)
    h = momentum(scene, q, qd).h
    found = stack([h[j] for j in scene.tree.moving])
    shape = (robot.n, STATES)
    steps = 1j * STEP * np.eye(robot.n)
    moved = [np.broadcast_to(v, shape) + steps[k][:, None] for k, v in enumerate(qd)]
    E = energies(scene, q, moved).E
    close(found, (np.broadcast_to(E, shape).imag / STEP).T, "momentum and dE/dqd", 1e-3)
    still = _still(scene)
    h = momentum(still, q, qd).h
    found = stack([h[j] for j in scene.tree.moving])
    close(found, times(inertia(scene, q), qd), "momentum and A qd")


@law(16)
def law_filtered_regressor(robot: Robot, rng: Rng) -> None:
    """tau = d/dt (D1 K) + D2 K without external wrenches."""
    scene, (q, qd, qdd) = scene_of(fixed_base(robot)), states_of(robot, rng)
    wanted = columns(scene, drives=("IA", "FV", "FS", "offset"))
    K = np.array(
        [1.5 if name == "offset" else parameters(robot, [(name, j)])[0] for name, j in wanted]
    )
    moving = filtered_regressor(scene, rate(q, qd), rate(qd, qdd), _smooth(wanted))
    at_rest = filtered_regressor(scene, q, qd, wanted)
    shared = np.array([c in _smooth(wanted) for c in wanted])
    D1d = matrix(moving.D1).imag / STEP
    tau = torques(scene, inverse_dynamics(scene, q, qd, qdd)) - wrench_torques(robot, scene, q, {})
    D2 = matrix(at_rest.D2)
    scale = float(np.max(np.abs(D2) @ np.abs(K)))
    close(D1d @ K[shared] + D2 @ K, tau + 1.5, "d/dt(D1 K) + D2 K", scale)
    close(matrix(at_rest.D1)[..., ~shared], 0 * D2[..., ~shared], "D1 of friction")


def _smooth(wanted: Any) -> Any:
    """The sign of a velocity has no rate."""
    return [c for c in wanted if c[0] not in ("FV", "FS", "offset")]


@law(8)
def law_energy_regressor(robot: Robot, rng: Rng) -> None:
    scene, (q, qd) = scene_of(fixed_base(robot)), states_of(robot, rng, 3, 3)
    wanted = columns(scene, drives=("IA",))
    h, K = stack(energy_regressor(scene, q, qd, wanted)), parameters(robot, wanted)
    found = energies(scene, q, qd)
    total = np.broadcast_to(found.E + found.U, STATES)
    close(h @ K, total, "h K and E + U", float(np.max(np.abs(h) @ np.abs(K))))


# floating base


def _floating(robot: Robot, rng: Rng) -> tuple[Bodies, list[Array], list[Array], list[Array], Any]:
    robot = draw_floating(robot, rng)
    q, qd, qdd = states_of(robot, rng)
    V0, g0 = rng.uniform(-2, 2, (6, STATES)), rng.uniform(-9, 9, (3, STATES))
    return scene_of(robot).moving_base(V0, g0), q, qd, qdd, draw_wrenches(robot, rng)


@law(8)
def law_floating_base_is_free(robot: Robot, rng: Rng) -> None:
    """The base's acceleration is the one for which nothing needs to hold it, and the torques are
    those of the inverse model on a base with that motion."""
    scene, q, qd, qdd, wrenches = _floating(robot, rng)
    cheap = scene.loaded(wrenches).written(any_form(FLOATING, robot, rng))
    found = floating_inverse_dynamics(formulated(cheap), q, qd, qdd)
    Vd0, wd0 = found.V0d
    driven = inverse_dynamics(replace(scene, Vd0=Vd0, wd0=wd0).loaded(wrenches), q, qd, qdd)
    held = stack([*driven.f[0], *driven.n[0]])
    size = float(np.max(np.abs(stack([*driven.F[0], *driven.N[0]]))))
    close(held, 0 * held, "wrench on a free base", size)
    close(torques(scene, driven), torques(scene, found), "torques with a floating base", size)


@law(8)
def law_floating_base_by_A_and_H(robot: Robot, rng: Rng) -> None:
    """A (6+n), [V0d; qdd] and H agree with the recursive inverse and direct models."""
    scene, q, qd, qdd, wrenches = _floating(robot, rng)
    inverse = floating_inverse_dynamics(scene.loaded(wrenches), q, qd, qdd)
    tau = torques(scene, inverse)
    A = _full_matrix(scene, q)
    H = inverse_dynamics(scene.loaded(wrenches), q, qd, [0] * len(q))
    bias = np.concatenate([stack([*H.f[0], *H.n[0]]), torques(scene, H)], -1)
    V0d = stack([*inverse.V0d[0], *inverse.V0d[1]])
    x = np.concatenate([V0d, np.array(qdd).T], -1)
    left = np.concatenate([np.zeros((STATES, 6)), tau], -1)
    close(np.einsum("sij,sj->si", A, x) + bias, left, "A x + H", float(np.max(np.abs(bias))))
    if is_singular(A):
        return
    loss = float(np.max(np.linalg.norm(np.linalg.inv(A), 2, (1, 2))) * np.max(np.abs(bias)))
    given = dict(zip(scene.tree.moving, tau.T, strict=True))
    cheap = scene.loaded(wrenches).written(any_form(FLOATING, robot, rng))
    direct = recursive(cheap, q, qd, tau=given, free_base=True)
    by_links = [*direct.V0d[0], *direct.V0d[1], *(direct.qdd[j] for j in scene.tree.moving)]
    close(stack(by_links), x, "recursive direct model", loss * 1e-3)
    rhs = [*(-H.f[0]), *(-H.n[0]), *(given[j] - H.tau[j] for j in scene.tree.moving)]
    size = range(len(rhs))
    by_matrix = solve_backwards([[A[:, r, c] for c in size] for r in size], rhs)
    close(stack(by_matrix), x, "direct model by A and H", loss * 1e-3)


def _full_matrix(scene: Bodies, q: Any) -> Array:
    """A of base and joints."""
    keys = [("base", 0, k) for k in range(6)] + [("joint", j, 0) for j in scene.tree.moving]
    return matrix(inertia_matrix(scene, q, base=True).rows(keys))


@law(8)
def law_free_robot_falls(robot: Robot, rng: Rng) -> None:
    """At rest, without forces: the base falls with g0 and no joint moves."""
    scene, q, _, _, _ = _floating(robot, rng)
    scene = replace(scene.unloaded(), w0=Vec(0, 0, 0), V0=Vec(0, 0, 0))
    zeros = [np.zeros(STATES)] * robot.n
    if is_singular(_full_matrix(scene, q)):
        return
    given = dict(zip(scene.tree.moving, zeros, strict=True))
    found = recursive(scene, q, zeros, tau=given, free_base=True)
    base = stack([*found.V0d[0], *found.V0d[1]])
    close(base, stack([*scene.gravity, 0, 0, 0]), "acceleration of a falling base")
    close(stack([found.qdd[j] for j in scene.tree.moving]), np.array(zeros).T, "falling joints", 1)


@law(8)
def law_momentum_of_a_free_robot(robot: Robot, rng: Rng) -> None:
    """Internal torques change neither linear nor angular momentum in the world."""
    scene, q, qd, _, _ = _floating(robot, rng)
    scene = replace(scene.unloaded(), gravity=Vec(0, 0, 0))
    if is_singular(_full_matrix(scene, q)):
        return
    tau = rng.uniform(-5, 5, (robot.n, STATES))
    given = dict(zip(scene.tree.moving, tau, strict=True))
    found = recursive(scene, q, qd, tau=given, free_base=True)
    qdd = [found.qdd[j] for j in scene.tree.moving]
    Vd, wd = found.V0d
    # in frame 0, dV/dt of the components is Vd - w x V
    Vd = Vd - cross(scene.w0, scene.V0)
    moving = replace(
        scene, V0=Vec(*rate(scene.V0, Vd)), w0=Vec(*rate(scene.w0, wd))
    )  # fmt: skip
    p, l = _total_momentum(moving, rate(q, qd), rate(qd, qdd))
    # and of a vector fixed in space its components turn with frame 0; O_0 itself moves
    pd = Vec(*(x.imag / STEP for x in p)) + cross(scene.w0, Vec(*(x.real for x in p)))
    ld = Vec(*(x.imag / STEP for x in l)) + cross(scene.w0, Vec(*(x.real for x in l)))
    ld = ld + cross(scene.V0, Vec(*(x.real for x in p)))
    still = stack([*pd, *ld])
    size = float(np.max(np.abs(stack([*p, *l])))) * 10
    # accelerations of light tips may be large: they are lost in the sum
    size = max(size, float(np.max(np.abs(stack(qdd)))))
    close(still, 0 * still, "rate of the momentum of a free robot", size)


def _total_momentum(scene: Bodies, q: Any, qd: Any) -> tuple[Vec, Vec]:
    """Linear and angular momentum of all bodies about O_0, in frame 0."""
    moving = velocities(scene, q, qd)
    p, l = Vec(0, 0, 0), Vec(0, 0, 0)
    for b in (scene.base, *scene.links):
        V, w = moving.V[b.j], moving.w[b.j]
        linear, angular = b.M * V + cross(w, b.MS), b.J @ w + cross(b.MS, V)
        if b.j:
            T = transform(scene, q, b.j, 0)
            linear = T.R @ linear
            angular = T.R @ angular + cross(T.P, linear)
        p, l = p + linear, l + angular
    return p, l


# elastic joints


@law(8)
def law_elastic_joints_by_partition(robot: Robot, rng: Rng) -> None:
    """[K10] (72)-(82) against the rows of A and H, on a fixed, a moving and a floating base."""
    floats = bool(rng.random() < 0.4)
    robot = draw_elastic(draw_floating(robot, rng) if floats else robot, rng)
    scene, (q, qd, qdd) = scene_of(robot), states_of(robot, rng)
    if floats:
        scene = scene.moving_base(rng.uniform(-2, 2, (6, STATES)), rng.uniform(-9, 9, (3, STATES)))
    wrenches, form = draw_wrenches(robot, rng), any_form(FLOATING, robot, rng)
    moving, nb = scene.tree.moving, 6 * floats
    row = {j: nb + k for k, j in enumerate(moving)}
    H = inverse_dynamics(scene.loaded(wrenches), q, qd, [0] * robot.n)
    bias = torques(scene, H)
    A = inertia(scene, q)
    if floats:
        A = _full_matrix(scene, q)
        bias = np.concatenate([stack([*H.f[0], *H.n[0]]), bias], -1)
    free = [*range(nb), *(row[j] for j in scene.elastic)]
    rigid = [row[j] for j in scene.rigid]
    qs, qds, qdds = scene.spread(q), scene.spread(qd), scene.spread(qdd)
    springs = {j: _spring(robot, j, qs[j], qds[j]) for j in scene.elastic}
    Aff = A[:, free][:, :, free]
    if len(free) and is_singular(Aff):
        return
    given = stack([qdds[j] for j in scene.rigid])
    known = stack([*[0] * nb, *(springs[j] for j in scene.elastic)])
    coupling = np.einsum("sij,sj->si", A[:, free][:, :, rigid], given)
    xf = np.linalg.solve(Aff, (known - bias[:, free] - coupling)[..., None])[..., 0]
    tau = bias[:, rigid] + np.einsum("sij,sj->si", A[:, rigid][:, :, rigid], given)
    tau = tau + np.einsum("sij,sj->si", A[:, rigid][:, :, free], xf)
    cheap = scene.loaded(wrenches).written(form)
    imposed = {j: qdds[j] for j in scene.rigid}
    found = recursive(cheap, q, qd, free_base=floats, tau={}, qdd=imposed)
    base = [*found.V0d[0], *found.V0d[1]] if floats else []
    by_links = stack([*base, *(found.qdd[j] for j in scene.elastic)])
    condition = float(np.max(np.linalg.cond(Aff))) if len(free) else 1.0
    size = float(np.max(np.abs(xf))) if len(free) else 1.0
    close(by_links, xf, "free accelerations", size * max(1, 1e-6 * condition))
    scale = float(np.max(np.abs(A))) * size * max(1, 1e-6 * condition)
    close(stack([found.tau[j] for j in scene.rigid]), tau, "torques of the rigid joints", scale)


def _spring(robot: Robot, j: int, q: Any, qd: Any) -> Any:
    """Gamma = -k (q - q0) - c qd; without a spring the joint is unactuated."""
    joint = robot.joints[j - 1]
    return -float(joint.stiffness) * (q - float(joint.rest)) - float(joint.damping) * qd
