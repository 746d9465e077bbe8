"""Direct geometry of a platform held at distances: five-bar, Delta, Orthoglide, planar 3-RRR.

With the active joints given, leg i turns about a point E_i, and holds the platform's point H_i at a
distance l_i from it:

    |H_i(x) - E_i|² = l_i²,   i = 1, 2 (, 3)

A point of a plane: two circles. A platform that does not turn: two differences are linear, the rest
is a quadratic (three spheres, two places). A platform that moves in a plane and turns by phi: the
differences give its position as a quotient of trigonometric polynomials, and the last equation one
of degree 5 in phi, with six places at most. The numbers are worked by place_kernels.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..describe.robot import PRISMATIC, REVOLUTE
from ..errors import ModelError
from ..inverse.numeric.kernels import MOST_VARIABLES
from ..kernel.records import layout_of
from ..mechanism.platform import Hold as Held
from ..mechanism.platform import Parallel
from .analysis import Analysis
from .analytic import Answers, Step, plan_of, run_kernel, steps_of
from .chain import Chain, meeting
from .place_kernels import Hold, rated_places

Array = np.ndarray
_MOTIONS = {
    (PRISMATIC, PRISMATIC): "point",
    (PRISMATIC, PRISMATIC, PRISMATIC): "space",
    (PRISMATIC, PRISMATIC, REVOLUTE): "plane",
}
_WORDS = {
    "point": "platform placed by two circles",
    "space": "platform placed by three spheres",
    "plane": "platform placed by a polynomial of degree 10 in tan(phi/2), at most six roots",
}


@dataclass(frozen=True, eq=False)
class Distances:
    """Legs, and how the platform moves: without turning in "space" or as a "point" of a plane, or
    in a "plane" with a turn."""

    parallel: Parallel
    motion: str
    steps: tuple[Step, ...]  # of the legs, at a place of the platform
    idle: tuple[int, ...] = ()

    @classmethod
    def of(cls, analysis: Analysis) -> Distances | None:
        link = analysis.coordinates
        try:
            parallel = Parallel.of(link, "loop-geometry")
        except ModelError:
            return None
        kinds = tuple(link.tree.sigma[j] for j in parallel.joints)
        motion = _MOTIONS.get(kinds)
        if motion is None or len(parallel.legs) != len(kinds):
            return None
        chain = analysis.samples[0].equations.chain
        frames = chain.frames(analysis.samples[0].q[0])
        held = [
            leg.holds[0] for leg in parallel.legs
        ]  # a platform that does not turn needs no more
        if any(centre_of(chain, frames, leg, analysis.idle) is None for leg in held):
            return None
        if motion == "plane" and any(len(leg.holds) > 1 for leg in parallel.legs):
            return None
        steps = steps_of(analysis, (*parallel.joints, *link.active, *analysis.idle))
        if steps is None:
            return None
        return cls(parallel, motion, steps, analysis.idle)

    @property
    def text(self) -> str:
        """How the platform is placed, in words."""
        return _WORDS[self.motion]

    def table(self, chain: Chain) -> Array:
        """The Hold of place_kernels.py."""
        joints, active = self.parallel.joints, chain.coordinates.active
        kind = ("point", "space", "plane").index(self.motion)
        found: list[float] = [kind, len(self.parallel.legs), len(joints), len(active)]
        columns = self.known[len(joints) :]
        found += [
            *columns,
            *[0] * (MOST_VARIABLES - len(columns)),
            *joints,
            *[0] * (3 - len(joints)),
        ]
        for leg in (own.holds[0] for own in self.parallel.legs):
            about = _about(chain, leg, self.idle)
            found += [leg.end, leg.hold, about[0], about[1] if len(about) > 1 else 0]
        found += [0] * (layout_of(Hold).size - len(found))
        return np.array(found, float)

    @property
    def known(self) -> list[int]:
        """The columns of the platform's coordinates and of the active joints."""
        link = self.parallel.coordinates
        return [link.moving.index(j) for j in (*self.parallel.joints, *link.active)]

    def plan(self, chain: Chain, limited: bool = True) -> Array:
        """How the legs close once the platform is placed."""
        return plan_of(chain, self.steps, self.known, limited)

    def solved(
        self, chain: Chain, q_a: Array, limited: bool = True, threads: int | None = None
    ) -> Answers:
        """Every configuration at active positions (N, na)."""
        tables = {
            "frames": chain.table, "hold": self.table(chain), "plan": self.plan(chain, limited),
        }  # fmt: skip
        q_a, n = np.ascontiguousarray(q_a, float), len(chain.coordinates.moving)
        return run_kernel(rated_places, q_a, tables, n, threads)


def centre_of(
    chain: Chain, frames: list[tuple[Array, Array]], leg: Held, idle: Sequence[int]
) -> Array | None:
    """The point about which the passive joints of a leg turn, or None."""
    about = _about(chain, leg, idle)
    if len(about) == 1:
        return frames[about[0]][1]
    if len(about) == 2:
        (R, P), (S, Q) = (frames[j] for j in about)
        return meeting(P, R[:, 2], Q, S[:, 2], chain.size)
    return None


def _about(chain: Chain, leg: Held, idle: Sequence[int]) -> tuple[int, ...]:
    """The passive joints that turn the end of a leg: one, or two whose axes should meet; none:
    the leg holds no distance."""
    active = chain.coordinates.active
    passive = [j for j in leg.joints if j not in (*active, *idle)]
    if leg.kind in ("prismatic", "cylindrical"):
        return ()
    if any(chain.sigma[j - 1] != REVOLUTE for j in passive):
        return ()
    movers = tuple(j for j in passive if j not in chain.still[leg.name])
    if len(movers) == 2 or (len(movers) == 1 and leg.kind == "revolute"):
        return movers
    return ()
