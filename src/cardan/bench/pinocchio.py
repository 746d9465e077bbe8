"""Pinocchio, through its Python bindings and its own batch calls on one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..describe.robot import Robot
from ..describe.urdf.write import write_urdf
from .case import Case, Peer, States, floats
from .free_flyer import free_flyer_peer, in_one_call
from .plain import gravity, order_by_name


def pinocchio_peer(robot: Robot) -> Peer | str:
    import pinocchio as pin

    if floats(robot):
        return free_flyer_peer(pin, robot)
    start = time.perf_counter()
    model = pin.buildModelFromXML(write_urdf(robot, drop=True))
    model.gravity.linear = np.array([0, 0, -np.linalg.norm(gravity(robot))])
    data = model.createData()
    built = time.perf_counter() - start
    order = order_by_name(robot, [name for name in model.names if name != "universe"])
    back = np.argsort(order)

    def inverse(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Any:
        return pin.rnea(model, data, q, qd, qdd)

    def inertia(q: np.ndarray) -> Any:
        return pin.crba(model, data, q)

    def direct(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Any:
        return pin.aba(model, data, q, qd, tau)

    def inverse_derivatives(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Any:
        return pin.computeRNEADerivatives(model, data, q, qd, qdd)

    def direct_derivatives(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Any:
        return pin.computeABADerivatives(model, data, q, qd, tau)

    def turned(states: States) -> States:
        return {name: np.ascontiguousarray(x[..., back]) for name, x in states.items()}

    def blocks(results: Any, states: States) -> np.ndarray:
        """Side by side; of the last, which is symmetric, the upper half is given."""
        by_q, by_qd, last = map(np.asarray, results)
        whole = np.triu(last) + np.triu(last, 1).T
        return np.concatenate([x[np.ix_(order, order)] for x in (by_q, by_qd, whole)], axis=-1)

    return Peer(
        "Pinocchio", str(pin.__version__),
        "wheel from PyPI; loop: rneaInParallel, abaInParallel on one thread",
        {
            "inverse-dynamics": Case(
                _ordered(inverse, order, back),
                loop=in_one_call(pin, model, "rneaInParallel", ("q", "qd", "qdd"), order, back),
                generation=built,
            ),
            "inertia-matrix": Case(_ordered(inertia, order, back), generation=built),
            "direct-dynamics": Case(
                _ordered(direct, order, back),
                loop=in_one_call(pin, model, "abaInParallel", ("q", "qd", "tau"), order, back),
                generation=built,
            ),
            "inverse-dynamics-derivatives": Case(
                inverse_derivatives, generation=built, own=turned, ours=blocks
            ),
            "direct-dynamics-derivatives": Case(
                direct_derivatives, generation=built, own=turned, ours=blocks
            ),
        },
    )  # fmt: skip


def _ordered(
    work: Callable[..., Any], order: np.ndarray, back: np.ndarray
) -> Callable[..., np.ndarray]:
    """The call in our order of joints; nothing is added where the orders are the same."""
    if np.array_equal(order, np.arange(len(order))):
        return work

    def call(*state: np.ndarray) -> np.ndarray:
        result = work(*(x[back] for x in state))
        return np.asarray(result[order] if result.ndim == 1 else result[np.ix_(order, order)])

    return call
