"""Inverse geometry of robots with closed loops as source text: the code of the chain, that of the
loops, and a function that calls one for each answer of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..describe.robot import REVOLUTE
from ..emit import require_name
from ..emit.header import quoted
from ..errors import ModelError
from ..inverse.closed_form.batch import Closed
from ..ir.trace import Tracer
from ..kernel.text import Face, kernel_source
from ..mechanism.loops import opened
from ..models.bodies import bodies
from ..models.loops import closing_error, coupling_error
from ..program import Program
from .analytic import plan_of
from .code import require_steps, with_symbols
from .joined import Part, called, joined
from .kernels import MOST, assemblies
from .numeric import skeleton

if TYPE_CHECKING:
    from .inverse import Closure

__all__ = ["emitted"]

ROWS = 256  # configurations that there is room for
CLOSED = 1e-8  # rad, or of the robot's size (with symbols 1 m): how far loops may be open
TURN = "6.283185307179586"
CHAIN = 64  # configurations of the chain that there is room for


def emitted(ik: Closure, language: str, function: str) -> str:
    """Self-contained code, c, cpp, python or matlab, of all configurations of a pose."""
    called(language)
    require_name(language, function)
    if ik.arm.plane:
        raise ModelError("code of closed loops takes given joints, not an arm angle")
    chain, loops, test = (f"{function}_{x}" for x in ("chain", "loops", "open"))
    residual = _residual(ik)
    parts = [
        Part(chain, ik.arm.emit(language, function=chain)),
        Part(loops, _loops(ik, language, loops)),
        Part(test, residual.emit(language, function=test)),
    ]
    own = ik.arm.program.parameters if isinstance(ik.arm.solver, Closed) else ()
    closing = ik.loops.parameters
    used = {*own, *closing, *residual.parameters}
    names = [name for name in ik.robot.parameters if name in used]
    sizes = {
        "T": 16, "free": len(ik.arm.free), "held": len(ik.held), "p": len(names),
    }  # fmt: skip
    inputs = {name: size for name, size in sizes.items() if size}
    picks = {
        "own": [names.index(x) for x in own], "closing": [names.index(x) for x in closing],
        "testing": [names.index(x) for x in residual.parameters],
    }  # fmt: skip
    write = {"c": _c, "cpp": _cpp, "python": _python, "matlab": _matlab}[language]
    driver = write(_Frame(ik, function, inputs, picks, residual.outputs["r"][0]))
    return joined(language, parts, driver, _header(ik, inputs, names))


def _residual(ik: Closure) -> Program:
    """How far loops and couplings are open: lengths over the robot's size."""
    tracer = Tracer()
    link = ik.loops.coordinates
    bare = skeleton(ik.robot)
    scene = bodies(opened(bare), tracer.parameter)
    q = tracer.array("q", len(link.moving))
    size = 1 if ik.loops.parameters else ik.loops.system(values=ik.defaults).size
    r = []
    for loop in link.loops:
        lengths = {"prismatic": 2, "cylindrical": 2}.get(loop.kind, 3)
        error = closing_error(scene, q, loop)
        r += [x / size if i < lengths else x for i, x in enumerate(error)]
    r += [coupling_error(scene, q, j) for j in link.led]
    code, names = tracer.program({"r": ((len(r),), r)}, None, bare.parameters)
    return Program("closing", ik.robot.name, code, names)


def _loops(ik: Closure, language: str, function: str) -> str:
    """The loops at the joints of the chain, whatever the limits."""
    geometry = ik.loops
    if geometry.parameters:
        return with_symbols(geometry, language, function, limited=False)
    chain = geometry.system(values=ik.defaults).chain
    known = geometry._columns[0][: len(geometry.given)]
    plan = plan_of(chain, require_steps(geometry), known, limited=False)
    tables = {"frames": chain.table, "plan": plan}
    face = Face(
        function, {"given": len(geometry.given)},
        {"q": MOST * len(geometry.coordinates.moving), "info": 2},
        {key: [float(x) for x in table] for key, table in tables.items()},
    )  # fmt: skip
    return kernel_source(language, assemblies, face)


