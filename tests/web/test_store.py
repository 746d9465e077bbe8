"""Projects on disk: found again, shared by pages and by servers, never lost silently."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cardan
from cardan.app.web.jobs.pool import Jobs, Result
from cardan.app.web.server import store as stored
from cardan.app.web.server.shelf import Shelf
from cardan.app.web.server.state import Page
from cardan.app.web.server.store import Project, Store, written
from cardan.describe.files import dumps
from cardan.errors import InputError

NAME = "a" * 32
RX90 = stored.dumps(cardan.load("rx90"), "toml")


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


def test_what_is_being_written_is_not_taken_for_news(tmp_path: Path) -> None:
    page = page_of(Store(tmp_path).project(NAME))
    for k in range(150):
        assert page.change(replace(page.robot, name=f"name {k}")) == ""


def test_what_cannot_be_saved_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> list[str]:
        project = Store(tmp_path).project(NAME)
        page, told = page_of(project), []
        page.on_robot(lambda: told.append(project.trouble))

        def full(path: Path, text: str, private: bool = False) -> None:
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


SURFACE = ["link1", "0" * 64, "#808080"]
PAGES = [  # what a page cannot take, and what of it is left out
    ({"surfaces": {"link1": "x"}}, ["surfaces"]),
    ({"surfaces": {"of": "x"}}, ["surfaces"]),
    ({"surfaces": {"of": "x", "list": [SURFACE, ["link1"]]}}, ["surfaces"]),
    ({"surfaces": {"of": "x", "list": 3}}, ["surfaces"]),
    ({"surfaces": [SURFACE]}, ["surfaces"]),
    ({"q": [[0], [0], [0], [0], [0], [0]]}, ["q"]),
    ({"q": 7}, ["q"]),
    ({"q": {"a": 1}}, ["q"]),
    ({"q": [None] * 6}, ["q"]),
    ({"q": [1e999] * 6}, ["q"]),
    ({"q": ["a"] * 6}, ["q"]),
    ({"values": {"D3": []}}, ["values"]),
    ({"values": {"D3": {}}}, ["values"]),
    ({"values": {"D3": "(("}}, ["values"]),
    ({"values": {"D3": True}}, ["values"]),
    ({"values": [1]}, ["values"]),
    ({"values": "D3"}, ["values"]),
    ({"at_work": [1]}, ["at_work"]),
    ({"at_work": {"models": 3}}, ["at_work"]),
    ({"options": [1], "tab": "Models"}, ["options"]),
    ({"options": {"effort": [[]]}, "tab": "Models"}, ["options"]),
    ({"model": ["x"], "tab": "Models"}, ["model"]),
    ({"language": {}, "tab": "Models"}, ["language"]),
    ({"panels": 3, "tab": "Use"}, ["panels"]),
    ({"panels": [[]], "tab": "Use"}, ["panels"]),
    ({"tab": []}, ["tab"]),
    ({"table": {}}, ["table"]),
    ({"dark": "yes", "show-frames": [1]}, ["dark", "show-frames"]),
    ([], ["page"]),
    ("x", ["page"]),
    (None, ["page"]),
]  # fmt: skip


@pytest.mark.parametrize(("page", "wrong"), PAGES)
def test_parts_of_a_page_of_another_shape_are_left_out(
    tmp_path: Path, page: Any, wrong: list[str]
) -> None:
    """The robot stays, the page is told, the file as it was is kept, and once is enough."""
    file = tmp_path / "projects" / f"{NAME}.json"
    file.parent.mkdir()
    texts = [stored.dumps(cardan.load(name), "toml") for name in ("scara", "rx90")]
    text = json.dumps({"texts": texts, "index": 1, "page": page})
    file.write_text(text)
    project = Store(tmp_path).project(NAME)
    shown = page_of(project)
    shown.drawn(), shown.surfaces(), shown.interrupted("models")
    assert project.robot.name == "RX90"
    assert project.can_undo
    assert f"({', '.join(wrong)})" in project.notice
    (aside,) = file.parent.glob("*.damaged")
    assert aside.read_text() == text
    assert str(aside) in project.notice
    written()
    again = Store(tmp_path).project(NAME)
    assert (again.notice, again.robot.name) == ("", "RX90")
    assert set(again.page) == (set(page) - set(wrong) if isinstance(page, dict) else set())


def test_what_a_page_remembers_fits(tmp_path: Path) -> None:
    """Whatever this version writes, it reads; what it does not know it keeps."""
    page = page_of(Store(tmp_path).project(NAME))
    page.set_values({"D3": "0.4", "RL4": 0.5})
    page.move([0.1] * 6, keep=True)
    page.project.remember(
        tab="Use", table="Inertia", panels=["Simulate"], model="gravity", language="c", dark=None,
        options={"effort": "max", "expanded": True, "frame": 3}, at_work={"motion": "x"},
        surfaces={"of": "x", "list": [SURFACE]}, strange=[{}], **{"show-grid": False},
    )  # fmt: skip
    kept = dict(page.project.page)
    written()
    again = Store(tmp_path).project(NAME)
    assert (again.page, again.notice) == (kept, "")


def test_another_server_may_write_another_shape(tmp_path: Path) -> None:
    project = Store(tmp_path).project(NAME)
    project.save()
    written()
    text = json.dumps({"texts": project.texts, "index": 0, "page": {"q": 3, "dark": True}})
    project.path.write_text(text)
    assert project.reread()
    assert project.page == {"dark": True}
    assert "(q)" in project.notice


def test_steps_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "projects" / f"{NAME}.json"
    file.parent.mkdir()
    texts = [stored.dumps(cardan.load("scara"), "toml"), "no robot", "=", RX90, "nonsense"]
    file.write_text(json.dumps({"texts": texts, "index": 3, "page": {}}))
    project = Store(tmp_path).project(NAME)
    project.redo()
    assert (project.robot.name, project.can_redo) == ("RX90", False)
    project.undo()
    assert (project.robot.name, project.can_undo) == ("SCARA", False)
    project.redo()
    assert project.robot.name == "RX90"


def test_a_page_that_cannot_be_made_starts_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    project = store.project(NAME)
    project.open(cardan.load("scara"))
    project.remember(dark=True)
    store.failed(NAME)
    assert (store.project(NAME).robot.name, store.project(NAME).page) == ("SCARA", {})
    store.failed(NAME)  # that was no cure
    assert store.project(NAME).robot.name == "RX90"
    written()
    assert len(list(project.path.parent.glob("*.damaged"))) == 2


@pytest.mark.skipif(os.name == "nt", reason="links and modes are others there")
def test_what_is_no_file_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(tmp_path)
    store.project(NAME).save()
    store.results.keep(NAME, "motion", {"key": "k"}, Result(b"1"))
    written()
    for name in ("projects/broken.json", "results/broken", "surfaces/broken.stl"):
        (tmp_path / name).symlink_to(tmp_path / "nowhere")
    for name in ("projects/folder.json", "results/folder", "surfaces/folder.stl"):
        (tmp_path / name).mkdir()
    again = Store(tmp_path)
    assert again.project(NAME).robot.name == "RX90"
    assert again.results.find(NAME, "motion") is not None
    for name in ("results/broken", "results/folder", "projects/broken.json", "surfaces/folder.stl"):
        assert f"{tmp_path / name} is passed over" in caplog.text
    (tmp_path / "results" / "broken").unlink()
    (tmp_path / "elsewhere").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="elsewhere"):
        Store(tmp_path / "elsewhere")


@pytest.mark.skipif(os.name == "nt", reason="links are others there")
def test_the_folder_that_is_to_blame_is_named(tmp_path: Path) -> None:
    (tmp_path / "results").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=f"{tmp_path / 'results'}: .*exists"):
        Store(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="there are no modes there")
def test_all_that_is_kept_is_private(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        old = tmp_path / "data" / "projects"
        old.mkdir(parents=True)
        (old / f"{NAME}.json").write_text("{}")
        store = Store(tmp_path / "data")
        store.project(NAME).save()
        store.results.keep(NAME, "motion", {}, Result(b"1"))
        content = b"solid"
        store.shapes.add(hashlib.sha256(content).hexdigest(), content)
        written()
        store = Store(tmp_path / "new")
        store.project(NAME).save()
        written()
    finally:
        os.umask(mask)
    for path in [*old.parent.rglob("*"), tmp_path / "new", *(tmp_path / "new").rglob("*")]:
        mode = path.stat().st_mode & 0o777
        assert mode == (0o700 if path.is_dir() else 0o600), path


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


class Busy(Jobs):
    """Jobs that never end by themselves."""

    async def run(self, *given: Any, **data: Any) -> dict[str, Any]:
        await asyncio.sleep(600)
        return {}


def test_work_on_a_robot_ends_when_another_takes_its_place(tmp_path: Path) -> None:
    async def run() -> tuple[bool, bool, bool]:
        page = Page(Store(tmp_path).project(NAME), Busy())
        work = page.ask("simulation", print, robot=page.text)
        upload = page.ask("opened", print, files="x")
        await asyncio.sleep(0)
        page.change(replace(page.robot, name="renamed"))  # its joints are the same
        await asyncio.sleep(0)
        before = work.done()
        page.open(cardan.load("scara"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        found = before, work.cancelled(), upload.done()
        page.close()
        return found

    assert asyncio.run(run()) == (False, True, False)


def test_work_that_was_left_undone_is_told(tmp_path: Path) -> None:
    jobs = Jobs()
    page = Page(Store(tmp_path).project(NAME), jobs)
    page.begin("motion")
    page.begin("modes")
    page.end("modes")
    other = Page(page.project, jobs)
    assert [other.interrupted(x) for x in ("motion", "modes")] == ["", ""]  # it goes on elsewhere
    written()
    later = Page(Store(tmp_path).project(NAME), Jobs())  # the server was started again
    assert "server was stopped" in later.interrupted("motion")
    assert "server was stopped" in later.interrupted("motion")  # until it begins again
    assert later.interrupted("modes") == ""
    later.begin("motion")
    later.end("motion")
    assert later.interrupted("motion") == ""
    page.close()
    page.end("motion")  # its job was cancelled with it
    assert "page was left" in other.interrupted("motion")


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
    from cardan.app.web.panels.table import _limits

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


def test_robots_are_kept_under_names(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, NAME)
    assert shelf.all() == []
    text = dumps(cardan.load("rx90"), "toml")
    first = shelf.put(" arm ", text, {"D3": "0.4"})
    with pytest.raises(InputError, match="there is a robot called 'arm'"):
        shelf.put("arm", text, {})
    with pytest.raises(InputError, match="name is missing"):
        shelf.put(" ", text, {})
    other = dumps(cardan.load("ur5"), "toml")
    assert shelf.keep("arm", other, {}).key == first.key
    kept = shelf.keep("arm", text, {"D3": "0.4"})
    assert [x.robot.name for x in (kept, *kept.versions)] == [
        "RX90", cardan.load("ur5").name, "RX90"]  # fmt: skip
    assert shelf.find(first.key) == kept
    surfaces = [["link1", "0" * 64, "#ffffff"]]  # what it looks like is kept with it
    drawn = shelf.put("drawn", text, {}, surfaces=surfaces)
    assert shelf.find(drawn.key).surfaces == shelf.duplicate(drawn.key).surfaces == surfaces
    for copy in ("drawn", "drawn (2)"):
        shelf.remove(next(x.key for x in shelf.all() if x.name == copy))
    assert [x.versions for x in kept.versions] == [(), ()]
    for _ in range(40):
        kept = shelf.keep("arm", text, {"D3": "0.4"})
    assert len(kept.versions) == len(shelf.find(first.key).versions) == 30
    second = shelf.duplicate(first.key)
    assert (second.name, second.values, second.robot.name) == ("arm (2)", {"D3": "0.4"}, "RX90")
    shelf.rename(second.key, "other")
    with pytest.raises(InputError, match="no other robot has"):
        shelf.rename(second.key, "arm")
    again = Shelf(tmp_path, NAME)  # another page, or after a restart
    assert {kept.name for kept in again.all()} == {"arm", "other"}
    again.remove(first.key)
    assert [kept.name for kept in shelf.all()] == ["other"]
    with pytest.raises(InputError, match="no longer there"):
        shelf.find(first.key)
    written()
    items = json.loads(shelf.path.read_text())
    shelf.path.write_text(json.dumps([{"name": "x"}, 3, *items]))
    assert [kept.name for kept in shelf.all()] == ["other"]
    shelf.path.write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        shelf.all()
    assert stat.S_IMODE(shelf.path.parent.stat().st_mode) == 0o700
