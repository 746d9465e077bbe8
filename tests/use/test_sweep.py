"""Sweeps: right values, the same bytes after kills, on threads and on Dask; bad tables named."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from robots import arm, pendulum

import cardan
from cardan.errors import CardanError, CardanWarning, InputError
from cardan.loops.numeric import equations
from cardan.motion.tables import write_table
from cardan.program import Program
from cardan.sweeps import engines as sweep_dask
from cardan.sweeps.draws import random_states
from cardan.sweeps.parquet import Layout
from cardan.sweeps.sweep import Progress, Sweep, sweep
from cardan.sweeps.table import column_names


@cache
def program() -> Program:
    found: Program = cardan.model(arm(), "inverse-dynamics")
    return found


def states(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {f"{key}{j}": rng.normal(size=rows) for key in ("q", "qd", "qdd") for j in range(1, 7)}


def stacked(table: dict[str, np.ndarray], key: str, n: int = 6) -> np.ndarray:
    return np.stack([table[f"{key}{j}"] for j in range(1, n + 1)], axis=1)


def stop_at(rows: int) -> Callable[[Progress], None]:
    """A listener that interrupts when that many rows are done."""

    def stop(now: Progress) -> None:
        if now.done >= rows:
            raise KeyboardInterrupt

    return stop


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read(path: Path) -> np.ndarray:
    table = pq.read_table(path)
    return np.stack([table.column(name).to_numpy() for name in table.column_names], axis=1)


def test_every_row_is_evaluated_whatever_the_source(tmp_path: Path) -> None:
    table = states(5000)
    expected = program().evaluate(**{key: stacked(table, key) for key in ("q", "qd", "qdd")})
    write_table(tmp_path / "x.parquet", table)
    write_table(tmp_path / "x.csv", table)
    lists = pa.table({key: list(stacked(table, key)) for key in ("q", "qd", "qdd")})
    pq.write_table(lists, tmp_path / "lists.parquet", row_group_size=700)
    feather.write_feather(pa.table(table), tmp_path / "x.arrow", compression="uncompressed")
    target = tmp_path / "y.parquet"
    found = set()
    names = ("x.parquet", "x.csv", "lists.parquet", "x.arrow")
    for source in (table, pa.table(table), *(tmp_path / name for name in names)):
        done = sweep(program(), source, target, chunk=999, fresh=True, force=True)
        assert (done.rows, done.resumed) == (5000, 0)
        np.testing.assert_allclose(read(target), expected, rtol=1e-12, atol=1e-12)
        found.add(read(target).tobytes())
    assert len(found) == 1
    assert pq.read_table(target).column_names == [f"tau{j}" for j in range(1, 7)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "lists.parquet", "x.arrow", "x.csv", "x.parquet", "y.parquet",
    ]  # fmt: skip


def test_threads_do_not_change_a_bit(tmp_path: Path) -> None:
    table = states(20_000)
    for threads in (1, 3):
        sweep(program(), table, tmp_path / f"{threads}.parquet", threads=threads, chunk=7000)
    assert digest(tmp_path / "1.parquet") == digest(tmp_path / "3.parquet")


def test_systems_that_write_one_piece_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = states(3000)
    sweep(program(), table, tmp_path / "a.parquet", chunk=700)
    monkeypatch.delattr(os, "pwritev", raising=False)
    sweep(program(), table, tmp_path / "b.parquet", chunk=700)
    assert digest(tmp_path / "a.parquet") == digest(tmp_path / "b.parquet")


def test_matrices_and_several_outputs(tmp_path: Path) -> None:
    table = states(300)
    A = cardan.model(arm(), "inertia-matrix")
    sweep(A, table, tmp_path / "a.parquet", chunk=64)
    expected = A.evaluate(q=stacked(table, "q")).reshape(300, 36)
    np.testing.assert_allclose(read(tmp_path / "a.parquet"), expected, atol=1e-12)
    assert pq.read_table(tmp_path / "a.parquet").column_names == column_names("A", (6, 6))
    E = cardan.model(arm(), "energies")
    sweep(E, table, tmp_path / "e.parquet")
    assert pq.read_table(tmp_path / "e.parquet").column_names == ["E", "U"]


def test_parameter_sets(tmp_path: Path) -> None:
    """With symbolic=True columns may be parameters; those that have none keep their values."""
    symbolic = cardan.model(pendulum(), "inverse-dynamics", symbolic=True)
    rng = np.random.default_rng(0)
    table = {key: rng.normal(size=500) for key in ("q1", "qd1", "qdd1")}
    table |= {"ZZ1": rng.uniform(0.1, 1, 500), "MX1": rng.uniform(0.1, 1, 500)}
    sweep(symbolic, table, tmp_path / "y.parquet", chunk=100)
    expected = table["ZZ1"] * table["qdd1"] + 9.81 * table["MX1"] * np.cos(table["q1"])
    np.testing.assert_allclose(read(tmp_path / "y.parquet")[:, 0], expected, atol=1e-12)
    free = cardan.model(cardan.load("planar1r"), "inverse-dynamics")
    with pytest.raises(InputError, match=r"the parameter .* has no value and no column"):
        sweep(free, {key: np.zeros(3) for key in ("q1", "qd1", "qdd1")}, tmp_path / "z.parquet")


KILLED = """
import itertools, sys, time
import cardan
from cardan.run.table import Table
from cardan.sweeps.sweep import sweep
from cardan.sweeps.draws import random_states
robot = cardan.load("ur5")
program = cardan.model(robot, "inverse-dynamics", effort="plain")
evaluate, calls = Table.__call__, itertools.count()
def slow(*args):
    time.sleep(0.02)
    while len(sys.argv) == 2 and next(calls) >= 15:
        time.sleep(1)  # a run to be killed does not come to its end
    return evaluate(*args)
