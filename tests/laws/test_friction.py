"""The whole friction law and springs beside motors: each model against the law written out, its
relatives and differences; files give back every field; simulations lose what the law says."""

from __future__ import annotations

import re
import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan import CardanError
from cardan.describe.files import checked, dumps, read_bytes
from cardan.describe.robot import DRIVE, FRICTION, FURTHER, Joint, Limits, Robot
from cardan.exact import exact
from cardan.models.friction import COEFFICIENTS, Friction
from cardan.motion.coordinates import coordinates
from cardan.motion.joints import moving, number

rng = np.random.default_rng(7)
Array = np.ndarray


def rough(robot: Robot, width: float, seed: int = 1) -> Robot:
    """With every term of the law and a spring on every joint that moves."""
    draw = np.random.default_rng(seed).uniform

    def joint(x: Joint) -> Joint:
        if x.sigma == 2:
            return x
        values: dict[str, Any] = {key: round(draw(0.2, 1.0), 3) for key in FRICTION}
        values |= {"VS": width, "spring": round(draw(2, 5), 3), "neutral": round(draw(-1, 1), 3)}
        return replace(x, **values)

    return replace(robot, joints=tuple(map(joint, robot.joints)))


def law(joint: Joint, v: Array) -> Array:
    """The law of docs/format.md, written out."""
    FV, FS, FQ, FVA, FSA, FB, FO, VB, VS = (number(getattr(joint, key)) for key in FRICTION)
    s = v / np.hypot(v, VS) if VS else np.sign(v)
    bell = FB / (1 + (v / VB) ** 2)
    return FV * v + FQ * v * np.abs(v) + FVA * np.abs(v) + (FS + bell) * s + FSA * np.abs(s) + FO


def evaluated(robot: Robot, model: str, **inputs: Any) -> Any:
    options = inputs.pop("options", {})
    return cardan.model(robot, model, **options).evaluate(**inputs)


ARM = cardan.load("scara").with_values(
    dict(zip(cardan.load("scara").parameters, rng.uniform(0.3, 1.2, 99), strict=False))
)


@pytest.fixture(scope="module", params=[0.0, 0.05], ids=["jump", "width"])
def robot(request: Any) -> Robot:
    return rough(ARM, request.param)


@pytest.fixture(scope="module")
def state() -> tuple[Array, Array, Array]:
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, ARM.n))
    return q, qd, qdd


def torques(robot: Robot, q: Array, qd: Array, qdd: Array) -> Array:
    """Of the smooth robot, and the law and the springs beside it."""
    smooth = replace(robot, joints=tuple(replace(x, **dict.fromkeys((*FRICTION, *FURTHER), 0))
                                         for x in robot.joints))  # fmt: skip
    tau = evaluated(smooth, "inverse-dynamics", q=q, qd=qd, qdd=qdd)
    own = [law(x, v) + number(x.spring) * (p - number(x.neutral))
           for x, v, p in zip(moving(robot), qd, q, strict=True)]  # fmt: skip
    return np.asarray(tau + np.array(own))


def test_inverse_and_direct_dynamics(robot: Robot, state: Any) -> None:
    q, qd, qdd = state
    tau = torques(robot, *state)
    for method in ("newton-euler", "lagrange"):
        options = {"method": method}
        near(evaluated(robot, "inverse-dynamics", q=q, qd=qd, qdd=qdd, options=options), tau, 1e-12)
    for method in ("recursive", "inertia-matrix"):
        options = {"method": method}
        near(evaluated(robot, "direct-dynamics", q=q, qd=qd, tau=tau, options=options), qdd, 1e-10)
    H = evaluated(robot, "bias", q=q, qd=qd)
    A = evaluated(robot, "inertia-matrix", q=q)
    near(A @ qdd + H, tau, 1e-11)
    bare = evaluated(robot, "inverse-dynamics", q=q, qd=qd, qdd=qdd, options={"friction": False})
    rubbed = np.array([law(x, v) for x, v in zip(moving(robot), qd, strict=True)])
    near(tau - bare, rubbed, 1e-11)


@pytest.mark.parametrize("name", ["fivebar", "floating"])
def test_lagrange_has_each_spring_once(name: str) -> None:
    """Of closed loops and on a floating base, against Newton-Euler."""
    own = cardan.load("fivebar") if name == "fivebar" else cardan.floating(ARM, 20)
    robot, draw = rough(own, 0.05), np.random.default_rng(5)
    q = coordinates(robot).first("q", [2.2, 0.9] if name == "fivebar" else draw.normal(size=4))
    program = cardan.model(robot, "inverse-dynamics", method="lagrange")
    state = {key: draw.normal(size=shape) for key, shape in program.inputs.items()} | {"q": q}
    found = program.evaluate(**state)
    expected = cardan.model(robot, "inverse-dynamics").evaluate(**state)
    for a, b in zip(found, expected, strict=True):
        near(a, b, 1e-10)


