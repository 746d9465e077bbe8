"""Dynamic models: inverse and direct dynamics, inertia matrix, bias, gravity, reactions, energies.

What follows from the recursion is searched for its cheapest formulation (`search`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..describe.robot import FIXED, Robot
from ..errors import ModelError
from ..models.bodies import Bodies
from ..models.direct_dynamics import articulated_dynamics, solve_tree
from ..models.floating import base_columns, floating_inverse_dynamics, solve_floating
from ..models.formulation import PLAIN, Formulation
from ..models.inertia_matrix import inertia_matrix as inertia_model
from ..models.newton_euler import inverse_dynamics as newton_euler
from ..program import Program
from .base import with_base
from .common import (
    COMPOSITE,
    RECURSION,
    Arrays,
    build,
    flat,
    is_floating,
    joint_rows,
    refuse,
    slides,
    state,
    with_friction,
    wrenches,
)  # fmt: skip
from .derivation import Derivation, Form, Result, Way

__all__ = [
    "bias", "direct_dynamics", "gravity",
    "inertia_matrix", "inverse_dynamics", "moving_parent", "reactions",
]  # fmt: skip


def inverse_dynamics(
    robot: Robot, *, method: str = "newton-euler", base_parameters: bool = False, f_e: bool = False,
    friction: bool = True, base: str = "free", symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """Torques of a motion; also the accelerations nobody imposes: elastic joints, a free base.

    With base="given" the acceleration V0d of a floating base is an input, and the wrench F0 that
    must act on the base comes out."""
    refuse(robot, "inverse-dynamics", elastic=base == "given")
    robot = with_base(with_friction(robot, friction), base_parameters)
    given = base == "given"
    if given and (not is_floating(robot) or method == "lagrange"):
        raise ModelError(
            f"base='given' is for a floating base, by Newton-Euler: the base of '{robot.name}' is"
            f" {robot.base.kind}, the method {method}"
        )
    if method == "lagrange":
        from .lagrange import inverse_dynamics as by_lagrange

        return by_lagrange(robot, f_e=f_e, symbolic=symbolic)
    if not given and (is_floating(robot) or any(joint.elastic for joint in robot.joints)):
        return _free_inverse_dynamics(robot, f_e, symbolic, effort)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = newton_euler(
                scene, x["q"], x["qd"], x["qdd"], wrenches=wrenches(robot, x), form=form
            )
            outputs: dict[str, Any] = {"tau": ((robot.n,), joint_rows(scene, found.tau))}
            if given:
                outputs["F0"] = ((6,), [*found.f[0], *found.n[0]])
            return Result(outputs, found)

        return run

    names = ["tau", "F0"] if given else ["tau"]
    inputs = state(robot, "q", "qd", "qdd", f_e=f_e, driven=given)
    return build(
        robot, "inverse-dynamics", inputs, [], names, symbolic=symbolic, formulate=formulate,
        choices=RECURSION, effort=effort,
    )  # fmt: skip


def _rigid(robot: Robot) -> int:
    """Number of joints whose acceleration can be imposed."""
    return sum(joint.sigma != FIXED and not joint.elastic for joint in robot.joints)


def _free_inverse_dynamics(robot: Robot, f_e: bool, symbolic: bool, effort: str) -> Program:
    """[K10] 6.3 and 7.2: accelerations of elastic joints and of a floating base are unknowns."""
    rigid = _rigid(robot)
    elastic = robot.n - rigid
    floats = is_floating(robot)
    inputs = state(robot, "q", "qd", "qdd", f_e=f_e)
    inputs["qdd"] = (rigid,)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            loads = wrenches(robot, x)
            if not elastic:
                found = floating_inverse_dynamics(
                    scene, x["q"], x["qd"], x["qdd"], wrenches=loads, form=form
                )
            else:
                qs, qds = scene.spread(x["q"]), scene.spread(x["qd"])
                springs = {
                    j: scene.links[j - 1].elastic_torque(qs[j], qds[j]) for j in scene.elastic
                }
                imposed = dict(zip(scene.rigid, x["qdd"], strict=True))
                found = articulated_dynamics(
                    scene, x["q"], x["qd"], tau=springs, qdd=imposed, free_base=floats,
                    wrenches=loads, form=form,
                )  # fmt: skip
            outputs = {"tau": ((rigid,), [found.tau[j] for j in scene.rigid])}
            if elastic:
                outputs["qdd_e"] = ((elastic,), [found.qdd[j] for j in scene.elastic])
            if floats and found.V0d:
                outputs["V0d"] = ((6,), [*found.V0d[0], *found.V0d[1]])
            return Result(outputs, found)

        return run

    names = ["tau", *(["qdd_e"] if elastic else []), *(["V0d"] if floats else [])]
    meaning = {"qdd": "accelerations of the rigid joints, rad/s2 or m/s2"} if elastic else {}
    return build(
        robot, "inverse-dynamics", inputs, [], names, symbolic=symbolic, meaning=meaning,
        formulate=formulate, choices=COMPOSITE, effort=effort,
    )  # fmt: skip


def direct_dynamics(
    robot: Robot, *, method: str = "auto", base_parameters: bool = False, f_e: bool = False,
    friction: bool = True, symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """Accelerations of torques; the cheaper of the two methods by default."""
    refuse(robot, "direct-dynamics")
    if method == "constraint-forces":
        raise ModelError(
            f"'direct-dynamics' of '{robot.name}' by constraint forces needs closed loops; it has"
            " none"
        )
    robot = with_base(with_friction(robot, friction), base_parameters)
    rigid = _rigid(robot)
    inputs = state(robot, "q", "qd", "tau", f_e=f_e)
    inputs["tau"] = (rigid,)
    names = ["qdd", *(["V0d"] if is_floating(robot) else [])]
    meaning = {"tau": "torques or forces of the rigid joints"} if rigid < robot.n else {}

    methods: dict[str, Way] = {
        "recursive": (lambda form: _recursive(robot, form), COMPOSITE),
        "inertia-matrix": (lambda form: _by_matrix(robot, form), RECURSION),
    }
    if method == "auto":
        plain = {
            name: Derivation(robot, "direct-dynamics", inputs).trace(formulate(PLAIN)).price
            for name, (formulate, _) in methods.items()
            if name == "recursive" or len(robot.links) <= _LARGEST_MATRIX
        }
        best = min(plain.values())
        wanted = [name for name, price in plain.items() if price <= 1.15 * best]
        first, *others = sorted(wanted, key=plain.__getitem__)
    else:
        first, others = method, []
    formulate, choices = methods[first]
    return build(
        robot, "direct-dynamics", inputs, [], names, symbolic=symbolic, meaning=meaning,
        formulate=formulate, choices=choices, effort=effort,
        rivals=[methods[name] for name in others],
    )  # fmt: skip


_LARGEST_MATRIX = 40  # links: beyond it a full inertia matrix is never the cheaper way


def _torques(scene: Bodies, x: Arrays) -> dict[int, Any]:
    """Given torques, and those of the springs of elastic joints."""
    qs, qds = scene.spread(x["q"]), scene.spread(x["qd"])
    found = {j: scene.links[j - 1].elastic_torque(qs[j], qds[j]) for j in scene.elastic}
    return found | dict(zip(scene.rigid, x["tau"], strict=True))


def _recursive(robot: Robot, form: Formulation) -> Form:
    def run(scene: Bodies, x: Arrays) -> Result:
        found = articulated_dynamics(
            scene, x["q"], x["qd"], tau=_torques(scene, x), free_base=is_floating(robot),
            wrenches=wrenches(robot, x), form=form,
        )  # fmt: skip
        base = [*found.V0d[0], *found.V0d[1]] if found.V0d else []
        return Result(_accelerations(robot, joint_rows(scene, found.qdd), base), found)

    return run


def _by_matrix(robot: Robot, form: Formulation) -> Form:
    def run(scene: Bodies, x: Arrays) -> Result:
        loads = wrenches(robot, x)
        H = newton_euler(scene, x["q"], x["qd"], [0] * robot.n, wrenches=loads, form=form)
        A = inertia_model(scene, x["q"], form)
        given = _torques(scene, x)
        rhs = {j: given[j] - H.tau[j] for j in scene.tree.moving}
        if is_floating(robot):
            columns = base_columns(scene, A, form.slide)
            base, qdd = solve_floating(scene, A, columns, rhs, (-H.f[0], -H.n[0]))
            return Result(_accelerations(robot, joint_rows(scene, qdd), base), H)
        qdd = solve_tree(A.A, rhs, scene.tree.moving, moving_parent(scene))
        return Result(_accelerations(robot, joint_rows(scene, qdd), []), H)

    return run


def _accelerations(robot: Robot, qdd: list[Any], base: list[Any]) -> dict[str, Any]:
    outputs: dict[str, Any] = {"qdd": ((robot.n,), qdd)}
    if base:
        outputs["V0d"] = ((6,), base)
    return outputs


def moving_parent(scene: Bodies, held: Sequence[int] = ()) -> Any:
    """j -> the nearest link before j whose joint moves (and is not held), 0 when there is none."""

    def parent(j: int) -> int:
        i = scene.links[j - 1].i
        while i and (i in held or not (scene.links[i - 1].s or scene.links[i - 1].sbar)):
            i = scene.links[i - 1].i
        return i

    return parent


def inertia_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """A (n,n); with a floating base the full matrix (6+n, 6+n), base first."""
    refuse(robot, "inertia-matrix")
    robot = with_base(robot, base_parameters)
    size = robot.n + 6 * is_floating(robot)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = inertia_model(scene, x["q"], form)
            rows = found.matrix(scene.tree.moving)
            if is_floating(robot):
                rows = _full_matrix(scene, found, rows, form)
            return Result({"A": ((size, size), flat(rows))}, found)

        return run

    return build(
        robot, "inertia-matrix", {"q": (robot.n,)}, [], ["A"], symbolic=symbolic,
        formulate=formulate, choices=COMPOSITE, effort=effort,
    )  # fmt: skip


def _full_matrix(
    scene: Bodies, found: Any, rows: list[list[Any]], form: Formulation
) -> list[list[Any]]:
    """[[A11, A12], [A12^T, A22]], [K10] (84)."""
    columns = base_columns(scene, found, form.slide)
    coupled = [[*columns[j][0], *columns[j][1]] for j in scene.tree.moving]
    top = [[*row, *(column[r] for column in coupled)] for r, row in enumerate(base_matrix(found))]
    return [*top, *([*column, *row] for column, row in zip(coupled, rows, strict=True))]


def base_matrix(found: Any) -> list[list[Any]]:
    """A11: the inertia of all links as one body about the origin of frame 0."""
    M, S, J = found.Mplus[0], found.MSplus[0], found.Jplus[0]
    X, Y, Z = S
    return [
        [M, 0, 0, 0, Z, -Y],
        [0, M, 0, -Z, 0, X],
        [0, 0, M, Y, -X, 0],
        [0, -Z, Y, *J.rows[0]],
        [Z, 0, -X, *J.rows[1]],
        [-Y, X, 0, *J.rows[2]],
    ]


def bias(
    robot: Robot, *, base_parameters: bool = False, f_e: bool = False, friction: bool = True,
    symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """H: the torques of qdd = 0; with a floating base the base's six rows first, [K10] (85)."""
    refuse(robot, "bias")
    robot = with_base(with_friction(robot, friction), base_parameters)
    size = robot.n + 6 * is_floating(robot)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = newton_euler(
                scene, x["q"], x["qd"], [0] * robot.n, wrenches=wrenches(robot, x), form=form
            )
            base = [*found.f[0], *found.n[0]] if is_floating(robot) else []
            return Result({"H": ((size,), [*base, *joint_rows(scene, found.tau)])}, found)

        return run

    return build(
        robot, "bias", state(robot, "q", "qd", f_e=f_e), [], ["H"], symbolic=symbolic,
        formulate=formulate, choices=RECURSION, effort=effort,
    )  # fmt: skip


