"""Recipes with extreme values, and recordings that are damaged or far too large, are refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from tests.identify.synthetic import arm, recorded, without

from cardan.errors import CardanError, InputError, translated
from cardan.identification import identify, read_recording
from cardan.identification.read import logs
from cardan.motion.tables import read_table


@cache
def recording() -> dict[str, Any]:
    return without(recorded(arm(), noise=0.01), "qdd")


@pytest.mark.parametrize(
    ("section", "key", "value", "words"),
    [
        ("filter", "cutoff", 1e-300, "lets nothing pass of a recording of 10 s"),
        ("filter", "parallel", 1e-9, "lets nothing pass"),
        ("filter", "decimate", 10**9, "leaves 0 of 1000 samples"),
        ("filter", "order", 200, "at most 20"),
        ("filter", "delay", 1e9, "more than half of the recording"),
        ("fit", "split", 0.9999, "0 equations are left for 25 parameters"),
        ("torque", "gain", 1e300, "tau goes up to .*check the gain"),
        ("torque", "gain", 1e-300, "numbers leave the range.*check the values of the recipe"),
        ("log", "rate", 1e-300, "expected 1e-06 to 1e.09 Hz"),
        ("consistent", "strength", 1e300, "expected 0 to 1e.12"),
    ],
)
def test_extreme_values_of_a_recipe(section: str, key: str, value: Any, words: str) -> None:
    with pytest.raises(CardanError, match=words):
        identify(arm(), recording(), {section: {key: value}})


def test_complex_torques_are_refused() -> None:
    with pytest.raises(InputError, match="'tau' holds complex numbers"):
        identify(arm(), {**recording(), "tau": recording()["tau"] * (1 + 1j)})


def test_a_panic_of_a_library_in_rust_is_an_error_of_ours() -> None:
    class PanicException(BaseException):
        """As the libraries in Rust raise it: no Exception."""

    PanicException.__module__ = "pyo3_runtime"
    with (
        pytest.raises(InputError, match="the fit failed: index out of bounds; do so") as caught,
        translated("the fit failed", remedy="do so"),
    ):
        raise PanicException("index out of bounds")
    assert isinstance(caught.value.__cause__, PanicException)
    for passing in (KeyboardInterrupt(), SystemExit(3), TypeError("ours"), AssertionError("ours")):
        with pytest.raises(type(passing)), translated("what"):
            raise passing


def test_a_reader_that_crashes_ends_in_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader of MAT files is a process of its own; a stand-in ends as by a wild pointer."""
    (tmp_path / "log.mat").write_bytes(b"anything")
    child = tmp_path / "child.py"
    child.write_text("import os; os.abort()")
    monkeypatch.setattr(logs, "_CHILD", child)
    with pytest.raises(InputError, match=r"log\.mat: cannot be read as a MAT file: .*damaged"):
        read_recording(tmp_path / "log.mat")
    child.write_text("while True: pass")
    monkeypatch.setattr(logs, "_LONGEST", 0.2)
    with pytest.raises(InputError, match=r"cannot be read as a MAT file within 0\.2 s"):
        read_recording(tmp_path / "log.mat")


def test_files_that_unpack_to_more_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scipy.io import savemat

    zeros = {"t": np.arange(200_000.0), "q1": np.zeros(200_000), "q2": np.zeros(200_000)}
    np.savez_compressed(tmp_path / "x.npz", q1=zeros["q1"], q2=zeros["q2"])
    savemat(tmp_path / "x.mat", {"q1": zeros["q1"], "q2": zeros["q2"]}, do_compression=True)
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    pq.write_table(pa.table({"q1": zeros["q1"], "q2": zeros["q2"]}), tmp_path / "x.parquet")
    np.savez(tmp_path / "y.npz", **zeros)  # as large on disk as in memory
    for name in ("x.npz", "x.mat", "x.parquet"):
        assert read_recording(tmp_path / name).rows == 200_000
    monkeypatch.setenv("CARDAN_UNPACK_GB", "0.001")
    for name in ("x.npz", "x.mat", "x.parquet"):
        with pytest.raises(InputError, match=r"unpack to 0\.00.* GB.*CARDAN_UNPACK_GB"):
            read_recording(tmp_path / name)
    assert read_recording(tmp_path / "y.npz").rows == 200_000


def test_a_header_of_more_rows_than_the_file_holds(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(80)
    with ZipFile(tmp_path / "x.npz", "w", ZIP_DEFLATED) as archive:
        archive.writestr("q1.npy", content)
    with pytest.raises(InputError, match=r"shape \(1000000000000000,\), but holds only"):
        read_table(tmp_path / "x.npz")


def test_a_cell_that_is_too_long(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('q1,q2\n1,"' + "1" * 200_000)
    for read in (read_table, read_recording):
        with pytest.raises(InputError, match="field larger than field limit"):
            read(tmp_path / "x.csv")


def test_a_table_of_many_columns(tmp_path: Path) -> None:
    """Names are looked up, not compared with all before: the count of comparisons is small."""

    class Name(str):
        comparisons = 0

        def __eq__(self, other: object) -> bool:
            Name.comparisons += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    logs._rectangular(tmp_path, [Name(k) for k in range(20_000)], [], 1)
    assert Name.comparisons < 2000
    names = [f"c{k}" for k in range(20_000)]
    (tmp_path / "x.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names))
    assert len(read_recording(tmp_path / "x.csv").columns) == 20_000
