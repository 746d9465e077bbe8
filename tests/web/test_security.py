"""The guard: 12 hosts x 10 origins x every method, on pages, files and the WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from itertools import product
from typing import Any

import pytest

from cardan.app.web.server.security import Guard, hosts_of, own_names

TOKEN = "a-token-of-some-length"
PORT = 8123
OURS = ("127.0.0.1:8123", "localhost:8123", "[::1]:8123")
HOSTS = (
    *OURS, "127.0.0.1", "127.0.0.1:80", "localhost:9999", "evil.example", "evil.example:8123",
    "127.0.0.1.evil.example:8123", "localhost.evil.example:8123", "", "127.0.0.1:8123@evil.example",
)  # fmt: skip
ORIGINS = (
    None, "http://127.0.0.1:8123", "http://localhost:8123", "http://[::1]:8123", "null",
    "https://127.0.0.1:8123", "http://evil.example", "http://127.0.0.1:9999", "file://",
    "http://127.0.0.1:8123.evil.example",
)  # fmt: skip
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "ODD")
PATHS = ("/", "/_nicegui/3/static/nicegui.js", "/_nicegui_ws/socket.io/", "/gallery")


async def inner(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


GUARD = Guard(inner, hosts=hosts_of("127.0.0.1", PORT), token=TOKEN)


def ask(
    kind: str = "http", method: str = "GET", path: str = "/", host: str | None = OURS[0],
    origin: str | None = None, cookie: str | None = f"cardan_{PORT}={TOKEN}", query: str = "",
    more: tuple[tuple[bytes, bytes], ...] = (),
) -> list[MutableMapping[str, Any]]:  # fmt: skip
    pairs = (("host", host), ("origin", origin), ("cookie", cookie))
    headers = [(k.encode(), v.encode()) for k, v in pairs if v is not None]
    scope = {"type": kind, "method": method, "path": path, "headers": [*headers, *more],
             "query_string": query.encode()}  # fmt: skip
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "websocket.connect"}

    asyncio.run(GUARD(scope, receive, send))
    return sent


def test_hosts_and_origins_and_methods() -> None:
    for host, origin in product(HOSTS, ORIGINS):
        good = host in OURS and (origin is None or origin in [f"http://{x}" for x in OURS])
        for method, path in product(METHODS, PATHS):
            status = ask(method=method, path=path, host=host, origin=origin)[0]["status"]
            assert (status == 200) == good, (host, origin, method, path)
        talk = ask("websocket", host=host, origin=origin)
        assert (talk[0]["type"] == "websocket.accept") == good, (host, origin)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "cookie", [None, "", "cardan_8123=wrong", "other=x", 'cardan_8123="', "=;"]
)
def test_no_token_no_answer(kind: str, cookie: str | None) -> None:
    first = ask(kind, cookie=cookie)[0]
    assert first["type"] == "websocket.close" or first["status"] == 401


def test_the_token_moves_into_a_cookie() -> None:
    first = ask(cookie=None, path="/gallery", query=f"token={TOKEN}&x=1")[0]
    headers = dict(first["headers"])
    assert first["status"] == 303
    assert headers[b"location"] == b"/gallery?x=1"
    assert b"HttpOnly" in headers[b"set-cookie"]
    assert b"SameSite=Strict" in headers[b"set-cookie"]


@pytest.mark.parametrize(
    ("path", "target"),
    [("//evil.example", b"/"), ("/\\evil.example", b"/"),
     ("/\t/evil.example", b"/%09/evil.example"),
     ("/a\r\nSet-Cookie: x", b"/a%0D%0ASet-Cookie%3A%20x"), ("/\u20ac", b"/%E2%82%AC"),
     ("/\udc80", b"/%3F"), ("evil.example", b"/")],
)  # fmt: skip
def test_no_redirect_to_elsewhere(path: str, target: bytes) -> None:
    headers = dict(ask(cookie=None, path=path, query=f"token={TOKEN}")[0]["headers"])
    assert headers[b"location"] == target


def test_two_host_headers_are_refused() -> None:
    assert ask(more=((b"host", b"evil.example"),))[0]["status"] == 403


def test_requests_of_other_sites_are_refused() -> None:
    assert ask(more=((b"sec-fetch-site", b"cross-site"),))[0]["status"] == 403
    assert ask(more=((b"sec-fetch-site", b"same-origin"),))[0]["status"] == 200


@pytest.mark.parametrize(
    "header", [(b"content-length", b"999999999"), (b"content-length", b"-1"),
               (b"content-length", b"x"), (b"transfer-encoding", b"chunked")]
)  # fmt: skip
def test_large_requests_are_refused(header: tuple[bytes, bytes]) -> None:
    assert ask(method="POST", more=(header,))[0]["status"] == 413
    assert ask(method="POST", more=((b"content-length", b"1000"),))[0]["status"] == 200


def test_files_are_kept_in_memory() -> None:
    from cardan.app.web.server.files import Kept

    asked: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["path"])
        headers = [(b"content-length", b"6"), (b"content-type", b"text/css"), (b"x", b"y")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"abc", "more_body": True})
        await send({"type": "http.response.body", "body": b"def"})

    kept = Kept(app)

    async def get(path: str, method: str = "GET") -> bytes:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": []}
        await kept(scope, lambda: None, send)  # type: ignore[arg-type]
        return b"".join(message.get("body", b"") for message in sent)

    for path in ("/_nicegui/3/static/a.css", "/_nicegui/3/static/a.css", "/", "/"):
        assert asyncio.run(get(path)) == b"abcdef"
    assert asked == ["/_nicegui/3/static/a.css", "/", "/"]
    asyncio.run(get("/_nicegui/3/static/a.css", "POST"))
    assert len(asked) == 4


def test_policy_names_no_remote_source() -> None:
    policy = dict(ask()[0]["headers"])[b"content-security-policy"].decode()
    assert "http:" not in policy
    assert "https:" not in policy
    assert "*" not in policy
    assert "object-src 'none'" in policy


def test_a_server_for_others_answers_to_its_names() -> None:
    hosts = hosts_of("0.0.0.0", 8123)
    assert "127.0.0.1:8123" in hosts
    assert f"{own_names()[0]}:8123" in hosts
    assert "evil.example:8123" not in hosts
    assert "0.0.0.0:8123" not in hosts
    guard = Guard(inner, hosts=hosts, token=TOKEN, names=["Cardan.example.org"])
    assert guard.cookie == "cardan_8123"
    assert {"http://cardan.example.org", "https://cardan.example.org"} <= guard.origins
    assert Guard(inner, hosts=hosts_of("localhost", 80), token=TOKEN).cookie == "cardan_80"


@pytest.mark.parametrize("name", ["evil.example/x", "a b", "", "*", "x:y"])
def test_names_of_hosts_are_checked(name: str) -> None:
    from cardan.app.web.server.serve import serve
    from cardan.errors import InputError

    with pytest.raises(InputError, match="no name of a host"):
        serve(names=[name], browser=False)


def test_a_wide_bind_needs_a_token() -> None:
    from cardan.app.web.server.serve import serve
    from cardan.errors import InputError

    with pytest.raises(InputError, match="--token"):
        serve(host="0.0.0.0")
    with pytest.raises(InputError, match="16 characters"):
        serve(host="0.0.0.0", token="short")
