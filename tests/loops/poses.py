"""All poses of platforms on six legs against Newton's method from many starts, on random platforms:
python -m tests.loops.poses --starts 10000 --platforms 12 --seed 0."""

from __future__ import annotations

import argparse
import sys

import numpy as np
from tests.loops.test_hexapod import by_newton, lengths, points, solved

from cardan.algebra import so3

KINDS = {  # distinct points of base and platform, in a plane or not
    "general": (6, 6, False),
    "6-6 plane": (6, 6, True),
    "6-4": (6, 4, False),
    "6-3 plane": (6, 3, True),
}
SHARED = {6: range(6), 4: [0, 0, 1, 1, 2, 3], 3: [0, 0, 1, 1, 2, 2]}


def main(starts: int, platforms: int, seed: int) -> bool:
    """Print a row for each platform; is every set of poses the same?"""
    print(f"{'platform':12} complex  real  by Newton from {starts} starts  farthest")
    same = True
    for k in range(platforms):
        kind = list(KINDS)[k % len(KINDS)]
        low, high, flat = KINDS[kind]
        E = points(low, seed + 100 * k, flat)
        h = points(high, seed + 100 * k + 1, flat)[list(SHARED[high])] * 0.6
        rng = np.random.default_rng(seed + 100 * k + 2)
        length = lengths(
            E, h, so3.exp(rng.normal(size=3)), np.array([0, 0, 1]) + rng.normal(size=3)
        )
        poses = solved(E, h, length)
        real = poses.T[poses.real, :3].real
        found = by_newton(E, h, length, starts)
        away = max((np.abs(real - T).max(axis=(1, 2)).min() for T in found), default=0.0)
        agrees = poses.complete and len(found) == len(real) and away < 1e-6
        same = same and agrees
        print(f"{kind:12} {len(poses):7} {len(real):5} {len(found):5} {'' if agrees else 'DIFFER'}"
              f"{away:37.1e}", flush=True)  # fmt: skip
    return same


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=10_000)
    parser.add_argument("--platforms", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.exit(not main(given.starts, given.platforms, given.seed))
