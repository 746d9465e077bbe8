"""The commands torques, simulate and control, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.errors import CardanError
from cardan.motion.tables import read_table
from cardan.motion.trajectory import move

MOVE = ["--end", "1,-1,1,0,pi/6,0", "--duration", "0.5"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done.output if code else done.stdout


def test_torques(tmp_path: Path) -> None:
    facts = json.loads(run("torques", "ur5", *MOVE, "--json", "-o", "out.csv"))
    assert [row["joint"] for row in facts["joints"]] == [f"q{j}" for j in range(1, 7)]
    table = read_table("out.csv")
    assert np.abs(table["tau2"]).max() == pytest.approx(facts["joints"][1]["peak"])
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    run("torques", "ur5", *MOVE)
    assert (tmp_path / "universal-robots-ur5-torques.png").stat().st_size > 10_000
    assert "gravity" in run("torques", "ur5", *MOVE, "--plot", "none", "--payload", "2,0,0,0.1")


def test_a_trajectory_file_is_taken(tmp_path: Path) -> None:
    motion = move(np.zeros(6), np.full(6, 0.5), 1.0, dt=0.01)
    motion.save("motion.parquet")
    words = ["--trajectory", "motion.parquet", "--plot", "none", "--json"]
    by_file = json.loads(run("torques", "ur5", *words))
    words = ["--end", "0.5", "--duration", "1", "--dt", "0.01", "--plot", "none", "--json"]
    by_words = json.loads(run("torques", "ur5", *words))
    assert by_file["joints"][0]["peak"] == pytest.approx(by_words["joints"][0]["peak"], rel=1e-9)
    assert by_file["violations"] == []


def test_degrees_and_limits() -> None:
    words = ["--end", "90,-90,90,0,45,0", "--degrees", "--duration", "0.2", "--json"]
    facts = json.loads(run("torques", "ur5", *words, "--plot", "none"))
    assert facts["violations"][0]["quantity"] == "velocity"


def test_simulate(tmp_path: Path) -> None:
    facts = json.loads(run("simulate", "ur5", *MOVE, "--json", "-o", "run.parquet"))
    run("simulate", "ur5", *MOVE, "--plot", "none")
    assert [path.name for path in tmp_path.iterdir()] == ["run.parquet"]
    run("simulate", "ur5", *MOVE, "--json", "--animate", "page.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "run.parquet"]
    run("simulate", "ur5", *MOVE)
    assert facts["largest error"] < 1e-7
    assert facts["energy drift"] < 1e-8
    assert "tau6" in read_table("run.parquet")
    assert "canvas" in (tmp_path / "universal-robots-ur5-simulation.html").read_text()
    assert (tmp_path / "universal-robots-ur5-simulation.png").is_file()
    quiet = ["--plot", "none", "--animate", "none"]
    free = run("simulate", "cartpole", "--q0", "0,0.1", "--duration", "0.3", *quiet)
    assert "energy drift" in free
    assert "estimated error" in free
    for drive in ("prescribed", "pd-gravity"):
        assert "steps" in run("simulate", "ur5", *MOVE, "--law", drive, "--rtol", "1e-6", *quiet)


def test_a_closed_robot_on_the_command_line() -> None:
    """Values of the active joints are enough."""
    words = ["--start", "2.2,0.9", "--end", "2.3,0.8", "--duration", "0.3", "--json"]
    facts = json.loads(run("torques", "fivebar", *words, "--plot", "none"))
    assert [row["joint"] for row in facts["joints"]] == ["q1", "q3"]
    quiet = ["--plot", "none", "--animate", "none"]
    facts = json.loads(run("simulate", "fivebar", *words, *quiet))
    assert facts["largest error"] < 1e-6


@pytest.mark.parametrize(
    ("robot", "to", "joints"),
    [("fivebar", "1.5,1.0", ["q1", "q3"]), ("delta", "0.3,0.3,0.3", ["q1", "q2", "q3"])],
)
def test_closed_loops_start_where_they_stand(robot: str, to: str, joints: list[str]) -> None:
    """--start is of the active joints, as --end is."""
    import cardan
    from cardan.motion.trajectory import at_home

    words = ["--end", to, "--duration", "0.3", "--json"]
    facts = json.loads(run("torques", robot, *words))
    assert [row["joint"] for row in facts["joints"]] == joints
    home = ",".join(map(str, at_home(cardan.load(robot))))
    assert facts == json.loads(run("torques", robot, *words, "--start", home))
    if robot == "fivebar":
        assert json.loads(run("simulate", robot, *words))["largest error"] < 1e-6


def test_all_joints_of_closed_loops_choose_the_assembly() -> None:
    """The same active joints, the two assemblies of a five-bar: other torques."""
    import cardan

    both = cardan.model(cardan.load("fivebar"), "loop-geometry").solve([2.2, 0.9])
    peaks = []
    for q in both:
        words = [
            "--start",
            ",".join(map(str, q)),
            "--end",
            "2.3,0.8",
            "--duration",
            "0.3",
            "--json",
        ]
        peaks.append(json.loads(run("torques", "fivebar", *words))["joints"][0]["peak"])
        assert json.loads(run("simulate", "fivebar", *words))["largest error"] < 1e-6
    assert abs(peaks[0] - peaks[1]) > 1e-3


def test_control_of_closed_loops() -> None:
    words = ["--start", "2.2,0.9", "--end", "2,1", "--json", "--law", "pd-gravity,computed-torque"]
    rows = json.loads(run("control", "fivebar", *words))
    assert rows[1]["largest error"] < 1e-6 < rows[0]["largest error"]
    assert complex(rows[1]["slowest eigenvalue"]).real == pytest.approx(-10, rel=1e-5)
    assert all(row["stable"] for row in rows)
    run("control", "fivebar", *words[:4], "--law", "pd", "--plot", "errors.svg")


def test_flexible_loops_are_simulated(tmp_path: Path) -> None:
    facts = json.loads(run("simulate", "prrrp", "--duration", "0.02", "--torque", "1,2", "--json"))
    assert len(facts["last q"]) == 10
    assert facts["energy drift"] < 1e-5
    words = ["--end", "0.01,-0.02", "--duration", "0.05", "--law", "prescribed"]
    facts = json.loads(run("simulate", "prrrp", *words, "--json", "-o", "run.csv"))
    assert facts["largest error"] < 1e-9
    assert "tau3" in read_table("run.csv")
    run("simulate", "prrrp", *words)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_base_that_cannot_float_is_refused_before_a_word_is_said() -> None:
    """Wheels and closed loops of flexible links; all other bundled robots are let go."""
    held = {"car", "unicycle", "differential-drive", "mobile-manipulator", "prrrp"}
    for name in cardan.robots():
        if name in held:
            with pytest.raises(CardanError, match=r"floating base|cannot float"):
                cardan.floating(cardan.load(name))
        else:
            assert cardan.floating(cardan.load(name)).base.kind == "floating"
    said = run("simulate", "prrrp", "--floating", code=1)
    assert said.startswith("cardan: the base of 'PRRRP with flexible beams' cannot float")


def test_models_of_a_robot_let_go(tmp_path: Path) -> None:
    """What is let go on the command line is what `convert` writes, and what Python derives."""
    run("convert", "planar2r", "loose.toml", "--base-inertia", "5,1,1,1")
    numbers = [f"{word}={0.3 + 0.1 * k}" for k, word in enumerate(("L1", "ZZ1", "MX1", "MY1"))]
    numbers += ["M1=2", "FV1=0", "ZZ2=0.2", "MX2=0.3", "MY2=0.1", "M2=1", "FV2=0", "G=9.81"]
    state = ["--q", "0.3,0.4", "--qd", "1,2", "--tau", "0.1,0.2", "--V0", "0", "--g0", "0,0,0"]
    words = [*(x for name in numbers for x in ("--set", name)), *state, "--json"]
    both = [
        json.loads(run("eval", robot, "direct-dynamics", *words, *option))["outputs"]
        for robot, option in (("loose.toml", []), ("planar2r", ["--base-inertia", "5,1,1,1"]))
    ]
    assert both[0] == both[1]
    assert np.abs(both[0]["V0d"]).max() > 1e-3
    text = run("generate", "loose.toml", "inertia-matrix", "--to", "text")
    assert (
        run("generate", "planar2r", "inertia-matrix", "--to", "text", "--base-inertia", "5,1,1,1")
        == text
    )
    loose = cardan.floating(cardan.load("planar2r"), [5, 1, 1, 1])
    assert cardan.model(loose, "inertia-matrix").equations() == text
    rows = json.loads(run("count", "ur5", "--model", "inertia-matrix", "--floating", "--json"))
    fixed = json.loads(run("count", "ur5", "--model", "inertia-matrix", "--json"))
    assert rows[0]["mul"] > fixed[0]["mul"]


def test_control(tmp_path: Path) -> None:
    words = ["--law", "pd,computed-torque", "--json", "--plot", "control.svg"]
    rows = json.loads(run("control", "ur5", *MOVE, *words))
    assert rows[1]["largest error"] < 1e-6 < rows[0]["largest error"]
    assert (tmp_path / "control.svg").is_file()
    run("control", "ur5", "--law", "pd-gravity", "--to", "c", "-o", "law.c")
    assert "void universal_robots_ur5_control_pd_gravity(" in (tmp_path / "law.c").read_text()


def test_everything_that_is_said_of_a_law() -> None:
    words = ["control", "planar1r", "--end", "1", "--duration", "0.3", "--plot", "none", "--json",
             "--set", "ZZ1=1", "--set", "MX1=1", "--set", "MY1=0", "--set", "G=9.81",
             "--set", "M1=2", "--set", "FV1=0", "--set", "FS1=0"]  # fmt: skip
    tuned = ["--kp", "40", "--kd", "9", "--ki", "30", "--torque-limit", "8"]
    rows = json.loads(run(*words, "--law", "pd,pid,pd-gravity,computed-torque", *tuned))
    assert all(row["largest torque"] <= 8 + 1e-9 for row in rows)
    rows = json.loads(run(*words, "--law", "feedforward", "--parts", "gravity,inertia"))
    rows += json.loads(run(*words, "--law", "feedforward,predictive"))
    assert [row["law"] for row in rows] == ["feedforward", "feedforward", "predictive"]
    assert rows[1]["largest error"] < 1e-6


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["torques", "ur5"], 2, "give --end Q"),
        (["torques", "ur5", "--end", "1,2"], 1, "--end has shape"),
        (["torques", "ur5", "--end", "a"], 1, "--end: 'a' is not a number"),
        (["torques", "ur5", "--end", "nan"], 1, "--end: 'nan' is not a finite number"),
        (["torques", "prrrp", "--end", "0.1,0.1"], 1, "elastic parts move"),
        (["control", "prrrp", "--end", "0.1,0.1"], 1, "flexible links"),
        (["simulate", "prrrp", "--end", "0.1,0.1"], 1, "--law prescribed"),
        (["simulate", "prrrp", "--method", "RK45"], 1, "no method 'RK45'"),
        (["torques", "planar2r", "--end", "1"], 1, "--set NAME=VALUE"),
        (["torques", "ur5", "--trajectory", "no.csv"], 1, "no such file"),
        (["simulate", "ur5", "--method", "magic"], 1, "no method 'magic'"),
        (["simulate", "ur5", "--end", "1", "--law", "magic"], 1, "no control law 'magic'"),
        (["control", "ur5", "--end", "1", "--law", "bang"], 1, "no control law 'bang'"),
        (["control", "ur5", "--end", "1", "--law", "pd", "--kp=-5"], 1, "a gain below zero"),
        (["control", "ur5", "--end", "1", "--law", "adaptive", "--ki", "1"], 1, "takes no ki"),
        (["control", "ur5", "--law", "predictive", "--to", "c"], 1, "not a program"),
        (["linearise", "ur5", "--law", "predictive"], 1, "not a program"),
        (
            ["control", "scara", "--end", "1", "--law", "pd", "--torque-limit", "file"],
            1,
            "gives no largest torque",
        ),
        (["torques", "ur5", "--end", "1", "--plot", "x.bmp"], 1, "a picture is written as"),
    ],
)
def test_faults_are_one_message(words: list[str], code: int, message: str) -> None:
    assert message in run(*words, code=code)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "run.xlsx"], "run.xlsx: a table is written as .csv or .parquet"),
        (["--animate", "run.mp4"], "run.mp4: an animation is written as .html"),
        (["--plot", "run.bmp"], "run.bmp: a picture is written as"),
        (["-o", "none/run.csv"], "none/run.csv: there is no folder 'none'"),
    ],
)
def test_files_that_cannot_be_written_are_named_before_the_work(
    words: list[str], message: str
) -> None:
    told = run("simulate", "ur5", "--duration", "0.1", *words, code=1)
    assert told.startswith(f"cardan: {message}")  # nothing was simulated
    table = run("excite", "ur5", "-o", "motion.txt", code=1)
    assert table.startswith("cardan: motion.txt: a table is written as")