class _Frame:
    """What the drivers of all languages need."""

    def __init__(
        self, ik: Closure, function: str, inputs: dict[str, int],
        picks: dict[str, list[int]], equations: int,
    ) -> None:  # fmt: skip
        link = ik.loops.coordinates
        self.name, self.inputs, self.picks, self.equations = function, inputs, picks, equations
        self.n, self.m, self.held = len(link.moving), ik.chain.n, len(ik.held)
        self.given = self.m + self.held
        column = link.moving.index
        first = equations - len(link.led)
        self.turns = [
            (first + k, column(j)) for k, j in enumerate(link.led)
            if j in ik.loops.given and link.robot.joints[j - 1].sigma == REVOLUTE
        ]  # fmt: skip

    def call(self, part: str, *arguments: str, of: str = "", more: Sequence[str] = ()) -> str:
        """A call, with the symbols that a part takes."""
        own = [of] if of and self.picks[of] else []
        return f"{self.name}_{part}({', '.join([*arguments, *own, *more])})"

    def chosen(self, spelled: str, first: int = 0) -> list[tuple[str, list[str]]]:
        """The vectors of symbols of the parts, where they take any."""
        return [
            (key, [spelled.format(k + first) for k in pick])
            for key, pick in self.picks.items() if pick
        ]  # fmt: skip


def _header(ik: Closure, inputs: dict[str, int], names: list[str]) -> list[str]:
    link = ik.loops.coordinates
    words = {
        "T": "pose of the frame, row by row",
        "free": f"values of {', '.join(ik.chain.names[j] for j in ik.arm.free)}",
        "held": f"values of {link.named(ik.held)}, which neither the pose nor the loops move",
        "p": f"symbols of the geometry: {' '.join(names)}",
    }
    return [
        f"{quoted(ik.robot.name)}: all configurations of a pose; frame {ik.chain.frame}",
        f"the chain {', '.join(ik.chain.names)} is solved first, then the loops for the others",
        *(step.text for step in ik.loops.steps or ()),
        "",
        *(f"{name:6} {words[name]}" for name in inputs),
        f"q      configurations, one after the other, {ROWS} at most: {link.named(link.moving)}",
        f"loops may be open by {CLOSED:g} rad or of the robot's size",
        "",
    ]


def _c(x: _Frame) -> str:
    arguments = ", ".join(f"const double {name}[{size}]" for name, size in x.inputs.items())
    head = f"int {x.name}({arguments}, double q[{ROWS * x.n}])"
    lines = [f"{head};", "", head, "{"]
    lines += [
        f"    const double {key}[{len(items)}] = {{{', '.join(items)}}};"
        for key, items in x.chosen("p[{}]")
    ]
    free = ["free"] if "free" in x.inputs else []
    lines += [
        f"    double chain[{CHAIN * x.m}], given[{x.given}], every[{MOST * x.n}], info[2],"
        f" r[{x.equations}], *at;",
        "    int count = 0, i, j, k, closed;",
        f"    const int found = {x.call('chain', 'T', *free, of='own', more=['chain'])};",
        "    for (i = 0; i < found; i++) {",
        f"        for (j = 0; j < {x.m}; j++)",
        f"            given[j] = chain[{x.m}*i + j];",
    ]
    if x.held:
        lines += [f"        for (j = 0; j < {x.held}; j++)",
                  f"            given[{x.m} + j] = held[j];"]  # fmt: skip
    lines += [
        f"        {x.call('loops', 'given', of='closing', more=['every', 'info'])};",
        "        for (k = 0; k < (int)info[0]; k++) {",
        f"            at = every + {x.n}*k;",
    ]
    test = f"            {x.call('open', 'at', of='testing', more=['r'])};"
    for row, column in x.turns:
        lines += [
            test,
            f"            at[{column}] -= {TURN}*floor(r[{row}]/{TURN} + 0.5);",
        ]
    lines += [
        test,
        "            closed = 1;",
        f"            for (j = 0; j < {x.equations}; j++)",
        f"                closed = closed && fabs(r[j]) < {CLOSED!r};",
        f"            if (closed && count < {ROWS}) {{",
        f"                for (j = 0; j < {x.n}; j++)",
        f"                    q[{x.n}*count + j] = at[j];",
        "                count++;",
        "            }",
        "        }",
        "    }",
        "    return count;",
        "}",
    ]
    return "\n".join(["", *lines, ""])


