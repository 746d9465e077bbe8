"""What the joints of a robot are tied by: the loops closed along a recorded motion.

A log of a robot with closed loops or coupled joints gives its driven joints, q_a. Its other joints
follow, in the assembly the robot is in, with G = d q / d q_a and psi of [KC97] 4.5 (13), (14):

    q_p: r(q_a, q_p) = 0,  continued from sample to sample
    qd = G qd_a,           qdd = G qdd_a + psi,          tau_a = G^T tau                  5.2 (22)

After the joints of the tree come the cut joints that have friction or a rotor: rows of G like the
others. Where wheels roll, q_p of the joints that they alone hold is no function of q_a: it is
integrated along the recording, dq_p = G_p dq_a, or was recorded too. Without ties, everything is as
it was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...catalogue import model as derive
from ...describe.robot import FIXED, PRISMATIC, Robot
from ...describe.values.expression import number
from ...errors import InputError, ModelError
from ...loops.closing import CLOSED
from ...loops.continuation import carried
from ...loops.geometry import LoopGeometry
from ...loops.numeric import Equations, difference, skeleton
from ...loops.search import Gap, least_gap
from ...loops.standing import standing
from ...mechanism.coordinates import Coordinates, holonomic
from ...motion.derived import compiled
from ...motion.joints import driven
from ...run.steps import rk4

if TYPE_CHECKING:
    from ..read.signals import Motion

Array = np.ndarray
Carried = tuple[Array, Array]
_STEP = 0.15  # rad, or of the robot's size: of the driven joints, at once
_LEAST = 1e-3  # of the way: shorter steps are not tried
_OTHER = 1e-3  # rad, or of the robot's size: another assembly
_CLOSE = 1e-9  # of a guess: it is closed
_PIECE = 1 << 14  # rows at a time
_NEWTON = 12
_FINE, _COARSE = 1e-13, 1e-7  # of its steps: the last, and on the way
_MOST = 0.9  # of the rows
_FAR = 0.2  # rad, or of the robot's size: the passive joints from where they were expected


@dataclass(frozen=True, eq=False)
class Ties:
    """Which joints are driven (columns of q), and how the others follow them."""

    robot: Robot
    active: Array
    geometry: LoopGeometry | None = None  # None: no loop and no coupling says where joints are
    system: Equations | None = None
    cuts: tuple[tuple[int, int], ...] = ()  # (frame, row of Wcut) of cut joints with drives

    @property
    def closed(self) -> bool:
        """Do joints follow others?"""
        return self.robot.constrained

    @cached_property
    def bare(self) -> Robot:
        """The robot's geometry."""
        return skeleton(self.robot)

    @cached_property
    def unit(self) -> Array:
        """(n,) one radian, or the robot's size."""
        return np.ones(self.robot.n) if self.system is None else self.system.unit

    def matrix(self, q: Array) -> Array:
        """G (rows, n, driven) at closed configurations."""
        return np.asarray(self._evaluated("details", q, np.zeros((len(q), len(self.active)))).G)

    @cached_property
    def passive(self) -> list[int]:
        """Columns of q that follow."""
        return [k for k in range(self.robot.n) if k not in self.active]

    @cached_property
    def rolled(self) -> list[int]:
        """Columns of q that wheels alone hold: where they are depends on the way."""
        link = Coordinates.of(self.robot)
        return link.places(link.rolled)

    @cached_property
    def given(self) -> list[int]:
        """Columns of q that loops and couplings leave free."""
        return sorted([*self.active.tolist(), *self.rolled])

    @property
    def numbers(self) -> list[int]:
        """Link numbers of the joints of the tree, then the frames of the cut joints with drives:
        parameters are named by them."""
        moving = [j for j, joint in enumerate(self.robot.joints, 1) if joint.sigma != FIXED]
        return [*moving, *(frame for frame, _ in self.cuts)]

    def joint(self, number: int) -> Any:
        """The joint of a link number or of the frame of a cut."""
        n = len(self.robot.joints)
        if number > n:
            return self.robot.loops[number - n - 1].cut
        return self.robot.joints[number - 1]

    def random(self, rng: np.random.Generator, start: Array, count: int) -> Array:
        """Configurations (count, n): anywhere, or closed, reached from one and not singular."""
        if self.system is None:
            slides = np.array([self.joint(j).sigma == PRISMATIC for j in self.numbers])
            return rng.uniform(-3, 3, (count, self.robot.n)) * np.where(slides, 0.3, 1)
        geometry, system = self._tied()
        q = system.walk(rng, start, 3 * count)
        order = np.argsort(-np.asarray(geometry.singular(q)), kind="stable")
        return np.asarray(q[order[:count]])

    def home(self, guess: Sequence[float] = (), q_a: Array | None = None) -> Array:
        """A closed configuration to start from: where the robot stands, or near a guess of all
        joints, or of those that follow, which is at q_a of the driven ones."""
        if not self.closed:
            return np.zeros(self.robot.n)
        whole = np.array(standing(self.robot) if self.geometry is None else self.geometry.home)
        if not guess:
            return whole
        if len(guess) not in (len(whole), len(self.passive)):
            raise InputError(
                f"[assembly] q has {len(guess)} values; expected {len(whole)}, all joints of "
                f"'{self.robot.name}', or {len(self.passive)}, those that are not driven"
            )
        if len(guess) == len(whole):
            whole[:] = guess
        else:
            whole[self.passive] = guess
            whole[self.active] = whole[self.active] if q_a is None else q_a
        return self._assembled(whole)

    def _assembled(self, guess: Array) -> Array:
        """The closed configuration nearest to a guess, at its positions of the joints that loops
        and couplings leave free."""
        if self.geometry is None:
            return guess
        return np.asarray(self.geometry.solve(guess[self.given], guess))

    def along(self, q_a: Array, guess: Array) -> tuple[Array, int]:
        """(q, rows): all joints along a path (rows, na) of the driven ones, the first row near the
        guess; rows: as many as could be followed, the rest is not a number.

        Some rows are continued one after the other, those between them from the last of these, all
        at once."""
        if self.rolled:
            return self.rolling(q_a, guess), len(q_a)
        q = np.full((len(q_a), self.robot.n), np.nan)
        try:
            q[0] = self._first(guess, q_a[0])
        except ModelError:
            return q, 0
        nodes, end = [0], len(q_a)
        for k in self._apart(q_a):
            closed = self._continued(q[nodes[-1]], q_a[k])
            if closed is None:
                end = self._one_by_one(q, q_a, nodes[-1], k + 1)
                break
            q[k] = closed
            nodes.append(k)
        owner = np.repeat(nodes, np.diff([*nodes, end]))
        every, good = self.carried(q[owner], q_a[:end])
        q[:end][good] = every[good]
        for node in np.unique(owner[~good]):
            last = int(np.searchsorted(owner, node, "right"))
            reached = self._one_by_one(q, q_a, int(node), last)
            if reached < last:
                end = reached
                break
        q[end:] = np.nan
        return q, end

    def rolling(self, q_a: Array, guess: Array, tracked: Array | None = None) -> Array:
        """q of all joints along a path (rows, na) of the driven ones, where wheels roll, the first
        row near the guess: dq_p = G_p dq_a integrated along a cubic spline through the path by the
        method of Runge and Kutta, or the joints that wheels hold as they were tracked (rows)."""
        from scipy.interpolate import CubicSpline

        q = np.empty((len(q_a), self.robot.n))
        q[0] = guess
        q[0, self.active] = q_a[0]
        if tracked is not None:
            q[0, self.rolled] = tracked[0]
        q[0] = self._assembled(q[0])
        curve = CubicSpline(np.arange(len(q_a)), q_a)
        halves = np.arange(2 * len(q_a) - 1) / 2
        path, slope = curve(halves), curve(halves, 1)

        def rates(row: float, here: Array) -> Array:
            at = round(2 * row)
            here = here.copy()
            here[self.active] = path[at]
            along = np.zeros(self.robot.n)
            along[self.passive] = self._closing(here[None]).W[0] @ slope[at]
            return along

        if tracked is None:
            for k in range(len(q_a) - 1):
                q[k + 1] = rk4(rates, k, q[k], 1.0)
        else:
            q[1:] = q[0]
            q[:, self.rolled] = tracked
        q[:, self.active] = q_a
        if self.geometry is None:
            return q
        return np.asarray(self.geometry.follow(q[:, self.given], q[0]))

    def _apart(self, q_a: Array) -> Iterator[int]:
        """Rows of a path, each as far from the last one as can be followed at once."""
        steps = np.abs(np.diff(q_a, axis=0) / self.unit[self.active]).max(axis=1, initial=0)
        length = np.concatenate([[0.0], np.cumsum(steps)])
        k = 0
        while True:
            k = max(int(np.searchsorted(length, length[k] + _STEP)), k + 1)
            if k >= len(q_a):
                return
            yield k

    def each(self, q_a: Array, guess: Array) -> tuple[Array, int]:
        """`along`, of rows (rows, na) that are not a path: each from the first one, or else the
        assembly nearest to that."""
        geometry, _ = self._tied()
        q = np.full((len(q_a), self.robot.n), np.nan)
        k = 0
        try:
            q[0] = self._first(guess, q_a[0])
            closed, good = self.carried(np.repeat(q[:1], len(q_a), axis=0), q_a)
            q[good] = closed[good]
            for k in np.flatnonzero(~good).tolist():
                q[k] = geometry.solve(q_a[k], q[0])
        except ModelError:
            return q, k
        return q, len(q_a)

    def _one_by_one(self, q: Array, q_a: Array, first: int, end: int) -> int:
        """Rows after `first` continued from each other, up to `end` or where that ends."""
        for k in range(first + 1, end):
            closed = self._continued(q[k - 1], q_a[k])
            if closed is None:
                return k
            q[k] = closed
        return end

    def _continued(self, start: Array, q_a: Array) -> Array | None:
        """A closed configuration carried to other positions of the driven joints; where the chosen
        equations of the loops fail, by all of them."""
        closed, good = self.carried(start[None], q_a[None])
        if good[0]:
            return np.asarray(closed[0])
        geometry, system = self._tied()
        q = start.copy()
        q[self.active] = q_a
        q = system.followed(q, self.active.tolist())[0]
        whole = geometry.continued(system, start, q)
        if whole is None or (self._side(whole[None]) != self._side(start[None])).any():
            return None
        return whole

    def _first(self, guess: Array, q_a: Array) -> Array:
        """The configuration nearest to the guess, carried from it where it is closed."""
        geometry, system = self._tied()
        closed = self._continued(guess, q_a) if system.error(guess[None])[0] < _CLOSE else None
        return np.asarray(geometry.solve(q_a, guess)) if closed is None else closed

    def carried(self, q: Array, q_a: Array, step: float = _STEP, least: float = _LEAST) -> Carried:
        """(q, closed): closed configurations (rows, n) carried to other positions of the driven
        joints by steps of at most `step`, no shorter than `least` of the way. On the way no
        singularity may be passed."""
        whole, good = np.array(q, float), np.zeros(len(q), bool)
        for some in np.array_split(np.arange(len(q)), -(-len(q) // _PIECE)) if len(q) else ():
            by = _Kinematics(self, _sign(self._closing(q[some]).Wp))
            here, share = carried(by, q[some], q_a[some], step=step, far=_FAR, least=least)
            whole[some], good[some] = here, share == 1
            if self.system is not None:
                r = np.abs(self._closing(here).r).max(axis=1, initial=0)
                good[some] &= r < 10 * CLOSED * max(1.0, self.system.size)
        return whole, good

    def _side(self, q: Array) -> Array:
        return _sign(self._closing(q).Wp)

    def _closing(self, q: Array) -> Any:
        """W, W_p, and what loops and couplings have: r and the step dq_p that closes."""
        return self._evaluated("closing", q, np.zeros((len(q), len(self.active))))

    def _evaluated(self, option: str, q: Array, qd_a: Array) -> Any:
        return self._functions[option](q=q, qd=qd_a)

    @cached_property
    def _functions(self) -> dict[str, Any]:
        """The models of the loops: looking one up by its robot takes as long as a call."""
        options: tuple[Any, ...] = ({"details": True}, {"closing": True})
        return {
            key: compiled(self.bare, "loop-kinematics", **option)
            for option in options
            for key in option
        }

    def completed(self, motion: Motion, q: Array) -> Motion:
        """A motion of the driven joints as one of all joints; q (rows, n): closed, in the assembly
        of each sample, at positions near by."""
        if not self.closed:
            return motion
        whole, good = self.carried(q, motion.q)
        if not good.all():
            k = int(np.argmin(good))
            raise InputError(
                f"{motion.name}: the filtered positions at t = {motion.t[k]:.6g} s do not close "
                f"the loops of '{self.robot.name}' in the assembly of those recorded: look at "
                "[filter]"
            )
        return self.moving(whole, motion)

    def elsewhere(self, motion: Motion, other: Motion) -> Motion | None:
        """A motion with other q, qd, qdd of the driven joints as one of all joints, in the same
        assembly; None where the loops cannot be closed there."""
        if not self.closed:
            return other
        if self.rolled:
            return self.moving(self.rolling(other.q, motion.q[0]), other)
        q, good = self.carried(motion.q, other.q, least=1.0)
        return self.moving(q[good], other.part(good)) if good.mean() > _MOST else None

    def others(self, q: Array) -> Array:
        """The other assemblies found at the driven positions of a configuration, the nearest
        first."""
        if self.geometry is None:
            return np.zeros((0, self.robot.n))
        try:
            every = np.atleast_2d(self.geometry.solve(q[self.given]))
        except ModelError:
            return np.zeros((0, self.robot.n))
        away = np.abs(self.apart(every, q)).max(axis=1)
        order = [k for k in np.argsort(away, kind="stable") if away[k] > _OTHER]
        return np.asarray(every[order])

    def again(self, motion: Motion, start: Array) -> Motion | None:
        """A motion in another assembly; None where it cannot be followed there."""
        q_a, qd, qdd = (motion.of_driven(x) for x in (motion.q, motion.qd, motion.qdd))
        q, count = self.along(q_a, start)
        return self.moving(q, replace(motion, q=q_a, qd=qd, qdd=qdd)) if count == len(q) else None

    def moving(self, q: Array, motion: Motion) -> Motion:
        """A motion of the driven joints with q (rows, n) of all joints, closed, as one of all."""
        if not self.closed:
            return motion
        n, rows = self.robot.n, [row for _, row in self.cuts]
        G = np.empty((len(q), n + len(rows), len(self.active)))
        psi = np.zeros((len(q), n + len(rows)))
        for first in range(0, len(q), _PIECE):
            some = slice(first, first + _PIECE)
            details = self._evaluated("details", q[some], motion.qd[some])
            G[some, :n], G[some, n:] = details.G, details.Wcut[:, rows]
            psi[some, self.passive], psi[some, n:] = details.psi, details.psi_cut[:, rows]
        qd, qdd = (np.einsum("bna,ba->bn", G, x) for x in (motion.qd, motion.qdd))
        return replace(motion, q=q, qd=qd, qdd=qdd + psi, G=G, driven=tuple(self.active.tolist()))

    def gap(self, q_a: Array) -> Gap:
        """How nearly the loops close there, in any assembly."""
        _, system = self._tied()
        q = np.zeros(self.robot.n)
        q[self.active] = q_a
        return least_gap(system, system.followed(q, self.active.tolist())[0], self.passive)

    def apart(self, measured: Array, q: Array) -> Array:
        """Measured positions (rows, n) less closed ones, in rad or parts of the robot's size; whole
        turns do not count."""
        _, system = self._tied()
        return np.asarray(difference(measured, q, system.periodic) / system.unit)

    def _tied(self) -> tuple[LoopGeometry, Equations]:
        assert self.geometry is not None
        assert self.system is not None
        return self.geometry, self.system


@dataclass(frozen=True)
class _Kinematics:
    """Loops closed by compiled kinematics, in units of the joints, on their side of a
    singularity."""

    ties: Ties
    side: Array

    @property
    def active(self) -> list[int]:
        return [int(k) for k in self.ties.active]

    @property
    def passive(self) -> list[int]:
        return self.ties.passive

    @property
    def unit(self) -> Array:
        return self.ties.unit

    def slope(self, q: Array) -> Array:
        return np.asarray(self.ties._closing(q).W)

    def close(self, q: Array, rows: Array, last: Array) -> tuple[Array, Array, Array]:
        """Steps of the passive joints until these are small."""
        if self.ties.system is None:  # nothing says where they are
            at = self.ties._closing(q)
            return q, _sign(at.Wp) == self.side[rows], np.asarray(at.W)
        unit, before = self.unit[self.passive], np.inf
        enough = _FINE if last.any() else _COARSE
        for _ in range(_NEWTON):
            at = self.ties._closing(q)
            step = np.nan_to_num(at.dq_p, nan=0.0, posinf=0.0, neginf=0.0)
            q[:, self.passive] += step
            size = float(np.abs(step / unit).max(initial=0))
            if size < enough or (size < _COARSE and size >= before / 2):
                break
            before = size
        good = np.isfinite(q).all(axis=1) & (_sign(at.Wp) == self.side[rows])
        return q, good, np.asarray(at.W)


def _sign(Wp: Array) -> Array:
    """The sign of det W_p, which changes where a singularity is passed; 1 where it is not
    square."""
    if Wp.shape[1] != Wp.shape[2]:
        return np.ones(len(Wp))
    return np.asarray(np.linalg.slogdet(Wp)[0])


@lru_cache(maxsize=16)
def ties_of(robot: Robot) -> Ties:
    """The ties of a robot whose geometry has numbers."""
    active = driven(robot)
    if not robot.constrained:
        return Ties(robot, active)
    if not holonomic(robot).constrained:  # wheels alone
        return Ties(robot, active)
    geometry: LoopGeometry = derive(robot, "loop-geometry")
    cuts, row = [], 0
    for frames, loop in zip(geometry.coordinates.loops, robot.loops, strict=True):
        if any(number(x) != 0 for x in (loop.cut.IA, loop.cut.FV, loop.cut.FS)):
            cuts.append((frames.cut, row))
        row += 3 if frames.kind == "universal" else frames.freedom
    return Ties(robot, active, geometry, geometry.system(), tuple(cuts))
