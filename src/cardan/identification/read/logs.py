"""Recordings: CSV, Parquet, MAT files and ROS bags as named columns of numbers.

    .csv .txt .tsv   a line of names, then rows; without names the columns are c1, c2, ...
    .parquet         numeric columns, times; lists of equal length as name1, name2, ...
    .mat .npz        vectors, and matrices as name1, name2, ... (MAT: version 7 and older)
    .bag .db3 .mcap  ROS 1 and ROS 2 bags, or the folder of a ROS 2 bag (see `bags`)
    a folder         its tables side by side, columns named table/column

A column is read as numbers when it is used; cells that are not numbers become NaN, and the checks
say where they are.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...arguments import named_arguments
from ...errors import InputError, MissingExtraError, UnknownNameError, translated
from ...motion.tables import arrow_file, read_npz, require_size, unpacked_limit
from ..recipe import Records

TABLES = (".csv", ".txt", ".tsv", ".parquet", ".mat", ".npz")
BAGS = (".bag", ".db3", ".mcap")
_HINT = f"allowed: {', '.join((*TABLES, *BAGS))}, or a folder of tables"
_CHILD = Path(__file__).with_name("mat_child.py")
_LONGEST = 300.0  # seconds that the reader of a MAT file may take


@dataclass(frozen=True)
class Recording:
    """Columns of equal length; `first_line` is the line of the first row in a text file, or 0;
    `places`: the rows that are looked at, where these are not all."""

    name: str
    columns: Mapping[str, np.ndarray]
    first_line: int = 0
    notes: tuple[str, ...] = ()
    places: np.ndarray | None = None

    @property
    def rows(self) -> int:
        return max((len(column) for column in self.columns.values()), default=0)

    def among(self, rows: np.ndarray) -> Recording:
        """The recording, its rows counted among some (booleans)."""
        return replace(self, places=np.flatnonzero(rows))

    def column(self, name: str) -> np.ndarray:
        """A column by name."""
        if name not in self.columns:
            raise InputError(f"{self.name}: {UnknownNameError.of('column', name, self.columns)}")
        return self.columns[name]

    def row(self, k: int) -> str:
        """Row k (from 0, of those looked at) as people count, with its line in a text file."""
        k = k if self.places is None else int(self.places[k])
        line = f" (line {k + self.first_line})" if self.first_line else ""
        return f"row {k + 1}{line}"


@named_arguments
def read_recording(
    source: str | os.PathLike[str] | Mapping[str, Any], log: Records | None = None
) -> Recording:
    """A recording from a path, or a dict of arrays: vectors, or matrices as name1, name2, ..."""
    log = log or Records()
    if isinstance(source, Mapping):
        return _whole(Recording("log", _split({str(k): v for k, v in source.items()})))
    path = Path(source)
    if not path.exists():
        raise InputError(f"{path}: there is no such recording; {_HINT}")
    with translated(f"{path}: cannot be read", remedy=_HINT):
        if path.is_dir() and not (path / "metadata.yaml").exists():
            return _whole(_folder(path, log))
        return _whole(_file(path, log))


def _file(path: Path, log: Records) -> Recording:
    suffix = path.suffix.lower()
    if path.is_dir() or suffix in BAGS:
        from .bags import read_bag

        columns, notes = read_bag(path, log.topic)
        return Recording(str(path), columns, 0, notes)
    readers: Any = {".parquet": _parquet, ".mat": _mat, ".npz": _npz}
    if suffix in readers:
        return Recording(str(path), readers[suffix](path))
    if suffix in TABLES:
        return _text(path)
    raise InputError(f"{path}: a recording is not read from '{suffix}' files; {_HINT}")


def _folder(path: Path, log: Records) -> Recording:
    """The tables of a folder side by side; names of columns start with that of their table."""
    if log.files:
        files = [path / name for name in log.files]
        for file in files:
            if not file.is_file():
                raise InputError(f"{file}: there is no such file; the recipe's [log] names it")
    else:
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in TABLES)
    if not files:
        raise InputError(f"{path}: this folder holds no table; {_HINT}")
    parts = [_file(file, log) for file in files]
    if len(parts) == 1:
        return parts[0]
    columns = {
        f"{file.stem}/{name}": column
        for file, part in zip(files, parts, strict=True)
        for name, column in part.columns.items()
    }
    return Recording(str(path), columns, max(part.first_line for part in parts))


def _whole(recording: Recording) -> Recording:
    if not recording.columns or recording.rows == 0:
        raise InputError(f"{recording.name}: no rows of numbers were found")
    lengths = {name: len(column) for name, column in recording.columns.items()}
    if len(set(lengths.values())) > 1:
        (a, na), (b, nb) = min(lengths.items(), key=_second), max(lengths.items(), key=_second)
        raise InputError(
            f"{recording.name}: columns differ in length: '{a}' has {na} rows, '{b}' has {nb}"
        )
    return recording


def _second(pair: tuple[str, int]) -> int:
    return pair[1]


def _split(arrays: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Vectors as they are; matrices (rows, m) as m columns name1, name2, ..."""
    columns: dict[str, np.ndarray] = {}
    for name, value in arrays.items():
        if value is None:
            continue
        try:
            x = np.asarray(value)
            if x.dtype.kind == "c":
                raise InputError(
                    f"column '{name}' holds complex numbers; real ones are expected: record or"
                    " export the real part"
                )
            x = np.asarray(x, float)
        except (TypeError, ValueError):
            raise InputError(f"column '{name}' does not hold numbers") from None
        if x.ndim == 1:
            columns[name] = x
        elif x.ndim == 2:
            columns |= {f"{name}{k}": np.ascontiguousarray(c) for k, c in enumerate(x.T, 1)}
        else:
            raise InputError(f"column '{name}' has shape {x.shape}; expected (rows) or (rows, m)")
    return columns


