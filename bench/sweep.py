"""Sweeps against the bare compiled batch on the same rows and threads, turn by turn.

python -m bench.sweep      cheap and costly models; tables in memory and in files
python -m bench.sweep cpu  by the time of the processor, one thread: for a machine that others use

The batch alone is one call of the compiled function, inputs and results in memory. A sweep does the
same from a table to a table (in memory), or from and to files. The batch and a plain write, of the
same number of bytes to an empty file, is what any writer of uncompressed results must take.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bench.timing import Figure

import cardan
from cardan.program import Program
from cardan.sweeps.sweep import sweep

__all__ = ["figures"]

ROUNDS = 7
_PIECE = 1 << 21  # bytes
BY_PROCESSOR = sys.argv[1:] == ["cpu"]
THREADS = 1 if BY_PROCESSOR else 0
CLOCK = time.process_time if BY_PROCESSOR else time.perf_counter
CASES = [
    ("iiwa14", "inverse-dynamics", 1_000_000),
    ("iiwa14", "direct-dynamics", 1_000_000),
    ("iiwa14", "regressor", 100_000),
    ("snake30", "direct-dynamics", 200_000),
]


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return [figure for case in CASES for figure in measured(Path(folder), *case)]


def measured(folder: Path, name: str, model: str, rows: int) -> list[Figure]:
    """Rows per second of the batch alone, and what part of it sweeps reach."""
    program: Program = cardan.model(cardan.load(name), model)
    rng = np.random.default_rng(0)
    states = {key: rng.uniform(-1, 1, (rows, *shape)) for key, shape in program.inputs.items()}
    columns = {f"{k}{j}": x.T[j - 1].copy() for k, x in states.items()
               for j in range(1, x.shape[1] + 1)}  # fmt: skip
    arrow, parquet, target = (folder / x for x in ("states.arrow", "states.parquet", "y.parquet"))
    _write(columns, arrow, parquet)
    f: Any = program.compile()
    again: Any = {"threads": THREADS, "fresh": True, "force": True}
    works: dict[str, Callable[[], Any]] = {
        "the batch alone": lambda: f(**states, threads=THREADS),
        "the batch, then its bytes to a file": lambda: _plain(f(**states, threads=THREADS), target),
        "arrays to memory": lambda: sweep(program, states, threads=THREADS),
        "arrays to Parquet": lambda: sweep(program, states, target, **again),
        "columns to memory": lambda: sweep(program, columns, threads=THREADS),
        "columns to Parquet": lambda: sweep(program, columns, target, **again),
        "Arrow to memory": lambda: sweep(program, arrow, threads=THREADS),
        "Arrow to Parquet": lambda: sweep(program, arrow, target, **again),
        "Parquet to memory": lambda: sweep(program, parquet, threads=THREADS),
        "Parquet to Parquet": lambda: sweep(program, parquet, target, **again),
    }
    seconds = _turn_by_turn(works, target)
    alone = seconds.pop("the batch alone")
    written = seconds.pop("the batch, then its bytes to a file")
    what = f"{name} {model}, {rows} rows"
    found = [Figure(f"the batch alone, {what}", rows / alone / 1e6, "million rows/s")]
    for way, taken in seconds.items():
        limit = 0.7 if way == "arrays to memory" else None
        found.append(Figure(f"sweep from {way}, of the batch", alone / taken, "", limit, True))
        if way.endswith("s to Parquet"):
            what = f"sweep from {way}, of the batch and a plain write"
            found.append(Figure(what, written / taken, "", None, True))
    return found


def _plain(results: np.ndarray, target: Path) -> None:
    """The least a file costs: the bytes of the results, as they lie."""
    data = results.data.cast("B")
    with target.open("wb", buffering=0) as file:
        for first in range(0, len(data), _PIECE):
            file.write(data[first : first + _PIECE])


def _turn_by_turn(works: dict[str, Callable[[], Any]], target: Path) -> dict[str, float]:
    """Seconds of the best of several rounds, the first of which does not count."""
    best = dict.fromkeys(works, float("inf"))
    for turn in range(ROUNDS + 1):
        for way, work in works.items():
            target.unlink(missing_ok=True)
            start = CLOCK()
            work()
            if turn:
                best[way] = min(best[way], CLOCK() - start)
    return best


def _write(columns: dict[str, np.ndarray], arrow: Path, parquet: Path) -> None:
    """The table as others write it: Parquet with its defaults, compressed and with dictionaries."""
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    table = pa.table(columns)
    feather.write_feather(table, str(arrow), compression="uncompressed")
    pq.write_table(table, parquet)


def main() -> None:
    for figure in figures():
        print(f"{figure.what:60s} {figure.shown:>24s} {figure.shown_limit}")


if __name__ == "__main__":
    main()
