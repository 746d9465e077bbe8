"""Tables of states for sweeps: columns named after a program's arrays, read in chunks.

A vector q is the columns q1 .. qn, a matrix A the columns A1_1, A1_2, ..., a scalar E the column E;
or one column of fixed-size lists named q. Parameters of the input p have their own names. A chunk
is not copied where its columns are numbers of the right type already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import InputError, translated
from ..motion.tables import arrow, read_table, require_size
from ..program import Program
from .disk import content

Shape = tuple[int, ...]
# of each input its columns (rows,), or its array (rows, *shape)
Inputs = dict[str, "np.ndarray | list[np.ndarray]"]
Chunks = Iterator[tuple[int, Callable[[], Inputs]]]
# what a description calls its numbers, of link or joint j
_OF_ROBOT = re.compile(
    r"(gamma|b|alpha|d|theta|r|M|M[XYZ]|XX|XY|XZ|YY|YZ|ZZ|IA|F[VSQBO]|F[VS]A|V[BS])[1-9][0-9]*"
)
_AGAIN = "the file is damaged, or of another kind: write it again"


def column_names(name: str, shape: Shape) -> list[str]:
    """q1 .. qn of a vector, A1_1 .. of a matrix, the bare name of a scalar."""
    return [
        name + "_".join(map(str, index)) for index in product(*(range(1, k + 1) for k in shape))
    ]


class Source(Protocol):
    """Rows of states: how many, what identifies them, and their chunks."""

    @property
    def rows(self) -> int:
        """How many there are."""

    @property
    def volatile(self) -> bool:
        """May the states change while their identity does not?"""

    def identity(self) -> str:
        """Text that changes when the source does."""

    def chunks(self, size: int, wanted: Sequence[int]) -> Chunks:
        """(number, what gives its inputs) of the chunks wanted, in ascending order. The inputs may
        be taken in another thread, while the next chunk is asked for."""

    def fault(self, inputs: Inputs, row: int) -> str:
        """Where the first value is that is not a finite number; `row` is the first row's."""


def needed(program: Program, present: Mapping[str, Any] | Sequence[str]) -> dict[str, list[str]]:
    """The columns of each input that is read from the table; p only where a column names it."""
    have, columns = set(present), {}
    for name, shape in program.inputs.items():
        if name == "p":
            listed = [column for column in program.parameters if column in have]
            if listed:
                columns["p"] = listed
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
        columns[name] = listed
    if not columns:
        raise InputError(f"'{program.model}' reads no column of the table")
    used = {column for listed in columns.values() for column in listed}
    idle = sorted(x for x in have - used if _OF_ROBOT.fullmatch(x) and x not in program.defaults)
    if idle:
        raise InputError(
            f"column '{idle[0]}' is named as a parameter of the robot, which is no input of"
            f" '{program.model}': it would change nothing",
            remedy="derive the model with symbolic=True (--symbolic), or leave the column out",
        )
    return columns


def complete(
    program: Program, inputs: Mapping[str, list[str]], columns: Mapping[str, np.ndarray]
) -> Inputs:
    """The inputs of a program from the columns of a table: p filled up with the robot's own values,
    lists (rows, size) in the shape of their input."""
    arrays: Inputs = {}
    for name, listed in inputs.items():
        first = columns[listed[0]]
        if name == "p":
            rows, own = len(first), program.defaults
            arrays["p"] = [
                columns[x] if x in listed else np.full(rows, own[x]) for x in program.parameters
            ]
            continue
        shape, given = program.inputs[name], prod(first.shape[1:]) * len(listed)
        whole = first.ndim > 1
        if given != prod(shape):
            what = f"lists of {given}" if whole else "numbers"
            raise InputError(f"column '{listed[0]}' holds {what}; expected lists of {prod(shape)}")
        arrays[name] = first.reshape(len(first), *shape) if whole else [columns[c] for c in listed]
    return arrays


def fault(program: Program, names: Mapping[str, list[str]], inputs: Inputs, row: int) -> str:
    """The column and row of the first value that is not a finite number."""
    for name, listed in names.items():
        array = inputs[name]
        whole = isinstance(array, np.ndarray)
        labels = program.parameters if name == "p" else listed
        for label, column in zip(labels, [array] if whole else array, strict=True):
            values = column.reshape(len(column), -1)
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                k, c = bad[0]
                what = f"{values[k, c]} is not a finite number"
                return f"column '{label}', row {row + int(k)}: {what}"
    return f"a value after row {row} is not a finite number"


