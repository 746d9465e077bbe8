"""loop-geometry: closed form against many starts, nearest assemblies, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import FILES, MECHANISMS

import cardan
from cardan.errors import UnknownNameError
from cardan.loops.geometry import LoopGeometry
from cardan.mechanism.loops import opened

ROBOTS = [*MECHANISMS, "sr400", "akr3000", "fivebar", *map(str, FILES)]
CLOSED_FORM = {"four_bar", "slider_crank", "rssr", "cardan_shaft", "spherical_four_bar", "bennett",
               "sr400", "akr3000", "fivebar", "prismatic_cut"}  # fmt: skip


def geometry(name: str) -> LoopGeometry:
    robot = MECHANISMS[name]() if name in MECHANISMS else cardan.load(name)
    found = cardan.model(robot, "loop-geometry")
    assert isinstance(found, LoopGeometry)
    return found


def apart(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(np.sin((x - y) / 2)).max())


@pytest.mark.parametrize("name", ROBOTS, ids=lambda name: name[-20:])
def test_all_assemblies(name: str) -> None:
    """Both routes find the same ones, the known one among them, all closed."""
    found = geometry(name)
    assert (found.steps is not None) == (name in CLOSED_FORM or name.endswith(".par"))
    sample = found.analysis.samples[0]
    active = [found.coordinates.moving.index(j) for j in found.coordinates.active]
    for q in sample.q[:2]:
        closed = found.solve(q[active], values=sample.values)
        assert min(apart(q, x) for x in closed) < 1e-8
        assert found.residual(closed, sample.values).max() < 1e-10
        searched = LoopGeometry(found.robot, found.analysis, found.given)
        searched.__dict__.update(steps=None, platform=None)
        other = searched.solve(q[active], values=sample.values)
        assert len(other) == len(closed)
        assert all(min(apart(x, y) for y in closed) < 1e-5 for x in other)


@pytest.mark.parametrize("name", [*MECHANISMS, "orthoglide"])
def test_nearest_and_path(name: str) -> None:
    found = geometry(name)
    sample = found.analysis.samples[0]
    active = [found.coordinates.moving.index(j) for j in found.coordinates.active]
    q = sample.q[2]
    assert apart(found.solve(q[active], q + 0.02, values=sample.values), q) < 1e-9
    path = q[active] + np.linspace(0, 0.05, 6)[:, None]
    followed = found.follow(path, q, values=sample.values)
    assert found.residual(followed, sample.values).max() < 1e-10
    assert np.abs(np.diff(followed, axis=0)).max() < 1.0
    passive = [k for k in range(len(q)) if k not in active]
    again = found.solve(q[active], q[passive], values=sample.values)
    assert apart(again, q) < 1e-9


def test_refusals_say_which_loop_and_how_far() -> None:
    found = geometry("fivebar")
    far = LoopGeometry.of(cardan.load("fivebar"))
    with pytest.raises(cardan.CardanError, match=r"loop 'tip' stays open by 0\.\d+ m"):
        far.solve([np.pi, 0.0])
    with pytest.raises(cardan.CardanError, match=r"expected \(2,\)"):
        found.solve([0.1])
    with pytest.raises(cardan.CardanError, match="guess has shape"):
        found.solve([0.1, 0.2], [1.0])
    with pytest.raises(cardan.CardanError, match="d2, d3, d8 are free; give p"):
        geometry("sr400").solve(np.zeros(6))
    with pytest.raises(cardan.CardanError, match="no closed loop"):
        cardan.model(cardan.load("rx90"), "loop-geometry")


def test_singular_configurations_show() -> None:
    found = geometry("fivebar")
    reach = found.solve([2.2, np.pi - 2.2])
    assert found.singular(reach).min() > 0.05
    # both distal rods in line: the tip cannot be driven across them
    q1 = np.arccos((0.125 - 0.4) / 0.3)
    flat = found.solve([q1, np.pi - q1])
    assert found.singular(flat).min() < 1e-4


def test_equations_are_readable() -> None:
    text = geometry("four_bar").equations()
    assert "0 = " in text
    assert "cos(" in text
    assert "closed form: q2, then q3" in text or "closed form: q3, then q2" in text
    assert "d3" in geometry("sr400").equations()


@pytest.mark.parametrize(
    ("name", "x"), [("delta", [0.05, -0.03, -0.45]), ("planar3rrr", [0.05, 0.02, 0.3])]
)
def test_direct_geometry_of_platforms(name: str, x: list[float]) -> None:
    """Three spheres, or a polynomial of the plane, against many starts; and the legs' inverse."""
    found = geometry(name)
    assert found.platform is not None
    assert found.legs.steps is not None
    active, _ = found._columns
    legs = found.legs.solve(x)
    assert len(legs) == 8
    assert found.residual(legs).max() < 1e-10
    for q in legs[::3]:
        places = found.solve(q[active])
        assert min(apart(q, y) for y in places) < 1e-7
        assert found.residual(places).max() < 1e-10
    searched = LoopGeometry(found.robot, found.analysis, found.given)
    searched.__dict__.update(steps=None, platform=None)
    for other in searched.solve(legs[0][active]):
        assert min(apart(other, y) for y in found.solve(legs[0][active])) < 1e-5


