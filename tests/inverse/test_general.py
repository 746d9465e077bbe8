"""The general method: nothing lost, nothing invented, the same in every language."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from tests.backends.runners import STRICT, checked_run, tool, write
from tests.compare import near
from tests.inverse.general_arms import (
    CHAINS,
    MANSEUR_DOTY_POSE,
    bundled,
    by_search,
    gaps,
    random_chain,
    special_chain,
)

import cardan
from cardan.errors import InputError, ModelError
from cardan.inverse.chain.chain import Chain, NumericChain
from cardan.inverse.general.held import without
from cardan.inverse.general.method import Prepared, found_of, prepared
from cardan.inverse.general.solver import general_solver
from cardan.inverse.geometry import InverseGeometry
from cardan.inverse.poses import poses
from cardan.kernel.linalg import eigenvalues

BUNDLED = ("puma560", "rx90", "ur5", "stanford")
ALL = (*CHAINS, *BUNDLED)
POSES = 300


def numeric_of(name: str) -> NumericChain:
    return bundled(name) if name in BUNDLED else CHAINS[name]


def configurations(numeric: NumericChain, count: int, seed: int = 0) -> np.ndarray:
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, (count, 6))
    q[:, numeric.sigma == 1] *= numeric.size / 8
    return q


def test_eigenvalues_of_random_matrices() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7, 16):
        a = rng.normal(size=(n, n))
        re, im = [0.0] * 24, [0.0] * 24
        assert eigenvalues([float(x) for x in a.reshape(-1)], n, re, im) == 0
        found = np.sort_complex(np.array(re[:n]) + 1j * np.array(im[:n]))
        np.testing.assert_allclose(found, np.sort_complex(np.linalg.eigvals(a)), atol=1e-10)


@pytest.mark.parametrize("name", ALL)
def test_every_pose_gives_its_configuration_back(name: str) -> None:
    numeric = numeric_of(name)
    q = configurations(numeric, POSES)
    T = numeric.pose(q)
    found = found_of(*prepared(numeric, name).run(T))
    assert gaps(numeric, found.q, q).max() < 1e-5
    for k in range(POSES):
        answers = found.q[k, : found.count[k]]
        near(numeric.pose(answers), T[k], absolute=1e-9)
        apart = gaps(numeric, np.repeat(answers[None], len(answers), 0), answers)
        assert apart.max() == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sigma", ["RRRRRR", "RRRPRR", "RPRRRR", "RRRRRP", "PRRRPR"])
def test_random_robots(sigma: str, seed: int) -> None:
    numeric = random_chain(sigma, 100 + seed)
    q = configurations(numeric, 100, seed)
    found = found_of(*prepared(numeric).run(numeric.pose(q)))
    assert gaps(numeric, found.q, q).max() < 1e-5
    assert (found.count % 2 == 0).all()


@pytest.mark.parametrize("seed", [*range(12), 1173, 1623])
def test_special_robots_are_solved_or_refused_with_reason(seed: int) -> None:
    """1173: the order of a, b, c matters; 1623: every elimination is degenerate."""
    numeric = special_chain(seed)
    q = configurations(numeric, 60, seed)
    J = numeric.jacobian(q)
    J[:, :3] /= numeric.size
    smallest = np.linalg.svd(J, compute_uv=False)[:, -1]
    if np.median(smallest) < 1e-9:
        with pytest.raises(ModelError, match="six independent ways"):
            prepared(numeric)
        return
    found = found_of(*prepared(numeric).run(numeric.pose(q)))
    assert gaps(numeric, found.q, q)[smallest > 1e-6].max() < 1e-5


@pytest.mark.parametrize("name", ["RRRRRR", "jaco", "PRRRRR"])
def test_a_double_root_is_found_and_said(name: str) -> None:
    numeric = numeric_of(name)
    rng = np.random.default_rng(1)
    found = []
    while len(found) < 15:
        low, high = configurations(numeric, 2, int(rng.integers(1 << 30)))
        sign = np.linalg.det(numeric.jacobian(low))
        if sign * np.linalg.det(numeric.jacobian(high)) >= 0:
            continue
        for _ in range(90):
            middle = (low + high) / 2
            same = np.linalg.det(numeric.jacobian(middle)) * sign > 0
            low, high = (middle, high) if same else (low, middle)
        found.append(low)
    q = np.array(found)
    answers = found_of(*prepared(numeric).run(numeric.pose(q)))
    assert gaps(numeric, answers.q, q).max() < 1e-3
    assert answers.singular.any(1).all()
    assert (answers.multiplicity.max(1) >= 2).mean() > 0.9


@pytest.mark.parametrize("name", ["RRRRRR", "crx", "manseur-doty", "RPRRPR", "ur5", "puma560"])
def test_the_number_of_answers_is_that_of_a_search(name: str) -> None:
    numeric = numeric_of(name)
    made = prepared(numeric, name)
    T = numeric.pose(configurations(numeric, 2, 5))
    found = found_of(*made.run(T))
    for k, pose in enumerate(T):
        assert found.count[k] == len(by_search(numeric, pose, 1200))


def test_sixteen_real_configurations() -> None:
    numeric = CHAINS["manseur-doty"]
    T = poses(MANSEUR_DOTY_POSE)
    found = found_of(*prepared(numeric).run(T[None]))
    assert found.count[0] == 16
    near(numeric.pose(found.q[0]), T, absolute=1e-9)
    assert not found.singular[0].any()


def test_out_of_reach() -> None:
    for name in ("RRRRRR", "crx", "ur5"):
        numeric = numeric_of(name)
        T = numeric.pose(configurations(numeric, 50))
        T[:, :3, 3] *= 20
        found = found_of(*prepared(numeric, name).run(T))
        assert (found.count == 0).all()
        assert np.isnan(found.q).all()


def test_singular_poses_give_what_exists_and_say_so() -> None:
    numeric = numeric_of("puma560")
    q = configurations(numeric, 20, 3)
    q[:, 2] = np.arctan2(-numeric.r[3], numeric.d[3]) + np.pi / 2  # the arm is nearly stretched
    for k in range(20):  # find where the determinant changes sign, and stand there
        low, high = q[k].copy(), q[k].copy()
        low[2], high[2] = -3.0, 0.2
        sign = np.linalg.det(numeric.jacobian(low))
        for _ in range(80):
            middle = (low + high) / 2
            if np.linalg.det(numeric.jacobian(middle)) * sign > 0:
                low = middle
            else:
                high = middle
        q[k] = low
    singular = np.abs(np.linalg.det(numeric.jacobian(q))) < 1e-12
    assert singular.sum() > 10
    found = found_of(*prepared(numeric).run(numeric.pose(q[singular])))
    assert (gaps(numeric, found.q, q[singular]) < 2e-3).all()
    assert found.singular.any(1).all()
    assert (found.multiplicity[found.singular] >= 2).all()


def test_half_turns() -> None:
    """tan(q/2) is infinite there."""
    numeric = CHAINS["RRRRRR"]
    q = np.array([[np.pi if k >> j & 1 else 0.3 * j - 1 for j in range(6)] for k in range(64)])
    found = found_of(*prepared(numeric).run(numeric.pose(q)))
    assert gaps(numeric, found.q, q).max() < 1e-5


def test_a_held_joint() -> None:
    numeric = Chain.of(cardan.load("iiwa14")).numeric()
    rng = np.random.default_rng(2)
    q = rng.uniform(-2, 2, (5, 7))
    for joint in range(7):
        six = without(numeric, joint, 0.4)
        q[:, joint] = 0.4
        rest = np.delete(q, joint, 1)
        np.testing.assert_allclose(six.pose(rest), numeric.pose(q), atol=1e-12)
    solver = general_solver(Chain.of(cardan.load("panda")), (6,))
    numeric = solver.chain.numeric()
    q[:, 6] = [0.1, 0.2, 0.1, -1.0, 0.5]
    found = solver.solve(numeric.pose(q), q[:, 6:], None, numeric, None)
    assert gaps(numeric, found.q, q).max() < 1e-5
    assert "given" in solver.equations()


def test_threads_change_nothing() -> None:
    made = prepared(CHAINS["RRRRRR"])
    T = made.numeric.pose(configurations(made.numeric, 40))
    np.testing.assert_array_equal(made.run(T, 2)[0], made.run(T)[0])


def test_what_it_does_not_take() -> None:
    chain = Chain.of(cardan.load("iiwa14"))
    with pytest.raises(ModelError, match="six joints"):
        general_solver(chain)
    flat = CHAINS["RRRRRR"]
    planar = NumericChain(flat.sigma, 0 * flat.alpha, flat.d, flat.theta, flat.r, flat.base,
                          flat.tool, flat.lower, flat.upper)  # fmt: skip
    with pytest.raises(ModelError, match="inverse_kinematics"):
        prepared(planar, "planar")


# the generated code


def ready(name: str) -> tuple[InverseGeometry, Prepared, np.ndarray]:
    ik = cardan.model(cardan.load(name), "inverse-geometry", method="general")
    made = ik.solver.prepared()
    return ik, made, made.numeric.pose(configurations(made.numeric, 20, 4))


def agree(found: list[tuple[np.ndarray, np.ndarray]], made: Prepared, T: np.ndarray) -> None:
    q, info = made.run(T)
    for k, (other, note) in enumerate(found):
        count = int(note[0])
        assert count == info[k, 0]
        assert count > 0
        mine, theirs = q[k, :count], np.asarray(other).reshape(16, 6)[:count]
        distance = gaps(made.numeric, np.repeat(mine[None], count, 0), theirs)
        assert distance.max() < 1e-9


def test_emitted_c(tmp_path: Path) -> None:
    ik, made, T = ready("ur5")
    path = write(tmp_path, "ik.c", ik.emit("c", "ur5_ik"))
    library = tmp_path / "ik.so"
    checked_run([tool("gcc"), "-std=c99", *STRICT, "-O1", "-shared", "-fPIC", path, "-o", library,
                 "-lm"])  # fmt: skip
    function = ctypes.CDLL(str(library)).ur5_ik_all
    found = []
    for pose in T:
        flat, q, info = np.ascontiguousarray(pose), np.zeros(96), np.zeros(50)
        function(*(x.ctypes.data_as(ctypes.c_void_p) for x in (flat, q, info)))
        found.append((q, info))
    agree(found, made, T)


def test_emitted_cpp(tmp_path: Path) -> None:
    ik, made, T = ready("ur5")
    text = ik.emit("cpp", "ur5_ik")
    text += """
