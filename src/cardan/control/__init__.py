"""Control laws by name: each follows a motion or a path, and `cardan.simulate` takes it as `law`.

>>> robot = cardan.load("ur5")
>>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
>>> law = cardan.control.computed_torque(robot, motion)
>>> cardan.simulate(robot, motion.q[0], duration=0.1, law=law, method="rk4", step=0.01).q.shape
(11, 6)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .adaptation import adaptive
    from .elastic import elastic_pd, linearising
    from .horizon import predictive
    from .laws import (
        computed_torque,
        feedforward,
        gains,
        impedance,
        pd,
        pd_gravity,
        pid,
        task_space,
    )
    from .momentum import observed, observer, residuals

# every public name, by the module that has it
_PLACES = {
    "adaptation": "adaptive",
    "elastic": "elastic_pd linearising",
    "horizon": "predictive",
    "laws": "computed_torque feedforward gains impedance pd pd_gravity pid task_space",
    "momentum": "observed observer residuals",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}
__all__ = [
    "adaptive", "computed_torque", "elastic_pd", "feedforward", "gains", "impedance", "linearising",
    "observed", "observer", "pd", "pd_gravity", "pid", "predictive", "residuals", "task_space",
]  # fmt: skip

if not TYPE_CHECKING:  # a checker would take every name for one that is here

    def __getattr__(name):
        """A law, or its gains, imported when it is first asked for."""
        from importlib import import_module

        if name not in _MODULES:
            raise AttributeError(f"module 'cardan.control' has no attribute '{name}'")
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
