"""The command that inverts geometry: ik."""

from __future__ import annotations

from math import radians
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError, ModelError
from . import completion
from .arguments import (
    CutLoops,
    Degrees,
    Json,
    RobotName,
    Settings,
    is_given,
    numbers,
    refuse_beside,
)
from .motion import positions
from .output import print_json, print_table, print_text, write
from .sources import open_robot

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ...describe.robot import Robot

_LANGUAGES = ("text", "latex", "c", "cpp", "python", "matlab", "rust")


def ik(
    ctx: typer.Context,
    robot: RobotName,
    pose: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS",
            help="16 numbers row by row, x y z roll pitch yaw (m, rad), or x y z of a point alone.",
        ),
    ] = "",
    q: Annotated[
        str, typer.Option("--q", metavar="Q", help="The pose of these joint positions instead.")
    ] = "",
    degrees: Degrees = False,
    method: Annotated[str, typer.Option(help="auto, paul, pieper or general.")] = "auto",
    frame: Annotated[str, typer.Option(help="The frame; default the end effector.")] = "",
    reference: Annotated[
        str, typer.Option(help="The frame of the base that poses are seen from; or world.")
    ] = "0",
    free: Annotated[
        str,
        typer.Option(
            metavar="JOINT[=VALUE],...",
            help="Of more than 6 joints: those that are given; or arm-angle.",
        ),
    ] = "",
    guess: Annotated[str, typer.Option(metavar="Q", help="Nearest to it first.")] = "",
    limits: Annotated[bool, typer.Option("--limits", help="Only within joint limits.")] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(help="How far (m, rad) an arm of less than 6 joints may miss the pose."),
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            metavar="LANGUAGE",
            autocompletion=completion.names(*_LANGUAGES),
            help="Print the derivation (text, latex), or code: c, cpp, python, matlab, rust.",
        ),
    ] = "",
    function: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the function.")
    ] = "inverse_geometry",
    complete: Annotated[
        bool, typer.Option("--complete", help="Code that does at singular poses all that ik does.")
    ] = False,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE")] = "-",
    numeric: Annotated[
        bool,
        typer.Option("--numeric", help="One configuration, by damped least squares; or its code."),
    ] = False,
    polynomial: Annotated[
        bool, typer.Option("--polynomial", help="That of the general method at the pose.")
    ] = False,
    fixed: Annotated[
        str, typer.Option(help="Fixed joints of a URDF file: merge, or keep as frames.")
    ] = "",
    setting: Settings = None,
    tree: CutLoops = False,
    json: Json = False,
) -> None:
    """All configurations of a pose: solved, as equations, or as code."""
    from ... import model

    _refuse_useless(ctx, to, numeric)
    described = open_robot(robot, setting, tree=tree, fixed=fixed)
    if numeric and to:
        from ...inverse.numeric.code import numeric_code

        named: dict[str, Any] = {"function": function} if is_given(ctx, "function") else {}
        text = numeric_code(
            described, to, frame or None, limits=limits, **named, **_tolerance(tolerance)
        )
        write(output, text)
        return
    here = _configuration(described, q, degrees) if q else None
    if numeric:
        T = _in_frame_0(described, _pose(described, pose, here, frame, reference), reference)
        start = _guess(described, described.variables, guess, degrees)
        _numerically(described, T, frame, start, limits, _tolerance(tolerance), json)
        return
    pairs = [part.partition("=")[::2] for part in free.split(",")] if free else []
    names = [joint.strip() for joint, _ in pairs]
    options: dict[str, Any] = {"method": method, "frame": frame or None, "reference": reference}
    options["free"] = names[0] if len(names) == 1 else names or None
    solution = model(described, "inverse-geometry", **options)
    if to:
        more = {"complete": True} if complete else {}
        write(output, solution.emit(to, function=function, **more))
        return
    T = _pose(described, pose, here, frame, reference)
    if polynomial:
        found = solution.polynomial(T)
        if json:
            print_json({"joint": found.joint, "coefficients": found.coefficients.tolist()})
        else:
            print_text(str(found))
        return
    held = _given(described, solution, dict(pairs), here)
    start = _guess(described, solution.variables, guess, degrees)
    answer = solution.solve(
        T, guess=start, limits=limits, report=True, free=held, tolerance=tolerance
    )
    notes: list[str] = []
    reason = "no configuration within the joint limits"
    if not answer.count and not limits and T.ndim == 1:
        reason = "no configuration: the point is out of reach"
    elif not answer.count and not limits:
        answer, notes, reason = _other_ways(described, solution, T, held, here, options)
    _print(solution, T, answer, reason, json, notes)


