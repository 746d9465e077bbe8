"""Base parameters: as few as the rank of the regressor, and the same torques, on hard robots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.compare import near
from tests.laws.__main__ import check_base
from tests.laws.base import draw_base, observations, observed_rank
from tests.laws.draw import close, scene_of
from tests.laws.laws import parameters
from tests.random_robots import random_robot, random_values

import cardan
from cardan.build.base import base_parameters
from cardan.describe.robot import Joint, Link, Robot
from cardan.describe.values.expression import Value
from cardan.describe.values.parser import parse
from cardan.describe.values.polynomial import collected
from cardan.models.regressor import columns

ROBOTS, CHUNK = 150, 10


@pytest.mark.parametrize("first", range(0, ROBOTS, CHUNK))
def test_random_robots(first: int) -> None:
    """All 2,000: python -m tests.laws --base 2000."""
    faults = [found for seed in range(first, first + CHUNK) for found in check_base(seed)]
    assert not [(seed, fault) for seed, _, fault, _ in faults if fault]


def test_the_sample_is_hard() -> None:
    robots = [draw_base(seed) for seed in range(ROBOTS)]
    assert {robot.joints[0].sigma for robot in robots} == {0, 1, 2}
    assert sum(all(joint.sigma == 1 for joint in robot.joints) for robot in robots) > 3
    assert sum(not any(map(float, robot.gravity)) for robot in robots) > 10
    assert sum([j.antecedent for j in robot.joints].count(0) > 1 for robot in robots) > 20
    assert {robot.base.kind for robot in robots} == {"fixed", "mobile"}


@pytest.mark.parametrize("seed", range(30))
def test_robots_with_symbols(seed: int) -> None:
    """Formulas hold for any values of lengths, angles and inertias, not only for one."""
    robot = random_robot(3000 + seed, 2 + seed % 5, symbolic=True, wrenches=False)
    found = base_parameters(robot)
    for trial in range(3):
        values = random_values(robot, trial)
        full = robot.with_values(values)
        carried = found.robot.with_values({k: values[k] for k in found.robot.parameters})
        wanted = columns(scene_of(full), drives=("IA",))
        D = observations(full, np.random.default_rng(trial), wanted)
        K, K_base = parameters(full, wanted), parameters(carried, wanted)
        close(D @ K_base, D @ K, "torques", float(np.max(np.abs(D) @ np.abs(K))))
        rank, _ = observed_rank(D)
        assert len(found.kept) == rank or any("is kept" in remark for remark in found.remarks)


def expected(text: str, robot: Robot) -> Value:
    return collected(parse(text), set(robot.parameters))


def test_rx90_regroups_as_published() -> None:
    """W. Khalil, E. Dombre, Modeling, Identification and Control of Robots, table 9.4 (with the
    rotors of joints 1 and 2)."""
    robot = cardan.load("rx90")
    found = base_parameters(robot)
    beyond = "(M3 + M4 + M5 + M6)"
    published = {
        ("ZZ", 1): f"ZZ1 + IA1 + YY2 + D3^2*{beyond} + YY3",
        ("XX", 2): f"XX2 - YY2 - D3^2*{beyond}",
        ("XZ", 2): "XZ2 - D3*MZ3",
        ("ZZ", 2): f"ZZ2 + IA2 + D3^2*{beyond}",
        ("MX", 2): f"MX2 + D3*{beyond}",
        ("XX", 3): "XX3 - YY3 + YY4 + 2*RL4*MZ4 + RL4^2*(M4 + M5 + M6)",
        ("ZZ", 3): "ZZ3 + YY4 + 2*RL4*MZ4 + RL4^2*(M4 + M5 + M6)",
        ("MY", 3): "MY3 + MZ4 + RL4*(M4 + M5 + M6)",
        ("XX", 4): "XX4 + YY5 - YY4",
        ("ZZ", 4): "ZZ4 + YY5",
        ("MY", 4): "MY4 - MZ5",
        ("XX", 5): "XX5 + YY6 - YY5",
        ("ZZ", 5): "ZZ5 + YY6",
        ("MY", 5): "MY5 + MZ6",
        ("XX", 6): "XX6 - YY6",
    }
    assert len(found.kept) == 40
    values = random_values(robot)
    for column, formula in published.items():
        ours = robot_value(found.regrouped[column], values)
        assert ours == pytest.approx(robot_value(parse(formula), values), rel=1e-12), column
    assert set(found.regrouped) == set(published)


def robot_value(value: Value, values: dict[str, float]) -> float:
    from cardan.describe.values.expression import evaluate

    return float(evaluate(value, values.__getitem__, None))


def test_formulas_are_readable() -> None:
    found = base_parameters(cardan.load("rx90"))
    assert str(found.regrouped["MX", 2]) == "MX2 + D3*(M3 + M4 + M5 + M6)"
    assert "XX2R" in found.names
    assert "YY2" in {f"{name}{j}" for name, j in found.eliminated}
    assert "40 base parameters" in repr(found)


@pytest.mark.parametrize("name", ["rx90", "puma560", "stanford", "sr400", "scara", "tree"])
def test_map_of_bundled_robots(name: str) -> None:
    """map times the full parameters is the vector of base parameters."""
    robot = cardan.load(name).tree()
    robot = robot.with_values(random_values(robot))
    found = base_parameters(robot)
    full = [0.0 if j == 0 else parameters(robot, [(key, j)])[0] for key, j in found.full]
    assert found.map.shape == (len(found.kept), len(full))
    close(found.map @ full, parameters(found.robot, found.kept), "map", 1.0, 1e-12)


def test_symbols_have_no_map() -> None:
    with pytest.raises(cardan.errors.ModelError, match="with_values"):
        base_parameters(cardan.load("rx90")).map


def test_integers_are_parameters_too() -> None:
    """A mass of 2, a whole length: nothing but numbers in every place."""
    link = Link("link", XX=2, YY=3, ZZ=4, MX=2, MY=1, MZ=5, M=7)
    joints = (Joint("a", 0, alpha=0), Joint("b", 1, d=2, r=3), Joint("c", 2, sigma=1, d=1))
    robot = Robot("whole", (link,) * 3, joints, gravity=(0, -10, 0))
    found = base_parameters(robot)
    wanted = columns(scene_of(robot), drives=("IA",))
    D = observations(robot, np.random.default_rng(0), wanted)
    close(D @ parameters(found.robot, wanted), D @ parameters(robot, wanted), "torques", 10.0)
    assert len(found.kept) == observed_rank(D)[0]
    assert all(isinstance(b.M, int) for b in found.robot.links)


def test_base_programs_give_the_same_torques() -> None:
    for seed in range(12):
        robot = replace(draw_base(seed), name=f"base{seed}")
        rng = np.random.default_rng(seed)
        x = {key: rng.uniform(-2, 2, (4, robot.n)) for key in ("q", "qd", "qdd")}
        one = cardan.model(robot, "inverse-dynamics").evaluate(**x)
        two = cardan.model(robot, "inverse-dynamics", base_parameters=True).evaluate(**x)
        close(two, one, f"robot {seed}", 1.0)


@pytest.mark.parametrize("name", ["rx90", "puma560", "stanford", "scara"])
def test_the_numeric_choice_is_minimal_for_symbolic_geometry(name: str) -> None:
    """Its size is the rank of the regressor at random lengths, its torques are the robot's."""
    robot = cardan.load(name)
    found = cardan.model(robot, "base-parameters", method="numeric")
    rng = np.random.default_rng(0)
    for _ in range(2):
        values = {key: float(rng.uniform(0.3, 1.7)) for key in robot.parameters}
        program = cardan.model(robot.with_values(values), "regressor", effort="plain")
        x = {key: rng.normal(size=(60, robot.n)) for key in ("q", "qd", "qdd")}
        D = program.evaluate(**x)[..., [c[:2] not in ("FV", "FS") for c in program.columns]]
        D = D.reshape(-1, D.shape[-1])
        assert np.linalg.matrix_rank(D, 1e-9 * np.linalg.norm(D, 2)) == len(found.kept)
    assert "symbolic rules" in found.remarks[0]
    full, carried = (
        cardan.model(some.with_values({k: values[k] for k in some.parameters}), "inverse-dynamics",
                     effort="plain").evaluate(**x)
        for some in (robot, found.robot)
    )  # fmt: skip
    near(carried, full, 1e-11)


