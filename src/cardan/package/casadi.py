"""External functions of CasADi in C: `casadi.external` loads them, and solvers that compile what
CasADi prints, as acados, link them. Each comes with its exact Jacobian, structural zeros left out.

The functions of the C package do the work, on rows; here are the interface's tables and the turn
from rows to CasADi's columns. The interface is that of CasADi's user guide, section on external
functions: n_in, n_out, name_in, name_out, sparsity_in, sparsity_out, work, and the function
itself; the Jacobian is jac_NAME, of the inputs and the outputs, one block per pair (CasADi 3.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ..catalogue import MENU
from ..catalogue import model as derive
from ..describe.robot import Robot
from ..emit.c import commented
from ..errors import CardanError
from ..program import Program
from .c import library
from .folder import Files, template
from .plan import Function, Plan
from .text import readme, wrapped


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    rows = replace(plan, functions=tuple(replace(f, name=f"{f.name}_rows") for f in plan.functions))
    sources = {}
    for function in plan.functions:
        slopes = _derivatives(plan.robot, function)
        name = f"{function.name}_jacobian_rows"
        sources[f"src/{name}.c"] = slopes.emit("c", function=name)
        sources[f"src/{function.name}.c"] = _source(function, slopes)
    names = [function.name for function in plan.functions]
    use = template("casadi/use.md", name=plan.name, function=names[0])
    page = readme(plan, f"{plan.name}: external functions of CasADi", [("Build and use", use)])
    return {"README.md": page, **library(rows, sources)}, ()


def _derivatives(robot: Robot, function: Function) -> Program:
    """All partial derivatives of a program: those of the menu where it has them, of fewer
    operations, else those of the program itself."""
    program, options = function.program, function.options
    own, name = program.derivatives(), f"{program.model}-derivatives"
    if options is None or name not in MENU or robot.constrained or program.parameters:
        return own
    if not set(options) <= set(MENU[name].options):
        return own
    try:
        listed: Program = derive(robot, name, **options)
    except CardanError:
        return own
    same = listed.inputs == program.inputs and set(own.outputs) == set(listed.outputs)
    return listed if same and listed.cost.total < own.cost.total else own


@dataclass(frozen=True)
class _Block:
    """An argument or a result: its matrix by columns, and where its entries lie in our rows."""

    name: str
    shape: tuple[int, int]
    places: np.ndarray  # (nonzeros,) of the array by rows
    sparsity: tuple[int, ...]
    size: int = 0  # of the array by rows; 0: not asked for

    @property
    def direct(self) -> bool:
        """Does CasADi's array lie as ours does?"""
        return len(self.places) == self.size and bool(np.all(np.diff(self.places) == 1))


def _block(name: str, present: np.ndarray, at: np.ndarray, size: int) -> _Block:
    """present: which entries of the matrix may be other than zero; at: their places."""
    rows, columns = present.shape
    places = np.concatenate([at[present[:, c], c] for c in range(columns)])
    if present.all():
        return _Block(name, (rows, columns), places, (rows, columns, 1), size)
    starts = np.concatenate([[0], np.cumsum(present.sum(0))])
    kept = [int(r) for c in range(columns) for r in np.flatnonzero(present[:, c])]
    return _Block(name, (rows, columns), places, (rows, columns, *map(int, starts), *kept), size)


def _matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of an array as CasADi sees it; what has more axes is flat from the second
    on."""
    return (shape[0] if shape else 1), prod(shape[1:])


def _order(shape: tuple[int, ...]) -> np.ndarray:
    """Our place of each element of CasADi's vec, which stacks columns."""
    return np.arange(prod(shape)).reshape(_matrix(shape)).ravel(order="F")


def _arrays(shapes: dict[str, tuple[int, ...]], prefix: str = "") -> list[_Block]:
    return [
        _block(prefix + name, np.ones(_matrix(shape), bool),
               np.arange(prod(shape)).reshape(_matrix(shape)), prod(shape))
        for name, shape in shapes.items()
    ]  # fmt: skip


def _source(function: Function, slopes: Program) -> str:
    program = function.program
    inputs, outputs = _arrays(program.inputs), _arrays(program.outputs)
    unused = [replace(block, size=0) for block in _arrays(program.outputs, "out_")]
    present, jacobian, results = slopes.sparsity, [], {}
    for y, of_y in program.outputs.items():
        for x, of_x in program.inputs.items():
            size = (prod(of_y), prod(of_x))
            at = np.arange(prod(size)).reshape(size)[np.ix_(_order(of_y), _order(of_x))]
            nonzero = present[f"d{y}_d{x}"].reshape(-1)[at]
            jacobian.append(_block(f"jac_{y}_{x}", nonzero, at, prod(size)))
            results[f"d{y}_d{x}"] = jacobian[-1]
    lines = commented([f"{function.model} as an external function of CasADi, and its Jacobian"])
    lines += ["#if defined(_WIN32)", "#define EXPORT __declspec(dllexport)", "#else",
              '#define EXPORT __attribute__((visibility("default")))', "#endif", "",
              "typedef long long int Int;", ""]  # fmt: skip
    order = [results.get(name) for name in slopes.outputs]
    sizes = [prod(shape) for shape in slopes.outputs.values()]
    lines += _interface(function.name, f"{function.name}_rows", inputs, outputs,
                        list(zip(outputs, [b.size for b in outputs], strict=True)))  # fmt: skip
    lines += _interface(f"jac_{function.name}", f"{function.name}_jacobian_rows",
                        [*inputs, *unused], jacobian,
                        list(zip(order, sizes, strict=True)))  # fmt: skip
    return "\n".join(lines)


