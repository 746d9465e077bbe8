"""`cardan.model`: a signature for every model of the menu, for type checkers and editors.

Written by tests/typed_menu.py from src/cardan/catalogue.py: do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .catalogue import model as _model

if TYPE_CHECKING:
    from .build.base import BaseParameters
    from .describe.robot import Robot
    from .inverse.geometry import InverseGeometry
    from .loops.geometry import LoopGeometry
    from .program import Program

Frame = int | str | None  # a link by number, or a frame by name
ModelName = Literal[
    "transform",
    "inverse-geometry",
    "loop-geometry",
    "jacobian",
    "jacobian-inverse",
    "velocities",
    "accelerations",
    "kinematics-derivatives",
    "jdot-qdot",
    "loop-kinematics",
    "inverse-dynamics",
    "inertia-matrix",
    "bias",
    "gravity",
    "coriolis-matrix",
    "lagrange",
    "direct-dynamics",
    "state-space",
    "platform-inverse-dynamics",
    "platform-direct-dynamics",
    "inverse-dynamics-derivatives",
    "direct-dynamics-derivatives",
    "reactions",
    "energies",
    "energies-derivatives",
    "generalized-momentum",
    "base-parameters",
    "regressor",
    "regressor-derivatives",
    "filtered-regressor",
    "energy-regressor",
]


@overload
def model(
    robot: Robot,
    name: Literal["transform"],
    *,
    frame: Frame = ...,
    reference: Frame = ...,
    expanded: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["inverse-geometry"],
    *,
    method: Literal["auto", "paul", "pieper", "general"] = ...,
    frame: Frame = ...,
    reference: Frame = ...,
    free: Frame = ...,
    symbolic: bool = ...,
) -> InverseGeometry: ...


@overload
def model(
    robot: Robot,
    name: Literal["loop-geometry"],
    *,
    known: Sequence[str] | str | None = ...,
) -> LoopGeometry: ...


@overload
def model(
    robot: Robot,
    name: Literal["jacobian"],
    *,
    frame: Frame = ...,
    projection: Frame = ...,
    intermediate: Frame = ...,
    tool: Sequence[Any] = ...,
    rows: Sequence[str] | str | None = ...,
    factors: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["jacobian-inverse"],
    *,
    frame: Frame = ...,
    projection: Frame = ...,
    intermediate: Frame = ...,
    tool: Sequence[Any] = ...,
    rows: Sequence[str] | str | None = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal[
        "velocities",
        "accelerations",
        "kinematics-derivatives",
        "energies",
        "energies-derivatives",
        "generalized-momentum",
    ],
    *,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["jdot-qdot"],
    *,
    frame: Frame = ...,
    projection: Frame = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["loop-kinematics"],
    *,
    details: bool = ...,
    closing: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["inverse-dynamics"],
    *,
    method: Literal["newton-euler", "lagrange"] = ...,
    base_parameters: bool = ...,
    effort: Literal["plain", "normal", "safe", "max"] = ...,
    friction: bool = ...,
    f_e: bool = ...,
    idle: Literal["held", "free"] = ...,
    base: Literal["free", "given"] = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["inertia-matrix", "gravity"],
    *,
    base_parameters: bool = ...,
    effort: Literal["plain", "normal", "safe", "max"] = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["bias", "direct-dynamics-derivatives"],
    *,
    base_parameters: bool = ...,
    effort: Literal["plain", "normal", "safe", "max"] = ...,
    friction: bool = ...,
    f_e: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["coriolis-matrix", "energy-regressor"],
    *,
    base_parameters: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["lagrange"],
    *,
    method: Literal["christoffel", "renaud"] = ...,
    form: Literal["christoffel", "configuration"] = ...,
    base_parameters: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["direct-dynamics"],
    *,
    method: Literal["auto", "recursive", "inertia-matrix", "constraint-forces"] = ...,
    base_parameters: bool = ...,
    effort: Literal["plain", "normal", "safe", "max"] = ...,
    friction: bool = ...,
    f_e: bool = ...,
    idle: Literal["held", "free"] = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["state-space"],
    *,
    effort: Literal["plain", "normal", "safe", "max"] = ...,
    friction: bool = ...,
    f_e: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["platform-inverse-dynamics", "platform-direct-dynamics"],
    *,
    space: Literal["cartesian", "joint"] = ...,
    effort: Literal["plain", "normal", "safe", "max"] = ...,
    friction: bool = ...,
    idle: Literal["held", "free"] = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["inverse-dynamics-derivatives"],
    *,
    base_parameters: bool = ...,
    effort: Literal["plain", "normal", "safe", "max"] = ...,
    friction: bool = ...,
    f_e: bool = ...,
    base: Literal["free", "given"] = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["reactions"],
    *,
    f_e: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["base-parameters"],
    *,
    method: Literal["symbolic", "numeric"] = ...,
) -> BaseParameters: ...


@overload
def model(
    robot: Robot,
    name: Literal["regressor"],
    *,
    base_parameters: bool = ...,
    effort: Literal["plain", "normal", "safe", "max"] = ...,
    offset: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


@overload
def model(
    robot: Robot,
    name: Literal["regressor-derivatives", "filtered-regressor"],
    *,
    base_parameters: bool = ...,
    offset: bool = ...,
    symbolic: bool = ...,
    assembly: int | None = ...,
) -> Program: ...


def model(robot: Robot, name: str, **options: Any) -> Any:
    """The model of a robot: a `Program`; an `InverseGeometry`, a `LoopGeometry` or
    `BaseParameters` where the menu says so.

    `cardan.catalogue()` is the menu: names, options, inputs and outputs. Numbers of the robot are
    folded into the program; symbolic=True keeps every inertial and geometric parameter as an
    element of the input `p`, in the order of `Program.parameters`. An unknown name or option is an
    UnknownNameError, a model that a robot has not a ModelError.

    >>> robot = cardan.load("ur5")
    >>> gravity = cardan.model(robot, "gravity")
    >>> gravity.inputs, gravity.outputs
    ({'q': (6,)}, {'Q': (6,)})
    >>> cardan.model(robot, "transform", frame=2).outputs
    {'T': (4, 4)}
    >>> cardan.model(robot, "inverse-geometry").method
    'paul'"""
    return _model(robot, name, **options)
