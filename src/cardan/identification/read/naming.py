"""Which columns of a recording hold which joints: named by the recipe, or found by usual names.

Of robots with closed loops or couplings the driven joints are needed. Their columns are numbered
among all joints (q1, q3 of a five-bar; q2, q4 are used too if they are there), or alone (q1, q2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...describe.robot import Robot
from ...errors import InputError, UnknownNameError
from ...motion.joints import driven, moving
from ..recipe import Recipe, Signal
from .checks import Names
from .logs import Recording

SIGNALS = ("position", "velocity", "acceleration", "torque")
_ALIASES = {
    "position": ("q", "position", "pos", "q_"),
    "velocity": ("qd", "dq", "velocity", "vel", "qd_"),
    "acceleration": ("qdd", "ddq", "acceleration", "acc", "qdd_"),
    "torque": ("tau", "torque", "effort", "Gamma", "tau_"),
}
_TIMES = ("t", "time", "timestamp", "Time", "T")
Columns = dict[int, str]  # of a recording, by column of q


def fault(recording: Recording, faults: Sequence[str]) -> InputError:
    return InputError("\n".join(f"{recording.name}: {fault}" for fault in faults))


def names_of(robot: Robot, recording: Recording, recipe: Recipe) -> tuple[Names, list[str]]:
    """Which column holds what: named by the recipe, or found by the usual names."""
    notes = [f"{recording.name}: {note}" for note in recording.notes]
    names: dict[str, list[str]] = {}
    passive: dict[int, str] = {}
    problems = []
    active = driven(robot).tolist()
    for key in SIGNALS:
        signal: Signal = getattr(recipe, key)
        needed = key in ("position", "torque")
        columns = _given(signal, robot, recording, key) or _found(robot, recording, recipe, key)
        for name in columns.values():
            if name not in recording.columns:
                problems.append(str(UnknownNameError.of("column", name, recording.columns)))
        if needed and not columns:
            problems.append(_lacking(robot, recording, key))
        listed = [columns[k] for k in active if k in columns]
        names[key] = listed if signal.used or needed else []
        if key == "position":
            passive = {k: name for k, name in columns.items() if k not in active}
    commanded = _given(
        replace(recipe.position, columns=recipe.reference.columns), robot, recording, "reference"
    )
    for name in commanded.values():
        if name not in recording.columns:
            problems.append(str(UnknownNameError.of("column", name, recording.columns)))
    names["reference"] = [commanded[k] for k in active if k in commanded]
    time = recipe.log.time or next((name for name in _TIMES if name in recording.columns), "")
    if recipe.log.rate and not recipe.log.time:
        time = ""
    if recipe.log.time and time not in recording.columns:
        problems.append(str(UnknownNameError.of("column", time, recording.columns)))
    if problems:
        raise fault(recording, problems)
    if not time and not recipe.log.rate and not (names["velocity"] and names["acceleration"]):
        raise fault(recording, ["no column of times: name it in the recipe ([log] time), or give "
                                 "the rate in Hz ([log] rate)"])  # fmt: skip
    return Names(time, **names, passive=passive), notes


def _lacking(robot: Robot, recording: Recording, key: str) -> str:
    """What to say about a signal that was not found: the columns that are missing, by name."""
    active = driven(robot)
    sets = [[f"{alias}{k + 1}" for k in active] for alias in _ALIASES[key]]
    best = max(sets, key=lambda names: sum(name in recording.columns for name in names))
    missing = [name for name in best if name not in recording.columns]
    shown = ", ".join(list(recording.columns)[:12])
    lost = "no columns" if len(missing) == len(best) else f"no column '{missing[0]}'"
    lost += f" (nor {', '.join(missing[1:])})" if 1 < len(missing) < len(best) else ""
    range_ = f"{best[0]} to {best[-1]}"
    if robot.constrained:
        first = best[0].rstrip("0123456789")
        range_ = f"{', '.join(best)}, those of the driven joints, or {first}1 to {first}{len(best)}"
    return (
        f"{lost} of {key}s: expected {range_}, or names in the recipe's [{key}] "
        f"columns; there are {shown}"
    )


def _present(
    robot: Robot, recording: Recording, named: Sequence[str], few: Sequence[str] = ()
) -> Columns:
    """Of names of all joints those that are there, if they are those of all driven joints, or else
    `few`: names of the driven joints alone."""
    present = {k: name for k, name in enumerate(named) if name and name in recording.columns}
    active = driven(robot).tolist()
    if present.keys() >= set(active):
        return present
    present = dict(zip(active, few, strict=False))
    whole = len(present) == len(active) and all(
        name in recording.columns for name in present.values()
    )
    return present if whole else {}


def _given(signal: Signal, robot: Robot, recording: Recording, key: str) -> Columns:
    """The columns that the recipe names: of the driven joints, or of all, "" where there is
    none."""
    columns, active, n = list(signal.columns), driven(robot).tolist(), robot.n
    if len(columns) == 1 and (n > 1 or "{j}" in columns[0]):
        if "{j}" not in columns[0]:
            raise InputError(f"[{key}] columns: one name for {n} joints must hold {{j}}: 'q{{j}}'")
        named = [columns[0].replace("{j}", str(j)) for j in range(1, n + 1)]
        return _present(robot, recording, named, named[: len(active)]) or {
            k: named[k] for k in active
        }
    if len(columns) == n:
        return {k: name for k, name in enumerate(columns) if name or k in active}
    if columns and len(columns) != len(active):
        driving = f", {len(active)} of them driven" if robot.constrained else ""
        raise InputError(
            f"[{key}] columns names {len(columns)} columns; the robot has {n} joints{driving}"
        )
    return dict(zip(active, columns, strict=False))


def _found(robot: Robot, recording: Recording, recipe: Recipe, key: str) -> Columns:
    """Columns of the usual names, of as many joints as there are; of a bag, by the joints' names or
    in the order of the bag."""
    count = len(driven(robot))
    joints = list(recipe.log.joints) or [joint.name for joint in moving(robot)]
    every = []
    for alias in _ALIASES[key]:
        named = [f"{alias}{j}" for j in range(1, robot.n + 1)]
        every.append(_present(robot, recording, named, named[:count]))
    for alias in _ALIASES[key]:
        named = [f"{alias}.{name}" for name in joints]
        every.append(_present(robot, recording, named, named if len(named) == count else ()))
    if key == "position":
        every.append(_present(robot, recording, robot.variables))
    for alias in _ALIASES[key]:
        named = [name for name in recording.columns if name.startswith(f"{alias}.")]
        if len(named) in (count, robot.n):
            every.append(_present(robot, recording, named, named))
    return max(every, key=len)
