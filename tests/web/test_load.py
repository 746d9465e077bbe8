"""The tool that loads the server: it sends what the page sends, and does real work."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from pathlib import Path

import pytest
from tests.web.conftest import TOKEN, Server, free_port

if sys.platform != "linux":
    pytest.skip("reads memory and time in /proc", allow_module_level=True)
pytest.importorskip("nicegui")
pytest.importorskip("httpx")
pytest.importorskip("socketio")

from tests.web.load import Tally, User, emitted, load

from cardan.app.web.panels.cells import Grid

LABEL = "this.cell(this.key(b, r, c))?.label"


def test_messages_are_those_of_the_page() -> None:
    known = {"b": 0, "r": 1, "c": 2, "value": "pi/2", LABEL: "d of link2"}
    draft = emitted("grid", "draft", known)
    assert draft == [0, 1, 2, "pi/2", "d of link2"]
    assert list(inspect.signature(Grid._draft).parameters)[1:] == ["b", "r", "c", "text", "label"]
    assert emitted("sliders", "slide", {"k": 3, "value": 0.5}) == [3, 0.5]
    assert emitted("menus", "choose", {"item.id": 7}) == 7
    with pytest.raises(LookupError, match=r"grid\.js emits draft with .*label"):
        emitted("grid", "draft", {name: x for name, x in known.items() if name != LABEL})
    with pytest.raises(LookupError, match="emits no"):
        emitted("menus", "nothing", {})


def test_users_do_real_work(server: Server) -> None:
    """Ten seconds of three users, longer where the machine is slow: each does a whole round."""
    measured = asyncio.run(load(server.address, server.process.pid, 3, 10, patience=300))
    assert measured["faults"] == []
    assert min(measured["rounds"]) >= 1
    for kind in ("page", "scene", "slider", "cell", "file", "choice", "model", "lines"):
        assert measured["done"].get(kind, 0) >= 3, (kind, measured["done"])


def test_a_page_says_that_its_work_was_killed_and_offers_it_again(tmp_path: Path) -> None:
    """The worker kills itself as long as there is a file that says so."""
    deadly = tmp_path / "deadly"
    deadly.touch()
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib, signal, sys\n"
        f"deadly = pathlib.Path({str(deadly)!r})\n"
        "if 'cardan.app.web.jobs.worker' in sys.orig_argv and deadly.exists():\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    server = Server(tmp_path / "data", free_port(), PYTHONPATH=path)

    async def derive() -> Tally:
        tally = Tally()
        user = User(server.address, tally, 0, patience=300)
        client = await user.entered(f"/?token={TOKEN}")
        await user.look(client)
        await user.event(client, "Derive", "click", {}, "killed (SIGKILL); start again", "death")
        deadly.unlink()
        await user.event(client, "Derive", "click", {}, "derived in", "model")
        await client.disconnect()
        await user.http.aclose()
        return tally

    try:
        tally = asyncio.run(derive())
    finally:
        server.stop()
    assert tally.faults == []
    assert (tally.done["death"], tally.done["model"]) == (1, 1)
