"""The report of an identification: HTML with its pictures inside, or Markdown.

Both are written from the same document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...describe.robot import DRIVE, FRICTION, INERTIA, PRISMATIC
from ...describe.values.expression import number
from ...document import html as pages
from ...document import markdown as text
from ...document.structure import Document, Fold, Image, Part, Section, Table
from ...motion.joints import Units, driven, moving, units
from ...motion.joints import names as joint_names
from ...motion.plots import Panel, image, lines, style

if TYPE_CHECKING:
    from .result import Identification


def html(result: Identification) -> str:
    """The report as one HTML file: no other file, no network."""
    return pages.page(_document(result, pictures=True))


def markdown(result: Identification) -> str:
    """The report as Markdown, without pictures."""
    return text.page(_document(result, pictures=False), "report")


def _document(result: Identification, *, pictures: bool) -> Document:
    sections = _sections(result, pictures=pictures)
    parts = tuple(Section(title, tuple(parts)) for title, parts in sections)
    return Document(f"Identification of {result.original.name}", "", parts)


def folded(result: Identification, *, pictures: bool) -> list[Part]:
    """The sections of the report for a notebook: the errors, and the others when asked for."""
    (_, first), *others = _sections(result, pictures=pictures)
    return [*first, *(Fold(title, tuple(parts)) for title, parts in others)]


def _picture(figure: Any, caption: str) -> Image:
    return Image(image(lambda: figure), caption)


def _sections(result: Identification, *, pictures: bool) -> Iterator[tuple[str, list[Part]]]:
    law = "Of the equations with all parameters below."
    if result.consistent is not None:
        law = (
            'Of the identified robot, with the real bodies below; "base parameters": of the'
            " equations with all parameters below, which need not be those of real bodies."
        )
    yield "Errors", [_about(result), law, _errors(result), *_joint_errors(result)]
    if result.file_errors:
        yield "Errors of the files", _files(result)
    if result.choices:
        yield "What was chosen", list(result.choices)
    if result.diagnosis:
        yield "Why parameters are negative", list(result.diagnosis)
    if result.notes:
        yield "Notes", list(result.notes)
    if pictures:
        yield "Torques and predictions", [*_torques(result)]
    yield (
        "Identified parameters",
        [
            "Base parameters (R: regrouped) and friction, with standard deviations. Essential "
            "parameters have a significant effect on the torques (F test).",
            _parameters(result),
            *([_picture(_deviations(result), "relative deviations")] if pictures else []),
        ],
    )
    if result.shape:
        rows = [(name, f"{x:.5g}") for name, x in result.shape.items()]
        yield "Shape of the friction", [Table(("width or velocity", "rad/s or m/s"), tuple(rows))]
    if result.consistent is not None:
        yield "Real bodies", _bodies(result)
    if result.model.base.regrouped:
        rows = [
            (name, str(result.model.base.regrouped[column]))
            for name, column in zip(result.model.base.names, result.model.base.kept, strict=True)
            if column in result.model.base.regrouped and name in result.names
        ]
        yield "Regrouped parameters", [Table(("parameter", "is"), tuple(rows))]
    if result.recipe.notes:
        yield "Recipe", [result.recipe.notes.strip()]


def _about(result: Identification) -> str:
    estimate = result.estimate
    plan = result.plans[0]

    def low(x: float | None) -> str:
        return "none" if x is None else f"{x:.4g} Hz"

    files = ", ".join(dict.fromkeys(_short(curve.name) for curve in result.curves))
    return (
        f"{files}. {len(result.names)} parameters from {estimate.rows} equations "
        f"(model: {result.recipe.fit.model}; condition number {estimate.condition:.3g} with "
        f"columns of unit length). Sampled at {plan.rate:.6g} Hz; low-pass of the positions "
        f"{low(plan.cutoff)} ({plan.why}), of the equations {low(plan.parallel)}"
        f"{', F and F′ of [KC97] (45), (46)' * (plan.kind == 'kc97')}; one sample of "
        f"{plan.decimate} kept."
    )


def _errors(result: Identification) -> Table:
    rows = [(name, f"{100 * x:.3f}") for name, x in result.errors.items()]
    rows += [
        (f"{role}, {len(result.essential.names)} essential parameters", f"{100 * x:.3f}")
        for role, x in result.essential.errors.items()
    ]
    return Table(("relative torque error", "%"), tuple(rows))


def _files(result: Identification) -> list[Part]:
    """The identified law beside the robot files, which may hold less."""
    lost = result.not_held
    words = "The files hold all that was identified. "
    if lost:
        words = (
            f"No field of a robot file holds {', '.join(lost)}: the files were fitted again "
            "without. "
        )
    if result.plain is not None:
        words += "robot.par and robot.urdf hold FV qd + FS sign(qd) alone, fitted again so. "
    words += (
        "Each file was read again, and its inverse dynamic model evaluated along the recordings, "
        "on the same samples and behind the same filters as the law."
    )
    law = result.law_errors
    listed = [("identified robot", law)]
    if result.consistent is not None:
        own = {role: result.errors[f"{role}, base parameters"] for role in law}
        listed.append(("base parameters, not bound to real bodies", own))
    listed += [(f"file {name}", dict(errors)) for name, errors in result.file_errors.items()]
    rows = [
        (name, *(f"{100 * errors[role]:.3f}" if role in errors else "-" for role in law))
        for name, errors in listed
    ]
    first = result.file_errors.get("robot.toml", {})
    if lost and first:
        loss = [f"{100 * (first[role] - x):.3f}" for role, x in result.law_errors.items()]
        rows.append(("lost by the fields of robot.toml", *loss))
    parts: list[Part] = [words, Table(("relative torque error of, %", *law), tuple(rows))]
    if lost:
        keys = [
            key for key in (*DRIVE, *FRICTION[2:])
            if key in DRIVE or any(getattr(joint, key) != 0 for joint in result.robot.joints)
        ]  # fmt: skip
        drives = [
            (name, *(f"{float(number(getattr(joint, key)) or 0):.5g}" for key in keys))
            for name, joint in zip(joint_names(result.robot), moving(result.robot), strict=True)
        ]
        parts.append(Table(("drives in robot.toml", *keys), tuple(drives)))
    return parts


def _joint_errors(result: Identification) -> list[Part]:
    found = result.joint_errors
    head = ("relative error of joint, %", *(name for name, _ in _driven(result)))
    rows = [(role, *(f"{100 * x:.2f}" for x in errors)) for role, errors in found.items()]
    return [Table(head, tuple(rows))]


def _parameters(result: Identification) -> Table:
    rows = [
        (name, f"{x:.6g}", _unit(result, name), f"{s:.3g}", f"{r:.3g}", word)
        for name, x, s, r, word in result.table()
    ]
    return Table(("parameter", "value", "unit", "sigma", "sigma, %", "remark"), tuple(rows))


def _unit(result: Identification, name: str) -> str:
    """The unit of a parameter; those of the recipe have what unit they are given."""
    key, j = name.rstrip("0123456789LR"), name.lstrip("XYZMIAFVSBQofsetpring").rstrip("LR")
    if key in INERTIA:
        return "kg m²" if len(key) == 2 and "M" not in key else "kg m" if len(key) == 2 else "kg"
    ties, shared = result.model.ties, result.model.robot.driving
    if not j.isdigit() or int(j) not in (*ties.numbers, *shared):
        return ""
    moved = shared[int(j)].joints[0][0] if int(j) in shared else int(j)
    slides = ties.joint(moved).sigma == PRISMATIC
    force = "N" if slides else "N m"
    drive = {"IA": "kg" if slides else "kg m²", "FV": f"{force} s/{'m' if slides else 'rad'}",
             "FVA": f"{force} s/{'m' if slides else 'rad'}", "FS": force, "FB": force,
             "offset": force, "spring": f"{force}/{'m' if slides else 'rad'}",
             "FQ": f"{force} s²/{'m²' if slides else 'rad²'}"}  # fmt: skip
    return drive.get(key, "")


def _bodies(result: Identification) -> list[Part]:
    full = result.consistent
    assert full is not None
    rows = []
    for j, link in enumerate(result.original.links, 1):
        rows.append((link.name, *(f"{full.values[f'{key}{j}']:.5g}" for key in INERTIA)))
    if "ML" in full.values and "XXL" in full.values:
        rows.append(("payload", *(f"{full.values.get(f'{key}L', 0.0):.5g}" for key in INERTIA)))
    files = " Those in the files were fitted again, see there." if result.not_held else ""
    fitted = "with exactly" if full.exact and not full.raised else "that come nearest to"
    return [
        "Full parameters whose links are all physically consistent (positive definite "
        f"pseudo-inertias), {fitted} the identified base parameters. What the torques do not "
        f"determine comes from {full.prior} ({full.distance} distance).{files}",
        Table(("link", *INERTIA), tuple(rows)),
    ]


def _torques(result: Identification) -> Iterator[Image]:
    """Measured and predicted torques, joint by joint, of every stretch."""
    for k, curves in enumerate(result.curves[:6]):
        yield _picture(torques_figure(result, k), f"{curves.role}: {_short(curves.name)}")


def torques_figure(result: Identification, which: int = 0) -> Any:
    """Measured and predicted torques, and their difference, of one stretch of the recordings."""
    curves = result.curves[which]
    step = max(1, len(curves.t) // 3000)
    predicted = curves.W[::step] @ result.K
    panels = [
        Panel(
            name, unit.effort,
            {
                "measured": curves.y[::step, j], "predicted": predicted[:, j],
                "difference": curves.y[::step, j] - predicted[:, j],
            },
        )
        for j, (name, unit) in enumerate(_driven(result))
    ]  # fmt: skip
    return lines(curves.t[::step], panels, f"{curves.role}: {_short(curves.name)}")


def _driven(result: Identification) -> list[tuple[str, Units]]:
    """Names and units of the joints that have torques."""
    robot = result.original
    listed = list(zip(joint_names(robot), units(robot), strict=True))
    return [listed[k] for k in driven(robot)]


def _short(name: str) -> str:
    """The name of a recording without its folders."""
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _deviations(result: Identification) -> Any:
    """Relative standard deviations, sorted."""
    with style():
        from matplotlib.figure import Figure

        r = 100 * np.minimum(result.relative_sigma, 1e4)
        order = np.argsort(r)
        height, longest = 0.13 * len(r) + 1.0, min(40, max(map(len, result.names)))
        figure = Figure(figsize=(6.8, height))
        ax = figure.subplots()  # at places in inches: to look for them takes as long as to draw
        figure.subplots_adjust(
            (0.2 + 0.06 * longest) / 6.8, 0.55 / height, 0.97, 1 - 0.15 / height
        )  # fmt: skip
        essential = set(result.essential.names)
        colours = ["#0072B2" if result.names[k] in essential else "#bbbbbb" for k in order]
        ax.barh(range(len(r)), r[order], color=colours, height=0.7)
        ax.set_yticks(range(len(r)), [result.names[k] for k in order], fontsize=6)
        ax.set_xscale("log")
        ax.set_ylim(-1, len(r))
        ax.invert_yaxis()
        ax.set_xlabel("relative standard deviation, %  (blue: essential)")
        return figure
