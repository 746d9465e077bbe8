"""<replicate> and <attach> of MJCF: parts of a model that stand in it several times, or come from
other models.

[MJCF: the XML reference of the MuJoCo documentation.] Both are copies of a part of the tree under a
<frame>, with other names: a replica has its number behind them, what is attached a prefix before
them. What names the copied parts from outside the tree (constraints, tendons, actuators) is copied
with them if all that it names is among them. What is attached keeps the settings and defaults of
the file that it comes from; its options (gravity) are those of the file that attaches it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from ...errors import Fault, InputError
from ..frames import Array, frame
from ..xml.source import Source, parsed, shown
from .include import Beside, content, include, path_of
from .model import Mjcf, read_defaults, settings
from .schema import unknown

MOST_ELEMENTS = 20_000  # of the whole tree: copies of copies grow fast
_DEEPEST = 20  # files that attach each other

# what the attributes of elements outside the tree name
_NAMED = {
    "joint": "joint", "jointinparent": "joint", "joint1": "joint", "joint2": "joint",
    "body": "body", "body1": "body", "body2": "body", "site": "site", "site1": "site",
    "site2": "site", "refsite": "site", "slidersite": "site", "cranksite": "site",
    "sidesite": "site", "geom": "geom", "geom1": "geom", "geom2": "geom", "tendon": "tendon",
    "tendon1": "tendon", "tendon2": "tendon",
}  # fmt: skip
_OUTSIDE = ("contact", "tendon", "equality", "actuator")  # tendons before what names them
_ASSETS = {"mesh": "mesh", "material": "material", "hfield": "hfield", "texture": "texture"}
_KIND = {"freejoint": "joint", "fixed": "tendon", "spatial": "tendon"}

Names = dict[str, set[str]]  # by kind
Renamed = Callable[[str], str]


def attach(mjcf: Mjcf, read: Beside | None, around: Sequence[str]) -> None:
    """Put copies in the place of every <replicate> and <attach>; what is wrong is a fault."""
    models = _models(mjcf, read, around)
    for world in mjcf.root.findall("worldbody"):
        _expand(mjcf, world, models)


def _models(mjcf: Mjcf, read: Beside | None, around: Sequence[str]) -> dict[str, Mjcf]:
    """The models of <asset> that may be attached, by name."""
    models: dict[str, Mjcf] = {}
    for element in mjcf.root.iterfind("asset/model"):
        name = str(element.get("file") or "")
        path = path_of(mjcf.folder(element), name)
        if not name:
            mjcf.fault("<model> names no file: write file=...", element)
        elif path in around or len(around) > _DEEPEST:
            mjcf.fault(f"'{shown(name)}' is attached to itself", element)
        else:
            try:
                data = content(path, name, read)
            except InputError as error:
                mjcf.fault(str(error), element)
                continue
            model = open_mjcf(
                data, path, read, os.path.dirname(path), (*around, path), mjcf.main.faults
            )
            for kind, places in model.remarks.items():
                mjcf.remarks.setdefault(kind, []).extend(places)
            if model.root is not None:
                models[element.get("name") or model.root.get("model") or ""] = model
    return models


def _expand(mjcf: Mjcf, element: Any, models: Mapping[str, Mjcf]) -> None:
    """Depth first: a replica holds what its own replicas made of it."""
    for inner in list(element):
        if inner.tag in ("body", "frame", "replicate"):
            _expand(mjcf, inner, models)
        if inner.tag == "frame":
            _check_scale(mjcf, inner)
        if inner.tag == "replicate":
            _replicate(mjcf, inner)
        elif inner.tag == "attach":
            _attach(mjcf, inner, models)
        if mjcf.main.failed:  # no work on what is refused already
            return


def _check_scale(mjcf: Mjcf, element: Any) -> None:
    """Frames that resize what is in them are not read."""
    sizes = [*(mjcf.numbers(element, "scale", (1,)) or []), mjcf.number(element, "massscale") or 1]
    if any(x != 1 for x in sizes):
        mjcf.fault("a <frame> that scales is not read: save the compiled model first", element)


def _replicate(mjcf: Mjcf, element: Any) -> None:
    """count copies, each placed on the one before; names end in the number of the copy."""
    count = _count(mjcf, element)
    if any(inner.tag in ("joint", "freejoint") for inner in element):
        mjcf.fault("a joint cannot stand in a <replicate>: put it in a <body> there", element)
        return
    names = names_in(element)
    offset = np.array(mjcf.numbers(element, "offset", (0, 0, 0), 3))
    euler = np.array(mjcf.numbers(element, "euler", (0, 0, 0), 3))
    step = frame(mjcf.euler(euler, element), offset)
    outside = naming(mjcf, names)
    T, at = np.eye(4), element.getparent().index(element)
    digits = len(str(count - 1))
    for k in range(count):
        suffix = f"{element.get('sep', '')}{k:0{digits}d}"

        def renamed(name: str, end: str = suffix) -> str:
            return name + end

        T[:3, :3] = mjcf.euler(k * euler, element)  # not the product, which loses digits
        copy = deepcopy(element)
        copy.tag = "frame"
        for key in ("count", "sep", "offset", "euler"):
            copy.attrib.pop(key, None)
        _set_pose(copy, T)
        for inner in copy.iter():
            if inner is not copy:
                _rename(inner, "name", _kind(inner) in names, renamed)
        element.getparent().insert(at + k, copy)
        if mjcf.source(element) is not mjcf.main:
            mjcf.sources[copy] = mjcf.source(element)
        for original in outside:
            _copy_outside(mjcf, mjcf, original, names, renamed)
        T = T @ step
    for original in outside:
        original.getparent().remove(original)
    element.getparent().remove(element)


def _count(mjcf: Mjcf, element: Any) -> int:
    count = int(mjcf.number(element, "count", 0.0))
    size = sum(1 for _ in element.iter())
    if count < 1:
        mjcf.fault("<replicate> needs a positive count", element)
    elif count * size + sum(1 for _ in mjcf.root.iter()) > MOST_ELEMENTS:
        mjcf.fault(f"<replicate> makes more than {MOST_ELEMENTS} elements", element)
    else:
        return count
    return 1


def _attach(mjcf: Mjcf, element: Any, models: Mapping[str, Mjcf]) -> None:
    """A body, a frame or the whole world of a model, with a prefix before all names."""
    prefix, wanted = str(element.get("prefix", "")), element.get("model")
    model = mjcf if wanted is None else models.get(wanted)
    if model is None:
        mjcf.fault(f"there is no <model> '{shown(wanted)}' in <asset> to attach", element)
        return
    parts = _parts(mjcf, model, element)
    size = sum(1 for part in parts for _ in part.iter())
    if size + sum(1 for _ in mjcf.root.iter()) > MOST_ELEMENTS:
        mjcf.fault(f"<attach> makes more than {MOST_ELEMENTS} elements", element)
        return
    names: dict[str, set[str]] = {}
    for part in parts:
        for kind, own in names_in(part, itself=True).items():
            names.setdefault(kind, set()).update(own)

    def renamed(name: str) -> str:
        return prefix + name

    outer, foreign = element.makeelement("frame"), model is not mjcf
    element.getparent().replace(element, outer)
    if foreign:
        outer.set("childclass", prefix + "main")
        _adopt(mjcf, model, renamed)
        mjcf.settings[outer] = model.settings[model.root]
        mjcf.folders[outer] = model.folders[model.root]
        mjcf.sources[outer] = model.main
    for part in parts:
        outer.append(_copied(mjcf, model, part, renamed, names, foreign))
    for original in naming(model, names):
        _copy_outside(mjcf, model, original, names, renamed)


def _parts(mjcf: Mjcf, model: Mjcf, element: Any) -> list[Any]:
    """The elements of a model that an <attach> means."""
    for kind in ("body", "frame"):
        name = element.get(kind)
        if name:
            same = [
                e for world in model.root.findall("worldbody") for e in world.iter(kind)
                if e.get("name") == name
            ]  # fmt: skip
            if not same or element in list(same[0].iter()):
                mjcf.fault(f"<attach>: there is no {kind} '{shown(name)}' to attach", element)
                return []
            if any(e.tag in ("attach", "replicate") for e in same[0].iter()):
                words = (
                    f"<attach>: {kind} '{shown(name)}' holds what is attached or replicated later"
                )
                mjcf.fault(words, element)
                return []
            return same[:1]
    if model is mjcf:
        mjcf.fault("<attach> of the file itself needs the name of a body or a frame", element)
        return []
    return [e for world in model.root.findall("worldbody") for e in world]


def _copied(
    mjcf: Mjcf, model: Mjcf, part: Any, renamed: Renamed, names: Names, foreign: bool
) -> Any:
    """A part of a tree under its new names; what was attached to it keeps its own settings."""
    copy = deepcopy(part)
    for original, inner in zip(part.iter(), copy.iter(), strict=True):
        _rename(inner, "name", True, renamed)
        for table in ("settings", "folders", "included", "sources"):
            known = getattr(model, table)
            if original in known:
                getattr(mjcf, table)[inner] = known[original]
        if foreign:
            for key in ("class", "childclass", *_ASSETS):
                _rename(inner, key, True, renamed)
    return copy


def _adopt(mjcf: Mjcf, model: Mjcf, renamed: Renamed) -> None:
    """The classes and the assets of a model, under its prefix."""
    for name, table in model.defaults.items():
        own = {kind: dict(values) for kind, values in table.items()}
        for values in own.values():
            for key in _ASSETS:
                if values.get(key):
                    values[key] = renamed(values[key])
        mjcf.defaults[renamed(name)] = own
    known = {(e.tag, e.get("name")) for e in mjcf.root.iterfind("asset/*")}
    for section in model.root.findall("asset"):
        copy = deepcopy(section)
        for original, inner in zip(list(section), list(copy), strict=True):
            name = renamed(inner.get("name") or _stem(inner.get("file", "")))
            if inner.tag == "model" or (inner.tag, name) in known:
                copy.remove(inner)
                continue
            inner.set("name", name)
            inner.set("class", renamed(inner.get("class", "main")))
            for key in ("texture", "material"):
                _rename(inner, key, True, renamed)
            _belongs(mjcf, model, original, inner)
        mjcf.root.append(copy)


def _stem(file: str) -> str:
    """The name of an asset that has none: that of its file."""
    return os.path.splitext(file.replace("\\", "/").rpartition("/")[2])[0]


def _belongs(mjcf: Mjcf, model: Mjcf, original: Any, copy: Any) -> None:
    """The copy has the file, the folder and the settings of the original."""
    mjcf.sources[copy] = model.source(original)
    mjcf.settings[copy] = model.setting(original)
    mjcf.folders[copy] = model.folder(original)
    mjcf.included[copy] = model.places_of(original)[-1]


def naming(mjcf: Mjcf, names: Names) -> list[Any]:
    """The elements outside the tree that name some of these parts, tendons before what names them.
    The tendons themselves are added to the names."""
    elements = []
    for section in _OUTSIDE:
        for element in mjcf.root.iterfind(f"{section}/*"):
            if any(value in names.get(kind, ()) for kind, value in _references(element)):
                elements.append(element)
                if section == "tendon" and element.get("name"):
                    names.setdefault("tendon", set()).add(element.get("name"))
    return elements


def _references(element: Any) -> list[tuple[str, str]]:
    """(kind, name) of everything that a constraint, a tendon or an actuator names."""
    return [
        (_NAMED[key], value) for inner in element.iter() for key, value in inner.attrib.items()
        if key in _NAMED
    ]  # fmt: skip


def _copy_outside(mjcf: Mjcf, model: Mjcf, original: Any, names: Names, renamed: Renamed) -> None:
    """What names the copied parts, if it names nothing else."""
    section = original.getparent().tag
    lost = [name for kind, name in _references(original) if name not in names.get(kind, ())]
    if lost:
        if section != "contact":
            kind = f"<{section}><{original.tag}> names what is not copied with it, and is left out"
            mjcf.remark(kind, lost[0], original)
        return
    copy = deepcopy(original)
    foreign = model is not mjcf
    for inner in copy.iter():
        _rename(inner, "name", True, renamed)
        for key in _NAMED:
            _rename(inner, key, True, renamed)
        if foreign:
            _rename(inner, "class", True, renamed)
    if foreign:
        copy.set("class", copy.get("class", renamed("main")))
    target = mjcf.root.find(section)
    if target is None:
        target = mjcf.root.makeelement(section)
        mjcf.root.append(target)
    target.append(copy)
    if foreign or mjcf.source(original) is not mjcf.main:
        _belongs(mjcf, model, original, copy)


def names_in(element: Any, itself: bool = False) -> dict[str, set[str]]:
    """The names of the bodies, joints, geoms and sites in a part of the tree."""
    names: dict[str, set[str]] = {"body": set(), "joint": set(), "geom": set(), "site": set()}
    for inner in element.iter():
        if inner.get("name") and (itself or inner is not element):
            names.setdefault(_kind(inner), set()).add(inner.get("name"))
    return names


def _kind(element: Any) -> str:
    return str(_KIND.get(element.tag, element.tag))


def _rename(element: Any, key: str, wanted: bool, renamed: Renamed) -> None:
    if wanted and element.get(key):
        element.set(key, renamed(element.get(key)))


def _set_pose(element: Any, T: Array) -> None:
    """pos and the axes, which need no unit of angle."""
    element.set("pos", " ".join(repr(float(x)) for x in T[:3, 3]))
    element.set("xyaxes", " ".join(repr(float(x)) for x in T[:3, :2].T.ravel()))


def open_mjcf(
    data: bytes, file: str, read: Any = None, folder: str = "", around: Sequence[str] = (),
    faults: list[Fault] | None = None,
) -> Mjcf:  # fmt: skip
    """The file with its settings, all of it in one tree; faults are in `main`.

    read: gives the files that it includes, attaches or takes meshes from. folder: of the file, seen
    from the main one's; around: the files that attach this one; faults: theirs, for those of this
    one too, also such as are met later."""
    source = Source(file, faults=[] if faults is None else faults)
    root = parsed(data, source, "an MJCF file has a <mujoco> element")
    mjcf = Mjcf(root, source)
    if root is None:
        return mjcf
    if root.tag == "mujocoinclude":
        mjcf.fault("this is a part of a model: open the file that includes it", root)
        return mjcf
    if root.tag != "mujoco":
        mjcf.fault(f"the root element is <{shown(root.tag)}>, an MJCF file has <mujoco>", root)
        return mjcf
    mjcf.folders[root] = folder
    include(mjcf, read, folder)
    mjcf.settings[root] = settings(mjcf)
    mjcf.defaults["main"] = {}
    for element in root.findall("default"):
        if element.get("class", "main") != "main":
            mjcf.fault("the outermost class of defaults is called 'main': rename it", element)
        read_defaults(mjcf, element, mjcf.defaults["main"], "main")
    unknown(mjcf)
    if not source.failed:
        attach(mjcf, read, around)
    return mjcf
