"""The loops of a robot during a simulation: closed after every step, rigid links or flexible.

Where W_p is singular the active joints lose control of the passive ones: their rates, and with them
the accelerations, grow without bounds, and what an integrator makes of it is not the motion. Every
accepted step is looked at: a small W_p, or a determinant that changed its sign since the step
before, ends the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ..algebra.ranks import conditioning
from ..build.flexible.closure import closing
from ..build.flexible.step import flow_program
from ..describe.robot import PRISMATIC, Robot
from ..errors import ModelError, UnknownNameError
from ..loops.analysis import analyse, independent
from ..loops.numeric import equations
from ..motion.coordinates import JointSpace
from ..motion.derived import compiled

_SMALL = 1e-5  # smallest by largest singular value of W_p
_NEARLY = 1e-2  # so small, it is why the steps of an integrator vanish


@lru_cache(maxsize=16)
def _flow_slopes(robot: Robot) -> tuple[Any, Any]:
    flow = flow_program(robot)
    return flow.derivative("qd_t", "q").compile(), flow.derivative("qd_t", "qd").compile()


def rates_matrix(on: JointSpace, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, psi) of closed loops: the rates of q are M v, their rates M vd + psi; q and v may have
    leading axes."""
    if not on.robot.ne:
        return on.matrix(q, v)
    q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
    turning, M = (np.asarray(slope(q=q, qd=v)) for slope in _flow_slopes(on.robot))
    return M, (turning @ (M @ v[..., None]))[..., 0]


def watch(on: JointSpace, singular: str) -> Watch:
    if singular not in ("stop", "pass"):
        raise UnknownNameError.of("value of singular", singular, ("stop", "pass"))
    return Watch(on, singular == "stop")


@dataclass
class Watch:
    """The sign of det W_p so far, and the last time the equation was asked for."""

    on: JointSpace
    stops: bool = True
    sign: float = 0.0
    now: float = 0.0

    def closed(self, q: np.ndarray) -> np.ndarray:
        """q with its loops closed, or an error that says where control was lost."""
        try:
            shut = self._closed_at(q)
        except ModelError as error:
            raise self._lost(q, f"its loops cannot be closed any more ({error})") from None
        if not self.stops:
            return shut
        W = self._balanced(shut)
        if not W.size:
            return shut
        ratio = float(conditioning(W))
        if ratio < _SMALL:
            raise self._lost(shut, f"W_p is singular to {ratio:.1g}")
        sign = float(np.linalg.slogdet(W)[0]) if W.shape[0] == W.shape[1] else 0.0
        if self.sign * sign < 0:
            raise self._lost(shut, "det W_p changed its sign within one step")
        self.sign = sign
        return shut

    def stuck(self, q: np.ndarray) -> None:
        """Say so where a singularity is what makes the steps vanish."""
        W = self._balanced(q)
        if W.size and (ratio := float(conditioning(W))) < _NEARLY:
            raise self._lost(q, f"W_p is singular to {ratio:.1g}, and the steps vanish")

    def _balanced(self, q: np.ndarray) -> np.ndarray:
        """W_p over lengths in units of the robot's size: rows are not scaled by themselves, because
        one that vanishes is what is looked for."""
        W = self._Wp(q)
        if not self.on.robot.ne:
            rows, columns = self._units
            return np.asarray(W * columns / rows[:, None])
        scale = np.linalg.norm(W, axis=1, keepdims=True)
        return W / np.where(scale > 0, scale, 1)

    @cached_property
    def _units(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the rows and of the columns of W_p: one, or the robot's size for lengths."""
        analysis, system = analyse(independent(self.on.robot)), equations(self.on.robot)
        lengths = [name[0] == "v" for keep in analysis.chosen for name in keep.rows]
        lengths += [True for names in analysis.rolling for _ in names]
        joints = self.on.robot.joints
        lengths += [joints[j - 1].sigma == PRISMATIC for j in analysis.coupled]
        follow = analysis.coordinates.places(analysis.following)
        return np.where(lengths, system.size, 1.0), system.unit[follow]

    def _closed_at(self, q: np.ndarray) -> np.ndarray:
        robot = self.on.robot
        if not robot.ne:
            return self.on.closed_at(q)
        loops = closing(robot)
        shut = loops.closed(q, loops.columns(loops.passive))
        if shut is None:
            raise ModelError(f"the loops of '{robot.name}' stay open")
        return shut

    def _Wp(self, q: np.ndarray) -> np.ndarray:
        """The derivatives of the loop equations by the passive joints."""
        robot = self.on.robot
        if robot.ne:
            loops = closing(robot)
            return loops.matrix(q, loops.cuts)[:, loops.columns(loops.passive)]
        kinematics = compiled(robot, "loop-kinematics", details=True)
        return np.asarray(kinematics(q=q, qd=np.zeros(self.on.nv)).Wp)

    def _lost(self, q: np.ndarray, why: str) -> ModelError:
        at = np.array2string(q[self.on.place], precision=4)
        return ModelError(
            f"the simulation of '{self.on.robot.name}' reached a type 2 singularity near t ="
            f" {self.now:.6g} s, active joints at {at}: {why}. The active joints have no control"
            " there; start elsewhere, choose another assembly, or keep the motion away from it"
        )
