"""Who may talk to the server: a browser on an allowed host that knows the token.

Pure ASGI, so that it stands before every route and the WebSocket alike. A page of another site can
make a browser send requests here, or make a name of its own resolve to this machine; so the Host
must be ours, an Origin, if there is one, must be ours, and the token must have been given once in
the address that `cardan serve` opened; from then on a cookie holds it that no script can read and
no other site sends.
"""

from __future__ import annotations

import hmac
import html
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LARGEST = 128_000_000  # bytes of a request
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self' ws://{host} wss://{host}; worker-src 'self' blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_REFUSED = {
    "host": "this address is not the one the server was started on",
    "origin": "a page of another site asked",
    "size": "at most 128 MB can be sent, and their number must be said before",
    "token": "open the address that `cardan serve` printed: it carries the token",
}


_ALL = ("0.0.0.0", "::")


def own_names() -> list[str]:
    """How other machines may call this one: its name and its addresses."""
    name = socket.gethostname()
    names = [name, socket.getfqdn()]
    with suppress(OSError):
        names += [str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(name, None)]
    for family, far in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))  # nothing is sent: it only chooses the way out
            names.append(str(probe.getsockname()[0]))
    return list(dict.fromkeys(f"[{x}]" if ":" in x else x.lower() for x in names if x))


def hosts_of(host: str, port: int) -> frozenset[str]:
    """What a Host header may say for a server on that address."""
    names = {host}
    if host in _ALL:
        names = {"127.0.0.1", "localhost", "[::1]", *own_names()}
    elif host in ("127.0.0.1", "localhost", "::1"):
        names |= {"127.0.0.1", "localhost", "[::1]"}
    elif ":" in host:
        names = {f"[{host}]"}
    with_port = {f"{name}:{port}" for name in names}
    return frozenset(with_port | (names if port == 80 else set()))


class Guard:
    """The application behind its door."""

    def __init__(
        self, app: App, *, hosts: frozenset[str], token: str, names: Sequence[str] = (),
        entered: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """names: others that a browser may use, those of a proxy, as it writes them; entered:
        called when a browser has shown the token."""
        self.app = app
        self.token = token
        self.entered = entered
        self.hosts = hosts | {name.lower() for name in names}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.origins |= {f"https://{name.lower()}" for name in names}
        port = next(x for x in (host.rpartition(":")[2] for host in sorted(hosts)) if x.isdigit())
        self.cookie = f"cardan_{port}"  # cookies do not know ports: two servers, two names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = [(k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in scope["headers"]]
        fault = self._fault(scope, headers)
        if fault:
            await _refuse(scope, receive, send, fault)
            return
        if scope["type"] == "http" and self._in_query(scope):
            await self._welcome(scope, send, _from_elsewhere(headers))
            self.entered()
            return
        host = dict(headers)["host"]
        await self.app(scope, receive, _with_headers(send, _POLICY.format(host=host)))

    def _fault(self, scope: Scope, headers: list[tuple[str, str]]) -> str:
        hosts = [value for name, value in headers if name == "host"]
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return "host"
        for name, value in headers:
            if name == "origin" and value.lower() not in self.origins:
                return "origin"
            if name == "sec-fetch-site" and value.lower() not in ("same-origin", "none"):
                # a file or a link from elsewhere may open the page with the token, nothing more
                opens = scope["type"] == "http" and scope["method"] == "GET"
                if not (opens and self._in_query(scope)):
                    return "origin"
            if name == "transfer-encoding":
                return "size"  # of a length that is not said
            if name == "content-length" and not (value.isdigit() and int(value) <= _LARGEST):
                return "size"
        return "" if self._in_query(scope) or self._in_cookie(headers) else "token"

    def _in_query(self, scope: Scope) -> bool:
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        return any(_same(value, self.token) for value in query.get("token", []))

    def _in_cookie(self, headers: list[tuple[str, str]]) -> bool:
        for name, value in headers:
            if name != "cookie":
                continue
            try:
                cookie = SimpleCookie(value).get(self.cookie)
            except CookieError:
                continue
            if cookie is not None and _same(cookie.value, self.token):
                return True
        return False

    async def _welcome(self, scope: Scope, send: Send, from_elsewhere: bool) -> None:
        """The token moves from the address, which is shown and kept, into the cookie.

        A browser that comes from elsewhere, as from the file that `cardan serve` opens, does not
        show a strict cookie to the page it is redirected to: a page of ours leads it there."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        query.pop("token")
        path = scope["path"] if scope["path"].startswith("/") else "/"
        if path.startswith(("//", "/\\")):
            path = "/"
        target = quote(path, errors="replace")
        target += f"?{urlencode(query, doseq=True)}" if query else ""
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        if from_elsewhere:
            leading = {"content-type": "text/html; charset=utf-8", "referrer-policy": "no-referrer",
                       "content-security-policy": "default-src 'none'"}  # fmt: skip
            await _answer(send, 200, leading_page(target), {"set-cookie": cookie, **leading})
        else:
            await _answer(send, 303, b"", {"location": target, "set-cookie": cookie})


def leading_page(target: str) -> bytes:
    """A page that leads to another one at once."""
    to = html.escape(target)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Cardan</title>\n'
        f'<meta http-equiv="refresh" content="0; url={to}"></head>\n'
        f'<body><a href="{to}">Cardan</a></body></html>\n'
    ).encode()


def _from_elsewhere(headers: list[tuple[str, str]]) -> bool:
    site = [value.lower() for name, value in headers if name == "sec-fetch-site"]
    return bool(site) and site[0] not in ("same-origin", "none")


def _same(text: str, token: str) -> bool:
    return hmac.compare_digest(text.encode(), token.encode())


def _with_headers(send: Send, policy: str) -> Send:
    extra = [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-resource-policy", b"same-origin"),
    ]

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *extra]
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, fault: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    text = f"cardan: refused: {_REFUSED[fault]}\n".encode()
    await _answer(send, {"token": 401, "size": 413}.get(fault, 403), text, {})


async def _answer(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    listed = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store", **headers}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in listed.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
