"""The files of a sweep: one that is filled chunk by chunk, and a note of the chunks it has.

In a folder beside the target lie the file that becomes it (`data`), eight bytes for every chunk
(`done`: a digest of its inputs once its results are written, 0 before), and what the job was
(`job.json`). The place of every chunk is known, so they are written once, in any order, and a
process that is killed leaves at worst a chunk that is not noted. When all are, the file is closed
and put in its place. Every few seconds the results are forced to the disk, then the notes copied
(`safe`): after a restart of the machine, only these count.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
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
from .sweep_disk import boot, force, lock, reserve, said, write_at
from .sweep_parquet import MAGIC, Layout
from .sweep_table import Inputs, Source, column_names
from .tables import write_whole

__all__ = ["Job", "Kept", "Memory", "outputs", "require_paths", "spaced"]

READ = (".parquet", ".csv", ".arrow", ".feather", ".npz")
_LARGEST = 1 << 31  # bytes of a column in a chunk
_FORCED = 5.0  # seconds: how much work a power cut may cost


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

    def discard(self) -> None:
        """The inputs are at fault: leave nothing that could not be gone on with."""

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

    def discard(self) -> None:
        """Nothing is left."""

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
        require_paths(getattr(self.source, "path", None), self.target)
        if self.chunk * np.dtype(self.dtype).itemsize >= _LARGEST:
            raise InputError(f"chunk = {self.chunk}; expected fewer rows than {_LARGEST // 8}")
        self.columns = _columns(self.program)
        self.layout = Layout(self.columns, self.source.rows, self.chunk, self.dtype)
        self.folder = self.target.with_name(f".{self.target.name}.parts")
        self.done = np.zeros(self.layout.groups, "<u8")
        self._lock = threading.Lock()
        self._files: list[FileIO] = []
        self._forced = time.monotonic()
        self._mine = False  # the folder is this job's

    def facts(self) -> dict[str, Any]:
        """What the results depend on."""
        text = self.program.to_json()
        return {
            "version": __version__,
            "model": f"{self.program.model} of {self.program.robot}",
            "program": hashlib.sha256(text.encode()).hexdigest(),
            "states": self.source.identity(), "rows": self.source.rows, "chunk": self.chunk,
            "dtype": self.dtype, "run by": self.place,
        }  # fmt: skip

    def open(self, fresh: bool, digest: Callable[[Inputs], int]) -> None:
        """Go on where a run of the same job has stopped, or begin."""
        with said(self.target):
            self._open(fresh)
        if self.source.volatile:
            self._check(digest)

    def _open(self, fresh: bool) -> None:
        facts, note = self.facts(), self.folder / "job.json"
        self.folder.mkdir(exist_ok=True)
        alone = FileIO(str(self.folder / "lock"), "w")
        self._files = [alone]
        lock(alone, self.target)
        found = _noted(note)
        if found is None or fresh or found.get("job") != facts:
            if found is not None and not fresh:
                self._refuse(found.get("job"), facts)
            self._begin(note, facts)
        elif found.get("boot") != boot():
            self._restarted(note, facts)
        self._mine = True
        self._files += [FileIO(str(self.folder / name), "r+") for name in ("data", "done")]
        _, data, done = self._files
        kept = np.frombuffer(done.readall()[: self.done.nbytes], "<u8")
        self.done[: len(kept)] = kept
        length = data.seek(0, os.SEEK_END)
        ends = [min(self.layout.start(k + 1), self.layout.end) for k in range(len(self.done))]
        self.done[np.array(ends) > length] = 0

    def _refuse(self, found: Any, facts: dict[str, Any]) -> None:
        """An interrupted run of another job is not thrown away unasked."""
        marks = np.frombuffer((self.folder / "done").read_bytes(), "<u1")
        if not isinstance(found, dict) or not marks.any():
            return
        other = [key for key, value in facts.items() if found.get(key) != value]
        known = [key for key in other if key != "program"] or ["model's options or parameters"]
        told = ", ".join(
            f"{key} {found[key]} then, {facts[key]} now"
            if key in found and key != "states"
            else f"other {key}"
            for key in known
        )
        raise InputError(
            f"{self.target}: an interrupted sweep that is not this one lies in '{self.folder}'"
            f" ({told}): run that one again to finish it, name another file, or forget it with"
            " fresh=True"
        )

    def _begin(self, note: Path, facts: dict[str, Any]) -> None:
        for name in ("job.json", "safe"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "done").write_bytes(bytes(self.done.nbytes))
        (self.folder / "data").write_bytes(MAGIC)
        self._mine = True
        with FileIO(str(self.folder / "data"), "r+") as data:
            reserve(data, self.layout.end, self.target)
        _write_json(note, {"job": facts, "boot": boot()})

    def _restarted(self, note: Path, facts: dict[str, Any]) -> None:
        """The machine was started anew, perhaps after a power cut: trust what was forced."""
        safe = self.folder / "safe"
        marks = safe.read_bytes() if safe.is_file() else bytes(self.done.nbytes)
        (self.folder / "done").write_bytes(marks)
        _write_json(note, {"job": facts, "boot": boot()})

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
        with self._lock, said(self.target):  # a file takes one writer at a time anyway
            _, data, done = self._files
            write_at(data, self.layout.start(k), pieces)
            self.done[k] = digest
            write_at(done, 8 * k, [self.done[k : k + 1].tobytes()])
            due = time.monotonic() - self._forced > _FORCED
            marks = self.done.tobytes() if due else b""
            self._forced = time.monotonic() if due else self._forced
        if due:  # the others go on meanwhile
            force(data)
            with FileIO(str(self.folder / "job.json")) as note:
                force(note)
            write_whole(self.folder / "safe", lambda file: _forced(file, marks))

    def finish(self) -> None:
        """Close the file, and put it in its place."""
        if self.missing():
            raise CardanError("chunks were left undone: run the same sweep again to go on")
        with said(self.target):
            _, data, _ = self._files
            foot = self.layout.foot()
            write_at(data, self.layout.end, [foot])
            data.truncate(self.layout.end + len(foot))
            if (self.folder / "safe").is_file():  # a long run is worth the wait
                force(data)
            os.replace(self.folder / "data", self.target)
            shutil.rmtree(self.folder, ignore_errors=True)
            self.close()

    def discard(self) -> None:
        if self._mine and (not self.source.volatile or not self.done.any()):
            shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        """Nothing that was kept is lost."""
        for file in self._files:
            file.close()


def _noted(note: Path) -> dict[str, Any] | None:
    """What the folder's job was; None if there is none, or it is not whole."""
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    whole = all((note.parent / name).is_file() for name in ("data", "done"))
    return found if whole and isinstance(found, dict) else None


def _write_json(path: Path, data: Any) -> None:
    def write(file: str) -> None:
        Path(file).write_text(json.dumps(data), encoding="utf-8")

    write_whole(path, write)


def _forced(path: str, content: bytes) -> None:
    """Bytes that are on the disk before anything is built on them."""
    with FileIO(path, "w") as file:
        file.write(content)
        force(file)
