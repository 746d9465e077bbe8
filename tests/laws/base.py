"""Base parameters on random robots: minimal, and the same torques."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from tests.laws.draw import close, fixed_base, matrix, scene_of
from tests.laws.laws import parameters, regression
from tests.random_robots import random_robot

from cardan.build.base import base_parameters
from cardan.describe.robot import FIXED, PRISMATIC, REVOLUTE, Robot
from cardan.exact import exact, pi
from cardan.models.regressor import columns

__all__ = ["draw_base", "law_base_parameters", "observed_rank"]

Rng = np.random.Generator


def draw_base(seed: int) -> Robot:
    """Robots where base parameters are hard: first joints of any kind, parallel and perpendicular
    axes, branches on the base, fixed frames, gravity zero, along the first axis or anywhere."""
    rng = random.Random(f"base {seed}")
    robot = random_robot(
        seed, rng.randint(1, 7), special=rng.random() < 0.85, base_motion=rng.random() < 0.2
    )
    kinds = rng.choice([(REVOLUTE,), (PRISMATIC,), (REVOLUTE, PRISMATIC), (0, 0, 1, 2)])
    right = rng.random() < 0.5  # right angles only
    joints = []
    for j, joint in enumerate(robot.joints):
        changed = replace(joint, sigma=rng.choice(kinds))
        if right:
            changed = replace(
                changed, alpha=pi * rng.randint(-1, 2) / 2,
                gamma=pi * rng.randint(-1, 2) / 2 if rng.random() < 0.3 else 0,
            )  # fmt: skip
        if j and rng.random() < 0.15:
            changed = replace(changed, antecedent=0)
        joints.append(changed)
    if all(joint.sigma == FIXED for joint in joints):
        joints[0] = replace(joints[0], sigma=REVOLUTE)
    heavy = [replace(link, M=int(np.ceil(float(link.M)))) for link in robot.links]
    links = [b if rng.random() < 0.2 else a for a, b in zip(robot.links, heavy, strict=True)]
    robot = replace(robot, joints=tuple(joints), links=tuple(links))
    if rng.random() < 0.5:
        robot = fixed_base(robot)
    choice = rng.randrange(4)
    gravity = ((0, 0, 0), (0, 0, exact("-9.81")), _first_axis(robot), robot.gravity)[choice]
    return replace(robot, gravity=gravity)


def _first_axis(robot: Robot) -> tuple:
    """Gravity along the axis of joint 1, where it is a right angle; else along y."""
    joint = robot.joints[0]
    if joint.alpha == 0:
        return (0, 0, exact("9.81"))
    return (0, exact("-9.81"), 0)


def observations(robot: Robot, rng: Rng, wanted: list[tuple[str, int]]) -> np.ndarray:
    """The regressor at many random states, one row per torque."""
    scene = scene_of(robot)
    count = max(40, 4 * len(wanted) // robot.n + 20)
    q, qd, qdd = (list(rng.uniform(-2, 2, (robot.n, count))) for _ in range(3))
    D = matrix(regression(scene.unloaded(), q, qd, qdd, wanted), (count,))
    return D.reshape(-1, len(wanted))


def observed_rank(D: np.ndarray) -> tuple[int, float]:
    """(rank, gap): the number of base parameters, and how clear the drop of singular values is."""
    norms = np.linalg.norm(D, axis=0)
    D = D[:, norms > 1e-10] / norms[norms > 1e-10]
    if not D.size:
        return 0, np.inf
    values = np.linalg.svd(D, compute_uv=False)
    values = values / values[0]
    rank = int(np.sum(values > 1e-9))
    below = values[rank] if rank < len(values) else 0
    return rank, float(values[rank - 1] / max(below, 1e-16))


def law_base_parameters(robot: Robot, rng: Rng) -> None:
    """As many as the rank of the regressor, by both methods, with the same torques and map."""
    wanted = columns(scene_of(robot), drives=("IA",))
    D = observations(robot, rng, wanted)
    rank, gap = observed_rank(D)
    assert gap > 1e2, f"the rank of the regressor is not clear: gap {gap:.1e}"
    K = parameters(robot, wanted)
    tau = D @ K
    scale = float(np.max(np.abs(D) @ np.abs(K)))
    for method in ("symbolic", "numeric"):
        found = base_parameters(robot, method=method)
        count = len(found.kept)
        assert count == rank, f"{method}: {count} base parameters, the rank is {rank}"
        assert set(found.kept).isdisjoint(found.eliminated)
        assert {*found.kept, *found.eliminated} == set(wanted), f"{method}: some are forgotten"
        kept = [wanted.index(c) for c in found.kept]
        carried = parameters(found.robot, wanted)
        close(D @ carried, tau, f"{method}: torques", scale, 1e-8)
        full = parameters(robot, [c for c in found.full if c[1]])
        ahead = len(found.full) - len(full)
        close(found.map[:, ahead:] @ full, carried[kept], f"{method}: map", 1e-3, 1e-8)