def _interface(
    name: str, kernel: str, inputs: Sequence[_Block], outputs: Sequence[_Block],
    results: Sequence[tuple[_Block | None, int]],
) -> list[str]:  # fmt: skip
    """What CasADi asks of a function. results: the kernel's outputs with their sizes, in its order;
    None where CasADi does not want one."""
    lines = [f"EXPORT Int {name}_n_in(void) {{ return {len(inputs)}; }}",
             f"EXPORT Int {name}_n_out(void) {{ return {len(outputs)}; }}", ""]  # fmt: skip
    for side, blocks in (("in", inputs), ("out", outputs)):
        names = wrapped(", ".join(f'"{block.name}"' for block in blocks))
        lines += [f"EXPORT const char *{name}_name_{side}(Int k)", "{",
                  "    static const char *const names[] = {", names, "    };",
                  f"    return k >= 0 && k < {len(blocks)} ? names[k] : 0;", "}", ""]  # fmt: skip
        lines += [f"EXPORT const Int *{name}_sparsity_{side}(Int k)", "{"]
        for k, block in enumerate(blocks):
            lines.append(wrapped(f"static const Int s{k}[] = {{{_listed(block.sparsity)}}};"))
        table = wrapped(", ".join(f"s{k}" for k in range(len(blocks))), "        ")
        lines += ["    static const Int *const all[] = {", table, "    };",
                  f"    return k >= 0 && k < {len(blocks)} ? all[k] : 0;", "}", ""]  # fmt: skip
    used = [block for block in inputs if block.size]
    work = sum(block.size for block in used) + sum(size for _, size in results)
    lines += [
        f"EXPORT int {name}_work(Int *sz_arg, Int *sz_res, Int *sz_iw, Int *sz_w)", "{",
        f"    if (sz_arg) *sz_arg = {len(inputs)};", f"    if (sz_res) *sz_res = {len(outputs)};",
        "    if (sz_iw) *sz_iw = 0;", f"    if (sz_w) *sz_w = {work};", "    return 0;", "}", "",
    ]  # fmt: skip
    pointers = ["const double *"] * len(used) + ["double *"] * len(results)
    lines += [wrapped(f"void {kernel}({', '.join(pointers)});", "")]
    lines += [f"EXPORT int {name}(const double **arg, double **res, Int *iw, double *w, int mem)",
              "{"]  # fmt: skip
    places = {
        f"{side}{k}": block for side, blocks in (("x", inputs), ("y", outputs))
        for k, block in enumerate(blocks)
        if block.size and len(block.places) and not block.direct
    }  # fmt: skip
    for place, block in places.items():
        lines.append(wrapped(f"static const int {place}[] = {{{_listed(block.places)}}};"))
    lines += ["    int k;", "    (void)iw;", "    (void)mem;"]
    body, after, arguments, at = [], [], [], 0
    for k, block in enumerate(inputs):
        if not block.size:
            continue
        here = f"w + {at}"
        index = "k" if block.direct else f"x{k}[k]"
        loop = f"for (k = 0; k < {block.size}; ++k) (w + {at})[{index}] ="
        if block.direct:
            body.append(f"    if (!arg[{k}]) {loop} 0.0;")
            arguments.append(f"arg[{k}] ? arg[{k}] : {here}")
        else:
            body.append(f"    {loop} arg[{k}] ? arg[{k}][k] : 0.0;")
            arguments.append(here)
        at += block.size
    where = {id(block): k for k, block in enumerate(outputs)}
    for wanted, size in results:
        if wanted is not None and wanted.direct:
            k = where[id(wanted)]
            arguments.append(f"res[{k}] ? res[{k}] : w + {at}")
        else:
            arguments.append(f"w + {at}")
        if wanted is not None and not wanted.direct and len(wanted.places):
            k = where[id(wanted)]
            after.append(f"    if (res[{k}]) for (k = 0; k < {len(wanted.places)}; ++k) "
                         f"res[{k}][k] = (w + {at})[y{k}[k]];")  # fmt: skip
        at += size
    call = wrapped(f"{kernel}({', '.join(arguments)});")
    return [*lines, *body, call, *after, "    return 0;", "}", ""]


def _listed(values: Sequence[int] | np.ndarray) -> str:
    return ", ".join(str(int(x)) for x in values) or "0"
