"""A robot on its way to a model: its coordinates and the equations that tie them.

Every model takes q of the whole tree, and qd and qdd of its independent joints. The equations of
loops and couplings give the others, qd_tr = G qd_a; a tree has none, and G = 1. Algorithms run on
the opened robot, which carries the frames of its loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..describe.couplings import formula
from ..describe.robot import Robot
from ..describe.symbolic import parametrised
from ..errors import ModelError
from ..loops.analysis import Analysis, analyse, independent
from ..mechanism.coordinates import Coordinates, has_springs, holonomic, is_floating
from ..mechanism.loops import opened
from ..models.bodies import Bodies
from ..models.loops import Constraint, closed
from ..program import Program
from .common import Arrays
from .derivation import Form
from .derive import build
from .idle import refuse_unmoved

Scalar = Any
BY_LAGRANGE = "inverse-dynamics by Lagrange"
_NEWTON_EULER = "use method='newton-euler'"
_EQUATIONS = (
    "inverse-dynamics", "direct-dynamics", "inertia-matrix", "bias", "gravity",
    "generalized-momentum",
)  # fmt: skip
# What a model is not made for, and why; it is for every other robot.
_REFUSED: dict[str, dict[str, str]] = {
    "mobile": dict.fromkeys(
        ("coriolis-matrix", "lagrange", "filtered-regressor", "energy-regressor"),
        "a base with imposed motion: with W0 WP0 V0 VP0 zero its kind can be 'fixed', or 'floating'"
        " where it moves freely",
    )
    | {BY_LAGRANGE: f"a base with imposed motion; {_NEWTON_EULER}"},
    "floating": {
        "filtered-regressor": "a floating base: there are regressor and energy-regressor for it;"
        " base kind 'fixed' holds it"
    },
    "loops on a floating base": dict.fromkeys(
        ("coriolis-matrix", "lagrange", "base-parameters"),
        "loops and couplings on a floating base; robot.tree() cuts them open",
    )
    | {BY_LAGRANGE: f"loops and couplings on a floating base; {_NEWTON_EULER}"},
    "wheels": {
        "filtered-regressor": "wheels that roll: their velocities are no rates of coordinates,"
        " along which it could be differentiated; there are regressor and energy-regressor for them"
    },
    "wheels on flexible links": dict.fromkeys(
        (*_EQUATIONS, "loop-kinematics"), "wheels of robots with flexible links"
    ),
    "flexible links, tied on a floating base": dict.fromkeys(
        _EQUATIONS, "loops and couplings of flexible links on a floating base"
    ),
    "flexible links on a floating base": dict.fromkeys(
        ("energies", "velocities", "accelerations", "jdot-qdot", "reactions"),
        "flexible links on a floating base; cardan.rigid(robot) makes them rigid",
    ),
    "elastic": dict.fromkeys(
        ("platform-inverse-dynamics", "platform-direct-dynamics"), "elastic joints"
    )
    | {BY_LAGRANGE: f"elastic joints; {_NEWTON_EULER}"},
    "passive springs": dict.fromkeys(
        ("regressor", "filtered-regressor"),
        "springs of joints that follow others through loops or couplings: they have no column, and"
        " push all the same; make these joints rigid",
    ),
    "freedoms without motors, of idle joints": dict.fromkeys(
        ("inverse-dynamics", "direct-dynamics"),
        "idle joints that are free beside elastic joints or a floating base; use idle='held'",
    ),
}
_BASE = {"V0": (6,), "V0d": (6,), "g0": (3,)}
_JOINTS = "joint variables, then the elastic coordinates link by link"
FLEXIBLE_MEANING = {
    "q": f"{_JOINTS}, rad or m",
    "qd": f"velocities of the {_JOINTS}",
    "qdd": f"accelerations of the {_JOINTS}",
    "qdd_e": "accelerations of elastic joints, then of the elastic coordinates",
    "U": "potential energy of gravity, springs and deformation, J",
}
TIED_MEANING = {  # where links bend in loops
    "q": f"{_JOINTS}, consistent with the loops",
    "qd": "velocities of driven and elastic joints, then of the elastic coordinates",
    "qdd": "accelerations of driven and elastic joints, then of the elastic coordinates",
    "tau": "torques or forces of the driven joints",
}
OPEN = "this robot has no closed loop, no coupled joints and no wheels"

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
class Mechanism:
    """The opened robot, its coordinates, and its independent equations of loops and couplings."""

    described: Robot
    robot: Robot  # with its symbols as wanted
    analysis: Analysis
    defaults: Mapping[str, float]
    free: bool = False  # do idle joints turn as no torque lets them? else they are held
    remarks: tuple[str, ...] = ()  # of the base parameters that the robot carries

    @classmethod
    def of(
        cls, robot: Robot, model: str, *, symbolic: bool = False, idle: str = "held",
        remarks: tuple[str, ...] = (), names: Mapping[tuple[str, int], str] | None = None,
    ) -> Mechanism:  # fmt: skip
        """The mechanism of a robot, checked: its loops close somewhere, its active joints drive it,
        and the model is made for it. names: of inertial parameters that become symbols."""
        robot = independent(robot)
        require_available(robot, model, idle)
        analysis = Analysis.of_tree(robot) if robot.ne else analyse(robot)
        analysis.require_driven()
        described, defaults = robot, dict[str, float]()
        if symbolic:
            robot, defaults = parametrised(robot, names)
        free = idle == "free" and bool(analysis.idle)
        if free:
            refuse_unmoved(robot, analysis.idle)
        return cls(described, robot, analysis, defaults, free, remarks)

    @cached_property
    def tree(self) -> Robot:
        return opened(self.robot)

    @cached_property
    def coordinates(self) -> Coordinates:
        return Coordinates.of(self.robot)

    @cached_property
    def positions(self) -> Mechanism:
        """With the wheels off the ground: what loops and couplings say of positions."""
        if not self.robot.wheels:
            return self
        lifted = holonomic(self.described)
        return replace(self, robot=holonomic(self.robot), analysis=analyse(lifted))

    @property
    def n(self) -> int:
        """Joint variables of the tree."""
        return len(self.coordinates.moving)

    @property
    def active(self) -> tuple[int, ...]:
        return self.coordinates.active

    @property
    def na(self) -> int:
        """Independent joint velocities."""
        return len(self.active)

    @property
    def ne(self) -> int:
        """Elastic coordinates of flexible links: they follow the joints in q and in qd."""
        return len(self.coordinates.deformations)

    @property
    def floats(self) -> int:
        """Independent velocities of the base: 6 or 0."""
        return self.coordinates.free_base

    @property
    def springs(self) -> bool:
        """Has any joint a spring, independent or not?"""
        return has_springs(self.robot)

    def inputs(
        self, *names: str, f_e: bool = False, base: Sequence[str] = ()
    ) -> dict[str, tuple[int, ...]]:
        """The input arrays of a model; `base`: those of a floating base."""
        sizes = {"q": self.n + self.ne, "tau": len(self.coordinates.driven)}
        arrays: dict[str, tuple[int, ...]] = {
            name: (sizes.get(name, self.na + self.ne),) for name in names
        }
        if self.free and "qd" in names:
            arrays["qd_i"] = (len(self.analysis.idle),)
        if f_e:
            arrays["f_e"] = (len(self.robot.links) + is_floating(self.robot), 6)
        return arrays | ({name: _BASE[name] for name in base} if self.floats else {})

    def outputs(self, *names: str) -> list[str]:
        return [*names, "qdd_i"] if self.free else list(names)

    def constraint(
        self, scene: Bodies, x: Arrays, qd: Sequence[Scalar] | None = None
    ) -> tuple[Constraint, dict[int, Scalar]]:
        """The equations of the loops and couplings, and qd of every joint where qd_a is given."""
        chosen = self.analysis
        return closed(
            scene, x["q"], self.coordinates.loops, chosen.chosen, self.active, qd, chosen.idle,
            x.get("qd_i"), chosen.coupled, chosen.rolling,
        )  # fmt: skip

    def row(self, values: Mapping[int, Scalar]) -> list[Scalar]:
        """Values by link as a list over the joints of the tree."""
        return [values[j] for j in self.coordinates.moving]

    def motion(self, scene: Bodies, x: Arrays) -> tuple[Constraint, list[Scalar], list[Scalar]]:
        """(constraint, qd, qdd) of the whole tree; qdd_a = 0 where it is no input."""
        constraint, qd = self.constraint(scene, x, x["qd"])
        qdd = constraint.accelerations(x.get("qdd", [0] * self.na))
        return constraint, self.row(qd), self.row(qdd)

    def program(
        self, model: str, inputs: Mapping[str, tuple[int, ...]], forms: Sequence[Form],
        outputs: Sequence[str], *, meaning: Mapping[str, str] | None = None, **how: Any,
    ) -> Program:  # fmt: skip
        """The cheapest of the forms, with the meanings and remarks of this robot."""
        table = self._meaning(inputs, outputs)
        program = build(
            self.tree, model, inputs, forms, outputs, meaning={**table, **(meaning or {})}, **how
        )
        known = {x: self.defaults[x] for x in program.plain.parameters if x in self.defaults}
        known |= {x: self.defaults[x] for x in program.parameters if x in self.defaults}
        tied = (self.remark(),) if self.robot.constrained and not self.ne else ()
        return replace(
            program,
            defaults={**program.defaults, **known},
            remarks=tuple(dict.fromkeys((*program.remarks, *tied, *self.remarks))),
        )

    def _meaning(self, inputs: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, str]:
        """What the arrays of a robot with flexible links, loops or couplings hold."""
        if self.ne:
            words = {**FLEXIBLE_MEANING, **(TIED_MEANING if self.robot.constrained else {})}
            return {k: words[k] for k in (*inputs, *outputs) if k in words}
        if not self.robot.constrained:
            return {}
        table = {k: LOOP_MEANING[k] for k in (*inputs, *outputs) if k in LOOP_MEANING}
        if self.robot.couplings:
            tied = "loops and couplings" if self.robot.loops else "couplings"
            table["q"] = table["q"].replace("loops", tied)
        elif not self.robot.loops and "q" in table:  # wheels alone say nothing of positions
            table["q"] = "positions of all joints of the tree, rad or m"
        link = self.coordinates
        joints = {
            "q": link.moving, "qd": link.active, "qdd": link.active, "tau": link.driven,
            "qd_i": self.analysis.idle, "qdd_i": self.analysis.idle,
        }  # fmt: skip
        for key, links in joints.items():
            if key in table:
                table[key] += f": {link.named(links)}"
        return table

    def remark(self) -> str:
        rows = ", ".join(
            f"{loop.name}: {' '.join(keep.rows)}"
            for loop, keep in zip(self.coordinates.loops, self.analysis.chosen, strict=True)
        )
        couplings = self.robot.couplings
        coupled = ", ".join(
            f"{self.coordinates.named((j,))} = {formula(self.robot, couplings[j])}"
            for j in self.analysis.coupled
        )
        parts = [f"coupled joints {coupled}"] if coupled else []
        if rows:
            spin = ""
            if self.analysis.idle and not self.free:
                spin = f"; the idle joints {self.coordinates.named(self.analysis.idle)} are held"
            parts.append(
                f"closed loops by the independent equations {rows}; the solution divides by"
                " quantities that vanish where the passive joints' equations are singular (det of"
                f" loop-kinematics), and nowhere else{spin}"
            )
        rolling = ", ".join(
            f"{wheel.name}: {' '.join(names)}"
            for wheel, names in zip(self.robot.wheels, self.analysis.rolling, strict=True)
        )
        parts += [f"wheels that roll by the independent equations {rolling}"] if rolling else []
        return "; ".join(parts)


def require_available(robot: Robot, model: str, idle: str = "held") -> None:
    """Say clearly what this model cannot do for this robot."""
    elastic, floats = has_springs(robot), is_floating(robot)
    if not robot.n and not floats:
        raise ModelError(f"'{model}' of '{robot.name}': no joint of this robot moves")
    active = Coordinates.of(robot).active
    kinds = {
        "mobile": robot.base.kind == "mobile",
        "floating": floats,
        "loops on a floating base": floats and robot.constrained,
        "wheels": bool(robot.wheels),
        "wheels on flexible links": bool(robot.wheels) and robot.ne > 0,
        "flexible links, tied on a floating base": floats and robot.constrained and robot.ne > 0,
        "flexible links on a floating base": floats and robot.ne > 0,
        "elastic": elastic,
        "passive springs": any(
            joint.elastic and j not in active for j, joint in enumerate(robot.joints, 1)
        ),
        "freedoms without motors, of idle joints": idle == "free"
        and robot.constrained
        and (elastic or floats),
    }
    for kind, applies in kinds.items():
        if applies and model in _REFUSED[kind]:
            raise ModelError(
                f"'{model}' of '{robot.name}' is not available for {_REFUSED[kind][model]}"
            )
