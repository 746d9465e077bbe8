"""Torques of a motion and where they come from, for reading a design and sizing its actuators.

    tau = A(q) qdd + [C(q, qd) qd] + Q(q) + friction (+ external wrenches, + the base's motion)

[B23] (3.10) and 3.2.4; the contributions of [C23]'s example. What motors must give for it,
behind gears of efficiency eta that the loads L = tau - IA qdd pass, and with cogging, [B23] 3.7:

    tau_m = IA qdd + L / eta (driving, L qd > 0) or L eta (driven back) + A sin(N q + phase)

At rest, where friction of the gear may hold either way, L counts as it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..build.common import with_friction
from ..describe.robot import INERTIA, WRENCH, Base, Link, Motor, Robot
from ..errors import CardanWarning, InputError, ModelError, translated
from ..loops.numeric import equations
from ..mechanism.coordinates import has_springs, is_floating
from ..mechanism.frames import frame_of
from .coordinates import coordinates
from .derived import compiled
from .frames import placement
from .joints import Units, array, friction_torques, moving, names, number, require_numbers, units
from .plots import Panel, lines
from .tables import write_table
from .trajectory import Trajectory, Violation, fits, violations

PARTS = (
    "inertial", "centrifugal and Coriolis", "gravity", "springs", "friction", "external",
    "base motion",
)  # fmt: skip
_CLOSED = 1e-5  # m, rad


@dataclass(frozen=True)
class Torques:
    """Total torques (m, n) over a trajectory and their contributions by name, N m or N."""

    robot: Robot
    motion: Trajectory
    total: np.ndarray
    parts: Mapping[str, np.ndarray]
    drives: np.ndarray | None = None  # (m, n): what the motors must give, where any is described

    def __repr__(self) -> str:
        listed = zip(self.joints, self.peak, self.rms, strict=True)
        rows = [f"  {n}: peak {p:.6g}, RMS {r:.6g} {u.effort}" for (n, u), p, r in listed]
        return "\n".join([f"Torques of '{self.robot.name}', {self.motion!r}", *rows])

    @property
    def joints(self) -> list[tuple[str, Units]]:
        """Names and units of the joints that are driven."""
        place = coordinates(self.robot).place
        listed = list(zip(names(self.robot), units(self.robot), strict=True))
        return [listed[k] for k in place]

    @property
    def peak(self) -> np.ndarray:
        """The largest size of each joint's torque."""
        return np.asarray(np.abs(self.total).max(axis=0))

    @property
    def rms(self) -> np.ndarray:
        """The root mean square over time, which heats a motor."""
        return rms(self.motion.t, self.total)

    @property
    def power(self) -> np.ndarray:
        """Mechanical power of each joint, W, (m, n)."""
        return np.asarray(self.total * self.motion.qd)

    def violations(self) -> list[Violation]:
        """What the motion exceeds, worst first of each joint: limits of positions, velocities and
        torques; of motors that are described their curve of torque and speed, and what they bear
        for ever, by the root mean square over the motion."""
        drives = self.total if self.drives is None else self.drives
        listed = violations(self.motion, self.robot, tau=self.total)
        for j, motor in enumerate(_motors(self.robot)):
            if motor is None:
                continue
            name, speed = self.joints[j][0], np.abs(self.motion.qd[:, j])
            if motor.curve:
                at, most = np.array([[number(x) for x in row] for row in motor.curve]).T
                allowed = np.interp(speed, at, most, right=0.0)
                worst = int(np.argmax(np.abs(drives[:, j]) - allowed))
                value, limit = abs(float(drives[worst, j])), float(allowed[worst])
                if value > limit * (1 + 1e-9) + 1e-12:
                    what = f"torque of the motor at speed {speed[worst]:.6g}"
                    time = float(self.motion.t[worst])
                    listed.append(Violation(name, what, value, limit, time))
            if motor.rated is not None:
                value, limit = float(rms(self.motion.t, drives)[j]), number(motor.rated)
                if value > limit * (1 + 1e-9):
                    what = "RMS torque of the motor, over the motion,"
                    end = float(self.motion.t[-1])
                    listed.append(Violation(name, what, value, limit, end))
        return listed

    def table(self) -> list[dict[str, Any]]:
        """One row per joint: peak and RMS torque, peak speed and power, peaks of the parts."""
        speed, power = np.abs(self.motion.qd).max(axis=0), np.abs(self.power).max(axis=0)
        rows = []
        for j, (name, unit) in enumerate(self.joints):
            own = {}
            if self.drives is not None:
                motor = rms(self.motion.t, self.drives)[j]
                own = {
                    "motor peak": float(np.abs(self.drives[:, j]).max()),
                    "motor rms": float(motor),
                }
            rows.append(
                {
                    "joint": name, "unit": unit.effort,
                    "peak": float(self.peak[j]), "rms": float(self.rms[j]),
                    "speed": float(speed[j]), "power": float(power[j]),
                    **own, **{key: float(np.abs(x[:, j]).max()) for key, x in self.parts.items()},
                }
            )  # fmt: skip
        return rows

    def columns(self) -> dict[str, np.ndarray]:
        """The motion, the torques and their parts as a table."""
        table = self.motion.columns()
        table |= {f"tau{j}": x for j, x in enumerate(self.total.T, 1)}
        if self.drives is not None:
            table |= {f"tau{j}_motor": x for j, x in enumerate(self.drives.T, 1)}
        for key, values in self.parts.items():
            word = key.replace(" ", "_")
            table |= {f"tau{j}_{word}": x for j, x in enumerate(values.T, 1)}
        return {key: np.ascontiguousarray(x) for key, x in table.items()}

    def save(self, path: str) -> None:
        """As a table, .csv or .parquet."""
        write_table(path, self.columns())

    def plot(self) -> Any:
        """One panel per joint: the total and its contributions."""
        panels = [
            Panel(
                f"{name}: peak {self.peak[j]:.4g}, RMS {self.rms[j]:.4g} {unit.effort}",
                unit.effort,
                {"total": self.total[:, j], **{key: x[:, j] for key, x in self.parts.items()}},
                frozenset(self.parts),
            )
            for j, (name, unit) in enumerate(self.joints)
        ]
        title = f"{self.robot.name}: torques of a motion ({self.motion.name})"
        return lines(self.motion.t, panels, title, columns=1 if len(panels) < 4 else 2)


