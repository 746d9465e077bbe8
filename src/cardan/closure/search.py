"""Assemblies of loops without a closed form: Newton's method from many starts, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..mechanism.loops import ROWS
from .numeric import CLOSED, Array, Equations, unique

__all__ = ["Gap", "least_gap", "searched"]

_STARTS = 96  # per round
_ROUNDS = 10


@dataclass(frozen=True)
class Gap:
    """How far a loop stays open: of the robot's size or rad, and in words."""

    loop: str
    value: float
    text: str


def searched(system: Equations, q: Array, passive: Sequence[int]) -> Array:
    """(k, n): the configurations found that close the loops by the passive columns, q otherwise."""
    parts = _parts(system, passive)
    every = [_part(system, q, *part) for part in parts]
    chosen = [np.concatenate(choice) for choice in product(*every)] if every else []
    order = [c for _, columns in parts for c in columns]
    found = np.repeat(q[None], len(chosen), axis=0)
    if chosen:
        found[:, order] = chosen
    return unique(found, system.turning)


def _parts(system: Equations, passive: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """(loops, passive columns) that share no passive joint with others."""
    link = system.connection
    groups: list[tuple[set[int], set[int]]] = []
    for k, loop in enumerate(link.loops):
        own = {link.moving.index(j) for j in loop.links if j in link.moving}
        own &= set(passive)
        touching = [group for group in groups if group[1] & own]
        groups = [group for group in groups if group not in touching]
        loops = {k}.union(*(group[0] for group in touching))
        groups.append((loops, own.union(*(group[1] for group in touching))))
    return [(sorted(loops), sorted(columns)) for loops, columns in groups]


def _part(system: Equations, q: Array, loops: Sequence[int], columns: Sequence[int]) -> Array:
    """The assemblies of some loops, (k, passive columns of theirs), from many starts."""
    rng = np.random.default_rng(3)
    rows = [m for m, owner in enumerate(system.owners) if owner in loops]
    found = np.zeros((0, system.n))
    quiet = 0
    for _ in range(_ROUNDS):
        starts = np.repeat(q[None], _STARTS, axis=0)
        starts[:, columns] = system.random(rng, _STARTS)[:, columns]
        ends, _ = system.close(starts, columns, 60)
        closed = np.abs(system.r(ends)[:, rows]).max(axis=-1, initial=0) < CLOSED
        more = unique(np.concatenate([found, ends[closed]]), system.turning)
        quiet = 0 if len(more) > len(found) else quiet + 1
        found = more
        if quiet >= (2 if len(columns) <= 4 else 3):
            break
    return np.asarray(found[:, columns])


def least_gap(system: Equations, q: Array, passive: Sequence[int]) -> Gap:
    """How nearly the loops close when only the passive columns move."""
    rng = np.random.default_rng(4)
    starts = np.repeat(q[None], 32, axis=0)
    starts[:, passive] = system.random(rng, 32)[:, passive]
    ends, _ = system.close(starts, passive, 60)
    r = np.abs(system.r(ends))
    k = int(r.max(axis=-1).argmin())
    m = int(r[k].argmax())
    loop = system.connection.loops[system.owners[m]]
    first = system.owners.index(system.owners[m])
    length = m - first < sum(row[0] == "v" for row in ROWS[loop.kind])
    value = float(r[k, m])
    return Gap(loop.name, value, f"{value * system.size:.3g} m" if length else f"{value:.3g} rad")
