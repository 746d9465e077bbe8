"""The C library in the layout of Arduino and PlatformIO, with a sketch that runs and times it."""

from __future__ import annotations

from . import c
from .folder import Files, template
from .language import called, described
from .plan import Plan
from .text import readme


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    function = plan.functions[0]
    sources = {f"src/{function.name}.c": function.emit("c") for function in plan.functions}
    names = {"name": plan.name, "title": plan.title}
    sketch = template("arduino/sketch.ino", **names, what=described(plan),
                      body="\n".join(called(plan, c.LANGUAGE, function)))  # fmt: skip
    sections = [("Install", template("arduino/install.md", **names)), ("Use", c.printed(plan))]
    return {
        "README.md": readme(plan, f"{plan.name}: Arduino library", sections),
        "library.properties": template("arduino/library.properties", **names),
        "library.json": template("arduino/library.json", **names),
        f"src/{plan.name}.h": c.header(plan),
        **sources,
        f"examples/{plan.name}/{plan.name}.ino": sketch,
        f"test/test_{plan.name}/test_{plan.name}.c": c.test_program(plan),
    }, ()