def _refuse_useless(ctx: typer.Context, to: str, numeric: bool) -> None:
    """Refuse options that would mean nothing: of one pose beside a text, of all configurations
    beside the numerical one."""
    useless = {"free", "method", "polynomial", "complete"} if numeric else set()
    if to:
        useless |= {"pose", "q", "degrees", "guess", "json", "polynomial"}
        useless |= {"reference"} if numeric else {"limits", "tolerance"}
    refuse_beside(ctx, useless, " and ".join(["--numeric"] * numeric + ["--to"] * bool(to)))


def _tolerance(value: float | None) -> dict[str, Any]:
    return {} if value is None else {"tolerance": value}


def _commas(text: str) -> str:
    """Numbers apart by commas or spaces, apart by commas."""
    return ",".join(text.replace(",", " ").split())


def _guess(robot: Robot, variables: Sequence[str], text: str, degrees: bool) -> list[float] | None:
    """The positions of some joints, a value each."""
    from ...motion.joints import units

    if not text:
        return None
    values = _numbers("--guess", text)
    unit = dict(zip(robot.variables, units(robot), strict=True))
    turning = [unit[name].position == "rad" for name in variables]
    if not degrees or len(values) != len(turning):
        return values
    return [radians(x) if turns else x for x, turns in zip(values, turning, strict=True)]


def _configuration(robot: Robot, text: str, degrees: bool) -> np.ndarray:
    """The positions of all joints."""
    q = positions(robot, _commas(text), degrees, "--q")
    if len(q) != robot.n:
        raise InputError(f"--q has {len(q)} values; '{robot.name}' has {robot.n} joints")
    return q


def _numbers(name: str, text: str) -> list[float]:
    """Numbers apart by commas or spaces; formulas such as pi/2 are allowed."""
    return numbers(_commas(text), name)


def _given(robot: Robot, solution: Any, values: dict[str, str], q: np.ndarray | None) -> Any:
    """Values of the joints that are given, or of the arm angle: asked for, else those of --q."""
    here = {} if q is None else dict(zip(robot.variables, q.tolist(), strict=True))
    if solution.plane:
        (value,) = values.values()
        if value:
            return _numbers("--free", value)[0]
        return solution.arm_angle([here[name] for name in solution.chain.names]) if here else None
    asked = {solution.chain.index(joint.strip()): value for joint, value in values.items()}
    names = [solution.chain.names[j] for j in solution.free]
    sources = [
        _numbers("--free", asked[j])[0] if asked.get(j) else here.get(name, 0.0)
        for j, name in zip(solution.free, names, strict=True)
    ]
    return None if not sources else sources[0] if len(sources) == 1 else sources


def _in_frame_0(robot: Robot, T: Any, reference: str) -> Any:
    """A pose seen from a frame of the base, or from the world, as one of frame 0."""
    import numpy as np

    from ... import model

    seen = model(robot, "transform", frame=0, reference=reference)
    return np.linalg.inv(np.asarray(seen.evaluate(q=np.zeros(robot.n)))) @ T


def _pose(robot: Robot, pose: str, q: np.ndarray | None, frame: str, reference: str) -> Any:
    """The pose asked for, as a matrix (4, 4), or a point (3)."""
    import numpy as np

    from ... import model
    from ...describe.frames import frame as placed
    from ...describe.frames import rotation_of_rpy

    if bool(pose) == (q is not None):
        raise typer.BadParameter("give a pose with --pose, or joint values with --q: one of both")
    if q is not None:
        program = model(robot, "transform", frame=frame or None, reference=reference)
        return program.evaluate(q=q)
    values = _numbers("--pose", pose)
    if len(values) == 16:
        return np.reshape(values, (4, 4))
    if len(values) == 6:
        return placed(rotation_of_rpy(values[3:], 0.0), values[:3])
    if len(values) == 3:
        return np.array(values)
    raise InputError(
        f"--pose has {len(values)} numbers; expected 16, x y z roll pitch yaw, or x y z"
    )


