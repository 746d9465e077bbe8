"""The mechanism in three dimensions: drawn from its table, moved by sliders."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from nicegui import background_tasks, ui

from ....describe.robot import FIXED
from ....describe.values.expression import number
from ....errors import CardanError
from ....motion.frames import centres_of_mass, link_frames, placement
from ....sheets.facets import COLOURS
from ....sheets.marks import Mark, marks
from ....sheets.solids import Solid, along, bodies, drawable, reach, thickness
from ....sheets.vehicles import parts
from .. import WORDS
from ..server.state import Page
from .choice import Chooser
from .handle import Hand
from .player import Player
from .sliders import Sliders
from .stage import fit, save_picture, stage, together
from .tool import Around, Tool, ellipsoid

_CHOSEN, _POINTED = "#f0b45a", "#e8d3a6"
_AXES = {"x": "#cf3b2c", "y": "#2f8f3e", "z": "#2b62c9"}
_VIEWS = {
    "Isometric": (0.72, -1.0, 0.55), "Front": (0, -1, 0), "Back": (0, 1, 0), "Right": (1, 0, 0),
    "Left": (-1, 0, 0), "Top": (0, -1e-3, 1), "Bottom": (0, -1e-3, -1),
}  # fmt: skip
_UPRIGHT = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float)  # three.js draws cylinders along y
PALETTE = ("#b5402a", "#2f7fb8", "#3a7d44", "#d9822b", "#6f4fa3", "#00808a", "#a8325e", "#5c6670")
_SHOWN = {
    "axes": ("3d_rotation", "Axes of all frames", False),
    "lengths": ("straighten", "The table's lengths and angles: b, d, r, \u03b3, \u03b1", False),
    "names": ("label", "Names of the links", False),
    "mass": ("adjust", "Centre of mass and gravity", True),
    "torques": ("fitness_center", "Torques that hold the robot, and its energy", False),
    "ellipsoid": ("lens", "Velocities of the end effector, 1/4 of m/s for 1 rad/s", False),
    "handle": ("open_with", "Arrows and rings that move and turn the end effector", False),
    "grid": ("grid_on", "Grid and shadows", True),
    "surfaces": ("view_in_ar", "Surfaces of the file, or the skeleton", True),
}
_SWING, _SWINGING = 1.6, 120.0  # s: of one swing of a mode, and until it is stopped
_BODY = 0.035  # thickness of a body that bends, in that of the robot
_LEAST = 105  # of 255: of the strongest part of a colour on a dark ground
_MARK = "font:600 12px serif;color:var(--mark);white-space:nowrap;margin-left:5px"
_LABEL = "font-size:11px;color:inherit;white-space:nowrap;margin-left:32px"
_INDEX = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class View:
    """The scene, what it shows, and its sliders."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.size = self.thick = 1.0
        self.looked: tuple[Any, ...] = ()
        self.direction: tuple[float, float, float] = _VIEWS["Isometric"]
        self.frames: list[Any] = []
        self.slides: list[tuple[int, Any]] = []
        self.ghosts: list[tuple[Any, str]] = []
        self.shadows: np.ndarray | None = None  # configurations that are drawn as lines
        self.extras: dict[str, list[Any]] = {}
        self.bones: list[tuple[Any, str, int]] = []  # with their colours and links
        self.skins: list[tuple[Any, str, int]] = []  # surfaces of the file, the same
        self.weights: dict[int, np.ndarray] = {}  # centres of mass that are drawn
        self.tools: dict[str, Any] = {}
        self.playing = 0
        self.curves: Any = ()  # of the motion that is shown
        self.bases = np.zeros((0, 4, 4))  # where a floating base is in it
        self.base = np.eye(4)
        self.before = page.q  # where the joints were
        self.hand = Hand(page, self)
        with ui.column().classes("view w-full no-wrap"):
            with ui.element("div").classes("stage"):
                self.scene = stage(self.hand.dropped)
                self.scene.on("drag", self.hand.dragged, throttle=0.1)
                self._tools()
                self.around = Around(self.scene.id, self.hand, self._look_from, self._lost)
                self.around.on("over", lambda event: self._over(event.args))
                self.chooser = Chooser(page)
                self.player = Player(self._instant, self._played)
                self.message = ui.label("").classes("stage-message error").props("role=status")
            with ui.element("div").classes("below"):
                self.tool = Tool(page, self.hand, self.say)
                self.sliders = Sliders(page, self.say, self.put_away)
        self.draw()
        page.on_robot(self.put_away)
        page.on_robot(self.draw)
        page.on_motion(self.place)
        page.on_select(lambda link: self._light_links())
        page.on_point(lambda link: self._light_links())
        page.on_theme(self.scene, self._themed)
        self.scene.on_click(self._clicked)

    def say(self, text: str) -> None:
        if self.message.text != text:
            self.message.set_text(text)

    def _tools(self) -> None:
        """Buttons over the scene: look at everything, what is shown, a picture of it."""
        with ui.row().classes("tools"):
            whole = _tool("center_focus_strong", "Look at the whole robot (F)", lambda: self.look())
            whole.props("data-key=f")
            with _tool("explore", "Look from", None), ui.menu().props("auto-close"):
                for words, direction in _VIEWS.items():
                    ui.menu_item(words, lambda direction=direction: self._from(direction))
            for key, (icon, words, _) in _SHOWN.items():
                self.tools[key] = _tool(icon, words, lambda key=key: self._toggle(key))
                self._light(key)
            _tool("photo_camera", "Save as a picture", self._picture)
            _tool("restart_alt", "Joints home", self._zero)

    def shows(self, key: str) -> bool:
        return bool(self.page.project.page.get(f"show-{key}", _SHOWN[key][2]))

    def _light(self, key: str) -> None:
        """The button tells whether it is shown."""
        shown = self.shows(key)
        self.tools[key].classes(**{"add" if shown else "remove": "on"})
        self.tools[key].props["aria-pressed"] = str(shown).lower()

    def _toggle(self, key: str) -> None:
        self.page.project.remember(**{f"show-{key}": not self.shows(key)})
        self._light(key)
        self.say("")
        self._extras()
        self.place()
        self._hold()

    def _hold(self) -> None:
        """Have the torques that hold the robot, if they are to be shown."""
        if self.shows("torques"):
            background_tasks.create(self.sliders.holding.renew(), name="torques")

    def _look_from(self, name: str) -> None:
        if name in _VIEWS:
            self._from(_VIEWS[name])

    def _from(self, direction: tuple[float, float, float]) -> None:
        self.direction = direction
        self.look()

    def _lost(self) -> None:
        """The joints have moved the robot out of sight."""
        if not self.player.seconds and not self.hand.held:
            self.look()

    def _picture(self) -> None:
        save_picture(self.scene, f"{self.page.stem}.png")

    def _zero(self) -> None:
        self.page.q = self.page.rest()
        self._close_loops()
        self.page.move(self.page.q, keep=True)

    # drawing

    def draw(self) -> None:
        """All solids anew; then everything is put where the joints say."""
        self.say("")
        try:
            robot, whole = self.page.drawn(), drawable(self.page.robot, self.page.values)
            self.weights = bodies(whole)
            far = [float(np.linalg.norm(x)) for x in self.weights.values()]
            self.size, self.thick = max(reach(robot), *far, 0.0), thickness(robot)
            solids = parts(whole)
        except CardanError as error:
            self.say(error.told(WORDS))
            return
        with together(self.scene):
            self.scene.clear()
            self.shadows = None
            self.frames, self.slides, self.ghosts, self.extras, self.bones = [], [], [], {}, []
            self.skins = []
            with self.scene:
                for j in range(len(robot.links) + 1):
                    with self.scene.group() as group:
                        for part in (part for part in solids if part.frame == j):
                            self._solid(part)
                    self.frames.append(group)
                self.tools["surfaces"].set_visibility(bool(self.page.surfaces()))
                self.tools["ellipsoid"].set_visibility(not robot.constrained)
                self._extras()
                self.target = self.scene.sphere(0.04 * self.thick).material("#b5402a", 0.5)
                self.target.draggable().with_name("target")
        self._close_loops()
        self.tool.build()
        self.sliders.build(self.size)
        self.place()
        self._hold()
        form = (robot.name, len(robot.links), round(math.log(self.size) / 0.4))
        if form != self.looked:
            self.looked = form
            self.look()

    def _solid(self, part: Solid) -> None:
        scene, (first, last), turn = self.scene, part.radii, part.turn
        middle = np.array(part.middle)
        if part.kind == "ball":
            shape: Any = scene.sphere(first, 24, 16)
        elif part.outline is not None:
            shape = scene.extrusion(part.outline.tolist(), part.length)
            middle = middle - part.length / 2 * turn[:, 2]
        else:
            shape = scene.cylinder(last, first, part.length, 28)
            turn = turn @ _UPRIGHT
        shape.move(*middle.tolist()).rotate_R(turn.tolist())
        self.bones.append((shape, COLOURS[part.kind], part.frame))
        if part.kind == "slide":
            self.slides.append((part.joint, shape))

    def _extras(self) -> None:
        """What can be shown or left out: made when it is first asked for."""
        makers = {"axes": self._axes, "lengths": self._lengths, "names": self._names,
                  "mass": self._mass, "ellipsoid": self._ellipsoid, "grid": self._grid,
                  "surfaces": self._surfaces}  # fmt: skip
        with together(self.scene), self.scene:
            for key, make in makers.items():
                shown = self.shows(key)
                if shown and key not in self.extras:
                    self.extras[key] = make()
                for item in self.extras.get(key, []):
                    item.visible(shown)
            skinned = bool(self.extras.get("surfaces")) and self.shows("surfaces")
            for bone, _, _ in self.bones:
                bone.visible(not skinned)
        self._light_links()

    def _light_links(self) -> None:
        """Each link in its colour, but for the one that is worked on in a table, or was clicked,
        and the one that the pointer is on."""
        lit = {self.page.pointed: _POINTED, self.page.selected: _CHOSEN}
        glass = 0.35 if self.shows("lengths") else 1.0  # what is inside must be seen
        dark = self.page.dark
        with together(self.scene):
            for bone, colour, own in self.bones:
                bone.material(lit.get(own, colour), glass)
            for skin, colour, own in self.skins:
                skin.material(lit.get(own, seen(colour, dark)))

    def _link_of(self, object_id: Any) -> int:
        """The link that an object of the scene is of; -1: none."""
        for shape, _, own in (*self.bones, *self.skins):
            if shape.id == object_id:
                return own
        return -1

    def _over(self, object_id: Any) -> None:
        self.page.point(self._link_of(object_id))

    def _clicked(self, event: Any) -> None:
        hits = [link for hit in event.hits if (link := self._link_of(hit.object_id)) >= 0]
        self.page.select(hits[0] if hits else -1)

    def _axes(self) -> list[Any]:
        drawn = []
        for _, frame in self.page.labels():
            pose = placement(frame)
            index = str(frame.link).translate(_INDEX) if frame.name == str(frame.link) else ""
            with self.frames[frame.link], self.scene.group() as axes:
                for k, (letter, colour) in enumerate(_AXES.items()):
                    self._arrow(letter + index, colour, np.eye(3)[k])
            axes.move(*pose[:3, 3].tolist()).rotate_R(pose[:3, :3].tolist())
            drawn.append(axes)
        return drawn

    def _arrow(self, letter: str, colour: str, axis: np.ndarray) -> None:
        """An axis of a frame with its letter at the end."""
        scene, long, thin = self.scene, 0.2 * self.thick, 0.004 * self.thick
        turn = (along(axis) @ _UPRIGHT).tolist()
        scene.cylinder(thin, thin, long, 10).material(colour).move(
            *(axis * long / 2).tolist()
        ).rotate_R(turn)
        scene.cylinder(0, 3 * thin, 9 * thin, 12).material(colour).move(
            *(axis * long).tolist()
        ).rotate_R(turn)
        style = f"font:italic 600 12px serif;color:color-mix(in srgb, {colour} 70%, var(--ink))"
        scene.text(letter, style).move(*(axis * 1.2 * long).tolist())

    def _lengths(self) -> list[Any]:
        """The parameters of the table where they are: lengths along the way, angles as arcs."""
        drawn = []
        for j, (joint, known) in enumerate(
            zip(self.page.robot.joints, self.page.drawn().joints, strict=True), 1
        ):
            for mark in marks(j, joint, known):
                with self.frames[mark.frame], self.scene.group() as group:
                    self._mark(mark, j)
                drawn.append(group)
        return drawn

    def _mark(self, mark: Mark, j: int) -> None:
        lines = mark.points((0.11 + 0.035 * (j % 3)) * self.thick)  # joints often share a place
        for a, b in pairwise(lines):
            self.scene.line(a.tolist(), b.tolist()).material("#c9408f")
        self.scene.text(mark.words, _MARK).move(*lines[len(lines) // 2].tolist())

    def _surfaces(self) -> list[Any]:
        """What the file of the robot looks like; its frames are found by the names of links."""
        drawn = []
        if lost := self.page.lost_surfaces():
            self.say(f"{lost} of its surfaces are no longer kept: open its file again")
        for frame, digest, colour in self.page.surfaces():
            with self.frames[frame]:
                skin = self.scene.stl(f"/surface/{digest}")
                drawn.append(skin)
                self.skins.append((skin, colour, frame))
        return drawn

    def _themed(self, dark: bool) -> None:
        self._light_links()

    def _names(self) -> list[Any]:
        drawn = []
        for words, frame in self.page.labels():
            with self.frames[frame.link]:
                text = self.scene.text(words, _LABEL)
                place = placement(frame)[:3, 3].tolist()
                drawn.append(text.move(*place))
                if any(place):  # of the file: a thin line says on which link
                    drawn.append(self.scene.line([0, 0, 0], place).material("#8b949e", 0.8))
        return drawn

    def _mass(self) -> list[Any]:
        """A green ball at the centre of mass, and an arrow along gravity from it."""
        scene, size = self.scene, self.size
        ball = scene.sphere(0.03 * self.thick).material("#3a7d44")
        with scene.group() as arrow:
            for radius, tip, length, z in ((0.005, 0.005, 0.2, 0.1), (0, 0.016, 0.05, 0.225)):
                part = scene.cylinder(radius * size, tip * size, length * size, 16)
                part.material("#3a7d44").move(0, 0, z * size)
                part.rotate_R((np.diag([1.0, -1, -1]) @ _UPRIGHT).tolist())
        return [ball, arrow]

    def _ellipsoid(self) -> list[Any]:
        return [self.scene.sphere(1, 28, 20).material("#9a76dc", 0.5)]

    def _place_ellipsoid(self, pose: np.ndarray) -> None:
        if self.shows("ellipsoid") and "ellipsoid" in self.extras:
            U, lengths = ellipsoid(self.page.drawn(), self.page.q)
            sizes = np.maximum(lengths / 4, 0.004 * self.thick).tolist()
            egg = self.extras["ellipsoid"][0]
            egg.move(*pose[:3, 3].tolist()).rotate_R((self.base[:3, :3] @ U).tolist())
            egg.scale(*sizes).visible(not self.page.robot.constrained)

    def _grid(self) -> list[Any]:
        """A grid one can look through: robots also reach below their base."""
        half, lines = 1.2 * self.size, []
        for k in np.linspace(-half, half, 9).tolist():
            for a, b in (((k, -half, 0), (k, half, 0)), ((-half, k, 0), (half, k, 0))):
                lines.append(self.scene.line(list(a), list(b)).material("#8b949e", 0.4))
        if self.page.robot.wheels or any(x == COLOURS["plate"] for _, x, _ in self.bones):
            return lines  # it drives, or has a base of its own
        radius = 0.13 * self.thick
        plate = self.scene.cylinder(radius, radius, 0.03 * self.thick, 40).material("#5c6670")
        plate.move(0, 0, -0.015 * self.thick).rotate_R(_UPRIGHT.tolist())
        return [*lines, plate]

    def look(self, motion: np.ndarray | None = None) -> None:
        """See all of the robot, where it is or over a whole motion (N, n)."""
        if self.frames:
            q = self.page.q[None] if motion is None else motion[:: max(1, len(motion) // 12)]
            frames = link_frames(self.page.drawn(), q)
            if motion is not None and len(self.bases):
                frames = self.bases[:: max(1, len(motion) // 12), None] @ frames
            labels = [frame for _, frame in self.page.labels()]
            places = [(frames[..., x.link, :, :] @ placement(x)[:, 3])[..., :3].reshape(-1, 3)
                      for x in labels]  # fmt: skip
            for j, centre in self.weights.items():
                at = frames[..., j, :3, :3] @ centre + frames[..., j, :3, 3]
                places.append(at.reshape(-1, 3))
            around = 0.26 if self.shows("axes") or self.shows("lengths") else 0.09
            fit(self.scene, np.concatenate(places), around * self.thick, self.direction)
            self.around.looked()

    # placing

    def _close_loops(self) -> None:
        """A new robot, or one that was changed, starts with its loops closed."""
        from ....loops.standing import assembled, standing
        from .continuation import closed_next_to

        if self.page.robot.constrained:
            try:
                drawn, q = self.page.drawn(), self.page.q
                if not (q != self.page.rest()).any():
                    self.page.q = standing(drawn)
                    return
                near = closed_next_to(drawn, q)
                self.page.q = assembled(drawn, q) if near is None else near
            except CardanError as error:
                self.say(error.told(WORDS))

    def place(self) -> None:
        """Move every frame to where the joints put it."""
        if not self.frames:
            return
        robot = self.page.drawn()
        if self.shadows is not None and np.abs(self.shadows - self.page.q).max(-1).min() > 1e-6:
            self.show_lines([])  # they are of another pose
        T = self.base @ link_frames(robot, self.page.q)
        with together(self.scene):
            for group, pose in zip(self.frames, T, strict=True):
                group.move(*pose[:3, 3].tolist()).rotate_R(pose[:3, :3].tolist())
            for j, rod in self.slides:
                moved = float(self.page.q[_row(robot, j)])
                moved += float(number(robot.joints[j - 1].r) or 0)
                rod.scale(1, max(abs(moved), 1e-6), 1).move(0, 0, -moved / 2)
            pose = self.tool.place(T, self.shows("torques"))
            if not self.hand.held:
                self.target.move(*pose[:3, 3].tolist())
            self.around.place(pose, self.thick, self.shows("handle"), self.shows("grid"))
            self._place_mass(T)
            self._place_ellipsoid(pose)
        self.sliders.place()

    def _place_mass(self, T: np.ndarray) -> None:
        """Where the masses are known, and where gravity is."""
        if not self.shows("mass") or "mass" not in self.extras:
            return
        ball, arrow = self.extras["mass"]
        robot = self.page.numeric()
        mass, moments = centres_of_mass(robot, T) if robot else (np.zeros(1), np.zeros((1, 3)))
        known = bool(mass.sum() > 0)
        g = np.array([number(x) or 0.0 for x in robot.gravity]) if robot else np.zeros(3)
        ball.visible(known)
        arrow.visible(known and bool(g.any()))
        if known:
            centre = (moments.sum(0) / mass.sum()).tolist()
            ball.move(*centre)
            if g.any():
                arrow.move(*centre).rotate_R(along(g / np.linalg.norm(g)).tolist())

    def show_ghosts(self, configurations: np.ndarray, only: int | None = None) -> None:
        """Other configurations as thin lines through the link origins, or one of them; they go
        when the robot moves to another one."""
        robot = self.page.drawn()
        links = [(joint.antecedent, j) for j, joint in enumerate(robot.joints, 1)]
        poses = link_frames(robot, configurations)
        shown = range(len(poses)) if only is None else [only]
        self.show_lines([[poses[k][[i, j], :3, 3] for i, j in links] for k in shown], list(shown))
        self.shadows = configurations

    def hide_ghosts(self) -> None:
        """No configurations, and no mode, are drawn any more; no motion either."""
        self.put_away()
        self.take_turn()
        self.show_lines([])

    async def swing(self, mode: dict[str, Any], amplitude: Callable[[], float]) -> None:
        """Let the robot swing in a mode until something else is shown; `amplitude` is asked all
        the time."""
        rest = [np.array(line) for line in mode["rest"]]
        swing = [np.array(line) for line in mode["amplitude"]]
        robot, turn, loop = self.page.robot, self.take_turn(), asyncio.get_running_loop()
        start = loop.time()
        self.fade(True)
        while self.has_turn(turn) and self.page.robot is robot and not self.page.closed:
            phase = amplitude() * math.sin(2 * math.pi * (loop.time() - start) / _SWING)
            bent = [[a + phase * b for a, b in zip(rest, swing, strict=True)]]
            self.show_lines(bent, thickness=_BODY)
            await asyncio.sleep(1 / 30)
            if loop.time() - start > _SWINGING:
                break
        if not self.page.closed and self.page.robot is robot:
            self.fade(False)

    def fade(self, on: bool) -> None:
        """The rigid robot as glass, while what bends is drawn in its place."""
        with together(self.scene):
            for bone, colour, _ in self.bones:
                bone.material(colour, 0.15 if on else 1.0)

    def show_lines(
        self, drawings: Any, colours: Sequence[int] = (), thickness: float = 0.007
    ) -> None:
        """Lines of points (k, 3) in frame 0, a colour for each drawing, in place of older ones;
        thickness: in that of the robot."""
        self.shadows = None
        look = "body" if thickness == _BODY else ""
        ends = [
            (np.asarray(a, float), np.asarray(b, float), look or PALETTE[c % len(PALETTE)])
            for c, drawing in zip(colours or range(len(drawings)), drawings, strict=True)
            for line in drawing
            for a, b in pairwise(line)
        ]
        with together(self.scene), self.scene:
            if [colour for _, _, colour in ends] != [colour for _, colour in self.ghosts]:
                for rod, _ in self.ghosts:
                    rod.delete()
                radius = thickness * self.thick
                self.ghosts = [
                    (self.scene.cylinder(radius, radius, 1, 12).material(
                        COLOURS["sleeve"] if look else colour, 1.0 if look else 0.7), colour)
                    for _, _, colour in ends
                ]  # fmt: skip
            for (rod, _), (start, end, _) in zip(self.ghosts, ends, strict=True):
                length = float(np.linalg.norm(end - start))
                turn = along((end - start) / length) @ _UPRIGHT if length > 1e-9 else np.eye(3)
                rod.move(*((start + end) / 2).tolist()).rotate_R(turn.tolist())
                rod.scale(1, max(length, 1e-9), 1)

    # moving

    def take_turn(self) -> int:
        """One motion at a time is shown: the latest."""
        self.player.stop()
        self.playing += 1
        return self.playing

    def has_turn(self, turn: int) -> bool:
        return turn == self.playing

    async def play(
        self, motion: np.ndarray, seconds: float, curves: Any = (), charts: Any = (),
        bases: Any = (),
    ) -> None:  # fmt: skip
        """Show joint positions (N, n) at their pace; curves: the robot as it bends, at fewer
        instants; charts: those that show where it is; bases: poses (N, 4, 4) of a base that
        floats."""
        if not self.player.seconds:  # else a motion is shown, and the joints are on their way
            self.before = self.page.q.copy()
        self.take_turn()
        if motion.shape[1:] != (self.page.robot.n,):
            return  # of another robot
        self.curves, self.bases = curves, np.reshape(bases, (-1, 4, 4))
        self.look(motion)
        self.player.take(motion, seconds, charts)
        await self.player.run()

    def _instant(self, q: np.ndarray, share: float) -> None:
        if len(q) != self.page.robot.n:
            return
        if len(self.bases):
            self.base = self.bases[round(share * (len(self.bases) - 1))]
        self.page.move(q)
        if len(self.curves):
            self.show_lines([self.curves[round(share * (len(self.curves) - 1))]])

    def put_away(self) -> None:
        """No motion is shown any more; the joints stay where they are."""
        shown = bool(self.player.seconds)
        self.player.stop()
        self._straighten()
        if shown:
            self.look()  # all places of the motion were in sight: from nearer again

    def _straighten(self) -> None:
        """The links no longer bent, the base where it belongs."""
        if len(self.curves):
            self.show_lines([])
        self.curves, self.bases, self.base = (), np.zeros((0, 4, 4)), np.eye(4)

    def take_pose(self) -> None:
        """The pose in sight is where the robot stands from now on, also in a motion that is
        shown."""
        if self.player.seconds:
            self.put_away()
            self.page.move(self.page.q, keep=True)

    def _played(self) -> None:
        """The joints are where they were before the motion."""
        self._straighten()
        if len(self.before) == self.page.robot.n:
            self.page.move(self.before)
        self.look()


def seen(colour: str, dark: bool) -> str:
    """A colour of a file as it can be seen: what is nearly black is lifted off a dark ground."""
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", colour):
        return colour
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    lift = max(0.0, _LEAST - max(parts)) if dark else 0.0
    return "#" + "".join(f"{min(255, round(x + lift)):02x}" for x in parts)


def _tool(icon: str, words: str, work: Any) -> Any:
    button = ui.button(icon=icon, on_click=work).props("flat round dense size=sm")
    button.props["aria-label"] = button.props["title"] = words
    return button


def _row(robot: Any, j: int) -> int:
    return sum(joint.sigma != FIXED for joint in robot.joints[: j - 1])
