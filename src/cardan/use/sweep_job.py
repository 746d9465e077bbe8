"""The files of a sweep: one that is filled chunk by chunk, and a note of the chunks it has.

In a folder beside the target lie the file that becomes it (`data`), eight bytes for every chunk
(`done`: a digest of its inputs once its results are written, 0 before), and what the job was
(`job.json`). The place of every chunk is known, so they are written once, in any order, and a
process that is killed leaves at worst a chunk that is not noted. When all are, the file is closed
and put in its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import CardanError, InputError
from ..program import Program
from ..version import __version__
from .sweep_parquet import MAGIC, Layout
from .sweep_table import Inputs, Source, column_names
from .tables import write_whole

__all__ = ["Job", "Kept", "Memory", "outputs", "require_paths", "spaced"]

READ = (".parquet", ".csv", ".arrow", ".feather")
_LARGEST = 1 << 31  # bytes of a column in a chunk
_AT_ONCE = 1024  # pieces that a system takes in one call


def require_paths(source: str | Path | None, target: str | Path) -> None:
    """Names and places of a sweep's files, before any work is done."""
    path = Path(target)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"{path}: results are written as .parquet")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder '{path.parent}'")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file for the results")
    if source is None:
        return
    if Path(source).suffix.lower() not in READ:
        raise InputError(f"{source}: states are read from {', '.join(READ)}")
    if not Path(source).is_file():
        raise InputError(f"{source}: there is no such file")
    if path.exists() and path.samefile(source):
        raise InputError(f"{path}: results would replace the states they come from")


def spaced(program: Program, rows: int, dtype: str) -> np.ndarray:
    """Memory for the columns (columns, rows) of the results. They do not begin at the same place of
    a page: written side by side they would drive each other out of the cache."""
    count = sum(prod(shape) for shape in program.outputs.values())
    return np.empty((count, rows + (72 - rows) % 512), dtype)[:, :rows]


def outputs(program: Program, block: np.ndarray) -> list[np.ndarray]:
    """Columns (columns, rows) of the results as an array (rows, *shape) of each output."""
    found, at = [], 0
    for shape in program.outputs.values():
        part = block[at : at + prod(shape)]
        found.append(np.moveaxis(part.reshape(*shape, block.shape[1]), -1, 0))
        at += prod(shape)
    return found


class Kept(Protocol):
    """Where results go, chunk by chunk."""

    program: Program
    source: Source
    chunk: int
    dtype: str

    def open(self, fresh: bool, digest: Callable[[Inputs], int]) -> None: ...

    def missing(self) -> list[int]:
        """Numbers of the chunks to do."""

    def rows_done(self) -> int: ...

    def size(self, k: int) -> int:
        """Rows of a chunk."""

    def room(self, k: int, spare: np.ndarray) -> list[np.ndarray]:
        """Where to put the results (rows, *shape) of a chunk."""

    def keep(self, k: int, results: Sequence[np.ndarray], digest: int) -> None: ...

    def finish(self) -> dict[str, np.ndarray] | None: ...

    def close(self) -> None: ...


