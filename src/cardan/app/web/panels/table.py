"""The description as tables that can be edited: each cell says at once what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from ....describe.fields import COUPLING
from ....describe.robot import (
    DRIVE,
    FIXED,
    FURTHER,
    GEOMETRY,
    INERTIA,
    MOTION,
    PRISMATIC,
    WRENCH,
    Frame,
    Joint,
    Robot,
)
from ..server.state import Page
from .beams import flexible_dialog, flexible_rows
from .cells import (
    Block,
    Cell,
    Grid,
    act,
    box,
    choice,
    expression,
    menu,
    named,
    rows,
    setter,
    take,
    typed,
    word,
)  # fmt: skip
from .shapes import inertial_dialog
from .structure import (
    added,
    duplicated,
    framed,
    inserted,
    led_by,
    looped,
    moved_down,
    removed,
    shifted_to,
    structure,
    unlooped,
    without_frame,
)

_KINDS = {0: "R", 1: "P", 2: "fixed"}
_BASES = {"fixed": "fixed", "mobile": "moving as given", "floating": "floating"}
_LIMITS = ("lower", "upper", "velocity", "effort")
_VELOCITIES = {
    "W0": "turning, rad/s", "WP0": "its derivative, rad/s²", "V0": "speed, m/s",
    "VP0": "acceleration, m/s²",
}  # fmt: skip
_PLACE = {  # of a frame on its link: the field that has it, and one of the same unit
    **{f"at {x}": ("xyz", "d") for x in "xyz"},
    **dict.fromkeys(("roll", "pitch", "yaw"), ("rpy", "alpha")),
}
Blocks = Sequence[Block]


def description(page: Page) -> None:
    """Tabs of tables; one grid shows the one in sight."""
    last = page.project.page.get("table")
    with ui.row().classes("w-full items-center no-wrap table-head"):
        with ui.tabs() as tabs:
            for title in _TABLES:
                ui.tab(title)
        tabs.set_value(last if last in _TABLES else "Geometry")
        tabs.props("dense align=left no-caps outside-arrows breakpoint=0").classes("table-tabs")
        words = ui.label().classes("hint nowrap structure")
    grid = Grid(page).classes("table-room")
    with ui.row().classes("items-center q-mt-sm"):
        button = ui.button(on_click=lambda: _TABLES[str(tabs.value)][2](page))
        button.props("flat dense no-caps")
        hint = ui.label().classes("hint")

    def show() -> None:
        make, shown, _ = _TABLES[str(tabs.value)]
        title = str(tabs.value)

        def blocks() -> Blocks:
            sigmas = frozenset(joint.sigma for joint in page.robot.joints)
            return [replace(x, degrees=page.degrees, sigmas=sigmas) for x in make(page)]

        more = added if title in _BY_LINK else framed if title == "Frames" else None
        grid.show(title, blocks, _EMPTY.get(title, ""), more)
        words.set_text(structure(page.robot))
        label, icon, text = shown
        button.set_visibility(bool(label))
        button.set_text(label)
        button.set_icon(icon or None)
        hint.set_text(text)

    def opened() -> None:
        page.project.remember(table=str(tabs.value))
        show()

    def pointed(b: int, r: int) -> None:
        """A row of a link is worked on: the picture shows which."""
        page.select(link(b, r))

    def link(b: int, r: int) -> int:
        return r + 1 if str(tabs.value) in _BY_LINK and b == 0 and r >= 0 else -1

    def row(link: int) -> int:
        return link - 1 if str(tabs.value) in _BY_LINK else -1

    def shifted(a: int, b: int, name: str) -> None:
        """The row of a link was dragged to another place."""
        names = [link.name for link in page.robot.links]
        if max(a, b) < len(names) and names[a] == name:  # else it has moved meanwhile
            take(page, lambda: shifted_to(page.robot, a, b))

    grid.on("shift", lambda event: shifted(*event.args))
    grid.on_row(pointed)
    grid.on_over(lambda b, r: page.point(link(b, r)))
    page.on_select(lambda link: grid.mark_row(row(link)))
    page.on_point(lambda link: grid.mark_row(row(link), "pointed"))
    tabs.on_value_change(opened)
    show()
    page.on_robot(show)


def _geometry(page: Page) -> Blocks:
    robot, table = page.robot, []
    moving = [j for j, joint in enumerate(robot.joints) if joint.sigma != FIXED]
    names = dict(zip(moving, robot.variables, strict=True))
    for j, joint in enumerate(robot.joints):
        link = robot.links[j].name
        cells = [
            expression(
                page, f"{key} of {link}", getattr(joint, key), setter(page, "joints", j, key), key
            )
            for key in GEOMETRY
        ]
        if joint.sigma != FIXED:  # what the joint moves: its variable, and a constant with it
            k = GEOMETRY.index("r" if joint.sigma == PRISMATIC else "theta")
            cells[k] = _variable(cells[k], names[j])
        places = {i: str(i) for i in range(j + 1)}
        table.append([
            word(str(j + 1)), _name(page, j), _choice(page, j, "antecedent", places),
            _choice(page, j, "sigma", _KINDS), _box(page, j, "active"), *cells,
            _link_menu(page, j),
        ])  # fmt: skip

    def rename(text: str) -> Robot:
        return replace(page.robot, name=named(text))

    title = typed(page, "Name of the robot", robot.name, rename, "cell-title")
    return (
        Block(["j", "name", "on", "joint", "drive", *GEOMETRY, ""], table),
        Block([], [[word("Name of the robot"), title]]),
    )


def _variable(cell: Cell, name: str) -> Cell:
    """A cell that says which variable it is, with the constant that is added, if there is one."""
    if not cell.value:
        return replace(cell, empty=name)
    shown = cell.brief or cell.value
    return replace(cell, brief=f"{name}{shown if shown.startswith('-') else f'+{shown}'}")


def _name(page: Page, j: int) -> Cell:
    """A link's name; its joint follows where it has the same."""
    old = page.robot.links[j].name

    def apply(text: str) -> Robot:
        robot, text = page.robot, named(text)
        links, joints = list(robot.links), list(robot.joints)
        if joints[j].name == links[j].name:
            joints[j] = replace(joints[j], name=text)
        name, links[j] = links[j].name, replace(links[j], name=text)
        frames = [replace(x, name=text) if x.name == name else x for x in robot.frames]
        return replace(
            robot, links=tuple(links), joints=tuple(joints), frames=tuple(frames),
            end_effector=text if robot.end_effector == name else robot.end_effector,
        )  # fmt: skip

    cell = typed(page, f"name of link {j + 1}", old, apply, "cell-name")
    return replace(cell, take=lambda text: page.change(apply(text), (old, text.strip())))


