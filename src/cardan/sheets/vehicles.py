"""Vehicles as solids: wheels with tyres, and a body in place of the joints that say where it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..describe.robot import Robot
from ..describe.values.expression import number
from ..loops.numeric import skeleton
from ..motion.frames import link_frames
from .solids import Solid, hull, point, solids


def parts(robot: Robot) -> list[Solid]:
    """The solids of a drawable robot, also of one on wheels."""
    return _driven(robot) if robot.wheels else solids(robot)


def _driven(robot: Robot) -> list[Solid]:
    placing, chassis = {0}, 0
    while True:  # down the passive joints that say where the vehicle is
        below = [j for j, joint in enumerate(robot.joints, 1) if joint.antecedent == chassis]
        if len(below) != 1 or robot.joints[below[0] - 1].active:
            break
        placing.add(chassis := below[0])
    wheels = {wheel.link: float(number(wheel.radius) or 0) for wheel in robot.wheels}
    alone = len(wheels) == 1
    held = {robot.joints[j - 1].antecedent for j in wheels} - {chassis}  # what steers
    hidden = (placing | held | set(wheels)) - {0}
    listed = [
        solid for solid in solids(robot)
        if solid.joint not in hidden and solid.frame not in (hidden - {chassis}) | {0}
        and not (alone and solid.frame == chassis)
    ]  # fmt: skip
    for j, radius in wheels.items():
        wide = 0.3 * radius
        for kind, size, long in (
            ("tyre", 1, wide),
            ("rim", 0.7, 1.1 * wide),
            ("revolute", 0.25, 1.5 * wide),
        ):
            listed.append(Solid(j, kind, (0, 0, 0), np.eye(3), long, j, (size * radius,) * 2))
    T = link_frames(skeleton(robot), np.zeros(robot.n))
    places = np.array([(np.linalg.inv(T[chassis]) @ T[j])[:3, 3] for j in wheels])
    radius = max(wheels.values())
    if alone:
        post = (float(places[0, 0]), float(places[0, 1]), float(places[0, 2]) + 0.9 * radius)
        listed.append(
            Solid(chassis, "body", post, np.eye(3), 1.8 * radius, 0, (0.09 * radius,) * 2)
        )
        seat = (*post[:2], post[2] + 0.95 * radius)
        listed.append(Solid(chassis, "ball", seat, np.eye(3), 0.0, 0, (0.25 * radius, 0)))
        return listed
    corners = [
        (x + along * radius, y + aside * radius)
        for x, y, _ in places
        for along in (
            (-1.3, 1.3) if np.ptp(places[:, 0]) < radius or x < places[:, 0].max() else (0,)
        )
        for aside in ((-0.25 * np.sign(y),) if abs(y) > 0.5 * radius else (-0.5, 0.5))
    ]
    outline = np.array(hull(np.array(corners)))
    middle = outline.mean(axis=0)
    place = (float(middle[0]), float(middle[1]), float(places[:, 2].max()) + 0.5 * radius)
    body = Solid(chassis, "hull", place, np.eye(3), 0.6 * radius, 0, (0, 0), outline - middle)
    return [*(part for solid in listed for part in _above(solid, chassis, place[2])), body]


def _above(solid: Solid, chassis: int, height: float) -> list[Solid]:
    """What is to be seen of a solid of the chassis: tubes in it or below it are not."""
    if solid.frame != chassis or solid.kind not in ("body", "ball"):
        return [solid]
    reach = solid.turn[:, 2] * solid.length / 2
    low, high = sorted((solid.middle - reach, solid.middle + reach), key=lambda end: end[2])
    if high[2] <= height:
        return []
    if low[2] < height:
        low = low + (high - low) * (height - low[2]) / (high[2] - low[2])
    return [
        replace(solid, middle=point((low + high) / 2), length=float(np.linalg.norm(high - low)))
    ]
