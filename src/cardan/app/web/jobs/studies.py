"""What jobs find out about a robot: identification, exciting motions, workspace, singularities,
sheets, reduced models, sweeps, linear systems. Answers are made of parts, as those of motions."""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ....catalogue import model
from ....errors import CardanError, InputError
from ....mechanism.frames import frame_of
from ....motion.joints import require_numbers
from .. import WORDS
from .motion import as_csv, attached_files, bandwidth_of, loaded, planned
from .questions import Data, Say, vector

_POINTS = 4000  # of a map, sent to the page
_SHOWN = 400  # instants sent to the page
_MOST = 2_000_000  # configurations, or states of a sweep


def _logs(data: Data, folder: str) -> list[Path]:
    paths = attached_files(data, folder)
    if not paths:
        raise InputError("upload a log first: .csv, .parquet, .mat, a ROS bag")
    names = ["log", "validation"]
    return [path.rename(path.with_stem(name)) for path, name in zip(paths, names, strict=False)]


def columns(robot: Any, data: Data, say: Say) -> Data:
    """The columns of a log, by name, and how many rows it has."""
    from ....identification.read.logs import read_recording

    with tempfile.TemporaryDirectory() as folder:
        try:
            recording = read_recording(_logs(data, folder)[0])
        except CardanError as error:
            raise InputError(error.told(WORDS).replace(f"{folder}{os.sep}", "")) from None
        rows = len(next(iter(recording.columns.values()), ()))
        return {"columns": list(recording.columns), "rows": rows}


def identification(robot: Any, data: Data, say: Say) -> Data:
    """Parameters from an uploaded log: the report as a page, torques measured and predicted, and
    the identified robot. A second file is a log that is only predicted."""
    from ....describe.files import dumps
    from ....identification import identify

    with tempfile.TemporaryDirectory() as folder:
        log, *validation = map(str, _logs(data, folder))
        hidden = f"{folder}{os.sep}"  # where it is says nothing to the user
        try:
            result = identify(robot, log, data.get("recipe") or None, progress=say,
                              validation=validation or None)  # fmt: skip
        except CardanError as error:
            raise InputError(error.told(WORDS).replace(hidden, "")) from None
        say("writing the report")
        report = Path(folder, "report.html")
        result.report(report)
        page = report.read_text(encoding="utf-8").replace(hidden, "")
    errors = [[role, f"{100 * x:.3g} %"] for role, x in result.errors.items()]
    return {
        "tables": [{"heads": ["prediction of", "relative error"], "rows": errors}],
        "charts": [x for stretch in result.curves for x in _predicted(robot, result, stretch)],
        "report": page, "robot": dumps(result.robot, "toml"),
    }  # fmt: skip


def _predicted(robot: Any, result: Any, stretch: Any) -> list[Data]:
    """Torques of one stretch, measured and predicted, a chart for each joint; instants that cannot
    be believed are left out."""
    W = np.asarray(stretch.W)
    predicted = (W @ result.K).reshape(stretch.y.shape)
    rows = np.unique(np.linspace(0, len(stretch.t) - 1, min(len(stretch.t), _SHOWN)).astype(int))
    believed = np.asarray(stretch.valid)[rows].reshape(len(rows), -1)
    charts = []
    for j in range(stretch.y.shape[1]):
        sound = believed[:, min(j, believed.shape[1] - 1)].astype(bool)
        charts.append({
            "title": f"{stretch.role}: torque {j + 1}", "unit": "N m or N",
            "t": stretch.t[rows][sound].tolist(), "strong": "measured",
            "curves": {"measured": stretch.y[rows, j][sound].tolist(),
                       "predicted": predicted[rows, j][sound].tolist()},
        })  # fmt: skip
    return charts


