"""A unit of FMI 3.0 of the direct dynamics, for model exchange and co-simulation."""

from __future__ import annotations

import hashlib
import io
import uuid
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..describe.robot import Robot
from ..errors import ModelError
from .c import prototype
from .compiler import build_shared, platform_tuple
from .fmu_xml import STEP, Variable, description, inputs, positions, variables
from .folder import Files
from .plan import Function, Plan, Wanted
from .reference import TOLERANCE, arrays_of, difference
from .template import template
from .text import braced, number, numbers, readme

__all__ = ["files", "models"]

Run = Callable[[Mapping[str, Any]], dict[str, np.ndarray]]
Motion = tuple[int, np.ndarray]  # communication steps, q and qd after them
_STEPS, _SIZE = (20, 5, 1), 0.002  # of the test of co-simulation: how many, s
_SHORTER = 4  # steps of integration that are tried
_FINE = 1e-5  # relative difference of one communication step, by a step and a fifth of it
_FAR = 1e6  # what a motion of the test does not reach


def models(robot: Robot, wanted: list[Wanted]) -> list[Wanted]:
    """The direct dynamics, which has to be asked for alone."""
    given = [item if isinstance(item, str) else item[0] for item in wanted]
    if given != ["direct-dynamics"]:
        raise ModelError(
            f"an FMU is made of the model 'direct-dynamics' alone, not of {', '.join(given)}"
        )
    if robot.base.kind != "fixed":
        raise ModelError(
            f"no FMU of '{robot.name}': its base is {robot.base.kind}; an FMU needs a fixed base"
        )
    if robot.constrained:
        what = "closed loops" if robot.loops else "coupled joints"
        raise ModelError(
            f"no FMU of '{robot.name}': it has {what}, whose passive positions an integrator"
            " would let drift apart; cardan.simulate keeps them closed, and the packages c and cpp"
            " take 'direct-dynamics' and 'loop-kinematics' for an integrator of your own"
        )
    return wanted


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The unit and what it is made of."""
    function = plan.functions[0]
    missing = [x for x in function.program.parameters if x not in function.program.defaults]
    if missing:
        raise ModelError(
            f"no FMU of '{plan.robot.name}': {len(missing)} parameters have no start value "
            f"({', '.join(missing[:8])}): give them one with_values({{...}}); the option "
            "symbolic=True then keeps them as parameters of the unit"
        )
    step, motion = _motion(function)
    found = variables(plan, function, step)
    token = _token(description(plan, found, ""), function)
    sources, xml = _sources(plan, function, token, step), description(plan, found, token)
    built = build_shared(plan.name, sources, ("FMI3_OVERRIDE_FUNCTION_PREFIX",))
    unit: dict[str, str | bytes] = {
        "modelDescription.xml": xml,
        **{f"sources/{name}": text for name, text in sources.items()},
        "sources/buildDescription.xml": _build_description(plan, sources),
    }
    binary = {} if isinstance(built, str) else {f"binaries/{platform_tuple()}/{built[0]}": built[1]}
    if isinstance(built, str):
        note = f"{plan.name}.fmu holds sources and no binary: {built}"
    else:
        note = f"{plan.name}.fmu holds sources and a binary for {platform_tuple()}"
    c_files = " ".join(f"sources/{name}" for name in sources if name.endswith(".c"))
    return {
        "README.md": _readme(plan, found, step, motion, note),
        f"{plan.name}.fmu": _zipped({**unit, **binary}),
        "CMakeLists.txt": template("fmu/CMakeLists.txt", name=plan.name, sources=c_files),
        **unit,
        f"test/test_{plan.name}.c": _test(function, motion),
    }, (note,)


def _token(xml: str, function: Function) -> str:
    """A name for this very model: another description or another code has another."""
    digest = hashlib.sha256(f"{xml}{function.emit('c')}".encode()).digest()
    return f"{{{uuid.UUID(bytes=digest[:16])}}}"


def _sources(plan: Plan, function: Function, token: str, step: float) -> dict[str, str]:
    names, first = {"q": "q", "qd": "qd", "p": "p"}, 0
    for array in inputs(function):
        names[array.name] = f"u + {first}" if first else "u"
        first += array.size
    given = ", ".join([*(names[array.name] for array in function.inputs), "qdd"])
    values = [function.program.defaults[name] for name in function.program.parameters]
    model = template(
        "fmu/model.h", name=plan.name, token=token, step=repr(step), nu=first,
        nq=positions(function), np=len(values), p=", ".join(repr(float(x)) for x in values) or "0",
        prototype=prototype(function), call=f"{function.name}({given});",
    )  # fmt: skip
    return {
        "model.h": model,
        "cardan_fmi3.h": template("fmu/cardan_fmi3.h"),
        "fmu.c": template("fmu/fmu.c"),
        "absent.c": template("fmu/absent.c"),
        f"{function.name}.c": function.emit("c"),
    }


def _build_description(plan: Plan, sources: dict[str, str]) -> str:
    lines = [f'      <SourceFile name="{name}"/>' for name in sources if name.endswith(".c")]
    return template("fmu/buildDescription.xml", name=plan.name, files="\n".join(lines))


def _zipped(content: dict[str, str | bytes]) -> bytes:
    """The same bytes for the same content, whenever it is packed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, data)
    return stream.getvalue()


