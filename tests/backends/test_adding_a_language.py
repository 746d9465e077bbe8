"""The example of docs/adding-a-language.md: the page is executed, and what it prints is run."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.backends.agreement import Case, cases, check, special_cases
from tests.backends.runners import checked_run, state, tool, write, written

import cardan.emit
from cardan.emit.printer import Printer

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-language.md"


@pytest.fixture
def lua() -> Iterator[type[Printer]]:
    """The class of the page, registered while the test runs."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    module = types.ModuleType("example")
    exec(compile(block, str(PAGE), "exec"), module.__dict__)  # noqa: S102
    yield module.Lua
    del cardan.emit._registered["lua"]


def test_the_page_lists_every_language() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for language in cardan.emit.languages():
        assert f"`{language}`" in text
        if language in cardan.emit._READ:  # equations, not code: they have no options of code
            continue
        printer = cardan.emit._printer(language)
        row = next(line for line in text.splitlines() if re.match(rf"\|.*`{language}`.*\|", line))
        honoured = printer.honours - {"expanded", "split"}
        assert set(row.rpartition("|")[0].rpartition("|")[2].replace("`", "").split()) == honoured


def test_what_the_example_prints(lua: type[Printer]) -> None:
    assert "lua" in cardan.emit.languages()
    text = cases()[3].emit("lua")
    assert text.startswith("-- inverse-dynamics of ")
    assert re.search(r"^function case03\(q, qd, qdd\)$", text, re.MULTILINE)
    assert re.search(r"^    v\.\w+ = math\.cos\(q\[2\]\)$", text, re.MULTILINE)
    assert text.endswith("end\n")
    assert "sign" not in special_cases()[0].emit("lua").partition("function")[2]


def test_the_example_runs(lua: type[Printer], tmp_path: Path) -> None:
    interpreter = tool("lua")
    chosen = [*cases()[:10], *special_cases()]
    script = [f'dofile("{path.name}")' for path in written(chosen, tmp_path, "lua", "lua")]
    for case in chosen:
        script += [call(case, k) for k in range(min(case.states, 5))]
    write(tmp_path, "main.lua", "\n".join([PRINT, *script, ""]))
    lines = iter(checked_run([interpreter, "main.lua"], cwd=tmp_path).splitlines())
    for case in chosen:
        count = min(case.states, 5)
        rows = [[next(lines).split() for _ in case.expected] for _ in range(count)]
        expected = {name: array[:count] for name, array in case.expected.items()}
        found = {
            name: np.array([row[k] for row in rows], dtype=float).reshape(expected[name].shape)
            for k, name in enumerate(case.expected)
        }
        short = Case(case.name, case.file, case.program, case.inputs, expected, {})
        check(short, found)


PRINT = """
function show(...)
    for _, array in ipairs({...}) do
        local t = {}
        for k, x in ipairs(array) do t[k] = string.format("%.17g", x) end
        print(table.concat(t, " "))
    end
end
"""


def call(case: Case, k: int) -> str:
    given: Sequence[Any] = [np.ravel(state(case, name, k)) for name in case.program.inputs]
    tables = ", ".join("{" + ", ".join(repr(float(x)) for x in array) + "}" for array in given)
    return f"show({case.name}({tables}))"
