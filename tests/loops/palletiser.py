"""A palletiser with a crank for its forearm and two parallelograms that hold its wrist level, of
own numbers in the manner of a KR 40 PA; and the same with a wrist that two joints lead."""

from __future__ import annotations

from typing import Any

__all__ = ["level_palletiser", "palletiser"]

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


def level_palletiser() -> dict[str, Any]:
    """The palletiser without its parallelograms: q4 = -(q2 + q3) by a coupling; q3 has a motor."""
    whole = palletiser()
    column, arm, forearm, wrist, flange = (dict(link) for link in whole["link"][:5])
    del forearm["active"]
    wrist |= {"mimic": {"joint": ["arm", "forearm"], "ratio": [-1, -1]}}
    body = {"mass": 3, "com": [0.2, 0.02, 0.01], "inertia_com": [0.1, 0, 0, 0.2, 0, 0.25]}
    links = [{**link, **body} for link in (column, arm, forearm, wrist, flange)]
    return {"name": "level palletiser", "gravity": [0, 0, -9.81], "link": links}
