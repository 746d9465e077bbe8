"""Sweeps against the bare compiled batch on the same rows, all cores, side by side.

python -m bench.sweep      a million states of a 7R, and a heavy model where files hardly count
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from bench.timing import Figure, best_of

import cardan
from cardan.program import Program
from cardan.use.sweep import sweep
from cardan.use.tables import write_table

__all__ = ["figures"]

ROUNDS = 3


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return [
            *measured(Path(folder), "iiwa14", "inverse-dynamics", 1_000_000),
            *measured(Path(folder), "snake30", "direct-dynamics", 200_000),
        ]


def measured(folder: Path, name: str, model: str, rows: int) -> list[Figure]:
    """The sweep against the batch alone, and against reading, one batch call and writing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    program: Program = cardan.model(cardan.load(name), model)
    source, target = folder / "states.parquet", folder / "results.parquet"
    rng = np.random.default_rng(0)
    states = {key: rng.uniform(-1, 1, (rows, *shape)) for key, shape in program.inputs.items()}
    columns = {f"{k}{j}": c for k, x in states.items() for j, c in enumerate(x.T, 1)}
    write_table(source, columns)
    f: Any = program.compile()
    f(**states, threads=0)
    output = next(iter(program.outputs))

    def by_hand() -> None:
        table = pq.read_table(source)
        read = {
            key: np.stack([table.column(f"{key}{j}").to_numpy() for j in range(1, x.shape[1] + 1)])
            for key, x in states.items()
        }
        found = f(**{key: x.T for key, x in read.items()}, threads=0)
        pq.write_table(pa.table({f"{output}{j}": c for j, c in enumerate(found.T, 1)}), target)

    swept = best_of(ROUNDS, lambda: sweep(program, source, target, fresh=True))
    bare = best_of(ROUNDS, lambda: f(**states, threads=0))
    files = best_of(ROUNDS, by_hand)
    what = f"{name} {model}, {rows} rows"
    return [
        Figure(f"sweep, {what}", rows / swept / 1e6, "million rows/s"),
        Figure("the batch alone", rows / bare / 1e6, "million rows/s"),
        Figure("sweep over the batch alone", bare / swept, ""),
        Figure("sweep over read, batch, write", files / swept, "", 0.7, at_least=True),
    ]


def main() -> None:
    for figure in figures():
        print(f"{figure.what:60s} {figure.shown:>24s} {figure.shown_limit}")


if __name__ == "__main__":
    main()
