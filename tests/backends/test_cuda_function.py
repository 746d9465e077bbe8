"""The GPU function on a device that is not there: a stand-in for CuPy computes with NumPy."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.emit.cuda_staged import THREADS, staged
from cardan.errors import CardanWarning
from cardan.program import Program
from cardan.run import cuda


def stand_in(program: Program, shared: int, registers: int = 40, staged: int = 0) -> Any:
    """CuPy as far as it is used; its kernels run the interpreter on structures of arrays."""

    def batch(blocks: Any, threads: Any, given: tuple[Any, ...], shared_mem: int = 0) -> None:
        assert shared_mem in (0, staged)
        count, *arrays = given
        inputs = dict(zip(program.inputs, arrays, strict=False))
        states = {
            name: x if name == "p" else x.T.reshape(count, *program.inputs[name])
            for name, x in inputs.items()
        }
        found = program.evaluate(**states)
        listed = found if isinstance(found, tuple) else (found,)
        for array, value in zip(arrays[len(inputs) :], listed, strict=True):
            array[...] = value.reshape(count, -1).T

    def rows(*_: Any, **__: Any) -> None:
        raise AssertionError("rows do not fit")

    def module(code: str, options: tuple[str, ...]) -> Any:
        """Compiled with so many registers: what does not fit goes to memory."""
        most = int(options[1].split("=")[1]) if len(options) > 1 else 255

        def kernel(name: str) -> Any:
            needed = registers + 10 * (name == "cardan_program_rows")
            run = partial(batch if name == "cardan_program_batch" else rows)
            run.num_regs = min(most, needed)  # type: ignore[attr-defined]
            run.local_size_bytes = 4 * max(0, needed - most)  # type: ignore[attr-defined]
            return run

        return SimpleNamespace(get_function=kernel)

    device = SimpleNamespace(attributes={"MaxSharedMemoryPerBlockOptin": shared})
    names = ("ndarray", "asarray", "ascontiguousarray", "broadcast_to", "empty", "from_dlpack")
    return SimpleNamespace(
        **{name: getattr(np, name) for name in names},
        RawModule=module,
        cuda=SimpleNamespace(Device=lambda: device),
    )


def function(program: Program, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(cuda, "_cupy", lambda: stand_in(program, 1024))
    return program.compile("cuda")


def test_rows_too_long_for_a_block_go_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    program = cardan.model(cardan.load("ur5"), "inertia-matrix", effort="plain")
    run = function(program, monkeypatch)
    q = np.random.default_rng(0).normal(size=(2, 5, 6))
    expected = program.evaluate(q=q)
    np.testing.assert_array_equal(run(q=q), expected)
    out = np.empty((2, 5, 6, 6))
    assert run(q=q, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert run(q=q[:0]).shape == (0, 5, 6, 6)
    both = cardan.model(cardan.load("ur5"), "energies")
    E, U = function(both, monkeypatch)(q=q, qd=q)
    np.testing.assert_array_equal((E, U), tuple(both.evaluate(q=q, qd=q)))


def test_a_parameter_that_vanishes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    program = cardan.model(cardan.load("rx90-base"), "bias")
    run = function(program, monkeypatch)
    monkeypatch.setattr(run, "_turned", lambda *_: None)
    with pytest.warns(CardanWarning, match="RL4"):
        run(
            q=np.ones(6), qd=np.ones(6), p=np.array([x != "RL4" for x in program.parameters], float)
        )


@pytest.mark.parametrize(
    ("dtype", "needed", "columns", "rows"),
    [
        ("float64", 90, 90, 100),  # nothing to gain
        ("float64", 150, 128, 128),
        ("float64", 195, 128, 205),  # rows: not tried
        ("float32", 80, 72, 80),  # rows: 72 would cost too much
        ("float32", 110, 110, 120),
    ],
)
def test_fewer_registers_where_they_cost_little(
    dtype: str, needed: int, columns: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = cardan.model(cardan.load("ur5"), "gravity")
    monkeypatch.setattr(cuda, "_cupy", lambda: stand_in(program, 1024, needed))
    function = program.compile("cuda", dtype)
    assert function._kernel("columns").num_regs == columns
    assert list(function._kernels) == ["columns"]  # each is compiled when it is asked for
    assert function._kernel("rows").num_regs == rows


@pytest.mark.parametrize("seconds", [(2.0, 1.0), (1.0, 2.0)])
def test_values_wait_in_shared_memory_where_that_is_faster(
    seconds: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both kernels are timed, on few states where a state has many numbers."""
    program = cardan.model(cardan.load("iiwa14"), "direct-dynamics")
    text, slots = staged(program, "cardan_program", "float64") or ("", 0)
    size = slots * THREADS * 8
    device = stand_in(program, 227 * 1024, 330, size)
    trials = iter(x for x in seconds for _ in range(4))
    event = SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    device.cuda.Event = lambda: event
    device.cuda.get_elapsed_time = lambda *_: next(trials)
    device.cuda.Device().attributes["MultiProcessorCount"] = 1
    device.random = np.random
    monkeypatch.setattr(cuda, "_cupy", lambda: device)
    monkeypatch.setattr(cuda, "_TRIAL_BYTES", 100 * 28 * 8)
    f = program.compile("cuda")
    states = {name: np.full((shape[0], 32), 0.1) for name, shape in program.inputs.items()}
    expected = program.evaluate(**{name: x.T for name, x in states.items()})
    drawn = str(np.random.get_state())
    np.testing.assert_array_equal(f(layout="columns", **states).T, expected)
    assert "__launch_bounds__" in text
    assert f._slots == ({"columns": slots} if seconds[0] > seconds[1] else {})
    assert next(trials, None) is None  # tried once
    f(layout="columns", **states)
    assert str(np.random.get_state()) == drawn
