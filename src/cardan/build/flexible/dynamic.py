"""Programs of robots with flexible links: [BK13] on trees and on closed loops.

q, qd and qdd hold the joint variables in link order, then the elastic coordinates link by link.
Closed loops take q of the whole tree; qd and qdd of the driven joints, then elastic coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...describe.robot import FIXED, Robot
from ...errors import ModelError
from ...mechanism.loops import opened
from ...models.bodies import Bodies
from ...models.flexible.dynamics import (
    Key,
    MassMatrix,
    articulated,
    coordinate_keys,
    mass_matrix,
    solve_matrix,
)  # fmt: skip
from ...models.flexible.loops import constraint_rows, eliminated
from ...models.flexible.tree import Motion, forces, motion, point_links
from ...models.flexible.tree import energies as energies_model
from ...program import Program
from ..common import MEANING, Arrays, flat, is_floating, with_friction, wrenches
from ..derivation import Form, Result
from ..derive import derive
from .closure import closing

__all__ = [
    "bias", "build_flexible", "coordinates", "direct_dynamics", "energies", "gravity",
    "inertia_matrix", "inputs_of", "inverse_dynamics", "outputs_of", "row_times", "spring",
    "static_forces", "unsupported", "without_floating_loops",
]  # fmt: skip

Scalar = Any
_JOINTS = "joint variables, then the elastic coordinates link by link"
_MEANING = {
    "q": f"{_JOINTS}, rad or m",
    "qd": f"velocities of the {_JOINTS}",
    "qdd": f"accelerations of the {_JOINTS}",
    "qdd_e": "accelerations of elastic joints, then of the elastic coordinates",
    "qd_p": "velocities of the passive joints",
    "U": "potential energy of gravity, springs and deformation, J",
}
_LOOP_MEANING = {
    "q": f"{_JOINTS}, consistent with the loops",
    "qd": "velocities of driven and elastic joints, then of the elastic coordinates",
    "qdd": "accelerations of driven and elastic joints, then of the elastic coordinates",
    "tau": "torques or forces of the driven joints",
}


def unsupported(robot: Robot, model: str, **options: Any) -> None:
    """Options that belong to rigid robots."""
    for name, value in options.items():
        if value:
            raise ModelError(
                f"'{model}' of '{robot.name}': {name} is not available with flexible links; its"
                " rigid twin is cardan.rigid(robot)"
            )


def coordinates(robot: Robot) -> int:
    return robot.n + robot.ne


def inputs_of(robot: Robot, f_e: bool = False, **sizes: int) -> dict[str, tuple[int, ...]]:
    inputs: dict[str, tuple[int, ...]] = {name: (size,) for name, size in sizes.items()}
    if f_e:
        inputs["f_e"] = (len(robot.links) + is_floating(robot), 6)
    if is_floating(robot):
        inputs |= {"V0": (6,), "g0": (3,)}
    return inputs


def build_flexible(
    robot: Robot, model: str, inputs: Mapping[str, tuple[int, ...]], forms: Sequence[Form],
    outputs: Sequence[str], effort: str = "normal", symbolic: bool = False,
) -> Program:  # fmt: skip
    """The cheapest of the forms, its sums rewritten."""
    table = {**MEANING, **_MEANING, **(_LOOP_MEANING if robot.constrained else {})}
    meaning = {name: table[name] for name in (*inputs, *outputs, "p") if name in table}
    source = opened(robot) if robot.loops else robot
    return derive(source, model, inputs, forms, meaning=meaning, effort=effort, symbolic=symbolic)


def without_floating_loops(robot: Robot, model: str) -> None:
    if robot.constrained and is_floating(robot):
        raise ModelError(
            f"'{model}' of '{robot.name}': loops and couplings on a floating base are not available"
        )


def _driven(robot: Robot) -> list[int]:
    """Links whose joint's torque or acceleration is given."""
    joints = enumerate(robot.joints, 1)
    return [
        j for j, joint in joints
        if joint.sigma != FIXED and not joint.elastic and (joint.active or not robot.constrained)
    ]  # fmt: skip


