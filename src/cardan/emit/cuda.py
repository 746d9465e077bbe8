"""CUDA C++: a device function of one state and a kernel of many, for plain nvcc.

Arrays of the kernel are structures of arrays, (n, N): element i of state k is at i·N + k, so that
neighbouring threads read neighbouring numbers. Parameters p and h are shared by all states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .c import C, commented
from .cpp import Cpp
from .printer import Function, Printer

__all__ = ["Cuda"]

_WORDS = """
stride count state threadIdx blockIdx blockDim gridDim warpSize dim3 double2 double3 double4 float2
float3 float4 int2 int3 int4 uint char1 char2 char3 char4 norm norm3d norm4d rnorm rhypot rcbrt
sinpi cospi sincospi rsqrt erfinv erfcinv erfcx normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1
saturate clock clock64 min max umin umax printf malloc free memcpy memset assert __saturatef
"""
_SHARED = ("p", "h")  # input arrays that all states of a batch share


class Cuda(C):
    """The table for CUDA."""

    language = "cuda"
    honours = C.honours - {"arguments"}
    reserved = Cpp.reserved | frozenset(_WORDS.split())
    functions: ClassVar[dict[str, str]] = {
        op: text for op, text in C.functions.items() if op != "sign"
    }
    part_before = "static __device__ __noinline__ void "
    before = "static __device__ __forceinline__ void "

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        kernel = f"{printers[-1].name}_batch"
        usage = [
            "",
            f"{kernel}<<<blocks, threads>>>(count, ...)",
            "  element i of state k of an array is at i*count + k;",
            f"  {' and '.join(_SHARED)} are shared by all states",
        ]
        return [*commented([*header, *usage]), ""]

    def is_shared(self, array: str) -> bool:
        return array in _SHARED and array in self.code.inputs

    def element(self, array: str, k: int) -> str:
        x = self.arrays[array]
        return f"{x}[{k}]" if self.is_shared(array) else _strided(x, k)

    def result(self, array: str, k: int) -> str:
        return _strided(self.results[array], k)

    def define(self, function: Function) -> list[str]:
        before = self.part_before if function.is_part else self.before
        indent = ",\n" + " " * (len(before) + len(function.name) + 1)
        head = f"{before}{function.name}({indent.join(self.parameters(function))})"
        unused = [f"    (void){name};" for name in [*self.unused(function), "stride"]]
        lines = [head, "{", *unused, *function.body, "}"]
        return lines if function.is_part else [*lines, "", *self.kernel(function)]

    def parameters(self, function: Function) -> list[str]:
        return [
            *(f"const {self.real} *{self.arrays[name]}" for name in function.inputs),
            *(f"{self.real} *{self.results[name]}" for name in function.outputs),
            *([f"{self.real} *{self.workspace}"] if function.workspace else []),
            "long long stride",
        ]

    def called(self, function: Function) -> str:
        return super().called(function).replace(");", ", stride);")

    def kernel(self, function: Function) -> list[str]:
        """The loop over the states, as many threads as there are."""
        head = f'extern "C" __global__ void {function.name}_batch('
        real = f"{self.real} *__restrict__"
        parameters = [
            "long long count",
            *(f"const {real} {self.arrays[name]}" for name in function.inputs),
            *(f"{real} {self.results[name]}" for name in function.outputs),
        ]
        given = [
            self.arrays[x] if self.is_shared(x) else f"{self.arrays[x]} + state"
            for x in function.inputs
        ]
        given += [f"{self.results[x]} + state" for x in function.outputs]
        arguments = ", ".join([*given, "count"])
        return [
            head + (",\n" + " " * len(head)).join(parameters) + ")",
            "{",
            "    long long state = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
            "    for (; state < count; state += (long long)gridDim.x * blockDim.x)",
            f"        {function.name}({arguments});",
            "}",
        ]


def _strided(array: str, k: int) -> str:
    return f"{array}[{k}*stride]" if k > 1 else f"{array}[{'stride' if k else 0}]"
