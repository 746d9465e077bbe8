"""Closed-form inverse geometry beside EAIK, ik-geo, ssik and the Robotics Toolbox's C.

python -m bench.inverse             microseconds per pose and configurations found, in one run

All configurations, one core. Every system gets the same poses, in one thread. Those with a batch
call use it; ik-geo and ssik are called pose by pose; the toolbox's C is called in a loop in C. A
system that is not installed, or does not solve the robot, is left out. Times are of the processor,
the least of several runs: the machine may have other work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from bench.inverse_general import judged
from bench.timing import Figure, best_of
from bench.toolbox_peer import toolbox
from rich.console import Console
from rich.table import Table
from tests.inverse.arms import ARMS

import cardan
from cardan.inverse.chain.chain import NumericChain

ROBOTS = {
    "puma560-numeric": "spherical_two_parallel",
    "tx40": "spherical_two_parallel",
    "ur5": "three_parallel_two_intersecting",
    "ur10": "three_parallel_two_intersecting",
    "iiwa14": "",
    "scara": "",
    "rx90": "spherical_two_parallel",
    "stanford": "",
    **dict.fromkeys(ARMS, ""),  # spherical wrists, shoulders, middles, slides; 3 to 6 joints
}
LENGTHS = {"D2": 0.4, "D3": 0.45, "RL4": 0.45, "RL2": 0.15}
JUDGED = 300  # poses on which answers are verified
Peer = tuple[str, int, Callable[[], Any]]  # name, poses, the work


def axes(chain: NumericChain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """H (n, 3), P (n + 1, 3) and the rotation at q = 0: the chain as a product of exponentials."""
    frames = chain.frames(np.zeros(chain.n))
    H = np.array([T[:3, 2] for T in frames[1:-1]])
    points = np.array([np.zeros(3), *(T[:3, 3] for T in frames[1:])])
    return H, np.diff(points, axis=0), frames[-1][:3, :3]


def peers(name: str, chain: NumericChain, T: np.ndarray) -> Iterator[Peer]:
    """The other systems at the same poses."""
    if chain.n != 6 or (chain.sigma != 0).any():
        return
    H, P, R0 = axes(chain)
    poses = T.copy()
    poses[:, :3, :3] = T[:, :3, :3] @ R0.T
    try:
        from eaik.IK_HP import HPRobot

        robot = HPRobot(H, P)
        if robot.hasKnownDecomposition():
            part = poses[:2000]
            yield "EAIK, batch", len(part), lambda: robot.IK_batched(part, 1)
    except ImportError:
        pass
    try:
        made, _ = toolbox(chain, "closed") if ROBOTS[name] else (None, 0.0)
        if made is not None:
            some = T[:2000]
            yield "Robotics Toolbox, C", len(some), lambda: made(some)
    except ImportError:
        pass
    try:
        import ik_geo

        if ROBOTS[name]:
            other = getattr(ik_geo.Robot, ROBOTS[name])(H.tolist(), P.tolist())
            # rotations are handed over column by column
            listed = [(x[:3, :3].T.tolist(), x[:3, 3].tolist()) for x in poses[:500]]
            yield "ik-geo", len(listed), lambda: [other.get_ik(R, t) for R, t in listed]
    except ImportError:
        pass
    try:
        import ssik

        arm = ssik.Manipulator.from_axes(H, P)
        few = poses[:20]
        yield "ssik", len(few), lambda: [arm.solve(x, respect_limits=False) for x in few]
    except ImportError:
        pass


def solution(name: str) -> tuple[Any, float]:
    """The inverse geometry of a robot, and the seconds of the processor it took to derive."""
    robot = ARMS[name] if name in ARMS else cardan.load(name)
    known = {key: LENGTHS[key] for key in robot.parameters if key in LENGTHS}
    start = time.process_time()
    ik = cardan.model(robot.with_values(known) if known else robot, "inverse-geometry")
    return ik, time.process_time() - start


def timed(ik: Any, poses: int, runs: int) -> tuple[float, Any, np.ndarray, np.ndarray]:
    """(microseconds per pose, the answers, configurations, poses); the best of short runs."""
    chain = ik.chain.numeric()
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (poses, chain.n))
    q[:, chain.sigma == 1] *= chain.size / 8
    T = chain.pose(q)
    more = {"free": q[:, ik.free[0]]} if ik.free else {}
    found = ik.solve(T, **more)
    seconds = best_of(runs, lambda: ik.solve(T, **more), time.process_time)
    return seconds / poses * 1e6, found, q, T


def measured(name: str, poses: int = 10000) -> list[tuple[str, str, float, float, float]]:
    """(robot, system, microseconds per pose, part of the poses whose configuration is found,
    different configurations per pose that the direct model verifies)."""
    ik, _ = solution(name)
    chain = ik.chain.numeric()
    us, found, q, T = timed(ik, poses, 15)
    own = [found[k] for k in range(JUDGED)]
    rows = [(name, f"Cardan ({ik.method})", us, *judged(chain, own, q[:JUDGED], T[:JUDGED]))]
    for system, some, work in peers(name, chain, T):
        answers = [_answers(item, chain.n) for item in work()][:JUDGED]
        part = judged(chain, answers, q[: len(answers)], T[: len(answers)])
        rows.append((name, system, best_of(5, work, time.process_time) / some * 1e6, *part))
    return rows


def _answers(item: Any, n: int) -> np.ndarray:
    """Configurations (k, n) in a peer's answer."""
    if hasattr(item, "Q"):
        return np.asarray(item.Q, float).reshape(-1, n)
    if isinstance(item, np.ndarray):
        return item
    rows = [one.q if hasattr(one, "q") else one[0] for one in item]
    return np.array(rows, float).reshape(-1, n)


def figures() -> list[Figure]:
    """For `python -m bench`: closed forms stay below a microsecond per pose, and are derived in two
    seconds."""
    found, slowest = [], ("", 0.0)
    for name in ROBOTS:
        ik, seconds = solution(name)
        slowest = max(slowest, (name, seconds), key=lambda item: item[1])
        us = timed(ik, 5000, 25)[0]
        found.append(Figure(f"inverse geometry of {name} ({ik.method})", us, "us per pose", 1.0))
    name, seconds = slowest
    return [*found, Figure(f"deriving the slowest of them, {name}", seconds, "s", 2.0)]


def main() -> None:
    table = Table("robot", "system", "us per pose", "found", "configurations")
    for name in ROBOTS:
        for robot, system, us, part, count in measured(name):
            table.add_row(robot, system, f"{us:.3g}", f"{100 * part:.1f} %", f"{count:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
