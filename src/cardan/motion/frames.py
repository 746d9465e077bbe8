"""Poses of all links over a motion, and where their centres of mass are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..describe.frames import matrix_of, placement_of
from ..describe.robot import FIXED, GEOMETRY, PRISMATIC, REVOLUTE, Frame, Robot
from ..errors import InputError
from ..mechanism.frames import frame_of
from .joints import array, number, require_numbers


@named_arguments
def link_frames(robot: Robot, q: Numbers, base: Any = None) -> np.ndarray:
    """0Tj (or, with base poses (..., 4, 4), in the world) of all frames: (..., nl + 1, 4, 4).

    Frame 0 comes first. q (..., n). iTj is [K10] (1)."""
    require_numbers(robot, "the frames")
    q = array("q", q)
    if q.shape[-1:] != (robot.n,):
        raise InputError(f"q has shape {q.shape}; expected (..., {robot.n}): a value per joint")
    lead = q.shape[:-1]
    T = np.zeros((*lead, len(robot.links) + 1, 4, 4))
    T[..., 0, :, :] = np.eye(4) if base is None else base
    k = 0
    for j, joint in enumerate(robot.joints, 1):
        gamma, b, alpha, d, theta, r = (number(getattr(joint, key)) for key in GEOMETRY)
        moved = np.zeros(lead)
        if joint.sigma != FIXED:
            moved, k = q[..., k], k + 1
        angle = theta + moved * (joint.sigma == REVOLUTE)
        along = r + moved * (joint.sigma == PRISMATIC)
        before = matrix_of((gamma, b, alpha, d, 0.0, 0.0))
        local = np.zeros((*lead, 4, 4))
        c, s = np.cos(angle), np.sin(angle)
        local[..., 0, 0], local[..., 0, 1], local[..., 1, 0], local[..., 1, 1] = c, -s, s, c
        local[..., 2, 2], local[..., 3, 3], local[..., 2, 3] = 1, 1, along
        T[..., j, :, :] = T[..., joint.antecedent, :, :] @ (before @ local)
    return T


def frame_poses(robot: Robot, T: np.ndarray, name: Any = None) -> np.ndarray:
    """Poses (..., 4, 4) of a named frame (default: the end effector), of those of all links."""
    frame = frame_of(robot, name)
    return np.asarray(T[..., frame.link, :, :] @ placement(frame))


def placement(frame: Frame) -> np.ndarray:
    """jTE of a frame on link j."""
    xyz, rpy = ([number(x) for x in values] for values in (frame.xyz, frame.rpy))
    return placement_of(xyz, rpy)


def centres_of_mass(robot: Robot, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(mass (nl+1), M·position (..., nl+1, 3)) of all links, the base first."""
    links = (robot.base.link, *robot.links)
    M = np.array([number(link.M) for link in links])
    MS = np.array([[number(getattr(link, key)) for key in ("MX", "MY", "MZ")] for link in links])
    moments = np.einsum("...lij,lj->...li", T[..., :3, :3], MS) + M[:, None] * T[..., :3, 3]
    return M, moments
