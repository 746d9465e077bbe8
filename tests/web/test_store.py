"""Projects on disk: found again, shared by pages and by servers, never lost silently."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

import cardan
from cardan.app.web import store as stored
from cardan.app.web.jobs import Result
from cardan.app.web.state import Page
from cardan.app.web.store import Project, Store, written
from cardan.errors import InputError

NAME = "a" * 32


def page_of(project: Project) -> Page:
    return Page(project, None)  # type: ignore[arg-type]


def test_pages_of_a_project_follow_each_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    here, there = page_of(store.project(NAME)), page_of(store.project(NAME))
    assert here.open(cardan.load("scara")) == ""
    assert there.robot.name == here.robot.name == "SCARA"
    there.move([0.1] * 4)
    assert there.change(replace(there.robot, name="changed")) == ""
    assert here.robot.name == "changed"
    assert there.q.tolist() == [0.1] * 4  # an edit leaves the joints where they are
    here.undo()
    assert there.robot.name == "SCARA"
    here.open(cardan.load("scara"))
    assert not there.q.any()  # another robot starts from rest
    there.close()
    here.undo()
    assert there.robot.name == "SCARA"
    assert store.project(NAME).watchers == [here._follow]


def test_two_servers_on_one_folder(tmp_path: Path) -> None:
    one, other = Store(tmp_path), Store(tmp_path)
    here, there = page_of(one.project(NAME)), page_of(other.project(NAME))
    here.open(cardan.load("scara"))
    written()
    assert "changed elsewhere" in there.change(replace(there.robot, name="lost?"))
    assert there.robot.name == "SCARA"  # and nothing was overwritten
    assert there.change(replace(there.robot, name="kept")) == ""
    written()
    assert one.project(NAME).robot.name == "kept"  # at the next look
    assert here.robot.name == "kept"


def test_what_cannot_be_saved_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> list[str]:
        project = Store(tmp_path).project(NAME)
        page, told = page_of(project), []
        page.on_robot(lambda: told.append(project.trouble))

        def full(path: Path, text: str) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(stored, "write_atomic", full)
            page.change(replace(page.robot, name="unsaved"))
            await asyncio.to_thread(written)
            await asyncio.sleep(0)
        assert "No space left" in told[-1]
        page.change(replace(page.robot, name="saved"))
        await asyncio.to_thread(written)
        await asyncio.sleep(0)
        return told

    assert asyncio.run(run())[-1] == ""


def test_a_project_deleted_on_disk_is_written_again(tmp_path: Path) -> None:
    page = page_of(Store(tmp_path).project(NAME))
    page.change(replace(page.robot, name="first"))
    written()
    file = page.project.path
    file.unlink()
    file.parent.rmdir()
    assert page.change(replace(page.robot, name="second")) == ""
    written()
    assert "second" in json.loads(file.read_text())["texts"][-1]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"texts": [], "index": 0, "page": {}}',
                                  '{"texts": ["x"], "index": 7, "page": {}}'])  # fmt: skip
def test_a_damaged_project_is_set_aside(tmp_path: Path, text: str) -> None:
    file = tmp_path / "projects" / f"{NAME}.json"
    file.parent.mkdir()
    file.write_text(text)
    assert Store(tmp_path).project(NAME).robot.name == "RX90"
    assert [path.read_text() for path in file.parent.glob("*.damaged")] == [text]


def test_results_are_found_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    page = page_of(store.project(NAME))
    page.project.save()
    about = {"question": {"q": [1]}, "key": "k"}
    results = store.results
    assert results.keep(NAME, "motion", about, Result(b'{"a": 1}', {"lines": b"[1]", "b": b"{}"}))
    found = Store(tmp_path).results.find(NAME, "motion")
    assert found == (about, Result(b'{"a": 1}', {"lines": b"[1]", "b": b"{}"}))
    assert results.find(NAME, "simulation") is None
    assert not results.keep(NAME, "motion", about, Result(b"0" * 20_000_000))
    assert results.find(NAME, "motion") is None  # the one before is not that of the last question


@pytest.mark.parametrize("content", [b"", b"{", b"[]\n", b'{"parts": ["x"]}\n[]\n', b"\xff\n1"])
def test_damaged_results_are_forgotten(tmp_path: Path, content: bytes) -> None:
    results = Store(tmp_path).results
    file = tmp_path / "results" / f"{NAME}-motion.jsonl"
    file.write_bytes(content)
    assert results.find(NAME, "motion") is None
    assert not file.exists()


def test_results_go_with_their_project(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.results.keep(NAME, "motion", {}, Result(b"1"))
    written()
    assert Store(tmp_path).results.find(NAME, "motion") is None  # there is no such project


def test_a_page_knows_how_old_a_result_is(tmp_path: Path) -> None:
    page = page_of(Store(tmp_path).project(NAME))
    about = page.about({})
    assert page.since(about) == ""
    page.set_values({"D3": "0.4"})
    assert "values of symbols" in page.since(about)
    page.set_values({})
    page.change(replace(page.robot, name="second"))
    page.change(replace(page.robot, name="third"))
    assert page.since(about) == "2 changes of the robot ago"
    later = page.about({})
    page.undo()
    assert page.since(later) == "of a state that was undone"
    page.change(replace(page.robot, name="other"))
    assert page.since(later) == "the robot has changed since"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="CARDAN_DATA"):
        Store(tmp_path / "file")
    (tmp_path / "surfaces").write_text("x")
    with pytest.raises(InputError, match="CARDAN_DATA"):
        Store(tmp_path)


def test_joints_start_within_their_limits(tmp_path: Path) -> None:
    page = page_of(Store(tmp_path).project(NAME))
    page.open(cardan.load("planar2r"))
    joint = page.robot.joints[0]
    limits = replace(joint.limits, lower=1, upper=2)
    changed = replace(page.robot, joints=(replace(joint, limits=limits), *page.robot.joints[1:]))
    assert page.change(changed) == ""
    assert page.q.tolist() == [1.0, 0.0]
    assert page.rest().tolist() == [1.0, 0.0]


def test_a_limit_of_zero_is_no_missing_limit(tmp_path: Path) -> None:
    from cardan.app.web.table import _limits

    page = page_of(Store(tmp_path).project(NAME))
    page.open(cardan.load("planar2r"))
    joint = page.robot.joints[0]
    limits = replace(joint.limits, lower=0)
    page.change(
        replace(page.robot, joints=(replace(joint, limits=limits, home=1), *page.robot.joints[1:]))
    )
    (table,) = _limits(page)
    assert [cell.value for cell in table.rows[0][1:3]] == ["0", ""]
    assert page.rest().tolist() == [1.0, 0.0]
