"""Loops read from and written to MJCF, against MuJoCo's own inertia matrix, bias and constraint
Jacobian, solved with multipliers. MuJoCo's constraints are soft and leave Jdot qd out, so the hard
problem is put together from its parts; Jdot qd is the derivative of its J along the motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.describe.test_mjcf import FOURBAR
from tests.loops.mechanisms import MECHANISMS, loaded, states

import cardan
from cardan.describe.mjcf.read import read_mjcf
from cardan.describe.mjcf.write import write_mjcf
from cardan.describe.robot import FIXED, Robot

mujoco: Any = pytest.importorskip("mujoco")

SITES = FOURBAR.replace(
    '<geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.02"/>',
    '<geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.02"/><site name="s" pos="0.47 0 0.02"/>',
).replace(
    '<geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/></body>\n</worldbody>',
    '<geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/>'
    '<site name="t" pos="0.01 0 0.33"/></body>\n</worldbody>',
).replace('body1="coupler" body2="rocker" anchor="0.5 0 0"', 'site1="s" site2="t"')  # fmt: skip
# the rocker carries a pin on a joint of its own; a weld makes it one with the coupler
WELD = FOURBAR.replace(
    'size="0.02"/></body>\n</worldbody>',
    'size="0.02"/><body name="pin" pos="0 0 0.3" euler="0.3 0 0"><joint name="d" axis="0 1 0"/>'
    '<geom type="sphere" size="0.03"/></body></body>\n</worldbody>',
).replace('euler="0.3 0 0"', "").replace("<connect", "<weld").replace(
    'body2="rocker" anchor="0.5 0 0"', 'body2="pin"{}'
)  # fmt: skip
DRAWN = WELD.format("")
POSED = WELD.format(' relpose="0.5 0 0 0.9553364891256060 0 0.2955202066613396 0"')
HELD = FOURBAR.replace(
    "</equality>", '<joint joint1="lid" polycoef="0.4 0 0 0 0"/></equality>'
).replace(
    '<body name="rocker"',
    '<body name="flap" pos="1 0 0"><joint name="lid" axis="1 0 0"/>'
    '<geom type="sphere" size="0.1" pos="0 0.2 0"/></body><body name="rocker"',
)  # fmt: skip
TEXTS = {"bodies": FOURBAR, "sites": SITES, "weld": DRAWN, "relpose": POSED, "held": HELD}
WRITTEN = ["stewart", "delta", "fivebar", "planar3rrr", "orthoglide-platform", "four_bar", "rssr",
           "slider_crank", "planar_3rrr", "bennett"]  # fmt: skip


def parts(text: str, robot: Robot) -> tuple[Any, list[int]]:
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    names = [joint.name for joint in robot.joints if joint.sigma != FIXED]
    return model, [int(model.joint(name).dofadr[0]) for name in names]


def looked(model: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """(M, bias, J, residual) of MuJoCo, the equality constraints only."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, M)
    except TypeError:
        mujoco.mj_fullM(model, M, data.qM)
    J = data.efc_J.reshape(-1, model.nv)
    ours = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    return M, data.qfrc_bias.copy(), J[ours], data.efc_pos[ours]


