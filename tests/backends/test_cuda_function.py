"""The GPU function on a device that is not there: a stand-in for CuPy computes with NumPy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.errors import CardanWarning
from cardan.program import Program
from cardan.run import cuda


def stand_in(program: Program, shared: int) -> Any:
    """CuPy as far as it is used; its kernels run the interpreter on structures of arrays."""

    def batch(blocks: Any, threads: Any, given: tuple[Any, ...], shared_mem: int = 0) -> None:
        assert shared_mem == 0
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

    kernels = {"cardan_program_batch": batch, "cardan_program_rows": rows}
    module = SimpleNamespace(get_function=kernels.__getitem__)
    device = SimpleNamespace(attributes={"MaxSharedMemoryPerBlockOptin": shared})
    names = ("ndarray", "asarray", "ascontiguousarray", "broadcast_to", "empty", "from_dlpack")
    return SimpleNamespace(
        **{name: getattr(np, name) for name in names},
        RawModule=lambda **_: module,
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
