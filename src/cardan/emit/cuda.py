"""CUDA C++: a device function of one state and two kernels of many, for plain nvcc.

Arrays of the kernel `_batch` are structures of arrays, (n, N): element i of state k is at i·N + k,
so that neighbouring threads read neighbouring numbers. Arrays of `_rows` hold a state per row,
(N, n); a block copies its rows through shared memory, so that memory is still read and written in
order. All loads of a state are issued before the work, which is what keeps the memory busy.
Parameters p, and h of a setup function, are shared by all states.

Sines and cosines take the fast path (cuda_math) and note the largest argument; a state with a
larger one than that allows is computed again with the CUDA library's, out of line."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from .c import C, commented
from .cpp import Cpp
from .cuda_math import WORDS, limit, sincos_text
from .printer import Function, Printer

__all__ = ["Cuda"]

_WORDS = """
stride step unused count state largest fast tile first rows left threadIdx blockIdx blockDim
gridDim warpSize dim3 double2 double3 double4 float2 float3 float4 int2 int3 int4 uint char1 char2
char3 char4 norm norm3d norm4d rnorm rhypot rcbrt sinpi cospi sincospi rsqrt erfinv erfcinv erfcx
normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1 saturate clock clock64 min max umin umax printf
malloc free memcpy memset assert __saturatef
"""


class Cuda(C):
    """The table for CUDA."""

    language = "cuda"
    honours = C.honours - {"arguments"}
    reserved = Cpp.reserved | frozenset([*_WORDS.split(), *WORDS])
    functions: ClassVar[dict[str, str]] = {
        **{op: text for op, text in C.functions.items() if op != "sign"},
        "sin": "cardan_sin<fast>({{}}, largest)",
        "cos": "cardan_cos<fast>({{}}, largest)",
    }
    part_before = "template <bool fast> static __device__ __noinline__ void "
    before = "template <bool fast> static __device__ __forceinline__ void "

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        name = printers[-1].name
        usage = [
            "",
            f"{name}_batch<<<blocks, threads>>>(count, ...)",
            "  element i of state k of an array is at i*count + k",
            f"{name}_rows<<<blocks, threads, bytes>>>(count, ...)",
            "  element i of state k of an array of n is at k*n + i;",
            "  bytes of shared memory: threads * (numbers in and out of a state) * sizeof",
            f"p {'and h are' if printers[0].options.split else 'is'} shared by all states",
        ]
        return [*commented([*header, *usage]), "", sincos_text(printers[0].options.dtype)]

    def is_shared(self, array: str) -> bool:
        """The parameters, and what the setup function of the same file makes of them."""
        return array == "p" or (array == "h" and self.options.split)

    def reserve(self) -> None:
        super().reserve()
        self.copies = {name: self.names.claim(f"{x}_") for name, x in self.arrays.items()}

    def result(self, array: str, k: int) -> str:
        x = self.results[array]
        return f"{x}[{k}*stride]" if k > 1 else f"{x}[{'stride' if k else 0}]"

    def define(self, function: Function) -> list[str]:
        before = self.part_before if function.is_part else self.before
        indent = ",\n" + " " * (len(before) + len(function.name) + 1)
        head = f"{before}{function.name}({indent.join(self.parameters(function))})"
        unused = [f"    (void){name};" for name in [*self.unused(function), "stride", "largest"]]
        lines = [head, "{", *unused, *function.body, "}"]
        if function.is_part:
            return lines
        kernels = [self.slow(function), self.batch_kernel(function), self.rows_kernel(function)]
        return [*lines, *(line for kernel in kernels for line in ["", *kernel])]

    def parameters(self, function: Function) -> list[str]:
        return [
            *(f"const {self.real} *{self.arrays[name]}" for name in function.inputs),
            *(f"{self.real} *{self.results[name]}" for name in function.outputs),
            *([f"{self.real} *{self.workspace}"] if function.workspace else []),
            "long long stride",
            f"{self.real} *largest",
        ]

    def called(self, function: Function) -> str:
        text = super().called(function).replace(");", ", stride, largest);")
        return text.replace(f"{function.name}(", f"{function.name}<fast>(", 1)

    def slow(self, function: Function) -> list[str]:
        """The state again, by the library's sines and cosines: element i at offset i*step.

        It reads its inputs anew, so that those of the fast form can stay in registers."""
        head = f"static __device__ __noinline__ void {function.name}_slow("
        sizes = self.sizes(function)
        parameters = [
            *(f"const {self.real} *{self.arrays[x]}" for x in function.inputs),
            *(f"{self.real} *{self.results[x]}" for x in function.outputs),
            "long long step",
        ]
        loads = []
        for name, size in sizes.items():
            x = self.arrays[name]
            loads.append(f"    {self.real} {self.copies[name]}[{size or 1}];")
            if size:
                loads += [
                    f"    for (int i = 0; i < {size}; i++)",
                    f"        {self.copies[name]}[i] = {x}[i*step];",
                ]
        names = [self.copies[x] if x in sizes else self.arrays[x] for x in function.inputs]
        names += [self.results[x] for x in function.outputs]
        return [
            head + (",\n" + " " * len(head)).join(parameters) + ")",
            "{",
            *loads,
            f"    {self.real} unused = 0;",
            f"    {function.name}<false>({', '.join([*names, 'step', '&unused'])});",
            "}",
        ]

    def sizes(self, function: Function) -> dict[str, int]:
        """Numbers of a state in each input array that is not shared."""
        return {
            name: prod(self.code.inputs[name])
            for name in function.inputs
            if not self.is_shared(name)
        }

    def evaluated(
        self, function: Function, inputs: Sequence[str], again: Sequence[str],
        outputs: Sequence[str], stride: str,
    ) -> list[str]:  # fmt: skip
        """One state: fast, and once more from memory if an argument was too large."""
        bound = self.number(limit(self.options.dtype))
        return [
            f"        {self.real} largest = 0;",
            f"        {function.name}<true>({', '.join([*inputs, *outputs, stride, '&largest'])});",
            f"        if (largest >= {bound})",
            f"            {function.name}_slow({', '.join([*again, *outputs, stride])});",
        ]

    def kernel_head(self, name: str, function: Function) -> str:
        head = f'extern "C" __global__ void {name}('
        real = f"{self.real} *__restrict__"
        parameters = [
            "long long count",
            *(f"const {real} {self.arrays[x]}" for x in function.inputs),
            *(f"{real} {self.results[x]}" for x in function.outputs),
        ]
        return head + (",\n" + " " * len(head)).join(parameters) + ")"

    def batch_kernel(self, function: Function) -> list[str]:
        """The loop over the states of structures of arrays."""
        sizes = self.sizes(function)
        loads = []
        for name, size in sizes.items():
            loads.append(f"        {self.real} {self.copies[name]}[{size or 1}];")
        for name, size in sizes.items():
            x = self.arrays[name]
            loads += [
                f"        {self.copies[name]}[{i}] = {x}[{i}*count + state];" for i in range(size)
            ]
        inputs = [self.copies[x] if x in sizes else self.arrays[x] for x in function.inputs]
        again = [
            self.arrays[x] + ("" if self.is_shared(x) else " + state") for x in function.inputs
        ]
        outputs = [f"{self.results[x]} + state" for x in function.outputs]
        return [
            self.kernel_head(f"{function.name}_batch", function),
            "{",
            "    long long state = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
            "    for (; state < count; state += (long long)gridDim.x * blockDim.x) {",
            *loads,
            *self.evaluated(function, inputs, again, outputs, "count"),
            "    }",
            "}",
        ]

    def rows_kernel(self, function: Function) -> list[str]:
        """The loop over blocks of rows, copied through shared memory."""
        sizes = self.sizes(function)
        results = {name: len(self.code.outputs[name].refs) for name in function.outputs}
        tiles: dict[str, str] = {}
        total = 0
        for name, size in [*sizes.items(), *((f"={x}", s) for x, s in results.items())]:
            tiles[name] = f"tile + {total}*blockDim.x"
            total += size
        body = []
        for name, size in sizes.items():
            body += _copied(size, tiles[name], f"{self.arrays[name]} + first*{size}")
        inputs = [
            self.arrays[x] if self.is_shared(x) else f"{tiles[x]} + threadIdx.x*{sizes[x]}"
            for x in function.inputs
        ]
        outputs = [f"{tiles[f'={x}']} + threadIdx.x*{results[x]}" for x in function.outputs]
        body += ["        __syncthreads();", "        if (threadIdx.x < rows) {"]
        body += [f"    {line}" for line in self.evaluated(function, inputs, inputs, outputs, "1")]
        body += ["        }", "        __syncthreads();"]
        for name, size in results.items():
            body += _copied(size, f"{self.results[name]} + first*{size}", tiles[f"={name}"])
        return [
            self.kernel_head(f"{function.name}_rows", function),
            "{",
            f"    extern __shared__ {self.real} tile[];",
            "    for (long long first = (long long)blockIdx.x * blockDim.x; first < count;",
            "         first += (long long)gridDim.x * blockDim.x) {",
            "        const long long left = count - first;",
            "        const unsigned rows = left < blockDim.x ? (unsigned)left : blockDim.x;",
            *body,
            "        __syncthreads();",
            "    }",
            "}",
        ]


def _copied(size: int, target: str, source: str) -> list[str]:
    """rows*size numbers copied by the whole block, `size` at a time in flight."""
    if not size:
        return []
    return [
        f"#pragma unroll {min(size, 16)}",
        f"        for (unsigned i = 0; i < {size}; i++) {{",
        "            const unsigned k = i*blockDim.x + threadIdx.x;",
        f"            if (k < rows*{size})",
        f"                ({target})[k] = ({source})[k];",
        "        }",
    ]
