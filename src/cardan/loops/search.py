"""Assemblies of loops without a closed form: Newton's method from many starts, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..mechanism.loops import ROWS
from .closing import CLOSED
from .numeric import Array, Equations, unique, wrapped

_STARTS = 96  # per round
_ROUNDS = 10


@dataclass(frozen=True)
class Gap:
    """How far a loop or a coupling stays open: of the robot's size or rad, and in words."""

    what: str
    value: float
    text: str
    remedy: str = ""


def searched(system: Equations, q: Array, passive: Sequence[int]) -> Array:
    """(k, n): the configurations found that close the loops by the passive columns, q otherwise."""
    parts = _parts(system, passive)
    every = [_part(system, q, *part) for part in parts]
    chosen = [np.concatenate(choice) for choice in product(*every)] if every else []
    order = [c for _, columns in parts for c in columns]
    found = np.repeat(q[None], len(chosen), axis=0)
    if chosen:
        found[:, order] = chosen
    return unique(found, system.periodic)


def _parts(system: Equations, passive: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """(loops and couplings, passive columns) that share no passive joint with others."""
    link = system.coordinates
    groups: list[tuple[set[int], set[int]]] = []
    for k, joints in enumerate(
        [*(loop.links for loop in link.loops), *((j, *ks) for j, ks in link.led.items())]
    ):
        own = {link.moving.index(j) for j in joints if j in link.moving}
        own &= set(passive)
        touching = [group for group in groups if group[1] & own]
        groups = [group for group in groups if group not in touching]
        loops = {k}.union(*(group[0] for group in touching))
        groups.append((loops, own.union(*(group[1] for group in touching))))
    return [(sorted(loops), sorted(columns)) for loops, columns in groups]


def _principal(system: Equations, q: Array, columns: Sequence[int]) -> Array:
    """Configurations (N, n) with the angles that lead others within half a turn of zero. A whole
    turn more is the same assembly, or one of endlessly many where followers turn by a part."""
    lead = {k for _, leaders, _ in system.couplings for k, _ in leaders}
    lead -= {j for j, *_ in system.couplings}
    shifted = [k for k in lead if k in columns and system.turning[k]]
    near = q.copy()
    near[:, shifted] = wrapped(q[:, shifted], np.ones(len(shifted), bool))
    return system.followed(near, [*lead])[0]


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
        near = _principal(system, ends[closed], columns)
        closed = np.abs(system.r(near)[:, rows]).max(axis=-1, initial=0) < CLOSED
        more = unique(np.concatenate([found, near[closed]]), system.periodic)
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
    value, owner, link = float(r[k, m]), system.owners[m], system.coordinates
    if owner >= len(link.loops):
        j = [*link.led][owner - len(link.loops)]
        length = not system.turning[link.moving.index(j)]
        what = f"the coupling of joint '{link.robot.joints[j - 1].name}'"
        remedy = "its ratio and offset"
    else:
        loop, first = link.loops[owner], system.owners.index(owner)
        length = m - first < sum(row[0] == "v" for row in ROWS[loop.kind])
        what, remedy = f"loop '{loop.name}'", "the frames of its cut and its twin"
    text = f"{value * system.size:.3g} m" if length else f"{value:.3g} rad"
    return Gap(what, value, text, remedy)
