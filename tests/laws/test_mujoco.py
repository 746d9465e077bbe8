"""Inverse dynamics, inertia matrix and direct dynamics against MuJoCo on public URDFs.

MuJoCo refuses bodies that cannot exist (principal moments A + B < C), which four of the files have.
Geometry, actuators, limits, friction and armature are left out: rigid-body dynamics alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.laws.public import FILES, whole_pi

import cardan
from cardan.describe.robot import FIXED
from cardan.describe.urdf.read import read_urdf

mujoco = pytest.importorskip("mujoco")

REFUSED = {"allegro_left_hand", "anymal_c", "talos_reduced", "tiago"}
PATHS = [path for path in FILES if path.stem not in REFUSED]
pytestmark = pytest.mark.skipif(not FILES, reason="the public robot files are not here")
COMPILER = (
    '<mujoco><compiler fusestatic="false" discardvisual="true" balanceinertia="false" '
    'inertiafromgeom="false" strippath="true" angle="radian"/></mujoco>'
)
COUNT = 4


def models(path: Path) -> tuple[cardan.Robot, Any, Any, list[int]]:
    text = whole_pi(path.read_text())
    robot, _ = read_urdf(text.encode(), path.name)
    assert robot is not None
    joints = tuple(replace(joint, FV=0, FS=0) for joint in robot.joints)
    robot = replace(robot, joints=joints)
    bare = re.sub(r"<(visual|collision)\b(?:[^>]*/>|.*?</\1>)", "", text, flags=re.DOTALL)
    text = re.sub(r"(<robot[^>]*>)", rf"\1{COMPILER}", bare, count=1)
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.gravity[:] = [float(g) for g in robot.gravity]
    model.dof_damping[:] = model.dof_armature[:] = model.dof_frictionloss[:] = 0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    moving = [joint.name for joint in joints if joint.sigma != FIXED]
    order = [int(model.joint(name).dofadr[0]) for name in moving]
    assert model.nv == len(order)
    return robot, model, mujoco.MjData(model), order


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_dynamics(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it is
    robot, model, data, order = models(path)
    rng = np.random.default_rng(0)
    x = {key: rng.uniform(-2, 2, (COUNT, robot.n)) for key in ("q", "qd", "qdd", "tau")}

    def ours(model_name: str) -> Any:
        program = cardan.model(robot, model_name, effort="plain")
        return program.evaluate(**{key: x[key] for key in program.inputs})

    tau, A, qdd = ours("inverse-dynamics"), ours("inertia-matrix"), ours("direct-dynamics")
    H = ours("bias")
    for k in range(COUNT):
        data.qpos[order], data.qvel[order] = x["q"][k], x["qd"][k]
        data.qacc[order] = x["qdd"][k]
        mujoco.mj_inverse(model, data)
        near(tau[k], data.qfrc_inverse[order], 1e-10)
        near(H[k], data.qfrc_bias[order], 1e-10)
        full = np.eye(model.nv)
        for column in full:
            mujoco.mj_mulM(model, data, column, column.copy())
        near(A[k], full[np.ix_(order, order)], 1e-10)
        data.qfrc_applied[order] = x["tau"][k]
        mujoco.mj_forward(model, data)
        near(qdd[k], data.qacc[order], 1e-9)
        data.qfrc_applied[:] = 0