def excitation(robot: Any, data: Data, say: Say) -> Data:
    """A motion that excites the dynamic parameters."""
    from ....identification import excite

    options = {key: data[key] for key in ("period", "harmonics", "criterion", "velocity",
               "acceleration", "starts", "iterations", "seed", "rate")
               if data.get(key) not in (None, "", [])}  # fmt: skip
    for key in ("harmonics", "starts", "iterations", "seed"):
        if key in options:
            options[key] = int(options[key])
    for key in ("velocity", "acceleration"):
        if len(options.get(key, ())) == 1:
            options[key] = options[key][0]
    design = excite(robot, progress=say, **options)
    whole = design.whole
    rows = np.unique(np.linspace(0, len(whole.t) - 1, _SHOWN).astype(int))
    names = robot.variables

    def chart(title: str, x: np.ndarray, **more: Any) -> Data:
        return {
            "title": title,
            "curves": dict(zip(names, x[rows].T.tolist(), strict=False)),
            **more,
        }

    charts = [
        chart("positions", whole.q, quantity="q"),
        chart("velocities", whole.qd, quantity="qd"),
    ]
    table = whole.columns()
    if design.torque is not None:
        charts.append(chart("torques", design.torque, unit="N m or N"))
        table |= {f"tau{j}": x for j, x in enumerate(design.torque.T, 1)}
    return {
        "says": f"condition number {design.condition:.4g}", "t": whole.t[rows].tolist(),
        "q": whole.q[rows].tolist(), "charts": charts,
        "files": {"exciting-motion.csv": "All columns"},
        "parts": {"exciting-motion.csv": as_csv(table)},
    }  # fmt: skip


def workspace(robot: Any, data: Data, say: Say) -> Data:
    """Where a frame can be: figures, two views coloured by a measure, the points."""
    from ....motion.workspace import workspace as reached

    samples = int(data.get("samples") or 20_000)
    if not 1 <= samples <= _MOST:
        raise InputError(f"1 to {_MOST} configurations can be tried")
    say("trying configurations")
    space = reached(robot, samples, frame=data.get("frame") or None,
                    assemblies=str(data.get("assemblies") or "home"))  # fmt: skip
    name = str(data.get("measure") or "manipulability")
    say("measuring")
    shades = space.measure(name)
    facts = space.table()
    unit = {1: "m", 2: "m²", 3: "m³"}[facts["dimensions"]]
    rows = [
        ["frame", frame_of(robot, data.get("frame") or None).name],
        ["distance from the base", f"{facts['nearest']:.4g} to {facts['farthest']:.4g} m"],
        *([axis, f"{low:.4g} to {high:.4g} m"]
          for axis, low, high in zip("xyz", facts["lowest"], facts["highest"], strict=True)),
        ["reached", f"{facts['volume']:.4g} {unit}"], ["holes", f"{facts['holes']:.4g} {unit}"],
        [f"{name}, least and largest", f"{shades.min():.4g} to {shades.max():.4g}"],
    ]  # fmt: skip
    some = np.linspace(0, len(space.points) - 1, min(len(space.points), _POINTS)).astype(int)
    some = some[np.argsort(shades[some])]
    shade = shades[some]
    maps = [
        {"title": f"{'xyz'[h]} and {'xyz'[v]}", "x": "xyz"[h], "y": "xyz"[v], "unit": "m",
         "value": name, "most": float(np.quantile(shade, 0.98)),
         "points": np.column_stack([space.points[some][:, [h, v]], shade]).round(5).tolist()}
        for h, v in space.views
    ]  # fmt: skip
    csv = dict(zip("xyz", space.points.T, strict=True))
    csv |= {f"q{j}": x for j, x in enumerate(space.q.T, 1)} | {name: shades}
    return {
        "tables": [{"heads": ["", ""], "rows": rows}], "maps": maps,
        "files": {"workspace.csv": "All points"}, "parts": {"workspace.csv": as_csv(csv)},
    }  # fmt: skip


