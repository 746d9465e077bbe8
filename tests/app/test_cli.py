"""The command line: every command on bundled robots, and every way a user can get it wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import cardan
from cardan.app.cli.main import app
from cardan.describe.files import dumps

BROKEN = """cardan = 1
name = "broken"
[[link]]
M = -1
[[link]]
joint = "spherical"
alpha = "pi/"
"""


def cli(*args: str, input: str | None = None) -> Result:
    return CliRunner().invoke(app, list(args), input=input)


def printed(*args: str, input: str | None = None) -> str:
    result = cli(*args, input=input)
    assert result.exit_code == 0, result.output
    return result.stdout


def parsed(*args: str) -> Any:
    return json.loads(printed(*args, "--json"))


def refused(*args: str, status: int = 1, input: str | None = None) -> str:
    """The message of a refused command: on stderr, with nothing on stdout and no traceback."""
    result = cli(*args, input=input)
    assert result.exit_code == status, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    assert result.stdout == ""
    return result.stderr


def test_the_package_runs_as_a_module() -> None:
    words = [sys.executable, "-m", "cardan", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert cardan.__version__ in done.stdout


def test_robots() -> None:
    text = printed("robots")
    assert all(name in text for name in cardan.robots())
    rows = {row["name"]: row for row in parsed("robots")}
    assert list(rows) == cardan.robots()
    assert rows["stanford"]["joints"] == "RRPRRR"
    assert rows["sr400"]["loops"] == 1


def test_models_are_those_of_the_catalogue() -> None:
    names = [entry.name for entry in cardan.catalogue()]
    assert [entry["name"] for entry in parsed("models")] == names
    text = printed("models")
    assert all(name in text for name in names)
    assert parsed("models", "transform")[0]["options"]["frame"]["kind"] == "frame"
    assert "--reference" in printed("models", "transform")
    assert "did you mean 'transform'" in refused("models", "transfrom")


def test_no_model_has_an_option_of_generate() -> None:
    """The command's own options would hide it."""
    own = {"to", "output", "function", "dtype", "set", "tree", "help", "json", "package", "name"}
    own |= {"force"}
    assert not own & {name for entry in cardan.catalogue() for name in entry.options}


@pytest.mark.parametrize("name", cardan.robots())
def test_show_and_check_every_bundled_robot(name: str) -> None:
    assert cardan.load(name).name in printed("show", name)
    data = parsed("show", name)
    assert data["n"] == cardan.load(name).n
    assert data["tables"][0]["title"] == "Geometry"
    assert all(fault["severity"] == "warning" for fault in parsed("check", name))


def test_show_with_values() -> None:
    assert "L1" not in printed("show", "planar2r", "--set", "L1=1/2").split("Free symbols")[0]
    assert "did you mean 'ZZ2'" in refused("show", "planar2r", "--set", "ZZ3=1")
    for wrong in ("L1", "=1", "L1="):
        assert "NAME=VALUE" in refused("show", "planar2r", "--set", wrong)


def test_check_reports_every_fault(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(BROKEN)
    result = cli("check", str(path))
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith(f"{path}:") for line in lines)
    assert any(":7:" in line and "alpha" in line for line in lines)
    data = json.loads(cli("check", str(path), "--json").stdout)
    assert {fault["line"] for fault in data} >= {6, 7}
    assert {"robot", "file", "line", "link", "severity", "message"} == set(data[0])


def test_check_warnings_alone_are_no_failure() -> None:
    text = printed("check", "puma560-numeric", "rx90")
    assert "(warning)" in text
    assert "rx90: no faults" in text


