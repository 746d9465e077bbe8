"""First steps: load a robot, derive a model, read it, run it."""

import numpy as np

import cardan

robot = cardan.load("ur5")  # a bundled robot, or the path of a .toml, .par or .urdf file
idm = cardan.model(robot, "inverse-dynamics")
print(repr(idm))  # what goes in, what comes out, what it costs
print(idm.emit("c")[:900])  # as C, with a header that states inputs, units and order

torques = idm.compile()  # native code for this machine
q, qd, qdd = np.zeros((3, 1000, 6))  # a thousand states at once
q[:, 1] = np.linspace(-np.pi, 0, 1000)  # the shoulder from one side to the other
print(torques(q=q, qd=qd, qdd=qdd).round(2)[::250])
