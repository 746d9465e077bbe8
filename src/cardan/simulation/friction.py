"""Dry friction: smoothed, or by events with true sticking.

smooth    FS qd / sqrt(qd² + v²): a stiff but smooth law; nothing ever quite stands still
event     a joint slips with FS sign(qd), or sticks: it then stands still as long as the torque
          needed for that stays within ±FS. The change is located in time, not stepped over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..build.flexible.closure import closing
from ..describe.robot import FIXED, Robot
from ..describe.values.expression import symbol
from ..errors import InputError
from ..mechanism.coordinates import Coordinates
from ..motion.derived import compiled
from ..motion.joints import moving, number

__all__ = [
    "FRICTION", "Springs", "Stiction", "link_damping", "require_smooth", "rubbing_cuts",
    "smooth_friction", "viscous",
]  # fmt: skip

FRICTION = ("smooth", "event", "none")


def smooth_friction(FS: np.ndarray, qd: np.ndarray, v: float) -> np.ndarray:
    """FS qd / sqrt(qd² + v²)."""
    return np.asarray(qd * FS / np.sqrt(qd * qd + v * v))


def viscous(robot: Robot) -> Robot:
    """The robot without dry friction: what is left, the models have in their equations, wherever it
    acts; the dry one is added to the torques, smoothed."""
    return replace(
        robot,
        joints=tuple(replace(joint, FS=0) for joint in robot.joints),
        loops=tuple(replace(k, cut=replace(k.cut, FS=0)) for k in robot.loops),
    )


def rubbing_cuts(robot: Robot) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Cut joints with friction: their rows of Wcut ('loop-kinematics' with details), FV and FS."""
    rows, FV, FS, row = [], [], [], 0
    listed = Coordinates.of(robot).loops if robot.loops else ()
    for frames, loop in zip(listed, robot.loops, strict=True):
        own = number(loop.cut.FV), number(loop.cut.FS)
        if any(own):
            rows.append(row)
            FV.append(own[0])
            FS.append(own[1])
        row += 3 if frames.kind == "universal" else frames.freedom
    return rows, np.array(FV, float), np.array(FS, float)


def link_damping(robot: Robot) -> np.ndarray:
    """D (ne, ne) of the flexible links: what they lose is qed^T D qed."""
    D, at = np.zeros((robot.ne, robot.ne)), 0
    for link in closing(robot).scene.flexible.values():
        D[at : at + link.N, at : at + link.N] = np.array(link.Dee, float)
        at += link.N
    return D


def require_smooth(robot: Robot, driven: bool) -> None:
    """Dry friction is added to torques: it cannot be smoothed where there is none of its own.
    driven: every velocity has a torque."""
    cuts = [] if driven else [loop.cut for loop in robot.loops]
    follow = robot.constrained and not driven
    for joint in (*robot.joints, *cuts):
        loose = joint.elastic or (follow and not joint.active)
        if loose and number(joint.FS) != 0:
            raise InputError(
                f"joint '{joint.name}' has dry friction FS, which acts on an elastic joint: it "
                "cannot be smoothed there; give it FV or damping, use friction=False, or simulate()"
            )


@dataclass(frozen=True)
class Springs:
    """Elastic joints take dry friction f by their springs, k (q0 - q) - f = k (q0 - f/k - q): there
    is no torque that it could be added to. Their rest is then an input of the models."""

    names: tuple[str, ...]
    at: np.ndarray  # which of the velocities
    stiffness: np.ndarray
    rest: np.ndarray

    @staticmethod
    def of(robot: Robot, driven: np.ndarray, place: np.ndarray) -> Springs:
        """Of the velocities that are not driven, where something rubs; place: of each in q."""
        joints = moving(robot)
        dry = any(number(x.FS) for x in (*joints, *(loop.cut for loop in robot.loops)))
        own = [int(v) for v in np.flatnonzero(~driven) if place[v] < len(joints) and dry]
        listed = [joints[place[v]] for v in own]
        for joint in listed:
            if not number(joint.stiffness):
                raise InputError(
                    f"joint '{joint.name}' has a spring without stiffness: dry friction cannot be "
                    "smoothed there; use friction='none'"
                )
        return Springs(
            tuple(f"rest_of_{place[v]}" for v in own), np.array(own, int),
            np.array([number(joint.stiffness) for joint in listed]),
            np.array([number(joint.rest) for joint in listed]),
        )  # fmt: skip

    def free(self, robot: Robot) -> Robot:
        """The robot with the rest of these springs as symbols."""
        symbols = dict(zip(self.names, map(symbol, self.names), strict=True))
        column, joints = 0, []
        for joint in robot.joints:
            name = f"rest_of_{column}"
            joints.append(replace(joint, rest=symbols[name]) if name in symbols else joint)
            column += joint.sigma != FIXED
        return replace(robot, joints=tuple(joints)) if symbols else robot

    def inputs(self, function: Any, against: np.ndarray) -> dict[str, np.ndarray]:
        """What a model needs for generalised friction `against` the velocities."""
        if not self.names:
            return {}
        values = dict(zip(self.names, self.rest - against[self.at] / self.stiffness, strict=True))
        return {"p": np.array([values[name] for name in function.program.parameters])}


@dataclass
class Stiction:
    """Which joints stick (mode 0) or slip forwards or backwards (mode ±1)."""

    robot: Robot
    FS: np.ndarray
    mode: np.ndarray
    f_e: bool = False
    inertia: Callable[..., Any] = field(init=False)
    bias: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        self.inertia = compiled(self.robot, "inertia-matrix")
        self.bias = compiled(self.robot, "bias", friction=False, f_e=self.f_e)

    @property
    def stuck(self) -> np.ndarray:
        return np.asarray((self.mode == 0) & (self.FS > 0))

    def solve(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, loads: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """(qdd, dry friction torques) of net torques tau: A qdd = tau - f - H, qdd = 0 where it
        sticks."""
        stuck = self.stuck
        rest = tau - self.bias(q=q, qd=qd, **loads)
        A = self.inertia(q=q)
        f = self.FS * self.mode
        qdd = np.zeros_like(q)
        free = ~stuck
        if free.any():
            qdd[free] = np.linalg.solve(A[np.ix_(free, free)], (rest - f)[free])
        f[stuck] = (rest - A @ qdd)[stuck]
        return qdd, f

    def margins(self, qd: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Positive as long as every joint stays in its mode."""
        slipping = np.where(self.FS > 0, qd * self.mode, 1.0)
        return np.where(self.stuck, self.FS - np.abs(f), slipping)

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
            over = np.where(self.stuck, np.abs(f) - self.FS, -1.0)
            worst = int(np.argmax(over))
            if over[worst] <= 1e-12 * (1 + self.FS[worst]):
                return
            self.mode[worst] = np.sign(f[worst])
