"""What users type or upload reaches the page as text only, and files keep to safe names."""

from __future__ import annotations

import base64
import random
import re
import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.web.conftest import TOKEN, Server

import cardan
from cardan.app.web.files.visuals import opened
from cardan.app.web.jobs import work
from cardan.app.web.server.state import Page
from cardan.app.web.server.store import Store
from cardan.describe.files import dumps
from cardan.emit.html import MathNotation
from cardan.sheets.picture import sketch

EVIL = (
    "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"
)
SLOW = 60_000


def renamed(name: str) -> cardan.Robot:
    robot = cardan.load("planar2r")
    links = (replace(robot.links[0], name=name[:180]), *robot.links[1:])
    return replace(robot, name=name, links=links)


def test_names_in_pictures_are_text() -> None:
    drawn = ElementTree.fromstring(sketch(renamed(EVIL)))
    tags = {item.tag.rpartition("}")[2] for item in drawn.iter()}
    assert tags == {"svg", "title", "path"}
    assert drawn[0].text == EVIL


@pytest.mark.parametrize("name", [EVIL, 'a"b', "a'b", "x<y", "&lt;", "F2_3<b>"])
def test_symbols_in_equations_are_text(name: str) -> None:
    found = ElementTree.fromstring(MathNotation().name(name))
    assert found.get("data-name") == name
    assert {item.tag for item in found.iter()} <= {"mrow", "msub", "msup", "msubsup", "mi", "mo",
                                                   "mtext", "mover"}  # fmt: skip


def test_equations_of_an_evil_robot_are_markup_of_ours() -> None:
    data = {"robot": dumps(renamed(EVIL), "toml"), "model": "inverse-dynamics", "options": {}}
    for _, _, mathml, _ in work.derive(data, lambda text: None)["parts"]["lines"]:
        tags = {item.tag for item in ElementTree.fromstring(f"<line>{mathml}</line>").iter()}
        assert all(re.fullmatch(r"line|m[a-z]+|h2|h3|p", tag) for tag in tags)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b\\c", "..", "\x00", "", EVIL, "héllo"])
def test_downloads_have_safe_names(tmp_path: Path, name: str) -> None:
    project = Store(tmp_path).project("a" * 32)
    page = Page(project, None)  # type: ignore[arg-type]
    page.robot = replace(page.robot, name=name)
    assert re.fullmatch(r"[A-Za-z0-9_]{1,60}", page.stem)


@pytest.mark.parametrize(
    "name", ["toml", "par", "urdf", "xml", "zip", "stl", "obj", "dae", "mtl", "txt", "", "TOML"]
)
def test_garbage_is_refused_with_words(name: str) -> None:
    """Whatever comes, under whatever ending: a robot, or a message of ours."""
    dice = random.Random(1)
    whole = {form: dumps(cardan.load("ur5"), form).encode() for form in ("toml", "urdf", "xml")}
    texts = [b"", b"\0" * 99, dice.randbytes(5000), b"<", b"<a><b></a>", b"[[[[", b"(*", b"PK",
             b"\xff\xfe<\0a\0>\0", b"a=" * 9999, b"[" * 99999, b"<a>" * 50000, b"<mujoco/>",
             b"<robot name='x'/>", b"cardan = 9\n"]  # fmt: skip
    for text in whole.values():
        texts.append(text[: len(text) // 2])
        for _ in range(8):
            worn = bytearray(text)
            for _ in range(dice.choice([1, 3, 10])):
                worn[dice.randrange(len(worn))] = dice.randrange(256)
            texts.append(bytes(worn))
    for text in texts:
        packed = [[f"x.{name}" if name else "x", base64.b64encode(text).decode()]]
        with suppress(cardan.CardanError):
            assert opened(None, {"attached": packed}, lambda text: None)["robot"]


def test_a_page_shows_evil_names_as_text(page: Any, tmp_path: Path) -> None:
    evil = tmp_path / "evil.toml"
    evil.write_text(dumps(renamed(EVIL), "toml"), encoding="utf-8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_text("Open a file").click()
    page.locator("input[type=file]").first.set_input_files(evil)
    page.locator(".header .title", has_text="onerror").wait_for(timeout=SLOW)
    page.get_by_label("Names of the links").click()
    page.get_by_role("tab", name="Models").click()
    page.get_by_role("button", name="Derive").click()
    page.locator(".equations math").first.wait_for(timeout=SLOW)
    page.reload()
    page.locator(".header .title", has_text="onerror").wait_for(timeout=SLOW)
    assert page.title() == "Cardan"
    assert page.locator("img[src=x]").count() == 0
    assert not any(url.endswith("/x") for url in asked)


@pytest.mark.parametrize(
    "path",
    ["/", "/gallery", "/gallery/cards", "/result/0/lines",
     "/_nicegui/3.0.0/static/nicegui.js", "/_nicegui_ws/socket.io/?EIO=4&"
     "transport=polling", "/_nicegui/auto/static/x", "/docs", "/openapi.json", "/nothing"],
)  # fmt: skip
def test_nothing_is_answered_without_the_token(server: Server, path: str) -> None:
    import httpx

    for method in ("GET", "POST", "PUT", "OPTIONS", "HEAD"):
        assert httpx.request(method, server.address + path).status_code == 401
        foreign = httpx.request(method, server.address + path, headers={"Host": "evil.example"})
        assert foreign.status_code == 403
        origin = {"Origin": "http://evil.example", "Cookie": f"cardan_{server.port}={TOKEN}"}
        assert httpx.request(method, server.address + path, headers=origin).status_code == 403


def test_a_foreign_page_gets_no_websocket(server: Server) -> None:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    import aiohttp

    async def knock(**headers: str) -> int:
        address = f"{server.address}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
        async with aiohttp.ClientSession() as session:
            try:
                async with session.ws_connect(address, headers=headers):
                    return 101
            except aiohttp.WSServerHandshakeError as error:
                return error.status

    def attempt(**headers: str) -> int:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(knock(**headers))).result(60)

    cookie = f"cardan_{server.port}={TOKEN}"
    assert attempt(Cookie=cookie) == 101
    assert attempt() == 403
    assert attempt(Cookie=cookie, Origin="http://evil.example") == 403
    assert attempt(Cookie=cookie, Host="evil.example") == 403