@pytest.mark.parametrize("name", ["ur5", "fivebar", "tree"])
def test_the_program_of_base_parameters_is_their_map(name: str) -> None:
    """K of the robot's own parameters, against the numbers it carries and the linear map; and of
    other values of the parameters, which are linear in them."""
    base = cardan.model(cardan.load(name), "base-parameters")
    program = base.program
    carried = np.array([float(x) for x in base.values.values()])
    known = {**program.defaults}
    full = np.array([known.get(f"{key}{j}", 0.0) for key, j in base.full])
    scale = 1 + np.abs(carried).max()
    assert np.abs(program.evaluate() - carried).max() < 1e-12 * scale
    assert np.abs(base.map @ full - carried).max() < 1e-12 * scale
    rng = np.random.default_rng(0)
    p = {key: float(rng.normal()) for key in program.parameters}
    other = np.array([p.get(f"{key}{j}", 0.0) for key, j in base.full])
    assert np.abs(program.evaluate(p=p) - base.map @ other).max() < 1e-10


def test_regrouping_relations_are_printed() -> None:
    base = cardan.model(cardan.load("planar2r"), "base-parameters")
    assert "ZZ1R = ZZ1 + L1^2*M2" in base.equations() == base.emit("text")
    assert r"\mathit{ZZ}_{1R} &= \mathit{ZZ}_{1} + L_{1}^{2}\,M_{2}" in base.equations("latex")
    assert "K[0] = ZZ1 + L1*L1*M2;" in base.emit("c", function="grouped")
    assert "<h1>Base parameters of Planar 2R</h1>" in base.equations("html")
    assert "L_{1}^{2}" in base.emit("markdown")
    with pytest.raises(cardan.UnknownNameError, match="form 'word'"):
        base.equations("word")
    bare = cardan.load({"name": "wheel", "link": [{"ZZ": 1}]})
    assert "no parameter" in cardan.model(bare, "base-parameters").emit("latex")


