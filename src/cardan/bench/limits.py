"""What this machine can do at best, measured: multiply-adds per second, bytes moved per second."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cache

import numpy as np

from ..run.native import machine, target_of

_CHAINS = 12  # independent sums: enough to fill two pipes of four or five cycles


@cache
def fma_peak(dtype: str = "float64") -> float:
    """Operations per second of one core that does nothing but multiply and add vectors."""
    return 1 / min(fma_seconds(dtype) for _ in range(15))


def fma_seconds(dtype: str = "float64", steps: int = 200_000) -> float:
    """Seconds per operation, measured once."""
    run, lanes = _kernel(dtype)
    start = time.perf_counter()
    run(steps)
    return (time.perf_counter() - start) / (2 * lanes * _CHAINS * steps)


@cache
def _kernel(dtype: str) -> tuple[Callable[[int], None], int]:
    lanes = machine().vector_bytes // np.dtype(dtype).itemsize
    return _engine(_text(lanes, "double" if dtype == "float64" else "float")), lanes


@cache
def copy_bandwidth(megabytes: int = 256) -> float:
    """Bytes read and written per second by one core that copies a large array."""
    source = np.ones(megabytes << 17)
    target = np.empty_like(source)
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return 2 * source.nbytes / best


def _text(lanes: int, scalar: str) -> str:
    vector = f"<{lanes} x {scalar}>"
    intrinsic = f"@llvm.fma.v{lanes}{'f64' if scalar == 'double' else 'f32'}"
    splat = ", ".join([f"{scalar} 0.5"] * lanes)
    phis = "\n".join(
        f"  %x{k} = phi {vector} [ <{splat}>, %entry ], [ %y{k}, %again ]" for k in range(_CHAINS)
    )
    steps = "\n".join(
        f"  %y{k} = call {vector} {intrinsic}({vector} %x{k}, {vector} <{splat}>, "
        f"{vector} <{splat}>)"
        for k in range(_CHAINS)
    )
    stores = "\n".join(
        f"  %p{k} = getelementptr {vector}, ptr @sink, i64 {k}\n"
        f"  store volatile {vector} %y{k}, ptr %p{k}"
        for k in range(_CHAINS)
    )
    return f"""
@sink = internal global [{_CHAINS} x {vector}] zeroinitializer
declare {vector} {intrinsic}({vector}, {vector}, {vector})
define void @run(i64 %count) {{
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %j, %again ]
{phis}
{steps}
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %count
  br i1 %more, label %again, label %done
done:
{stores}
  ret void
}}
"""


def _engine(text: str) -> Callable[[int], None]:
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), target_of(machine()))
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64)(engine.get_function_address("run"))
    function.engine = engine  # type: ignore[attr-defined]  # the code lives as long as it
    return function
