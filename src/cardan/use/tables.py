"""Tables of named columns, read from and written to CSV or Parquet; files appear whole or not."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..errors import InputError, MissingExtraError

__all__ = ["arrow", "read_table", "table_format", "write_table", "write_whole"]

Table = Mapping[str, np.ndarray]


def arrow(purpose: str) -> Any:
    """pyarrow with its Parquet module."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError.of("pyarrow", "data", purpose) from None
    return pyarrow


def write_whole(path: str | Path, write: Callable[[str], None]) -> None:
    """Let `write` fill a temporary file beside the target, then put it in its place at once."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    os.close(handle)
    try:
        write(temporary)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        os.replace(temporary, target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_table(path: str | Path, table: Table) -> None:
    """Columns of equal length to .csv or .parquet, by the extension."""
    if table_format(path) == ".parquet":
        pa = arrow("Parquet files")
        found = pa.table({name: np.ascontiguousarray(column) for name, column in table.items()})
        write_whole(path, lambda file: pa.parquet.write_table(found, file))
    else:
        write_whole(path, lambda file: _write_csv(file, table))


def table_format(path: str | Path) -> str:
    """The extension, .csv or .parquet."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise InputError(f"{path}: a table is written as .csv or .parquet")
    return suffix


def _write_csv(file: str, table: Table) -> None:
    with Path(file).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def read_table(path: str | Path) -> dict[str, np.ndarray]:
    """The numeric columns of a .csv (with a header line), .parquet or .npz file, as floats."""
    suffix = Path(path).suffix.lower()
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such file")
    if suffix == ".parquet":
        pa = arrow("Parquet files")
        try:
            found = pa.parquet.read_table(path)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{path}: cannot be read as Parquet: {error}") from None
        return {name: _floats(path, name, found.column(name)) for name in found.column_names}
    if suffix == ".csv":
        return _read_csv(path)
    if suffix == ".npz":
        return _read_npz(path)
    raise InputError(f"{path}: a table is read from .csv, .parquet or .npz")


def _read_npz(path: str | Path) -> dict[str, np.ndarray]:
    """Arrays of NumPy by name; only numbers are read."""
    try:
        with np.load(path, allow_pickle=False) as found:
            table = {name: found[name] for name in found.files}
    except (OSError, ValueError, BadZipFile) as error:
        raise InputError(f"{path}: cannot be read as arrays of NumPy: {error}") from None
    for name, column in table.items():
        if column.dtype.kind not in "fiu" or not column.ndim:
            raise InputError(f"{path}: column '{name}' does not hold numbers")
    return {name: np.asarray(column, float) for name, column in table.items()}


def _floats(path: str | Path, name: str, column: Any) -> np.ndarray:
    try:
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{path}: column '{name}' does not hold numbers") from None


def _read_csv(path: str | Path) -> dict[str, np.ndarray]:
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV: {error}") from None
    if len(rows) < 2:
        raise InputError(f"{path}: expected a line of column names, then rows of numbers")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) != len(header):
        raise InputError(f"{path}: two columns have the same name")
    values = np.empty((len(rows) - 1, len(header)))
    for k, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise InputError(f"{path}:{k + 2}: {len(row)} values; the header names {len(header)}")
        for c, text in enumerate(row):
            try:
                values[k, c] = float(text)
            except ValueError:
                what = f"column '{header[c]}' holds '{text.strip()}'"
                raise InputError(f"{path}:{k + 2}: {what}; a number is expected") from None
    return {name: np.ascontiguousarray(values[:, c]) for c, name in enumerate(header)}
