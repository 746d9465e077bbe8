"""Which positions and velocities the models of a robot take, and how they belong together.

tree                 q (n), velocities qd (n)
flexible links       q (n + elastic), velocities the same
loops, couplings     q (n) of the whole tree, velocities of the active joints (na):
                     qd = M v with M = [1; W], qdd = M vd + [0; psi]
both                 q (n + elastic), velocities of active and elastic joints, then elastic
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ..catalogue import model
from ..describe.robot import Robot
from ..errors import InputError, ModelError
from ..loops.analysis import analyse, independent
from ..loops.standing import standing
from ..mechanism.coordinates import Coordinates, holonomic
from ..run.steps import rk4
from .derived import compiled
from .joints import array


@dataclass(frozen=True)
class JointSpace:
    """Sizes of q and of the velocities v, which velocities are driven, and where v stands in q."""

    robot: Robot
    nq: int
    nv: int
    driven: np.ndarray  # (nv) booleans: has a torque of its own
    place: np.ndarray  # (nv) the element of q each velocity is the rate of
    closed: bool

    @property
    def nu(self) -> int:
        return int(self.driven.sum())

    @property
    def positioned(self) -> bool:
        """Do loops or couplings say where joints are? Wheels say how they move alone."""
        return holonomic(self.robot).constrained

    @property
    def geometry(self) -> Any:
        """The loop geometry of a robot with loops or couplings."""
        if not self.positioned:
            raise _rolled(self.robot)
        return _geometry(self.robot)

    def matrix(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(M, psi): the rates of q are M v, their rates M vd + psi. For closed loops only; q and v
        may have leading axes."""
        _require_rigid(self)
        rates = compiled(self.robot, "loop-kinematics")(q=q, qd=v)
        rest = np.setdiff1d(np.arange(self.nq), self.place)
        lead = np.shape(q)[:-1]
        M, psi = np.zeros((*lead, self.nq, self.nv)), np.zeros((*lead, self.nq))
        M[..., self.place, np.arange(self.nv)] = 1
        M[..., rest, :], psi[..., rest] = rates.W, rates.psi
        return M, psi

    def closed_at(self, q: Any) -> np.ndarray:
        """q with its loops closed: the active joints kept, the passive ones solved nearby."""
        q = np.array(q, float)
        if not self.positioned:
            return np.asarray(q)
        link = self.geometry.coordinates
        solved = self.geometry.solve(q[link.places(link.active)], q)
        away = solved - q
        turns = _geometry(self.robot).system().periodic
        return np.asarray(q + np.where(turns, (away + np.pi) % (2 * np.pi) - np.pi, away))

    def follow(self, path: np.ndarray, start: np.ndarray) -> np.ndarray:
        """q of the whole tree along a path (N, nv) of the active joints, near a configuration."""
        if self.robot.wheels:
            raise _rolled(self.robot)
        return np.asarray(_geometry(self.robot).follow(path, start))

    def rolled_along(self, motion: Any, start: np.ndarray) -> np.ndarray:
        """q of the whole tree at the instants of a motion of the active joints, from a first
        configuration: wheels give velocities alone, which are integrated (Runge and Kutta, of
        order 4, a step from one instant to the next)."""

        def rates(t: float, q: np.ndarray) -> np.ndarray:
            wanted, v, _ = (np.asarray(x, float) for x in motion(t))
            q = q.copy()
            q[self.place] = wanted
            return np.asarray(self.matrix(q, v)[0] @ v)

        q = np.array(start, float)
        rows = [q]
        for a, b in pairwise(motion.t.tolist()):
            q = np.asarray(rk4(rates, a, q, b - a))
            q[self.place] = motion(b)[0]
            q = self.closed_at(q)
            rows.append(q)
        return np.array(rows)

    def first(self, name: str, given: Any) -> np.ndarray:
        """q from one value for all, all of q, the joints of the tree, or the active joints: the
        loops then closed as the robot stands. None: where it stands."""
        _require_rigid(self)
        q = np.zeros(self.nq)
        if given is None:
            q[: self.robot.n] = standing(self.robot)
            return q
        values = array(name, given)
        if self.robot.wheels and values.shape == (self.nv,):
            q[: self.robot.n] = standing(self.robot)
            q[self.place] = values
            return self.closed_at(q)
        if self.closed and values.shape == (self.nv,) and self.nv != self.nq:
            homely = any(joint.home is not None for joint in self.robot.joints)
            near = standing(self.robot) if homely else None
            return np.asarray(np.atleast_2d(_geometry(self.robot).solve(values, near))[0], float)
        if values.shape in ((), (1,)):
            q[: self.robot.n] = values
        elif values.shape in ((self.nq,), (self.robot.n,)):
            q[: len(values)] = values
        else:
            raise InputError(
                f"{name} has shape {values.shape}; expected {self.nq} values, one per joint, or one"
                " for all"
            )
        return self.closed_at(q) if self.closed else q


def _rolled(robot: Robot) -> ModelError:
    return ModelError(
        f"where '{robot.name}' is depends on the way that its wheels have rolled, not on its active"
        " joints",
        remedy="simulate it with motion=, which integrates it",
    )


def _require_rigid(on: JointSpace) -> None:
    if on.closed and on.robot.ne:
        raise ModelError(
            f"'{on.robot.name}' has loops and flexible links: simulate takes it; for the rest use"
            " cardan.rigid first"
        )


@lru_cache(maxsize=64)
def coordinates(robot: Robot) -> JointSpace:
    """Of a robot's dynamic models: its loops close, and its active joints drive it."""
    if not robot.n:
        raise ModelError(f"no joint of '{robot.name}' moves")
    link = Coordinates.of(independent(robot))
    if robot.constrained and not robot.ne:
        analyse(link.robot).require_driven()
    motors = link.joint_keys(link.driven)
    return JointSpace(
        robot,
        len(link.keys),
        len(link.independent),
        np.array([key in motors for key in link.independent], bool),
        np.array([link.keys.index(key) for key in link.independent], int),
        robot.constrained,
    )


@lru_cache(maxsize=16)
def _geometry(robot: Robot) -> Any:
    return model(holonomic(robot), "loop-geometry")
