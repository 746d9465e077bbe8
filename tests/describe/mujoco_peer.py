"""A robot read from MJCF beside MuJoCo's own model of the file: inertia matrix, bias, drives."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.describe.mechanics import poses

import cardan
from cardan.describe.robot import FIXED, Joint, Robot
from cardan.describe.values.expression import number
from cardan.describe.xml.write import frame_matrix

__all__ = [
    "ball_axes", "blank", "difference", "drives_differ", "free_joint", "joint_ids", "put",
    "torque_limit",
]  # fmt: skip


def difference(robot: Robot, model: Any, states: int = 5) -> float:
    """The largest error of A and of H = C qd + Q at random states, by their largest entries.

    H has springs and viscous friction, and so have MuJoCo's passive forces, with whatever else the
    file asks for (`blank`). Constraints, dry friction and controls are off. On a floating base both
    are taken in the axes of the base: MuJoCo has its velocity in those of the world."""
    mujoco = pytest.importorskip("mujoco")
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    tree = robot.tree()
    drives = tuple(replace(drive, FS=0) for drive in tree.drives)
    tree = replace(tree, joints=tuple(map(_smooth, tree.joints)), drives=drives)
    free = free_joint(robot, model)
    lead = 0 if free is None else 6
    A, H = (cardan.model(tree, name, effort="plain") for name in ("inertia-matrix", "bias"))
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(states):
        x = dict(zip(("q", "qd"), rng.uniform(-1, 1, (2, robot.n)), strict=True))
        B, drift = np.zeros((model.nv, lead + robot.n)), np.zeros(model.nv)
        B[:, lead:], drift[:] = put(robot, model, data, x["q"], x["qd"])
        if free is not None:
            first = int(model.jnt_dofadr[free])
            R = _turn(mujoco, data, rng, int(model.jnt_qposadr[free]))
            x["V0"] = rng.uniform(-1, 1, 6)
            x["g0"] = R.T @ _gravity(mujoco, model)
            data.qvel[first : first + 6] = [*(R @ x["V0"][:3]), *x["V0"][3:]]
            B[first : first + 3, :3], B[first + 3 : first + 6, 3:6] = R, np.eye(3)
        mujoco.mj_forward(model, data)
        full = full_matrix(model, data)
        M, h = B.T @ full @ B, B.T @ (data.qfrc_bias - data.qfrc_passive + full @ drift)
        ours = [p.evaluate(**{key: x[key] for key in p.inputs}) for p in (A, H)]
        scale = np.abs(M).max()
        worst = max(worst, float(np.abs(ours[0] - M).max() / scale))
        worst = max(worst, float(np.abs(ours[1] - h).max() / max(np.abs(h).max(), 1e-3 * scale)))
    return worst


def blank(robot: Robot, model: Any, told: Iterable[str]) -> tuple[Robot, list[str]]:
    """Take out of MuJoCo's model what a reader's warnings say it left out, and nothing else; the
    warnings that took something. Of damping that ball joints have, which three hinges take in
    another way, the robot loses its part too."""
    text, used = " | ".join(told), []

    def out(words: str, *parts: tuple[Any, Any]) -> bool:
        """Zero these parts where the words were said."""
        if words not in text:
            return False
        hit = [part for part, which in parts if np.any(part[which])]
        for part, which in parts:
            part[which] = 0
        used.extend([words] * bool(hit))
        return True

    every = slice(None)
    kinds, dofs = model.jnt_type, model.jnt_type[model.dof_jntid]
    out("springs of tendons", (model.tendon_stiffness, every), *_poly(model, "tendon_stiffness"))
    over_sites = np.array([model.wrap_type[k] != 1 for k in model.tendon_adr], bool)
    pulls = (model.actuator_trntype == 3) & np.isin(
        model.actuator_trnid[:, 0], np.flatnonzero(over_sites)
    )
    out("damping of tendons over sites", (model.tendon_damping, over_sites),
        (model.actuator_damping, pulls), *_poly(model, "tendon_damping", over_sites),
        *_poly(model, "actuator_damping", pulls))  # fmt: skip
    out("friction of tendons over sites", (model.tendon_frictionloss, over_sites))
    out("tendons beside elastic joints", (model.tendon_damping, every),
        (model.tendon_frictionloss, every), *_poly(model, "tendon_damping"))  # fmt: skip
    out("springs of ball joints", (model.jnt_stiffness, kinds == 1))
    out("stiffness of a free joint", (model.jnt_stiffness, kinds == 0))
    out("damping of a free joint", (model.dof_damping, dofs == 0))
    out("frictionloss of a free joint", (model.dof_frictionloss, dofs == 0))
    out("gravity compensation", (model.body_gravcomp, every))
    out("springs of higher order", *_poly(model, "jnt_stiffness"))
    cubic = (slice(None), 1)
    out("damping of higher order", *(
        part for name in ("dof_damping", "actuator_damping", "tendon_damping")
        for part in _poly(model, name, cubic)
    ))  # fmt: skip
    if "forces of the fluid" in text:
        used += ["forces of the fluid"] * bool(model.opt.density or model.opt.viscosity)
        model.opt.density = model.opt.viscosity = 0
    if out("armature of a free joint", (model.dof_armature, dofs == 0)):
        import mujoco

        mujoco.mj_setConst(model, mujoco.MjData(model))  # M of simple bodies is kept there
    if out("damping and friction of ball joints", *(
        (getattr(model, f"dof_{key}"), dofs == 1) for key in ("armature", "damping", "frictionloss")
    )):  # fmt: skip
        moving = [j for j, joint in enumerate(robot.joints) if joint.sigma != FIXED]
        bare = {moving[k + n] for k, _ in ball_axes(robot, model).values() for n in range(3)}
        joints = [
            replace(x, IA=0, FV=0, FQ=0, FS=0) if j in bare else x
            for j, x in enumerate(robot.joints)
        ]
        robot = replace(robot, joints=tuple(joints))
    for words, which in _left_constraints(robot, model).items():
        out(words, (model.eq_active0, which))
    return robot, used


def _poly(model: Any, name: str, which: Any = slice(None)) -> list[tuple[Any, Any]]:
    """Coefficients of higher order, which MuJoCo has since version 4."""
    return [(getattr(model, f"{name}poly"), which)] if hasattr(model, f"{name}poly") else []


def _left_constraints(robot: Robot, model: Any) -> dict[str, np.ndarray]:
    """By the words of the warning, the constraints that it may mean."""
    own = {x.name for x in (*robot.joints, *robot.links, robot.base.link)}
    own |= {item.name for item in robot.frames}
    kinds = model.eq_type
    curved = (kinds == 2) & (model.eq_data[:, 2:5] != 0).any(axis=1)
    mocap = model.body_mocapid >= 0
    hand, outside = np.zeros(model.neq, bool), np.zeros(model.neq, bool)
    for k in range(model.neq):
        ends = [model.eq_obj1id[k], model.eq_obj2id[k]]
        bodies = [model.site_bodyid[i] if model.eq_objtype[k] == 6 else i for i in ends]
        if kinds[k] < 2:
            hand[k] = any(mocap[i] for i in bodies)
            names = [model.body(i).name for i in bodies if i > 0]
        elif kinds[k] == 2:
            names = [model.joint(i).name for i in ends if i >= 0]
        else:
            names = []
        outside[k] = any(name and name not in own for name in names)
    return {
        "<equality><joint> of higher order": curved, "<equality><tendon> is left out": kinds == 3,
        "<equality><flex": kinds > 3, "constraints with mocap bodies": hand,
        "constraints with what is left out": outside,
    }  # fmt: skip


def _smooth(joint: Joint) -> Joint:
    """Without dry friction; an elastic joint with its spring and damping beside a motor."""
    bare = replace(joint, FS=0)
    if not joint.elastic:
        return bare
    spring = {"spring": joint.stiffness, "neutral": joint.rest, "FV": joint.damping}
    return replace(bare, elastic=False, stiffness=0, rest=0, damping=0, **spring)


def put(
    robot: Robot, model: Any, data: Any, q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give the joints of MuJoCo's model the positions and velocities of the robot's; B and b of
    its velocities v = B qd, and accelerations B qdd + b. Three hinges are a ball joint there."""
    ids, balls = joint_ids(robot, model), ball_axes(robot, model)
    data.qpos[:], data.qvel[:] = held_positions(model), 0.0
    B, drift = np.zeros((model.nv, robot.n)), np.zeros(model.nv)
    for k, i in enumerate(ids):
        if i not in balls:
            data.qpos[model.jnt_qposadr[i]] = q[k]
            B[model.jnt_dofadr[i], k] = 1.0
    for i, (k, axes) in balls.items():
        at, step = int(model.jnt_qposadr[i]), 1e-30
        rows, own = slice(int(model.jnt_dofadr[i]), int(model.jnt_dofadr[i]) + 3), slice(k, k + 3)
        data.qpos[at : at + 4] = _quaternion(q[own], axes)
        B[rows, own] = _rates(q[own], axes).real
        drift[rows] = _rates(q[own] + 1j * step * qd[own], axes).imag @ qd[own] / step
    data.qvel[:] = B @ qd
    return B, drift


