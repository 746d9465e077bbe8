"""All methods on many poses: python -m tests.inverse --poses 10000 [--search 3] [--only crx].

For every chain: poses whose own configuration is missing, answers that do not reproduce their pose,
poses with an odd number of answers, poses without a sound elimination, and (with --search N) poses
out of N whose number of answers differs from that of a search. For every arm with a closed form
(arms.py and bundled): the same, and poses whose number of answers differs from that of the general
method, out of 300. For robots with closed loops: the same with residuals of pose and loops, and
poses where the C code, compiled, gives other configurations. Exit 1 when something is lost or
wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tests.inverse.arms import ARMS
from tests.inverse.general_arms import CHAINS, bundled, by_search, gaps, random_chain
from tests.inverse.newton import rank_lost
from tests.loops.test_inverse import lost, require_met, robot_of, solution, states
from tests.loops.test_inverse_code import in_c, pointers

import cardan
from cardan.inverse.answer import Configurations
from cardan.inverse.chain.chain import NumericChain
from cardan.inverse.general.method import found_of, prepared
from cardan.loops.inverse_kernels import ROWS
from cardan.loops.numeric import difference

BUNDLED = ("puma560", "rx90", "ur5", "ur10", "stanford", "tx40")
CLOSED = ("puma560", "rx90", "stanford", "scara", "ur5", "ur10", "tx40", "iiwa14", "panda")
LOOPS = ("sr400", "akr3000", "fivebar", "palletiser", "level palletiser", "planar3rrr")
RANDOM = ("RRRRRR", "RRPRRR", "PRRRRR", "RPRRPR", "PRPRPR")


def chains(seeds: int) -> dict[str, NumericChain]:
    """All chains of the tests, and `seeds` random ones of each kind."""
    drawn = {
        f"{kind} {seed}": random_chain(kind, 1000 + seed)
        for kind in RANDOM
        for seed in range(seeds)
    }
    return {**CHAINS, **{name: bundled(name) for name in BUNDLED}, **drawn}


def check(name: str, numeric: NumericChain, poses: int, search: int) -> bool:
    """Print one line; False when something is lost or invented."""
    rng = np.random.default_rng(1)
    start = time.process_time()
    made = prepared(numeric, name)
    derived = time.process_time() - start
    q = rng.uniform(-np.pi, np.pi, (poses, 6))
    q[:, numeric.sigma == 1] *= numeric.size / 8
    T = numeric.pose(q)
    start = time.process_time()
    raw, info = made.run(T)
    spent = time.process_time() - start
    found = found_of(raw, info)
    lost = int((gaps(numeric, found.q, q) > 1e-5).sum())
    there = ~np.isnan(found.q[..., 0])
    wrong = np.abs(numeric.pose(np.nan_to_num(found.q)) - T[:, None]).max((-2, -1)) > 1e-9
    differ = sum(
        int(found.count[k] != len(by_search(numeric, T[k], 4000)))
        for k in range(min(search, poses))
    )
    print(
        f"{name:14s} derived in {derived:4.2f} s, {1e6 * spent / poses:6.1f} us per pose,"
        f" lost {lost}, wrong {int((wrong & there).sum())}, odd {int((found.count % 2).sum())},"
        f" unsound {int((info[:, 50] < 0.5).sum())}, {found.count.mean():.2f} answers, at most"
        f" {found.count.max()}" + (f"; search differs {differ} of {search}" if search else ""),
        flush=True,
    )
    return not (lost or (wrong & there).any())


def check_closed(name: str, poses: int) -> bool:
    """Print one line for the method that `auto` chooses; False when something is lost or wrong."""
    robot = ARMS.get(name) or cardan.load(name)
    start = time.process_time()
    ik = cardan.model(robot, "inverse-geometry")
    derived = time.process_time() - start
    p = {key: 0.3 + 0.1 * k for k, key in enumerate(ik.chain.parameters)}
    numeric = ik.chain.numeric(p)
    q = np.random.default_rng(1).uniform(-np.pi, np.pi, (poses, numeric.n))
    q[:, numeric.sigma == 1] *= numeric.size / 8
    T = numeric.pose(q)
    free = {"free": q[:, ik.free[0]]} if ik.free else {}
    found = ik.solve(T, p=p, **free)
    start = time.process_time()
    ik.solve(T, p=p, **free)
    spent = time.process_time() - start
    held = np.isin(np.arange(numeric.n), ik.free)
    lost = int(((gaps(numeric, found.q, q) > 1e-5) & ~rank_lost(numeric, q, held)).sum())
    there = ~np.isnan(found.q[..., 0])
    off = np.abs(numeric.pose(np.nan_to_num(found.q)) - T[:, None]).max((-2, -1))
    wrong = int(((off > 1e-9) & there).sum())
    other = cardan.model(
        robot, "inverse-geometry", method="general",
        free=[ik.chain.names[j] for j in ik.free] or None,
    )  # fmt: skip
    some = {key: value[:300] for key, value in free.items()}
    differ = int((other.solve(T[:300], p=p, **some).count != found.count[:300]).sum())
    print(
        f"{name:16s} {ik.method:6s} derived in {derived:4.2f} s, {1e6 * spent / poses:5.2f} us per"
        f" pose, lost {lost}, wrong {wrong}, {found.count.mean():.2f} answers, at most"
        f" {found.count.max()}; the general method differs {differ} of 300",
        flush=True,
    )
    return not (lost or wrong)


def check_loops(name: str, poses: int) -> bool:
    """Print one line for a robot with closed loops; False when something is lost or wrong."""
    ik = solution(name)
    q, T = states(name, poses)
    ik.solve(T[:1])  # derives and compiles
    start = time.process_time()
    found = ik.solve(T)
    spent = time.process_time() - start
    missing = lost(name, found.q, q)
    require_met(name, found, T)
    print(
        f"{name:16s} loops  {1e6 * spent / poses:5.1f} us per pose, lost {missing}, residual at"
        f" most {np.nanmax(found.residual):.1e}, {found.count.mean():.2f} answers, at most"
        f" {found.count.max()}; the C code differs {other_in_c(name, T, found)} of {poses}",
        flush=True,
    )
    return not missing


def other_in_c(name: str, T: np.ndarray, found: Configurations, near: float = 1e-6) -> int | str:
    """At how many poses the compiled C code gives other configurations."""
    if shutil.which("cc") is None:
        return "in nothing, as there is no compiler,"
    periodic = solution(name).closure.loops.system().periodic
    other = 0
    with tempfile.TemporaryDirectory() as folder:
        library, p = in_c(name, Path(folder))
        for pose, count, own in zip(np.ascontiguousarray(T), found.count, found.q, strict=True):
            q = np.zeros((ROWS, robot_of(name).n))
            rows = q[: library.closed(*pointers(pose, *p, q))]
            apart = np.abs(difference(rows[:, None], own[None, :count], periodic)).max(-1)
            same = len(rows) == count and apart.min(0).max() < near and apart.min(1).max() < near
            other += not same
    return other


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.inverse", description=__doc__)
    parser.add_argument("--poses", type=int, default=1000)
    parser.add_argument("--search", type=int, default=0)
    parser.add_argument("--random", type=int, default=3, help="random chains of each kind")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    sound = [
        check(name, numeric, options.poses, options.search)
        for name, numeric in chains(options.random).items()
        if not options.only or name in options.only
    ]
    sound += [
        check_closed(name, options.poses)
        for name in (*CLOSED, *ARMS)
        if not options.only or name in options.only
    ]
    sound += [
        check_loops(name, options.poses)
        for name in LOOPS
        if not options.only or name in options.only
    ]
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main())
