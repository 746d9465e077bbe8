"""Lengths of a Delta for a prescribed workspace: a parameter study, its Pareto set, and a picture.

The platform must reach a cylinder, 0.4 m wide and 0.15 m high, at whatever depth suits the design.
Arms and rods are varied; each design is judged by its worst configuration in the cylinder: least
dexterity (1: isotropic), greatest torque for 20 N downwards, and the length of its links. The
Jacobian is derived once, with the lengths as symbols: they are columns of the sweep.

python examples/delta_design.py [PICTURE.png] [STEPS]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import numpy as np

import cardan

RADIUS, HEIGHT = 0.2, 0.15  # of the cylinder, m
FORCE = np.array([0, 0, -20.0])  # on the platform, N
LEAST = 0.3  # dexterity that the chosen design must have
OFFSET = 0.1  # of the base's radius over the platform's, m
LEVEL = 0.03  # between the discs that are looked at, m
DEPTHS = np.arange(-0.9, -0.1, LEVEL)
ELBOWS, RODS = ("d5", "d8", "d11"), ("d13", "d14", "d15")  # in each leg


@dataclass(frozen=True)
class Design:
    """Arm and rod in m, and what they give: the worst in the cylinder, whose top is at z."""

    arm: float
    rod: float
    dexterity: float
    torque: float
    top: float

    @property
    def length(self) -> float:
        return self.arm + self.rod


@dataclass
class Study:
    """States of all designs, row by row, as columns of one sweep."""

    robot: cardan.Robot
    steps: int
    q: list[np.ndarray] = field(default_factory=list)
    lengths: list[np.ndarray] = field(default_factory=list)
    reached: list[np.ndarray] = field(default_factory=list)

    def designs(self) -> list[Design]:
        pairs = [(arm, rod) for arm in np.linspace(0.14, 0.38, self.steps)
                 for rod in np.linspace(0.35, 0.75, self.steps)
                 if rod > arm + OFFSET]  # fmt: skip
        for arm, rod in pairs:
            self._close(lengths_of(self.robot, arm, rod), arm, rod)
        rows = np.array([reached.sum() for reached in self.reached])
        program = cardan.model(self.robot, "jacobian", symbolic=True)
        q, lengths = np.concatenate(self.q), np.repeat(self.lengths, rows, axis=0)
        table = {f"q{j}": x for j, x in enumerate(q.T, 1)}
        table |= dict(zip(ELBOWS, lengths.T, strict=False))  # J has the rods in q alone
        J = cardan.sweep(program, {k: np.ascontiguousarray(x) for k, x in table.items()})
        J = J.arrays["J"].reshape(-1, 6, 3)[:, :3]
        values = np.linalg.svd(J, compute_uv=False)
        dexterity, torque = values[:, 2] / values[:, 0], np.abs(FORCE @ J).max(axis=1)
        found, first = [], 0
        for (arm, rod), count, reached in zip(pairs, rows, self.reached, strict=True):
            some = slice(first, first + count)
            found += judged(arm, rod, reached, dexterity[some], torque[some])
            first += count
        return found

    def _close(self, robot: cardan.Robot, arm: float, rod: float) -> None:
        """The legs at all points of all discs, with their elbows outwards."""
        poses = cardan.model(robot, "loop-geometry").legs.solve(points()).q
        elbows, swing = poses[..., 4::3], poses[..., 5::3]
        good = (elbows > 0).all(axis=2) & (np.abs(swing) < np.radians(80)).all(axis=2)
        row, one = np.nonzero(good)  # no pose has two
        self.reached.append(good.any(axis=1))
        self.q.append(poses[row, one])
        self.lengths.append(np.array([arm] * 3 + [rod] * 3))


def points() -> np.ndarray:
    """(levels * n, 3): a disc of points at each depth."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    rings = [(r * np.cos(a), r * np.sin(a)) for r in (RADIUS / 2, RADIUS) for a in angles]
    disc = np.array([(0.0, 0.0), *rings])
    return np.array([(x, y, z) for z in DEPTHS for x, y in disc])


