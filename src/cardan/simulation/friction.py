"""Dry friction: smoothed, or by events with true sticking.

smooth    qd / sqrt(qd² + v²) for the sign: a stiff but smooth law; nothing ever quite stands still
event     a joint slips with FS sign(qd), or sticks: it then stands still as long as the torque
          needed for that stays within what breaks it loose, ±(FS + FB) and FSA. The change is
          located in time, not stepped over. Joints with a width of their own have no such change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..build.flexible.closure import closing
from ..describe.robot import FIXED, FRICTION, Drive, Joint, Robot
from ..describe.values.expression import number as value_of
from ..describe.values.parser import to_value
from ..errors import InputError
from ..mechanism.coordinates import Coordinates
from ..models.friction import COEFFICIENTS, Friction
from ..motion.derived import compiled
from ..motion.joints import friction_law, number

KINDS = ("smooth", "event", "none")
SMOOTH = 1e-3  # rad/s or m/s: below this speed Coulomb friction is smoothed
_DRY = ("FS", "FSA", "FB")


def smoothed(robot: Robot, width: float = SMOOTH) -> Robot:
    """The robot with no jump in its friction: a joint that rubs has at least this width, wherever
    it is, passive, cut and elastic joints included. So its models have no jump either."""

    def joint(x: Any) -> Any:
        dry = any(getattr(x, key) != 0 for key in _DRY)
        if not dry or not _below(x.VS, width):
            return x
        return replace(x, VS=to_value(str(width)))

    return replace(
        robot,
        joints=tuple(map(joint, robot.joints)),
        loops=tuple(replace(k, cut=joint(k.cut)) for k in robot.loops),
        drives=tuple(map(joint, robot.drives)),
    )


def positive_width(given: float) -> float:
    """A width of the sign, rad/s or m/s, checked."""
    if not (np.isfinite(given) and given > 0):
        raise InputError(f"smooth = {given}; expected a positive speed, rad/s or m/s")
    return given


def _below(given: Any, width: float) -> bool:
    """Is a width below another? One that is a symbol is what the symbol says."""
    value = value_of(given)
    return value is not None and value < width


def slopeless(robot: Robot, qd: Sequence[float] = ()) -> tuple[str, ...]:
    """What of the friction has no slope where the robot stands still: "FS of joint1". The sign of
    joints without a width VS, and terms that tell the directions apart. qd: rates of all joints
    that move; those that turn have slopes."""
    moving = (k for k, x in enumerate(robot.joints, 1) if x.sigma != FIXED)
    rates = dict(zip(moving, qd, strict=False))
    still = not any(rates.values())
    items: list[tuple[Any, bool]] = [
        (joint, rates.get(k, 0) == 0) for k, joint in enumerate(robot.joints, 1)
    ]
    items += [(loop.cut, still) for loop in robot.loops]
    items += [
        (x, sum(number(ratio) * rates.get(j, 0) for j, ratio in x.joints) == 0)
        for x in robot.drives
    ]
    listed = []
    for item, at_rest in items:
        without = ("FVA", "FSA") if item.VS != 0 else ("FS", "FVA", "FSA", "FB")
        keys = [key for key in without if getattr(item, key) != 0]
        if keys and at_rest:
            listed.append(f"{', '.join(keys)} of {item.name}")
    return tuple(listed)


def laws(joints: Sequence[Joint | Drive | None]) -> Friction:
    """The friction of joints, as arrays; None: of a coordinate that does not rub. Those that jump
    have no dry friction here, see `jumps`."""
    listed = [friction_law(x) if x else Friction() for x in joints]
    table = {key: np.array([float(getattr(x, key)) for x in listed]) for key in FRICTION}
    for key in _DRY:
        table[key] = np.where(table["VS"] > 0, table[key], 0.0)
    for key in ("VS", "VB"):  # of those that need none: not zero, to be divided by
        table[key] = np.where(table[key] > 0, table[key], 1.0)
    return Friction(**{key: x if x.any() else 0 for key, x in table.items()})


def jumps(joints: Sequence[Joint | Drive | None]) -> Friction:
    """The dry friction of the joints that have no width, as arrays: FS, FSA, FB and VB."""
    listed = [friction_law(x) if x and not number(x.VS) else Friction() for x in joints]
    table = {key: np.array([float(getattr(x, key)) for x in listed]) for key in (*_DRY, "VB")}
    return Friction(**{**table, "VB": np.where(table["VB"] > 0, table["VB"], 1.0)})


def rubbing_cuts(robot: Robot) -> tuple[list[int], list[Joint]]:
    """Cut joints with friction, and their rows of Wcut ('loop-kinematics' with details)."""
    rows, cuts, row = [], [], 0
    listed = Coordinates.of(robot).loops if robot.loops else ()
    for frames, loop in zip(listed, robot.loops, strict=True):
        if any(number(getattr(loop.cut, key)) for key in COEFFICIENTS):
            rows.append(row)
            cuts.append(loop.cut)
        row += 3 if frames.kind == "universal" else frames.freedom
    return rows, cuts


def rubbing_drives(robot: Robot) -> tuple[np.ndarray, list[Drive]]:
    """(rows over the joints that move, motors of several joints that rub)."""
    moving = [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]
    drives = [x for x in robot.drives if any(number(getattr(x, key)) for key in COEFFICIENTS)]
    rows = np.zeros((len(drives), len(moving)))
    for k, drive in enumerate(drives):
        for j, ratio in drive.joints:
            rows[k, moving.index(j)] = number(ratio)
    return rows, drives


def link_damping(robot: Robot) -> np.ndarray:
    """D (ne, ne) of the flexible links: what they lose is qed^T D qed."""
    D, at = np.zeros((robot.ne, robot.ne)), 0
    for link in closing(robot).scene.flexible.values():
        D[at : at + link.N, at : at + link.N] = np.array(link.Dee, float)
        at += link.N
    return D


@dataclass
class Stiction:
    """Which joints stick (mode 0) or slip forwards or backwards (mode ±1)."""

    robot: Robot
    law: Friction  # of the joints that jump
    mode: np.ndarray
    f_e: bool = False
    inertia: Callable[..., Any] = field(init=False)
    bias: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        self.inertia = compiled(self.robot, "inertia-matrix")
        self.bias = compiled(self.robot, "bias", friction=False, f_e=self.f_e)
        level = self.law.FS + self.law.FB
        self.forwards, self.backwards = level + self.law.FSA, level - self.law.FSA

    @property
    def sticky(self) -> np.ndarray:
        """Which joints can stick."""
        return np.asarray((self.forwards > 0) & (self.backwards > 0))

    @property
    def stuck(self) -> np.ndarray:
        return np.asarray((self.mode == 0) & self.sticky)

    def slipping(self, qd: np.ndarray) -> np.ndarray:
        """Dry friction of joints that slip as their modes say."""
        ratio = qd / self.law.VB
        level = self.law.FS + self.law.FB / (1 + ratio * ratio)
        return np.asarray(self.mode * level + np.abs(self.mode) * self.law.FSA)

    def solve(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, loads: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """(qdd, dry friction torques) of net torques tau: A qdd = tau - f - H, qdd = 0 where it
        sticks."""
        stuck = self.stuck
        rest = tau - self.bias(q=q, qd=qd, **loads)
        A = self.inertia(q=q)
        f = self.slipping(qd)
        qdd = np.zeros_like(q)
        free = ~stuck
        if free.any():
            qdd[free] = np.linalg.solve(A[np.ix_(free, free)], (rest - f)[free])
        f[stuck] = (rest - A @ qdd)[stuck]
        return qdd, f

    def margins(self, qd: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Positive as long as every joint stays in its mode."""
        slipping = np.where(self.sticky, qd * self.mode, 1.0)
        return np.where(self.stuck, np.minimum(self.forwards - f, f + self.backwards), slipping)

    def settle(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        loads: dict[str, np.ndarray],
        loose: np.ndarray,
    ) -> None:
        """Modes consistent with the state: joints at rest stick if they can, but those that have
        just broken loose (in the direction ±1)."""
        self.mode = np.where(qd != 0, np.sign(qd), loose)
        for _ in range(2 * len(q) + 1):
            _, f = self.solve(q, qd, tau, loads)
            beyond = np.maximum(f - self.forwards, -f - self.backwards)
            over = np.where(self.stuck, beyond, -1.0)
            worst = int(np.argmax(over))
            if over[worst] <= 1e-12 * (1 + self.forwards[worst]):
                return
            self.mode[worst] = np.sign(f[worst])
