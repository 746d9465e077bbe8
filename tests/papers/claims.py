"""What the five papers describe, place by place: the call that does it, and what shows that it is
right. docs/make_papers.py writes docs/papers.md from this table; test_claims.py runs it.

A check is a function that gives the largest relative error against an independent route (the oracle
of tests/loops: series in time and virtual power), the name of a test that has one, or words: why
nothing can be compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from tests.loops.oracle import Oracle
from tests.random_robots import random_robot, states

import cardan
from cardan.describe.robot import DRIVE, Robot

__all__ = ["CLAIMS", "PAPERS", "Claim"]

Array = np.ndarray
PAPERS = {
    "KC97": "Khalil & Creusot, SYMORO+: a system for the symbolic modelling of robots, 1997",
    "K10": "Khalil, Dynamic modeling of robots using recursive Newton-Euler techniques, 2010",
    "BK13": "Briot & Khalil, Recursive and symbolic calculation of the elastodynamic model of"
    " flexible parallel robots, 2013",
    "B23": "Bouri, Dynamic modelling of robots, 2023",
    "C23": "Chen, Newton-Euler dynamics (lecture), 2023",
}


@dataclass(frozen=True)
class Claim:
    """A place of a paper; call: what a user types; bound: the largest error allowed."""

    paper: str
    place: str
    says: str
    call: str
    check: Callable[[], float] | str
    bound: float = 0


# --- robots, states, and the oracle's side ---------------------------------------------------


@cache
def trees() -> tuple[Robot, ...]:
    """Random trees of five links, turning and sliding; every other one is a chain."""
    return tuple(
        random_robot(seed, 5, tree=seed % 2 == 0, wrenches=False, base_motion=False)
        for seed in range(2)
    )


def state(robot: Robot) -> dict[str, Array]:
    return states(robot.n, 3)


def oracle(robot: Robot) -> Oracle:
    return Oracle(robot, {})


def error(ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the largest value or 1."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def over_trees(one: Callable[[Robot, dict[str, Array]], tuple[Any, Any]]) -> Callable[[], float]:
    """The largest error of a comparison on the random trees."""
    return lambda: max(error(*one(robot, state(robot))) for robot in trees())


def value(robot: Robot, model: str, x: dict[str, Array], **options: Any) -> Any:
    program = cardan.model(robot, model, **options)
    return program.evaluate(**{name: x[name] for name in program.inputs})


# --- [KC97] ----------------------------------------------------------------------------------


def transform(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    zero = np.zeros_like(x["q"])
    ours = [value(robot, "transform", x, frame=j) for j in range(1, len(robot.links) + 1)]
    poses = oracle(robot).poses(x["q"], zero, zero)[1 : len(robot.links) + 1]
    return ours, [T[:, 0] for T in poses]


def jacobian(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    n = len(robot.links)
    zero = np.zeros_like(x["q"])
    P = oracle(robot).poses(x["q"], zero, zero)[n][:, 0, :3, 3]
    twists = oracle(robot).twists(x["q"])[n - 1].transpose(1, 2, 0)  # about O_0
    moved = twists.copy()
    moved[:, :3] += np.cross(twists[:, 3:], P[..., None], axis=1)
    return value(robot, "jacobian", x, frame=n, projection=0), moved


def velocities(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    bodies = oracle(robot).bodies(oracle(robot).poses(x["q"], x["qd"], x["qdd"]))
    ours = [value(robot, "velocities", x), value(robot, "accelerations", x)]
    V = [np.concatenate([in_link(R, v), in_link(R, w)], -1) for R, _, v, w, _, _ in bodies]
    Vd = [np.concatenate([in_link(R, a), in_link(R, wd)], -1) for R, _, _, _, a, wd in bodies]
    return ours, [np.stack(V, 1), np.stack(Vd, 1)]


def in_link(R: Array, v: Array) -> Array:
    return np.einsum("nji,nj->ni", R, v)


def jdot_qdot(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    n, rest = len(robot.links), np.zeros_like(x["qd"])
    *_, a, wd = oracle(robot).bodies(oracle(robot).poses(x["q"], x["qd"], rest))[n - 1]
    ours = value(robot, "jdot-qdot", x, frame=n, projection=0)
    return ours, np.concatenate([a, wd], -1)


def inverse_dynamics(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    torques = oracle(robot).torques(x["q"], x["qd"], x["qdd"])
    ways = [value(robot, "inverse-dynamics", x, **options)
            for options in ({}, {"method": "lagrange"}, {"base_parameters": True})]  # fmt: skip
    return ways, [torques] * 3


def direct_dynamics(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    y = {**x, "tau": oracle(robot).torques(x["q"], x["qd"], x["qdd"])}
    ways = [value(robot, "direct-dynamics", y, **options)
            for options in ({}, {"method": "inertia-matrix"})]  # fmt: skip
    return ways, [x["qdd"]] * 2


def lagrange(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """A, the bias H (b and Coriolis terms, gravity, friction) and gravity."""
    zero = np.zeros_like(x["q"])
    side = oracle(robot)
    ours = [value(robot, "inertia-matrix", x).reshape(3, -1), value(robot, "bias", x),
            value(robot, "gravity", x)]  # fmt: skip
    theirs = [side.mass(x["q"]).reshape(3, -1), side.torques(x["q"], x["qd"], zero),
              side.torques(x["q"], zero, zero)]  # fmt: skip
    return np.concatenate(ours, 1), np.concatenate(theirs, 1)


def regressor(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    program = cardan.model(robot, "regressor")
    D = program.evaluate(**{name: x[name] for name in program.inputs})
    K = np.array([parameter(robot, name) for name in program.columns])
    return D @ K, oracle(robot).torques(x["q"], x["qd"], x["qdd"])


def parameter(robot: Robot, name: str) -> float:
    key, j = name.rstrip("0123456789"), int(name[len(name.rstrip("0123456789")) :]) - 1
    return float(getattr(robot.joints[j] if key in DRIVE else robot.links[j], key))


def loop_kinematics() -> float:
    """W and psi of the five-bar, the SR400 and the Delta: qd, qdd of the passive joints."""
    worst = 0.0
    for robot, q in closed():
        side = oracle(robot)
        rng = np.random.default_rng(1)
        count = len(side.active)
        qd_a, qdd_a = rng.uniform(-1, 1, (2, 1, count))
        qd, qdd = side.motion(q, qd_a, qdd_a)
        passive = [k for k in range(q.shape[1]) if k not in side.active]
        program = cardan.model(robot, "loop-kinematics")
        W, psi = program.evaluate(q=q, qd=qd_a)
        ours = [np.einsum("nij,nj->ni", W, qd_a), np.einsum("nij,nj->ni", W, qdd_a) + psi]
        worst = max(worst, error(ours, [qd[:, passive], qdd[:, passive]]))
    return worst


def closed_dynamics() -> float:
    """Torques of the active joints, and the accelerations that they give."""
    worst = 0.0
    for robot, q in closed():
        side = oracle(robot)
        qd, qdd = np.random.default_rng(2).uniform(-1, 1, (2, 1, len(side.active)))
        tau = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=qdd)
        back = cardan.model(robot, "direct-dynamics").evaluate(q=q, qd=qd, tau=tau)
        worst = max(worst, error(tau, side.inverse(q, qd, qdd)), error(back, qdd))
    return worst


@cache
def closed() -> tuple[tuple[Robot, Array], ...]:
    """Closed-loop robots with numbers, each in an assembly."""
    placed = []
    for name, q_a in (("fivebar", [2.2, 0.9]), ("sr400", [0.1, 0.3, 0.2, 0.4, 0.1, -0.2]),
                      ("delta", [0.3, 0.2, 0.1])):  # fmt: skip
        robot = cardan.load(name)
        rng = np.random.default_rng(3)
        robot = robot.with_values({x: round(rng.uniform(0.5, 1.5), 3) for x in robot.parameters})
        placed.append((robot, cardan.model(robot, "loop-geometry").solve(q_a)[:1]))
    return tuple(placed)


def inverse_geometry() -> float:
    """The joint positions that a pose comes from are among its configurations, by each method."""
    worst = 0.0
    q = np.array([0.3, -0.6, 0.4, 0.5, 0.7, -0.2])
    for name, method in (("puma560-numeric", "paul"), ("puma560-numeric", "pieper"),
                         ("puma560-numeric", "general"), ("general6r", "general")):  # fmt: skip
        robot = cardan.load(name)
        rng = np.random.default_rng(4)
        robot = robot.with_values({x: round(rng.uniform(0.2, 1), 2) for x in robot.parameters})
        T = cardan.model(robot, "transform").evaluate(q=q)
        every = cardan.model(robot, "inverse-geometry", method=method).solve(T)
        gap = np.abs(np.angle(np.exp(1j * (every - q)))).max(axis=1).min()
        worst = max(worst, float(gap))
    return worst


def determinant() -> float:
    """L1 L2 sin q2 at the tip of a planar 2R."""
    robot = cardan.load("planar2r").with_values({"L1": 0.7})
    program = cardan.model(robot, "jacobian-inverse", tool=[0.4, 0, 0])
    results = program.evaluate(q=[0.3, 0.9])
    return error(results[list(program.outputs).index("det")], 0.7 * 0.4 * np.sin(0.9))


def operations() -> float:
    """Products and sums of a general 6R over the bound 92 n - 127, 81 n - 117."""
    cost = cardan.model(cardan.load("general6r"), "inverse-dynamics").cost
    return max(cost.mul / (92 * 6 - 127), cost.add / (81 * 6 - 117))


LOST = "not comparable: the scan has lost it"
NO_NUMBER = "a definition or a discussion, without a number to compare"
CLAIMS = (
    Claim("KC97", "1, table 1, figure 1", "the menus", "`cardan models`, `cardan serve`",
          "tests/app/test_cli.py::test_models_are_those_of_the_catalogue"),
    Claim("KC97", "2.1, figures 2, 3", "frames of trees and loops; .par files",
          "`cardan show sr400`, `cardan convert sr400 sr400.par`",
          "tests/describe/test_par.py::test_public_files_load_and_write_back"),
    Claim("KC97", "2.2, 2.3", "inertias, rotors, friction, wrenches, base motion, gravity",
          "fields of the [format](format.md)",
          "tests/laws/test_moving_base.py::test_every_model_takes_the_motion_or_refuses", 1e-9),
    Claim("KC97", "3.1, (1a), (1b)", "transform of any frame in any frame",
          "`cardan.model(robot, \"transform\", frame=j)`", over_trees(transform), 1e-13),
    Claim("KC97", "3.1, closed loops", "transform of the motorised joints alone",
          "`cardan.model(robot, \"transform\", assembly=0)`",
          "tests/loops/test_formulas.py::test_models_of_the_active_joints", 1e-9),
    Claim("KC97", "3.2", "fast geometric model: few operations",
          "`cardan.model(robot, \"transform\").cost`",
          "tests/papers/test_anchor_counts.py::test_geometric_models"),
    Claim("KC97", "3.3", "inverse geometry: Paul, Pieper, general",
          "`cardan.model(robot, \"inverse-geometry\")`, `cardan ik`", inverse_geometry, 1e-9),
    Claim("KC97", "3.3, closed loops", "the path to the end effector, then the loops",
          "`cardan ik sr400 --pose ...`",
          "tests/loops/test_inverse.py::test_no_configuration_is_lost", 1e-6),
    Claim("KC97", "3.4, (2)", "loop equations solved one after the other",
          "`cardan loops sr400 --to latex`",
          "tests/loops/test_formulas.py::test_branches_are_the_assemblies", 1e-6),
    Claim("KC97", "4.1, (3)-(5)", "Jacobian, Renaud's three factors",
          "`cardan.model(robot, \"jacobian\", factors=True)`", over_trees(jacobian), 1e-13),
    Claim("KC97", "4.2, 4.3, (6a)-(10)", "velocities and accelerations of the links",
          "`\"velocities\"`, `\"accelerations\"`", over_trees(velocities), 1e-12),
    Claim("KC97", "4.4", "Jdot qdot: (8)-(10) without qdd", "`\"jdot-qdot\"`",
          over_trees(jdot_qdot), 1e-12),
    Claim("KC97", "4.5, (11)-(14)", "kinematic constraints: W, psi", "`\"loop-kinematics\"`",
          loop_kinematics, 1e-11),
    Claim("KC97", "4.6", "inverse Jacobian, determinant, singular configurations",
          "`\"jacobian-inverse\"`, `cardan singularities`", determinant, 1e-13),
    Claim("KC97", "5.1, (15)-(20)", "inverse dynamics by Newton-Euler",
          "`\"inverse-dynamics\"`; by Lagrange, in base parameters",
          over_trees(inverse_dynamics), 1e-12),
    Claim("KC97", "5.1", "at most 92 n - 127 products, 81 n - 117 sums: their share",
          "`cardan count general6r`", operations, 1.0),
    Claim("KC97", "5.2, (21), (22)", "dynamics of closed loops",
          "`\"inverse-dynamics\"` of five-bar, SR400, Delta", closed_dynamics, 1e-10),
    Claim("KC97", "5.3, 5.3.1, 5.3.2, (23)-(38)", "A, H, Coriolis and gravity vectors",
          "`\"inertia-matrix\"`, `\"bias\"`, `\"gravity\"`", over_trees(lagrange), 1e-12),
    Claim("KC97", "table 2", "operations of the PUMA: inverse dynamics, H, A, direct dynamics",
          "`cardan count puma560`", LOST),
    Claim("KC97", "5.4", "direct dynamics, without and with the inertia matrix",
          "`\"direct-dynamics\"`", over_trees(direct_dynamics), 1e-9),
    Claim("KC97", "5.5", "Lagrange: Christoffel symbols, Renaud",
          "`\"lagrange\"`, `\"coriolis-matrix\"`",
          "tests/laws/test_newton_euler_lagrange.py::test_bundled_robots", 1e-12),
    Claim("KC97", "6.1, (39)", "the model linear in its parameters", "`\"regressor\"`",
          over_trees(regressor), 1e-12),
    Claim("KC97", "6.2, (40)-(44)", "filtered dynamic model", "`\"filtered-regressor\"`",
          "tests/laws/laws.py::law_filtered_regressor"),
    Claim("KC97", "6.2, (45), (46)", "the filters F and F'",
          "`[filter] kind = \"kc97\"` of a recipe",
          "tests/identify/test_synthetic.py::test_the_filters_of_kc97", 2e-4),
    Claim("KC97", "6.3, (47)-(54)", "energy model", "`\"energy-regressor\"`",
          "tests/laws/laws.py::law_energy_regressor"),
    Claim("KC97", "6.1 to 6.3 in use", "parameters from recordings", "`cardan identify`",
          "tests/identify/test_synthetic.py::test_models_without_accelerations_find_the_same"),
    Claim("KC97", "6.4", "base parameters, and the robot in them",
          "`cardan generate rx90 base-parameters -o rx90b.toml`",
          "tests/laws/test_base_parameters.py::test_the_robot_of_the_base_parameters_is_written"),
    Claim("KC97", "7", "Fortran, C, Matlab; Mathematica and Maple",
          "`cardan generate ... --to fortran`", "tests/backends/test_c.py::test_bundled_robots",
          1e-12),
    Claim("KC97", "8", "flexible robots, walking robots", "[flexible links](flexible.md),"
          " `[[contact]]`", "tests/use/test_interactions.py::test_wrenches", 1e-12),
    Claim("K10", "1, 2.1, (1), figure 1", "trees", "`cardan show`", over_trees(transform), 1e-13),
    Claim("K10", "2.2, (2)-(5), figure 2", "closed loops, active and passive joints",
          "`\"loop-geometry\"`, `\"loop-kinematics\"`", loop_kinematics, 1e-11),
    Claim("K10", "3.1, (6)-(11)", "Lagrange's form; Newton-Euler of a body",
          "`\"inertia-matrix\"`, `\"bias\"`", over_trees(lagrange), 1e-12),
    Claim("K10", "3.2, (12)-(31), figure 3", "inverse dynamics, reactions",
          "`\"inverse-dynamics\"`, `\"reactions\"`", over_trees(inverse_dynamics), 1e-12),
    Claim("K10", "3.3, 3.3.1, 3.3.2, (32)-(54)", "direct dynamics, two ways",
          "`\"direct-dynamics\"`", over_trees(direct_dynamics), 1e-9),
    Claim("K10", "4, (55)-(58)", "closed loops", "`\"inverse-dynamics\"`", closed_dynamics, 1e-10),
    Claim("K10", "5, (59)-(66), figure 4", "parallel robots leg by leg",
          "`\"platform-inverse-dynamics\"`, `\"platform-direct-dynamics\"`",
          "tests/loops/test_parallel.py::test_leg_by_leg_is_the_general_route", 1e-7),
    Claim("K10", "5", "direct geometry of the Gough-Stewart platform",
          "`cardan loops stewart --q ...`",
          "tests/loops/test_hexapod.py::test_forty_real_poses_of_dietmaier", 1e-12),
    Claim("K10", "6.1, 6.2, 6.3, (67)-(82)", "elastic joints", "`stiffness = ...`",
          "tests/laws/laws.py::law_elastic_joints_by_partition"),
    Claim("K10", "7.1, (83)-(88)", "moving base: general form, A11 = J0 of the whole",
          "`\"inertia-matrix\"`, `\"bias\"` of a floating base",
          "tests/laws/laws.py::law_floating_base_is_free"),
    Claim("K10", "7.1", "the base as a virtual link", "two ways of describing it",
          "tests/use/test_virtual_base.py::test_both_ways_of_describing_a_base_move_alike", 1e-8),
    Claim("K10", "7.2, (89)-(100)", "moving base: inverse dynamics",
          "`base = \"floating\"`, `--floating`",
          "tests/laws/test_floating_models.py::test_inverse_dynamics_of_a_given_base_vs_pinocchio"),
    Claim("K10", "7.3, (101)-(112)", "moving base: direct dynamics", "`\"direct-dynamics\"`",
          "tests/laws/laws.py::law_floating_base_is_free"),
    Claim("K10", "7, wheels", "rolling without slipping", "`[[wheel]]`, `unicycle`, `car`",
          "tests/loops/test_wheels.py::test_by_hand", 1e-11),
    Claim("K10", "7, interactions", "ground, drag, thrust", "fields of the [format](format.md)",
          "tests/use/test_interactions.py::test_wrenches", 1e-12),
    Claim("K10", "8, flexible links", "links that bend", "[flexible links](flexible.md)",
          "tests/flexible/test_trees.py::test_forces_are_those_of_lagrange", 1e-8),
    Claim("K10", "8, hybrids", "parallel modules in series", "several `[[platform]]`",
          "tests/loops/test_modules.py::test_models_leg_by_leg_are_those_of_the_loops"),
    Claim("K10", "8", "continuous robots (eel as a rod)", "none",
          "not done: a chain of links or of flexible links stands for a rod"),
    Claim("BK13", "I", "the literature", "", NO_NUMBER),
    Claim("BK13", "II.A, II.B, (1)-(4), figure 2", "a flexible free body", "`[link.flexible]`",
          "tests/flexible/test_beams.py::test_integrals_are_those_of_a_cloud_of_points", 1e-9),
    Claim("BK13", "III.A, III.B, III.C, III.D, (5)-(26), figure 1", "the virtual tree",
          "the models of [flexible links](flexible.md) of a tree",
          "tests/flexible/test_trees.py::test_forces_are_those_of_lagrange", 1e-8),
    Claim("BK13", "IV.A, (27)-(30)", "virtual powers of the closed robot",
          "`\"inverse-dynamics\"`, `\"direct-dynamics\"` of `prrrp`",
          "tests/flexible/test_prrrp.py::test_both_routes_of_the_loops_agree", 1e-9),
    Claim("BK13", "IV.B, IV.C, (31)-(37)", "velocities and accelerations that follow: J, b",
          "`\"loop-kinematics\"` of `prrrp`; `solve(q_a, q_e=...)` of `\"loop-geometry\"`",
          "tests/flexible/test_loop_models.py::"
          "test_loop_kinematics_are_derivatives_of_the_loop_geometry", 1e-4),
    Claim("BK13", "IV.D, (38)", "M and c of the closed robot",
          "`\"inertia-matrix\"`, `\"bias\"`, `\"gravity\"`, `\"reactions\"` of `prrrp`",
          "tests/flexible/test_loop_models.py::test_equations_of_lagrange", 1e-6),
    Claim("BK13", "IV.E", "intermediate variables; what has no effect is left out",
          "`cardan generate prrrp direct-dynamics`",
          "tests/flexible/test_prrrp.py::test_c_code_of_the_model", 1e-9),
    Claim("BK13", "V, table I, figure 3", "the PRRRP robot, cut at P; as the table has it, too",
          "`cardan show prrrp`",
          "tests/flexible/test_loop_models.py::test_the_cut_may_be_elsewhere", 1e-9),
    Claim("BK13", "table II", "natural frequencies: 30 entries",
          "`cardan modes prrrp`", "tests/flexible/test_prrrp.py::test_table_2", 2e-5),
    Claim("BK13", "V", "611 products, 521 sums",
          "`cardan count prrrp`",
          "tests/flexible/test_prrrp.py::test_fewer_operations_than_the_paper"),
    Claim("BK13", "figure 4", "velocity of the end effector", "`cardan.simulate`",
          "not comparable: the scan has no curve; the same motion is compared with many elements in"
          " tests/flexible/test_motion.py"),
    Claim("BK13", "VI", "overconstrained loops, elastic joints in them", "the same models",
          "tests/flexible/test_loops.py::test_an_overconstrained_loop_obeys_its_constraints",
          1e-4),
    Claim("B23", "3.1, 3.2, 3.2.1, 3.2.1.1, (3.1), (3.2), figure 3.1", "laws of motion", "",
          NO_NUMBER),
    Claim("B23", "3.2.1.2, (3.3)", "a pendulum with quadratic friction", "`FQ`",
          "tests/laws/test_friction.py::test_inverse_and_direct_dynamics"),
    Claim("B23", "3.2.1.3, figure 3.2", "equations of state, transfer functions",
          "`\"state-space\"`, `cardan linearise --transfer`",
          "tests/papers/test_control_b23.py::"
          "test_formulas_are_the_numbers_of_the_linear_system", 1e-9),
    Claim("B23", "3.2.2, 3.2.2.1, 3.2.2.2, (3.4)-(3.7), figure 3.3",
          "one axis: model, PD, eigenvalues", "`cardan.control.pd`, `cardan.linearise`",
          "tests/use/test_control.py::test_eigenvalues_of_one_arm_are_those_of_b23", 1e-12),
    Claim("B23", "3.2.3, 3.2.3.1, 3.2.3.2, 3.2.4, (3.8), (3.9), figures 3.4 to 3.6",
          "forward and inverse models", "`cardan.simulate`, `cardan.torques`",
          "tests/use/test_simulate.py::test_the_solvers_of_scipy_agree", 1e-6),
    Claim("B23", "figure 3.7", "torques of a Delta on a pick-and-place cycle",
          "`cardan torques delta`", "not comparable: the curves are not in the text; a closed robot"
          " on such a cycle is in tests/use/test_torques.py"),
    Claim("B23", "3.3, (3.10)", "the parts of the torque, with friction and springs",
          "`cardan torques`",
          "tests/use/test_torques.py::test_contributions_add_up_on_random_robots"),
    Claim("B23", "3.3.1, (3.11)", "reduced models, tables", "`cardan reduce`, `cardan tabulate`",
          "tests/use/test_reduce.py::test_tables_converge_with_their_order", 1e-4),
    Claim("B23", "3.3.1, control", "PD, PID, then dynamic control, of the inertia alone at first",
          "`cardan.control.pid`, `feedforward(parts=\"inertia\")`, `cardan control`",
          "tests/use/test_control.py::test_feedforward_is_the_torque_of_the_reference", 1e-10),
    Claim("B23", "3.3.2, 3.4, 3.4.1, (3.12)-(3.23), figure 3.8", "Lagrange: A, C, G by formulas",
          "`cardan.model(robot, \"lagrange\")`",
          "tests/papers/test_textbooks.py::test_bundled_two_links"),
    Claim("B23", "3.4.2, (3.24)-(3.28)", "what the terms mean; a force at the tool",
          "`\"coriolis-matrix\"`, `\"gravity\"`, `f_e=True`", over_trees(lagrange), 1e-12),
    Claim("B23", "3.4.3", "the method in six steps", "`cardan sheet`", NO_NUMBER),
    Claim("B23", "3.4.4", "exercise: two Cartesian axes, state equations, transfer functions",
          "`cardan.control.transfer.transfer_functions`",
          "tests/papers/test_control_b23.py::test_the_cartesian_robot_of_exercise_3_4_4", 1e-14),
    Claim("B23", "3.5, 3.5.1, (3.29)-(3.32), figure 3.9", "Newton-Euler; the same exercise",
          "`\"inverse-dynamics\"`", over_trees(inverse_dynamics), 1e-12),
    Claim("B23", "3.6", "both approaches give the same",
          "`\"inverse-dynamics\"` with `method=\"lagrange\"`", over_trees(inverse_dynamics), 1e-12),
    Claim("B23", "3.7", "friction and limits of motors, cyclic variations of their torque",
          "`motor` and friction of the [format](format.md), `cardan torques`",
          "tests/use/test_motors.py::test_gear_and_cogging_by_hand", 1e-10),
    Claim("B23", "3.8", "a priori torque with a PID", "`cardan.control.feedforward`",
          "tests/use/test_control.py::test_feedforward_is_the_torque_of_the_reference", 1e-10),
    Claim("C23", "comparison of two methods, vector in a moving frame", "definitions",
          "`\"velocities\"`, `\"accelerations\"`", over_trees(velocities), 1e-12),
    Claim("C23", "Newton-Euler equations, forward and backward recursion, algorithm",
          "Newton-Euler with viscous friction", "`\"inverse-dynamics\"`",
          over_trees(inverse_dynamics), 1e-12),
    Claim("C23", "output", "with and without gravity; a column of M; momentum",
          "`\"inverse-dynamics\"`, `\"inertia-matrix\"`, `\"generalized-momentum\"`",
          over_trees(lagrange), 1e-12),
    Claim("C23", "example: planar 2R, quintic", "torques of two rods, by contributions",
          "`cardan.torques`", "tests/use/test_torques.py::test_the_2r_of_c23", 1e-10),
    Claim("C23", "figures of the example", "curves", "`cardan torques`",
          "not comparable: the curves are not in the text, nor are the lengths (1 m here)"),
)  # fmt: skip
