"""What makes a robot follow a motion: as prescribed, or by a control law."""

from __future__ import annotations

from typing import Any

from ..arguments import Numbers, named_arguments
from ..describe.robot import Robot
from ..errors import UnknownNameError
from ..motion.trajectory import Trajectory
from . import adaptive
from . import laws as control

__all__ = ["DRIVES", "driven"]

DRIVES = ("prescribed", *control.LAWS, "adaptive")


@named_arguments
def driven(
    robot: Robot, motion: Trajectory, drive: str, bandwidth: float, q0: Numbers = None
) -> dict[str, Any]:
    """The argument of `simulate` for one of `DRIVES`; q0: where the motion starts, the loops of a
    robot closed, if not where its first positions say."""
    if drive == "prescribed":
        return {"motion": motion}
    if drive == "adaptive":
        w = control.positive_bandwidth(bandwidth)
        return {"law": adaptive.adaptive(robot, motion, 2 * w, slope=w)}
    if drive not in control.LAWS:
        raise UnknownNameError.of("control law", drive, DRIVES)
    kp, kd = control.gains(robot, bandwidth, drive, motion.q[0] if q0 is None else q0)
    return {"law": control.law(robot, motion, drive, kp, kd)}