def _cpp(x: _Frame) -> str:
    arguments = ", ".join(f"const double *{name}" for name in x.inputs)
    free = ["free"] if "free" in x.inputs else []

    def array(name: str, size: int) -> str:
        return f"    std::array<double, {size}> {name};"

    lines = [f"inline int {x.name}({arguments}, double *q)", "{"]
    lines += [
        f"    const std::array<double, {len(items)}> {key} = {{{', '.join(items)}}};"
        for key, items in x.chosen("p[{}]")
    ]

    def data(part: str, *first: str, of: str, more: Sequence[str]) -> str:
        own = [f"{of}.data()"] if x.picks[of] else []
        return f"{x.name}_{part}({', '.join([*first, *own, *more])})"

    lines += [
        array("chain", CHAIN * x.m), array("given", x.given), array("every", MOST * x.n),
        array("info", 2), array("r", x.equations),
        "    int count = 0;",
        f"    const int found = {data('chain', 'T', *free, of='own', more=['chain.data()'])};",
        "    for (int i = 0; i < found; i++) {",
        f"        for (int j = 0; j < {x.m}; j++)",
        f"            given.data()[j] = chain.data()[{x.m}*i + j];",
    ]  # fmt: skip
    if x.held:
        lines += [f"        for (int j = 0; j < {x.held}; j++)",
                  f"            given.data()[{x.m} + j] = held[j];"]  # fmt: skip
    lines += [
        f"        {x.call('loops', 'given', of='closing', more=['every', 'info'])};",
        "        for (int k = 0; k < static_cast<int>(info[0]); k++) {",
        f"            double *at = every.data() + {x.n}*k;",
    ]
    test = f"            {data('open', 'at', of='testing', more=['r.data()'])};"
    for row, column in x.turns:
        lines += [
            test,
            f"            at[{column}] -= {TURN}*std::floor(r[{row}]/{TURN} + 0.5);",
        ]
    lines += [
        test,
        "            bool closed = true;",
        "            for (const double e : r)",
        f"                closed = closed && std::abs(e) < {CLOSED!r};",
        f"            if (closed && count < {ROWS}) {{",
        f"                for (int j = 0; j < {x.n}; j++)",
        f"                    q[{x.n}*count + j] = at[j];",
        "                count++;",
        "            }",
        "        }",
        "    }",
        "    return count;",
        "}",
    ]
    return "\n".join(["", *lines, ""])


def _python(x: _Frame) -> str:
    free = ["free"] if "free" in x.inputs else []
    held = " + list(held)" if x.held else ""
    lines = ["", f"def {x.name}({', '.join(x.inputs)}):",
             '    """All configurations of one pose T (4, 4): a list of rows."""']  # fmt: skip
    lines += [f"    {key} = [{', '.join(items)}]" for key, items in x.chosen("p[{}]")]
    lines += [
        "    rows = []",
        f"    for chain in {x.call('chain', 'T', *free, of='own')}:",
        f"        every, info = {x.call('loops', f'list(chain){held}', of='closing')}",
        "        for k in range(int(info[0])):",
        f"            at = every[{x.n}*k:{x.n}*(k + 1)]",
    ]
    for row, column in x.turns:
        lines += [
            f"            turns = {x.call('open', 'at', of='testing')}[{row}]/{TURN}",
            f"            at[{column}] -= {TURN}*round(float(turns))",
        ]
    lines += [
        f"            if max(abs(e) for e in {x.call('open', 'at', of='testing')}) < {CLOSED!r}:",
        "                rows.append(at)",
        "    return rows",
    ]
    return "\n".join([*lines, ""])


def _matlab(x: _Frame) -> str:
    free = ["free"] if "free" in x.inputs else []
    held = ", held(:).'" if x.held else ""
    lines = [f"function q = {x.name}({', '.join(x.inputs)})",
             "  % All configurations of one pose T (4x4): the rows of q."]  # fmt: skip
    lines += [f"  {key} = [{'; '.join(items)}];" for key, items in x.chosen("p({})", 1)]
    lines += [
        f"  q = zeros(0, {x.n});",
        f"  chain = {x.call('chain', 'T', *free, of='own')};",
        "  for i = 1:size(chain, 1)",
        f"    [every, info] = {x.call('loops', f'[chain(i, :){held}]', of='closing')};",
        "    for k = 1:info(1)",
        f"      at = every({x.n}*(k - 1) + 1:{x.n}*k);",
    ]
    for row, column in x.turns:
        lines += [
            f"      r = {x.call('open', 'at', of='testing')};",
            f"      at({column + 1}) = at({column + 1}) - 2*pi*round(r({row + 1})/(2*pi));",
        ]
    lines += [
        f"      if max(abs({x.call('open', 'at', of='testing')})) < {CLOSED!r}",
        "        q = [q; at];",
        "      end",
        "    end",
        "  end",
        "end",
    ]
    return "\n".join([*lines, ""])
