"""The kernel of one state, called for one state after the other from machine code.

This is what a controller sees: no Python between the states, and no vectors of states."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from ..program import Program
from ..run.native import machine, target_of


def one_by_one(program: Program) -> Callable[[Mapping[str, np.ndarray]], list[np.ndarray]]:
    """A function of states {name: (N, ...)}, in rows without gaps, to all outputs (N, ...)."""
    import llvmlite.binding as llvm

    function: Any = program.compile()
    sides = {"in": program.inputs, "out": program.outputs}
    arrays = len(program.inputs) + len(program.outputs)
    kernel = function._kernels.get(1, frozenset(), ("packed",) * arrays)
    text = _text({side: [prod(x) for x in shapes.values()] for side, shapes in sides.items()})
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), target_of(machine()))
    engine.finalize_object()
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(
        engine.get_function_address("loop")
    )
    address = ctypes.cast(kernel, ctypes.c_void_p)

    def run(states: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        arrays = [np.ascontiguousarray(states[name], float) for name in program.inputs]
        count = len(arrays[0])
        results = [np.empty((count, *shape)) for shape in program.outputs.values()]
        tables = [
            (ctypes.c_void_p * len(side))(*(x.ctypes.data for x in side))
            for side in (arrays, results)
        ]
        loop(address, *tables, count)
        return results

    run.kept = engine, function  # type: ignore[attr-defined]  # the code lives as long as this
    return run


def _text(sizes: Mapping[str, list[int]]) -> str:
    """for i: kernel(addresses of state i). Strides are not read of arrays without gaps."""
    lines = ["define void @loop(ptr %f, ptr %in, ptr %out, i64 %n) {", "entry:"]
    for side, items in sizes.items():
        lines.append(f"  %now.{side} = alloca [{len(items)} x ptr]")
        lines.append(f"  %step.{side} = alloca [{len(items)} x i64]")
        for k, size in enumerate(items):
            lines.append(f"  %{side}{k}.p = getelementptr i64, ptr %step.{side}, i64 {k}")
            lines.append(f"  store i64 {size}, ptr %{side}{k}.p")
    lines += ["  br label %go", "go:", "  %i = phi i64 [ 0, %entry ], [ %j, %go ]"]
    for side, items in sizes.items():
        for k, size in enumerate(items):
            v = f"{side}{k}"
            lines += [
                f"  %{v}.t = getelementptr ptr, ptr %{side}, i64 {k}",
                f"  %{v}.b = load ptr, ptr %{v}.t",
                f"  %{v}.o = mul i64 %i, {size}",
                f"  %{v}.a = getelementptr double, ptr %{v}.b, i64 %{v}.o",
                f"  %{v}.s = getelementptr ptr, ptr %now.{side}, i64 {k}",
                f"  store ptr %{v}.a, ptr %{v}.s",
            ]
    lines += [
        "  call void %f(ptr %now.in, ptr %step.in, ptr %now.out, ptr %step.out, i64 1)",
        "  %j = add i64 %i, 1", "  %more = icmp slt i64 %j, %n",
        "  br i1 %more, label %go, label %done", "done:", "  ret void", "}",
    ]  # fmt: skip
    return "\n".join(lines)
