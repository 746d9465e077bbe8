"""The door of the server: who keeps it waiting, how a browser learns the token, what a file of
another shape does to a page."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.web.conftest import TOKEN, Server, free_port

from cardan.app.web.server.door import Door
from cardan.app.web.server.security import Guard, hosts_of, leading_page

pytest.importorskip("nicegui")
httpx = pytest.importorskip("httpx")

HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-a: "
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


@contextmanager
def serving(http: Any, app: Any = hello) -> Iterator[int]:
    """uvicorn with that protocol, in a thread."""
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    config = uvicorn.Config(app, http=http, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(60)
        listener.close()


def connected(stack: ExitStack, port: int, data: bytes) -> socket.socket:
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), 300))
    with suppress(ConnectionError):  # on a slow machine it may be over already
        connection.sendall(data)
    return connection


def ended(connection: socket.socket) -> bool:
    """Wait until the server has closed it."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        pass
    return True


def answer(connection: socket.socket, data: bytes = WHOLE) -> bytes:
    """The first line of an answer; none where the connection is closed."""
    received = b""
    with suppress(ConnectionError):
        connection.sendall(data)
        while b"\r\n\r\n" not in received and (part := connection.recv(4096)):
            received += part
    return received.partition(b"\r\n")[0]


@pytest.mark.parametrize("implementation", ["auto", "h11"])
def test_a_request_that_does_not_come_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, implementation: str
) -> None:
    """Neither the first nor a later one, nor the rest of a body that nobody reads."""
    from uvicorn.protocols.http import auto
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from cardan.app.web.server.connections import bounded

    if implementation == "h11":
        monkeypatch.setattr(auto, "AutoHTTPProtocol", H11Protocol)
    with serving(bounded(seconds=1.0)) as port, ExitStack() as stack:
        assert ended(connected(stack, port, b""))
        assert ended(connected(stack, port, HALF))
        later = connected(stack, port, b"")
        while not answer(later).startswith(b"HTTP/1.1 200"):  # a slow machine
            later = connected(stack, port, b"")
        with suppress(ConnectionError):
            later.sendall(HALF)
        assert ended(later)
        body = connected(stack, port, b"")
        answer(body, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx")
        with suppress(ConnectionError):
            body.sendall(b"x")
        assert ended(body)


def test_a_request_at_work_is_waited_for() -> None:
    """However long the answer takes: the bound is on requests that do not come."""
    from cardan.app.web.server.connections import bounded

    closed = threading.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        while not closed.is_set():  # until another one has been given up
            await asyncio.sleep(0.05)
        await hello(scope, receive, send)

    with serving(bounded(seconds=5.0), slow) as port, ExitStack() as stack:
        patient = connected(stack, port, WHOLE)
        assert ended(connected(stack, port, HALF))
        closed.set()
        assert b"200" in answer(patient, b"")


def test_those_who_have_waited_longest_make_room() -> None:
    from cardan.app.web.server.connections import bounded

    with serving(bounded(seconds=3600.0, waiting=8)) as port, ExitStack() as stack:
        resting = connected(stack, port, b"")
        assert b"200" in answer(resting)
        halves = [connected(stack, port, HALF) for _ in range(12)]
        assert all(ended(x) for x in halves[:4])
        assert b"200" in answer(halves[-1], b"a\r\n\r\n")  # the later ones may go on
        assert b"200" in answer(connected(stack, port, b""))
        assert b"200" in answer(resting)  # between two requests: not among those that wait
        assert ended(connected(stack, port, b"GET / HTTP/1.1\r\nX-a: " + b"a" * 200_000))


def test_half_requests_do_not_keep_others_out(server: Server) -> None:
    """The server as it is started, without a token: 250 connections, of which it holds a part."""
    with ExitStack() as stack:
        halves = [connected(stack, server.port, HALF) for _ in range(250)]
        assert all(ended(x) for x in halves[:140])
        request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port
        assert b"401" in answer(connected(stack, server.port, b""), request)


def test_the_browser_is_started_on_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr("webbrowser.open", started.append)
    with Door(tmp_path) as door:
        door.open(f"http://127.0.0.1:8123/?token={TOKEN}&x=1")
        assert door.path is not None
        assert started == [door.path.as_uri()]
        assert TOKEN not in started[0]
        assert f"?token={TOKEN}&amp;x=1" in door.path.read_text()
        if os.name != "nt":
            assert stat.S_IMODE(door.path.stat().st_mode) == 0o600
            assert stat.S_IMODE(door.path.parent.stat().st_mode) == 0o700
        door.shut()
        assert list((tmp_path / "open").iterdir()) == []
        door.open("http://127.0.0.1:8123/")
        old = tmp_path / "open" / "old.html"
        old.write_text("x")
        os.utime(old, (0, 0))
        door.open("http://127.0.0.1:8123/")
        assert not old.exists()
    door.shut()


def _serve(folder: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from cardan.app.cli.main import main; main()", "serve", *words],
        env={**os.environ, "CARDAN_DATA": str(folder), **more}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="the browser is a script of the shell")
def test_no_argument_of_the_browser_holds_the_token(tmp_path: Path) -> None:
    """The file leads in once; then it is gone."""
    told = tmp_path / "told"
    browser = tmp_path / "browser"
    browser.write_text(
        "#!/bin/sh\n"
        f'{{ printf "%s\\n" "$@"; cat "${{1#file://}}"; }} > "{told}.part"\n'
        f'mv "{told}.part" "{told}"\n'
    )
    browser.chmod(0o700)
    process = _serve(tmp_path / "data", CARDAN_TOKEN=TOKEN, BROWSER=str(browser))
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        assert f"token={TOKEN}" in address
        while not told.exists():
            assert process.poll() is None
            threading.Event().wait(0.05)
        argument, _, page = told.read_text().partition("\n")
        assert argument.startswith("file://")
        assert TOKEN not in argument
        assert address in page
        folder = tmp_path / "data" / "open"
        assert len(list(folder.iterdir())) == 1
        assert httpx.get(address, timeout=300).status_code == 303
        while list(folder.iterdir()):
            threading.Event().wait(0.05)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_a_token_may_stand_in_a_file(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from cardan.app.cli import serve as command
    from cardan.app.cli.main import app
    from cardan.errors import InputError

    secret = tmp_path / "secret"
    secret.write_text("short\n")
    with pytest.raises(InputError, match="16 characters"):
        command.serve(token_file=secret, browser=False)
    with pytest.raises(InputError, match="twice"):
        command.serve(token=TOKEN, token_file=secret)
    with pytest.raises(InputError, match="cannot be read"):
        command.serve(token_file=tmp_path / "none")
    secret.write_text(" \n")
    with pytest.raises(InputError, match="is empty"):
        command.serve(token_file=secret)
    assert "CARDAN_TOKEN" in CliRunner().invoke(app, ["serve", "--help"]).stdout


def _welcome(
    method: str = "GET", query: str = f"token={TOKEN}", site: bytes = b"cross-site"
) -> Any:
    entered: list[int] = []
    guard = Guard(
        hello, hosts=hosts_of("127.0.0.1", 8123), token=TOKEN, entered=lambda: entered.append(1)
    )
    headers = [(b"host", b"127.0.0.1:8123"), (b"sec-fetch-site", site)]
    scope = {"type": "http", "method": method, "path": "/gallery", "headers": headers,
             "query_string": query.encode()}  # fmt: skip
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(guard(scope, None, send))  # type: ignore[arg-type]
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"], bool(entered)


def test_a_file_may_lead_in_and_nothing_more() -> None:
    """A strict cookie is not shown after a redirection from elsewhere, so that a page of ours
    takes the last step."""
    status, headers, body, entered = _welcome(query=f"token={TOKEN}&x=%22")
    assert (status, entered) == (200, True)
    assert body == leading_page("/gallery?x=%22")
    assert TOKEN.encode() not in body
    assert b"SameSite=Strict" in headers[b"set-cookie"]
    assert headers[b"content-security-policy"] == b"default-src 'none'"
    assert _welcome(site=b"none")[0] == 303
    for refused in (_welcome("POST"), _welcome(query="token=wrong"), _welcome(query="")):
        assert refused[0] == 403
        assert not refused[3]


def test_a_browser_gets_in_through_the_file(server: Server, browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "open.html"
    file.write_bytes(leading_page(f"{server.address}/?token={TOKEN}"))
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    page.get_by_role("tab", name="Geometry").wait_for(timeout=300_000)
    assert TOKEN not in page.url
    context.close()


def test_a_project_of_another_shape_is_shown_all_the_same(tmp_path: Path) -> None:
    """By a server that has it open, and by one that is started on it."""
    from cardan.app.web.server.store import Store
    from cardan.describe.bundled import bundled
    from cardan.describe.files import dumps

    server = Server(tmp_path, free_port())
    client = httpx.Client(base_url=server.address, follow_redirects=True, timeout=300)
    try:
        assert client.get(f"/?token={TOKEN}").status_code == 200
        session = next(
            x for name, x in client.cookies.items() if not name.endswith(str(server.port))
        )
        browser = json.loads(base64.b64decode(session.split(".")[0] + "=="))
        name = browser["id"].replace("-", "")
        file = Store(tmp_path).folder / f"{name}.json"
        text = dumps(bundled("scara"), "toml")
        pages = ({"surfaces": {"link1": "x"}}, {"q": [[1], [2], [3], [4]]},
                 {"values": {"x": []}}, {"at_work": [1], "tab": "Use"})  # fmt: skip
        for page in pages:
            file.write_text(json.dumps({"texts": [text], "index": 0, "page": page}))
            shown = client.get("/")
            assert shown.status_code == 200
            assert "were left out" in shown.text, page
            assert "SCARA" in shown.text
        server.stop()
        file.write_text(json.dumps({"texts": [text], "index": 0, "page": pages[0]}))
        (tmp_path / "results" / "broken").symlink_to(tmp_path / "nowhere")
        server.start()
        shown = client.get("/")
        assert shown.status_code == 200
        assert re.search(r"were left out \(surfaces\)", shown.text)
        assert "is passed over" in server.log.read_text()
    finally:
        client.close()
        server.stop()
    assert "Traceback" not in server.log.read_text()


# a server that is told to stop while its slow disk still writes
_STOPPED = """
import os, signal, sys, threading, time
from pathlib import Path
from nicegui import app
from cardan.app.web.server import serve
from cardan.app.web.server.store import Store
from cardan.app.web.server.writer import later

def stop():
    later(time.sleep, 1.5)
    later((Path(sys.argv[1]) / "last").write_text, "there")
    os.kill(os.getpid(), signal.SIGTERM)

app.on_startup(lambda: threading.Timer(0.3, stop).start())
store = Store(Path(sys.argv[1]))
with serve.Door(store.folder) as door:
    serve._answer(serve._listening("127.0.0.1", 0), store, "127.0.0.1", 0, "x" * 16, (), door)
"""


def test_a_server_that_is_stopped_writes_what_it_was_told(tmp_path: Path) -> None:
    """The signal ends the process without waiting for threads: the message that work was left
    undone was lost so, where the disk was slow."""
    subprocess.run([sys.executable, "-c", _STOPPED, str(tmp_path)], timeout=300)
    assert (tmp_path / "last").read_text() == "there"
