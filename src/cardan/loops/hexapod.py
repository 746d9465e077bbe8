"""Direct geometry of a platform with six freedoms on six legs: UPS, SPS, RUS, PUS ...

With the active joints given, leg i turns about a point E_i and holds the platform's point h_i at a
distance from it; study.py has all poses. At each of them the legs are closed in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..algebra.so3 import turn
from ..describe.robot import PRISMATIC, REVOLUTE
from ..errors import ModelError
from ..mechanism.platform import Parallel
from .analysis import Analysis
from .analytic import Step, steps_of
from .chain import Chain
from .distances import centre_of
from .study import Family, PlatformPoses, family_of, poses_at
from .study_kernels import LEGS

Array = np.ndarray
_SAMPLES = 4  # configurations that span where a point may go


@dataclass(frozen=True, eq=False)
class Hexapod:
    """A platform on three slides and three turns, and how its legs close at a pose."""

    parallel: Parallel
    steps: tuple[Step, ...]
    idle: tuple[int, ...]

    @classmethod
    def of(cls, analysis: Analysis) -> Hexapod | None:
        link = analysis.coordinates
        try:
            parallel = Parallel.of(link, "loop-geometry")
        except ModelError:
            return None
        kinds = [link.tree.sigma[j] for j in parallel.joints]
        holds = [hold for leg in parallel.legs for hold in leg.holds]
        if (
            kinds != [PRISMATIC] * 3 + [REVOLUTE] * 3
            or not len(holds) == len(parallel.legs) == LEGS
        ):
            return None
        chain = analysis.samples[0].equations.chain
        frames = chain.frames(analysis.samples[0].q[0])
        if any(centre_of(chain, frames, leg, analysis.idle) is None for leg in holds):
            return None
        if any(np.abs(frames[j][1] - frames[parallel.body][1]).max() > 1e-9 * chain.size
               for j in parallel.joints[3:]):  # fmt: skip
            return None  # turns that do not meet
        steps = steps_of(analysis, (*parallel.joints, *link.active, *analysis.idle))
        return None if steps is None else cls(parallel, steps, analysis.idle)

    @property
    def columns(self) -> list[int]:
        """Those of the platform's coordinates."""
        moving = self.parallel.coordinates.moving
        return [moving.index(j) for j in self.parallel.joints]

    def legs(self, chain: Chain, q: Array) -> tuple[Array, Array, Array]:
        """E (N, 6, 3) in frame 0, h (N, 6, 3) in the platform's frame, and squares of distances
        (N, 6), in units of the robot's size."""
        E, h = np.zeros((2, len(q), LEGS, 3))
        square = np.zeros((len(q), LEGS))
        for n, x in enumerate(q):
            frames = chain.frames(x)
            R, P = frames[self.parallel.body]
            for i, (leg,) in enumerate(own.holds for own in self.parallel.legs):
                centre = centre_of(chain, frames, leg, self.idle)
                assert centre is not None  # tried at the beginning
                E[n, i] = centre / chain.size
                h[n, i] = R.T @ (frames[leg.hold][1] - P) / chain.size
                gap = (frames[leg.end][1] - centre) / chain.size
                square[n, i] = gap @ gap
        return E, h, square

    def poses(self, chain: Chain, q: Array, threads: int | None = None) -> list[PlatformPoses]:
        """All poses of the platform's body at each of many rows q (N, n) with active columns."""
        family, about, middle = _family(self, chain)
        E, h, square = self.legs(chain, q)
        every = poses_at(family, E - about, h - middle, square, threads)
        for own in every:
            own.T[:, :3, 3] += about - own.T[:, :3, :3] @ middle
            own.T[:, :3, 3] *= chain.size
        return every

    def placed(self, chain: Chain, T: Array) -> Array:
        """The platform's coordinates (k, 6) at poses T (k, 4, 4): of the two ways that three turns
        have, the one with the smaller second turn."""
        frames = chain.frames(np.zeros(len(chain.coordinates.moving)))
        own = [frames[j][0] for j in self.parallel.joints]
        axes = np.column_stack([R[:, 2] for R in own[:3]])
        shifts = np.linalg.solve(axes, (T[:, :3, 3] - frames[self.parallel.body][1]).T).T
        angles = [_three_turns(own[3:], R) for R in T[:, :3, :3]]
        return np.hstack([shifts, np.reshape(angles, (len(T), 3))])


@lru_cache(maxsize=32)
def _family(hexapod: Hexapod, chain: Chain) -> tuple[Family, Array, Array]:
    """The geometry at random lengths, and the middles of E and h. Points that active joints move
    are anywhere in the plane, the line or the space where they may go."""
    rng = np.random.default_rng(17)
    units = [chain.unit(j) for j in chain.coordinates.moving]
    E, h, _ = hexapod.legs(chain, rng.uniform(-1, 1, (_SAMPLES, len(units))) * units)
    about, middle = E.mean(axis=(0, 1)), h[0].mean(axis=0)
    away = E[1:] - E[0]
    away[np.abs(away) < 1e-12] = 0
    share = rng.normal(size=(2, _SAMPLES - 1, LEGS, 1))
    spread = E[0] - about + ((share[0] + 1j * share[1]) * away).sum(axis=0)
    return family_of(spread, h[0] - middle), about, middle


def _three_turns(frames: Sequence[Array], R: Array) -> Array:
    """Angles of R = A Rz B Rz C Rz, of frames A, A B, A B C where they are zero: z of R gives the
    second by X cos + Y sin = Z, then the first; the first is zero where it is in line with the
    third."""
    first, second, third = frames
    B, C, M = first.T @ second, second.T @ third, first.T @ R
    b, c = B[2], C[:, 2]
    X, Y = b[0] * c[0] + b[1] * c[1], b[1] * c[0] - b[0] * c[1]
    lean = np.arccos(np.clip((M[2, 2] - b[2] * c[2]) / np.hypot(X, Y), -1, 1))
    ways = (_wrapped(np.arctan2(Y, X) + side * lean) for side in (1, -1))
    about = min(ways, key=abs)
    v = B @ turn(2, about) @ c
    in_line = np.hypot(v[0], v[1]) < 1e-9
    before = 0.0 if in_line else np.arctan2(M[1, 2], M[0, 2]) - np.arctan2(v[1], v[0])
    rest = C.T @ turn(2, -about) @ B.T @ turn(2, -before) @ M
    return np.array([_wrapped(before), about, np.arctan2(rest[1, 0], rest[0, 0])])


def _wrapped(angle: float) -> float:
    return float(np.arctan2(np.sin(angle), np.cos(angle)))
