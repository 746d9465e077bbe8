"""`inverse-geometry` of robots with closed loops or couplings, [KC97] 3.3, 3.4.

The chain of the tree to the frame is solved as an arm (Paul, Pieper or general); then its joints
are known, and the loops and couplings are solved for all others, the motors outside the chain
included. Where loops or couplings tie joints of the chain to each other, as those that hold a wrist
level, the configurations of the arm in which they are not met are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra.newton import Rule, newton
from ..algebra.ranks import ranks
from ..arguments import floats
from ..describe.limits import joint_limits
from ..describe.robot import Robot
from ..describe.symbolic import parametrised
from ..errors import InputError, ModelError, UnknownNameError
from ..inverse.answer import Configurations
from ..inverse.chain.chain import Chain
from ..inverse.geometry import InverseGeometry
from ..inverse.method import inverse_geometry
from ..inverse.partial import is_partial
from ..inverse.poses import asked
from ..inverse.reach import Reach
from ..mechanism.coordinates import Coordinates
from .analysis import Analysis
from .closing import CLOSED
from .geometry import LoopGeometry
from .numeric import Array, Equations, difference, geometry_symbols, wrapped
from .points import Points

_RANK = 1e-7
_SINGULAR = 1e-6  # of LoopGeometry.singular: assemblies meet there
_SAME = 1e-5  # configurations nearer than this are one
_NEAR = 1e-3  # how far an answer is moved at most when it is made exact
_MISSED = 1e-9  # of a pose, by an answer made exact
_EXACT = 1e-13  # loops less open than this need nothing


def closed_inverse_geometry(
    robot: Robot, *, method: str = "auto", frame: Any = None, free: Any = None, reference: Any = 0,
    symbolic: bool = False,
) -> InverseGeometry:  # fmt: skip
    """The inverse geometric model of a robot whose loops close and whose active joints drive it."""
    return _again(robot, method, frame, free, reference, symbolic)


def _again(
    robot: Robot, method: str, frame: Any, free: Any, reference: Any, symbolic: bool
) -> InverseGeometry:
    """What a pickled solution becomes."""
    options = (robot, method, frame, free, reference, symbolic)
    defaults: dict[str, float] = {}
    if symbolic:
        robot, defaults = parametrised(robot)
    loops = LoopGeometry.of(robot)
    arm = inverse_geometry(
        loops.robot.tree(), method=method, frame=frame, free=free, reference=reference
    )
    arm = replace(arm, defaults={x: defaults[x] for x in arm.chain.parameters if x in defaults})
    on = [joint.link for joint in arm.chain.joints]
    held = _left(loops.analysis, on)
    closure = Closure(arm, replace(loops, given=(*on, *held)), held, defaults)
    return replace(
        arm, reason=closure.reason, remarks=closure.remarks, closure=closure,
        origin=(_again, options),
    )  # fmt: skip


def _left(analysis: Analysis, on: list[int]) -> tuple[int, ...]:
    """Active joints that the joints `on` the chain leave to themselves, as those of another arm:
    with them everything is known."""
    link, sample = analysis.coordinates, analysis.samples[0]
    J = sample.equations.balanced(sample.equations.J(sample.q) * sample.equations.unit)
    known = list(on)

    def freedom() -> int:
        rest = [k for k, j in enumerate(link.moving) if j not in (*known, *analysis.idle)]
        return len(rest) - int(ranks(J[..., rest], _RANK).max(initial=0)) if rest else 0

    left = freedom()
    for j in link.active:
        if left and j not in known:
            known.append(j)
            now = freedom()
            if now == left:
                known.pop()
            left = now
    return tuple(known[len(on) :])


@dataclass(frozen=True, eq=False)
class Closure:
    """What an `InverseGeometry` of a robot with closed loops or couplings asks.

    >>> ik = cardan.model(cardan.load("fivebar"), "inverse-geometry", frame="tip")
    >>> ik.closure.freedom, ik.closure.complete
    (2, True)"""

    arm: InverseGeometry  # of the chain of the tree to the frame
    loops: LoopGeometry  # whose given joints are those of the chain, and those held
    held: tuple[int, ...]  # links whose joints neither the pose nor the loops move
    defaults: Mapping[str, float] = field(default_factory=dict)

    @property
    def robot(self) -> Robot:
        return self.loops.robot

    @property
    def chain(self) -> Chain:
        """The joints between the base and the frame."""
        return self.arm.chain

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the joint variables of the tree."""
        return self.robot.variables

    @property
    def complete(self) -> bool:
        """Are all configurations known to be found? Not where loops have no closed form."""
        return self.loops.complete

    @cached_property
    def reason(self) -> str:
        """Which joints the pose gives, how, and which the loops."""
        link, rest = self._links, self._rest
        how = "in closed form" if self.complete else "from many starts: there may be others"
        then = f"; the loops then give {link.named(rest)} {how}" if rest else ""
        return f"the pose gives {', '.join(self.chain.names)}: {self.arm.reason}{then}"

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What was done to the geometry or the method, and what part of a pose can be met."""
        said = list(self.arm.remarks)
        ways = self.freedom
        if ways < 6:
            arm = not self.arm.plane and self.chain.n - len(self.arm.free) <= 3
            alone = ", of points (3) the position alone" if arm or self._sliding else ""
            alone += " (from many starts: there may be others)" if self._sliding else ""
            said.append(
                f"its {len(self._links.active)} motors move frame {self.chain.frame} in {ways}"
                f" independent ways: only poses (4, 4) that these reach are met{alone}"
            )
        if self.held:
            said.append(
                f"neither the pose nor the loops move {self._links.named(self.held)}: they stay"
                " where the guess has them, or at home"
            )
        return tuple(said)

    @cached_property
    def freedom(self) -> int:
        """In how many independent ways the motors move the frame."""
        return self._ways(6, ())[0]

    def _ways(self, rows: int, fixed: Iterable[int]) -> tuple[int, int]:
        """In how many independent ways the motors move the frame, all of it or (rows 3) its origin,
        while the joints of these links are held; how many velocities are independent then."""
        sample = self.loops.analysis.samples[0]
        system, q = sample.equations, sample.q
        values = {**dict.fromkeys(self.chain.parameters, 1.0), **sample.values}
        numeric = self.chain.numeric(values)
        J = np.zeros((len(q), 6, system.n))
        J[..., self._on] = numeric.jacobian(q[:, self._on])
        J = J * system.unit * system.gain
        J[:, :3] /= numeric.span
        still = np.eye(system.n)[self._links.places(fixed)]
        held = np.concatenate(
            [system.balanced(system.J(q) * system.unit), np.tile(still, (len(q), 1, 1))], 1
        )
        alone = ranks(held, _RANK)
        both = ranks(np.concatenate([held, J[:, :rows]], 1), _RANK)
        return int((both - alone).max()), system.n - int(alone.max())

    @cached_property
    def _sliding(self) -> bool:
        """Have the joints of the chain more freedom than points ask for, and its motors as much?"""
        if self.arm.plane or self.chain.n - len(self.arm.free) <= 3:
            return False
        return self._ways(3, (*self._free, *self.held)) == (3, 3)

    @cached_property
    def _slides(self) -> Points:
        _, _, frame, _, reference, _ = self.arm.origin[1]
        return Points.of(self.robot, frame, reference, (*self._free, *self.held))

    def _require_driven(self, T: Any) -> None:
        """The motors that are not given must be as many as the coordinates of a point."""
        given = [*self._free, *self.held]
        ways, motions = self._ways(3, given)
        if ways < 3 or motions == 3:
            return
        more: list[int] = []
        for joint in reversed(self.chain.joints):
            if joint.link in self._links.active and joint.link not in given and motions > 3:
                ways, left = self._ways(3, (*given, *more, joint.link))
                if ways == 3 and left < motions:
                    motions, more = left, [*more, joint.link]
        names = [self._links.named([j]) for j in (*self._free, *reversed(more))]
        raise ModelError(
            f"T has shape {np.shape(T)}, which asks for the position of a frame alone:"
            f" {len(self._links.active)} motors of '{self.robot.name}' move that of"
            f" {self.chain.frame} in 3 independent ways: name {len(names)} whose values will be"
            f" given, as free={names}, or use cardan.inverse_kinematics"
        )

    @property
    def _free(self) -> list[int]:
        """The links of the joints whose values are given."""
        return [self.chain.joints[k].link for k in self.arm.free]

    @property
    def _links(self) -> Coordinates:
        return self.loops.coordinates

    @cached_property
    def _on(self) -> list[int]:
        """The columns of the chain."""
        return self._links.places(joint.link for joint in self.chain.joints)

    @cached_property
    def _rest(self) -> tuple[int, ...]:
        """The links whose joints the loops and couplings give."""
        known = (*self.loops.given, *self.loops.analysis.idle)
        return tuple(j for j in self._links.moving if j not in known)

    def solve(
        self, T: Any, guess: Any = None, limits: bool = False, report: bool = False,
        free: Any = None, p: Any = None, tolerance: float | None = None,
    ) -> Any:  # fmt: skip
        """`InverseGeometry.solve` with all joints of the tree, guess (..., n) too; residual is the
        larger of what is missed of the pose and of the loops."""
        values = self._values(p)
        limits = asked(limits)
        start = None if guess is None else self._guess(guess)
        own = {name: values[name] for name in self.chain.parameters if name in values}
        near = None if start is None else start[..., self._on]
        system = self.loops.system(values=values)
        numeric = self.chain.numeric(own)
        point = is_partial(T) and np.shape(T)[-1] == 3
        if point and not self.arm.plane and self.chain.n - len(self.arm.free) > 3:
            self._require_driven(T)
        if point and self._sliding:
            given = self.arm._free(free, near, numeric)
            begun, lead = self._on_slides(floats(T), start, given, values)
        else:
            arm = self.arm.solve(T, near, False, True, free, own or None, tolerance)
            begun, lead = self._of_arm(arm, T, start, system, limits)
        goals = self._held(start, lead, system)
        q, pose, missed = begun.q, begun.pose, begun.missed
        error = system.error(q) if len(q) else np.zeros(0)
        rough = np.flatnonzero(error >= _EXACT)
        good = np.ones(len(q), bool)
        if len(rough):
            goal = _Goal(system, numeric, self._on, _goal(T, lead)[pose[rough]])
            q[rough], missed[rough], good[rough] = goal.made_exact(q[rough], missed[rough])
            error[rough] = system.error(q[rough])
        if limits:
            wanted = q if start is None else goals[pose]
            q, inside = _within(system, self.robot, q, wanted)
            good &= inside
        good &= _first(system, q, pose, good, rough)
        q, pose = q[good], pose[good]
        singular = begun.singular[good] | (self.loops._conditioned(system, q) < _SINGULAR)
        columns = [np.maximum(missed, error)[good], singular, begun.times[good]]
        if start is not None:
            periodic = system.periodic & ~limits
            far = np.abs(difference(q, goals[pose], periodic) / system.unit).max(-1, initial=0)
            order = np.lexsort((far, pose))
            q, pose, columns = q[order], pose[order], [x[order] for x in columns]
        answer = _padded(q, pose, columns, lead)
        return answer if report or lead else answer[()]

    def _of_arm(
        self, arm: Configurations, T: Any, start: Array | None, system: Equations, limited: bool
    ) -> tuple[_Begun, tuple[int, ...]]:
        """The loops closed about the configurations of the chain."""
        lead, count = arm.count.shape, arm.count.reshape(-1)
        k = arm.q.shape[-2]
        there = np.arange(k) < count[:, None]
        owner = np.repeat(np.arange(len(count)), count)
        begin = self._held(start, lead, system)[owner]
        begin[:, self._on] = arm.q.reshape(-1, k, self.chain.n)[there]
        q, source = self._closed(system, begin, limited)
        rest = (x.reshape(-1, k)[there] for x in (arm.residual, arm.singular, arm.multiplicity))
        return _Begun(q, owner[source], *(x[source] for x in rest)), lead

    def _on_slides(
        self, points: Array, start: Array | None, free: Array | None, values: Mapping[str, float]
    ) -> tuple[_Begun, tuple[int, ...]]:
        """The loops closed with the frame held at points (..., 3)."""
        if not np.isfinite(points).all():
            raise InputError("a point has a coordinate that is not a finite number; expected m")
        shapes = [x.shape[:-1] for x in (points, start, free) if x is not None]
        lead = np.broadcast_shapes(*shapes)
        begin = self._held(start, lead, self.loops.system(values=values))
        if free is not None:
            begin[:, self._links.places(self._free)] = np.broadcast_to(
                free, (*lead, free.shape[-1])
            ).reshape(-1, free.shape[-1])
        aim = np.broadcast_to(points, (*lead, 3)).reshape(-1, 3)
        answer = self._slides.solve(aim, begin, values)
        pose = np.repeat(np.arange(len(aim)), answer.count)
        there = np.arange(answer.q.shape[1]) < answer.count[:, None]
        rest = (x[there] for x in (answer.residual, answer.singular, answer.multiplicity))
        return _Begun(answer.q[there][:, : len(self.variables)], pose, *rest), lead

    def _closed(self, system: Equations, q: Array, limited: bool) -> tuple[Array, Array]:
        """(configurations that close the loops about these, to 1e-5 where loops tie joints of the
        chain to each other; the row that each comes from)."""
        every = self.loops.about(system, q, limited)
        source = np.repeat(np.arange(len(q)), [len(x) for x in every])
        rows = np.concatenate([np.zeros((0, system.n)), *every])
        return wrapped(rows, system.periodic), source

    def _held(self, start: Array | None, lead: tuple[int, ...], system: Equations) -> Array:
        """(N, n): what is not found stands at the guess, or at home."""
        if start is None:
            start = np.zeros(system.n)
            columns = self._links.places(self.held)
            start[columns] = self.loops.home[columns] if columns else 0.0
        return np.broadcast_to(start, (*lead, system.n)).reshape(-1, system.n).copy()

    def _values(self, p: Any) -> dict[str, float]:
        """Values of the symbols of the chain and of the loops, by name."""
        known = dict.fromkeys((*self.chain.parameters, *geometry_symbols(self.robot)))
        if p is None:
            return dict(self.defaults)
        if not isinstance(p, Mapping):
            raise InputError(
                f"p is {type(p).__name__}; expected values by name, as p={{'D3': 0.4}}"
            )
        for name, value in p.items():
            if name not in known:
                raise UnknownNameError.of("symbol of the geometry", name, known)
            if not isinstance(value, int | float | np.number) or not np.isfinite(value):
                raise InputError(f"p['{name}'] = {value!r}; expected a finite number, rad or m")
        return {**self.defaults, **{name: float(value) for name, value in p.items()}}

    def _guess(self, guess: Any) -> Array:
        n = len(self.variables)
        try:
            q = floats(guess)
        except (TypeError, ValueError):
            q = np.full((), np.nan)
        if q.shape[-1:] != (n,) or not np.isfinite(q).all():
            raise InputError(
                f"guess has shape {q.shape}, or a value that is no number; expected (..., {n}), all"
                f" joints of the tree: {', '.join(self.variables)}"
            )
        return q

    def reach(self, T: Any, free: Any = None, p: Any = None) -> Reach:
        """How near the chain comes to a pose (4, 4), and in words what is missed; where the chain
        reaches it, whether the loops can be closed there."""
        values = self._values(p)
        own = {name: values[name] for name in self.chain.parameters if name in values}
        near = self.arm.reach(T, free=free, p=own or None)
        if near.text or len(self.solve(T, free=free, p=p)):
            return near
        names = ", ".join(self.chain.names)
        words = f"{names} reach the pose, but the loops cannot be closed there"
        return replace(near, text=words)

    def equations(self, form: str) -> str:
        """The derivation of the chain as a tree of branches, then that of the loops."""
        parts = [self.arm.equations(form), self.loops.equations(form)]
        return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"

    def emit(self, language: str, function: str, complete: bool = False, **options: Any) -> str:
        """Code of the chain and of the loops, and a function that calls both; complete: with all
        that `solve` does where an equation of the chain vanishes."""
        for key in options:
            raise UnknownNameError.of(
                "option of emit for closed loops", key, ("function", "complete")
            )
        from .inverse_code import emitted

        return emitted(self, language, function, complete)


@dataclass(frozen=True)
class _Begun:
    """Configurations before they are made exact, one row each."""

    q: Array
    pose: Array  # the number of the pose that it is for
    missed: Array  # of the pose
    singular: Array
    times: Array


@dataclass(frozen=True)
class _Goal:
    """The pose, or part of it, and the loops: all equations of the joints of the tree."""

    system: Equations
    numeric: Any  # the chain in floats
    on: list[int]
    T: Array  # (N, 4, 4), (N, 3) or (N, 6)

    def made_exact(self, q: Array, missed: Array) -> tuple[Array, Array, Array]:
        """(q, what is missed of the pose, whether loops and pose are met) of nearby starts."""
        scale = self.system.unit * self.system.gain

        def moved(q: Array, step: Array) -> Array:
            return np.asarray(q + step * scale)

        ends = newton(
            q, self._errors, self._slopes,
            Rule(residual=1e-15, step=1e-15, longest=0.1, rounds=12), move=moved,
        )  # fmt: skip
        gap = np.abs(self._missed(ends.x, slice(None))).max(-1)
        near = np.abs((ends.x - q) / scale).max(-1) < _NEAR
        good = near & (self.system.error(ends.x) < CLOSED) & (gap <= np.maximum(missed, _MISSED))
        return ends.x, gap, good

    def _missed(self, q: Array, rows: Any) -> Array:
        """Entries of the pose, or of its part, less those asked for; lengths in m."""
        gap, T = self.numeric.pose(q[:, self.on]), self.T[rows]
        if T.ndim == 3:
            return np.asarray((gap - T)[:, :3].reshape(len(q), 12))
        entries = np.concatenate([gap[:, :3, 3], gap[:, :3, 2]], -1)
        return np.asarray(entries[:, : T.shape[-1]] - T)

    def _errors(self, q: Array, rows: Array) -> Array:
        loops = self.system.r(q) * self.system.weights
        return np.concatenate([loops, self._missed(q, rows) / self._sizes], -1)

    @property
    def _sizes(self) -> Array:
        span = self.numeric.span
        if self.T.ndim == 3:
            return np.tile([1.0, 1.0, 1.0, span], 3)
        return np.array([span] * 3 + [1.0] * 3)[: self.T.shape[-1]]

    def _slopes(self, q: Array, rows: Array) -> Array:
        scale = self.system.unit * self.system.gain
        loops = self.system.balanced(self.system.J(q) * self.system.unit)
        T, J = self.numeric.pose_jacobian(q[:, self.on])
        turned = np.cross(J[:, None, 3:], T[:, :3, :3].transpose(0, 2, 1)[..., None], axis=2)
        whole = np.concatenate([turned, J[:, None, :3]], 1).transpose(0, 2, 1, 3)  # x y z, s n a P
        if self.T.ndim == 3:
            own = whole.reshape(len(q), 12, -1)
        else:
            own = np.concatenate([whole[:, :, 3], whole[:, :, 2]], 1)[:, : self.T.shape[-1]]
        every = np.zeros((len(q), own.shape[1], self.system.n))
        every[..., self.on] = own
        return np.concatenate([loops, every * scale / self._sizes[:, None]], 1)


def _goal(T: Any, lead: tuple[int, ...]) -> Array:
    """The goals of a batch as rows."""
    shape = np.shape(T)[-1:] if is_partial(T) else (4, 4)
    return np.broadcast_to(np.asarray(T, float), (*lead, *shape)).reshape(-1, *shape)


def _first(system: Equations, q: Array, pose: Array, good: Array, moved: Array) -> Array:
    """Which of the good configurations are not there before, at poses where some were moved."""
    first = good.copy()
    for k in np.unique(pose[moved]):
        own = np.flatnonzero(good & (pose == k))
        apart = difference(q[own][:, None], q[own][None], system.periodic) / system.unit
        first[own] = (np.abs(apart).max(-1) < _SAME).argmax(1) == np.arange(len(own))
    return first


def _within(system: Equations, robot: Robot, q: Array, wanted: Array) -> tuple[Array, Array]:
    """(q moved by whole turns into the limits, as near to what is wanted as these allow; whether
    all joints are within them)."""
    low, high = joint_limits(robot)
    turn = np.where(system.periodic, 2 * np.pi, np.inf)
    with np.errstate(invalid="ignore"):
        least, most = np.ceil((low - 1e-9 - q) / turn), np.floor((high + 1e-9 - q) / turn)
        turns = np.clip(np.rint((wanted - q) / turn), least, most)
    q = np.where(system.periodic, q + 2 * np.pi * np.nan_to_num(turns), q)
    return q, np.asarray(((q >= low - 1e-9) & (q <= high + 1e-9)).all(-1))


def _padded(q: Array, pose: Array, columns: list[Array], lead: tuple[int, ...]) -> Configurations:
    """Rows in the order of their poses as the answer to a batch."""
    total = int(np.prod(lead, dtype=int))
    count = np.bincount(pose, minlength=total)
    most = int(count.max(initial=0))
    there = np.arange(most) < count[:, None]

    def spread(x: Array, empty: Any) -> Array:
        whole = np.full((total, most, *x.shape[1:]), empty, dtype=x.dtype)
        whole[there] = x
        return whole.reshape((*lead, most, *x.shape[1:]))

    residual, singular, times = columns
    return Configurations(
        spread(q, np.nan), count.astype(np.int64).reshape(lead), spread(residual, np.nan),
        spread(singular, False), spread(times, 0),
    )  # fmt: skip
