"""Golden files: generated text, and the ledger of operation counts, with its part of docs/loops.md.

python -m tests.golden.regenerate            all anew; read the difference before committing it
python -m tests.golden.regenerate NAME ...   only what is counted of these robots; the rest stays
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import cardan
from cardan.emit import languages
from cardan.errors import ModelError
from cardan.ir.cost import Cost

__all__ = [
    "COLUMNS", "LEDGER", "LONG", "LOOPS", "ROBOTS", "TEXTS", "TWINS", "costs", "golden", "ledger",
    "read_ledger", "text", "with_counts",
]  # fmt: skip

HERE = Path(__file__).parent
LEDGER = HERE / "costs.toml"
LOOPS = HERE.parents[1] / "docs" / "loops.md"
COLUMNS = ("mul", "add", "div", "trig")

# (robot, model, language) -> tests/golden/<robot>.<model>.<language>.txt
TEXTS = [
    (robot, model, language)
    for robot, model in (
        ("rx90-base", "inverse-dynamics"),
        ("rx90-base", "transform"),
        ("ur5", "inverse-dynamics"),
    )
    for language in ("c", "python")
]
TEXTS += [
    (robot, model, language)
    for robot, model in (("rx90-base", "transform"), ("planar2r", "inverse-dynamics"))
    for language in languages()
    if (robot, model, language) not in TEXTS and language != "cuda"
]
ROBOTS = list(cardan.robots())
# what is counted for chains so long that the whole menu would take minutes
LONG = (
    "transform", "inverse-dynamics", "inertia-matrix", "bias", "gravity", "direct-dynamics",
    "platform-inverse-dynamics", "platform-direct-dynamics",
)  # fmt: skip

LENGTHY = ("mobile-manipulator",)  # and of these, for the same reason

# robots with the joints of another one: tests count those models of them, the ledger has them all
TWINS = (
    "kuka-lwr", "puma560-base", "puma560-numeric", "rx90-base", "stanford-base", "stewart-sps",
    "ur10",
)  # fmt: skip

# programs of thousands of operations: counted where the figures are published, and of a small one
DERIVATIVES_OF = ("planar2r", "iiwa14")

_HEAD = """\
# The ledger: operations of every model of the bundled robots, with default options.
# Counts may only go down. After a change for the better: python -m tests.golden.regenerate
"""


def text(robot: str, model: str, language: str) -> str:
    return cardan.model(cardan.load(robot), model).emit(language)


def golden(robot: str, model: str, language: str) -> Path:
    return HERE / f"{robot}.{model}.{language}.txt"


def costs(name: str, few: bool = False) -> Iterator[tuple[str, Cost]]:
    """(model, operations) of every program on the menu that this robot has; of a tree the inertia
    matrix with base parameters, too. `few`: of those that long chains are counted by."""
    robot = cardan.load(name)
    for entry in cardan.catalogue():
        lengthy = few or robot.n > 12 or name in LENGTHY
        if not entry.program or (lengthy and entry.name not in LONG):
            continue
        if entry.name.endswith("-derivatives") and name not in DERIVATIVES_OF:
            continue
        if entry.name == "state-space":  # costs what direct dynamics does
            continue
        try:
            yield entry.name, cardan.model(robot, entry.name).cost
        except ModelError:
            continue
        if entry.name == "inertia-matrix" and robot.n <= 12 and not (robot.constrained or robot.ne):
            found = cardan.model(robot, entry.name, base_parameters=True)
            yield f"{entry.name}-base", found.cost


def counted(name: str) -> dict[str, dict[str, int]]:
    """The section of a robot."""
    return {
        model: {column: getattr(cost, column) for column in COLUMNS} for model, cost in costs(name)
    }


def line(model: str, counts: Mapping[str, int]) -> str:
    return f"{model} = {{ {', '.join(f'{key} = {value}' for key, value in counts.items())} }}"


def read_ledger() -> dict[str, dict[str, dict[str, int]]]:
    return tomllib.loads(LEDGER.read_text(encoding="utf-8"))


def ledger(names: Sequence[str], sections: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """The ledger with the robots that are named counted anew, the others as they were."""
    parts = [_HEAD]
    for robot in ROBOTS:
        if robot in names or robot in sections:
            found = counted(robot) if robot in names else sections[robot]
            parts += [f"[{robot}]\n", *(f"{line(*row)}\n" for row in found.items()), "\n"]
    return "".join(parts).rstrip() + "\n"


def with_counts(page: str) -> str:
    """The page of closed loops with the operations of the ledger in its table."""
    models = ("loop-kinematics", "inverse-dynamics", "direct-dynamics",
              "platform-inverse-dynamics", "platform-direct-dynamics")  # fmt: skip
    sections = read_ledger()

    def row(match: re.Match[str]) -> str:
        found = [sections[match[1]].get(model) for model in models]
        cells = [f" {x['mul'] + x['div']} / {x['add']} " if x else " " for x in found]
        return f"| `{match[1]}` |{'|'.join(cells)}|"

    return re.sub(r"^\| `([a-z0-9-]+)` \|(?=.* [0-9]+ / [0-9]).*\|$", row, page, flags=re.M)


def main(names: Sequence[str]) -> None:
    unknown = set(names) - set(ROBOTS)
    if unknown:
        raise SystemExit(f"no bundled robot is called {', '.join(sorted(unknown))}")
    for item in TEXTS:
        if not names or item[0] in names:
            golden(*item).write_text(text(*item), encoding="utf-8", newline="\n")
    found = ledger(names or ROBOTS, read_ledger())
    LEDGER.write_text(found, encoding="utf-8", newline="\n")
    page = with_counts(LOOPS.read_text(encoding="utf-8"))
    LOOPS.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
