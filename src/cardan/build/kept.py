"""Programs that were derived before: the last ones of this process are in memory, those that took
long also on disk (cache.py), named by all that shaped them: the description, the model, its options
and the source of this package."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from inspect import signature
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..cache import keep, recalled
from ..describe.robot import Robot
from ..describe.values.expression import Expression
from ..errors import ProgramError
from ..exact import Exact
from ..program import Program

_KIND = ".program"
_LONG = 0.1  # seconds: what was derived more quickly is not worth a file
_MOST_NODES = 300_000  # of the programs in memory together

_memory: OrderedDict[str, Program] = OrderedDict()  # the one asked for last is the last
_lock = Lock()


def kept(model: str, robot: Robot, options: Mapping[str, Any], build: Callable[[], Any]) -> Any:
    """The program of a model as it was derived before, or else as `build` derives it."""
    try:
        key = hashlib.sha256("\0".join(_spelled((model, robot, options))).encode()).hexdigest()
    except _UnknownError:
        return build()
    with _lock:
        program = _memory.get(key)
        if program is not None:
            _memory.move_to_end(key)
            return program
    program = _from_disk(key)
    if program is None:
        start = time.process_time()
        program = build()
        if not isinstance(program, Program):
            return program
        if time.process_time() - start > _LONG:
            keep((key, _source()), _KIND, program.to_json().encode())
    _remember(key, program)
    return program


def part(
    model: str, builder: Callable[..., Program], robot: Robot, options: Mapping[str, Any]
) -> Program:
    """The program of a model that another one is composed of, as its builder derives it; without
    base parameters it is that of the menu."""
    defaults = signature(builder).parameters
    options = {key: x for key, x in options.items() if x != defaults[key].default}
    if "base_parameters" in options:  # the menu has the cheaper one with or without
        model = f"part {model}"
    program: Program = kept(model, robot, options, lambda: builder(robot, **options))
    return program


def _from_disk(key: str) -> Program | None:
    text = recalled((key, _source()), _KIND)
    try:
        return None if text is None else Program.from_json(text.decode())
    except (ProgramError, UnicodeDecodeError):
        return None


def _remember(key: str, program: Program) -> None:
    with _lock:
        _memory[key] = program
        nodes = sum(_size(x) for x in _memory.values())
        while nodes > _MOST_NODES and len(_memory) > 1:
            nodes -= _size(_memory.popitem(last=False)[1])


def _size(program: Program) -> int:
    return len(program.code.nodes) + (len(program.page.code.nodes) if program.page else 0)


@cache
def _source() -> str:
    """What tells this source of the package from another one of the same version."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        status = path.stat()
        digest.update(f"{path.relative_to(root)} {status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()


def description_hash(robot: Robot) -> str:
    """What tells the description of a robot from any other: all its fields, exactly."""
    return hashlib.sha256("\0".join(_spelled(robot)).encode()).hexdigest()


class _UnknownError(Exception):
    """Something that has no spelling of its own."""


def _spelled(item: Any) -> Iterator[str]:
    """All of an item that a model can depend on, every number with its type: 1 and 1.0 are printed
    differently."""
    yield type(item).__name__
    if is_dataclass(item):
        for f in fields(item):
            yield from _spelled(getattr(item, f.name))
    elif isinstance(item, Mapping):
        for name, value in sorted(item.items()):
            yield str(name)
            yield from _spelled(value)
    elif isinstance(item, list | tuple):
        yield str(len(item))
        for x in item:
            yield from _spelled(x)
    elif isinstance(item, Expression):
        yield item.op
        yield from _spelled(item.args)
    elif isinstance(item, float):
        yield item.hex()
    elif isinstance(item, np.ndarray):
        yield from (str(item.shape), str(item.dtype), item.tobytes().hex())
    elif item is None or isinstance(item, str | int | Fraction | Exact):
        yield repr(item)
    else:
        raise _UnknownError