def _choice(page: Page, j: int, key: str, options: dict[int, str]) -> Cell:
    value = getattr(page.robot.joints[j], key)
    if value not in options:  # a frame that closes a loop
        options = {**options, value: str(value)}
    return choice(page, f"{key} of link {j + 1}", value, options, setter(page, "joints", j, key))


def _box(page: Page, j: int, key: str) -> Cell:
    joint = page.robot.joints[j]
    return box(page, f"{key} joint {j + 1}", getattr(joint, key), setter(page, "joints", j, key),
               joint.sigma == FIXED)  # fmt: skip


def _link_menu(page: Page, j: int) -> Cell:
    robot = page.robot
    items: dict[str, Callable[[], Robot]] = {}
    if j:
        items["Move up"] = lambda: moved_down(robot, j - 1)
    if j + 1 < len(robot.joints):
        items["Move down"] = lambda: moved_down(robot, j)
    items["Insert above"] = lambda: inserted(robot, j)
    items["Duplicate"] = lambda: duplicated(robot, j)
    items["Remove"] = lambda: removed(robot, j)
    return menu(page, f"Change link {j + 1}", items)


def _drives(page: Page) -> Blocks:
    table = rows(page, (*DRIVE, "stiffness", "rest", "damping", *FURTHER), "joints")
    cells = [
        [*row, _box(page, j, "elastic"), *_following(page, j)] for j, row in enumerate(table.rows)
    ]
    return (Block([*table.heads, "elastic", "follows", *COUPLING], cells),)


def _following(page: Page, j: int) -> list[Cell]:
    """The joint that leads joint j+1, and how."""
    robot = page.robot
    link, led = robot.links[j].name, robot.joints[j].mimic
    if robot.joints[j].sigma == FIXED:
        return []
    others = {k: robot.joints[k - 1].name for k, x in enumerate(robot.joints, 1)
              if k != j + 1 and x.sigma != FIXED}  # fmt: skip
    leader = choice(
        page, f"leader of {link}", led.joint if led else 0, {0: "none", **others},
        lambda k: led_by(page.robot, j, k),
    )  # fmt: skip
    if led is None:
        return [leader]

    def apply(key: str) -> Callable[[Any], Robot]:
        return lambda x: setter(page, "joints", j, "mimic")(replace(led, **{key: x}))

    return [leader, *(
        expression(page, f"{key} of {link}", getattr(led, key), apply(key), key,
                   joint=robot.joints[j])
        for key in COUPLING
    )]  # fmt: skip


