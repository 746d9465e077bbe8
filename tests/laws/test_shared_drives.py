"""A motor that several joints turn against the same motor as a massless link that they lead."""

from dataclasses import replace

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.describe.files import dumps
from cardan.describe.robot import Coupling, Drive, Joint, Link

LAW = {"IA": 0.2, "FV": 0.6, "FS": 2, "FO": 0.1, "VS": 0.05}
MODELS = (
    "inverse-dynamics", "direct-dynamics", "inertia-matrix", "bias", "gravity", "coriolis-matrix",
    "lagrange", "energies", "generalized-momentum", "inverse-dynamics-derivatives",
    "direct-dynamics-derivatives",
)  # fmt: skip


@pytest.fixture(scope="module")
def pair():
    """An arm with a motor on 2 q2 - q3; the same one with a link for the motor."""
    rotor = {"IA": 0.05, "FV": 0.3, "FS": 0.2, "VS": 0.05}
    link = {"com": [0.2, 0.05, 0.1], "inertia_com": [0.02, 0, 0, 0.03, 0, 0.025], **rotor}
    links = [
        {"mass": mass, "alpha": "pi/2" if k else 0, "d": 0.3 * k, **link}
        for k, mass in enumerate((3, 2, 1))
    ]
    bare = cardan.load({"name": "wrist", "link": links})
    shared = replace(bare, drives=(Drive("motor", ((2, 2), (3, -1)), **LAW),))
    motor = Joint("motor", 0, mimic=Coupling(2, 2, 0, ((3, -1),)), active=False, **LAW)
    led = replace(bare, joints=(*bare.joints, motor), links=(*bare.links, Link("motor")))
    return shared, led


def states(model, rng, led):
    q = rng.uniform(-2, 2, (12, 3))
    x = {"q": q, **{key: rng.normal(size=(12, 3)) for key in ("qd", "qdd", "tau")}}
    if led:
        x["q"] = np.column_stack([q, 2 * q[:, 1] - q[:, 2]])
    return {key: x[key] for key in model.inputs}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_that_of_a_massless_link(pair, name):
    results = []
    for robot, led in zip(pair, (False, True), strict=True):
        program = cardan.model(robot, name)
        values = program.compile()(**states(program, np.random.default_rng(3), led))
        several = len(program.outputs) > 1
        results.append([getattr(values, k) for k in program.outputs] if several else [values])
    for one, other in zip(*results, strict=True):
        near(one, other, 1e-11)


@pytest.mark.parametrize("base", [False, True])
def test_regressors_give_the_torques(pair, base):
    robot = pair[0]
    program = cardan.model(robot, "regressor", base_parameters=base)
    x = states(program, np.random.default_rng(4), False)
    assert {"IA4", "FV4", "FS4", "FO4"} <= set(program.columns)
    if not base:
        K = [
            float(getattr(robot.driving[4] if j == 4 else part(robot, key, j), key))
            for key, j in ((c.rstrip("0123456789"), int(c[-1])) for c in program.columns)
        ]
        near(
            program.compile()(**x) @ K,
            cardan.model(robot, "inverse-dynamics").compile()(**x),
            1e-11,
        )
    bare = cardan.model(replace(robot, drives=()), "regressor", base_parameters=base)
    own = [program.columns.index(c) for c in bare.columns]
    near(program.compile()(**x)[..., own], bare.compile()(**x), 1e-12)


def part(robot, key, j):
    return robot.joints[j - 1] if key in ("IA", "FV", "FS") else robot.links[j - 1]


def test_simulation_keeps_its_energy_audit(pair):
    runs = [cardan.simulate(robot, q0=[0.3, 0.4, -0.2], duration=0.5) for robot in pair]
    near(runs[0].q[-1], runs[1].q[-1][:3], 1e-6)
    assert runs[0].energy.drift < 1e-6


def test_files_hold_it_or_refuse_it_by_name(pair, tmp_path):
    robot = pair[0]
    robot.save(tmp_path / "arm.toml")
    assert cardan.load(tmp_path / "arm.toml").drives == robot.drives
    for suffix in ("par", "urdf", "xml"):
        with pytest.raises(cardan.CardanError, match="drive of several joints"):
            robot.save(tmp_path / f"arm.{suffix}")
    assert "Drives of several joints" in repr(robot)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('joint = ["joint9"]', "joint9"),
        ('joint = ["joint1", "joint1"]', "twice"),
        ('joint = ["joint1", "joint2"]\nratio = [1]', "ratio"),
        ('joint = ["joint1"]\nFB = 1', "VB"),
        ("IA = 1", "no joints"),
    ],
)
def test_faults_are_told(pair, lines, told, tmp_path):
    text = dumps(replace(pair[0], drives=()), "toml") + f"\n[[drive]]\n{lines}\n"
    (tmp_path / "arm.toml").write_text(text)
    with pytest.raises(cardan.CardanError, match=told):
        cardan.load(tmp_path / "arm.toml")


def test_symbols_and_packages(pair, tmp_path):
    robot = pair[0]
    program = cardan.model(robot, "inverse-dynamics", symbolic=True)
    assert {"IA4", "FV4", "FS4", "VS4", "ratio4_2"} <= set(program.parameters)
    cardan.write_package(robot, ["inverse-dynamics", "direct-dynamics"], "c", tmp_path / "arm")
    assert (tmp_path / "arm" / "README.md").exists()
