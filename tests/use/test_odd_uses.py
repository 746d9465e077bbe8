"""Faults that were met by using the library as a stranger would; each is a test that it is gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from robots import arm, pendulum
from tests.compare import near

import cardan
from cardan.errors import CardanError, InputError
from cardan.motion import paths, taskspace
from cardan.motion.animate import animation
from cardan.motion.coordinates import coordinates
from cardan.motion.tables import write_table
from cardan.motion.torques import torques
from cardan.motion.trajectory import fourier, move, sampled, through
from cardan.simulation.simulate import simulate
from cardan.sweeps import job as sweep_job
from cardan.sweeps.sweep import Progress, sweep


def test_a_spline_passes_its_points_at_the_times_given() -> None:
    times, points = np.array([1.0, 1.5, 3.0, 4.0]), np.random.default_rng(0).normal(size=(4, 2))
    for degree in (3, 5):
        motion = through(points, times, degree=degree)
        np.testing.assert_allclose(motion(times)[0], points, atol=1e-9)
        assert motion.t[0] == 1.0
        assert motion.t[-1] == 4.0
        np.testing.assert_array_equal(motion(0.5)[0], points[0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: through([["a"], ["b"]], [0, 1]), "points is not an array of real numbers"),
        (lambda: fourier([[np.nan]], [[1.0]], frequency=1), r"a\[0, 0\] = nan"),
        (lambda: fourier([[1.0]], [[1.0]], frequency=1, duration=0), "a duration of 0 s"),
        (lambda: sampled([0, 1], [[0.0], [1, 2]]), "q is not an array of real numbers"),
        (lambda: sampled([0, 1], [[0], [1]], qd=[[0], [np.inf]]), r"qd\[1, 0\] = inf"),
        (lambda: move([], [], 1), "no values"),
        (lambda: move(0, 1, "x"), "a duration of x s"),  # type: ignore[arg-type]
        (lambda: paths.line(np.eye(4), "x", 1), "end is not an array of real numbers"),
        (lambda: paths.circle(np.eye(4), [np.nan, 0, 0], 1), r"centre\[0\] = nan"),
        (lambda: paths.pick_and_place([0] * 3, [1, 0, 0], 1, duration=1, up=[0] * 3), "up = "),
        (lambda: paths.pick_and_place([0] * 3, [1, 0, 0], np.nan, duration=1), "height = nan"),
        (
            lambda: paths.pick_and_place([0] * 3, [1, 0, 0], 1, duration=1, dwell=np.nan),
            "a dwell of nan s",
        ),
    ],
)
def test_motions_of_bad_numbers_are_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_a_delta_follows_its_cycle() -> None:
    """q, qd, qdd of all joints of the tree: positions on the path, rates their derivatives."""
    robot = cardan.load("delta")
    q0 = np.atleast_2d(cardan.model(robot, "loop-geometry").solve(np.zeros(3)))[0]
    place: Any = cardan.model(robot, "transform").compile()
    P = place(q=q0)[:3, 3]
    side = np.array([0.05, 0, 0])
    path = paths.pick_and_place(P - side, P + side, 0.02, duration=0.2)
    motion = taskspace.follow(robot, path, q0, dt=2e-3)
    assert motion.q.shape == motion.qd.shape == motion.qdd.shape == (201, 12)
    np.testing.assert_allclose(place(q=motion.q)[:, :3, 3], path(motion.t).T[:, :3, 3], atol=1e-9)
    for x, xd in ((motion.q, motion.qd), (motion.qd, motion.qdd)):
        middle = (x[2:] - x[:-2]) / (motion.t[2:] - motion.t[:-2])[:, None]
        np.testing.assert_allclose(middle, xd[1:-1], atol=0.02 * np.abs(xd).max())
    active = coordinates(robot).place
    again = taskspace.follow(robot, path, q0[active], dt=0.05)
    np.testing.assert_allclose(again.q[0], motion.q[0], atol=1e-9)
    assert torques(robot, motion).total.shape == (201, 3)


def test_a_line_may_pass_beside_a_singular_configuration() -> None:
    robot = arm()
    first, last = np.array([0.1, -1, 1, -0.5, 0.1, 0.2]), np.array([0.1, -1, 1, -0.5, -0.1, 0.2])
    place: Any = cardan.model(robot, "transform").compile()
    line = paths.line(place(q=first), place(q=last), 1.0)
    motion = taskspace.follow(robot, line, first, dt=0.01)
    np.testing.assert_allclose(place(q=motion.q), line(motion.t).T, atol=1e-8)
    stuck = np.array([0.1, -1, 1, -0.5, 0, 0.2])
    T0 = place(q=stuck)
    T1 = T0.copy()
    T1[:3, 3] += [0.05, 0.05, 0.02]
    with pytest.raises(InputError, match="deviation="):
        taskspace.follow(robot, paths.line(T0, T1, 1.0), stuck, dt=0.01)
    motion = taskspace.follow(robot, paths.line(T0, T1, 1.0), stuck, dt=0.01, deviation=0.01)
    assert np.isfinite(motion.qdd).all()
    near(place(q=motion.q), paths.line(T0, T1, 1.0)(motion.t).T, absolute=0.02)


def test_one_torque_of_one_joint_is_a_number() -> None:
    robot = pendulum()
    one = simulate(robot, duration=0.1, torque=lambda t: 5.0)
    np.testing.assert_array_equal(one.q, simulate(robot, duration=0.1, torque=5.0).q)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base_twist": [1, 0, 0, 0, 0, 0]}, "base_twist: the base of 'arm' is fixed"),
        ({"law": lambda t, q, qd: q * np.nan}, r"torques \[nan\] at t = 0 s"),
        ({"loads": lambda links: {1: np.full(6, np.inf)}}, "load on link 1 is .* at t = 0 s"),
        ({"loads": lambda links: 3}, "loads gave a int"),
        ({"law": lambda t, q, qd: q * (np.nan if t > 0.05 else 0)}, r"torques \[nan\] at t = 0.0"),
        ({"smooth": 0.0}, "smooth = 0.0"),
        ({"qd0": "x"}, "qd0 is not an array of real numbers"),
        ({"q0": "x"}, "q0 is not an array of real numbers"),
    ],
)
def test_simulations_name_whose_numbers_are_wrong(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        simulate(pendulum(), duration=0.1, **options)


def test_a_base_without_mass_does_not_float() -> None:
    robot = pendulum()
    free = replace(robot, base=replace(robot.base, kind="floating"))
    with pytest.raises(InputError, match="the base of 'arm' has no mass"):
        simulate(free, duration=0.1)


def test_closed_loops_are_drawn_as_far_as_their_cuts() -> None:
    robot = cardan.load("delta")
    q = coordinates(robot).first("q0", 0.0)
    page = animation(robot, [0.0], q[None])
    data = json.loads(page.split('id="data"')[1].split(">", 1)[1].split("</script>")[0])
    assert len(data["bodies"]) == 12 + 2 * 3
    frames = np.array(data["frames"][0]).reshape(-1, 3, 4)
    np.testing.assert_allclose(frames[13::2], frames[14::2])
    cut = robot.loops[0].cut
    reach = np.linalg.norm(frames[13, :, 3] - frames[cut.antecedent, :, 3])
    assert reach == pytest.approx(abs(float(cut.d or 0) or float(cut.r or 0)), abs=1e-4)


# sweeps


def program() -> Any:
    return cardan.model(pendulum(), "inverse-dynamics")


def states(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {key: rng.normal(size=rows) for key in ("q1", "qd1", "qdd1")}


@pytest.mark.parametrize(("rows", "chunk"), [(1, None), (7, 3), (7, 6), (3, 1), (65537, None)])
def test_a_chunk_may_be_one_row(rows: int, chunk: int | None, tmp_path: Path) -> None:
    model: Any = cardan.model(cardan.load("planar2r").tree(), "inertia-matrix", symbolic=False)
    table = {key: np.random.default_rng(0).normal(size=rows) for key in ("q1", "q2")}
    table |= {name: np.full(rows, 0.5) for name in model.parameters}
    sweep(model, table, tmp_path / "y.parquet", chunk=chunk)
    there = pq.read_table(tmp_path / "y.parquet")
    here = sweep(model, table).table
    for name, column in here.items():
        np.testing.assert_array_equal(there[name].to_numpy(), column)


def interrupted(rows: int, target: Path, chunk: int) -> None:
    def stop(now: Progress) -> None:
        if now.done >= rows // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(program(), states(rows), target, chunk=chunk, threads=1, progress=stop)


def test_an_interrupted_sweep_is_not_thrown_away_by_another(tmp_path: Path) -> None:
    target = tmp_path / "y.parquet"
    interrupted(4000, target, 500)
    with pytest.raises(InputError, match=r"chunk 500 then, 400 now.*fresh=True"):
        sweep(program(), states(4000), target, chunk=400)
    with pytest.raises(InputError, match=r"dtype float64 then, float32 now"):
        sweep(program(), states(4000), target, chunk=500, dtype="float32")
    other = cardan.model(pendulum(mass=3), "inverse-dynamics")
    with pytest.raises(InputError, match="other model's options or parameters"):
        sweep(other, states(4000), target, chunk=500)
    assert sweep(program(), states(4000), target, chunk=500).resumed == 2000
    target.unlink()
    interrupted(4000, target, 500)
    assert sweep(program(), states(4000), target, chunk=400, fresh=True).resumed == 0
    assert [path.name for path in tmp_path.iterdir()] == ["y.parquet"]


def test_a_file_has_one_sweep_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    target = tmp_path / "y.parquet"
    refused: list[str] = []

    def second(now: Progress) -> None:
        if not refused:
            with pytest.raises(InputError, match="another sweep is writing it") as caught:
                sweep(program(), states(4000), target, chunk=500)
            refused.append(str(caught.value))

    sweep(program(), states(4000), target, chunk=500, threads=1, progress=second)
    assert refused
    assert pq.read_table(target).num_rows == 4000


def test_after_a_restart_of_the_machine_only_what_was_forced_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "y.parquet"
    interrupted(4000, target, 500)
    monkeypatch.setattr(sweep_job, "boot", lambda: "another start")
    assert sweep(program(), states(4000), target, chunk=500).resumed == 0
    target.unlink()
    monkeypatch.undo()
    monkeypatch.setattr(sweep_job, "_FORCED", -1.0)  # after every chunk
    interrupted(4000, target, 500)
    monkeypatch.setattr(sweep_job, "boot", lambda: "another start")
    assert sweep(program(), states(4000), target, chunk=500).resumed == 2000
    assert pq.read_table(target)["tau1"].to_numpy().all()


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sweep_job, "write_at", full)
    with pytest.raises(
        CardanError, match=r"y.parquet: cannot be written: No space .* run the same"
    ):
        sweep(program(), states(10), tmp_path / "y.parquet")
    monkeypatch.setattr("cardan.motion.tables._write_csv", full)
    with pytest.raises(InputError, match=r"t.csv: cannot be written: No space"):
        write_table(tmp_path / "t.csv", states(10))


def test_a_sweep_that_cannot_be_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "x.parquet"
    table = states(4000)
    table["qd1"][3000] = np.nan
    write_table(source, table)
    with pytest.raises(InputError, match="column 'qd1', row 3000"):
        sweep(program(), source, tmp_path / "y.parquet", chunk=500)
    with pytest.raises(InputError, match="would replace the states"):
        sweep(program(), source, source)
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]
    with pytest.raises(InputError, match="a sweep takes a Program; this is a str"):
        sweep("inverse-dynamics", table)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cannot be read from a NoneType"):
        sweep(program(), None)


def test_arrays_of_numpy_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **states(100))
    found = sweep(program(), tmp_path / "x.npz")
    np.testing.assert_array_equal(found.arrays["tau"], sweep(program(), states(100)).arrays["tau"])  # type: ignore[index]
    (tmp_path / "bad.npz").write_text("x")
    np.savez(tmp_path / "words.npz", q1=np.array(["a"]))
    for name, words in (("bad", "cannot be read as arrays"), ("words", "column 'q1' does not")):
        with pytest.raises(InputError, match=words):
            sweep(program(), tmp_path / f"{name}.npz")