def lengths_of(robot: cardan.Robot, arm: float, rod: float) -> cardan.Robot:
    """The Delta with these lengths; it stands with its arms level."""
    depth = -np.sqrt(rod**2 - (OFFSET + arm) ** 2)
    lengths = dict.fromkeys(ELBOWS, arm) | dict.fromkeys(RODS, rod)
    return robot.with_values({**lengths, "home3": float(depth)})


def judged(
    arm: float, rod: float, reached: np.ndarray, dexterity: np.ndarray, torque: np.ndarray
) -> list[Design]:
    """The best place of the cylinder; none where it fits nowhere."""
    worst, most = np.zeros(len(reached)), np.full(len(reached), np.inf)
    worst[reached], most[reached] = dexterity, torque
    worst = worst.reshape(len(DEPTHS), -1).min(axis=1)
    most = most.reshape(len(DEPTHS), -1).max(axis=1)
    count = round(HEIGHT / LEVEL) + 1
    windows = [slice(k, k + count) for k in range(len(DEPTHS) - count + 1)]
    best = max(windows, key=lambda w: worst[w].min())
    if worst[best].min() == 0:
        return []
    top = float(DEPTHS[best][-1])
    return [Design(arm, rod, float(worst[best].min()), float(most[best].max()), top)]


def pareto(designs: list[Design]) -> list[Design]:
    """Those that no other one beats in length, dexterity and torque at once."""
    costs = np.array([(x.length, -x.dexterity, x.torque) for x in designs])
    less = (costs[:, None] <= costs).all(axis=2) & (costs[:, None] < costs).any(axis=2)
    return [x for x, beaten in zip(designs, less.any(axis=0), strict=True) if not beaten]


def chosen(front: list[Design]) -> Design:
    """The shortest that is dexterous enough, or the most dexterous."""
    enough = [x for x in front if x.dexterity >= LEAST]
    return min(enough, key=lambda x: x.length) if enough else max(front, key=lambda x: x.dexterity)


def picture(path: str, robot: cardan.Robot, designs: list[Design], front: list[Design]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    best = chosen(front)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    shown = left.scatter(
        [x.length for x in designs], [x.dexterity for x in designs], 22,
        [x.torque for x in designs], cmap="viridis_r",
    )  # fmt: skip
    left.scatter([x.length for x in front], [x.dexterity for x in front], 70,
                 facecolors="none", edgecolors="tab:red", label="Pareto set")  # fmt: skip
    left.plot(best.length, best.dexterity, "k*", ms=13, label="chosen")
    figure.colorbar(shown, ax=left, label="largest torque, N m")
    left.set(xlabel="arm + rod, m", ylabel="least dexterity in the cylinder")
    left.legend(loc="lower right")
    section = cardan.workspace(lengths_of(robot, best.arm, best.rod), 20_000, section={"y": 0.0})
    section = section.points, section.measure("dexterity")
    below = section[0][:, 2] < 0
    dots = right.scatter(
        section[0][below, 0], section[0][below, 2], 3, section[1][below], marker="s"
    )
    figure.colorbar(dots, ax=right, label="dexterity")
    x = RADIUS * np.array([-1, 1, 1, -1, -1])
    z = best.top - HEIGHT * np.array([0, 0, 1, 1, 0])
    right.plot(x, z, "r-", lw=2)
    right.set(xlabel="x, m", ylabel="z, m", aspect="equal",
              title=f"arm {best.arm:.3f} m, rod {best.rod:.3f} m")  # fmt: skip
    figure.savefig(path, dpi=110)


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "delta-design.png"
    robot = cardan.load("delta")
    designs = Study(robot, int(sys.argv[2]) if len(sys.argv) > 2 else 7).designs()
    front = pareto(designs)
    print("  arm    rod   length  dexterity  torque     top of the cylinder")
    for x in sorted(front, key=lambda x: x.length):
        print(f"{x.arm:.3f}  {x.rod:.3f}  {x.length:.3f} m  {x.dexterity:7.3f}  {x.torque:6.2f} N m"
              f"  z = {x.top:.2f} m{'  <- chosen' if x == chosen(front) else ''}")  # fmt: skip
    picture(path, robot, designs, front)
    print(path)


if __name__ == "__main__":
    main()
