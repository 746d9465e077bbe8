"""Draws docs/pictures/prrrp_*.png:  python docs/make_flexible_pictures.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import cardan
from cardan.simulation.shapes import plot_modes
from cardan.simulation.stiff import simulate

FOLDER = Path(__file__).with_name("pictures")


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(exist_ok=True)
    robot = cardan.load("prrrp")
    modes = cardan.natural_frequencies(robot, [0, 0.25], modes=True)
    plot_modes(robot, modes, folder / "prrrp_modes.png")
    law = cardan.trajectory(robot, [0.1, 0.2], 0.75, start=[0, 0], profile="bang-bang")
    run = simulate(robot, 0.75, motion=law)
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    speed = np.linalg.norm(run.velocity("platform")[:, :3], axis=1)
    above.plot(run.t, speed, color="tab:blue", lw=1.2)
    above.set_ylabel("velocity of P, m/s")
    below.plot(run.t, 1000 * (speed - rigid_speed(run)), color="tab:orange", lw=1)
    below.set_ylabel("less that of rigid\nlinks, mm/s")
    below.set_xlabel("s")
    figure.savefig(folder / "prrrp_velocity.png", dpi=110)


def rigid_speed(run: object) -> np.ndarray:
    """The same sliders, undeformed beams: the velocity of the linkage."""
    from cardan.build.flexible.closure import closing

    loops = closing(run.robot)
    J = cardan.model(run.robot.tree(), "jacobian", frame="platform")
    found, guess = [], None
    for q, qd in zip(run.q, run.qd, strict=True):
        active = loops.columns(loops.active)
        here = loops.assemble(q[active], guess=guess)
        passive = loops.columns(loops.passive)
        guess = here[passive]
        G = loops.matrix(here, loops.cuts)
        rate = np.zeros(len(here))
        rate[active] = qd[active]
        rate[passive] = -np.linalg.solve(G[:, passive], G[:, active] @ qd[active])
        found.append(np.linalg.norm((J.evaluate(q=here) @ rate)[:3]))
    return np.array(found)


if __name__ == "__main__":
    main()
