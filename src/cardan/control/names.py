"""The table of laws: what each is called, and which robots it is for.

The command line, the page and `compare` read it; `compare.LAWS` builds what it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..describe.robot import Robot

RIGID, FLOATING, ELASTIC, TREE = "rigid", "floating", "elastic", "tree"
GAINS = ("kp", "kd")
JOINT = (*GAINS, "ki", "limit")  # what laws in joint space take


@dataclass(frozen=True)
class Entry:
    """A law in words: "PD control" to a place; its torques; the robots that it takes, and what
    `Tuning` says of it; solved: it is no program, that is printed or linearised."""

    words: str
    formula: str
    robots: tuple[str, ...] = (RIGID,)
    takes: tuple[str, ...] = JOINT
    solved: bool = False


LAWS = {
    "pd": Entry("PD control", "kp e + kd ed", (RIGID, FLOATING)),
    "pid": Entry("PID control", "kp e + kd ed + ki z", (RIGID, FLOATING)),
    "pd-gravity": Entry("PD control with gravity", "kp e + kd ed + Q(q)"),
    "feedforward": Entry(
        "feedforward and PD control",
        "ID(q_r, qd_r, qdd_r) + kp e + kd ed",
        (RIGID, FLOATING),
        (*JOINT, "parts"),
    ),
    "computed-torque": Entry(
        "computed torque control", "ID(q, qd, qdd_r + kp e + kd ed)", (RIGID, FLOATING)
    ),
    "task-space": Entry(
        "computed torque control of the tool",
        "ID(q, qd, J⁺(Vd_r + kd ev + kp ex - Jd qd))",
        (RIGID, FLOATING),
        (*GAINS, "limit"),
    ),
    "impedance": Entry(
        "impedance control of the tool", "Jᵀ(K ex + D ev) + Q(q)", takes=(*GAINS, "limit")
    ),
    "adaptive": Entry("adaptive control", "Y(q, qd, v, vd) K + kd s", takes=GAINS),
    "predictive": Entry("predictive control", "of least cost ahead", (TREE,), (), solved=True),
    "elastic-pd": Entry(
        "PD control of the motors of elastic joints",
        "kp (θ_r - θ) + kd (xd_r - θd) + Q(x_r)",
        (ELASTIC,),
    ),
    "linearising": Entry(
        "feedback linearisation of elastic joints",
        "IA θdd + tau_J, x of order four assigned",
        (ELASTIC,),
        ("limit",),
    ),
}


def fitting(robot: Robot, programs: bool = False) -> tuple[str, ...]:
    """The laws that take a robot; `programs`: those that are printed and linearised."""
    if robot.ne or robot.base.kind == "mobile":
        return ()
    floating = FLOATING if robot.base.kind == "floating" else RIGID
    kind = ELASTIC if any(joint.elastic for joint in robot.joints) else floating
    kinds = {kind, TREE} if kind == RIGID and not robot.constrained else {kind}
    return tuple(
        name
        for name, entry in LAWS.items()
        if kinds & set(entry.robots) and not (programs and entry.solved)
    )


def listed() -> str:
    """All names, for a line of help."""
    return ", ".join(LAWS)
