"""Mechanisms with closed loops, planar and spatial, for the tests; inertias drawn at random."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from cardan.describe.robot import DRIVE, INERTIA, Robot
from cardan.exact import exact
from cardan.loops.analysis import analyse
from cardan.loops.numeric import equations

SHARED = Path(__file__).resolve().parents[3] / "shared" / "robots"
FILES = sorted(
    path
    for path in (*SHARED.glob("par/*.par"), *SHARED.glob("par_symoroplus/*.par"))
    if path.stem.lower() in ("akr3000", "sr400", "two-loops", "twoloops", "testloop")
)


def passive(**fields: Any) -> dict[str, Any]:
    return {"active": False, **fields}


def four_bar() -> Robot:
    return cardan.load({
        "name": "four-bar", "gravity": [0, -9.81, 0],
        "link": [{}, passive(d=0.3), passive(antecedent=0, d=0.5)],
        "loop": [{"name": "coupler", "cut": {"antecedent": 2, "d": 0.45},
                  "twin": {"antecedent": 3, "d": 0.4}}],
    })  # fmt: skip


def slider_crank() -> Robot:
    """The slider moves along x0; the cut is the pin between rod and slider."""
    return cardan.load({
        "name": "slider-crank", "gravity": [0, -9.81, 0],
        "link": [{}, passive(d=0.2),
                 passive(antecedent=0, joint="prismatic", gamma="pi/2", alpha="pi/2")],
        "loop": [{"name": "pin", "cut": {"antecedent": 2, "d": 0.6},
                  "twin": {"antecedent": 3, "alpha": "-pi/2"}}],
    })  # fmt: skip


def prismatic_cut() -> Robot:
    """The same slider-crank, cut at its slide."""
    return cardan.load({
        "name": "slider-cut", "gravity": [0, -9.81, 0],
        "link": [{}, passive(d=0.2), passive(d=0.6)],
        "loop": [{"name": "slide",
                  "cut": {"antecedent": 0, "joint": "prismatic", "gamma": "pi/2",
                          "alpha": "pi/2"},
                  "twin": {"antecedent": 3, "gamma": "pi/2", "alpha": "pi/2"}}],
    })  # fmt: skip


def rssr() -> Robot:
    """Crank, rod with two balls (its spin about itself held by a universal joint), rocker."""
    return cardan.load({
        "name": "RSSR", "gravity": [0.3, 0.4, -9.7],
        "link": [{}, passive(d=0.2, alpha="pi/2", r=0.1), passive(alpha="pi/2"),
                 passive(antecedent=0, d=0.7, alpha="pi/3", r=0.2)],
        "loop": [{"name": "rod", "cut": {"antecedent": 3, "d": 0.65, "joint": "spherical"},
                  "twin": {"antecedent": 4, "d": 0.45, "r": 0.05}}],
    })  # fmt: skip


def cardan_shaft() -> Robot:
    """Two shafts at 30 degrees joined by a universal joint: Cardan's own."""
    return cardan.load({
        "name": "cardan shaft", "gravity": [0.5, -9, 2],
        "link": [{}, passive(antecedent=0, alpha="pi/6", IA=0.02)],
        "loop": [{"name": "cross", "cut": {"antecedent": 1, "gamma": "pi/2", "alpha": "pi/2",
                                           "joint": "universal"},
                  "twin": {"antecedent": 2}}],
    })  # fmt: skip


def rccc() -> Robot:
    """Spatial four-bar with three cylindrical joints, one of them cut."""
    slide = {"joint": "prismatic"}
    return cardan.load({
        "name": "RCCC", "gravity": [1, 2, -9],
        "link": [{}, passive(alpha="pi/5", d=0.3), passive(**slide),
                 passive(antecedent=0, alpha="pi/3", d=0.5, r=0.1), passive(**slide)],
        "loop": [{"name": "last", "cut": {"antecedent": 3, "alpha": "pi/2.5", "d": 0.4,
                                          "joint": "cylindrical"},
                  "twin": {"antecedent": 5, "alpha": "pi/4", "d": 0.35}}],
    })  # fmt: skip