def gravity(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """Q: the torques that hold the robot at rest."""
    refuse(robot, "gravity")
    robot = with_base(robot, base_parameters)
    size = robot.n + 6 * is_floating(robot)
    inputs: dict[str, tuple[int, ...]] = {"q": (robot.n,)}
    if is_floating(robot):
        inputs["g0"] = (3,)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            scene = scene.unloaded().moving_base([0] * 6, x.get("g0", scene.gravity))
            zeros = [0] * robot.n
            found = newton_euler(scene, x["q"], zeros, zeros, form=form)
            base = [*found.f[0], *found.n[0]] if is_floating(robot) else []
            return Result({"Q": ((size,), [*base, *joint_rows(scene, found.tau)])}, found)

        return run

    return build(
        robot, "gravity", inputs, [], ["Q"], symbolic=symbolic,
        formulate=formulate, choices=COMPOSITE, effort=effort,
    )  # fmt: skip


def reactions(robot: Robot, *, f_e: bool = False, symbolic: bool = False) -> Program:
    """The wrench through every joint, of the antecedent on the link.

    A floating base accelerates as inverse dynamics finds it, [K10] (99)."""
    refuse(robot, "reactions", elastic=True)
    nl = len(robot.links)

    def form(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            given = (scene, x["q"], x["qd"], x["qdd"])
            loads, how = wrenches(robot, x), Formulation(slide=slide)
            if is_floating(robot):
                found: Any = floating_inverse_dynamics(*given, wrenches=loads, form=how)
                pairs = found.f
            else:
                found = newton_euler(*given, wrenches=loads, form=how)
                pairs = {j: (found.f[j], found.n[j]) for j in found.f}
            rows = [[*pairs[link.j][0], *pairs[link.j][1]] for link in scene.links]
            return Result({"reactions": ((nl, 6), flat(rows))}, found)

        return run

    inputs = state(robot, "q", "qd", "qdd", f_e=f_e)
    return build(
        robot, "reactions", inputs, map(form, slides(robot)), ["reactions"], symbolic=symbolic
    )