@dataclass(frozen=True)
class ArraySource:
    """States held in memory: a table of columns (rows)."""

    program: Program
    table: Mapping[str, np.ndarray]
    volatile = True

    @property
    def rows(self) -> int:
        return len(next(iter(self.table.values()), ()))

    def identity(self) -> str:
        return " ".join(f"{k} {x.dtype} {x.shape}" for k, x in self.table.items())

    def chunks(self, size: int, wanted: Sequence[int]) -> Chunks:
        names = needed(self.program, self.table)
        listed = {column for columns in names.values() for column in columns}

        def load(k: int) -> Callable[[], Inputs]:
            part = slice(k * size, (k + 1) * size)
            return lambda: complete(self.program, names, {c: self.table[c][part] for c in listed})

        return ((k, load(k)) for k in wanted)

    def fault(self, inputs: Inputs, row: int) -> str:
        return fault(self.program, needed(self.program, self.table), inputs, row)


class FileSource:
    """States of a Parquet or Arrow file, streamed."""

    volatile = False

    def __init__(self, program: Program, path: str | Path) -> None:
        self.program, self.path = program, Path(path)
        self.pa = arrow("a sweep")
        self.file: Any = None
        kind = "Parquet" if self.path.suffix.lower() == ".parquet" else "Arrow"
        with translated(f"{path}: cannot be read as {kind}", remedy=_AGAIN, of=(Exception,)):
            if kind == "Parquet":
                self.file = self.pa.parquet.ParquetFile(self.path, memory_map=True)
                self.sizes = [
                    self.file.metadata.row_group(g).num_rows
                    for g in range(self.file.num_row_groups)
                ]
                schema = self.file.schema_arrow
                groups = range(self.file.num_row_groups)
                largest = (self.file.metadata.row_group(g).total_byte_size for g in groups)
                require_size(self.path, max(largest, default=0))
            else:
                self.file = self.pa.ipc.open_file(self.pa.memory_map(str(self.path)))
                self.sizes = [
                    self.file.get_batch(k).num_rows for k in range(self.file.num_record_batches)
                ]
                schema = self.file.schema
            self.columns = [str(name) for name in schema.names]
        self.rows = sum(self.sizes)
        self.inputs = needed(program, self.columns)

    def identity(self) -> str:
        return content(self.path)

    def fault(self, inputs: Inputs, row: int) -> str:
        return fault(self.program, self.inputs, inputs, row)

    def chunks(self, size: int, wanted: Sequence[int]) -> Chunks:
        if not wanted:
            return
        listed = list(dict.fromkeys(c for columns in self.inputs.values() for c in columns))
        first, row = self._group(wanted[0] * size)
        waiting: list[Any] = []
        held, skip, k, those = 0, wanted[0] * size - row, wanted[0], set(wanted)
        batches = self._batches(first, size, listed)
        while True:
            with self._reading():
                batch = next(batches, None)
            if batch is None:
                break
            drop = min(skip, batch.num_rows)
            skip -= drop
            waiting.append(batch.slice(drop))
            held += batch.num_rows - drop
            while held >= size or (held and k * size + held == self.rows):
                taken = _taken(waiting, min(held, size))
                held -= min(held, size)
                if k in those:
                    yield k, self._load(taken, listed)
                k += 1

    def _reading(self) -> AbstractContextManager[None]:
        """Pages may be damaged where the foot of the file is not."""
        return translated(f"{self.path}: cannot be read", remedy=_AGAIN, of=(Exception,))

    def _batches(self, first: int, size: int, listed: list[str]) -> Iterator[Any]:
        if hasattr(self.file, "iter_batches"):
            groups = list(range(first, len(self.sizes)))
            yield from self.file.iter_batches(size, row_groups=groups, columns=listed)
            return
        for k in range(first, len(self.sizes)):
            yield self.file.get_batch(k).select(listed)

    def _group(self, row: int) -> tuple[int, int]:
        """The row group that holds a row, and the first row of that group."""
        start = 0
        for g, count in enumerate(self.sizes):
            if row < start + count:
                return g, start
            start += count
        return len(self.sizes), start

    def _load(self, batches: list[Any], listed: list[str]) -> Callable[[], Inputs]:
        def load() -> Inputs:
            arrays = {}
            with self._reading():
                for name in listed:
                    pieces = [self._numbers(batch.column(name), name) for batch in batches]
                    arrays[name] = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
            return complete(self.program, self.inputs, arrays)

        return load

    def _numbers(self, column: Any, name: str) -> np.ndarray:
        """A column as numbers: (rows,), or (rows, size) of lists."""
        kind, rows = self.pa.types, len(column)
        nested = kind.is_nested(column.type)
        flat = column.flatten() if nested and not kind.is_struct(column.type) else column
        if not (kind.is_floating(flat.type) or kind.is_integer(flat.type)):
            raise InputError(f"{self.path}: column '{name}' holds {column.type}, not numbers")
        missing = column.null_count + (flat.null_count if nested else 0)
        if missing:
            raise InputError(f"{self.path}: column '{name}' has {missing} empty values")
        values = np.asarray(flat.to_numpy(zero_copy_only=False))
        if not nested:
            return values
        if not kind.is_fixed_size_list(column.type):
            lengths = np.diff(column.offsets.to_numpy())
            if len(lengths) and np.ptp(lengths):
                raise InputError(f"column '{name}' holds lists of different lengths")
        return _plain(values.reshape(rows, -1)) if rows else values


