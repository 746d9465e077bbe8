"""The same recording read from every kind of file, and the recipes that lead to it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.identify.synthetic import arm, recorded, without

import cardan
from cardan.identification import identify, read_recipe, read_recording
from cardan.motion.tables import write_table

LOG = without(recorded(arm(), noise=0.01), "qdd")
JOINTS = ("shoulder", "upper", "lower")


def columns() -> dict[str, np.ndarray]:
    found = {"t": LOG["t"]}
    for key in ("q", "qd", "tau"):
        found |= {f"{key}{j}": x for j, x in enumerate(LOG[key].T, 1)}
    return found


@cache
def parameters() -> np.ndarray:
    return identify(arm(), LOG, consistent=False).K


def close(found: Any, expected: Any = None) -> None:
    result = identify(arm(), found, consistent=False)
    K = parameters() if expected is None else identify(arm(), expected, consistent=False).K
    near(result.K, K, 1e-5, 1e-6, each=True)


def test_csv_and_parquet(tmp_path: Path) -> None:
    for name in ("log.csv", "log.parquet"):
        write_table(tmp_path / name, columns())
        close(tmp_path / name)


def test_csv_of_other_kinds(tmp_path: Path) -> None:
    table = columns()
    rows = [",".join(map(repr, map(float, row))) for row in zip(*table.values(), strict=True)]
    head = ",".join(table)
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["# of a controller", head, *rows, "", ""]))
    close(path)
    assert read_recording(path).first_line == 3
    for mark in (";", "\t", " "):
        path.write_text("\n".join([head, *rows]).replace(",", mark), encoding="utf-8-sig")
        close(path)
    path.write_text("\n".join(rows))  # without names
    assert list(read_recording(path).columns) == [f"c{k}" for k in range(1, 11)]
    recipe = {"log": {"time": "c1"}, "position": {"columns": ["c2", "c3", "c4"]},
              "velocity": {"columns": ["c5", "c6", "c7"]},
              "torque": {"columns": ["c8", "c9", "c10"]}}  # fmt: skip
    assert identify(arm(), path, recipe, consistent=False).errors["fit"] < 0.02
    labelled = [head + ",state", *(f"{row},RUN" for row in rows)]
    path.write_text("\n".join(labelled))  # a column of words does not matter if it is not used
    close(path)


def test_parquet_of_lists_and_missing_values(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = {"t": LOG["t"], "q": list(LOG["q"]), "qd": list(LOG["qd"]), "tau": list(LOG["tau"])}
    pq.write_table(
        pa.table({k: pa.array(list(v)) for k, v in table.items()}), tmp_path / "a.parquet"
    )
    close(tmp_path / "a.parquet")
    holes = [None if k == 12 else float(x) for k, x in enumerate(LOG["tau"][:, 1])]
    flat = {name: pa.array(x) for name, x in columns().items()} | {"tau2": pa.array(holes)}
    pq.write_table(pa.table(flat), tmp_path / "b.parquet")
    with pytest.raises(cardan.CardanError, match="column 'tau2' is not a number in row 13"):
        identify(arm(), tmp_path / "b.parquet")


def test_mat(tmp_path: Path) -> None:
    from scipy.io import savemat

    savemat(tmp_path / "a.mat", {key: LOG[key] for key in ("t", "q", "qd", "tau")})
    close(tmp_path / "a.mat")
    savemat(tmp_path / "b.mat", {"log": {key: LOG[key].T for key in ("t", "q", "qd", "tau")}})
    recipe = {"log": {"time": "log.t"}, "position": {"columns": "log.q{j}"},
              "torque": {"columns": "log.tau{j}"}}  # fmt: skip
    assert identify(arm(), tmp_path / "b.mat", recipe, consistent=False).errors["fit"] < 0.02


def write_bag(path: Path, *, ros1: bool) -> None:
    """A recording of joint states, as ROS 1 or ROS 2 would write it."""
    from rosbags.rosbag1 import Writer as Writer1
    from rosbags.rosbag2 import Writer as Writer2
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    names = store.types
    Time, Header = names["builtin_interfaces/msg/Time"], names["std_msgs/msg/Header"]
    State = names["sensor_msgs/msg/JointState"]
    writer: Any = Writer1(path) if ros1 else Writer2(path, version=9)
    with writer:
        topic = writer.add_connection("/joint_states", State.__msgtype__, typestore=store)
        for t, q, qd, tau in zip(LOG["t"], LOG["q"], LOG["qd"], LOG["tau"], strict=True):
            stamp = Time(sec=int(t) + 100, nanosec=round((t - int(t)) * 1e9))
            header = Header(stamp=stamp, frame_id="", **({"seq": 0} if ros1 else {}))
            state = State(header=header, name=list(JOINTS), position=q, velocity=qd, effort=tau)
            code = store.serialize_ros1 if ros1 else store.serialize_cdr
            writer.write(topic, round((t + 100) * 1e9), code(state, State.__msgtype__))


@pytest.mark.parametrize("ros1", [False, True])
def test_bags(tmp_path: Path, ros1: bool) -> None:
    path = tmp_path / ("log.bag" if ros1 else "log")
    write_bag(path, ros1=ros1)
    close(path)
    found = read_recording(path)
    assert "position.upper" in found.columns
    assert found.columns["t"][-1] == pytest.approx(LOG["t"][-1], abs=1e-8)
    recipe = {"log": {"joints": ["lower", "upper", "shoulder"]}}
    swapped = identify(arm(), path, recipe, consistent=False)
    assert swapped.errors["fit"] > 0.02  # the order of the joints matters
    with pytest.raises(cardan.CardanError, match="topic"):
        identify(arm(), path, {"log": {"topic": "/states"}})


def test_a_folder_of_tables_and_the_motors_side(tmp_path: Path) -> None:
    """Positions in one file, currents in another, through coupled gears."""
    R = np.array([[50.0, 0, 0], [0, -80, 0], [0, 30, 60]])
    constant = np.array([0.2, 0.3, 0.1])
    motors = (LOG["q"] - [0, 0.5, 0]) @ R.T
    currents = LOG["tau"] @ np.linalg.inv(R) / constant
    for name, x in (("pos", np.degrees(motors)), ("cur", currents)):
        write_table(tmp_path / f"{name}.csv", {f"m{j}": c for j, c in enumerate(x.T, 1)})
    recipe = {
        "log": {"rate": 100},
        "position": {"columns": "pos/m{j}", "unit": "deg", "side": "motor",
                     "offset": [0, "1/2", 0]},
        "torque": {"columns": "cur/m{j}", "side": "motor", "gain": [0.2, 0.3, 0.1]},
        "transmission": {"matrix": R.tolist()},
    }  # fmt: skip
    found = identify(arm(), tmp_path, recipe, consistent=False)
    the_joints_side = {"transmission": {"matrix": R.tolist()}}
    expected = identify(arm(), without(LOG, "qd"), the_joints_side, consistent=False)
    near(found.K, expected.K, 1e-5, 1e-6, each=True)
    found.report(tmp_path / "report.md")
    rows = (tmp_path / "report.md").read_text("utf-8").splitlines()
    motor = next(row for row in rows if row.startswith("| FV4 |"))  # turned by two joints
    assert "N m s/rad" in motor


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"filtre": {}}, "no section 'filtre' in recipe; did you mean 'filter'?"),
        ({"filter": {"cutof": 3}}, "no key 'cutof' in recipe: [filter]; did you mean 'cutoff'?"),
        ({"filter": {"cutoff": -3}}, "cutoff = -3; expected a number >= 0, or 'auto' or 'none'"),
        ({"filter": {"decimate": 0}}, "expected a whole number, at least 1"),
        ({"filter": {"cutoff": 80}}, "it must be below 50 Hz"),
        ({"fit": {"weights": "all"}}, "there is no value 'all' of recipe: [fit] weights"),
        ({"fit": {"split": 1}}, "expected a share from 0 to less than 1"),
        ({"friction": {"viscous": 1}}, "expected true or false"),
        ({"position": {"unit": "kg"}}, "wrong unit"),
        ({"position": {"offset": [0, 1]}}, "has 2 values; expected 3"),
        ({"position": {"side": "motor"}}, "needs [transmission] matrix"),
        ({"transmission": {"matrix": [[1, 2], [2, 4]]}}, "singular"),
        ({"coupled": {"X": {"tau9": "qd1"}}}, "tau9: the robot has 3 joints"),
        ({"coupled": {"X": {"tau1": "qd7"}}}, "uses qd7"),
        ({"coupled": {"X": {"tau1": "L1*qd1"}}}, "uses 'L1'"),
        ({"coupled": {"X": {"tau1": "__import__('os')"}}}, "[coupled] X.tau1"),
        ({"payload": {"known": {"mass": 1}}}, "no parameter 'mass' in recipe: [payload] known"),
        ({"recipe": 2}, "this Cardan reads recipe = 1"),
    ],
)
def test_faults_of_a_recipe_are_named(table: Any, words: str) -> None:
    with pytest.raises(cardan.CardanError) as caught:
        identify(arm(), LOG, table, consistent=False)
    assert words in str(caught.value)


def test_recipe_files(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('recipe = 1\n[filter]\ncutoff = "none"\n[friction]\noffset = false\n')
    found = identify(arm(), LOG, path, consistent=False)
    assert not any(name.startswith("offset") for name in found.names)
    path.write_text("recipe = ")
    with pytest.raises(cardan.CardanError, match=r"r\.toml: cannot be read as a recipe"):
        read_recipe(path)
    with pytest.raises(cardan.CardanError, match="no such recipe"):
        read_recipe(tmp_path / "none.toml")
