"""The reference interpreter: one node after the other, on floats or NumPy arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from .code import Code

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": np.sign,
    "atan2": np.arctan2,
    "min": np.minimum,
    "max": np.maximum,
    "select": lambda c, a, b: np.where(c > 0, a, b),  # a where c > 0, else b
}


def interpret(code: Code, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs of a program; inputs are arrays (..., *shape) whose leading axes broadcast."""
    return outputs_of(code, inputs, node_values(code, inputs))


def outputs_of(
    code: Code, inputs: Mapping[str, np.ndarray], values: Sequence[Any]
) -> dict[str, np.ndarray]:
    """The outputs of a program from the values of its nodes."""
    flat = _flat(code, inputs)
    lead = np.broadcast_shapes(*(array.shape[:-1] for array in flat.values()))
    result = {}
    for name, output in code.outputs.items():
        array = np.empty((*lead, len(output.refs)))
        for k, ref in enumerate(output.refs):
            array[..., k] = values[ref] if ref > 0 else -values[-ref]
        result[name] = array.reshape((*lead, *output.shape))
    return result


def node_values(code: Code, inputs: Mapping[str, np.ndarray]) -> list[Any]:
    """The value of every node, by its id."""
    return _run(code, _flat(code, inputs))


def _flat(code: Code, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The inputs (..., *shape) as (..., size)."""
    flat = {}
    for name, shape in code.inputs.items():
        array = inputs[name]
        flat[name] = array.reshape((*array.shape[: array.ndim - len(shape)], prod(shape)))
    return flat


def _run(code: Code, flat: Mapping[str, np.ndarray]) -> list[Any]:
    values: list[Any] = [None]
    with np.errstate(all="ignore"):
        for node in code.nodes[1:]:
            if node[0] == "input":
                values.append(flat[node[1]][..., node[2]])
            elif node[0] == "const":
                values.append(np.float64(node[1]))
            elif len(node) == 3:  # most of them
                values.append(FUNCTIONS[node[0]](values[node[1]], values[node[2]]))
            else:
                values.append(FUNCTIONS[node[0]](*[values[arg] for arg in node[1:]]))
    return values
