"""Sweeps as arrays of a batch system (SLURM): every task does a range of chunks into a file of its
own, and a last step puts these together. The file is that of one process, byte for byte."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import CardanError, InputError
from ..files import write_whole
from .job import Job
from .table import Chunks, Inputs, Source


@dataclass(frozen=True)
class Part:
    """The chunks of a source that one task of an array does; its own are counted from 0."""

    source: Source
    number: int
    parts: int
    chunk: int

    @property
    def first(self) -> int:
        return -(-self.source.rows // self.chunk) * self.number // self.parts

    @property
    def rows(self) -> int:
        count = -(-self.source.rows // self.chunk)
        last = count * (self.number + 1) // self.parts
        return min(self.source.rows, last * self.chunk) - min(
            self.source.rows, self.first * self.chunk
        )

    @property
    def volatile(self) -> bool:
        return self.source.volatile

    def identity(self) -> str:
        return f"part {self.number} of {self.parts} of {self.source.identity()}"

    def chunks(self, size: int, wanted: Sequence[int]) -> Chunks:
        first = self.first
        for k, load in self.source.chunks(size, [first + k for k in wanted]):
            yield k - first, load

    def fault(self, inputs: Inputs, row: int) -> str:
        return self.source.fault(inputs, row + self.first * self.chunk)


def _folder(target: Path) -> Path:
    return target.with_name(f".{target.name}.array")


def part_of(job: Job, number: int, parts: int) -> Job | None:
    """The job of one task of an array; None where there are more tasks than chunks."""
    if not 0 <= number < parts:
        raise InputError(f"part {number} of {parts}; parts are counted from 0 to {parts - 1}")
    part = Part(job.source, number, parts, job.chunk)
    if not part.rows:
        return None
    folder = _folder(job.target)
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}-of-{parts}.parquet"
    return Job(job.program, part, job.chunk, job.dtype, path, job.place)


def merge(
    job: Job, parts: int, digest: Callable[[Inputs], int], done: Callable[[int], None]
) -> None:
    """Put the files of all parts into that of the job, which is open."""
    missing = set(job.missing())
    for number in range(parts):
        part = part_of(job, number, parts)
        if part is None:
            continue
        try:
            if not part.target.exists() or not part.open(False, False, digest):
                raise InputError(
                    f"part {number} of {parts} is not finished: run its task again",
                    where=str(part.target),
                )
            first = Part(job.source, number, parts, job.chunk).first
            for k, results, mark in part.results():
                if first + k in missing:
                    job.keep(first + k, results, mark)
                    done(job.size(first + k))
        finally:
            part.close()


def forget(target: Path) -> None:
    """The files of the parts are not needed any more."""
    shutil.rmtree(_folder(target), ignore_errors=True)


@dataclass(frozen=True)
class Submitted:
    """The scripts of an array, and the numbers that the batch system gave them, if it did."""

    scripts: tuple[Path, Path]
    numbers: tuple[str, ...]


def submit(
    target: Path, words: Sequence[str], parts: int, options: Sequence[str] = ()
) -> Submitted:
    """Write the script of the array and that of its last step; hand them to `sbatch` if it is
    there. words: the command without its part; options: of `#SBATCH`, as --time=1:00:00."""
    if parts < 1:
        raise InputError(f"an array of {parts} tasks; expected a positive number")
    extra = [f"#SBATCH {option}" for option in options]
    command = shlex.join(words)
    array = [
        "#!/bin/bash", f"#SBATCH --job-name=sweep-{target.stem}", f"#SBATCH --array=0-{parts - 1}",
        *extra, f'exec {command} --part "$SLURM_ARRAY_TASK_ID/{parts}"', "",
    ]  # fmt: skip
    last = ["#!/bin/bash", f"#SBATCH --job-name=merge-{target.stem}", *extra,
            f"exec {command} --merge {parts}", ""]  # fmt: skip
    scripts = (target.with_suffix(".array.sh"), target.with_suffix(".merge.sh"))
    for path, lines in zip(scripts, (array, last), strict=True):
        text = "\n".join(lines)
        write_whole(path, lambda file, text=text: Path(file).write_text(text, encoding="utf-8"))  # type: ignore[misc]
    program = shutil.which("sbatch")
    if program is None:
        return Submitted(scripts, ())
    first = _sbatch(program, str(scripts[0]))
    second = _sbatch(program, f"--dependency=afterok:{first}", str(scripts[1]))
    return Submitted(scripts, (first, second))


def _sbatch(program: str, *words: str) -> str:
    """The number of a job that was handed over."""
    ended = subprocess.run(
        [program, "--parsable", *words], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace",
    )  # fmt: skip
    number = ended.stdout.strip().split(";")[0]
    if ended.returncode or not number:
        raise CardanError(f"sbatch refused {words[-1]}: {ended.stderr.strip()[:400]}")
    return number
