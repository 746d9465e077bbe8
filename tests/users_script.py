"""A user's script over the public face, for a type checker: tests/test_public.py looks at it.

Lines that end in "mistake: ..." are wrong on purpose; the checker reports them and nothing else."""

from __future__ import annotations

import numpy as np

import cardan

robot = cardan.load("ur5", fixed="merge")
arm = cardan.from_dh([(0, 0, 0, 0.3), (0, 0.5, 0, 0)], "khalil", name="arm")
names: list[str] = [*cardan.robots(), *cardan.languages()]
entries = [entry.name for entry in cardan.catalogue() if entry.program]
joint: cardan.Joint = robot.joints[0]
links: tuple[cardan.Link, ...] = robot.links
base: cardan.Base = robot.base

# a model is a Program, which prints, counts and runs
dynamics: cardan.Program = cardan.model(robot, "inverse-dynamics", effort="plain", f_e=True)
cost: cardan.Cost = dynamics.cost
operations: int = cost.mul + cost.add
text: str = dynamics.emit("c", function="torques")
function: cardan.Function = dynamics.compile(dtype="float32")
torque = function(q=np.zeros(6), qd=np.zeros(6), qdd=np.zeros(6), f_e=np.zeros((6, 6)), threads=2)
cardan.model(robot, "inverse-dynamic")  # mistake: no such model
cardan.model(robot, "gravity", efort="plain")  # mistake: no such option
cardan.model(robot, "direct-dynamics", method="fast")  # mistake: no such value of an option
cardan.model(robot, "transform", frame=1.5)  # mistake: a frame is a number of a link, or a name
cost.multiplications  # mistake: no such attribute

# inverse geometry, loops and base parameters are objects of their own
ik: cardan.InverseGeometry = cardan.model(robot, "inverse-geometry", method="auto")
configurations = ik.solve(np.eye(4))
loops: cardan.LoopGeometry = cardan.model(cardan.load("delta"), "loop-geometry")
grouping: cardan.BaseParameters = cardan.model(robot, "base-parameters", method="numeric")
derivations: list[str] = [part.equations("text") for part in (ik, loops, grouping)]
sources: list[str] = [part.emit("text") for part in (ik, loops, grouping)]
program: cardan.Program = cardan.model(robot, "inverse-geometry")  # mistake: not a Program
ik.cost  # mistake: no such attribute
reached = cardan.inverse_kinematics(robot, np.eye(4), restarts=5)
if bool(reached.converged):
    print(reached.q)

# motions, simulation, control
motion = cardan.trajectory(robot, 0.5, duration=2.0, profile="septic")
peak = np.abs(cardan.torques(robot, motion).total).max()
law = cardan.control.computed_torque(robot, motion, kp=100.0, kd=20.0)
run = cardan.simulate(robot, motion.q[0], duration=2.0, law=law)
run.energies  # mistake: no such attribute
print(run.q[-1], peak, cardan.linearise(robot, np.zeros(6)).A.shape)
cardan.simulate(robot, 0.0, duration="2 s")  # mistake: not a number
cardan.control.sliding(robot, motion)  # mistake: no such law

# from logs, to tables, to code
result = cardan.identify(robot, "log.csv", validation=["other.csv"])
fit: float = result.errors["fit"]
excitation = cardan.excite(robot, harmonics=3, criterion="condition")
table = cardan.sweep(dynamics, {"q1": np.zeros(3)}, threads=2).table
cardan.write_package(robot, ["gravity"], "c", "folder", force=True)
shapes = cardan.natural_frequencies(cardan.load("flexible1r"), 0.0, modes=True).shapes
cardan.natural_frequency(robot)  # mistake: no such function
try:
    cardan.save(robot.with_values({"M3": 1.0}), "robot.toml")
except cardan.DescriptionError as error:
    print([fault.message for fault in error.faults])
except cardan.CardanError as error:
    print(error)
