"""The fields of our own format and the SI unit of each; docs/format.md explains them to users."""

from __future__ import annotations

from .interactions import KINDS
from .robot import DRIVE, FRICTION, FURTHER, GEOMETRY, INERTIA, WRENCH

JOINTS = ("revolute", "prismatic", "fixed")  # by sigma
BODY = ("mass", "com", "inertia_com")
LIMITS = ("lower", "upper", "velocity", "effort")
MOTOR = ("rated", "curve", "efficiency", "cogging")
COUPLING = ("ratio", "offset")  # of a joint that mimics another
SYMBOLS = "symbols"  # names of velocity, acceleration and torque in a .par file

UNIT = {
    "gamma": "rad", "alpha": "rad", "theta": "rad", "b": "m", "d": "m", "r": "m",
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ", "inertia_com"), "kg*m^2"),
    "MX": "kg*m", "MY": "kg*m", "MZ": "kg*m", "M": "kg", "mass": "kg", "com": "m",
    "IA": "kg*m^2 or kg", "FV": "N*m*s or N*s/m", "FS": "N*m or N",
    "stiffness": "N*m or N/m", "rest": "rad or m", "damping": "N*m*s or N*s/m",
    "FQ": "N*m*s^2 or N*s^2/m^2", "FVA": "N*m*s or N*s/m", "VB": "rad/s or m/s",
    "VS": "rad/s or m/s", **dict.fromkeys(("FSA", "FB", "FO"), "N*m or N"),
    "spring": "N*m or N/m", "neutral": "rad or m",
    "home": "rad or m", "offset": "rad or m",
    "FX": "N", "FY": "N", "FZ": "N", "CX": "N*m", "CY": "N*m", "CZ": "N*m",
    "lower": "rad or m", "upper": "rad or m", "velocity": "rad/s or m/s", "effort": "N*m or N",
    "rated": "N*m or N",
    "W0": "rad/s", "WP0": "rad/s^2", "V0": "m/s", "VP0": "m/s^2", "gravity": "m/s^2",
    **dict.fromkeys(("length", "start", "width", "height", "radius", "thickness"), "m"),
    "young": "N/m^2", "shear": "N/m^2", "density": "kg/m^3", "area": "m^2",
    "points": "m", "at": "m", "slip": "m/s", "fluid": "m/s", "force": "N",
    "xyz": "m", "rpy": "rad", "Iy": "m^4", "Iz": "m^4", "torsion": "m^4",
}  # fmt: skip

ROBOT_KEYS = (
    "cardan", "name", "source", "notes", "gravity", "base", "platform", "link", "leg", "loop",
    "frame", "end_effector", "wheel", "drive", *KINDS,
)  # fmt: skip
JOINT_KEYS = (
    "joint", "antecedent", *GEOMETRY, "variable", "active", *DRIVE,
    "stiffness", "rest", "damping", *FURTHER, "home", "mimic", "limits", "motor", SYMBOLS,
)  # fmt: skip
LINK_KEYS = ("name", "joint_name", *JOINT_KEYS, *INERTIA, *BODY, *WRENCH, "flexible")
BASE_KEYS = (
    "name", "kind", "Z", "W0", "WP0", "V0", "VP0", *INERTIA, *BODY, *WRENCH, *DRIVE,
)  # fmt: skip
LOOP_KEYS = ("name", "cut", "twin", "frames")
FRAME_KEYS = ("name", "link", "xyz", "rpy", "kind")
DRIVE_KEYS = ("name", "joint", "ratio", "IA", *FRICTION)
WHEEL_KEYS = ("name", "link", "radius", "normal", "slip")
TWIN_KEYS = ("name", "antecedent", *GEOMETRY, "active")