def solved(model: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    M, bias, J, residual = looked(model, q, v)
    assert np.abs(residual).max(initial=0) < 1e-9
    assert np.abs(J @ v).max(initial=0) < 1e-8 * (1 + np.abs(v).max())
    h = 1e-5
    turned = [looked(model, q + s * h * v, v)[2] @ v for s in (-2, -1, 1, 2)]
    rate = (turned[0] - 8 * turned[1] + 8 * turned[2] - turned[3]) / (12 * h)
    m = len(J)
    A = np.block([[M, -J.T], [J, np.zeros((m, m))]])
    x = np.linalg.lstsq(A, np.concatenate([tau - bias, -rate]), rcond=1e-11)[0]
    return np.asarray(x[: model.nv])


def compare(robot: Robot, text: str, fixed: dict[int, float] | None = None) -> None:
    _, x = states(robot, 4)
    tau = np.random.default_rng(1).normal(size=x["qd"].shape)
    model, order = parts(text, robot)
    G = cardan.model(robot, "loop-kinematics", details=True).evaluate(q=x["q"], qd=x["qd"]).G
    direct = cardan.model(robot, "direct-dynamics", effort="plain", friction=False)
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    active = [order[k] for k, joint in enumerate(moving) if joint.active]
    for scale, tolerance in ((0.0, 1e-8), (1.0, 1e-6)):
        found = direct.evaluate(q=x["q"], qd=scale * x["qd"], tau=tau)
        for k in range(4):
            q, v, push = (np.zeros(model.nv) for _ in range(3))
            q[order], v[order], push[active] = x["q"][k], scale * (G[k] @ x["qd"][k]), tau[k]
            for place, value in (fixed or {}).items():
                q[place] = value
            expected = solved(model, q, v, push)[active]
            near(found[k], expected, tolerance, tolerance)


@pytest.mark.parametrize("name", TEXTS)
def test_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    robot, faults = read_mjcf(TEXTS[name].encode(), "x.xml")
    assert robot is not None, faults
    assert len(robot.loops) == 1
    model = mujoco.MjModel.from_xml_string(TEXTS[name])
    held = {int(model.joint("lid").dofadr[0]): 0.4} if name == "held" else {}
    compare(robot, TEXTS[name], held)


@pytest.mark.parametrize("name", WRITTEN)
def test_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    robot = loaded(MECHANISMS[name]() if name in MECHANISMS else cardan.load(name))
    joints = tuple(replace(joint, FV=0, FS=0) for joint in robot.joints)
    robot = replace(robot, joints=joints)
    compare(robot, write_mjcf(robot))


def test_written_loops_are_read_again() -> None:
    robot = cardan.load("fivebar")
    again, faults = read_mjcf(write_mjcf(robot).encode(), "x.xml")
    assert again is not None, faults
    _, x = states(robot, 3)
    one, other = (cardan.model(r, "inverse-dynamics").evaluate(**x) for r in (robot, again))
    near(one, other, absolute=1e-9)


def test_switched_off_and_coupled() -> None:
    off = FOURBAR.replace("<connect", '<connect active="false"')
    robot, _ = read_mjcf(off.encode(), "x.xml")
    assert robot is not None
    assert not robot.loops
    bent = '<joint joint1="a" joint2="c" polycoef="0 1 0.1 0 0"/></equality>'
    robot, faults = read_mjcf(FOURBAR.replace("</equality>", bent).encode(), "x.xml")
    assert robot is not None
    assert not robot.couplings
    assert any("move freely" in str(fault) for fault in faults)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SITES.replace('site2="t"', 'site2="nowhere"'), "needs site1 and site2"),
        (HELD.replace('joint1="lid"', 'joint1="nobody"'), "is no joint"),
        (DRAWN.replace('body2="pin"', 'body2="nobody"'), "<weld> needs body1"),
    ],
)
def test_faults(text: str, words: str) -> None:
    robot, faults = read_mjcf(text.encode(), "x.xml")
    assert robot is None
    assert any(words in str(fault) for fault in faults), faults


def test_a_frame_on_the_twin_of_another_loop_is_written() -> None:
    """Antecedents of frames may be frames of other loops; MJCF has bodies only."""
    robot = cardan.load({
        "link": [{"mass": 1, "com": [0.1, 0, 0]}, {"d": 0.2, "active": False},
                 {"antecedent": 0, "d": 0.5, "active": False},
                 {"antecedent": 0, "gamma": 0.2, "d": 0.95, "active": False},
                 {"d": 0.4, "active": False}],
        "loop": [{"name": "a", "cut": {"antecedent": 2, "d": 0.45},
                  "twin": {"antecedent": 3, "d": 0.4}},
                 {"name": "b", "cut": {"antecedent": 5, "d": 0.5},
                  "twin": {"antecedent": 8, "gamma": 0.3, "d": 0.2}}],
    })  # fmt: skip
    again, faults = read_mjcf(write_mjcf(robot).encode(), "x.xml")
    assert again is not None, faults
    q = cardan.model(robot, "loop-geometry").solve([1.0])
    assert len(q)
    assert np.abs(cardan.model(again, "loop-geometry").residual(q)).max() < 1e-12


def test_symbols_of_loops_are_named() -> None:
    robot = cardan.load({
        "link": [{}, {"d": 0.3, "active": False}, {"antecedent": 0, "d": 0.5, "active": False}],
        "loop": [{"name": "k", "cut": {"antecedent": 2, "d": "L9"},
                  "twin": {"antecedent": 3, "d": 0.4}}],
    })  # fmt: skip
    with pytest.raises(cardan.CardanError, match=r"free symbols \(L9\).*with_values"):
        write_mjcf(robot)
