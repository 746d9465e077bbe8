"""Sweeps on a Dask cluster: chunks go out with their inputs and come back as results.

Nothing lives on a worker only: a task carries the program and its inputs, so a worker that dies
loses nothing; its chunks are given to others, and a chunk that failed is sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CardanError, InputError, MissingExtraError

if TYPE_CHECKING:
    from ..run.table import Table
    from .job import Kept

__all__ = ["run_on_dask"]

CONNECT = "10s"  # to wait for a scheduler
_TRIES = 10  # of one chunk


def run_on_dask(kept: Kept, table: Table, done: Callable[[int], None], cluster: Any) -> None:
    """Evaluate the missing chunks of a sweep; at most a few per thread are under way at once."""
    from .job import outputs

    if not kept.missing():
        return
    distributed, text = _distributed(), table.program.to_json()
    with _client(distributed, cluster) as client:
        tasks = distributed.as_completed(with_results=False)
        chunks = _loaded(kept, table)
        under_way: dict[Any, tuple[int, dict[str, np.ndarray], int, int]] = {}

        def submit(k: int, inputs: dict[str, np.ndarray], digest: int, tries: int) -> None:
            future = client.submit(work, text, kept.dtype, inputs, pure=False, retries=3)
            under_way[future] = (k, inputs, digest, tries)
            tasks.add(future)

        def fill() -> None:
            most = 2 * max(1, sum(client.nthreads().values()))
            while len(under_way) < most:
                item = next(chunks, None)
                if item is None:
                    return
                submit(*item, 1)

        fill()
        while under_way:
            future = next(tasks)
            k, inputs, digest, tries = under_way.pop(future)
            if future.status == "finished":
                kept.keep(k, outputs(kept.program, future.result()), digest)
                done(kept.size(k))
            elif tries < _TRIES:
                submit(k, inputs, digest, tries + 1)
            else:
                raise CardanError(f"chunk {k} failed {tries} times on the cluster: {_why(future)}")
            fill()


def _loaded(kept: Kept, table: Table) -> Iterator[tuple[int, dict[str, np.ndarray], int]]:
    """(number, inputs (size, rows), their digest) of every missing chunk, checked."""
    from .table import blocks

    for k, load in kept.source.chunks(kept.chunk, kept.missing()):
        given = load()
        seen = table(given, None)
        if not seen.finite:
            raise InputError(kept.source.fault(given, k * kept.chunk))
        yield k, blocks(table.program, given), seen.digest


def _why(future: Any) -> str:
    error = future.exception()
    return f"{type(error).__name__}: {error}"


@lru_cache(maxsize=4)
def _compiled(text: str, dtype: str) -> Table:
    """The machine code of a program's text, made once per worker."""
    from ..program import Program
    from ..run.table import Table

    return Table(Program.from_json(text), dtype)


def work(text: str, dtype: str, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """One chunk, on a worker: results (columns, rows)."""
    from .job import outputs, spaced

    table = _compiled(text, dtype)
    out = spaced(table.program, next(iter(inputs.values())).shape[1], dtype)
    table({name: list(block) for name, block in inputs.items()}, outputs(table.program, out))
    return np.ascontiguousarray(out)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtraError.of("Dask", "dist", "a sweep on a cluster") from None
    return distributed


@contextmanager
def _client(distributed: Any, cluster: Any) -> Iterator[Any]:
    """A client of the cluster; one made here is closed again."""
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    if not isinstance(cluster, str):
        raise InputError(f"dask = {cluster!r}; expected an address, 'local' or a client")
    if cluster == "local":
        with (
            distributed.LocalCluster(processes=True, dashboard_address=None) as local,
            distributed.Client(local) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(cluster, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at '{cluster}': {error}") from None
    with client:
        yield client
