"""Sweeps: a model over millions of states or parameter sets, in chunks that survive a kill.

Every finished chunk is a file beside the target, written whole or not at all. Starting again does
what is missing; when nothing is, the chunks are assembled, in order, into one Parquet file. Its
bytes do not depend on interruptions, threads or workers.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CardanError, InputError
from ..program import Program
from .sweep_job import Arrays, Assembly, Job
from .sweep_table import open_source

__all__ = ["CHUNK", "Progress", "Sweep", "evaluate", "sweep"]

CHUNK = 1 << 16  # rows


@dataclass(frozen=True)
class Progress:
    """How far a sweep is: rows done of all, rows per second of this run, seconds to go."""

    done: int
    rows: int
    rate: float
    left: float


@dataclass(frozen=True)
class Sweep:
    """What a sweep did."""

    path: Path
    rows: int
    resumed: int  # rows that an earlier run had done
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second of this run."""
        return (self.rows - self.resumed) / self.seconds if self.seconds else 0.0


def sweep(
    program: Program, source: Any, target: str | Path, *, chunk: int = CHUNK,
    threads: int | None = 0, dask: Any = None, gpu: bool = False, dtype: str = "float64",
    fresh: bool = False, progress: Callable[[Progress], None] | None = None,
) -> Sweep:  # fmt: skip
    """Evaluate a program for every row of a table and write the results to a Parquet file.

    source: a path (.parquet, .csv), a mapping of columns or a `Source`. In this process by
    default, with all cores (`threads`); on the GPU with `gpu`; on a Dask cluster with `dask`, its
    address, a client, or "local". `fresh` forgets what an earlier run has done."""
    begin = time.perf_counter()
    rows = open_source(program, source)
    if not isinstance(chunk, int) or chunk < 1:
        raise InputError(f"chunk = {chunk}; expected a positive number of rows")
    if gpu and dask is not None:
        raise InputError("give gpu or dask, not both")
    if not rows.rows:
        raise InputError("the table has no rows")
    job = Job(program, rows, Path(target), chunk, "cuda" if gpu else "native", dtype)
    job.prepare(fresh)
    before = job.rows_done()
    report = _Reporter(progress, rows.rows, before, time.perf_counter())
    run = _on_dask if dask is not None else _here
    run(job, report, dask if dask is not None else threads)
    return Sweep(job.target, rows.rows, before, time.perf_counter() - begin)


@dataclass
class _Reporter:
    """Counts rows and tells who listens."""

    listener: Callable[[Progress], None] | None
    rows: int
    before: int
    start: float
    done: int = 0

    def add(self, count: int) -> None:
        self.done += count
        if self.listener is None:
            return
        rate = self.done / max(time.perf_counter() - self.start, 1e-9)
        left = (self.rows - self.before - self.done) / rate
        self.listener(Progress(self.before + self.done, self.rows, rate, left))


def evaluate(function: Any, inputs: Arrays, threads: int | None = None) -> np.ndarray:
    """All outputs (columns, rows) of a compiled function of inputs (size, rows): no row is ever
    turned around, native code reads and writes columns."""
    program = function.program
    rows = next(iter(inputs.values())).shape[1]
    if function.target == "cuda":
        return _on_gpu(function, inputs, rows)
    given = {
        name: np.moveaxis(block.reshape(*program.inputs[name], rows), -1, 0)
        for name, block in inputs.items()
    }
    sizes = {name: prod(shape) for name, shape in program.outputs.items()}
    result = np.empty((sum(sizes.values()), rows), function.dtype)
    out, at = [], 0
    for name, shape in program.outputs.items():
        part = result[at : at + sizes[name]].reshape(*shape, rows)
        out.append(np.moveaxis(part, -1, 0))
        at += sizes[name]
    function(**given, out=out, threads=threads)
    return result


def _on_gpu(function: Any, inputs: Arrays, rows: int) -> np.ndarray:
    import cupy  # type: ignore[import-not-found, unused-ignore]

    found = function(layout="columns", **inputs)
    listed = list(found) if isinstance(found, tuple) else [found]
    return np.concatenate([cupy.asnumpy(x).reshape(-1, rows) for x in listed])


def _here(job: Job, report: _Reporter, threads: int | None) -> None:
    """Read ahead, compute, and write behind: three hands in one process."""
    assembly = job.assembly()
    try:
        if job.missing():
            _compute(job, assembly, report, threads)
        assembly.finish()
    except BaseException:
        assembly.close()
        raise


def _compute(job: Job, assembly: Assembly, report: _Reporter, threads: int | None) -> None:
    function: Any = job.program.compile(job.place, job.dtype)
    with ThreadPoolExecutor(1) as writer:
        behind: list[Any] = []
        for k, inputs in _ahead(job.pending()):
            block = evaluate(function, inputs, None if job.place == "cuda" else threads)
            behind.append(writer.submit(assembly.add, k, block))
            if len(behind) > 2:
                behind.pop(0).result()
            report.add(job.size(k))
        for write in behind:
            write.result()


def _ahead(items: Iterator[Any], depth: int = 2) -> Iterator[Any]:
    """The same items, prepared in another thread; its errors are raised here."""
    waiting: queue.Queue[Any] = queue.Queue(depth)
    end, stop = object(), threading.Event()

    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
            put((end, None))
        except BaseException as error:
            put((end, error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is end:
                return
            yield item
    finally:
        stop.set()
        thread.join()


def _on_dask(job: Job, report: _Reporter, cluster: Any) -> None:
    from .sweep_dask import run_on_dask

    if job.missing():
        run_on_dask(job, report.add, cluster)
    if job.missing():
        raise CardanError("the cluster left chunks undone: run the same sweep again to go on")
    job.assembly().finish()
