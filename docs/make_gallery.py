"""Writes docs/gallery.md and its pictures: every bundled robot, and worked examples.

python docs/make_gallery.py          all pictures
python docs/make_gallery.py NAME ... the page, and the pictures of these robots
"""

from __future__ import annotations

import io
import sys
import warnings
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

Orange drums are revolute joints, green sleeves prismatic ones. Lengths that are symbols are drawn as 0.4 m.

"""
EXAMPLES = (
    ("Eight configurations of a PUMA 560", "puma560-configurations.png", "inverse-geometry.md"),
    ("Sixteen configurations of one pose", "sixteen-configurations.png",
     "inverse-geometry-general.md"),
    ("Assemblies of closed loops", "loop-assemblies.png", "loops.md"),
    ("Parallel robots leg by leg", "parallel-robots.png", "loops.md"),
    ("A Delta picks and places at 15 g", "delta-pick-and-place.png", "loops.md"),
    ("Mode shapes of the PRRRP", "prrrp_modes.png", "flexible.md"),
    ("The PRRRP bends as it moves", "prrrp_velocity.png", "flexible.md"),
    ("A motion that leaves a light arm calm", "tutorials/flexible-links.png",
     "tutorials/flexible-links.md"),
    ("A falling arm", "simulation-ur5.png", "simulation.md"),
    ("Control laws compared", "control-ur5.png", "control.md"),
    ("Torques of a motion and their parts", "torques-2r.png", "trajectories.md"),
    ("Are the motors strong enough?", "tutorials/first-robot.png", "tutorials/first-robot.md"),
    ("A UR10 identified from five seconds", "identification-ur10.png", "identification.md"),
    ("An arm that differs from its drawing", "tutorials/identify-your-arm.png",
     "tutorials/identify-your-arm.md"),
    ("A five-bar follows a circle", "tutorials/parallel-robot.png", "tutorials/parallel-robot.md"),
    ("Operations of the same model, read and printed", "tutorials/c-for-your-controller.png",
     "tutorials/c-for-your-controller.md"),
    ("Torques of two hundred thousand states", "tutorials/millions-of-states.png",
     "tutorials/millions-of-states.md"),
    ("An eel swims", "eel.png", "simulation.md"),
    ("A mobile manipulator drives and reaches", "mobile-manipulator.png", "simulation.md"),
    ("A pendulum swings up", "swing-up.png", "derivatives.md"),
    ("A seven-joint arm by predictive control", "predictive.png", "control.md"),
    ("A pick in minimum time", "minimum-time.png", "derivatives.md"),
    ("A policy learned on a GPU", "policy-gradient.png", "derivatives.md"),
    ("Times beside other libraries", "bench.png", "benchmarks.md"),
    ("Equations in the browser", "web-models.png", "web.md"),
    ("A simulation in the browser", "web-use.png", "web.md"),
)  # fmt: skip


def text() -> str:
    """The whole page; the site adds the operation counts of each robot."""
    parts = [HEAD, *map(entry, robots()), "## Worked examples\n"]
    parts += [f"### {title}\n\n[![{title}](pictures/{picture})]({page})\n"
              for title, picture, page in EXAMPLES]  # fmt: skip
    return "\n".join(parts)


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
    scene.draw(axes, cardan.load(name))
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=100, bbox_inches="tight", pad_inches=0.05)
    plt.close(figure)
    return out.getvalue()


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for robot in sys.argv[1:] or robots():
            write_atomic(PICTURES / f"{robot}.png", drawn(robot))
        write_atomic(FILE, text())
