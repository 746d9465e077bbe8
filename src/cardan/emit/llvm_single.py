"""The shortest way into a kernel from Python: a function of array objects, for one state."""

from __future__ import annotations

__all__ = ["single_text"]


def single_text(arrays: int, inputs: int, offset: int) -> str:
    """A function `single` of NumPy array objects: one state, `kernel` on their data.

    The data pointer of an array object stands at `offset`: the caller has checked that."""
    objects = ", ".join(f"ptr %o{k}" for k in range(arrays))
    lines = [
        f"define void @single({objects}) {{",
        "entry:",
        f"  %in = alloca [{max(inputs, 1)} x ptr]",
        f"  %out = alloca [{max(arrays - inputs, 1)} x ptr]",
        f"  %strides = alloca [{max(arrays, 1)} x i64]",
        f"  store [{max(arrays, 1)} x i64] zeroinitializer, ptr %strides",
    ]
    for k in range(arrays):
        table, place = ("in", k) if k < inputs else ("out", k - inputs)
        lines += [
            f"  %a{k} = getelementptr i8, ptr %o{k}, i64 {offset}",
            f"  %d{k} = load ptr, ptr %a{k}",
            f"  %s{k} = getelementptr ptr, ptr %{table}, i64 {place}",
            f"  store ptr %d{k}, ptr %s{k}",
        ]
    call = "  call void @kernel(ptr %in, ptr %strides, ptr %out, ptr %strides, i64 1)"
    return "\n".join([*lines, call, "  ret void", "}", ""])
