"""Expressions as people write them: sums of signed terms, products, quotients, powers.

The nodes of a program are binary; here sums of sums are one sum, products one product with its
number in front, and a minus stands before a term. A value that has a name is that name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...exact import Exact


@dataclass(frozen=True)
class Name:
    """A symbol; `rank` is its place among the factors of a product."""

    text: str
    rank: int = 3


@dataclass(frozen=True)
class Number:
    """A number, not negative."""

    value: Any


@dataclass(frozen=True)
class Sum:
    """Signed terms, none of them a sum."""

    terms: tuple[Signed, ...]


@dataclass(frozen=True)
class Product:
    """Factors, none of them a product."""

    factors: tuple[Tree, ...]


@dataclass(frozen=True)
class Quotient:
    """over / under."""

    over: Tree
    under: Tree


@dataclass(frozen=True)
class Power:
    """base^n, n an integer above 1."""

    base: Tree
    n: int


@dataclass(frozen=True)
class Call:
    """A function of values."""

    function: str
    arguments: tuple[Signed, ...]


Tree = Name | Number | Sum | Product | Quotient | Power | Call
Signed = tuple[int, Tree]
PARAMETER, TRIG, VALUE, INPUT, SUM, MOTION, CALL = range(1, 8)  # ranks of factors


def tree(
    nodes: Sequence[tuple[Any, ...]], ref: int, leaf: Callable[[int], Signed | None]
) -> Signed:
    """The value of a signed reference. `leaf` gives what has a name, by node."""

    def of(id: int, whole: bool = False) -> Signed:
        named = None if whole else leaf(id)
        if named is not None:
            return named
        op, *args = nodes[id]
        if op == "const":
            return 1, Number(args[0])
        if op in ("add", "sub"):
            return added(of(args[0]), negated(of(args[1])) if op == "sub" else of(args[1]))
        if op == "mul":
            return multiplied(of(args[0]), of(args[1]))
        if op == "div":
            return divided(of(args[0]), of(args[1]))
        if op == "neg":
            return negated(of(args[0]))
        if op in ("fma", "fms", "fnma"):  # ab + c, ab - c, c - ab
            product, rest = multiplied(of(args[0]), of(args[1])), of(args[2])
            return added(negated(product) if op == "fnma" else product,
                         negated(rest) if op == "fms" else rest)  # fmt: skip
        return 1, Call(op, tuple(map(of, args)))

    value = of(abs(ref), whole=True)
    return simple(value if ref > 0 else negated(value))


def negated(x: Signed) -> Signed:
    return -x[0], x[1]


def added(x: Signed, y: Signed) -> Signed:
    return 1, Sum((*_terms(x), *_terms(y)))


def multiplied(x: Signed, y: Signed) -> Signed:
    return x[0] * y[0], _product((*_factors(x[1]), *_factors(y[1])))


def divided(x: Signed, y: Signed) -> Signed:
    return x[0] * y[0], _quotient(x[1], y[1])


def _terms(x: Signed) -> tuple[Signed, ...]:
    sign, value = x
    if not isinstance(value, Sum):
        return (x,)
    return tuple((sign * s, term) for s, term in value.terms)


def _factors(value: Tree) -> tuple[Tree, ...]:
    return value.factors if isinstance(value, Product) else (value,)


def _product(factors: Iterable[Tree]) -> Tree:
    """The product with one number in front, powers, one fraction line, and the usual order:
    parameters first."""
    number: Any = 1
    counts: dict[Tree, int] = {}
    under: list[Tree] = []
    waiting = list(factors)
    while waiting:
        factor = waiting.pop(0)
        if isinstance(factor, Number):
            number = number * factor.value
        elif isinstance(factor, Quotient):
            under += _factors(factor.under)
            waiting[:0] = _factors(factor.over)
        elif isinstance(factor, Power):
            counts[factor.base] = counts.get(factor.base, 0) + factor.n
        else:
            counts[factor] = counts.get(factor, 0) + 1
    rest = [Power(base, n) if n > 1 else base for base, n in counts.items()]
    rest.sort(key=_rank)
    front: list[Tree] = [Number(number)] if number != 1 or not rest else []
    whole = [*front, *rest]
    over = whole[0] if len(whole) == 1 else Product(tuple(whole))
    return _quotient(over, _product(under)) if under else over


def _quotient(over: Tree, under: Tree) -> Tree:
    if isinstance(over, Quotient):
        return _quotient(over.over, _product((*_factors(over.under), *_factors(under))))
    if isinstance(under, Quotient):
        over = _product((*_factors(over), *_factors(under.under)))
        return _quotient(over, under.over)
    return Quotient(over, under)


def _rank(factor: Tree) -> tuple[int, int]:
    """Parameters and sums of them, cosines and sines by joint, values, inputs, sums, functions."""
    if isinstance(factor, Power):
        return _rank(factor.base)
    if isinstance(factor, Name):
        joint = factor.text[1:].partition("_") if factor.rank == TRIG else ("", "", "")
        first = joint[0] if joint[1] else joint[0][:1]
        return factor.rank, int(first) if first.isdigit() else 0
    if isinstance(factor, Sum) and all(_rank(term)[0] == PARAMETER for _, term in factor.terms):
        return PARAMETER, 1
    return CALL if isinstance(factor, Call) else SUM, 0


def _order(term: Signed) -> int:
    """Where a term stands in a sum: a value by itself first, functions last."""
    value = term[1]
    if isinstance(value, Name) and value.rank == VALUE:
        return 0
    return 2 if _rank(_factors(value)[-1])[0] == CALL else 1


def _coefficient(x: Signed) -> tuple[Any, Tree]:
    """The number of a term, and the rest."""
    sign, value = x
    if isinstance(value, Number):
        return sign * value.value, Number(1)
    first, *rest = _factors(value)
    if isinstance(first, Number) and rest:
        return sign * first.value, rest[0] if len(rest) == 1 else Product(tuple(rest))
    return sign, value


def _times(number: Any, value: Tree) -> Signed:
    return (1 if number > 0 else -1), _product((Number(abs(number)), *_factors(value)))


def _collected(terms: Iterable[Signed]) -> Signed:
    """Their sum, like terms put together; it starts with a plus if it can."""
    numbers: dict[Tree, Any] = {}
    for term in terms:
        number, rest = _coefficient(term)
        numbers[rest] = numbers.get(rest, 0) + number
    whole = sorted((_times(x, rest) for rest, x in numbers.items() if x != 0), key=_order)
    if len(whole) < 2:
        return whole[0] if whole else (1, Number(0))
    first = next((k for k, (sign, _) in enumerate(whole) if sign > 0), 0)
    return 1, Sum((whole[first], *whole[:first], *whole[first + 1 :]))


def simple(x: Signed) -> Signed:
    """Like terms put together, numbers multiplied out where that clears a fraction, and signs where
    a reader wants them: -(a - b) is b - a."""
    sign, value = x
    if isinstance(value, Sum):
        return _collected(t for s, term in value.terms for t in _terms(simple((sign * s, term))))
    if isinstance(value, Product):
        return _simple_product(sign, value)
    if isinstance(value, Quotient):
        over, under = simple((sign, value.over)), simple((1, value.under))
        if isinstance(over[1], Sum) and all(s < 0 for s, _ in over[1].terms):
            over = -over[0], Sum(tuple(map(negated, over[1].terms)))
        return divided(over, under)
    if isinstance(value, Power):
        return sign, Power(simple((1, value.base))[1], value.n)
    if isinstance(value, Call):
        return sign, Call(value.function, tuple(map(simple, value.arguments)))
    return x


def _simple_product(sign: int, value: Product) -> Signed:
    whole: Signed = (sign, Number(1))
    for factor in value.factors:
        whole = multiplied(whole, simple((1, factor)))
    sign, factors = whole[0], list(_factors(whole[1]))
    sums = [k for k, factor in enumerate(factors) if isinstance(factor, Sum)]
    if not sums:
        return whole
    k = sums[-1]
    terms = _terms((1, factors[k]))
    first = factors[0]
    if isinstance(first, Number) and len(sums) == 1:
        numbers = [first.value * _coefficient(term)[0] for term in terms]
        fractions = any(isinstance(_coefficient(term)[0], Exact) for term in (*terms, (1, first)))
        if fractions and all(isinstance(number, int) for number in numbers):
            rests = (_coefficient(term)[1] for term in terms)
            terms = _terms(_collected(map(_times, numbers, rests)))
            factors, k = factors[1:], k - 1
    minus = sum(s < 0 for s, _ in terms)
    if 2 * minus > len(terms) - (sign < 0):
        sign, terms = -sign, tuple(map(negated, terms))
    factors[k] = _collected(terms)[1]
    if len(factors) == 1:
        return simple((sign, factors[0])) if sign < 0 else (sign, factors[0])
    return sign, Product(tuple(factors))


def names_of(value: Tree) -> set[str]:
    """The symbols of an expression."""
    if isinstance(value, Name):
        return {value.text}
    if isinstance(value, Sum):
        parts = [term for _, term in value.terms]
    elif isinstance(value, Call):
        parts = [argument for _, argument in value.arguments]
    elif isinstance(value, Product):
        parts = list(value.factors)
    elif isinstance(value, Quotient):
        parts = [value.over, value.under]
    else:
        parts = [value.base] if isinstance(value, Power) else []
    return set().union(*map(names_of, parts))