#include <array>
#include <cstdio>
int main() {
    std::array<double, 16> T{};
    std::array<double, 96> q{};
    std::array<double, 50> notes{};
    while (std::scanf("%lf", &T[0]) == 1) {
        for (std::size_t k = 1; k < 16; ++k)
            if (std::scanf("%lf", &T[k]) != 1) return 1;
        ur5_ik_all(T.data(), q.data(), notes.data());
        for (double v : q) std::printf("%.17g ", v);
        std::printf("%.17g\\n", notes[0]);
    }
}
"""
    path = write(tmp_path, "ik.cpp", text)
    checked_run([tool("g++"), "-std=c++17", *STRICT, path, "-o", tmp_path / "ik"])
    given = "\n".join(" ".join(map(repr, pose.reshape(-1).tolist())) for pose in T)
    lines = checked_run([tmp_path / "ik"], input=given).splitlines()
    rows = [np.array(line.split(), float) for line in lines]
    agree([(row[:96], row[96:]) for row in rows], made, T)


def test_emitted_python(tmp_path: Path) -> None:
    ik, made, T = ready("ur5")
    path = write(tmp_path, "ik.py", ik.emit("python", "ur5_ik"))
    spec = importlib.util.spec_from_file_location("emitted_ik", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = [np.array(module.ur5_ik(pose)) for pose in T[:2]]
    wide = [np.pad(x, ((0, 16 - len(x)), (0, 0))) for x in rows]
    agree([(x, np.array([len(y)])) for x, y in zip(wide, rows, strict=True)], made, T[:2])


def test_emitted_matlab(tmp_path: Path) -> None:
    ik, made, T = ready("ur5")
    write(tmp_path, "ur5_ik.m", ik.emit("matlab", "ur5_ik"))
    rows = ";".join(" ".join(map(repr, row)) for row in T[0].tolist())
    script = f"q = ur5_ik([{rows}]); k = size(q, 1); q(end + 1:16, :) = 0;"
    script += " printf('%.17g ', q.', k);"
    octave = [tool("octave-cli"), "--quiet", "--no-init-file", "--eval", script]
    row = np.array(checked_run(octave, cwd=tmp_path).split(), float)
    agree([(row[:96], row[96:])], made, T[:1])


def test_equations() -> None:
    ik, _, _ = ready("ur5")
    text = ik.equations()
    assert "12 monomials" in text
    assert "eigenvalue problem" in text
    assert r"\begin{enumerate}" in ik.equations("latex")


def test_equations_of_symbols_leave_no_values_behind() -> None:
    ik = cardan.model(cardan.load("general6r"), "inverse-geometry")
    assert "eigenvalue problem 16x16" in ik.equations()
    with pytest.raises(InputError, match="symbols without a value"):
        ik.emit("c")


@pytest.mark.parametrize("seed", range(3))
def test_the_polynomial_has_the_configurations_for_roots(seed: int) -> None:
    """Degree 16 of a general arm; where it is real and zero there is a configuration, and only
    there."""
    robot = cardan.load("general6r")
    rng = np.random.default_rng(seed)
    robot = robot.with_values({name: rng.uniform(0.2, 1.2) for name in robot.parameters})
    ik = cardan.model(robot, "inverse-geometry", method="general")
    T = cardan.model(robot, "transform").evaluate(q=rng.uniform(-2, 2, 6))
    found = ik.polynomial(T)
    j = robot.variables.index(found.joint)
    roots = np.polynomial.polynomial.polyroots(found.coefficients)
    real = np.sort(roots[np.abs(roots.imag) < 1e-6 * (1 + np.abs(roots))].real)
    assert found.degree == 16
    np.testing.assert_allclose(np.sort(np.tan(ik.solve(T)[:, j] / 2)), real, rtol=1e-5, atol=1e-6)


def test_an_arm_with_a_wrist_has_the_polynomial_too() -> None:
    robot = cardan.load("rx90")
    robot = robot.with_values(dict.fromkeys(robot.parameters, 0.5))
    ik = cardan.model(robot, "inverse-geometry", method="general")
    T = cardan.model(robot, "transform").evaluate(q=[0.3, -0.5, 0.7, 0.4, 0.9, -0.6])
    found = ik.polynomial(T)
    x = np.tan(ik.solve(T)[:, robot.variables.index(found.joint)] / 2)
    value = np.polynomial.polynomial.polyval(x, found.coefficients)
    assert len(x) == 8
    assert (np.abs(value) < 1e-6 * np.maximum(1, np.abs(x)) ** found.degree).all()


def test_poses_without_a_polynomial_say_so() -> None:
    with pytest.raises(ModelError, match="method='general'"):
        cardan.model(cardan.load("ur5"), "inverse-geometry").polynomial(np.eye(4))
    robot = cardan.load("rx90")
    robot = robot.with_values(dict.fromkeys(robot.parameters, 0.5))
    ik = cardan.model(robot, "inverse-geometry", method="general")
    with pytest.raises(ModelError, match="degenerate"):
        ik.polynomial(np.eye(4))
    with pytest.raises(InputError, match="one pose"):
        ik.polynomial(np.stack([np.eye(4)] * 2))