def _plain(column: np.ndarray) -> np.ndarray:
    """A column (rows, 1) as (rows,)."""
    return column[:, 0] if column.shape[1:] == (1,) else column


def _taken(waiting: list[Any], count: int) -> list[Any]:
    """The next `count` rows of the waiting batches."""
    taken, left = [], count
    while left:
        batch = waiting[0]
        part = batch.slice(0, left)
        if part.num_rows == batch.num_rows:
            waiting.pop(0)
        else:
            waiting[0] = batch.slice(left)
        left -= part.num_rows
        if part.num_rows:
            taken.append(part)
    return taken


def open_source(program: Program, source: Any) -> Source:
    """A source of states: a path (.parquet, .arrow, .feather, .npz, .csv), columns, a table
    of pyarrow or pandas, or a `Source` itself."""
    if isinstance(source, str | Path):
        if Path(source).suffix.lower() in (".parquet", ".arrow", ".feather"):
            if not Path(source).is_file():
                raise InputError(f"{source}: there is no such file")
            return FileSource(program, source)
        return _listed(program, _csv(source) or read_table(source))
    if hasattr(source, "column_names"):
        source = {name: source.column(name).to_numpy() for name in source.column_names}
    elif hasattr(source, "to_numpy") and hasattr(source, "columns"):
        source = {str(name): source[name].to_numpy() for name in source.columns}
    if isinstance(source, Mapping):
        masked = [name for name, x in source.items() if np.ma.is_masked(x)]
        if masked:
            raise InputError(f"column '{masked[0]}' has masked values: leave those rows out")
        return _listed(program, {name: np.asarray(x) for name, x in source.items()})
    if not hasattr(source, "chunks"):
        raise InputError(
            f"states cannot be read from a {type(source).__name__}: give a path, a mapping of"
            " columns, or a table of pyarrow or pandas"
        )
    opened: Source = source
    return opened


def _csv(path: str | Path) -> dict[str, np.ndarray]:
    """The columns of a .csv file by the reader of Arrow, which is fast; empty where that is not
    installed or does not take the file: the other reader says what is wrong with it."""
    if Path(path).suffix.lower() != ".csv" or not Path(path).is_file():
        return {}
    try:
        import pyarrow.csv as reader

        table = reader.read_csv(path)
    except (ImportError, OSError, ValueError):
        return {}
    names = [name.strip() for name in table.column_names]
    columns = [column.to_numpy() for column in table.columns if not column.null_count]
    plain = len(set(names)) == len(names) == len(columns) and len(table) > 0
    if not plain or any(column.dtype.kind not in "fiu" for column in columns):
        return {}
    return {name: np.asarray(x, float) for name, x in zip(names, columns, strict=True)}


def _listed(program: Program, table: Mapping[str, np.ndarray]) -> ArraySource:
    """A source in memory, if it has the columns the program reads, and these hold numbers. Columns
    (rows, 1), as tables of one column each come out of many programs, are columns (rows,)."""
    table = {name: _plain(x) for name, x in table.items()}
    single = sorted(name for name, x in table.items() if not x.ndim)
    if single:
        raise InputError(f"column '{single[0]}' is a single number; expected one for every row")
    if len({len(column) for column in table.values()}) > 1:
        raise InputError("the columns of the table have different lengths")
    for column in {c for listed in needed(program, table).values() for c in listed}:
        if table[column].dtype.kind not in "fiu":
            what = table[column].dtype
            raise InputError(f"column '{column}' holds {what}; real numbers are expected")
    return ArraySource(program, table)


def blocks(program: Program, inputs: Inputs) -> dict[str, np.ndarray]:
    """Inputs as arrays (size, rows), for a device or a worker elsewhere."""
    return {
        name: np.ascontiguousarray(given.reshape(len(given), -1).T)
        if isinstance(given, np.ndarray)
        else np.array(given)
        for name, given in inputs.items()
    }