Table.__call__ = slow
print("ready", flush=True)
done = sweep(program, random_states(program, robot, 60_000), sys.argv[1], chunk=1000)
print(done.resumed, flush=True)
"""


def noted(folder: Path) -> int:
    """Chunks of an interrupted sweep that are done."""
    marks = (np.fromfile(path, "u8") for path in folder.glob(".*.parts/done"))
    return sum(int(np.count_nonzero(x)) // 2 for x in marks)


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by signal")
def test_a_sweep_killed_at_random_moments_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """Killed 3 times on the way; what was done is kept, and the file is the same."""
    rng = random.Random(0)
    target = tmp_path / "killed.parquet"
    command = [sys.executable, "-c", KILLED, str(target)]
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        before, late = noted(tmp_path), time.monotonic() + 20
        while noted(tmp_path) <= before and time.monotonic() < late:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert not target.exists()
    last = subprocess.run(
        [*command, "to the end"], capture_output=True, text=True, check=True, timeout=120
    )
    assert int(last.stdout.split()[-1]) > 0  # rows an earlier run had done
    robot = arm()
    plain = cardan.model(robot, "inverse-dynamics", effort="plain")
    whole = tmp_path / "whole.parquet"
    sweep(plain, random_states(plain, robot, 60_000), whole, chunk=1000)
    assert digest(whole) == digest(target)
    assert list(tmp_path.iterdir()) in ([whole, target], [target, whole])


def test_an_interrupt_loses_nothing_and_another_job_starts_afresh(tmp_path: Path) -> None:
    table, target, stop = states(10_000), tmp_path / "y.parquet", stop_at(4000)
    with pytest.raises(KeyboardInterrupt):
        sweep(program(), table, target, chunk=1000, threads=1, progress=stop)
    seen: list[Progress] = []
    done = sweep(program(), table, target, chunk=1000, progress=seen.append)
    assert done.resumed >= 3000
    assert seen[-1].done == seen[-1].rows == 10_000
    assert seen[-1].rate > 0
    first = digest(target)
    target.unlink()
    with pytest.raises(KeyboardInterrupt):
        sweep(program(), table, target, chunk=1000, threads=1, progress=stop)
    assert sweep(program(), states(10_000, 1), target, chunk=1000).resumed == 0
    assert digest(target) != first
    target.unlink()
    with pytest.raises(KeyboardInterrupt):
        sweep(program(), table, target, chunk=1000, threads=1, progress=stop)
    assert sweep(program(), table, target, chunk=1000, fresh=True).resumed == 0
    assert digest(target) == first


def test_a_damaged_part_is_done_again(tmp_path: Path) -> None:
    table, target = states(5000), tmp_path / "y.parquet"
    sweep(program(), table, target, chunk=1000)
    first = digest(target)
    parts = tmp_path / ".y.parquet.parts"

    def flipped(path: Path, at: int) -> None:
        content = bytearray(path.read_bytes())
        content[at] ^= 4
        path.write_bytes(content)

    def marked(path: Path) -> None:
        marks = np.fromfile(path, "u8").reshape(-1, 2)
        marks[:] = np.where(marks, marks, 7)
        marks.tofile(path)

    def swapped(path: Path) -> None:
        marks = np.fromfile(path, "u8").reshape(-1, 2)
        marks[[0, 1]] = marks[[1, 0]]
        marks.tofile(path)

    damages: list[Callable[[], Any]] = [
        lambda: (parts / "data").write_bytes((parts / "data").read_bytes()[:-200_000]),
        lambda: flipped(parts / "data", 5000),  # a value
        lambda: flipped(parts / "data", 6),  # the head of a page
        lambda: flipped(parts / "done", 3),
        lambda: flipped(parts / "done", 12),
        lambda: (parts / "done").write_bytes((parts / "done").read_bytes()[:21]),
        lambda: marked(parts / "done"),
        lambda: swapped(parts / "done"),
    ]
    for damage in damages:
        target.unlink()
        with pytest.raises(KeyboardInterrupt):
            sweep(program(), table, target, chunk=1000, threads=1, progress=stop_at(3000))
        damage()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert sweep(program(), table, target, chunk=1000).resumed <= 3000
        assert digest(target) == first
        assert all("checksums" in str(warning.message) for warning in said)


def test_a_finished_file_is_known_again_and_not_replaced_unasked(tmp_path: Path) -> None:
    table, target = states(3000), tmp_path / "y.parquet"
    sweep(program(), table, target, chunk=1000)
    first = digest(target)
    again = sweep(program(), table, target, chunk=1000)
    assert (again.unchanged, again.resumed, digest(target)) == (True, 3000, first)
    other = cardan.model(arm(), "gravity")
    with pytest.raises(InputError, match=r"another sweep \(model inverse.* then, gravity.*force"):
        sweep(other, table, target, chunk=1000)
    with pytest.raises(InputError, match=r"another sweep \(other states\)"):
        sweep(program(), states(3000, 1), target, chunk=1000)
    with pytest.raises(InputError, match="another sweep"):  # fresh is about this job
        sweep(other, table, target, chunk=1000, fresh=True)
    assert digest(target) == first
    with pytest.raises(KeyboardInterrupt):
        sweep(other, table, target, chunk=100, threads=1, force=True, progress=stop_at(1000))
    assert digest(target) == first
    assert sweep(other, table, target, chunk=100, force=True).resumed > 0
    write_table(tmp_path / "z.parquet", table)
    with pytest.raises(InputError, match="no result of a sweep"):
        sweep(program(), table, tmp_path / "z.parquet")
    text = pq.read_metadata(target).metadata[b"cardan.sweep"]
    job = json.loads(text)
    assert job["job"]["model"] == "gravity of Universal Robots UR5"
    assert len(job["hash"]) == 64
    content = bytearray(target.read_bytes())
    content[3000] ^= 1
    target.write_bytes(content)
    with pytest.warns(CardanWarning, match="damaged"):
        assert not sweep(other, table, target, chunk=100).unchanged
    assert sweep(other, table, target, chunk=100).unchanged


def test_states_that_changed_behind_the_date_are_seen(tmp_path: Path) -> None:
    """A file of states whose size and date are kept is another one when its content is."""
    source, target = tmp_path / "x.parquet", tmp_path / "y.parquet"
    pq.write_table(pa.table(states(3000)), source, compression="none", use_dictionary=False)
    sweep(program(), source, target, chunk=1000)
    status, content = source.stat(), bytearray(source.read_bytes())
    content[2000] ^= 1
    source.write_bytes(content)
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(InputError, match="other states"):
        sweep(program(), source, target, chunk=1000)
    content[2000] ^= 1
    source.write_bytes(content)
    source.rename(tmp_path / "moved.parquet")
    assert sweep(program(), tmp_path / "moved.parquet", target, chunk=1000).unchanged


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("name", ["data", "done", "lock"])
def test_links_are_not_followed(name: str, tmp_path: Path) -> None:
    table, target = states(3000), tmp_path / "y.parquet"
    with pytest.raises(KeyboardInterrupt):
        sweep(program(), table, target, chunk=1000, threads=1, progress=stop_at(1000))
    part = tmp_path / ".y.parquet.parts" / name
    part.unlink()
    (tmp_path / "precious").write_text("mine")
    part.symlink_to(tmp_path / "precious")
    sweep(program(), table, target, chunk=1000)
    assert (tmp_path / "precious").read_text() == "mine"
    assert pq.read_table(target).num_rows == 3000
    (tmp_path / ".z.parquet.parts").symlink_to(tmp_path)
    with pytest.raises(InputError, match="is a link"):
        sweep(program(), table, tmp_path / "z.parquet")


def test_columns_of_one_column(tmp_path: Path) -> None:
    table = states(50)
    lists = {name: x.reshape(-1, 1) for name, x in table.items()}
    expected = sweep(program(), table).arrays
    arrays = sweep(program(), lists).arrays
    assert expected is not None
    assert arrays is not None
    np.testing.assert_array_equal(arrays["tau"], expected["tau"])
    np.savez(tmp_path / "x.npz", **lists)
    kind = pa.list_(pa.float64(), 1)
    nested = {name: pa.array([[v] for v in x], type=kind) for name, x in table.items()}
    pq.write_table(pa.table(nested), tmp_path / "x.parquet")
    for source in ("x.npz", "x.parquet"):
        arrays = sweep(program(), tmp_path / source).arrays
        assert arrays is not None
        np.testing.assert_array_equal(arrays["tau"], expected["tau"])


def test_only_what_changed_is_done_again(tmp_path: Path) -> None:
    """Arrays have no date: what was done from them is compared with what they are now."""
    table, target = states(10_000), tmp_path / "y.parquet"
    with pytest.raises(KeyboardInterrupt):
        sweep(program(), table, target, chunk=1000, threads=1, progress=stop_at(6000))
    table["q2"][2500], table["qd3"][4000] = table["qd3"][4000], table["q2"][2500]
    assert sweep(program(), table, target, chunk=1000).resumed == 4000
    sweep(program(), table, tmp_path / "whole.parquet", chunk=1000)
    assert digest(target) == digest(tmp_path / "whole.parquet")


def test_results_in_memory() -> None:
    """Without a file: arrays by output, and the columns that the file would have."""
    table = states(3000)
    q, qd = stacked(table, "q"), stacked(table, "qd")
    A = cardan.model(arm(), "inertia-matrix")
    done = sweep(A, {"q": q}, chunk=700, threads=2)
    assert done.arrays is not None
    np.testing.assert_array_equal(done.arrays["A"], A.compile()(q=q))
    np.testing.assert_array_equal(done.table["A2_3"], done.arrays["A"][:, 1, 2])
    E = cardan.model(arm(), "energies")
    both = sweep(E, pa.table(table), chunk=700)
    np.testing.assert_array_equal(both.table["U"], E.compile()(q=q, qd=qd).U)
    small = sweep(A, {"q": q.astype("f4")}, dtype="float32")
    assert small.table["A1_1"].dtype == "float32"
    np.testing.assert_allclose(small.table["A1_1"], done.table["A1_1"], rtol=1e-3)
    with pytest.raises(InputError, match="read them from there"):
        Sweep(Path("x"), 1, 0, 1.0).table


@pytest.mark.parametrize(("rows", "group", "columns"), [(10, 4, 3), (1, 100, 1), (500, 99, 20)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_file_is_parquet(rows: int, group: int, columns: int, dtype: str) -> None:
    """Bytes put in their places by hand are what pyarrow reads."""
    layout = Layout(tuple(f"x{k}" for k in range(columns)), rows, group, dtype)
    data = np.random.default_rng(0).normal(size=(columns, rows)).astype(dtype)
    file = bytearray(layout.end)
    file[:4] = b"PAR1"
    for k in reversed(range(layout.groups)):
        part = data[:, k * group : k * group + layout.size(k)]
        content = b"".join(layout.head(layout.size(k)) + column.tobytes() for column in part)
        file[layout.start(k) : layout.start(k) + len(content)] = content
    found = pq.read_table(io.BytesIO(bytes(file) + layout.foot()))
    for name, column in zip(layout.columns, data, strict=True):
        np.testing.assert_array_equal(found.column(name).to_numpy(), column)


def test_the_way_through_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU is given and gives: columns (size, rows), by a stand-in on this processor."""
    table = states(2000)
    model = cardan.model(arm(), "energies")
    here: Any = model.compile()

    def device(layout: str, **inputs: np.ndarray) -> Any:
        assert layout == "columns"
        return tuple(x[None] for x in here(**{key: x.T for key, x in inputs.items()}))

    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asnumpy=np.asarray))
    monkeypatch.setattr(Program, "compile", lambda self, target, dtype: device)
    found = sweep(model, table, chunk=300, gpu=True)
    sweep(model, table, tmp_path / "y.parquet", chunk=300, gpu=True)
    expected = sweep(model, table, chunk=300)
    for key, column in expected.table.items():
        np.testing.assert_array_equal(found.table[key], column)
        np.testing.assert_array_equal(pq.read_table(tmp_path / "y.parquet")[key], column)
    table["q2"][700] = np.nan
    with pytest.raises(InputError, match="row 700"):
        sweep(model, table, chunk=300, gpu=True)


