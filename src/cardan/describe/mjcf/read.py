"""MJCF files (MuJoCo's .xml): bodies with any joints and places -> `Robot` in Khalil's notation.

Kept: bodies, hinge and slide joints with names, axes, zeros (ref), ranges, damping as FV,
frictionloss as FS and armature as IA (also those of actuators and tendons, `mjcf.drives`), masses
and inertias (of <inertial>, or of geoms: `mjcf.shapes`, `mjcf.meshes`), gravity. A free joint under
the world makes the base floating. Several joints of a body become a chain with massless links
between. <equality><connect> becomes a loop with a spherical cut joint, <weld> one that is rigid,
both of bodies or of sites; joints without an actuator are passive then. An equality <joint> of one
joint fixes it, a linear one of two couples them (`mjcf.equality`). A ball joint becomes three
hinges NAME_1, NAME_2, NAME_3 about x, y and z of its body; of a rod that a <connect> holds at its
other end the last one lies along the rod, so that its idle spin is a joint of its own.

What else a file says is harmless, or left out with a warning: `mjcf.schema` has the whole list.
<include>, <frame>, <replicate> and <attach> are read, and other files only of the folder of the
main one (`mjcf.include`, `mjcf.attach`). Of a scene one robot is read (`mjcf.scenes`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ...algebra.so3 import about, along
from ...errors import Fault, InputError
from ..bodies import (
    Body,
    Mass,
    centre_of,
    inertia_about,
    longest_path,
    moved,
    named_frames,
)
from ..check import weightless
from ..closures import Placed, balanced, tied, within_loops
from ..couplings import coupled
from ..frames import Array, decimal_value, frame
from ..robot import FIXED, FURTHER, PRISMATIC, REVOLUTE, Base, Joint, Limits, Robot
from ..values.expression import number
from ..xml.source import MOST_JOINTS, shown
from .attach import open_mjcf
from .drives import drives_of, shared_drives, weights, within
from .equality import Closures, couplings_of, locked
from .include import Beside
from .meshes import Meshes
from .model import Mjcf, Settings
from .scenes import drop, is_free, left_out_parts
from .schema import left_out
from .shapes import DENSITY, LEAST, SIZES, geom_mass

_MOST_COUPLED = 1000  # joints whose inertia matrix is inverted
CUSTOM = FURTHER[1:-2]  # of the friction, as <numeric name="cardan:JOINT:FVA" data="0.1"/>
_SIGMA = {"hinge": REVOLUTE, "slide": PRISMATIC}
Hinge = tuple[Joint, Array, Array, float]  # axis and point in the body; value as drawn


def read_mjcf(
    data: bytes, file: str = "", beside: Beside | None = None, *, body: str = ""
) -> tuple[Robot | None, list[Fault]]:
    """The robot of an MJCF file and every fault found; no robot when one of them is an error.
    beside: gives the files that it includes. body: the robot of a scene, by its first body."""
    mjcf = open_mjcf(data, file, beside)
    if mjcf.main.failed:
        return None, mjcf.main.faults
    scene = Scene(mjcf, beside, body)
    scene.read()
    mjcf.summarize()
    robot = None if mjcf.main.failed else scene.robot(file)
    for name in [] if robot is None else weightless(robot):
        words = "bodies that move have no mass or inertia: give them geoms with mass or <inertial>"
        mjcf.remark(words, name, scene.elements.get(name, mjcf.root), "error")
    left_out(mjcf)
    mjcf.summarize()
    faults = sorted(mjcf.main.faults, key=lambda x: (x.file != file, x.file, x.line))
    return None if mjcf.main.failed else robot, faults


class Scene:
    """The bodies as they are found, the world first. wanted: see `mjcf.scenes`."""

    def __init__(self, mjcf: Mjcf, read: Beside | None = None, wanted: str = "") -> None:
        self.mjcf, self.wanted = mjcf, wanted
        z = np.array([0.0, 0.0, 1.0])
        self.bodies = [Body("world", -1, Joint("world", 0), np.eye(4), z, np.zeros(3), kept=True)]
        self.drawn = [np.eye(4)]  # the frames of the bodies in the world, as the file draws them
        # body (-1: scenery beside a floating base), frame in it
        self.place: dict[str, tuple[int, Array]] = {"world": (0, np.eye(4))}
        self.floating: tuple[Array, str] | None = None
        self.scenery: list[Mass] = []
        self.refs: dict[str, float] = {}  # joint -> its value where the file draws it
        self.elements: dict[str, Any] = {}  # of the file, by body
        self.sites: dict[str, tuple[str, Array]] = {}  # name -> body, frame in it
        self.parents: dict[str, str] = {}  # of the bodies
        # joint -> time constant, damping ratio and rest
        self.oscillators: dict[str, tuple[float, float, float]] = {}
        self.meshes = Meshes(mjcf, read)
        self.drives = drives_of(mjcf)
        self.names = {"world"}
        self.taken = {
            tag: {str(e.get("name")) for e in mjcf.root.iter(tag) if e.get("name")} | {"world"}
            for tag in ("body", "joint")
        }

    def read(self) -> None:
        worlds = self.mjcf.root.findall("worldbody")
        left = left_out_parts(self.mjcf, self.wanted)
        if self.mjcf.main.failed:
            return
        if self.mjcf.setting(self.mjcf.root).total_mass > 0:
            inner = [body for part in left for top in part.bodies for body in top.iter("body")]
            self.scenery += [mass for body in inner for mass in self._masses(body)]
        drop(self.mjcf, left, self.wanted)
        for world in worlds:
            self.elements["world"] = world
            self._sites(world, "world")
            for body in self.mjcf.inside(world, "body"):
                self._body(body, "world")
        if self.mjcf.main.failed:
            return
        if len(self.bodies) > MOST_JOINTS:
            self.mjcf.fault(f"at most {MOST_JOINTS} joints are read", self.mjcf.root)
            return
        if not worlds or (len(self.bodies) == 1 and self.floating is None):
            words = (
                "no body with a joint is in <worldbody>: nothing moves; open the file of a robot"
            )
            self.mjcf.fault(words, self.mjcf.root)
        self._scale()
        self._oscillate()
        for element in self.mjcf.root.iterfind("equality/*"):
            if element.tag not in ("connect", "weld", "joint") and not self.mjcf.off("equality"):
                kind = f"<equality><{shown(element.tag)}> is left out: what it ties moves freely"
                self.mjcf.remark(kind, element.get("name", ""), element)

    def _body(self, element: Any, parent: str) -> None:
        mjcf = self.mjcf
        name = self._claim(element.get("name") or self._free_name("body"), element)
        self.elements[name], self.parents[name] = element, parent
        index, T = self.place[parent]
        T = T @ mjcf.placement(element)
        joints = list(mjcf.inside(element, "joint", "freejoint"))
        free = [joint for joint in joints if is_free(mjcf, joint)]
        moving = bool(joints) or index > 0 or (index == 0 and self.floating is not None)
        total = mjcf.setting(mjcf.root).total_mass > 0
        masses = self._masses(element) if moving or total else ()
        self.place[name] = index, T  # also where a fault is found below
        if free:
            self._float(element, free[0], parent, name, T, masses, len(joints))
        elif joints:
            self._chain(joints, name, index, T, masses)
        elif index < 0:
            self.scenery += masses
        else:
            body = self.bodies[index]
            self.bodies[index] = replace(body, masses=body.masses + moved(masses, T))
        self._sites(element, name)
        for inner in mjcf.inside(element, "body"):
            self._body(inner, name)

    def _sites(self, element: Any, body: str) -> None:
        """Points that equality constraints may name."""
        for site in self.mjcf.inside(element, "site"):
            if site.get("name"):
                placement = sized(self.mjcf, site, self.mjcf.get(site, "type") or "sphere")[1]
                self.sites[str(site.get("name"))] = body, placement

    def _claim(self, name: str, element: Any) -> str:
        if name in self.names:
            self.mjcf.fault(f"body '{name}' is already defined", element)
            name = f"{name}_{len(self.names)}"
        self.names.add(name)
        return name

    def _free_name(self, kind: str) -> str:
        """A name for what has none, which nothing else in the file has."""
        taken = self.taken[kind]
        count = len(self.place) if kind == "body" else len(self.bodies)
        while f"{kind}{count}" in taken:
            count += 1
        taken.add(f"{kind}{count}")
        return f"{kind}{count}"

    def _float(
        self, element: Any, joint: Any, parent: str, name: str, T: Array,
        masses: tuple[Mass, ...], joints: int,
    ) -> None:  # fmt: skip
        """The body is the base itself: frame 0 is its frame, and the world no link of the robot."""
        if parent != "world" or joints > 1:
            words = "a free joint stands alone, and in a body under the world: move it there"
            self.mjcf.fault(words, element)
            return
        self.scenery += self.bodies[0].masses
        self.place = {key: (-1, at) for key, (_, at) in self.place.items()}
        self.floating = T, name
        self.place[name] = 0, np.eye(4)
        self.drawn[0] = T
        self.bodies[0] = replace(self.bodies[0], name=name, masses=masses)
        self._free_drive(joint, name)

    def _free_drive(self, joint: Any, name: str) -> None:
        """Inertia without weight has no place on a base; what brakes it, neither."""
        mjcf = self.mjcf
        joint_name = joint.get("name", "")
        armature = mjcf.number(joint, "armature") + self.drives.armature.get(joint_name, 0.0)
        if armature and not any(self.gravity()):  # a mass at the origin, as nothing pulls at it
            extra = Mass(armature, np.zeros(3), armature * np.eye(3))
            self.bodies[0] = replace(self.bodies[0], masses=(*self.bodies[0].masses, extra))
            armature = 0.0
        left = {"armature": armature}
        for key in ("damping", "frictionloss", "stiffness"):
            left[key] = any(mjcf.numbers(joint, key, ()) or ())
        for key, there in left.items():
            if there:
                mjcf.remark(f"the {key} of a free joint is left out", joint_name or name, joint)

    def _chain(
        self, joints: list[Any], name: str, parent: int, T: Array, masses: tuple[Mass, ...]
    ) -> None:
        """The joints of a body act one after the other, in its frame."""
        drawn = self.drawn[parent] @ T
        hinges = [hinge for element in joints for hinge in self._hinges(element, name)]
        for k, (joint, axis, point, ref) in enumerate(hinges):
            self.refs[joint.name] = ref
            last = k == len(hinges) - 1
            if joint.sigma == PRISMATIC:
                back = frame(np.eye(3), -ref * axis)
            else:
                R = about(axis, -ref)
                back = frame(R, point - R @ point)
            link = name if last else self._claim(f"{name}_{joint.name}", self.elements[name])
            self.bodies.append(
                Body(link, parent, joint, T @ back, axis, point, masses if last else ())
            )
            self.drawn.append(drawn)
            parent, T = len(self.bodies) - 1, np.eye(4)
        self.place[name] = parent, np.eye(4)

    def _hinges(self, element: Any, body: str) -> list[Hinge]:
        """The joint with its axis, a point of it and its value where the file draws it; three
        hinges of a ball joint."""
        mjcf = self.mjcf
        kind = mjcf.get(element, "type") or "hinge"
        name = element.get("name") or self._free_name("joint")
        around = mjcf.around(element)
        point = np.array(mjcf.numbers(element, "pos", (0, 0, 0), 3))
        point = around[:3, :3] @ point + around[:3, 3]
        if kind == "ball":
            return self._ball(element, name, body, point)
        if kind not in _SIGMA:
            words = f"'{shown(kind)}' is no type of joint: hinge, slide, ball or free are read"
            mjcf.fault(words, element)
            kind = "hinge"
        axis = np.array(mjcf.numbers(element, "axis", (0, 0, 1), 3))
        size = float(np.linalg.norm(axis))
        if size < 1e-10:
            mjcf.fault(f"the axis of joint '{name}' has length 0", element)
            axis, size = np.array([0.0, 0.0, 1.0]), 1.0
        turns = kind == "hinge"
        ref = mjcf.number(element, "ref")
        joint = Joint(
            name, 0, sigma=_SIGMA[kind], limits=self._limits(element, name, turns),
            **self._spring(element, name, turns), **self._drive(element, name),
        )  # fmt: skip
        ref = mjcf.angle(ref, element) if turns else ref
        return [(joint, around[:3, :3] @ axis / size, point, ref)]

    def _ball(self, element: Any, name: str, body: str, point: Array) -> list[Hinge]:
        """Three hinges that meet. What resists all turns alike resists theirs, which is the same
        as long as they are near zero."""
        mjcf, values = self.mjcf, self._drive(element, name)
        if any(values.values()):
            words = "armature, damping and friction of ball joints are taken as those of three"
            mjcf.remark(f"{words} hinges", name, element)
        if self._stiffness(element) or self._oscillator(element):
            mjcf.remark("springs of ball joints are left out", name, element)
        if mjcf.numbers(element, "range", None, 2) is not None:
            mjcf.remark("the ranges of ball joints are left out", name, element)
        axes = self._rod(body, point)
        return [
            (Joint(f"{name}_{k + 1}", 0, **values), axes[:, k], point, 0.0) for k in range(3)
        ]  # fmt: skip

    def _rod(self, body: str, point: Array) -> Array:
        """Axes with z along the rod from a ball joint to the point where a <connect> holds it."""
        mjcf = self.mjcf
        sites = {site.get("name"): site for site in mjcf.inside(self.elements[body], "site")}
        for element in mjcf.root.iterfind("equality/connect"):
            end = None
            if element.get("body1") == body:
                end = np.array(mjcf.numbers(element, "anchor", (0, 0, 0), 3))
            for key in ("site1", "site2"):
                if element.get(key) in sites:
                    end = mjcf.placement(sites[element.get(key)])[:3, 3]
            R = None if end is None else along(end - point)
            if R is not None:
                return R
        return np.eye(3)

    def _drive(self, element: Any, name: str) -> dict[str, Any]:
        mjcf, drives = self.mjcf, self.drives
        FV, FQ = self._damping(element, name)
        FS = mjcf.number(element, "frictionloss") + drives.friction.get(name, 0.0)
        drive = {
            "FV": FV,
            "FQ": FQ,
            "FS": 0.0 if mjcf.off("frictionloss") else FS,
            "IA": mjcf.number(element, "armature") + drives.armature.get(name, 0.0),
        }
        for item in mjcf.root.iterfind("custom/numeric"):
            owner, _, key = (item.get("name") or "").rpartition(":")
            if owner == f"cardan:{name}" and key in CUSTOM:
                drive[key] = mjcf.number(item, "data")
        return {key: decimal_value(x, 0.0) for key, x in drive.items()}

    def _stiffness(self, element: Any) -> list[float]:
        """Of the joint's spring, by powers of its turn; none where it has no spring."""
        stiffness = self.mjcf.numbers(element, "stiffness", ()) or []
        return stiffness if any(stiffness) and not self.mjcf.off("spring") else []

    def _oscillator(self, element: Any) -> tuple[float, float] | None:
        """The time constant and damping ratio of `springdamper`, which then decides."""
        time, ratio = self.mjcf.numbers(element, "springdamper", (0, 0), 2) or (0.0, 0.0)
        return (time, ratio) if time > 0 and ratio > 0 else None

    def _spring(self, element: Any, name: str, turns: bool) -> dict[str, Any]:
        """The spring beside the motor; that of `springdamper` needs the whole robot."""
        mjcf, stiffness = self.mjcf, self._stiffness(element)
        rest = mjcf.number(element, "springref")
        rest = mjcf.angle(rest, element) if turns else rest
        if any(stiffness[1:]):
            mjcf.remark("springs of higher order than linear are left out", name, element)
        if oscillator := self._oscillator(element):
            self.oscillators[name] = *oscillator, rest
        elif stiffness and stiffness[0]:
            return {
                "spring": decimal_value(stiffness[0], 0.0), "neutral": decimal_value(rest, 0.0),
            }  # fmt: skip
        return {}

    def _damping(self, element: Any, name: str) -> tuple[float, float]:
        """By the speed and by its square; that of `springdamper` needs the whole robot."""
        mjcf, drives = self.mjcf, self.drives
        FV, FQ, *higher = (*(mjcf.numbers(element, "damping", ()) or []), 0.0, 0.0)
        if len(higher) > 3:
            mjcf.fault(f"damping of joint '{name}' has more than 3 numbers", element)
        if mjcf.off("damper"):
            return 0.0, 0.0
        if any(higher):
            mjcf.remark("damping of higher order than quadratic is left out", name, element)
        FV = 0.0 if name in self.oscillators else FV
        return FV + drives.damping.get(name, 0.0), FQ + drives.drag.get(name, 0.0)

    def _limits(self, element: Any, name: str, turns: bool) -> Limits:
        mjcf = self.mjcf
        ends = mjcf.bounds(element, "range", "limited") or ()
        angles = [mjcf.angle(x, element) if turns else x for x in ends]
        limits = {
            key: decimal_value(x, 0.0) for key, x in zip(("lower", "upper"), angles, strict=False)
        }
        low, high = within(mjcf, element, self.drives.forces.get(name, (-math.inf, math.inf)))
        effort = min(-low, high)
        if low != -high and math.isfinite(effort):
            words = "torque limits differ by direction: the smaller one holds"
            if effort <= 0:
                words = "torque limits that allow one direction alone are left out"
            mjcf.remark(words, name, element)
        if 0 < effort < math.inf:
            limits["effort"] = decimal_value(effort, 0.0)
        return Limits(**limits)

    # masses

    def _masses(self, element: Any) -> tuple[Mass, ...]:
        """What a body weighs: by its <inertial> or its geoms, and not less than the file allows."""
        settings = self.mjcf.setting(element)
        inertial = next(self.mjcf.inside(element, "inertial"), None)
        masses: tuple[Mass, ...] = ()
        if settings.from_geoms == "true" or (inertial is None and settings.from_geoms != "false"):
            masses = self._geoms(element)
        if not masses and inertial is not None:
            masses = self._inertial(inertial)
        if settings.least_mass > 0 or settings.least_inertia > 0 or settings.balanced:
            # a body without any mass has it at its own `pos`, taken once more in its own frame
            return self._bounded(masses, settings, self.mjcf.pose(element)[:3, 3])
        return masses

    def _bounded(
        self, masses: tuple[Mass, ...], settings: Settings, place: Array
    ) -> tuple[Mass, ...]:
        """Mass and principal moments of a body, raised to their bounds and made possible ones."""
        total = sum(m.mass for m in masses)
        if total > LEAST:
            place = centre_of(masses)
        moments, axes = np.linalg.eigh(inertia_about(masses, place))
        bounded = np.maximum(moments, settings.least_inertia)
        if settings.balanced and bounded.sum() < 2 * bounded.max():
            bounded = np.full(3, bounded.mean())
        if (bounded == moments).all() and total >= settings.least_mass:
            return masses
        inertia = axes @ np.diag(bounded) @ axes.T
        return (Mass(max(total, settings.least_mass), place, inertia),)

    def _inertial(self, element: Any) -> tuple[Mass, ...]:
        mjcf = self.mjcf
        T = mjcf.placement(element)
        full = mjcf.numbers(element, "fullinertia", None, 6)
        diagonal = mjcf.numbers(element, "diaginertia", None, 3)
        if full is not None and (T[:3, :3] != mjcf.around(element)[:3, :3]).any():
            mjcf.fault("<inertial> has fullinertia, and so no rotation of its own", element)
        if full is not None:
            xx, yy, zz, xy, xz, yz = full
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            tensor = np.diag(diagonal or [0.0, 0.0, 0.0])
        R = T[:3, :3]
        return (Mass(mjcf.number(element, "mass"), T[:3, 3], R @ tensor @ R.T),)

    def _geoms(self, element: Any) -> tuple[Mass, ...]:
        low, high = self.mjcf.setting(element).groups
        masses = [
            self._geom(geom) for geom in self.mjcf.inside(element, "geom")
            if low <= self.mjcf.number(geom, "group") <= high
        ]  # fmt: skip
        return tuple(mass for mass in masses if mass is not None)

    def _geom(self, element: Any) -> Mass | None:
        mjcf = self.mjcf
        kind = mjcf.get(element, "type") or "sphere"
        weights = {
            key: mjcf.number(element, key) for key in ("mass", "density")
            if mjcf.get(element, key) is not None
        }  # fmt: skip
        if any(x < 0 for x in weights.values()):
            mjcf.fault(f"the {' and the '.join(weights)} of a geom must not be negative", element)
        if not weights.get("mass", weights.get("density", 1.0)):
            return None
        mesh = mjcf.get(element, "mesh")
        if mesh is not None or kind in ("mesh", "sdf"):
            return self._mesh(element, kind, mesh or "", weights)
        size, placement = sized(mjcf, element, kind)
        if kind not in SIZES:
            words = f"a geom of type '{shown(kind)}' weighs nothing: give its body an <inertial>"
            mjcf.fault(words, element)
        elif len(size) < SIZES[kind] or min(size[: SIZES[kind]]) <= 0:
            mjcf.fault(f"a {kind} has {SIZES[kind]} positive sizes", element)
        else:
            hollow = mjcf.is_true(element, "shellinertia")
            return geom_mass(kind, size, weights, placement, hollow)
        return None

    def _mesh(self, element: Any, kind: str, mesh: str, weights: dict[str, float]) -> Mass | None:
        """What a mesh weighs, or a primitive that is fitted to it."""
        mjcf = self.mjcf
        placement = mjcf.placement(element)
        try:
            solid = self.meshes.solid(mesh)
            if kind in ("mesh", "sdf"):
                density = weights.get("density", DENSITY)
                mass = weights["mass"] if "mass" in weights else density * solid.volume
                return solid.mass(mass, placement) if mass > LEAST else None
            size, own = solid.fitted(kind, mjcf.setting(element).fits_bounds)
        except InputError as error:
            kind = "bodies that move have mass in meshes which is not known: give them <inertial>"
            mjcf.remark(
                kind, mjcf.body_of(element) or mesh, element, "error", f"'{shown(mesh)}': {error}"
            )
            return None
        scale = mjcf.number(element, "fitscale", 1.0)
        size, hollow = [scale * x for x in size], mjcf.is_true(element, "shellinertia")
        return geom_mass(kind, size, weights, placement @ own, hollow)

    def _scale(self) -> None:
        """The masses of all bodies together are what the file says."""
        wanted = self.mjcf.setting(self.mjcf.root).total_mass
        if wanted <= 0:
            return
        masses = [*self.scenery, *(m for body in self.bodies for m in body.masses)]
        k = wanted / (sum(m.mass for m in masses) or 1.0)
        for i, body in enumerate(self.bodies):
            scaled = tuple(Mass(k * m.mass, m.centre, k * m.inertia) for m in body.masses)
            self.bodies[i] = replace(body, masses=scaled)

    def _oscillate(self) -> None:
        """Springs and damping by time constants, which need the inertia of the whole robot."""
        if not self.oscillators:
            return
        mjcf = self.mjcf
        if len(self.bodies) > _MOST_COUPLED:
            words = f"springdamper is read of at most {_MOST_COUPLED} joints: give their damping"
            mjcf.fault(words, mjcf.root)
            return
        weight = weights(self.bodies, self.drawn, self.floating is not None)
        for i, body in enumerate(self.bodies):
            if not i or body.joint.name not in self.oscillators:
                continue
            (time, ratio, rest), joint = self.oscillators[body.joint.name], body.joint
            if not self.mjcf.off("damper"):
                damping = 2 * weight[joint.name] / time + float(number(joint.FV) or 0)
                joint = replace(joint, FV=decimal_value(damping, 0.0))
            if not self.mjcf.off("spring"):
                spring = decimal_value(weight[joint.name] / (time * ratio) ** 2, 0.0)
                joint = replace(joint, spring=spring, neutral=decimal_value(rest, 0.0))
            self.bodies[i] = replace(body, joint=joint)

    def placements(self) -> list[Array]:
        """Where the bodies are when all joints are at zero, or where they are held."""
        held = locked(self.mjcf, [body.joint for body in self.bodies], self.refs)
        places: list[Array] = []
        for body, joint in zip(self.bodies, held, strict=True):
            turn, slide = (float(number(x) or 0) for x in (joint.theta, joint.r))
            R = about(body.axis, turn)
            point = np.zeros(3) if body.point is None else body.point
            step = body.placement @ frame(R, point - R @ point + slide * body.axis)
            places.append(step if body.parent < 0 else places[body.parent] @ step)
        return places

    # the robot

    def robot(self, file: str) -> Robot:
        placed = Placed.of(self.bodies, self.mjcf.fault, self.refs)
        loops = Closures(self.mjcf, self.place, self.sites).loops(placed)
        joints = locked(self.mjcf, placed.joints, self.refs)
        drives = self.drives
        couplings = couplings_of(self.mjcf, joints, self.refs, drives)
        if loops:
            free = {joint.name for joint in joints if joint.sigma != FIXED} - {*couplings}
            inside = within_loops(joints, loops)
            loose = {joint.name for joint in joints if not (joint.name in inside or joint.spring)}
            driven = free & (drives.driven | drives.pulled | loose)
            joints = [tied(joint, joint.name in driven, joint.name in free) for joint in joints]
        joints = coupled(joints, couplings)
        if loops:
            joints = balanced(placed, joints, loops, self._tell)
        base, g = Base(link=placed.root), self.gravity()
        if self.floating is not None:
            T = self.floating[0]
            Z = tuple(decimal_value(float(x), 0.0) for x in T.ravel())
            base = replace(base, kind="floating", Z=Z)
            g = (T[:3, :3].T @ np.array(g)).tolist()
        return Robot(
            self.mjcf.root.get("model") or "MuJoCo model", tuple(placed.links), tuple(joints),
            tuple(loops), base, tuple(decimal_value(x, 1e-15) for x in g), file,
            frames=named_frames(self.bodies, self._frames()), end_effector=self._end_effector(),
            drives=shared_drives(self.mjcf, joints, drives),
        )  # fmt: skip

    def _tell(self, words: str, joint: str) -> None:
        self.mjcf.remark(words, joint, self.mjcf.root)

    def _end_effector(self) -> str:
        """What <custom> names, else the body at the end of the longest path."""
        place = self.place
        for text in self.mjcf.root.iterfind("custom/text"):
            if text.get("name") == "end_effector" and text.get("data") in {*place, *self.sites}:
                return str(text.get("data"))
        return longest_path(
            (name, above, 0 < place[name][0] != place[above][0])
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

    def gravity(self) -> list[float]:
        """In the world; the last <option> that gives it holds."""
        g = [0.0, 0.0, -9.81]
        for option in self.mjcf.root.findall("option"):
            g = self.mjcf.numbers(option, "gravity", g, 3) or g
        return [0.0, 0.0, 0.0] if self.mjcf.off("gravity") else g


def sized(mjcf: Mjcf, element: Any, kind: str) -> tuple[list[float], Array]:
    """The sizes of a geom and its placement in its body, also where it is given by its ends."""
    size = mjcf.numbers(element, "size", ()) or []
    ends = mjcf.numbers(element, "fromto", None, 6)
    if ends is None:
        return size, mjcf.placement(element)
    start, end = np.array(ends[:3]), np.array(ends[3:])
    R = along(start - end)
    half = float(np.linalg.norm(end - start)) / 2
    size = [*size[:1], half] if kind in ("capsule", "cylinder") else [*size[:1] * 2, half]
    own = frame(np.eye(3) if R is None else R, (start + end) / 2)
    return size, mjcf.around(element) @ own
