"""Files: formats by extension, hostile input, and saving whole or not at all."""

import io
import os
import sys

import pytest

from cardan.describe import files
from cardan.describe.files import dumps, load, read, read_bytes, save
from cardan.describe.toml.read import from_dict
from cardan.errors import CardanError, DescriptionError, Fault, InputError, UnknownNameError

ROBOT = from_dict({"name": "arm", "link": [{"d": "0.1", "mass": 1}, {"alpha": "pi/2", "d": "L"}]})


def test_bundled_path_and_dict(tmp_path):
    assert load("rx90").name == "RX90"
    path = tmp_path / "arm.toml"
    save(ROBOT, path)
    assert load(path) == load(str(path)) == ROBOT
    assert load({"link": [{}]}).n == 1


@pytest.mark.parametrize("name", ["arm.toml", "arm.par", "ARM.PAR"])
def test_save_then_load(tmp_path, name):
    ROBOT.save(tmp_path / name)
    assert load(tmp_path / name) == ROBOT
    assert os.listdir(tmp_path) == [name]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "arm.toml"
    path.write_text("precious")

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(InputError, match="No space left"):
        save(ROBOT, path)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["arm.toml"]


def test_save_refuses(tmp_path):
    with pytest.raises(UnknownNameError, match="docx"):
        save(ROBOT, tmp_path / "arm.docx")
    with pytest.raises(DescriptionError, match="MJCF"):
        save(ROBOT, tmp_path / "arm.xml")
    with pytest.raises(InputError, match="No such file"):
        save(ROBOT, tmp_path / "nowhere" / "arm.toml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.toml", b"", "is empty"),
        ("a.par", b" \n\t", "is empty"),
        ("a.toml", bytes(range(256)), "is binary"),
        ("a.par", b"\x7fELF\0\0", "is binary"),
        ("a.urdf", "<robot/>".encode("utf-16"), "UTF-16"),
        ("a.xml", b"<mujoco/>", "no body with a joint"),
        ("a.docx", b"PK", "no robot format"),
        ("a", b"x", "without extension"),
    ],
)
def test_hostile_files(tmp_path, name, data, words):
    path = tmp_path / name
    path.write_bytes(data)
    robot, found = read(path)
    assert robot is None
    assert len(found) == 1
    assert words in str(found[0])
    assert str(path) in str(found[0])
    with pytest.raises(DescriptionError):
        load(path)


def test_large_files_are_refused_unread(tmp_path):
    path = tmp_path / "big.toml"
    with path.open("wb") as stream:
        stream.truncate(50_000_000)
    assert "50 MB" in str(read(path)[1][0])


def test_faults_are_counted_not_listed_without_end():
    data = b"cardan = 1\n" + b"".join(b"k%d = 1\n" % i for i in range(5000))
    assert "and 4000 more faults" in str(read_bytes(data, "a.toml")[1][-1])


def test_missing_and_folders(tmp_path):
    assert "no such file" in str(read(tmp_path / "none.toml")[1][0])
    assert "folder" in str(read(tmp_path)[1][0])
    assert read("a\0b.toml")[1]
    with pytest.raises(UnknownNameError, match="did you mean 'rx90'"):
        load("rx9")
    with pytest.raises(CardanError, match="not list"):
        load([1])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind root")
def test_unreadable(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("cardan = 1")
    path.chmod(0)
    assert "ermission" in str(read(path)[1][0])


@pytest.mark.parametrize("format", ["toml", "par", "symoro+"])
def test_standard_input_tells_its_format(monkeypatch, format):
    data = dumps(ROBOT, format).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert load("-") == ROBOT


def test_faults_of_any_format_are_found():
    text = dumps(ROBOT, "par").replace("M = {1,0}", "M = {-1,0}")
    _, found = read_bytes(text.encode(), "arm.par")
    assert "negative" in str(found[0])
    assert found[0].line > 0
    assert found[0].link == "link1"


def links(count: int) -> bytes:
    return ('cardan = 1\nname = "x"\n' + "[[link]]\nZZ = 1\n" * count).encode()


def test_many_warnings_do_not_refuse_a_robot():
    robot, faults = read_bytes(links(1501), "x.toml")
    assert robot is not None
    assert robot.n == 1501
    assert len(faults) == 1001
    assert {fault.severity for fault in faults} == {"warning"}
    assert faults[-1].message == "and 501 more warnings"


def test_errors_are_not_hidden_behind_warnings():
    faults = [Fault(f"w{k}", severity="warning") for k in range(1500)]
    faults[1400] = Fault("wrong")
    listed = files._listed(faults, "x")
    assert [fault.message for fault in listed if fault.severity == "error"] == ["wrong"]
    assert len(listed) == 1001
    many = [Fault(f"e{k}") for k in range(1500)]
    assert files._listed([*faults, *many], "x")[-1].severity == "error"


@pytest.mark.parametrize(
    ("name", "head", "line"),
    [("x.toml", 'cardan = 1\nname = "x"\n', "key{} = 1\n"), ("x.par", "(* x *)\n", "key{} = 1\n")],
)
def test_faults_beyond_the_limit_are_only_counted(monkeypatch, name, head, line):
    """What was meant is looked for a thousand times at most, however many keys are unknown."""
    asked = []
    monkeypatch.setattr("difflib.get_close_matches", lambda *_, **__: asked.append(1) or [])
    text = head + "".join(line.format(k) for k in range(3000))
    _, faults = read_bytes(text.encode(), name)
    assert len(faults) == 1001
    assert "more faults" in faults[-1].message
    assert len(asked) <= 1000


def body_chain(count: int) -> bytes:
    body = (
        '<body pos="0.1 0 0"><joint type="hinge" axis="0 0 1"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    )
    inside = body * count + "</body>" * count
    return f"<mujoco><worldbody>{inside}</worldbody></mujoco>".encode()


def test_bodies_may_nest_deeply():
    robot, faults = read_bytes(body_chain(300), "x.xml")
    assert robot is not None
    assert robot.n == 300
    _, faults = read_bytes(body_chain(3000), "x.xml")
    assert "nest too deeply" in faults[0].message
    assert ".urdf" in faults[0].message
