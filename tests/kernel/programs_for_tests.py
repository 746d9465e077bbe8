"""Kernels with a slot: a program of ir/ or another kernel stands in it."""

from __future__ import annotations

from cardan.kernel.language import Array, empty, slot

DOUBLED = True
COUNT = 2


@slot("y", "z")
def inner(x: Array, unread: Array, y: Array, z: Array) -> None:
    """What is bound."""


def twice(x: Array, unread: Array, y: Array, z: Array) -> None:
    """A kernel in the place of the program: y is twice x, z their sum."""
    z[0] = 0.0
    for k in range(2):
        y[k] = x[k] + x[k]
        z[0] += x[k]


def outer(x: Array, unread: Array, w: Array) -> None:
    """w: y and z at x, then at x moved, twice as large where that is asked for."""
    y = empty(2)
    z = empty(1)
    moved = empty(2)
    for m in range(COUNT):
        for k in range(2):
            moved[k] = x[k] + 0.5 * float(m)
        inner(moved, unread, y, z)
        for k in range(2):
            w[3 * m + k] = y[k] if x[0] > 0.0 else -y[k]
        w[3 * m + 2] = z[0]
        if DOUBLED:
            w[3 * m + 2] = 2.0 * z[0]


def scoped(x: Array, y: Array) -> None:
    """Variables that are set in one block and read in another, and some that nothing reads."""
    last = 0.0
    if x[0] > 0.0:
        side = 1.0
    else:
        side = -1.0
    for k in range(2):
        step = x[k]
        if step > 0.0:
            kept = step
            last = kept
        unused = positive(x[k])  # noqa: F841
        y[k] = step
    if x[1] > 0.0:
        later = x[1]
    for k in range(2):
        step = 2.0 * x[k]
        y[k] += step * side
    y[2] = last
    later = positive(x[0])
    y[3] = later


def positive(x: float) -> float:
    """x, or 0."""
    return x if x > 0.0 else 0.0
