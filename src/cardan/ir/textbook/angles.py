"""Sines and cosines as a book writes them: which angles are summed, and which products are short.

The ring knows sines and cosines of any combination of the angles of a group. A book has those of
single joints and of sums over neighbours about parallel axes, q2 + q3, and products of two of them:

    ½ cos 2a + ½ = cos² a        ½ cos(2a + b) + ½ cos b = cos a · cos(a + b)

Other combinations are written as such products, in the way that leaves the fewest terms; as
themselves, cos(2 q2 + q3), only where that is shorter (Armstrong, Khatib and Burdick, 1986, write
C223).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from ..code import Code, Output, arguments
from ..interpret import interpret
from .ring import Frequency, Ring, Trig, upright

Factor = tuple[str, int, Frequency]  # "c" or "s", group, frequency
Product = tuple[Factor, ...]
Sum = dict[Trig, Fraction]

_GRID = 9  # points per turn: frequencies up to 4 are told apart
_WEAK = 1e-9  # part of the strongest frequency below which another is round-off
_VALUES = 2**22  # of nodes, that are interpreted together
_NOISE = Fraction(1, 2**44)  # of floats, below which a sum is round-off
_MANY = 256  # combinations of ways of writing that are tried together


def parallel(code: Code) -> list[list[tuple[Any, int]]]:
    """The angles of a program, those about parallel axes together, each with its sense.

    About parallel axes two angles occur as sums (or differences, the axes being opposed), never as
    both; about others a product of their sines holds both. It is seen in numbers, on a grid of both
    angles; a wrong guess makes a longer text, never a wrong one."""
    angles = _angles(code)
    senses = _senses(code, angles)
    groups: list[list[tuple[Any, int]]] = []
    for angle in angles:
        for group in groups:
            relative = {senses.get((other, angle), 0) * sense for other, sense in group} - {0}
            if len(relative) == 1:
                group.append((angle, relative.pop()))
                break
        else:
            groups.append([(angle, 1)])
    return groups


def _angles(code: Code) -> list[Any]:
    """The input elements that sines and cosines read, in order."""
    reads = [set[Any]() for _ in code.nodes]
    angles: set[Any] = set()
    for id, node in enumerate(code.nodes):
        if node[0] == "input":
            reads[id] = {node}
        elif node[0] in ("add", "sub", "neg"):
            reads[id] = set().union(*(reads[arg] for arg in node[1:]))
        elif node[0] in ("sin", "cos"):
            angles |= reads[node[1]]
    order = list(code.inputs)
    return sorted(angles, key=lambda node: (order.index(node[1]), node[2]))


def _senses(code: Code, angles: list[Any]) -> dict[tuple[Any, Any], int]:
    """1 or -1 for two angles that occur only as their sum, or only as their difference.

    Most pairs have products of odd multiples, which four points of a turn tell apart where no angle
    occurs more than twice; the grid that knows all multiples is for the others."""
    pairs = list(combinations(range(len(angles)), 2))
    if not pairs:
        return {}
    tables = _Tables(_undivided(code), angles)
    half = tables.multiple()
    like, unlike = np.zeros((2, len(pairs)), bool)
    for grid in (4, 5) if half == 2 else (2 * half + 1,):
        open_ = np.flatnonzero(~(like & unlike))
        if not len(open_):
            break
        both = tables.strong([pairs[k] for k in open_], grid)
        upper = (grid - 1) // 2
        like[open_] |= both[:, 1 : upper + 1, 1 : upper + 1].any(axis=(1, 2))
        unlike[open_] |= both[:, 1 : upper + 1, -upper:].any(axis=(1, 2))
    return {(angles[i], angles[j]): int(like[k]) - int(unlike[k]) for k, (i, j) in enumerate(pairs)}


class _Tables:
    """A program at turns of its angles, from one state on."""

    def __init__(self, code: Code, angles: Sequence[Any]) -> None:
        rng = np.random.default_rng(0)
        self.code, self.angles = code, angles
        self.state = {name: rng.uniform(0.5, 1.5, size) for name, size in code.inputs.items()}
        self.points = max(1, _VALUES // len(code.nodes))  # that are interpreted together

    def multiple(self) -> int:
        """The highest multiple of an angle that occurs."""
        turns = np.zeros((len(self.angles), _GRID, len(self.angles)))
        for i, turn in enumerate(turns):
            turn[:, i] = _turn(_GRID)
        spectrum = np.abs(np.fft.fft(self._outputs(turns), axis=1))[:, : _GRID // 2 + 1]
        strong = spectrum > _WEAK * spectrum.max(axis=1, keepdims=True)
        return int(np.nonzero(strong)[1].max(initial=1))

    def strong(self, pairs: Sequence[tuple[int, int]], grid: int) -> np.ndarray:
        """(pair, k, l): does an output have the multiples k and l of both angles, modulo grid?"""
        turns = np.zeros((len(pairs), grid, grid, len(self.angles)))
        for turn, (i, j) in zip(turns, pairs, strict=True):
            turn[..., i] = _turn(grid)[:, None]
            turn[..., j] = _turn(grid)[None, :]
        spectrum = np.abs(np.fft.fft2(self._outputs(turns), axes=(1, 2)))
        weak = _WEAK * spectrum.max(axis=(1, 2), keepdims=True)
        return np.asarray((spectrum > weak).any(axis=-1))

    def _outputs(self, turns: np.ndarray) -> np.ndarray:
        """All outputs (..., m) at turns (..., angle)."""
        flat = turns.reshape(-1, turns.shape[-1])
        parts = (flat[k : k + self.points] for k in range(0, len(flat), self.points))
        table = np.nan_to_num(np.concatenate([*map(self._part, parts)]), posinf=0, neginf=0)
        return np.asarray(table.reshape(*turns.shape[:-1], -1))

    def _part(self, turns: np.ndarray) -> np.ndarray:
        arrays = {name: array.reshape(1, -1) for name, array in self.state.items()}
        for (_, name, k), turn in zip(self.angles, turns.T, strict=True):
            if len(arrays[name]) == 1:
                arrays[name] = np.repeat(arrays[name], len(turns), axis=0)
            arrays[name][:, k] += turn
        arrays = {x: array.reshape(-1, *self.code.inputs[x]) for x, array in arrays.items()}
        with np.errstate(all="ignore"):
            outputs = interpret(self.code, arrays)
        return np.concatenate([x.reshape(len(turns), -1) for x in outputs.values()], axis=-1)


def _turn(grid: int) -> np.ndarray:
    return 2 * np.pi * np.arange(grid) / grid


def _undivided(code: Code) -> Code:
    """A program with divisions ends where these begin: a quotient has all multiples of an angle."""
    quotient = [False] * len(code.nodes)
    ends = {abs(ref) for output in code.outputs.values() for ref in output.refs}
    for id, node in enumerate(code.nodes):
        args = arguments(node)
        quotient[id] = node[0] == "div" or any(quotient[arg] for arg in args)
        ends |= set(args) if quotient[id] else set()
    if not any(quotient):
        return code
    refs = tuple(sorted(id for id in ends if id and not quotient[id]))
    return replace(code, outputs={"": Output((len(refs),), refs)})


@dataclass(frozen=True)
class _Way:
    """A frequency a + b that no book has, by products of sines and cosines of a and b: `parts` are
    (factors, multiple of its coefficient, and of that of the frequency a - b, `low`, if it takes
    that in). Else `left` times its coefficient is added there."""

    parts: tuple[tuple[Product, int, int], ...]
    low: Frequency = ()
    left: int = 0
    takes: bool = False


@lru_cache(maxsize=256)
def _nice(senses: tuple[int, ...]) -> frozenset[Frequency]:
    """Sums over neighbours in a group of angles with these senses."""
    n = len(senses)
    runs = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    sums = (tuple(x * (i <= k < j) for k, x in enumerate(senses)) for i, j in runs)
    return frozenset(upright(k)[1] for k in sums)


@lru_cache(maxsize=4096)
def _ways(senses: tuple[int, ...], group: int, frequency: Frequency, kind: str) -> list[_Way]:
    """The ways to write a sine or cosine of another angle: products, or itself."""
    nice = _nice(senses)
    ways: list[_Way] = []
    for a in sorted(nice | {tuple(-k for k in x) for x in nice}):
        b = tuple(k - i for k, i in zip(frequency, a, strict=True))
        sense, low = upright(tuple(i - j for i, j in zip(a, b, strict=True)))
        if upright(b)[1] in nice and a >= b and (low in nice or not any(low)):
            ways += _two_factors(group, (a, b), sense, low if any(low) else (), kind)
    return [*ways, _Way(((((kind, group, frequency),), 1, 0),))]


def _two_factors(
    group: int, angles: tuple[Frequency, Frequency], sense: int, low: Frequency, kind: str
) -> Iterator[_Way]:
    (p, a), (q, b) = map(upright, angles)

    def factors(f: str, g: str) -> tuple[Product, int]:
        sign = (p if f == "s" else 1) * (q if g == "s" else 1)
        return tuple(sorted(((f, group, a), (g, group, b)), key=_written_order)), sign

    (first, m), (second, n) = (factors(*x) for x in (("cc", "ss") if kind == "c" else ("sc", "cs")))
    if kind == "c":  # cos(a ± b) = cos a cos b ∓ sin a sin b
        yield _Way(((first, 2 * m, 0),), low, -1)
        yield _Way(((second, -2 * n, 0),), low, 1)
        yield _Way(((first, m, m), (second, -n, n)), low, takes=True)
    elif not low:  # sin 2a = 2 sin a cos a
        yield _Way(((first, 2 * m, 0),))
    else:  # sin(a ± b) = sin a cos b ± cos a sin b
        yield _Way(((first, 2 * m, 0),), low, -sense)
        yield _Way(((second, 2 * n, 0),), low, sense)
        yield _Way(((first, m, sense * m), (second, n, -sense * n)), low, takes=True)


def _written_order(factor: Factor) -> tuple[Any, ...]:
    return factor[1], tuple(-k for k in factor[2]), factor[0]


def shortest(terms: Mapping[Trig, Fraction], ring: Ring) -> dict[Product, Fraction]:
    """Σ coefficient · 2f(..) 2g(..) ... with sines and cosines that books have, in few terms."""
    group = next((g for trig in terms for g, k, _ in trig if k not in _nice(ring.senses(g))), None)
    if group is None:
        return {
            tuple((kind, g, k) for g, k, kind in trig): c * 2 ** len(trig)
            for trig, c in terms.items()
        }
    senses = ring.senses(group)
    parts: dict[tuple[Frequency, str], Sum] = {}
    for trig, c in terms.items():
        own = next(((k, kind) for g, k, kind in trig if g == group), ((), "c"))
        others = tuple(x for x in trig if x[0] != group)
        # of this group the coefficients are those of cos and sin, not of 2 cos and 2 sin
        parts.setdefault(own, {})[others] = c * (2 if own[0] else 1)
    odd = [key for key in parts if key[0] and key[0] not in _nice(senses)]
    choices = [_ways(senses, group, *key) for key in odd]
    noise = _NOISE if ring.inexact else Fraction(0)

    def length(choice: Iterable[_Way]) -> tuple[int, ...]:
        return _length(_written(group, parts, odd, choice, noise), _nice(senses))

    if prod(map(len, choices)) <= _MANY:
        best = list(min(product(*choices), key=length))
    else:
        best = [ways[0] for ways in choices]
        for i, ways in enumerate(choices):
            best[i] = min(ways, key=lambda way: length([*best[:i], way, *best[i + 1 :]]))
    result: dict[Product, Fraction] = {}
    for factors, rest in _written(group, parts, odd, best, noise).items():
        for tail, c in shortest(rest, ring).items():
            key = tuple(sorted((*factors, *tail), key=_written_order))
            result[key] = result.get(key, Fraction(0)) + c
    return {key: c for key, c in result.items() if c}


def _length(parts: Mapping[Product, Sum], nice: frozenset[Frequency]) -> tuple[int, ...]:
    """Terms, and numbers in them that are not whole; factors, where an angle as 2 q2 + q3 counts
    more than a product; minus signs."""
    terms = sum(2 + (c.denominator > 1) for rest in parts.values() for c in rest.values())
    factors = sum(
        len(rest) * sum(1 if k in nice else 3 for _, _, k in factors)
        for factors, rest in parts.items()
    )
    minus = sum(c < 0 for rest in parts.values() for c in rest.values())
    return terms, factors, minus


def _written(
    group: int, parts: Mapping[tuple[Frequency, str], Sum], odd: Sequence[tuple[Frequency, str]],
    choice: Iterable[_Way], noise: Fraction,
) -> dict[Product, Sum]:  # fmt: skip
    """The sum with each odd frequency written in the way chosen: products of factors of the group
    and what they are multiplied by."""
    rest = {key: dict(part) for key, part in parts.items() if key not in odd}
    result: dict[Product, Sum] = {}

    def accumulate(total: Sum, part: Mapping[Trig, Fraction], multiple: int) -> None:
        for trig, c in part.items():
            old = total.get(trig, Fraction(0))
            value = old + multiple * c
            if abs(value) > noise * abs(old):
                total[trig] = value
            else:
                total.pop(trig, None)

    for key, way in zip(odd, choice, strict=True):
        low = way.low, key[1]
        other = rest.pop(low, {}) if way.takes else {}
        for factors, a, b in way.parts:
            total = result.setdefault(factors, {})
            accumulate(total, parts[key], a)
            accumulate(total, other, b)
        if way.left:
            accumulate(rest.setdefault(low, {}), parts[key], way.left)
    for (frequency, kind), part in rest.items():
        own: Product = ((kind, group, frequency),) if frequency else ()
        accumulate(result.setdefault(own, {}), part, 1)
    return {factors: part for factors, part in result.items() if part}