def test_a_killed_dask_worker_loses_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    robot = pendulum()
    model = cardan.model(robot, "direct-dynamics")
    source = random_states(model, robot, 200_000)
    sweep(model, source, tmp_path / "here.parquet", chunk=5000)
    killed: list[int] = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill(now: Progress) -> None:
            if not killed and now.done >= 20_000:
                pids = client.run(os.getpid)
                killed.append(next(iter(pids.values())))
                os.kill(killed[0], signal.SIGKILL)

        sweep(model, source, tmp_path / "there.parquet", chunk=5000, dask=client, progress=kill)
        table = {name: np.linspace(0, 1, 500_000) for name in ("q1", "qd1", "tau1")}
        with warnings.catch_warnings():  # of graphs that are too large
            warnings.simplefilter("error", UserWarning)
            far = sweep(model, table, chunk=500_000, dask=client)
    near = sweep(model, table)
    np.testing.assert_array_equal((far.arrays or {})["qdd"], (near.arrays or {})["qdd"])
    assert killed
    assert digest(tmp_path / "here.parquet") == digest(tmp_path / "there.parquet")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.pop("qd3"), "there is no column 'qd3'"),
        (lambda t: t.update(q2=np.where(np.arange(50) == 17, np.nan, 0.0)), "column 'q2', row 17"),
        (lambda t: t.update(q1=np.zeros(49)), "different lengths"),
        (lambda t: t.update(q1=np.where(np.arange(50) == 49, np.inf, 0.0)), "column 'q1', row 49"),
        (lambda t: t.update(q=np.zeros((50, 5))), "lists of 5; expected lists of 6"),
        (lambda t: t.update(q=np.zeros(50)), "'q' holds numbers; expected lists of 6"),
        (lambda t: t.update(q3=np.array(["x"] * 50)), "column 'q3' holds <U1; real numbers"),
        (lambda t: [t.update({k: v[:0]}) for k, v in t.items()], "no rows"),
    ],
)
def test_bad_tables_are_named(change: Any, words: str, tmp_path: Path) -> None:
    table = states(50)
    change(table)
    with pytest.raises(CardanError, match=words):
        sweep(program(), table, tmp_path / "y.parquet", chunk=10)


