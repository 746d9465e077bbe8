"""Reactions: the wrench through every joint, those of cut joints too.

The forces of the loops are those that leave the passive joints without torque; with them on both
sides of each cut, the recursion of the tree gives the wrench through every joint. A floating base
accelerates as inverse dynamics finds it, [K10] (99): forces within the robot do not move it; and so
do elastic joints and links, whose accelerations nobody gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..algebra.vector import Vec, cross, zero
from ..describe.robot import Robot
from ..formulate.economy import inverse_dynamics as newton_euler
from ..formulate.posture import formulated
from ..models.bodies import Bodies
from ..models.floating import floating_inverse_dynamics
from ..models.jacobian import rotation
from ..models.loops import Constraint, heading, twin_position
from ..models.newton_euler import inverse_dynamics as plain_newton_euler
from ..program import Program
from .common import MEANING, Arrays, flat, slid, wrenches
from .cuts import cut_torques, with_cut_torques
from .derivation import Result, written
from .dynamic import imposed, independent_accelerations
from .flexible.reactions import loop_wrenches, tree_accelerations
from .mechanism import Mechanism

Scalar = Any
Pair = tuple[Vec, Vec]


def reactions(robot: Robot, *, f_e: bool = False, symbolic: bool = False) -> Program:
    """The wrench through every joint, of the antecedent on the link; then through cut joints."""
    mechanism = Mechanism.of(robot, "reactions", symbolic=symbolic)
    nl, B, wheels = len(robot.links), len(robot.loops), len(robot.wheels)

    def page(scene: Bodies, x: Arrays) -> Result:
        loads = wrenches(mechanism.robot, x)
        cuts: list[Pair] = []
        ground: list[list[Scalar]] = []
        if robot.ne:
            if robot.constrained:
                qd, qdd, cuts, more = loop_wrenches(mechanism, scene, x)
                loads = {**loads, **more}
            else:
                qd, qdd = x["qd"], tree_accelerations(mechanism, scene, x)
        else:
            x = {**x, "qdd": independent_accelerations(mechanism, scene, x)}
            constraint, qd, qdd = mechanism.motion(scene, x)
        if not robot.ne and (mechanism.coordinates.loops or wheels):
            tau = _recursion(mechanism, scene, x, (qd, qdd), loads)[0]
            tau = with_cut_torques(mechanism, scene, constraint, tau, qd, qdd)
            forces = iter(constraint.multipliers(tau))
            cuts = _cut_wrenches(mechanism, scene, x, forces)
            cuts = _with_own_torques(mechanism, scene, constraint, (qd, qdd), cuts)
            loads = {**loads, **_on_both_sides(mechanism, scene, x, cuts)}
            ground, pushes = _ground_forces(mechanism, scene, x, forces)
            for j, (force, moment) in pushes:
                f, n = loads.get(j, (zero, zero))
                loads[j] = f - force, n - moment
        _, pairs, record = _recursion(mechanism, scene, x, (qd, qdd), loads)
        rows = [[*pairs[j][0], *pairs[j][1]] for j in range(1, nl + 1)]
        rows += [[*force, *moment] for force, moment in cuts]
        rows += [[*pair, 0, 0, 0, 0] for pair in ground]
        return Result({"reactions": ((nl + B + wheels, 6), flat(rows))}, record)

    meaning = {}
    if robot.loops:
        meaning["reactions"] = (
            f"{MEANING['reactions']}; rows {nl + 1} to {nl + B}: through the cut joints, on the"
            " twin's link, in its frame"
        )
    if robot.wheels:
        meaning["reactions"] = (
            f"{meaning.get('reactions', MEANING['reactions'])}; rows {nl + B + 1} to"
            f" {nl + B + wheels}: of the ground on the wheels, (along where it heads, across, 0 ..)"
            "; what holds them up goes through the joints that hold their height"
        )
    if mechanism.analysis.overconstrained:
        meaning["reactions"] += (
            ". The constraints repeat each other: equations left out carry nothing"
        )
    inputs = mechanism.inputs("q", "qd", "qdd", f_e=f_e, base=["V0", "g0"])
    inputs["qdd"] = (len(mechanism.coordinates.driven),)
    meaning |= imposed(mechanism)
    pages = [page] if robot.ne else [page, written(page, slid(mechanism.tree))]
    return mechanism.program("reactions", inputs, pages, ["reactions"], meaning=meaning)


def _recursion(
    mechanism: Mechanism, scene: Bodies, x: Arrays,
    rates: tuple[Sequence[Scalar], Sequence[Scalar]], loads: Mapping[int, Pair],
) -> tuple[dict[int, Scalar], dict[int, Pair], Any]:  # fmt: skip
    """(torques, wrenches through the joints, record) of the tree under these loads."""
    if mechanism.floats:
        free = floating_inverse_dynamics(formulated(scene.loaded(loads)), x["q"], *rates)
        return free.tau, free.f, free
    recursion = plain_newton_euler if mechanism.ne else newton_euler
    held = recursion(scene.loaded(loads), x["q"], *rates)
    return held.tau, {j: (held.f[j], held.n[j]) for j in held.f}, held


def _with_own_torques(
    mechanism: Mechanism, scene: Bodies, constraint: Constraint,
    rates: tuple[Sequence[Scalar], Sequence[Scalar]], through: Sequence[Pair],
) -> list[Pair]:  # fmt: skip
    """With the friction and the rotor of each cut joint, on the z axis that both frames share."""
    total = list(through)
    loops = mechanism.coordinates.loops
    places = {loop.cut: k for k, loop in enumerate(loops)}
    for cut, own in cut_torques(mechanism, scene, constraint, *rates):
        if cut.j not in places:
            continue  # a motor of several joints pushes their drives, not their bearings
        k = places[cut.j]
        force, moment = total[k]
        drag = Vec(0, 0, -own)
        sliding = loops[k].kind == "prismatic"
        total[k] = (force + drag, moment) if sliding else (force, moment + drag)
    return total


def _on_both_sides(
    mechanism: Mechanism, scene: Bodies, x: Arrays, cuts: Sequence[Pair]
) -> dict[int, Pair]:
    """By frame, the wrenches on the environment: the twin's link is pushed, the cut's pushes."""
    loads: dict[int, Pair] = {}
    for loop, (force, moment) in zip(mechanism.coordinates.loops, cuts, strict=True):
        R = rotation(scene, x["q"], loop.cut, loop.twin)
        loads[loop.twin] = (-force, -moment)
        lever = twin_position(scene, x["q"], loop)
        loads[loop.cut] = (R @ force, R @ moment + cross(lever, R @ force))
    return loads


def _cut_wrenches(
    mechanism: Mechanism, scene: Bodies, x: Arrays, rest: Iterator[Scalar]
) -> list[tuple[Vec, Vec]]:
    """The wrench of each cut joint on the twin's link at O_t, in the twin's axes."""
    wrenches = []
    units = {"x": Vec(1, 0, 0), "y": Vec(0, 1, 0), "z": Vec(0, 0, 1)}
    for loop, keep in zip(mechanism.coordinates.loops, mechanism.analysis.chosen, strict=True):
        R = rotation(scene, x["q"], loop.twin, keep.view)
        push, turn = zero, zero
        for name in keep.rows:
            value = next(rest)
            if name == "u":
                z = rotation(scene, x["q"], loop.twin, loop.cut) @ Vec(0, 0, 1)
                turn = turn + value * cross(Vec(1, 0, 0), z)
            elif name[0] == "v":
                push = push + value * (R @ units[name[1]])
            else:
                turn = turn + value * (R @ units[name[1]])
        wrenches.append((push, turn))
    return wrenches


def _ground_forces(
    mechanism: Mechanism, scene: Bodies, x: Arrays, rest: Iterator[Scalar]
) -> tuple[list[list[Scalar]], list[tuple[int, Pair]]]:
    """Of the ground on each wheel: (along, across); and the wrench on its link about O_j, in its
    frame."""
    forces, pushes = [], []
    for wheel, names in zip(scene.wheels, mechanism.analysis.rolling, strict=True):
        own = {name: next(rest) for name in names}
        forces.append([own.get(name, 0) for name in ("along", "across")])
        here, force = heading(scene, x["q"], wheel), zero
        for name, value in own.items():
            force = force + value * here.directions[name]
        moment = cross(here.contact - here.centre, force)
        R = rotation(scene, x["q"], wheel.j, here.carrier)
        pushes.append((wheel.j, (R @ force, R @ moment)))
    return forces, pushes
