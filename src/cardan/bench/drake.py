"""Drake's MultibodyPlant, through its Python bindings."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..describe.check import is_body
from ..describe.robot import FIXED, INERTIA, Robot
from ..describe.urdf.write import write_urdf
from .case import Case, Peer, floats
from .plain import gravity


def drake_peer(robot: Robot) -> Peer | str:
    if floats(robot):
        return "compared on fixed bases only"
    for joint, link in zip(robot.joints, robot.links, strict=False):
        if not is_body([float(getattr(link, key)) for key in INERTIA]):
            return f"no body has the inertia of {joint.name}: Drake puts another in its place"
    from importlib.metadata import version

    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    start = time.perf_counter()
    plant = MultibodyPlant(0.0)
    (instance,) = Parser(plant).AddModelsFromString(write_urdf(robot, drop=True), "urdf")
    if not _anchored(plant, instance):
        plant.WeldFrames(plant.world_frame(), _root(plant, instance).body_frame())
    size = float(np.linalg.norm(gravity(robot)))
    plant.mutable_gravity_field().set_gravity_vector(np.array([0, 0, -size]))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    built = time.perf_counter() - start
    names = [joint.name for joint in robot.joints if joint.sigma != FIXED]
    order = np.array([plant.GetJointByName(name).velocity_start() for name in names])
    calls = _calls(plant, context, order)
    note = "CalcInverseDynamics, CalcMassMatrix, and both with a Cholesky solve"
    cases = {name: Case(call, generation=built) for name, call in calls.items()}
    return Peer("Drake", version("drake"), note, cases)


def _root(plant: Any, instance: Any) -> Any:
    """The link that hangs on nothing: first of the file."""
    return plant.get_body(plant.GetBodyIndices(instance)[0])


def _anchored(plant: Any, instance: Any) -> bool:
    """Does the file itself fix the robot on the world? (It does where gravity is not along -z.)"""
    joints = [plant.get_joint(index) for index in plant.GetJointIndices(instance)]
    return any(joint.parent_body().name() == "world" for joint in joints)


def _calls(plant: Any, context: Any, order: np.ndarray) -> dict[str, Any]:
    from pydrake.multibody.tree import MultibodyForces

    back = np.argsort(order)
    nothing = np.zeros(len(order))

    def inverse(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        plant.SetPositions(context, q[back])
        plant.SetVelocities(context, qd[back])
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        return np.asarray(plant.CalcInverseDynamics(context, qdd[back], forces)[order])

    def inertia(q: np.ndarray) -> np.ndarray:
        plant.SetPositions(context, q[back])
        return np.asarray(plant.CalcMassMatrix(context)[np.ix_(order, order)])

    def direct(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        bias = inverse(q, qd, nothing)
        return np.asarray(np.linalg.solve(inertia(q), tau - bias))

    return {"inverse-dynamics": inverse, "inertia-matrix": inertia, "direct-dynamics": direct}
