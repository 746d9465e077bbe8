"""The files of a sweep: one that is filled chunk by chunk, and a note of the chunks it has.

In a folder beside the target lie the file that becomes it (`data`), sixteen bytes for every chunk
(`done`: a digest of its inputs and a checksum once its results are written, 0 before), and what the
job was (`job.json`). The place of every chunk is known, so they are written once, in any order, and
a process that is killed leaves at worst a chunk that is not noted. When all are, the file is closed
and put in its place. Every few seconds the results are forced to the disk, then the notes copied
(`safe`): after a restart of the machine, only these count.

A checksum covers the job, the chunk's number, the digest of its inputs and its results. A run that
goes on reads what is noted and does again what does not match. A file that is finished names its
job and holds the checksums: the same job knows it again, another one does not replace it unasked.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import CardanError, CardanWarning, InputError
from ..files import write_whole
from ..program import Program
from ..version import __version__
from .disk import boot, force, lock, own_file, reserve, said, sums, write_at
from .parquet import MAGIC, Layout, job_text
from .table import Inputs, Source, column_names

READ = (".parquet", ".csv", ".arrow", ".feather", ".npz")
_LARGEST = 1 << 31  # bytes of a column in a chunk
_FORCED = 5.0  # seconds: how much work a power cut may cost
_READ_BACK = 1 << 28  # bytes of a file that is read back whole, of a larger one about as much


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
    columns, at = [], 0
    for shape in program.outputs.values():
        part = block[at : at + prod(shape)]
        columns.append(np.moveaxis(part.reshape(*shape, block.shape[1]), -1, 0))
        at += prod(shape)
    return columns


@dataclass(frozen=True)
class Place:
    """Where a chunk lies in the file of a sweep, for this process or one of the same machine."""

    folder: Path
    boot: str  # of the machine
    note: bytes  # the content of job.json
    file: tuple[int, int]  # device and inode of `data`
    key: str  # of the job
    number: int
    start: int
    head: bytes

    def reached(self, results: Sequence[np.ndarray], digest: int) -> int | None:
        """Write a chunk and give its checksum; None on another machine, in another container, or
        where the file is that of the sweep no more."""
        if not self.boot or self.boot != boot():
            return None
        columns = _listed(results)
        try:
            if (self.folder / "job.json").read_bytes() != self.note:
                return None
            with own_file(self.folder / "data", "r+") as file:
                status = os.fstat(file.fileno())
                if (status.st_dev, status.st_ino) != self.file:
                    return None
                write_at(file, self.start, _pages(self.head, columns))
        except OSError:  # it is tried again where the words for it are
            return None
        return _sum(self.key, self.number, digest, columns)


def _sum(key: str, number: int, digest: int, columns: Sequence[np.ndarray]) -> int:
    """It covers the job, the chunk's number, the digest of its inputs and its results."""
    mark = hashlib.blake2b(f"{key} {number} {digest}".encode(), digest_size=8)
    for column in columns:
        mark.update(sums(column))
    return int.from_bytes(mark.digest(), "little")


def _pages(head: bytes, columns: Sequence[np.ndarray]) -> list[bytes | memoryview]:
    return [x for column in columns for x in (head, column.data.cast("B"))]


