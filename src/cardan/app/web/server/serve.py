"""`cardan serve`: the page on this machine alone, behind its token."""

from __future__ import annotations

import asyncio
import errno
import gc
import hashlib
import importlib.util
import logging
import os
import re
import secrets
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from typing import Any

from ....errors import InputError, MissingExtraError
from .connections import bounded
from .door import Door
from .files import Kept
from .security import Guard, hosts_of, own_names
from .store import Store, data_folder
from .writer import private_folder, written

_PATIENCE = 15.0  # seconds a page may be silent, on a busy machine, before it is forgotten
_HISTORY = 200  # messages kept for a page that lost its connection
_YEAR = 365 * 24 * 3600  # seconds a browser finds its project again
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def application(
    store: Store, host: str, port: int, token: str, names: Sequence[str] = (),
    entered: Callable[[], None] = lambda: None,
) -> Any:  # fmt: skip
    """The whole web app as an ASGI application; entered: called when a browser shows the token."""
    folder = store.folder.parent
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(folder / "browser"))
    try:
        with _without("aiohttp", "tornado"):  # clients and drivers of the WebSocket's library
            from fastapi import FastAPI
            from nicegui import app, ui
    except ImportError:
        raise MissingExtraError.of("nicegui", "web", "the web app") from None
    from ..jobs.pool import Jobs
    from ..panels import gallery, page
    from ..panels import robots as robots_page
    from .shelf import Shelf
    from .state import Page

    jobs = Jobs(warm=True)

    @ui.page("/", title="Cardan")
    def main(robot: str = "") -> None:
        name = str(app.storage.browser["id"]).replace("-", "")
        project = store.project(name)
        jobs.warm_up()
        try:
            shown = Page(project, jobs, store.shapes, store.results)
            page.build(shown, Shelf(folder, name), robot)
        except Exception:  # whatever the project holds: the next load must not fail on it too
            logging.getLogger("cardan").exception("the page could not be made")
            store.failed(name)
            page.apologise()

    @ui.page("/robots", title="Cardan: my robots")
    def own() -> None:
        name = str(app.storage.browser["id"]).replace("-", "")
        robots_page.build(lambda: store.project(name), Shelf(folder, name))

    @ui.page("/gallery", title="Cardan: robots")
    def robots() -> None:
        name = str(app.storage.browser["id"]).replace("-", "")
        gallery.build(lambda: store.project(name), jobs)

    _data(store, jobs)
    app.on_shutdown(jobs.close)
    # the signal that stops the server ends the process as soon as this is over: no thread is waited
    # for then, and what is not on the disk by now is lost
    app.on_shutdown(lambda: asyncio.to_thread(written))
    api = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    ui.run_with(
        api, title="Cardan", storage_secret=_secret(folder), show_welcome_message=False,
        session_middleware_kwargs={"session_cookie": _cookie(folder), "max_age": _YEAR},
        reconnect_timeout=_PATIENCE, message_history_length=_HISTORY,
        gzip_middleware_factory=None, language="en-US",
        tailwind=False, binding_refresh_interval=None,
    )  # fmt: skip
    return Guard(Kept(api), hosts=hosts_of(host, port), token=token, names=names, entered=entered)


def _data(store: Store, jobs: Any) -> None:
    """What the parts of a page fetch: cards, parts of results, surfaces."""
    from fastapi import Response
    from fastapi.responses import FileResponse
    from nicegui import app

    from ..panels import gallery

    def cached(seconds: int) -> dict[str, str]:
        return {"cache-control": f"private, max-age={seconds}"}

    @app.get("/gallery/cards")
    def cards() -> Response:
        return Response(gallery.cards(), media_type="application/json")

    @app.get("/result/{key}/{part}")
    async def result(key: str, part: str) -> Response:
        content = jobs.part(key, part)
        if content is None:
            return Response(b"null", 404, media_type="application/json")
        return Response(content, media_type="application/json", headers=cached(600))

    @app.get("/math.woff2")
    def font() -> Response:
        content = (resources.files("cardan.document") / "font" / "stix-two-math.woff2").read_bytes()
        return Response(content, media_type="font/woff2", headers=cached(_YEAR))

    @app.get("/surface/{digest}")
    def surface(digest: str) -> Response:
        path = store.shapes.path(digest)
        if path is None:
            return Response(b"", 404)
        return FileResponse(path, media_type="model/stl", headers=cached(86400))


