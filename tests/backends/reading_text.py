"""Reads equations as they are printed for people, and computes with them: what is read is true."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cardan.emit.reading.symbols import elements
from cardan.program import Program

__all__ = ["values"]

FUNCTIONS = {
    "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "abs": np.abs, "sign": np.sign, "pi": np.pi,
    "min": np.minimum, "max": np.maximum, "atan2": np.arctan2, "where": np.where,
}  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")


def values(program: Program, text: str, inputs: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The elements of every output, in order, by the text alone."""
    plain = program.plain
    head, *_ = re.split(r"^(?=  \w+ = )", text, maxsplit=1, flags=re.MULTILINE)
    body, _, numbers = text.partition("\nRounded numbers\n")
    exact = dict(re.findall(r"([\d.e-]+) is ([\d.e+-]+)", " ".join(numbers.split())))
    known = dict(FUNCTIONS)
    renamed = dict(re.findall(r"^\s*(\w+) is the parameter (.*)$", head, re.MULTILINE))
    twin = {old: new for new, old in renamed.items()}
    given = dict(zip(program.parameters, inputs.get("p", ()), strict=True))
    for name in plain.parameters:  # one that cancels out in the other may be anything
        known[twin.get(name, name)] = given.get(name, 0.7)
    for name, shape in program.inputs.items():
        if name != "p":
            flat = np.reshape(inputs[name], (len(inputs[name]), -1)).T
            known |= {
                x.symbol: v for x, v in zip(elements(program, name, shape), flat, strict=True)
            }

    def value(expression: str) -> Any:
        expression = re.sub(r"\bif\(", "where(", expression).replace("^", "**")
        expression = NUMBER.sub(lambda m: exact.get(m[0], m[0]), expression)
        return eval(expression, {"__builtins__": {}}, known)  # noqa: S307 our own text

    for name, rows in equations(body):
        waiting = [(i, j, cell) for i, row in enumerate(rows, 1) for j, cell in row.items()]
        waiting = [item for item in waiting if item[2] not in (".", "")]
        tries = len(waiting) ** 2 + 1
        while waiting:  # an element may be written in terms of another one of the same equation
            i, j, cell = waiting.pop(0)
            tries -= 1
            try:
                x = value(cell)
            except NameError:
                assert tries, f"{name}: {cell}"
                waiting.append((i, j, cell))
                continue
            index = [str(i), str(j)] if len(rows) > 1 else [str(j)]
            signs = ("_",) if len(rows) == 1 else ("", "_")  # tau3 is of link 3, not element 3
            spelled = (f"{name}_{''.join(index)}", *(name + s + "_".join(index) for s in signs))
            known |= dict.fromkeys(spelled if j else [name], x)
    return {name: list(_results(program, name, shape, known, text))
            for name, shape in program.outputs.items()}  # fmt: skip


def _results(
    program: Program, name: str, shape: tuple[int, ...], known: Mapping[str, Any], text: str
) -> Iterator[Any]:
    listed = elements(program, name, shape)
    for k, x in enumerate(listed):
        twin = listed[k]
        if len(shape) == 2 and shape[0] == shape[1]:
            twin = listed[k % shape[1] * shape[1] + k // shape[1]]
        part = f"{name}{k // (shape[1] * shape[2]) + 1}" if len(shape) == 3 else name
        place = (
            f"{part}_{k // shape[2] % shape[1] + 1}_{k % shape[2] + 1}" if len(shape) == 3 else ""
        )
        mirror = f"{part}_{k % shape[2] + 1}_{k // shape[2] % shape[1] + 1}" if place else ""
        names = [f"{name}_{k + 1}" if len(shape) == 1 else "", x.symbol, place, twin.symbol, mirror]
        found = [known[symbol] for symbol in names if symbol in known]
        zero = f"the other elements of {name} are 0" in text or part in known
        assert found or zero, f"{x.symbol} is not in the text"
        yield found[0] if found else 0.0


def equations(text: str) -> Iterator[tuple[str, list[dict[int, str]]]]:
    """(name, rows of cells by column, from 1; a scalar is the cell 0)."""
    for block in re.findall(r"^  \w+ = .*(?:\n {5,}.*)*", text, re.MULTILINE):
        name, _, right = block.strip().partition(" = ")
        if not right.startswith("["):
            yield name, [{0: " ".join(right.split())}]
            continue
        rows = [cells(row.strip()) for row in re.findall(r"\[((?:[^\[\]])*)\]", right)]
        size = max(map(len, rows))
        vector = len(rows) == 1
        yield (
            name,
            [
                {j + 1 + (0 if vector else size - len(row)): cell for j, cell in enumerate(row)}
                for row in rows
            ],
        )


def cells(row: str) -> list[str]:
    """The elements of a row, apart by commas outside parentheses."""
    found, depth, start = [], 0, 0
    row = re.sub(r"\s+", " ", row.replace("sym.", ""))
    for k, c in enumerate(row):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            found.append(row[start:k].strip())
            start = k + 1
    return [*found, row[start:].strip()]
