"""The command that evaluates a model for every row of a table: sweep."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from .arguments import CutLoops, Json, ModelName, RobotName, Settings
from .options import values_of
from .output import console, print_json, print_text
from .sources import open_robot

if TYPE_CHECKING:
    from ...sweeps.array import Submitted
    from ...sweeps.sweep import Progress


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
    ray: Annotated[str, typer.Option(metavar="ADDRESS", help="A cluster of Ray, or local.")] = "",
    gpu: Annotated[bool, typer.Option("--gpu", help="On a CUDA device.")] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Inputs that are columns of the result too, as q,qd; those drawn are by default:"
            " none leaves them out.",
        ),
    ] = None,
    slurm: Annotated[
        int, typer.Option(metavar="N", help="Write and submit an array of N tasks of SLURM.")
    ] = 0,
    sbatch: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION", help="Of the array, as --sbatch=--time=1:00:00."),
    ] = None,
    part: Annotated[str, typer.Option(metavar="K/N", help="One task of an array.")] = "",
    merge: Annotated[int, typer.Option(metavar="N", help="Put N parts together.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget an earlier run.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace another job's file.")] = False,
    setting: Settings = None,
    tree: CutLoops = False,
    json: Json = False,
) -> None:
    """Evaluate a model for every row of a table. Run it again to go on after a kill.

    Columns are q1 .. qn, qd1 ..; with --symbolic also parameters by their names."""
    from ...catalogue import model as derive
    from ...sweeps.array import submit
    from ...sweeps.draws import random_states
    from ...sweeps.job import require_paths
    from ...sweeps.stores import is_address
    from ...sweeps.sweep import sweep as run
    from ...sweeps.table import open_source

    if not output or bool(source) == bool(random):
        raise typer.BadParameter("give --input FILE or --random N, and -o FILE", param_hint="Files")
    if not (is_address(source) or is_address(output)):
        require_paths(source or None, output)
    if slurm:
        files = ["--input", source] if source else ["--random", str(random), "--seed", str(seed)]
        words = [
            sys.executable, "-m", "cardan", "sweep", robot, model, *ctx.args, *files, "-o", output,
            *(["--batch", str(batch)] if batch else []), *(["--gpu"] if gpu else []),
            *(["--tree"] if tree else []), *([] if keep is None else ["--keep", keep]),
            *(x for given in setting or () for x in ("--set", given)),
            *(["--force"] if force else []), "--threads", str(threads),
        ]  # fmt: skip
        _submitted(submit(Path(output), words, slurm, sbatch or ()))
        return
    described = open_robot(robot, setting, tree=tree)
    program: Any = derive(described, model, **values_of(ctx, model))
    if not hasattr(program, "to_json"):
        raise InputError(f"'{model}' is no program: it cannot be evaluated row by row")
    begin = time.perf_counter()
    states: Any = source or random_states(program, described, random, seed)
    if source and not is_address(source):  # columns are looked at before anything is shown
        states = open_source(program, source)
    names = None if keep is None else [x for x in keep.split(",") if x not in ("", "none")]
    with progress_bar(f"{model} of {described.name}") as tell:
        result = run(
            program, states, output, robot=described, keep=names, chunk=batch or None,
            threads=threads, dask=dask or None, ray=ray or None, part=_part(part), merge=merge,
            gpu=gpu, fresh=fresh, force=force, progress=tell,
        )  # fmt: skip
    result = replace(result, seconds=time.perf_counter() - begin)  # with the reading of a .csv
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


def _part(text: str) -> tuple[int, int] | None:
    """K/N of a task of an array."""
    number, _, parts = text.partition("/")
    if text and not (number.isdecimal() and parts.isdecimal()):
        raise typer.BadParameter("give K/N, as 0/8", param_hint="--part")
    return (int(number), int(parts)) if text else None


def _submitted(array: Submitted) -> None:
    first, last = array.scripts
    if array.numbers:
        print_text(f"array {array.numbers[0]} ({first}), then {array.numbers[1]} ({last})")
    else:
        print_text(f"there is no sbatch here: submit {first}, and when it has ended {last}")


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
