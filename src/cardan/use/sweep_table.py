"""Tables of states for sweeps: columns named after a program's arrays, read and written in chunks.

A vector q is the columns q1 .. qn, a matrix A the columns A1_1, A1_2, ..., a scalar E the column E;
or one column of fixed-size lists named q. Parameters of the input p have their own names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import InputError
from ..program import Program
from .tables import arrow, read_table

__all__ = [
    "ArraySource",
    "ParquetSource",
    "Source",
    "column_names",
    "open_source",
]

Shape = tuple[int, ...]


def column_names(name: str, shape: Shape) -> list[str]:
    """q1 .. qn of a vector, A1_1 .. of a matrix, the bare name of a scalar."""
    return [
        name + "_".join(map(str, index)) for index in product(*(range(1, k + 1) for k in shape))
    ]


class Source(Protocol):
    """Rows of states: how many, what identifies them, and arrays (size, rows) chunk by chunk."""

    @property
    def rows(self) -> int:
        """How many there are."""

    def identity(self) -> str:
        """Text that changes when the data do."""

    def chunks(self, size: int, first: int) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """(number, arrays) of the chunks from number `first` on."""


def needed(program: Program, present: Mapping[str, Any] | list[str]) -> dict[str, list[str]]:
    """The columns of each input that is read from the table; p only where a column names it."""
    have, found = set(present), {}
    for name, shape in program.inputs.items():
        if name == "p":
            listed = [column for column in program.parameters if column in have]
            if listed:
                found["p"] = listed
            lacking = [x for x in program.parameters if x not in have and x not in program.defaults]
            if lacking:
                raise InputError(
                    f"the parameter '{lacking[0]}' has no value and no column: add one to the"
                    " table, or give it a value first"
                )
            continue
        listed = [name] if name in have and shape else column_names(name, shape)
        missing = [column for column in listed if column not in have]
        if missing:
            raise InputError(
                f"there is no column '{missing[0]}'; '{program.model}' of '{program.robot}' reads"
                f" {listed[0]} .. {listed[-1]}; the table has {', '.join(sorted(have)[:12])}"
            )
        found[name] = listed
    if not found:
        raise InputError(f"'{program.model}' reads no column of the table")
    return found


def with_parameters(program: Program, columns: list[str], block: np.ndarray) -> np.ndarray:
    """p (np, rows): the table's columns, the robot's own values elsewhere."""
    p = np.empty((len(program.parameters), block.shape[1]))
    for k, name in enumerate(program.parameters):
        p[k] = block[columns.index(name)] if name in columns else program.defaults[name]
    return p


@dataclass(frozen=True)
class ArraySource:
    """States held in memory: a table of columns (rows)."""

    program: Program
    table: Mapping[str, np.ndarray]
    label: str = "arrays"

    @property
    def rows(self) -> int:
        return len(next(iter(self.table.values()), ()))

    def identity(self) -> str:
        import hashlib

        found = hashlib.sha256(self.label.encode())
        for name, column in self.table.items():
            found.update(name.encode() + np.ascontiguousarray(column).tobytes())
        return found.hexdigest()

    def chunks(self, size: int, first: int) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        inputs = needed(self.program, self.table)
        for k in range(first, -(-self.rows // size)):
            part = slice(k * size, min(self.rows, (k + 1) * size))
            blocks = {}
            for name, columns in inputs.items():
                block = np.array([np.asarray(self.table[c][part], float) for c in columns])
                if len(columns) == 1 and block.ndim == 3:
                    block = np.ascontiguousarray(block[0].T)
                blocks[name] = _checked(self.program, name, columns, block, part.start)
            yield k, blocks


def _checked(
    program: Program, name: str, columns: list[str], block: np.ndarray, row: int
) -> np.ndarray:
    """Finite and of the right size, or the column and row that are not."""
    if not np.isfinite(block).all():
        c, k = (int(i[0]) for i in np.nonzero(~np.isfinite(block)))
        column = columns[min(c, len(columns) - 1)]
        raise InputError(f"column '{column}', row {row + k}: {block[c, k]} is not a finite number")
    if name == "p":
        return with_parameters(program, columns, block)
    size = prod(program.inputs[name])
    if len(block) != size:
        raise InputError(f"column '{columns[0]}' holds lists of {len(block)}; expected {size}")
    return block


class ParquetSource:
    """States of a Parquet file, streamed."""

    def __init__(self, program: Program, path: str | Path) -> None:
        self.program, self.path = program, Path(path)
        self.pa = arrow("a sweep")
        try:
            self.file = self.pa.parquet.ParquetFile(self.path, memory_map=True)
        except (OSError, self.pa.ArrowException) as error:
            raise InputError(f"{path}: cannot be read as Parquet: {error}") from None
        self.rows = int(self.file.metadata.num_rows)
        self.inputs = needed(program, self.file.schema_arrow.names)

    def identity(self) -> str:
        status = self.path.stat()
        return f"{self.path.resolve()} {status.st_size} {status.st_mtime_ns}"

    def chunks(self, size: int, first: int) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        wanted = list(dict.fromkeys(c for columns in self.inputs.values() for c in columns))
        group, row = self._group(first * size)
        batches = self.file.iter_batches(
            size, row_groups=list(range(group, self.file.num_row_groups)), columns=wanted
        )
        waiting: list[Any] = []
        held, skip = 0, first * size - row
        k = first
        for batch in batches:
            drop = min(skip, batch.num_rows)
            skip -= drop
            if drop == batch.num_rows:
                continue
            waiting.append(batch.slice(drop))
            held += batch.num_rows - drop
            while held >= size:
                yield k, self._blocks(waiting, size, k * size)
                k, held = k + 1, held - size
        if held:
            yield k, self._blocks(waiting, held, k * size)

    def _group(self, row: int) -> tuple[int, int]:
        """The row group that holds a row, and the first row of that group."""
        start = 0
        for g in range(self.file.num_row_groups):
            count = self.file.metadata.row_group(g).num_rows
            if row < start + count:
                return g, start
            start += count
        return self.file.num_row_groups, start

    def _blocks(self, waiting: list[Any], count: int, row: int) -> dict[str, np.ndarray]:
        """The next `count` rows of the waiting batches as arrays (size, count)."""
        taken, left = [], count
        while left:
            batch = waiting[0]
            part = batch.slice(0, left)
            taken.append(part)
            if part.num_rows == batch.num_rows:
                waiting.pop(0)
            else:
                waiting[0] = batch.slice(left)
            left -= part.num_rows
        return {
            name: _checked(self.program, name, columns, self._block(taken, columns, count), row)
            for name, columns in self.inputs.items()
        }

    def _block(self, batches: list[Any], columns: list[str], count: int) -> np.ndarray:
        if len(columns) == 1 and self.pa.types.is_nested(batches[0].schema.field(columns[0]).type):
            rows = [self._numbers(b.column(columns[0]).flatten(), columns[0]) for b in batches]
            flat = np.concatenate(rows)
            if flat.size % count:
                raise InputError(f"column '{columns[0]}' holds lists of different lengths")
            return np.ascontiguousarray(flat.reshape(count, -1).T)
        block = np.empty((len(columns), count))
        for c, name in enumerate(columns):
            at = 0
            for batch in batches:
                block[c, at : at + batch.num_rows] = self._numbers(batch.column(name), name)
                at += batch.num_rows
        return block

    def _numbers(self, column: Any, name: str) -> np.ndarray:
        kind = self.pa.types
        if not (kind.is_floating(column.type) or kind.is_integer(column.type)):
            raise InputError(f"{self.path}: column '{name}' holds {column.type}, not numbers")
        if column.null_count:
            raise InputError(f"{self.path}: column '{name}' has {column.null_count} empty values")
        return np.asarray(column.to_numpy(zero_copy_only=False))


def open_source(program: Program, source: Any) -> Source:
    """A source of states: a path (.parquet, .csv) or a mapping of columns."""
    if isinstance(source, Mapping):
        table = {name: np.asarray(column) for name, column in source.items()}
        if len({len(column) for column in table.values()}) > 1:
            raise InputError("the columns of the table have different lengths")
        return _listed(ArraySource(program, table))
    if isinstance(source, str | Path):
        if Path(source).suffix.lower() == ".parquet":
            if not Path(source).is_file():
                raise InputError(f"{source}: there is no such file")
            return ParquetSource(program, source)
        return _listed(ArraySource(program, read_table(source), str(source)))
    found: Source = source
    return found


def _listed(source: ArraySource) -> ArraySource:
    """The source, if it has the columns the program reads."""
    needed(source.program, source.table)
    return source
