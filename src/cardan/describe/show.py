"""A robot as tables: geometry, joints, inertia, base, loops; as plain text, HTML or LaTeX.

All three print the same `tables`, which the command line uses too. Columns in which every row holds
the same nothing (0, no limit) are left out, so that what is special about a robot is what shows.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..exact import Exact
from ..latex import escaped
from .couplings import formula
from .fields import JOINTS, LIMITS
from .flexible import flexible_cells
from .robot import (
    DRIVE,
    FIXED,
    FRICTION,
    FURTHER,
    GEOMETRY,
    IDENTITY_4,
    INERTIA,
    WRENCH,
    Joint,
    Robot,
)
from .values.expression import Value

WIDTH = 100
_DIGITS = 10
_CELL = 24  # longer formulas are cut in plain text


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, and rows of text."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(robot: Robot) -> list[Table]:
    """Every table of the robot that has something to say."""
    frames = [*enumerate(robot.joints, 1)]
    listed = [_geometry("Geometry", robot, frames), _joints(robot)]
    links = [("0", robot.base.link), *((str(j), link) for j, link in enumerate(robot.links, 1))]
    keys = {"Inertia": INERTIA, "External wrenches": WRENCH}
    for title, columns in keys.items():
        rows = [
            (j, link.name, *(_text(getattr(link, key)) for key in columns))
            for j, link in links
            if (j != "0" and columns is INERTIA) or any(getattr(link, key) != 0 for key in columns)
        ]
        if any(cell != "0" for row in rows for cell in row[2:]):
            listed.append(_compact(Table(title, ("j", "link", *columns), tuple(rows)), 2))
    n, loops = len(robot.joints), len(robot.loops)
    if loops:
        cut = [(n + k, loop.cut) for k, loop in enumerate(robot.loops, 1)]
        twin = [(n + loops + k, loop.twin) for k, loop in enumerate(robot.loops, 1)]
        kinds = {n + k: loop.kind for k, loop in enumerate(robot.loops, 1) if loop.kind}
        title = "Loops: cut joints and their twins"
        listed.append(_geometry(title, robot, [*cut, *twin], kinds))
    listed += [*_wheels(robot), *_drives(robot), *_interactions(robot)]
    return [*listed, *_flexible(robot), *_frames(robot), _base(robot)]


def conventions(robot: Robot, other: Sequence[str] = ()) -> list[Table]:
    """What numbers and names mean: the places of the joints in q, where the file's frame of each
    link stands in Khalil's, every frame, and the conventions of vectors. other: joints in the order
    of another library, whose places are told beside ours."""
    own = {frame.name: frame for frame in robot.frames}
    moving = [(j, x) for j, x in enumerate(robot.joints, 1) if x.sigma != FIXED]
    rows: list[tuple[str, ...]] = []
    for k, (j, joint) in enumerate(moving):
        link = robot.links[j - 1].name
        frame = own.get(link)
        place = ("", "") if frame is None else (_vector(frame.xyz), _vector(frame.rpy))
        theirs = [str(other.index(joint.name)) if joint.name in other else ""] if other else []
        variable = joint.variable or f"q{j}"
        rows.append((f"q[{k}]", variable, joint.name, JOINTS[joint.sigma], link, *place, *theirs))
    header = ["place", "variable", "joint", "kind", "link", "its frame in frame j: xyz", "rpy"]
    header += ["place in Pinocchio"] if other else []
    base = "floating: q has no part of it, V0 and g0 are in its axes"
    words = (
        ("frame j", "Khalil's: z along the axis of joint j, x along the common normal to the next"),
        ("zero of q", "that of the file; theta_j of the table is q_j and the constant beside it"),
        ("velocities, wrenches", "linear part first, then angular"),
        ("rpy", "roll, pitch, yaw about the fixed x, y, z: R = Rz Ry Rx; rad"),
        ("base", base if robot.base.kind == "floating" else robot.base.kind),
        ("gravity", f"{_vector(robot.gravity)} in frame 0"),
        ("end effector", robot.end_effector or "the last link"),
    )
    return [
        Table("Joints", tuple(header), tuple(rows)), *_frames(robot),
        Table("Conventions", ("what", "meaning"), words),
    ]  # fmt: skip


def as_text(robot: Robot) -> str:
    """The tables in plain text, at most 100 columns wide."""
    parts = [_summary(robot)]
    for table in tables(robot):
        parts.append(f"{table.title}\n{_aligned(table)}")
    return "\n\n".join(parts)


def as_html(robot: Robot) -> str:
    """The tables in HTML, for notebooks."""
    parts = [f"<p><b>{html.escape(robot.name)}</b>: {html.escape(_counts(robot))}</p>"]
    for table in tables(robot):
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table.header)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in table.rows
        )
        parts.append(
            f"<table><caption>{html.escape(table.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
    return "\n".join(parts)


def as_latex(robot: Robot) -> str:
    """The tables in LaTeX, one tabular each."""
    parts = [f"\\textbf{{{_escaped(robot.name)}}}: {_escaped(_counts(robot))}"]
    for table in tables(robot):
        rows = [" & ".join(map(_escaped, row)) + r" \\" for row in (table.header, *table.rows)]
        rows.insert(1, r"\hline")
        columns = "l" * len(table.header)
        body = "\n".join(rows)
        parts.append(
            f"\\emph{{{_escaped(table.title)}}}\n\n"
            f"\\begin{{tabular}}{{{columns}}}\n{body}\n\\end{{tabular}}"
        )
    return "\n\n".join(parts)


def _geometry(
    title: str, robot: Robot, frames: Sequence[tuple[int, Joint]],
    kinds: Mapping[int, str] | None = None,
) -> Table:  # fmt: skip
    rows = []
    for j, joint in frames:
        cells = {key: _text(getattr(joint, key)) for key in GEOMETRY}
        if joint.sigma != FIXED:
            key = "theta" if joint.sigma == 0 else "r"
            variable = joint.variable or f"q{j}"
            cells[key] = variable if cells[key] == "0" else f"{variable} + ({cells[key]})"
        kind = JOINTS[joint.sigma] if joint.sigma in range(3) else str(joint.sigma)
        kind = (kinds or {}).get(j, kind)
        name = robot.links[j - 1].name if j <= len(robot.links) else joint.name
        rows.append((str(j), name, str(joint.antecedent), kind, *cells.values()))
    header = ("j", "link", "a(j)", "joint", *GEOMETRY)
    return _compact(Table(title, header, tuple(rows)), 4)


def _flexible(robot: Robot) -> list[Table]:
    """Links that deform: what they are and their elastic coordinates."""
    rows = [
        (str(j), link.name, str(link.flexible.coordinates), *flexible_cells(link.flexible, _text))
        for j, link in enumerate(robot.links, 1)
        if link.flexible is not None
    ]
    header = ("j", "link", "coordinates", "kind", "shapes", "length", "young", "density", "motions")
    return [Table("Flexible links", header, tuple(rows))] if rows else []


def _frames(robot: Robot) -> list[Table]:
    """The frames that names mean; Khalil's frame of a link that the file places elsewhere has a
    name of its own."""
    rows = [
        (
            frame.name + (" (end effector)" if frame.name == robot.end_effector else ""),
            str(frame.link), frame.kind, _vector(frame.xyz), _vector(frame.rpy),
        )
        for frame in robot.frames
    ]  # fmt: skip
    header = ("frame", "on link j", "kind", "xyz in frame j", "roll, pitch, yaw")
    links = {link.name for link in robot.links}
    moved = [frame.name for frame in robot.frames if frame.name in links and not frame.at_link]
    words = f"; frame j itself is khalil:NAME, as khalil:{moved[0]}, or j" if moved else ""
    return [Table(f"Frames of the file{words}", header, tuple(rows))] if rows else []


def _joints(robot: Robot) -> Table:
    rows = []
    for j, joint in enumerate(robot.joints, 1):
        elastic = (joint.stiffness, joint.rest, joint.damping)
        rows.append(
            (
                str(j),
                joint.name,
                "yes" if joint.active else "no",
                *(_text(getattr(joint, key)) for key in DRIVE),
                *(_text(value) if joint.elastic else "" for value in elastic),
                *(_text(getattr(joint, key)) for key in FURTHER),
                _text(joint.home),
                "" if joint.mimic is None else _text(formula(robot, joint.mimic)),
                *(_text(getattr(joint.limits, key)) for key in LIMITS),
            )
        )
    header = (
        "j",
        "joint",
        "active",
        *DRIVE,
        "stiffness",
        "rest",
        "damping",
        *FURTHER,
        "home",
        "mimic",
        *LIMITS,
    )
    return _compact(Table("Joints", header, tuple(rows)), 3)


def _base(robot: Robot) -> Table:
    base = robot.base
    rows = [("kind", base.kind), ("gravity", _vector(robot.gravity))]
    for key in ("W0", "WP0", "V0", "VP0"):
        if any(value != 0 for value in getattr(base, key)):
            rows.append((key, _vector(getattr(base, key))))
    if base.Z != IDENTITY_4:
        rows += [(f"Z row {i + 1}", _vector(base.Z[4 * i : 4 * i + 4])) for i in range(4)]
    return Table("Base", ("what", "value"), tuple(rows))


def _compact(table: Table, first: int) -> Table:
    """The table without the columns, from `first` on, in which no row says anything."""
    columns = [
        i
        for i in range(len(table.header))
        if i < first or any(row[i] not in ("0", "") for row in table.rows)
    ]
    return Table(
        table.title,
        tuple(table.header[i] for i in columns),
        tuple(tuple(row[i] for i in columns) for row in table.rows),
    )


def _interactions(robot: Robot) -> list[Table]:
    """Ground, fluid and thrusters, each with what is not its default."""
    rows = tuple(
        (x.name, type(x).__name__.lower(), (robot.base.link, *robot.links)[x.link].name,
         ", ".join(f"{f.name} {_told(getattr(x, f.name))}" for f in fields(x)[2:]
                   if getattr(x, f.name) != f.default))
        for x in robot.interactions
    )  # fmt: skip
    header = ("name", "interaction", "link", "values")
    return [Table("Interactions", header, rows)] if rows else []


def _told(value: Any) -> str:
    return f"({', '.join(map(_told, value))})" if isinstance(value, tuple) else _text(value)


def _wheels(robot: Robot) -> list[Table]:
    """Wheels that roll without slipping."""
    rows = tuple(
        (x.name, robot.links[x.link - 1].name, _text(x.radius), _vector(x.normal), x.slip or "none")
        for x in robot.wheels
    )
    header = ("wheel", "link", "radius", "normal of the ground", "slip")
    return [Table("Wheels", header, rows)] if rows else []


def _drives(robot: Robot) -> list[Table]:
    """Motors that several joints turn."""
    rows = tuple(
        (
            f"{x.name} ({j})",
            " + ".join(f"{_text(ratio)} {robot.joints[i - 1].name}" for i, ratio in x.joints),
            ", ".join(f"{k} = {_text(getattr(x, k))}" for k in ("IA", *FRICTION) if getattr(x, k)),
        )
        for j, x in robot.driving.items()
    )
    header = ("drive (number)", "position", "rotor and friction")
    return [Table("Drives of several joints", header, rows)] if rows else []


def _summary(robot: Robot) -> str:
    head = f"{_cut(robot.name, 40)}: {_counts(robot)}"
    source = " ".join(robot.source.split())
    return head + (f"\nsource: {_cut(source, WIDTH - 8)}" if source else "")


def _counts(robot: Robot) -> str:
    def count(n: int, word: str) -> str:
        return f"{n} {word}{'' if n == 1 else 's'}"

    parts = [count(len(robot.links), "link"), count(robot.n, "joint variable")]
    parts += [count(len(robot.loops), "loop")] if robot.loops else []
    parts += [count(len(robot.couplings), "coupling")] if robot.couplings else []
    parts += [count(len(robot.wheels), "wheel")] if robot.wheels else []
    return ", ".join([*parts, count(len(robot.parameters), "free symbol")])


def _aligned(table: Table) -> str:
    """Columns side by side; what does not fit goes below, each part led by the first column."""
    rows = [[_cut(cell, _CELL) for cell in row] for row in (table.header, *table.rows)]
    if table.header == ("what", "value"):
        rows = [list(row) for row in table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    blocks: list[list[int]] = [[0]]
    for i in range(1, len(widths)):
        if sum(widths[c] + 2 for c in [*blocks[-1], i]) > WIDTH:
            blocks.append([0])
        blocks[-1].append(i)
    lines = []
    for block in blocks:
        for row in rows:
            cells = [row[i].ljust(widths[i]) for i in block]
            lines.append(_cut(("  " + "  ".join(cells)).rstrip(), WIDTH))
        lines.append("")
    return "\n".join(lines[:-1])


def _text(value: Value | None) -> str:
    """The value; a number too long for a cell is rounded, as nobody reads its twentieth digit."""
    text = "" if value is None else str(value)
    if len(text) > _DIGITS and isinstance(value, int | Exact):
        return f"{float(value):.6g}"
    return text


def _vector(values: Sequence[Value]) -> str:
    return ", ".join(map(_text, values))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _escaped(text: str) -> str:
    return escaped(text).replace('"', r"\textquotedbl{}")