def test_derivatives(robot: Robot, state: Any) -> None:
    q, qd, qdd = state
    found = evaluated(robot, "inverse-dynamics-derivatives", q=q, qd=qd, qdd=qdd)
    for wrt, block in (("q", found["dtau_dq"]), ("qd", found["dtau_dqd"])):
        columns = []
        for step in 1e-6 * np.eye(robot.n):
            x = {"q": q, "qd": qd, "qdd": qdd}
            ahead, back = ({**x, wrt: x[wrt] + sign * step} for sign in (1, -1))
            columns.append((torques(robot, **ahead) - torques(robot, **back)) / 2e-6)
        near(block, np.stack(columns, axis=1), absolute=1e-7)


def test_potential_energy_has_the_springs(robot: Robot, state: Any) -> None:
    q, qd, _ = state
    Q = evaluated(robot, "gravity", q=q)
    U = cardan.model(robot, "energies")
    slope = [(U.evaluate(q=q + d, qd=qd)["U"] - U.evaluate(q=q - d, qd=qd)["U"]) / 2e-6
             for d in 1e-6 * np.eye(robot.n)]  # fmt: skip
    near(Q, np.array(slope), absolute=1e-7)
    near(evaluated(robot, "lagrange", q=q)["Q"], Q, 1e-12)
    one = {
        "name": "one",
        "gravity": [0, 0, 0],
        "link": [{"XX": 1, "YY": 1, "ZZ": 1, "spring": 100, "neutral": 0.3}],
    }
    assert evaluated(cardan.load(one), "energies", q=[0.5], qd=[0])["U"] == pytest.approx(2)


def parameters(robot: Robot, columns: tuple[str, ...]) -> Array:
    values = []
    for name in columns:
        match = re.fullmatch(r"([A-Za-z]+)(\d+)", name)
        assert match is not None
        joint, link = robot.joints[int(match[2]) - 1], robot.links[int(match[2]) - 1]
        if match[1] == "preload":
            values.append(number(joint.spring) * number(joint.neutral))
        else:
            values.append(number(getattr(link, match[1], getattr(joint, match[1], 0))))
    return np.array(values)


def test_regressors(robot: Robot, state: Any) -> None:
    q, qd, qdd = state
    program = cardan.model(robot, "regressor", effort="plain")
    K = parameters(robot, program.columns)
    near(program.evaluate(q=q, qd=qd, qdd=qdd) @ K, torques(robot, *state), 1e-11)
    filtered = cardan.model(robot, "filtered-regressor")
    D1, D2 = (filtered.derivative("D1", "q"), filtered.derivative("D1", "qd"))
    at = filtered.evaluate(q=q, qd=qd)
    rate = D1.evaluate(q=q, qd=qd) @ qd + D2.evaluate(q=q, qd=qd) @ qdd
    near((rate + at["D2"]) @ K, torques(robot, *state), 1e-10)
    energy = cardan.model(robot, "energy-regressor")
    h = energy.evaluate(q=q, qd=qd) @ parameters(robot, energy.columns)
    both = evaluated(robot, "energies", q=q, qd=qd)
    rest = sum(number(x.spring) * number(x.neutral) ** 2 / 2 for x in moving(robot))
    near(h + rest, both["E"] + both["U"], 1e-11)


def test_constants_that_no_motion_tells_apart_are_one_base_column() -> None:
    columns = cardan.model(rough(ARM, 0.0), "regressor", base_parameters=True).columns
    assert "FO1R" in columns
    assert not {"FSA1", "preload1"} & set(columns)
    columns = cardan.model(rough(ARM, 0.1), "regressor", base_parameters=True).columns
    assert {"FO1R", "FSA1"} < set(columns)
    assert "preload1" not in columns


def test_a_law_and_its_slope_over_numbers() -> None:
    values = dict(zip(FRICTION, rng.uniform(0.2, 1, len(FRICTION)), strict=True))
    friction = Friction(**values)
    v = np.array([-1.2, -0.03, 0.01, 0.4, 3.0])
    near(friction.torque(v), law(replace(Joint("x", 0), **values), v), 1e-14)  # type: ignore[arg-type]
    near(friction.torque(v), sum(values[k] * friction.column(k, v) for k in COEFFICIENTS), 1e-14)
    slope = (friction.torque(v + 1e-7) - friction.torque(v - 1e-7)) / 2e-7
    near(friction.slope(v), slope, absolute=1e-6)


@pytest.mark.parametrize("form", ["toml", "par", "symoro+", "urdf", "xml"])
def test_files_give_back_every_field(form: str) -> None:
    robot = replace(rough(ARM, 0.02), gravity=(0, 0, exact("-9.81")))
    with warnings.catch_warnings(record=True) as told:
        text = checked(robot, dumps(robot, form), form)
    assert any("words of Cardan" in str(x.message) for x in told) == (form != "toml")
    file = "robot.par" if form == "symoro+" else f"robot.{form}"
    again, faults = read_bytes(text.encode(), file)
    assert again is not None
    assert not [x for x in faults if x.severity == "error"]
    for one, other in zip(robot.joints, again.joints, strict=True):
        keys = (*DRIVE, *FURTHER) if form != "toml" else [x.name for x in fields(one)]
        assert [getattr(one, key) for key in keys] == [getattr(other, key) for key in keys]
    assert "VS" in repr(robot)
    assert "neutral" in repr(robot)


