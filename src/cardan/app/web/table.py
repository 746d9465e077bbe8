"""The description as tables that can be edited: each cell says at once what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nicegui import ui

from ...describe.robot import DRIVE, FIXED, GEOMETRY, INERTIA, WRENCH, Joint, Robot
from .cells import cell, grid, rows, setter, take
from .editing import added, looped, removed, structure, swapped, unlooped
from .inertial import inertial_dialog
from .state import Page

__all__ = ["description"]

_KINDS = {0: "R", 1: "P", 2: "fixed"}
_BASES = {"fixed": "fixed", "mobile": "moving as given", "floating": "floating"}
_LIMITS = ("lower", "upper", "velocity", "effort")


def description(page: Page) -> None:
    """Tabs of tables, redrawn when the robot changes elsewhere."""
    tables: dict[str, Callable[[Page], None]] = {
        "Geometry": _geometry, "Inertia": _inertia, "Drives": _drives, "Limits": _limits,
        "Loads": lambda page: rows(page, WRENCH, "links"), "Base": _base, "Loops": _loops,
    }  # fmt: skip

    def show() -> None:
        """Only the table in sight is in the page."""
        room.clear()
        with room:
            tables[str(tabs.value)](page)
        words.set_text(structure(page.robot))

    def opened(name: str) -> None:
        page.project.remember(table=name)
        show()

    kept = page.project.page.get("table")
    with ui.row().classes("w-full items-center no-wrap"):
        with ui.tabs() as tabs:
            for name in tables:
                ui.tab(name)
        tabs.set_value(kept if kept in tables else "Geometry")
        tabs.props("dense align=left no-caps").on_value_change(lambda e: opened(str(e.value)))
        ui.space()
        words = ui.label().classes("hint nowrap structure")
    room = ui.column().classes("w-full table-room")
    show()
    shown = [page.robot]

    def again() -> None:
        """A cell that changed its own value needs no new table."""
        if page.redraw or _form(shown[0]) != _form(page.robot):
            show()
        shown[0] = page.robot

    page.on_robot(again)


def _form(robot: Robot) -> Any:
    """What the tables are made for."""
    frames = [(j.name, j.antecedent, j.sigma, j.active, j.elastic) for j in robot.joints]
    loops = [(k.name, k.cut.antecedent, k.cut.sigma, k.twin.antecedent) for k in robot.loops]
    return robot.name, [link.name for link in robot.links], frames, loops, robot.base.kind


def _geometry(page: Page) -> None:
    with grid(["j", "name", "on", "joint", "drive", *GEOMETRY, ""]):
        for j, joint in enumerate(page.robot.joints):
            with ui.element("tr"):
                _td(_word, str(j + 1))
                _td(_name, page, j)
                _td(_choice, page, j, "antecedent", {i: str(i) for i in range(j + 1)})
                _td(_choice, page, j, "sigma", _KINDS)
                _td(_box, page, j, "active")
                for key in GEOMETRY:
                    label = f"{key} of {page.robot.links[j].name}"
                    _td(cell, page, label, getattr(joint, key), setter(page, "joints", j, key))
                _td(_link_menu, page, j)
    with ui.row().classes("items-center q-mt-sm"):
        _act("Add link", "add", lambda: take(page, lambda: added(page.robot)))
        ui.label("rad and m; expressions such as pi/2, L1, 2*d + 0.1 stay exact").classes("hint")
    _robot_name(page)


def _td(build: Callable[..., Any], *words: Any) -> None:
    with ui.element("td"):
        build(*words)


def _word(text: str, style: str = "name") -> None:
    ui.label(text).classes(style)


def _act(words: str, icon: str, work: Callable[[], Any]) -> None:
    ui.button(words, icon=icon, on_click=work).props("flat dense no-caps")


def _robot_name(page: Page) -> None:
    def leave() -> None:
        text = (field.value or "").strip()
        if text and text != page.robot.name:
            field.error = page.change(replace(page.robot, name=text)) or None

    field = ui.input("Name of the robot", value=page.robot.name).props("dense")
    field.classes("w-64").on("blur", leave).on("keydown.enter", leave)


def _name(page: Page, j: int) -> None:
    """A link's name; its joint follows where it has the same."""

    def leave() -> None:
        robot, text = page.robot, (field.value or "").strip()
        old = robot.links[j].name
        if not text or text == old:
            return
        links, joints = list(robot.links), list(robot.joints)
        links[j] = replace(links[j], name=text)
        if joints[j].name == old:
            joints[j] = replace(joints[j], name=text)
        changed = replace(robot, links=tuple(links), joints=tuple(joints))
        field.error = page.change(changed) or None

    field = ui.input(value=page.robot.links[j].name).props("dense borderless hide-bottom-space")
    field.props["aria-label"] = f"name of link {j + 1}"
    field.classes("cell cell-name").on("blur", leave).on("keydown.enter", leave)


