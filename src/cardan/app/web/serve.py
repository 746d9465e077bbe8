"""`cardan serve`: the page on this machine alone, behind its token."""

from __future__ import annotations

import gc
import os
import secrets
import socket
import webbrowser
from typing import Any

from ...errors import InputError, MissingExtraError
from .security import Guard, hosts_of
from .store import Store, data_folder

__all__ = ["application", "serve"]

_PATIENCE = 15.0  # seconds a page may be silent, on a busy machine, before it is forgotten
_HISTORY = 200  # messages kept for a page that lost its connection
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def application(host: str, port: int, token: str) -> Any:
    """The whole web app as an ASGI application."""
    folder = data_folder()
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(folder / "browser"))
    try:
        from fastapi import FastAPI, Response
        from nicegui import app, ui
    except ImportError:
        raise MissingExtraError.of("nicegui", "web", "the web app") from None
    from . import gallery, page
    from .jobs import Jobs
    from .state import Page

    store, jobs = Store(folder), Jobs()

    @ui.page("/", title="Cardan")
    def main() -> None:
        name = str(app.storage.browser["id"]).replace("-", "")
        page.build(Page(store.project(name), jobs))

    @ui.page("/gallery", title="Cardan: robots")
    def robots() -> None:
        name = str(app.storage.browser["id"]).replace("-", "")
        gallery.build(lambda: store.project(name), jobs)

    @app.get("/gallery/cards")
    def cards() -> Response:
        return Response(gallery.cards(), media_type="application/json")

    @app.get("/result/{key}/{part}")
    async def result(key: str, part: str) -> Response:
        found = jobs.part(key, part)
        status = 404 if found is None else 200
        return Response(found or b"null", status, media_type="application/json",
                        headers={"cache-control": "private, max-age=600"})  # fmt: skip

    app.on_shutdown(jobs.close)
    api = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    ui.run_with(
        api, title="Cardan", storage_secret=_secret(folder), show_welcome_message=False,
        reconnect_timeout=_PATIENCE, message_history_length=_HISTORY,
        gzip_middleware_factory=None,
    )  # fmt: skip
    return Guard(api, hosts=hosts_of(host, port), token=token)


def _secret(folder: Any) -> str:
    """Signs the browser's cookie; kept, so that a project is found again after a restart."""
    path = folder / "secret"
    try:
        found = path.read_text(encoding="ascii").strip()
        if len(found) >= 32:
            return str(found)
    except (OSError, UnicodeDecodeError):
        pass
    secret = secrets.token_hex(32)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secret)
    return secret


def serve(
    host: str = "127.0.0.1", port: int = 0, token: str = "", browser: bool = True,
    say: Any = print,
) -> None:  # fmt: skip
    """Run until interrupted."""
    if host not in _LOOPBACK and not token:
        raise InputError(
            f"{host} can be reached by other machines: name a secret of your own with --token, "
            "or leave --host out"
        )
    if token and len(token) < 16:
        raise InputError("the token must have at least 16 characters")
    if token and not all(c.isalnum() or c in "-_" for c in token):
        raise InputError("the token may hold letters, digits, - and _ only")
    token = token or secrets.token_urlsafe(24)
    port = port or _free_port(host)
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError.of("nicegui", "web", "the web app") from None
    server = application(host, port, token)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/?token={token}"
    say(f"Cardan is at {address}")
    gc.collect()
    gc.freeze()  # what was imported stays: the collector need not look at it again
    if browser:
        webbrowser.open(address)
    # the browser is on this machine: to compress would cost more than it saves
    uvicorn.run(
        server, host=host, port=port, log_level="warning", server_header=False,
        ws_per_message_deflate=False,
    )  # fmt: skip


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        try:
            probe.bind((host, 0))
        except OSError as error:
            raise InputError(f"cannot listen on {host}: {error.strerror}") from None
        return int(probe.getsockname()[1])
