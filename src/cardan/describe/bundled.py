"""The robots that come with Cardan: one .toml each, with its source, and a made-up chain."""

from __future__ import annotations

from functools import cache
from importlib import resources

from ..errors import DescriptionError, UnknownNameError
from .robot import Robot
from .toml.read import from_dict, read_toml

_SNAKE = "snake30"


@cache
def _names() -> tuple[str, ...]:
    folder = resources.files(__package__) / "robots"
    files = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    names = [name.removesuffix(".toml") for name in files if name.endswith(".toml")]
    return tuple(sorted([*names, _SNAKE]))


def robots() -> list[str]:
    """Names of the bundled robots.

    >>> "ur5" in cardan.robots()
    True"""
    return list(_names())


@cache
def bundled(name: str) -> Robot:
    """The bundled robot of that name."""
    if name not in _names():
        raise UnknownNameError.of("robot", name, _names())
    if name == _SNAKE:
        return snake(30)
    file = f"{name}.toml"
    data = (resources.files(__package__) / "robots" / file).read_bytes()
    robot, faults = read_toml(data, file)
    if robot is None or any(fault.severity == "error" for fault in faults):
        raise DescriptionError(faults)
    return robot


def snake(n: int = 30) -> Robot:
    """A chain of n modules of 65 mm and 0.2 kg, whose axes pitch and yaw in turn.

    Each module is a homogeneous cylinder of 25 mm radius along the x axis of its frame; the first
    axis is horizontal. Real snake robots are built so (own numbers, after their common sizes).
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 10_000:
        raise DescriptionError(f"a snake of {n!r} joints; allowed: 1 to 10000")
    across = "0.2*(3*0.025^2 + 0.065^2)/12"
    module = {
        "mass": "0.2",
        "com": ["0.065/2", 0, 0],
        "inertia_com": ["0.2*0.025^2/2", 0, 0, across, 0, across],
        "FV": "0.01",
    }
    return from_dict(
        {
            "name": f"snake{n}",
            "source": "made by cardan.describe.bundled.snake",
            "notes": "A chain of equal modules whose axes pitch and yaw in turn.",
            "link": [
                {**module, "alpha": "-pi/2" if j % 2 else "pi/2", "d": "0.065" if j > 1 else 0}
                for j in range(1, n + 1)
            ],
        }
    )