def test_stewart_legs_in_closed_form_and_nearest_place() -> None:
    found = geometry("stewart")
    pose = np.array([0.02, -0.03, 0.62, 0.1, -0.05, 0.2])
    assert found.legs.steps is not None
    q = found.legs.solve(pose)
    up = next(x for x in q if x[8::3].min() > 0)
    lengths = up[8::3]
    assert 0.5 < lengths.min() < lengths.max() < 0.9
    back = found.solve(lengths, up + 0.03)
    assert apart(back, up) < 1e-8


def test_equations_in_latex() -> None:
    latex = geometry("sr400").equations("latex")
    assert latex.count(r"\begin{align*}") == latex.count(r"\end{align*}") == 7
    assert r"Y &= 2\,d_{8}\,d_{8}\,\sin\left(\theta_{2} - \theta_{7}\right)" in latex
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") == latex.count(r"\right")
    assert "three spheres" in geometry("delta").equations()
    with pytest.raises(UnknownNameError, match="form"):
        geometry("fivebar").equations("word")


def test_names_are_taken_literally_by_latex() -> None:
    robot = cardan.load("fivebar")
    loops = tuple(replace(loop, name="a$b^c~d\\e_f") for loop in robot.loops)
    robot = replace(robot, name="50% & {x}", loops=loops)
    latex = cardan.model(robot, "loop-geometry").equations("latex")
    assert r"50\% \& \{x\}: mobility 2" in latex
    assert r"a\$b\textasciicircum{}c\textasciitilde{}d\textbackslash{}e\_f: " in latex


def test_batches_are_padded_and_counted() -> None:
    found = geometry("fivebar")
    q_a = np.array([[[2.2, 0.9], [np.pi, 0.0]], [[2.1, 1.0], [2.0, 1.1]]])
    every = found.solve(q_a)
    assert every.q.shape == (2, 2, 2, 4)
    assert every.count.tolist() == [[2, 0], [2, 2]]
    assert np.isnan(every.q[0, 1]).all()
    assert np.array_equal(every[0, 0], found.solve(q_a[0, 0]))
    assert np.nanmax(every.residual) < 1e-10
    assert not every.singular.any()
    guess = every[0, 0][1]
    solutions = found.solve(q_a, guess)
    assert solutions.shape == (2, 2, 4)
    assert np.isnan(solutions[0, 1]).all()
    near(solutions[1, 0], found.solve(q_a[1, 0], guess), 1e-5, 1e-8, each=True)
    assert found.solve([2.2, 0.9], report=True).count == 2
    with pytest.raises(cardan.CardanError, match="do not fit together"):
        found.solve(q_a, np.zeros((3, 4)))


def test_only_the_symbols_of_the_loops_are_asked_for() -> None:
    found = geometry("sr400")
    assert found.parameters == ("d2", "d3", "d8")
    q_a, lengths = [0, -1.2, 0, 0, 0, 0.3], {"d2": 0.2, "d3": 0.6, "d8": 0.3}
    q = found.solve(q_a, p=lengths)
    whole = {**lengths, "d4": 0.1, "RL4": 0.7}
    fixed = cardan.model(cardan.load("sr400").with_values(whole), "loop-geometry")
    for other in (found.solve(q_a, p=[0.2, 0.6, 0.3]), found.solve(q_a, p=whole)):
        near(other, q, 1e-5, 1e-8, each=True)
    near(fixed.solve(q_a), q, 1e-5, 1e-8, each=True)
    assert found.residual(q, lengths).max() < 1e-10
    assert found.singular(q, lengths).min() > 0.01
    wrongs = (
        ([0.1], r"expected \(3,\): d2, d3, d8"),
        ({"e": 1}, "no symbol"),
        ({**lengths, "d3": np.nan}, "d3 = nan"),
        ({"d2": 1}, "d3, d8 are free"),
    )
    for wrong, words in wrongs:
        with pytest.raises(cardan.CardanError, match=words):
            found.solve(q_a, p=wrong)


