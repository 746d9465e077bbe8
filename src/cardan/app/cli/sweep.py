"""The command that evaluates a model for every row of a table: sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from .arguments import CutLoops, Json, ModelName, RobotName, Settings
from .options import values_of
from .output import console, print_json, print_text

if TYPE_CHECKING:
    from ...sweeps.sweep import Progress

__all__ = ["sweep"]


def sweep(
    ctx: typer.Context,
    robot: RobotName,
    model: ModelName,
    source: Annotated[
        str,
        typer.Option(
            "--input", metavar="FILE", help="States: .parquet, .arrow, .feather, .npz, .csv."
        ),
    ] = "",
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Results: .parquet.")
    ] = "",
    random: Annotated[
        int, typer.Option(metavar="N", help="Draw N states instead of reading them.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Of the states drawn.")] = 0,
    batch: Annotated[int, typer.Option(metavar="ROWS", help="Done at a time; 0: as suits.")] = 0,
    threads: Annotated[int, typer.Option(help="0: all cores.")] = 0,
    dask: Annotated[str, typer.Option(metavar="ADDRESS", help="A Dask scheduler, or local.")] = "",
    gpu: Annotated[bool, typer.Option("--gpu", help="On a CUDA device.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget an earlier run.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace another job's file.")] = False,
    setting: Settings = None,
    tree: CutLoops = False,
    json: Json = False,
) -> None:
    """Evaluate a model for every row of a table. Run it again to go on after a kill.

    Columns are q1 .. qn, qd1 ..; with --symbolic also parameters by their names."""
    from ...catalogue import model as derive
    from ...sweeps.draws import random_states
    from ...sweeps.job import require_paths
    from ...sweeps.sweep import sweep as run
    from ...sweeps.table import open_source
    from .sources import open_robot

    if not output or bool(source) == bool(random):
        raise typer.BadParameter("give --input FILE or --random N, and -o FILE", param_hint="Files")
    require_paths(source or None, output)
    described = open_robot(robot, setting, tree=tree)
    program: Any = derive(described, model, **values_of(ctx, model))
    if not hasattr(program, "to_json"):
        raise InputError(f"'{model}' is no program: it cannot be evaluated row by row")
    states = (
        random_states(program, described, random, seed) if random else open_source(program, source)
    )
    with progress_bar(f"{model} of {described.name}") as tell:
        result = run(
            program, states, output, chunk=batch or None, threads=threads, dask=dask or None,
            gpu=gpu, fresh=fresh, force=force, progress=tell,
        )  # fmt: skip
    facts = {
        "file": str(result.path), "rows": result.rows, "resumed": result.resumed,
        "seconds": round(result.seconds, 3), "rows per second": round(result.rate),
        "unchanged": result.unchanged,
    }  # fmt: skip
    if json:
        print_json(facts)
    elif result.unchanged:
        print_text(
            f"file {result.path}: this job has been done before, and its {result.rows} rows are"
            " whole: nothing to do (--fresh does it again)"
        )
    else:
        facts.pop("unchanged")
        print_text(", ".join(f"{key} {value}" for key, value in facts.items()))


def progress_bar(title: str) -> Any:
    """A bar on stderr with the rate and the time left; as a context it gives the listener."""
    from contextlib import contextmanager

    @contextmanager
    def bar() -> Any:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        words = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rate]}")
        with Bar(*words, TimeRemainingColumn(), console=console(stderr=True)) as shown:
            task = shown.add_task(title, total=None, rate="")

            def tell(now: Progress) -> None:
                shown.update(
                    task, completed=now.done, total=now.rows, rate=f"{now.rate:,.0f} rows/s"
                )

            yield tell

    return bar()