def _choice(page: Page, j: int, key: str, options: dict[int, str]) -> None:
    box = ui.select(options, value=getattr(page.robot.joints[j], key))
    box.props("dense borderless options-dense").classes("choice")
    box.props["aria-label"] = f"{key} of link {j + 1}"
    box.on_value_change(
        lambda event: take(page, lambda: setter(page, "joints", j, key)(event.value))
    )


def _box(page: Page, j: int, key: str) -> None:
    joint = page.robot.joints[j]
    box = ui.checkbox(value=getattr(joint, key)).props("dense size=sm")
    box.props["aria-label"] = f"{key} joint {j + 1}"
    box.set_enabled(joint.sigma != FIXED)
    box.on_value_change(
        lambda event: take(page, lambda: setter(page, "joints", j, key)(event.value))
    )


def _link_menu(page: Page, j: int) -> None:
    robot = page.robot
    button = ui.button(icon="more_vert").props("flat dense round size=sm")
    button.props["aria-label"] = f"Change link {j + 1}"
    with button, ui.menu():
        ui.menu_item("Remove", lambda: take(page, lambda: removed(robot, j)))
        if j + 1 < len(robot.joints) and robot.joints[j + 1].antecedent != j + 1:
            ui.menu_item("Move down", lambda: take(page, lambda: swapped(robot, j)))
        if j and robot.joints[j].antecedent != j:
            ui.menu_item("Move up", lambda: take(page, lambda: swapped(robot, j - 1)))


def _inertia(page: Page) -> None:
    rows(page, INERTIA, "links")
    with ui.row().classes("items-center q-mt-sm"):
        _act("From a shape", "category", lambda: inertial_dialog(page))
        ui.label("About the origin of the link's frame.").classes("hint")


def _drives(page: Page) -> None:
    rows(page, (*DRIVE, "stiffness", "rest", "damping"), "joints")
    with ui.row().classes("items-center q-mt-sm"):
        ui.label("Elastic joints:").classes("hint")
        for j, link in enumerate(page.robot.links):
            with ui.row().classes("items-center no-wrap gap-1"):
                _box(page, j, "elastic")
                ui.label(link.name).classes("hint")


def _limits(page: Page) -> None:
    def limit(j: int, key: str) -> Callable[[Any], Robot]:
        def apply(value: Any) -> Robot:
            limits = replace(page.robot.joints[j].limits, **{key: value})
            return setter(page, "joints", j, "limits")(limits)

        return apply

    with grid(["", *_LIMITS]):
        for j, joint in enumerate(page.robot.joints):
            name = page.robot.links[j].name
            with ui.element("tr"):
                _td(_word, name)
                for key in _LIMITS:
                    value = getattr(joint.limits, key)
                    _td(cell, page, f"{key} limit of {name}", value, limit(j, key), "")


