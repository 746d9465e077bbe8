"""A peer: the C that the Robotics Toolbox for Python (1.5) derives for an arm, compiled with gcc.

The toolbox is asked in the interpreter named by TOOLBOX_PYTHON (default: this one); it needs SymPy.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cardan.inverse.chain.chain import NumericChain, screw_matrix

__all__ = ["toolbox"]

MOST = 32
DERIVE = """
import json, sys, time
from roboticstoolbox import DHRobot, RevoluteDH
from roboticstoolbox.robot.symbolic_ik_rr import ClosedFormIK, General6RIK
rows, kind = json.loads(sys.argv[1]), sys.argv[2]
arm = DHRobot([RevoluteDH(offset=o, d=d, a=a, alpha=x) for o, d, a, x in rows], name="arm")
start = time.process_time()
text = {"general": General6RIK, "closed": ClosedFormIK}[kind](arm).generate("c", "toolbox_ik")
print(json.dumps([time.process_time() - start, text]))
"""
BATCH = """
void batch(const double *T, int poses, double *q, int *count)
{
    for (int i = 0; i < poses; i++)
        toolbox_ik(T + 16*i, 1e-6, (double (*)[6])(q + 6*32*i), count + i);
}
"""
Solve = Callable[[np.ndarray], list[np.ndarray]]


def toolbox(chain: NumericChain, kind: str) -> tuple[Solve, float]:
    """The solver of a 6R arm, 'general' or 'closed', and the seconds of its derivation."""
    rows = [
        [chain.theta[j], chain.r[j], *((chain.d[j + 1], chain.alpha[j + 1]) if j < 5 else (0, 0))]
        for j in range(6)
    ]
    python = os.environ.get("TOOLBOX_PYTHON", sys.executable)
    given = json.dumps([[float(x) for x in row] for row in rows])
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    out = subprocess.run(
        [python, "-c", DERIVE, given, kind], capture_output=True, text=True, env=clean, check=False
    )
    if out.returncode:
        raise ImportError(out.stderr.strip().splitlines()[-1])
    seconds, text = json.loads(out.stdout.splitlines()[-1])
    batch = _compiled(text)
    before = np.linalg.inv(chain.base @ screw_matrix("x", chain.alpha[0], chain.d[0]))
    after = np.linalg.inv(chain.tool)

    def solve(T: np.ndarray) -> list[np.ndarray]:
        poses = np.ascontiguousarray(before @ T @ after)
        q, count = np.empty((len(T), MOST, 6)), np.zeros(len(T), np.int32)
        batch(poses.ctypes.data, len(T), q.ctypes.data, count.ctypes.data)
        return [rows[:k] for rows, k in zip(q, count, strict=True)]

    return solve, float(seconds)


def _compiled(text: str) -> Callable[..., None]:
    folder = Path(tempfile.mkdtemp(prefix="toolbox"))
    (folder / "ik.c").write_text(text + BATCH)
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "ik.c", "-o", "ik.so", "-lm"], cwd=folder, check=True)
    found = ctypes.CDLL(str(folder / "ik.so")).batch
    found.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    found.restype = None
    return found
