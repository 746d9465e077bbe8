"""How long `import cardan` takes, beside `import numpy`."""

from __future__ import annotations

import subprocess
import sys

from bench.timing import Figure, best_of

__all__ = ["figures"]


def figures() -> list[Figure]:
    nothing, numpy, cardan = (seconds(x) for x in ("pass", "import numpy", "import cardan"))
    return [
        Figure("import numpy", 1e3 * (numpy - nothing), "ms"),
        Figure("import cardan", 1e3 * (cardan - nothing), "ms"),
        Figure("import cardan over import numpy", (cardan - nothing) / (numpy - nothing), "", 3),
    ]


def seconds(statement: str) -> float:
    """Of a fresh interpreter that runs the statement."""
    return best_of(9, lambda: subprocess.run([sys.executable, "-c", statement], check=True))
