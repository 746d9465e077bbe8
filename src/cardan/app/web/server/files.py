"""Files of the page kept in memory: they do not change while the server runs, and are asked for by
every page; to read them from disk takes a thread each time, and to compress them more."""

from __future__ import annotations

import gzip
from collections.abc import MutableMapping
from typing import Any

from .security import App, Receive, Scope, Send

_PLACES = ("/_nicegui/", "/gallery/cards")
_MOST = 24_000_000  # bytes
_HEADERS = (b"content-type", b"content-length", b"cache-control", b"etag", b"last-modified")


class Kept:
    """Answers to a GET of what does not change, as they were given the first time."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.answers: dict[str, tuple[list[Any], bytes]] = {}
        self.compressed: dict[str, tuple[list[Any], bytes]] = {}
        self.room = _MOST

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = {name for name, _ in scope.get("headers", [])}
        plain = scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]
        if not plain or not scope["path"].startswith(_PLACES) or b"range" in asked:
            await self.app(scope, receive, send)
        else:
            path, messages = scope["path"], []
            if path not in self.answers:
                messages = await self._asked(scope, receive)
            if path in self.answers:
                small = b"gzip" in dict(scope["headers"]).get(b"accept-encoding", b"")
                headers, body = self.small(path) if small else self.answers[path]
                messages = [
                    {"type": "http.response.start", "status": 200, "headers": list(headers)},
                    {"type": "http.response.body", "body": body},
                ]
            for message in messages:
                await send(message)

    def small(self, path: str) -> tuple[list[Any], bytes]:
        """An answer compressed, once for all who ask, where that saves something."""
        if path not in self.compressed:
            headers, body = self.answers[path]
            packed = gzip.compress(body, 6)
            others = [x for x in headers if x[0].lower() not in (b"content-length", b"etag")]
            own = [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding"),
                   (b"content-length", str(len(packed)).encode())]  # fmt: skip
            saves = len(packed) < 0.9 * len(body)
            self.compressed[path] = ([*others, *own], packed) if saves else self.answers[path]
        return self.compressed[path]

    async def _asked(self, scope: Scope, receive: Receive) -> list[MutableMapping[str, Any]]:
        """What the application answers; kept where it is a whole file."""
        messages: list[MutableMapping[str, Any]] = []

        async def collect(message: MutableMapping[str, Any]) -> None:
            messages.append(message)

        await self.app(scope, receive, collect)
        first = messages[0] if messages else {}
        if first.get("type") == "http.response.start" and first["status"] == 200:
            headers = [x for x in first["headers"] if x[0].lower() in _HEADERS]
            self._keep(scope["path"], headers, b"".join(x.get("body", b"") for x in messages[1:]))
        return messages

    def _keep(self, path: str, headers: list[Any], body: bytes) -> None:
        said = dict(headers).get(b"content-length")
        if len(body) <= self.room and said == str(len(body)).encode() and path not in self.answers:
            self.room -= len(body)
            self.answers[path] = (headers, body)
