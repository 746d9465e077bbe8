"""Cardan: symbolic and recursive modelling of robots.

robot = cardan.load("rx90")
idm = cardan.model(robot, "inverse-dynamics")
idm.cost, idm.emit("c"), idm.compile()(q=q, qd=qd, qdd=qdd)
"""

from typing import TYPE_CHECKING, Any

from .catalogue import catalogue, model
from .describe.bundled import robots
from .describe.files import load
from .describe.robot import Robot
from .errors import CardanError
from .program import Program
from .renamed import install as _install
from .version import __version__

if TYPE_CHECKING:
    from .inverse.numeric.solver import inverse_kinematics
    from .models.flexible.rigid import rigid
    from .simulation.modal import natural_frequencies

__all__ = [
    "CardanError", "Program", "Robot", "__version__", "catalogue", "inverse_kinematics", "load",
    "model", "natural_frequencies", "rigid", "robots",
]  # fmt: skip

# imported when they are first asked for, so that `import cardan` stays quick
_LATER = {
    "inverse_kinematics": "inverse.numeric.solver",
    "natural_frequencies": "simulation.modal",
    "rigid": "models.flexible.rigid",
}


_install()


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'cardan' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