def singular(robot: Any, data: Data, say: Say) -> Data:
    """The singular configurations: the determinant in factors, and what each means."""
    from ....build.singularities.listing import singularities

    say("factorising the determinant")
    listed = singularities(
        robot, frame=data.get("frame") or None, rows=str(data.get("rows") or "") or None,
        tool=tuple(part.strip() or "0" for part in str(data.get("tool") or "0,0,0").split(",")),
    )  # fmt: skip
    rows = [[x.name, x.text, x.zero, x.meaning] for x in listed.factors]
    return {
        "tables": [{"heads": ["", "factor", "zero where", "meaning"], "rows": rows}],
        "texts": {"Determinant": listed.equations("text")},
        "files": {"singularities.tex": "In LaTeX"},
        "parts": {"singularities.tex": _encoded(listed.equations("latex"))},
    }  # fmt: skip


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def sheet(robot: Any, data: Data, say: Say) -> Data:
    """A robot and its models on a few pages, as a file."""
    from ....sheets.sheet import sheet as written

    form = str(data.get("form", "html"))
    if form not in ("html", "pdf", "tex"):
        raise InputError("a sheet is written as html, pdf or tex")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"sheet.{form}")
        written(robot, path, begin=say)
        content = path.read_bytes()
    answer: Data = {"files": {path.name: f"{len(content) / 1000:.0f} kB"},
                    "parts": {path.name: base64.b64encode(content).decode()}}  # fmt: skip
    return {**answer, "report": content.decode()} if form == "html" else answer


def reduction(robot: Any, data: Data, say: Say) -> Data:
    """A model without the terms that hardly count on a motion, its error, and its code."""
    from ....control.reduced import reduce_model

    robot = loaded(robot, data)
    moved = planned(robot, data, vector(data, "q", robot.n))
    require_numbers(robot, "a reduced model")
    say("deriving")
    program = model(robot, str(data.get("model") or "inverse-dynamics"))
    say("leaving out terms")
    reduced = reduce_model(program, moved, float(data.get("tolerance") or 1) / 100)
    rows = [
        ["terms left out", str(len(reduced.dropped))],
        ["operations before", f"{reduced.before.total}"],
        ["operations after", f"{reduced.after.total}"],
        ["saved", f"{100 * reduced.saved:.3g} %"],
        ["largest error, of the largest value", f"{100 * reduced.error:.3g} %"],
    ]
    language = str(data.get("language") or "c")
    file = f"reduced.{language}" if language == "c" else f"reduced-{language}.txt"
    return {
        "tables": [{"heads": ["", ""], "rows": rows}], "files": {file: "Code"},
        "parts": {file: _encoded(reduced.program.emit(language))},
    }  # fmt: skip


def tables(robot: Any, data: Data, say: Say) -> Data:
    """Inverse dynamics from tables of its coefficients, beside itself and what is left of it."""
    from ....control.table_code import side_by_side, table_code
    from ....control.tabulated import tabulate

    sizes = [int(data.get("points") or 8) * k for k in (1, 2)]
    degree, tolerance = int(data.get("degree") or 3), float(data.get("tolerance") or 1) / 100
    say("evaluating the tables")
    rows = side_by_side(robot, sizes, degree=degree, tolerance=tolerance)
    return {
        "tables": [{
            "heads": ["inverse dynamics", "kB", "operations", "largest relative error"],
            "rows": [[row["model"], f"{row['bytes'] / 1000:,.0f}", f"{row['operations']:,}",
                      f"{row['error']:.2g}"] for row in rows],
        }],
        "files": {"tables.c": f"C of {sizes[0]} points"},
        "parts": {"tables.c": _encoded(table_code(tabulate(robot, sizes[0], degree=degree)))},
    }  # fmt: skip


