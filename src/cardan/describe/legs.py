"""Short ways to describe closed loops: a platform, legs repeated by pattern, coinciding frames.

    [platform]   freedoms = ["x", "y", "z"]     a body with its own passive joints from the base;
    [[platform]] antecedent = "lower"           several: each on the base or on another link
    [[leg]]      copies = 3                     links and loops, turned about z and numbered
    [[loop]]     frames = ["a", "b"]            two links that are one body: a joint is cut

They are rewritten into plain links and loops before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .robot import FRICTION
from .toml.lines import Place

Report = Callable[[str], None]
LEG_KEYS = ("name", "copies", "angles", "each", "link", "loop")
PLATFORM_KEYS = ("name", "freedoms", "home", "antecedent")
Gone = list[tuple["Piece", str]]
_AXES = ("x", "y", "z")
_FREEDOMS = ("x", "y", "z", "rx", "ry", "rz")
_LARGEST = 100  # copies of a leg
_UNCONNECTED = (
    "the platform is not connected: its legs close no loop; give each a [[leg.loop]] with its twin"
    " on the platform"
)


@dataclass(frozen=True)
class Piece:
    """A table of a link or a loop as it will be read, where it stands, and its leg's values."""

    table: Mapping[str, Any]
    place: Place
    each: Mapping[str, Any] = field(default_factory=dict)  # symbol -> value in this copy
    angle: Any = 0  # added to gamma of frames on links outside the leg
    inside: frozenset[str] = frozenset()  # names of the leg's own links


def pieces_of(table: Mapping[str, Any], reader: Any) -> tuple[list[Piece], list[Piece], Gone]:
    """Links and loops as they will be numbered: platform, links, legs; coinciding links cut.

    Also the links cut away, each with the name of the link that is the same body. The reader has
    `tables(table, key)`, `report(message, key)`, `known(table, allowed)`, `place` and `link`."""
    links: list[Piece] = []
    loops: list[Piece] = []
    platforms = _platforms(table.get("platform"), reader)
    names = {str(part.get("name", "")) for part in _tables(table.get("link", []))}
    later = [own for own in platforms if str(own[0].table["antecedent"]) in names]
    for own in platforms:
        links += own if own not in later else []
    for kind, pieces in (("link", links), ("loop", loops)):
        reader.place = ("", 0)
        for k, part in enumerate(reader.tables(table, kind), 1):
            first = kind == "link" and k == 1 and links and "antecedent" not in part
            pieces.append(Piece({**part, "antecedent": 0} if first else part, (kind, k)))
    for own in later:
        links += own
    reader.place = ("", 0)
    for k, part in enumerate(reader.tables(table, "leg"), 1):
        reader.place = ("leg", k)
        reader.known(part, LEG_KEYS)
        more = legs(part, reader.place, reader.report)
        links += more[0]
        loops += more[1]
    if platforms and "leg" in table and not loops:
        reader.place = platforms[0][0].place
        reader.report(_UNCONNECTED)
    gone: Gone = []
    for k, piece in enumerate(loops):
        if "frames" in piece.table:
            reader.place = piece.place
            reader.link = f"frames of loop {piece.table.get('name', f'loop{k + 1}')}"
            loops[k] = _closed(links, piece, gone, reader.report)
    return links, loops, gone


def _closed(links: list[Piece], piece: Piece, gone: Gone, report: Report) -> Piece:
    """A loop given by two links that coincide, with the joint it is cut at; that link goes."""
    if "cut" in piece.table or "twin" in piece.table:
        report("give frames, or cut and twin, not both")
    cut = one_body(links, piece.table, report)
    if cut is None:
        return piece
    loop, name, stays = cut
    if name:
        names = [str(p.table.get("name", f"link{j}")) for j, p in enumerate(links, 1)]
        gone.append((links.pop(names.index(name)), stays))
    rest = {key: x for key, x in piece.table.items() if key != "frames"}
    return replace(piece, table={**rest, **loop})


