"""The command of the web app: serve."""

from __future__ import annotations

from typing import Annotated

import typer

from .output import print_text

__all__ = ["serve"]


def serve(
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    token: Annotated[str, typer.Option(help="Secret in the address; made up by default.")] = "",
    name: Annotated[
        list[str] | None,
        typer.Option(help="Another name the page is reached by, that of a proxy; may be repeated."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
) -> None:
    """Open the web app on this machine."""
    from .web.serve import serve as run

    def say(text: str) -> None:
        print_text(text)

    run(host=host, port=port, token=token, browser=browser, names=name or (), say=say)
