"""MuJoCo, through its Python bindings; constraints, contacts, passive forces are switched off."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..describe.mjcf.write import write_mjcf
from ..describe.robot import FIXED, Robot
from ..describe.urdf.write import write_urdf
from .case import G0, Case, Peer, States, floats
from .plain import gravity

_COMPILER = (
    '<mujoco><compiler fusestatic="false" balanceinertia="false" inertiafromgeom="false" '
    'boundmass="0" boundinertia="0" angle="radian"/></mujoco>'
)


def mujoco_peer(robot: Robot) -> Peer | str:
    import mujoco

    start = time.perf_counter()
    try:
        model = mujoco.MjModel.from_xml_string(_text(robot))
    except ValueError as error:
        return " ".join(str(error).split())
    model.opt.gravity[:] = G0 if floats(robot) else (0, 0, -np.linalg.norm(gravity(robot)))
    model.dof_damping[:] = model.dof_armature[:] = model.dof_frictionloss[:] = 0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    built = time.perf_counter() - start
    names = [joint.name for joint in robot.joints if joint.sigma != FIXED]
    places = np.array([int(model.joint(name).qposadr[0]) for name in names])
    order = np.array([int(model.joint(name).dofadr[0]) for name in names])
    if floats(robot):
        places, order = np.r_[:7, places], np.r_[:6, order]
    calls = _calls(mujoco, model, data, places, order)
    note = "mj_inverse; mj_kinematics, mj_comPos and mj_crb; mj_forward"
    own = _own if floats(robot) else None
    cases = {name: Case(call, generation=built, own=own) for name, call in calls.items()}
    return Peer("MuJoCo", str(mujoco.__version__), note, cases)


def _text(robot: Robot) -> str:
    """The robot as MuJoCo reads it; a free joint has no place in URDF."""
    if floats(robot):
        return write_mjcf(robot)
    text = write_urdf(robot, drop=True)
    place = text.index(">", text.index("<robot")) + 1
    return text[:place] + _COMPILER + text[place:]


def _own(states: States) -> States:
    """Base and joints in one vector: at the origin of the world a free joint has our axes."""
    count = len(states["q"])
    here = np.tile([0, 0, 0, 1, 0, 0, 0], (count, 1))
    state = {"q": np.hstack([here, states["q"]])}
    if "V0" in states:
        state["v"] = np.hstack([states["V0"], states["qd"]])
    if "V0d" in states:
        state["a"] = np.hstack([states["V0d"], states["qdd"]])
    if "tau" in states:
        state["tau"] = np.hstack([np.zeros((count, 6)), states["tau"]])
    return state


def _calls(
    mujoco: Any, model: Any, data: Any, places: np.ndarray, order: np.ndarray
) -> dict[str, Any]:
    def inverse(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        data.qpos[places], data.qvel[order], data.qacc[order] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        return np.asarray(data.qfrc_inverse[order])

    full = np.zeros((model.nv, model.nv))
    composite = getattr(mujoco, "mj_crb", None) or mujoco.mj_makeM

    def inertia(q: np.ndarray) -> np.ndarray:
        data.qpos[places] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        composite(model, data)
        _full_matrix(mujoco, model, data, full)
        return np.asarray(full[np.ix_(order, order)])

    def direct(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        data.qpos[places], data.qvel[order], data.qfrc_applied[order] = q, qd, tau
        mujoco.mj_forward(model, data)
        return np.asarray(data.qacc[order])

    return {"inverse-dynamics": inverse, "inertia-matrix": inertia, "direct-dynamics": direct}


def _full_matrix(mujoco: Any, model: Any, data: Any, full: np.ndarray) -> None:
    """The sparse inertia matrix as a full one; the call changed its arguments between versions."""
    try:
        mujoco.mj_fullM(model, data, full)
    except TypeError:
        mujoco.mj_fullM(model, full, data.qM)
