"""Writes docs/trust.md: what every number was compared with, and how far it was off.

python docs/make_trust.py [--robots 100]      peers that are not installed are left out, and named

The tables of differences, of laws and of papers are made; the words around them are here.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from cardan.bench.case import comparable
from cardan.bench.compare import PEERS
from cardan.bench.plain import gravity, order_by_name
from cardan.describe.robot import Robot
from cardan.describe.urdf.write import write_urdf
from cardan.files import write_atomic
from cardan.sheets.solids import examples

FILE = Path(__file__).with_name("trust.md")
ROOT = FILE.parents[1]
STATES = 20
SEED = 7
MODELS = ("inverse-dynamics", "inertia-matrix", "direct-dynamics")
DERIVED = ("gravity", "bias")  # a peer's inverse dynamics at rest, or without accelerations
OF_PINOCCHIO = ("energies", "inverse-dynamics-derivatives", "direct-dynamics-derivatives")
ASKED = ("pinocchio", "mujoco", "casadi", "toolbox", "drake", "exudyn")
PAPERS = ("papers/test_textbooks.py", "papers/test_counts.py", "papers/test_anchor_counts.py",
          "describe/test_bundled.py", "flexible/test_beams.py", "flexible/test_motion.py",
          "flexible/test_error_control.py", "use/test_trajectory.py")  # fmt: skip
Calls = dict[str, Callable[..., Any]]

HEAD = """<!-- written by docs/make_trust.py: do not edit -->
# Which number do I trust?

Every model is computed by two routes or more: other libraries, other algorithms, derivatives, printed figures. This page says which, and
how far apart they were. `python docs/make_trust.py` makes it anew; the tests hold the same comparisons to limits at every change
(`make test`).

## In short

