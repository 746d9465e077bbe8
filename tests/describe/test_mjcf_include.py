"""MJCF of several files: what they are together, and that nothing outside their folder is read."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.describe.test_mjcf import ARM

import cardan
from cardan.describe.files import read, read_bytes
from cardan.errors import InputError

START = ARM.index('<body name="c"')
END = ARM.index("</body>\n        </body>\n        <body name=") + len("</body>")
HEAD, TAIL = ARM.index("<default>"), ARM.index("</default>\n  <worldbody>") + len("</default>")


def split(folder: Path) -> Path:
    """The arm in four files: its defaults, a body inside a body, and a file inside that one."""
    (folder / "parts").mkdir()
    body = ARM[START:END]
    inner = body[body.index('<body name="fixed"') : body.index("</body>") + len("</body>")]
    (folder / "parts" / "fixed.xml").write_text(f"<mujocoinclude>{inner}</mujocoinclude>")
    body = body.replace(inner, '<include file="parts/fixed.xml"/>')
    (folder / "hand.xml").write_text(f"<mujoco>\n{body}\n</mujoco>")
    (folder / "defaults.xml").write_text(f"<mujocoinclude>{ARM[HEAD:TAIL]}</mujocoinclude>")
    text = ARM[:START] + '<include file="hand.xml"/>' + ARM[END:]
    text = text[:HEAD] + '<include file="./defaults.xml"/>' + text[TAIL:]
    main = folder / "arm.xml"
    main.write_text(text)
    return main


def test_parts_are_the_whole(tmp_path: Path) -> None:
    main, whole = split(tmp_path), tmp_path / "whole.xml"
    whole.write_text(ARM)
    assert replace(cardan.load(main), source="") == replace(cardan.load(whole), source="")


def test_mujoco_reads_the_same_parts(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    parts = mujoco.MjModel.from_xml_path(str(split(tmp_path)))
    whole = mujoco.MjModel.from_xml_string(ARM)
    assert parts.body_mass == pytest.approx(whole.body_mass)
    assert parts.dof_armature == pytest.approx(whole.dof_armature)


def test_settings_of_several_files_add_up(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(
        "<mujocoinclude><default><joint damping='2'/></default><worldbody>"
        "<body name='one'><joint name='p'/><geom size='0.1'/></body></worldbody></mujocoinclude>"
    )
    main = tmp_path / "main.xml"
    main.write_text(
        "<mujoco><default><joint armature='3'/></default><include file='a.xml'/><worldbody>"
        "<body name='two'><joint name='r'/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    robot = cardan.load(main)
    assert [joint.name for joint in robot.joints] == ["p", "r"]
    assert [(joint.FV, joint.IA) for joint in robot.joints] == [(2, 3)] * 2


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("../outside.xml", "not in the folder"),
        ("/etc/passwd", "not in the folder"),
        ("C:\\outside.xml", "not in the folder"),
        ("..\\outside.xml", "not in the folder"),
        ("link.xml", "not in the folder"),
        ("missing.xml", "there is no file 'missing.xml' beside"),
        ("parts", "there is no file"),
        ("", "names no file"),
        ("main.xml", "a second time"),
        ("cycle.xml", "cycle.xml:1: 'main.xml' is included a second time"),
        ("broken.xml", "broken.xml:2: malformed XML"),
        ("robot.xml", "robot.xml:1: the root element is <robot>"),
        ("bomb.xml", "DOCTYPE"),
        ("wrong.xml", "wrong.xml:3: "),
    ],
)
def test_what_is_refused(tmp_path: Path, file: str, words: str) -> None:
    folder = tmp_path / "robot"
    (folder / "parts").mkdir(parents=True)
    (tmp_path / "outside.xml").write_text("<mujocoinclude/>")
    os.symlink(tmp_path / "outside.xml", folder / "link.xml")
    (folder / "cycle.xml").write_text("<mujocoinclude><include file='main.xml'/></mujocoinclude>")
    (folder / "broken.xml").write_text("<mujocoinclude>\n<body>")
    (folder / "robot.xml").write_text("<robot/>")
    (folder / "bomb.xml").write_text("<!DOCTYPE a [<!ENTITY b 'c'>]><mujocoinclude>&b;</a>")
    (folder / "wrong.xml").write_text(
        "<mujocoinclude>\n<worldbody>\n<body name='x' pos='1 2'><joint/></body></worldbody>"
        "</mujocoinclude>"
    )
    main = folder / "main.xml"
    main.write_text(f"<mujoco><include file='{file}'/></mujoco>")
    robot, faults = read(main)
    assert robot is None
    assert any(words in str(fault) for fault in faults), faults


def test_names_in_memory_are_asked_for() -> None:
    """Who reads bytes gives what they include, or says why not."""
    files = {"a.xml": b"<mujocoinclude><body><joint/><geom size='0.1'/></body></mujocoinclude>"}

    def beside(name: str) -> bytes:
        if name not in files:
            raise InputError(f"{name} did not come")
        return files[name]

    text = b"<mujoco><worldbody><include file='a.xml'/></worldbody></mujoco>"
    robot, _ = read_bytes(text, "main.xml", beside=beside)
    assert robot is not None
    assert robot.n == 1
    robot, faults = read_bytes(text.replace(b"a.xml", b"b.xml"), "main.xml", beside=beside)
    assert robot is None
    assert "b.xml did not come" in str(faults[0])
    _, faults = read_bytes(files["a.xml"], "part.xml")
    assert "open the file that includes it" in str(faults[0])
