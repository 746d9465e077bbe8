"""Dynamic models: inverse and direct dynamics, inertia matrix, bias, gravity, reactions,
energies."""

from __future__ import annotations

from typing import Any

from ..describe.robot import Robot
from ..models.bodies import Bodies
from ..models.coriolis import coriolis_matrix as coriolis_model
from ..models.direct_dynamics import articulated_dynamics, solve_tree
from ..models.energy import energies as energies_model
from ..models.energy import momentum as momentum_model
from ..models.floating import base_columns, floating_inverse_dynamics, solve_floating
from ..models.inertia_matrix import inertia_matrix as inertia_model
from ..models.newton_euler import NewtonEuler
from ..models.newton_euler import inverse_dynamics as newton_euler
from ..program import Program
from .common import (
    Arrays,
    Form,
    build,
    flat,
    is_floating,
    joint_rows,
    refuse,
    slides,
    state,
    wrenches,
)
from .derive import Result

__all__ = [
    "bias", "coriolis_matrix", "direct_dynamics", "energies", "generalized_momentum", "gravity",
    "inertia_matrix", "inverse_dynamics", "reactions",
]  # fmt: skip


def inverse_dynamics(
    robot: Robot, *, method: str = "newton-euler", base_parameters: bool = False, f_e: bool = False,
    symbolic: bool = False,
) -> Program:  # fmt: skip
    """Torques of a motion; also the accelerations nobody imposes: of elastic joints, of the
    base."""
    refuse(robot, "inverse-dynamics")
    if base_parameters:
        from .identification import with_base_parameters

        robot = with_base_parameters(robot)
    if method == "lagrange":
        from .lagrange import inverse_dynamics as by_lagrange

        return by_lagrange(robot, f_e=f_e, symbolic=symbolic)
    if is_floating(robot) or any(joint.elastic for joint in robot.joints):
        return _free_inverse_dynamics(robot, f_e, symbolic)

    def form(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = newton_euler(
                scene, x["q"], x["qd"], x["qdd"], wrenches=wrenches(robot, x), slide=slide
            )
            return Result({"tau": ((robot.n,), joint_rows(scene, found.tau))}, found)

        return run

    inputs = state(robot, "q", "qd", "qdd", f_e=f_e)
    forms = map(form, slides(robot))
    return build(robot, "inverse-dynamics", inputs, forms, ["tau"], symbolic=symbolic)


def _free_inverse_dynamics(robot: Robot, f_e: bool, symbolic: bool) -> Program:
    """[K10] 6.3 and 7.2: accelerations of elastic joints and of a floating base are unknowns
    too."""
    rigid = sum(joint.sigma != 2 and not joint.elastic for joint in robot.joints)
    elastic = robot.n - rigid
    inputs = state(robot, "q", "qd", "qdd", f_e=f_e)
    inputs["qdd"] = (rigid,)
    floats = is_floating(robot)

    def form(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            qs, qds = scene.spread(x["q"]), scene.spread(x["qd"])
            found = articulated_dynamics(
                scene, x["q"], x["qd"],
                tau={j: scene.links[j - 1].elastic_torque(qs[j], qds[j]) for j in scene.elastic},
                qdd=dict(zip(scene.rigid, x["qdd"], strict=True)),
                free_base=floats, wrenches=wrenches(robot, x), slide=slide,
            )  # fmt: skip
            outputs = {"tau": ((rigid,), [found.tau[j] for j in scene.rigid])}
            if elastic:
                outputs["qdd_e"] = ((elastic,), [found.qdd[j] for j in scene.elastic])
            if floats and found.V0d:
                outputs["V0d"] = ((6,), [*found.V0d[0], *found.V0d[1]])
            return Result(outputs, found)

        return run

    def composite(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = floating_inverse_dynamics(
                scene, x["q"], x["qd"], x["qdd"], wrenches=wrenches(robot, x), slide=slide
            )
            base = [*found.V0d[0], *found.V0d[1]] if found.V0d else []
            outputs = {"tau": ((rigid,), joint_rows(scene, found.tau)), "V0d": ((6,), base)}
            return Result(outputs, found)

        return run

    names = ["tau", *(["qdd_e"] if elastic else []), *(["V0d"] if floats else [])]
    forms = map(form if elastic else composite, slides(robot))
    meaning = {"qdd": "accelerations of the rigid joints, rad/s2 or m/s2"} if elastic else {}
    return build(
        robot, "inverse-dynamics", inputs, forms, names, symbolic=symbolic, meaning=meaning
    )


def direct_dynamics(
    robot: Robot, *, method: str = "auto", base_parameters: bool = False, f_e: bool = False,
    symbolic: bool = False,
) -> Program:  # fmt: skip
    """Accelerations of torques; the cheaper of the two methods by default."""
    refuse(robot, "direct-dynamics")
    if base_parameters:
        from .identification import with_base_parameters

        robot = with_base_parameters(robot)
    rigid = sum(joint.sigma != 2 and not joint.elastic for joint in robot.joints)
    inputs = state(robot, "q", "qd", "tau", f_e=f_e)
    inputs["tau"] = (rigid,)
    floats = is_floating(robot)

    def torques(scene: Bodies, x: Arrays) -> dict[int, Any]:
        qs, qds = scene.spread(x["q"]), scene.spread(x["qd"])
        found = {j: scene.links[j - 1].elastic_torque(qs[j], qds[j]) for j in scene.elastic}
        return found | dict(zip(scene.rigid, x["tau"], strict=True))

    def recursive(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = articulated_dynamics(
                scene, x["q"], x["qd"], tau=torques(scene, x), free_base=floats,
                wrenches=wrenches(robot, x), slide=slide,
            )  # fmt: skip
            base = [*found.V0d[0], *found.V0d[1]] if found.V0d else []
            return Result(_accelerations(robot, joint_rows(scene, found.qdd), base), found)

        return run

    def by_matrix(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            zeros = [0] * robot.n
            H = newton_euler(
                scene, x["q"], x["qd"], zeros, wrenches=wrenches(robot, x), slide=slide
            )
            A = inertia_model(scene, x["q"], slide)
            given = torques(scene, x)
            rhs = {j: given[j] - H.tau[j] for j in scene.tree.moving}
            if floats:
                columns = base_columns(scene, A, slide)
                base, qdd = solve_floating(scene, A, columns, rhs, (-H.f[0], -H.n[0]))
                return Result(_accelerations(robot, joint_rows(scene, qdd), base), H)
            qdd = solve_tree(A.A, rhs, scene.tree.moving, _moving_parent(scene))
            return Result(_accelerations(robot, joint_rows(scene, qdd), []), H)

        return run

    makers = {"recursive": [recursive], "inertia-matrix": [by_matrix]}.get(
        method, [by_matrix, recursive]
    )
    forms = [make(slide) for make in makers for slide in slides(robot)]
    names = ["qdd", *(["V0d"] if floats else [])]
    meaning = {"tau": "torques or forces of the rigid joints"} if rigid < robot.n else {}
    return build(robot, "direct-dynamics", inputs, forms, names, symbolic=symbolic, meaning=meaning)


def _accelerations(robot: Robot, qdd: list[Any], base: list[Any]) -> dict[str, Any]:
    outputs: dict[str, Any] = {"qdd": ((robot.n,), qdd)}
    if base:
        outputs["V0d"] = ((6,), base)
    return outputs


def _moving_parent(scene: Bodies) -> Any:
    """j -> the nearest link before j whose joint moves, 0 when there is none."""

    def parent(j: int) -> int:
        i = scene.links[j - 1].i
        while i and not (scene.links[i - 1].s or scene.links[i - 1].sbar):
            i = scene.links[i - 1].i
        return i

    return parent


def inertia_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """A (n,n); with a floating base the full matrix (6+n, 6+n), base first."""
    refuse(robot, "inertia-matrix")
    if base_parameters:
        from .identification import with_base_parameters

        robot = with_base_parameters(robot)
    size = robot.n + 6 * is_floating(robot)

    def form(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = inertia_model(scene, x["q"], slide)
            rows = found.matrix(scene.tree.moving)
            if is_floating(robot):
                rows = _full_matrix(scene, found, rows, slide)
            return Result({"A": ((size, size), flat(rows))}, found)

        return run

    return build(
        robot,
        "inertia-matrix",
        {"q": (robot.n,)},
        map(form, slides(robot)),
        ["A"],
        symbolic=symbolic,
    )


def _full_matrix(scene: Bodies, found: Any, rows: list[list[Any]], slide: Any) -> list[list[Any]]:
    """[[A11, A12], [A12^T, A22]], [K10] (84)."""
    M, S, J = found.Mplus[0], found.MSplus[0], found.Jplus[0]
    X, Y, Z = S
    base = [
        [M, 0, 0, 0, Z, -Y],
        [0, M, 0, -Z, 0, X],
        [0, 0, M, Y, -X, 0],
        [0, -Z, Y, *J.rows[0]],
        [Z, 0, -X, *J.rows[1]],
        [-Y, X, 0, *J.rows[2]],
    ]
    columns = base_columns(scene, found, slide)
    coupled = [[*columns[j][0], *columns[j][1]] for j in scene.tree.moving]
    top = [[*base[r], *(column[r] for column in coupled)] for r in range(6)]
    return [*top, *([*column, *row] for column, row in zip(coupled, rows, strict=True))]


def bias(
    robot: Robot, *, base_parameters: bool = False, f_e: bool = False, symbolic: bool = False
) -> Program:
    """H: the torques of qdd = 0; with a floating base the base's six rows first, [K10] (85)."""
    refuse(robot, "bias")
    if base_parameters:
        from .identification import with_base_parameters

        robot = with_base_parameters(robot)
    size = robot.n + 6 * is_floating(robot)

    def form(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = newton_euler(
                scene, x["q"], x["qd"], [0] * robot.n, wrenches=wrenches(robot, x), slide=slide
            )
            base = [*found.f[0], *found.n[0]] if is_floating(robot) else []
            return Result({"H": ((size,), [*base, *joint_rows(scene, found.tau)])}, found)

        return run

    inputs = state(robot, "q", "qd", f_e=f_e)
    return build(robot, "bias", inputs, map(form, slides(robot)), ["H"], symbolic=symbolic)


def gravity(robot: Robot, *, base_parameters: bool = False, symbolic: bool = False) -> Program:
    """Q: the torques that hold the robot at rest."""
    refuse(robot, "gravity")
    if base_parameters:
        from .identification import with_base_parameters

        robot = with_base_parameters(robot)
    size = robot.n + 6 * is_floating(robot)
    inputs: dict[str, tuple[int, ...]] = {"q": (robot.n,)}
    if is_floating(robot):
        inputs["g0"] = (3,)

    def form(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            scene = scene.unloaded().moving_base([0] * 6, x.get("g0", scene.gravity))
            zeros = [0] * robot.n
            found: NewtonEuler = newton_euler(scene, x["q"], zeros, zeros, slide=slide)
            base = [*found.f[0], *found.n[0]] if is_floating(robot) else []
            return Result({"Q": ((size,), [*base, *joint_rows(scene, found.tau)])}, found)

        return run

    return build(robot, "gravity", inputs, map(form, slides(robot)), ["Q"], symbolic=symbolic)


def coriolis_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """C with H = C qd + Q (+ friction and wrenches)."""
    refuse(robot, "coriolis-matrix", mobile=True, floating=True)
    if base_parameters:
        from .identification import with_base_parameters

        robot = with_base_parameters(robot)
    n = robot.n

    def run(scene: Bodies, x: Arrays) -> Result:
        found = coriolis_model(scene, x["q"], x["qd"])
        return Result({"C": ((n, n), flat(found.matrix(scene.tree.moving)))}, found)

    return build(robot, "coriolis-matrix", state(robot, "q", "qd"), [run], ["C"], symbolic=symbolic)


def reactions(robot: Robot, *, f_e: bool = False, symbolic: bool = False) -> Program:
    """The wrench through every joint, of the antecedent on the link."""
    refuse(robot, "reactions", floating=True, elastic=True)
    nl = len(robot.links)

    def form(slide: frozenset[int]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = newton_euler(
                scene, x["q"], x["qd"], x["qdd"], wrenches=wrenches(robot, x), slide=slide
            )
            rows = [[*found.f[link.j], *found.n[link.j]] for link in scene.links]
            return Result({"reactions": ((nl, 6), flat(rows))}, found)

        return run

    inputs = state(robot, "q", "qd", "qdd", f_e=f_e)
    return build(
        robot, "reactions", inputs, map(form, slides(robot)), ["reactions"], symbolic=symbolic
    )


def energies(robot: Robot, *, symbolic: bool = False) -> Program:
    """Kinetic and potential energy."""
    refuse(robot, "energies", floating=True)

    def run(scene: Bodies, x: Arrays) -> Result:
        found = energies_model(scene, x["q"], x["qd"])
        return Result({"E": ((), [found.E]), "U": ((), [found.U])}, found)

    return build(robot, "energies", state(robot, "q", "qd"), [run], ["E", "U"], symbolic=symbolic)


def generalized_momentum(robot: Robot, *, symbolic: bool = False) -> Program:
    """h = A qd, by a recursion that does not form A."""
    refuse(robot, "generalized-momentum", floating=True)

    def run(scene: Bodies, x: Arrays) -> Result:
        found = momentum_model(scene, x["q"], x["qd"])
        return Result({"h": ((robot.n,), joint_rows(scene, found.h))}, found)

    return build(
        robot, "generalized-momentum", state(robot, "q", "qd"), [run], ["h"], symbolic=symbolic,
        meaning={"h": "generalized momentum A qd, N m s or N s"},
    )  # fmt: skip
