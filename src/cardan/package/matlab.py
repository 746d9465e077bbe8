"""A folder for MATLAB and Octave: functions, MEX gateways and Simulink S-functions in C."""

from __future__ import annotations

from collections.abc import Sequence

from .folder import Files, template
from .plan import Array, Function, Plan
from .text import numbers, readme


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    texts: dict[str, str] = {"README.md": _readme(plan)}
    for function in plan.functions:
        texts[f"{function.name}.m"] = function.emit("matlab")
        for ending, program in function.parts:  # a file of MATLAB shows its first function only
            name = f"{function.name}_{ending}"
            texts[f"{name}.m"] = program.emit("matlab", function=name, split=False)
        texts[f"src/{function.name}.c"] = function.emit("c")
        texts[f"src/{function.name}_mex.c"] = _mex(function)
        texts[f"src/{function.name}_sfun.c"] = _simulink(function)
    names = ", ".join(f"'{function.name}'" for function in plan.functions)
    texts["build_mex.m"] = template("matlab/build_mex.m", names=names)
    texts[f"test_{plan.name}.m"] = _test(plan)
    return texts, ()


def _shapes(arrays: Sequence[Array]) -> str:
    """Rows of a table of C: name, rank, sizes; a vector is a column, a number one by one."""
    rows = []
    for array in arrays:
        sizes = [*array.shape, 1, 1, 1][: max(3, len(array.shape))]
        rank = max(2, len(array.shape))
        rows.append(f'    {{"{array.spelled}", {rank}, {{{", ".join(map(str, sizes))}}}}}')
    return ",\n".join(rows)


def _mex(function: Function) -> str:
    """The gateway: checks its arguments, turns columns into rows, and back."""
    arrays = (*function.inputs, *function.outputs)
    calls = [f"in_{array.spelled}" for array in function.inputs]
    calls += [f"out_{array.spelled}" for array in function.outputs]
    return template(
        "matlab/mex.c",
        function=function.name,
        n_inputs=len(function.inputs),
        n_outputs=len(function.outputs),
        rank=max(3, *(len(array.shape) for array in arrays)),
        inputs=_shapes(function.inputs),
        outputs=_shapes(function.outputs),
        buffers="\n".join(
            [f"    static double in_{array.spelled}[{array.size}];" for array in function.inputs]
            + [f"    static double out_{x.spelled}[{x.size}];" for x in function.outputs]
        ),
        reads="\n".join(
            f"    read_rows(&inputs[{k}], right[{k}], in_{array.spelled});"
            for k, array in enumerate(function.inputs)
        ),
        call=f"{function.name}({', '.join(calls)});",
        writes="\n".join(
            f"    {'' if k == 0 else f'if (n_left > {k}) '}"
            f"left[{k}] = columns(&outputs[{k}], out_{array.spelled});"
            for k, array in enumerate(function.outputs)
        ),
    )


def _simulink(function: Function) -> str:
    """The level-2 S-function: a port per array; the parameters p are those of its dialog."""
    ports = [array for array in function.inputs if array.name != "p"]
    count = next((array.size for array in function.inputs if array.name == "p"), 0)
    inputs, outputs, lines = [], [], []
    for k, array in enumerate(ports):
        inputs.append(f"    set_input(S, {k}, {array.size});")
        lines.append(f"    const double *in_{array.spelled} = ssGetInputPortSignal(S, {k});")
    if count:
        lines.append("    const double *in_p = mxGetPr(ssGetSFcnParam(S, 0));")
    calls = [f"in_{'p' if array.name == 'p' else array.spelled}" for array in function.inputs]
    after = []
    for k, array in enumerate(function.outputs):
        matrix = len(array.shape) == 2
        sizes = array.shape if matrix else (array.size, 1)
        setter = "set_matrix" if matrix else "set_vector"
        outputs.append(f"    {setter}(S, {k}, {sizes[0]}{f', {sizes[1]}' if matrix else ''});")
        lines.append(f"    double *to_{array.spelled} = ssGetOutputPortSignal(S, {k});")
        if matrix:
            lines.append(f"    double rows_{array.spelled}[{array.size}];")
            after.append(f"    transpose(rows_{array.spelled}, to_{array.spelled}, {sizes[0]}, "
                         f"{sizes[1]});")  # fmt: skip
        calls.append(f"{'rows' if matrix else 'to'}_{array.spelled}")
    body = [*lines, f"    {function.name}({', '.join(calls)});", *after]
    used = {len(array.shape) == 2 for array in function.outputs}
    helpers = [template(f"matlab/sfun_{kind}.c") for kind, flag in
               (("matrix", True), ("vector", False)) if flag in used]  # fmt: skip
    return template(
        "matlab/sfun.c", function=function.name, n_inputs=len(ports),
        n_outputs=len(function.outputs), n_parameters=count, helpers="\n".join(helpers),
        inputs="\n".join(inputs), outputs="\n".join(outputs), body="\n".join(body),
    )  # fmt: skip


def _test(plan: Plan) -> str:
    lines = []
    for function in plan.functions:
        inputs = [_cell([e.inputs[a.name] for e in function.examples], a) for a in function.inputs]
        cells = [_cell([e.outputs[a.name] for e in function.examples], a) for a in function.outputs]
        lines += [
            f"  faults = faults + check('{function.name}', {{ ...", ", ...\n".join(inputs),
            "    }, { ...", ", ...\n".join(cells), "    });",
        ]  # fmt: skip
    return template(
        "matlab/test.m", name=plan.name, cases="\n".join(lines), tolerance=f"{plan.tolerance:g}"
    )


def _cell(rows: Sequence[object], array: Array) -> str:
    """The values of an array in all states: a cell of arrays of its shape."""
    texts = [f"shaped([{numbers(row)}], [{_size(array)}])" for row in rows]  # type: ignore[arg-type]
    return "    {" + ", ...\n     ".join(texts) + "}"


def _size(array: Array) -> str:
    shape = array.shape if len(array.shape) > 1 else (array.size, 1)
    return ", ".join(map(str, shape))


def _readme(plan: Plan) -> str:
    function = plan.functions[0]
    sections = [
        ("Install", template("matlab/install.md", name=plan.name)),
        ("Use", f"```matlab\n{_example(function)}```\n"),
        ("Simulink", template("matlab/simulink.md", function=function.name)),
    ]
    return readme(plan, f"{plan.name}: MATLAB, Octave and Simulink", sections)


def _example(function: Function) -> str:
    state = function.examples[0].inputs
    lines = []
    for array in function.inputs:
        values = numbers(state[array.name])
        if len(array.shape) > 1:
            turned = ", ".join(map(str, reversed(array.shape)))
            lines.append(f"{array.spelled} = reshape([{values}], {turned})';")
        else:
            lines.append(f"{array.spelled} = [{values}];")
    results = ", ".join(array.spelled for array in function.outputs)
    arguments = ", ".join(array.spelled for array in function.inputs)
    lines.append(f"[{results}] = {function.name}({arguments})")
    return "\n".join([*lines, ""])
