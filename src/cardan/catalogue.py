"""THE MENU: one table of every model. The command line, the docs and the web app are generated from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .derive import Result, derive
from .describe.robot import Robot
from .errors import ModelError, UnknownNameError
from .mechanism.tree import Tree
from .models.bodies import Bodies
from .models.newton_euler import inverse_dynamics
from .models.transform import transform
from .algebra.vector import Vec
from .program import Program

__all__ = ["MENU", "Entry", "Option", "catalogue", "model"]


@dataclass(frozen=True)
class Option:
    """An option of a model: what it means, its default, and the values allowed (None: any of its type)."""

    summary: str
    default: Any = None
    choices: tuple[Any, ...] | None = None
    kind: str = "text"  # text, flag, frame


@dataclass(frozen=True)
class Entry:
    """A line of the menu."""

    name: str
    group: str
    summary: str
    inputs: str
    outputs: str
    builder: Callable[..., Program]
    options: Mapping[str, Option] = field(default_factory=dict)


def catalogue() -> list[Entry]:
    """Every model that can be derived."""
    return list(MENU.values())


def model(robot: Robot, name: str, **options: Any) -> Program:
    """The program of a model of a robot."""
    entry = MENU.get(name)
    if entry is None:
        raise UnknownNameError.of("model", name, MENU)
    allowed = {**entry.options, "symbolic": SYMBOLIC}
    for key, value in options.items():
        if key not in allowed:
            raise UnknownNameError.of(f"option of '{name}'", key, allowed)
        choices = allowed[key].choices
        if choices is not None and value not in choices:
            raise UnknownNameError.of(f"value of option '{key}'", value, map(str, choices))
    return entry.builder(robot, **options)


SYMBOLIC = Option("keep every inertial and geometric parameter as an input p", False, kind="flag")

_MEANING = {
    "q": "joint positions, rad or m",
    "qd": "joint velocities, rad/s or m/s",
    "qdd": "joint accelerations, rad/s2 or m/s2",
    "f_e": "wrench (force, moment) of each link on the environment, in its frame, N and N m",
    "tau": "joint torques or forces, N m or N",
    "T": "homogeneous transformation matrix, lengths in m",
    "p": "free parameters, SI units",
}


def _meaning(*names: str) -> dict[str, str]:
    return {name: _MEANING[name] for name in (*names, "p")}


def _transform(
    robot: Robot, *, frame: Any = None, reference: Any = 0, expanded: bool = False, symbolic: bool = False
) -> Program:
    tree = Tree.of(robot)
    world = reference == "world"
    i, j = 0 if world else tree.link(reference), tree.link(frame)

    def form(merge: bool, from_left: bool) -> Callable[..., Result]:
        def run(scene: Bodies, q: list[Any]) -> Result:
            found = transform(scene, q, j, i, merge=merge, from_left=from_left, world=world)
            return Result({"T": ((4, 4), found.matrix)}, found)

        return run

    return derive(
        robot, "transform", {"q": (robot.n,)},
        [form(merge, left) for merge in (True, False) for left in (True, False)],
        meaning=_meaning("q", "T"), symbolic=symbolic, expanded=expanded,
    )  # fmt: skip


def _inverse_dynamics(
    robot: Robot, *, method: str = "newton-euler", f_e: bool = False, symbolic: bool = False
) -> Program:
    _refuse_loops(robot, "inverse-dynamics")
    nl, n = len(robot.links), robot.n
    inputs = {"q": (n,), "qd": (n,), "qdd": (n,), **({"f_e": (nl, 6)} if f_e else {})}

    def form(slide: frozenset[int]) -> Callable[..., Result]:
        def run(scene: Bodies, q: Any, qd: Any, qdd: Any, wrench: Any = None) -> Result:
            wrenches = {j: (Vec(*x[:3]), Vec(*x[3:])) for j, x in enumerate(wrench or [], 1)}
            found = inverse_dynamics(scene, q, qd, qdd, wrenches=wrenches, slide=slide)
            return Result({"tau": ((n,), [found.tau[j] for j in scene.tree.moving])}, found)

        return run

    return derive(
        robot, "inverse-dynamics", inputs,
        [form(frozenset()), form(frozenset(range(1, nl + 1)))],
        meaning=_meaning(*inputs, "tau"), symbolic=symbolic,
    )  # fmt: skip


def _refuse_loops(robot: Robot, name: str) -> None:
    if robot.loops:
        raise ModelError(
            f"'{name}' is not yet available for closed loops ('{robot.name}' has {len(robot.loops)}):"
            " robot.tree() gives the equivalent tree structure"
        )
    if robot.base.kind == "floating":
        raise ModelError(f"'{name}' is not yet available for a floating base ('{robot.name}')")


_FRAME = Option("the frame described: a link number or name; default the end effector", kind="frame")

MENU: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "transform", "geometric", "transformation matrix of any frame in any frame",
            "q", "T (4,4)", _transform,
            {
                "frame": _FRAME,
                "reference": Option("the frame it is seen from, or 'world'", 0, kind="frame"),
                "expanded": Option("print without intermediate variables", False, kind="flag"),
            },
        ),
        Entry(
            "inverse-dynamics", "dynamic", "joint torques of a motion, by recursive Newton-Euler",
            "q, qd, qdd(, f_e)", "tau (n)", _inverse_dynamics,
            {
                "method": Option("the formulation", "newton-euler", ("newton-euler",)),
                "f_e": Option("add the external wrenches of all links as an input", False, kind="flag"),
            },
        ),
    )
}  # fmt: skip