def test_generate_c_and_python(tmp_path: Path) -> None:
    path = tmp_path / "rx90.c"
    assert printed("generate", "rx90", "inverse-dynamics", "--to", "c", "-o", str(path)) == ""
    program = cardan.model(cardan.load("rx90"), "inverse-dynamics")
    assert path.read_text() == program.emit("c")
    assert [*tmp_path.iterdir()] == [path]
    text = printed("generate", "ur5", "transform", "--to", "python", "--function", "pose")
    assert "def pose(q)" in text
    assert "float" in printed("generate", "ur5", "transform", "--dtype", "float32")


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--frame", "3"], {"frame": 3}),
        (["--frame=3", "--reference", "world"], {"frame": 3, "reference": "world"}),
        (["--frame", "link4", "--expanded"], {"frame": "link4", "expanded": True}),
        (["--expanded", "true"], {"expanded": True}),
        (["--no-expanded"], {"expanded": False}),
        (["--symbolic", "--reference", "1"], {"symbolic": True, "reference": 1}),
    ],
)
def test_options_of_a_model(words: list[str], options: dict[str, Any]) -> None:
    expected = cardan.model(cardan.load("rx90"), "transform", **options).emit("c")
    assert printed("generate", "rx90", "transform", *words) == expected
    assert printed("generate", *words, "rx90", "transform") == expected
    assert printed("generate", "rx90", *words, "--to", "c", "transform") == expected


def test_a_tool_is_read_for_flexible_links_too() -> None:
    program = cardan.model(cardan.load("flexible2r"), "jacobian", tool=("1/2", 0, 0.25))
    assert printed("generate", "flexible2r", "jacobian", "--tool", "0.5,0,1/4") == program.emit("c")


def test_every_model_is_printed_expanded_if_asked() -> None:
    program = cardan.model(cardan.load("ur5"), "gravity")
    for words in (["--expanded"], ["--expanded", "yes"], ["--expanded=true"]):
        text = printed("generate", "ur5", "gravity", *words, "--to", "python")
        assert text == program.emit("python", expanded=True) != program.emit("python")
    assert printed("generate", "ur5", "--no-expanded", "gravity") == program.emit("c")


def test_generate_with_values_reads_stdin_and_cuts_loops() -> None:
    arm = cardan.load("planar2r").with_values({"L1": "1/2", "G": "9.81"})
    expected = cardan.model(arm, "inverse-dynamics").emit("c")
    setting = ("--set", "L1=1/2", "--set", "G=9.81")
    assert printed("generate", "planar2r", "inverse-dynamics", *setting) == expected
    text = printed("convert", "planar2r", "-", "--to", "toml")
    assert printed("generate", "-", "inverse-dynamics", *setting, input=text) == expected
    assert "tau" in printed("generate", "sr400", "inverse-dynamics")
    assert "tau" in printed("generate", "sr400", "inverse-dynamics", "--tree")


@pytest.mark.parametrize(
    ("words", "status", "fragments"),
    [
        (["rx9", "transform"], 1, ["robot 'rx9'", "did you mean 'rx90'"]),
        (["rx90", "transfrom"], 1, ["model 'transfrom'", "did you mean 'transform'"]),
        (["rx90", "transfrom", "--frame", "3"], 1, ["did you mean 'transform'"]),
        (["rx90", "transform", "--to", "fortan"], 1, ["language 'fortan'", "Allowed"]),
        (["rx90", "transform", "--dtype", "float16"], 1, ["dtype 'float16'"]),
        (["rx90", "transform", "--frame", "17"], 1, ["frame 17"]),
        (["rx90", "inverse-dynamics", "--method", "magic"], 1, ["'magic'", "newton-euler"]),
        (["rx90", "transform", "--expanded=maybe"], 1, ["--expanded", "true or false"]),
        (["rx90", "transform", "--frme", "3"], 2, ["'--frme'", "did you mean '--frame'"]),
        (["rx90", "transform", "--frame"], 2, ["--frame needs a value"]),
        (["rx90"], 2, ["MODEL"]),
        (["rx90", "transform", "extra"], 2, ["extra"]),
        (["ur5", "jacobian", "--tool", "1,2"], 1, ["three values"]),
        (["fivebar", "loop-geometry", "--dtype", "float32"], 1, ["no option 'dtype' of emit"]),
        (["fivebar", "loop-geometry", "--to", "fortran"], 1, ["fortran"]),
        (["no/such/file.toml", "transform"], 1, ["no such file"]),
    ],
)
def test_generate_refuses(words: list[str], status: int, fragments: list[str]) -> None:
    text = refused("generate", *words, status=status)
    assert all(fragment in text for fragment in fragments), text


