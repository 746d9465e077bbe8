"""Writes docs/gallery.md and its pictures: every bundled robot, and worked examples.

python docs/make_gallery.py          all pictures
python docs/make_gallery.py NAME ... the page, and the pictures of these robots
"""

# ruff: noqa: E501  lines of the page

from __future__ import annotations

import io
import sys
import warnings
from math import cos
from pathlib import Path

import cardan
from cardan.describe.bundled import robots
from cardan.describe.robot import FIXED, PRISMATIC
from cardan.files import write_atomic

DOCS = Path(__file__).parent
FILE = DOCS / "gallery.md"
PICTURES = DOCS / "pictures" / "gallery"
ROBOTS = "../src/cardan/describe/robots"
HEAD = """<!-- written by docs/make_gallery.py: do not edit -->
# Gallery

## Robots

Every robot that is bundled: `cardan.load("ur5")`. Where its figures come from stands in [robots](robots.md). For each of them

    cardan show ur5                                        its tables
    cardan sheet ur5 -o ur5.html                           its picture with frames, its equations, its counts, on a few pages
    cardan generate ur5 inverse-dynamics --to c -o ur5.c   code; another model, another language
    cardan serve                                           all of it in the browser

Orange drums are revolute joints, green sleeves prismatic ones. Lengths that are symbols are drawn as 0.4 m. A robot with the joints of another one
(`rx90-base`, `puma560-base`, `stanford-base`, `kuka-lwr`, `ur10`) is drawn in another configuration than that one.

"""
EXAMPLES_HEAD = """## Worked examples

Each picture leads to the page that explains it. The code that draws it is run by the tests.
"""
EXAMPLES = (  # title, what the picture shows, the picture, its page, what draws it
    ("Eight configurations of a PUMA 560", "All answers of the closed form for one pose.",
     "puma560-configurations.png", "inverse-geometry.md", "docs/make_inverse.py"),
    ("Sixteen configurations of one pose", "As many as six revolute joints can have: the arm of Manseur and Doty.",
     "sixteen-configurations.png", "inverse-geometry-general.md", "examples/sixteen_configurations.py"),
    ("Where a UR5 can reach", "From above and from the side; bright where it moves in all directions.",
     "workspace-ur5.png", "workspace.md", "docs/make_pictures.py"),
    ("A section of a Delta's workspace", "The plane y = 0; bright where the platform moves alike in all directions.",
     "workspace-delta.png", "workspace.md", "docs/make_pictures.py"),
    ("Assemblies of closed loops", "All ways to close a five-bar, an SR400 and a 3-RRR whose motors stand still.",
     "loop-assemblies.png", "loops.md", "docs/make_loops.py"),
    ("Parallel robots leg by leg", "Legs of a Delta and of a Gough-Stewart platform, each solved by itself.",
     "parallel-robots.png", "loops.md", "docs/make_loops.py"),
    ("A five-bar follows a circle", "Path of the tip, and the torques of both motors.",
     "tutorials/parallel-robot.png", "tutorials/parallel-robot.md", ""),
    ("A Delta picks and places at 15 g", "The cycle of 300 mm and the torques that it takes.",
     "delta-pick-and-place.png", "loops.md", "examples/delta_pick_and_place.py"),
    ("Mode shapes of the PRRRP", "How a parallel robot of beams vibrates while its motors stand still.",
     "prrrp_modes.png", "flexible.md", "docs/make_flexible_pictures.py"),
    ("The PRRRP bends as it moves", "Its velocity, and by how much that differs from the velocity of rigid links.",
     "prrrp_velocity.png", "flexible.md", "docs/make_flexible_pictures.py"),
    ("A motion that leaves a light arm calm", "The longer the motion in periods of the first mode, the smaller the swing after it.",
     "tutorials/flexible-links.png", "tutorials/flexible-links.md", ""),
    ("A falling arm", "A UR5 without torques; its energy stays as it was.",
     "simulation-ur5.png", "simulation.md", "docs/make_pictures.py"),
    ("An eel swims", "Seven joints in water: drag along the body turns a wave into thrust.",
     "eel.png", "simulation.md", "examples/eel.py"),
    ("A mobile manipulator drives and reaches", "Wheels that roll without slip, and an arm of four joints.",
     "mobile-manipulator.png", "simulation.md", "examples/mobile_manipulator.py"),
    ("Torques of a motion and their parts", "Inertia, gravity, centrifugal and Coriolis terms of two links.",
     "torques-2r.png", "trajectories.md", "docs/make_pictures.py"),
    ("Are the motors strong enough?", "Torques of a motion beside the limits of the motors.",
     "tutorials/first-robot.png", "tutorials/first-robot.md", ""),
    ("As fast as motors allow along a path", "A UR5 through three points: at every time one velocity or torque is at its limit.",
     "time-optimal.png", "trajectories.md", "docs/make_pictures.py"),
    ("A pick in minimum time", "A SCARA from rest to rest; the path is free.",
     "minimum-time.png", "derivatives.md", "examples/minimum_time.py"),
    ("A pendulum swings up", "Differential dynamic programming with exact derivatives.",
     "swing-up.png", "derivatives.md", "examples/swing_up.py"),
    ("Control laws compared", "Tracking errors of three laws on one motion.",
     "control-ur5.png", "control.md", "docs/make_pictures.py"),
    ("A seven-joint arm by predictive control", "The tool goes to a circle and stays on it.",
     "predictive.png", "control.md", "examples/predictive.py"),
    ("A UR10 identified from five seconds", "Measured and predicted torques of every joint.",
     "identification-ur10.png", "identification.md", "docs/make_pictures.py"),
    ("An arm that differs from its drawing", "What a recording says that the drawing does not.",
     "tutorials/identify-your-arm.png", "tutorials/identify-your-arm.md", ""),
    ("Operations of the same model, read and printed", "What the search saves in the C of a three-joint arm.",
     "tutorials/c-for-your-controller.png", "tutorials/c-for-your-controller.md", ""),
    ("Torques of two hundred thousand states", "How the torques of a seven-joint arm are distributed.",
     "tutorials/millions-of-states.png", "tutorials/millions-of-states.md", ""),
)  # fmt: skip
OTHERS = (  # drawn with a GPU, by the peers, or in a browser
    ("A policy learned on a GPU", "policy-gradient.png", "derivatives.md"),
    ("Times beside other libraries", "bench.png", "benchmarks.md"),
    ("Equations in the browser", "web-models.png", "web.md"),
    ("A simulation in the browser", "web-use.png", "web.md"),
)


