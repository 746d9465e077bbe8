"""Sweeps elsewhere: chunks go out as tasks to an engine (Dask, Ray) and come back as results.

Nothing lives on a worker only: a task carries the program and its inputs, or how they are drawn, so
a worker that dies loses nothing; its chunks are given to others, and a chunk that failed is sent
again. A worker on the machine of the file writes its chunks there itself. An engine is three
methods; a new one needs no more. Arrays of SLURM are in `array`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import CardanError, InputError, MissingExtraError, translated
from .draws import RandomSource
from .job import outputs, spaced
from .table import Inputs, blocks

if TYPE_CHECKING:
    from ..program import Program
    from ..run.table import Table
    from .job import Kept, Place

_last = threading.local()  # of a worker's thread
CONNECT = "10s"  # to wait for a scheduler
_TRIES = 10  # of a ticket
_CHUNKS = 8  # of a ticket


@dataclass(frozen=True)
class Task:
    """A chunk for a worker: the program's text, and its inputs (size, rows) or what draws them."""

    program: str
    dtype: str
    number: int
    rows: int
    inputs: dict[str, np.ndarray] | RandomSource
    gpu: bool = False
    place: Place | None = None  # in a file that a worker of the same machine writes itself


@dataclass(frozen=True)
class Answer:
    """Results (columns, rows) of a task, or the checksum of those that are in the file already; the
    digest of its inputs; `finite`: they are numbers."""

    results: np.ndarray | int
    digest: int
    finite: bool


class Engine(Protocol):
    """Workers elsewhere."""

    def capacity(self) -> int:
        """Tasks that are worked on at once."""

    def submit(self, tasks: Sequence[Task]) -> Any:
        """A ticket; the tasks are under way, one after the other."""

    def finished(self) -> tuple[Any, Sequence[Answer] | BaseException]:
        """The next ticket whose tasks have ended, with their answers or what went wrong."""