def sweep(robot: Any, data: Data, say: Say) -> Data:
    """A model for every row of a table, or for states drawn within the limits."""
    from ....motion.tables import read_table
    from ....sweeps.sweep import sweep as swept

    say("deriving")
    program: Any = model(robot, data["model"])
    if not hasattr(program, "to_json"):
        raise InputError(f"'{data['model']}' is no program: it cannot be evaluated row by row")
    states = int(data.get("states") or 0)
    say("evaluating")
    with tempfile.TemporaryDirectory() as folder:
        files = attached_files(data, folder)
        if not files and not 0 < states <= _MOST:
            raise InputError(f"choose a table, or 1 to {_MOST} states to be drawn")
        inputs = dict(read_table(files[0])) if files else _drawn(program, robot, states)
    result = swept(program, inputs)
    table, facts = dict(inputs), []
    for name, x in (result.arrays or {}).items():
        flat = np.asarray(x).reshape(result.rows, -1)
        for k, column in enumerate(flat.T, 1):
            label = f"{name}{k}" if flat.shape[1] > 1 else name
            table[label] = column
            figures = (column.min(), column.mean(), column.max())
            facts.append([label, *(f"{y:.4g}" for y in figures)])
    return {
        "says": f"{result.rows} rows",
        "tables": [{"heads": ["output", "least", "mean", "largest"], "rows": facts[:100]}],
        "files": {"sweep.csv": "All rows"}, "parts": {"sweep.csv": as_csv(table)},
    }  # fmt: skip


def _drawn(program: Any, robot: Any, states: int) -> Data:
    """States within the limits of the robot, as columns q1, q2, .."""
    from ....sweeps.draws import random_states

    _, load = next(iter(random_states(program, robot, states).chunks(states, [0])))
    return {f"{name}{k}": x for name, columns in load().items() for k, x in enumerate(columns, 1)}


def _sharp(roots: np.ndarray) -> np.ndarray:
    """Without what rounding leaves: half the digits of a root that is double."""
    least = 1e-8 * np.abs(roots).max(initial=0.0)
    real, imag = (np.where(np.abs(x) <= least, 0.0, x) for x in (roots.real, roots.imag))
    return real + 1j * imag


def linear(robot: Any, data: Data, say: Say) -> Data:
    """The linear system about rest where the sliders stand, its eigenvalues, its transfer functions
    and its block diagram, with a law that holds it or without."""
    from ....control.compare import holding
    from ....control.diagram import block_diagram
    from ....control.linear import linearise

    q, kind = vector(data, "q", robot.n), str(data.get("control") or "")
    say("differentiating")
    law = holding(robot, kind, bandwidth_of(data), q).program if kind else None
    system = linearise(robot, q, law=law)
    roots = _sharp(system.eigenvalues)
    roots = roots[np.lexsort((roots.imag, -roots.real))]
    rows = [[f"{x.real:.5g}", f"{x.imag:.5g}", f"{abs(x) / (2 * np.pi):.4g} Hz"] for x in roots]
    num, den = system.transfer()
    powers = {"s^": np.arange(len(den))[::-1], "denominator": den} | {
        f"q{i}/tau{j}": x for i, row in enumerate(num, 1) for j, x in enumerate(row, 1)
    }
    matrices = {key: getattr(system, key) for key in "ABCD"}
    csv = {f"{key}.csv": as_csv({f"c{k}": x for k, x in enumerate(M.T, 1)})
           for key, M in matrices.items() if M.size}  # fmt: skip
    left_out = "; ".join(system.left_out)
    return {
        "says": f"left out, without a slope at rest: {left_out}" if left_out else "",
        "tables": [{"title": "Eigenvalues", "rows": rows,
                    "heads": ["real", "imaginary", "frequency"]}],
        "values": {key: matrices[key].tolist() for key in "AB"},
        "files": {**{name: name[0] for name in csv}, "transfer.csv": "Transfer functions",
                  "diagram.svg": "Block diagram"},
        "parts": {**csv, "transfer.csv": as_csv(powers),
                  "diagram.svg": _encoded(block_diagram(robot, law))},
    }  # fmt: skip
