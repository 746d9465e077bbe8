"""A Parquet file of plain numbers in which the place of every byte is known before it is written.

Every row group holds the same number of rows, the last one the rest; a column of it is one page,
not compressed, without levels (no value is missing). So any group can be written at any time, in
any order, straight from the results, and the file is the same. Text about the job stands in the
file's foot, under the key "cardan.sweep". The format: Apache Parquet's parquet.thrift, in Thrift's
compact protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..version import __version__

MAGIC = b"PAR1"
KEY = b"cardan.sweep"
_TYPES = {"float32": 4, "float64": 5}
_PLAIN, _RLE, _REQUIRED = 0, 3, 0
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12


@dataclass(frozen=True)
class Layout:
    """The file of a table: names of its columns, rows in all and in a group, type of its values."""

    columns: tuple[str, ...]
    rows: int
    group: int
    dtype: str

    @property
    def groups(self) -> int:
        return -(-self.rows // self.group)

    def size(self, k: int) -> int:
        """Rows of a group."""
        return min(self.rows, (k + 1) * self.group) - k * self.group

    def start(self, k: int) -> int:
        """Where a group begins."""
        return len(MAGIC) + k * len(self.columns) * self._column(self.group)

    @property
    def end(self) -> int:
        """Where the last group ends."""
        last = self.groups - 1
        return self.start(last) + len(self.columns) * self._column(self.size(last))

    def _column(self, rows: int) -> int:
        return len(self.head(rows)) + rows * np.dtype(self.dtype).itemsize

    def head(self, rows: int) -> bytes:
        """What stands before the values of a column in a group: PageHeader."""
        size = rows * np.dtype(self.dtype).itemsize
        page = _struct([(1, _I32, rows), (2, _I32, _PLAIN), (3, _I32, _RLE), (4, _I32, _RLE)])
        return _struct([(1, _I32, 0), (2, _I32, size), (3, _I32, size), (5, _STRUCT, page)])

    def foot(self, job: str = "") -> bytes:
        """What stands after the last group: FileMetaData (with a text about the job), its length,
        and the end."""
        root = _struct([(4, _BINARY, b"schema"), (5, _I32, len(self.columns))])
        kind = _TYPES[self.dtype]
        fields = [
            _struct([(1, _I32, kind), (3, _I32, _REQUIRED), (4, _BINARY, name.encode())])
            for name in self.columns
        ]
        full, last = self._about(self.group), self._about(self.size(self.groups - 1))
        groups = [self._group(k, full) for k in range(self.groups - 1)]
        groups.append(self._group(self.groups - 1, last))
        about = _struct([(1, _BINARY, KEY), (2, _BINARY, job.encode())])
        data = _struct([
            (1, _I32, 2), (2, _LIST, (_STRUCT, [root, *fields])), (3, _I64, self.rows),
            (4, _LIST, (_STRUCT, groups)), *([(5, _LIST, (_STRUCT, [about]))] if job else []),
            (6, _BINARY, f"cardan {__version__}".encode()),
        ])  # fmt: skip
        return data + len(data).to_bytes(4, "little") + MAGIC

    def _group(self, k: int, about: Sequence[bytes]) -> bytes:
        """RowGroup: a ColumnChunk for each column, with its ColumnMetaData, which ends with the
        place of its page."""
        rows, start = self.size(k), self.start(k)
        size, field = self._column(rows), _struct([(2, _I64, 0)])[:1]
        places = _integers(start + size * np.arange(len(about)))
        chunks = [
            b"%b%b\x1c%b%b%b\0\0" % (field, place, text, field, place)
            for text, place in zip(about, places, strict=True)
        ]
        total = size * len(self.columns)
        return _struct([
            (1, _LIST, (_STRUCT, chunks)), (2, _I64, total), (3, _I64, rows), (5, _I64, start),
            (6, _I64, total),
        ])  # fmt: skip

    def _about(self, rows: int) -> list[bytes]:
        """ColumnMetaData of each column in a group of that many rows, up to its place (field 9)."""
        size, kind = self._column(rows), _TYPES[self.dtype]
        return [
            _struct([
                (1, _I32, kind), (2, _LIST, (_I32, [_integer(_PLAIN)])),
                (3, _LIST, (_BINARY, [_text(name.encode())])), (4, _I32, 0), (5, _I64, rows),
                (6, _I64, size), (7, _I64, size),
            ])[:-1]
            for name in self.columns
        ]  # fmt: skip


def job_text(foot: bytes) -> str:
    """The text about the job in the foot of a file, or '' where there is none."""
    at = foot.rfind(_struct([(1, _BINARY, KEY)])[:-1])
    if at < 0:
        return ""
    at += len(KEY) + 3  # the field, the key's length, and the field of the value
    size = shift = 0
    while at < len(foot) and shift < 64:
        size |= (foot[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if foot[at - 1] < 0x80:
            break
    return foot[at : at + size].decode("utf-8", "replace")


def _unsigned(x: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    text = bytearray()
    while x > 0x7F:
        text.append(x & 0x7F | 0x80)
        x >>= 7
    text.append(x)
    return bytes(text)


def _integers(x: np.ndarray) -> list[bytes]:
    """What `_integer` gives of every element, at once: most of a large file's foot are places."""
    x = 2 * x.astype(np.int64)
    shifted = x[:, None] >> 7 * np.arange(9)
    size = np.maximum(1, (shifted > 0).sum(axis=1))
    more = 0x80 * (np.arange(9) < size[:, None] - 1)
    flat = (shifted & 0x7F | more).astype(np.uint8).tobytes()
    return [flat[9 * k : 9 * k + n] for k, n in enumerate(size.tolist())]


def _integer(x: int) -> bytes:
    return _unsigned(2 * x)  # zigzag; none is negative here


def _text(x: bytes) -> bytes:
    return _unsigned(len(x)) + x


def _struct(fields: Sequence[tuple[int, int, object]]) -> bytes:
    """Fields (number, type, value) in ascending order; a value of a struct or list is encoded."""
    text, before = bytearray(), 0
    for number, kind, value in fields:
        text.append((number - before) << 4 | kind)
        before = number
        if isinstance(value, int):
            text += _integer(value)
        elif isinstance(value, tuple):
            element, items = value
            short = len(items) < 15
            text.append((len(items) if short else 15) << 4 | element)
            text += b"" if short else _unsigned(len(items))
            text += b"".join(items)
        elif isinstance(value, bytes):
            text += _text(value) if kind == _BINARY else value
    text.append(0)
    return bytes(text)
