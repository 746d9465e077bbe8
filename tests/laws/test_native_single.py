"""The short way from Python for one state: the same answers, no leaks, and never a crash."""

from __future__ import annotations

import gc
import inspect
import os
import pickle
import subprocess
import sys
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from tests.random_robots import bundled_trees, states

import cardan
from cardan.errors import CardanError, InputError
from cardan.run import native, single
from cardan.run.function import Function
from cardan.run.llvm.products import product_rows

pytestmark = pytest.mark.skipif(
    single.layout() is None, reason="this interpreter keeps objects in another way"
)


def shortened(name: str, model: str = "inverse-dynamics", dtype: str = "float64") -> Function:
    """A function that has seen one state."""
    function = cardan.model(bundled_trees()[name], model).compile(dtype=dtype)
    assert isinstance(function, Function)
    function(**{key: np.zeros(shape) for key, shape in function.program.inputs.items()})
    assert type(function) is not Function
    return function


@pytest.fixture(scope="module")
def arm() -> Function:
    return shortened("ur5")


def one(n: int = 6) -> dict[str, np.ndarray]:
    return {key: array[0].copy() for key, array in states(n, 1).items()}


def general(function: Function, *unnamed: Any, **keywords: Any) -> Any:
    return Function.__call__(function, *unnamed, **keywords)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("model", ["inverse-dynamics", "inertia-matrix", "jacobian", "transform"])
def test_both_ways_give_the_same_bits(model: str, dtype: str) -> None:
    function = shortened("ur5", model, dtype)
    x = {key: a.astype(dtype) for key, a in one().items() if key in function.program.inputs}
    found, expected = function(**x), general(function, **x)
    np.testing.assert_array_equal(found, expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.flags.owndata
    assert found.flags.writeable


def test_several_outputs_are_a_named_tuple() -> None:
    function = shortened("ur5", "energies")
    x = {key: a for key, a in one().items() if key in function.program.inputs}
    found, expected = function(**x), general(function, **x)
    assert type(found) is type(expected)
    for name in function.program.outputs:
        np.testing.assert_array_equal(found[name], expected[name])
    out = tuple(np.empty_like(a) for a in expected)
    assert all(a is b for a, b in zip(function(**x, out=out), out, strict=True))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_out_of_several_outputs(dtype: str) -> None:
    """A tuple of arrays is filled on the short way; what overlaps or does not fit is not."""
    function = shortened("planar1r", "inverse-dynamics-derivatives", dtype)
    rng = np.random.default_rng(3)
    x = {k: rng.uniform(1, 2, s).astype(dtype) for k, s in function.program.inputs.items()}
    expected = general(function, **x)
    out = tuple(np.zeros_like(a) for a in expected)
    for given in (out, list(out)):
        found = function(**x, out=given)
        assert type(found) is type(expected)
        for a, b, c in zip(found, out, expected, strict=True):
            assert a is b
            np.testing.assert_array_equal(a, c)
            a[...] = 0
    inside = (x["qd"], *out[1:])
    found = function(**x, out=inside)
    assert found[0] is x["qd"]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    strided = np.zeros((1, 2), dtype)[:, :1]
    found = function(**{**x, "qd": x["qd"] * 0 + 1.5}, out=(out[0], strided, *out[2:]))
    assert found[1] is strided
    shared = np.zeros(2, dtype)
    wrong: list[Any] = [
        out[:-1], (*out, out[0]), (out[0], out[0][None], *out[2:]), out[0], (3, *out[1:]), (),
        (out[0].astype(complex), *out[1:]), (shared[:1], shared[:1][None], *out[2:]),
    ]  # fmt: skip
    for given in wrong:
        with pytest.raises(InputError, match="out"):
            function(**x, out=given)
    counted = [*out, out]
    before = [sys.getrefcount(thing) for thing in counted]
    for _ in range(1000):
        function(**x, out=out)
    after = [sys.getrefcount(thing) for thing in counted]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) <= 5


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_of_products_have_the_bits_of_a_batch(dtype: str) -> None:
    """Elements of a product of matrices side by side do what each does alone."""
    robot = cardan.load("panda")
    program = cardan.model(robot, "direct-dynamics-derivatives", effort="plain")
    function = program.compile(dtype=dtype)
    assert isinstance(function, Function)
    code = function._kernels.code
    rows = product_rows(code, [1] * len(code.nodes))
    if function._kernels.machine.fma:
        assert {len(row.elements) for row in rows} <= {5, 6, 7}
        assert len(rows) == 14  # of dqdd_dq and dqdd_dqd
        assert not product_rows(code, [0] * len(code.nodes))
    draws = np.random.default_rng(8).uniform(-3, 3, (3, 40, 7)).astype(dtype)
    x = dict(zip(program.inputs, draws, strict=True))
    batch = function(**x)
    for k in range(40):
        single = function(**{key: array[k] for key, array in x.items()})
        for one, many in zip(single, batch, strict=True):
            np.testing.assert_array_equal(one, many[k])


