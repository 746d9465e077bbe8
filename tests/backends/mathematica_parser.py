"""An independent reader of the Mathematica, Maple and plain text that Cardan prints.

Recursive descent over tokens, written from the languages' grammars and not from the printers; no
text is ever evaluated by Python. An expression becomes nested tuples, a function its arguments,
local variables, assignments and result; `Function.call` runs it on floats or NumPy arrays, and the
functions of the same text that it calls.

    expression = product (("+" | "-") product)*
    product    = unary (("*" | "/") unary)*
    unary      = ("+" | "-") unary | postfix
    postfix    = primary (call | index)*
    primary    = number | name | "(" expression [">" expression] ")" | list
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Function", "Parser", "maple", "mathematica"]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.\d*|\d+)(?:\*\^-?\d+|[eE][+-]?\d+)?)|(?P<name>`if`|[A-Za-z$][\w$]*)"
    r"|(?P<sign>:=|⟦|⟧|[-+*/=<>()\[\]{},;:]))"
)
_CALLS: dict[str, Any] = {
    "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "abs": np.abs, "sign": np.sign,
    "min": np.minimum, "max": np.maximum, "if": np.where,
}  # fmt: skip
MATHEMATICA = {
    "Sin": np.sin, "Cos": np.cos, "Sqrt": np.sqrt, "Abs": np.abs, "Sign": np.sign,
    "Min": np.minimum, "Max": np.maximum, "If": np.where,
    "ArcTan": lambda x, y: np.arctan2(y, x),
}  # fmt: skip
MAPLE = {k: v for k, v in _CALLS.items() if k not in ("if", "sign")}
MAPLE |= {"`if`": np.where, "signum": np.sign, "arctan": np.arctan2}


@dataclass
class Function:
    """What was read: result is None in plain text, where assignments are all there is."""

    name: str
    arguments: list[str]
    local: list[str]
    assignments: list[tuple[str, Any]]
    result: Any
    functions: dict[str, Any]

    def run(self, given: dict[str, Any]) -> dict[str, Any]:
        """All variables after the assignments; each is assigned once, before it is read."""
        values = dict(given)
        for name, value in self.assignments:
            assert name not in values, f"{name} is assigned twice"
            values[name] = self.value(value, values)
        return values

    def call(self, *given: Any) -> Any:
        values = self.run(dict(zip(self.arguments, given, strict=True)))
        return self.value(self.result, values)

    def value(self, tree: Any, values: dict[str, Any]) -> Any:
        kind, *rest = tree
        if kind == "number":
            return rest[0]
        if kind == "name":
            return values[rest[0]]
        parts = [self.value(part, values) for part in rest[1 if kind in ("call", "index") else 0 :]]
        if kind == "call":  # a list is the value of another function
            given = [_stacked(part) if isinstance(part, list) else part for part in parts]
            return self.functions[rest[0]](*given)
        if kind == "index":  # one-based, states along the first axis
            return values[rest[0]][(..., *(int(k) - 1 for k in parts))]
        if kind == "list":
            return parts
        x, y = parts if len(parts) == 2 else (0.0, parts[0])
        if kind == "-" and len(parts) == 1:
            return -y
        return {
            "+": lambda: x + y,
            "-": lambda: x - y,
            "*": lambda: x * y,
            "/": lambda: x / y,
            ">": lambda: x > y,
        }[kind]()


def _stacked(values: list[Any]) -> np.ndarray:
    return np.stack(np.broadcast_arrays(*values), axis=-1)


class Parser:
    """Tokens and the grammar of expressions; the brackets differ between the languages."""

    def __init__(self, text: str, call: str, index: str, braces: str, functions: Any) -> None:
        self.tokens = _tokens(text)
        self.k = 0
        self.open_call, self.close_call = call.split()
        self.open_index, self.close_index = index.split()
        self.open_list, self.close_list = braces.split()
        self.functions = functions

    @property
    def token(self) -> str:
        return self.tokens[self.k][1] if self.k < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        token = self.token
        if wanted and token not in wanted:
            raise SyntaxError(f"token {self.k}: {token!r} where {wanted} is expected")
        self.k += 1
        return token

    def name(self) -> str:
        kind, token = self.tokens[self.k]
        if kind != "name":
            raise SyntaxError(f"token {self.k}: {token!r} is not a name")
        self.k += 1
        return token

    def names(self) -> list[str]:
        found = [self.name()]
        while self.token == ",":
            self.take()
            found.append(self.name())
        return found

    def expression(self) -> Any:
        tree = self.product()
        while self.token in ("+", "-"):
            tree = (self.take(), tree, self.product())
        return tree

    def product(self) -> Any:
        tree = self.unary()
        while self.token in ("*", "/"):
            tree = (self.take(), tree, self.unary())
        return tree

    def unary(self) -> Any:
        if self.token == "-":
            self.take()
            return ("-", self.product())
        return self.primary()

    def condition(self) -> Any:
        tree = self.expression()
        return (self.take(), tree, self.expression()) if self.token == ">" else tree

    def sequence(self, end: str) -> list[Any]:
        found = []
        while self.token != end:
            found.append(self.condition())
            if self.token != end:
                self.take(",")
        self.take(end)
        return found

    def primary(self) -> Any:
        kind, token = self.tokens[self.k]
        if kind == "number":
            self.take()
            mantissa, _, exponent = token.replace("*^", "e").partition("e")
            return ("number", float(f"{mantissa}e{exponent or 0}"))
        if token == self.open_list:
            self.take()
            return ("list", *self.sequence(self.close_list))
        if token == "(":
            self.take()
            tree = self.expression()
            self.take(")")
            return tree
        name = self.name()
        if name in self.functions or self.token == self.open_call:
            self.take(self.open_call)
            return ("call", name, *self.sequence(self.close_call))
        if self.token == self.open_index:
            self.take()
            return ("index", name, *self.sequence(self.close_index))
        return ("name", name)

    def assignments(self, sign: str) -> list[tuple[str, Any]]:
        """name sign expression; as often as they come."""
        found = []
        while [token for _, token in self.tokens[self.k + 1 : self.k + 2]] == [sign]:
            name = self.name()
            self.take(sign)
            found.append((name, self.expression()))
            self.take(";")
        return found


def _tokens(text: str) -> list[tuple[str, str]]:
    found, k = [], 0
    text = text.rstrip()
    while k < len(text):
        match = _TOKEN.match(text, k)
        if match is None:
            raise SyntaxError(f"unreadable: {text[k : k + 40]!r}")
        kind = str(match.lastgroup)
        found.append((kind, match[kind]))
        k = match.end()
    return found


def mathematica(text: str) -> dict[str, Function]:
    """name[q_, p_] := Module[{a, b}, a = ...; ...; result];"""
    text = _without_comments(text)
    assert "_" not in re.sub(r"\b[A-Za-z]\w*_(?=[,\]])", "", text), "an underscore in a name"
    text = re.sub(r"_(?=[,\]])", "", text)
    parser = Parser(_double(text), "[ ]", "⟦ ⟧", "{ }", MATHEMATICA)
    found, functions = {}, dict(MATHEMATICA)
    while parser.token:
        name = parser.name()
        parser.take("[")
        arguments = parser.names() if parser.token != "]" else []
        for sign in ("]", ":=", "Module", "[", "{"):
            parser.take(sign)
        local = parser.names() if parser.token != "}" else []
        parser.take("}")
        parser.take(",")
        steps = parser.assignments("=")
        result = parser.expression()
        parser.take("]")
        parser.take(";")
        found[name] = Function(name, arguments, local, steps, result, functions)
        functions[name] = found[name].call
    return found


def _double(text: str) -> str:
    """[[ and ]] as one sign each: ]] closes an index only where [[ opened one."""
    out, stack, k = [], [], 0
    while k < len(text):
        if text.startswith("[[", k):
            stack.append("[[")
            out.append("⟦")
            k += 2
        elif text[k] == "]" and stack and stack[-1] == "[[":
            assert text.startswith("]]", k)
            stack.pop()
            out.append("⟧")
            k += 2
        else:
            if text[k] == "[":
                stack.append("[")
            elif text[k] == "]":
                assert stack.pop() == "["
            out.append(text[k])
            k += 1
    assert not stack, "brackets are not balanced"
    return "".join(out)


def maple(text: str) -> dict[str, Function]:
    """name := proc(q, p) local a, b; a := ...; return result; end proc:"""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    parser = Parser(text, "( )", "[ ]", "[ ]", MAPLE)
    found, functions = {}, dict(MAPLE)
    while parser.token:
        name = parser.name()
        for sign in (":=", "proc", "("):
            parser.take(sign)
        arguments = parser.names() if parser.token != ")" else []
        parser.take(")")
        local: list[str] = []
        if parser.token == "local":
            parser.take()
            local = parser.names()
            parser.take(";")
        steps = parser.assignments(":=")
        parser.take("return")
        result = parser.expression()
        for sign in (";", "end", "proc", ":"):
            parser.take(sign)
        found[name] = Function(name, arguments, local, steps, result, functions)
        functions[name] = found[name].call
    return found


def _without_comments(text: str) -> str:
    assert text.count("(*") == text.count("*)") == 1, "one comment is expected"
    return text[: text.index("(*")] + text[text.index("*)") + 2 :]
