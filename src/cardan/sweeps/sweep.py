"""Sweeps: a model over millions of states or parameter sets, in chunks that survive a kill.

Threads take a chunk each, from the table to the results: columns go into the machine code where
they lie, results come out as columns, and these go to their place in the file at once. What is done
is noted; starting again does what is missing. The bytes of the file do not depend on interruptions,
threads or workers. Without a file the results stay in memory.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..build.kept import description_hash
from ..describe.robot import Robot
from ..errors import InputError, UnknownNameError, translated
from ..ir.code import Code, Output
from ..program import Program
from ..run.table import Table
from .array import forget, part_of
from .array import merge as put_together
from .draws import RandomSource, random_states
from .engines import dask_engine, on_gpu, ray_engine, run_on
from .job import Job, Kept, Memory, outputs, spaced
from .stores import fetched, is_address, stored
from .table import Inputs, Source, blocks, column_names, open_source

CHUNK = 1 << 16  # rows, of a model with few outputs
_FEWEST = 1 << 10
_VALUES = 1 << 21  # results of a chunk
_KEPT = 4  # programs
_TELL = 0.2  # seconds
_recent: list[tuple[Code, str, Table]] = []  # programs swept last, compiled


@dataclass(frozen=True)
class Progress:
    """How far a sweep is: rows done of all, rows per second of this run, seconds to go."""

    done: int
    rows: int
    rate: float
    left: float


@dataclass(frozen=True)
class Sweep:
    """What a sweep did; `path` of its file, or `arrays` (rows, *shape) of each output."""

    path: Path | str | None  # an address in a store is text
    rows: int
    resumed: int  # rows that an earlier run had done
    seconds: float
    arrays: Mapping[str, np.ndarray] | None = field(default=None, repr=False)
    unchanged: bool = False  # the file of this job was there, and whole: nothing was done

    @property
    def rate(self) -> float:
        """Rows per second of this run."""
        return (self.rows - self.resumed) / self.seconds if self.seconds else 0.0

    @property
    def table(self) -> dict[str, np.ndarray]:
        """The columns tau1, tau2 ... of results in memory."""
        if self.arrays is None:
            raise InputError(f"the results are in {self.path}: read them from there")
        return {
            column: block.reshape(self.rows, -1)[:, k] if block.ndim > 1 else block
            for name, block in self.arrays.items()
            for k, column in enumerate(column_names(name, block.shape[1:]))
        }


@named_arguments
@translated("the sweep failed", remedy="check the table of states, and that there is room")
def sweep(
    program: Program, source: Any, target: str | Path | None = None, *, robot: Robot | None = None,
    seed: int = 0, keep: Sequence[str] | None = None, chunk: int | None = None,
    threads: int | None = 0, dask: Any = None, ray: Any = None, part: tuple[int, int] | None = None,
    merge: int = 0, gpu: bool = False, dtype: str = "float64", fresh: bool = False,
    force: bool = False, progress: Callable[[Progress], None] | None = None,
) -> Sweep:  # fmt: skip
    """Evaluate a program for every row of a table; write a Parquet file, or return the arrays.

    source: a path (.parquet, .arrow, .feather, .npz, .csv), a mapping of columns, a table of
    pyarrow or pandas, or a `Source`; a number of states to be drawn at random (`seed`) within the
    limits of `robot`, its loops closed. In this process by default, with all cores (`threads`); on
    the GPU with `gpu`; on a cluster with `dask` (an address, a client, or "local") or `ray` (an
    address, "local" or "running"), with `gpu` on the GPUs of its workers. `part=(k, n)` does the
    k-th of n parts into a file of its own, as a task of an array; `merge=n` puts them together.

    `keep`: inputs that are columns of the result too; by default those that were drawn. Files may
    be addresses of object stores (fsspec: s3://..., memory://...).

    A file that the same job has finished is left as it is (`Sweep.unchanged`); that of another job
    is refused, unless `force` replaces it. `fresh` forgets what an earlier run has done; without it
    an interrupted run of another job is refused. Without a target the results are in
    `Sweep.arrays`.

    >>> program = cardan.model(cardan.load("planar2r").with_values({"L1": 0.5}), "transform")
    >>> result = cardan.sweep(program, {"q1": np.zeros(100), "q2": np.linspace(0, 1, 100)})
    >>> result.rows, result.arrays["T"].shape
    (100, (100, 4, 4))
    >>> cardan.sweep(program, 50, robot=cardan.load("planar2r"), seed=1).rows
    50"""
    begin = time.perf_counter()
    if not isinstance(program, Program):
        raise InputError(f"a sweep takes a Program; this is a {type(program).__name__}")
    _check(threads, gpu, dask, ray, part, merge, target)
    with ExitStack() as stack:
        if is_address(source):
            source = stack.enter_context(fetched(source))
        local = stack.enter_context(stored(str(target))) if is_address(target) else target
        rows = _drawn(program, source, robot, seed) or open_source(program, source)
        if not rows.rows:
            raise InputError("the table has no rows")
        program = _keeping(program, rows, keep)
        if chunk is None:
            chunk = _rows_at_once(program, rows.rows if local is None and rows.volatile else 0)
        if not isinstance(chunk, int) or chunk < 1:
            raise InputError(f"chunk = {chunk}; expected a positive number of rows")
        table = _table(program, dtype)
        store: Kept | None = Memory(program, rows, chunk, dtype)
        if local is not None:
            place = "cuda" if gpu else "native"
            store = Job(program, rows, chunk, dtype, Path(local), place, _about(robot, rows))
            store = part_of(store, *part) if part else store
        if store is None:  # more parts than chunks
            return Sweep(None, 0, 0, time.perf_counter() - begin, unchanged=True)
        rows = store.source
        path = Path(target) if target is not None and not is_address(target) else target
        digest = lambda inputs: table(inputs, None).digest  # noqa: E731
        try:
            if store.open(fresh, force, digest):
                spent = time.perf_counter() - begin
                return Sweep(path, rows.rows, rows.rows, spent, unchanged=True)
            before = store.rows_done()
            report = _Reporter(progress, rows.rows, before, time.perf_counter())
            if merge:
                assert isinstance(store, Job)
                put_together(store, merge, digest, report.add)
            elif store.missing() and (dask is not None or ray is not None):
                engine = dask_engine(dask) if dask is not None else ray_engine(ray, gpu)
                run_on(stack.enter_context(engine), store, report.add, gpu)
            else:
                _run(store, _Hand(table, rows, gpu), report, threads)
            arrays = store.finish()
        except InputError:
            store.discard()
            raise
        finally:
            store.close()
        if merge:
            forget(Path(str(local)))
    return Sweep(path, rows.rows, before, time.perf_counter() - begin, arrays)


def _about(robot: Robot | None, source: Source) -> dict[str, Any]:
    """What a file says beside its job: the hash of the robot's description, the seed."""
    facts: dict[str, Any] = {} if robot is None else {"description": description_hash(robot)}
    return facts | ({"seed": source.seed} if isinstance(source, RandomSource) else {})


def _keeping(program: Program, source: Source, keep: Sequence[str] | None) -> Program:
    """The program whose outputs begin with the inputs that are kept; by default those drawn."""
    drawn = isinstance(source, RandomSource)
    if keep is None:
        keep = [x for x in program.inputs if x != "p" and x not in program.outputs] if drawn else []
    names = [keep] if isinstance(keep, str) else list(keep)
    for name in names:
        if name not in program.inputs:
            raise UnknownNameError.of("input to be kept", name, program.inputs)
        if name in program.outputs:
            raise InputError(f"keep = '{name}': the results have an array of this name")
    if not names:
        return program
    nodes = list(program.code.nodes)
    place = {node: k for k, node in enumerate(nodes)}
    first: dict[str, Output] = {}
    for name in names:
        refs = []
        for k in range(prod(program.inputs[name])):
            node = ("input", name, k)
            if node not in place:
                place[node] = len(nodes)
                nodes.append(node)
            refs.append(place[node])
        first[name] = Output(program.inputs[name], tuple(refs))
    code = replace(program.code, nodes=tuple(nodes), outputs={**first, **program.code.outputs})
    return replace(program, code=code, page=None)


def _drawn(program: Program, count: Any, robot: Robot | None, seed: int) -> Source | None:
    """So many states drawn at random; None where states are given."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        return None
    if not isinstance(robot, Robot):
        raise InputError(f"{count} states are drawn within the limits of a robot: give robot=...")
    return random_states(program, robot, int(count), seed)


def _check(
    threads: Any, gpu: bool, dask: Any, ray: Any, part: Any, merge: int, target: Any
) -> None:
    if threads is not None and (not isinstance(threads, int) or threads < 0):
        raise InputError(f"threads = {threads}; expected a positive number, or 0 for all cores")
    if sum(bool(x) for x in (dask is not None, ray is not None, part, merge)) > 1:
        raise InputError("give one of dask, ray, part and merge")
    if (part or merge) and target is None:
        raise InputError("the parts of an array are written to files: name the result's")


def _rows_at_once(program: Program, in_memory: int) -> int:
    """As many rows as a file likes, fewer when their results are many: they should fit a cache.
    From memory to memory more, but some chunks for every core."""
    columns = sum(prod(shape) for shape in program.outputs.values())
    few = max(_FEWEST, min(CHUNK, 1 << (_VALUES // max(1, columns)).bit_length() - 1))
    return max(few, min(4 * few, in_memory // (4 * (os.cpu_count() or 1))))


def _table(program: Program, dtype: str) -> Table:
    """The machine code of a program, kept for a while: writing its text takes time."""
    if dtype not in ("float64", "float32"):
        raise UnknownNameError.of("dtype", dtype, ("float64", "float32"))
    for code, kind, found in _recent:
        if code is program.code and kind == dtype and found.program is program:
            return found
    table = Table(program, dtype)
    _recent.append((program.code, dtype, table))
    del _recent[:-_KEPT]
    return table


@dataclass
class _Reporter:
    """Counts rows and tells who listens, from the thread that asked for the sweep."""

    listener: Callable[[Progress], None] | None
    rows: int
    before: int
    start: float
    done: int = 0

    def add(self, count: int) -> None:
        self.done += count
        self.tell()

    def tell(self) -> None:
        if self.listener is None:
            return
        rate = self.done / max(time.perf_counter() - self.start, 1e-9)
        left = (self.rows - self.before - self.done) / max(rate, 1e-9)
        self.listener(Progress(self.before + self.done, self.rows, rate, left))


class _Hand:
    """What one chunk needs: the model, here or on the GPU, and a word on inputs at fault."""

    def __init__(self, table: Table, source: Source, gpu: bool) -> None:
        self.table, self.source = table, source
        self.function: Any = table.program.compile("cuda", str(table.dtype)) if gpu else None
        self.device = threading.Lock()

    def __call__(self, inputs: Inputs, out: list[np.ndarray], row: int) -> int:
        """Fill the arrays of the results; the digest of the inputs."""
        seen = self.table(inputs, None if self.function else out)
        if not seen.finite:
            raise InputError(self.source.fault(inputs, row))
        if self.function:
            with self.device:
                results = on_gpu(self.function, blocks(self.table.program, inputs))
            for array, given in zip(out, outputs(self.table.program, results), strict=True):
                array[...] = given
        return seen.digest


def _run(kept: Kept, hand: _Hand, report: _Reporter, threads: int | None) -> None:
    """Every missing chunk, by as many threads as there are cores; this one reports."""
    missing = kept.missing()
    chunks = iter(kept.source.chunks(kept.chunk, missing))
    turn, stop = threading.Lock(), threading.Event()

    def work(tell: Callable[[], None]) -> None:
        spare = spaced(kept.program, min(kept.chunk, kept.source.rows), kept.dtype)
        while not stop.is_set():
            with turn:
                chunk = next(chunks, None)
            if chunk is None:
                return
            k, load = chunk
            out = kept.room(k, spare)
            kept.keep(k, out, hand(load(), out, k * kept.chunk))
            with turn:
                report.done += kept.size(k)
            tell()

    count = 1 if threads is None else threads or os.cpu_count() or 1
    count = max(1, min(count, len(missing)))
    if not missing:
        report.tell()
    with ThreadPoolExecutor(max(1, count - 1), thread_name_prefix="cardan-sweep") as pool:
        others = [pool.submit(work, lambda: None) for _ in range(count - 1)]
        try:
            work(report.tell)
        except BaseException:
            stop.set()
            raise
        while others:
            _, waiting = wait(others, timeout=_TELL)
            for done in set(others) - waiting:
                if done.exception() is not None:
                    stop.set()
                done.result()
            others = list(waiting)
            report.tell()