@pytest.mark.parametrize(
    "file", ["rx90.toml", "rx90.par", "stanford.toml", "tree.toml", "fivebar.par"]
)
def test_the_robot_of_the_base_parameters_is_written(file: str, tmp_path: Path) -> None:
    """[KC97] 6.4: a new file that every model takes; base parameters of it are its own."""
    name, form = file.split(".")
    base = base_parameters(cardan.load(name))
    base.save(tmp_path / file)
    again = cardan.load(tmp_path / file)
    assert base.emit(form) == (tmp_path / file).read_text(encoding="utf-8")
    assert base_parameters(again).kept == base.kept
    assert cardan.model(again, "gravity", effort="plain").outputs


def test_a_file_of_other_torques_is_not_written() -> None:
    base = base_parameters(cardan.load("planar2r"))
    links = (replace(base.robot.links[0], ZZ=0), *base.robot.links[1:])
    with pytest.raises(cardan.ModelError, match="torques"):
        replace(base, robot=replace(base.robot, links=links)).emit("toml")


def test_what_a_format_cannot_hold_is_said() -> None:
    base = base_parameters(cardan.load("ur5"))
    with pytest.raises(cardan.CardanError, match=r"upper_arm.*centre of mass"):
        base.emit("urdf")


def test_coefficients_that_are_solved_for_hold_no_noise() -> None:
    """Of closed loops with numbers: M4R had 6.4e-15 M7, and 0.30999999999999717 for a length of
    0.31; the rank gives what the formulas say to 1e-12."""
    base = cardan.model(cardan.load("orthoglide-platform"), "base-parameters")
    text = base.equations()
    assert "e-1" not in text
    assert "M4R = M4 + M5 + M6 - 3.22581*MX6" in text
    assert "ZZ6R = ZZ6 - 0.31*MX6" in text
    for step in base.steps:
        for c, _ in getattr(step, "into", ()):
            short = [x for x in (0.31, 1 / 0.31, 1, 0, 0.31**2) if abs(abs(float(c)) - x) < 1e-12]
            assert short, (step, c)