| question | answer |
|---|---|
| Are the torques right? | The bundled trees of rigid links agree with {peers} to {worst} of the largest component, see below. |
| Is generated code the same model? | Every language that can be run here is run and compared with the interpreter (`tests/backends`). |
| Is the cheap program the model? | It is compared with the plain page on random states before it is handed out; a law says so on random robots. |
| Are the operation counts real? | They are counted on the program that is printed: `cardan count rx90 --bare`; README's table is checked by a test. |
| Are the times real? | They come from one run with the peers beside: `cardan bench`, [benchmarks](benchmarks.md). Machines differ, ratios less. |
| What is not certain? | [Known limits](#known-limits). |

## Against other libraries

Largest difference over {states} random states, relative to the largest component of each result. Rigid robots without drives, each from the
description's own numbers; a symbolic robot gets numbers. Every library reads the robot as it always does: Pinocchio, MuJoCo and Drake from files
that Cardan writes, CasADi runs Featherstone's recursions, the Robotics Toolbox takes the modified Denavit-Hartenberg table, and Exudyn a kinematic tree of
frames and inertias (`ObjectKinematicTree`). A dash is a model that the robot does not have: without rotors, the last joint of the TX40's description moves no
inertia. A robot that is missing from a table cannot be described in that library: base parameters without masses have no centre of mass, which URDF, the
Toolbox and Exudyn need; MuJoCo and Drake take only inertias that a body can have, and some planar arms have other numbers; the Toolbox's
`DHRobot` holds chains of at least two joints that alpha, d, theta, r place; here, CasADi and Exudyn are given no fixed joints.
"""
LIMITS = """## Known limits

What the numbers do not say, or where they should not be used:

- **Floating point.** Models run in double precision; differences near 1e-13 are rounding. `dtype="float32"` has seven digits, fewer after
  sums of large terms. Angles of a million turns lose digits in any library.
- **Cheapest programs divide.** With `effort="normal"` or `"max"` a program may divide by a length of the robot; its head says which must
  not be 0 (`Program.nonzero`), and a call with such a number is refused. `effort="safe"` gives one without.
- **Regrouped parameters.** Torques are the same, forces and moments between links are not; `reactions` is derived without regrouping.
- **Friction** in models is viscous, Coulomb, quadratic, asymmetric, with Stribeck's peak; friction that grows with the load is not. The error that `identify` prints is that
  of the data, not of the next motion: look at the validation.
- **Closed loops** are exact where they close. Near a singularity of type 2 torques grow without bound, and a simulation stops there
  unless it is told to pass.
- **Flexible links** are linear beams in their own frames, with stiffening by the axial force: small deflections against the length of the link.
  Frequencies converge with the number of elements; [flexible links](flexible.md) says how fast.
- **Inverse geometry** in closed form gives all configurations of the arms it knows; the numerical solver gives those that it reaches.
- **The GPU** runs the program of the CPU; its sines and cosines are those of its library. Results agree to rounding, not to the bit.
- **Peers are not the truth.** Where two differ, tests keep a note of who was wrong and why.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", type=int, default=100, help="random robots for the laws")
    write_atomic(FILE, text(parser.parse_args().robots))


def text(robots: int) -> str:
    """The whole page."""
    tables, worst, versions = [], 0.0, []
    for name in ASKED:
        if find_spec(PEERS[name][0]) is None:
            continue
        rows = dict(differences(name))
        worst, version = max(worst, largest(rows)), _version(name)
        versions.append(version)
        tables.append(_table(version, rows))
        print(version, f"{largest(rows):.0e}", file=sys.stderr)
    absent = [name for name in ASKED if find_spec(PEERS[name][0]) is None]
    left = f"Not installed where this page was made: {', '.join(absent)}.\n" if absent else ""
    peers = " and ".join([", ".join(versions[:-1]), versions[-1]])
    head = HEAD.format(peers=peers, worst=f"{worst:.0e}", states=STATES)
    return "\n".join([head, *tables, left, loops(), laws(robots), papers(), LIMITS])


# ---- peers ----


def numeric(name: str) -> Robot | None:
    """A bundled tree with numbers, as every system can hold it; None for loops, beams and wheels."""
    robot = cardan.load(name)
    if robot.constrained or robot.ne or robot.wheels:
        return None
    rng = np.random.default_rng(SEED)
    values = {
        key: float(value) * rng.uniform(0.8, 1.2) + (0.004 if value == "0" else 0.0)
        for key, value in examples(robot).items()
    }
    return comparable(robot.with_values(values) if values else robot)


def differences(peer: str) -> Iterator[tuple[str, dict[str, float | None]]]:
    """(robot, model -> largest difference) of every bundled tree that the peer can hold."""
    for name in cardan.robots():
        robot = numeric(name)
        if robot is None:
            continue
        try:
            calls = peer_calls(peer, robot)
            row = {model: difference(robot, model, calls[model]) for model in calls}
        except Exception as error:  # the other library refuses the robot: its own reason
            print(f"{peer}, {name}: {type(error).__name__} {error}"[:160], file=sys.stderr)
            continue
        if row:
            yield name, row


def largest(rows: dict[str, dict[str, float | None]]) -> float:
    return max(x for row in rows.values() for x in row.values() if x is not None)


def peer_calls(peer: str, robot: Robot) -> Calls:
    """model -> the peer's function of a state; empty where it cannot hold the robot."""
    module, _, function = PEERS[peer][1].partition(".")
    system = getattr(import_module(f"cardan.bench.{module}"), function)(robot)
    if isinstance(system, str) or (peer == "toolbox" and massless(robot)):
        return {}
    calls: Calls = {model: _call(system.cases[model]) for model in MODELS if model in system.cases}
    if "inverse-dynamics" in calls:
        inverse = calls["inverse-dynamics"]
        calls["gravity"] = lambda q: inverse(q, 0 * q, 0 * q)
        calls["bias"] = lambda q, qd: inverse(q, qd, 0 * q)
    return calls | (_more_of_pinocchio(robot) if peer == "pinocchio" else {})


def massless(robot: Robot) -> bool:
    """Has a link first moments without a mass, as base parameters do? It has no centre then."""
    return any(x.M == 0 and any((x.MX, x.MY, x.MZ)) for x in robot.links)


def _call(case: Any) -> Callable[..., Any]:
    return lambda *state: np.array(case.call(*(np.array(x) for x in state)), copy=True)


def _more_of_pinocchio(robot: Robot) -> Calls:
    import pinocchio as pin

    model = pin.buildModelFromXML(write_urdf(robot, drop=True))
    model.gravity.linear = np.array([0, 0, -np.linalg.norm(gravity(robot))])
    data = model.createData()
    order = order_by_name(robot, [name for name in model.names if name != "universe"])
    back = np.argsort(order)

    def derivatives(work: Any, names: tuple[str, ...]) -> Callable[..., Any]:
        def call(*state: Any) -> Any:
            work(model, data, *(x[back] for x in state))
            return np.array([getattr(data, name)[np.ix_(order, order)] for name in names])

        return call

    def energy(q: Any, qd: Any) -> Any:
        return np.array([pin.computeKineticEnergy(model, data, q[back], qd[back])])

    return {
        "energies": energy,
        "inverse-dynamics-derivatives": derivatives(
            pin.computeRNEADerivatives, ("dtau_dq", "dtau_dv")
        ),
        "direct-dynamics-derivatives": derivatives(
            pin.computeABADerivatives, ("ddq_dq", "ddq_dv", "Minv")
        ),
    }


def difference(robot: Robot, model: str, call: Callable[..., Any]) -> float | None:
    """The largest difference of a model from a peer's, over random states; None where the robot
    has no such model."""
    try:
        program, function = _compiled(robot, model)
    except cardan.ModelError:
        return None
    rng = np.random.default_rng(SEED)
    worst = 0.0
    for _ in range(STATES):
        state = {key: rng.uniform(-2, 2, robot.n) for key in program.inputs}
        ours, theirs = _ours(model, function(**state)), call(*state.values())
        if model == "direct-dynamics-derivatives":
            theirs[2] = np.triu(theirs[2]) + np.triu(theirs[2], 1).T  # it fills the upper half
        worst = max(worst, _relative(ours, theirs))
    return worst


def _relative(ours: Any, theirs: Any) -> float:
    """Of the largest component; of several matrices that of each."""
    if ours.ndim == 3:
        return max(_relative(a, b) for a, b in zip(ours, theirs, strict=True))
    return float(np.abs(ours - theirs).max() / max(1e-9, float(np.abs(ours).max())))


@cache
def _compiled(robot: Robot, model: str) -> tuple[Any, Any]:
    program = cardan.model(robot, model)
    return program, program.compile()


def _ours(model: str, value: Any) -> Any:
    if model == "energies":
        return np.array([value["E"]])
    if model in ("inverse-dynamics-derivatives", "direct-dynamics-derivatives"):
        inputs = ("q", "qd") if model.startswith("inverse") else ("q", "qd", "tau")
        head = "dtau" if model.startswith("inverse") else "dqdd"
        return np.array([value[f"{head}_d{key}"] for key in inputs])
    return np.asarray(value)


def _version(peer: str) -> str:
    from importlib.metadata import version

    package = {"pinocchio": "pin", "toolbox": "roboticstoolbox-python"}.get(peer, peer)
    title = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo", "casadi": "CasADi", "drake": "Drake",
             "exudyn": "Exudyn", "toolbox": "Robotics Toolbox"}[peer]  # fmt: skip
    return f"{title} {version(package)}"


