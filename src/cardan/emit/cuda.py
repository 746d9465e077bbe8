"""CUDA C++: a device function of one state and two kernels of many, for plain nvcc.

Arrays of the kernel `_batch` are structures of arrays, (n, N): element i of state k is at i·N + k,
so that neighbouring threads read neighbouring numbers. Arrays of `_rows` hold a state per row,
(N, n); a warp copies its 32 rows through shared memory, so that memory is still read and written in
order, and no warp waits for another. All loads of a state are issued before the work, which is what
keeps the memory busy.
Parameters p, and h of a setup function, are shared by all states.

Sines and cosines take the fast path (cuda_math). Where inputs are read as angles alone, those that
are too large for it lose their whole turns first. Else the largest argument is noted, and a state
with a larger one than the path allows is computed again with the CUDA library's, out of line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import prod
from typing import ClassVar

from ..ir.angles import Angles, angles
from .c import C, commented
from .cpp import Cpp
from .cuda_math import WORDS, limit, sincos_text
from .printer import Function, Printer

_WORDS = """
stride step unused count state largest fast tile mine lane k first rows left angle bounded threadIdx
blockIdx blockDim gridDim warpSize dim3 double2 double3 double4 float2 float3 float4 int2 int3 int4
uint char1 char2 char3 char4 norm norm3d norm4d rnorm rhypot rcbrt sinpi cospi sincospi rsqrt erfinv
erfcinv erfcx normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1 saturate clock clock64 min max umin
umax printf malloc free memcpy memset assert __saturatef
"""


_LONG = 40_000  # nodes: parts of longer programs are functions, which the compiler takes one by one


class Cuda(C):
    """The table for CUDA."""

    language = "cuda"
    honours = C.honours - {"arguments"}
    composes = False  # kernels of all states: setup is launched by itself
    reserved = Cpp.reserved | frozenset([*_WORDS.split(), *WORDS])
    functions: ClassVar[dict[str, str]] = {
        **{op: text for op, text in C.functions.items() if op != "sign"},
        "sin": "cardan_sin<fast>({{}}, largest)",
        "cos": "cardan_cos<fast>({{}}, largest)",
    }
    before = "template <bool fast> static __device__ __forceinline__ void "

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        last = printers[-1]
        name = last.name
        assert isinstance(last, Cuda)
        usage = [
            "",
            f"{name}_batch<<<blocks, threads>>>(count, ...)",
            "  element i of state k of an array is at i*count + k",
            f"{name}_rows<<<blocks, threads, bytes>>>(count, ...)",
            "  element i of state k of an array of n is at k*n + i; threads: a multiple of 32;",
            f"  bytes of shared memory: threads * {last.tile()} * sizeof({last.real})",
            f"p {'and h are' if printers[0].options.split else 'is'} shared by all states",
        ]
        turning = any(node[0] in ("sin", "cos") for x in printers for node in x.code.nodes)
        functions = [sincos_text(last.options.dtype)] if turning else []
        return [*commented([*header, *usage]), "", *functions]

    def is_shared(self, array: str) -> bool:
        """The parameters, and what the setup function of the same file makes of them."""
        return array == "p" or (array == "h" and self.options.split is True)

    def reserve(self) -> None:
        super().reserve()
        self.copies = {name: self.names.claim(f"{x}_") for name, x in self.arrays.items()}

    def result(self, array: str, k: int) -> str:
        x = self.results[array]
        return f"{x}[{k}*stride]" if k > 1 else f"{x}[{'stride' if k else 0}]"

    def define(self, function: Function) -> list[str]:
        apart = function.is_part and len(self.code.nodes) > _LONG
        before = self.before.replace("__forceinline__", "__noinline__") if apart else self.before
        indent = ",\n" + " " * (len(before) + len(function.name) + 1)
        head = f"{before}{function.name}({indent.join(self.parameters(function))})"
        unused = [f"    (void){name};" for name in [*self.unused(function), "stride", "largest"]]
        lines = [head, "{", *unused, *function.body, "}"]
        if function.is_part:
            return lines
        kernels = [self.batch_kernel(function), self.rows_kernel(function)]
        if self.angles is None:
            kernels.insert(0, self.slow(function))
        return [*lines, *(line for kernel in kernels for line in ["", *kernel])]

    @cached_property
    def angles(self) -> Angles | None:
        """The inputs that are angles and nothing else, if all that turn are."""
        shared = frozenset(name for name in self.code.inputs if self.is_shared(name))
        return angles(self.code, shared)

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
        """One state: large angles without their turns; or fast, and once more from memory if an
        argument was too large."""
        arguments = ", ".join([*inputs, *outputs, stride, "&largest"])
        call = f"        {function.name}<true>({arguments});"
        if self.angles is not None:
            return [*self.turned(self.angles), call]
        bound = self.number(limit(self.options.dtype))
        return [
            f"        {self.real} largest = 0;",
            call,
            f"        if (largest >= {bound})",
            f"            {function.name}_slow({', '.join([*again, *outputs, stride])});",
        ]

    def turned(self, angles: Angles) -> list[str]:
        """The angles of a state without their turns, if one is large."""
        f = "" if self.real == "double" else "f"
        every = [f"{self.copies[array]}[{i}]" for array, i in angles.inputs]
        bound = self.number(limit(self.options.dtype) / angles.terms)
        lines = [f"        {self.real} largest = 0;"]
        lines += [f"        largest = fmax{f}(largest, fabs{f}({x}));" for x in every]
        if every:
            lines.append(f"        if (!(largest < {bound})) {{")
            lines += [f"            {x} = cardan_turned{f}({x});" for x in every]
            lines.append("        }")
        return lines

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

    def tile(self) -> int:
        """Numbers of shared memory that `_rows` needs for a state."""
        sizes = {x: prod(shape) for x, shape in self.code.inputs.items() if not self.is_shared(x)}
        return row_numbers(sizes.values(), (len(out.refs) for out in self.code.outputs.values()))

    def rows_kernel(self, function: Function) -> list[str]:
        """The loop over rows, 32 to a warp."""
        return [
            self.kernel_head(f"{function.name}_rows", function),
            "{",
            f"    extern __shared__ {self.real} tile[];",
            "    const unsigned lane = threadIdx.x % 32;",
            f"    {self.real} *const mine = tile + (threadIdx.x - lane)*{self.tile()};",
            "    long long state = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
            "    for (; state - lane < count; state += (long long)gridDim.x * blockDim.x) {",
            "        const long long first = state - lane;",
            "        const unsigned rows = count - first < 32 ? (unsigned)(count - first) : 32;",
            *self.rows_body(function),
            "        __syncwarp();",
            "    }",
            "}",
        ]

    def rows_body(self, function: Function) -> list[str]:
        """In order into the tile, from it into registers; the results into the tile, from it in
        order to memory."""
        sizes = self.sizes(function)
        results = {name: len(self.code.outputs[name].refs) for name in function.outputs}
        tiles = dict(zip(sizes, _tiles(sizes.values()), strict=True))
        own = [f"        {self.real} {self.copies[x]}[{size or 1}];" for x, size in sizes.items()]
        body = _copied(
            [(tiles[x], f"{self.arrays[x]} + first*{size}", size) for x, size in sizes.items()],
            into=True,
        )
        for name, size in sizes.items():
            place = f"({tiles[name]})[lane*{padded(size)}"
            own += [f"        {self.copies[name]}[{i}] = {place} + {i}];" for i in range(size)]
        inputs = [self.copies[x] if x in sizes else self.arrays[x] for x in function.inputs]
        again = [
            self.arrays[x] + (f" + state*{sizes[x]}" if x in sizes else "") for x in function.inputs
        ]
        places = dict(zip(results, _tiles(results.values()), strict=True))
        outputs = [f"{places[x]} + lane*{padded(results[x])}" for x in function.outputs]
        body += ["        __syncwarp();", *own, "        __syncwarp();"]
        body += ["        if (lane < rows) {"]
        body += [f"    {line}" for line in self.evaluated(function, inputs, again, outputs, "1")]
        body += ["        }", "        __syncwarp();"]
        body += _copied(
            [(places[x], f"{self.results[x]} + first*{size}", size) for x, size in results.items()],
            into=False,
        )
        return body


def padded(size: int) -> int:
    """Numbers from row to row of a tile: a multiple of 4 would meet the same banks too often."""
    return size + 1 if size % 4 == 0 else size


def row_numbers(inputs: Iterable[int], outputs: Iterable[int]) -> int:
    """Numbers of a state in the tile, which holds the inputs first and then the outputs."""
    return max(1, sum(map(padded, inputs)), sum(map(padded, outputs)))


def _tiles(sizes: Iterable[int]) -> list[str]:
    """Where each array lies in a warp's tile."""
    found, total = [], 0
    for size in sizes:
        found.append(f"mine + {32 * total}" if total else "mine")
        total += padded(size)
    return found


def _copied(arrays: Sequence[tuple[str, str, int]], into: bool) -> list[str]:
    """A warp's rows of (tile, array, size), in order; a whole warp without tests, all at once."""

    def loop(tile: str, array: str, size: int, rows: str) -> list[str]:
        place = f"({tile})[{f'k + k/{size}' if padded(size) != size else 'k'}]"
        assign = f"{place} = ({array})[k]" if into else f"({array})[k] = {place}"
        head = f"            for (unsigned k = lane; k < {rows}; k += 32)"
        return [head, f"                {assign};"]

    whole, part = [], []
    for tile, array, size in arrays:
        if size:
            whole += [f"#pragma unroll {min(size, 64)}", *loop(tile, array, size, f"{32 * size}")]
            part += loop(tile, array, size, f"rows*{size}")
    if not whole:
        return []
    return ["        if (rows == 32) {", *whole, "        } else {", *part, "        }"]
