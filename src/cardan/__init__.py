"""Cardan: symbolic and recursive modelling of robots.

robot = cardan.load("rx90")
idm = cardan.model(robot, "inverse-dynamics")
idm.cost, idm.emit("c"), idm.compile()(q=q, qd=qd, qdd=qdd)

All public names are here. Each is imported when it is first asked for, so that `import cardan`
stays quick; type checkers and editors see all of them.
"""

from typing import TYPE_CHECKING

from .catalogue import catalogue  # the function takes the place of the module of its name
from .renamed import install as _install
from .version import __version__

if TYPE_CHECKING:
    from . import control
    from .build.base import BaseParameters
    from .build.singularities.listing import Singularities, singularities
    from .control.linear import linearise
    from .describe.bundled import robots
    from .describe.dh.tables import from_dh
    from .describe.files import load, save
    from .describe.floating import floating
    from .describe.robot import Base, Joint, Link, Robot
    from .emit import languages
    from .errors import (
        CardanError,
        CardanWarning,
        DescriptionError,
        ExpressionError,
        InputError,
        MissingExtraError,
        ModelError,
        ProgramError,
        UnknownNameError,
    )
    from .identification.excite import excite
    from .identification.identify import identify
    from .inverse.geometry import InverseGeometry
    from .inverse.numeric.solver import inverse_kinematics
    from .ir.cost import Cost
    from .loops.geometry import LoopGeometry
    from .menu import model
    from .models.flexible.rigid import rigid
    from .motion.plan import trajectory
    from .motion.torques import torques
    from .motion.workspace import Workspace, workspace
    from .package.write import write_package
    from .program import Program
    from .run.function import Function
    from .sheets.sheet import sheet
    from .simulation.contact_dynamics import contact_dynamics
    from .simulation.discrete import RolloutGradient, discretise, rollout_gradient
    from .simulation.modal import natural_frequencies
    from .simulation.simulate import simulate
    from .sweeps.sweep import sweep

__all__ = [
    "Base", "BaseParameters", "CardanError", "CardanWarning", "Cost", "DescriptionError",
    "ExpressionError", "Function", "InputError", "InverseGeometry", "Joint", "Link",
    "LoopGeometry", "MissingExtraError", "ModelError", "Program", "ProgramError", "Robot",
    "RolloutGradient", "Singularities", "UnknownNameError", "Workspace", "__version__",
    "catalogue", "contact_dynamics", "control", "discretise", "excite", "floating", "from_dh",
    "identify", "inverse_kinematics", "languages", "linearise", "load", "model",
    "natural_frequencies", "rigid", "robots", "rollout_gradient", "save", "sheet", "simulate",
    "singularities", "sweep", "torques", "trajectory", "workspace", "write_package",
]  # fmt: skip

# module -> the names it has
_MODULES = {
    "build.base": "BaseParameters",
    "build.singularities.listing": "Singularities singularities",
    "control.linear": "linearise",
    "describe.bundled": "robots",
    "describe.dh.tables": "from_dh",
    "describe.files": "load save",
    "describe.floating": "floating",
    "describe.robot": "Base Joint Link Robot",
    "emit": "languages",
    "errors": "CardanError CardanWarning DescriptionError ExpressionError InputError"
    " MissingExtraError ModelError ProgramError UnknownNameError",
    "identification.excite": "excite",
    "identification.identify": "identify",
    "inverse.geometry": "InverseGeometry",
    "inverse.numeric.solver": "inverse_kinematics",
    "ir.cost": "Cost",
    "loops.geometry": "LoopGeometry",
    "menu": "model",
    "models.flexible.rigid": "rigid",
    "motion.plan": "trajectory",
    "motion.torques": "torques",
    "motion.workspace": "Workspace workspace",
    "package.write": "write_package",
    "program": "Program",
    "run.function": "Function",
    "sheets.sheet": "sheet",
    "simulation.contact_dynamics": "contact_dynamics",
    "simulation.discrete": "RolloutGradient discretise rollout_gradient",
    "simulation.modal": "natural_frequencies",
    "simulation.simulate": "simulate",
    "sweeps.sweep": "sweep",
}


_install()

if not TYPE_CHECKING:  # a checker would take every name for one that is here

    def __getattr__(name):
        """A public name, imported; or a part of the library, which is a module of that name."""
        from importlib import import_module
        from importlib.util import find_spec

        for module, names in _MODULES.items():
            if name in names.split():
                globals()[name] = getattr(import_module(f".{module}", __name__), name)
                return globals()[name]
        if not name.startswith("_") and find_spec(f".{name}", __name__):
            return import_module(f".{name}", __name__)
        raise AttributeError(f"module 'cardan' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