def bennett() -> Robot:
    """Bennett's linkage: a/sin(alpha) = b/sin(beta), mobile although Gruebler says -2."""
    return cardan.load({
        "name": "Bennett", "gravity": [0, 0, -9.81],
        "link": [{}, passive(alpha="pi/6", d=0.3), passive(alpha="pi/2", d=0.6)],
        "loop": [{"name": "skew", "cut": {"antecedent": 3, "alpha": "pi/6", "d": 0.3},
                  "twin": {"antecedent": 0, "alpha": "-pi/2", "d": "-0.6"}}],
    })  # fmt: skip


def spherical_four_bar() -> Robot:
    return cardan.load({
        "name": "spherical four-bar", "gravity": [1, 2, -9],
        "link": [{}, passive(alpha="pi/6"), passive(alpha="pi/3")],
        "loop": [{"name": "ball", "cut": {"antecedent": 3, "alpha": "50 deg"},
                  "twin": {"antecedent": 0, "alpha": "55 deg"}}],
    })  # fmt: skip


def planar_3rrr() -> Robot:
    legs = []
    for k in range(3):
        legs += [{"antecedent": 0, "gamma": f"{2 * k}*pi/3", "d": 0.5}, passive(d=0.35)]
    return cardan.load({
        "name": "3-RRR", "gravity": [0, -9.81, 0],
        "link": [*legs, passive(antecedent=2, d=0.4)],
        "loop": [
            {"name": f"leg{k + 1}", "cut": {"antecedent": 2 * k + 2, "d": 0.4},
             "twin": {"antecedent": 7, "gamma": f"pi/6 + {k}*pi/3 - pi/6", "d": 0.15}}
            for k in (1, 2)
        ],
    })  # fmt: skip


MECHANISMS = {
    make.__name__: make
    for make in (four_bar, slider_crank, prismatic_cut, rssr, cardan_shaft, rccc, bennett,
                 spherical_four_bar, planar_3rrr)
}  # fmt: skip


def loaded(robot: Robot, seed: int = 0) -> Robot:
    """The robot with random bodies, rotors, friction; symbols of its inertias replaced."""
    rng = np.random.default_rng(seed)

    def short(x: float) -> Any:
        return exact(f"{x:.4f}")

    links = []
    for link in robot.links:
        m, c = rng.uniform(0.5, 3), rng.uniform(-0.2, 0.2, 3)
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        about = axes @ np.diag(rng.uniform(0.02, 0.04, 3)) @ axes.T
        J = about + m * (c @ c * np.eye(3) - np.outer(c, c))
        six = (J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2])
        values = (*six, *(m * c), m)
        keep = {k: short(x) for k, x in zip(INERTIA, values, strict=True)}
        links.append(replace(link, **keep))
    joints = [
        replace(joint, **{key: short(rng.uniform(0.01, 0.1)) for key in DRIVE})
        for joint in robot.joints
    ]
    return replace(robot, links=tuple(links), joints=tuple(joints))


def derived(robot: Robot, model: str, **options: Any) -> Any:
    """The model by the cheapest formulation of robots of a few joints, of larger ones the plain
    one: which formulation is chosen is not the loops' concern, and the search takes longest."""
    if "effort" in next(e for e in cardan.catalogue() if e.name == model).options:
        options = {"effort": "normal" if len(robot.joints) < 5 else "plain", **options}
    return cardan.model(robot, model, **options)


def states(
    robot: Robot, count: int, seed: int = 1
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """(values of symbols, consistent states away from singularities): q, qd, qdd."""
    found = analyse(robot)
    sample = found.samples[0]
    rng = np.random.default_rng(seed)
    values = {name: float(rng.uniform(0.3, 1.7)) for name in robot.parameters}
    values |= sample.values
    system = equations(robot, sample.values)
    q = system.walk(rng, sample.q[0], 3 * count)
    columns = [found.coordinates.moving.index(j) for j in found.coordinates.passive]
    s = np.linalg.svd(system.J(q)[..., columns], compute_uv=False)
    order = np.argsort(-s[:, -1])
    q = q[order[:count]]
    na = len(found.coordinates.active)
    return values, {
        "q": q, "qd": rng.normal(size=(count, na)), "qdd": rng.normal(size=(count, na)),
    }  # fmt: skip
