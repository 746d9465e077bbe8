"""A base does what its file says in every model of the menu, or the model refuses it.

The motion of the base stands in the file while the base is called fixed, as .par files of SYMORO+
have it. Every model that does not refuse is held against a recursion written here for this
purpose, in the axes of frame 0."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.random_robots import random_robot

import cardan
from cardan.catalogue import MENU
from cardan.describe.par.write import write_par
from cardan.describe.robot import Base, Robot
from cardan.describe.values.expression import number
from cardan.errors import CardanWarning, ModelError
from cardan.mechanism.tree import Tree

MOTIONS = {
    "W0": {"W0": (0.4, -0.7, 0.9)},
    "WP0": {"WP0": (-0.3, 0.8, 1.1)},
    "VP0": {"VP0": (0.7, -0.5, 1.3)},
    "V0 and W0": {"V0": (0.6, 1.2, -0.4), "W0": (0.4, -0.7, 0.9)},
    "all": {"W0": (0.4, -0.7, 0.9), "WP0": (-0.3, 0.8, 1.1), "V0": (0.6, 1.2, -0.4),
            "VP0": (0.7, -0.5, 1.3)},
}  # fmt: skip
MODELS = [name for name, entry in MENU.items() if entry.program]
LOOPS = {"loop-kinematics", "platform-inverse-dynamics", "platform-direct-dynamics"}
STILL = {"transform", "jacobian", "jacobian-inverse"}  # what is seen from frame 0


def arm() -> Robot:
    """A tree with revolute and prismatic joints, without friction and external wrenches."""
    robot = random_robot(11, 4, fixed=False, wrenches=False, base_motion=False)
    joints = [replace(joint, FV=0, FS=0) for joint in robot.joints]
    robot = replace(robot, name="arm", joints=tuple(joints))
    assert {joint.sigma for joint in robot.joints} == {0, 1}
    return robot


class Motion:
    """Frames, velocities and accelerations of every link, all vectors in the axes of frame 0."""

    def __init__(self, robot: Robot, q: Any, qd: Any, qdd: Any) -> None:
        base = robot.base
        w0, wd0, v0, a0 = (np.array([number(x) for x in v], float)
                           for v in (base.W0, base.WP0, base.V0, base.VP0))  # fmt: skip
        self.robot, self.qd = robot, qd
        self.R, self.P = [np.eye(3)], [np.zeros(3)]
        self.w, self.wd, self.v, self.a = [w0], [wd0], [v0], [a0]
        for k, joint in enumerate(robot.joints):
            i, turns = joint.antecedent, joint.sigma == 0
            gamma, b, alpha, d, theta, r = (
                float(number(getattr(joint, key)))
                for key in ("gamma", "b", "alpha", "d", "theta", "r")
            )
            theta, r = theta + q[k] * turns, r + q[k] * (not turns)
            R = self.R[i] @ about(2, gamma) @ about(0, alpha)
            P = self.P[i] + self.R[i] @ (about(2, gamma) @ [d, 0, b]) + R[:, 2] * r
            z, arm_ = R[:, 2], P - self.P[i]
            w, wd, v, a = self.w[i], self.wd[i], self.v[i], self.a[i]
            v_i = v + np.cross(w, arm_)
            a_i = a + np.cross(wd, arm_) + np.cross(w, np.cross(w, arm_))
            if turns:
                wd, w = wd + z * qdd[k] + np.cross(w, z) * qd[k], w + z * qd[k]
            else:
                a_i = a_i + z * qdd[k] + 2 * np.cross(w, z) * qd[k]
                v_i = v_i + z * qd[k]
            for values, x in ((self.R, R @ about(2, theta)), (self.P, P), (self.w, w),
                              (self.wd, wd), (self.v, v_i), (self.a, a_i)):  # fmt: skip
                values.append(x)

    def body(self, j: int) -> tuple[float, np.ndarray, np.ndarray]:
        """M, MS and the inertia about O_j in the axes of frame 0."""
        link, R = self.robot.links[j - 1], self.R[j]
        x = {key: float(number(getattr(link, key))) for key in
             ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")}  # fmt: skip
        J = np.array([[x["XX"], x["XY"], x["XZ"]], [x["XY"], x["YY"], x["YZ"]],
                      [x["XZ"], x["YZ"], x["ZZ"]]])  # fmt: skip
        return x["M"], R @ [x["MX"], x["MY"], x["MZ"]], R @ J @ R.T

    def wrench(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Force and moment about O_j on link j and all that it carries."""
        g = np.array([number(x) for x in self.robot.gravity], float)
        M, MS, J = self.body(j)
        w, wd, a = self.w[j], self.wd[j], self.a[j] - g
        F = M * a + np.cross(wd, MS) + np.cross(w, np.cross(w, MS))
        N = J @ wd + np.cross(w, J @ w) + np.cross(MS, a)
        for k, joint in enumerate(self.robot.joints, 1):
            if joint.antecedent == j:
                f, n = self.wrench(k)
                F, N = F + f, N + n + np.cross(self.P[k] - self.P[j], f)
        return F, N

    def energy(self) -> float:
        """Of the links and of the rotors, which turn with their joint's velocity alone."""
        rotors = [float(number(joint.IA)) for joint in self.robot.joints]
        total = float(np.sum(rotors * np.square(self.qd))) / 2
        for j in range(1, len(self.robot.links) + 1):
            M, MS, J = self.body(j)
            v, w = self.v[j], self.w[j]
            total += M * v @ v / 2 + w @ J @ w / 2 + v @ np.cross(w, MS)
        return total


