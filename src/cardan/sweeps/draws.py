"""States for sweeps drawn at random; loops of a robot are closed, so that every state is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..arguments import named_arguments
from ..describe.robot import Robot
from ..errors import InputError, ModelError
from ..loops.numeric import Equations, equations, wrapped
from ..motion.joints import bounds, units
from ..program import Program
from .table import Chunks, Inputs

_DRAWS = 40  # of active joints, until their loops close
_SMALL = 1e-3  # elastic coordinates, m or rad


@dataclass(frozen=True)
class RandomSource:
    """States drawn at random, the same ones for a seed, a count and a chunk: q within the limits of
    the joints or ±pi, rates and the rest within ±1. With loops the active joints are drawn, and
    passive ones are what closes the loops from a random start: any assembly."""

    program: Program | None  # None on the way to a worker
    rows: int
    seed: int = 0
    lower: Mapping[str, np.ndarray] | None = None
    upper: Mapping[str, np.ndarray] | None = None
    loops: Equations | None = None
    volatile = False

    def identity(self) -> str:
        bounds = {k: (v.tolist(), (self.upper or {})[k].tolist())
                  for k, v in (self.lower or {}).items()}  # fmt: skip
        return f"random {self.rows} {self.seed} {sorted(bounds.items())} {self.loops is not None}"

    def chunks(self, size: int, wanted: Sequence[int]) -> Chunks:
        def load(k: int) -> Callable[[], Inputs]:
            return lambda: self.states(k, min(self.rows, (k + 1) * size) - k * size)

        return ((k, load(k)) for k in wanted)

    def fault(self, inputs: Inputs, row: int) -> str:
        return f"a state drawn after row {row} is not finite"

    def states(self, k: int, count: int) -> Inputs:
        """The states of chunk k."""
        assert self.program is not None
        inputs: Inputs = {}
        for at, (name, shape) in enumerate(self.program.inputs.items()):
            if name == "p":
                continue
            rng = np.random.default_rng([self.seed, k, at])
            if name == "q" and self.loops is not None:
                inputs[name] = list(self._closed(rng, count))
            else:
                inputs[name] = list(self._drawn(rng, name, prod(shape), count))
        return inputs

    def _drawn(self, rng: np.random.Generator, name: str, size: int, count: int) -> np.ndarray:
        low = (self.lower or {}).get(name, np.array(-1.0)).reshape(-1, 1)
        high = (self.upper or {}).get(name, np.array(1.0)).reshape(-1, 1)
        return np.asarray(low + (high - low) * rng.random((size, count)))

    def _closed(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """(n, count): draw the active joints until enough configurations close."""
        assert self.loops is not None
        link = self.loops.coordinates
        passive = [k for k, j in enumerate(link.moving) if j not in link.active]
        rows = np.empty((0, self.loops.n))
        for _ in range(_DRAWS):
            wanted = max(2 * (count - len(rows)), 64)
            q, closed = self.loops.close(self._drawn(rng, "q", self.loops.n, wanted).T, passive)
            rows = np.concatenate([rows, wrapped(q[closed], self.loops.periodic)])
            if len(rows) >= count:
                return np.ascontiguousarray(rows[:count].T)
        raise ModelError(
            f"the loops of the robot close at {len(rows)} of {count} random positions"
            " of its active joints after many draws: give limits to its joints, or states in a file"
        )


@named_arguments
def random_states(program: Program, robot: Robot, rows: int, seed: int = 0) -> RandomSource:
    """States of a robot drawn within its limits; ±pi or ±1 where there are none."""
    if rows < 1:
        raise InputError(f"{rows} states; expected a positive number")
    if robot.constrained and robot.ne:
        raise ModelError(
            f"states of '{robot.name}' are not drawn: its loops close with flexible links; give"
            " states in a file, or take cardan.rigid(robot)"
        )
    low, high = bounds(robot, "lower"), bounds(robot, "upper")
    reach = np.array([np.pi if unit.position == "rad" else 1.0 for unit in units(robot)])
    both = np.isfinite(low) & np.isfinite(high)
    bent = np.full(max(0, prod(program.inputs.get("q", ())) - robot.n), _SMALL)
    lower = np.concatenate([np.where(both, low, -reach), -bent])
    upper = np.concatenate([np.where(both, high, reach), bent])
    loops = equations(robot, program.defaults) if robot.constrained else None
    return RandomSource(program, rows, seed, {"q": lower}, {"q": upper}, loops)
