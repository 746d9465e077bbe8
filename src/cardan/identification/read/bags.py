"""ROS 1 and ROS 2 bags as columns, through rosbags (no ROS needed).

The columns of a topic are t, then the numeric fields of its messages by their path; of joint
messages (names beside arrays) field.joint, as position.elbow_joint; of other arrays field1, ...
A JointTrajectory message gives a row per point, with its time from the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtraError, UnknownNameError, translated

_PREFERRED = ("sensor_msgs/msg/JointState", "trajectory_msgs/msg/JointTrajectory")
_DEEPEST = 6


def read_bag(path: Path, topic: str = "") -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """The columns of a topic of a bag, and what a reader should know."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtraError.of("rosbags", "data", "reading ROS bags") from None
    store = Stores.ROS1_NOETIC if path.suffix == ".bag" else Stores.ROS2_HUMBLE
    try:
        with AnyReader([path], default_typestore=get_typestore(store)) as reader:
            chosen = _topic(str(path), reader.connections, topic)
            connections = [c for c in reader.connections if c.topic == chosen]
            messages = [
                (stamp, reader.deserialize(raw, connection.msgtype))
                for connection, stamp, raw in reader.messages(connections)
            ]
    except InputError:
        raise
    except Exception as error:  # damaged bags raise errors of every library below
        raise InputError(f"{path}: cannot be read as a ROS bag: {error}") from None
    if not messages:
        raise InputError(f"{path}: topic '{chosen}' holds no message")
    with translated(f"{path}: cannot be read as a ROS bag", of=(Exception,)):
        return _columns(str(path), messages), (f"topic {chosen}",)


def _topic(path: str, connections: Sequence[Any], wanted: str) -> str:
    topics = {connection.topic: connection.msgtype for connection in connections}
    if wanted:
        if wanted not in topics:
            raise InputError(f"{path}: {UnknownNameError.of('topic', wanted, topics)}")
        return wanted
    for kind in _PREFERRED:
        fitting = [topic for topic, msgtype in topics.items() if msgtype == kind]
        if len(fitting) == 1:
            return str(fitting[0])
    if len(topics) == 1:
        return str(next(iter(topics)))
    raise InputError(f"{path}: name a topic in the recipe ([log] topic): {', '.join(topics)}")


def _columns(path: str, messages: Sequence[tuple[int, Any]]) -> dict[str, np.ndarray]:
    first = messages[0][1]
    if hasattr(first, "points") and hasattr(first, "joint_names"):
        rows = [_point(first.joint_names, p) for _, message in messages for p in message.points]
    else:
        start = messages[0][0]
        stamped = all(_stamp(message) is not None for _, message in messages)
        zero = _stamp(first) if stamped else 0.0
        rows = []
        for received, message in messages:
            stamp = _stamp(message)
            t = (
                stamp - (zero or 0.0)
                if stamped and stamp is not None
                else (received - start) * 1e-9
            )
            columns: dict[str, float] = {"t": t}
            _fields("", message, columns, 0)
            rows.append(columns)
    names = list(rows[0])
    for k, row in enumerate(rows):
        if list(row) != names:
            odd = next((n for n in (*row, *names) if (n in row) != (n in names)), "the order")
            raise InputError(f"{path}: message {k + 1} differs from the first in {odd}")
    return {name: np.array([row[name] for row in rows]) for name in names}


def _stamp(message: Any) -> float | None:
    """The time in the header, s; None where there is no header, or an empty one."""
    stamp = getattr(getattr(message, "header", None), "stamp", None)
    return None if stamp is None else _seconds(stamp)


def _seconds(time: Any) -> float:
    return float(time.sec) + 1e-9 * float(getattr(time, "nanosec", getattr(time, "nsec", 0)))


def _point(joints: Sequence[str], point: Any) -> dict[str, float]:
    """A point of a trajectory, its fields named as those of a joint state."""
    row = {"t": _seconds(point.time_from_start)}
    fields = {
        "position": point.positions, "velocity": point.velocities,
        "acceleration": point.accelerations, "effort": point.effort,
    }  # fmt: skip
    for field, values in fields.items():
        row |= {f"{field}.{j}": float(x) for j, x in zip(joints, values, strict=False)}
    return row


def _fields(prefix: str, message: Any, row: dict[str, float], depth: int) -> None:
    """Every numeric field of a message, by its path."""
    names = getattr(message, "name", None)
    labels = list(names) if isinstance(names, list) else []
    for field, value in _items(message):
        path = f"{prefix}{field}"
        if field in ("header", "__msgtype__") or depth > _DEEPEST:
            continue
        if isinstance(value, bool | int | float | np.number):
            row[path] = float(value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            joints = [f".{name}" for name in labels] if len(labels) == len(value) else []
            keys = joints or [str(k) for k in range(1, len(value) + 1)]
            row |= {f"{path}{key}": float(x) for key, x in zip(keys, value, strict=True)}
        elif hasattr(value, "__dataclass_fields__"):
            _fields(f"{path}.", value, row, depth + 1)


def _items(message: Any) -> list[tuple[str, Any]]:
    fields: Mapping[str, Any] = getattr(message, "__dataclass_fields__", {})
    return [(name, getattr(message, name)) for name in fields]
