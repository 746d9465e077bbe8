"""sin and cos as LLVM text, for one lane or many, the same operations in each.

The method and its constants are in sincos.py. Arguments beyond `limit`, infinities and NaN take a
cold path through the C library, lane by lane, so the result for one state never depends on its
neighbours in a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...emit.sincos import KINDS, SinCos

if TYPE_CHECKING:
    from .program import Kernel


def literal(x: float, kind: SinCos) -> str:
    """A constant as LLVM spells it: the bits of a double (of the rounded value for float)."""
    import struct

    if kind.type == "float":
        x = struct.unpack("<f", struct.pack("<f", x))[0]
    return "0x" + struct.pack(">d", x).hex().upper()


def sincos_group(kernel: Kernel, first: int) -> None:
    """All sines and cosines whose arguments can be known by now, with one test for large ones."""
    nodes, varying = kernel.code.nodes, bool(kernel.varying[first])
    free = _free_of_sincos(kernel)
    wanted: dict[int, dict[str, int]] = {}
    for id, node in enumerate(nodes[first:], first):
        if node[0] in ("sin", "cos") and id not in kernel.value:
            known = node[1] in kernel.value or free[node[1]]
            if known and bool(kernel.varying[id]) == varying:
                wanted.setdefault(node[1], {})[node[0]] = id
    _compute(kernel, set(wanted))
    lanes = kernel.lanes
    packs = _packed(kernel, list(wanted))
    pairs = _with_cold_path(kernel, packs, [_sincos(kernel, x) for x in packs])
    kernel.lanes, together = lanes, kernel.lanes
    for k, ids in enumerate(wanted.values()):
        for function, id in ids.items():
            values = pairs[k if together == lanes else k // together]
            value = values[0 if function == "sin" else 1]
            if together != lanes:
                vector = f"<{together} x {kernel.kind.type}>"
                value = kernel.emit(f"extractelement {vector} {value}, i64 {k % together}")
            kernel.value[id] = value


def _free_of_sincos(kernel: Kernel) -> list[bool]:
    """Which nodes come before any sine or cosine: the angles and their sums."""
    free: list[bool] = []
    for node in kernel.code.nodes:
        arguments = () if node[0] in ("const", "input", "none") else node[1:]
        free.append(node[0] not in ("sin", "cos") and all(free[arg] for arg in arguments))
    return free


def _compute(kernel: Kernel, wanted: set[int]) -> None:
    """These nodes, and before them what they need."""
    nodes = kernel.code.nodes
    for id in range(max(wanted), -1, -1):
        if id in wanted and nodes[id][0] not in ("const", "input", "none"):
            wanted.update(arg for arg in nodes[id][1:] if arg not in kernel.value)
    for id in sorted(wanted):
        kernel.compute(id)


def _packed(kernel: Kernel, ids: list[int]) -> list[str]:
    """The arguments; those of a single state side by side in vectors (`lanes` then says so)."""
    values = [kernel.value[id] for id in ids]
    if kernel.lanes > 1 or kernel.vector == 1 or len(values) == 1:
        return values
    kernel.lanes = min(kernel.vector, 1 << (len(values) - 1).bit_length())
    packs = []
    for start in range(0, len(values), kernel.lanes):
        pack = "zeroinitializer"
        for k, value in enumerate(values[start : start + kernel.lanes]):
            pack = kernel.emit(
                f"insertelement {kernel.type} {pack}, {kernel.kind.type} {value}, i64 {k}"
            )
        packs.append(pack)
    return packs


def _with_cold_path(
    kernel: Kernel, angles: list[str], fast: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """if any is large, the lanes concerned go through the C library; then both ways meet."""
    t = kernel.type
    large = _any_large(kernel, angles)
    kernel.fresh += 1
    cold, join, before = f"cold{kernel.fresh}", f"join{kernel.fresh}", kernel.block
    kernel.lines += [f"  br i1 {large}, label %{cold}, label %{join}", f"{cold}:"]
    slow = []
    for x, (s, c) in zip(angles, fast, strict=True):
        kernel.lines += [
            f"  store {t} {x}, ptr %slow.x",
            f"  store {t} {s}, ptr %slow.s",
            f"  store {t} {c}, ptr %slow.c",
            f"  call void @slow_sincos(ptr %slow.x, ptr %slow.s, ptr %slow.c, i64 {kernel.lanes})",
        ]
        slow.append([kernel.emit(f"load {t}, ptr %slow.{stack}") for stack in ("s", "c")])
    kernel.lines += [f"  br label %{join}", f"{join}:"]
    kernel.block = join
    both = []
    for quick, careful in zip(fast, slow, strict=True):
        s, c = (
            kernel.emit(f"phi {t} [ {a}, %{before} ], [ {b}, %{cold} ]")
            for a, b in zip(quick, careful, strict=True)
        )
        both.append((s, c))
    return both


def _any_large(kernel: Kernel, angles: list[str]) -> str:
    """Is the largest of them beyond the limit? One test for all. A NaN at first stays there and
    counts as large; a later one is passed over, and is NaN on the fast path too."""
    largest = ""
    for x in angles:
        size = kernel.call("fabs", x)
        largest = kernel.where("ogt", size, largest, size, largest) if largest else size
    limit = kernel.const(kernel.kind.limit)
    large = kernel.emit(f"fcmp uge {kernel.type} {largest}, {limit}")
    if kernel.lanes == 1:
        return large
    bits = kernel.emit(f"bitcast {kernel.bools} {large} to i{kernel.lanes}")
    return kernel.emit(f"icmp ne i{kernel.lanes} {bits}, 0")


def _sincos(kernel: Kernel, x: str) -> tuple[str, str]:
    """(sin x, cos x) for |x| below the limit."""
    t, kind = kernel.type, kernel.kind

    def do(operation: str, a: str, b: str) -> str:
        return kernel.emit(f"{operation} {t} {a}, {b}")

    shifted, r = _reduced(kernel, x)
    z = do("fmul", r, r)
    s = kernel.multiply_add(do("fmul", r, z), _polynomial(kernel, z, kind.sin), r)
    bent = kernel.multiply_add(z, _polynomial(kernel, z, kind.cos), kernel.const(-0.5))
    c = kernel.multiply_add(z, bent, kernel.const(1.0))
    return _quadrant(kernel, shifted, s, c)


def _polynomial(kernel: Kernel, z: str, coefficients: tuple[float, ...]) -> str:
    value = kernel.const(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = kernel.multiply_add(value, z, kernel.const(c))
    return value


def _quadrant(kernel: Kernel, shifted: str, s: str, c: str) -> tuple[str, str]:
    """Exchange and sign by the low bits of the shifted quotient."""
    lanes, integer, t = kernel.lanes, kernel.kind.integer, kernel.type
    i = integer if lanes == 1 else f"<{lanes} x {integer}>"
    top = 8 * kernel.kind.bytes - 1

    def whole(n: int) -> str:
        return str(n) if lanes == 1 else "<" + ", ".join([f"{integer} {n}"] * lanes) + ">"

    bits = kernel.emit(f"bitcast {t} {shifted} to {i}")
    odd = kernel.emit(f"trunc {i} {bits} to {kernel.bools}")
    sine = kernel.emit(f"select {kernel.bools} {odd}, {t} {c}, {t} {s}")
    cosine = kernel.emit(f"select {kernel.bools} {odd}, {t} {s}, {t} {c}")
    second = kernel.emit(f"lshr {i} {bits}, {whole(1)}")
    flip_s = kernel.emit(f"shl {i} {second}, {whole(top)}")
    next_quadrant = kernel.emit(f"add {i} {bits}, {whole(1)}")
    half_turn = kernel.emit(f"lshr {i} {next_quadrant}, {whole(1)}")
    flip_c = kernel.emit(f"shl {i} {half_turn}, {whole(top)}")
    return _flip(kernel, sine, flip_s, i), _flip(kernel, cosine, flip_c, i)


def _flip(kernel: Kernel, x: str, mask: str, integer: str) -> str:
    bits = kernel.emit(f"bitcast {kernel.type} {x} to {integer}")
    flipped = kernel.emit(f"xor {integer} {bits}, {mask}")
    return kernel.emit(f"bitcast {integer} {flipped} to {kernel.type}")


def _reduced(kernel: Kernel, x: str) -> tuple[str, str]:
    """(k = round(2x/π) in the low bits of a float, r = x - k·π/2)."""
    t, kind = kernel.type, kernel.kind
    shifted = kernel.multiply_add(x, kernel.const(0.6366197723675814), kernel.const(kind.shift))
    k = kernel.emit(f"fsub {t} {shifted}, {kernel.const(kind.shift)}")
    if kernel.fma:
        for part in kind.fused:
            x = kernel.multiply_add(k, kernel.const(-part), x)
        return shifted, x
    return shifted, (_minus_parts if kind.type == "double" else _minus_parts_wide)(kernel, k, x)


def _minus_parts(kernel: Kernel, k: str, x: str) -> str:
    """x - k·π/2 without fused multiply-add: what the second difference loses joins part three."""

    def do(operation: str, a: str, b: str) -> str:
        return kernel.emit(f"{operation} {kernel.type} {a}, {b}")

    first, second, third = (do("fmul", k, kernel.const(part)) for part in kernel.kind.split)
    coarse = do("fsub", x, first)
    r = do("fsub", coarse, second)
    lost = do("fsub", do("fsub", coarse, r), second)
    return do("fsub", r, do("fsub", third, lost))


def _minus_parts_wide(kernel: Kernel, k: str, x: str) -> str:
    """x - k π/2 of floats, whose bits are too few for the parts of π/2: by doubles."""
    t = kernel.type
    wide = "double" if kernel.lanes == 1 else f"<{kernel.lanes} x double>"
    k, r = (kernel.emit(f"fpext {t} {value} to {wide}") for value in (k, x))
    for part in kernel.kind.split:
        one = literal(part, KINDS["float64"])
        many = ", ".join(f"double {one}" for _ in range(kernel.lanes))
        product = kernel.emit(f"fmul {wide} {k}, {one if kernel.lanes == 1 else f'<{many}>'}")
        r = kernel.emit(f"fsub {wide} {r}, {product}")
    return kernel.emit(f"fptrunc {wide} {r} to {t}")


def slow_declarations(kind: SinCos) -> set[str]:
    """What the cold function calls."""
    t, suffix = kind.type, "" if kind.type == "double" else "f"
    return {
        f"declare {t} @cardan_sin{suffix}({t})",
        f"declare {t} @cardan_cos{suffix}({t})",
        f"declare {t} @llvm.fabs.{'f64' if t == 'double' else 'f32'}({t})",
    }


def slow_path(kind: SinCos) -> str:
    """The cold function: replace the sines and cosines of out-of-range lanes by the C library's."""
    t, suffix = kind.type, "" if kind.type == "double" else "f"
    return f"""
define internal void @slow_sincos(ptr %x, ptr %s, ptr %c, i64 %n) cold noinline {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %tail ]
  %xp = getelementptr {t}, ptr %x, i64 %i
  %v = load {t}, ptr %xp
  %a = call {t} @llvm.fabs.{"f64" if t == "double" else "f32"}({t} %v)
  %fast = fcmp olt {t} %a, {literal(kind.limit, kind)}
  br i1 %fast, label %tail, label %slow
slow:
  %sv = call {t} @cardan_sin{suffix}({t} %v)
  %cv = call {t} @cardan_cos{suffix}({t} %v)
  %sp = getelementptr {t}, ptr %s, i64 %i
  %cp = getelementptr {t}, ptr %c, i64 %i
  store {t} %sv, ptr %sp
  store {t} %cv, ptr %cp
  br label %tail
tail:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
