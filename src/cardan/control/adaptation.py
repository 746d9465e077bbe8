"""Adaptive control on the base parameters: Slotine and Li, [B23] 3.8.

    tau = Y(q, qd, v, vd) K + kd s       Kd = Γ Y^T s       v = qd_r + L (q_r - q),  s = v - qd

Y K = A vd + C(q, qd) v + Q + friction must hold with the Coriolis matrix of Christoffel symbols,
whose C(q, a) b is symmetric in a and b. So it follows from the regressor of the velocity torques
h(a) = C(q, a) a by C(q, a) b = (h(a + b) - h(a - b)) / 4, exactly. With closed loops all of it is
that of the active joints: q = φ(q_a) gives Ṁ a b = φ''[a, b], symmetric too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..build.identification import CONSTANT_COLUMNS
from ..catalogue import model
from ..describe.robot import FIXED, INERTIA, WRENCH, Joint, Robot
from ..exact import exact
from ..ir.passes import inline
from ..ir.trace import Tracer
from ..models.friction import COEFFICIENTS
from ..motion.coordinates import coordinates
from ..motion.derived import derived
from ..motion.joints import friction_law, moving, number, vector
from ..motion.trajectory import Trajectory
from ..program import Program
from ..simulation.friction import SMOOTH
from ..simulation.statespace import joint_rates
from .laws import REFERENCE, Law, _drivable, _program, jumping, of_drives, positive


def reference_regressor(robot: Robot, smooth: float = SMOOTH) -> Program:
    """q, qd, v, vd -> Y (n, np) with Y K = A vd + C(q, qd) v + Q + friction(qd), K the base
    parameters (columns as of the base regressor); of closed loops for the active joints."""
    _drivable(robot)
    on = coordinates(robot)
    n = on.nv
    tracer = Tracer()
    q = tracer.array("q", on.nq)
    qd, v, vd = (tracer.array(name, n) for name in ("qd", "v", "vd"))
    Y, columns = _regressor(robot, tracer, q, qd, v, vd, smooth)
    outputs = {"Y": ((n, len(columns)), [x for row in Y for x in row])}
    code, _ = tracer.program(outputs)
    meaning = {"Y": f"columns: {' '.join(columns)}"}
    return Program("reference-regressor", robot.name, code, meaning=meaning, columns=columns)


def _regressor(
    robot: Robot, tracer: Tracer, q: list[Any], qd: list[Any], v: list[Any], vd: list[Any],
    smooth: float,
) -> tuple[list[list[Any]], tuple[str, ...]]:  # fmt: skip
    program = derived(robot, "regressor", base_parameters=True)
    n, width = len(qd), len(program.columns)
    moves = [k for k, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]
    numbers = [str(k) for k in (*moves, *robot.driving)]
    none: list[Any] = [0] * n

    def D(velocity: list[Any], acceleration: list[Any]) -> list[Any]:
        inputs = {"q": q, "qd": velocity, "qdd": acceleration}
        return inline(tracer.graph, program.code, inputs)["D"]

    still = D(none, vd)  # A vd + Q
    plus = D([a + b for a, b in zip(qd, v, strict=True)], none)
    minus = D([a - b for a, b in zip(qd, v, strict=True)], none)
    quarter = exact("1/4")
    own = [*map(friction_law, moving(robot)), *map(friction_law, robot.drives)]
    laws = [replace(law, VS=max(law.VS, smooth)) for law in own]  # what is adapted may be zero
    speeds, M = joint_rates(robot, tracer.graph, q, qd)
    for drive in robot.drives:
        ratios = [(moves.index(j), number(ratio)) for j, ratio in drive.joints]
        speeds = [*speeds, sum(ratio * speeds[k] for k, ratio in ratios)]
        M = [*M, [sum(ratio * M[k][c] for k, ratio in ratios) for c in range(n)]]
    Y: list[list[Any]] = []
    for j in range(n):
        row: list[Any] = []
        for c, name in enumerate(program.columns):
            k = j * width + c
            key, number_of = _split(name)
            if key in COEFFICIENTS:
                joint = numbers.index(number_of)
                row.append(M[joint][j] * laws[joint].column(key, speeds[joint]))
            else:
                row.append(still[k] + quarter * (plus[k] - minus[k]))
        Y.append(row)
    return Y, program.columns


def _carried(robot: Robot, tracer: Tracer, q: list[Any], n: int) -> list[Any]:
    """Torques of the wrenches that the description has: they are known, and not adapted."""
    if not any(number(getattr(link, key)) for link in robot.links for key in WRENCH):
        return [0] * n
    nothing: Any = dict.fromkeys(INERTIA, 0)
    light = replace(robot, links=tuple(replace(link, **nothing) for link in robot.links))
    program = derived(light, "inverse-dynamics")
    none: list[Any] = [0] * n  # at rest nothing rubs, and gravity has no mass to act on
    return inline(tracer.graph, program.code, {"q": q, "qd": none, "qdd": none})["tau"]


def base_values(robot: Robot, columns: Sequence[str]) -> np.ndarray:
    """The values of base parameters named as columns of a base regressor."""
    grouped: Robot = model(robot, "base-parameters").robot
    values = []
    for name in columns:
        key, text = _split(name)
        j = int(text)
        if j in grouped.driving:
            values.append(number(getattr(grouped.driving[j], key)))
            continue
        joint, link = grouped.joints[j - 1], grouped.links[j - 1]
        if key in CONSTANT_COLUMNS and name.endswith("R"):
            values.append(_constant(joint))
        elif key in ("offset", "preload"):
            values.append(number(joint.spring) * number(joint.neutral) if key == "preload" else 0.0)
        else:
            values.append(number(getattr(link if key in INERTIA else joint, key)))
    return np.array(values)


def _split(name: str) -> tuple[str, str]:
    """FV3R: FV of joint 3."""
    bare = name.removesuffix("R")
    key = bare.rstrip("0123456789")
    return key, bare[len(key) :]


def _constant(joint: Joint) -> float:
    """What the first of the columns has that no motion tells apart."""
    own = number(joint.FO) - number(joint.spring) * number(joint.neutral)
    return own + (0.0 if number(joint.VS) else number(joint.FSA))


@named_arguments
def adaptive_law(
    robot: Robot, kd: Numbers, slope: Numbers, rates: Numbers, smooth: float = SMOOTH
) -> Program:
    """q, qd, q_r, qd_r, qdd_r, K -> tau, Kd."""
    _drivable(robot)
    on = coordinates(robot)
    n = on.nv
    tracer = Tracer()
    q = tracer.array("q", on.nq)
    qd, r, rd, rdd = (tracer.array(name, n) for name in ("qd", *REFERENCE))
    width = len(derived(robot, "regressor", base_parameters=True).columns)
    K = tracer.array("K", width)
    kd, slope = positive("kd", kd, n), positive("slope", slope, n)
    rates = positive("rates", rates, width)
    e = [a - q[k] for a, k in zip(r, on.place.tolist(), strict=True)]
    ed = [a - b for a, b in zip(rd, qd, strict=True)]
    v = [a + L * b for a, L, b in zip(rd, slope, e, strict=True)]
    vd = [a + L * b for a, L, b in zip(rdd, slope, ed, strict=True)]
    s = [a - b for a, b in zip(v, qd, strict=True)]
    Y, columns = _regressor(robot, tracer, q, qd, v, vd, smooth)
    tau = [
        sum((y * k for y, k in zip(row, K, strict=True)), start=gain * x + load)
        for row, gain, x, load in zip(Y, kd, s, _carried(robot, tracer, q, n), strict=True)
    ]
    rate = [g * sum((Y[j][c] * s[j] for j in range(n)), start=0) for c, g in enumerate(rates)]
    extra = {**REFERENCE, "K": f"estimates of {' '.join(columns)}", "Kd": "their rates"}
    outputs = {"tau": ((n,), tau), "Kd": ((width,), rate)}
    program = replace(_program(tracer, "adaptive", robot, outputs, extra), columns=tuple(columns))
    return jumping(program, True, smooth, adaptive_law, robot, kd, slope, rates)


@named_arguments
def adaptive(
    robot: Robot, motion: Trajectory, kd: Numbers = 20.0, *, slope: Numbers = 10.0,
    rates: Numbers = 1.0, first: Numbers = 0.0, smooth: float = SMOOTH,
) -> Law:  # fmt: skip
    """Follow a motion without knowing the parameters: `first` are their estimates at the start.

    The geometry, gravity and wrenches of `robot` are used, its inertias and friction are not.

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
    >>> law = cardan.control.adaptive(robot, motion, kd=20.0)
    >>> len(law.z0), list(law.program.outputs)
    (52, ['tau', 'Kd'])"""
    _drivable(robot)
    motion = of_drives(robot, motion)
    columns = derived(robot, "regressor", base_parameters=True).columns
    z0 = vector("first", first, len(columns))
    program = adaptive_law(robot, kd, slope, rates, smooth)
    return Law(program, motion, z0)