def _listed(results: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The columns of arrays (rows, *shape)."""
    return [x for array in results for x in np.moveaxis(array, 0, -1).reshape(-1, len(array))]


class Kept(Protocol):
    """Where results go, chunk by chunk."""

    program: Program
    source: Source
    chunk: int
    dtype: str

    def open(self, fresh: bool, force: bool, digest: Callable[[Inputs], int]) -> bool:
        """Go on, or begin; True: all of it is there already."""

    def missing(self) -> list[int]:
        """Numbers of the chunks to do."""

    def rows_done(self) -> int: ...

    def size(self, k: int) -> int:
        """Rows of a chunk."""

    def room(self, k: int, spare: np.ndarray) -> list[np.ndarray]:
        """Where to put the results (rows, *shape) of a chunk."""

    def keep(self, k: int, results: Sequence[np.ndarray], digest: int) -> None: ...

    def address(self, k: int) -> Place | None:
        """Where another process of this machine may write a chunk itself."""

    def note(self, k: int, digest: int, checksum: int) -> None:
        """A chunk is in its place."""

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

    def open(self, fresh: bool, force: bool, digest: Callable[[Inputs], int]) -> bool:
        """Nothing is there yet."""
        return False

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

    def address(self, k: int) -> None:
        """No other process reaches this memory."""

    def note(self, k: int, digest: int, checksum: int) -> None:
        """Nothing is noted."""

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
    about: Mapping[str, Any] = field(default_factory=dict)  # more that the file is to say

    def __post_init__(self) -> None:
        require_paths(getattr(self.source, "path", None), self.target)
        if self.chunk * np.dtype(self.dtype).itemsize >= _LARGEST:
            raise InputError(f"chunk = {self.chunk}; expected fewer rows than {_LARGEST // 8}")
        self.columns = _columns(self.program)
        self.layout = Layout(self.columns, self.source.rows, self.chunk, self.dtype)
        self.folder = self.target.with_name(f".{self.target.name}.parts")
        self.done = np.zeros((self.layout.groups, 2), "<u8")  # digest of the inputs, checksum
        self._lock = threading.Lock()
        self._files: list[FileIO] = []
        self._forced = time.monotonic()
        self._mine = False  # the folder is this job's
        self._facts = self._about()
        text = json.dumps(self._facts, sort_keys=True)
        self._key = hashlib.sha256(text.encode()).hexdigest()

    def _about(self) -> dict[str, Any]:
        """What the results depend on; the program's hash covers the robot, the model's options and
        the values of parameters."""
        text = self.program.to_json()
        return {
            "version": __version__,
            "model": f"{self.program.model} of {self.program.robot}",
            "program": hashlib.sha256(text.encode()).hexdigest(),
            "states": self.source.identity(), "rows": self.source.rows, "chunk": self.chunk,
            "dtype": self.dtype, "run by": self.place, "robot": self.program.robot,
            "units": "SI, angles in rad",
            "arrays": {x: self.program.meaning.get(x, "") for x in
                       (*self.program.inputs, *self.program.outputs)},
            **self.about,
        }  # fmt: skip

    def open(self, fresh: bool, force: bool, digest: Callable[[Inputs], int]) -> bool:
        """Go on where a run of the same job has stopped, or begin. True: the file of this job is
        there and whole, and there is nothing to do."""
        with said(self.target):
            if self._finished(force, digest) and not fresh:
                return True
            self._open(fresh, force)
        if self.source.volatile:
            self._check(digest)
        return False

    def _finished(self, force: bool, digest: Callable[[Inputs], int]) -> bool:
        """Is the file of this job there, and whole? That of another is refused, unless forced."""
        if not self.target.exists():
            return False
        job = _written(self.target)
        if job is None:
            what = "is there already, and no result of a sweep"
        elif job["job"] != self._facts:
            facts = _differences(job["job"], self._facts)
            what = f"holds the results of another sweep ({facts})"
        else:
            marks = _checksums(job, len(self.done))
            if marks is None or self._same_states(marks, digest):
                return self._whole(job, marks)
            what = "holds the results of another sweep (other states)"
        if force:
            return False
        remedy = "name another file, or replace it with force=True"
        raise InputError(what, where=str(self.target), remedy=remedy, action="force")

    def _same_states(self, marks: np.ndarray, digest: Callable[[Inputs], int]) -> bool:
        """States in memory have no lasting name: the digests of their chunks tell."""
        if not self.source.volatile:
            return True
        chunks = self.source.chunks(self.chunk, range(len(marks)))
        return all(digest(load()) == int(marks[k, 0]) for k, load in chunks)

    def _whole(self, job: dict[str, Any], marks: np.ndarray | None) -> bool:
        """Does every chunk of a finished file match its checksum?"""
        with self.target.open("rb", buffering=0) as file:
            foot = self.layout.foot(json.dumps(job))
            file.seek(self.layout.end)
            if marks is not None and file.readall() == foot and all(
                self._matches(file, k, *mark) for k, mark in enumerate(marks.tolist())
            ):  # fmt: skip
                return True
        warnings.warn(
            f"{self.target}: this job's file is damaged: it is done again", CardanWarning,
            stacklevel=4,
        )  # fmt: skip
        return False

    def _open(self, fresh: bool, force: bool) -> None:
        note = self.folder / "job.json"
        if self.folder.is_symlink():
            raise InputError(
                f"{self.target}: '{self.folder}' is a link; a sweep writes in a folder of its own:"
                " remove the link, or name another file"
            )
        self.folder.mkdir(exist_ok=True)
        if (self.folder / "lock").is_symlink():
            (self.folder / "lock").unlink()
        alone = own_file(self.folder / "lock", "w")
        self._files = [alone]
        lock(alone, self.target)
        noted = _noted(note)
        if noted is None or fresh or noted.get("job") != self._facts:
            if noted is not None and not fresh and not force:
                self._refuse(noted.get("job"))
            self._begin(note)
        elif noted.get("boot") != boot():
            self._restarted(note)
        self._mine = True
        self._files += [own_file(self.folder / name, "r+") for name in ("data", "done")]
        self._note = note.read_bytes()
        _, data, done = self._files
        content = done.readall()[: self.done.nbytes]
        marks = np.frombuffer(content[: len(content) // 16 * 16], "<u8").reshape(-1, 2)
        self._take(data, marks)

    def _take(self, data: FileIO, marks: np.ndarray) -> None:
        """The chunks that are noted and match their checksums; the others are done again."""
        damaged = 0
        for k in np.flatnonzero(marks.any(axis=1)).tolist():
            if self._matches(data, k, *marks[k].tolist()):
                self.done[k] = marks[k]
            else:
                damaged += 1
        if damaged:
            warnings.warn(
                f"{self.target}: {damaged} of the chunks of an interrupted run did not match their"
                " checksums: they are done again", CardanWarning, stacklevel=5,
            )  # fmt: skip

    def _matches(self, file: FileIO, k: int, digest: int, checksum: int) -> bool:
        """Are the results of a chunk in the file those that were noted?"""
        rows = self.size(k)
        head = self.layout.head(rows)
        size = len(head) + rows * np.dtype(self.dtype).itemsize
        file.seek(self.layout.start(k))
        columns = []
        for _ in self.columns:
            page = file.read(size) or b""
            if len(page) != size or not page.startswith(head):
                return False
            columns.append(np.frombuffer(page, self.dtype, offset=len(head)))
        return _sum(self._key, k, digest, columns) == checksum

    def _refuse(self, noted: Any) -> None:
        """An interrupted run of another job is not thrown away unasked."""
        marks = np.frombuffer((self.folder / "done").read_bytes(), "<u1")
        if not isinstance(noted, dict) or not marks.any():
            return
        raise InputError(
            f"an interrupted sweep that is not this one lies in '{self.folder}'"
            f" ({_differences(noted, self._facts)})",
            where=str(self.target),
            remedy="run that one again to finish it, name another file, or forget it with"
            " fresh=True",
            action="fresh",
        )

    def _begin(self, note: Path) -> None:
        for name in ("job.json", "safe", "data", "done"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "done").write_bytes(bytes(self.done.nbytes))
        (self.folder / "data").write_bytes(MAGIC)
        self._mine = True
        with own_file(self.folder / "data", "r+") as data:
            reserve(data, self.layout.end, self.target)
        _write_json(note, {"job": self._facts, "boot": boot()})

    def _restarted(self, note: Path) -> None:
        """The machine was started anew, perhaps after a power cut: trust what was forced."""
        safe = self.folder / "safe"
        marks = safe.read_bytes() if safe.is_file() else bytes(self.done.nbytes)
        (self.folder / "done").write_bytes(marks)
        _write_json(note, {"job": self._facts, "boot": boot()})

    def _check(self, digest: Callable[[Inputs], int]) -> None:
        """Forget the chunks whose inputs are not what they were."""
        noted = np.flatnonzero(self.done.any(axis=1)).tolist()
        for k, load in self.source.chunks(self.chunk, noted):
            if digest(load()) != int(self.done[k, 0]):
                self.done[k] = 0

    def missing(self) -> list[int]:
        numbers: list[int] = np.flatnonzero(~self.done.any(axis=1)).tolist()
        return numbers

    def rows_done(self) -> int:
        return self.source.rows - sum(map(self.size, self.missing()))

    def size(self, k: int) -> int:
        return self.layout.size(k)

    def room(self, k: int, spare: np.ndarray) -> list[np.ndarray]:
        return outputs(self.program, spare[:, : self.size(k)])

    def address(self, k: int) -> Place:
        _, data, _ = self._files
        status = os.fstat(data.fileno())
        return Place(
            self.folder.absolute(), boot(), self._note, (status.st_dev, status.st_ino), self._key,
            k, self.layout.start(k), self.layout.head(self.size(k)),
        )  # fmt: skip

    def keep(self, k: int, results: Sequence[np.ndarray], digest: int) -> None:
        """Write a chunk's results, then note that they are."""
        columns = _listed(results)
        checksum = _sum(self._key, k, digest, columns)
        pages = _pages(self.layout.head(self.size(k)), columns)
        with self._lock, said(self.target):  # a file takes one writer at a time anyway
            write_at(self._files[1], self.layout.start(k), pages)
        self.note(k, digest, checksum)

    def note(self, k: int, digest: int, checksum: int) -> None:
        with self._lock, said(self.target):
            _, data, done = self._files
            self.done[k] = digest, checksum
            write_at(done, 16 * k, [self.done[k].tobytes()])
            due = time.monotonic() - self._forced > _FORCED
            marks = self.done.tobytes() if due else b""
            self._forced = time.monotonic() if due else self._forced
        if due:  # the others go on meanwhile
            force(data)
            with FileIO(str(self.folder / "job.json")) as note:
                force(note)
            write_whole(self.folder / "safe", lambda file: _forced(file, marks))

    def finish(self) -> None:
        """Close the file, read it back, and put it in its place."""
        if self.missing():
            raise CardanError("chunks were left undone: run the same sweep again to go on")
        job = {
            "job": self._facts, "hash": self._key, "checksums": self.done.tobytes().hex(),
        }  # fmt: skip
        with said(self.target):
            _, data, _ = self._files
            foot = self.layout.foot(json.dumps(job))
            write_at(data, self.layout.end, [foot])
            data.truncate(self.layout.end + len(foot))
            self._read_back(data, foot)
            if (self.folder / "safe").is_file():  # a long run is worth the wait
                force(data)
            os.replace(self.folder / "data", self.target)
            shutil.rmtree(self.folder, ignore_errors=True)
            self.close()

    def _read_back(self, data: FileIO, foot: bytes) -> None:
        """The file is what was meant: its foot, and the checksums of its chunks (of a file larger
        than 256 MB, those of chunks spread over it)."""
        most = max(2, _READ_BACK * len(self.done) // self.layout.end)
        some = np.unique(np.linspace(0, len(self.done) - 1, min(most, len(self.done))).astype(int))
        bad = [k for k in some.tolist() if not self._matches(data, k, *self.done[k].tolist())]
        data.seek(self.layout.end)
        if bad or data.readall() != foot:
            raise CardanError(
                f"{self.target}: what was written does not read back the same: the disk or its"
                " memory is at fault; run the same sweep again, on another disk if it persists"
            )

    def results(self) -> Iterator[tuple[int, list[np.ndarray], int]]:
        """(number, results, digest of the inputs) of every chunk of the finished file."""
        job = _written(self.target)
        marks = None if job is None else _checksums(job, self.layout.groups)
        if marks is None:
            raise InputError("is no finished result of this sweep", where=str(self.target))
        with self.target.open("rb") as file:
            for k, (digest, _) in enumerate(marks.tolist()):
                rows = self.size(k)
                head = len(self.layout.head(rows))
                width = np.dtype(self.dtype).itemsize
                file.seek(self.layout.start(k))
                block = np.empty((len(self.columns), rows), self.dtype)
                for column in block:
                    page = file.read(head + rows * width)
                    column[:] = np.frombuffer(page, self.dtype, offset=head)
                yield k, outputs(self.program, block), digest

    def discard(self) -> None:
        if self._mine and (not self.source.volatile or not self.done.any()):
            shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        """Nothing that was kept is lost."""
        for file in self._files:
            file.close()


def _differences(noted: dict[str, Any], facts: dict[str, Any]) -> str:
    """In what two jobs differ, in words."""
    other = [key for key, value in facts.items() if noted.get(key) != value]
    known = [key for key in other if key != "program"] or ["model's options or parameters"]
    return ", ".join(
        f"{key} {noted[key]} then, {facts[key]} now"
        if key in noted and key != "states"
        else f"other {key}"
        for key in known
    )  # fmt: skip


def _written(target: Path) -> dict[str, Any] | None:
    """What a finished file says about its job; None if it is not of a sweep."""
    with target.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        if len(end) < 8 or end[4:] != MAGIC or length > size - 8:
            return None
        file.seek(size - 8 - length)
        text = job_text(file.read(length))
    try:
        job = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return job if isinstance(job, dict) and isinstance(job.get("job"), dict) else None


def _checksums(job: dict[str, Any], chunks: int) -> np.ndarray | None:
    """Digest and checksum (chunks, 2) of every chunk of a finished file; None: not all of them."""
    try:
        return np.frombuffer(bytes.fromhex(str(job.get("checksums"))), "<u8").reshape(chunks, 2)
    except ValueError:
        return None


def _noted(note: Path) -> dict[str, Any] | None:
    """What the folder's job was; None if there is none, or it is not whole."""
    try:
        facts = json.loads(note.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    parts = [note.parent / name for name in ("data", "done")]
    whole = all(path.is_file() and not path.is_symlink() for path in parts)
    return facts if whole and isinstance(facts, dict) else None


def _write_json(path: Path, data: Any) -> None:
    write_whole(path, lambda file: Path(file).write_text(json.dumps(data), encoding="utf-8"))


def _forced(path: str, content: bytes) -> None:
    """Bytes that are on the disk before anything is built on them."""
    with FileIO(path, "w") as file:
        file.write(content)
        force(file)
