"""THE MENU: one table of every model; the command line, the docs and the web app come from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import CardanWarning, InputError, ModelError, UnknownNameError, translated

if TYPE_CHECKING:
    from .describe.robot import Robot
    from .program import Program


@dataclass(frozen=True)
class Option:
    """An option of a model: what it means, its default, and the values allowed (None: any)."""

    summary: str
    default: Any = None
    choices: tuple[Any, ...] | None = None
    kind: str = "text"  # text, flag, frame, vector, rows, number


@dataclass(frozen=True)
class Entry:
    """A line of the menu.

    The builder is named by its module and function, so that it is imported when it is first
    asked for; it returns a Program, or another object when `program` is False."""

    name: str
    group: str
    summary: str
    inputs: str
    outputs: str
    builder: str | Callable[..., Any]
    options: Mapping[str, Option] = field(default_factory=dict)
    program: bool = True

    def build(self, robot: Robot, **options: Any) -> Any:
        """The model of a robot; what has no model of links that bend is refused."""
        if robot.ne and self.name not in _FLEXIBLE:
            raise ModelError(
                f"'{self.name}' of '{robot.name}' is not available for flexible links",
                remedy=f"with them there are {', '.join(_FLEXIBLE)}; cardan.rigid(robot) makes its"
                " links rigid",
            )
        builder = _imported(self.builder)

        def derived() -> Any:
            if options.get("base_parameters") and self.group == "dynamic":
                rest = {key: x for key, x in options.items() if key != "base_parameters"}
                cheaper = _imported("build.base.cheaper_parameters")
                return cheaper(builder, lambda: self.build(robot, **rest), robot, options)
            return builder(robot, **options)

        if not self.program or not isinstance(self.builder, str):
            return derived()
        return _imported("build.kept.kept")(self.name, robot, options, derived)


def _imported(builder: str | Callable[..., Any]) -> Callable[..., Any]:
    """The builder of that name, imported when it is first asked for."""
    if not isinstance(builder, str):
        return builder
    module, _, name = builder.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(f".{module}", __package__), name)
    return function


def catalogue() -> list[Entry]:
    """Every model that can be derived.

    >>> entry = next(entry for entry in cardan.catalogue() if entry.name == "gravity")
    >>> entry.group, entry.inputs, entry.outputs
    ('dynamic', 'q', 'Q (n)')
    >>> entry.options["effort"].choices
    ('plain', 'normal', 'safe', 'max')"""
    return list(MENU.values())


def model(robot: Robot, name: str, **options: Any) -> Any:
    """The model of a robot by its name on the menu, which need not be known to a type checker;
    `cardan.model` is this function with types."""
    from .describe.check import extremes, require_sound  # the menu itself is quick to read
    from .describe.robot import Robot
    from .mechanism.frames import with_options

    if not isinstance(robot, Robot):
        raise InputError(
            f"model() takes a Robot, not {type(robot).__name__}: cardan.load gives one"
        )
    require_sound(robot)
    entry = MENU.get(name) if isinstance(name, str) else None
    if entry is None:
        raise UnknownNameError.of("model", name, MENU)
    for key, value in options.items():
        if key not in entry.options:
            raise UnknownNameError.of(f"option of '{name}'", key, entry.options)
        option = entry.options[key]
        choices = (True, False) if option.kind == "flag" else option.choices
        if choices is not None and value not in choices:
            raise UnknownNameError.of(f"value of option '{key}'", value, map(str, choices))
    what, described = f"'{name}' of '{robot.name}' cannot be derived", robot
    with translated(what, ModelError, remedy=extremes(robot)):
        robot, words = _closing(robot)
        if "frame" in entry.options:
            robot, options = with_options(robot, {"frame": None, **options})
        assembly = options.pop("assembly", None)
        built = entry.build(robot, **options)
        if not entry.program:
            return built
        built = replace(_ordered(built, described), coordinates=_coordinates(built, robot))
        if assembly is not None:
            symbolic = options.get("symbolic", False)
            built = _imported("build.active.of_active")(robot, built, assembly, symbolic)
            built = replace(_ordered(built, described), coordinates=_coordinates(built, robot))
        if options.get("symbolic") and robot.loops:
            built = _ordered(_renumbered(built, described, robot), described)
        remarks = (text for text in (words, _names(described)) if text)
        return replace(built, remarks=(*built.remarks, *remarks))


def _names(robot: Robot) -> str:
    """The joints by the names that their file gives them, where these say more than a number."""
    from .describe.robot import FIXED

    moving = [(j, x) for j, x in enumerate(robot.joints, 1) if x.sigma != FIXED]
    if all(joint.name == f"joint{j}" for j, joint in moving):
        return ""
    return "joints: " + ", ".join(f"{x.variable or f'q{j}'} {x.name}" for j, x in moving)


def _renumbered(program: Program, robot: Robot, placed: Robot) -> Program:
    """The program with the symbols of cut joints as the robot numbers these, d5 and not d6: where a
    frame has been placed, it stands among the links before them; its own symbols come last."""
    own, all_, cut = len(robot.joints), len(placed.joints), 2 * len(robot.loops)
    numbers = {all_ + k: own + k for k in range(1, cut + 1)}
    numbers |= {own + k: own + cut + k for k in range(1, all_ - own + 1)}
    users = set(robot.parameters)

    def called(name: str) -> str:
        letters = name.rstrip("_").rstrip("0123456789")
        number = name[len(letters) :].rstrip("_")
        if name in users or not number or int(number) not in numbers:
            return name
        return f"{letters}{numbers[int(number)]}{name[len(letters) + len(number) :]}"

    page = program.page and replace(
        program.page, parameters=tuple(map(called, program.page.parameters))
    )
    defaults = {called(name): value for name, value in program.defaults.items()}
    parameters = tuple(map(called, program.parameters))
    return replace(program, parameters=parameters, defaults=defaults, page=page)


def _ordered(program: Program, robot: Robot) -> Program:
    """The program with its parameters in the one order of the robot, whatever the model: that of
    `Robot.parameters`, where a number that became a symbol stands in its place."""
    if not program.plain.parameters:
        return program
    from .describe.symbolic import parametrised
    from .ir.passes import permuted

    rank = {name: k for k, name in enumerate(parametrised(robot)[0].parameters)}

    def place(name: str) -> tuple[int, str]:  # a base parameter XX2R stands where XX2 does
        bare = name.rstrip("_")
        ranks = (rank[x] for x in (name, bare, bare.removesuffix("R")) if x in rank)
        return next(ranks, len(rank)), name

    order = sorted(program.parameters, key=place)
    moves = [program.parameters.index(name) for name in order]
    code = permuted(program.code, "p", moves)
    page = program.page and program.page.ordered(tuple(sorted(program.page.parameters, key=place)))
    return replace(program, code=code, parameters=tuple(order), page=page)


def _coordinates(program: Program, robot: Robot) -> dict[str, tuple[tuple[str, str], ...]]:
    """(link number, variable) of the elements of positions, velocities, accelerations, torques."""
    from .mechanism.coordinates import Coordinates

    link = Coordinates.of(robot)
    driven = link.joint_keys(link.driven)
    arrays = {**program.inputs, **program.outputs}
    listed = {}
    for name in ("q", "qd", "qdd", "tau", "Q", "H", "h"):
        groups = (link.keys, link.independent, driven)
        fits = [keys for keys in groups if (len(keys),) == arrays.get(name)]
        if fits:
            listed[name] = tuple(_coordinate(robot, *key) for key in fits[0])
    if "q_a" in arrays:
        listed["q_a"] = tuple(_coordinate(robot, *key) for key in link.joint_keys(link.active))
    if arrays.get("x") == (len(link.keys) + len(link.independent),):  # a state
        listed["x"] = tuple(_coordinate(robot, *key) for key in (*link.keys, *link.independent))
    return listed


def _coordinate(robot: Robot, kind: str, j: int, k: int) -> tuple[str, str]:
    if kind == "joint":
        return str(j), robot.joints[j - 1].variable or f"q{j}"
    return f"{j}e{k + 1}", f"q{j}e{k + 1}"


def _closing(robot: Robot) -> tuple[Robot, str]:
    """The robot, with the closest geometry that closes where rounding keeps its loops open, and
    that in words."""
    if not robot.loops:
        return robot, ""
    from .loops.numeric import closing_geometry  # a slow import, for few robots

    robot, words = closing_geometry(robot)
    if words:
        warnings.warn(words, CardanWarning, stacklevel=4)
    return robot, words


_SYMBOLIC = Option("keep every inertial and geometric parameter as an input p", False, kind="flag")
_ASSEMBLY = Option(
    "of closed loops: a function of the active joints' q_a alone, in this assembly of the loops'"
    " formulas, from 0", kind="number",
)  # fmt: skip
_BASE = Option(
    "use the base inertial parameters: same torques, fewer operations", False, kind="flag"
)
_EFFORT = Option(
    "how hard to search for fewer operations; safe: symbols may be zero", "normal",
    ("plain", "normal", "safe", "max"),
)  # fmt: skip
_WRENCH = Option("add the external wrenches of all links as an input f_e", False, kind="flag")
_FRICTION = Option("with the friction FV, FS of the joints", True, kind="flag")
_OFFSET = Option("add a column of ones per joint, for a torque offset", False, kind="flag")
_IDLE = Option(
    "joints of loops that nothing holds or drives: held, or free of torque at rates qd_i", "held",
    ("held", "free"),
)  # fmt: skip
_GIVEN = Option(
    "of a floating base: its acceleration is free and found, or given as V0d", "free",
    ("free", "given"),
)  # fmt: skip
_SPACE = Option(
    "the motion: of the platform V, Vd, or of the active joints qd, qdd", "cartesian",
    ("cartesian", "joint"),
)  # fmt: skip
_FRAME = Option(
    "the frame described: its name in the file, or a number; default the end effector", kind="frame"
)
_PROJECTION = Option("the frame whose axes the result is expressed in", 0, kind="frame")
_JACOBIAN = {
    "frame": _FRAME,
    "projection": _PROJECTION,
    "intermediate": Option("Renaud's intermediate frame; default the cheapest", kind="frame"),
    "tool": Option(
        "coordinates of the point of the frame that is followed, numbers or formulas",
        (0, 0, 0),
        kind="vector",
    ),
}


def _entries() -> list[Entry]:
    def entry(
        name: str, group: str, summary: str, arrays: str, builder: Any, /, **options: Option,
    ) -> Entry:  # fmt: skip
        inputs, _, outputs = arrays.partition(" -> ")
        return Entry(
            name, group, summary, inputs, outputs, builder,
            {**options, "symbolic": _SYMBOLIC, "assembly": _ASSEMBLY},
        )  # fmt: skip

    geometric_menu = [
        entry("transform", "geometric", "transformation matrix of any frame in any frame",
              "q -> T (4,4)", "build.geometric.transform", frame=_FRAME,
              reference=Option("the frame it is seen from, or 'world'", 0, kind="frame"),
              expanded=Option("print without intermediate variables", False, kind="flag")),
        Entry("inverse-geometry", "geometric", "all configurations of a pose, in closed form",
              "T (4,4)", "all q (k,n)", "build.geometric.inverse_geometry",
              {"method": Option("how it is solved; default the cheapest that works", "auto",
                                ("auto", "paul", "pieper", "general")),
               "frame": _FRAME,
               "reference": Option("the frame of the base poses are seen from, or 'world'", 0,
                                   kind="frame"),
               "free": Option("of more than 6 joints: the one that is given, or arm-angle",
                              kind="frame"),
               "symbolic": _SYMBOLIC}, program=False),
        Entry("loop-geometry", "geometric", "positions of the passive joints of closed loops",
              "-", "object: solve(q_a, guess, p=), equations()",
              "build.loop_kinematic.loop_geometry",
              {"known": Option("the joints that are given, by variable or name, in place of the"
                               " active ones: q2 q4", kind="rows")}, program=False),
    ]  # fmt: skip
    kinematic_menu = [
        entry("jacobian", "kinematic", "Jacobian of a point of any frame, Renaud's three factors",
              "q -> J (6,n)", "build.kinematic.jacobian", **_JACOBIAN,
              rows=Option("the rows of J: some of x y z rx ry rz; default all six",
                          kind="rows"),
              factors=Option("the three factors F1, F2, F3 instead of J, their product", False,
                             kind="flag")),
        entry("jacobian-inverse", "kinematic", "inverse of the Jacobian and its determinant"
              " (not square: generalized inverse, det(J^T J) or det(J J^T))",
              "q -> Jinv (n,rows), det", "build.kinematic.jacobian_inverse",
              **_JACOBIAN,
              rows=Option("the rows of the task: some of x y z rx ry rz; default those that the"
                          " robot moves in, where they are no more than its joints, else all",
                          kind="rows")),
        entry("velocities", "kinematic", "velocities of all links, in Khalil's frames",
              "q, qd -> V (nl,6)", "build.kinematic.velocities"),
        entry("accelerations", "kinematic", "accelerations of all links, in Khalil's frames",
              "q, qd, qdd -> Vd (nl,6)", "build.kinematic.accelerations"),
        entry("kinematics-derivatives", "kinematic",
              "velocities and accelerations of all links and their partial derivatives",
              "q, qd, qdd -> V, Vd (nl,6), dV_dq, dV_dqd, dVd_dq, dVd_dqd, dVd_dqdd (nl,6,n)",
              "build.derivatives.kinematics_derivatives"),
        entry("jdot-qdot", "kinematic", "Jdot qdot of a frame, for task-space control",
              "q, qd -> Jdqd (6)", "build.kinematic.jdot_qdot",
              frame=_FRAME, projection=_PROJECTION),
        entry("loop-kinematics", "kinematic", "passive joints of a robot with closed loops",
              "q, qd -> W, psi", "build.loop_kinematic.loop_kinematics",
              details=Option("also the loop equations, G, the cut joints and det", False,
                             kind="flag"),
              closing=Option("also how far the loops are open, r, and the step dq_p of the passive"
                             " joints that closes them", False, kind="flag")),
    ]  # fmt: skip
    dynamic_menu = [
        entry("inverse-dynamics", "dynamic", "joint torques of a motion",
              "q, qd, qdd(, f_e) -> tau (n)", "build.dynamic.inverse_dynamics",
              method=Option("the formulation", "newton-euler", ("newton-euler", "lagrange")),
              base_parameters=_BASE, effort=_EFFORT, friction=_FRICTION, f_e=_WRENCH, idle=_IDLE,
              base=_GIVEN),
        entry("inertia-matrix", "dynamic", "inertia matrix, by composite links",
              "q -> A (n,n)", "build.dynamic.inertia_matrix",
              base_parameters=_BASE, effort=_EFFORT),
        entry("bias", "dynamic", "centrifugal, Coriolis, gravity and friction torques",
              "q, qd(, f_e) -> H (n)", "build.dynamic.bias",
              base_parameters=_BASE, effort=_EFFORT, friction=_FRICTION, f_e=_WRENCH),
        entry("gravity", "dynamic", "gravity torques",
              "q -> Q (n)", "build.dynamic.gravity",
              base_parameters=_BASE, effort=_EFFORT),
        entry("coriolis-matrix", "dynamic", "Coriolis matrix with Adot - 2C skew-symmetric",
              "q, qd -> C (n,n)", "build.lagrange.coriolis_matrix",
              base_parameters=_BASE),
        entry("lagrange", "dynamic", "A, velocity coefficients and Q, as functions of q alone",
              "q -> A (n,n), B (n,n,n), Q (n)", "build.lagrange.lagrange",
              method=Option("derivatives of A, or axes and composite links", "christoffel",
                            ("christoffel", "renaud")),
              form=Option("Christoffel symbols B, or C1 and C2 of the configuration-space form",
                          "christoffel", ("christoffel", "configuration")),
              base_parameters=_BASE),
        entry("direct-dynamics", "dynamic", "joint accelerations of torques",
              "q, qd, tau(, f_e) -> qdd (n)", "build.dynamic.direct_dynamics",
              method=Option("articulated inertias, or A and H; default the cheaper; for closed"
                            " loops also constraint forces", "auto",
                            ("auto", "recursive", "inertia-matrix", "constraint-forces")),
              base_parameters=_BASE, effort=_EFFORT, friction=_FRICTION, f_e=_WRENCH, idle=_IDLE),
        entry("state-space", "dynamic", "equations of state: rates of positions and velocities",
              "x, tau(, f_e) -> xd", "build.state_space.state_space",
              effort=_EFFORT, friction=_FRICTION, f_e=_WRENCH),
        entry("platform-inverse-dynamics", "dynamic",
              "joint torques of a platform's motion, leg by leg",
              "q, V, Vd -> tau", "build.parallel.platform_inverse_dynamics",
              space=_SPACE, effort=_EFFORT, friction=_FRICTION, idle=_IDLE),
        entry("platform-direct-dynamics", "dynamic",
              "acceleration of a platform of joint torques, leg by leg",
              "q, V, tau -> Vd", "build.parallel.platform_direct_dynamics",
              space=_SPACE, effort=_EFFORT, friction=_FRICTION, idle=_IDLE),
        entry("inverse-dynamics-derivatives", "dynamic",
              "torques and all their partial derivatives",
              "q, qd, qdd(, f_e) -> tau (n), dtau_dq, dtau_dqd, dtau_dqdd (n,n)",
              "build.derivatives.inverse_dynamics_derivatives",
              base_parameters=_BASE, effort=_EFFORT, friction=_FRICTION, f_e=_WRENCH, base=_GIVEN),
        entry("direct-dynamics-derivatives", "dynamic",
              "accelerations and all their partial derivatives",
              "q, qd, tau(, f_e) -> qdd (n), dqdd_dq, dqdd_dqd, dqdd_dtau (n,n)",
              "build.derivatives.direct_dynamics_derivatives",
              base_parameters=_BASE, effort=_EFFORT, friction=_FRICTION, f_e=_WRENCH),
        entry("reactions", "dynamic", "wrench through every joint",
              "q, qd, qdd(, f_e) -> reactions (nl,6)", "build.reactions.reactions",
              f_e=_WRENCH),
        entry("energies", "dynamic", "kinetic energy; potential energy of gravity and springs",
              "q, qd -> E, U", "build.energy.energies"),
        entry("energies-derivatives", "dynamic", "energies and all their partial derivatives",
              "q, qd -> E, U, dE_dq, dE_dqd, dU_dq, dU_dqd (n)",
              "build.derivatives.energies_derivatives"),
        entry("generalized-momentum", "dynamic", "generalized momentum A qd",
              "q, qd -> h (n)", "build.energy.generalized_momentum"),
    ]  # fmt: skip
    identification_menu = [
        Entry("base-parameters", "identification", "base inertial parameters and their regrouping",
              "-", "kept, eliminated, regrouped", "build.base.base_parameters",
              {"method": Option("symbolic rules, or numerical QR", "symbolic", ("symbolic",
              "numeric"))}, program=False),
        entry("regressor", "identification", "dynamic identification model: tau = D K",
              "q, qd, qdd -> D (n,np)", "build.identification.regressor",
              base_parameters=_BASE, effort=_EFFORT, offset=_OFFSET),
        entry("regressor-derivatives", "identification",
              "the identification model and its partial derivatives",
              "q, qd, qdd -> D (n,np), dD_dq, dD_dqd, dD_dqdd (n,np,n)",
              "build.derivatives.regressor_derivatives", base_parameters=_BASE, offset=_OFFSET),
        entry("filtered-regressor", "identification", "identification without accelerations",
              "q, qd -> D1, D2 (n,np)", "build.identification.filtered_regressor",
              base_parameters=_BASE, offset=_OFFSET),
        entry("energy-regressor", "identification", "energy identification model: E + U = h K",
              "q, qd -> h (np)", "build.identification.energy_regressor", base_parameters=_BASE),
    ]  # fmt: skip
    return [*geometric_menu, *kinematic_menu, *dynamic_menu, *identification_menu]


MENU: dict[str, Entry] = {entry.name: entry for entry in _entries()}

# the models of robots with flexible links, [BK13]
_FLEXIBLE = (
    "transform", "loop-geometry", "jacobian", "velocities", "accelerations", "jdot-qdot",
    "inverse-dynamics", "inertia-matrix", "bias", "gravity", "direct-dynamics", "energies",
    "generalized-momentum", "inverse-dynamics-derivatives", "direct-dynamics-derivatives",
    "kinematics-derivatives", "energies-derivatives", "loop-kinematics", "reactions",
)  # fmt: skip
