"""A scene of MJCF -> the one robot that is read of it.

A scene has parts that move apart: all that stands on the world by hinges and slides is one of them,
"world", and each body with a free joint another, by its name or, where it has none, its number:
"#2" is the second one. A free body without joints is a prop:
beside a robot it is left out, alone it is the robot. Of several robots the user names one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..xml.source import shown
from .attach import names_in, naming
from .model import Mjcf

_LISTED = 8


@dataclass(frozen=True, eq=False)
class Part:
    """Bodies under the world that are one robot: their elements, and how many joints move them."""

    name: str
    bodies: tuple[Any, ...]
    joints: int
    floating: bool

    def __str__(self) -> str:
        joints = f"{self.joints} joint{'' if self.joints == 1 else 's'}"
        return f"{shown(self.name)} ({'floating, ' if self.floating else ''}{joints})"


def is_free(mjcf: Mjcf, joint: Any) -> bool:
    return joint.tag == "freejoint" or mjcf.get(joint, "type") == "free"


def parts(mjcf: Mjcf, body: str = "") -> list[Part]:
    """What moves in a scene; body: "world" is that one alone where it is named."""
    free: list[Part] = []
    standing: list[tuple[Any, int]] = []
    for world in mjcf.root.findall("worldbody"):
        for element in mjcf.inside(world, "body"):
            joints = [j for j in element.iter("joint", "freejoint") if not is_free(mjcf, j)]
            if any(is_free(mjcf, j) for j in mjcf.inside(element, "joint", "freejoint")):
                name = element.get("name") or f"#{len(free) + 1}"
                free.append(Part(name, (element,), len(joints), True))
            elif joints:
                standing.append((element, len(joints)))
    named = [(e, n) for e, n in standing if body and e.get("name") == body]
    own = named or standing
    name = body if named else "world"
    world_part = Part(name, tuple(e for e, _ in own), sum(n for _, n in own), False)
    others = [Part(e.get("name", ""), (e,), n, False) for e, n in standing if named and e not in
              world_part.bodies]  # fmt: skip
    return [*([world_part] if own else []), *others, *free]


def contents(mjcf: Mjcf) -> list[tuple[str, str, str]]:
    """What is in a scene, as rows: kind, name, and what there is to say of it."""
    rows = []
    for part in parts(mjcf):
        bodies = sum(1 for top in part.bodies for _ in top.iter("body"))
        kind = "robot" if part.joints else "prop"
        joints = f"{part.joints} joint{'' if part.joints == 1 else 's'}" if part.joints else ""
        moves = "floating" if part.floating else "on the world"
        words = ", ".join(
            x for x in (moves, joints, f"{bodies} bod{'y' if bodies == 1 else 'ies'}") if x
        )
        rows.append((kind, shown(part.name), words))
    moving = {element for part in parts(mjcf) for element in part.bodies}
    for world in mjcf.root.findall("worldbody"):
        for element in mjcf.inside(world, "body"):
            if element not in moving:
                target = element.get("mocap", "") == "true"
                words = "a target of the simulator" if target else "stands still"
                rows.append(("scenery", shown(element.get("name", "")) or "(no name)", words))
    for k, key in enumerate(mjcf.root.iterfind("keyframe/key")):
        count = len((key.get("qpos") or "").split())
        words = f"{count} positions" if count else "no positions"
        rows.append(("keyframe", shown(key.get("name", "")) or f"{k}", words))
    return rows


def left_out_parts(mjcf: Mjcf, body: str) -> list[Part]:
    """All parts but the one that is read; a fault where that is not clear."""
    every = parts(mjcf, body)
    if body:
        chosen = [part for part in every if part.name == body]
        if not chosen:
            names = [str(part) for part in parts(mjcf)][:_LISTED]
            listed = f": there are {', '.join(names)}" if names else ""
            words = f"no body '{shown(body)}' under the world moves{listed}"
            mjcf.fault(words, mjcf.root)
    else:
        robots = [part for part in every if part.joints]
        chosen = robots or every
        if len(chosen) > 1:
            listed = ", ".join(map(str, chosen[:_LISTED])) + (", ..." if chosen[_LISTED:] else "")
            example = shown(max(chosen, key=lambda part: part.joints).name)
            kind = "robots" if robots else "free bodies"
            mjcf.fault(
                f"the file holds {len(chosen)} {kind}, {listed}: name the"
                f" one to read, load(path, body='{example}') or --body {example}",
                chosen[0].bodies[0],
            )
    return [part for part in every if part not in chosen[:1]]


def drop(mjcf: Mjcf, left: list[Part], body: str) -> None:
    """Take parts out of the tree, and what ties them to others."""
    for part in left:
        for element in part.bodies:
            if not body:
                words = "free bodies beside the robot are left out; body= reads one"
                mjcf.remark(words, part.name, element)
            for outside in _tied(mjcf, element):
                if outside.getparent().tag == "equality":
                    words = "constraints with what is left out go with it"
                    mjcf.remark(words, outside.get("name", outside.tag), outside)
                outside.getparent().remove(outside)
            element.getparent().remove(element)


def _tied(mjcf: Mjcf, element: Any) -> Iterator[Any]:
    yield from naming(mjcf, names_in(element, itself=True))
