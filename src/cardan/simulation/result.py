"""What a simulation gives: the motion at its samples and the energy balance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..describe.robot import Robot
from ..describe.world import gravity_in_world
from ..document.notebook import notebook_html, notebook_latex
from ..document.structure import Image
from ..motion.animate import write_animation
from ..motion.coordinates import coordinates
from ..motion.derived import compiled
from ..motion.frames import link_frames
from ..motion.joints import number
from ..motion.plots import Panel, image, joint_panels, lines
from ..motion.tables import write_table
from ..motion.trajectory import Trajectory
from .integrate import Accuracy
from .scene import spring_energy, total_mass

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Energy(NDArrayOperatorsMixin):
    """The energy balance over time, J: what is stored, and what went in and out since the start.

    potential: of gravity, and of the deformation of flexible links; elastic: of the springs of
    elastic joints. Their sum is U of the model 'energies'; for a floating base gravity is that in
    the world. The works are NaN where they were not integrated. In arithmetic it is what is stored:
    energy - energy[0]."""

    kinetic: np.ndarray
    potential: np.ndarray
    elastic: np.ndarray
    drives: np.ndarray
    friction: np.ndarray
    loads: np.ndarray

    def __repr__(self) -> str:
        return f"Energy({len(self.kinetic)} samples, drift {self.drift:.2g})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.stored, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        values = [x.stored if isinstance(x, Energy) else x for x in inputs]
        return getattr(ufunc, method)(*values, **options)

    def __getitem__(self, index: Any) -> Any:
        return self.stored[index]

    def __len__(self) -> int:
        return len(self.kinetic)

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

    def panel(self) -> Panel:
        """What is stored and what went in and out, for a picture."""
        curves = {"kinetic": self.kinetic, "potential": self.potential - self.potential[0]}
        others = {
            "elastic": self.elastic, "of the drives": self.drives, "lost": self.friction,
            "loads": self.loads,
        }  # fmt: skip
        curves |= {key: x for key, x in others.items() if np.abs(x).max() > 0}
        within = "" if np.isnan(self.drift) else f" (balance within {self.drift:.1e})"
        return Panel(f"energy since the start{within}", "J", curves)


def balance(
    robot: Robot, q: np.ndarray, qd: np.ndarray, works: np.ndarray,
    T0: np.ndarray | None = None, V0: np.ndarray | None = None,
) -> Energy | None:  # fmt: skip
    """The energies at samples q, qd (m, n) of all coordinates, with the works (m, 3) of drives,
    friction and loads; T0 and V0 of a floating base. A base that is moved by an unknown force has
    none, and there is no model of the energies of flexible links on a base that floats."""
    flexible = q.shape[1] != robot.n
    if robot.base.kind == "mobile" or (T0 is not None and flexible):
        return None
    extra: dict[str, Any] = {}
    g = gravity_in_world(robot)
    if T0 is not None:
        extra = {"V0": V0, "g0": np.einsum("tji,j->ti", T0[:, :3, :3], g)}
    if any(number(loop.cut.IA) != 0 for loop in robot.loops) and not flexible:
        v = np.ascontiguousarray(qd[:, coordinates(robot).place])  # not in the tree's energy
        E, U = compiled(robot, "energies")(q=q, qd=v, **extra)
    else:
        E, U = compiled(robot.tree(), "energies")(q=q, qd=qd, **extra)
    if T0 is not None:
        U = U - total_mass(robot) * (T0[:, :3, 3] @ g)
    springs = spring_energy(robot, q[:, : robot.n])
    return Energy(np.asarray(E), np.asarray(U) - springs, springs, *works.T)


@dataclass(frozen=True)
class Dynamics:
    """Accelerations of all coordinates (m, n), torques of the rigid joints and the energies."""

    qdd: np.ndarray
    tau: np.ndarray
    energy: Energy | None


@dataclass(frozen=True)
class Simulation:
    """A simulated motion at the times t (m): all coordinates of the tree q and their velocities qd
    (m, n + ne), accelerations qdd, torques tau of the rigid joints, the energy balance, and for a
    floating base its poses T0 (m, 4, 4) in the world and twists V0 (m, 6) in its own axes; error:
    the estimated one, None where steps of a given length were taken.

    dynamics: accelerations, torques and energies, or what computes them when they are asked for."""

    robot: Robot
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    dynamics: Dynamics | Callable[[], Dynamics]
    method: str
    steps: int
    T0: np.ndarray | None = None
    V0: np.ndarray | None = None
    z: np.ndarray | None = None
    error: Accuracy | None = None

    def __repr__(self) -> str:
        told = ""
        if isinstance(self.dynamics, Dynamics) and self.energy is not None:
            told = f", energy drift {self.energy.drift:.2g}"
        if self.error is not None:
            told += f", estimated error {self.error.position:.1g}, {self.error.velocity:.1g}"
        return (
            f"Simulation of '{self.robot.name}': {len(self.t)} samples from {self.t[0]:.6g} to"
            f" {self.t[-1]:.6g} s, {self.steps} steps of {self.method}{told}"
        )

    def _repr_html_(self) -> str:
        parts = [*self.trajectory._parts()[1], Image(image(self.plot), "")]
        return notebook_html(repr(self), parts)

    def _repr_latex_(self) -> str:
        return notebook_latex(repr(self), self.trajectory._parts()[1])

    @cached_property
    def _solved(self) -> Dynamics:
        return self.dynamics if isinstance(self.dynamics, Dynamics) else self.dynamics()

    @property
    def qdd(self) -> np.ndarray:
        return self._solved.qdd

    @property
    def tau(self) -> np.ndarray:
        return self._solved.tau

    @property
    def energy(self) -> Energy | None:
        return self._solved.energy

    @property
    def elastic(self) -> np.ndarray:
        """The coordinates of flexible links, (m, ne)."""
        return self.q[:, self.robot.n :]

    def position(self, frame: int | str | None = None) -> np.ndarray:
        """The origin of a frame in frame 0, (m, 3)."""
        return np.asarray(compiled(self.robot.tree(), "transform", frame=frame)(q=self.q))[:, :3, 3]

    def velocity(self, frame: int | str | None = None) -> np.ndarray:
        """The twist (linear, angular) of a frame against frame 0, in its axes, (m, 6)."""
        J = compiled(self.robot.tree(), "jacobian", frame=frame)(q=self.q)
        return np.asarray(np.einsum("nij,nj->ni", np.asarray(J), self.qd))

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
        write_table(path, self.columns())

    def plot(self) -> Any:
        """Positions, velocities, torques, the base and the energy balance, as a matplotlib
        figure."""
        robot, on = self.robot, coordinates(self.robot)
        n = robot.n
        panels = joint_panels(robot, "positions", self.q[:, :n], "q")
        panels += joint_panels(robot, "velocities", self.qd[:, :n], "qd")
        if on.nq > n:
            curves = {f"e{k}": column for k, column in enumerate(self.elastic.T, 1)}
            panels.append(Panel("elastic coordinates", "m or rad", curves))
        if self.tau.any():
            tau = np.full((len(self.t), n), np.nan)
            tau[:, on.place[on.driven]] = self.tau
            panels += joint_panels(robot, "torques of the drives", tau, "tau")
        if self.T0 is not None:
            position = dict(zip(("x", "y", "z"), self.T0[:, :3, 3].T, strict=True))
            panels.append(Panel("position of the base", "m", position))
        if self.energy is not None:
            panels.append(self.energy.panel())
        return lines(self.t, panels, f"{robot.name}: simulation")

    def animate(self, path: str, **options: Any) -> None:
        """A page that shows the motion in 3D, complete in one .html file."""
        joints = self.q[:, : self.robot.n]
        write_animation(path, self.robot, self.t, joints, self.T0, **options)
