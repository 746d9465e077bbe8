"""All laws on many random robots: python -m tests.laws --robots 10000 --seed 0 --jobs 2.

Prints the failures of each law with the seeds that reproduce them; exit 1 when there is one.
`--base N` checks base parameters on N robots instead; `--law NAME` one law, `--robots 1 --seed S`
one robot.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from tests.laws import base, laws, traced
from tests.laws.draw import draw

__all__ = ["check", "main"]

Outcome = tuple[int, str, str, float]  # seed, law, what failed, seconds
assert traced.__doc__  # importing it registers its laws


def check(seed: int, chosen: str = "") -> list[Outcome]:
    """Every law on the robot of this seed; a law of share k takes the seeds divisible by k."""
    found = []
    robot = draw(seed)
    for name, (law, every) in laws.LAWS.items():
        if (chosen and name != chosen) or (not chosen and seed % every):
            continue
        start = time.perf_counter()
        fault = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                law(robot, np.random.default_rng([seed, 7]))
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        found.append((seed, name, fault, time.perf_counter() - start))
    return found


def check_base(seed: int, chosen: str = "") -> list[Outcome]:
    """Base parameters of the robot of this seed."""
    start = time.perf_counter()
    fault = ""
    try:
        base.law_base_parameters(base.draw_base(seed), np.random.default_rng([seed, 8]))
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    return [(seed, "base-parameters", fault, time.perf_counter() - start)]


def _outcomes(jobs: int, work: list[tuple[int, str]], of_base: bool) -> Iterator[list[Outcome]]:
    function = _check_base if of_base else _check
    if jobs < 2:
        yield from map(function, work)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(function, work, chunksize=4)


def _check(item: tuple[int, str]) -> list[Outcome]:
    return check(*item)


def _check_base(item: tuple[int, str]) -> list[Outcome]:
    return check_base(*item)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.laws", description=__doc__)
    parser.add_argument("--robots", type=int, default=100)
    parser.add_argument("--base", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--law", default="", choices=["", *laws.LAWS])
    options = parser.parse_args(arguments)
    count = options.base or options.robots
    work = [(options.seed + k, options.law) for k in range(count)]
    tried: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    faults: dict[str, list[tuple[int, str]]] = defaultdict(list)
    start = time.perf_counter()
    for done, outcomes in enumerate(_outcomes(options.jobs, work, bool(options.base)), 1):
        for seed, name, fault, seconds in outcomes:
            tried[name] += 1
            spent[name] += seconds
            if fault:
                faults[name].append((seed, fault))
        if sys.stderr.isatty():
            print(f"\r{done}/{count} robots", end="", file=sys.stderr)
        elif done % 1000 == 0:
            print(f"{done}/{count} robots", file=sys.stderr, flush=True)
    print(f"{count} robots in {time.perf_counter() - start:.0f} s")
    for name in tried:
        mean = 1e3 * spent[name] / tried[name]
        print(f"{name:55} {tried[name]:6} robots {len(faults[name]):5} failures {mean:8.1f} ms")
        for seed, fault in sorted(faults[name])[:10]:
            print(f"    --seed {seed}: {fault[:300]}")
    return int(any(faults.values()))


if __name__ == "__main__":
    sys.exit(main())
