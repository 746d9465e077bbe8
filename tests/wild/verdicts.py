"""What becomes of one file: read and compared with the library that its authors use, or refused.

    agree       inertia matrix, bias with all passive forces, constraints, frames, drives and limits
                are those of the other library
    told        they are but for what a warning names as left out; that alone is taken out there
    rightly     refused, and the other library refuses it too, or nothing in it moves
    wrongly     refused, although the other library has a model with freedoms
    warned      read, different, and a warning was given
    silent      read, different, and nothing was said
    alone       read, but the other library cannot read it: nothing to compare with

URDF is compared with Pinocchio, and so is what the xacro package makes of macros; MJCF with MuJoCo,
at random states, those of robots with loops or couplings on MuJoCo's own constraints. SDFormat is
read alone, and a refusal of it counts as wrong unless it names a joint that has no place.
A scene of several robots is read one by one, as its refusal says."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.describe.mechanics import poses
from tests.describe.mujoco_peer import (
    blank,
    difference,
    drives_differ,
    free_joint,
    joint_ids,
    put,
    tied_difference,
    torque_limit,
)

import cardan
from cardan.describe.files import read
from cardan.describe.robot import FIXED, Robot
from cardan.describe.values.expression import number
from cardan.describe.xml.write import frame_matrix
from cardan.errors import CardanError, Fault

__all__ = ["KINDS", "Verdict", "verdict"]

KINDS = ("agree", "told", "rightly", "wrongly", "warned", "silent", "alone")
_WORSE = ("agree", "told", "alone", "rightly", "wrongly", "warned", "silent")
# what no robot can hold, so that the refusal is right whatever the other library does
_NO_PLACE = ("which runs over sites, has no place", "is not supported")
# what says of a file that no library here reads that there is no robot in it
_STILL = ("no link that moves", "no model of the file has a joint that moves")
LIMIT = 1e-9
_TIED = 1e-7  # of accelerations under constraints, which lose digits of both
# MuJoCo turns inertias into their principal axes up to this (kg m^2), or part of a body's own where
# its moments are nearly the same
_DIAGONAL = 2e-11
_BALL = 1e-8
_LARGE = 60  # joints: one state is compared


@dataclass(frozen=True)
class Verdict:
    """The kind, how long reading took, the joints, and the words that explain it."""

    kind: str
    seconds: float = 0.0
    joints: int = 0
    error: float = 0.0
    words: tuple[str, ...] = ()


def verdict(path: Path) -> Verdict:
    """Read a file, and judge what was read; what a refusal advises is done."""
    start = time.perf_counter()
    try:
        readings = _readings(path)
    except Exception as error:  # a traceback is the worst refusal
        return Verdict("wrongly", words=(f"{type(error).__name__}: {error}",))
    seconds = (time.perf_counter() - start) / len(readings)
    verdicts = [_judged(path, seconds, *reading) for reading in readings]
    return max(verdicts, key=lambda one: _WORSE.index(one.kind))


def _readings(path: Path) -> list[tuple[Robot | None, list[Fault]]]:
    """The robot of a file; of a scene with several of them each, by its name."""
    robot, faults = _read(path)
    trusted = any("trust_includes=True" in str(fault) for fault in faults if _fatal(fault))
    if trusted:
        robot, faults = _read(path, trust_includes=True)
    several = next((f.message for f in faults if "name the one to read" in f.message), "")
    names = re.findall(r"(\S+) \((?:floating, )?\d+ joints?\)", several)
    names = names or re.findall(r"'([^']+)'", several.partition(": name")[0])
    if not names:
        return [(robot, faults)]
    return [_read(path, body=name, trust_includes=trusted) for name in names]


def _read(path: Path, **options: Any) -> tuple[Robot | None, list[Fault]]:
    try:
        return read(str(path), **options)
    except CardanError as error:
        return None, [Fault(str(error))]


def _fatal(fault: Fault) -> bool:
    return fault.severity == "error"


def _judged(path: Path, seconds: float, robot: Robot | None, faults: list[Fault]) -> Verdict:
    peer = _PEERS.get(path.suffix, _no_peer)
    errors = [str(fault) for fault in faults if _fatal(fault)]
    told = tuple(str(fault) for fault in faults)
    if robot is None or errors:
        rightly = any(x in errors[0] for x in (*_NO_PLACE, *(_STILL if peer is _no_peer else ())))
        kind = "rightly" if rightly else "wrongly" if peer is _no_peer else _refusal(peer, path)
        return Verdict(kind, seconds, words=tuple(errors))
    try:
        model = peer(path)
        if robot.base.kind == "floating" and model.nv == robot.n:  # to us a body that flies
            import pinocchio

            model = peer(path, pinocchio.JointModelFreeFlyer())
    except Exception as error:
        return Verdict("alone", seconds, robot.n, words=(f"reference: {error}",))
    used: list[str] = []
    try:
        if path.suffix == ".xml":
            robot, used = blank(robot, model, told)
        parts = (_beside_mujoco if path.suffix == ".xml" else _beside_pinocchio)(robot, model)
    except Exception as error:
        words = (f"model: {type(error).__name__}: {error}", *told)
        return Verdict("wrongly", seconds, robot.n, words=words)
    limits = _limits(model)
    worst = max(parts, key=lambda part: parts[part] / limits.get(part, LIMIT))
    if parts[worst] <= limits.get(worst, LIMIT):
        return Verdict("told" if used else "agree", seconds, robot.n, parts[worst], told)
    kind = "warned" if told else "silent"
    return Verdict(kind, seconds, robot.n, parts[worst], (f"{worst} differs", *told))


def _refusal(peer: Callable[..., Any], path: Path) -> str:
    try:
        return "rightly" if peer(path).nv == 0 else "wrongly"
    except Exception:
        return "rightly"


# MuJoCo


def _limits(model: Any) -> dict[str, float]:
    """How near the parts can come: by what MuJoCo leaves out of its inertias."""
    if not hasattr(model, "dof_M0"):
        return {}
    largest = max(float(model.dof_M0.max(initial=0.0)), 1e-12)
    spread, most = np.ptp(model.body_inertia, axis=1), model.body_inertia.max(1)
    ball = ((spread > 0) & (spread < _BALL * most)).any()
    return {"dynamics": max(LIMIT, _DIAGONAL / largest, _BALL if ball else 0), "constraints": _TIED}


def _of_mujoco(path: Path) -> Any:
    import mujoco

    return mujoco.MjModel.from_xml_path(str(path))


def _beside_mujoco(robot: Robot, model: Any) -> dict[str, float]:
    states = 1 if robot.n > _LARGE else 3
    parts = {"constraints": _constraints_differ(robot, copy(model), min(states, 2))}
    parts["dynamics"] = difference(robot, model, states)
    parts["drives"] = drives_differ(robot, model)
    parts["limits"] = _limits_differ(robot, model)
    parts["frames"] = _frames_differ(robot, model)
    return parts


def _constraints_differ(robot: Robot, model: Any, states: int) -> float:
    """Accelerations of a robot that is tied; of any other, 1 where MuJoCo ties its joints."""
    if robot.constrained:
        return tied_difference(robot, model, states)
    import mujoco

    data = mujoco.MjData(model)
    B, _ = put(robot, model, data, np.full(robot.n, 0.1), np.zeros(robot.n))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.jacobian = 0
    mujoco.mj_fwdPosition(model, data)
    J = data.efc_J.reshape(-1, model.nv)[: data.ne] @ B
    return float(np.abs(J).max(initial=0.0) > LIMIT)


def _limits_differ(robot: Robot, model: Any) -> float:
    joints = [joint for joint in robot.joints if joint.sigma != FIXED]
    worst = 0.0
    for joint, i in zip(joints, joint_ids(robot, model), strict=True):
        if model.jnt_type[i] == 1:
            continue  # the range of a ball joint has no place
        for k, value in enumerate((joint.limits.lower, joint.limits.upper)):
            if model.jnt_limited[i] != (value is not None):
                return 1.0
            if value is not None:
                worst = max(worst, abs(float(number(value) or 0) - model.jnt_range[i, k]))
        effort = torque_limit(model, i)
        ours = np.inf if joint.limits.effort is None else float(number(joint.limits.effort) or 0)
        if effort != ours:
            worst = max(worst, abs(effort - ours) / min(effort, ours))
    return worst


def _frames_differ(robot: Robot, model: Any) -> float:
    """The frames of bodies and sites at a random state."""
    import mujoco

    data, free = mujoco.MjData(model), free_joint(robot, model)
    q = np.random.default_rng(1).uniform(-1, 1, robot.n)
    put(robot, model, data, q, 0 * q)
    mujoco.mj_kinematics(model, data)
    base = np.eye(4)
    if free is not None:
        body = model.jnt_bodyid[free]
        base[:3, :3], base[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
    links, worst = poses(robot, q), 0.0
    for item in robot.frames:
        kind = mujoco.mjtObj.mjOBJ_SITE if item.kind == "site" else mujoco.mjtObj.mjOBJ_BODY
        k = mujoco.mj_name2id(model, kind, item.name.removeprefix("site:"))
        if k >= 0:
            P, R = (data.site_xpos, data.site_xmat) if item.kind == "site" else (
                data.xpos, data.xmat)  # fmt: skip
            T = base @ links[item.link] @ frame_matrix(item)
            worst = max(worst, float(np.abs(T[:3, 3] - P[k]).max()))
            worst = max(worst, float(np.abs(T[:3, :3] - R[k].reshape(3, 3)).max()))
    return worst


# Pinocchio


def _of_pinocchio(path: Path, *root: Any) -> Any:
    import pinocchio

    return pinocchio.buildModelFromUrdf(str(path), *root)


def _beside_pinocchio(robot: Robot, model: Any) -> dict[str, float]:
    """A and H by name of joint; what a floating base adds is first in both."""
    import pinocchio as pin

    data = model.createData()
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    joints = [model.joints[model.getJointId(joint.name)] for joint in moving]
    lead = 6 if robot.base.kind == "floating" else 0
    rows = [*range(lead), *(joint.idx_v for joint in joints)]
    bare = tuple(replace(joint, IA=0, FV=0, FS=0) for joint in robot.joints)
    tree = replace(robot, joints=bare).tree()
    A, H = (cardan.model(tree, name, effort="plain") for name in ("inertia-matrix", "bias"))
    rng, parts = np.random.default_rng(0), {"inertia": 0.0, "bias": 0.0, "frames": 0.0}
    gravity = np.array([number(g) for g in robot.gravity], dtype=float)
    model.gravity.linear = gravity
    for _ in range(1 if robot.n > _LARGE else 3):
        x = dict(zip(("q", "qd"), rng.uniform(-1, 1, (2, robot.n)), strict=True))
        step, v = np.zeros(model.nv), np.zeros(model.nv)
        step[rows[lead:]], v[rows[lead:]] = x["q"], x["qd"]
        if lead:
            x["V0"], x["g0"] = rng.uniform(-1, 1, 6), gravity
            v[:6] = x["V0"]
        q = pin.integrate(model, pin.neutral(model), step)
        M = pin.crba(model, data, q)
        M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(rows, rows)]
        # the bias of a base is taken at rest of its origin's acceleration, not of the spatial one
        rise = np.zeros(model.nv)
        if lead:
            rise[:3] = -np.cross(x["V0"][3:], x["V0"][:3])
        h = pin.rnea(model, data, q, v, rise)[rows]
        ours = [p.evaluate(**{key: x[key] for key in p.inputs}) for p in (A, H)]
        scale = float(np.abs(M).max(initial=1e-9))
        parts["inertia"] = max(parts["inertia"], np.abs(ours[0] - M).max() / scale)
        size = max(float(np.abs(h).max(initial=0.0)), 1e-3 * scale)
        parts["bias"] = max(parts["bias"], np.abs(ours[1] - h).max() / size)
    parts["frames"] = _pinocchio_frames(pin, robot, model, data, x["q"], rows[lead:], lead)
    friction = np.array([[number(j.FV), number(j.FS)] for j in moving], dtype=float).reshape(-1, 2)
    theirs = np.column_stack((model.damping, model.friction))[rows[lead:]]
    parts["drives"] = float(np.abs(friction - theirs).max(initial=0.0))
    parts["joints"] = float(model.nv != robot.n + lead)
    return parts


def _pinocchio_frames(
    pin: Any, robot: Robot, model: Any, data: Any, q: np.ndarray, rows: list[int], lead: int
) -> float:
    if lead:
        return 0.0
    step = np.zeros(model.nv)
    step[rows] = q
    pin.framesForwardKinematics(model, data, pin.integrate(model, pin.neutral(model), step))
    theirs = {
        f.name: data.oMf[k].homogeneous for k, f in enumerate(model.frames)
        if f.type == pin.FrameType.BODY
    }  # fmt: skip
    links = poses(robot, q)
    apart = [
        np.abs(links[item.link] @ frame_matrix(item) - theirs[item.name]).max()
        for item in robot.frames if item.name in theirs
    ]  # fmt: skip
    return float(max(apart, default=0.0))


# macros and SDFormat


def _of_xacro(path: Path, *root: Any) -> Any:
    import pinocchio
    import xacro

    return pinocchio.buildModelFromXML(xacro.process_file(str(path)).toxml(), *root)


def _no_peer(path: Path) -> Any:
    raise ValueError(f"no library here reads {path.suffix}")


_PEERS: dict[str, Callable[..., Any]] = {
    ".xml": _of_mujoco,
    ".urdf": _of_pinocchio,
    ".xacro": _of_xacro,
}
warnings.simplefilter("ignore")
