"""Exudyn's kinematic tree in minimal coordinates (ObjectKinematicTree), in compiled code."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np

from ..describe.robot import FIXED, Robot
from .case import Case, Peer, floats
from .plain import Body, gravity, plain_bodies


def exudyn_peer(robot: Robot) -> Peer | str:
    if floats(robot) or any(joint.sigma == FIXED for joint in robot.joints):
        return "compared on fixed bases only, without fixed joints"
    bodies = plain_bodies(robot)
    for body in bodies:
        if body.mass == 0 and body.first.any():
            return f"{body.name} has no mass and thus no centre, about which Exudyn takes inertias"
    from importlib.metadata import version

    start = time.perf_counter()
    system, solver = _system(bodies, gravity(robot))
    built = time.perf_counter() - start
    note = "ObjectKinematicTree: mass matrix and right-hand side, with a solve"
    cases = {name: Case(call, generation=built) for name, call in _calls(system, solver).items()}
    return Peer("Exudyn", version("exudyn"), note, cases)


def _system(bodies: list[Body], g: np.ndarray) -> tuple[Any, Any]:
    """Its multibody system with one object, and a solver, which gives access to the equations."""
    exudyn: Any = import_module("exudyn")  # its type stubs do not know its own calls
    items: Any = import_module("exudyn.itemInterface")
    size = len(bodies)
    zero = [0.0] * size
    centres = [body.first / (body.mass or 1) for body in bodies]
    turns = [
        body.inertia - body.mass * (c @ c * np.eye(3) - np.outer(c, c))
        for body, c in zip(bodies, centres, strict=True)
    ]
    kinds = (exudyn.JointType.RevoluteZ, exudyn.JointType.PrismaticZ)
    system = exudyn.SystemContainer().AddSystem()
    node = items.NodeGenericODE2(
        referenceCoordinates=zero, initialCoordinates=zero, initialCoordinates_t=zero,
        numberOfODE2Coordinates=size,
    )  # fmt: skip
    system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=system.AddNode(node),
            jointTypes=[kinds[body.sigma] for body in bodies],
            linkParents=[body.parent for body in bodies],
            jointOffsets=exudyn.Vector3DList([body.frame[:3, 3] for body in bodies]),
            jointTransformations=exudyn.Matrix3DList([body.frame[:3, :3] for body in bodies]),
            linkMasses=[body.mass for body in bodies],
            linkCOMs=exudyn.Vector3DList(centres),
            linkInertiasCOM=exudyn.Matrix3DList(turns),
            gravity=g,
        )
    )
    system.Assemble()
    solver = exudyn.MainSolverImplicitSecondOrder()
    settings = exudyn.SimulationSettings()
    settings.solution.file.write = False
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = False
    solver.InitializeSolver(system, settings)
    return system, solver


def _calls(system: Any, solver: Any) -> dict[str, Any]:
    def inertia(q: np.ndarray) -> np.ndarray:
        system.systemData.SetODE2Coordinates(q)
        solver.ComputeMassMatrix(system)
        return np.array(solver.GetSystemMassMatrix())

    def forces(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Right-hand side without torques: -H."""
        system.systemData.SetODE2Coordinates(q)
        system.systemData.SetODE2Coordinates_t(qd)
        solver.ComputeODE2RHS(system)
        return np.array(solver.GetSystemResidual())

    def inverse(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        return np.asarray(inertia(q) @ qdd - forces(q, qd))

    def direct(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.solve(inertia(q), tau + forces(q, qd)))

    return {"inverse-dynamics": inverse, "inertia-matrix": inertia, "direct-dynamics": direct}