def rms(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """sqrt of the mean of x² over time, by the trapezoidal rule."""
    area = np.diff(t) @ (x[1:] ** 2 + x[:-1] ** 2) / 2
    return np.asarray(np.sqrt(area / (t[-1] - t[0])))


@named_arguments
@translated("the torques cannot be computed", remedy="check the values of robot and motion")
def torques(
    robot: Robot, motion: Trajectory, q0: Numbers = None, *, payload: Numbers = None
) -> Torques:
    """The torques of a motion with their contributions; those that vanish are left out.

    A robot with closed loops takes a motion of its active joints, from the assembly nearest to q0
    on, or one of all joints of its tree. payload: a mass that the robot holds, or (mass, x, y, z)
    with its place in the frame of the end effector (`with_payload` knows others).

    >>> robot = cardan.load("ur5")
    >>> result = cardan.torques(robot, cardan.trajectory(robot, 0.5, duration=2.0, dt=0.01))
    >>> result.total.shape, list(result.parts)
    ((201, 6), ['inertial', 'centrifugal and Coriolis', 'gravity'])"""
    require_numbers(robot, "the torques of a motion")
    if payload is not None:
        mass, *centre = np.atleast_1d(array("payload", payload)).ravel()
        robot = with_payload(robot, float(mass), centre or (0, 0, 0))
    if robot.interactions:
        warnings.warn(
            f"the torques of '{robot.name}' are without its contacts, drag and thrusters;"
            " simulate(robot, motion=...) has them",
            CardanWarning,
            stacklevel=4,
        )
    q, motion = rigid_positions(robot, motion, q0)
    qd, qdd = motion.qd, motion.qdd
    total = compiled(robot, "inverse-dynamics")(q=q, qd=qd, qdd=qdd)
    alone = _alone(robot)
    A = compiled(robot, "inertia-matrix")(q=q)
    parts = {
        "inertial": np.einsum("tij,tj->ti", A, qdd),
        "centrifugal and Coriolis": compiled(alone, "bias")(q=q, qd=qd),
        "gravity": compiled(_without_springs(replace(robot, base=_still(robot))), "gravity")(q=q),
        "friction": _friction(robot, q, qd, total, qdd),
    }
    if any(number(joint.spring) for joint in robot.joints):
        parts["springs"] = compiled(replace(robot, base=_still(robot)), "gravity")(q=q)
        parts["springs"] = parts["springs"] - parts["gravity"]
    if any(number(getattr(link, key)) for link in robot.links for key in WRENCH):
        bare: dict[str, Any] = dict.fromkeys(INERTIA, 0)
        loaded = replace(alone, links=tuple(replace(link, **bare) for link in robot.links))
        parts["external"] = compiled(loaded, "bias")(q=q, qd=0 * qd)
    if robot.base.kind == "mobile":
        parts["base motion"] = total - sum(parts.values())
    shown = {key: x for key, x in parts.items() if key in PARTS[:3] or np.abs(x).max() > 0}
    return Torques(robot, motion, total, shown, _drives(robot, motion, total))


def _motors(robot: Robot) -> list[Motor | None]:
    """Those of the driven joints."""
    joints = moving(robot)
    return [joints[k].motor for k in coordinates(robot).place]


def _drives(robot: Robot, motion: Trajectory, total: np.ndarray) -> np.ndarray | None:
    """What the motors must give: gears and cogging added, where they are described."""
    motors = _motors(robot)
    if not any(motors):
        return None
    drives = np.array(total)
    joints = [moving(robot)[k] for k in coordinates(robot).place]
    for j, (joint, motor) in enumerate(zip(joints, motors, strict=True)):
        if motor is None:
            continue
        rotor = number(joint.IA) * motion.qdd[:, j]
        load = total[:, j] - rotor
        drives[:, j] = rotor + load * number(motor.efficiency) ** -np.sign(load * motion.qd[:, j])
        if motor.cogging:
            size, waves, phase = map(number, motor.cogging)
            drives[:, j] += size * np.sin(waves * motion.q[:, j] + phase)
    return drives


def rigid_positions(robot: Robot, motion: Trajectory, q0: Any) -> tuple[np.ndarray, Trajectory]:
    """(q of the whole robot, the motion of its driven joints), where these say all."""
    if is_floating(robot) or robot.ne or has_springs(robot):
        raise ModelError(
            f"the torques of '{robot.name}' depend on how its free base or elastic parts move:"
            " simulate(robot, motion=...) finds both"
        )
    on = coordinates(robot)
    if not on.closed:
        fits(motion, robot)
        return motion.q, motion
    if motion.n == on.nq:
        _require_closed(robot, motion)
        q, qd, qdd = (x[:, on.place] for x in (motion.q, motion.qd, motion.qdd))
        return motion.q, Trajectory(motion.t, q, qd, qdd, None, motion.name)
    if motion.n != on.nv:
        fits(motion, robot)
    start = on.first("q0", motion.q[0] if q0 is None else q0)
    if robot.wheels:
        return on.rolled_along(motion, start), motion
    return on.follow(motion.q, start), motion


def _require_closed(robot: Robot, motion: Trajectory) -> None:
    """A motion of all joints keeps the loops closed."""
    open_ = equations(robot, {}).error(motion.q)
    k = int(np.argmax(open_))
    if open_[k] > _CLOSED:
        raise InputError(
            f"this motion of all joints of '{robot.name}' does not keep its loops closed; they gape"
            f" most at t = {motion.t[k]:.6g} s: give the motion of the"
            f" {len(coordinates(robot).place)} active joints alone, and the others follow"
        )


def _friction(
    robot: Robot, q: np.ndarray, qd: np.ndarray, total: np.ndarray, qdd: np.ndarray
) -> np.ndarray:
    if robot.constrained or robot.drives:  # passive joints and motors of several rub too
        bare = compiled(robot, "inverse-dynamics", friction=False)(q=q, qd=qd, qdd=qdd)
        return np.asarray(total - bare)
    return friction_torques(robot, qd)


def _still(robot: Robot) -> Base:
    return Base(Z=robot.base.Z, link=robot.base.link)


def _without_springs(robot: Robot) -> Robot:
    joints = tuple(replace(x, spring=0, neutral=0) if x.spring else x for x in robot.joints)
    return replace(robot, joints=joints)


def _alone(robot: Robot) -> Robot:
    """Without gravity, friction, external wrenches and motion of the base."""
    free: dict[str, Any] = dict.fromkeys(WRENCH, 0)
    return replace(
        with_friction(_without_springs(robot), False),
        base=_still(robot),
        gravity=(0, 0, 0),
        links=tuple(replace(link, **free) for link in robot.links),
    )


@named_arguments
def with_payload(
    robot: Robot, mass: float, centre: Numbers = (0, 0, 0), *, link: int | str | None = None
) -> Robot:
    """The robot holding a point mass at a point of a frame; by default of the end effector that
    the file names, else of the last link."""
    c = np.asarray(centre, float)
    if not (np.isfinite(mass) and mass >= 0) or c.shape != (3,) or not np.isfinite(c).all():
        raise InputError(f"a payload of {mass} kg at {centre}; expected a mass >= 0 and a point")
    index: Any = len(robot.links) if link is None and not robot.frames else link
    if isinstance(index, int) and not 1 <= index <= len(robot.links):
        raise InputError(f"there is no link '{link}'; allowed: 1 to {len(robot.links)} or a name")
    frame = frame_of(robot, index)
    if not frame.link:
        raise InputError(f"frame '{link}' is on the base, whose load moves no joint; name another")
    index, c = frame.link, (placement(frame) @ [*c, 1.0])[:3]
    x, y, z = c
    added = {
        "XX": y * y + z * z, "XY": -x * y, "XZ": -x * z, "YY": x * x + z * z, "YZ": -y * z,
        "ZZ": x * x + y * y, "MX": x, "MY": y, "MZ": z, "M": 1.0,
    }  # fmt: skip
    old: Link = robot.links[index - 1]
    changed: dict[str, Any] = {
        key: getattr(old, key) + float(mass * value) for key, value in added.items()
    }
    links = list(robot.links)
    links[index - 1] = replace(old, **changed)
    return replace(robot, links=tuple(links))