def test_other_readers_skip_what_only_cardan_knows() -> None:
    """OpenSYMORO drops lines with a comment; MuJoCo and Pinocchio take the rest of the file."""
    robot = rough(cardan.load("ur5"), 0.02)
    lines = [x for x in dumps(robot, "par").splitlines() if "(*" not in x]
    again, _ = read_bytes("\n".join(lines).encode(), "robot.par")
    assert again is not None
    plain = [replace(x, **dict.fromkeys(FURTHER, 0), limits=Limits()) for x in robot.joints]
    assert [replace(x, name="") for x in again.joints] == [replace(x, name="") for x in plain]
    mujoco = pytest.importorskip("mujoco")
    for form in ("urdf", "xml"):
        model = mujoco.MjModel.from_xml_string(dumps(robot, form))
        damping = model.dof_damping.reshape(robot.n, -1)[:, 0]
        assert damping.tolist() == [number(x.FV) for x in moving(robot)]
    pin = pytest.importorskip("pinocchio")
    assert pin.buildModelFromXML(dumps(robot, "urdf")).nv == robot.n


def test_lists_of_cardan_have_their_lines_and_faults() -> None:
    text = dumps(rough(ARM, 0.02), "par")
    row = next(x for x in text.splitlines() if "Cardan FQ" in x)
    line = text.splitlines().index(row) + 1
    _, faults = read_bytes(text.replace(row, "(* Cardan FQ = {1,2} *)").encode(), "robot.par")
    assert f"robot.par:{line}: FQ has 2 values; it needs 4" in map(str, faults)
    _, faults = read_bytes(text.replace(row, "(* Cardan FX9 = {1} *)").encode(), "robot.par")
    assert "FX9 is not a key" in " ".join(map(str, faults))
    again, faults = read_bytes(text.replace(row, "(* FQ = {1,2} *)").encode(), "robot.par")
    assert again is not None
    assert again.joints[0].FQ == 0


@pytest.mark.parametrize(
    ("fields_of_it", "words"),
    [({"VS": -1}, "VS = -1"), ({"FB": 1}, "FB needs VB"), ({"neutral": 1}, "neutral belongs"),
     ({"spring": 1, "joint": "fixed"}, "a fixed frame has no spring"),
     ({"spring": 1, "stiffness": 1}, "an elastic joint has a stiffness")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(fields_of_it: dict[str, Any], words: str) -> None:
    with pytest.raises(CardanError, match=words):
        cardan.load({"name": "bad", "link": [{"mass": 1, **fields_of_it}, {"mass": 1}]})


def test_symbols_of_the_law() -> None:
    link = {
        "XX": 1,
        "YY": 1,
        "ZZ": 1,
        "FS": "f",
        "VS": "w",
        "FO": "c",
        "spring": "k",
        "neutral": "n",
    }
    robot = cardan.load({"name": "one", "gravity": [0, 0, 0], "link": [link]})
    assert robot.parameters == ("f", "c", "w", "k", "n")
    values = {"f": 2.0, "w": 0.1, "c": 0.3, "k": 4.0, "n": 0.5}
    program = cardan.model(robot, "inverse-dynamics")
    tau = program.evaluate(q=[0.7], qd=[0.2], qdd=[1.0], p=[values[x] for x in program.parameters])
    near(tau, [1 + 2 * 0.2 / np.hypot(0.2, 0.1) + 0.3 + 4 * 0.2], 1e-14)
    shown = cardan.model(rough(ARM, 0.1), "inverse-dynamics", symbolic=True)
    assert {"VS1", "FO2", "spring1", "neutral4"} < set(shown.parameters)


@pytest.mark.parametrize("friction", ["smooth", "event"])
def test_a_simulation_loses_what_the_law_takes(friction: str) -> None:
    two = [{"mass": 1, "com": [0.3, 0, 0], "inertia_com": [0.01, 0, 0, 0.01, 0, 0.01], "d": 0.3 * k,
            "FV": 0.1, "FS": 0.2, "FQ": 0.05, "FVA": 0.02, "FSA": 0.03, "FB": 0.1, "VB": 0.2,
            "FO": 0.1, "VS": 0.05 * k, "spring": 3, "neutral": 0.2} for k in (0, 1)]  # fmt: skip
    robot = cardan.load({"name": "two", "gravity": [0, -9.81, 0], "link": two})
    run = cardan.simulate(robot, [0.5, -0.4], duration=0.6, friction=friction, rtol=1e-9)
    energy = run.energy
    assert energy is not None
    change = energy.kinetic + energy.potential + energy.elastic
    lost = energy.friction
    near(change - change[0], -lost, absolute=1e-6 * np.abs(change).max())
    assert lost[-1] > 0.05
    direct = cardan.model(robot, "direct-dynamics")
    k = int(np.argmin(np.abs(run.t - 0.2)))
    assert (np.abs(run.qd[k]) > 0.05).all()
    expected = direct.evaluate(q=run.q[k], qd=run.qd[k], tau=[0, 0])
    near(run.qdd[k], expected, absolute=1e-4 if friction == "smooth" else 1e-9)
