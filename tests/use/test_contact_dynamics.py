"""Frames held by the ground: articulated links under the forces found, accelerations of the frames,
derivatives by complex steps, Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.derivatives import STEP, complex_values
from tests.random_robots import random_robot, random_values

import cardan

Array = np.ndarray


def state(program: cardan.Program, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-1, 1, (3, *shape)) for name, shape in program.inputs.items()}


def robots() -> dict[str, tuple[cardan.Robot, list[Any]]]:
    return {
        "fixed base": (cardan.load("ur5"), [6]),
        "floating base": (cardan.floating(cardan.load("ur5"), 30), [6, 3]),
        "branches": (cardan.floating(random_robot(3, 7, base_motion=False), 5), [7]),
    }


@pytest.mark.parametrize("kind", ["point", "frame"])
@pytest.mark.parametrize("name", robots())
def test_the_forces_hold_the_frames(name: str, kind: str) -> None:
    """Articulated links under these forces accelerate so, and the frames stay."""
    robot, frames = robots()[name]
    if kind == "frame":
        frames = frames[:1]
    held = cardan.contact_dynamics(robot, frames, kind, effort="plain")
    x = state(held)
    y = held.evaluate(**x)
    free = cardan.model(robot, "direct-dynamics", f_e=True, effort="plain")
    loads = np.zeros((3, *free.inputs["f_e"]))
    first = 0 if "V0" in x else 1
    for k, frame in enumerate(frames):
        turn = cardan.model(robot, "transform", frame=frame).evaluate(q=x["q"])[:, :3, :3]
        for half in range(y.f.shape[-1] // 3):
            part = slice(3 * half, 3 * half + 3)
            loads[:, frame - first, part] -= np.einsum("nij,ni->nj", turn, y.f[:, k, part])
    direct = free.evaluate(**x, f_e=loads)
    near(y.qdd, direct.qdd if "V0" in x else direct, 1e-9)
    if "V0" in x:
        near(y.V0d, direct.V0d, 1e-9)
    moving = cardan.model(robot, "accelerations")
    motion = {key: value for key, value in x.items() if key in moving.inputs}
    motion |= {"qdd": y.qdd} | ({"V0d": y.V0d} if "V0" in x else {})
    Vd = moving.evaluate(**motion)
    size = np.abs(Vd).max()
    for frame in frames:
        assert np.abs(Vd[:, frame - 1, : 3 if kind == "point" else 6]).max() < 1e-9 * size


def test_derivatives_by_complex_steps() -> None:
    robot = cardan.floating(cardan.load("ur5"), 30)
    held = cardan.contact_dynamics(robot, [6], effort="plain")
    program = held.derivatives(wrt=["q", "qd", "tau", "V0"])
    x = {name: value[:1] for name, value in state(held).items()}
    y = program.evaluate(**x)
    for name in ("q", "qd", "tau", "V0"):
        size = x[name].shape[1]
        many = {key: np.repeat(value, size, 0).astype(complex) for key, value in x.items()}
        many[name] += 1j * STEP * np.eye(size)
        exact = complex_values(held, many)
        for output in held.outputs:
            expected = exact[output].imag.T / STEP
            near(getattr(y, f"d{output}_d{name}")[0].reshape(expected.shape), expected, 1e-11)


def test_pinocchio(tmp_path: Any) -> None:
    pin = pytest.importorskip("pinocchio")
    robot = cardan.load("ur5")
    cardan.save(robot, tmp_path / "ur5.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "ur5.urdf"))
    robot = cardan.load(tmp_path / "ur5.urdf")
    data, joint = model.createData(), model.njoints - 1
    at = [f.name for f in model.frames if f.parentJoint == joint and f.type == pin.BODY]
    held = cardan.contact_dynamics(robot, at[:1], "frame", friction=False, effort="plain")
    x = state(held, 1)
    y = held.evaluate(**x)
    for k in range(3):
        q, qd, tau = (x[name][k] for name in ("q", "qd", "tau"))
        pin.computeAllTerms(model, data, q, qd)
        pin.forwardKinematics(model, data, q, qd, 0 * qd)
        J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
        drift = pin.getClassicalAcceleration(model, data, joint, pin.LOCAL_WORLD_ALIGNED).vector
        n = model.nv
        matrix = np.block([[data.M, J.T], [J, np.zeros((6, 6))]])
        expected = np.linalg.solve(matrix, np.concatenate([tau - data.nle, -drift]))
        near(y.qdd[k], expected[:n], 1e-8)


def test_contacts_that_repeat_each_other() -> None:
    robot = cardan.load("ur5")
    with pytest.raises(cardan.ModelError, match="rank 5"):
        cardan.contact_dynamics(robot, [6, 5, 4], effort="plain")
    shared = cardan.contact_dynamics(robot, [6, 6], damping=1e-9, effort="plain")
    alone = cardan.contact_dynamics(robot, [6], effort="plain")
    x = state(alone)
    two, one = shared.evaluate(**x), alone.evaluate(**x)
    near(two.qdd, one.qdd, 1e-5)
    near(two.f[:, 0], one.f[:, 0] / 2, 1e-5)


def test_symbols() -> None:
    """Symbols are inputs; with their values it is the program of numbers."""
    robot = cardan.load("scara")
    values = random_values(robot)
    held = cardan.contact_dynamics(robot, [3], damping=0.1, effort="plain")
    numbers = cardan.contact_dynamics(robot.with_values(values), [3], damping=0.1, effort="plain")
    x = state(numbers)
    own = {name: values[name] for name in held.parameters}
    near(held.evaluate(**x, p=own).f, numbers.evaluate(**x).f, 1e-9)


def test_wrong_arguments() -> None:
    robot = cardan.load("ur5")
    with pytest.raises(cardan.InputError, match="no frame"):
        cardan.contact_dynamics(robot, [])
    with pytest.raises(cardan.UnknownNameError, match="point, frame"):
        cardan.contact_dynamics(robot, [6], "plane")