def test_programs_from_the_disk_go_the_short_way() -> None:
    """Their names of inputs and outputs are those of anyone who types them."""
    text = cardan.model(cardan.load("planar1r"), "inverse-dynamics", effort="plain").to_json()
    function = cardan.Program.from_json(text).compile()
    x = {key: np.ones(shape) for key, shape in function.program.inputs.items()}
    expected = function(**x)
    function._allocate = None  # type: ignore[method-assign, assignment]  # of the general way
    np.testing.assert_array_equal(function(**x), expected)


def test_any_order_and_names_made_at_run_time(arm: Function) -> None:
    x = one()
    expected = arm(**x)
    for order in permutations(x):
        np.testing.assert_array_equal(arm(**{key: x[key] for key in order}), expected)
    made = {"".join(list(key)): array for key, array in x.items()}
    made["".join(["q", "d", "d"])] = made.pop("qdd")
    np.testing.assert_array_equal(arm(**made), expected)
    np.testing.assert_array_equal(arm.__call__(**x), expected)


def test_out(arm: Function) -> None:
    x = one()
    expected = arm(**x)
    out = np.zeros(6)
    assert arm(**x, out=out) is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(arm(**x, out=None), expected)
    np.testing.assert_array_equal(arm(**x, threads=2), expected)
    assert arm(**x, out=x["qd"]) is x["qd"]
    np.testing.assert_array_equal(x["qd"], expected)


class Mine(np.ndarray):
    """An array of another class."""


def odd_arrays(x: np.ndarray) -> list[Any]:
    """Other things that hold the same numbers."""
    shifted = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype)
    shifted[:] = x
    locked = x.copy()
    locked.flags.writeable = False
    double = np.repeat(x, 2)
    return [
        x.tolist(), tuple(x), x.view(Mine), shifted, locked, x.astype(">f8"), double[::2],
        x[::-1].copy()[::-1], x[None], x[None, None], np.ma.array(x), x.astype(np.longdouble),
        x.astype(object).astype(float), memoryview(x), np.broadcast_to(x, (3, 6)),
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["q", "qd", "qdd"])
def test_odd_arrays_take_the_general_way(arm: Function, key: str) -> None:
    x = one()
    for value in odd_arrays(x[key]):
        given = {**x, key: value}
        found, expected = arm(**given), general(arm, **given)
        np.testing.assert_array_equal(found, expected)
        assert found.shape == expected.shape


def test_misfits_are_errors_and_leave_the_function_good(arm: Function) -> None:
    x = one()
    expected = arm(**x)
    locked = np.zeros(6)
    locked.flags.writeable = False
    wrong: list[Any] = [
        np.zeros(5), np.zeros(7), np.zeros((6, 1)), np.array(1.0), np.zeros(6, complex), None, "q",
        object(), 3, {}, np.zeros(6, "M8[s]"), np.zeros(0), [1, [2]],
    ]  # fmt: skip
    for key in x:
        for value in wrong:
            with pytest.raises(InputError):
                arm(**{**x, key: value})
    for out in (np.zeros(5), np.zeros(6, np.float32), locked, "x", 3, np.zeros((1, 6)), ()):
        with pytest.raises(InputError, match="out"):
            arm(**x, out=out)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}), ((x["q"],), {}), ((x["q"],), x), ((), {"q": x["q"]}), ((), {**x, "z": 1}),
        ((), {**x, "threads": -1, "out": locked}),
    ]  # fmt: skip
    for unnamed, keywords in calls:
        with pytest.raises(CardanError):
            arm(*unnamed, **keywords)
    np.testing.assert_array_equal(arm(**x), expected)


