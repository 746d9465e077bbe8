"""What the page can ask for, as functions of plain data: JSON in, JSON out.

Each takes the question and `say`, which reports progress. The robot comes as .toml text."""

from __future__ import annotations

import base64
import importlib
import io
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ....catalogue import MENU, model
from ....describe.files import accepted, read_bytes
from ....describe.robot import Robot
from ....errors import CardanError, InputError, UnknownNameError
from ....program import Program
from .questions import Data, Say

__all__ = ["FUNCTIONS"]

_MOST_LINES = 20_000
_COLUMNS = ("mul", "add", "div", "trig", "sqrt", "sign")  # of a count
_STATE = ("q", "qd", "qdd", "tau")  # which the form has, whatever the model takes
_COUNTED = (
    "transform", "jacobian", "inverse-dynamics", "inertia-matrix", "bias", "direct-dynamics",
    "regressor",
)  # fmt: skip


def robot_of(data: Data) -> Robot:
    robot = accepted(*read_bytes(data["robot"].encode(), "robot.toml"), "robot.toml")
    values = {name: x for name, x in data.get("values", {}).items() if name in robot.parameters}
    return robot.with_values(values) if values else robot


def options_of(data: Data) -> Data:
    """The options of the question as the catalogue types them."""
    entry = MENU.get(data["model"])
    if entry is None:
        raise UnknownNameError.of("model", data["model"], MENU)
    found = dict(data.get("options", {}))
    for name, value in found.items():
        kind = entry.options[name].kind if name in entry.options else "text"
        if kind == "vector" and isinstance(value, str):
            found[name] = tuple(part.strip() for part in value.strip("()[] ").split(","))
    return found


def derive(data: Data, say: Say) -> Data:
    """A model: its equations line by line and its cost; the program for other jobs; where a
    language is given, its text in it."""
    robot = robot_of(data)
    say("deriving")
    start = time.perf_counter()
    found = model(robot, data["model"], **options_of(data))
    answer: Data = {"seconds": time.perf_counter() - start, "parts": {}}
    if data.get("language"):
        answer["parts"][f"code.{data['language']}"] = _code(found, data["language"])
    if not isinstance(found, Program):
        equations = found.equations() if hasattr(found, "equations") else str(found)
        return {**answer, "text": str(equations), "lines": 0, "cost": None,
                "emits": _writer(found) is not None}  # fmt: skip
    say("writing the equations")
    from ....emit.html import equations as lines_of

    lines, cost = lines_of(found), found.cost
    answer["parts"]["lines"] = [[x.name, list(x.reads), x.mathml] for x in lines[:_MOST_LINES]]
    answer["parts"]["program"] = found.to_json()
    return {
        **answer,
        "text": "",
        "lines": len(lines),
        "left_out": max(0, len(lines) - _MOST_LINES),
        "cost": {key: getattr(cost, key) for key in _COLUMNS},
        "once": {key: getattr(found.once, key) for key in _COLUMNS},
        "remarks": list(found.remarks),
        "emits": True,
    }


def code(data: Data, say: Say) -> Data:
    """The text of a model in a language, from the program where it was derived before."""
    say("writing the code")
    if data.get("attached"):
        found: Any = Program.from_json(data["attached"])
    else:
        found = model(robot_of(data), data["model"], **options_of(data))
    return {"parts": {f"code.{data['language']}": _code(found, data["language"])}}


def _code(found: Any, language: str) -> str:
    """The text of a model; of one that is not a program, where it has one in that language."""
    if isinstance(found, Program):
        return found.emit(language)
    write = _writer(found)
    try:
        return str(write(language)) if write else ""
    except CardanError:
        return ""


def _writer(found: Any) -> Callable[[str], str] | None:
    """What writes a model that is not a program: inverse geometry emits, loops have code."""
    return getattr(found, "emit", None) or getattr(found, "code", None)


def counts(data: Data, say: Say) -> Data:
    """Multiplications (with divisions) and additions of the main models that the robot has: per
    call, then once per parameter set."""
    robot = robot_of(data)
    found: Data = {}
    for name in _COUNTED:
        say(f"counting {name}")
        try:
            program = model(robot, name)
            cost, once = program.cost, program.once
        except CardanError:
            continue  # the robot has no such model
        found[name] = [cost.mul + cost.div, cost.add, once.mul + once.div, once.add]
    return {"counts": found}


def package(data: Data, say: Say) -> Data:
    """A package of models as a zip file."""
    from ....package import write_package

    say("writing the package")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "package")
        found = write_package(
            robot_of(data), [data["model"]], data["kind"], str(target), **options_of(data)
        )
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(target.rglob("*")):
                if path.is_file():
                    archive.write(path, f"{found.name}/{path.relative_to(target).as_posix()}")
    content = base64.b64encode(memory.getvalue()).decode()
    return {"name": f"{found.name}.zip", "parts": {"zip": content}}


def evaluate(data: Data, say: Say) -> Data:
    """A model at one state; inputs that are not given are zero."""
    robot = robot_of(data)
    program = model(robot, data["model"], **options_of(data))
    if not isinstance(program, Program):
        raise InputError(f"'{data['model']}' is not a program of numbers")
    if program.parameters:
        few = ", ".join(program.parameters[:8])
        raise InputError(f"{len(program.parameters)} symbols have no value yet ({few} ...)")
    say("evaluating")
    given = data["inputs"]
    unknown = [name for name in given if name not in program.inputs and name not in _STATE]
    if unknown:
        raise UnknownNameError.of("input", unknown[0], program.inputs)
    inputs = {
        name: _input(name, given.get(name, []), shape, robot)
        for name, shape in program.inputs.items()
    }
    found = program.evaluate(**inputs)
    names = list(program.outputs)
    values = [found] if len(names) == 1 else list(found)
    return {
        "outputs": {n: np.asarray(x).tolist() for n, x in zip(names, values, strict=True)},
        "zero": {n: inputs[n].size for n in inputs if n not in given},
    }


def _input(name: str, given: list[float], shape: tuple[int, ...], robot: Robot) -> np.ndarray:
    """An input of a model: zero where nothing is given, one number for all joints, or all; those
    of elastic coordinates, which come last, may be left out."""
    x, size = np.array(given, float), int(np.prod(shape))
    joints = size - robot.ne if name in _STATE and size > robot.ne else size
    if x.size in (0, 1):
        x = np.full(joints, x[0] if x.size else 0.0)
    if x.size == joints:
        x = np.pad(x, (0, size - joints))
    if x.size != size:
        form = f" ({' x '.join(map(str, shape))})" if len(shape) > 1 else ""
        raise InputError(f"{name}: {x.size} numbers were given; this model takes {size}{form}")
    return x.reshape(shape)


def _from(module: str, name: str) -> Callable[[Data, Say], Data]:
    """A function of another module, which is imported by the job that needs it."""

    def run(data: Data, say: Say) -> Data:
        function = getattr(importlib.import_module(f"cardan.app.web.{module}"), name)
        found: Data = function(robot_of(data) if "robot" in data else None, data, say)
        return found

    return run


FUNCTIONS: dict[str, Callable[[Data, Say], Data]] = {
    "derive": derive,
    "code": code,
    "counts": counts,
    "package": package,
    "evaluate": evaluate,
    **{name: _from("jobs.motion", name)
       for name in ("motion", "simulation", "identification", "modes")},
    "inverse": _from("jobs.inverse", "inverse"),
    "opened": _from("files.visuals", "opened"),
}  # fmt: skip
