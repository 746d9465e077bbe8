"""Native code and arrays: any batch, layout, type and threads; parameters per state; misfits."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.random_programs import program_of, random_inputs, random_program
from tests.random_robots import bundled_trees, states

import cardan
from cardan.describe.robot import Joint, Link, Robot
from cardan.errors import CardanError, InputError, UnknownNameError
from cardan.ir.trace import Tracer
from cardan.run.function import Function, _shares
from cardan.run.views import broadcast_view, view


@cache
def compiled(name: str, dtype: str = "float64", target: str = "native") -> Function:
    return cardan.model(bundled_trees()[name], "inverse-dynamics").compile(target, dtype)


SIZES = [("planar", 1), ("ur5", 6), ("iiwa14", 7), ("tree", 8), ("cartpole", 2), ("planar3", 3)]


@cache
def chain(name: str, n: int, dtype: str) -> Function:
    """Rows of every length matter: vectors reach beyond the end of a row."""
    if not name.startswith("planar"):
        return compiled(name, dtype)
    links = tuple(Link(f"l{j}", ZZ=2, MX=1, M=3) for j in range(n))
    joints = tuple(Joint(f"j{j}", j, d=1 if j else 0) for j in range(n))
    return cardan.model(
        Robot("planar", links, joints, gravity=(0, -9, 0)), "inverse-dynamics"
    ).compile(dtype=dtype)


@pytest.mark.parametrize(("name", "n"), SIZES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_batch_size_gives_the_same_bits_and_stays_in_its_array(
    name: str, n: int, dtype: str
) -> None:
    function = chain(name, n, dtype)
    x = {key: array.astype(dtype) for key, array in states(n, 1100).items()}
    whole = function(**x)
    for count in (*range(41), 63, 64, 65, 127, 500, 1000, 1003):
        guarded = np.full(count * n + 128, 7, dtype)
        out = guarded[64 : 64 + count * n].reshape(count, n)
        found = function(**{key: array[:count] for key, array in x.items()}, out=out)
        assert found is out
        np.testing.assert_array_equal(out, whole[:count])
        assert (guarded[:64] == 7).all()
        assert (guarded[64 + count * n :] == 7).all()


@pytest.mark.parametrize("target", ["native", "numpy"])
def test_leading_axes_broadcast(target: str) -> None:
    function = compiled("ur5", target=target)
    x = states(6, 12)
    q, qd, qdd = x["q"].reshape(3, 4, 6), x["qd"][:4], x["qdd"][0]
    found = function(q=q, qd=qd, qdd=qdd)
    assert found.shape == (3, 4, 6)
    for i, k in np.ndindex(3, 4):
        one = function(q=q[i, k], qd=qd[k], qdd=qdd)
        np.testing.assert_array_equal(one, found[i, k])
    assert function(q=q[:0], qd=qd, qdd=qdd).shape == (0, 4, 6)
    assert function(q=[0] * 6, qd=[0.5] * 6, qdd=[1] * 6).shape == (6,)


def test_strided_reversed_and_foreign_inputs() -> None:
    function = compiled("ur5")
    x = states(6, 100)
    expected = function(**x)
    wide = {key: np.zeros((100, 13)) for key in x}
    for key, array in x.items():
        wide[key][:, 1::2] = array
    np.testing.assert_array_equal(
        function(**{key: array[:, 1::2] for key, array in wide.items()}), expected
    )
    backwards = function(**{key: array[::-1] for key, array in x.items()})
    np.testing.assert_array_equal(backwards[::-1], expected)
    fortran = function(**{key: np.asfortranarray(array) for key, array in x.items()})
    np.testing.assert_array_equal(fortran, expected)
    swapped = function(**{key: array.astype(">f8") for key, array in x.items()})
    np.testing.assert_array_equal(swapped, expected)
    lists = function(**{key: array.tolist() for key, array in x.items()})
    np.testing.assert_array_equal(lists, expected)
    integers = function(q=np.arange(6), qd=np.ones(6, np.int32), qdd=np.zeros(6, np.uint8))
    floats = function(q=np.arange(6.0), qd=np.ones(6), qdd=np.zeros(6))
    np.testing.assert_array_equal(integers, floats)
    odd = np.zeros(100 * 6 * 8 + 1, np.uint8)[1:].view(np.float64).reshape(100, 6)
    odd[:] = x["q"]  # not aligned to its own size
    np.testing.assert_array_equal(function(**{**x, "q": odd}), expected)


def test_inputs_are_never_written() -> None:
    function = compiled("ur5")
    x = states(6, 50)
    for array in x.values():
        array.flags.writeable = False
    before = {key: array.copy() for key, array in x.items()}
    function(**x)
    for key in x:
        np.testing.assert_array_equal(x[key], before[key])


@pytest.mark.parametrize("count", [1, 5, 40, 1000])
def test_out_may_be_strided_or_overlap_an_input(count: int) -> None:
    function = compiled("ur5")
    x = states(6, count)
    expected = function(**x)
    wide = np.full((count, 12), 7.0)
    function(**x, out=wide[:, ::2])
    np.testing.assert_array_equal(wide[:, ::2], expected)
    assert (wide[:, 1::2] == 7).all()
    for key in x:
        mine = {name: array.copy() for name, array in x.items()}
        assert function(**mine, out=mine[key]) is mine[key]
        np.testing.assert_array_equal(mine[key], expected)
    shifted = np.zeros((count + 1, 6))
    shifted[:-1] = x["q"]
    function(**{**x, "q": shifted[:-1]}, out=shifted[1:])
    np.testing.assert_array_equal(shifted[1:], expected)


def test_out_of_several_outputs() -> None:
    program = random_program(5)
    function = program.compile()
    x = random_inputs(program, (9,))
    expected = function(**x)
    out = tuple(np.empty_like(array) for array in expected)
    found = function(**x, out=out)
    for a, b, c in zip(expected, out, found, strict=True):
        np.testing.assert_array_equal(a, b)
        assert c is b
    assert expected._fields == ("u", "v")


@pytest.mark.parametrize("target", ["native", "numpy"])
def test_outs_that_do_not_fit(target: str) -> None:
    function = compiled("ur5", target=target)
    x = states(6, 4)
    locked = np.empty((4, 6))
    locked.flags.writeable = False
    bad: list[Any] = [
        np.empty((4, 5)), np.empty((3, 6)), np.empty((4, 6), np.float32), [[0.0] * 6] * 4, 3, "x",
        locked, (np.empty((4, 6)), np.empty((4, 6))), (),
    ]  # fmt: skip
    for out in bad:
        with pytest.raises(InputError, match="out"):
            function(**x, out=out)


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 0, None])
def test_threads_change_no_bit(threads: int | None) -> None:
    function = compiled("ur5")
    x = states(6, 5003)
    np.testing.assert_array_equal(function(**x, threads=threads), function(**x))


@pytest.mark.parametrize("threads", [-1, 1.5, "2"])
def test_threads_that_make_no_sense(threads: Any) -> None:
    with pytest.raises(InputError, match="threads"):
        compiled("ur5")(**states(6, 3), threads=threads)


def test_small_rows_with_threads_stay_apart() -> None:
    """The vectors of one share must not reach into the next."""
    function = chain("planar", 1, "float32")
    x = {key: array.astype("float32") for key, array in states(1, 4099).items()}
    expected = function(**x)
    for _ in range(20):
        np.testing.assert_array_equal(function(**x, threads=8), expected)


def test_one_function_called_from_many_threads() -> None:
    """First calls compile; all must get the right answer."""
    program = cardan.model(bundled_trees()["planar2r"], "inverse-dynamics")
    p = np.linspace(0.5, 1.5, len(program.parameters))
    x = states(2, 300)
    expected = program.evaluate(**x, p=p)
    function = program.compile()
    gate = threading.Barrier(8)

    def call(_: int) -> np.ndarray:
        gate.wait()
        return function(**x, p=p)

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(call, range(8)):
            near(found, expected, 1e-13)


def test_parameters_per_batch_and_per_state() -> None:
    robot = bundled_trees()["rx90"]
    program = cardan.model(robot, "inverse-dynamics")
    function = program.compile()
    x = states(6, 45)
    rng = np.random.default_rng(1)
    ps = rng.uniform(0.5, 1.5, (45, len(program.parameters)))
    found = function(**x, p=ps)
    near(found, program.evaluate(**x, p=ps), 1e-13)
    for k in (0, 7, 44):
        alone = function(**{name: a[k] for name, a in x.items()}, p=ps[k])
        np.testing.assert_array_equal(alone, found[k])
        uniform = function(**x, p=ps[k])
        np.testing.assert_array_equal(uniform[k], found[k])
    one_state = function(q=x["q"][0], qd=x["qd"][0], qdd=x["qdd"][0], p=ps)
    assert one_state.shape == (45, 6)
    np.testing.assert_array_equal(one_state[0], found[0])
    grid = function(**{name: a[:, None] for name, a in x.items()}, p=ps[:3])
    assert grid.shape == (45, 3, 6)
    np.testing.assert_array_equal(grid[2, 2], found[2])


def test_parameters_by_name_may_be_arrays() -> None:
    program = cardan.model(bundled_trees()["planar1r"], "inverse-dynamics")
    values: dict[str, Any] = dict.fromkeys(program.parameters, 1.5)
    first = program.parameters[0]
    table = np.linspace(1, 2, 20)
    found = program.compile()(q=[0.3], qd=[0.1], qdd=[2.0], p={**values, first: table})
    for k in (0, 19):
        one = program.compile()(q=[0.3], qd=[0.1], qdd=[2.0], p={**values, first: table[k]})
        np.testing.assert_array_equal(found[k], one)


@pytest.mark.parametrize("target", ["native", "numpy"])
def test_a_function_can_be_pickled(target: str) -> None:
    for function in (compiled("ur5", target=target), compiled("ur5", "float32", target)):
        again = pickle.loads(pickle.dumps(function))  # noqa: S301
        x = states(6, 20)
        np.testing.assert_array_equal(again(**x), function(**x))
        assert (again.target, again.dtype) == (function.target, function.dtype)


def test_arrays_without_elements() -> None:
    """A robot without joints has inputs of no element."""
    tracer = Tracer()
    tracer.array("q", 0)
    code, _ = tracer.program({"T": ((2,), [1, 0]), "tau": ((0,), [])})
    program = program_of(code)
    for rows in (0, 1, 5, 40):
        for found in (
            program.compile()(q=np.zeros((rows, 0))),
            program.evaluate(q=np.zeros((rows, 0))),
        ):
            T, tau = found if isinstance(found, tuple) else found.values()
            assert (T.shape, tau.shape) == ((rows, 2), (rows, 0))
            np.testing.assert_array_equal(T, np.tile([1.0, 0.0], (rows, 1)))


def test_inputs_that_do_not_fit() -> None:
    function = compiled("ur5")
    good = states(6, 4)
    for bad in ({"q": np.zeros((4, 5))}, {"q": np.zeros(6, complex)}, {"x": 1}, {"q": "a"}):
        with pytest.raises(InputError):
            function(**{**good, **bad})
    with pytest.raises(InputError, match="missing"):
        function(q=good["q"])
    with pytest.raises(InputError, match="broadcast"):
        function(**{**good, "q": np.zeros((3, 6))})
    program = function.program
    for call in (lambda: program.compile("fpga"), lambda: program.compile(dtype="float16")):
        with pytest.raises(UnknownNameError):
            call()
    assert issubclass(InputError, CardanError)


def layouts(x: np.ndarray) -> list[np.ndarray]:
    """The same numbers (N, n), lying in memory in several ways that need no copy."""
    count, n = x.shape
    wide = np.full((count, n + 5), 7, x.dtype)
    wide[:, 2 : 2 + n] = x
    tall = np.full((n, count + 3), 7, x.dtype)
    tall[:, 1 : 1 + count] = x.T
    steps = np.full((3 * count, n), 7, x.dtype)
    steps[::3] = x
    return [
        x.copy(), np.asfortranarray(x), wide[:, 2 : 2 + n], tall[:, 1 : 1 + count].T, steps[::3],
        x[::-1].copy()[::-1],
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "n"), [("planar", 1), ("planar3", 3), ("iiwa14", 7)])
def test_every_layout_is_used_where_it_lies(name: str, n: int, dtype: str) -> None:
    function = chain(name, n, dtype)
    for count in (3, 33):
        x = {key: array.astype(dtype) for key, array in states(n, count).items()}
        expected = function(**x)
        for k, q in enumerate(layouts(x["q"])):
            assert view(q, 1) is not None
            np.testing.assert_array_equal(function(**{**x, "q": q}), expected)
            out = layouts(np.zeros((count, n), dtype))[k]
            whole = out if out.base is None else out.base
            outside = (whole == 7).sum()
            assert function(**x, out=out) is out
            np.testing.assert_array_equal(out, expected)
            assert (whole == 7).sum() == outside


def test_columns_and_broadcasts_are_not_copied() -> None:
    columns = np.zeros((7, 100)).T
    for array, lead in ((columns, (100,)), (np.zeros(7), (100,)), (np.zeros((4, 1, 7)), (4, 1))):
        assert np.shares_memory(broadcast_view(array, lead, 1).array, array)
    matrices = np.moveaxis(np.zeros((3, 4, 50)), -1, 0)
    found = view(matrices, 2)
    assert found is not None
    assert (found.lie, found.stride) == ("columns", 50)
    assert view(np.zeros((10, 14))[:, ::2], 1) is None


def test_matrices_in_columns() -> None:
    function = cardan.model(bundled_trees()["iiwa14"], "inertia-matrix").compile()
    q = states(7, 60)["q"]
    expected = function(q=q)
    out = np.moveaxis(np.empty((7, 7, 60)), -1, 0)
    function(q=np.asfortranarray(q), out=out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("rows", "count"), [(1024, 2), (100_000, 2), (100_003, 7), (4096, 8)])
def test_shares_of_threads_are_all_states_once(rows: int, count: int) -> None:
    shares = [*_shares(rows, count)]
    assert shares[0][0] == 0
    assert shares[-1][1] == rows
    assert all(a[1] == b[0] for a, b in pairwise(shares))
    assert min(last - first for first, last in shares) >= 512
    assert len(shares) <= 12 * count


def test_outputs_that_overlap_are_refused() -> None:
    function = cardan.model(cardan.load("ur5"), "energies").compile()
    x = states(6, 9)
    E = np.empty(9)
    with pytest.raises(InputError, match="'E' and for 'U' overlap"):
        function(q=x["q"], qd=x["qd"], out=(E, E))


@pytest.mark.parametrize("dtype", [np.float32, "f4", np.dtype("float32")])
def test_a_type_as_numpy_writes_it(dtype: Any) -> None:
    program = cardan.model(cardan.load("planar1r"), "transform")
    assert program.compile(dtype=dtype).dtype == "float32"


@pytest.mark.parametrize("states", [(), (0,), (3,)])
def test_threads_are_whole_numbers(states: tuple[int, ...]) -> None:
    function = cardan.model(bundled_trees()["planar1r"], "transform").compile()
    q = np.zeros((*states, 1))
    assert np.array_equal(function(q=q, threads=np.int64(2)), function(q=q))
    for threads in (-1, 1.5, "2"):
        with pytest.raises(InputError, match="expected a whole number"):
            function(q=q, threads=threads)
