"""What the page can ask for, as functions of plain data: JSON in, JSON out.

Each takes the question and `say`, which reports progress. The robot comes as .toml text."""

from __future__ import annotations

import base64
import importlib
import io
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....catalogue import MENU, model
from ....describe.files import accepted, read_bytes
from ....describe.robot import Robot
from ....errors import CardanError, InputError, UnknownNameError
from ....program import Program
from .questions import Data, Say

if TYPE_CHECKING:
    from ....emit.html import Line
    from ....emit.reading import Reading

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
    options = dict(data.get("options", {}))
    for name, value in options.items():
        kind = entry.options[name].kind if name in entry.options else "text"
        if kind == "vector" and isinstance(value, str):
            options[name] = tuple(part.strip() for part in value.strip("()[] ").split(","))
        if kind == "number" and isinstance(value, str) and value.strip().isdecimal():
            options[name] = int(value)
    return options


def derive(data: Data, say: Say) -> Data:
    """A model: its equations line by line and its cost; the program for other jobs; where a
    language is given, its text in it."""
    robot = robot_of(data)
    say("deriving")
    start = time.perf_counter()
    derived = model(robot, data["model"], **options_of(data))
    answer: Data = {"seconds": time.perf_counter() - start, "parts": {}}
    if data.get("language"):
        answer["parts"][f"code.{data['language']}"] = _code(derived, data["language"])
    if not isinstance(derived, Program):
        equations = derived.equations() if hasattr(derived, "equations") else str(derived)
        return {**answer, "text": str(equations), "lines": 0, "cost": None,
                "emits": _writer(derived) is not None}  # fmt: skip
    say("writing the equations")
    from ....emit.html import lines as lines_of
    from ....emit.reading import reading

    read = reading(derived.readable)
    lines, cost = list(lines_of(read, breakable=True)), derived.cost
    answer["parts"]["lines"] = [
        (x.name, x.reads, x.markup, x.equation.elements if x.equation else ())
        for x in lines[:_MOST_LINES]
    ]
    answer["parts"]["copies"] = _copies(lines[:_MOST_LINES], read)
    answer["parts"]["program"] = derived.to_json()
    return {
        **answer,
        "text": "",
        "lines": len(lines),
        "left_out": max(0, len(lines) - _MOST_LINES),
        "cost": {key: getattr(cost, key) for key in _COLUMNS},
        "once": {key: getattr(derived.once, key) for key in _COLUMNS},
        "remarks": [*_nonzero(derived), *derived.remarks],
        "emits": True,
    }


def _copies(lines: Sequence[Line], read: Reading) -> list[tuple[str, str]]:
    """Each equation as text and in LaTeX; a heading as nothing."""
    from ....emit.latex import LatexNotation, single
    from ....emit.reading.spell import Notation
    from ....emit.text import equation_text

    plain, latex = Notation(), LatexNotation(rates=read.rates)
    return [
        (equation_text(x.equation, plain), single(x.equation, latex)) if x.equation else ("", "")
        for x in lines
    ]


def _nonzero(program: Program) -> list[str]:
    """What the parameters must not be, which matters more than any remark."""
    if not program.nonzero:
        return []
    safe = any(divisor.avoidable for divisor in program.divisors)
    more = "; the option effort: safe gives a model that allows it" if safe else ""
    return [f"Must not be 0, no number comes out then: {', '.join(program.nonzero)}{more}"]


def code(data: Data, say: Say) -> Data:
    """The text of a model in a language, from the program where it was derived before."""
    say("writing the code")
    if data.get("attached"):
        derived: Any = Program.from_json(data["attached"])
    else:
        derived = model(robot_of(data), data["model"], **options_of(data))
    return {"parts": {f"code.{data['language']}": _code(derived, data["language"])}}


def _code(derived: Any, language: str) -> str:
    """The text of a model; of one that is not a program, where it has one in that language."""
    if isinstance(derived, Program):
        return derived.emit(language)
    write = _writer(derived)
    try:
        return str(write(language)) if write else ""
    except CardanError:
        return ""


def _writer(derived: Any) -> Callable[[str], str] | None:
    """What writes a model that is not a program: inverse geometry emits, loops have code."""
    return getattr(derived, "emit", None) or getattr(derived, "code", None)


def program(data: Data, say: Say) -> Data:
    """A model as a program, to be run elsewhere."""
    derived = model(robot_of(data), data["model"], **options_of(data))
    return {"parts": {"program": derived.to_json()}}


def counts(data: Data, say: Say) -> Data:
    """Multiplications (with divisions) and additions of the main models that the robot has: per
    call, then once per parameter set."""
    robot = robot_of(data)
    counted: Data = {}
    for name in _COUNTED:
        say(f"counting {name}")
        try:
            program = model(robot, name)
            cost, once = program.cost, program.once
        except CardanError:
            continue  # the robot has no such model
        counted[name] = [cost.mul + cost.div, cost.add, once.mul + once.div, once.add]
    return {"counts": counted}


def package(data: Data, say: Say) -> Data:
    """A package of models as a zip file."""
    from ....package import write_package

    say("writing the package")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "package")
        written = write_package(
            robot_of(data), [data["model"]], data["kind"], str(target), **options_of(data)
        )
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(target.rglob("*")):
                if path.is_file():
                    archive.write(path, f"{written.name}/{path.relative_to(target).as_posix()}")
    content = base64.b64encode(memory.getvalue()).decode()
    return {"name": f"{written.name}.zip", "parts": {"zip": content}}


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
    values_in = data["inputs"]
    unknown = [name for name in values_in if name not in program.inputs and name not in _STATE]
    if unknown:
        raise UnknownNameError.of("input", unknown[0], program.inputs)
    inputs = {
        name: _input(name, values_in.get(name, []), shape, robot)
        for name, shape in program.inputs.items()
    }
    result = program.evaluate(**inputs)
    names = list(program.outputs)
    values = [result] if len(names) == 1 else list(result)
    return {
        "values": {n: np.asarray(x).tolist() for n, x in zip(names, values, strict=True)},
        "zero": {n: inputs[n].size for n in inputs if n not in values_in},
    }


def _input(name: str, numbers: list[float], shape: tuple[int, ...], robot: Robot) -> np.ndarray:
    """An input of a model: zero where nothing is given, one number for all joints, or all; those
    of elastic coordinates, which come last, may be left out."""
    x, size = np.array(numbers, float), int(np.prod(shape))
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
        answer: Data = function(robot_of(data) if "robot" in data else None, data, say)
        return answer

    return run


FUNCTIONS: dict[str, Callable[[Data, Say], Data]] = {
    "derive": derive,
    "code": code,
    "counts": counts,
    "program": program,
    "package": package,
    "evaluate": evaluate,
    **{name: _from("jobs.motion", name)
       for name in ("motion", "simulation", "comparison", "modes")},
    **{name: _from("jobs.studies", name)
       for name in ("columns", "identification", "excitation", "workspace", "singular", "sheet",
                    "reduction", "tables", "sweep", "linear")},
    **{name: _from("jobs.inverse", name) for name in ("inverse", "assemblies")},
    "opened": _from("files.visuals", "opened"),
}  # fmt: skip
