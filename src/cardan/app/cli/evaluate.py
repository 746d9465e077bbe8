"""The command that evaluates a model at one state: eval."""

from __future__ import annotations

import warnings
from math import prod
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import CardanWarning, InputError, UnknownNameError
from .arguments import (
    BaseInertia,
    CutLoops,
    Degrees,
    Floating,
    Json,
    ModelName,
    RobotName,
    Settings,
    numbers,
)
from .options import flag_of, inputs_of, options_of, values_of
from .output import print_json, print_table, print_text
from .sources import open_robot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from ...describe.robot import Robot

OPEN = 1e-4  # rad, or of the robot's size: what positions of a few digits leave


def evaluate(
    ctx: typer.Context,
    robot: RobotName,
    model: ModelName,
    source: Annotated[
        str,
        typer.Option(
            "--input", metavar="FILE",
            help="Inputs that are not given: .json, or a table of one row, columns q1, q2, ...",
        ),
    ] = "",
    degrees: Degrees = False,
    setting: Settings = None,
    tree: CutLoops = False,
    floating: Floating = False,
    base_inertia: BaseInertia = "",
    json: Json = False,
) -> None:  # fmt: skip
    """Evaluate a model at one state.

    Inputs are given as --name values: `--q 0,0.5,1 --qd 0`. Values are numbers or formulas with
    commas, matrices row by row; one value stands for all. Options of the model too."""
    from ...catalogue import model as derive

    options = values_of(ctx, model)
    described = open_robot(robot, setting, tree=tree, floating=floating, base_inertia=base_inertia)
    program: Any = derive(described, model, **options)
    if not hasattr(program, "evaluate"):
        raise InputError(
            f"'{model}' is no program: it has no value at one state",
            remedy="cardan ik and cardan loops solve; cardan generate prints it",
        )
    read = _file(source, program.inputs, program.parameters) if source else {}
    inputs = {**read, **_given(ctx, program.inputs, options_of(model))}
    if degrees and "q" in inputs:
        inputs["q"] = _radians(described, inputs["q"])
    _require_all(program, inputs)
    result = program.evaluate(**inputs)
    values = [result] if len(program.outputs) == 1 else list(result)
    outputs = dict(zip(program.outputs, values, strict=True))
    _warn(described, inputs, outputs)
    if json:
        print_json({
            "robot": described.name, "model": model,
            "inputs": {k: x if isinstance(x, dict) else x.tolist() for k, x in inputs.items()},
            "outputs": {name: x.tolist() for name, x in outputs.items()},
        })  # fmt: skip
        return
    for name, x in outputs.items():
        _print(name, x)


def _warn(robot: Robot, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    """Say of values that they are of no state of the robot, or not finite."""
    import numpy as np

    from ...loops.numeric import equations, loop_symbols

    q = inputs.get("q", ())
    if robot.loops and len(q) == robot.n and not loop_symbols(robot):
        gap = float(equations(robot).error(q[None])[0])
        if gap > OPEN:
            warnings.warn(
                f"--q leaves the loops of '{robot.name}' open by {gap:.2g} (rad, or of the robot's"
                " size): the values are of no state of it; cardan loops closes them",
                CardanWarning, stacklevel=2,
            )  # fmt: skip
            return
    if names := [name for name, x in outputs.items() if not np.isfinite(x).all()]:
        warnings.warn(
            f"{', '.join(names)}: not finite; the robot is singular at this state",
            CardanWarning, stacklevel=2,
        )  # fmt: skip


def _given(
    ctx: typer.Context, shapes: Mapping[str, tuple[int, ...]], options: Iterable[str]
) -> dict[str, Any]:
    """The inputs of the command line as arrays; options: those of the model."""
    inputs = {}
    for written, text in inputs_of(ctx).items():
        name = written if written in shapes else written.replace("-", "_")
        if name not in shapes:
            names = [*map(flag_of, (*shapes, *options))]
            ctx.fail(str(UnknownNameError.of("input or option", f"--{written}", names)))
        inputs[name] = _shaped(f"--{name}", numbers(text, f"--{name}"), shapes[name])
    return inputs


def _shaped(what: str, values: list[float], shape: tuple[int, ...]) -> np.ndarray:
    """So many values, or one for all."""
    import numpy as np

    if len(values) == 1:
        return np.full(shape, values[0])
    if len(values) != prod(shape):
        rows = f", {shape[0]} rows of {shape[1]}" if len(shape) == 2 else ""
        raise InputError(f"{what} has {len(values)} values; expected {prod(shape)}{rows}")
    return np.reshape(values, shape)


def _radians(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Positions whose angles were given in degrees; what follows the joints is no angle."""
    import numpy as np

    from ...motion.joints import units

    factors = np.ones(len(q))
    factors[: robot.n] = [np.pi / 180 if x.position == "rad" else 1.0 for x in units(robot)]
    return np.asarray(q * factors)


def _require_all(program: Any, inputs: Mapping[str, Any]) -> None:
    """Name every input that has no value; parameters that have none are named by the model."""
    missing = [name for name in program.inputs if name not in inputs and name != "p"]
    if missing:
        words = [f"--{name} ({prod(program.inputs[name])} values)" for name in missing]
        raise InputError(
            f"'{program.model}' of '{program.robot}' has {len(missing)} inputs without a value:"
            f" {', '.join(words)}",
            remedy="give them, or a file that holds them with --input",
        )


def _file(
    path: str, shapes: Mapping[str, tuple[int, ...]], parameters: tuple[str, ...]
) -> dict[str, Any]:
    """The inputs that a file holds: a JSON object of lists, or a table of one row."""
    import numpy as np

    if path.lower().endswith(".json"):
        return _json(path, shapes)
    from ...motion.tables import read_table

    table = read_table(path)
    rows = len(next(iter(table.values()), []))
    if rows != 1:
        raise InputError(
            f"the table has {rows} rows; one state is evaluated here", where=path,
            remedy="cardan sweep evaluates every row of a table",
        )  # fmt: skip
    inputs: dict[str, Any] = {}
    for name, shape in shapes.items():
        columns = [f"{name}{k}" for k in range(1, prod(shape) + 1)]
        if name != "p" and all(column in table for column in columns):
            inputs[name] = np.reshape([table[column][0] for column in columns], shape)
    known = {name: float(table[name][0]) for name in parameters if name in table}
    return {**inputs, "p": known} if known else inputs


def _json(path: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    import json
    from pathlib import Path

    import numpy as np

    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise ValueError("it holds no object of inputs by name")
        lists = {str(name): np.ravel(np.asarray(x, float)).tolist() for name, x in data.items()}
    except (OSError, ValueError, TypeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"cannot be read: {why}", where=path) from None
    return {name: _shaped(f"{path}: {name}", x, shapes[name]) for name, x in lists.items()
            if name in shapes}  # fmt: skip


def _print(name: str, x: np.ndarray) -> None:
    """An output: a number, a row, or a matrix; of more axes one matrix after the other."""
    if not x.ndim:
        print_text(f"{name} = {float(x):.10g}")
        return
    rows = x.reshape(-1, x.shape[-1])
    leads = ["/".join(str(k + 1) for k in _place(i, x.shape[:-1])) for i in range(len(rows))]
    head = [name, *map(str, range(1, x.shape[-1] + 1))]
    print_table(
        "",
        head,
        [[lead, *(f"{v:.10g}" for v in row)] for lead, row in zip(leads, rows, strict=True)],
    )
    print_text()


def _place(i: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    import numpy as np

    return tuple(int(k) for k in np.unravel_index(i, shape)) if shape else ()