def _text(path: Path) -> Recording:
    """A table as text, separated by commas, semicolons, tabs or spaces."""
    try:
        content = path.read_bytes()
        coding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        lines = content.decode(coding).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}") from None
    first = next((k for k, line in enumerate(lines) if line.strip() and line[0] not in "#%"), None)
    if first is None:
        raise InputError(f"{path}: the file is empty")
    head = lines[first]
    separator = next((mark for mark in ";\t," if mark in head), " ")
    rows = csv.reader(lines[first:], delimiter=separator, skipinitialspace=True)
    hint = "a quotation mark is not closed, or this is no table"
    with translated(f"{path}: cannot be read as a table", remedy=hint, of=(csv.Error,)):
        cells = [[cell.strip() for cell in row] for row in rows]
    named = not all(np.isfinite(_float(_point(cell))) for cell in cells[0])
    header = cells[0] if named else [f"c{k}" for k in range(1, len(cells[0]) + 1)]
    body = cells[1:] if named else cells
    while body and not any(body[-1]):
        body.pop()
    _rectangular(path, header, body, first + 1 + named)
    if separator != ",":  # 0,5 is how half of the world writes it
        body = [[_point(cell) for cell in row] for row in body]
    values = _matrix(body, len(header))
    columns = {name: np.ascontiguousarray(values[:, c]) for c, name in enumerate(header)}
    return Recording(str(path), columns, first + 1 + named)


def _rectangular(
    path: Path, header: Sequence[str], body: Sequence[Sequence[str]], line: int
) -> None:
    names: set[str] = set()
    for name in header:
        if name in names:
            raise InputError(f"{path}: two columns are called '{name[:80]}'")
        names.add(name)
    for k, row in enumerate(body):
        if len(row) != len(header):
            raise InputError(
                f"{path}: row {k + 1} (line {k + line}) has {len(row)} values, the header names "
                f"{len(header)} columns: the line is damaged; delete it, or repair it"
            )


def _matrix(body: Sequence[Sequence[str]], width: int) -> np.ndarray:
    try:
        return np.array(body, dtype=float).reshape(len(body), width)
    except ValueError:  # some cell is no number: find out which
        return np.array([[_float(cell) for cell in row] for row in body]).reshape(-1, width)


def _point(cell: str) -> str:
    """A number with a decimal comma, with a point instead."""
    return cell.replace(",", ".") if cell.count(",") == 1 and "." not in cell else cell


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _parquet(path: Path) -> dict[str, np.ndarray]:
    hint = "the file is damaged, or of another kind: write it again"
    with translated(f"{path}: cannot be read as Parquet", remedy=hint, of=(Exception,)):
        table = arrow_file(path)
        return _split({name: _arrow_column(table.column(name)) for name in table.column_names})


def _arrow_column(column: Any) -> Any:
    """A column as an array; None where it holds no numbers, nor lists of equal length."""
    kind = str(column.type)
    if kind.startswith(("timestamp", "duration")):
        return column.to_numpy().astype("datetime64[ns]").astype(np.int64) * 1e-9
    if kind.startswith(("list", "fixed_size_list", "large_list")):
        rows = column.to_pylist()
        even = rows and all(row is not None and len(row) == len(rows[0]) for row in rows)
        return np.array(rows) if even else None
    if kind.startswith(("int", "uint", "float", "double", "half", "bool", "decimal")):
        if column.null_count or kind.startswith(("bool", "decimal")):
            return np.array([_nan(x) for x in column.to_pylist()], float)
        return column.to_numpy()
    return None


def _npz(path: Path) -> dict[str, np.ndarray]:
    return _split(read_npz(path))


def _nan(x: Any) -> float:
    return float("nan") if x is None else float(x)


def _mat(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a MAT file; see `mat_child`, which reads it."""
    if importlib.util.find_spec("scipy") is None:
        raise MissingExtraError.of("scipy", "data", "reading MAT files")
    flat = _mat_arrays(path)
    longest = max((max(x.shape) for x in flat.values()), default=0)
    return _split({k: _upright(x, longest) for k, x in flat.items() if longest in x.shape})


def _mat_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of numbers, read in a process of its own, with a limit on time and memory."""
    limit = unpacked_limit(path.stat().st_size)
    damaged = f"{path}: cannot be read as a MAT file"
    hint = "save it again with  save(..., '-v7')"
    with tempfile.TemporaryDirectory(prefix="cardan-") as folder:
        command = [sys.executable, "-P", str(_CHILD), str(path.resolve()), folder, str(limit)]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LONGEST,
                check=False,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
            answer = json.loads(done.stdout or b"{}")
        except subprocess.TimeoutExpired:
            raise InputError(f"{damaged} within {_LONGEST:g} s; {hint}") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{damaged}: {error}; {hint}") from None
        wrong = answer.get("wrong") if done.returncode == 0 else "end"
        if wrong == "version":
            raise InputError(
                f"{path}: MAT files of version 7.3 are HDF5; save with  save(..., '-v7')"
            )
        if wrong == "size":
            size = answer.get("bytes")
            require_size(path, max(limit + 1, size if isinstance(size, int) else 0))
        if wrong:
            why = answer.get("why") or "its reader was ended by what the file holds: it is damaged"
            raise InputError(f"{damaged}: {why}; {hint}")
        names = answer.get("names", [])
        with np.load(Path(folder) / "arrays.npz", allow_pickle=False) as arrays:
            return {name: arrays[f"a{k}"] for k, name in enumerate(names)}


def _upright(x: np.ndarray, rows: int) -> np.ndarray:
    """Samples down the rows."""
    return x.T if x.ndim == 2 and x.shape[0] != rows else x
