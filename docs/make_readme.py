"""Refreshes what README.md prints: the output of its example and the table of operation counts.

python docs/make_readme.py
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Sequence
from pathlib import Path

from cardan.app.cli.count import count
from cardan.app.cli.sources import stripped
from cardan.describe.bundled import bundled
from cardan.files import write_atomic

FILE = Path(__file__).parent.parent / "README.md"
ROBOTS = ("rx90", "rx90-base", "puma560", "puma560-base", "stanford-base", "general6r", "kuka-lwr")
LOADED = ("kuka-lwr",)  # counted with its friction and wrenches, as the figure beside it
MODELS = (
    "transform", "jacobian", "inverse-dynamics", "inertia-matrix", "bias", "direct-dynamics",
    "regressor",
)  # fmt: skip
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
SPEED = re.compile(r"(?<=<!-- speed -->\n).*?(?=<!-- end of speed -->)", re.DOTALL)
FASTEST = ("iiwa 14", ("Cardan", "Cardan, C", "CasADi C", "Pinocchio"))  # of docs/benchmarks.md
COUNTS = re.compile(r"(?<=<!-- counts -->\n).*?(?=<!-- end -->)", re.DOTALL)


def refreshed(text: str) -> str:
    """The page with its example run and its models counted."""
    example = EXAMPLE.search(text)
    assert example is not None
    start, end = example.span("output")
    text = text[:start] + output(example["code"]) + text[end:]
    text = SPEED.sub(lambda match: speed(), text)
    return COUNTS.sub(lambda match: counts(), text)


def output(code: str) -> str:
    """What the example prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    return printed.getvalue()


def speed() -> str:
    """The times of one state in a loop of machine code, from the run of docs/benchmarks.md."""
    page = (Path(__file__).parent / "benchmarks.md").read_text(encoding="utf-8")
    robot, systems = FASTEST
    times: dict[str, dict[str, str]] = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith(f"{robot}, ") and cells[1] in systems:
            times.setdefault(cells[0].split(", ")[1], {})[cells[1]] = cells[3]
    rows = [
        f"| {model.replace('-', ' ')} | " + " | ".join(row.get(s) or "-" for s in systems) + " |"
        for model, row in times.items()
    ]
    head = f"| KUKA {robot}, one core: ns per state in a loop | " + " | ".join(systems) + " |"
    return "\n".join([head, "|---" * (len(systems) + 1) + "|", *rows, ""])


def counts() -> str:
    """The table of operations."""
    head = ["| robot | parameters | model | Cardan | others |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows(ROBOTS), ""])


def rows(names: Sequence[str]) -> list[str]:
    """Every model for which another system's figure is known, counted on the same robot."""
    lines, seen = [], set()
    for name in names:
        robot = bundled(name) if name in LOADED else stripped(bundled(name))
        title = robot.name.removesuffix(" with base parameters")
        for row in count(name, robot, models=MODELS):
            others = ", ".join(str(figure) for figure, same in row.figures if same)
            key = (title, row.model, row.parameters)
            if others and row.cost and key not in seen:
                seen.add(key)
                ours = f"**{row.cost.mul + row.cost.div} / {row.cost.add}**"
                lines.append(f"| {title} | {row.parameters} | `{row.model}` | {ours} | {others} |")
    return lines


if __name__ == "__main__":
    write_atomic(FILE, refreshed(FILE.read_text(encoding="utf-8")))
