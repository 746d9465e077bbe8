"""Pinocchio's free flyer: the same bodies on a floating base, at the origin of its world."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..describe.robot import FIXED, PRISMATIC, Robot
from .case import G0, Case, Peer, States
from .plain import plain_bodies, plain_body


def free_flyer_peer(pin: Any, robot: Robot) -> Peer | str:
    """rnea with the given acceleration of the base, crba and aba of base and joints together."""
    if any(joint.sigma == FIXED for joint in robot.joints):
        return "fixed frames are not part of the plain recursion"
    start = time.perf_counter()
    order = _depth_first(robot)
    model = _model(pin, robot, order)
    data = model.createData()
    built = time.perf_counter() - start
    back = np.r_[:6, 6 + np.argsort(order)]

    def loop(name: str, inputs: tuple[str, ...]) -> Callable[[States], np.ndarray] | None:
        return in_one_call(pin, model, name, inputs, slice(None), slice(None))

    def own(states: States) -> States:
        return _own(states, order)

    def vector(values: np.ndarray, states: States) -> np.ndarray:
        return np.asarray(values[back])

    def matrix(values: np.ndarray, states: States) -> np.ndarray:
        return np.asarray((np.triu(values) + np.triu(values, 1).T)[np.ix_(back, back)])

    def accelerations(values: np.ndarray, states: States) -> np.ndarray:
        return np.asarray(np.r_[values[:6] + _drift(states["V0"]), values[back[6:]]])

    return Peer(
        "Pinocchio", str(pin.__version__),
        "wheel from PyPI, free flyer; loop: rneaInParallel, abaInParallel on one thread",
        {
            "inverse-dynamics": Case(
                lambda q, v, a: pin.rnea(model, data, q, v, a),
                loop=loop("rneaInParallel", ("q", "v", "a")), generation=built, own=own,
                ours=vector,
            ),
            "inertia-matrix": Case(
                lambda q: pin.crba(model, data, q), generation=built, own=own, ours=matrix
            ),
            "direct-dynamics": Case(
                lambda q, v, tau: pin.aba(model, data, q, v, tau),
                loop=loop("abaInParallel", ("q", "v", "tau")), generation=built, own=own,
                ours=accelerations,
            ),
        },
    )  # fmt: skip


def _depth_first(robot: Robot) -> list[int]:
    """Our joints in an order that keeps every subtree together, as crba needs it."""
    order: list[int] = []
    waiting = [0]
    while waiting:
        link = waiting.pop()
        if link:
            order.append(link - 1)
        waiting += [j for j, joint in enumerate(robot.joints, 1) if joint.antecedent == link][::-1]
    return order


def _model(pin: Any, robot: Robot, order: list[int]) -> Any:
    model = pin.Model()
    model.gravity.linear = np.array(G0)
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    ids = {-1: root}
    bodies = plain_bodies(robot)
    for k in order:
        body = bodies[k]
        kind = pin.JointModelPZ() if body.sigma == PRISMATIC else pin.JointModelRZ()
        frame = pin.SE3(body.frame[:3, :3].copy(), body.frame[:3, 3].copy())
        ids[k] = model.addJoint(ids[body.parent], kind, frame, body.name)
    for k, body in enumerate((plain_body(robot.base.link), *bodies), -1):
        if body.mass:
            com = body.first / body.mass
            central = body.inertia - body.mass * (com @ com * np.eye(3) - np.outer(com, com))
            inertia = pin.Inertia(body.mass, com, central)
            model.appendBodyToJoint(ids[k], inertia, pin.SE3.Identity())
    return model


def _own(states: States, order: list[int]) -> States:
    """Base and joints in one vector; accelerations of the base are of its twist."""
    count = len(states["q"])
    here = np.tile([0, 0, 0, 0, 0, 0, 1], (count, 1))
    state = {"q": np.hstack([here, states["q"][:, order]])}
    if "V0" in states:
        state["v"] = np.hstack([states["V0"], states["qd"][:, order]])
    if "V0d" in states:
        base = states["V0d"] - _drift(states["V0"])
        state["a"] = np.hstack([base, states["qdd"][:, order]])
    if "tau" in states:
        state["tau"] = np.hstack([np.zeros((count, 6)), states["tau"][:, order]])
    return state


def _drift(V0: np.ndarray) -> np.ndarray:
    """The acceleration of the origin less the derivative of the twist: w x v."""
    linear = np.cross(V0[..., 3:], V0[..., :3])
    return np.concatenate([linear, np.zeros_like(linear)], axis=-1)


def in_one_call(
    pin: Any, model: Any, name: str, inputs: tuple[str, ...], order: Any, back: Any
) -> Callable[[States], np.ndarray] | None:
    """Pinocchio's own loop over states, on one thread; joints are reordered by the indices."""
    if not hasattr(pin, name):
        return None
    pool, function = pin.ModelPool(model, 1), getattr(pin, name)
    columns: dict[int, list[np.ndarray]] = {}

    def run(states: States) -> np.ndarray:
        """States are columns, in its order of joints; they are prepared once."""
        if id(states) not in columns:
            columns[id(states)] = [np.asfortranarray(states[key].T[back]) for key in inputs]
        return np.asarray(function(1, pool, *columns[id(states)])[order].T)

    return run
