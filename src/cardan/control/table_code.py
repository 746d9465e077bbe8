"""A tabulated model as C: its tables as constants, and the function that reads them.

Beyond the ends of a table the value at the end is taken, as of a joint at its limit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..describe.robot import Robot
from ..emit.header import harmless
from ..emit.names import Names
from ..motion.derived import derived
from ..motion.joints import friction_torques
from .laws import massless
from .reduced import reduce_model
from .tabulated import Group, Tabulated, random_states, tabulate, trade_off

_CELL = """\
/* weights and numbers of the points about x, in steps from the first; periodic: a full turn */
static void cell(double x, int points, int periodic, double w[{width}], int at[{width}]) {{
    double below;
    if (!periodic)
        x = x < 0 ? 0 : x > points - 1 ? points - 1 : x;
    below = floor(x);
    if (!periodic && below > points - 2)
        below = points - 2;
    const double u = x - below;
    const int c = (int)fmod(below, points) + (fmod(below, points) < 0 ? points : 0);
{weights}
}}
"""
_LINEAR = """\
    w[0] = 1 - u;
    w[1] = u;
    at[0] = c;
    at[1] = (c + 1) % points;"""
_CUBIC = """\
    w[0] = u * (-0.5 + u * (1 - 0.5 * u));
    w[1] = 1 + u * u * (-2.5 + 1.5 * u);
    w[2] = u * (0.5 + u * (2 - 1.5 * u));
    w[3] = u * u * (-0.5 + 0.5 * u);
    for (int k = 0; k < 4; ++k)
        at[k] = (c + k - 1 + points) % points;
    if (!periodic && c == 0) { /* beyond the ends: the parabola through the last three points */
        w[1] += 3 * w[0];
        w[2] -= 3 * w[0];
        w[3] += w[0];
        w[0] = 0;
    }
    if (!periodic && c == points - 2) {
        w[0] += w[3];
        w[1] -= 3 * w[3];
        w[2] += 3 * w[3];
        w[3] = 0;
    }"""


def _width(table: Tabulated) -> int:
    return table.degree + 1


def operations(table: Tabulated) -> dict[str, int]:
    """Multiplications and additions of one evaluation as written, friction aside."""
    width, n = _width(table), table.robot.n
    used = {j for group in table.groups for j in group.joints}
    mul, add = (3 if width == 2 else 14) * len(used), (3 if width == 2 else 9) * len(used)
    for group in table.groups:
        corners = width ** len(group.joints)
        count = group.values.shape[-1]
        if group.joints:
            weights = sum(width**d for d in range(2, len(group.joints) + 1))
            mul, add = mul + corners * count + weights, add + corners * count
    pairs = n * (n - 1) // 2
    live = {key: sum(not _is_nothing(table, p) for p in table.places[key]) for key in table.places}
    mul += live["A"] + live["C1"] + live["C2"] + 2 * pairs + n
    add += sum(live.values())
    return {"mul": mul, "add": add}


def _is_nothing(table: Tabulated, place: tuple[int, int, int]) -> bool:
    """A coefficient that is zero wherever the robot is."""
    group, column, _ = place
    return not table.groups[group].joints and not table.groups[group].values[column]


def table_code(table: Tabulated, name: str = "") -> str:
    """C99 text: NAME(q, qd, qdd, tau) from tables."""
    robot, n, width = table.robot, table.robot.n, _width(table)
    called = Names().claim(name or f"{robot.name.lower()}_tabulated")
    count, kind = operations(table), "linear" if width == 2 else "cubic"
    head = [
        f"/* inverse dynamics of '{harmless(robot.name)}' from tables: {table.points} points per"
        f" joint, {kind}",
        f"   {table.memory} bytes of tables; operations, friction aside: {count['mul']} mul,"
        f" {count['add']} add",
        "   beyond the ends of a table the value there is taken */",
        "#include <math.h>",
        "",
    ]
    rubs = any(np.any(friction_torques(robot, s * np.ones(n))) for s in (-1.0, 1.0))
    friction = f"{called}_friction"
    text = [derived(massless(robot), "bias").emit("c", function=friction)] if rubs else []
    weights = _LINEAR if width == 2 else _CUBIC
    text += [_CELL.format(width=width, weights=weights)] if _read(table) else []
    text += [_constants(f"table{g}", group.values) for g, group in enumerate(table.groups)]
    body = [f"void {called}(const double q[{n}], const double qd[{n}], const double qdd[{n}],",
            f"{' ' * (len(called) + 6)}double tau[{n}]) {{"]  # fmt: skip
    body += _reading(table)
    body += [_sum(table, i) for i in range(n)]
    if rubs:
        body += [f"    double lost[{n}];", f"    {friction}(q, qd, lost);",
                 f"    for (int i = 0; i < {n}; ++i)", "        tau[i] += lost[i];"]  # fmt: skip
    return "\n".join([*head, *text, *body, "}"]) + "\n"


def _read(table: Tabulated) -> list[int]:
    """The joints that some table depends on."""
    return sorted({j for group in table.groups for j in group.joints})


def _constants(name: str, values: np.ndarray) -> str:
    numbers = [repr(float(x)) for x in values.ravel()]
    lines = [", ".join(numbers[k : k + 4]) for k in range(0, len(numbers), 4)]
    inside = ",\n    ".join(lines)
    return f"static const double {name}[{values.size}] = {{\n    {inside}}};\n"


def _reading(table: Tabulated) -> list[str]:
    """Cells of the joints, then every group of coefficients by the corners of its cell."""
    width, points, lines = _width(table), table.points, []
    for j in _read(table):
        start, step = repr(float(table.start[j])), repr(float(table.step[j]))
        lines += [
            f"    double w{j}[{width}];", f"    int at{j}[{width}];",
            f"    cell((q[{j}] - ({start})) / {step}, {points}, {int(table.periodic[j])},"
            f" w{j}, at{j});",
        ]  # fmt: skip
    for g, group in enumerate(table.groups):
        count = group.values.shape[-1]
        if not group.joints:
            lines.append(f"    const double *c{g} = table{g};")
            continue
        lines.append(f"    double c{g}[{count}] = {{0}};")
        lines += _corners(group, g, count, width, points)
    return lines


def _corners(group: Group, g: int, count: int, width: int, points: int) -> list[str]:
    lines, weight, place, pad = [], "", "", "    "
    for d, j in enumerate(group.joints):
        lines.append(f"{pad}for (int k{d} = 0; k{d} < {width}; ++k{d}) {{")
        pad += "    "
        weight = f"{weight} * w{j}[k{d}]" if weight else f"w{j}[k{d}]"
        if d:
            lines.append(f"{pad}const double v{d} = {weight};")
            weight = f"v{d}"
        stride = count * prod([points] * (len(group.joints) - 1 - d))
        place += f"{' + ' if place else ''}{stride} * at{j}[k{d}]"
    lines += [
        f"{pad}const double *row = table{g} + {place};",
        f"{pad}for (int i = 0; i < {count}; ++i)",
        f"{pad}    c{g}[i] += {weight} * row[i];",
    ]
    return lines + ["    " * (d + 1) + "}" for d in reversed(range(len(group.joints)))]


def _sum(table: Tabulated, i: int) -> str:
    """tau_i of its coefficients; those that are zero everywhere are left out."""
    n = table.robot.n
    pairs = list(combinations(range(n), 2))
    factors: dict[str, list[Any]] = {
        "A": [f" * qdd[{j}]" for j in range(n)],
        "C1": [f" * (2 * qd[{j}] * qd[{k}])" for j, k in pairs],
        "C2": [f" * (qd[{j}] * qd[{j}])" for j in range(n)],
        "Q": [""],
    }
    text = ""
    for key, listed in factors.items():
        if not listed:
            continue
        row = table.places[key][len(listed) * i : len(listed) * (i + 1)]
        for place, factor in zip(row, listed, strict=True):
            if not _is_nothing(table, place):
                group, column, sign = place
                joint = (" + " if sign > 0 else " - ") if text else ("" if sign > 0 else "-")
                text += f"{joint}c{group}[{column}]{factor}"
    return f"    tau[{i}] = {text or '0'};"


@named_arguments
def side_by_side(
    robot: Robot, points: Sequence[int], *, degree: int = 3, tolerance: float = 0.01,
    states: int = 2000, seed: int = 0,
) -> list[dict[str, Any]]:  # fmt: skip
    """Inverse dynamics as it is, without the terms that hardly count at random states, and from
    tables of several sizes: bytes of tables, operations, largest error relative to each torque."""
    tables = [tabulate(robot, count, degree=degree) for count in points]
    program = derived(robot, "inverse-dynamics")
    small = reduce_model(program, random_states(tables[0], states, seed), tolerance)
    reduced = f"reduced, {tolerance:g}"
    rows: list[dict[str, Any]] = [
        _row("exact", 0, 0, program.cost.total, 0.0),
        _row(reduced, 0, 0, small.after.total, small.error),
    ]
    errors = trade_off(robot, points, degree=degree, states=states, seed=seed)
    for table, measured in zip(tables, errors, strict=True):
        total = sum(operations(table).values())
        name = f"{table.points} points"
        rows.append(_row(name, table.points, table.memory, total, measured["error"]))
    return rows


def _row(model: str, points: int, size: int, count: int, error: float) -> dict[str, Any]:
    return {"model": model, "points": points, "bytes": size, "operations": count, "error": error}