def ball_axes(robot: Robot, model: Any) -> dict[int, tuple[int, np.ndarray]]:
    """Of each ball joint the place of the first of its three hinges, and their axes in its body."""
    moving = [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]
    links, balls = poses(robot, np.zeros(robot.n)), {}
    frames = {item.name: links[item.link] @ frame_matrix(item) for item in robot.frames}
    for k, i in enumerate(joint_ids(robot, model)):
        if model.jnt_type[i] == 1 and i not in balls:
            body = frames.get(robot.links[moving[k + 2] - 1].name, links[moving[k + 2]])
            axes = np.column_stack([links[moving[k + n]][:3, 2] for n in range(3)])
            balls[i] = k, body[:3, :3].T @ axes
    return balls


def _quaternion(q: np.ndarray, axes: np.ndarray) -> np.ndarray:
    import mujoco

    whole = np.array([1.0, 0.0, 0.0, 0.0])
    for k in range(3):
        turn, product = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(turn, axes[:, k], q[k])
        mujoco.mju_mulQuat(product, whole, turn)
        whole = product
    return whole


def _rates(q: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The angular velocity of three hinges in the last body, by their rates."""
    columns, R = [], np.eye(3, dtype=complex)
    for k in (2, 1, 0):
        columns.insert(0, R.T @ axes[:, k])
        x, y, z = axes[:, k]
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        R = (np.eye(3) + np.sin(q[k]) * K + (1 - np.cos(q[k])) * (K @ K)) @ R
    return np.column_stack(columns)


def drives_differ(robot: Robot, model: Any) -> float:
    """The largest difference of the power that dry friction takes at random velocities, and of
    springs relative to 1 or the stiffness. Springs of balls are left out."""
    import mujoco

    ids = joint_ids(robot, model)
    moving = [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]
    joints = [robot.joints[j - 1] for j in moving]
    rub = [
        *(({j: 1.0}, joint.FS) for j, joint in zip(moving, joints, strict=True)),
        *(({j: number(x) for j, x in drive.joints}, drive.FS) for drive in robot.drives),
    ]
    data, rng, worst = mujoco.MjData(model), np.random.default_rng(0), 0.0
    for _ in range(2):
        q, qd = rng.uniform(-1, 1, (2, robot.n))
        put(robot, model, data, q, qd)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        speed = dict(zip(moving, qd, strict=True))
        ours = sum(
            float(number(FS) or 0) * abs(sum(k * speed[j] for j, k in ratios.items()))
            for ratios, FS in rub
        )  # fmt: skip
        theirs = model.dof_frictionloss @ np.abs(data.qvel)
        theirs += model.tendon_frictionloss @ np.abs(data.ten_velocity)
        worst = max(worst, abs(ours - float(theirs)))
    on = not model.opt.disableflags & pytest.importorskip("mujoco").mjtDisableBit.mjDSBL_SPRING
    for joint, i in zip(joints, ids, strict=True):
        k, rest = (joint.stiffness, joint.rest) if joint.elastic else (joint.spring, joint.neutral)
        theirs = on * np.ravel(model.jnt_stiffness[i])[0] if model.jnt_type[i] != 1 else 0.0
        worst = max(worst, abs(number(k) - theirs) / max(1.0, theirs))
        if theirs:
            worst = max(worst, abs(number(rest) - model.qpos_spring[model.jnt_qposadr[i]]))
    return worst


def torque_limit(model: Any, i: int) -> float:
    """What the actuators of a hinge or slide can exert in both directions, as MuJoCo answers to
    controls without end; infinite where nothing bounds it, or one direction alone is allowed."""
    import mujoco

    model = copy(model)
    kind = model.actuator_biastype
    biased = (kind > 1) | ((kind == 1) & model.actuator_biasprm.any(1))
    model.actuator_ctrllimited[biased] = 0  # what it turns by adds to it
    data, row = mujoco.MjData(model), int(model.jnt_dofadr[i])
    mujoco.mj_forward(model, data)
    moment = np.zeros((model.nu, model.nv))
    if model.nu:
        pattern = data.moment_rownnz, data.moment_rowadr, data.moment_colind
        mujoco.mju_sparse2dense(moment, data.actuator_moment, *pattern)
    kinds, targets = model.actuator_trntype, model.actuator_trnid[:, 0]
    fixed = {k for k in range(model.ntendon) if model.wrap_type[model.tendon_adr[k]] == 1}
    pushing = [
        k for k in range(model.nu) if moment[k, row]
        and (kinds[k] in (0, 1) or (kinds[k] == 3 and int(targets[k]) in fixed))
    ]  # fmt: skip
    if not pushing:
        return min(*np.abs(model.jnt_actfrcrange[i])) if model.jnt_actfrclimited[i] else np.inf
    loose = [
        k for k in pushing
        if (model.actuator_gaintype[k] or biased[k])
        and not model.actuator_forcelimited[k]
        and not (kinds[k] == 3 and model.tendon_actfrclimited[targets[k]])
    ]  # fmt: skip
    ends = []
    for sign in (-1, 1):
        data.ctrl[:] = 0
        for k in pushing:
            gain = model.actuator_gainprm[k, 0] or 1.0
            x = sign * 1e9 * np.sign(gain * moment[k, row])
            data.ctrl[k] = x
            if model.actuator_actnum[k]:
                limits = model.actuator_ctrlrange[k]
                follows = model.actuator_dyntype[k] in (2, 3) and model.actuator_ctrllimited[k]
                data.act[model.actuator_actadr[k]] = np.clip(x, *limits) if follows else x
        mujoco.mj_fwdActuation(model, data)
        ends.append(sign * float(data.qfrc_actuator[row]))
    effort = min(ends)
    free = effort > 1e6 or (loose and not model.jnt_actfrclimited[i])
    return np.inf if free or effort <= 0 else effort


def free_joint(robot: Robot, model: Any) -> int | None:
    """MuJoCo's number of the free joint of a floating base."""
    if robot.base.kind != "floating":
        return None
    free = [i for i in range(model.njnt) if model.jnt_type[i] == 0]
    named = [i for i in free if model.body(model.jnt_bodyid[i]).name == robot.base.link.name]
    return (named or free)[0]


def held_positions(model: Any) -> np.ndarray:
    """qpos where the file draws the robot, with the joints that it holds where they are held."""
    home = model.qpos0.copy()
    for k in range(model.neq):
        if model.eq_type[k] == 2 and model.eq_active0[k]:
            polynomial, second = model.eq_data[k, :5], model.eq_obj2id[k]
            if second < 0 or not polynomial[1:].any():
                home[model.jnt_qposadr[model.eq_obj1id[k]]] += polynomial[0]
    return home


def joint_ids(robot: Robot, model: Any) -> list[int]:
    """MuJoCo's numbers of the robot's joints: by name, and in their order where they have none."""
    names = {model.joint(i).name: i for i in range(model.njnt) if model.joint(i).name}
    free = free_joint(robot, model)
    roots = model.body_rootid[model.jnt_bodyid]
    free_roots = {int(roots[i]) for i in range(model.njnt) if model.jnt_type[i] == 0}
    own = {int(roots[free])} if free is not None else set(map(int, roots)) - free_roots
    nameless = (
        i for i in range(model.njnt) if not model.joint(i).name and int(roots[i]) in own
        for _ in range(3 if model.jnt_type[i] == 1 else int(model.jnt_type[i] > 1))
    )  # fmt: skip
    names |= {f"{name}_{k}": i for name, i in names.items() if model.jnt_type[i] == 1
              for k in (1, 2, 3)}  # fmt: skip
    moving = [joint.name for joint in robot.joints if joint.sigma != FIXED]
    return [names[name] if name in names else next(nameless) for name in moving]


def full_matrix(model: Any, data: Any) -> np.ndarray:
    import mujoco

    M = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, M)
    except TypeError:  # before version 4
        mujoco.mj_fullM(model, M, data.qM)
    return M


