"""Units of FMI 3.0 and 2.0 of the direct dynamics, for model exchange and co-simulation, with
directional derivatives: the same sources and the same binary, in two archives."""

from __future__ import annotations

import hashlib
import io
import uuid
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..c import prototype
from ..compiler import build_shared, platform_tuple, second_platform
from ..folder import Files, template
from ..plan import Function, Plan
from ..reference import TOLERANCE
from ..text import braced, number, numbers, readme
from .friction import WIDTH
from .model import Unit, unit_of
from .model import models as models  # that a unit is made of
from .motion import SIZE, Motion, State, motion_of, states_of
from .xml import RATE, Variable, description, variables


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The units and what they are made of."""
    unit = unit_of(plan)
    states = states_of(unit)
    motion = motion_of(unit, states)
    listed = variables(unit, motion.step)
    token = _token(description(plan, listed, ""), unit.sources)
    sources = _sources(unit, token, motion.step)
    built = build_shared(plan.name, sources, ("FMI3_OVERRIDE_FUNCTION_PREFIX",))
    names = [name for name in sources if name.endswith(".c")]
    content: dict[str, str | bytes] = {
        "modelDescription.xml": description(plan, listed, token),
        **{f"sources/{name}": text for name, text in sources.items()},
        "sources/buildDescription.xml": _build_description(plan, names),
    }
    older: dict[str, str | bytes] = {
        **{path: text for path, text in content.items() if not path.endswith(".xml")},
        "modelDescription.xml": description(plan, listed, token, names),
    }
    binaries: list[dict[str, bytes]] = [{}, {}]
    note = f"{plan.name}.fmu (FMI 3.0) and {plan.name}_fmi2.fmu (FMI 2.0) hold sources and"
    if isinstance(built, str):
        note = f"{note} no binary: {built}"
    else:
        note = f"{note} a binary for {platform_tuple()}"
        places = (platform_tuple(), second_platform())
        binaries = [{f"binaries/{place}/{built[0]}": built[1]} for place in places if place]
    c_files = " ".join(f"sources/{name}" for name in names)
    units = {
        f"{plan.name}{ending}.fmu": _zipped({**parts, **binary})
        for ending, parts, binary in zip(("", "_fmi2"), (content, older), binaries, strict=False)
    }
    return {
        "README.md": _readme(unit, listed, motion, note),
        **units,
        "CMakeLists.txt": template("fmu/CMakeLists.txt", name=plan.name, sources=c_files),
        **content,
        "fmi2/modelDescription.xml": older["modelDescription.xml"],
        f"test/test_{plan.name}.c": _test(unit, states, motion),
    }, (note,)


def _token(xml: str, functions: Sequence[Function]) -> str:
    """A name for this very model: another description or another code has another."""
    code = "".join(part.emit("c") for part in functions)
    digest = hashlib.sha256(f"{xml}{code}".encode()).digest()
    return f"{{{uuid.UUID(bytes=digest[:16])}}}"


def _sources(unit: Unit, token: str, step: float) -> dict[str, str]:
    names, first = {x: x for x in ("q", "qd", "p", "V0", "g0", "qdd", "V0d")}, 0
    for array in unit.inputs:
        names[array.name] = f"u + {first}" if first else "u"
        first += array.size
    turned = {**names, **{f"{kind}_{x}": f"d{y}" for x, y in names.items() for kind in "vt"}}
    tangent = unit.along[unit.direct.name]
    base = template("fmu/model_base.h", gravity=_exactly(unit.gravity)) if unit.floating else ""
    model = template(
        "fmu/model.h", name=unit.plan.name, token=token, step=repr(step), rate=repr(RATE), nu=first,
        nq=unit.nq, nv=unit.nv, nf=len(unit.following), nr=unit.closings,
        floating=int(unit.floating), np=len(unit.parameters),
        p=_exactly(unit.parameters.values()) or "0", start=_table(unit.start),
        prototype=prototype(unit.direct), call=_call(unit.direct, names), base=base,
        loops=_loops(unit), tangent=prototype(tangent),
        call_tangent=_call(tangent, turned),
    )  # fmt: skip
    parts = ["model.h", "cardan_fmi3.h", "fmu.c", "fmi2.c", "absent.c"]
    parts += ["base.h"] * unit.floating + ["loops.h"] * (unit.loops is not None)
    return {
        **{name: template(f"fmu/{name}") for name in parts if name != "model.h"},
        "model.h": model,
        **{f"{part.name}.c": part.emit("c") for part in unit.sources},
    }


def _call(function: Function, names: Mapping[str, str]) -> str:
    arrays = (*function.inputs, *function.outputs)
    return f"{function.name}({', '.join(names[array.name] for array in arrays)});"


def _loops(unit: Unit) -> str:
    """What model.h says of closed loops, couplings and wheels."""
    if unit.loops is None:
        return ""
    loops, function = unit.loops, unit.loops.function
    sizes = {array.name: array.shape for array in function.outputs}
    names = {x: x for x in ("q", "qd", "W", "psi", "Wp", "r", "dq_p")}
    own, gather = function.program.parameters, "    (void)p;\n"
    if own:
        every = list(unit.parameters)
        gather = template(
            "fmu/gather.h", count=len(own), places=", ".join(str(every.index(x)) for x in own)
        )
        names["p"] = "own"
    tangent = unit.along[function.name]
    turned = {**names, **{f"v_{x}": f"d{x}" for x in names}, **{f"t_{x}": f"d{x}" for x in names}}
    return template(
        "fmu/model_loops.h", rows=sizes["Wp"][0], columns=sizes["Wp"][1],
        driving=_listed(loops.driving), following=_listed(loops.following),
        held=_listed(int(k in loops.held) for k in range(unit.nq)), reach=_table(loops.reach),
        weights=_table([*loops.weights, 0.0]), owners=_listed([*loops.owners, 0]),
        names=_strings(loops.names or ("none",)), gather=gather,
        prototype=prototype(function), call=_call(function, names),
        tangent=prototype(tangent), call_tangent=_call(tangent, turned),
    )  # fmt: skip


def _exactly(values: Iterable[float]) -> str:
    return ", ".join(repr(float(x)) for x in values)


def _table(values: Iterable[float]) -> str:
    return f"{{{_exactly(values)}}}"


def _listed(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))


def _strings(names: Iterable[str]) -> str:
    """Names of the user as strings of C: letters, digits and spaces."""
    plain = ("".join(c if c.isascii() and c.isalnum() else " " for c in x) for x in names)
    return "{" + ", ".join(f'"{text}"' for text in plain) + "}"


def _build_description(plan: Plan, names: Sequence[str]) -> str:
    lines = [f'      <SourceFile name="{name}"/>' for name in names]
    return template("fmu/buildDescription.xml", name=plan.name, files="\n".join(lines))


def _zipped(content: dict[str, str | bytes]) -> bytes:
    """The bytes of a zip archive, which depend on the content alone and not on the time."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, data)
    return stream.getvalue()


