"""Arms for the tests of inverse geometry: rows (sigma, alpha, d, theta, r), modified DH."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.describe.robot import Joint, Link, Robot
from cardan.exact import exact, pi

__all__ = ["ARMS", "arm", "reached", "wrapped"]

H = pi / 2
Row = tuple[Any, Any, Any, Any, Any]


def _f(x: Any) -> Any:
    return exact(repr(x)) if isinstance(x, float) else x


def arm(name: str, rows: list[Row]) -> Robot:
    """A robot of these rows; sigma 2 is a fixed frame."""
    joints, links = [], []
    for j, (sigma, alpha, d, theta, r) in enumerate(rows, 1):
        joints.append(
            Joint(f"joint{j}", j - 1, sigma, alpha=_f(alpha), d=_f(d), theta=_f(theta), r=_f(r))
        )
        links.append(Link(f"link{j}"))
    return Robot(name, tuple(links), tuple(joints))


WRIST = [(0, -H, 0, 0, 0.4), (0, H, 0, 0, 0), (0, -H, 0, 0, 0)]
SKEW_WRIST = [(0, 0.7, 0.05, 0.2, 0.4), (0, 1.1, 0, 0.1, 0), (0, -0.9, 0, 0.3, 0.08)]
SHOULDER = [(0, 0.3, 0.1, 0.1, 0.2), (0, H, 0, 0.2, 0), (0, -H, 0, 0, 0)]

ARMS: dict[str, Robot] = {
    robot.name: robot
    for robot in [
        # closed by Paul's types
        arm("shoulder offset", [(0, 0, 0, 0, 0.4), (0, -H, 0.15, -H, 0), (0, 0, 0.6, 0, 0.02),
                                (0, -H, 0.1, 0, 0.64), (0, H, 0, 0, 0), (0, -H, 0, 0, 0.1)]),
        arm("base and tool", [(2, 0.4, 0.2, 0.3, 0.5), (0, 0.2, 0.1, 0.5, 0.4), (0, -H, 0, -H, 0),
                              (0, 0, 0.6, 0.3, 0.02), *WRIST, (2, 0.3, 0.1, 0.2, 0.15),
                              (2, H, 0.05, 0.7, 0)]),
        arm("PPPRRR", [(1, 0, 0, 0, 0), (1, H, 0, H, 0), (1, H, 0, 0, 0), *WRIST]),
        arm("skew PPPRRR", [(1, 0.2, 0, 0, 0), (1, 1.1, 0.1, 0.4, 0), (1, 0.8, 0, 0.7, 0.1),
                            *SKEW_WRIST]),
        arm("RRPRRR", [(0, 0, 0, 0, 0.5), (0, -H, 0, 0, 0.2), (1, H, 0, 0, 0.1), *WRIST]),
        arm("RPPRRR", [(0, 0, 0, 0, 0), (1, 0, 0.1, 0, 0.3), (1, -H, 0, 0, 0.2), *WRIST]),
        arm("PRRRRR", [(1, 0, 0, 0, 0.1), (0, 0, 0.3, 0, 0), (0, 0, 0.25, 0, 0.1), *WRIST]),
        arm("SCARA RRPR", [(0, 0, 0, 0.3, 0.4), (0, 0, 0.3, 0, 0), (1, pi, 0.25, 0, 0),
                           (0, 0, 0, 0, 0.1)]),
        arm("5R", [(0, 0, 0, 0, 0.3), (0, -H, 0.05, 0, 0), (0, 0, 0.3, 0, 0), (0, 0, 0.25, 0, 0),
                   (0, -H, 0, 0, 0.1)]),
        arm("4R", [(0, 0, 0, 0, 0.3), (0, -H, 0, 0, 0), (0, 0, 0.3, 0, 0), (0, 0, 0.25, 0, 0),
                   (2, 0, 0.1, 0, 0)]),
        arm("RRR ortho", [(0, 0, 0, 0, 0.3), (0, H, 0.2, 0, 0.1), (0, H, 0.3, 0, 0.2),
                          (2, 0, 0.2, 0, 0)]),
        arm("UR skew", [(0, 0, 0, 0.1, 0.2), (0, H, 0, 0.2, 0.1), (0, 0, -0.4, 0, 0),
                        (0, 0, -0.35, 0.1, 0.11), (0, 1.2, 0, 0, 0.1), (0, -1.3, 0, 0, 0.08)]),
        # three intersecting axes, degree 4
        arm("offset arm", [(0, 0, 0, 0, 0.3), (0, -1.2, 0.2, 0.3, 0.1), (0, 0.8, 0.5, 0.1, 0.12),
                           *SKEW_WRIST]),
        arm("ortho offset arm", [(0, 0, 0, 0, 0.3), (0, -H, 0.2, 0, 0.1), (0, H, 0.5, 0, 0.12),
                                 *WRIST]),
        arm("shoulder", [*SHOULDER, (0, 0.6, 0.3, 0.2, 0.1), (0, -1.1, 0.4, 0.5, 0.2),
                         (0, 0.9, 0.2, 0.1, 0.15)]),
        arm("middle", [(0, 0, 0, 0, 0.3), (0, -1.1, 0.25, 0.1, 0.2), (0, 0.7, 0.3, 0.2, 0.35),
                       (0, 1.2, 0, 0.3, 0), (0, -0.8, 0, 0.1, 0.3), (0, 0.9, 0.2, 0.2, 0.1)]),
        arm("skew RRPRRR", [(0, 0, 0, 0, 0.3), (0, -1.2, 0.2, 0.3, 0.1), (1, 0.8, 0.3, 0.1, 0.2),
                            *SKEW_WRIST]),
        arm("skew RPRRRR", [(0, 0, 0, 0, 0.3), (1, -1.2, 0.2, 0.3, 0.1), (0, 0.8, 0.3, 0.1, 0.2),
                            *SKEW_WRIST]),
        arm("skew PRRRRR", [(1, 0, 0, 0, 0.3), (0, -1.2, 0.2, 0.3, 0.1), (0, 0.8, 0.3, 0.1, 0.2),
                            *SKEW_WRIST]),
        arm("RRRPPP", [*SHOULDER, (1, 0.6, 0.3, 0.2, 0.1), (1, -1.1, 0.4, 0.5, 0.2),
                       (1, 0.9, 0.2, 0.1, 0.15)]),
        arm("RPRPRP", [(0, 0, 0, 0, 0.3), (1, -1.1, 0.25, 0.1, 0.2), (0, 0.7, 0.3, 0.2, 0.35),
                       (1, 1.2, 0.1, 0.3, 0), (0, -0.8, 0.2, 0.1, 0.3), (1, 0.9, 0.2, 0.2, 0.1)]),
        arm("PRPRPR", [(1, 0, 0, 0, 0.3), (0, -H, 0.25, 0, 0.2), (1, H, 0.3, 0.2, 0.35),
                       (0, H, 0.1, 0.3, 0), (1, -H, 0.2, 0.1, 0.3), (0, H, 0.2, 0.2, 0.1)]),
        arm("RPRRPR", [(0, 0, 0, 0, 0.3), (1, -H, 0.25, 0, 0.2), (0, H, 0.3, 0.2, 0.35),
                       (0, H, 0.1, 0.3, 0), (1, -H, 0.2, 0.1, 0.3), (0, H, 0.2, 0.2, 0.1)]),
    ]
}  # fmt: skip


def wrapped(q: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Differences of joint values, turns apart."""
    return np.where(sigma == 0, (q + np.pi) % (2 * np.pi) - np.pi, q)


def reached(answer: Any, q: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Distance of the generating configurations q (N, n) to the nearest answer."""
    gap = np.abs(wrapped(answer.q - q[:, None], sigma)).max(-1)
    return np.where(np.isnan(gap), np.inf, gap).min(-1)
