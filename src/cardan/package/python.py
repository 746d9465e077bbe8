"""A pure NumPy package that pip installs."""

from __future__ import annotations

import json
import pprint

from ..emit.header import CODING, one_line, quoted
from .folder import Files, template
from .plan import Function, Plan
from .text import numbers, readme, wrapped


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    words = json.dumps(f"Models of the robot '{plan.title}'", ensure_ascii=False)
    folder = f"src/{plan.name}"
    modules = {f"{folder}/_{function.short}.py": _module(function) for function in plan.functions}
    return {
        "README.md": _readme(plan),
        "pyproject.toml": template("python/pyproject.toml.txt", name=plan.name, description=words),
        f"{folder}/__init__.py": _init(plan),
        **modules,
        f"tests/test_{plan.name}.py": _test(plan),
    }, ()


def _module(function: Function) -> str:
    """The function, and the names and values of its parameters."""
    lines = function.emit("python", function.short).split("\n")
    start = next(k for k, line in enumerate(lines) if line.startswith(f"def {function.short}("))
    text = "\n".join([*lines[: start + 1], *_docstring(function), *lines[start + 1 :]])
    if not function.program.parameters:
        return text
    names = pprint.pformat(function.program.parameters, width=90)
    known = function.program.defaults
    values = {name: known[name] for name in function.program.parameters if name in known}
    return "\n".join(
        [
            text.rstrip("\n"), "", "",
            f"{function.short}.parameters = {names}",
            f"{function.short}.values = {pprint.pformat(values, width=90, sort_dicts=False)}", "",
        ]
    )  # fmt: skip


def _docstring(function: Function) -> list[str]:
    """What the function computes, and the shapes and meanings of its arrays; its inputs are called
    as its definition calls them."""
    printer = function.printers("python", function.short)[0]
    program = printer.program
    inputs = ((printer.arrays[x], shape, x) for x, shape in program.inputs.items())
    outputs = ((x, shape, x) for x, shape in program.outputs.items())
    lines = [f"{function.summary[:1].upper()}{function.summary[1:]}."]
    lines += ["", "Axes before those listed are of states; they broadcast.", ""]
    for title, arrays in (("inputs", inputs), ("outputs", outputs)):
        lines.append(f"{title}:")
        for spelled, shape, name in arrays:
            words = f"{spelled} {_shape(shape)}: {one_line(program.meaning.get(name, ''))}"
            lines += wrapped(words, "    ").split("\n")
    if function.program.parameters:
        lines += ["", f"The names of p, in order: {function.short}.parameters."]
    rows = [f"    {line}".rstrip() for line in map(one_line, lines)]
    return [f'    """{rows[0].lstrip()}', *rows[1:], '    """']


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(['...', *map(str, shape)])})"


def _init(plan: Plan) -> str:
    lines = [CODING, f'"""Models of the robot {quoted(plan.title)}."""', ""]
    names = []
    for function in plan.functions:
        own = [printer.name for printer in function.printers("python", function.short)]
        lines.append(f"from ._{function.short} import {', '.join(own)}")
        names += [f'"{name}"' for name in own]
    return "\n".join([*lines, "", f"__all__ = [{', '.join(names)}]", ""])


def _test(plan: Plan) -> str:
    cases = []
    for function in plan.functions:
        for example in function.examples:
            inputs = [_entry(a.name, example.inputs[a.name], a.shape) for a in function.inputs]
            entries = [_entry(a.name, example.outputs[a.name], a.shape) for a in function.outputs]
            cases += [
                "    (", f"        {_called(plan, function)},",
                "        {", *inputs, "        },", "        {", *entries, "        },", "    ),",
            ]  # fmt: skip
    return template(
        "python/test.py.txt",
        name=plan.name,
        cases="\n".join(cases),
        tolerance=f"{plan.tolerance:g}",
    )


def _called(plan: Plan, function: Function) -> str:
    """What is called in a test: the function, after its setup where that is apart."""
    name = f"{plan.name}.{function.short}"
    calls = function.calls("python")
    if len(calls) == 1:
        return name
    arguments = ", ".join(array.spelled for array in function.inputs)
    return f"lambda {arguments}: {name}({arguments}, {name}_setup(p))"


def _entry(name: str, values: object, shape: tuple[int, ...]) -> str:
    flat = f"np.array([{numbers(values)}])"  # type: ignore[arg-type]
    return wrapped(f'"{name}": {flat}.reshape({shape}),', " " * 12)


def _readme(plan: Plan) -> str:
    build = """
    pip install .
    python -m pytest

The package needs NumPy and nothing else.
"""
    function = plan.functions[0]
    state = function.examples[0].inputs
    lines = ["import numpy as np", f"import {plan.name}", ""]
    for array in function.inputs:
        rows = f"np.array([{numbers(state[array.name])}])"
        shaped = f".reshape({array.shape})" if len(array.shape) != 1 else ""
        lines.append(wrapped(f"{array.spelled} = {rows}{shaped}", ""))
    arguments = ", ".join(array.spelled for array in function.inputs)
    if len(function.calls("python")) > 1:
        arguments += f", {plan.name}.{function.short}_setup(p)"
    results = ", ".join(array.spelled for array in function.outputs)
    lines += [f"{results} = {plan.name}.{function.short}({arguments})", f"print({results})"]
    use = "```python\n" + "\n".join(lines) + "\n```\n\nArrays may have leading axes, which "
    use += "broadcast: `q` of shape (1000, n) gives 1000 results."
    if any(f.program.parameters for f in plan.functions):
        use += (
            "\n\nThe parameters of a function are named in its attribute `parameters`, in the "
            "order of `p`;\nits attribute `values` holds those that are known."
        )
    return readme(plan, f"{plan.name}: Python package", [("Install", build), ("Use", use)])
