"""Control laws by name: each follows a motion or a path, and `cardan.simulate` takes it as `law`.

law = cardan.control.computed_torque(robot, motion)
cardan.simulate(robot, motion.q[0], duration=1.0, law=law)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .adaptation import adaptive
    from .laws import computed_torque, pd, pd_gravity, task_space

__all__ = ["adaptive", "computed_torque", "pd", "pd_gravity", "task_space"]

if not TYPE_CHECKING:  # a checker would take every name for one that is here

    def __getattr__(name):
        """A law, imported when it is first asked for."""
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module 'cardan.control' has no attribute '{name}'")
        module = "adaptation" if name == "adaptive" else "laws"
        return getattr(import_module(f".{module}", __name__), name)


def __dir__() -> list[str]:
    return __all__
