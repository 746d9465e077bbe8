"""What a simulation gives: the motion at its samples and the energy balance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..describe.robot import Robot
from ..motion.coordinates import coordinates
from ..motion.frames import link_frames
from ..motion.trajectory import Trajectory
from .integrate import Accuracy

__all__ = ["Energy", "Simulation"]

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Energy:
    """The energy balance over time, J: what is stored, and what went in and out since the start.

    potential: of gravity, and of the deformation of flexible links; elastic: of the springs of
    elastic joints. Their sum is U of the model 'energies'; for a floating base gravity is that in
    the world."""

    kinetic: np.ndarray
    potential: np.ndarray
    elastic: np.ndarray
    drives: np.ndarray
    friction: np.ndarray
    loads: np.ndarray

    def __repr__(self) -> str:
        return f"Energy({len(self.kinetic)} samples, drift {self.drift:.2g})"

    @property
    def stored(self) -> np.ndarray:
        return np.asarray(self.kinetic + self.potential + self.elastic)

    @property
    def residual(self) -> np.ndarray:
        """What does not balance: stored now - stored first - work in + work out."""
        work = self.drives - self.friction + self.loads
        return np.asarray(self.stored - self.stored[0] - (work - work[0]))

    @property
    def drift(self) -> float:
        """The largest residual over the largest energy that moved; of a robot at rest, over what
        rounding leaves of the energy it has."""
        parts = (self.kinetic, self.potential, self.elastic, self.drives, self.friction)
        scale = max([float(np.ptp(x)) for x in parts] + [float(self.kinetic.max())])
        scale = max(scale, _ROUNDING * float(np.abs(self.stored).max()))
        worst = float(np.abs(self.residual).max())
        return worst / scale if scale else worst


@dataclass(frozen=True)
class Simulation:
    """A simulated motion at the times t (m): joints (m, n), torques of the rigid joints, and for a
    floating base its poses T0 (m, 4, 4) in the world and twists V0 (m, 6) in its own axes; error:
    the estimated one, None where steps of a given length were taken."""

    robot: Robot
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    T0: np.ndarray | None = None
    V0: np.ndarray | None = None
    z: np.ndarray | None = None
    energy: Energy | None = None
    steps: int = 0
    error: Accuracy | None = None

    def __repr__(self) -> str:
        told = "" if self.energy is None else f", energy drift {self.energy.drift:.2g}"
        if self.error is not None:
            told += f", estimated error {self.error.position:.1g}, {self.error.velocity:.1g}"
        return (
            f"Simulation of '{self.robot.name}': {len(self.t)} samples from {self.t[0]:.6g} to"
            f" {self.t[-1]:.6g} s, {self.steps} steps{told}"
        )

    @property
    def trajectory(self) -> Trajectory:
        """The joint motion as a trajectory."""
        return Trajectory(self.t, self.q, self.qd, self.qdd, None, "simulation")

    def frames(self) -> np.ndarray:
        """Poses of the base and all links in the world, (m, nl+1, 4, 4)."""
        return link_frames(self.robot, self.q[:, : self.robot.n], self.T0)

    def columns(self) -> dict[str, np.ndarray]:
        """Everything as a table of named columns."""
        table = self.trajectory.columns()
        on = coordinates(self.robot)
        table |= {f"tau{j + 1}": c for j, c in zip(on.place[on.driven], self.tau.T, strict=True)}
        if self.T0 is not None and self.V0 is not None:
            for k, key in enumerate("xyz"):
                table[f"base_{key}"] = self.T0[:, k, 3]
            for r in range(3):
                table |= {f"base_R{r + 1}{c + 1}": self.T0[:, r, c] for c in range(3)}
            keys = ("vx", "vy", "vz", "wx", "wy", "wz")
            table |= {f"base_{key}": c for key, c in zip(keys, self.V0.T, strict=True)}
        if self.energy is not None:
            table |= {"kinetic": self.energy.kinetic, "potential": self.energy.potential}
            table["energy_residual"] = self.energy.residual
        return {key: np.ascontiguousarray(column) for key, column in table.items()}

    def save(self, path: str) -> None:
        """As a table, .csv or .parquet."""
        from ..motion.tables import write_table

        write_table(path, self.columns())

    def plot(self) -> Any:
        """Positions, velocities, torques and the energy balance, as a matplotlib figure."""
        from .plot import plot_simulation

        return plot_simulation(self)

    def animate(self, path: str, **options: Any) -> None:
        """A page that shows the motion in 3D, complete in one .html file."""
        from ..motion.animate import write_animation

        joints = self.q[:, : self.robot.n]
        write_animation(path, self.robot, self.t, joints, self.T0, **options)
