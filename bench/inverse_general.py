"""All configurations of arms without a spherical wrist, side by side: Cardan, EAIK, ssik, ik-geo,
and the C that the Robotics Toolbox derives.

python -m bench.inverse_general [--poses 2000]

Each gets the same random poses, one core; times are of the processor. Found: the part of the poses
whose own configuration is among the answers (1e-5 rad), every answer verified by the direct model
(1e-6).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from bench.timing import Figure
from bench.toolbox_peer import toolbox
from tests.inverse.general_arms import CHAINS, bundled, gaps

from cardan.inverse.chain.chain import NumericChain
from cardan.inverse.general.method import Prepared, prepared

__all__ = ["figures", "main"]

Solve = Callable[[np.ndarray], list[np.ndarray]]  # poses (N, 4, 4) -> configurations of each


@dataclass(frozen=True)
class Peer:
    """A system: how to make a solver from axes H and offsets P, and how many poses it is given."""

    name: str
    make: Callable[[np.ndarray, np.ndarray], Solve] | None  # None: the toolbox, from the chain
    poses: int


def axes_of(numeric: NumericChain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(H, P, R0): axes and offsets in frame 0 at q = 0, orientation of the tool there."""
    placed = numeric.frames(np.zeros(6))
    points = [np.zeros(3), *(T[:3, 3] for T in placed[1:7]), placed[-1][:3, 3]]
    return np.array([T[:3, 2] for T in placed[1:7]]), np.diff(points, axis=0), placed[-1][:3, :3]


def eaik(H: np.ndarray, P: np.ndarray) -> Solve:
    from eaik.IK_HP import HPRobot

    robot = HPRobot(H, P)
    if not robot.hasKnownDecomposition():
        raise ValueError("no decomposition is known")
    return lambda T: [np.asarray(one.Q).reshape(-1, 6) for one in robot.IK_batched(T, 1)]


def ssik(H: np.ndarray, P: np.ndarray) -> Solve:
    import ssik

    arm = ssik.Manipulator.from_axes(H, P)
    return lambda T: [np.array([one.q for one in arm.solve(pose)]).reshape(-1, 6) for pose in T]


def ik_geo(H: np.ndarray, P: np.ndarray) -> Solve:
    import ik_geo

    # rotations are handed over column by column
    robot = ik_geo.Robot.gen_six_dof(H.tolist(), P.tolist())
    return lambda T: [
        np.array(
            [q for q, *_ in robot.get_ik(pose[:3, :3].T.tolist(), pose[:3, 3].tolist())]
        ).reshape(-1, 6)
        for pose in T
    ]


PEERS = (
    Peer("toolbox C", None, 500), Peer("EAIK", eaik, 500), Peer("ssik", ssik, 3),
    Peer("ik-geo", ik_geo, 5),
)  # fmt: skip
ROBOTS = ("crx", "jaco", "manseur-doty", "RRRRRR", "ur5", "puma560")


def chain(name: str) -> NumericChain:
    return CHAINS[name] if name in CHAINS else bundled(name)


def judged(
    numeric: NumericChain, found: list[np.ndarray], q: np.ndarray, T: np.ndarray
) -> tuple[float, float]:
    """(part of poses whose configuration is there, mean number of different answers)."""
    hits, total = 0, 0
    for answers, own, pose in zip(found, q, T, strict=True):
        good = answers[np.abs(numeric.pose(answers) - pose).max((1, 2), initial=0) < 1e-6]
        kept: list[np.ndarray] = []
        for one in good:
            if not kept or gaps(numeric, np.array(kept)[None], one[None])[0] > 1e-4:
                kept.append(one)
        total += len(kept)
        hits += bool(kept) and gaps(numeric, np.array(kept)[None], own[None])[0] < 1e-5
    return hits / len(q), total / len(q)


def least(made: Prepared, T: np.ndarray) -> float:
    """Seconds of the processor, the least of five runs: the machine may have other work."""
    found = []
    for _ in range(5):
        start = time.process_time()
        made.run(T)
        found.append(time.process_time() - start)
    return min(found)


def compare(name: str, poses: int) -> list[tuple[str, str, float, float, float]]:
    """(robot, system, us per pose, part found, mean number of answers)."""
    numeric = chain(name)
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (poses, 6))
    T = numeric.pose(q)
    made = prepared(numeric, name)
    raw, info = made.run(T)
    spent = least(made, T) / poses
    answers = [raw[k, : int(info[k, 0])] for k in range(poses)]
    rows = [(name, "Cardan", 1e6 * spent, *judged(numeric, answers, q, T))]
    H, P, R0 = axes_of(numeric)
    turned = T.copy()
    turned[:, :3, :3] = T[:, :3, :3] @ R0.T
    for peer in PEERS:
        some = min(peer.poses, poses)
        try:
            if peer.make is None:
                solve, given = toolbox(numeric, "general")[0], T
            else:
                solve, given = peer.make(H, P), turned
            solve(given[:1])  # what is prepared at the first call is not counted
            start = time.process_time()
            found = solve(given[:some])
            spent = (time.process_time() - start) / some
            rows.append((name, peer.name, 1e6 * spent, *judged(numeric, found, q[:some], T[:some])))
        except BaseException as error:  # peers stop by panics of their own too
            if isinstance(error, KeyboardInterrupt):
                raise
            print(f"{name}: {peer.name}: {str(error).splitlines()[0][:90]}", file=sys.stderr)
    return rows


def figures() -> list[Figure]:
    """The figures that are held to a limit: general 6R, all configurations, one core."""
    found = []
    for name in ("RRRRRR", "crx", "manseur-doty", "RRPRRR", "RPRRPR", "RRPPRR"):
        numeric = chain(name)
        q = np.random.default_rng(0).uniform(-np.pi, np.pi, (2000, 6))
        q[:, numeric.sigma == 1] *= numeric.size / 8
        T = numeric.pose(q)
        made = prepared(numeric, name)
        spent = least(made, T) / 2000
        found.append(Figure(f"general inverse geometry, {name}", 1e6 * spent, "us per pose", 100))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.inverse_general")
    parser.add_argument("--poses", type=int, default=2000)
    options = parser.parse_args()
    print(f"{'robot':14s} {'system':10s} {'us per pose':>12s} {'found':>8s} {'answers':>8s}")
    for name in ROBOTS:
        for robot, system, spent, part, many in compare(name, options.poses):
            print(
                f"{robot:14s} {system:10s} {spent:12.1f} {100 * part:7.1f}% {many:8.2f}", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
