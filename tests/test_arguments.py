"""Public functions given something else than they take: one error, which names the argument."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.arguments import Numbers, fits, named_arguments
from cardan.describe.urdf.write import write_urdf
from cardan.errors import translated
from cardan.motion.paths import line
from cardan.motion.plots import save_figure
from cardan.motion.tables import read_table
from cardan.motion.trajectory import Trajectory, move

WRONG: list[Any] = [None, "x", {"a": object()}, object(), [None, "y"], np.array(["a", "b"])]
POSE = np.array([[1.0, 0, 0, 0.8], [0, 1, 0, 0.6], [0, 0, 1, 0], [0, 0, 0, 1]])


@cache
def arm() -> cardan.Robot:
    robot = cardan.load("planar2r")
    return robot.with_values(dict.fromkeys(robot.parameters, 1))


@cache
def motion() -> Trajectory:
    return move([0, 0], [1, 1], 0.02, dt=0.005)


@cache
def gravity() -> cardan.Program:
    program: cardan.Program = cardan.model(arm(), "gravity")
    return program


def states() -> dict[str, Any]:
    return {"q": np.ones((3, 2))}


# module.function: arguments with which the call succeeds
CALLS: dict[str, Callable[[], tuple[list[Any], dict[str, Any]]]] = {
    "model": lambda: ([arm(), "gravity"], {}),
    "inverse_kinematics": lambda: ([arm(), POSE], {"guess": [0.1, 0.2]}),
    "natural_frequencies": lambda: ([cardan.load("flexible2r"), [0, 0]], {"loads": None}),
    "simulation.modal.static_deflection": lambda: (
        [cardan.load("flexible2r"), [0, 0]], {"loads": None, "guess": None},
    ),
    "simulation.simulate.simulate": lambda: (
        [arm(), [0, 0]],
        {"duration": 0.02, "qd0": 0.0, "method": "rk4", "step": 0.01, "motion": None,
         "friction": "smooth", "loads": None, "rtol": 1e-6},
    ),
    "simulation.simulate.rollouts": lambda: (
        [arm(), np.zeros(4)], {"step": 0.01, "steps": 2, "tau": np.zeros(2)},
    ),
    "motion.trajectory.move": lambda: ([[0, 0], [1, 1], 0.1], {"law": "quintic", "dt": 0.01}),
    "motion.trajectory.through": lambda: ([[[0], [1], [2]], [0, 1, 2]], {"degree": 3}),
    "motion.trajectory.sampled": lambda: ([[0, 1, 2], [[0, 0], [1, 1], [2, 1]]], {"qd": None}),
    "motion.trajectory.violations": lambda: ([motion(), arm()], {"tau": motion().q}),
    "motion.torques.torques": lambda: ([arm(), motion()], {}),
    "motion.torques.with_payload": lambda: ([arm(), 1.0, (0, 0, 0)], {}),
    "motion.paths.line": lambda: ([POSE, POSE, 1.0], {"law": "quintic"}),
    "motion.taskspace.follow": lambda: (
        [arm(), line(POSE, POSE, 0.02), [0.6, 0.1]], {"task": ("x", "y"), "dt": 0.01, "frame": 2},
    ),
    "motion.animate.animation": lambda: ([arm(), motion().t, motion().q], {}),
    "motion.frames.link_frames": lambda: ([arm(), [0, 0]], {}),
    "control.laws.pd": lambda: ([arm(), motion(), 1.0, 1.0], {}),
    "control.laws.computed_torque": lambda: ([arm(), motion()], {"kp": 1.0, "kd": 1.0}),
    "control.laws.task_space": lambda: (
        [arm(), line(POSE, POSE, 0.02)], {"kp": 1.0, "task": ["x", "y"]},
    ),
    "control.adaptation.adaptive": lambda: ([arm(), motion()], {"kd": 1.0, "rates": 1.0}),
    "control.compare.compare": lambda: (
        [arm(), motion()], {"laws": ("pd",), "bandwidth": 10.0, "dt": 0.005},
    ),
    "control.linear.linearise": lambda: ([arm(), [0, 0]], {"qd": 0.0, "law": None}),
    "control.tabulated.tabulate": lambda: ([arm()], {"points": 4, "degree": 3}),
    "control.reduced.reduce_model": lambda: ([gravity(), states()], {"tolerance": 0.01}),
    "sweeps.sweep.sweep": lambda: ([gravity(), states()], {"chunk": None}),
    "sweeps.draws.random_states": lambda: ([gravity(), arm(), 3], {"seed": 0}),
    "describe.dh.tables.from_dh": lambda: (
        [[{"theta": "q1", "d": 0, "a": 1, "alpha": 0}], "standard"], {},
    ),
}  # fmt: skip


def public(path: str) -> Callable[..., Any]:
    module, _, name = f"cardan.{path}".rpartition(".")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", CALLS)
def test_no_other_error_comes_out(path: str) -> None:
    function, (args, options) = public(path), CALLS[path]()
    function(*args, **options)
    for place in (*range(len(args)), *options):
        for wrong in WRONG:
            call, named = list(args), dict(options)
            if isinstance(place, int):
                call[place] = wrong
            else:
                named[place] = wrong
            with suppress(cardan.CardanError):
                function(*call, **named)


@pytest.mark.parametrize("wrong", [None, 5, object(), {}])
def test_methods_too(wrong: Any) -> None:
    robot, program = arm(), gravity()
    calls: list[Callable[[Any], Any]] = [
        robot.with_values, robot.save, program.save, cardan.Program.load, program.emit,
        lambda x: program.derivative(x, "q"), lambda x: program.derivative("Q", x),
        read_table, write_urdf, lambda x: save_figure(None, x),
    ]  # fmt: skip
    for call in calls:
        if wrong == {} and call == robot.with_values:
            continue
        with pytest.raises(cardan.CardanError):
            call(wrong)


def test_the_argument_is_named() -> None:
    from cardan.control.laws import computed_torque
    from cardan.simulation.modal import static_deflection

    with pytest.raises(cardan.CardanError, match=r"^computed_torque\(\): motion is None; expected"):
        computed_torque(arm(), None)  # type: ignore[arg-type]
    with pytest.raises(cardan.CardanError, match=r"loads is a dict; expected an array of real num"):
        static_deflection(cardan.load("flexible2r"), loads={"tip": 1})


@pytest.mark.parametrize("path", ["missing/x.json", ".", "\0"])
def test_a_program_saved_to_a_bad_path_is_an_input_error(tmp_path: Path, path: str) -> None:
    """As of one that is read from there."""
    for call in (gravity().save, cardan.Program.load, arm().save):
        with pytest.raises(cardan.CardanError):
            call(str(tmp_path / path))
    with pytest.raises(cardan.errors.InputError, match="check the path"):
        gravity().save(tmp_path / "missing" / "x.json")


def test_a_fault_of_ours_passes_as_it_is() -> None:
    @named_arguments
    def broken(robot: cardan.Robot, q: Numbers, **more: float) -> None:
        raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        broken(arm(), [1, 2], x=1)
    with pytest.raises(cardan.CardanError, match=r"x is 'a' .str.; expected a number"):
        broken(arm(), [1, 2], x="a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing"):
        broken()  # type: ignore[call-arg]


def test_a_fault_of_others_in_a_decorated_function_is_not_blamed_on_an_argument() -> None:
    """`translated` wraps by a function of contextlib, which does not know the names of ours."""

    @named_arguments
    @translated("it failed")
    def work(source: Any, path: str | Path) -> None:
        raise RuntimeError("no workers")

    with pytest.raises(RuntimeError, match="no workers"):
        work(object(), "x")


@pytest.mark.parametrize(
    ("value", "hint", "right"),
    [
        (np.float32(1), float, True), (np.int64(1), int, True), (1.5, int, False),
        (np.array(2.0), float, True), (None, float | None, True), ("a", float | None, False),
        ([1, 2], Numbers, True), (None, Numbers, False), ({"a": 1}, dict[str, float], True),
        ({1: 1}, dict[str, float], False), ("ab", list[str], False), (("a",), list[str], True),
    ],
)  # fmt: skip
def test_what_fits(value: Any, hint: Any, right: bool) -> None:
    assert fits(value, hint) is right


@pytest.mark.parametrize(
    "values",
    [np.ma.array(np.zeros(6), mask=[1, 0, 0, 0, 0, 0]), np.zeros(6) * 1j, ["0"] * 6],
    ids=["masked", "complex", "text"],
)
def test_no_part_of_an_array_is_dropped(values: Any) -> None:
    robot = cardan.load("ur5")
    motion = cardan.trajectory(robot, np.ones(6), duration=1)
    geometry = cardan.model(robot, "inverse-geometry")
    gravity = cardan.model(robot, "gravity")
    loops = cardan.model(cardan.load("fivebar"), "loop-geometry")
    T = cardan.model(robot, "transform").evaluate(q=np.zeros(6))
    doors: list[Any] = [
        lambda: gravity.evaluate(q=values),
        lambda: gravity.compile()(q=values),
        lambda: cardan.trajectory(robot, values, duration=1),
        lambda: cardan.simulate(robot, values, duration=0.01),
        lambda: cardan.linearise(robot, values),
        lambda: cardan.control.pd(robot, motion, values, 1),
        lambda: cardan.inverse_kinematics(robot, T, guess=values),
        lambda: geometry.solve(T, guess=values),
        lambda: loops.solve(values[:2]),
        lambda: cardan.sweep(gravity, {f"q{j}": values for j in range(1, 7)}),
    ]
    for door in doors:
        with pytest.raises(cardan.InputError):
            door()