def _limits(page: Page) -> Blocks:
    def limit(j: int, key: str) -> Callable[[Any], Robot]:
        def apply(value: Any) -> Robot:
            limits = replace(page.robot.joints[j].limits, **{key: value})
            return setter(page, "joints", j, "limits")(limits)

        return apply

    table = []
    for j, joint in enumerate(page.robot.joints):
        link = page.robot.links[j].name
        cells = [
            expression(
                page,
                f"{key} limit of {link}",
                getattr(joint.limits, key),
                limit(j, key),
                key,
                "",
                joint=joint,
            )
            for key in _LIMITS
        ]
        home = expression(
            page,
            f"home of {link}",
            joint.home,
            setter(page, "joints", j, "home"),
            "home",
            "",
            joint=joint,
        )
        table.append([word(link), *cells, home])
    return (Block(["", *_LIMITS, "home"], table),)


def _base(page: Page) -> Blocks:
    base = page.robot.base
    gravity = [
        expression(page, f"gravity {axis}", page.robot.gravity[k], _gravity(page, k), "gravity")
        for k, axis in enumerate("xyz")
    ]

    def change(kind: str) -> Robot:
        held: dict[str, Any] = dict.fromkeys(MOTION, (0, 0, 0)) if kind == "fixed" else {}
        return replace(page.robot, base=replace(page.robot.base, kind=kind, **held))

    blocks = [
        Block(["", "x", "y", "z"], [[word("in frame 0, m/s²", "hint"), *gravity]], "Gravity"),
        Block([], [[word("Base"), choice(page, "kind of base", base.kind, _BASES, change)]]),
    ]
    if base.kind != "fixed":
        cells = [
            expression(
                page, f"{key} of the base", getattr(base.link, key), _base_link(page, key), key
            )
            for key in INERTIA
        ]
        blocks.append(Block(INERTIA, [cells], "Inertia of the base, about the origin of frame 0"))
        blocks.append(_placement(page))
    if base.kind == "mobile":
        moving = [
            [
                word(words),
                *(_base_cell(page, key, k, f"{key} {axis}") for k, axis in enumerate("xyz")),
            ]
            for key, words in _VELOCITIES.items()
        ]
        blocks.append(Block(["", "x", "y", "z"], moving, "How the base moves, in frame 0"))
    return blocks


def _placement(page: Page) -> Block:
    """Three rows of the transform; the fourth is 0 0 0 1."""
    table = [
        [_base_cell(page, "Z", 4 * r + c, f"Z{r + 1}{c + 1}") for c in range(4)] for r in range(3)
    ]
    return Block(["", "", "", "m"], table, "Placement of frame 0 in the world: rotation and origin")


def _base_cell(page: Page, key: str, k: int, label: str) -> Cell:
    def apply(value: Any) -> Robot:
        base = page.robot.base
        values = list(getattr(base, key))
        values[k] = value
        changed: dict[str, Any] = {key: tuple(values)}
        return replace(page.robot, base=replace(base, **changed))

    value = getattr(page.robot.base, key)[k]
    return expression(page, f"{label} of the base", value, apply, key)


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


def _frames(page: Page) -> Blocks:
    """The frames that have names of their own, and the one that is meant where none is named."""

    def end(name: str) -> Robot:
        return replace(page.robot, end_effector=name)

    names = page.end_effectors()
    chosen = choice(page, "End effector", page.robot.end_effector, names, end)
    ends = Block([], [[word("End effector"), chosen]])
    table = [_frame_row(page, k, frame) for k, frame in enumerate(page.robot.frames)]
    return (Block(["name", "on", *_PLACE, ""], table), ends) if table else (ends,)


