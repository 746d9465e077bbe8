"""The 16 configurations of a robot of six revolute joints for one pose: python FILE [PICTURE.png].

The robot and the pose are those of R. Manseur and K. L. Doty, A robot manipulator with 16 real
inverse kinematic solution sets, International Journal of Robotics Research 8(5), 1989."""

from __future__ import annotations

import sys

import numpy as np

import cardan

ROBOT = {
    "cardan": 1,
    "name": "Manseur-Doty",
    "link": [
        {"name": f"link{j}", "alpha": alpha, "d": d, "r": r, "variable": f"q{j}"}
        for j, (alpha, d, r) in enumerate(
            [(0, 0, 0), ("pi/2", 0.3, 0), ("pi/180", 1, 0.2), ("pi/2", 0, 0), ("pi/180", 1.5, 0),
             ("pi/2", 0, 0)], 1)
    ],
}  # fmt: skip
POSE = np.array([[-0.760117, -0.641689, 0.102262, -1.140175], [0.133333, 0, 0.991071, 0],
                 [-0.635959, 0.766965, 0.085558, 0], [0, 0, 0, 1]])  # fmt: skip


def skeleton(robot: cardan.Robot, q: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Origins of the frames and feet of their common normals (k, 3); placements of the frames."""
    found, frames = [np.zeros(3)], []
    for j, joint in enumerate(robot.joints, 1):
        T = cardan.model(robot, "transform", frame=j).evaluate(q=q)
        found += [T[:3, 3] - float(joint.r) * T[:3, 2], T[:3, 3]]
        frames.append(T)
    return np.array(found), frames


def draw(robot: cardan.Robot, answers: np.ndarray, pose: np.ndarray, path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 4, figsize=(9, 9), subplot_kw={"projection": "3d"})
    for k, (axis, q) in enumerate(zip(axes.flat, answers, strict=False), 1):
        line, frames = skeleton(robot, q)
        axis.plot(*line.T, "-o", color="#23527c", linewidth=2, markersize=3)
        axis.plot([0], [0], [0], "s", color="black", markersize=6)
        for T in frames[2:5]:  # links that a half turn hides: their x and z axes
            for i, colour in ((0, "#e67e22"), (2, "#8e44ad")):
                axis.plot(*np.stack([T[:3, 3], T[:3, 3] + 0.3 * T[:3, i]]).T, color=colour)
        for i, colour in enumerate(("#c0392b", "#27ae60", "#2980b9")):
            tip = pose[:3, 3] + 0.45 * pose[:3, i]
            axis.plot(*np.stack([pose[:3, 3], tip]).T, color=colour, linewidth=2.5)
        axis.set(xlim=(-1.5, 0.7), ylim=(-1.1, 1.1), zlim=(-1.1, 1.1), xticks=[], yticks=[])
        axis.set_zticks([])
        axis.set_box_aspect(None, zoom=1.25)
        axis.set_title(str(k), fontsize=9, y=0.95)
        axis.view_init(24, -66)
    figure.suptitle(f"{len(answers)} configurations of one pose ({robot.name})")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    robot = cardan.load(ROBOT)
    ik = cardan.model(robot, "inverse-geometry", method="general")
    answers = ik.solve(POSE)
    print(f"{len(answers)} configurations, degrees:")
    for q in answers:
        print(" ".join(f"{x:9.3f}" for x in np.degrees(q)))
    if len(sys.argv) > 1:
        draw(robot, answers, POSE, sys.argv[1])


if __name__ == "__main__":
    main()