def _table(title: str, rows: dict[str, dict[str, float | None]]) -> str:
    models = list(next(iter(rows.values())))
    head = f"### {title}\n\n| robot | " + " | ".join(f"`{m}`" for m in models) + " |"
    lines = [
        f"| `{robot}` | " + " | ".join(_number(row[m]) for m in models) + " |"
        for robot, row in rows.items()
    ]
    return "\n".join([head, "|---" * (len(models) + 1) + "|", *lines, ""])


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:.0e}"


# ---- loops, laws, papers ----


def loops() -> str:
    """What robots with loops and flexible links are compared with, by the tests."""
    rest = [name for name in cardan.robots() if numeric(name) is None]
    return f"""### Closed loops, flexible links, wheels

{", ".join(f"`{name}`" for name in rest)}: the libraries above hold no such robot in the same way, so each is compared elsewhere.

| what | with | where |
|---|---|---|
| assemblies, dynamics of loops | Pinocchio's constraint dynamics; MuJoCo's matrices and constraint Jacobians, solved with multipliers | `tests/loops/test_peers.py`, `test_mujoco_loops.py`, `test_urdf_loops.py` |
| platforms leg by leg | the tree with its loops cut and projected | `tests/loops` |
| couplings and gears | multipliers, Pinocchio's mimic joints, MuJoCo's equality of joints | `tests/loops/test_couplings.py` |
| beams | exact frequencies, the elements of textbooks, many elements in Exudyn | `tests/flexible/test_beams.py`, `test_motion.py` |
| the PRRRP robot | the figures of Briot and Khalil, section 5 | `tests/flexible` |
| wheels that roll | the systems of Lagrange and d'Alembert, derived by hand | `tests/loops/test_wheels.py` |
| FMUs | simulated by FMPy, against `cardan.simulate` | `tests/package/test_package_fmu.py` |
"""


def laws(count: int) -> str:
    """Every law on random robots, run now."""
    sys.path.insert(0, str(ROOT))
    from tests.laws.__main__ import check
    from tests.laws.laws import LAWS

    passed = dict.fromkeys(LAWS, 0)
    failed = dict.fromkeys(LAWS, 0)
    for seed in range(count):
        for _, name, fault, _ in check(seed):
            (failed if fault else passed)[name] += 1
    rows = [f"| {name.replace('_', ' ')} | {passed[name]} | {failed[name]} |" for name in LAWS]
    head = f"""## Laws

What must hold for any robot, tried on {count} random ones (chains and trees of revolute, prismatic and fixed joints, with springs, wrenches, moving and
floating bases); the expensive laws take a share of them. `make laws` tries ten thousand.

| law | robots that obey it | that do not |
|---|---|---|"""
    return "\n".join([head, *rows, ""])


def papers() -> str:
    """The tests that hold a printed figure or formula, by their first words."""
    rows = []
    for path in PAPERS:
        tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            words = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
            if words and node.name.startswith("test_") and _cites(words):
                name = node.name.removeprefix("test_").replace("_", " ")
                rows.append(f"| {name} | {' '.join(words.split())} | `{path}` |")
    head = """## Papers and books

What is printed elsewhere and comes out here, each held by a test; the operation counts of SYMORO+ and OpenSYMORO stand in README's table.

| what | printed in | test |
|---|---|---|"""
    return "\n".join([head, *sorted(rows), ""])


def _cites(words: str) -> bool:
    keys = ("Craig", "Spong", "Khalil", "ström", "[KC97]", "[K10]", "[BK13]", "[B23]", "[C23]",
            "SYMORO", "Briot")  # fmt: skip
    return any(key in words for key in keys)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
