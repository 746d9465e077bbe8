"""Times the way of a stranger who follows the pages alone: first steps, then C for a controller.

python docs/stranger.py WHEEL [--write]     (make stranger)

A new folder, a new environment, no settings and no caches of Cardan; the wheel is installed with the
commands of the pages, then their blocks are run in order, as they are written. What the C program
prints must be what the page says. Reading and typing are not in the times. --write enters them in
docs/trust.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "trust.md"
BLOCK = re.compile(r"(?<=<!-- stranger -->\n).*?(?=<!-- end of stranger -->)", re.DOTALL)
FIRST = "first-steps.md"
TUTORIAL = "tutorials/c-for-your-controller.md"
LIMITS = {"torques": 120.0, "c": 600.0}
# runs the blocks of a page one by one in one process, and says when each is done
RUNNER = """
import json, re, sys, time
names = {}
for block in re.findall(r"```python\\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S):
    exec(compile(block, sys.argv[1], "exec"), names)
    print("@@", time.time(), int("tau" in names), flush=True)
"""


class Way:
    """A folder of its own, with an environment that knows nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        home = folder / "home"
        home.mkdir()
        kept = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG")
        self.environment = {key: os.environ[key] for key in kept if key in os.environ}
        self.environment |= {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
        self.environment |= {"HOME": str(home), "USERPROFILE": str(home), "MPLBACKEND": "agg"}
        programs = folder / "robots" / ("Scripts" if os.name == "nt" else "bin")
        self.python = str(programs / "python")
        self.steps: list[tuple[str, float]] = []

    @contextmanager
    def step(self, words: str) -> Iterator[None]:
        start = time.time()
        yield
        self.steps.append((words, time.time() - start))
        print(f"{self.steps[-1][1]:7.1f} s  {words}", flush=True)

    def run(self, *words: str) -> str:
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment, text=True, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    def blocks(self, page: str) -> tuple[str, list[tuple[float, bool]]]:
        """What the Python blocks of a page print, and (when it is done, are there torques) of each."""
        runner = self.folder / "page.py"
        runner.write_text(RUNNER, encoding="utf-8")
        printed = self.run(self.python, str(runner), str(DOCS / page))
        marks = re.findall(r"^@@ (\S+) (\d)$", printed, re.M)
        return re.sub(r"^@@ .*\n", "", printed, flags=re.M), [(float(a), b == "1") for a, b in marks]


def walk(wheel: Path, folder: Path) -> list[tuple[str, float]]:
    """Every step with its seconds; a step that fails ends the run."""
    way = Way(folder)
    with way.step("`python -m venv robots`"):
        way.run(sys.executable, "-m", "venv", "robots")
    with way.step("`pip install cardan`"):
        way.run(way.python, "-m", "pip", "install", "--quiet", str(wheel))
    start = time.time()
    with way.step("all blocks of [first steps](first-steps.md)"):
        _, marks = way.blocks(FIRST)
    torques = next(at for at, there in marks if there) - start
    way.steps.append(("**from nothing to the first torques**", _sum(way.steps[:2]) + torques))
    with way.step('`pip install "cardan[plot]"`'):
        way.run(way.python, "-m", "pip", "install", "--quiet", f"{wheel}[plot]")
    shutil.copy(DOCS / "tutorials" / "arm.toml", folder)
    text = (DOCS / TUTORIAL).read_text(encoding="utf-8")
    with way.step(f"all Python blocks of [C for your controller]({TUTORIAL})"):
        printed, _ = way.blocks(TUTORIAL)
    with way.step("its C program, compiled and run; its package, built and tested"):
        (source,), (lines,) = re.findall(r"```c\n(.*?)```", text, re.S), _shell(text)
        (folder / "main.c").write_text(source, encoding="utf-8")
        printed += way.run("sh", "-ec", lines)
        if shutil.which("cmake"):
            (build,) = re.findall(r"^ {4}(cmake .*)$", text, re.M)
            way.run("sh", "-ec", build)
    for block in re.findall(r"```text\n(.*?)```", text, re.S):
        if block not in printed:
            raise SystemExit(f"{TUTORIAL} says\n{block}and this was printed:\n{printed}")
    if printed.count(re.findall(r"```text\n(.*?)```", text, re.S)[-1]) != 2:
        raise SystemExit(f"C and Python do not say the same:\n{printed}")
    whole = [row for row in way.steps if "**" not in row[0]]
    way.steps.append(("**from nothing to a compiled C model**", _sum(whole)))
    return way.steps


def _shell(text: str) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", text, re.S)


def _sum(steps: list[tuple[str, float]]) -> float:
    return sum(seconds for _, seconds in steps)


def table(steps: list[tuple[str, float]]) -> str:
    rows = [f"| {words} | {seconds:.0f} |" for words, seconds in steps]
    return "\n".join(["| step | s |", "|---|---|", *rows, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--write", action="store_true", help="enter the times in docs/trust.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps = walk(given.wheel.resolve(), Path(folder))
    text = table(steps)
    print(text)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(BLOCK.sub(lambda _: text, page), encoding="utf-8")
    torques, c = (seconds for words, seconds in steps if "**" in words)
    if torques > LIMITS["torques"] or c > LIMITS["c"]:
        raise SystemExit("too slow: at most 2 minutes to torques, 10 minutes to C")


if __name__ == "__main__":
    main()
