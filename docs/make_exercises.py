"""Writes docs/exercises/*.ipynb: twelve exercises in the order of a course on robotics, with solutions.

python docs/make_exercises.py

A cell that starts with `#` and a blank is words, another one is code; notebooks carry no outputs.
"""

from __future__ import annotations

import json
from pathlib import Path

from cardan.files import write_atomic

FOLDER = Path(__file__).with_name("exercises")
START = "import numpy as np\n\nimport cardan"
SOLUTION = "# ## Solution"

EXERCISES: dict[str, list[str]] = {
    "01-frames": [
        "# # 1. Frames\n#\n# A planar arm has two links of lengths $L_1$ and $L_2$. Write its table in Khalil's notation"
        " (frame $j$ on the axis of joint $j$, at the beginning of link $j$), and derive the position of the tip.\n#\n"
        "# *Khalil & Dombre, chapter 3; Craig, chapter 3.*",
        SOLUTION + "\n#\n# Both axes are parallel, so $\\alpha = 0$; frame 2 is $d = L_1$ beyond frame 1. The tip is a fixed frame.",
        START + '\n\narm = cardan.load({\n    "name": "two links",\n    "link": [{}, {"d": "L1"}, {"joint": "fixed", "d": "L2", "name": "tip"}],\n})\narm',
        'T = cardan.model(arm, "transform", frame="tip")\nT',
        "# By hand: $x = L_1 \\cos q_1 + L_2 \\cos(q_1 + q_2)$. Numbers agree:",
        'q, L1, L2 = [0.3, 0.8], 0.5, 0.4\nx = L1 * np.cos(0.3) + L2 * np.cos(1.1)\nassert np.isclose(T.evaluate(q=q, p={"L1": L1, "L2": L2})[0, 3], x)',
    ],
    "02-direct-geometry": [
        "# # 2. Direct geometry\n#\n# A SCARA has three parallel revolute joints and a vertical slide. On which of its joint variables do the height and the"
        " heading of the tool depend?",
        SOLUTION,
        START + '\n\nrobot = cardan.load("scara")\nT = cardan.model(robot, "transform")\nT',
        "# The third row says it: the height is $q_4$ alone; the heading is the sum of the three angles.",
        'values = dict.fromkeys(T.parameters, 0.4)\na = T.evaluate(q=[0.1, 0.2, 0.3, 0.05], p=values)\nb = T.evaluate(q=[0.3, 0.2, 0.1, 0.05], p=values)\nassert np.allclose(a[:3, :3], b[:3, :3])\nassert np.isclose(a[2, 3], b[2, 3])',
    ],
    "03-inverse-geometry": [
        "# # 3. Inverse geometry of two links\n#\n# How many configurations take the tip of a planar arm to a point? Derive them, and find where there is only one.",
        SOLUTION,
        START + '\n\narm = cardan.load({\n    "name": "two links",\n    "link": [{}, {"d": 0.5}, {"joint": "fixed", "d": 0.4, "name": "tip"}],\n})\nT = cardan.model(arm, "transform", frame="tip")\nJ = cardan.model(arm, "jacobian", frame="tip", rows="x y")',
        "# The cosine law gives $\\cos q_2 = (x^2 + y^2 - L_1^2 - L_2^2) / (2 L_1 L_2)$: two signs of $q_2$, elbow up and elbow down.",
        'x, y = 0.6, 0.3\ncosine = (x**2 + y**2 - 0.5**2 - 0.4**2) / (2 * 0.5 * 0.4)\nfor q2 in (np.arccos(cosine), -np.arccos(cosine)):\n    q1 = np.arctan2(y, x) - np.arctan2(0.4 * np.sin(q2), 0.5 + 0.4 * np.cos(q2))\n    assert np.allclose(T.evaluate(q=[q1, q2])[:2, 3], [x, y])',
        "# There is one where $\\cos q_2 = \\pm 1$: the arm is straight or folded, at the edge of its workspace.",
        'assert np.isclose(np.linalg.det(J.evaluate(q=[0.3, 0.0])), 0)',
    ],
    "04-eight-configurations": [
        "# # 4. Eight configurations\n#\n# The PUMA 560 has a spherical wrist. Why can position and orientation be solved one after the other, and how many"
        " configurations has a pose?\n#\n# *Khalil & Dombre, chapter 4.*",
        SOLUTION + "\n#\n# The last three axes meet in one point; it is moved by the first three joints alone. Shoulder, elbow and wrist each have two"
        " solutions: eight.",
        START + '\n\nrobot = cardan.load("puma560-numeric")\ngeometry = cardan.model(robot, "inverse-geometry")\nplace = cardan.model(robot, "transform")\npose = place.evaluate(q=[0.1, 0.7, -2.4, 0.4, 0.5, 0.6])\nall_q = geometry.solve(pose)\nprint(all_q.round(3))',
        'assert len(all_q) == 8\nfor q in all_q:\n    assert np.allclose(place.evaluate(q=q), pose)',
    ],
    "05-jacobian": [
        "# # 5. The Jacobian\n#\n# Derive the Jacobian of the tip of a planar arm of two links, and check it by differences.",
        SOLUTION,
        START + '\n\narm = cardan.load({\n    "name": "two links",\n    "link": [{}, {"d": "L1"}, {"joint": "fixed", "d": "L2", "name": "tip"}],\n})\nJ = cardan.model(arm, "jacobian", frame="tip", rows="x y")\nJ',
        'T = cardan.model(arm, "transform", frame="tip")\nq, p, h = np.array([0.3, 0.8]), {"L1": 0.5, "L2": 0.4}, 1e-6\ncolumns = [(T.evaluate(q=q + h * e, p=p) - T.evaluate(q=q - h * e, p=p))[:2, 3] / (2 * h) for e in np.eye(2)]\nassert np.allclose(J.evaluate(q=q, p=p), np.transpose(columns), atol=1e-8)',
    ],
    "06-singularities": [
        "# # 6. Singularities\n#\n# Where does the arm of the last exercise lose a direction? And the PUMA, whose wrist is spherical?",
        SOLUTION,
        START + '\n\narm = cardan.load({\n    "name": "two links",\n    "link": [{}, {"d": "L1"}, {"joint": "fixed", "d": "L2", "name": "tip"}],\n})\ncardan.singularities(arm, frame="tip")',
        "# $\\det J = L_1 L_2 \\sin q_2$: stretched or folded. The PUMA has three factors: elbow, wrist and shoulder.",
        'cardan.singularities(cardan.load("puma560"))',
    ],
    "07-statics": [
        "# # 7. Statics\n#\n# The tool of an arm of two links (0.5 m, 0.4 m) presses with 10 N along x, without gravity. Which torques hold it?",
        SOLUTION + "\n#\n# The principle of virtual work: $\\tau = J^T f$.",
        START + '\n\narm = cardan.load({\n    "name": "two links",\n    "link": [{}, {"d": 0.5}, {"joint": "fixed", "d": 0.4, "name": "tip"}],\n})\nJ = cardan.model(arm, "jacobian", frame="tip", rows="x y").evaluate(q=[0.3, 0.8])\ntau = J.T @ [10, 0]\nprint(tau)',
        "# The lever of the first joint is the height of the tip:",
        'height = 0.5 * np.sin(0.3) + 0.4 * np.sin(1.1)\nassert np.isclose(tau[0], -10 * height)',
    ],
    "08-pendulum": [
        "# # 8. A pendulum, twice\n#\n# Derive the equation of a pendulum by Newton and Euler and by Lagrange.\n#\n# *Khalil & Dombre, chapter 9; Craig, chapter 6.*",
        SOLUTION,
        START + '\n\nrobot = cardan.load("planar1r")\nnewton = cardan.model(robot, "inverse-dynamics")\nnewton',
        'lagrange = cardan.model(robot, "inverse-dynamics", method="lagrange")\nlagrange',
        'values = {name: 0.1 * k for k, name in enumerate(robot.parameters, 1)}\nfor program in (newton, lagrange):\n    used = {name: values[name] for name in program.parameters}\n    print(program.evaluate(q=[0.4], qd=[1.0], qdd=[2.0], p=used))',
        "used = [{name: values[name] for name in x.parameters} for x in (newton, lagrange)]\nassert np.isclose(\n    newton.evaluate(q=[0.4], qd=[1.0], qdd=[2.0], p=used[0]),\n    lagrange.evaluate(q=[0.4], qd=[1.0], qdd=[2.0], p=used[1]),\n).all()",
    ],
    "09-two-links": [
        "# # 9. The dynamics of two links\n#\n# Write $A(q)$, $C(q, \\dot q)$ and $Q(q)$ of a planar arm, and show that $\\dot A - 2C$ is skew-symmetric.",
        SOLUTION,
        START + '\n\nrobot = cardan.load("planar2r")\nA = cardan.model(robot, "inertia-matrix")\nA',
        'C = cardan.model(robot, "coriolis-matrix")\nC',
        'cardan.model(robot, "gravity")',
        'values = {name: 0.1 + 0.05 * k for k, name in enumerate(robot.parameters)}\n\n\ndef at(program, **state):\n    return program.evaluate(p={name: values[name] for name in program.parameters}, **state)\n\n\nq, qd, h = np.array([0.3, 0.8]), np.array([1.0, -2.0]), 1e-6\nAdot = (at(A, q=q + h * qd) - at(A, q=q - h * qd)) / (2 * h)\nN = Adot - 2 * at(C, q=q, qd=qd)\nassert np.allclose(N, -N.T, atol=1e-7)',
    ],
    "10-base-parameters": [
        "# # 10. Which parameters can be seen?\n#\n# Two links have twenty inertial parameters. How many of them have an effect on the torques of a planar arm, and in which"
        " combinations?\n#\n# *Khalil & Dombre, chapters 9 and 12.*",
        SOLUTION,
        START + '\n\nrobot = cardan.load("planar2r")\nbase = cardan.model(robot, "base-parameters")\nbase',
        "# The torques are linear in these, $\\tau = D K$; the rank of $D$ over many states is their number: seven, and four of friction"
        " (viscous and dry, of two joints).",
        'D = cardan.model(robot, "regressor")\nrng = np.random.default_rng(0)\np = {name: 0.5 for name in D.parameters}\nrows = [D.evaluate(q=rng.normal(size=2), qd=rng.normal(size=2), qdd=rng.normal(size=2), p=p) for _ in range(40)]\nrank = np.linalg.matrix_rank(np.concatenate(rows))\nassert rank == 7 + 4',
    ],
    "11-control": [
        "# # 11. Computed torque\n#\n# A UR5 shall turn each joint by half a radian within a second. Compare a PD law with one that knows the model.\n#\n# *Craig, chapter 10.*",
        SOLUTION,
        START + '\n\nrobot = cardan.load("ur5")\nmotion = cardan.trajectory(robot, [0.5] * 6, 1.0, start=[0.0] * 6)\nend = {}\nfor name in ("pd", "computed_torque"):\n    gains = cardan.control.gains(robot, 10.0, name.replace("_", "-"))\n    law = getattr(cardan.control, name)(robot, motion, *gains)\n    run = cardan.simulate(robot, [0.0] * 6, duration=1.0, law=law, method="rk4", step=2e-3)\n    end[name] = np.abs(run.q[-1] - 0.5).max()\nprint(end)',
        "# Without the model gravity pulls the arm down; with it the error is that of the integration.",
        'assert end["computed_torque"] < 1e-3 < end["pd"]',
    ],
    "12-closed-loop": [
        "# # 12. A closed loop\n#\n# A five-bar has four joints in its tree and one loop. How many motors does it need, and how many assemblies are there for two"
        " angles of the motors?\n#\n# *Khalil & Dombre, chapter 7.*",
        SOLUTION + "\n#\n# Four joints less two independent equations of a planar loop: two motors. The tip lies on two circles: two assemblies.",
        START + '\n\nrobot = cardan.load("fivebar")\ngeometry = cardan.model(robot, "loop-geometry")\ngeometry',
        'both = geometry.solve([2.2, 0.9])\nprint(geometry.mobility, both.round(3))\nassert geometry.mobility == 2\nassert len(both) == 2',
        "# The torques of the motors of each, at rest:",
        'gravity = cardan.model(robot, "gravity").compile()\nprint(gravity(q=both).round(3))',
        "# Hand it out: `cardan sheet fivebar -o fivebar.html`.",
    ],
}  # fmt: skip


def notebook(cells: list[str]) -> str:
    """The file of a notebook."""
    listed = []
    for k, text in enumerate(cells, 1):
        words = text.startswith("# ")
        if words:
            text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in text.split("\n"))
        cell = {
            "cell_type": "markdown" if words else "code", "id": f"cell-{k}", "metadata": {},
            "source": text.splitlines(keepends=True),
        }  # fmt: skip
        listed.append(cell if words else {**cell, "execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": listed, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, cells in EXERCISES.items():
        write_atomic(FOLDER / f"{name}.ipynb", notebook(cells))
