"""The figures Cardan is held to, measured on this machine.

python -m bench                     a table
python -m bench --json figures.json the same as JSON ('-' for standard output)
python -m bench --only native       one group; `--help` lists them
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path

from bench import (
    derivatives,
    humanoid,
    inverse,
    inverse_general,
    loops,
    native,
    rollout,
    startup,
    sweep,
    trace,
)
from bench.timing import Figure
from rich.console import Console
from rich.table import Table

GROUPS: dict[str, Callable[[], list[Figure]]] = {
    "trace": trace.figures,
    "compile": native.compile_figures,
    "native": native.batch_figures,
    "single": native.single_figures,
    "limit": native.limit_figures,
    "derivatives": derivatives.figures,
    "humanoid": humanoid.figures,
    "rollout": rollout.figures,
    "sweep": sweep.figures,
    "inverse": inverse.figures,
    "import": startup.figures,
    "general": inverse_general.figures,
    "loops": loops.figures,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON, - for stdout")
    parser.add_argument("--only", choices=GROUPS, action="append", help="groups to measure")
    options = parser.parse_args()
    os.environ["CARDAN_CACHE"] = "off"  # compile times are of compiling
    found = [figure for name in options.only or GROUPS for figure in GROUPS[name]()]
    if options.json:
        text = json.dumps({"machine": machine(), "figures": [x.as_dict() for x in found]}, indent=1)
        if options.json == "-":
            print(text)
        else:
            Path(options.json).write_text(text + "\n", encoding="utf-8")
    if options.json != "-":
        show(found)
    return 0 if all(figure.holds is not False for figure in found) else 1


def machine() -> dict[str, str]:
    import numpy

    from cardan.run.native import machine as host

    return {
        "processor": host().name,
        "vector_bytes": str(host().vector_bytes),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
    }


def show(figures: list[Figure]) -> None:
    table = Table(title=", ".join(f"{key} {value}" for key, value in machine().items()))
    for heading, justify in (
        ("what", "left"),
        ("measured", "right"),
        ("limit", "right"),
        ("", "left"),
    ):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for figure in figures:
        mark = {True: "[green]holds", False: "[red]missed", None: ""}[figure.holds]
        table.add_row(figure.what, figure.shown, figure.shown_limit, mark)
    Console().print(table)


if __name__ == "__main__":
    raise SystemExit(main())