def run_on(engine: Engine, kept: Kept, done: Callable[[int], None], gpu: bool = False) -> None:
    """Evaluate the missing chunks of a sweep; at most a few tickets per worker are under way at
    once. A ticket costs an engine as much as ten thousand rows: it is for several chunks."""
    workers = max(1, engine.capacity())
    several = max(1, min(_CHUNKS, len(kept.missing()) // (4 * workers)))
    tasks = _tasks(kept, gpu)
    groups = iter(lambda: list(islice(tasks, several)), [])
    under_way: dict[Any, tuple[Sequence[Task], int]] = {}

    def fill() -> None:
        while len(under_way) < 3 * max(1, engine.capacity()):
            group = next(groups, None)
            if group is None:
                return
            under_way[engine.submit(group)] = group, 1

    fill()
    while under_way:
        ticket, answers = engine.finished()
        group, tries = under_way.pop(ticket)
        if not isinstance(answers, BaseException):
            for task, answer in zip(group, answers, strict=True):
                _take(kept, task, answer)
                done(task.rows)
        elif tries < _TRIES:
            under_way[engine.submit(group)] = group, tries + 1
        else:
            why = f"{type(answers).__name__}: {answers}"
            raise CardanError(f"chunk {group[0].number} failed {tries} times on the cluster: {why}")
        fill()


def _take(kept: Kept, task: Task, answer: Answer) -> None:
    if not answer.finite:
        raise InputError(_fault(kept, task.number))
    if isinstance(answer.results, int):
        kept.note(task.number, answer.digest, answer.results)
    else:
        kept.keep(task.number, outputs(kept.program, answer.results), answer.digest)


def _tasks(kept: Kept, gpu: bool) -> Iterator[Task]:
    """Every missing chunk; states that are drawn are drawn by the worker."""
    text, source = kept.program.to_json(), kept.source
    if isinstance(source, RandomSource) and source.loops is None:
        drawn = replace(source, program=None)
        for k in kept.missing():
            yield Task(text, kept.dtype, k, kept.size(k), drawn, gpu, kept.address(k))
        return
    for k, load in source.chunks(kept.chunk, kept.missing()):
        inputs = blocks(kept.program, load())
        yield Task(text, kept.dtype, k, kept.size(k), inputs, gpu, kept.address(k))


def _fault(kept: Kept, number: int) -> str:
    """What is wrong with the inputs of a chunk."""
    _, load = next(iter(kept.source.chunks(kept.chunk, [number])))
    return kept.source.fault(load(), number * kept.chunk)


@lru_cache(maxsize=4)
def _compiled(text: str, dtype: str) -> Table:
    """The machine code of a program's text, made once per worker."""
    from ..program import Program
    from ..run.table import Table

    return Table(Program.from_json(text), dtype)


@lru_cache(maxsize=4)
def _on_device(text: str, dtype: str) -> Any:
    return _compiled(text, dtype).program.compile("cuda", dtype)


def work(tasks: Sequence[Task]) -> list[Answer]:
    """Some chunks, on a worker."""
    return [_answer(task) for task in tasks]


def _answer(task: Task) -> Answer:
    table = _compiled(task.program, task.dtype)
    program = table.program
    if isinstance(task.inputs, RandomSource):
        inputs: Inputs = replace(task.inputs, program=program).states(task.number, task.rows)
    else:
        inputs = {name: list(block) for name, block in task.inputs.items()}
    if task.gpu:
        seen = table(inputs, None)
        arrays = blocks(program, inputs)
        return Answer(
            on_gpu(_on_device(task.program, task.dtype), arrays), seen.digest, seen.finite
        )
    out = _room(program, task.rows, task.dtype)
    results = outputs(program, out)
    seen = table(inputs, results)
    if seen.finite and task.place is not None:
        checksum = task.place.reached(results, seen.digest)
        if checksum is not None:
            return Answer(checksum, seen.digest, True)
    return Answer(out.copy(), seen.digest, seen.finite)


def _room(program: Program, rows: int, dtype: str) -> np.ndarray:
    """Memory for the results of a chunk, that of the last one where it fits: new pages cost as much
    as a cheap model."""
    last: np.ndarray | None = getattr(_last, "room", None)
    columns = sum(prod(shape) for shape in program.outputs.values())
    if last is None or last.shape != (columns, rows) or last.dtype != dtype:
        last = _last.room = spaced(program, rows, dtype)
    return last


def on_gpu(function: Any, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    """All outputs (columns, rows) of a function compiled for the GPU."""
    import cupy  # type: ignore[import-not-found, unused-ignore]

    rows = next(iter(inputs.values())).shape[1]
    results = function(layout="columns", **inputs)
    listed = list(results) if isinstance(results, tuple) else [results]
    return np.concatenate([cupy.asnumpy(x).reshape(-1, rows) for x in listed])


def _module(name: str, title: str, extra: str) -> Any:
    """An optional library."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError.of(title, extra, "a sweep on a cluster") from None


class _Dask:
    """A client of Dask. Arrays are put on a worker before their task is sent."""

    def __init__(self, distributed: Any, client: Any) -> None:
        self.client = client
        self.ended = distributed.as_completed(with_results=False)

    def capacity(self) -> int:
        return sum(self.client.nthreads().values())

    def submit(self, tasks: Sequence[Task]) -> Any:
        payload: Any = tasks
        if not isinstance(tasks[0].inputs, RandomSource):
            payload = self.client.scatter([tuple(tasks)], hash=False)[0]
        future = self.client.submit(work, payload, pure=False, retries=3)
        self.ended.add(future)
        return future

    def finished(self) -> tuple[Any, Sequence[Answer] | BaseException]:
        future = next(self.ended)
        if future.status == "finished":
            try:
                return future, future.result()
            except Exception as error:  # the worker died before the result was fetched
                return future, error
        why = None if future.status == "cancelled" else future.exception()
        return future, why or CardanError(f"the task was {future.status}")


@contextmanager
def dask_engine(cluster: Any) -> Iterator[Engine]:
    """Dask: an address, 'local' or a client; what is made here is closed again."""
    distributed = _module("distributed", "Dask", "dist")
    if isinstance(cluster, distributed.Client):
        yield _Dask(distributed, cluster)
        return
    if not isinstance(cluster, str):
        raise InputError(f"dask = {cluster!r}; expected an address, 'local' or a client")
    if cluster == "local":
        with translated("no workers of Dask began on this machine", of=(RuntimeError, OSError)):
            local = distributed.LocalCluster(processes=True, dashboard_address=None)
        with local, distributed.Client(local) as client:
            yield _Dask(distributed, client)
        return
    try:
        client = distributed.Client(cluster, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at '{cluster}': {error}") from None
    with client:
        yield _Dask(distributed, client)


class _Ray:
    """A session of Ray."""

    def __init__(self, ray: Any, gpu: bool) -> None:
        self.ray = ray
        self.remote = ray.remote(num_cpus=1, num_gpus=1 if gpu else 0, max_retries=3)(work)
        self.under_way: list[Any] = []

    def capacity(self) -> int:
        return int(self.ray.cluster_resources().get("CPU", 1))

    def submit(self, tasks: Sequence[Task]) -> Any:
        ticket = self.remote.remote(tasks)
        self.under_way.append(ticket)
        return ticket

    def finished(self) -> tuple[Any, Sequence[Answer] | BaseException]:
        (ticket, *_), self.under_way = self.ray.wait(self.under_way, num_returns=1)
        try:
            return ticket, self.ray.get(ticket)
        except Exception as error:  # of the worker, or what the work raised there
            return ticket, error


@contextmanager
def ray_engine(cluster: Any, gpu: bool = False) -> Iterator[Engine]:
    """Ray: 'local', an address, or 'running' for a session that this process has begun."""
    ray = _module("ray", "Ray", "ray")
    if not isinstance(cluster, str):
        raise InputError(f"ray = {cluster!r}; expected an address, 'local' or 'running'")
    if ray.is_initialized():
        yield _Ray(ray, gpu)
        return
    if cluster == "running":
        raise InputError("no session of Ray has begun in this process: call ray.init first")
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
    try:
        ray.init(**quiet) if cluster == "local" else ray.init(
            address=cluster, log_to_driver=False, logging_level="ERROR"
        )
    except (ConnectionError, ValueError) as error:
        raise InputError(f"no cluster of Ray answers at '{cluster}': {error}") from None
    try:
        yield _Ray(ray, gpu)
    finally:
        ray.shutdown()
