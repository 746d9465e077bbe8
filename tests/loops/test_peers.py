"""Closed-loop dynamics against Pinocchio's constraint dynamics: the tree built joint by joint, the
loops as its own constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import MECHANISMS, loaded, states

import cardan

pytest.importorskip("pinocchio")
from bench.pinocchio_loops import peer, solved  # needs it

PLAIN = ["stewart", "delta", "rssr", "four_bar", "planar_3rrr", "fivebar"]


@pytest.mark.parametrize("name", PLAIN)
def test_direct_dynamics_is_pinocchios(name: str) -> None:
    """Pins of planar loops are points there: the plane holds the rest."""
    robot = loaded(MECHANISMS[name]() if name in MECHANISMS else cardan.load(name))
    joints = tuple(replace(joint, IA=0, FV=0, FS=0) for joint in robot.joints)
    robot = replace(robot, joints=joints)
    _, x = states(robot, 6)
    tau = np.random.default_rng(0).normal(size=x["qd"].shape)
    program = cardan.model(robot, "direct-dynamics", effort="plain")
    found = program.evaluate(q=x["q"], qd=x["qd"], tau=tau)
    G = cardan.model(robot, "loop-kinematics", details=True).evaluate(q=x["q"], qd=x["qd"]).G
    model, constraints, order = peer(robot)
    moving = [joint for joint in robot.joints if joint.sigma != 2]
    active = [k for k, joint in enumerate(moving) if joint.active]
    for k in range(len(tau)):
        q, v, push = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        q[order], v[order] = x["q"][k], G[k] @ x["qd"][k]
        push[np.array(order)[active]] = tau[k]
        qdd = solved(model, constraints, q, v, push)[order][active]
        near(qdd, found[k], 1e-8, 1e-8)