@pytest.mark.parametrize("target", ["missing/x.c", "."])
def test_output_that_cannot_be_written(tmp_path: Path, target: str) -> None:
    text = refused("generate", "rx90", "transform", "-o", str(tmp_path / target))
    assert "check the path" in text
    assert not [*tmp_path.iterdir()]


def test_a_refusal_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.c"
    path.write_text("mine")
    refused("generate", "rx90", "transform", "--to", "klingon", "-o", str(path))
    refused("convert", "rx90", str(tmp_path / "x.urdf"))
    assert path.read_text() == "mine"
    assert [*tmp_path.iterdir()] == [path]


def test_devices_and_links_stay_what_they_are(tmp_path: Path) -> None:
    printed("generate", "rx90", "transform", "-o", os.devnull)
    assert not Path(os.devnull).is_file()
    real, link = tmp_path / "real.c", tmp_path / "link.c"
    real.write_text("old")
    link.symlink_to(real)
    printed("generate", "rx90", "transform", "-o", str(link))
    assert link.is_symlink()
    assert "transform of 'RX90'" in real.read_text()


@pytest.mark.parametrize("extension", ["toml", "par"])
def test_convert_and_back(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"robot.{extension}"
    assert printed("convert", "rx90", str(path)) == ""
    robot = cardan.load(path)
    assert robot.joints == cardan.load("rx90").joints
    text = printed("convert", str(path), "-", "--to", extension)
    assert text == path.read_text()


def test_convert_to_urdf(tmp_path: Path) -> None:
    printed("convert", "ur5", str(tmp_path / "ur5.urdf"))
    assert cardan.load(tmp_path / "ur5.urdf").n == 6
    printed("convert", str(tmp_path / "ur5.urdf"), str(tmp_path / "x.toml"), "--fixed", "keep")
    assert "--set NAME=VALUE" in refused("convert", "rx90", str(tmp_path / "rx90.urdf"))
    assert "--drop" in refused("convert", "fivebar", str(tmp_path / "five.urdf"))
    printed("convert", "fivebar", str(tmp_path / "five.urdf"), "--drop")
    assert "--fixed is for URDF" in refused("convert", "ur5", "x.toml", "--fixed", "keep")


def test_convert_keeps_mimic_joints_on_request(tmp_path: Path) -> None:
    source, target = tmp_path / "geared.urdf", tmp_path / "geared.toml"
    robot = {"name": "geared", "link": [{"M": 1}, {"M": 1, "d": 1, "mimic": {"joint": 1}}]}
    source.write_text(dumps(cardan.load(robot), "urdf"))
    printed("convert", str(source), str(target), "--mimic")
    assert len(cardan.load(target).couplings) == 1
    printed("convert", str(source), str(target))
    assert not cardan.load(target).couplings
    assert "--mimic is for URDF" in refused("convert", str(target), "-", "--to", "toml", "--mimic")


def test_convert_dh_tables(tmp_path: Path) -> None:
    table = tmp_path / "arm.csv"
    table.write_text("theta, d, a, alpha\nq1, 0.3, 0, pi/2\nq2, 0, L2, 0\n")
    target = tmp_path / "arm.toml"
    assert "--convention NAME" in refused("convert", str(table), str(target))
    assert "--convention NAME" in refused("show", str(table))
    assert "'craig'" in refused("convert", str(table), str(target), "--convention", "craigs")
    assert not target.exists()
    printed("convert", str(table), str(target), "--convention", "standard", "--set", "L2=0.4")
    robot = cardan.load(target)
    assert (robot.name, robot.n, robot.parameters) == ("arm", 2, ())
    text = printed(
        "convert", "-", "-", "--to", "toml", "--convention", "craig",
        input="a,alpha,d,theta\n0,0,0,q1\n1,0,0,q2\n",
    )  # fmt: skip
    assert "[[link]]" in text
    table.write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused("convert", str(table), str(target), "--convention", "craig")
    text = refused("convert", str(tmp_path / "no.csv"), str(target), "--convention", "craig")
    assert "No such file" in text


def test_convert_refuses(tmp_path: Path) -> None:
    assert "--to" in refused("convert", "rx90", "-", status=2)
    assert "format" in refused("convert", "rx90", str(tmp_path / "x.doc"))
    broken = tmp_path / "broken.toml"
    broken.write_text(BROKEN)
    assert f"{broken}:7:" in refused("convert", str(broken), str(tmp_path / "x.par"))
    assert "no such file" in refused("convert", str(tmp_path / "no.par"), "x.toml")
    assert [*tmp_path.iterdir()] == [broken]


def test_count_beside_published_figures() -> None:
    words = ("count", "rx90-base", "rx90", "--model", "inverse-dynamics", "--model", "jacobian")
    rows = parsed(*words)
    assert {row["model"] for row in rows} == {"inverse-dynamics", "jacobian"}
    found = {(row["robot"], row["model"], row["parameters"]): row for row in rows}
    row = found["rx90-base", "inverse-dynamics", "base"]
    cost = cardan.model(cardan.load("rx90-base"), "inverse-dynamics").cost
    assert (row["mul"], row["add"], row["trig"]) == (cost.mul, cost.add, cost.trig)
    once = cardan.model(cardan.load("rx90-base"), "inverse-dynamics").once
    assert (row["once"]["mul"], row["once"]["add"]) == (once.mul, once.add)
    figures = {f["system"]: (f["mul"], f["add"], f["same_robot"]) for f in row["published"]}
    assert figures == {"SYMORO+": (253, 237, True), "OpenSYMORO": (291, 230, True)}
    text = printed(*words)
    assert "SYMORO+ 253/237" in text
    assert "SYMORO+ 294/292 *" in text
    assert "Robotica 15" in text
    assert f"{once.mul}/{once.add}/{once.div}/{once.trig}" in text
    assert "once per parameter set" in text


def test_generate_splits_unless_told_otherwise() -> None:
    words = ("generate", "planar2r", "gravity", "--to", "python", "--function", "f")
    assert "def f_setup(p):" in printed(*words)
    assert "def f_loop(q, p, h):" in printed(*words)
    assert "def f(q, p, h):" in printed(*words, "--split")
    assert "f_setup" not in printed(*words, "--no-split")


def test_count_bare_has_the_robot_of_the_figures() -> None:
    only = ("--model", "inverse-dynamics")
    text = printed("count", "rx90", "--bare", *only)
    assert "SYMORO+ 294/292" in text
    assert "*" not in text
    assert parsed("count", "rx90", "--set", "D3=1", *only)[0]["published"] == []


def test_count_says_why_there_is_a_dash() -> None:
    words = ("count", "sr400", "--model", "platform-inverse-dynamics", "--model", "gravity")
    rows = [row for row in parsed(*words) if row["mul"] is None]
    assert rows
    assert all(row["reason"] for row in rows)
    text = printed(*words)
    assert " - " in text
    assert "describe it by [platform]" in text


def test_count_everything() -> None:
    rows = parsed("count", "planar1r")
    assert {"inverse-dynamics", "regressor", "transform"} <= {row["model"] for row in rows}
    assert "did you mean 'gravity'" in refused("count", "planar1r", "--model", "gravitie")


@pytest.mark.parametrize("command", ["show", "check", "count"])
def test_broken_and_missing_files(tmp_path: Path, command: str) -> None:
    assert "did you mean 'ur5'" in refused(command, "ur55")
    for content in (b"", b"\x00\x01\x02", b"\xff\xff"):
        path = tmp_path / "robot.toml"
        path.write_bytes(content)
        result = cli(command, str(path))
        assert result.exit_code == 1
        assert "Traceback" not in result.output
        assert str(path) in result.output
    result = cli(command, "-", input="")
    assert result.exit_code == 1
    assert "empty" in result.output


def test_a_file_cannot_write_to_the_terminal() -> None:
    result = cli("check", "bad\x1b[31m.toml")
    assert result.exit_code == 1
    assert "\x1b" not in result.output


def test_usage() -> None:
    assert "rx90" not in refused("show", status=2)
    assert "nonsense" in refused("nonsense", status=2)
    assert "--colour" in refused("robots", "--colour", status=2)
    assert cardan.__version__ in printed("--version")
    commands = ("robots", "models", "show", "check", "convert", "generate", "count")
    text = printed("--help")
    assert all(command in text for command in commands)
    assert all("Usage" in printed(command, "--help") for command in commands)


def run(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    script = "from cardan.app.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", script, *args], capture_output=True, text=True, timeout=60, **options
    )