POSES = {  # a snake that is not straight; robots that have the joints of another one, apart from it
    "snake30": [0.5 * cos(0.42 * k) * (k % 2) for k in range(30)],
    "rx90-base": [0.5, 0.9, -0.6, 0.0, -0.9, 0.0],
    "puma560-base": [0.3, 0.4, -2.2, 0.0, 0.8, 0.0],
    "stanford-base": [0.7, -0.6, 0.45, 0.0, 0.8, 0.0],
    "kuka-lwr": [0.4, 0.6, 0.0, -1.4, 0.0, 0.9, 0.0],
    "ur10": [0.6, -0.9, 1.3, -0.4, 1.57, 0.0],
}


def text() -> str:
    """The whole page; the site adds the operation counts of each robot."""
    parts = [HEAD, *map(entry, robots()), EXAMPLES_HEAD, *(example(*row) for row in EXAMPLES)]
    parts += ["## On other machines, in the browser\n"]
    parts += [f"### {title}\n\n{_linked(title, *row)}\n" for title, *row in OTHERS]
    return "\n".join(parts)


def example(title: str, words: str, picture: str, page: str, drawn_by: str) -> str:
    """A worked example: its picture, what it shows, and the code that made it."""
    code = drawn_by or f"docs/{page}"
    link = f"[{code}]({f'../{code}'.removeprefix('../docs/')})"
    return f"### {title}\n\n{_linked(title, picture, page)}\n\n{words} Code: {link}.\n"


def _linked(title: str, picture: str, page: str) -> str:
    return f"[![{title}](pictures/{picture})]({page})"


def entry(name: str) -> str:
    """A robot: its picture, what it is, its file."""
    robot = cardan.load(name)
    kinds = "".join(
        "F" if j.sigma == FIXED else "P" if j.sigma == PRISMATIC else "R" for j in robot.joints
    )
    facts = [f"joints {kinds if len(kinds) < 25 else f'{len(kinds)} R'}"]
    facts += [f"{len(robot.loops)} closed loops"] if len(robot.loops) > 1 else []
    facts += ["1 closed loop"] if len(robot.loops) == 1 else []
    facts += [f"{robot.ne} elastic coordinates"] if robot.ne else []
    facts += [f"{len(robot.parameters)} symbols"] if robot.parameters else ["numbers only"]
    path = f"{ROBOTS}/{name}.toml"
    table = f"[{name}.toml]({path})" if (DOCS / path).exists() else "made by a function"
    picture = f"![{robot.name}](pictures/gallery/{name}.png)"
    return (
        f"### {robot.name}\n\n{picture}\n\n`{name}`: {', '.join(facts)}; {table}.\n\n"
        f"<!-- counts {name} -->\n"
    )


def drawn(name: str) -> bytes:
    """The shaded picture of a robot, as PNG."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import scene

    figure, axes = plt.subplots(figsize=(3.2, 2.6))
    scene.draw(axes, cardan.load(name), POSES.get(name))
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=150, bbox_inches="tight", pad_inches=0.05)
    plt.close(figure)
    return out.getvalue()


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for robot in sys.argv[1:] or robots():
            write_atomic(PICTURES / f"{robot}.png", drawn(robot))
        write_atomic(FILE, text())
