"""A palletiser with a crank for its forearm and two parallelograms that hold its wrist level, of
own numbers in the manner of a KR 40 PA."""

from __future__ import annotations

from typing import Any

__all__ = ["palletiser"]

SHOULDER, HEIGHT, ARM, FOREARM, HAND = 0.35, 0.75, 0.9, 1.1, 0.25
CRANK = 0.3  # of the forearm's drive
PLATE = 0.2  # of the parallelograms


def palletiser() -> dict[str, Any]:
    """q1 turns the column, q2 the arm, q3 the forearm, q4 the wrist, q5 the flange; q6 is the crank
    with its rod q7, q8 and q10 are the rods beside arm and forearm, q9 the plate between them."""
    side = {"alpha": "-pi/2", "d": SHOULDER}
    follows = {"active": False}
    return {
        "name": "palletiser", "gravity": [0, 0, -9.81],
        "link": [
            {"name": "column", "r": HEIGHT},
            {"name": "arm", **side},
            {"name": "forearm", "d": ARM, **follows},
            {"name": "wrist", "d": FOREARM, **follows},
            {"name": "flange", "alpha": "pi/2", "d": HAND},
            {"name": "crank", "antecedent": "column", **side},
            {"name": "rod", "d": CRANK, **follows},
            {"name": "arm_rod", "antecedent": "column", **side, "d": SHOULDER - PLATE, **follows},
            {"name": "plate", "antecedent": "arm", "d": ARM, **follows},
            {"name": "forearm_rod", "antecedent": "plate", "gamma": "pi/2", "d": PLATE, **follows},
        ],
        "loop": [
            {"name": "drive", "cut": {"antecedent": "rod", "d": ARM, "joint": "revolute"},
             "twin": {"antecedent": "forearm", "d": -CRANK}},
            {"name": "arm", "cut": {"antecedent": "arm_rod", "d": ARM, "joint": "revolute"},
             "twin": {"antecedent": "plate", "d": -PLATE}},
            {"name": "forearm",
             "cut": {"antecedent": "forearm_rod", "d": FOREARM, "joint": "revolute"},
             "twin": {"antecedent": "wrist", "gamma": "pi/2", "d": PLATE}},
        ],
    }  # fmt: skip
