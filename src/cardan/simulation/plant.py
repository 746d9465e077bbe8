"""The robot as a differential equation: compiled models, drives, friction, loads, a free base.

State: q, then (floating base) the rotation vector and the position of frame 0; the velocities, then
its twist; then the work of drives, of friction and of loads; then what a controller keeps. After
every step the loops of a closed robot are closed again: positions never drift apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra import so3
from ..build.common import with_friction
from ..describe.robot import WRENCH, Frame, Robot
from ..describe.world import gravity_in_world
from ..errors import InputError, UnknownNameError
from ..mechanism.coordinates import is_floating
from ..mechanism.frames import frame_of
from ..motion.coordinates import coordinates
from ..motion.derived import compiled
from ..motion.frames import placement
from ..motion.joints import moving, number, vector
from .drive import Drive
from .friction import (
    KINDS,
    SMOOTH,
    Stiction,
    jumps,
    laws,
    link_damping,
    positive_width,
    rubbing_cuts,
    rubbing_drives,
    smoothed,
)
from .integrate import Equation
from .interactions import interactions, thrusters
from .scene import Links, links_program
from .singular import Watch, rates_matrix

Loads = Callable[[Links], Mapping[Any, Any]]
_WORKS = 3


@dataclass
class Plant:
    """A robot with everything that acts on it.

    loads(links) gives {frame: wrench on its link}: a number is Khalil's frame, a name what it means
    everywhere."""

    robot: Robot
    drive: Drive
    loads: Loads | None = None
    friction: str = "smooth"
    smooth: float = SMOOTH
    thrust: Any = None  # factors of the thrusters, or a function of t
    R: np.ndarray = field(default_factory=lambda: np.eye(3))  # the chart's reference
    held: Any = None  # torques (and zd) of a sampled controller
    blame: str = ""  # who gave the first number that is not finite
    turned: tuple[Any, bytes, Any] = (None, b"", None)  # the last rotation of a floating base
    places: dict[Any, tuple[int, np.ndarray | None]] = field(default_factory=dict)  # of loads

    def __post_init__(self) -> None:
        robot = self.robot
        if self.friction not in KINDS:
            raise UnknownNameError.of("friction", self.friction, KINDS)
        positive_width(self.smooth)
        self.on = coordinates(robot)
        self.watch = Watch(self.on)
        self.n, self.m, self.floating = self.on.nq, self.on.nv, is_floating(robot)
        self.driven, self.nr = self.on.driven, self.on.nu
        self._losses()
        self.bending = link_damping(robot) if robot.ne else None
        self.split = self.n + 6 * self.floating
        self.end = self.split + self.m + 6 * self.floating
        z0 = self.drive.z0
        self.size = self.end + _WORKS + (0 if z0 is None else len(z0))
        self.own = _described(robot)
        self.links = links_program(robot).compile() if self.loads or self.own.any() else None
        self.around = interactions(robot).compile() if robot.interactions else None
        self.loaded = self.loads is not None or self.around is not None
        self.thrusters = len(thrusters(robot))
        if self.thrust is not None and not self.thrusters:
            raise InputError(f"thrust: '{robot.name}' has no thruster")
        if self.cuts:
            self.kinematics = compiled(robot, "loop-kinematics", details=True)
        self.gravity = gravity_in_world(robot)
        self.stiction = self._stiction() if self.friction == "event" else None

    def _compiled(self, model: str) -> Any:
        rubs = self.friction == "smooth"
        return compiled(self.rubbing, model, friction=rubs, f_e=self.loaded)

    @cached_property
    def direct(self) -> Any:
        return self._compiled("direct-dynamics")

    @cached_property
    def inverse(self) -> Any:
        return self._compiled("inverse-dynamics")

    def _losses(self) -> None:
        """Friction laws and the damping of elastic joints, of all coordinates, then of the cut
        joints and the motors of several joints that rub. The models have them; here they are
        for their power."""
        robot = with_friction(self.robot, self.friction != "none")
        self.rubbing = smoothed(robot, self.smooth) if self.friction == "smooth" else robot
        self.cuts, own = rubbing_cuts(self.rubbing)
        self.shared, drives = rubbing_drives(self.rubbing)
        listed = moving(self.rubbing)
        self.joints = [*listed, *(None for _ in range(self.n - len(listed))), *own, *drives]
        self.law = laws(self.joints)
        self.damping = np.zeros(len(self.joints))
        self.damping[: len(listed)] = [number(j.damping) * j.elastic for j in listed]

    def _stiction(self) -> Stiction:
        if self.floating or self.drive.prescribed or not self.driven.all() or self.on.closed:
            raise InputError(
                "friction='event' is for robots on a fixed base, driven by torques, without loops"
                " or elastic parts: use friction='smooth'"
            )
        if len(self.shared):
            raise InputError(
                "friction='event' is not available where a motor that several joints turn rubs: use"
                " friction='smooth'"
            )
        law = jumps(self.joints)
        return Stiction(self.robot, law, np.zeros(self.n), self.loaded)

    # parts of the state

    def parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and the velocities v."""
        return y[: self.n], y[self.split : self.split + self.m]

    def speeds(self, y: np.ndarray) -> np.ndarray:
        """The rates of all q."""
        q, v = self.parts(y)
        return np.asarray(rates_matrix(self.on, q, v)[0] @ v) if self.on.closed else v

    def base(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """R (3, 3), P (3), V0 (6) of a floating base."""
        turn, P = y[self.n : self.n + 3], y[self.n + 3 : self.n + 6]
        V0 = y[self.split + self.m : self.end]
        key = turn.tobytes()
        if self.turned[0] is not self.R or self.turned[1] != key:  # asked for again and again
            self.turned = self.R, key, self.R @ so3.exp(turn)
        return self.turned[2], P, V0

    def extra(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(works, controller state)."""
        rest = y[self.end :]
        return rest[:_WORKS], rest[_WORKS:]

    def imposed(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state with prescribed joints put where they are."""
        if not self.drive.prescribed:
            return y
        y = y.copy()
        q, v = self.parts(y)
        q[self.on.place[self.driven]], v[self.driven], _ = self.drive(t)
        return y

    # what acts

    def torques(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(torques of the rigid joints, rate of the controller's state)."""
        z, base = self.extra(y)[1], self.base_measured(y) if self.drive.base else None
        tau, zd = self.held or self.drive.torques(t, *self.parts(y), z, base)
        if not np.isfinite(tau).all():
            self._not_finite("the drive gave torques", tau, t, y)
        return tau, zd

    def wrenches(self, t: float, y: np.ndarray) -> tuple[dict[str, np.ndarray], float]:
        """(the model's input f_e, the power of all that acts from outside): the loads, the
        interactions of the file, and the wrenches described, which the models have already."""
        f_e, power = self._loads(t, y)
        if self.around is None:
            return ({} if f_e is None else {"f_e": f_e}), power
        x: dict[str, Any] = {"q": self.parts(y)[0], "qd": np.ascontiguousarray(self.speeds(y))}
        if self.floating:
            R, P, V0 = self.base(y)
            x |= {"V0": np.ascontiguousarray(V0), "R0": R, "P0": np.ascontiguousarray(P)}
        if self.thrusters:
            x["thrust"] = self._thrusts(t)
        around = self.around(**x)
        total = around.f_e if f_e is None else around.f_e + f_e
        return {"f_e": total}, power + float(around.power)

    def _thrusts(self, t: float) -> np.ndarray:
        factors = self.thrust(t) if callable(self.thrust) else self.thrust
        return vector("thrust", 1.0 if factors is None else factors, self.thrusters)

    def _loads(self, t: float, y: np.ndarray) -> tuple[np.ndarray | None, float]:
        """(f_e of the loads, their power and that of the wrenches described)."""
        if self.links is None:
            return None, 0.0
        q, qd = self.parts(y)
        extra: dict[str, Any] = self.base_inputs(y)
        poses = self.links(q=q, qd=np.ascontiguousarray(self.speeds(y)), **extra)
        nl = len(self.robot.links)
        T, V = np.zeros((nl + 1, 4, 4)), np.zeros((nl + 1, 6))
        T[:, 3, 3], T[0, :3, :3], T[1:, :3], V[1:] = 1, np.eye(3), poses.T, poses.V
        if self.floating:
            R, P, V0 = self.base(y)
            world = np.eye(4)
            world[:3, :3], world[:3, 3] = R, P
            T, V[0] = world @ T, V0
        power = -float((self.own * V).sum())
        if self.loads is None:
            return None, power
        wrenches = self.loads(Links(t, q, qd, T, V))
        if not isinstance(wrenches, Mapping):
            raise InputError(
                f"loads gave a {type(wrenches).__name__}; expected {{link: wrench (6) on it}}"
            )
        first = 0 if self.floating else 1
        f_e = np.zeros((nl + 1, 6))
        for link, wrench in wrenches.items():
            j, place = self._place(link)
            w = np.asarray(wrench, float)
            if w.shape != (6,):
                raise InputError(f"the load on link {link} has shape {w.shape}; expected (6,)")
            if not np.isfinite(w).all():
                self._not_finite(f"the load on link {link} is", w, t, y)
            w = w if place is None else place @ w
            f_e[j] -= w
            power += float(w @ V[j])
        return np.ascontiguousarray(f_e[first:]), power

    def _not_finite(self, what: str, values: np.ndarray, t: float, y: np.ndarray) -> None:
        """Somebody's numbers are at fault, unless the state itself has run away. A solver may try
        wild states and withdraw: only the first state is judged at once."""
        if not self.blame and np.isfinite(y).all():
            self.blame = f"{what} {values.tolist()} at t = {t:.9g} s; finite ones are expected"
            if t == 0:
                raise InputError(self.blame)

    def _place(self, link: Any) -> tuple[int, np.ndarray | None]:
        """The link that a number or the name of a frame means, and (6, 6) what a wrench in that
        frame is in Khalil's; None where it is the same."""
        if link not in self.places:
            name = int(link) if isinstance(link, np.integer) else link
            self.places[link] = _wrench_place(frame_of(self.robot, name))
        return self.places[link]

    def base_inputs(self, y: np.ndarray) -> dict[str, np.ndarray]:
        """V0 and g0 of a floating base."""
        if not self.floating:
            return {}
        R, _, V0 = self.base(y)
        return {"V0": np.ascontiguousarray(V0), "g0": R.T @ self.gravity}

    def base_measured(self, y: np.ndarray) -> dict[str, np.ndarray]:
        """What a law is told of a floating base."""
        T0 = np.eye(4)
        T0[:3, :3], T0[:3, 3], _ = self.base(y)
        return {"T0": T0, **self.base_inputs(y)}

    # the equation

    def equation(self) -> Equation:
        """What `integrate` takes."""
        stiction = self.stiction is not None and bool(self.stiction.sticky.any())
        return Equation(
            self.rates, self._recentre if self.floating or self.on.closed else None,
            self._events if stiction else None, self._react if stiction else None, self.split,
            self.fastest, stuck=self._stuck if self.on.closed else None,
        )  # fmt: skip

    def _stuck(self, t: float, y: np.ndarray) -> None:
        self.watch.now = t
        self.watch.stuck(y[: self.n])

    def fastest(self, t: float, y: np.ndarray) -> str:
        """What a solver takes small steps for: the joint that moves fastest, or whose acceleration
        changes fastest with its own position or velocity, by differences at a state."""
        _, v = self.parts(y)
        joints = moving(self.robot)
        rates: list[tuple[float, str]] = []
        with np.errstate(all="ignore"):
            vd = self.accelerations(t, y)["vd"]
            for j in range(self.m):
                place = int(self.on.place[j])
                joint = (
                    f"joint '{joints[place].name}'" if place < len(joints) else "a flexible link"
                )
                rates.append((abs(float(v[j])), f"{joint} moves at {v[j]:.3g} per second"))
                for at, power, what in (
                    (place, 0.5, "to its position: a stiff spring, contact or law"),
                    (self.split + j, 1.0, "to its velocity: friction, damping or a law"),
                ):
                    moved = y.copy()
                    step = 1e-7 * max(1.0, abs(float(y[at])))
                    moved[at] += step
                    slope = (self.accelerations(t, moved)["vd"][j] - vd[j]) / step
                    rate = abs(float(slope)) ** power
                    rates.append((rate, f"{joint} reacts at {rate:.3g} per second {what} against"
                                  " its inertia"))  # fmt: skip
        rates = [item for item in rates if np.isfinite(item[0])]
        return max(rates)[1] if rates else ""

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        y = self.imposed(t, y)
        self.watch.now = t
        result = self.accelerations(t, y)
        rate = np.empty(self.size)
        rate[: self.n] = result["speeds"]
        rate[self.split : self.split + self.m] = result["vd"]
        if self.floating:
            R, _, V0 = self.base(y)
            v, w = V0[:3], V0[3:]
            rate[self.n : self.n + 3] = so3.log_rate(y[self.n : self.n + 3], w)
            rate[self.n + 3 : self.n + 6] = R @ v
            V0d = result["V0d"]
            at = self.split + self.m
            rate[at : at + 3] = V0d[:3] - np.array(
                [w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2], w[0] * v[1] - w[1] * v[0]]
            )
            rate[at + 3 : at + 6] = V0d[3:]
        rate[self.end : self.end + _WORKS] = result["powers"]
        rate[self.end + _WORKS :] = result["zd"]
        return rate

    def accelerations(self, t: float, y: np.ndarray) -> dict[str, Any]:
        """vd, tau, V0d, the rates of q and the powers of drives, friction and loads."""
        q, v = self.parts(y)
        loads, load_power = self.wrenches(t, y)
        extra = {**self.base_inputs(y), **loads}
        speeds = self.speeds(y)
        if self.stiction is not None:
            tau, zd = self.torques(t, y)
            slow = self.law.torque(v)
            vd, dry = self.stiction.solve(q, v, tau - slow, extra)
            result = {"vd": vd, "tau": tau, "zd": zd, "friction": slow + dry}
            rates = speeds
        else:
            rates = self._rates_of_all(q, v, speeds)
            if self.drive.prescribed:
                result = self._prescribed(t, q, v, extra)
            else:
                result = self._driven(t, y, extra)
            result["friction"] = self.law.torque(rates) + 0 * rates
        dissipated = result["friction"] @ rates + self.damping @ (rates * rates)
        if self.bending is not None:
            bent = speeds[self.robot.n :]
            dissipated += bent @ self.bending @ bent
        result["powers"] = (result["tau"] @ v[self.driven], dissipated, load_power)
        result["speeds"] = speeds
        return result

    def _rates_of_all(self, q: np.ndarray, v: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """The rates of all that rubs: joints, cut joints, motors of several joints."""
        cuts = self.kinematics(q=q, qd=v).Wcut[self.cuts] @ v if self.cuts else ()
        own = self.shared @ speeds[: self.robot.n] if len(self.shared) else ()
        return np.concatenate([speeds, cuts, own]) if self.cuts or len(self.shared) else speeds

    def _driven(self, t: float, y: np.ndarray, extra: dict[str, Any]) -> dict[str, Any]:
        q, v = self.parts(y)
        tau, zd = self.torques(t, y)
        result = self.direct(q=q, qd=v, tau=tau, **extra)
        if not self.floating:
            return {"vd": result, "tau": tau, "zd": zd}
        return {"vd": result.qdd, "V0d": result.V0d, "tau": tau, "zd": zd}

    def _prescribed(
        self, t: float, q: np.ndarray, v: np.ndarray, extra: dict[str, Any]
    ) -> dict[str, Any]:
        wanted = np.ascontiguousarray(self.drive(t)[2])
        result = self.inverse(q=q, qd=v, qdd=wanted, **extra)
        several = isinstance(result, tuple)
        vd = np.empty(self.m)
        vd[self.driven] = wanted
        if not self.driven.all():
            vd[~self.driven] = result.qdd_e
        tau = result.tau if several else result
        V0d = result.V0d if self.floating else None
        return {"vd": vd, "tau": tau, "V0d": V0d, "zd": np.zeros(0)}

    def whole(self, y: np.ndarray, vd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rates of all q, first and second."""
        q, v = self.parts(y)
        if not self.on.closed:
            return v, vd
        M, psi = rates_matrix(self.on, q, v)
        return M @ v, M @ vd + psi

    def _recentre(self, y: np.ndarray) -> None:
        """The chart's reference goes to where the base is; loops are closed exactly."""
        if self.on.closed:
            y[: self.n] = self.watch.closed(y[: self.n])
        if not self.floating:
            return
        turn = y[self.n : self.n + 3]
        self.R = self.R @ so3.exp(turn)
        turn[:] = 0

    def _events(self, t: float, y: np.ndarray) -> np.ndarray:
        assert self.stiction is not None
        result = self.accelerations(t, y)
        qd = self.parts(y)[1]
        return self.stiction.margins(qd, result["friction"] - self.law.torque(qd))

    def _react(self, t: float, y: np.ndarray, which: np.ndarray) -> None:
        """A joint stops, or breaks loose: find the modes that follow."""
        assert self.stiction is not None
        qd = self.parts(y)[1]
        stuck = self.stiction.stuck
        dry = self.accelerations(t, y)["friction"] - self.law.torque(qd)
        loose = np.where(which & stuck, np.sign(dry), 0.0)
        qd[stuck | which] = 0
        self._settle(t, y, loose)

    def _settle(self, t: float, y: np.ndarray, loose: np.ndarray) -> None:
        assert self.stiction is not None
        q, qd = self.parts(y)
        loads, _ = self.wrenches(t, y)
        tau, _ = self.torques(t, y)
        self.stiction.settle(q, qd, tau - self.law.torque(qd), loads, loose)

    def start(self, t: float, y: np.ndarray) -> None:
        """Make the modes of friction fit the first state."""
        if self.stiction is not None:
            self._settle(t, y, np.zeros(self.n))


def _described(robot: Robot) -> np.ndarray:
    """Wrenches of the links on the environment, (nl+1, 6); the models have them in their equations,
    they are here for their power."""
    links = (robot.base.link, *robot.links)
    wrenches = np.array([[number(getattr(link, key)) for key in WRENCH] for link in links])
    return wrenches * (robot.ne == 0)


def _wrench_place(frame: Frame) -> tuple[int, np.ndarray | None]:
    """Link of a frame, and the matrix that takes a wrench (force, moment) in it to Khalil's."""
    if frame.at_link:
        return frame.link, None
    T = placement(frame)
    R, P = T[:3, :3], T[:3, 3]
    place = np.zeros((6, 6))
    place[:3, :3] = place[3:, 3:] = R
    place[3:, :3] = np.cross(P, R, axisb=0, axisc=0)  # P x (R f), column by column
    return frame.link, place
