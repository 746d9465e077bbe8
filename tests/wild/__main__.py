"""Files of robots nobody here wrote: python -m tests.wild [--source brax] [--only half] [-v].

Wheels of the package index are unpacked into a cache folder (CARDAN_WILD), each robot file in them
is read and compared with Pinocchio or MuJoCo at random states, and a table is printed: agree /
agree but for what a warning names / refused rightly / refused wrongly / wrong with a warning /
silently wrong / no other library reads it. `--also FOLDER` adds a folder of files. Exit 1 when one
of refused wrongly, wrong with a warning, silently wrong is not zero.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
from collections import Counter
from pathlib import Path

from tests.wild.sources import SOURCES, cache_folder, robot_files, unpacked
from tests.wild.verdicts import KINDS, Verdict, verdict

SECONDS = 120  # for one file
HEADS = (
    "agree", "but for told", "refused rightly", "refused wrongly", "wrong, warned",
    "silently wrong", "alone",
)  # fmt: skip


class Judge:
    """A process that judges files one by one; a new one where a file does not end."""

    def __init__(self) -> None:
        self.context = multiprocessing.get_context("spawn")
        self.pool = self.context.Pool(1)

    def __call__(self, path: Path) -> Verdict:
        try:
            return self.pool.apply_async(verdict, (path,)).get(SECONDS)
        except multiprocessing.TimeoutError:
            self.close()
            self.pool = self.context.Pool(1)
            return Verdict("wrongly", words=(f"no end after {SECONDS} s",))
        except Exception as error:
            return Verdict("wrongly", words=(f"{type(error).__name__}: {error}",))

    def close(self) -> None:
        self.pool.terminate()
        self.pool.join()


def table(rows: dict[str, Counter[str]]) -> str:
    heads = ("source", "files", *HEADS)
    lines = [
        (source, str(count.total()), *(str(count[kind] or "") for kind in KINDS))
        for source, count in rows.items()
    ]
    total = sum(rows.values(), Counter[str]())
    lines.append(("total", str(total.total()), *(str(total[kind] or 0) for kind in KINDS)))
    widths = [max(len(line[k]) for line in (heads, *lines)) for k in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w)
            for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in (heads, *lines)
    )


def remedies(refused: list[Verdict]) -> str:
    """The refusals by their words, without names and places, and how often each was met."""
    import re

    def kind(words: str) -> str:
        words = re.sub(r"^\S+?: (link [^:]*: )?", "", words.splitlines()[0])
        return re.sub(r"'[^']*'", "'...'", re.sub(r"\d[\d.e+-]*", "#", words))[:160]

    count = Counter(kind(one.words[0]) for one in refused if one.words)
    return "\n".join(f"{n:5d}  {words}" for words, n in count.most_common())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", action="append", help="one of " + ", ".join(SOURCES))
    parser.add_argument("--also", action="append", default=[], type=Path, metavar="FOLDER")
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument("--results", type=Path, help="a file for one JSON line per robot file")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for every file")
    asked = parser.parse_args()
    cache, judge = cache_folder(), Judge()
    rows: dict[str, Counter[str]] = {}
    refused, times = [], []
    folders = {source: unpacked(source, cache) for source in asked.source or SOURCES}
    folders |= {folder.name: folder for folder in asked.also}
    results = asked.results.open("w") if asked.results else None
    for source, folder in folders.items():
        for path in robot_files(folder) if folder else []:
            if asked.only not in str(path):
                continue
            done = judge(path)
            rows.setdefault(source, Counter())[done.kind] += 1
            if done.kind == "rightly":
                refused.append(done)
            else:
                times.append((done.seconds, done.joints, str(path)))
            if asked.verbose or done.kind in ("wrongly", "warned", "silent"):
                why = "; ".join(done.words)[:300].replace("\n", " ")
                name = f"{source}/{path.relative_to(folder)}"
                print(f"{done.kind:8s} {done.error:7.1e} {name}: {why}", flush=True)
            if results:
                results.write(json.dumps([source, str(path), *vars(done).values()]) + "\n")
                results.flush()
    judge.close()
    print(f"\n{table(rows)}\n\nrefused rightly, by their words:\n{remedies(refused)}")
    if times:
        slowest = max(times)
        median = statistics.median(x for x, _, _ in times)
        print(f"\nreading: median {median:.3f} s, slowest {slowest[0]:.2f} s ({slowest[2]})")
    total = sum(rows.values(), Counter[str]())
    return int(any(total[kind] for kind in ("wrongly", "warned", "silent")))


if __name__ == "__main__":
    sys.exit(main())
