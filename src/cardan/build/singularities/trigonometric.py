"""A real polynomial of the ring in sines and cosines, to be read: terms, text and LaTeX."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from ...algebra.laurent import Laurent
from ...emit.latex import symbol_of

Trig = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]  # ("C" or "S", multiples of variables)
Term = tuple[Fraction, tuple[tuple[str, int], ...], Trig]  # number, powers of variables, Trig


@dataclass(frozen=True)
class Notation:
    """How variables are written: joints by number, in groups of parallel axes whose angles add."""

    joints: Mapping[str, int]  # number of each joint variable
    groups: Sequence[Sequence[str]]
    latex: bool = False

    def terms(self, p: Laurent, groups: Sequence[Sequence[str]] | None = None) -> list[Term]:
        """p as a sum of numbers times variables times sines and cosines, one per group."""
        ring, n = p.ring, len(p.ring.names)
        listed = [list(group) for group in (self.groups if groups is None else groups)]
        known = {name for group in listed for name in group}
        listed += [[name] for name in ring.names if name not in known]
        rows: dict[tuple[Any, ...], tuple[Fraction, Fraction]] = {
            (m[:n], m[n:], ()): x for m, x in p.terms.items()
        }
        for group in listed:
            places = [ring.names.index(name) for name in group]
            halves: dict[tuple[Any, ...], tuple[Fraction, Fraction]] = {}
            for (powers, waves, trig), (a, b) in rows.items():
                own = [waves[k] for k in places]
                if not any(own):
                    parts = [(trig, (a, b))]
                else:
                    sign = 1 if next(k for k in own if k) > 0 else -1
                    angle = tuple((name, sign * k) for name, k in zip(group, own, strict=True) if k)
                    parts = [
                        ((*trig, ("C", angle)), (a, b)),
                        ((*trig, ("S", angle)), (-sign * b, sign * a)),
                    ]
                rest = tuple(0 if k in places else w for k, w in enumerate(waves))
                for name, (x, y) in parts:
                    old = halves.get((powers, rest, name), (Fraction(0), Fraction(0)))
                    halves[powers, rest, name] = old[0] + x, old[1] + y
            rows = halves
        return [
            (x, tuple((ring.names[k], m) for k, m in enumerate(powers) if m), trig)
            for (powers, _, trig), (x, _) in rows.items()
            if x
        ]

    def text(self, p: Laurent) -> str:
        """The shorter of the two ways: sums of angles, or products of single ones."""
        ways = [self._sum(self.terms(p)), self._sum(self.terms(p, ()))]
        return min(ways, key=len)

    def _sum(self, terms: Sequence[Term]) -> str:
        out = ""
        for number, powers, trig in terms:
            factors = [self._power(name, k) for name, k in powers] + [
                self._function(kind, angle) for kind, angle in trig
            ]
            size = abs(number)
            if size != 1 or not factors:
                factors.insert(0, self.number(size))
            text = (r"\, " if self.latex else " ").join(factors)
            if not out:
                out = f"-{text}" if number < 0 else text
            else:
                out += f" {'-' if number < 0 else '+'} {text}"
        return out or "0"

    def product(self, number: Fraction, factors: Sequence[Laurent]) -> str:
        """A number times factors, sums among them in parentheses, powers as such."""
        texts: dict[str, int] = {}
        for factor in factors:
            text = self.text(factor)
            if " + " in text or " - " in text:
                text = f"({text})"
            texts[text] = texts.get(text, 0) + 1
        parts = [text if k == 1 else f"{text}^{k}" for text, k in texts.items()]
        if abs(number) != 1 or not parts:
            parts.insert(0, self.number(abs(number)))
        return ("-" if number < 0 else "") + (r"\, " if self.latex else " ").join(parts)

    def number(self, x: Fraction) -> str:
        """An integer, a simple fraction, or a decimal number of six digits."""
        if x.denominator == 1 and abs(x.numerator) < 10**6:
            return str(x.numerator)
        if x.denominator in (2, 3, 4, 6, 8) and abs(x.numerator) < 10:
            if self.latex:
                return rf"\frac{{{x.numerator}}}{{{x.denominator}}}"
            return f"{x.numerator}/{x.denominator}"
        return f"{float(x):.6g}"

    def variable(self, name: str) -> str:
        return symbol_of(name) if self.latex else name

    def _power(self, name: str, k: int) -> str:
        return self.variable(name) if k == 1 else f"{self.variable(name)}^{k}"

    def _function(self, kind: str, angle: Sequence[tuple[str, int]]) -> str:
        """C3, S23; where an angle is no such sum, cos(2 q1 - q2)."""
        if all(k == 1 and name in self.joints for name, k in angle):
            numbers = [str(self.joints[name]) for name, _ in angle]
            label = ("_" if max(map(len, numbers)) > 1 and len(numbers) > 1 else "").join(numbers)
            return f"{kind}_{{{label}}}" if self.latex else f"{kind}{label}"
        name = "cos" if kind == "C" else "sin"
        return (rf"\{name}" if self.latex else name) + f"({self.angle(angle)})"

    def angle(self, angle: Sequence[tuple[str, int]]) -> str:
        """A sum of multiples of variables."""
        out = ""
        for name, k in angle:
            size = "" if abs(k) == 1 else f"{abs(k)} "
            sign = ("-" if k < 0 else "") if not out else (" - " if k < 0 else " + ")
            out += f"{sign}{size}{self.variable(name)}"
        return out

    def labels(self, polynomials: Sequence[Laurent]) -> list[str]:
        """What the cosines in these mean: C23 = cos(q2 + q3)."""
        seen: dict[str, str] = {}
        for p in polynomials:
            ways = {self._sum(self.terms(p, way)): way for way in (None, ())}
            for _, _, trig in self.terms(p, ways[min(ways, key=len)]):
                for _, angle in trig:
                    label = self._function("C", angle)
                    if "(" not in label:
                        cos = r"\cos" if self.latex else "cos"
                        seen[label] = f"{label} = {cos}({self.angle(angle)})"
        return [seen[label] for label in sorted(seen, key=lambda x: (len(x), x))]


def scale(p: Laurent, notation: Notation, lengths: Collection[Fraction]) -> Fraction:
    """What p is divided by so that its numbers are lengths of the robot, and 1 before symbols,
    where all can be; else coprime integers, or, long ones, decimals below 1. The first is
    positive."""
    terms = notation.terms(p)
    numbers = [x for x, _, _ in terms]
    sign = -1 if numbers[0] < 0 else 1
    sizes = [abs(x) for x in numbers]
    plain = [size for size, (_, powers, _) in zip(sizes, terms, strict=True) if not powers]
    named = [size for size, (_, powers, _) in zip(sizes, terms, strict=True) if powers]
    if all(_near(x, sizes[0]) for x in sizes):
        return sign * sizes[0]
    if plain:
        for unit in named[:1] or [plain[0] / length for length in lengths]:
            if all(_near(x / unit, 1) for x in named) and all(
                any(_near(x / unit, length) for length in lengths) for x in plain
            ):
                return sign * unit
    bottom = lcm(*(x.denominator for x in numbers))
    top = gcd(*(int(x * bottom) for x in numbers))
    largest = max(int(x * bottom) // top for x in sizes)
    shift = Fraction(10) ** (len(str(largest)) if largest > 99 else 0)
    return sign * Fraction(top, bottom) * shift


def _near(x: Fraction, y: Fraction | int) -> bool:
    return abs(float(x) - float(y)) <= 1e-9 * float(y)
