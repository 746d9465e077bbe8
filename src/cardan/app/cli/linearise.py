"""Commands about robots near a configuration: linearise."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ...control.names import listed
from ...errors import InputError
from . import completion
from .arguments import Json, RobotName, Settings
from .output import print_json, print_table, print_text, write
from .sources import open_robot


def linearise(
    robot: RobotName,
    q: Annotated[
        str, typer.Option("--q", metavar="Q", help="Where: values, or formulas as pi/2.")
    ] = "0",
    law: Annotated[
        str,
        typer.Option(
            metavar="LAW", autocompletion=completion.laws, help=f"With one of {listed()}."
        ),
    ] = "",
    bandwidth: Annotated[float, typer.Option(metavar="RAD/S", help="Of the law.")] = 10.0,
    transfer: Annotated[
        bool,
        typer.Option("--transfer", help="Transfer functions; as formulas where it has symbols."),
    ] = False,
    diagram: Annotated[
        str, typer.Option(metavar="FILE", help="A block diagram, .svg; - is stdout.")
    ] = "",
    smooth: Annotated[
        float | None,
        typer.Option(
            metavar="WIDTH", help="rad/s or m/s: a width VS for dry friction that has none."
        ),
    ] = None,
    setting: Settings = None,
    json: Json = False,
) -> None:
    """The linear system of a robot at rest, with or without a law: A, B, C, D, eigenvalues,
    transfer functions, and a block diagram."""
    from ...control.compare import holding
    from ...control.diagram import block_diagram
    from ...control.linear import linearise as linear_of
    from ...control.transfer import transfer_functions
    from ...motion.coordinates import coordinates
    from .arguments import numbers

    described = open_robot(robot, setting)
    if described.parameters and not law and not diagram:
        words = [part.strip() for part in q.split(",")]
        at = words[0] if len(words) == 1 else words
        found = transfer_functions(described, at, smooth=smooth)
        _formulas(found, json)
        return
    if described.parameters and not (diagram and not law):
        free = ", ".join(described.parameters[:6])
        raise InputError(f"'{described.name}' has symbols without a value: {free}",
                         action="values")  # fmt: skip
    program: Any = None
    if law:
        start = coordinates(described).first("--q", _one(numbers(q, "--q")))
        program = holding(described, law, bandwidth, start).program
    if diagram:
        write(diagram, block_diagram(described, program))
        return
    place = coordinates(described).first("--q", _one(numbers(q, "--q")))
    linear = linear_of(described, place, law=program, smooth=smooth)
    num, den = linear.transfer() if transfer else (None, None)
    if json:
        roots = [[x.real, x.imag] for x in linear.eigenvalues]
        facts: dict[str, Any] = {key: getattr(linear, key).tolist() for key in "ABCD"}
        facts |= {"eigenvalues": roots, "stable": linear.stable}
        facts["left out"] = list(linear.left_out)
        if num is not None and den is not None:
            facts |= {"num": num.tolist(), "den": den.tolist()}
        print_json(facts)
        return
    for key in "AB":
        print_text(f"{key} =")
        for row in getattr(linear, key):
            print_text("  " + " ".join(f"{x:11.5g}" for x in row))
    if num is not None and den is not None:
        print_text(f"den: {' '.join(f'{x:.6g}' for x in den)}")
        for i, row in enumerate(num):
            for j, x in enumerate(row):
                print_text(f"q{i + 1}/tau{j + 1}: {' '.join(f'{y:.6g}' for y in x)}")
    rows = [
        (f"{x.real:.5g}{x.imag:+.5g}j", f"{f:.5g}", f"{d:.4g}")
        for x, f, d in zip(linear.eigenvalues, linear.frequencies, linear.damping, strict=True)
    ]
    print_table("", ("eigenvalue, 1/s", "Hz", "damping"), rows)
    _tell(linear.left_out)


def _one(values: list[float]) -> Any:
    return values[0] if len(values) == 1 else values


def _tell(left_out: tuple[str, ...]) -> None:
    if left_out:
        print_text(f"left out: {'; '.join(left_out)} (no slope at rest; a width VS, or --smooth,"
                   " gives dry friction one)")  # fmt: skip


def _formulas(found: Any, json: bool) -> None:
    """Transfer functions as text, or their coefficients by falling powers of s."""
    if not json:
        print_text(str(found))
        _tell(found.left_out)
        return
    listed_ = []
    for i, joint in enumerate(found.joints):
        for j, torque in enumerate(found.torques):
            num, den = found.coefficients(i, j)
            listed_.append({"output": joint, "input": torque, "num": num, "den": den,
                            "left out": list(found.left_out)})  # fmt: skip
    print_json(listed_)