class Memory:
    """Results in memory: an array (rows, *shape) of each output."""

    def __init__(self, program: Program, source: Source, chunk: int, dtype: str) -> None:
        self.program, self.source, self.chunk, self.dtype = program, source, chunk, dtype
        self.arrays = {
            name: np.empty((source.rows, *shape), dtype) for name, shape in program.outputs.items()
        }

    def open(self, fresh: bool, digest: Callable[[Inputs], int]) -> None:
        """Nothing is there yet."""

    def missing(self) -> list[int]:
        return list(range(-(-self.source.rows // self.chunk)))

    def rows_done(self) -> int:
        return 0

    def size(self, k: int) -> int:
        return min(self.source.rows, (k + 1) * self.chunk) - k * self.chunk

    def room(self, k: int, spare: np.ndarray) -> list[np.ndarray]:
        return [x[k * self.chunk : (k + 1) * self.chunk] for x in self.arrays.values()]

    def keep(self, k: int, results: Sequence[np.ndarray], digest: int) -> None:
        for mine, given in zip(self.room(k, results[0]), results, strict=True):
            if not np.may_share_memory(mine, given):
                mine[...] = given

    def finish(self) -> dict[str, np.ndarray]:
        return self.arrays

    def close(self) -> None:
        """Nothing to close."""


def _columns(program: Program) -> tuple[str, ...]:
    return tuple(x for name, shape in program.outputs.items() for x in column_names(name, shape))


@dataclass
class Job:
    """Results in a file that survives a kill."""

    program: Program
    source: Source
    chunk: int
    dtype: str
    target: Path
    place: str

    def __post_init__(self) -> None:
        require_paths(None, self.target)
        if self.chunk * np.dtype(self.dtype).itemsize >= _LARGEST:
            raise InputError(f"chunk = {self.chunk}; expected fewer rows than {_LARGEST // 8}")
        self.columns = _columns(self.program)
        self.layout = Layout(self.columns, self.source.rows, self.chunk, self.dtype)
        self.folder = self.target.with_name(f".{self.target.name}.parts")
        self.done = np.zeros(self.layout.groups, "<u8")
        self._lock = threading.Lock()
        self._files: list[FileIO] = []

    def fingerprint(self) -> str:
        """What the results depend on."""
        what = [
            __version__, self.program.to_json(), self.source.identity(), str(self.source.rows),
            str(self.chunk), self.place, self.dtype,
        ]  # fmt: skip
        return hashlib.sha256("\0".join(what).encode()).hexdigest()

    def open(self, fresh: bool, digest: Callable[[Inputs], int]) -> None:
        """Go on where a run of the same job has stopped, or begin."""
        note, mark = self.folder / "job.json", self.fingerprint()
        if fresh or not _is_noted(note, mark):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
            (self.folder / "done").write_bytes(self.done.tobytes())
            (self.folder / "data").write_bytes(MAGIC)
            text = json.dumps({"job": mark, "rows": self.source.rows, "chunk": self.chunk})
            write_whole(note, lambda file: _write_text(file, text))
        self._files = [FileIO(str(self.folder / name), "r+") for name in ("data", "done")]
        data, done = self._files
        kept = np.frombuffer(done.readall()[: self.done.nbytes], "<u8")
        self.done[: len(kept)] = kept
        length = data.seek(0, os.SEEK_END)
        ends = [min(self.layout.start(k + 1), self.layout.end) for k in range(len(self.done))]
        self.done[np.array(ends) > length] = 0
        if self.source.volatile:
            self._check(digest)

    def _check(self, digest: Callable[[Inputs], int]) -> None:
        """Forget the chunks whose inputs are not what they were."""
        kept = np.flatnonzero(self.done).tolist()
        for k, load in self.source.chunks(self.chunk, kept):
            if digest(load()) != int(self.done[k]):
                self.done[k] = 0

    def missing(self) -> list[int]:
        found: list[int] = np.flatnonzero(self.done == 0).tolist()
        return found

    def rows_done(self) -> int:
        return self.source.rows - sum(map(self.size, self.missing()))

    def size(self, k: int) -> int:
        return self.layout.size(k)

    def room(self, k: int, spare: np.ndarray) -> list[np.ndarray]:
        return outputs(self.program, spare[:, : self.size(k)])

    def keep(self, k: int, results: Sequence[np.ndarray], digest: int) -> None:
        """Write a chunk's results, then note that they are."""
        rows = self.size(k)
        head = self.layout.head(rows)
        pieces: list[bytes | memoryview] = []
        for array in results:
            for column in np.moveaxis(array, 0, -1).reshape(-1, rows):
                pieces += [head, column.data.cast("B")]
        with self._lock:  # a file takes one writer at a time anyway
            data, done = self._files
            _write(data, self.layout.start(k), pieces)
            self.done[k] = digest
            _write(done, 8 * k, [self.done[k : k + 1].tobytes()])

    def finish(self) -> None:
        """Close the file, and put it in its place."""
        if self.missing():
            raise CardanError("chunks were left undone: run the same sweep again to go on")
        data, _ = self._files
        foot = self.layout.foot()
        _write(data, self.layout.end, [foot])
        data.truncate(self.layout.end + len(foot))
        self.close()
        os.replace(self.folder / "data", self.target)
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        """Nothing that was kept is lost."""
        for file in self._files:
            file.close()


def _is_noted(note: Path, mark: str) -> bool:
    try:
        found: Any = json.loads(note.read_text(encoding="utf-8"))["job"]
    except (ValueError, LookupError, OSError, TypeError):
        return False
    files: Sequence[str] = ("data", "done")
    return bool(found == mark) and all((note.parent / name).is_file() for name in files)


def _write(file: FileIO, place: int, pieces: Sequence[bytes | memoryview]) -> None:
    """Pieces one after the other: many in one call where the system can, else one by one."""
    at_once = hasattr(os, "pwritev")
    step = _AT_ONCE if at_once else 1
    for first in range(0, len(pieces), step):
        some = pieces[first : first + step]
        size = sum(map(len, some))
        done = os.pwritev(file.fileno(), some, place) if at_once else 0
        if done < size:  # the system may take a part at a time
            rest = memoryview(b"".join(some))[done:]
            file.seek(place + done)
            while len(rest):
                rest = rest[file.write(rest) or 0 :]
        place += size


def _write_text(file: str, text: str) -> None:
    Path(file).write_text(text, encoding="utf-8")
