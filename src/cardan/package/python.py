"""A pure NumPy package that pip installs."""

from __future__ import annotations

import json
import pprint

from ..emit.header import CODING, one_line, quoted
from .folder import Files, template
from .plan import Function, Plan
from .reference import TOLERANCE
from .text import numbers, readme, wrapped

__all__ = ["files"]


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
    text = "\n".join(
        [*lines[: start + 1], *_docstring(function, lines[start]), *lines[start + 1 :]]
    )
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


def _docstring(function: Function, definition: str) -> list[str]:
    """What the function computes, and the shapes and meanings of its arrays; its inputs are called
    as its definition calls them."""
    spelled = definition[definition.index("(") + 1 : definition.rindex(")")].split(", ")
    inputs = zip(spelled, function.inputs, strict=True)
    outputs = ((array.name, array) for array in function.outputs)
    lines = [f"{function.summary[:1].upper()}{function.summary[1:]}."]
    lines += ["", "Axes before those listed are of states; they broadcast.", ""]
    for title, arrays in (("inputs", inputs), ("outputs", outputs)):
        lines.append(f"{title}:")
        for name, array in arrays:
            words = f"{name} {_shape(array.shape)}: {array.meaning}"
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
        own = [function.short, *(f"{function.short}_{ending}" for ending, _ in function.parts)]
        lines.append(f"from ._{function.short} import {', '.join(own)}")
        names += [f'"{name}"' for name in own]
    return "\n".join([*lines, "", f"__all__ = [{', '.join(names)}]", ""])


def _test(plan: Plan) -> str:
    cases = []
    for function in plan.functions:
        for example in function.examples:
            given = [_entry(a.name, example.inputs[a.name], a.shape) for a in function.inputs]
            entries = [_entry(a.name, example.outputs[a.name], a.shape) for a in function.outputs]
            cases += [
                "    (", f'        {plan.name}.{function.short},',
                "        {", *given, "        },", "        {", *entries, "        },", "    ),",
            ]  # fmt: skip
    return template(
        "python/test.py.txt", name=plan.name, cases="\n".join(cases), tolerance=f"{TOLERANCE:g}"
    )


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
    given = ", ".join(array.spelled for array in function.inputs)
    results = ", ".join(array.spelled for array in function.outputs)
    lines += [f"{results} = {plan.name}.{function.short}({given})", f"print({results})"]
    use = "```python\n" + "\n".join(lines) + "\n```\n\nArrays may have leading axes, which "
    use += "broadcast: `q` of shape (1000, n) gives 1000 results."
    if any(f.program.parameters for f in plan.functions):
        use += (
            "\n\nThe parameters of a function are named in its attribute `parameters`, in the "
            "order of `p`;\nits attribute `values` holds those that are known."
        )
    return readme(plan, f"{plan.name}: Python package", [("Install", build), ("Use", use)])