def _test(unit: Unit, states: Sequence[State], motion: Motion) -> str:
    rows: dict[str, list[Any]] = {"x": [], "u": [], "rates": []}
    for state in states:
        rows["x"].append(state.x)
        values = [np.ravel(state.u[array.name]) for array in unit.inputs]
        rows["u"].append(np.concatenate([*values, [0.0]]))
        rows["rates"].append(state.rates)
    arrays = {name: braced(values, "    ") for name, values in rows.items()}
    return template(
        "fmu/test.c", states=len(states), first=motion.state, steps=motion.steps,
        size=repr(SIZE * motion.step), after=braced([motion.after], "    ", "", ""),
        tolerance=f"{TOLERANCE:g}", **arrays,
    )  # fmt: skip


def _readme(unit: Unit, listed: list[Variable], motion: Motion, note: str) -> str:
    rows = ["| variable | value reference | causality | unit | start |", "|---|---|---|---|---|"]
    for k, x in enumerate(listed):
        start = "" if x.start is None else number(x.start)
        rows.append(f"| `{x.name}` | {k} | {x.causality or 'local'} | {x.unit} | {start} |")
    step = repr(motion.step)
    words = template(
        "fmu/motion.md", first=motion.state + 1, steps=motion.steps,
        size=repr(SIZE * motion.step), step=step, after=numbers(motion.after),
    )  # fmt: skip
    plan = unit.plan
    sections = [
        ("Use", template("fmu/use.md", name=plan.name, note=note, step=step, width=f"{WIDTH:g}")),
        *([("Closed loops", template("fmu/loops.md", rate=repr(RATE)))] * (unit.closings > 0)),
        *([("Wheels", template("fmu/wheels.md"))] * bool(plan.robot.wheels)),
        *([("Floating base", template("fmu/base.md"))] * unit.floating),
        ("Variables", "\n".join(rows)),
        ("A motion", words),
    ]
    return readme(plan, f"{plan.name}: functional mock-up unit", sections)