def _other_ways(
    robot: Robot, solution: Any, T: Any, held: Any, here: np.ndarray | None,
    options: dict[str, Any],
) -> tuple[Any, list[str], str]:  # fmt: skip
    """A pose without an answer is given to the other methods before it is called out of reach: what
    they find and say of it, and why there is nothing."""
    import numpy as np

    from ... import model
    from ...inverse.answer import Configurations

    empty = solution.solve(T, report=True, free=held)
    if solution.method != "general" and not solution.plane:
        joints = [solution.chain.names[j] for j in solution.free] or None
        try:
            general = model(
                robot, "inverse-geometry",
                **{**options, "method": "general", "free": joints},
            )  # fmt: skip
            answer = general.solve(T, report=True, free=held)
        except ModelError:
            answer = empty
        if answer.count:
            return answer, ["the closed form gave nothing here: answers of the general method"], ""
    nearest = solution.reach(T, free=held)
    if robot.constrained:
        return empty, [], f"no configuration: {nearest.text}"
    q = nearest.q if nearest.reached else None
    if here is not None and q is None:
        named = dict(zip(robot.variables, here.tolist(), strict=True))
        q = np.array([named[name] for name in solution.variables])
    if q is None:
        return empty, [], f"no configuration: the pose is out of reach; {nearest.text}"
    gap = float(np.abs(solution.chain.numeric(solution.defaults).pose(q) - T).max())
    if here is not None and gap > 1e-6:  # other values of the joints that are given than --q has
        return empty, [], f"no configuration: {nearest.text or 'other joint values are given'}"
    one = np.ones(1, np.int64)
    why = "the method gave nothing here: one configuration, there may be others"
    return Configurations(q[None], one[0], np.array([gap]), one < 1, one), [why], ""


def _print(
    solution: Any, T: Any, answer: Any, reason: str, json: bool, notes: Sequence[str] = ()
) -> None:
    """The configurations; where there is none, an error with the reason, after the JSON."""
    count = int(answer.count)
    rows: list[dict[str, Any]] = [
        {
            "q": [float(x) for x in answer.q[k]],
            "residual": float(answer.residual[k]),
            "singular": bool(answer.singular[k]),
            "multiplicity": int(answer.multiplicity[k]),
        }
        for k in range(count)
    ]
    if json:
        print_json({
            "robot": solution.chain.robot, "frame": solution.chain.frame,
            "method": solution.method, "reason": solution.reason,
            "variables": list(solution.variables), "pose": T.tolist(), "configurations": rows,
            "remarks": [*solution.remarks, *notes, *([] if rows else [reason])],
        })  # fmt: skip
    if not rows:
        raise InputError(reason)
    if json:
        return
    print_text(f"{solution.chain.robot}, frame {solution.chain.frame}: method {solution.method}")
    print_text(f"({solution.reason})")
    for note in (*solution.remarks, *notes):
        print_text(note)
    table = [
        [k, *(f"{x:z.6f}" for x in row["q"]), f"{row['residual']:.1e}", _remark(row)]
        for k, row in enumerate(rows, 1)
    ]
    print_table("", ["", *solution.variables, "residual", ""], table)


def _remark(row: dict[str, Any]) -> str:
    times = f", {row['multiplicity']} solutions coincide" if row["multiplicity"] > 1 else ""
    return f"singular{times}" if row["singular"] else ""


def _numerically(
    robot: Robot, T: Any, frame: str, start: list[float] | None, limits: bool,
    tolerance: dict[str, Any], json: bool,
) -> None:  # fmt: skip
    from ... import inverse_kinematics

    result = inverse_kinematics(robot, T, frame or None, guess=start, limits=limits, **tolerance)
    q = [float(x) for x in result.q]
    done, residual = bool(result.converged), float(result.residual)
    if json:
        print_json({
            "robot": robot.name, "method": "numeric", "variables": list(robot.variables),
            "pose": T.tolist(), "q": q, "residual": residual, "converged": done,
            "iterations": int(result.iterations),
        })  # fmt: skip
    if not done:
        raise InputError(
            f"no configuration: the iteration did not converge, and misses the pose by"
            f" {residual:.3g}", remedy="is the pose out of reach? else give a start with --guess",
        )  # fmt: skip
    if json:
        return
    print_text(f"{robot.name}: numerical, converged after {int(result.iterations)} iterations")
    row = [*(f"{x:z.6f}" for x in q), f"{residual:.1e}"]
    print_table("", [*robot.variables, "residual"], [row])
