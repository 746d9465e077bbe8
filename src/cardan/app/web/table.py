"""The description as tables that can be edited: each cell says at once what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from ...describe.parser import to_value
from ...describe.robot import FIXED, GEOMETRY, INERTIA, Joint, Link, Robot
from ...errors import CardanError
from .inertial import inertial_dialog
from .state import Page

__all__ = ["description"]

_KINDS = {0: "R", 1: "P", 2: "fixed"}
_DRIVE = ("IA", "FV", "FS")
_UNITS = {
    "gamma": "rad", "alpha": "rad", "theta": "rad", "b": "m", "d": "m", "r": "m", "M": "kg",
    **dict.fromkeys(("MX", "MY", "MZ"), "kg m"),
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ", "IA"), "kg m²"),
    "FV": "N m s", "FS": "N m",
}  # fmt: skip
_BASES = {"fixed": "fixed", "mobile": "moving as given", "floating": "floating"}


def description(page: Page) -> None:
    """Tabs of tables, redrawn when the robot changes elsewhere."""

    @ui.refreshable
    def body() -> None:
        with ui.tabs().classes("w-full").props("dense align=left no-caps") as tabs:
            names = ["Geometry", "Inertia", "Drives", "Base"] + (
                ["Loops"] if page.robot.loops else []
            )
            opened = {name: ui.tab(name) for name in names}
        first = opened[page.project.page.get("table", "Geometry")] \
            if page.project.page.get("table") in opened else opened["Geometry"]  # fmt: skip
        tabs.on_value_change(lambda event: page.project.remember(table=str(event.value)))
        with ui.tab_panels(tabs, value=first).classes("w-full table-panels"):
            with ui.tab_panel(opened["Geometry"]):
                _geometry(page)
            with ui.tab_panel(opened["Inertia"]):
                _inertia(page)
            with ui.tab_panel(opened["Drives"]):
                _rows(page, _DRIVE, "joints")
            with ui.tab_panel(opened["Base"]):
                _base(page)
            if "Loops" in opened:
                with ui.tab_panel(opened["Loops"]):
                    _loops(page)

    body()
    shown = [page.robot]

    def again() -> None:
        """A cell that changed its own value needs no new table."""
        if not _same_form(shown[0], page.robot) or page.project.page.pop("redraw", False):
            body.refresh()
        shown[0] = page.robot

    page.on_robot(again)


def _same_form(a: Robot, b: Robot) -> bool:
    def form(robot: Robot) -> Any:
        return [(j.name, j.antecedent, j.sigma, j.active) for j in robot.joints], robot.base.kind

    return bool(form(a) == form(b))


def cell(page: Page, label: str, value: Any, apply: Callable[[Any], Robot]) -> None:
    """One expression: read as it is typed, taken when it is left."""

    def fault(text: str) -> str | None:
        try:
            to_value(text.strip() or "0")
        except CardanError as error:
            return str(error)
        return None

    def take() -> None:
        text = (field.value or "").strip() or "0"
        if fault(text):
            return
        message = page.change(apply(to_value(text)))
        field.error = message or None

    field = ui.input(value="" if value == 0 else str(value), validation=fault)
    field.props(f'dense borderless hide-bottom-space aria-label="{label}" placeholder="0"')
    field.classes("cell").on("blur", take).on("keydown.enter", take)


def _head(names: Sequence[str]) -> None:
    with ui.element("tr"):
        for name in names:
            with ui.element("th"):
                ui.label(name)
                if name in _UNITS:
                    ui.label(_UNITS[name]).classes("unit")


def _rows(page: Page, keys: Sequence[str], where: str) -> None:
    """A table of expressions, one row per joint or link."""
    with ui.element("table").classes("grid-table"):
        _head(["", *keys])
        for j, item in enumerate(getattr(page.robot, where)):
            with ui.element("tr"):
                with ui.element("td"):
                    ui.label(item.name).classes("name")
                for key in keys:
                    with ui.element("td"):
                        cell(page, f"{key} of {item.name}", getattr(item, key),
                             _setter(page, where, j, key))  # fmt: skip


def _setter(page: Page, where: str, j: int, key: str) -> Callable[[Any], Robot]:
    def apply(value: Any) -> Robot:
        items = list(getattr(page.robot, where))
        items[j] = replace(items[j], **{key: value})
        return replace(page.robot, **{where: tuple(items)})  # type: ignore[arg-type]

    return apply


def _geometry(page: Page) -> None:
    robot = page.robot
    with ui.element("table").classes("grid-table"):
        _head(["j", "name", "on", "joint", "active", *GEOMETRY, ""])
        for j, joint in enumerate(robot.joints):
            with ui.element("tr"):
                with ui.element("td"):
                    ui.label(str(j + 1)).classes("name")
                with ui.element("td"):
                    _name(page, j)
                with ui.element("td"):
                    _choice(page, j, "antecedent", {i: str(i) for i in range(j + 1)})
                with ui.element("td"):
                    _choice(page, j, "sigma", _KINDS)
                with ui.element("td"):
                    box = ui.checkbox(value=joint.active).props("dense")
                    box.set_enabled(joint.sigma != FIXED)
                    box.on_value_change(
                        lambda event, j=j: _say(
                            page, page.change(_setter(page, "joints", j, "active")(event.value))
                        )
                    )
                for key in GEOMETRY:
                    with ui.element("td"):
                        cell(page, f"{key} of {joint.name}", getattr(joint, key),
                             _setter(page, "joints", j, key))  # fmt: skip
                with ui.element("td").classes("nowrap"):
                    _link_buttons(page, j)
    with ui.row().classes("items-center q-mt-sm"):
        ui.button("Add link", icon="add", on_click=lambda: _say(page, page.change(_added(page)))) \
            .props("flat dense no-caps")  # fmt: skip
        ui.label("Angles in rad: expressions such as pi/2, L1, 2*d + 0.1 are kept exact.") \
            .classes("hint")  # fmt: skip


def _name(page: Page, j: int) -> None:
    def take() -> None:
        text = (field.value or "").strip()
        if not text or text == page.robot.links[j].name:
            return
        links = list(page.robot.links)
        links[j] = replace(links[j], name=text)
        joints = list(page.robot.joints)
        joints[j] = replace(joints[j], name=text)
        field.error = page.change(replace(page.robot, links=tuple(links), joints=tuple(joints))) \
            or None  # fmt: skip

    field = ui.input(value=page.robot.links[j].name).props(
        f'dense borderless hide-bottom-space aria-label="name of link {j + 1}"'
    )
    field.classes("cell").on("blur", take).on("keydown.enter", take)


def _choice(page: Page, j: int, key: str, options: dict[int, str]) -> None:
    box = ui.select(options, value=getattr(page.robot.joints[j], key)).props(
        f'dense borderless options-dense aria-label="{key} of link {j + 1}"'
    )
    box.on_value_change(
        lambda event: _say(page, page.change(_setter(page, "joints", j, key)(event.value)))
    )


def _link_buttons(page: Page, j: int) -> None:
    def button(icon: str, words: str, work: Callable[[], Robot]) -> None:
        ui.button(icon=icon, on_click=lambda: _say(page, page.change(work()))).props(
            f'flat dense round size=sm aria-label="{words} link {j + 1}"'
        ).tooltip(words)

    robot = page.robot
    if j + 1 < len(robot.joints) and robot.joints[j + 1].antecedent != j + 1:
        button("swap_vert", "Exchange with the next", lambda: _swapped(robot, j))
    if not robot.loops:
        button("delete_outline", "Remove", lambda: _removed(robot, j))


def _say(page: Page, message: str) -> None:
    if message:
        ui.notify(message, type="negative", multi_line=True, close_button=True)
        page.project.page["redraw"] = True
        page._refresh()


def _added(page: Page) -> Robot:
    """One more link at the end of the chain, named as no other."""
    robot = page.robot
    names = {link.name for link in robot.links} | {joint.name for joint in robot.joints}
    k = len(robot.links) + 1
    while f"link{k}" in names:
        k += 1
    joint = Joint(f"link{k}", len(robot.joints), d=to_value("0.3"))
    return replace(robot, joints=(*robot.joints, joint), links=(*robot.links, Link(f"link{k}")))


def _removed(robot: Robot, j: int) -> Robot:
    """Without link j+1: what it carried is carried by its antecedent."""
    gone, before = j + 1, robot.joints[j].antecedent
    joints = []
    for k, joint in enumerate(robot.joints, 1):
        if k != gone:
            i = before if joint.antecedent == gone else joint.antecedent
            joints.append(replace(joint, antecedent=i - (i > gone)))
    links = tuple(link for k, link in enumerate(robot.links, 1) if k != gone)
    return replace(robot, joints=tuple(joints), links=links)


def _swapped(robot: Robot, j: int) -> Robot:
    """Links j+1 and j+2 exchanged; neither carries the other."""
    a, b = j + 1, j + 2
    new = {a: b, b: a}
    joints = [replace(x, antecedent=new.get(x.antecedent, x.antecedent)) for x in robot.joints]
    links = list(robot.links)
    joints[j], joints[j + 1] = joints[j + 1], joints[j]
    links[j], links[j + 1] = links[j + 1], links[j]
    return replace(robot, joints=tuple(joints), links=tuple(links))


def _inertia(page: Page) -> None:
    _rows(page, INERTIA, "links")
    with ui.row().classes("items-center q-mt-sm"):
        ui.button("From a shape", icon="category", on_click=lambda: inertial_dialog(page)).props(
            "flat dense no-caps"
        )
        ui.label("About the origin of the link's frame.").classes("hint")


def _base(page: Page) -> None:
    with ui.row().classes("items-center"):
        ui.label("Gravity in frame 0, m/s²").classes("name")
        for k, axis in enumerate("xyz"):
            ui.label(axis).classes("unit")
            cell(page, f"gravity {axis}", page.robot.gravity[k], _gravity(page, k))
    with ui.row().classes("items-center"):
        ui.label("Base").classes("name")
        box = ui.select(_BASES, value=page.robot.base.kind).props("dense borderless")
        box.on_value_change(
            lambda event: _say(
                page,
                page.change(replace(page.robot, base=replace(page.robot.base, kind=event.value))),
            )
        )


def _gravity(page: Page, k: int) -> Callable[[Any], Robot]:
    def apply(value: Any) -> Robot:
        g = list(page.robot.gravity)
        g[k] = value
        return replace(page.robot, gravity=tuple(g))

    return apply


def _loops(page: Page) -> None:
    with ui.element("table").classes("grid-table"):
        _head(["loop", "frame", "on", "joint", *GEOMETRY])
        for loop in page.robot.loops:
            for words, joint in (("cut", loop.cut), ("twin", loop.twin)):
                with ui.element("tr"):
                    kind = _KINDS.get(joint.sigma, "")
                    for text in (loop.name, words, str(joint.antecedent), kind):
                        with ui.element("td"):
                            ui.label(text).classes("name")
                    for key in GEOMETRY:
                        with ui.element("td"):
                            ui.label(str(getattr(joint, key)))
    ui.label("Loops are edited in the .toml file.").classes("hint")
