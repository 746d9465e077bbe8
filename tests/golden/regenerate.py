"""Golden files: generated text, and the ledger of operation counts.

python -m tests.golden.regenerate     write them anew; read the difference before committing it
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import cardan
from cardan.emit import languages
from cardan.errors import ModelError
from cardan.ir.cost import Cost

__all__ = ["COLUMNS", "LEDGER", "LONG", "ROBOTS", "TEXTS", "TWINS", "costs", "read_ledger", "text"]

HERE = Path(__file__).parent
LEDGER = HERE / "costs.toml"
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


def line(model: str, cost: Cost) -> str:
    counts = ", ".join(f"{column} = {getattr(cost, column)}" for column in COLUMNS)
    return f"{model} = {{ {counts} }}"


def read_ledger() -> dict[str, dict[str, dict[str, int]]]:
    return tomllib.loads(LEDGER.read_text(encoding="utf-8"))


def main() -> None:
    for item in TEXTS:
        golden(*item).write_text(text(*item), encoding="utf-8", newline="\n")
    parts = [_HEAD]
    for robot in ROBOTS:
        parts += [f"[{robot}]\n", *(f"{line(*found)}\n" for found in costs(robot)), "\n"]
    LEDGER.write_text("".join(parts).rstrip() + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
