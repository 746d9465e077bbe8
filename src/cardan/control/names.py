"""The table of laws: what each is called, and which robots it is for.

The command line, the page and `compare` read it; `compare.LAWS` builds what it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..describe.robot import Robot

__all__ = ["LAWS", "Entry", "fitting", "listed"]

RIGID, FLOATING, ELASTIC = "rigid", "floating", "elastic"


@dataclass(frozen=True)
class Entry:
    """A law in words: "PD control" to a place; the robots that it takes."""

    words: str
    robots: tuple[str, ...] = (RIGID,)


LAWS = {
    "pd": Entry("PD control", (RIGID, FLOATING)),
    "pid": Entry("PID control", (RIGID, FLOATING)),
    "pd-gravity": Entry("PD control with gravity"),
    "feedforward": Entry("feedforward and PD control", (RIGID, FLOATING)),
    "computed-torque": Entry("computed torque control", (RIGID, FLOATING)),
    "task-space": Entry("computed torque control of the tool", (RIGID, FLOATING)),
    "impedance": Entry("impedance control of the tool"),
    "adaptive": Entry("adaptive control"),
    "elastic-pd": Entry("PD control of the motors of elastic joints", (ELASTIC,)),
    "linearising": Entry("feedback linearisation of elastic joints", (ELASTIC,)),
}


def fitting(robot: Robot) -> tuple[str, ...]:
    """The laws that take a robot."""
    if robot.ne or robot.base.kind == "mobile":
        return ()
    floating = FLOATING if robot.base.kind == "floating" else RIGID
    kind = ELASTIC if any(joint.elastic for joint in robot.joints) else floating
    return tuple(name for name, entry in LAWS.items() if kind in entry.robots)


def listed() -> str:
    """All names, for a line of help."""
    return ", ".join(LAWS)