def test_the_entry_point() -> None:
    done = run("show", "rx9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("cardan: there is no robot 'rx9'")
    assert run("show").returncode == 2
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert run("robots", env=environment).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_that_leaves() -> None:
    read, write = os.pipe()
    os.close(read)
    script = "from cardan.app.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "generate", "panda", "inverse-dynamics"],
        stdout=write, stderr=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip
    os.close(write)
    assert done.stderr == ""


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["cardan.catalogue"], "model", interrupt)
    assert "interrupted" in refused("generate", "rx90", "transform", status=130)


class Table:
    """A model that is not a program."""

    given: dict[str, Any] = {}

    @classmethod
    def build(cls, robot: cardan.Robot, **options: Any) -> Table:
        cls.given = options
        return cls()

    def __str__(self) -> str:
        return "a table"


def test_a_catalogue_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options of any kind, and models that are not programs, need no change here."""
    from cardan.catalogue import MENU, Entry, Option

    options = {
        "order": Option("how many", 3),
        "method": Option("which", 1, (1, 2)),
        "tolerance": Option("how near", 0.5),
        "point": Option("where", (0, 0, 0), kind="vector"),
        "base_parameters": Option("grouped", False, kind="flag"),
    }
    entry = Entry("table", "identification", "x", "q", "y", Table.build, options, program=False)
    monkeypatch.setitem(MENU, "table", entry)
    words = ["--order", "5", "--method", "2", "--tolerance", "-1e-3", "--base-parameters"]
    words += ["--point", "1, -0.5,L1"]
    assert "has no source text" in refused("generate", "rx90", "table", "--to", "c", *words)
    assert printed("generate", "rx90", "table") == "a table\n"
    printed("generate", "rx90", "table", *words)
    expected = {"order": 5, "method": 2, "tolerance": -1e-3, "base_parameters": True}
    expected["point"] = ("1", "-0.5", "L1")
    assert Table.given == expected
    assert "a number" in refused("generate", "rx90", "table", "--order", "many")
    assert "'3'" in refused("generate", "rx90", "table", "--method", "3")
    assert "table" not in {row["model"] for row in parsed("count", "planar2r")}
    assert "--tolerance" in printed("models", "table")


def test_help_loads_no_compiler() -> None:
    script = (
        "import sys; from cardan.app.cli.main import app\n"
        "print([m for m in ('llvmlite', 'lxml') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


FAR = """
cardan = 1
[[link]]
[[link]]
d = 0.1
active = false
[[link]]
name = "rocker"
antecedent = 0
active = false
d = 5
[[loop]]
name = "bar"
cut = { antecedent = 2, d = 0.1 }
twin = { antecedent = "rocker", d = 0.1 }
"""


def test_check_closes_loops(tmp_path: Path) -> None:
    path = tmp_path / "far.toml"
    path.write_text(FAR)
    result = cli("check", str(path), "delta")
    assert result.exit_code == 1
    assert re.search(r"loop 'bar' stays open by [\d.]+ m at best", result.stdout)
    assert "delta: no faults" in result.stdout
    path.write_text(FAR.replace("d = 5", "d = 0.2").replace("active = false", "", 1))
    assert "has 2 active joints" in cli("check", str(path)).stdout


def test_loops_options_that_exclude_each_other() -> None:
    both = ("--q", "0.1,0.1,0.1", "--platform", "0,0,-0.4")
    assert "not both" in refused("loops", "delta", *both, status=2)
    assert "--to" in refused("loops", "delta", "--legs", status=2)
    code = ("loops", "delta", "--to", "c")
    assert "--platform: not with --to c" in refused(*code, "--platform", "0,0,-0.4", status=2)
    assert "--q: not with --to c" in refused(*code, "--q", "0.1,0.1,0.1", status=2)


def test_loops() -> None:
    data = json.loads(printed("loops", "fivebar", "--q", "2.2,0.9", "--to", "text", "--json"))
    assert (data["mobility"], data["Gruebler"], len(data["assemblies"])) == (2, -1, 2)
    assert "0 = " in data["equations"]
    assert data["loops"][0]["repeated"] == "vz wx wy"
    assert "8 assemblies" in printed("loops", "delta", "--platform=0,0,-0.45")
    assert "idle: w1, w2, w3, w4, w5, w6" in printed("loops", "stewart-sps")
    assert "void loop_geometry(" in printed("loops", "delta", "--legs", "--to", "c")
    assert "three spheres" in printed("loops", "delta", "--to", "c")
    assert "no closed form" in refused("loops", "stewart", "--to", "c")
    assert data["overconstrained"] is True
    assert "loop 'tip' stays open by" in refused("loops", "fivebar", "--q", "3.1,0")
    assert "'a' is not a number" in refused("loops", "fivebar", "--q", "a,b")
    assert "no closed loop" in refused("loops", "rx90")
    far = refused("loops", "delta", "--platform", "9,9,9")
    assert "the platform's position (platform_x, platform_y, platform_z)" in far
    assert "q_a" not in far
    assert printed("generate", "delta", "loop-geometry").startswith("Delta: mobility 3")
    assert "void loop_geometry(" in printed("generate", "fivebar", "loop-geometry", "--to", "c")
    assert "ZZ1R = ZZ1 + L1^2*M2" in printed("generate", "planar2r", "base-parameters")
    single = printed("generate", "planar2r", "base-parameters", "--dtype", "float32")
    assert "float K[7]" in single
    legs = ("ik", "delta", "--pose", "0,0,-0.45", "--limits", "--json")
    assert len(json.loads(printed(*legs))["configurations"]) == 8
    assert "the loops cannot be closed" in refused("ik", "delta", "--pose", "9,9,9,0,0,0")
    assert "out of reach" in refused("ik", "fivebar", "--frame", "tip", "--pose", "9,9,0")
    assert "the loops then give q3, q4" in printed(
        "ik", "fivebar", "--frame", "tip", "--pose", "0.1,0.5,0"
    )
    assert "in closed form: q3, then q4" in printed("ik", "fivebar", "--to", "text")


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes the streams")
def test_closed_streams(tmp_path: Path) -> None:
    """cardan ... >&- is one message and status 1; nothing is wrong where nothing is printed."""

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", f'"$0" -m cardan {command}', sys.executable],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip

    for command in ("robots --json >&-", "robots >&-", "generate planar2r gravity >&-"):
        done = run(command)
        assert done.returncode == 1, done.stderr
        assert done.stderr.strip() == (
            "cardan: standard output is closed: nothing can be printed there"
        )
    assert run("generate planar2r gravity -o out.c >&-").returncode == 0
    assert (tmp_path / "out.c").read_text().startswith("/*")
    assert run("show no-such-robot 2>&-").returncode == 1
    assert run("robots 2>&-").returncode == 0


def test_base_parameters_are_written_as_a_robot(tmp_path: Path) -> None:
    """By the extension; a listing has another one."""
    file, listing = tmp_path / "rx90b.toml", tmp_path / "rx90b.txt"
    printed("generate", "rx90", "base-parameters", "-o", str(file))
    assert "no faults" in printed("check", str(file))
    assert "ZZ1R" not in file.read_text(encoding="utf-8")
    printed("generate", "rx90", "base-parameters", "-o", str(listing))
    assert "ZZ1R = " in listing.read_text(encoding="utf-8")
