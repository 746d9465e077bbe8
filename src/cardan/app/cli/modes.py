"""Commands about vibration: modes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .arguments import Configuration, Degrees, Json, RobotName, Settings, numbers
from .motion import moved
from .output import message, print_json, print_table
from .sources import open_robot

_PICTURES = (".png", ".svg", ".pdf")


def modes(
    robot: RobotName,
    q: Configuration = "",
    degrees: Degrees = False,
    actuators: Annotated[str, typer.Option(help="locked or free.")] = "locked",
    about: Annotated[str, typer.Option(help="undeformed, or equilibrium under gravity.")] = (
        "undeformed"
    ),
    guess: Annotated[
        str, typer.Option(metavar="Q", help="Passive joints near the wanted assembly of loops.")
    ] = "",
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FILE", help="Shapes .png; a moving one .html .gif"),
    ] = "",
    mode: Annotated[int, typer.Option(metavar="K", help="The mode that moves.")] = 1,
    json: Json = False,
    setting: Settings = None,
) -> None:
    """Natural frequencies and modes of a robot with flexible links or elastic joints."""
    from ...simulation.modal import natural_frequencies

    described = open_robot(robot, setting)
    q_a = moved(described, q, degrees, "--q") if q else None
    near = numbers(guess, "--guess") if guess else None
    result = natural_frequencies(described, q_a, actuators, modes=True, about=about, guess=near)
    if output:
        _draw(described, result, output, mode)
    if json:
        print_json(_facts(described, actuators, result))
        return
    title = f"{described.name}: natural frequencies, actuators {actuators}"
    rows = [
        (k, f"{f:.6g}", f"{1000 / f:.4g}" if f > 0 else "", _largest(result, k))
        for k, f in enumerate(result.frequencies, 1)
    ]
    print_table(title, ("mode", "Hz", "period ms", "moves most"), rows)


def _facts(robot: Any, actuators: str, result: Any) -> dict[str, Any]:
    """The result for programs."""
    return {
        "robot": robot.name,
        "actuators": actuators,
        "frequencies": result.frequencies.tolist(),
        "coordinates": list(result.coordinates),
        "q": result.q.tolist(),
        "shapes": result.shapes.T.tolist(),
    }


def _largest(result: Any, k: int) -> str:
    """The coordinates that move most in a mode."""
    shape = abs(result.shapes[:, k - 1])
    order = sorted(range(len(shape)), key=lambda i: -shape[i])[:3]
    return ", ".join(result.coordinates[i] for i in order if shape[i] > 0.05 * shape.max())


def _draw(robot: Any, result: Any, output: str, mode: int) -> None:
    from ...simulation.shapes import animate_mode, plot_modes

    if output.endswith(_PICTURES):
        plot_modes(robot, result, output)
    else:
        animate_mode(robot, result, output, mode)
    message(f"wrote {output}")
