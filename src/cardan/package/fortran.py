"""Modules of Fortran 2008 in the layout of fpm, its package manager, with a test."""

from __future__ import annotations

from ..emit.fortran import folded
from .folder import Files, template
from .language import Language, Numbers, Record, described, example, tests
from .plan import Plan
from .text import number, readme


def _values(values: Numbers, shape: tuple[int, ...], dtype: str) -> str:
    kind = "dp" if dtype == "float64" else "sp"
    listed = ", ".join(f"{number(x)}_{kind}" for x in values)
    if len(shape) < 2:
        return f"[{listed}]" if shape else listed
    order = ", ".join(str(k) for k in range(len(shape), 0, -1))
    return f"reshape([{listed}], [{', '.join(map(str, shape))}], order=[{order}])"


LANGUAGE = Language(
    name="fortran",
    real={"float64": "real(dp)", "float32": "real(sp)"},
    values=_values,
    given=("{real} :: {x}{shape}", "{x} = {values}"),
    want=("real(dp) :: {x}{shape}", "{x} = {values}"),
    blank=("{real} :: {x}{shape}", ""),
    call="call {function}({arguments})",
    compare="call differs('{what}', {state}, [real({got}, dp)], [{want}], faults)",
    show="print *, '{what} =', {got}",
    inputs=Record(("type({kind}) :: {x}", "{fields}"), "{x}%{field} = {value}"),
    outputs=Record(("type({kind}) :: {x}", ""), ""),
    fielded="{x}%{field}",
    referenced=("{x}", "{x}"),
    block=("  block", "  end block"),
    indent="    ",
)


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    modules = {f"src/{function.name}.f90": function.emit("fortran") for function in plan.functions}
    names = [f"{function.name}_module" for function in plan.functions]
    uses = "\n".join(f"  use {name}" for name in names)
    use = template("fortran/use.md", name=plan.name, what=described(plan),
                   body=_folded(example(plan, LANGUAGE)))  # fmt: skip
    sections = [("Build", template("fortran/build.md", name=plan.name)), ("Use", use)]
    return {
        "README.md": readme(plan, f"{plan.name}: Fortran modules", sections),
        "fpm.toml": template("fortran/fpm.toml.txt", name=plan.name),
        f"src/{plan.name}.f90": template("fortran/module.f90", name=plan.name, uses=uses),
        **modules,
        f"test/test_{plan.name}.f90": template(
            "fortran/test.f90", name=plan.name, tests=_folded(tests(plan, LANGUAGE)),
            tolerance=f"{plan.tolerance:e}_dp",
        ),
    }, ()  # fmt: skip


def _folded(text: str) -> str:
    """Lines that no compiler finds too long."""
    return "\n".join(row for line in text.split("\n") for row in folded(line, 100))
