"""Bridges to other systems: a program as SymPy expressions or as a CasADi function, which replay
its nodes over the other system's scalars; and as a function of JAX or PyTorch, which runs its
machine code; and a step as an action model of Crocoddyl. None of them is ever the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .emit.reading.symbols import elements
from .errors import InputError, MissingExtraError
from .exact import Exact
from .ir.code import Code
from .run.inputs import leading_shape, require_shape
from .run.outputs import outputs_type

if TYPE_CHECKING:
    from .program import Program


def to_sympy(program: Program, expanded: bool = True) -> Any:
    """Outputs as SymPy matrices (arrays beyond two axes), as they are read: in textbook form where
    that is short, else in the plain one; in symbols q1, qd1 ... (or as the robot's description
    calls its variables) and parameters.

    expanded=False gives (assignments, outputs) as sympy.cse does: a list of (symbol, expression)
    for the intermediate values, named as in the paper, and the outputs in terms of them."""
    sympy = required("sympy", "sympy", "to_sympy")
    program = program.readable if expanded else program.plain
    arrays = {name: elements(program, name, shape) for name, shape in program.inputs.items()}
    functions = {
        "sin": sympy.sin, "cos": sympy.cos, "sqrt": sympy.sqrt, "abs": sympy.Abs,
        "sign": sympy.sign, "atan2": sympy.atan2, "min": sympy.Min, "max": sympy.Max,
        "select": lambda c, a, b: sympy.Piecewise((a, c > 0), (b, True)),
    }  # fmt: skip

    def number(x: Any) -> Any:
        if isinstance(x, Exact):
            return sympy.Rational(x.a.numerator, x.a.denominator) + sympy.pi * sympy.Rational(
                x.b.numerator, x.b.denominator
            )
        return sympy.Integer(x) if isinstance(x, int) else sympy.Float(x, 17)

    def symbol(array: str, k: int) -> Any:
        name = program.parameters[k] if array == "p" else arrays[array][k].symbol
        return sympy.Symbol(name, real=True)

    assignments: list[tuple[Any, Any]] = []
    uses, labels = program.code.uses, program.code.labels

    def keep(id: int, value: Any) -> Any:
        if expanded or (uses[id] < 2 and id not in labels) or not value.args:
            return value
        name = sympy.Symbol(labels.get(id, f"t{id}"), real=True)
        assignments.append((name, value))
        return name

    outputs = _replayed(program.code, functions, number, symbol, keep)
    shaped = {name: _shaped(sympy, flat, program.outputs[name]) for name, flat in outputs.items()}
    return shaped if expanded else (assignments, shaped)


def _shaped(sympy: Any, flat: list[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) <= 2:
        return sympy.Matrix(*(shape if len(shape) == 2 else (shape[0], 1)), flat)
    return sympy.ImmutableDenseNDimArray(flat, shape)


def to_casadi(program: Program) -> Any:
    """The program as a CasADi function; arrays of two axes are matrices, larger ones flat."""
    casadi = required("casadi", "casadi", "to_casadi")
    functions = {
        "sin": casadi.sin, "cos": casadi.cos, "sqrt": casadi.sqrt, "abs": casadi.fabs,
        "sign": casadi.sign, "atan2": casadi.atan2, "min": casadi.fmin, "max": casadi.fmax,
        "select": lambda c, a, b: casadi.if_else(c > 0, a, b),
    }  # fmt: skip
    arrays = {
        name: casadi.SX.sym(name, *_matrix_shape(shape)) for name, shape in program.inputs.items()
    }

    def element(array: str, k: int) -> Any:
        columns = _matrix_shape(program.inputs[array])[1]
        return arrays[array][k // columns, k % columns]

    outputs = _replayed(
        program.code, functions, lambda x: casadi.SX(float(x)), element, lambda id, value: value
    )
    results = []
    for name, flat in outputs.items():
        rows, columns = _matrix_shape(program.outputs[name])
        matrix = casadi.SX(rows, columns)
        for k, value in enumerate(flat):
            matrix[k // columns, k % columns] = value
        results.append(matrix)
    name = "".join(c if c.isalnum() else "_" for c in f"{program.robot}_{program.model}")
    return casadi.Function(
        f"cardan_{name}", list(arrays.values()), results, list(arrays), list(outputs)
    )


def to_jax(program: Program) -> Any:
    """The program as a JAX function of its inputs, in their order or by name: machine code on JAX's
    arrays, with gradients of every order by adjoint programs. Leading axes are a batch."""
    jax = required("jax", "jax", "to_jax")
    names, shapes, outputs = list(program.inputs), program.inputs, program.outputs
    compiled, record = program.compile(), outputs_type(tuple(outputs))
    known: list[Any] = []  # the function of the adjoint program, derived when first asked for

    def native(*arrays: Any) -> tuple[Any, ...]:
        dtype, lead = arrays[0].dtype, arrays[0].shape[: arrays[0].ndim - len(shapes[names[0]])]

        def run(*values: Any) -> tuple[Any, ...]:
            arrays = (np.asarray(x, float) for x in values)
            inputs: dict[str, Any] = dict(zip(names, arrays, strict=True))
            result = compiled(**inputs)
            parts = (result,) if len(outputs) == 1 else result
            return tuple(np.asarray(part, dtype) for part in parts)

        kinds = tuple(jax.ShapeDtypeStruct((*lead, *shape), dtype) for shape in outputs.values())
        return tuple(jax.pure_callback(run, kinds, *arrays, vmap_method="broadcast_all"))

    differentiable = jax.custom_vjp(native)

    def sweep(arrays: Any, weights: Any) -> tuple[Any, ...]:
        if not known:
            known.append(to_jax(program.adjoint()))
        slopes = known[0](*arrays, *weights)
        return (slopes,) if len(names) == 1 else tuple(slopes)

    differentiable.defvjp(lambda *arrays: (differentiable(*arrays), arrays), sweep)

    def function(*arrays: Any, **named: Any) -> Any:
        values = [jax.numpy.asarray(x) for x in _in_order(names, arrays, named)]
        for name, x in zip(names, values, strict=True):
            if not jax.numpy.issubdtype(x.dtype, np.floating) and x.dtype.kind not in "iu":
                raise _not_real(name, x)
            require_shape(name, x.shape, shapes[name])
        values = [x.astype(jax.numpy.result_type(float, *values)) for x in values]
        lead = leading_shape(dict(zip(names, values, strict=True)), shapes)
        values = [
            jax.numpy.broadcast_to(x, (*lead, *shapes[name]))
            for name, x in zip(names, values, strict=True)
        ]
        results = differentiable(*values)
        return results[0] if len(results) == 1 else record(*results)

    return function


def _in_order(names: Sequence[str], arrays: Sequence[Any], named: dict[str, Any]) -> list[Any]:
    """The inputs of a call, some by their place and some by name."""
    table = dict(zip(names, arrays, strict=False)) | named
    if set(table) != set(names) or len(table) < len(arrays) + len(named):
        raise InputError(f"the function takes {', '.join(names)}, each once")
    return [table[name] for name in names]


def _not_real(name: str, value: Any) -> InputError:
    place, found = f"input '{name}'", getattr(value, "dtype", type(value).__name__)
    return InputError(f"{place} has type {found}", where=place, remedy="real numbers are expected")


def to_torch(program: Program) -> Any:
    """The program as a PyTorch function of its inputs, in their order or by name; leading axes
    broadcast. Tensors of the processor are read and written where they lie, those of a GPU go to
    the CUDA code through DLPack. Gradients of every order are those of the adjoint program, of the
    inputs that need one; derivatives along a direction those of the tangent program."""
    torch = required("torch", "torch", "to_torch")
    names, shapes, outputs = list(program.inputs), program.inputs, tuple(program.outputs)
    record, run = outputs_type(outputs), _on_tensors(torch, program)
    known: dict[Any, Any] = {}  # functions of the derivatives, derived when first asked for

    def derivative(kind: str, wrt: tuple[str, ...]) -> Any:
        if (kind, wrt) not in known:
            known[kind, wrt] = to_torch(getattr(program, kind)(wrt))
        return known[kind, wrt]

    class Native(torch.autograd.Function):  # type: ignore[misc, name-defined, unused-ignore]
        @staticmethod
        def forward(*tensors: Any) -> tuple[Any, ...]:
            return run(*tensors)

        @staticmethod
        def setup_context(context: Any, inputs: tuple[Any, ...], output: Any) -> None:
            context.save_for_backward(*inputs)
            context.save_for_forward(*inputs)

        @staticmethod
        def backward(context: Any, *weights: Any) -> tuple[Any, ...]:
            tensors, needed = context.saved_tensors, context.needs_input_grad
            wrt = tuple(name for name, need in zip(names, needed, strict=True) if need)
            result = derivative("adjoint", wrt)(*tensors, *weights)
            slopes = dict(zip(wrt, (result,) if len(wrt) == 1 else result, strict=True))
            return tuple(
                slopes[name].sum_to_size(x.shape) if name in slopes else None
                for name, x in zip(names, tensors, strict=True)
            )

        @staticmethod
        def jvp(context: Any, *directions: Any) -> tuple[Any, ...]:
            table = {x: v for x, v in zip(names, directions, strict=True) if v is not None}
            result = derivative("tangent", tuple(table))(*context.saved_tensors, *table.values())
            return (result,) if len(outputs) == 1 else tuple(result)

        @staticmethod
        def vmap(info: Any, axes: tuple[int | None, ...], *tensors: Any) -> tuple[Any, ...]:
            ranks = [
                x.ndim - len(shapes[name]) - (axis is not None)
                for name, axis, x in zip(names, axes, tensors, strict=True)
            ]
            aligned = [
                x if axis is None
                else x.movedim(axis, 0)[(slice(None), *[None] * (max(ranks) - rank), ...)]
                for axis, rank, x in zip(axes, ranks, tensors, strict=True)
            ]  # fmt: skip
            return Native.apply(*aligned), (0,) * len(outputs)

    def function(*tensors: Any, **named: Any) -> Any:
        values = _in_order(names, tensors, named)
        results = Native.apply(*_alike(torch, dict(zip(names, values, strict=True))))
        return results[0] if len(results) == 1 else record(*results)

    return function


def _alike(torch: Any, values: Mapping[str, Any]) -> list[Any]:
    """Numbers and tensors as tensors of one type, that of the tensors, on their device."""
    given = {name: _tensor(torch, name, x) for name, x in values.items()}
    tensors = [given[name] for name, x in values.items() if isinstance(x, torch.Tensor)]
    device = next((x.device for x in tensors if x.is_cuda), None)
    types = {x.dtype for x in tensors if x.is_floating_point()}
    dtype = torch.float64 if torch.float64 in types or not types else torch.float32
    return [x.to(device, dtype) for x in given.values()]


def _tensor(torch: Any, name: str, value: Any) -> Any:
    """A tensor of real numbers that lie in memory."""
    try:
        x = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.asarray(value))
    except (TypeError, ValueError, RuntimeError):
        raise _not_real(name, value) from None
    if x.is_complex() or x.dtype == torch.bool:
        raise _not_real(name, x)
    if x.layout != torch.strided or x.is_meta:
        place, kind = f"input '{name}'", "meta" if x.is_meta else str(x.layout)
        remedy = "give a dense one with numbers, as x.to_dense() does"
        raise InputError(f"{place} is a {kind} tensor", where=place, remedy=remedy)
    return x.resolve_neg()


def _on_tensors(torch: Any, program: Program) -> Callable[..., tuple[Any, ...]]:
    """The compiled program on tensors, without copies."""
    names = list(program.inputs)
    compiled: dict[tuple[str, str], Any] = {}

    def run(*tensors: Any) -> tuple[Any, ...]:
        target = "cuda" if tensors[0].is_cuda else "native"
        dtype = str(tensors[0].dtype).removeprefix("torch.")
        if (target, dtype) not in compiled:
            compiled[target, dtype] = program.compile(target, dtype)
        function = compiled[target, dtype]
        inputs = {name: x.detach() for name, x in zip(names, tensors, strict=True)}
        if target == "native":
            arrays = {name: x.numpy() for name, x in inputs.items()}
            result = function(**arrays, threads=torch.get_num_threads())
            read = torch.from_numpy
        else:
            cuda, read = function.cupy.cuda, torch.from_dlpack
            stream = torch.cuda.current_stream(tensors[0].device).cuda_stream
            with cuda.Device(tensors[0].device.index), cuda.ExternalStream(stream):
                result = function(**inputs)
        return tuple(read(x) for x in ((result,) if len(program.outputs) == 1 else result))

    return run


# (x, u or None at the last node) -> cost, Lx, Lu, Lxx, Lxu, Luu; Lu, Lxu and Luu may be None there
Cost = Callable[[np.ndarray, np.ndarray | None], tuple[Any, ...]]


def to_crocoddyl(program: Program, step: float, cost: Cost) -> Any:
    """What `discretise` made of a robot as an action model of Crocoddyl, in Python, with the
    interface of its documentation: `calc` sets xnext and cost, `calcDiff` Fx, Fu, Lx, Lu, Lxx, Lxu
    and Luu. The state is (q, qd)."""
    crocoddyl = required("crocoddyl", "crocoddyl", "to_crocoddyl")
    if "T0" in program.inputs:
        raise InputError("to_crocoddyl: the pose of a floating base is no vector of a StateVector")
    if list(program.outputs) != ["q_next", "qd_next", "A", "B"]:
        raise InputError(f"to_crocoddyl: '{program.model}' is no step; discretise gives one")
    if program.parameters:
        raise InputError("to_crocoddyl: the robot has symbols; robot.with_values gives numbers")
    n, m = program.inputs["q"][0], program.inputs["tau"][0]
    run, h = program.compile(), np.array([float(step)])

    class ActionModel(crocoddyl.ActionModelAbstract):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            crocoddyl.ActionModelAbstract.__init__(self, crocoddyl.StateVector(2 * n), m)

        def calc(self, data: Any, x: Any, u: Any = None) -> None:
            data.cost = float(cost(x, u)[0])
            if u is None:
                data.xnext = x
            else:
                end = run(q=x[:n], qd=x[n:], tau=u, h=h)
                data.xnext = np.concatenate([end.q_next, end.qd_next])

        def calcDiff(self, data: Any, x: Any, u: Any = None) -> None:
            _, data.Lx, Lu, data.Lxx, Lxu, Luu = cost(x, u)
            if u is not None:
                data.Lu, data.Lxu, data.Luu = Lu, Lxu, Luu
                end = run(q=x[:n], qd=x[n:], tau=u, h=h)
                data.Fx, data.Fu = end.A, end.B

    return ActionModel()


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    rows = shape[0] if shape else 1
    columns = 1
    for size in shape[1:]:
        columns *= size
    return rows, columns


def _replayed(
    code: Code, functions: Mapping[str, Callable[..., Any]], number: Callable[[Any], Any],
    element: Callable[[str, int], Any], keep: Callable[[int, Any], Any],
) -> dict[str, list[Any]]:  # fmt: skip
    """Every output element over another system's scalars."""
    values: list[Any] = [None]
    arithmetic: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b, "neg": lambda a: -a,
    }  # fmt: skip
    table = {**arithmetic, **functions}
    for id, node in enumerate(code.nodes[1:], 1):
        if node[0] == "const":
            values.append(number(node[1]))
        elif node[0] == "input":
            values.append(element(node[1], node[2]))
        else:
            values.append(keep(id, table[node[0]](*(values[arg] for arg in node[1:]))))
    return {
        name: [values[r] if r > 0 else -values[-r] for r in out.refs]
        for name, out in code.outputs.items()
    }


def required(module: str, extra: str, purpose: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError.of(module, extra, purpose) from None