def test_bad_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_dask, "CONNECT", "1s")
    with pytest.raises(InputError, match="no such file"):
        sweep(program(), tmp_path / "x.parquet", tmp_path / "y.parquet")
    with pytest.raises(InputError, match=r"written as \.parquet"):
        sweep(program(), states(5), tmp_path / "y.csv")
    with pytest.raises(InputError, match="there is no folder"):
        sweep(program(), states(5), tmp_path / "no" / "y.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"hello")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        sweep(program(), tmp_path / "bad.parquet", tmp_path / "y.parquet")
    words = pa.table({**states(5), "q1": ["a"] * 5})
    pq.write_table(words, tmp_path / "words.parquet")
    with pytest.raises(InputError, match="column 'q1' holds string"):
        sweep(program(), tmp_path / "words.parquet", tmp_path / "y.parquet")
    empty = pa.table({**states(5), "q1": [1.0, None, 2.0, 3.0, 4.0]})
    pq.write_table(empty, tmp_path / "empty.parquet")
    with pytest.raises(InputError, match="'q1' has 1 empty"):
        sweep(program(), tmp_path / "empty.parquet", tmp_path / "y.parquet")
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        sweep(program(), states(5), tmp_path / "y.parquet", dask="tcp://127.0.0.1:1")


def test_the_command_sweeps(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from cardan.app.cli.main import app

    target = tmp_path / "y.parquet"
    words = ["sweep", "ur5", "gravity", "--random", "1000", "-o", str(target), "--json"]
    done = CliRunner().invoke(app, [*words, "--base-parameters"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["rows"] == 1000
    assert read(target).shape == (1000, 12)  # the states that were drawn, and the torques
    assert CliRunner().invoke(app, ["sweep", "ur5", "gravity"]).exit_code == 2


@pytest.mark.parametrize("name", ["fivebar", "delta"])
def test_random_states_of_closed_loops_are_closed(name: str) -> None:
    """Every row closes the loops; limits of the active joints hold; a seed gives the same."""
    robot = cardan.load(name)
    model = cardan.model(robot, "inverse-dynamics")
    source = random_states(model, robot, 300, seed=3)
    chunks = [np.array(load()["q"]) for _, load in source.chunks(200, [0, 1])]
    assert [q.shape for q in chunks] == [(robot.n, 200), (robot.n, 100)]
    assert equations(robot).error(np.concatenate(chunks, axis=1).T).max() < 1e-10
    assert np.ptp(chunks[0][equations(robot).coordinates.moving.index(1)]) > 0.1
    again = next(iter(source.chunks(200, [1])))[1]()["q"]
    np.testing.assert_array_equal(again, chunks[1])


def test_random_states_that_are_not_drawn(tmp_path: Path) -> None:
    robot = cardan.load("prrrp")
    with pytest.raises(CardanError, match="flexible links"):
        random_states(cardan.model(robot, "inverse-dynamics"), robot, 10)
    tree = robot.tree()
    found = random_states(cardan.model(tree, "gravity"), tree, 10)
    assert np.shape(next(iter(found.chunks(10, [0])))[1]()["q"]) == (10, 10)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("no.parquet", "y.parquet", "no.parquet: there is no such file"),
        ("x.xlsx", "y.parquet", "x.xlsx: states are read from"),
        ("x.csv", "y.csv", "y.csv: results are written as .parquet"),
        ("x.csv", "no/y.parquet", "there is no folder"),
        ("x.csv", "y.parquet", "there is no column 'q2'"),
    ],
)
def test_files_are_checked_before_anything_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, target: str, message: str
) -> None:
    from typer.testing import CliRunner

    from cardan.app.cli.main import app

    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "x.xlsx"):
        (tmp_path / name).write_text("q1\n0\n")
    done = CliRunner().invoke(app, ["sweep", "ur5", "gravity", "--input", source, "-o", target])
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_length_that_vanishes_in_a_row_is_told(tmp_path: Path) -> None:
    program = cardan.model(cardan.load("rx90-base"), "bias")
    names = [f"{x}{k}" for x in ("q", "qd") for k in range(1, 7)]
    columns = {name: np.full(3, 0.7) for name in (*names, *program.parameters)}
    columns["RL4"] = np.array([0.5, 0.0, 0.5])
    with pytest.warns(CardanWarning, match="RL4"):
        sweep(program, columns, tmp_path / "out.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CardanWarning)
        safe = cardan.model(cardan.load("rx90-base"), "bias", effort="safe")
        sweep(safe, columns, tmp_path / "safe.parquet")


def test_a_number_of_states_is_drawn() -> None:
    robot = cardan.load("ur5")
    program = cardan.model(robot, "gravity")
    drawn = cardan.sweep(program, 300, robot=robot, seed=3)
    states = cardan.sweep(program, random_states(program, robot, 300, 3))
    assert np.array_equal(drawn.table["Q1"], states.table["Q1"])
    with pytest.raises(cardan.InputError, match="give robot="):
        cardan.sweep(program, 300)
    with pytest.raises(cardan.InputError, match="expected a positive number"):
        cardan.sweep(program, 0, robot=robot)


def test_a_column_of_a_parameter_is_not_passed_over() -> None:
    robot = cardan.load("planar2r")
    robot = robot.with_values(dict.fromkeys(robot.parameters, 0.5))
    states = {"q1": np.zeros(3), "q2": np.ones(3), "M2": np.array([1.0, 2.0, 3.0])}
    with pytest.raises(InputError, match="'M2' is named as a parameter"):
        sweep(cardan.model(robot, "gravity"), states)
