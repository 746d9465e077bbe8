"""The files of a sweep: parts that survive a kill, and the one file they become.

A part is a chunk's results, raw, in a folder beside the target; it appears whole or not at all. The
target is written from the first chunk to the last while results come in, and put in its place when
it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..program import Program
from ..version import __version__
from .sweep_table import Source, column_names
from .tables import arrow, write_whole

__all__ = ["Assembly", "Job", "require_paths"]

Arrays = dict[str, np.ndarray]
_SAVE = 0.25  # seconds: what is done is on disk at the latest after this


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
    if Path(source).suffix.lower() not in (".parquet", ".csv"):
        raise InputError(f"{source}: states are read from .parquet or .csv")
    if not Path(source).is_file():
        raise InputError(f"{source}: there is no such file")
    if path.exists() and path.samefile(source):
        raise InputError(f"{path}: results would replace the states they come from")


@dataclass
class Job:
    """A sweep's files: the folder of parts, each named by its number."""

    program: Program
    source: Source
    target: Path
    chunk: int
    place: str
    dtype: str

    def __post_init__(self) -> None:
        require_paths(None, self.target)
        self.parts = self.target.with_name(f".{self.target.name}.parts")
        self.count = -(-self.source.rows // self.chunk)
        outputs = self.program.outputs.items()
        self.columns = [column for name, shape in outputs for column in column_names(name, shape)]
        self.text = self.program.to_json()

    def fingerprint(self) -> str:
        """What the results depend on."""
        what = [
            __version__, self.text, self.source.identity(), str(self.source.rows),
            str(self.chunk), self.place, self.dtype,
        ]  # fmt: skip
        return hashlib.sha256("\0".join(what).encode()).hexdigest()

    def prepare(self, fresh: bool) -> None:
        """Keep the parts of the same job; throw others away."""
        arrow("a sweep")
        note = self.parts / "job.json"
        mark = self.fingerprint()
        if not fresh and note.is_file():
            try:
                if json.loads(note.read_text(encoding="utf-8"))["job"] == mark:
                    return
            except (ValueError, LookupError, OSError, TypeError):
                pass
        shutil.rmtree(self.parts, ignore_errors=True)
        self.parts.mkdir()
        text = json.dumps({"job": mark, "rows": self.source.rows, "chunk": self.chunk})

        def write(file: str) -> None:
            Path(file).write_text(text, encoding="utf-8")

        write_whole(note, write)

    def part(self, k: int) -> Path:
        return self.parts / f"{k:08d}.f"

    def size(self, k: int) -> int:
        """Rows of a chunk."""
        return min(self.source.rows, (k + 1) * self.chunk) - k * self.chunk

    def is_done(self, k: int) -> bool:
        path = self.part(k)
        expected = self.size(k) * len(self.columns) * np.dtype(self.dtype).itemsize
        return path.is_file() and path.stat().st_size == expected

    def missing(self) -> list[int]:
        return [k for k in range(self.count) if not self.is_done(k)]

    def rows_done(self) -> int:
        return self.source.rows - sum(map(self.size, self.missing()))

    def keep(self, k: int, block: np.ndarray) -> None:
        """Write a chunk's results (columns, rows): aside, then in place at once."""
        path = self.part(k)
        temporary = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        with temporary.open("wb") as file:
            np.ascontiguousarray(block).tofile(file)
        os.replace(temporary, path)

    def pending(self) -> Iterator[tuple[int, Arrays]]:
        """(number, inputs) of every chunk that is missing."""
        missing = set(self.missing())
        if missing:
            for k, arrays in self.source.chunks(self.chunk, min(missing)):
                if k in missing:
                    yield k, arrays

    def assembly(self) -> Assembly:
        """The file that parts go to, in order."""
        return Assembly(self)

    def shape(self, k: int) -> tuple[int, int]:
        return len(self.columns), self.size(k)


class Assembly:
    """Writes the target in order; keeps what is not yet safe as parts every quarter of a second."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.pa = arrow("a sweep")
        kind = self.pa.float64() if job.dtype == "float64" else self.pa.float32()
        self.schema = self.pa.schema([(name, kind) for name in job.columns])
        self.path = job.parts / "assembled"
        self.writer = self.pa.parquet.ParquetWriter(
            self.path, self.schema, compression="none", use_dictionary=False,
            write_statistics=False,
        )  # fmt: skip
        self.next = 0
        self.unsaved: dict[int, np.ndarray] = {}
        self.saved = time.monotonic()

    def add(self, k: int, block: np.ndarray) -> None:
        """The results of chunk k; chunks before it that are parts go first."""
        self.unsaved[k] = block
        self._parts_before(k)
        self._append(block)
        if time.monotonic() - self.saved > _SAVE:
            self.save()

    def save(self) -> None:
        """What was added since the last time, as parts."""
        for k, block in self.unsaved.items():
            self.job.keep(k, block)
        self.unsaved.clear()
        self.saved = time.monotonic()

    def finish(self) -> None:
        """The rest from parts; then the file takes its place and the parts go."""
        self._parts_before(self.job.count)
        self.writer.close()
        os.replace(self.path, self.job.target)
        shutil.rmtree(self.job.parts, ignore_errors=True)

    def close(self) -> None:
        """Give up for now: nothing done is lost."""
        self.save()
        self.writer.close()

    def _parts_before(self, k: int) -> None:
        while self.next < k:
            path, shape = self.job.part(self.next), self.job.shape(self.next)
            self._append(np.memmap(path, self.job.dtype, "r", shape=shape))

    def _append(self, block: np.ndarray) -> None:
        table = self.pa.table(list(block), schema=self.schema)
        self.writer.write_table(table, row_group_size=self.job.chunk)
        self.next += 1
