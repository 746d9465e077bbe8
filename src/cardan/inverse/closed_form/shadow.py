"""Numbers behind the symbols: every known scalar at a few configurations drawn at random.

Whether a coefficient is zero, whether a determinant can vanish, whether two rows are orthogonal
for every pose: questions about formulas that a computer answers best by trying. Solved unknowns
are looked up, so that a formula is judged on the branch that the configuration lies on.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...describe.robot import PRISMATIC
from ...ir.graph import Expr
from ...ir.interpret import FUNCTIONS
from ..chain.arm_angle import arm_angle
from ..chain.chain import Chain
from .matrices import Geometry
from .polynomial import MANY, C, R, S, polynomial, terms

Array = NDArray[np.float64]
Scalar = Any
SAMPLES = 6
ZERO = 1e-11  # relative to its equation: a coefficient that rounding alone has left
SURE = 1e-8  # one that is surely not zero; between the two nothing can be said


class Shadow:
    """Values of the scalars of a geometry at SAMPLES random configurations."""

    def __init__(self, chain: Chain, geo: Geometry) -> None:
        rng = np.random.default_rng(zlib.crc32(chain.robot.encode()))
        self.geo = geo
        self.chain = chain
        self.graph = geo.tracer.graph
        self.q = rng.uniform(-np.pi, np.pi, (SAMPLES, chain.n))
        for j, joint in enumerate(chain.joints):
            if joint.sigma == PRISMATIC:
                self.q[:, j] = rng.uniform(0.3, 0.9, SAMPLES) * self._length(chain)
        names = list(geo.tracer.parameters)
        self.p = {name: rng.uniform(0.4, 1.6) for name in (*names, *chain.parameters)}
        self.T = self._in_metres(chain.numeric(self.p).pose(self.q))
        self.value: dict[int, Array] = {}
        self.sizes: dict[int, float] = {}
        self.varying: dict[int, bool] = {}
        self.paid: set[int] = set()  # nodes computed by the steps so far
        self.unclear = False  # was there an equation that could not be used?
        self.atoms = self._atoms()
        self.size = float(np.abs(self.of(geo.size)).min())
        angle = rng.uniform(-np.pi, np.pi, (2, SAMPLES))
        self.trial = [self._trial(np.cos(a), np.sin(a)) for a in angle]  # not on any solution

    def _in_metres(self, T: Array) -> Array:
        """Poses (N, 4, 4) of the chain, whose lengths are in units, as the input T has them."""
        T = T.copy()
        T[:, :3, 3] *= self.geo.unit
        return T.reshape(-1, 16)

    @staticmethod
    def _length(chain: Chain) -> float:
        return 1.0 if chain.parameters else chain.numeric().size

    def _atoms(self) -> dict[int, Array]:
        """The true values of the unknowns."""
        found: dict[int, Array] = {}
        total: dict[int, Array] = {}
        for j, joint in enumerate(self.geo.joints):
            q = self.q[:, j]
            if joint.sigma == PRISMATIC:
                found[4 * j + R] = self.of(joint.r) + q
                continue
            start = 0 if joint.previous is None else total[joint.previous]
            own = self.of(joint.theta) + q
            total[j] = start + self.of(joint.turn) + joint.sign * own
            found[4 * j + C], found[4 * j + S] = np.cos(total[j]), np.sin(total[j])
        return found

    def _trial(self, c: Array, s: Array) -> dict[int, Array]:
        kinds = {C: c, S: s, R: 1.3 + c}
        return {a: kinds[a & 3] for a in self.atoms}

    def know(self, x: Scalar, value: Array) -> None:
        """Fix the value of a solved unknown's expression."""
        if isinstance(x, Expr):
            self.value[abs(x.ref)] = value if x.ref > 0 else -value
            self.sizes.pop(abs(x.ref), None)

    def of(self, x: Scalar) -> Array:
        """A known scalar at the samples."""
        if not isinstance(x, Expr):
            return np.full(SAMPLES, float(x))
        found = self._node(abs(x.ref))
        return found if x.ref > 0 else -found

    def _node(self, id: int) -> Array:
        if id not in self.value:
            with np.errstate(all="ignore"):
                self._compute(id)
        return self.value[id]

    def _compute(self, id: int) -> None:
        node, value = self.graph.nodes[id], self.value
        if node[0] == "const":
            value[id] = np.full(SAMPLES, float(node[1]))
        elif node[0] == "input":
            value[id] = self._input(node[1], node[2])
        else:
            for arg in node[1:]:
                if arg not in value:
                    self._compute(arg)
            value[id] = FUNCTIONS[node[0]](*[value[arg] for arg in node[1:]])

    def _input(self, array: str, k: int) -> Array:
        if array == "T":
            return self.T[:, k]
        if array == "\0p":
            return np.full(SAMPLES, self.p[list(self.geo.tracer.parameters)[k]])
        if array == "free" and self.geo.free:
            j = list(self.geo.free)[k]
            return self.q[:, j] * (self.geo.unit if self.chain.joints[j].sigma == PRISMATIC else 1)
        if array == "free":
            return arm_angle(self.chain.numeric(self.p), self.q)
        return np.ones(SAMPLES)

    def at(self, x: Scalar, atoms: Mapping[int, Array]) -> Array:
        """A polynomial at values of its unknowns."""
        total = np.zeros(SAMPLES)
        for m, c in terms(x).items():
            product = self.of(c)
            for a in m:
                product = product * atoms[a]
            total = total + product
        return total

    def is_zero(self, x: Scalar, scale: float = 1.0) -> bool:
        """Is a known scalar surely zero in every configuration?"""
        return bool(self.largest(x) <= ZERO * scale)

    def is_unclear(self, x: Scalar, scale: float) -> bool:
        """Is a known scalar neither surely zero nor surely not: a rounded angle, or a length that
        the description has to few digits? To drop it is wrong, and so is to divide by it."""
        return bool(ZERO * scale < self.largest(x) < SURE * scale)

    def largest(self, x: Scalar) -> float:
        """The largest size of a known scalar at the samples."""
        if not isinstance(x, Expr):
            return abs(float(x))
        id = abs(x.ref)
        size = self.sizes.get(id)
        if size is None:
            size = self.sizes[id] = float(np.abs(self._node(id)).max())
        return size

    def is_condition(self, x: Scalar, scale: float) -> bool:
        """Is a known scalar, zero for the poses of this chain, not zero for any other pose?"""
        if not isinstance(x, Expr):
            return False
        kept, T = self.value, self.T
        rng = np.random.default_rng(1)
        R = np.linalg.qr(rng.normal(size=(SAMPLES, 3, 3)))[0]
        R[np.linalg.det(R) < 0] *= -1
        pose = np.zeros((SAMPLES, 4, 4))
        pose[:, :3, :3] = R
        pose[:, :3, 3] = rng.normal(size=(SAMPLES, 3)) * self.size
        self.T = self._in_metres(pose)
        self.value = {}
        found = self.of(x)
        self.value, self.T = kept, T
        return bool(np.nanmax(np.abs(found)) > 1e-6 * scale)

    def is_constant(self, x: Scalar) -> bool:
        """Is a known scalar the same in every configuration (a function of the geometry)?"""
        if not isinstance(x, Expr):
            return True
        return not self._varies(abs(x.ref))

    def _varies(self, id: int) -> bool:
        """Does a node depend on the pose or on a joint that is given?"""
        found = self.varying.get(id)
        if found is None:
            node = self.graph.nodes[id]
            if node[0] in ("const", "input"):
                found = node[0] == "input" and node[1] != "\0p"
            else:
                found = any(map(self._varies, node[1:]))
            self.varying[id] = found
        return found

    def usual(self, x: Scalar) -> float:
        """The size of a known scalar in the middle of the samples."""
        return float(np.median(np.abs(self.of(x)))) or 1.0

    def scale(self, x: Scalar) -> float:
        """The largest coefficient of a polynomial."""
        return max(map(self.largest, terms(x).values()), default=0.0)

    def cleaned(self, x: Scalar, scale: float = 0.0) -> Scalar:
        """The polynomial without the terms whose coefficients are zero in every configuration; or
        MANY, which nobody solves, where that cannot be said of one."""
        sizes = {m: self.largest(c) for m, c in terms(x).items()}
        size = max([*sizes.values(), scale])
        if any(ZERO * size < own < SURE * size for own in sizes.values()):
            self.unclear = True
            return MANY
        return polynomial({m: c for m, c in terms(x).items() if not sizes[m] <= ZERO * size})

    def unpaid(self, xs: list[Scalar]) -> int:
        """Operations needed for these scalars beyond those already computed."""
        seen: set[int] = set()
        stack = [abs(x.ref) for x in xs if isinstance(x, Expr)]
        weight = 0
        while stack:
            id = stack.pop()
            if id in seen or id in self.paid:
                continue
            seen.add(id)
            node = self.graph.nodes[id]
            if node[0] not in ("input", "const"):
                weight += 8 if node[0] in ("div", "sqrt") else 1
                stack += node[1:]
        return weight

    def pay(self, xs: list[Scalar]) -> None:
        """Mark these scalars as computed."""
        stack = [abs(x.ref) for x in xs if isinstance(x, Expr)]
        while stack:
            id = stack.pop()
            if id not in self.paid:
                self.paid.add(id)
                node = self.graph.nodes[id]
                if node[0] not in ("input", "const"):
                    stack += node[1:]
