"""The arm angle of a seven-joint arm with spherical shoulder and wrist: iiwa, LWR.

With S the shoulder, W the wrist and E the elbow, the elbow turns on a circle about the line SW. The
arm angle is its place there: 0 where E is on the side of the first axis, in the plane of that axis
and the line, growing by the right hand about the line from S to W.

    E - S = a n + h (cos psi e1 + sin psi e2),  n along SW,  e1 along z1 - (z1.n) n,  e2 = n x e1
    a = (SE^2 + SW^2 - EW^2) / (2 SW),  h^2 = SE^2 - a^2
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.scalar import cos_sin, function, is_zero
from ...algebra.vector import Vec, cross, dot
from ...describe.robot import REVOLUTE
from ...errors import ModelError
from .chain import Chain, NumericChain

Scalar = Any
ARM_ANGLE = "arm-angle"
TINY = 1e-20


def has_arm_plane(chain: Chain) -> bool:
    """Is a chain one of seven revolute joints with spherical shoulder and wrist?"""
    joints = chain.joints
    return (
        len(joints) == 7
        and all(joint.sigma == REVOLUTE for joint in joints)
        and all(is_zero(joint.d) for joint in joints)
        and all(is_zero(joints[j].r) for j in (1, 3, 5))
        and not any(is_zero(joints[j].r) for j in (2, 4))
    )


def require_arm_plane(chain: Chain) -> None:
    """Refuse a chain without an arm plane."""
    if not has_arm_plane(chain):
        raise ModelError(
            f"the arm angle needs seven revolute joints with spherical shoulder and wrist;"
            f" '{chain.robot}' is not built so",
            remedy=f"name a joint instead, as free='{chain.names[-1]}'",
        )


def elbow(W: Vec, upper: Scalar, lower: Scalar, psi: Scalar) -> Vec:
    """E - S of the wrist W - S, the two lengths and the arm angle."""
    W2 = dot(W, W)
    over = 1 / function("sqrt", W2)
    n = W * over
    across = Vec(0, 0, 1) - n * n[2]
    size = dot(across, across)
    graph = W2.graph
    on_axis = TINY - size  # the line is the first axis: any direction across will do
    side = Vec(1, 0, 0) - n * n[0]
    size = graph.apply("select", on_axis, dot(side, side), size)
    over1 = 1 / function("sqrt", size)
    e1 = Vec(
        *[graph.apply("select", on_axis, x, y) for x, y in zip(side, across, strict=True)]
    ) * over1  # fmt: skip
    e2 = cross(n, e1)
    a = (upper * upper - lower * lower + W2) * over / 2
    h = function("sqrt", function("max", upper * upper - a * a, 0))
    c, s = cos_sin(psi)
    found: Vec = n * a + (e1 * c + e2 * s) * h
    return found


def arm_angle(chain: NumericChain, q: Any) -> NDArray[np.float64]:
    """The arm angle of configurations (..., 7), in (-pi, pi]."""
    frames = chain.frames(np.asarray(q, float))
    S, E, W = (frames[j][..., :3, 3] for j in (2, 3, 5))
    axis = np.broadcast_to(chain.base[:3, 2], S.shape)
    n = (W - S) / np.linalg.norm(W - S, axis=-1, keepdims=True)
    e1 = axis - (axis * n).sum(-1, keepdims=True) * n
    e2 = np.cross(n, e1)
    found: NDArray[np.float64] = np.arctan2(((E - S) * e2).sum(-1), ((E - S) * e1).sum(-1))
    return found
