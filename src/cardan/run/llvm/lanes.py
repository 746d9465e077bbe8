"""Rows one after the other in memory, turned into columns by shuffles of pairs of vectors.

`width` rows of `size` numbers are `size` vectors, read as they lie. With size = m·g, m odd and g a
power of two, take g numbers together: L = width/g of them make a vector, and L rows are m vectors.
As m is odd, one column of these rows lies in L different lanes, number l in the vector

    v = (c - l)/L mod m,   c = 0 .. m-1 the column,

so lane l of all m vectors, rotated by l/L mod m from vector to vector, gives each vector one whole
column: the rotation is done by powers of two, one blend per vector and stage. Then g numbers of g
groups of rows change places, as in any transposition; the last stage puts the rows in order.
"""

from __future__ import annotations

from itertools import product

Stage = list[list[tuple[int, int]]]  # by vector and lane: the vector and lane it comes from


def turned(size: int, width: int) -> list[Stage]:
    """The stages from `width` rows of that size, as they lie, to their columns."""
    g = min(size & -size, width)
    m, lanes = size // g, width // g
    stages = [*_rotations(m, g, lanes), *_exchanges(m, g, width)]
    at = {(x, lane): (x, lane) for x, lane in product(range(size), range(width))}
    for stage in stages:  # which number of memory is where
        at = {(x, lane): at[stage[x][lane]] for x, lane in at}
    column = {(k * width + lane): place for place, (k, lane) in at.items()}
    order = [[column[row * size + c] for row in range(width)] for c in range(size)]
    return [*stages, order]


def _rotations(m: int, g: int, lanes: int) -> list[Stage]:
    """Lane l of the m vectors of each group, rotated by l/lanes mod m."""
    if m == 1 or lanes == 1:
        return []
    unit = pow(lanes, -1, m)
    by_lane = [(unit * 2**k % m, [lane >> k & 1 for lane in range(lanes)])
               for k in range(lanes.bit_length() - 1)]  # fmt: skip
    by_shift = [(2**k, [unit * lane % m >> k & 1 for lane in range(lanes)])
                for k in range((m - 1).bit_length())]  # fmt: skip
    plans = [[(by, moved) for by, moved in plan if by] for plan in (by_shift, by_lane)]
    return [
        [
            [
                (first + (v - by * moved[lane // g]) % m, lane)
                for lane in range(g * lanes)
            ]
            for first in range(0, m * g, m)
            for v in range(m)
        ]
        for by, moved in min(plans, key=len)
    ]  # fmt: skip


def _exchanges(m: int, g: int, width: int) -> list[Stage]:
    """Number e of group d changes places with number d of group e."""
    stages = []
    bit = 1
    while bit < g:
        stage = [[(x, lane) for lane in range(width)] for x in range(m * g)]
        for group, v, lane in product(range(g), range(m), range(width)):
            if bool(group & bit) != bool(lane & bit):
                stage[group * m + v][lane] = ((group ^ bit) * m + v, lane ^ bit)
        stages.append(stage)
        bit *= 2
    return stages


def inverse(stages: list[Stage]) -> list[Stage]:
    """The stages from columns back to rows."""
    order = []
    for stage in reversed(stages):
        back = [[(0, 0)] * len(vector) for vector in stage]
        for x, vector in enumerate(stage):
            for lane, (y, place) in enumerate(vector):
                back[y][place] = (x, lane)
        order.append(back)
    return order
