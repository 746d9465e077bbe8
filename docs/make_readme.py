"""Refreshes what README.md prints: the output of its example and the table of operation counts.

python docs/make_readme.py
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from cardan.app.counting import count
from cardan.app.sources import bare
from cardan.describe.bundled import bundled
from cardan.describe.files import write_atomic

FILE = Path(__file__).parent.parent / "README.md"
ROBOTS = ("rx90", "rx90-base", "puma560", "puma560-base", "stanford-base", "general6r")
MODELS = (
    "transform", "jacobian", "inverse-dynamics", "inertia-matrix", "bias", "direct-dynamics",
    "regressor",
)  # fmt: skip
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
COUNTS = re.compile(r"(?<=<!-- counts -->\n).*?(?=<!-- end -->)", re.DOTALL)


def refreshed(text: str) -> str:
    """The page with its example run and its models counted."""
    example = EXAMPLE.search(text)
    assert example is not None
    start, end = example.span("output")
    text = text[:start] + output(example["code"]) + text[end:]
    return COUNTS.sub(lambda match: counts(), text)


def output(code: str) -> str:
    """What the example prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    return printed.getvalue()


def counts() -> str:
    """Every model for which another system's figure is known, counted on the same robot."""
    lines = ["| robot | parameters | model | Cardan | others |", "|---|---|---|---|---|"]
    seen = set()
    robots = [(name, bare(bundled(name))) for name in ROBOTS]
    robots.append(("kuka-lwr", bundled("kuka-lwr")))
    rows = [
        (row, robot.name) for name, robot in robots for row in count(name, robot, models=MODELS)
    ]
    for row, robot in rows:
        others = ", ".join(str(figure) for figure, same in row.figures if same)
        ours = f"{row.cost.mul + row.cost.div} / {row.cost.add}" if row.cost else ""
        title = robot.removesuffix(" with base parameters")
        key = (title, row.model, row.parameters)
        if others and row.cost and key not in seen:
            seen.add(key)
            lines.append(f"| {title} | {row.parameters} | `{row.model}` | **{ours}** | {others} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    write_atomic(FILE, refreshed(FILE.read_text(encoding="utf-8")))