def _turn(mujoco: Any, data: Any, rng: np.random.Generator, first: int) -> np.ndarray:
    """A random orientation of the free joint whose numbers in qpos start there."""
    quaternion, R = rng.normal(size=4), np.zeros(9)
    data.qpos[first + 3 : first + 7] = quaternion / np.linalg.norm(quaternion)
    mujoco.mju_quat2Mat(R, data.qpos[first + 3 : first + 7])
    return R.reshape(3, 3)


def _gravity(mujoco: Any, model: Any) -> np.ndarray:
    off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    return np.zeros(3) if off else model.opt.gravity


def tied_difference(robot: Robot, model: Any, states: int = 2) -> float:
    """The largest error of the accelerations of a robot with loops or couplings, by their largest
    entry, against

        M a + h = tau + passive + J^T lambda,   J a = -Jd v

    with MuJoCo's M, h, passive forces and constraints.

    The states are MuJoCo's own: Newton's method on its constraints from random positions of the
    tree, velocities in the null space of J. What spins idly is held on both sides. The damping of
    ball joints and dry friction are off."""
    import mujoco

    off, bit = model.opt, mujoco.mjtDisableBit
    off.disableflags |= bit.mjDSBL_CONTACT | bit.mjDSBL_LIMIT | bit.mjDSBL_ACTUATION
    off.disableflags |= bit.mjDSBL_FRICTIONLOSS
    off.jacobian = 0
    for i in ball_axes(robot, model):
        model.dof_damping[model.jnt_dofadr[i] : model.jnt_dofadr[i] + 3] = 0
    data = mujoco.MjData(model)
    balls = {k + n for k, _ in ball_axes(robot, model).values() for n in range(3)}
    moving = [j for j, joint in enumerate(robot.joints) if joint.sigma != FIXED]
    bare = {moving[k] for k in balls}
    joints = [replace(x, FS=0, FV=0 if j in bare else x.FV) for j, x in enumerate(robot.joints)]
    drives = tuple(replace(drive, FS=0) for drive in robot.drives)
    robot = replace(robot, joints=tuple(joints), drives=drives)
    program = cardan.model(robot, "direct-dynamics", effort="plain")
    columns = {f"q{j + 1}": k for k, j in enumerate(moving)}
    active, driven = (
        [
            columns[name]
            for name in program.meaning[key].rpartition(": ")[2].split(", ")
            if name != "none"
        ]
        for key in ("qd", "tau")
    )
    geometry = cardan.model(robot, "loop-geometry") if robot.loops else None
    idle = [] if geometry is None else [columns[f"q{j}"] for j in geometry.analysis.idle]
    rng, worst, n = np.random.default_rng(0), 0.0, robot.n

    def constraints(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """r and its derivatives by q."""
        B, _ = put(robot, model, data, q, np.zeros(n))
        mujoco.mj_fwdPosition(model, data)
        rows = slice(0, data.ne)
        return data.efc_pos[rows].copy(), data.efc_J.reshape(-1, model.nv)[rows] @ B

    refs = [model.qpos0[model.jnt_qposadr[i]] for i in joint_ids(robot, model)]
    refs = [0.0 if k in balls else x for k, x in enumerate(refs)]
    for _ in range(states):
        q = np.array(refs) + 0.1 * rng.uniform(-1, 1, n)
        for _ in range(100):
            r, J = constraints(q)
            q = q - np.linalg.lstsq(J, r, rcond=1e-9)[0]
        assert np.abs(r).max() < 1e-10
        still = np.vstack((constraints(q)[1], np.eye(n)[idle]))
        singular = np.linalg.svd(still)
        basis = singular[2][(singular[1] > 1e-8 * singular[1][0]).sum() :]
        qd = basis.T @ rng.uniform(-1, 1, len(basis))
        h = 1e-5
        Jdv = (constraints(q + h * qd)[1] - constraints(q - h * qd)[1]) @ qd / (2 * h)
        Jdv = np.concatenate((Jdv, np.zeros(len(idle))))
        x = {"q": q, "qd": qd[active], "tau": rng.uniform(-1, 1, len(driven))}
        free, lead = free_joint(robot, model), 0
        if free is not None:
            lead, first = 6, int(model.jnt_dofadr[free])
        B, drift = np.zeros((model.nv, lead + n)), np.zeros(model.nv)
        B[:, lead:], drift[:] = put(robot, model, data, q, qd)
        if lead:
            R = _turn(mujoco, data, rng, int(model.jnt_qposadr[free]))
            x["V0"], x["g0"] = rng.uniform(-1, 1, 6), R.T @ _gravity(mujoco, model)
            data.qvel[first : first + 6] = [*(R @ x["V0"][:3]), *x["V0"][3:]]
            B[first : first + 3, :3], B[first + 3 : first + 6, 3:6] = R, np.eye(3)
        mujoco.mj_forward(model, data)
        full = full_matrix(model, data)
        force = B.T @ (data.qfrc_passive - data.qfrc_bias - full @ drift)
        force[lead + np.array(driven, int)] += x["tau"]
        M, J = B.T @ full @ B, np.hstack((np.zeros((len(still), lead)), still))
        size = len(J)
        K = np.block([[M, J.T], [J, np.zeros((size, size))]])
        a = np.linalg.lstsq(K, np.concatenate((force, -Jdv)), rcond=1e-13)[0][: lead + n]
        ours = program.evaluate(**{key: x[key] for key in program.inputs})
        ours = np.concatenate(ours[::-1]) if lead else ours
        theirs = a[[*range(lead), *(lead + k for k in active)]]
        worst = max(
            worst,
            float(np.abs(ours - theirs).max(initial=0) / (np.abs(theirs).max(initial=0) or 1)),
        )
    return worst