def _platforms(written: Any, reader: Any) -> list[list[Piece]]:
    """The links of each platform: of [platform], or of several [[platform]]."""
    if written is None:
        return []
    if isinstance(written, Mapping):
        tables: list[tuple[Place, Any]] = [(("platform", 0), written)]
    elif _is_list(written) and all(isinstance(part, Mapping) for part in written):
        tables = [(("platform", k), part) for k, part in enumerate(written, 1)]
    else:
        reader.report("platform must be a table; write [platform], or several [[platform]]",
                      "platform")  # fmt: skip
        return []
    every, names = [], set()
    for place, part in tables:
        reader.place = place
        name = str(part.get("name", "platform"))
        if name in names:
            reader.report(f"there are several platforms {name!r:.60}: give each a name of its own")
            continue
        names.add(name)
        every.append([Piece(link, place) for link in platform(part, reader.report)])
    return every


def platform(table: Mapping[str, Any], report: Report) -> list[dict[str, Any]]:
    """The links of a platform: one passive joint per freedom, the last one carries the body."""
    name = str(table.get("name", "platform"))
    freedoms = table.get("freedoms", list(_FREEDOMS))
    known = isinstance(freedoms, Sequence) and not isinstance(freedoms, str)
    if not known or not freedoms or any(f not in _FREEDOMS for f in freedoms):
        report(f"freedoms = {freedoms!r:.60}; a list of {', '.join(_FREEDOMS)} is expected")
        freedoms = _FREEDOMS  # read on: others name the platform
    if len(set(freedoms)) < len(freedoms):
        report("freedoms: each may stand once")
        freedoms = _FREEDOMS
    home = table.get("home", [])
    if not _is_list(home) or len(home) not in (0, len(freedoms)):
        report(
            f"home = {home!r:.60}; a list of {len(freedoms)} values is expected, one per freedom"
        )
        home = []
    body = {key: x for key, x in table.items() if key not in PLATFORM_KEYS}
    links: list[dict[str, Any]] = []
    axis = 2  # of the frame before: z
    for freedom in freedoms:
        turn = freedom.startswith("r")
        wanted = _AXES.index(freedom[-1])
        own = {"home": home[len(links)]} if home else {}
        links.append({
            "name": f"{name}_{freedom}", "variable": f"{name}_{freedom}", "active": False,
            "joint": "revolute" if turn else "prismatic", **_towards(axis, wanted), **own,
        })  # fmt: skip
        axis = wanted
    if axis != 2:
        links.append({"name": name, "joint": "fixed", **_towards(axis, 2)})
    links[0]["antecedent"] = table.get("antecedent", 0)
    links[-1] |= {"name": name, **body}
    return links


def _towards(axis: int, wanted: int) -> dict[str, str]:
    """Frames whose z goes from one axis of the base to another: x, y, z are exchanged in turn."""
    steps = (wanted - axis) % 3
    if steps == 1:
        return {"gamma": "pi/2", "alpha": "pi/2"}
    return {"gamma": "pi", "alpha": "pi/2", "theta": "pi/2"} if steps == 2 else {}


def legs(table: Mapping[str, Any], place: Place, report: Report) -> tuple[list[Piece], list[Piece]]:
    """(links, loops) of all copies of a leg."""
    each = table.get("each", {})
    entries = list(each.values()) if isinstance(each, Mapping) else [each]
    lists = [x for x in (table.get("angles"), *entries) if x is not None]
    copies = table.get("copies", len(lists[0]) if lists and _is_list(lists[0]) else 1)
    if isinstance(copies, bool) or not isinstance(copies, int) or not 1 <= copies <= _LARGEST:
        report(f"copies = {copies!r:.20}; a number from 1 to {_LARGEST} is expected")
        return [], []
    if not isinstance(each, Mapping) or any(not _is_list(x) or len(x) != copies for x in lists):
        report(f"angles and the entries of each are lists of {copies} values, one per copy")
        return [], []
    own, closing = (_tables(table.get(key, [])) for key in ("link", "loop"))
    if not own:
        report("a leg needs links: [[leg.link]]")
        return [], []
    angles = table.get("angles") or [f"{2 * k}*pi/{copies}" for k in range(copies)]
    names = [str(part.get("name", f"{table.get('name', 'leg')}_link{i}_")) for i, part in
             enumerate(own, 1)]  # fmt: skip
    joints = {part["joint_name"] for part in own if isinstance(part.get("joint_name"), str)}
    links: list[Piece] = []
    loops: list[Piece] = []
    for k in range(copies):
        suffix = str(k + 1)
        values = {name: x[k] for name, x in each.items()}
        inside = frozenset(name + suffix for name in names)
        how = {"each": values, "angle": angles[k], "inside": inside}
        for i, part in enumerate(own):
            default = names[i - 1] if i else 0
            one = _renamed(part, suffix, names, default) | {"name": names[i] + suffix}
            if isinstance(mimic := part.get("mimic"), Mapping):
                leader = _own(mimic.get("joint"), suffix, names, joints)
                one["mimic"] = {**mimic, "joint": leader}
            links.append(Piece(one, place, **how))
        for part in closing:
            one = {"name": str(part.get("name", table.get("name", "leg"))) + suffix}
            for side in ("cut", "twin"):
                frame = part.get(side)
                if isinstance(frame, Mapping):
                    one[side] = _renamed(frame, suffix, names, 0)
            for key in part:
                if key not in ("name", "cut", "twin"):
                    one[key] = part[key]
            loops.append(Piece(one, place, **how))
    return links, loops


