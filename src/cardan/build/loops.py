"""What the models of closed-loop robots share, and their kinematic models.

A closed-loop robot takes q of its whole tree, qd and qdd of its active joints; the constraints give
the others. Its algorithms run on the opened robot, which carries the frames of its loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..describe.couplings import formula
from ..describe.robot import Robot
from ..describe.symbolic import parametrised
from ..errors import ModelError
from ..loops.analysis import Analysis, analyse, independent
from ..loops.geometry import LoopGeometry
from ..mechanism.loops import Connection, opened
from ..mechanism.tree import Tree
from ..models.bodies import Bodies, bodies
from ..models.flexible.rigid import rigid
from ..models.jacobian import Jacobian, rotation
from ..models.jacobian import jacobian as jacobian_model
from ..models.kinematics import accelerations as accelerations_model
from ..models.kinematics import velocities as velocities_model
from ..models.loops import Constraint, closed
from ..program import Program
from .common import MEANING, Arrays, build, flat, is_floating, refuse
from .derivation import Form, Result
from .idle import refuse_unmoved

__all__ = [
    "OPEN", "Closing", "accelerations", "along_column", "closing", "jacobian", "jacobian_inverse",
    "jdot_qdot", "loop_geometry", "velocities",
]  # fmt: skip

Scalar = Any
# models of closed loops that take freedoms without motors: elastic joints, a floating base
_UNFORCED = ("inverse-dynamics", "direct-dynamics", "loop-kinematics", "energies")
_FLOATING = (
    *_UNFORCED, "jacobian", "jacobian-inverse", "velocities", "accelerations", "jdot-qdot",
    "inertia-matrix", "bias", "gravity", "generalized-momentum",
)  # fmt: skip
_BASE = {"V0": (6,), "V0d": (6,), "g0": (3,)}
OPEN = "this robot has no closed loop and no coupled joints"

LOOP_MEANING = {
    "q": "positions of all joints of the tree, consistent with the loops, rad or m",
    "qd": "velocities of the active joints, rad/s or m/s",
    "qdd": "accelerations of the active joints, rad/s2 or m/s2",
    "tau": "torques or forces of the active joints, N m or N",
    "qd_i": "velocities of the idle joints, rad/s or m/s",
    "qdd_i": "accelerations of the idle joints, rad/s2 or m/s2",
    "W": "velocities of the passive joints: qd_p = W qd_a",
    "psi": "accelerations of the passive joints: qdd_p = W qdd_a + psi",
    "Wa": "loop equations, columns of the active joints: Wa qd_a + Wp qd_p = 0",
    "Wp": "loop equations, columns of the passive joints",
    "Psi": "Wa qdd_a + Wp qdd_p + Psi = 0",
    "Wac": "freedoms of the cut joints, columns of the active joints: qd_c = Wac qd_a + Wpc qd_p",
    "Wpc": "freedoms of the cut joints, columns of the passive joints",
    "Phi": "qdd_c = Wac qdd_a + Wpc qdd_p + Phi",
    "G": "velocities of all joints: qd = G qd_a",
    "Wcut": "velocities of the cut joints: qd_c = Wcut qd_a",
    "psi_cut": "accelerations of the cut joints: qdd_c = Wcut qdd_a + psi_cut",
    "det": "what the solution divides by: near zero, the configuration is singular (type 2)",
    "r": "what is zero where the loops are closed: lengths, m, and sines of angles",
    "dq_p": "the step of the passive joints that closes the loops, of Newton's method",
}


@dataclass(frozen=True)
class Closing:
    """A closed-loop robot on its way to a model: the opened robot and its chosen equations."""

    robot: Robot  # closed, its symbols as wanted
    analysis: Analysis
    defaults: Mapping[str, float]
    free: bool = False  # do idle joints turn as no torque lets them? else they are held
    remarks: tuple[str, ...] = ()  # of the base parameters that the robot carries

    @cached_property
    def tree(self) -> Robot:
        return opened(self.robot)

    @property
    def connection(self) -> Connection:
        return self.analysis.connection

    @property
    def n(self) -> int:
        return len(self.connection.moving)

    @property
    def active(self) -> tuple[int, ...]:
        return self.connection.active

    @property
    def na(self) -> int:
        return len(self.active)

    @property
    def rigid(self) -> tuple[int, ...]:
        """The independent joints that have motors."""
        return tuple(j for j in self.active if not self.robot.joints[j - 1].elastic)

    @property
    def elastic(self) -> tuple[int, ...]:
        """The independent joints that have springs."""
        return tuple(j for j in self.active if self.robot.joints[j - 1].elastic)

    @property
    def springs(self) -> bool:
        """Has any joint a spring, independent or not?"""
        return any(joint.elastic for joint in self.robot.joints)

    def inputs(
        self, *names: str, f_e: bool = False, base: Sequence[str] = ()
    ) -> dict[str, tuple[int, ...]]:
        """The input arrays of a model; `base`: those of a floating base."""
        found: dict[str, tuple[int, ...]] = {
            name: (self.n if name == "q" else self.na,) for name in names
        }
        if self.free and "qd" in names:
            found["qd_i"] = (len(self.analysis.idle),)
        if f_e:
            found["f_e"] = (len(self.robot.links) + is_floating(self.robot), 6)
        return found | ({name: _BASE[name] for name in base} if is_floating(self.robot) else {})

    def outputs(self, *names: str) -> list[str]:
        return [*names, "qdd_i"] if self.free else list(names)

    def constraint(
        self, scene: Bodies, x: Arrays, qd: Sequence[Scalar] | None = None
    ) -> tuple[Constraint, dict[int, Scalar]]:
        found = self.analysis
        return closed(
            scene, x["q"], self.connection.loops, found.chosen, self.active, qd, found.idle,
            x.get("qd_i"), found.coupled,
        )  # fmt: skip

    def row(self, values: Mapping[int, Scalar]) -> list[Scalar]:
        """Values by link as a list over the joints of the tree."""
        return [values[j] for j in self.connection.moving]

    def motion(self, scene: Bodies, x: Arrays) -> tuple[Constraint, list[Scalar], list[Scalar]]:
        """(constraint, qd, qdd) of the whole tree; qdd_a = 0 where it is no input."""
        found, qd = self.constraint(scene, x, x["qd"])
        qdd = found.accelerations(x.get("qdd", [0] * self.na))
        return found, self.row(qd), self.row(qdd)

    def program(
        self, model: str, inputs: Mapping[str, tuple[int, ...]], forms: Sequence[Form],
        outputs: Sequence[str], *, meaning: Mapping[str, str] | None = None, **how: Any,
    ) -> Program:  # fmt: skip
        """build, with the meanings and remarks of a closed-loop robot."""
        table = {k: LOOP_MEANING[k] for k in (*inputs, *outputs) if k in LOOP_MEANING}
        if self.robot.couplings:
            tied = "loops and couplings" if self.robot.loops else "couplings"
            table["q"] = table["q"].replace("loops", tied)
        table["q"] += f": {self.connection.named(self.connection.moving)}"
        for key in ("qd", "qdd", "tau", "qd_i", "qdd_i"):
            if key in table:
                own = self.analysis.idle if key.endswith("_i") else self.active
                own = self.rigid if key == "tau" else own
                table[key] += f": {self.connection.named(own)}"
        made = build(
            self.tree, model, inputs, forms, outputs, meaning={**table, **(meaning or {})}, **how
        )
        known = {name: self.defaults[name] for name in made.parameters if name in self.defaults}
        return replace(
            made,
            defaults={**made.defaults, **known},
            remarks=tuple(dict.fromkeys((*made.remarks, self.remark(), *self.remarks))),
        )

    def remark(self) -> str:
        rows = ", ".join(
            f"{loop.name}: {' '.join(keep.rows)}"
            for loop, keep in zip(self.connection.loops, self.analysis.chosen, strict=True)
        )
        couplings = self.robot.couplings
        coupled = ", ".join(
            f"{self.connection.named((j,))} = {formula(self.robot, couplings[j])}"
            for j in self.analysis.coupled
        )
        spin = ""
        if self.analysis.idle and not self.free:
            spin = f"; the idle joints {self.connection.named(self.analysis.idle)} are held"
        found = f"coupled joints {coupled}" if coupled else ""
        if rows:
            found += "; " * bool(coupled) + (
                f"closed loops by the independent equations {rows}; the solution divides by"
                " quantities that vanish where the passive joints' equations are singular (det of"
                f" loop-kinematics), and nowhere else{spin}"
            )
        return found


def closing(
    robot: Robot, model: str, *, symbolic: bool = False, idle: str = "held",
    base_parameters: bool = False,
) -> Closing:  # fmt: skip
    """The robot's loops, checked: closed somewhere, driven by its active joints; it carries its
    base parameters if wanted."""
    refuse(robot, model, loops=False)
    _require_forced(robot, model, idle)
    remarks: tuple[str, ...] = ()
    if base_parameters:
        from .base import MODES
        from .base import base_parameters as base_parameters_of

        base = base_parameters_of(robot)
        robot, remarks = base.robot, tuple(x for x in base.remarks if x == MODES)
    robot = independent(robot)
    analysis = analyse(robot)
    analysis.require_driven()
    defaults: dict[str, float] = {}
    if symbolic:
        robot, defaults = parametrised(robot)
    free = idle == "free" and bool(analysis.idle)
    if free:
        refuse_unmoved(robot, analysis.idle)
    return Closing(robot, analysis, defaults, free, remarks)


def _require_forced(robot: Robot, model: str, idle: str) -> None:
    """Few models take freedoms without motors."""
    why = ""
    allowed: tuple[str, ...] = _FLOATING
    if any(joint.elastic for joint in robot.joints):
        allowed = _UNFORCED
        why = (
            "elastic joints in a robot with closed loops or couplings: they are freedoms without"
            f" motors; there are {', '.join(_UNFORCED)}; make them rigid for others"
        )
    elif is_floating(robot):
        why = (
            "a floating base with closed loops or couplings: it has six freedoms more than motors;"
            f" there are {', '.join(_FLOATING)}; base kind 'fixed' holds it for others"
        )
    if why and (model not in allowed or idle == "free"):
        raise ModelError(f"'{model}' of '{robot.name}' is not available for {why}")


def loop_geometry(robot: Robot) -> LoopGeometry:
    """The object that solves the geometric constraint equations; flexible links undeformed."""
    if not robot.constrained:
        raise ModelError(f"'loop-geometry' of '{robot.name}': {OPEN}")
    return LoopGeometry.of(rigid(robot) if robot.ne else robot)


def along_column(
    row: Mapping[int, Scalar], columns: Mapping[int, Sequence[Scalar]], k: int
) -> Scalar:
    total: Scalar = 0
    for j, x in row.items():
        total = total + x * columns[j][k]
    return total


def jacobian(
    robot: Robot, *, frame: Any = None, projection: Any = 0, intermediate: Any = None,
    tool: Sequence[Any] = (0, 0, 0), symbolic: bool = False, inverted: bool = False,
) -> Program:  # fmt: skip
    """J (6, active joints) of a point of a frame: that of the tree times G; or its inverse."""
    from .kinematic import forms_of, inverse_meaning, pseudo_inverse

    model = "jacobian-inverse" if inverted else "jacobian"
    made = closing(robot, model, symbolic=symbolic)
    tree = Tree.of(robot)
    n, r = tree.link(frame), tree.link(projection)
    k = None if intermediate is None else tree.link(intermediate)

    def outputs(scene: Bodies, q: Any, found: Jacobian) -> dict[str, Any]:
        J = _active_columns(made, scene, q, found)
        if not inverted:
            return {"J": ((6, made.na), flat(J))}
        Jinv, det = pseudo_inverse(J)
        return {"Jinv": ((made.na, 6), flat(Jinv)), "det": ((), [det])}

    if inverted:
        _require_full(made, n, tree.label(n))
    forms = forms_of(made.tree, n, r, k, tool, outputs, tried=3)
    names = ["Jinv", "det"] if inverted else ["J"]
    where = f"of frame {tree.label(n)} in the axes of frame {tree.label(r) if r else 0}"
    meaning = {"J": f"{MEANING['J'].replace('joint variable', 'active joint')}; {where}"}
    meaning = inverse_meaning(made.na, where) if inverted else meaning
    return made.program(model, made.inputs("q"), forms, names, meaning=meaning)


def _require_full(made: Closing, n: int, name: str) -> None:
    """A Jacobian that is singular everywhere has no inverse."""
    most = 0
    for sample in made.analysis.samples[:1]:
        scene = bodies(opened(made.connection.robot), sample.values.__getitem__)
        for q in sample.q[:4].tolist():
            J = _active_columns(made, scene, q, jacobian_model(scene, q, n, 0, 0))
            most = max(most, int(np.linalg.matrix_rank(np.array(J, float), tol=1e-9)))
    if most < min(6, made.na):
        raise ModelError(
            f"'jacobian-inverse' of '{made.robot.name}': the Jacobian of frame {name} has"
            f" rank {most} everywhere, less than its {made.na} active joints; choose another frame"
        )


def jacobian_inverse(robot: Robot, **options: Any) -> Program:
    """The inverse of the Jacobian of the active joints, generalized when it is not square."""
    return jacobian(robot, inverted=True, **options)


def _active_columns(made: Closing, scene: Bodies, q: Any, found: Jacobian) -> list[list[Scalar]]:
    G = made.constraint(scene, {"q": q})[0].G()
    moving = made.connection.moving
    rows = [dict(zip(moving, row, strict=True)) for row in found.rows()]
    return [[along_column(row, G, c) for c in range(made.na)] for row in rows]


def velocities(robot: Robot, *, symbolic: bool = False) -> Program:
    """V of every link, of the active joints' velocities."""
    made = closing(robot, "velocities", symbolic=symbolic)
    nl = len(robot.links)

    def form(slide: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint, qd = made.constraint(scene, x)[0], []
            qd = made.row(constraint.velocities(x["qd"]))
            found = velocities_model(scene, x["q"], qd, slide)
            rows = [[*found.V[link.j], *found.w[link.j]] for link in scene.links[:nl]]
            return Result({"V": ((nl, 6), flat(rows))}, found)

        return run

    forms = [form(False), form(True)]
    return made.program("velocities", made.inputs("q", "qd", base=["V0"]), forms, ["V"])


def accelerations(robot: Robot, *, symbolic: bool = False) -> Program:
    """Vd of every link, of the active joints' motion."""
    made = closing(robot, "accelerations", symbolic=symbolic)
    nl = len(robot.links)

    def result(scene: Bodies, x: Arrays, found: Any) -> dict[str, Any]:
        rows = [[*found.Vd[link.j], *found.wd[link.j]] for link in scene.links[:nl]]
        return {"Vd": ((nl, 6), flat(rows))}

    forms = [_moving(made, slide, result) for slide in (False, True)]
    inputs = made.inputs("q", "qd", "qdd", base=["V0", "V0d"])
    return made.program("accelerations", inputs, forms, ["Vd"])


def jdot_qdot(
    robot: Robot, *, frame: Any = None, projection: Any = 0, symbolic: bool = False
) -> Program:
    """Jdot qd_a of a frame: its acceleration when the active joints do not accelerate."""
    made = closing(robot, "jdot-qdot", symbolic=symbolic)
    tree = Tree.of(robot)
    n, r = tree.link(frame), tree.link(projection)

    def result(scene: Bodies, x: Arrays, found: Any) -> dict[str, Any]:
        R = rotation(scene, x["q"], r, n)
        return {"Jdqd": ((6,), [*(R @ found.Vd[n]), *(R @ found.wd[n])])}

    forms = [_moving(made, slide, result) for slide in (False, True)]
    return made.program("jdot-qdot", made.inputs("q", "qd", base=["V0"]), forms, ["Jdqd"])


def _moving(made: Closing, slide: bool, result: Callable[..., dict[str, Any]]) -> Form:
    def run(scene: Bodies, x: Arrays) -> Result:
        _, qd, qdd = made.motion(scene, x)
        found = accelerations_model(scene, x["q"], qd, qdd, slide)
        return Result(result(scene, x, found), found)

    return run
