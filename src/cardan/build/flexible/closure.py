"""Loops of flexible robots in numbers: assembling them, and which of their equations count.

A robot whose loops are closed has configurations only on a surface; rows of the constraint matrix
that repeat each other there (planar loops in space, overconstrained ones) are found by their rank
at such configurations and left out, so that what remains can be solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from ...algebra.newton import Rule, newton
from ...algebra.scalar import vanishes
from ...describe.couplings import require_one_leader
from ...describe.robot import Robot
from ...errors import InputError, ModelError
from ...mechanism.coordinates import Coordinates, Key
from ...mechanism.loops import opened
from ...models.bodies import Bodies, Body, bodies
from ...models.composite import inertia_matrix
from ...models.flexible.loops import ROWS, Cut, closing_error, constraint_rows, is_reversed
from ...models.friction import COEFFICIENTS
from ...models.motion import Motion, seats

Array = np.ndarray
_CLOSED = 1e-11
_RANK = 1e-7
_STARTS = 12


def numeric_bodies(robot: Robot) -> Bodies:
    """The bodies over plain numbers; symbols need values first."""
    if robot.parameters:
        raise ModelError(
            f"'{robot.name}' has parameters without values ({', '.join(robot.parameters[:5])})",
            action="values",
        )
    return bodies(robot, lambda name: 0)


@dataclass(frozen=True)
class Closing:
    """The loops of a robot in numbers. Coordinates: joints in link order, then elastic ones."""

    robot: Robot
    scene: Bodies
    everything: tuple[Cut, ...]  # with all their rows

    @property
    def n(self) -> int:
        return self.robot.n

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        return Coordinates.of(self.robot).keys

    @cached_property
    def independent(self) -> tuple[Key, ...]:
        """Active and elastic joints, then elastic coordinates."""
        passive = set(self.passive)
        return tuple(key for key in self.keys if key not in passive)

    @cached_property
    def passive(self) -> tuple[Key, ...]:
        """Joints that follow the loops."""
        return self.undriven if self.everything else ()

    @property
    def loose(self) -> tuple[Key, ...]:
        """Joints of an open tree that nothing drives: they swing."""
        return () if self.everything else self.undriven

    @cached_property
    def undriven(self) -> tuple[Key, ...]:
        """Joints that are neither active nor elastic."""
        joints = self.robot.joints
        return tuple(
            key for key in self.keys
            if key[0] == "joint" and not (joints[key[1] - 1].active or joints[key[1] - 1].elastic)
        )  # fmt: skip

    @cached_property
    def active(self) -> tuple[Key, ...]:
        """Driven joints."""
        joints = self.robot.joints
        return tuple(
            key for key in self.keys
            if key[0] == "joint" and joints[key[1] - 1].active and not joints[key[1] - 1].elastic
        )  # fmt: skip

    def columns(self, keys: Sequence[Key]) -> list[int]:
        """The places of these coordinates in q."""
        return [self.keys.index(key) for key in keys]

    def seats(self, q: Array) -> Motion:
        return seats(self.scene, [float(x) for x in q])

    def error(self, q: Array) -> Array:
        """How far the loops are open."""
        x = self.seats(q)
        gaps = [e for cut in self.everything for e in closing_error(self.scene, x, cut)]
        return np.array(gaps, float)

    def matrix(self, q: Array, cuts: Sequence[Cut] | None = None) -> Array:
        """G over all coordinates."""
        x = self.seats(q)
        chosen = self.everything if cuts is None else cuts
        rows = [row for cut in chosen for row in constraint_rows(self.scene, x, cut)]
        return np.array([[float(row.get(key, 0)) for key in self.keys] for row in rows])

    def closed(self, q: Array, unknown: Sequence[int]) -> Array | None:
        """The loops closed by moving some coordinates: Gauss and Newton, steps limited."""
        ends = newton(
            np.array([q], float),
            lambda q, _: self.error(q[0])[None],
            lambda q, _: self.matrix(q[0])[None, :, unknown],
            Rule(residual=_CLOSED, longest=0.5),
            move=lambda q, step: q + step @ np.eye(q.shape[1])[unknown],
        )
        q = ends.x[0]
        if not np.abs(ends.e).max(initial=0) <= 1e-8:
            return None
        x = self.seats(q)
        return None if any(is_reversed(self.scene, x, cut) for cut in self.everything) else q

    def bent(self, joints: Array, q_e: Sequence[float]) -> Array:
        """Configurations (k, n) of the undeformed robot, closed again (k, n + ne) where its elastic
        coordinates are these."""
        _require_finite(q_e=q_e)
        elastic = np.atleast_1d(np.asarray(q_e, float))
        if elastic.shape != (self.robot.ne,):
            raise InputError(
                f"q_e has shape {elastic.shape}; '{self.robot.name}' has {self.robot.ne} elastic"
                " coordinates"
            )
        unknown, rows = self.columns(self.passive), []
        for q in joints:
            closed = self.closed(np.r_[q, elastic], unknown)
            if closed is None:
                raise ModelError(
                    f"'{self.robot.name}' cannot be assembled with q_e = {elastic.tolist()}: its"
                    " loops stay open; give smaller deformations, or such that the loops allow"
                )
            rows.append(closed)
        return np.array(rows).reshape(-1, len(self.keys))

    def assemble(
        self, q_a: Sequence[float] | None, q_e: Sequence[float] | None = None,
        guess: Sequence[float] | None = None,
    ) -> Array:  # fmt: skip
        """All coordinates: driven joints as given, elastic ones too (zero), passive ones found.

        `guess`: passive joints to start from; without one, zero, then random ones."""
        q = self.start(q_a, q_e, guess)
        unknown = self.columns(self.passive)
        if not unknown:
            return q
        rng = np.random.default_rng(0)
        for trial in range(_STARTS):
            if trial:
                q[unknown] = rng.uniform(-np.pi, np.pi, len(unknown))
            closed = self.closed(q, unknown)
            if closed is not None:
                return closed
        raise ModelError(
            f"'{self.robot.name}' cannot be assembled at q_a = {np.asarray(q_a).tolist()}: its"
            " loops stay open; give reachable positions, or a guess of the passive joints"
        )

    def start(
        self, q_a: Sequence[float] | None, q_e: Sequence[float] | None,
        guess: Sequence[float] | None,
    ) -> Array:  # fmt: skip
        """q with everything that is given filled in; elastic joints at rest."""
        _require_finite(q_a=q_a, q_e=q_e, guess=guess)
        q = np.zeros(len(self.keys))
        positions = np.zeros(len(self.active)) if q_a is None else q_a
        driven = np.atleast_1d(np.asarray(positions, float))
        if driven.shape != (len(self.active),):
            names = ", ".join(
                self.robot.joints[j - 1].variable or f"q{j}" for _, j, _ in self.active
            )
            raise InputError(
                f"q_a has shape {driven.shape}; '{self.robot.name}' has {len(self.active)} driven"
                f" joints: {names or 'none'}"
            )
        q[self.columns(self.active)] = driven
        for j in self.scene.elastic:
            q[self.keys.index(("joint", j, 0))] = float(self.scene.links[j - 1].rest)
        if q_e is not None:
            q[self.n :] = np.asarray(q_e, float)
        if guess is not None:
            q[self.columns(self.undriven)] = np.asarray(guess, float)
        return q

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """The loops with independent rows only."""
        if not self.everything:
            return ()
        best: list[int] = []
        for q in self.samples():
            chosen = _greedy(self.matrix(q))
            if len(chosen) > len(best):
                best = chosen
        self.require_driven(best)
        cuts, at = [], 0
        for cut in self.everything:
            names = [name for k, name in enumerate(cut.rows) if at + k in best]
            at += len(cut.rows)
            cuts.append(replace(cut, rows=tuple(names)))
        return tuple(cuts)

    @cached_property
    def driving(self) -> tuple[Cut, ...]:
        """Loops whose cut joint rubs or has a rotor: it has one freedom."""
        return tuple(
            cut for cut in self.everything
            if cut.kind in ("revolute", "prismatic")
            and (_has_rotor(body := self.scene.links[cut.cut - 1]) or _rubs(body))
        )  # fmt: skip

    @property
    def isostatic(self) -> bool:
        """Do the loops fix the passive joints and nothing else?"""
        return sum(len(cut.rows) for cut in self.cuts) == len(self.passive)

    @property
    def follow(self) -> tuple[Key, ...]:
        """Coordinates without a motor."""
        return tuple(key for key in self.keys if key not in self.active)

    def hindrance(self, free: Sequence[Key]) -> str:
        """Why loops cannot be closed by multipliers, which divide by the tree's matrix over these
        coordinates: in words, none where they can."""
        for cut in self.driving:
            if _has_rotor(self.scene.links[cut.cut - 1]):
                return "the rotor of a cut joint ties links of other branches"
        rng = np.random.default_rng(2)
        q = rng.normal(size=len(self.keys))
        q[self.n :] *= 1e-3
        A = np.array(inertia_matrix(self.scene, [float(x) for x in q]).rows(free), float)
        scale = np.sqrt(np.abs(np.diag(A)))
        for key, x in zip(free, scale, strict=True):
            if x <= 1e-8 * scale.max():
                joint = self.robot.joints[key[1] - 1]
                return f"joint '{joint.name}' moves no inertia of the tree along its axis"
        least = np.linalg.eigvalsh(A / np.outer(scale, scale))[0] if len(A) else 1.0
        return "joints of the tree move no inertia of their own" if least < _RANK**2 else ""

    def has_multipliers(self, free: Sequence[Key]) -> bool:
        """Can the loops be closed by multipliers?"""
        return not self.hindrance(free)

    def require_multipliers(self, free: Sequence[Key]) -> None:
        if words := self.hindrance(free):
            raise ModelError(
                f"'{self.robot.name}': {words}, so its loops cannot be closed by multipliers",
                remedy="use method='inertia-matrix'",
            )

    def samples(self) -> list[Array]:
        """Closed configurations near that of the description, a little deformed."""
        rng = np.random.default_rng(1)
        samples = []
        joints, everything = range(self.n), range(len(self.keys))
        for trial in range(4 * _STARTS):
            q = np.zeros(len(self.keys))
            q[: self.n] = (0.3 + 0.05 * trial) * rng.normal(size=self.n)
            closed = self.closed(q, joints)
            if closed is not None:  # bend it a little: hyperstatic loops hold the deformation too
                bent = closed + 1e-3 * rng.normal(size=len(q))
                closed = self.closed(bent, everything)
            if closed is not None:
                samples.append(closed)
            if len(samples) == 3:
                return samples
        if not samples:
            raise ModelError(f"the loops of '{self.robot.name}' cannot be closed")
        return samples

    def require_driven(self, rows: Sequence[int]) -> None:
        """Do the driven joints and the deformation fix the passive joints?"""
        passive = self.columns(self.passive)
        ranks = [
            np.linalg.matrix_rank(self.matrix(q)[list(rows)][:, passive], tol=_RANK)
            for q in self.samples()[:2]
        ]
        if passive and max(ranks) < len(passive):
            raise ModelError(
                f"'{self.robot.name}' has {len(passive)} passive joints of which its loops fix"
                f" {max(ranks)}: make the others active, elastic or fixed"
            )


def _has_rotor(body: Body) -> bool:
    return not vanishes(body.IA)


def _rubs(body: Body) -> bool:
    return any(not vanishes(getattr(body.rubs, name)) for name in COEFFICIENTS)


def _require_finite(**given: Sequence[float] | None) -> None:
    for name, values in given.items():
        if values is not None and not np.isfinite(numbers := np.asarray(values, float)).all():
            k = int(np.argmin(np.isfinite(numbers).reshape(-1)))
            raise InputError(
                f"{name}: value {k + 1} is {numbers.reshape(-1)[k]}; finite numbers are expected"
            )


def _greedy(G: Array) -> list[int]:
    """The first rows that are independent of those before them."""
    basis: list[Array] = []
    chosen = []
    scale = np.abs(G).max(initial=0)
    for k, row in enumerate(G):
        rest = row.copy()
        for _ in range(2):
            for b in basis:
                rest = rest - (rest @ b) * b
        size = np.linalg.norm(rest)
        if size > _RANK * scale:
            basis.append(rest / size)
            chosen.append(k)
    return chosen


@lru_cache(maxsize=64)
def closing(robot: Robot) -> Closing:
    """The loops and couplings of a robot (none for a tree)."""
    whole = opened(robot) if robot.loops else robot
    cuts = []
    for loop in Coordinates.of(robot).loops:
        if loop.kind not in ROWS:
            raise ModelError(
                f"loop '{loop.name}' of '{robot.name}' closes at a {loop.kind} joint; with flexible"
                f" links: {', '.join(ROWS)}"
            )
        cuts.append(Cut(loop.kind, loop.cut, loop.twin, ROWS[loop.kind]))
    for j, coupling in robot.couplings.items():
        require_one_leader(robot, robot.joints[j - 1])
        cuts.append(Cut("coupling", j, coupling.joint, ROWS["coupling"]))
    return Closing(robot, numeric_bodies(whole), tuple(cuts))
