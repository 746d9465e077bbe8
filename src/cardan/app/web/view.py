"""The mechanism in three dimensions: drawn from its table, moved by sliders."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import numpy as np
from nicegui import ui

from ...describe.expression import number
from ...describe.robot import FIXED, PRISMATIC
from ...errors import CardanError
from ...use.frames import link_frames
from .drawing import Solid, reach, solids, stand_ins
from .state import Page

__all__ = ["View"]

_COLOURS = {
    "tube": "#8d99a6", "revolute": "#d9822b", "prismatic": "#2f7fb8", "slide": "#b7c1cb",
    "tool": "#b5402a",
}  # fmt: skip
_UPRIGHT = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float)  # three.js draws cylinders along y


class View:
    """The scene and its sliders."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Any] = []
        self.slides: list[tuple[int, Any]] = []
        self.ghosts: list[Any] = []
        self.sliders: list[Any] = []
        with ui.column().classes("view w-full"):
            self.scene = ui.scene(
                640,
                460,
                grid=False,
                background_color="#f4f5f7",
                on_drag_end=self._dropped,
                camera=ui.scene.perspective_camera(fov=38, near=0.01, far=200),
            ).classes("scene w-full")
            self.message = ui.label("").classes("hint error").props("role=status")
            self.panel = ui.column().classes("w-full sliders")
        self.draw()
        page.on_robot(self.draw)
        page.on_motion(self.place)

    # drawing

    def draw(self) -> None:
        """All solids anew; then everything is put where the joints say."""
        self.scene.clear()
        self.frames, self.slides, self.ghosts = [], [], []
        try:
            robot = self.page.drawn()
            self.size = reach(robot)
            parts = solids(robot)
        except CardanError as error:
            self.message.set_text(str(error))
            return
        self.message.set_text("")
        with self.scene:
            for j in range(len(robot.links) + 1):
                with self.scene.group() as group:
                    for part in (part for part in parts if part.frame == j):
                        self._solid(part)
                self.frames.append(group)
            self._ground()
            self.target = self.scene.sphere(0.035 * self.size).material("#b5402a", 0.55)
            self.target.draggable().with_name("target")
            self.mass = self.scene.sphere(0.02 * self.size).material("#3a7d44")
        self._look()
        self._sliders()
        self.place()

    def _solid(self, part: Solid) -> None:
        size, scene = self.size, self.scene
        if part.kind == "tool":
            scene.axes_helper(part.length)
            return
        if part.kind == "prismatic":
            found: Any = scene.box(0.06 * size, 0.06 * size, part.length)
            turn = part.turn
        else:
            radius = {"tube": 0.014, "slide": 0.012}.get(part.kind, 0.034) * size
            found = scene.cylinder(radius, radius, part.length, 24)
            turn = part.turn @ _UPRIGHT
        found.material(_COLOURS[part.kind]).move(*part.middle).rotate_R(turn.tolist())
        if part.kind == "slide":
            self.slides.append((part.joint, found))

    def _ground(self) -> None:
        """A grid one can look through: robots also reach below their base."""
        half = 1.25 * self.size
        for k in np.linspace(-half, half, 11).tolist():
            for a, b in (((k, -half, 0), (k, half, 0)), ((-half, k, 0), (half, k, 0))):
                self.scene.line(list(a), list(b)).material("#c9cfd6")
        radius = 0.09 * self.size
        plate = self.scene.cylinder(radius, radius, 0.02 * self.size, 32).material("#5c6670")
        plate.move(0, 0, -0.01 * self.size).rotate_R(_UPRIGHT.tolist())

    def _look(self) -> None:
        far = 1.35 * self.size
        self.scene.move_camera(
            x=far, y=-far, z=0.9 * far, look_at_x=0, look_at_y=0, look_at_z=0.4 * self.size,
            duration=0,
        )  # fmt: skip

    def place(self) -> None:
        """Move every frame to where the joints put it."""
        if not self.frames:
            return
        robot = self.page.drawn()
        T = link_frames(robot, self.page.q)
        for group, pose in zip(self.frames, T, strict=True):
            group.move(*pose[:3, 3].tolist()).rotate_R(pose[:3, :3].tolist())
        for j, rod in self.slides:
            joint = robot.joints[j - 1]
            moved = float(self.page.q[_row(robot, j)]) + float(number(joint.r) or 0)
            rod.scale(1, max(abs(moved), 1e-6), 1).move(0, 0, -moved / 2)
        end = T[_last(robot)]
        self.target.move(*end[:3, 3].tolist())
        self._centre_of_mass(T)
        for slider, value in zip(self.sliders, self.page.q, strict=True):
            if abs(slider.value - value) > 1e-9:
                slider.value = float(value)

    def _centre_of_mass(self, T: np.ndarray) -> None:
        """A green ball, where the masses are known."""
        from ...use.frames import centres_of_mass

        try:
            mass, moments = centres_of_mass(self.page.robot, T)
        except CardanError:
            self.mass.visible(False)
            return
        if mass.sum() <= 0:
            self.mass.visible(False)
            return
        self.mass.visible(True)
        self.mass.move(*(moments.sum(0) / mass.sum()).tolist())

    def show_ghosts(self, configurations: np.ndarray) -> None:
        """Other configurations as thin lines through the link origins."""
        for line in self.ghosts:
            line.delete()
        self.ghosts = []
        robot = self.page.drawn()
        palette = ("#b5402a", "#2f7fb8", "#3a7d44", "#d9822b", "#6f4fa3", "#00808a", "#a8325e",
                   "#5c6670")  # fmt: skip
        with self.scene:
            for k, q in enumerate(configurations):
                T = link_frames(robot, q)
                for j, joint in enumerate(robot.joints, 1):
                    start, end = T[joint.antecedent, :3, 3].tolist(), T[j, :3, 3].tolist()
                    line = self.scene.line(start, end).material(palette[k % len(palette)])
                    self.ghosts.append(line)

    # moving

    def _sliders(self) -> None:
        self.panel.clear()
        self.sliders = []
        robot = self.page.robot
        passive = bool(robot.loops)
        with self.panel:
            self._symbols()
            k = 0
            for joint in robot.joints:
                if joint.sigma == FIXED:
                    continue
                low, high = self._range(joint)
                slider = self._slider(k, joint, low, high)
                slider.set_enabled(joint.active or not passive)
                self.sliders.append(slider)
                k += 1

    def _slider(self, k: int, joint: Any, low: float, high: float) -> Any:
        unit = "m" if joint.sigma == PRISMATIC else "rad"
        with ui.row().classes("w-full items-center no-wrap slider-row"):
            ui.label(joint.variable or joint.name).classes("name w-16 ellipsis")
            slider = ui.slider(min=low, max=high, step=(high - low) / 1000, value=self.page.q[k])
            slider.props(f'dense aria-label="joint {joint.name}"').classes("grow")
            shown = ui.label().classes("figure w-24")
            shown.bind_text_from(slider, "value", lambda x: f"{x:.3f} {unit}")
        slider.on("update:model-value", lambda event: self._slid(k, event.args), throttle=0.05)
        slider.on("change", lambda: self.page.move(self.page.q, keep=True))
        return slider

    def _slid(self, k: int, value: float) -> None:
        q = self.page.q.copy()
        q[k] = value
        if self.page.robot.loops:
            q = self._closed(q)
        self.page.move(q)

    def _closed(self, q: np.ndarray) -> np.ndarray:
        """Passive joints follow, so that the loops stay closed."""
        from .following import follow

        try:
            found = follow(self.page.drawn(), q)
            self.message.set_text("")
            return found
        except CardanError as error:
            self.message.set_text(str(error))
            return self.page.q

    def _range(self, joint: Any) -> tuple[float, float]:
        lower, upper = (
            None if x is None else number(x) for x in (joint.limits.lower, joint.limits.upper)
        )
        wide = max(0.5, 0.5 * self.size) if joint.sigma == PRISMATIC else math.pi
        low = lower if lower is not None and abs(lower) < 100 else -wide
        high = upper if upper is not None and abs(upper) < 100 else wide
        return float(low), float(high)

    def _symbols(self) -> None:
        """Symbols of the geometry get a number for the picture."""
        names = stand_ins(self.page.robot)
        if not names:
            return
        with ui.row().classes("items-center"):
            ui.label("Drawn with").classes("hint")
            for name, value in names.items():
                field = ui.number(name, value=float(self.page.values.get(name, value)), step=0.05)
                field.props("dense outlined").classes("w-24")
                field.on("blur", lambda field=field, name=name: self._set(name, field.value))
                field.on("keydown.enter", lambda f=field, name=name: self._set(name, f.value))

    def _set(self, name: str, value: float | None) -> None:
        if value is not None and self.page.values.get(name) != repr(float(value)):
            self.page.values[name] = repr(float(value))
            self.page.project.save()
            self.draw()

    async def _dropped(self, event: Any) -> None:
        """The ball at the end effector was dragged: find joints that bring the robot there."""
        from .following import reach_for

        try:
            q = await asyncio.to_thread(
                reach_for, self.page.drawn(), self.page.q, (event.x, event.y, event.z)
            )
            self.message.set_text("")
            self.page.move(q, keep=True)
        except CardanError as error:
            self.message.set_text(str(error))
            self.place()

    async def play(self, motion: np.ndarray, seconds: float) -> None:
        """Show joint positions (N, n) at their pace, thirty pictures a second at most."""
        frames = max(2, min(len(motion), int(30 * seconds)))
        for row in np.linspace(0, len(motion) - 1, frames).astype(int):
            self.page.move(motion[row])
            await asyncio.sleep(seconds / frames)


def _row(robot: Any, j: int) -> int:
    return sum(joint.sigma != FIXED for joint in robot.joints[: j - 1])


def _last(robot: Any) -> int:
    from ...mechanism.tree import Tree

    return Tree.of(robot).last
