"""A command: its examples, printed below its options, and its old spellings.

The words of the options are those of docs/command-line.md: one word, one meaning in every command.
A spelling of an earlier release is rewritten before the words are parsed, with a warning; it works
for one release more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typer.core import TyperCommand

from ...errors import CardanError
from .output import message


@dataclass(frozen=True)
class Old:
    """What an option of an earlier release is now."""

    new: str
    value: str = ""  # of a flag that has become an option with a value
    when: Callable[[str], bool] | None = None  # tells old values, where the word has a new meaning


def _is_numbers(text: str) -> bool:
    from .arguments import numbers

    try:
        return bool(numbers(text, ""))
    except CardanError:
        return False


def _is_profile(text: str) -> bool:
    from ...motion.piecewise import LAWS

    return text in LAWS


_MOTION = {"--from": Old("--start"), "--to": Old("--end"), "--law": Old("--profile")}

# command -> old spelling -> what it is now
OLD: dict[str, dict[str, Old]] = {
    "ik": {"--at": Old("--q"), "--equations": Old("--to")},
    "loops": {"--at": Old("--q"), "--equations": Old("--to", "text")},
    "modes": {"--at": Old("--q")},
    "torques": _MOTION,
    "simulate": {**_MOTION, "--law": Old("--profile", when=_is_profile), "--drive": Old("--law")},
    "control": {
        "--from": Old("--start"), "--to": Old("--end", when=_is_numbers),
        "--law": Old("--profile", when=_is_profile), "--laws": Old("--law"), "--emit": Old("--to"),
    },
    "identify": {"--split": Old("--hold-out"), "--payload": Old("--loaded")},
    "excite": {"--effort": Old("--torque-limit")},
    "sweep": {"--chunk": Old("--batch")},
    "bench": {"--save": Old("--output"), "--picture": Old("--plot")},
    "serve": {"--name": Old("--alias")},
}  # fmt: skip

EXAMPLES: dict[str, tuple[str, str]] = {
    "robots": ("cardan robots", "cardan robots --json"),
    "models": ("cardan models", "cardan models inverse-dynamics"),
    "show": ("cardan show rx90", "cardan show planar2r --set L1=1/2 --json"),
    "check": ("cardan check robot.toml", "cardan check arm.urdf hand.urdf --verbose"),
    "convert": (
        "cardan convert rx90 rx90.par",
        "cardan convert dh.csv x.toml --convention craig",
    ),
    "generate": (
        "cardan generate rx90 inverse-dynamics --to c -o rx90.c",
        "cardan generate ur5 gravity jacobian --package python -o ur5_models",
    ),
    "eval": (
        "cardan eval ur5 gravity --q 0,-90,90,0,0,0 --degrees",
        "cardan eval ur5 inverse-dynamics --q 0 --qd 1 --qdd 0 --set M3=1 --json",
    ),
    "count": ("cardan count rx90-base --bare", "cardan count ur5 --model bias --model gravity"),
    "sheet": ("cardan sheet scara -o scara.html", "cardan sheet planar2r --set L1=1 -o arm.md"),
    "ik": (
        "cardan ik ur5 --pose 0.4,0.2,0.3,0,pi/2,0",
        "cardan ik puma560-numeric --to c -o ik.c",
    ),
    "singularities": (
        "cardan singularities rx90",
        "cardan singularities delta --section y=0",
    ),
    "loops": ("cardan loops delta --q 0.1,0.1,0.1", "cardan loops fivebar --to latex"),
    "reduce": (
        "cardan reduce ur5 --end 0.5,-1,1,0,0,0 --tolerance 0.02",
        "cardan reduce ur5 --end 1,-1,1,0,0,0 --model inverse-dynamics --to c -o small.c",
    ),
    "tabulate": (
        "cardan tabulate ur5 --points 4,6 --json",
        "cardan tabulate ur5 --points 4 --degree 1 --to c -o tables.c",
    ),
    "workspace": (
        "cardan workspace ur5 --samples 20000 --plot none",
        "cardan workspace fivebar --frame tip --assemblies all --plot none",
    ),
    "modes": ("cardan modes flexible2r", "cardan modes prrrp --actuators free -o shapes.png"),
    "trajectory": (
        "cardan trajectory ur5 --start 0,-1,1,0,0.5,0 --end 1 --profile time-optimal",
        "cardan trajectory ur5 --start 0,-1,1,0,0.5,0 --line=-0.5,-0.5,0.4 -o motion.csv",
    ),
    "torques": (
        "cardan torques ur5 --end 0,-1,1,0,0,0 --duration 2",
        "cardan torques ur5 --end 30 --degrees --profile trapezoidal --payload 2",
    ),
    "simulate": (
        "cardan simulate ur5 --duration 1 --plot none",
        "cardan simulate ur5 --end 1 --duration 2 --law pd-gravity --bandwidth 8",
    ),
    "control": (
        "cardan control ur5 --end 1 --duration 2 --error 0.1",
        "cardan control ur5 --law computed-torque --to c -o law.c",
    ),
    "linearise": (
        "cardan linearise planar2r --q 0,pi/2",
        "cardan linearise ur5 --law pid --bandwidth 5 --json",
    ),
    "sweep": (
        "cardan sweep ur5 gravity --random 100000 -o gravity.parquet",
        "cardan sweep ur5 inverse-dynamics --input states.csv -o torques.parquet",
    ),
    "identify": (
        "cardan identify robot.toml log.csv -o report",
        "cardan identify robot.toml log.csv --recipe recipe.toml --validate other.csv --json",
    ),
    "excite": (
        "cardan excite ur5 -o motion.csv",
        "cardan excite ur5 --velocity 2 --acceleration 10 --iterations 50 --plot none",
    ),
    "bench": ("cardan bench iiwa14", "cardan bench panda --peer pinocchio -o figures.json"),
    "serve": ("cardan serve", "cardan serve --port 8000 --no-browser"),
}


def current(verb: str, words: list[str], warn: Callable[[str], None]) -> list[str]:
    """The words of a command in the spelling of today; `warn` is told of each that was older."""
    table, rest, out = OLD.get(verb, {}), list(words), list[str]()
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*out, word, *rest]
        flag, equals, value = word.partition("=")
        old = table.get(flag)
        if old is None or not (equals or old.value or rest):
            out.append(word)
            continue
        if old.value:
            value = old.value
        elif not equals:
            value = rest.pop(0)
        if old.when is not None and not old.when(value):
            out += [flag, value]
            continue
        now = f"{old.new} {old.value}".rstrip()
        warn(f"cardan: {flag} is now {now}; the old spelling goes with the next release")
        out += [old.new, value]
    return out


class Command(TyperCommand):
    """A command of the table in `main`."""

    def current(self, ctx: Any, args: list[str]) -> list[str]:
        """The words in the spelling of today."""
        quiet = ctx.resilient_parsing  # a shell that completes a line
        return current(str(self.name), args, (lambda text: None) if quiet else message)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self.current(ctx, args))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Examples"):
            for line in EXAMPLES[str(self.name)]:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
