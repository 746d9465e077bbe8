"""The command of the web app: serve."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ...errors import InputError
from .output import print_text


def serve(
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    token: Annotated[
        str,
        typer.Option(
            envvar="CARDAN_TOKEN",
            help="Secret in the address; made up by default. Other users of this machine see what "
            "stands on a command line: the variable and --token-file are private.",
        ),
    ] = "",
    token_file: Annotated[
        Path | None, typer.Option(help="File that holds the secret, and nothing else.")
    ] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option(help="Another name the page is reached by, that of a proxy; may be repeated."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
) -> None:
    """Open the web app on this machine."""
    from ..web.server.serve import serve as run

    os.environ.pop("CARDAN_TOKEN", None)  # the processes of the jobs need not know it
    if token_file is not None:
        if token:
            raise InputError("the token is named twice: leave out --token-file, or the other one")
        token = _secret(token_file)

    def say(text: str) -> None:
        print_text(text)

    run(host=host, port=port, token=token, browser=browser, names=alias or (), say=say)


def _secret(path: Path) -> str:
    """The token that a file holds."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(1000).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"{path}: the token cannot be read: {reason}") from None
    if not text:
        raise InputError(f"{path} is empty; it must hold the token, 16 characters at least")
    return text