def _cookie(folder: Any) -> str:
    """Cookies do not know ports: servers on other folders have cookies of other names."""
    return f"cardan_{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"


def _secret(folder: Any) -> str:
    """Signs the browser's cookie; kept, so that a project is found again after a restart."""
    path = folder / "secret"
    try:
        text = path.read_text(encoding="ascii").strip()
        if len(text) >= 32:
            return str(text)
    except (OSError, UnicodeDecodeError):
        pass
    secret = secrets.token_hex(32)
    with suppress(OSError):  # on a disk that cannot be written the page says so itself
        private_folder(path.parent)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secret)
    return secret


def serve(
    host: str = "127.0.0.1", port: int = 0, token: str = "", browser: bool = True,
    names: Sequence[str] = (), say: Any = print,
) -> None:  # fmt: skip
    """Run until interrupted. What it writes is for its user alone."""
    token = _accepted(host, token, names)
    if importlib.util.find_spec("nicegui") is None:
        raise MissingExtraError.of("nicegui", "web", "the web app")
    mask = os.umask(0o077)
    try:
        _run(host, port, token, browser, names, say)
    finally:
        os.umask(mask)


def _run(
    host: str, port: int, token: str, browser: bool, names: Sequence[str], say: Any
) -> None:  # fmt: skip
    store = Store(data_folder())  # before anything is opened: it may be refused
    listener = _listening(host, port)
    port = int(listener.getsockname()[1])
    address = _address(host, port, token)
    say(f"Cardan is at {address}")
    with Door(store.folder.parent) as door:
        if browser:
            door.open(address)  # it starts while the rest is imported, and waits to be answered
        _answer(listener, store, host, port, token, names, door)


def _answer(
    listener: socket.socket, store: Store, host: str, port: int, token: str, names: Sequence[str],
    door: Door,
) -> None:  # fmt: skip
    gc.disable()
    server = application(store, host, port, token, names, entered=door.shut)
    import uvicorn

    gc.collect()
    gc.freeze()  # what was imported stays: the collector need not look at it again
    gc.enable()
    # the browser is on this machine: to compress would cost more than it saves
    config = uvicorn.Config(
        server, host=host, port=port, log_level="warning", server_header=False,
        ws_per_message_deflate=False, timeout_keep_alive=60, http=bounded(),
    )  # fmt: skip
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([listener])


def _accepted(host: str, token: str, names: Sequence[str]) -> str:
    """The token, made up where none is given; what is not safe is refused."""
    if host not in _LOOPBACK and not token:
        raise InputError(
            f"{host} can be reached by other machines: name a secret of your own in the variable "
            "CARDAN_TOKEN, with --token-file or with --token, or leave --host out"
        )
    if token and len(token) < 16:
        raise InputError("the token must have at least 16 characters")
    if token and not all(c.isalnum() or c in "-_" for c in token):
        raise InputError("the token may hold letters, digits, - and _ only")
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9.-]{1,250}(:[0-9]{1,5})?", name):
            raise InputError(
                f"'{name[:60]}' is no name of a host; expected cardan.example.org:8443"
            )
    return token or secrets.token_urlsafe(24)


def _address(host: str, port: int, token: str) -> str:
    """What a browser opens."""
    shown = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        shown = own_names()[0]
    return f"http://{shown}:{port}/?token={token}"


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    if os.name != "nt":  # there it would let two servers share the port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        if isinstance(error, OverflowError):
            raise InputError(f"port {port} does not exist; ports are 0 to 65535") from None
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise InputError(
                f"{host} is no address of this machine; name another with --host"
            ) from None
        at = f"port {port} of {host}" if port else host
        raise InputError(
            f"cannot listen on {at}: {error.strerror}; name another with --port"
        ) from None
    return listener


@contextmanager
def _without(*modules: str) -> Iterator[None]:
    """Imports that pass over modules which others use where they find them, and we never need."""
    hidden = {name: None for name in modules if name not in sys.modules}
    sys.modules.update(hidden)  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
