"""A crate without dependencies: a module per function, what they need of std, tests."""

from __future__ import annotations

from ..emit.header import quoted
from ..emit.printer import Printer
from ..emit.rust import NEEDED, Rust
from .folder import Files, template
from .language import Language, Record, described, example, suffixed, tests
from .plan import Function, Plan
from .text import readme


def _called(plan: Plan, function: Function, printer: Printer) -> str:
    assert isinstance(printer, Rust)
    return f"{printer.name}{'::<Std>' if printer.generic else ''}"


_KIND = "let {x} = {kind} {{ {fields} }};"
LANGUAGE = Language(
    name="rust",
    real={"float64": "f64", "float32": "f32"},
    values=suffixed({}),
    given=("let {x}: [{real}; {size}] = [{values}];", ""),
    want=("let {x}: [f64; {size}] = [{values}];", ""),
    blank=("let mut {x}: [{real}; {size}] = [0.0; {size}];", ""),
    passed=("&{x}", "&mut {x}"),
    call="{function}({arguments});",
    compare='compare("{what}", {state}, &{got}, &{want});',
    show='println!("{what} = {{:?}}", {got});',
    inputs=Record(("", _KIND), "{field}: {value}", ", "),
    outputs=Record(("", _KIND.replace("let ", "let mut ")), "{field}: [0.0; {size}]", ", "),
    referenced=("&{x}", "&mut {x}"),
    test=("#[test]\nfn test_{name}() {{", "}}"),
    function=_called,
)


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    modules = {f"src/{function.name}.rs": function.emit("rust") for function in plan.functions}
    use = template("rust/use.md", name=plan.name, what=described(plan),
                   body=example(plan, LANGUAGE))  # fmt: skip
    sections = [("Build", template("rust/build.md", name=plan.name)), ("Use", use)]
    return {
        "README.md": readme(plan, f"{plan.name}: Rust crate", sections),
        "Cargo.toml": template("rust/Cargo.toml.txt", name=plan.name),
        "src/lib.rs": _library(plan),
        **modules,
        f"tests/test_{plan.name}.rs": template(
            "rust/test.rs", name=plan.name, tests=tests(plan, LANGUAGE),
            tolerance=f"{plan.tolerance:e}",
        ),
    }, ()  # fmt: skip


def _library(plan: Plan) -> str:
    """The modules, and `Std`, which implements what they need by std."""
    real, lines = LANGUAGE.real[plan.dtype], []
    for function in plan.functions:
        lines += [f"/// {function.model}: {function.summary}", f"pub mod {function.name};",
                  f"pub use {function.name}::*;"]  # fmt: skip
    lines += ["", "/// The functions of the standard library: `function::<Std>(...)`.",
              '#[cfg(feature = "std")]', "pub struct Std;"]  # fmt: skip
    for function in plan.functions:
        written = function.printers("rust")
        needed = [f for f in NEEDED if any(node[0] == f for x in written for node in x.code.nodes)]
        if not needed:
            continue
        lines += ["", '#[cfg(feature = "std")]', f"impl {function.name}::Math for Std {{"]
        for f in needed:
            head, more = NEEDED[f].format(real=real), "x" if f == "atan2" else ""
            lines += [f"    fn {f}({head}) -> {real} {{",
                      f"        {'y' if more else 'x'}.{f}({more})", "    }"]  # fmt: skip
        lines.append("}")
    return template("rust/lib.rs", title=quoted(plan.title), body="\n".join(lines))