def _test(function: Function, motion: Motion) -> str:
    rows: dict[str, list[Any]] = {"q": [], "qd": [], "u": [], "qdd": []}
    for example in function.examples:
        rows["q"].append(example.inputs["q"])
        rows["qd"].append(example.inputs["qd"])
        values = [example.inputs[array.name] for array in inputs(function)]
        rows["u"].append(np.concatenate([*values, [0.0]]))
        rows["qdd"].append(example.outputs["qdd"])
    arrays = {name: braced(values, "    ") for name, values in rows.items()}
    steps, after = motion
    return template(
        "fmu/test.c", states=len(function.examples), steps=steps, size=repr(_SIZE),
        after=braced([after], "    ", "", ""), tolerance=f"{TOLERANCE:g}", **arrays,
    )  # fmt: skip


def _motion(function: Function) -> tuple[float, Motion]:
    """A step of the integration, and where the reference is after some steps from the first state:
    a shorter step if the robot is stiff, as one whose links bend, and fewer of them if it falls."""
    ours = partial(arrays_of, function.program)
    with np.errstate(all="ignore"):
        for step in (STEP / 5**k for k in range(_SHORTER)):
            if step < STEP and not _is_fine(function, ours, step):
                continue
            for steps in _STEPS:
                found = _integrated(function, ours, steps, step)
                if not np.abs(found).max() < _FAR:
                    continue
                theirs = _integrated(function, function.reference, steps, step)
                if difference(found, theirs) <= TOLERANCE / 10:
                    return step, (steps, theirs)
    raise ModelError(
        f"'{function.program.robot}' cannot be simulated with steps of {step:g} s from the state of"
        " the test: check its inertias and stiffnesses with `cardan check`"
    )


def _is_fine(function: Function, run: Run, step: float) -> bool:
    """Does a shorter step give the same motion?"""
    return difference(*(_integrated(function, run, 1, h) for h in (step, step / 5))) < _FINE


def _integrated(function: Function, run: Run, steps: int, step: float) -> np.ndarray:
    """q, qd after steps of the method that fmu.c has, with constant inputs."""
    shapes = {array.name: array.shape for array in function.inputs}
    state = {name: x.reshape(shapes[name]) for name, x in function.examples[0].inputs.items()}
    n = state["q"].size

    def slope(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], run({**state, "q": x[:n], "qd": x[n:]})["qdd"]])

    x = np.concatenate([state["q"], state["qd"]])
    count = round(_SIZE / step)
    h = _SIZE / count
    for _ in range(steps * count):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        k4 = slope(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


def _readme(plan: Plan, found: list[Variable], step: float, motion: Motion, note: str) -> str:
    rows = ["| variable | value reference | causality | unit | start |", "|---|---|---|---|---|"]
    for k, x in enumerate(found):
        start = "" if x.start is None else number(x.start)
        rows.append(f"| `{x.name}` | {k} | {x.causality or 'local'} | {x.unit} | {start} |")
    words = template(
        "fmu/motion.md", steps=motion[0], size=repr(_SIZE), step=repr(step),
        after=numbers(motion[1]),
    )  # fmt: skip
    sections = [
        ("Use", template("fmu/use.md", name=plan.name, note=note, step=repr(step))),
        ("Variables", "\n".join(rows)),
        ("A motion", words),
    ]
    return readme(plan, f"{plan.name}: functional mock-up unit", sections)
