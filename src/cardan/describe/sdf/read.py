"""SDFormat files (1.0 to 1.12): models of links placed by poses -> `Robot` in Khalil's notation.

The links and joints become those of a URDF, whose reader does the rest: joint names, limits,
damping as FV, friction as FS, springs, masses. Every link and <frame> is a frame of the robot. What
the format says by default holds: a link without <inertial> weighs 1 kg with moments of 1; an axis
is z of the joint's frame, in files up to version 1.4 of the model's. Models may nest and include
others of the disk (`packages`). A model that no joint ties to the world could float: it is read
with its root link fixed, and this is said. A joint to a link that has a parent already closes a
loop. A universal joint becomes two hinges NAME_1, NAME_2, a ball joint three, the last along the
rod to another one; a screw NAME is a hinge NAME and a slide NAME_2 that its thread leads. Gearboxes
are refused by name.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import Fault, InputError
from ..bodies import Mass
from ..check import completed
from ..closures import along_axis
from ..frames import Array, decimal_value, frame, inverse
from ..robot import Robot
from ..urdf.elements import Elements, JointElement, LinkElement, Mimic
from ..urdf.graph import TWO, chain, rod_axes, trees, weld
from ..urdf.loops import LoopElement
from ..urdf.read import robot_of
from ..xacro.packages import Among, Packages
from ..xml.source import Source, is_no_limit, parsed, shown, summaries
from .poses import MODEL, Entry, Poses, pose_in, text_of

_DYNAMICS = {"damping": "FV", "friction": "FS", "spring_stiffness": "spring",
             "spring_reference": "neutral"}  # fmt: skip
_TYPES = ("revolute", "continuous", "prismatic", "fixed", "ball", "screw", *TWO)
_MOST_MODELS = 500
_MOTORS = "let the <limit> of passive ones have an <effort> of 0"
_HARMLESS = {
    "model": "self_collide allow_auto_disable plugin gripper pose static enable_wind link joint"
    " frame model include",
    "link": "pose inertial collision visual sensor projector audio_sink audio_source battery light"
    " particle_emitter plugin self_collide must_be_base_link frame enable_wind",
    "joint": "pose parent child axis axis2 physics sensor frame gearbox_ratio thread_pitch"
    " screw_thread_pitch gearbox_reference_body rotor_inertia gear_ratio controller_gains",
}


def read_sdf(
    data: bytes, file: str = "", files: Packages | Among | None = None, *, body: str = "",
    fixed: str = "merge", mimic: bool = False,
) -> tuple[Robot | None, list[Fault]]:  # fmt: skip
    """The robot of an SDFormat file and every fault found; body: the model of a world to read."""
    source = Source(file)
    root = parsed(data, source, "an SDFormat file has an <sdf> element")
    reader = None if root is None else _Reader(source, files or Among(None))
    elements = None if reader is None else reader.elements(root, body)
    robot = None
    if elements is not None and not source.failed:
        robot = robot_of(elements, source, fixed == "merge", mimic)
    if robot is None:
        return None, sorted(source.faults, key=lambda fault: fault.line)
    return completed(robot, source.faults, file)


@dataclass(frozen=True, eq=False)
class _Joint:
    """A <joint>: the scope of its names, the name of its frame, and what is meant where it says
    nothing of its axis."""

    element: Any
    scope: str
    key: str
    model: str
    version: tuple[int, int]


@dataclass(eq=False)
class _Reader:
    """A file that is being read: its frames, links and joints by their whole names."""

    source: Source
    files: Packages | Among
    version: tuple[int, int] = (1, 12)
    links: list[LinkElement] = field(default_factory=list)
    joints: list[_Joint] = field(default_factory=list)
    canonical: dict[str, str] = field(default_factory=dict)  # the first link of each model
    static: list[str] = field(default_factory=list)  # links of models that stand still
    models: int = 0
    around: str = "world"  # the frame of the model that is being read
    threads: dict[str, float] = field(default_factory=dict)  # of screws, metres per radian
    axes: dict[str, list[Any]] = field(default_factory=dict)  # <axis> and <axis2> of joints

    def __post_init__(self) -> None:
        self.poses = Poses(self.source)
        self.remarks: dict[str, list[Fault]] = {}

    def elements(self, root: Any, body: str) -> Elements | None:
        if root.tag not in ("sdf", "gazebo"):
            words = f"the root element is <{shown(root.tag)}>, an SDFormat file has <sdf>"
            self.source.fault(words, root.sourceline)
            return None
        self.version = _version(root)
        chosen = self.chosen(root, body)
        if chosen is None:
            return None
        name = self.model(chosen, "", {self.source.file})
        elements = None if self.source.failed else self.tree(name, root)
        self.source.faults += summaries(self.remarks)
        return elements

    def remark(self, words: str, name: str, element: Any) -> None:
        place = Fault("", *self.source.place(element.sourceline), "", "warning", (shown(name),))
        self.remarks.setdefault(words, []).append(place)

    def chosen(self, root: Any, body: str) -> Any:
        """The model that is read: the only one, or that of a world that moves, or the named one."""
        models = [*root.iterfind("model"), *root.iterfind("world/model")]
        models += list(root.iterfind("world/include"))
        names = [str(x.get("name") or text_of(x, "name") or text_of(x, "uri")) for x in models]
        for k, name in enumerate(names):
            if name in names[:k]:
                names[k] = f"{name}:{k + 1}"
        if body:
            for name, model in zip(names, models, strict=True):
                if name == body:
                    return model
            listed = ", ".join(f"'{shown(x)}'" for x in names[:8])
            self.source.fault(f"there is no model '{shown(body)}': there are {listed or 'none'}")
            return None
        moving = [k for k, model in enumerate(models) if len(models) == 1 or _moves(model)]
        if len(moving) == 1:
            for name, model in zip(names, models, strict=True):
                if model is not models[moving[0]]:
                    words = "models beside the robot are left out; body= reads one"
                    self.remark(words, name, model)
            return models[moving[0]]
        listed = ", ".join(f"'{shown(names[k])}'" for k in moving[:8])
        what = f"the file holds {len(moving)} models with joints, {listed}" if moving else (
            f"no model of the file has a joint that moves ({len(models)} models)"
        )  # fmt: skip
        example = shown(names[moving[0]]) if moving else "NAME"
        remedy = f": name the one to read, load(path, body='{example}') or --body {example}"
        self.source.fault(what + remedy, root.sourceline)
        return None

    # models

    def model(self, element: Any, scope: str, opened: set[str]) -> str:
        """Read a <model>, or what an <include> stands for, merged or as a model of its own; its
        name."""
        self.models += 1
        if self.models > _MOST_MODELS:
            self.source.fault(f"more than {_MOST_MODELS} models are included", element.sourceline)
            return ""
        outer, version, around = element, self.version, self.around
        if element.tag == "include":
            inner = self.included(element, opened)
            if inner is None:
                return ""
            element, path = inner
            opened = opened | {path}
        name = str(text_of(outer, "name") if outer is not element else "") or str(
            element.get("name") or "model"
        )
        merged = outer.get("merge") in ("1", "true")
        inside = scope if merged or around == "world" else f"{scope}{name}::"
        self.around = f"{scope}_merged__{name}__{MODEL}" if merged else inside + MODEL
        pose, relative = pose_in(outer if outer.find("pose") is not None else element, self.source,
                                 f"model '{shown(name)}'")  # fmt: skip
        placed = outer.get("placement_frame") or text_of(outer, "placement_frame") or element.get(
            "placement_frame"
        )  # fmt: skip
        base = relative and self.reference(relative, scope, outer)
        self.poses.entries[self.around] = Entry(
            base or around, pose, outer.sourceline or 0, placement=inside + placed if placed else ""
        )
        first = len(self.links)
        self.content(element, inside, opened)
        links = [link.name for link in self.links[first:]]
        own = str(element.get("canonical_link") or "")
        self.canonical[self.around] = inside + own if own else links[0] if links else ""
        if text_of(outer, "static") in ("1", "true") or text_of(element, "static") in ("1", "true"):
            self.static += links
        self.version, self.around = version, around
        return name

    def content(self, model: Any, scope: str, opened: set[str]) -> None:
        # joints last: up to version 1.6 they may have the name of a link, which then is meant
        for element in sorted(model, key=lambda element: element.tag == "joint"):
            if element.tag == "link":
                self.link(element, scope)
            elif element.tag == "joint":
                self.joint(element, scope)
            elif element.tag == "frame":
                self.frame(element, scope)
            elif element.tag in ("model", "include"):
                self.model(element, scope, opened)
            else:
                self.known(element, "model", str(model.get("name")))

    def known(self, element: Any, kind: str, owner: str) -> None:
        """A remark on what is not read and may matter."""
        tag = element.tag.rpartition("}")[2]
        if tag not in _HARMLESS[kind].split():
            self.remark(f"<{shown(tag)}> in <{kind}> is left out", owner, element)

    def included(self, element: Any, opened: set[str]) -> tuple[Any, str] | None:
        """The model of another file, and its path."""
        uri = text_of(element, "uri")
        try:
            path, data = self.content_of(uri)
        except (InputError, OSError, ValueError) as error:
            self.source.fault(f"'{shown(uri)}' is not read: {error}", element.sourceline)
            return None
        if path in opened or len(opened) > 30:
            self.source.fault(f"'{shown(uri)}' includes itself", element.sourceline)
            return None
        source = Source(shown(os.path.basename(path)))
        root = parsed(data, source, "an included file has an <sdf> element")
        model = None if root is None else root.find("model")
        if model is None:
            why = source.faults[0].message if source.faults else "it holds no <model>"
            self.source.fault(f"'{shown(uri)}': {why}", element.sourceline)
            return None
        self.version = _version(root)
        return model, path

    def content_of(self, uri: str) -> tuple[str, bytes]:
        """model://name, package://name/..., or a path beside the file: a file, or a folder of one
        model."""
        scheme, _, rest = uri.rpartition("://")
        if scheme not in ("", "model", "package", "file"):
            raise InputError(f"{shown(scheme)}:// is not read: put the model beside the file")
        package, _, inner = rest.partition("/")
        if scheme in ("model", "package"):
            path = os.path.join(self.files.find(package), inner)
        else:
            folder = os.path.dirname(str(getattr(self.files, "main", "")))
            path = os.path.join(folder, rest)
        if not path.lower().endswith((".sdf", ".xml", ".world")):
            path = os.path.join(path, self.described(path))
        return os.path.normpath(path), self.files(path)

    def described(self, folder: str) -> str:
        """The file of a folder's model: the newest that its model.config names."""
        try:
            config = parsed(self.files(os.path.join(folder, "model.config")), Source(""))
        except (InputError, OSError, ValueError):
            config = None
        named = [] if config is None else [e for e in config.iterfind("sdf") if e.text]
        return str(max(named, key=_version).text).strip() if named else "model.sdf"

    # links, frames, joints

    def reference(self, name: str, scope: str, element: Any) -> str:
        """The whole name of a frame that may be defined later."""
        known = {"world": "world", MODEL: self.around}
        return known.get(name, f"{scope}{name}")

    def link(self, element: Any, scope: str) -> None:
        name = f"{scope}{element.get('name') or ''}"
        pose, relative = pose_in(element, self.source, f"link '{shown(name)}'")
        base = self.reference(relative or MODEL, scope, element)
        if name != "world":  # what old files call so stands for the world
            self.entry(name, Entry(base, pose, element.sourceline or 0), element)
        for inner in element:
            forces = {"gravity": ("1", "true"), "kinematic": ("0", "false")}
            tag = inner.tag
            if tag in forces:
                if (inner.text or "").strip().lower() not in forces[tag]:
                    self.remark(f"<{tag}> of a link is left out", name, inner)
            elif tag == "velocity_decay":
                if any((x.text or "0").strip() not in ("0", "0.0") for x in inner):
                    self.remark("<velocity_decay> of a link is left out", name, inner)
            else:
                self.known(inner, "link", name)
        self.links.append(LinkElement(name, element.sourceline or 0, self.masses(element, name)))

    def entry(self, name: str, entry: Entry, element: Any) -> None:
        if not name or name.endswith("::"):
            self.source.fault(f"<{element.tag}> has no name", element.sourceline)
        elif name in self.poses.entries:
            self.source.fault(f"'{shown(name)}' is already defined", element.sourceline, name)
        self.poses.entries[name] = entry

    def masses(self, element: Any, link: str) -> tuple[Mass, ...]:
        """What a link weighs: 1 kg with moments of 1 where nothing is said."""
        inertial = element.find("inertial")
        if inertial is None:
            return (Mass(1.0, np.zeros(3), np.eye(3)),)
        if inertial.get("auto", "").strip().lower() in ("1", "true"):
            words = "<inertial auto> asks for the masses of shapes, which are not read: write them"
            self.source.fault(words, inertial.sourceline, link)
        if inertial.find("fluid_added_mass") is not None:
            self.remark("<fluid_added_mass> is left out", link, inertial)
        T, _ = pose_in(inertial, self.source, f"<inertial> of '{shown(link)}'")
        mass = self.number(inertial, "mass", 1.0, link)
        inertia, J = inertial.find("inertia"), np.eye(3)
        if inertia is not None:
            xx, yy, zz = (self.number(inertia, key, 1.0, link) for key in ("ixx", "iyy", "izz"))
            xy, xz, yz = (self.number(inertia, key, 0.0, link) for key in ("ixy", "ixz", "iyz"))
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if mass < 0:
            self.source.fault(f"mass {mass!r} is negative", inertial.sourceline, link)
        return (Mass(mass, T[:3, 3], T[:3, :3] @ J @ T[:3, :3].T),)

    def number(self, element: Any, tag: str, default: float, link: str) -> float:
        text = text_of(element, tag)
        if not text or text.lower().lstrip("+-") in ("inf", "infinity"):
            return default
        value = self.source.number(text, f"<{tag}>", element.find(tag).sourceline, link)
        return default if value is None else value

    def frame(self, element: Any, scope: str) -> None:
        name = f"{scope}{element.get('name') or ''}"
        pose, relative = pose_in(element, self.source, f"frame '{shown(name)}'")
        attached = self.reference(element.get("attached_to") or MODEL, scope, element)
        base = self.reference(relative, scope, element) if relative else attached
        self.entry(name, Entry(base, pose, element.sourceline or 0, attached=attached), element)

    def joint(self, element: Any, scope: str) -> None:
        name = f"{scope}{element.get('name') or ''}"
        pose, relative = pose_in(element, self.source, f"joint '{shown(name)}'")
        child = self.reference(text_of(element, "child"), scope, element)
        base = self.reference(relative, scope, element) if relative else child
        key = name
        if any(link.name == name for link in self.links) and self.version <= (1, 6):
            key = f"{name} (joint)"
        self.entry(key, Entry(base, pose, element.sourceline or 0, attached=child), element)
        for inner in element:
            self.known(inner, "joint", name)
        self.joints.append(_Joint(element, scope, key, self.around, self.version))

    # the tree

    def tree(self, name: str, root: Any) -> Elements | None:
        """Links and joints with their poses, as those of a URDF."""
        from lxml import etree

        self.whole_names()
        urdf = etree.Element("robot", name=name or "robot")
        read = [self.joint_element(joint, urdf) for joint in self.joints]
        if self.source.failed:
            return None
        joints, closing = trees([joint for joint in read if joint is not None])
        joints = [hinge for joint in joints for hinge in self.hinges(joint, closing, urdf)]
        loops = [self.loop(joint) for joint in closing]
        held = {joint.child for joint in joints}
        joints += [
            weld(f"{link}_static", "world", link, self.poses.place(link))
            for link in dict.fromkeys(self.static) if link not in held
        ]  # fmt: skip
        links = self.on_world(joints)
        for frame_name, entry in self.poses.entries.items():
            if entry.attached and frame_name not in {joint.key for joint in self.joints}:
                owner = self.owner(frame_name)
                known = owner if any(link.name == owner for link in links) else ""
                if known and all(link.name != frame_name for link in links):
                    T = inverse(self.poses.place(known)) @ self.poses.place(frame_name)
                    links.append(LinkElement(frame_name, entry.line))
                    joints.append(weld(f"{frame_name}_frame", known, frame_name, T))
        return Elements(
            urdf, name or "robot", links, joints, loops, self.gravity(links, joints, root), _MOTORS
        )

    def on_world(self, joints: list[JointElement]) -> list[LinkElement]:
        """The links, the world among them where joints hang on it. Several links that hang on none
        are all fixed to it."""
        hanging = {joint.child for joint in joints}
        roots = [link for link in self.links if link.name not in {*hanging, "world"}]
        tied = any(joint.parent == "world" for joint in joints)
        if len(roots) > 1 or (roots and tied):
            joints += [
                weld(f"{link.name}_world", "world", link.name, self.poses.place(link.name))
                for link in roots
            ]  # fmt: skip
            words = "links that no joint ties to the world are taken as fixed"
            for link in roots:
                place = Fault("", *self.source.place(link.line), "", "warning", (shown(link.name),))
                self.remarks.setdefault(words, []).append(place)
            tied = True
        links = [link for link in self.links if link.name != "world"]
        return [LinkElement("world", 0), *links] if tied else links

    def whole_names(self) -> None:
        """References to models become those to their frames; a fault where there is none."""
        entries = self.poses.entries
        for name, entry in list(entries.items()):
            fields = {}
            for key in ("relative", "attached", "placement"):
                wanted = getattr(entry, key)
                if wanted and (whole := self.poses.name(wanted, "")):
                    fields[key] = whole
                elif wanted:
                    words = f"'{shown(name)}' refers to the frame '{shown(wanted)}': there is none"
                    self.source.fault(words, entry.line)
            entries[name] = Entry(**{**vars(entry), **fields})

    def owner(self, name: str) -> str:
        """The link with which a frame moves."""
        links = {link.name for link in self.links}
        for _ in range(len(self.poses.entries) + 1):
            if name in links or name == "world":
                return name
            entry = self.poses.entries.get(name)
            name = self.canonical.get(name) or ("" if entry is None else entry.attached)
        return ""

    def joint_element(self, read: _Joint, urdf: Any) -> JointElement | None:
        element, scope = read.element, read.scope
        name, line = f"{scope}{element.get('name')}", element.sourceline or 0
        kind = element.get("type")
        if kind not in _TYPES:
            self.source.fault(
                f"joint '{shown(name)}' is of type '{shown(kind)}', which is not supported:"
                f" {', '.join(_TYPES)} are; write it as several of these", line,
            )  # fmt: skip
            return None
        ends = []
        for tag in ("parent", "child"):
            text = text_of(element, tag)
            whole = self.poses.name(text, scope) if text else ""
            owner = self.owner(whole) if whole else ""
            if not owner or (tag == "child" and owner == "world"):
                words = f"joint '{shown(name)}': its {tag} '{shown(text)}' is no link of the model"
                self.source.fault(words, line)
                return None
            ends.append(owner)
        parent, child = ends
        if self.source.failed:
            return None
        at = {end: self.poses.place(end) if end != "world" else np.eye(4) for end in ends}
        own = inverse(at[child]) @ self.poses.place(read.key)  # the joint's frame in the child's
        axis = element.find("axis")
        joint = JointElement(
            name, line, kind, parent, child, inverse(at[parent]) @ at[child],
            self.axis(axis, read, at[child]), point=own[:3, 3],
        )  # fmt: skip
        if kind in TWO:
            self.axes[name] = [element.find(tag) for tag in ("axis", "axis2")]
            second = self.axis(self.axes[name][1], read, at[child])
            return replace(joint, second=second)
        if kind == "screw":
            self.threads[name] = self.thread(element, child)
        if axis is None or kind in ("fixed", "ball"):
            return joint
        return self.driven(joint, element, axis, urdf)

    def thread(self, element: Any, child: str) -> float:
        """Metres per radian along the axis of a screw; the older word has radians per metre, and a
        left-handed thread."""
        old = self.number(element, "thread_pitch", 0.0, child)
        if element.find("screw_thread_pitch") is None and old:
            return -1 / old
        return self.number(element, "screw_thread_pitch", 1.0, child) / (2 * math.pi)

    def hinges(
        self, joint: JointElement, closing: list[JointElement], urdf: Any
    ) -> list[JointElement]:
        """One joint; of universal and ball joints hinges that meet, with links without mass."""
        if joint.type == "ball":
            directions, axes = list(rod_axes(joint, closing).T), []
        elif joint.type in TWO:
            directions, axes = [joint.axis, joint.second], self.axes[joint.name]
        elif joint.type == "screw":
            hinge, slide = chain(joint, [("revolute", joint.axis), ("prismatic", joint.axis)])
            self.links.append(LinkElement(hinge.child, joint.line))
            thread = Mimic(joint.name, self.threads[joint.name], 0.0, rigid=True)
            slide = replace(slide, mimic=thread, drive={}, limits={})
            return [replace(hinge, name=joint.name, mimic=joint.mimic), slide]
        else:
            return [joint]
        hinges = chain(joint, [("continuous", direction) for direction in directions])
        self.links += [LinkElement(hinge.child, joint.line) for hinge in hinges[:-1]]
        driven = zip(hinges, axes, strict=True) if axes else []
        return [self.driven(hinge, axis, axis, urdf) if axis is not None else hinge
                for hinge, axis in driven] or hinges  # fmt: skip

    def axis(self, axis: Any, joint: _Joint, child: Array) -> Array:
        """The direction of a joint, in the frame of its child."""
        xyz = None if axis is None else axis.find("xyz")
        text = "0 0 1" if xyz is None else (xyz.text or "0 0 1")
        what = f"axis of joint '{shown(joint.key)}'"
        line = 0 if xyz is None else xyz.sourceline or 0
        z = np.array(self.source.numbers(text, 3, what, line) or [0, 0, 1])
        size = float(np.linalg.norm(z))
        if size < 1e-10:
            self.source.fault(f"the {what} has length 0", line)
            return np.array([0.0, 0.0, 1.0])
        wanted = "" if xyz is None else (xyz.get("expressed_in") or "").strip()
        old = text_of(axis, "use_parent_model_frame") if axis is not None else ""
        if old in ("1", "true") or (not wanted and joint.version <= (1, 4)):
            wanted = MODEL
        whole = self.poses.name(wanted, joint.scope) if wanted else joint.key
        whole = joint.model if wanted == MODEL else whole
        if not whole:
            self.source.fault(f"{what}: no frame '{shown(wanted)}'", line)
            return np.array([0.0, 0.0, 1.0])
        T = np.eye(4) if whole == "world" else self.poses.place(whole)
        return np.asarray(child[:3, :3].T @ T[:3, :3] @ z / size)

    def driven(self, joint: JointElement, element: Any, axis: Any, urdf: Any) -> JointElement:
        """Limits, friction, spring and what the joint follows; rotors and motors into the root."""
        from lxml import etree

        limit, dynamics = axis.find("limit"), axis.find("dynamics")
        limits: dict[str, float] = {}
        for key in ("lower", "upper", "effort", "velocity") if limit is not None else ():
            value = None
            if (text := text_of(limit, key)) and not is_no_limit(text):
                value = self.number(limit, key, 0.0, joint.child)
            if value is not None and not (key in ("effort", "velocity") and value < 0):
                limits[key] = value
        if limits.get("effort") == 0:  # no motor, as Drake takes it
            limits.pop("effort")
            etree.SubElement(urdf, "joint", name=joint.name, independent="false")
        own = {
            field: self.number(dynamics, key, 0.0, joint.child)
            for key, field in _DYNAMICS.items() if dynamics is not None
        }  # fmt: skip
        if not own.get("spring"):
            own.pop("neutral", None)
        follows = axis.find("mimic")
        mimic = None
        if follows is not None:
            ratio, offset, at = (
                self.number(follows, key, default, joint.child)
                for key, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
            )
            leader = joint.name.rpartition("::")[0]
            leader = f"{leader}::" * bool(leader) + str(follows.get("joint") or "")
            mimic = Mimic(leader, ratio, offset - ratio * at)
        rotor = {tag: element.find(f"{{*}}{tag}") for tag in ("rotor_inertia", "gear_ratio")}
        if rotor["rotor_inertia"] is not None:
            drive = etree.SubElement(urdf, "transmission", name=joint.name)
            etree.SubElement(drive, "joint", name=joint.name)
            actuator = etree.SubElement(drive, "actuator", name=joint.name)
            for tag, part in rotor.items():
                if part is not None:
                    etree.SubElement(actuator, tag, value=(part.text or "").strip())
        return replace(joint, limits=limits, drive=own, mimic=mimic)

    def loop(self, joint: JointElement) -> LoopElement:
        """A second joint on a link, which closes a loop: its frame in the child, as drawn."""
        T = frame(np.eye(3), joint.point)
        kind = {"continuous": "revolute", "ball": "spherical"}.get(joint.type, joint.type)
        if kind in (*TWO, "screw"):
            words = f"joint '{shown(joint.name)}' closes a loop and is of type '{kind}', which is"
            words += " not supported: let it be one of the tree, and a ball or hinge close the loop"
            self.source.fault(words, joint.line)
            kind = "fixed"
        T = along_axis(T, joint.axis) if kind not in ("fixed", "spherical") else T
        return LoopElement(joint.name, joint.line, kind, (joint.child, joint.parent), T, None)

    def gravity(
        self, links: list[LinkElement], joints: list[JointElement], root: Any
    ) -> tuple[Any, ...]:
        """The acceleration of gravity in the frame of the root link."""
        g = np.array([0.0, 0.0, -9.81])
        text = (root.findtext("world/gravity") or "").strip()
        if text:
            g = np.array(self.source.numbers(text, 3, "<gravity>") or g)
        children = {joint.child for joint in joints}
        roots = [link for link in links if link.name not in children]
        if roots and roots[0].name != "world":
            g = self.poses.place(roots[0].name)[:3, :3].T @ g
            if len(roots) == 1:
                words = "no joint ties the model to the world: its base link is taken as fixed;"
                words += " cardan.floating(robot) lets it go"
                self.source.fault(words, roots[0].line, roots[0].name, "warning")
        size = float(np.abs(g).max())
        return tuple(0 if abs(x) < 1e-13 * size else decimal_value(float(x), 0.0) for x in g)


def _version(root: Any) -> tuple[int, int]:
    first, _, second = (root.get("version") or "1.12").partition(".")
    return (int(first), int(second)) if first.isdigit() and second.isdigit() else (1, 12)


def _moves(model: Any) -> bool:
    """Has a model of a world a joint, or may it have one in another file?"""
    if text_of(model, "static") in ("1", "true"):
        return False
    return any(x.get("type") != "fixed" for x in _joints(model))


def _joints(model: Any) -> Iterator[Any]:
    yield from model.iter("joint")
