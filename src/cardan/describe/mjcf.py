"""MJCF files (MuJoCo's .xml): bodies with any joints and places -> `Robot` in Khalil's notation.

Kept: bodies, hinge and slide joints with names, axes, zeros (ref), ranges, damping as FV,
frictionloss as FS and armature as IA, masses and inertias (of <inertial>, or of geoms), gravity.
A free joint under the world makes the base floating. Several joints of a body become a chain with
massless links between. <equality><connect> becomes a loop with a spherical cut joint, <weld> one
that is rigid, both of bodies or of sites; joints without an actuator are passive then. An equality
<joint> of one joint fixes it, a linear one of two couples them (`mjcf_couplings`). Ball joints are
refused, other couplings and tendons left out with a warning; meshes and everything else are ignored
here. <include> is read, of files in the folder of the main one (`mjcf_include`); no other file is
ever opened.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import Fault
from .bodies import (
    Body,
    Mass,
    frames_of,
    inertial_values,
    longest_path,
    moved,
    named_frames,
    size_of,
)
from .closures import Placed
from .couplings import coupled
from .expression import number
from .frames import Array, decimal_value, frame
from .mjcf_couplings import couplings_of
from .mjcf_include import Beside
from .mjcf_loops import Closures, locked
from .mjcf_shapes import geom_mass
from .mjcf_xml import Mjcf, about, along, open_mjcf
from .robot import PRISMATIC, REVOLUTE, Base, Joint, Limits, Link, Robot
from .urdf_xml import shown

__all__ = ["Scene", "read_mjcf", "sized"]

_SIGMA = {"hinge": REVOLUTE, "slide": PRISMATIC}


def read_mjcf(
    data: bytes, file: str = "", beside: Beside | None = None
) -> tuple[Robot | None, list[Fault]]:
    """The robot of an MJCF file and every fault found; no robot when one of them is an error.
    beside: gives the files that it includes."""
    mjcf = open_mjcf(data, file, beside)
    if mjcf.found.failed:
        return None, mjcf.found.faults
    scene = Scene(mjcf)
    scene.read()
    robot = None if mjcf.found.failed else scene.robot(file)
    faults = sorted(mjcf.found.faults, key=lambda x: (x.file != file, x.file, x.line))
    return None if mjcf.found.failed else robot, faults


class Scene:
    """The bodies as they are found, the world first."""

    def __init__(self, mjcf: Mjcf) -> None:
        self.mjcf = mjcf
        z = np.array([0.0, 0.0, 1.0])
        self.bodies = [Body("world", -1, Joint("world", 0), np.eye(4), z, np.zeros(3), kept=True)]
        self.place: dict[str, tuple[int, Array]] = {"world": (0, np.eye(4))}  # body, frame in it
        self.floating: tuple[Array, str] | None = None
        self.names = {"world"}
        self.refs: dict[str, float] = {}  # joint -> its value where the file draws it
        self.elements: dict[str, Any] = {}  # of the file, by body
        self.sites: dict[str, tuple[str, Array]] = {}  # name -> body, frame in it
        self.parents: dict[str, str] = {}  # of the bodies

    def read(self) -> None:
        worlds = self.mjcf.root.findall("worldbody")
        for world in worlds:
            self.elements["world"] = world
            self._add_masses(0, np.eye(4), self._geoms(world))
            self._sites(world, "world")
            for body in world.findall("body"):
                self._body(body, "world")
        if not worlds or (len(self.bodies) == 1 and self.floating is None):
            self.mjcf.fault("the file has no body with a joint in <worldbody>", self.mjcf.root)
        for element in self.mjcf.root.iterfind("equality/*"):
            if element.tag not in ("connect", "weld", "joint"):
                words = f"<equality><{shown(element.tag)}> is left out: they move freely"
                self.mjcf.fault(words, element, "warning")

    def _body(self, element: Any, parent: str) -> None:
        mjcf = self.mjcf
        name = self._claim(element.get("name") or f"body{len(self.place)}", element)
        self.elements[name], self.parents[name] = element, parent
        index, T = self.place[parent]
        T = T @ mjcf.placement(element)
        joints = [e for e in element if e.tag in ("joint", "freejoint")]
        masses = self._masses(element)
        free = [e for e in joints if e.tag == "freejoint" or mjcf.get(e, "type") == "free"]
        if free:
            self._float(element, parent, name, T, masses, len(joints))
        elif not joints:
            self.place[name] = index, T
            self._add_masses(index, T, masses)
        else:
            self._chain(joints, name, index, T, masses)
        self._sites(element, name)
        for inner in element.findall("body"):
            self._body(inner, name)

    def _sites(self, element: Any, body: str) -> None:
        """Points that equality constraints may name."""
        for site in element.findall("site"):
            if site.get("name"):
                self.sites[str(site.get("name"))] = body, self.mjcf.placement(site)

    def _claim(self, name: str, element: Any) -> str:
        if name in self.names:
            self.mjcf.fault(f"body '{name}' is already defined", element)
            name = f"{name}_{len(self.names)}"
        self.names.add(name)
        return name

    def _float(
        self, element: Any, parent: str, name: str, T: Array, masses: tuple[Mass, ...], joints: int
    ) -> None:
        """The body is the base itself: frame 0 is its frame."""
        if parent != "world" or self.floating is not None or joints > 1 or len(self.bodies) > 1:
            self.mjcf.fault(
                f"body '{name}' has a free joint, which is only read of one body under the world,"
                " the first, and alone", element,
            )  # fmt: skip
            return
        self.floating = T, name
        self.place[name] = 0, np.eye(4)
        self.bodies[0] = replace(self.bodies[0], name=name, masses=masses)

    def _chain(
        self, joints: list[Any], name: str, parent: int, T: Array, masses: tuple[Mass, ...]
    ) -> None:
        """The joints of a body act one after the other, in its frame."""
        for k, element in enumerate(joints):
            joint, axis, point, ref = self._joint(element, name)
            self.refs[joint.name] = ref
            last = k == len(joints) - 1
            if joint.sigma == PRISMATIC:
                back = frame(np.eye(3), -ref * axis)
            else:
                R = about(axis, -ref)
                back = frame(R, point - R @ point)
            link = name if last else self._claim(f"{name}_{joint.name}", element)
            self.bodies.append(
                Body(link, parent, joint, T @ back, axis, point, masses if last else ())
            )
            parent, T = len(self.bodies) - 1, np.eye(4)
        self.place[name] = parent, np.eye(4)

    def _joint(self, element: Any, body: str) -> tuple[Joint, Array, Array, float]:
        mjcf = self.mjcf
        kind = mjcf.get(element, "type") or "hinge"
        if kind not in _SIGMA:
            mjcf.fault(f"a {kind} joint is not supported: write it as three hinge joints", element)
            kind = "hinge"
        name = element.get("name") or f"joint{sum(b.parent >= 0 for b in self.bodies) + 1}"
        axis = np.array(mjcf.numbers(element, "axis", (0, 0, 1), 3))
        size = float(np.linalg.norm(axis))
        if size < 1e-10:
            mjcf.fault(f"the axis of joint '{name}' has length 0", element)
            axis, size = np.array([0.0, 0.0, 1.0]), 1.0
        if mjcf.number(element, "stiffness"):
            mjcf.fault(f"the spring of joint '{name}' is left out", element, "warning")
        turns = kind == "hinge"
        ref = mjcf.number(element, "ref")
        drive = {
            "FV": mjcf.number(element, "damping"), "FS": mjcf.number(element, "frictionloss"),
            "IA": mjcf.number(element, "armature"),
        }  # fmt: skip
        values: dict[str, Any] = {key: decimal_value(x, 0.0) for key, x in drive.items()}
        joint = Joint(
            name, 0, sigma=_SIGMA[kind], limits=self._limits(element, turns),
            **values,
        )  # fmt: skip
        point = np.array(mjcf.numbers(element, "pos", (0, 0, 0), 3))
        return joint, axis / size, point, mjcf.angle(ref) if turns else ref

    def _limits(self, element: Any, turns: bool) -> Limits:
        mjcf = self.mjcf
        limits = mjcf.numbers(element, "range", None, 2)
        limited = mjcf.get(element, "limited") or "auto"
        if limits is None or limited == "false" or (limited == "auto" and not mjcf.limits_follow):
            return Limits()
        lower, upper = (mjcf.angle(x) if turns else x for x in limits)
        return Limits(decimal_value(lower, 0.0), decimal_value(upper, 0.0))

    # masses

    def _add_masses(self, index: int, T: Array, masses: tuple[Mass, ...]) -> None:
        body = self.bodies[index]
        self.bodies[index] = replace(body, masses=body.masses + moved(masses, T))

    def _masses(self, element: Any) -> tuple[Mass, ...]:
        inertial = element.find("inertial")
        if self.mjcf.from_geoms == "true" or (inertial is None and self.mjcf.from_geoms != "false"):
            return self._geoms(element)
        return () if inertial is None else self._inertial(inertial)

    def _inertial(self, element: Any) -> tuple[Mass, ...]:
        mjcf = self.mjcf
        T = mjcf.placement(element)
        full = mjcf.numbers(element, "fullinertia", None, 6)
        diagonal = mjcf.numbers(element, "diaginertia", None, 3)
        if full is not None:
            xx, yy, zz, xy, xz, yz = full
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            tensor = np.diag(diagonal or [0.0, 0.0, 0.0])
        R = T[:3, :3]
        return (Mass(mjcf.number(element, "mass"), T[:3, 3], R @ tensor @ R.T),)

    def _geoms(self, element: Any) -> tuple[Mass, ...]:
        found = [self._geom(geom) for geom in element.findall("geom")]
        return tuple(mass for mass in found if mass is not None)

    def _geom(self, element: Any) -> Mass | None:
        mjcf = self.mjcf
        kind = mjcf.get(element, "type") or "sphere"
        given = {
            key: mjcf.number(element, key) for key in ("mass", "density")
            if mjcf.get(element, key) is not None
        }  # fmt: skip
        if kind == "mesh" and given.get("mass", given.get("density", 1.0)):
            mjcf.fault(
                "a mesh weighs nothing here: give its body an <inertial>", element, "warning"
            )
        size, placement = sized(mjcf, element, kind)
        return geom_mass(kind, size, given, placement)

    def placements(self) -> list[Array]:
        """Where the bodies are when all joints are at zero, or where they are held."""
        held = locked(self.mjcf, [body.joint for body in self.bodies], self.refs)
        found: list[Array] = []
        for body, joint in zip(self.bodies, held, strict=True):
            turn, slide = (float(number(x) or 0) for x in (joint.theta, joint.r))
            R = about(body.axis, turn)
            point = np.zeros(3) if body.point is None else body.point
            step = body.placement @ frame(R, point - R @ point + slide * body.axis)
            found.append(step if body.parent < 0 else found[body.parent] @ step)
        return found

    # the robot

    def robot(self, file: str) -> Robot:
        size = size_of(self.bodies)
        joints, links = frames_of(self.bodies)
        placed = Placed(self.bodies, joints, links, size, self.refs)
        loops = Closures(self.mjcf, self.place, self.sites).loops(placed)
        joints = locked(self.mjcf, joints, self.refs)
        driven = {e.get("joint") for e in self.mjcf.root.iterfind("actuator/*") if e.get("joint")}
        if loops:
            joints = [replace(joint, active=joint.name in driven) for joint in joints]
        joints = coupled(joints, couplings_of(self.mjcf, joints, self.refs, driven))
        root = self.bodies[0]
        base = Base(link=Link(root.name, **inertial_values(root.masses, size)))
        if self.floating is not None:
            T = self.floating[0]
            Z = tuple(decimal_value(float(x), 0.0) for x in T.ravel())
            base = replace(base, kind="floating", Z=Z)
        options = self.mjcf.root.findall("option")
        g = [0.0, 0.0, -9.81]
        for option in options:
            g = self.mjcf.numbers(option, "gravity", g, 3) or g
        if self.floating is not None:
            g = (self.floating[0][:3, :3].T @ np.array(g)).tolist()
        return Robot(
            self.mjcf.root.get("model") or "MuJoCo model", tuple(links), tuple(joints),
            tuple(loops), base, tuple(decimal_value(x, 1e-15) for x in g), file,
            frames=named_frames(self.bodies, self._frames()), end_effector=self._end_effector(),
        )  # fmt: skip

    def _end_effector(self) -> str:
        """What <custom> names, else the body at the end of the longest path."""
        place = self.place
        for text in self.mjcf.root.iterfind("custom/text"):
            if text.get("name") == "end_effector" and text.get("data") in {*place, *self.sites}:
                return str(text.get("data"))
        return longest_path(
            (name, above, place[name][0] != place[above][0])
            for name, above in self.parents.items() if self._moves_with_base(name)
        )  # fmt: skip

    def _moves_with_base(self, body: str) -> bool:
        """Is it on the robot? Beside a floating base, what is fixed in the world is not."""
        if self.floating is None:
            return True
        while body in self.parents and body != self.floating[1]:
            body = self.parents[body]
        return body == self.floating[1]

    def _frames(self) -> list[tuple[str, int, Array, str]]:
        """Name, body, placement and kind of every frame of the file: bodies, then sites; one that
        is called as a body is "site:NAME"."""
        root = self.bodies[0].name
        frames = [
            (name, *at, "body") for name, at in self.place.items()
            if name != root and self._moves_with_base(name)
        ]  # fmt: skip
        for site, (body, T) in self.sites.items():
            if self._moves_with_base(body):
                index, own = self.place[body]
                name = f"site:{site}" if site in self.names else site
                frames.append((name, index, own @ T, "site"))
        return frames


def sized(mjcf: Mjcf, element: Any, kind: str) -> tuple[list[float], Array]:
    """The sizes of a geom and its placement in its body, also where it is given by its ends."""
    size = mjcf.numbers(element, "size", ()) or []
    ends = mjcf.numbers(element, "fromto", None, 6)
    if ends is None:
        return size, mjcf.placement(element)
    start, end = np.array(ends[:3]), np.array(ends[3:])
    R = along(end - start)
    half = float(np.linalg.norm(end - start)) / 2
    size = [*size[:1], half] if kind in ("capsule", "cylinder") else [*size[:1] * 2, half]
    return size, frame(np.eye(3) if R is None else R, (start + end) / 2)