def inverse_dynamics(
    robot: Robot, *, method: str = "newton-euler", base_parameters: bool = False, f_e: bool = False,
    friction: bool = True, base: str = "free", symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """Torques of driven joints, and the accelerations of everything elastic, (38)."""
    unsupported(robot, "inverse-dynamics", base_parameters=base_parameters,
                lagrange=method == "lagrange", base=base == "given")  # fmt: skip
    robot = with_friction(robot, friction)
    driven = _driven(robot)
    if robot.constrained:
        from .parallel import inverse_dynamics as parallel

        return parallel(robot, f_e, effort, symbolic)
    inputs = inputs_of(robot, f_e, q=coordinates(robot), qd=coordinates(robot), qdd=len(driven))
    elastic = coordinates(robot) - len(driven)

    forms = [_recursive_inverse(robot, driven)]
    if not is_floating(robot):
        forms.append(_assembled_inverse(robot, driven))
    names = ["tau", *(["qdd_e"] if elastic else []), *(["V0d"] if is_floating(robot) else [])]
    return build_flexible(robot, "inverse-dynamics", inputs, forms, names, effort, symbolic)


def _recursive_inverse(robot: Robot, driven: Sequence[int]) -> Form:
    """By articulated bodies."""

    def run(scene: Bodies, x: Arrays) -> Result:
        moving = _moving(robot, scene, x)
        given = dict(zip(driven, x["qdd"], strict=True))
        found = articulated(scene, moving, tau={}, qdd=given, free_base=is_floating(robot))
        rates = [found.qdd[j] for j in scene.elastic]
        rates += [v for j in scene.flexible for v in found.qedd[j]]
        return Result(outputs_of([found.tau[j] for j in driven], rates, found.V0d), found)

    return run


def _assembled_inverse(robot: Robot, driven: Sequence[int]) -> Form:
    """By the mass matrix, (22)-(26)."""

    def run(scene: Bodies, x: Arrays) -> Result:
        moving = _moving(robot, scene, x)
        keys = coordinate_keys(scene)
        known: dict[Key, Scalar] = {
            ("joint", j, 0): v for j, v in zip(driven, x["qdd"], strict=True)
        }
        matrix = mass_matrix(scene, moving)
        c = dict(zip(keys, forces(scene, moving, [known.get(k, 0) for k in keys]).rows(scene),
                     strict=True))  # fmt: skip
        free = [key for key in keys if key not in known]
        rhs = {key: spring(scene, moving, key) - c[key] for key in free}
        found = solve_matrix(scene, matrix, rhs, free)
        tau = [c[key] + row_times(matrix, key, found) for key in known]
        return Result(outputs_of(tau, [found[key] for key in free], None), moving)

    return run


def _moving(robot: Robot, scene: Bodies, x: Arrays) -> Motion:
    """The moving tree; point masses stay in the axes they are carried in."""
    points = point_links(scene) if "f_e" not in x else frozenset()
    return motion(scene, x["q"], x["qd"], wrenches(robot, x), points)


def spring(scene: Bodies, x: Motion, key: Key) -> Scalar:
    """Torque of an elastic joint without its friction, which the forces of the tree include."""
    if key[0] != "joint":
        return 0
    return scene.links[key[1] - 1].elastic_torque(x.q.joint[key[1]], x.qd.joint[key[1]])


def row_times(matrix: MassMatrix, key: Key, values: Any) -> Scalar:
    total: Scalar = 0
    for other, value in values.items():
        total = total + matrix.entries.get((key, other), 0) * value
    return total


def outputs_of(tau: Sequence[Scalar], rates: Sequence[Scalar], V0d: Any) -> dict[str, Any]:
    outputs: dict[str, Any] = {"tau": ((len(tau),), list(tau))}
    if rates:
        outputs["qdd_e"] = ((len(rates),), list(rates))
    if V0d:
        outputs["V0d"] = ((6,), [*V0d[0], *V0d[1]])
    return outputs


def direct_dynamics(
    robot: Robot, *, method: str = "auto", base_parameters: bool = False, f_e: bool = False,
    friction: bool = True, symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """Accelerations of driven torques: of joints, then of elastic coordinates."""
    unsupported(robot, "direct-dynamics", base_parameters=base_parameters)
    robot = with_friction(robot, friction)
    if robot.constrained:
        from .parallel import direct_dynamics as parallel_direct

        return parallel_direct(robot, f_e, effort, method, symbolic)
    driven = _driven(robot)
    inputs = inputs_of(robot, f_e, q=coordinates(robot), qd=coordinates(robot), tau=len(driven))

    table: dict[str, Form] = {
        "recursive": _recursive_direct(robot, driven),
        "inertia-matrix": _assembled_direct(robot, driven),
    }
    if is_floating(robot):
        del table["inertia-matrix"]
    forms = list(table.values()) if method == "auto" else [table[method]] if method in table else []
    if not forms:
        raise ModelError(f"'direct-dynamics' of '{robot.name}': a floating base needs 'recursive'")
    names = ["qdd", *(["V0d"] if is_floating(robot) else [])]
    return build_flexible(robot, "direct-dynamics", inputs, forms, names, effort, symbolic)


def _recursive_direct(robot: Robot, driven: Sequence[int]) -> Form:
    """By articulated bodies."""

    def run(scene: Bodies, x: Arrays) -> Result:
        moving = _moving(robot, scene, x)
        torques = dict(zip(driven, x["tau"], strict=True))
        found = articulated(scene, moving, tau=torques, free_base=is_floating(robot))
        rates = [found.qdd[j] for j in scene.tree.moving]
        rates += [v for j in scene.flexible for v in found.qedd[j]]
        outputs: dict[str, Any] = {"qdd": ((len(rates),), rates)}
        if found.V0d:
            outputs["V0d"] = ((6,), [*found.V0d[0], *found.V0d[1]])
        return Result(outputs, found)

    return run


def _assembled_direct(robot: Robot, driven: Sequence[int]) -> Form:
    """By the mass matrix, factored along the tree."""

    def run(scene: Bodies, x: Arrays) -> Result:
        moving = _moving(robot, scene, x)
        keys = coordinate_keys(scene)
        c = forces(scene, moving, [0] * len(keys)).rows(scene)
        torques: dict[Key, Scalar] = {
            ("joint", j, 0): v for j, v in zip(driven, x["tau"], strict=True)
        }
        rhs = {}
        for key, load in zip(keys, c, strict=True):
            push = torques[key] if key in torques else spring(scene, moving, key)
            rhs[key] = push - load
        found = solve_matrix(scene, mass_matrix(scene, moving), rhs)
        return Result({"qdd": ((len(keys),), [found[key] for key in keys])}, moving)

    return run


def inertia_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """A over joints and elastic coordinates; of a closed loop, J^T M_t J over the independent."""
    unsupported(robot, "inertia-matrix", base_parameters=base_parameters)
    size = coordinates(robot) + 6 * is_floating(robot)
    loops = closing(robot) if robot.constrained else None
    if loops is not None:
        without_floating_loops(robot, "inertia-matrix")
        size = len(loops.independent)

    def run(scene: Bodies, x: Arrays) -> Result:
        still = _moving(robot, scene, {"q": x["q"], "qd": [0] * len(x["q"])})
        matrix = mass_matrix(scene, still, base=is_floating(robot))
        rows = matrix.rows()
        if loops is not None:
            G = [row for cut in loops.cuts for row in constraint_rows(scene, still, cut)]
            none = dict.fromkeys(loops.keys, 0)
            rows, _ = eliminated(matrix, none, G, [0] * len(G), loops.independent, loops.passive)
        return Result({"A": ((size, size), flat(rows))}, still)

    inputs = {"q": (coordinates(robot),)}
    return build_flexible(robot, "inertia-matrix", inputs, [run], ["A"], effort, symbolic)


def _tree_forces(
    robot: Robot, model: str, output: str, moving: bool, f_e: bool, effort: str, symbolic: bool
) -> Program:
    if robot.constrained:
        raise ModelError(
            f"'{model}' of '{robot.name}' is not available for closed loops or couplings:"
            " robot.tree() gives its tree structure"
        )
    size = coordinates(robot)
    names = {"q": size, "qd": size} if moving else {"q": size}

    def run(scene: Bodies, x: Arrays) -> Result:
        if not moving:
            scene = scene.unloaded().moving_base([0] * 6, x.get("g0", scene.gravity))
        rates = x["qd"] if moving else [0] * size
        state = _moving(robot, scene, {**x, "qd": rates})
        found = forces(scene, state, [0] * size)
        springs = [spring(scene, state, key) for key in coordinate_keys(scene)]
        rows = [u - v for u, v in zip(found.rows(scene), springs, strict=True)]
        base = [*found.f[0], *found.n[0]] if is_floating(robot) else []
        return Result({output: ((len(base) + size,), [*base, *rows])}, found)

    inputs = inputs_of(robot, f_e, **names)
    if not moving:
        inputs.pop("V0", None)
    return build_flexible(robot, model, inputs, [run], [output], effort, symbolic)


def bias(
    robot: Robot, *, base_parameters: bool = False, f_e: bool = False, friction: bool = True,
    symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """H with A qdd + H = (tau, 0): everything but accelerations, springs and stiffness included."""
    unsupported(robot, "bias", base_parameters=base_parameters)
    return _tree_forces(with_friction(robot, friction), "bias", "H", True, f_e, effort, symbolic)


def gravity(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """Q: forces of rest, of gravity, springs and stiffness; zero elastic rows at equilibrium."""
    unsupported(robot, "gravity", base_parameters=base_parameters)
    return _tree_forces(robot, "gravity", "Q", False, False, effort, symbolic)


def energies(robot: Robot, *, symbolic: bool = False) -> Program:
    """Kinetic energy; potential energy of gravity, springs and deformation."""

    def run(scene: Bodies, x: Arrays) -> Result:
        E, U = energies_model(scene, motion(scene, x["q"], x["qd"]))
        return Result({"E": ((), [E]), "U": ((), [U])})

    tree = robot.tree()
    size = coordinates(robot)
    inputs = {"q": (size,), "qd": (size,)}
    if is_floating(robot):
        raise ModelError(f"'energies' of '{robot.name}' is not available for a floating base")
    return build_flexible(tree, "energies", inputs, [run], ["E", "U"], symbolic=symbolic)


def static_forces(robot: Robot) -> Program:
    """R = Q + G^T lam over all coordinates of the tree: forces of rest, loops pulling with lam.

    Inputs q, f_e (the wrench of each link on the environment) and, with loops, lam."""
    loops = closing(robot)
    size = coordinates(robot)

    def run(scene: Bodies, x: Arrays) -> Result:
        scene = scene.moving_base([0] * 6, scene.gravity)
        still = motion(scene, x["q"], [0] * size, wrenches(robot, x))
        keys = coordinate_keys(scene)
        found = forces(scene, still, [0] * size).rows(scene)
        rows = [load - spring(scene, still, key) for key, load in zip(keys, found, strict=True)]
        G = [row for cut in loops.cuts for row in constraint_rows(scene, still, cut)]
        for row, pull in zip(G, x.get("lam", ()), strict=True):
            rows = [u + row.get(key, 0) * pull for key, u in zip(keys, rows, strict=True)]
        return Result({"R": ((size,), rows)})

    inputs: dict[str, tuple[int, ...]] = {"q": (size,), "f_e": (len(robot.links), 6)}
    if robot.constrained:
        inputs["lam"] = (sum(len(cut.rows) for cut in loops.cuts),)
    return build_flexible(robot, "static-forces", inputs, [run], ["R"], "plain")
