"""The command line: thin calls into the library. Exit 0 ok, 1 the input is at fault, 2 usage.

Heavy modules are imported inside the commands, so that `cardan --help` stays fast.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ...errors import FOREIGN, CardanError, translated
from ...version import __version__
from . import (
    bench,
    describe,
    evaluate,
    generate,
    identify,
    ik,
    linearise,
    loops,
    modes,
    motion,
    reduce,
    serve,
    sheet,
    singularities,
    sweep,
    trajectory,
    workspace,
)
from .command import Command
from .options import EvalCommand, ModelCommand, PrintCommand
from .output import WORDS, message, print_text, silence

_FOREIGN = tuple(kind for kind in FOREIGN if kind is not OSError)  # told by its own words


class Commands(TyperGroup):
    """Turns what a user can cause into one message and an exit status."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit=200)) for name in names]
                )

    def invoke(self, ctx: Any) -> Any:
        try:
            with translated("this could not be done", of=_FOREIGN):
                result = super().invoke(ctx)
            if sys.stdout is not None:  # closed: cardan ... >&-
                sys.stdout.flush()
            return result
        except CardanError as error:
            message(f"cardan: {error.told(WORDS)}")
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            message("cardan: interrupted")
            raise typer.Exit(130) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                silence()
            else:
                message(f"cardan: {error.strerror or error}")
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=Commands, no_args_is_help=True, add_completion=True, rich_markup_mode=None,
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
    help="Models of robots: equations, code with few operations, native speed.",
)  # fmt: skip


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"cardan {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Models of robots: equations, code with few operations, native speed."""


# the commands in groups: each function, and the class that reads its options if not the usual one
_COMMANDS: dict[str, list[tuple[Callable[..., None], type[Command]]]] = {
    "Descriptions": [
        (describe.robots, Command), (describe.show, Command), (describe.check, Command),
        (describe.convert, Command),
    ],
    "Models": [
        (describe.models, Command), (generate.generate, PrintCommand),
        (evaluate.evaluate, EvalCommand), (generate.count, Command), (sheet.sheet, Command),
    ],
    "Geometry and vibration": [
        (ik.ik, Command), (singularities.singularities, Command), (loops.loops, Command),
        (workspace.workspace, Command), (modes.modes, Command),
    ],
    "Motion": [
        (trajectory.trajectory, Command), (motion.torques, Command), (motion.simulate, Command),
        (motion.control, Command), (linearise.linearise, Command),
        (reduce.reduce, Command), (reduce.tabulate, Command),
    ],
    "Data": [
        (sweep.sweep, ModelCommand), (identify.identify, Command), (identify.excite, Command),
    ],
    "Application": [(serve.serve, Command), (bench.bench, Command)],
}  # fmt: skip
_NAMES = {evaluate.evaluate: "eval"}  # a word of Python
GROUPS = {  # as `cardan --help` and the reference list them
    title: [_NAMES.get(function, function.__name__) for function, _ in listed]
    for title, listed in _COMMANDS.items()
}
for _listed in _COMMANDS.values():
    for _function, _class in _listed:
        app.command(_NAMES.get(_function), cls=_class)(_function)


class _Closed(io.TextIOBase):
    """Standard output that is closed: whatever should be printed there is an error."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed: nothing can be printed there")


def main() -> None:
    """The entry point."""
    # matrices are small here: threads of linear algebra only spin. Arrays of states have their own
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000)  # a command makes much that stays, and ends: seldom look through it
    # Python has no stream at all where the shell closed it (cardan robots >&-)
    sys.stdout = sys.stdout or _Closed()
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115  until the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = lambda text, *_, **__: message(f"cardan: {text}")
    app(prog_name="cardan")
