"""A Julia package: a module of functions, with its project file and tests."""

from __future__ import annotations

import uuid

from ..emit.header import quoted
from .folder import Files, template
from .language import Language, Numbers, described, example, tests
from .plan import Plan
from .text import number, readme


def _values(values: Numbers, shape: tuple[int, ...], dtype: str) -> str:
    """Row by row; Julia lists column by column."""
    listed = ", ".join(number(x) for x in values)
    if not shape:
        return listed
    text = f"[{listed}]"
    if len(shape) > 1:
        sizes = ", ".join(map(str, reversed(shape)))
        order = ", ".join(map(str, range(len(shape), 0, -1)))
        text = f"permutedims(reshape({text}, {sizes}), ({order}))"
    return text if dtype == "float64" else f"Float32.({text})"


LANGUAGE = Language(
    name="julia",
    real={"float64": "Float64", "float32": "Float32"},
    values=_values,
    given=("{x} = {values}", ""),
    want=("{x} = {values}", ""),
    call="{x} = {function}({arguments})",
    compare='@test differs("{what}", {state}, {got}, {want}) == 0',
    show='println("{what} = ", {got})',
    returned=("{x}", "{x}[{k}]"),
    block=("    let", "    end"),
    test=('@testset "{name}" begin', "end"),
)


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    title = "".join(word.capitalize() for word in plan.name.split("_"))
    names = {"name": plan.name, "title": title}
    texts = {f"src/{function.name}.jl": function.emit("julia") for function in plan.functions}
    public = [printer.name for function in plan.functions for printer in function.printers("julia")]
    included = "\n".join(f'include("{path.removeprefix("src/")}")' for path in texts)
    body = example(plan, LANGUAGE).replace("\n    ", "\n").removeprefix("    ")
    use = template("julia/use.md", **names, what=described(plan), body=body)
    sections = [("Build", template("julia/build.md", **names)), ("Use", use)]
    key = uuid.uuid5(uuid.NAMESPACE_DNS, f"cardan.{plan.name}.{plan.robot.name}")
    return {
        "README.md": readme(plan, f"{title}: Julia package", sections),
        "Project.toml": template("julia/Project.toml.txt", **names, uuid=key),
        f"src/{title}.jl": template(
            "julia/module.jl", **names, robot=quoted(plan.title), included=included,
            public=", ".join(public),
        ),
        **texts,
        "test/runtests.jl": template(
            "julia/runtests.jl", **names, tests=tests(plan, LANGUAGE),
            tolerance=f"{plan.tolerance:e}",
        ),
    }, ()  # fmt: skip