def test_messages_name_the_value_and_the_platform() -> None:
    found = geometry("delta")
    with pytest.raises(cardan.CardanError, match="q_a: q2 = nan is not finite"):
        found.solve([0, np.nan, 0])
    with pytest.raises(cardan.CardanError, match=r"q3 = inf at \(1,\) of the batch"):
        found.solve([[0, 0, 0], [0, 0, np.inf]])
    with pytest.raises(cardan.CardanError, match="platform's position") as refused:
        found.legs.solve([9, 9, 9])
    assert "q_a" not in str(refused.value)
    with pytest.raises(cardan.CardanError, match="platform's position: platform_z = nan"):
        found.legs.solve([0, 0, np.nan])


def test_short_to_look_at() -> None:
    robot = cardan.load("sr400")
    assert len(repr(geometry("delta"))) < 200
    assert repr(robot.loops[0].twin) == (
        "Joint(name='twin1', antecedent=3, sigma=2, gamma=pi/2, d=-d8, active=False)"
    )
    assert len(repr(robot.loops)) < 300


@pytest.mark.parametrize("name", ["rssr", "cardan_shaft", "rccc", "delta"])
def test_numerical_inverse_closes_every_kind_of_cut(name: str) -> None:
    """Balls, universal and cylindrical cuts leave their freedoms to the numerical inverse."""
    found = geometry(name)
    q = found.analysis.samples[0].q[1]
    T = cardan.model(found.robot, "transform").evaluate(q=q)
    reached = cardan.inverse_kinematics(found.robot, T)
    assert reached.converged
    assert found.residual(reached.q) < 1e-8


def test_flexible_links_are_closed_undeformed() -> None:
    """The flexible model's own frames of the cut and its twin coincide at the q found."""
    robot = cardan.load("prrrp")
    q = cardan.model(robot, "loop-geometry").solve([0.0, 0.1])
    assert q.shape == (2, 4)
    whole = np.concatenate([q, np.zeros((2, robot.ne))], axis=1)
    n = len(robot.joints)
    T = [cardan.model(opened(robot), "transform", frame=n + k).evaluate(q=whole) for k in (1, 2)]
    near(T[0][:, :3, 3], T[1][:, :3, 3], absolute=1e-9)


def test_other_joints_may_be_known() -> None:
    """q of any two joints of a five-bar gives back the configurations that the motors give."""
    robot = cardan.load("fivebar")
    robot = robot.with_values(dict.fromkeys(cardan.model(robot, "loop-geometry").parameters, 1))
    every = cardan.model(robot, "loop-geometry").solve([2.2, 0.9])
    for known in ("q1 q2", "q2 q4", ["joint3", "q4"]):
        other = cardan.model(robot, "loop-geometry", known=known)
        columns = [other.coordinates.moving.index(j) for j in other.given]
        for q in every:
            gap = np.abs(other.solve(q[columns]) - q)
            assert np.minimum(gap, 2 * np.pi - gap).max(axis=1).min() < 1e-9
    with pytest.raises(cardan.CardanError, match="no joint 'q9' of 'Planar five-bar'"):
        cardan.model(robot, "loop-geometry", known="q9 q1")


def test_loops_that_close_in_a_family_say_so() -> None:
    """A rhombus folded flat turns freely; no limit is to blame."""
    robot = cardan.load("sr400")
    robot = robot.with_values(dict.fromkeys(cardan.model(robot, "loop-geometry").parameters, 1))
    geometry = cardan.model(robot, "loop-geometry", known="th1 th2 th3 th4 th5 th6")
    with pytest.raises(cardan.CardanError, match="in no separate assemblies"):
        geometry.solve([0, 0.4505, -np.pi / 2, 0, 0, 0])
