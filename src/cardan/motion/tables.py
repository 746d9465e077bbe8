"""Tables of named columns, read from and written to CSV or Parquet; files appear whole or not.

A file that unpacks to more than 1 GB, and to more than ten times its own size, is refused before it
is unpacked. CARDAN_UNPACK_GB is another limit.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from ..arguments import named_arguments
from ..errors import InputError, MissingExtraError, translated
from ..files import write_whole

Table = Mapping[str, np.ndarray]
_UNPACKED_GB = 1.0
_RATIO = 10  # packed data that is data: noise of a sensor packs to a half, zeros to a thousandth


def arrow(purpose: str) -> Any:
    """pyarrow with its Parquet module."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError.of("pyarrow", "data", purpose) from None
    return pyarrow


@named_arguments
def write_table(path: str | Path, table: Table) -> None:
    """Columns of equal length to .csv or .parquet, by the extension."""
    if table_format(path) == ".parquet":
        pa = arrow("Parquet files")
        columns = pa.table({name: np.ascontiguousarray(column) for name, column in table.items()})
        write_whole(path, lambda file: pa.parquet.write_table(columns, file))
    else:
        write_whole(path, lambda file: _write_csv(file, table))


@named_arguments
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


@named_arguments
def read_table(path: str | Path) -> dict[str, np.ndarray]:
    """The numeric columns of a .csv (with a header line), .parquet or .npz file, as floats."""
    suffix = Path(path).suffix.lower()
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such file")
    if suffix == ".parquet":
        with translated(f"{path}: cannot be read as Parquet", remedy=_AGAIN, of=(Exception,)):
            table = arrow_file(path)
            return {name: _floats(path, name, table.column(name)) for name in table.column_names}
    if suffix == ".csv":
        return _read_csv(path)
    if suffix == ".npz":
        return read_npz(path)
    raise InputError(f"{path}: a table is read from .csv, .parquet or .npz")


_AGAIN = "the file is damaged, or of another kind: write it again"


def unpacked_limit(size: int) -> int:
    """The bytes that a file of a size may unpack to."""
    try:
        limit = float(os.environ.get("CARDAN_UNPACK_GB", ""))
    except ValueError:
        limit = _UNPACKED_GB
    return max(int(1e9 * limit) if limit >= 0 else 0, _RATIO * size)


def require_size(path: str | Path, unpacked: int) -> None:
    """Refuse a file that unpacks to more than the limit."""
    if unpacked > unpacked_limit(Path(path).stat().st_size):
        raise InputError(
            f"{path}: it would unpack to {unpacked / 1e9:.3g} GB, more than the limit and more than"
            f" {_RATIO} times its own size; if that is meant, set the environment variable"
            f" CARDAN_UNPACK_GB to the GB allowed (now {_UNPACKED_GB:g} unless set)"
        )


def arrow_file(path: str | Path) -> Any:
    """The table of a Parquet file, if it is not too large when unpacked."""
    pa = arrow("Parquet files")
    with pa.parquet.ParquetFile(path) as file:
        about = file.metadata
        packed = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
        require_size(path, max(packed, 8 * about.num_rows * about.num_columns))
        return file.read()


def read_npz(path: str | Path) -> dict[str, np.ndarray]:
    """Arrays of NumPy by name; only numbers are read."""
    with translated(f"{path}: cannot be read as arrays of NumPy", remedy=_AGAIN, of=(Exception,)):
        _require_arrays(path)
        with np.load(path, allow_pickle=False) as archive:
            table = {name: archive[name] for name in archive.files}
    for name, column in table.items():
        if column.dtype.kind == "c":
            raise InputError(f"{path}: column '{name}' holds complex numbers; real ones are read")
        if column.dtype.kind not in "fiu" or not column.ndim:
            raise InputError(f"{path}: column '{name}' does not hold numbers")
    return {name: np.asarray(column, float) for name, column in table.items()}


def _require_arrays(path: str | Path) -> None:
    """What the file says about itself, before it is unpacked: sizes, and shapes that fit them."""
    form = np.lib.format
    with ZipFile(path) as archive:
        require_size(path, sum(member.file_size for member in archive.infolist()))
        for member in archive.infolist():
            with archive.open(member) as stream:
                version = form.read_magic(stream)
                read = (
                    form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
                )
                shape, _, dtype = read(stream)
            if prod(shape) * dtype.itemsize > member.file_size:
                raise InputError(
                    f"{path}: '{member.filename}' says that it has the shape {shape}, but holds"
                    f" only {member.file_size} bytes; {_AGAIN}"
                )


def _floats(path: str | Path, name: str, column: Any) -> np.ndarray:
    try:
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{path}: column '{name}' does not hold numbers") from None


def _read_csv(path: str | Path) -> dict[str, np.ndarray]:
    with (
        translated(f"{path}: cannot be read as CSV", of=(Exception,)),
        Path(path).open(newline="", encoding="utf-8-sig") as stream,
    ):
        rows = [row for row in csv.reader(stream) if row]
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
                what = f"column '{header[c]}' holds '{text.strip()[:80]}'"
                raise InputError(f"{path}:{k + 2}: {what}; a number is expected") from None
    return {name: np.ascontiguousarray(values[:, c]) for c, name in enumerate(header)}
