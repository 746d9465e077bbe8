"""The solver of the general method for a chain: all joints unknown, or some of them held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import ModelError
from ..chain.chain import Chain
from .held import HeldSolver
from .method import GeneralSolver


def general_solver(
    chain: Chain, held: Sequence[int] = (), values: Mapping[str, float] | None = None
) -> Any:
    """The general method for a chain; `held` joints (from 0) are given when it is used."""
    if chain.n - len(held) != 6:
        raise ModelError(
            f"the general method takes six joints; '{chain.robot}' has {chain.n - len(held)} to be"
            " solved for: use cardan.inverse_kinematics"
        )
    if held:
        return HeldSolver(chain, tuple(held))
    solver = GeneralSolver(chain)
    if all(name in (values or {}) for name in chain.parameters):
        solver.prepared(chain.numeric(values))
    return solver
