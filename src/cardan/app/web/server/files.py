"""Files of the page kept in memory: they do not change while the server runs, and are asked for by
every page; to read them from disk takes a thread each time."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from .security import App, Receive, Scope, Send

__all__ = ["Kept"]

_PREFIX = "/_nicegui/"
_MOST = 24_000_000  # bytes
_HEADERS = (b"content-type", b"content-length", b"cache-control", b"etag", b"last-modified")


class Kept:
    """Answers to a GET below one prefix, as they were given the first time."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.answers: dict[str, tuple[list[Any], bytes]] = {}
        self.room = _MOST

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = {name for name, _ in scope.get("headers", [])}
        plain = scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]
        if not plain or not scope["path"].startswith(_PREFIX) or b"range" in asked:
            await self.app(scope, receive, send)
        elif scope["path"] in self.answers:
            headers, body = self.answers[scope["path"]]
            await send({"type": "http.response.start", "status": 200, "headers": list(headers)})
            await send({"type": "http.response.body", "body": body})
        else:
            await self.app(scope, receive, self._keeping(scope["path"], send))

    def _keeping(self, path: str, send: Send) -> Send:
        headers: list[Any] = []
        pieces: list[bytes] = []

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers.extend(x for x in message["headers"] if x[0].lower() in _HEADERS)
            elif message["type"] == "http.response.body":
                pieces.append(message.get("body", b""))
                if headers and not message.get("more_body"):
                    self._keep(path, headers, b"".join(pieces))
            else:
                headers.clear()
            await send(message)

        return sending

    def _keep(self, path: str, headers: list[Any], body: bytes) -> None:
        said = dict(headers).get(b"content-length")
        if len(body) <= self.room and said == str(len(body)).encode() and path not in self.answers:
            self.room -= len(body)
            self.answers[path] = (headers, body)