def _frame_row(page: Page, k: int, frame: Frame) -> list[Cell]:
    def changed(**fields: Any) -> Robot:
        frames = list(page.robot.frames)
        frames[k] = replace(frames[k], **fields)
        end = page.robot.end_effector
        if "name" in fields and end == frame.name:
            end = fields["name"]
        return replace(page.robot, frames=tuple(frames), end_effector=end)

    def placed(field: str, i: int) -> Callable[[Any], Robot]:
        def apply(value: Any) -> Robot:
            values = list(getattr(page.robot.frames[k], field))
            values[i] = value
            return changed(**{field: tuple(values)})

        return apply

    def rename(text: str) -> Robot:
        return changed(name=named(text))

    places = {j: str(j) for j in range(len(page.robot.links) + 1)}
    return [
        typed(page, f"name of frame {k + 1}", frame.name, rename, "cell-name"),
        choice(page, f"link of {frame.name}", frame.link, places, lambda j: changed(link=j)),
        *(expression(page, f"{head} of {frame.name}", getattr(frame, field)[i % 3],
                     placed(field, i % 3), key)
          for i, (head, (field, key)) in enumerate(_PLACE.items())),
        act(page, f"Remove {frame.name}", "delete_outline", lambda: without_frame(page.robot, k)),
    ]  # fmt: skip


def _loops(page: Page) -> Blocks:
    """The cut joint of each loop and its twin on the other link, which must coincide."""
    table = [
        _loop_row(page, k, which, getattr(loop, which))
        for k, loop in enumerate(page.robot.loops)
        for which in ("cut", "twin")
    ]
    return (Block(["loop", "frame", "on", "joint", *GEOMETRY, ""], table),) if table else ()


def _loop_row(page: Page, k: int, which: str, frame: Joint) -> list[Cell]:
    loop, cut = page.robot.loops[k], which == "cut"
    title = f"of {which} of {loop.name}"

    def apply(key: str) -> Callable[[Any], Robot]:
        def change(value: Any) -> Robot:
            loops = list(page.robot.loops)
            moved = replace(getattr(loops[k], which), **{key: value})
            loops[k] = replace(loops[k], **{which: moved})
            return replace(page.robot, loops=tuple(loops))

        return change

    # frames that another may stand on: the links, and where it stands now
    places = {i: str(i) for i in {*range(len(page.robot.links) + 1), frame.antecedent}}
    kind = word(loop.kind, "hint")
    if cut and not loop.kind:
        kind = choice(page, f"sigma {title}", frame.sigma, _KINDS, apply("sigma"))
    return [
        word(loop.name if cut else ""), word(which, "hint"),
        choice(page, f"antecedent {title}", frame.antecedent, places, apply("antecedent")), kind,
        *(expression(page, f"{key} {title}", getattr(frame, key), apply(key), key)
          for key in GEOMETRY),
        *([act(page, f"Remove loop {k + 1}", "delete_outline",
               lambda: unlooped(page.robot, k))] if cut else []),
    ]  # fmt: skip


Table = tuple[Callable[[Page], Blocks], tuple[str, str, str], Callable[[Page], Any]]
_BY_LINK = ("Geometry", "Inertia", "Drives", "Limits", "Loads")  # a row for each link
_EMPTY = {
    "Loops": "No loop: the structure is open. The column 'on' of the geometry makes trees.",
    "Flexible": "All links are rigid.",
}
_EXACT = "A unit may follow: 90 deg, 20 mm; formulas such as pi/2, L1, 2*d + 0.1 stay exact"
# what is in a table; the button below it with its icon, a hint; what the button does
_TABLES: dict[str, Table] = {
    "Geometry": (_geometry, ("Add link", "add", _EXACT),
                 lambda page: take(page, lambda: added(page.robot))),
    "Inertia": (lambda page: (rows(page, INERTIA, "links"),),
                ("From a shape", "category", "About the origin of the link's frame."),
                inertial_dialog),
    "Drives": (_drives, ("", "", "Elastic: a spring about its rest position. A joint that follows"
                                 " another stands at ratio times its position, plus offset."),
               lambda page: None),
    "Limits": (_limits, ("", "", "Empty: no limit; the robot stands at its home, or at zero."),
               lambda page: None),
    "Loads": (lambda page: (rows(page, WRENCH, "links"),),
              ("", "", "What each link exerts on the environment, in its frame."),
              lambda page: None),
    "Base": (_base, ("", "", ""), lambda page: None),
    "Frames": (_frames, ("Add a frame", "add", "At rest on a link: roll about x, then pitch, yaw."
                         " The end effector is the frame meant where none is named."),
               lambda page: take(page, lambda: framed(page.robot))),
    "Loops": (_loops, ("Close a loop", "sync_alt",
                       "The cut joint and its twin on the other link must coincide."),
              lambda page: take(page, lambda: looped(page.robot))),
    "Flexible": (flexible_rows, ("Make a link flexible", "waves", "Beams that bend and stretch."),
                 flexible_dialog),
}  # fmt: skip