def _renamed(
    part: Mapping[str, Any], suffix: str, names: Sequence[str], default: Any
) -> dict[str, Any]:
    """A frame of a leg with the names of one copy."""
    frame = {**part, "antecedent": _own(part.get("antecedent", default), suffix, names)}
    for key in ("variable", "joint_name", "name"):
        if isinstance(part.get(key), str):
            frame[key] = part[key] + suffix
    return frame


def _own(ref: Any, suffix: str, names: Sequence[str], joints: Collection[str] = ()) -> Any:
    """What a link of a leg refers to, where that is in its copy; a number counts the links."""
    if isinstance(ref, str) and (ref in names or ref in joints):
        return ref + suffix
    if isinstance(ref, int) and not isinstance(ref, bool) and 0 < ref <= len(names):
        return names[ref - 1] + suffix
    return ref


def one_body(
    links: list[Piece], loop: Mapping[str, Any], report: Report
) -> tuple[dict[str, Any], str, str] | None:
    """(loop, link cut away or "", link that stays) for two links that are one body.

    One of them must end its chain on a passive joint: that joint is cut; its body is the other's.
    Where neither does, the two are joined rigidly."""
    named = {str(piece.table.get("name", f"link{j}")): piece for j, piece in enumerate(links, 1)}
    frames: Any = loop.get("frames")
    if not _is_list(frames) or len(frames) != 2 or any(str(f) not in named for f in frames):
        missing = [str(f) for f in frames if str(f) not in named] if _is_list(frames) else []
        where = f"{', '.join(missing)!r:.60} is no link" if missing else f"{frames!r:.60}"
        report(f"frames = two names of links that coincide; {where}")
        return None
    first, second = (str(f) for f in frames)
    if first == second:
        report(f"frames = two links that coincide; both are {first!r:.60}: name two different ones")
        return None
    carried = {str(piece.table.get("antecedent", "")) for piece in links}
    order = list(named)
    for gone, stays in ((second, first), (first, second)):
        table = named[gone].table
        follows = order.index(gone) + 1 < len(order)
        below = follows and "antecedent" not in links[order.index(gone) + 1].table
        passive = table.get("active") is False and table.get("joint", "revolute") != "fixed"
        if passive and gone not in carried and not below and "mimic" not in table:
            cut = {k: x for k, x in table.items() if k in _CUT}
            if "antecedent" not in cut:
                before = order.index(gone)
                cut["antecedent"] = order[before - 1] if before else 0
            return {"cut": cut, "twin": {"antecedent": stays}}, gone, stays
    cut = {"antecedent": first, "joint": "fixed"}
    return {"cut": cut, "twin": {"antecedent": second}}, "", first


_CUT = ("joint", "antecedent", "gamma", "b", "alpha", "d", "theta", "r", "variable", "FV", "FS",
        "IA", *FRICTION[2:])  # fmt: skip


def _tables(parts: Any) -> list[Mapping[str, Any]]:
    return [part for part in parts if isinstance(part, Mapping)] if _is_list(parts) else []


def _is_list(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str)
