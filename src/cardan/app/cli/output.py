"""What the command line prints: tables, JSON, source text on stdout; messages on stderr."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ...errors import CardanError
from ...files import write_atomic

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod

# what errors advise, in the words of the command line
WORDS = {
    "values": "give them values: --set NAME=VALUE",
    "tree": "cut its loops open: --tree",
    "drop": "convert it to .toml, or leave these out: --drop",
    "force": "name another place, or overwrite it: --force",
    "fresh": "run that one again to finish it, name another file, or forget it: --fresh",
    "free": "give them: --free JOINT=VALUE,..., or find one configuration: --numeric",
    "limits": "give them: --limit NAME=LEAST,MOST, or put them in the file",
    "springs": "give it: --stiffness K,...",
    "prescribed": "simulate it with its motion prescribed: --law prescribed",
}

_PIPE_WIDTH = 500  # a pipe has no width: rows are never folded there


def console(*, stderr: bool = False) -> Console:
    """A rich console that prints what it is given: nothing in a robot's name is markup."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    if stream is None:  # closed: cardan ... 2>&-
        return Console(file=io.StringIO(), width=_PIPE_WIDTH)
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def _require_stdout() -> None:
    """What was asked for goes to stdout: where that is closed, it would be lost without a word."""
    if sys.stdout is None:
        raise CardanError(
            "standard output is closed, so there is nowhere to print to: do not close it (>&-), or"
            " send it to a file"
        )


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table; columns of numbers are aligned to the right."""
    _require_stdout()
    from rich import box
    from rich.table import Table
    from rich.text import Text

    cells = [[clean(str(cell)) for cell in row] for row in rows]
    table = Table(
        box=box.SIMPLE_HEAD,
        title=clean(title) or None,
        title_justify="left",
        pad_edge=False,
        show_edge=False,
    )
    for k, name in enumerate(header):
        column = [row[k] for row in cells if row[k]]
        numeric = bool(column) and all(map(_is_number, column))
        justify: JustifyMethod = "right" if numeric else "left"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=k < 2)
    for row in cells:
        table.add_row(*map(Text, row))
    console().print(table)


def print_text(text: str = "") -> None:
    """A line as it is, whatever its length."""
    typer.echo(clean(text))


def print_json(data: Any) -> None:
    """Data for programs: the same facts as the table, unabridged."""
    _require_stdout()
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))


@contextmanager
def working(title: str) -> Iterator[Callable[[str], None]]:
    """Stages of long work on stderr: in place on a terminal, elsewhere a line each."""
    shown = console(stderr=True)
    if not shown.is_terminal:
        yield lambda text: message(f"{title}: {text}")
        return
    with shown.status(title) as status:
        yield lambda text: status.update(f"{title}: {text}")


def message(text: str) -> None:
    """A message to the person at the terminal."""
    typer.echo(clean(text), err=True)


def write(path: str, text: str) -> None:
    """Generated text to a file, whole or not at all; '-' is stdout."""
    if path == "-":
        _require_stdout()
        typer.echo(text.encode("utf-8"), nl=False)
        return
    write_atomic(path, text)


def clean(text: str) -> str:
    """Text without control characters: a file cannot write to the terminal's settings."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def silence() -> None:
    """Nobody reads stdout any more: let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_number(cell: str) -> bool:
    return cell.removeprefix("-").replace(".", "").isdigit() or cell == "-"