def test_parameters_given_and_known() -> None:
    robot = bundled_trees()["planar2r"]
    program = cardan.model(robot, "inverse-dynamics")
    function = program.compile()
    x, p = one(2), np.linspace(0.5, 1.5, len(program.parameters))
    expected = general(function, **x, p=p)
    for _ in range(2):
        np.testing.assert_array_equal(function(**x, p=p), expected)
    with pytest.raises(InputError, match="have no value"):
        function(**x)
    known = cardan.model(bundled_trees()["ur5"], "inverse-dynamics", symbolic=True).compile()
    assert known.program.parameters
    expected = known(**one())
    np.testing.assert_array_equal(known(**one()), expected)
    np.testing.assert_array_equal(general(known, **one()), expected)


def test_no_reference_is_lost_or_kept(arm: Function) -> None:
    x, out = one(), np.zeros(6)
    counted = [*x.values(), out, np.dtype("float64"), np.ndarray, arm, type(arm).__call__]
    bad = {**x, "q": "bad"}
    before = [sys.getrefcount(thing) for thing in counted]
    nones = sys.getrefcount(None)
    for _ in range(1000):
        arm(**x)
        arm(**x, out=out)
        arm(**x, out=None)
        with pytest.raises(InputError):
            arm(**bad)
    after = [sys.getrefcount(thing) for thing in counted]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) <= 5
    assert abs(sys.getrefcount(None) - nones) <= 100


def test_memory_stays_level(arm: Function) -> None:
    both, x, y = shortened("ur5", "energies"), one(), one()
    del y["qdd"]

    def work() -> None:
        for _ in range(3000):
            arm(**x)
            both(**y)

    work()
    tracemalloc.start()
    try:
        work()
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        work()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - first < 5_000
    finally:
        tracemalloc.stop()


def test_a_function_goes_away_with_its_machine_code() -> None:
    function = shortened("cartpole")
    gone = weakref.ref(type(function))
    call, x = function.__call__, one(2)
    expected = function(**x)
    del function
    gc.collect()
    np.testing.assert_array_equal(call(**x), expected)  # the method alone keeps all it needs
    del call
    gc.collect()
    assert gone() is None


def test_it_is_still_a_function(arm: Function) -> None:
    again = pickle.loads(pickle.dumps(arm))  # noqa: S301
    assert isinstance(arm, Function)
    assert repr(arm).startswith("Function(")
    assert list(inspect.signature(arm).parameters) == ["q", "qd", "qdd", "out", "threads"]
    for _ in range(2):
        np.testing.assert_array_equal(again(**one()), arm(**one()))
    batch = states(6, 100)
    np.testing.assert_array_equal(arm(**batch)[7], arm(**{k: a[7] for k, a in batch.items()}))


def test_many_threads_at_once(arm: Function) -> None:
    x = states(6, 400)
    expected = arm(**x)
    with ThreadPoolExecutor(8) as pool:
        rows = pool.map(lambda k: arm(**{key: a[k] for key, a in x.items()}), range(400))
        np.testing.assert_array_equal(np.array(list(rows)), expected)


def test_without_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "layout", lambda: None)
    function = cardan.model(bundled_trees()["ur5"], "inverse-dynamics").compile()
    found = function(**one())
    assert type(function) is Function
    np.testing.assert_array_equal(function(**one()), found)


def test_layouts_that_are_not_ours_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = single.layout()
    assert known is not None
    for wrong in (
        single.Layout(known.head, known.tuple_items - 8, known.bytes_text),
        single.Layout(known.head, known.tuple_items, known.bytes_text + 1),
    ):
        assert not single._fits(wrong)
    monkeypatch.setattr(sys.implementation, "name", "other")
    single.layout.cache_clear()
    try:
        assert single.layout() is None
    finally:
        monkeypatch.undo()
        single.layout.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="freed memory is filled by glibc")
def test_functions_that_are_collected_leave_nothing_behind() -> None:
    """A method is freed after its definition where both are in a cycle: with freed memory filled
    with ones, a definition that the collector had emptied ended the process."""
    script = """
import gc
import cardan
program = cardan.model(cardan.load("ur5"), "gravity")
for _ in range(10):
    function = program.compile()
    function(q=[0] * 6)
    function(q=[0] * 6)
    assert type(function).__call__ is not type(function).__mro__[1].__call__
    del function
    gc.collect()
"""
    surroundings = {**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