def about(axis: int, angle: float) -> np.ndarray:
    """The rotation about x or z."""
    c, s = np.cos(angle), np.sin(angle)
    if axis == 0:
        return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def torques(robot: Robot, q: Any, qd: Any, qdd: Any) -> np.ndarray:
    motion = Motion(robot, q, qd, qdd)
    found = []
    for k, joint in enumerate(robot.joints):
        z, (F, N) = motion.R[k + 1][:, 2], motion.wrench(k + 1)
        found.append(z @ (N if joint.sigma == 0 else F) + float(number(joint.IA)) * qdd[k])
    return np.array(found)


def expected(robot: Robot, model: str, q: Any, qd: Any, qdd: Any, tau: Any) -> Any:
    """What the model gives, from the recursion above."""
    zero, unit = np.zeros(robot.n), np.eye(robot.n)
    H = torques(robot, q, qd, zero)
    A = np.stack([torques(robot, q, qd, e) - H for e in unit], axis=1)
    motion = Motion(robot, q, qd, qdd)
    links = range(1, len(robot.links) + 1)

    def seen(j: int, *vectors: np.ndarray) -> np.ndarray:
        return np.concatenate([motion.R[j].T @ x for x in vectors])

    model = model.removesuffix("-derivatives")  # of which the first output is compared here
    if model == "inverse-dynamics":
        return torques(robot, q, qd, qdd)
    if model == "inertia-matrix":
        return A
    if model == "bias":
        return H
    if model == "gravity":
        return torques(replace(robot, base=Base()), q, zero, zero)
    if model == "direct-dynamics":
        return np.linalg.solve(A, tau - H)
    if model in ("velocities", "kinematics"):
        return np.array([seen(j, motion.v[j], motion.w[j]) for j in links])
    if model == "accelerations":
        return np.array([seen(j, motion.a[j], motion.wd[j]) for j in links])
    if model == "jdot-qdot":
        motion = Motion(robot, q, qd, zero)
        last = Tree.of(robot).link(None)
        return np.concatenate([motion.a[last], motion.wd[last]])
    if model == "reactions":
        return np.array([seen(j, *motion.wrench(j)) for j in links])
    if model == "energies":
        return motion.energy()
    if model == "generalized-momentum":
        rates = [(qd + e, qd - e) for e in unit]
        return np.array([Motion(robot, q, a, zero).energy() - Motion(robot, q, b, zero).energy()
                         for a, b in rates]) / 2  # fmt: skip
    raise AssertionError(f"no reference of '{model}': write one, or let it refuse")


@pytest.mark.parametrize("motion", MOTIONS)
def test_every_model_takes_the_motion_or_refuses(motion: str) -> None:
    robot = replace(arm(), base=Base("fixed", **MOTIONS[motion]))
    assert robot.base.kind == "mobile"
    rng = np.random.default_rng(5)
    q, qd, qdd, tau = rng.uniform(-1, 1, (4, robot.n))
    refused = set()
    for model in MODELS:
        options: dict[str, Any] = {"effort": "plain"} if "effort" in MENU[model].options else {}
        options |= {"projection": 0} if "projection" in MENU[model].options else {}
        try:
            program = cardan.model(robot, model, **options)
        except ModelError:
            refused.add(model)
            continue
        given = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
        found = program.evaluate(**{name: given[name] for name in program.inputs})
        if model in STILL:
            still = cardan.model(replace(robot, base=Base()), model, **options).evaluate(q=q)
            for x, y in zip(parts(found), parts(still), strict=True):
                np.testing.assert_allclose(x, y, atol=1e-12)
            continue
        if model in ("regressor", "regressor-derivatives"):
            K = [values_of(robot)[name] for name in program.meaning["D"].split(": ")[1].split()]
            wanted, found = torques(robot, q, qd, qdd), parts(found)[0] @ K
        else:
            wanted = expected(robot, model, q, qd, qdd, tau)
        np.testing.assert_allclose(parts(found)[0], wanted, rtol=1e-9, atol=1e-9, err_msg=model)
    assert refused >= LOOPS | {"lagrange", "coriolis-matrix", "filtered-regressor"}
    with pytest.raises(ModelError, match="imposed motion"):
        cardan.model(robot, "inverse-dynamics", method="lagrange")


