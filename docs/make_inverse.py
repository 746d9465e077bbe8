"""The page of derivations, and the picture of the eight configurations of the PUMA 560.

python docs/make_inverse.py           writes docs/derivations.md
python docs/make_inverse.py picture   and docs/pictures/puma560-configurations.png
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import cardan

HERE = Path(__file__).resolve().parent
ROBOTS = {
    "puma560": "PUMA 560",
    "rx90": "Stäubli RX90",
    "stanford": "Stanford arm",
    "scara": "SCARA",
    "ur5": "Universal Robots UR5",
    "general6r": "A general arm of six revolute joints",
}
HEAD = """# Derivations

What `equations()` prints for some well-known arms, lengths as symbols where the description has
them. Made by `python docs/make_inverse.py`; see [Inverse geometry](inverse-geometry.md).
"""


def text() -> str:
    """The page."""
    parts = [HEAD]
    for name, title in ROBOTS.items():
        ik = cardan.model(cardan.load(name), "inverse-geometry")
        parts.append(f"## {title}\n\n```text\n{ik.equations().rstrip()}\n```\n")
    return "\n".join(parts)


def picture(path: Path) -> None:
    """Eight stick figures of one pose."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ik = cardan.model(cardan.load("puma560-numeric"), "inverse-geometry")
    chain = ik.chain.numeric()
    q = np.array([0.5, 0.6, -0.4, 0.7, 0.9, 0.2])
    found = ik.solve(chain.pose(q))
    figure = plt.figure(figsize=(11, 6.2))
    for k, one in enumerate(found):
        axes: Any = figure.add_subplot(2, 4, k + 1, projection="3d")
        _draw(axes, chain, one)
        axes.set_title(f"{k + 1}: " + ", ".join(f"{x:.2f}" for x in one), fontsize=7)
    figure.suptitle("PUMA 560: the eight configurations of one pose (joint values in rad)")
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.04, top=0.88, wspace=0.02, hspace=0.28)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=90)


def _draw(axes: Any, chain: Any, q: np.ndarray) -> None:
    """Links as lines through the joint origins, and the axes of the tool."""
    frames = chain.frames(q)
    base = np.array([0, 0, -0.6])
    shoulder, side = frames[1][:3, 3], frames[2][:3, 3]
    aside = side + frames[3][:3, 2] * chain.r[2]  # the arm stands beside the shoulder
    points = [base, shoulder, side, aside, frames[3][:3, 3], frames[4][:3, 3], frames[6][:3, 3]]
    tool = frames[6][:3, 3] + 0.12 * frames[6][:3, 2]
    points = np.array([*points, tool])
    axes.plot(*points.T, "-o", color="#1f4e79", linewidth=3, markersize=4)
    for i, colour in enumerate(("#c0392b", "#27ae60", "#2980b9")):
        end = tool + 0.15 * frames[6][:3, i]
        axes.plot(*np.array([tool, end]).T, color=colour, linewidth=2)
    axes.set(xlim=(-0.6, 0.6), ylim=(-0.6, 0.6), zlim=(-0.6, 0.6))
    axes.set_box_aspect((1, 1, 1), zoom=1.25)
    axes.view_init(22, -60)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_zticks([])


def main() -> None:
    (HERE / "derivations.md").write_text(text(), encoding="utf-8")
    if "picture" in sys.argv[1:]:
        picture(HERE / "pictures" / "puma560-configurations.png")


if __name__ == "__main__":
    main()