def _base(page: Page) -> None:
    with ui.row().classes("items-center"):
        ui.label("Gravity in frame 0, m/s²").classes("name")
        for k, axis in enumerate("xyz"):
            ui.label(axis).classes("unit")
            cell(page, f"gravity {axis}", page.robot.gravity[k], _gravity(page, k))
    with ui.row().classes("items-center"):
        ui.label("Base").classes("name")
        box = ui.select(_BASES, value=page.robot.base.kind).props("dense borderless")
        box.props["aria-label"] = "kind of base"
        box.on_value_change(
            lambda event: take(
                page, lambda: replace(page.robot, base=replace(page.robot.base, kind=event.value))
            )
        )
    if page.robot.base.kind != "fixed":
        ui.label("Inertia of the base, about the origin of frame 0").classes("name")
        with grid(INERTIA), ui.element("tr"):
            for key in INERTIA:
                value = getattr(page.robot.base.link, key)
                _td(cell, page, f"{key} of the base", value, _base_link(page, key))


def _gravity(page: Page, k: int) -> Callable[[Any], Robot]:
    def apply(value: Any) -> Robot:
        g = list(page.robot.gravity)
        g[k] = value
        return replace(page.robot, gravity=tuple(g))

    return apply


def _base_link(page: Page, key: str) -> Callable[[Any], Robot]:
    def apply(value: Any) -> Robot:
        base = page.robot.base
        return replace(page.robot, base=replace(base, link=replace(base.link, **{key: value})))

    return apply


def _loops(page: Page) -> None:
    """The cut joint of each loop and its twin on the other link, which must coincide."""
    robot = page.robot
    if robot.loops:
        with grid(["loop", "frame", "on", "joint", *GEOMETRY, ""]):
            for k, loop in enumerate(robot.loops):
                for which in ("cut", "twin"):
                    with ui.element("tr"):
                        _loop_row(page, k, which, getattr(loop, which))
    with ui.row().classes("items-center q-mt-sm"):
        _act("Close a loop", "sync_alt", lambda: take(page, lambda: looped(page.robot)))
        ui.label("The cut joint and its twin on the other link must coincide.").classes("hint")


def _loop_row(page: Page, k: int, which: str, frame: Joint) -> None:
    loop = page.robot.loops[k]

    def apply(key: str) -> Callable[[Any], Robot]:
        def change(value: Any) -> Robot:
            loops = list(page.robot.loops)
            moved = replace(getattr(loops[k], which), **{key: value})
            loops[k] = replace(loops[k], **{which: moved})
            return replace(page.robot, loops=tuple(loops))

        return change

    def choose(key: str, options: dict[int, str]) -> None:
        box = ui.select(options, value=getattr(frame, key)).classes("choice")
        box.props("dense borderless options-dense")
        box.props["aria-label"] = f"{key} of {which} of {loop.name}"
        box.on_value_change(lambda event: take(page, lambda: apply(key)(event.value)))

    cut = which == "cut"
    _td(_word, loop.name if cut else "")
    _td(_word, which, "hint")
    _td(choose, "antecedent", _places(page.robot, frame))
    if cut and not loop.kind:
        _td(choose, "sigma", _KINDS)
    else:
        _td(_word, loop.kind, "hint")
    for key in GEOMETRY:
        label = f"{key} of {which} of {loop.name}"
        _td(cell, page, label, getattr(frame, key), apply(key))
    if cut:
        _td(_remove_loop, page, k)


def _places(robot: Robot, frame: Joint) -> dict[int, str]:
    """Frames that another may stand on: the links, and where it stands now."""
    return {i: str(i) for i in {*range(len(robot.links) + 1), frame.antecedent}}


def _remove_loop(page: Page, k: int) -> None:
    button = ui.button(
        icon="delete_outline", on_click=lambda: take(page, lambda: unlooped(page.robot, k))
    )
    button.props(f'flat dense round size=sm aria-label="Remove loop {k + 1}"')