def parts(found: Any) -> tuple[Any, ...]:
    """The outputs of a program."""
    return tuple(found) if isinstance(found, tuple) else (found,)


def values_of(robot: Robot) -> dict[str, float]:
    """XX1 and so on -> value."""
    found = {}
    for j, (link, joint) in enumerate(zip(robot.links, robot.joints, strict=True), 1):
        for key in ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M"):
            found[f"{key}{j}"] = float(number(getattr(link, key)))
        found |= {f"{key}{j}": float(number(getattr(joint, key))) for key in ("IA", "FV", "FS")}
    return found


@pytest.mark.parametrize("motion", MOTIONS)
def test_files_that_call_it_fixed(motion: str, tmp_path: Path) -> None:
    """The same robot from .par of both dialects, .toml and a dict, each with one warning."""
    robot = cardan.load("planar2r").with_values({"L1": 1})
    moving = replace(robot, base=Base(**MOTIONS[motion]))
    for dialect in ("opensymoro", "symoro+"):
        path = tmp_path / f"arm_{dialect}.par"
        text = write_par(replace(robot, base=Base()), dialect)
        for key, values in MOTIONS[motion].items():
            start = text.index(f"\n{key} = ") + 1
            end = text.index("}", start) + 1
            text = text[:start] + f"{key} = {{{','.join(map(str, values))}}}" + text[end:]
        path.write_text(text)
        with pytest.warns(CardanWarning, match="called fixed, but it moves") as told:
            found = cardan.load(path)
        assert len([x for x in told if "called fixed" in str(x.message)]) == 1
        assert all(key in str(told[0].message) for key in MOTIONS[motion])
        assert f"arm_{dialect}.par:" in str(told[0].message)
        assert found.base.kind == "mobile"
        assert found.base.motion == moving.base.motion
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = tmp_path / "again.par"
            again.write_text(write_par(found, dialect))
            assert cardan.load(again).base == found.base
    table = {"cardan": 1, "name": "arm", "link": [{"XX": 1, "YY": 1, "ZZ": 1, "M": 1}],
             "base": {key: list(values) for key, values in MOTIONS[motion].items()}}  # fmt: skip
    for kind in ({}, {"kind": "fixed"}):
        with pytest.warns(CardanWarning, match="called fixed, but it moves"):
            found = cardan.load({**table, "base": {**table["base"], **kind}})  # type: ignore[dict-item]
        assert found.base.kind == "mobile"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cardan.load({**table, "base": {**table["base"], "kind": "mobile"}})  # type: ignore[dict-item]
        cardan.load({**table, "base": {"kind": "fixed", "W0": [0, "0*3", "1 - 1"]}})


def test_a_symbol_may_be_a_motion() -> None:
    table = {
        "cardan": 1,
        "name": "arm",
        "link": [{"XX": 1, "YY": 1, "ZZ": 1, "M": 1}],
        "base": {"VP0": [0, 0, "A0"]},
    }
    with pytest.warns(CardanWarning, match="VP0 not zero"):
        robot = cardan.load(table)
    assert robot.base.kind == "mobile"


def test_a_floating_base_moves_as_its_inputs_say() -> None:
    """Whatever its description says of velocities: they are inputs, and no model reads others."""
    robot = arm()
    body = replace(robot.links[0], name="base")
    still = replace(robot, base=Base("floating", link=body))
    moving = replace(robot, base=Base("floating", link=body, **MOTIONS["all"]))
    assert moving.base.kind == "floating"
    for model in ("gravity", "bias", "inertia-matrix", "energies", "velocities"):
        options = {"effort": "plain"} if "effort" in MENU[model].options else {}
        one, two = (cardan.model(x, model, **options) for x in (still, moving))
        assert one.to_json() == two.to_json()
