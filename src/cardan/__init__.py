"""Cardan: symbolic and recursive modelling of robots.

robot = cardan.load("rx90")
idm = cardan.model(robot, "inverse-dynamics")
idm.cost, idm.emit("c"), idm.compile()(q=q, qd=qd, qdd=qdd)
"""

from .catalogue import catalogue, model
from .describe.bundled import robots
from .describe.files import load
from .describe.robot import Robot
from .errors import CardanError
from .inverse.numeric import inverse_kinematics
from .models.flexible_rigid import rigid
from .program import Program
from .use.modal import natural_frequencies
from .version import __version__

__all__ = [
    "CardanError", "Program", "Robot", "__version__", "catalogue", "inverse_kinematics", "load",
    "model", "natural_frequencies", "rigid", "robots",
]  # fmt: skip
