"""USD files with UsdPhysics (Isaac Sim, Newton, Omniverse) -> `Robot` in Khalil's notation.

Rigid bodies are links and physics joints their joints, which become those of a URDF, whose reader
does the rest. A joint's position is zero where its two frames coincide, wherever the bodies are
drawn. Joints that the articulation excludes, and those between links that hang together already,
close loops. Spherical joints become three hinges NAME_1 .. NAME_3, and joints of six limits
(PhysicsJoint) the slides and hinges that these leave free. Bodies that no joint ties to the world
float. What has a drive or an actuator is driven, where the robot has loops; gains of drives belong
to a controller, and no model has them. Armature, damping and friction are read of the words that
PhysX, Newton and MuJoCo add. The whole stage is read in metres, kilograms and radians, its axes as
they are: gravity lies along -y of a stage with y up."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra.so3 import about
from ...errors import Fault
from ..check import completed
from ..closures import along_axis
from ..frames import Array, decimal_value, frame, inverse
from ..robot import Robot
from ..urdf.elements import Elements, JointElement, LinkElement, Mimic
from ..urdf.graph import chain, rod_axes, trees, turned, weld
from ..urdf.loops import LoopElement
from ..urdf.read import robot_of
from ..xml.source import MOST_JOINTS, NO_LIMIT, Source, shown, summaries
from .masses import Masses
from .stage import library, number, opened, placement, quiet, rotation, vector

_G = 9.81
_UNIT = {"X": np.array([1.0, 0, 0]), "Y": np.array([0, 1.0, 0]), "Z": np.array([0, 0, 1.0])}
_FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
_DRIVES = ("angular", "linear", *_FREEDOMS)
# per radian, as MuJoCo has it, or per degree as USD does
_ARMATURE = ("newton:armature", "physxJoint:armature", "mjc:armature")
_FRICTION = ("newton:friction", "mjc:frictionloss")
_EFFORT = ("newton:effortLimit", "urdf:limit:effort")
_VELOCITY = ("newton:velocityLimit", "physxJoint:maxJointVelocity")
_LEFT_OUT = ("physxJoint:jointFriction", "mjc:springdamper")
_SITES = ("MjcSiteAPI", "NewtonSiteAPI")
_STACKED = "newton:jointsAddMobility"
_WAY = "give the joints that are driven a PhysicsDriveAPI"


def read_usd(
    data: bytes | None, path: Path, file: str = "", *, body: str = "", fixed: str = "merge",
    trusted: bool = False,
) -> tuple[Robot | None, list[Fault]]:  # fmt: skip
    """The robot of a USD file, or of the text of one, and every fault found; body: the one of
    several that is read. trusted: layers outside the folder of the file may be opened."""
    source = Source(file)
    robot = None
    with quiet():
        stage = opened(data, source, path, trusted)
        if stage is not None:
            from pxr import Tf

            try:
                robot = _Reader(source, stage).robot(body, fixed == "merge")
            except Tf.ErrorException as error:
                why = str(error).rpartition(" : ")[2].strip().strip("'")
                source.fault(f"the library of USD does not read it: {shown(why)}")
    if robot is None or source.failed:
        return None, source.faults
    return completed(robot, source.faults, file)


@dataclass(eq=False)
class _Reader:
    """A stage that is being read: its rigid bodies and joints, by the path of their prims."""

    source: Source
    stage: Any
    bodies: dict[str, Any] = field(default_factory=dict)
    joints: list[Any] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # of prims, by path
    refs: dict[str, float] = field(default_factory=dict)  # positions where the frames coincide
    of_mujoco: set[str] = field(default_factory=set)  # joints
    excluded: set[str] = field(default_factory=set)  # joints that articulations leave out

    def __post_init__(self) -> None:
        _, _, Usd, UsdGeom, UsdPhysics, _ = library()
        self.metre = UsdGeom.GetStageMetersPerUnit(self.stage)
        self.kilogram = UsdPhysics.GetStageKilogramsPerUnit(self.stage)
        self.cache = UsdGeom.XformCache()
        self.remarks: dict[str, list[Fault]] = {}
        self.driven: set[str] = set()
        prims = Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())
        self.prims = [prim for prim in prims if not prim.IsPseudoRoot()]
        self.scenes = [prim for prim in self.prims if prim.IsA(UsdPhysics.Scene)]
        self.masses = Masses(
            self.metre, self.kilogram, self.matrix, self.source.fault,
            lambda words, prim: self.remark(words, prim),
        )  # fmt: skip

    def remark(self, words: str, prim: Any) -> None:
        name = shown(prim.GetName())
        place = Fault("", self.source.file, 0, "", "warning", (name,))
        self.remarks.setdefault(words, []).append(place)

    def robot(self, body: str, merge: bool) -> Robot | None:
        if not 1e-9 < self.metre < 1e9 or not 1e-9 < self.kilogram < 1e9:
            self.source.fault("metersPerUnit and kilogramsPerUnit are lengths and masses above 0")
            return None
        self.find()
        if len(self.bodies) + len(self.joints) > MOST_JOINTS:
            self.source.fault(f"at most {MOST_JOINTS} bodies and joints are read")
            return None
        self.names = {**_names(self.bodies.values()), **_names(self.joints)}
        joints = [x for prim in self.joints for x in self.joint(prim)]
        chosen = None if self.source.failed else self.chosen(joints, body)
        robot = None if chosen is None else self.tree(chosen, joints, merge)
        self.source.faults += summaries(self.remarks)
        return robot

    def find(self) -> None:
        """The bodies that move and the joints that act; which of these have a drive."""
        _, _, _, _, UsdPhysics, _ = library()
        actuators = []
        for prim in self.prims:
            kind = str(prim.GetTypeName())
            if prim.HasAPI(UsdPhysics.RigidBodyAPI):
                api = UsdPhysics.RigidBodyAPI(prim)
                still = api.GetKinematicEnabledAttr().Get() is True
                if still or api.GetRigidBodyEnabledAttr().Get() is False:
                    self.remark("bodies that are kinematic or not enabled stand still", prim)
                else:
                    self.bodies[str(prim.GetPath())] = prim
            if prim.IsA(UsdPhysics.Joint):
                if UsdPhysics.Joint(prim).GetJointEnabledAttr().Get() is False:
                    self.remark("joints that are not enabled are left out", prim)
                else:
                    self.joints.append(prim)
                    if any(prim.HasAPI(UsdPhysics.DriveAPI, name) for name in _DRIVES):
                        self.driven.add(str(prim.GetPath()))
            elif "Actuator" in kind:
                actuators.append(prim)
            elif "Joint" in kind or "Gear" in kind or "Equality" in kind:
                words = f"<{shown(kind)}> is left out: what it ties moves freely"
                self.remark(words.replace("<", "").replace(">", ""), prim)
        for prim in actuators:
            self.driven |= self.targets(prim, 3)

    def targets(self, prim: Any, depth: int) -> set[str]:
        """The prims that an actuator drives, itself or by a tendon."""
        paths = set()
        for relation in prim.GetRelationships():
            for path in relation.GetForwardedTargets():
                paths.add(str(path))
                target = self.stage.GetPrimAtPath(path)
                if depth and target and "Tendon" in str(target.GetTypeName()):
                    paths |= self.targets(target, depth - 1)
        return paths

    # places

    def matrix(self, prim: Any, body: Any) -> Array:
        """The own matrix of a prim in the frame of a body, both in units of the stage."""
        T, _ = placement(self.cache.GetLocalToWorldTransform(body), 1.0)
        M = np.array(self.cache.GetLocalToWorldTransform(prim), dtype=float).T
        return np.asarray(inverse(T) @ M)

    def pose(self, prim: Any) -> Array:
        """The frame of a prim in the world."""
        return placement(self.cache.GetLocalToWorldTransform(prim), self.metre)[0]

    def end(self, prim: Any, k: int) -> tuple[str, Array]:
        """A joint's end: the path of the body, "" of the world, and the joint's frame in it."""
        targets = prim.GetRelationship(f"physics:body{k}").GetForwardedTargets()
        position = vector(prim.GetAttribute(f"physics:localPos{k}"), self.source.fault)
        R = rotation(prim.GetAttribute(f"physics:localRot{k}"), self.source.fault)
        position = np.zeros(3) if position is None else position * self.metre
        R = np.eye(3) if R is None else R
        at = self.stage.GetPrimAtPath(targets[0]) if targets else None
        if targets and not at:
            words = f"joint '{self.name(prim)}' holds '{shown(targets[0])}', which is not there"
            self.source.fault(words)
        if not at:
            return "", frame(R, position)
        scale = placement(self.cache.GetLocalToWorldTransform(at), self.metre)[1]
        F, owner = frame(R, scale @ position), at
        while owner and str(owner.GetPath()) not in self.bodies:
            owner = owner.GetParent()
        if not owner:
            return "", np.asarray(self.pose(at) @ F)
        if owner == at:
            return str(owner.GetPath()), F
        return str(owner.GetPath()), np.asarray(inverse(self.pose(owner)) @ self.pose(at) @ F)

    # joints

    def name(self, prim: Any) -> str:
        return self.names.get(str(prim.GetPath()), shown(prim.GetName()))

    def joint(self, prim: Any) -> list[JointElement]:
        """A joint between two links, as joints of one freedom or a ball joint; none if it holds
        nothing."""
        (parent, F0), (child, F1) = (self.end(prim, k) for k in (0, 1))
        if parent == child:
            self.remark("joints whose two ends are one body are left out", prim)
            return []
        parts = self.parts(prim)
        kinds = [kind for kind, *_ in parts]
        ball = kinds == ["revolute"] * 3
        if kinds.count("revolute") == 2:
            words = "joints of two turns turn about x, y, z in this order, which is nowhere said"
            self.remark(words, prim)
        name, line = self.name(prim), 0
        ends = [self.names.get(path, "world") for path in (parent, child)]
        kind = "ball" if ball else kinds[0] if len(kinds) == 1 else "fixed"
        joint = JointElement(
            name, line, kind, ends[0], ends[1], F0 @ inverse(F1), F1[:3, 0], point=F1[:3, 3],
        )  # fmt: skip
        if len(kinds) == 6:  # nothing is held
            return []
        joints = [joint]
        if ball:
            joints = [replace(self.with_values(joint, prim, parts[0][2], ""), mimic=None)]
            if any(joints[0].drive.values()):
                words = "armature, damping and friction of ball joints are taken as those of three"
                self.remark(f"{words} hinges", prim)
        elif parts:
            axes = [(kind, np.asarray(F1[:3, :3] @ _UNIT[axis])) for kind, axis, _, _ in parts]
            joints = chain(joint, axes) if len(axes) > 1 else [replace(joint, axis=axes[0][1])]
            joints = [
                self.with_values(one, prim, limits, drive)
                for one, (_, _, limits, drive) in zip(joints, parts, strict=True)
            ]
        if "MjcJointAPI" in _schemas(prim):
            self.of_mujoco |= {joint.name for joint in joints}
        if prim.GetAttribute("physics:excludeFromArticulation").Get() is True:
            self.excluded |= {joint.name for joint in joints}
        if not child:
            joints = [turned(joint) for joint in reversed(joints)]
        return joints

    def parts(self, prim: Any) -> list[_Part]:
        """The freedoms of a joint."""
        _, _, _, _, UsdPhysics, _ = library()
        axis = str(prim.GetAttribute("physics:axis").Get() or "X")
        axis = axis if axis in _UNIT else "X"
        own = ("physics:lowerLimit", "physics:upperLimit")
        if prim.IsA(UsdPhysics.RevoluteJoint):
            return [("revolute", axis, own, "angular")]
        if prim.IsA(UsdPhysics.PrismaticJoint):
            return [("prismatic", axis, own, "linear")]
        if prim.IsA(UsdPhysics.SphericalJoint):
            if any((number(prim.GetAttribute(f"physics:coneAngle{k}Limit"), self.source.fault)
                    or -1) >= 0 for k in (0, 1)):  # fmt: skip
                self.remark("the limits of spherical joints are left out", prim)
            return [("revolute", x, own, x) for x in "XYZ"]
        if prim.IsA(UsdPhysics.FixedJoint):
            return []
        if prim.IsA(UsdPhysics.DistanceJoint):
            self.remark("distance joints are left out: what they tie moves freely", prim)
            return [("", "X", own, "")] * 6
        parts: list[_Part] = []
        for key in _FREEDOMS:
            limits = (f"limit:{key}:physics:low", f"limit:{key}:physics:high")
            low, high = (number(prim.GetAttribute(limit), self.source.fault) for limit in limits)
            if low is None or high is None or low <= high:
                kind = "prismatic" if key.startswith("trans") else "revolute"
                parts.append((kind, key[-1], limits, key))
        return parts

    def with_values(
        self, joint: JointElement, prim: Any, limits: tuple[str, str], drive: str
    ) -> JointElement:
        """Limits, drive, friction, spring and what the joint follows, in SI units."""
        turns = joint.type != "prismatic"
        length = 1.0 if turns else self.metre
        inertia = self.kilogram * (self.metre**2 if turns else 1.0)
        effort = self.kilogram * self.metre * (self.metre if turns else 1.0)
        angle = math.pi / 180 if turns else length

        def value(*keys: str) -> float | None:
            for key in keys:
                x = number(prim.GetAttribute(key), self.source.fault)
                if x is not None:
                    return x
            return None

        held: dict[str, float] = {}
        for key, name, unit in (
            ("lower", (limits[0],), angle), ("upper", (limits[1],), angle),
            ("effort", (f"drive:{drive}:physics:maxForce", *_EFFORT), effort),
            ("velocity", _VELOCITY, angle),
        ):  # fmt: skip
            x = value(*name)
            if x is not None and abs(x) < NO_LIMIT and (key in ("lower", "upper") or x >= 0):
                held[key] = x * unit if float(f"{x:.4g}") == x else _short(x * unit)
        if held.get("lower", -math.inf) > held.get("upper", math.inf):
            self.remark("lower limits above the upper ones: none is read", prim)
            held.pop("lower"), held.pop("upper")
        damping = _short((value("newton:damping") or 0.0) * effort / angle)
        damping = damping or (value("mjc:damping") or 0.0)
        for key in _LEFT_OUT:
            if any(np.ravel(prim.GetAttribute(key).Get() or 0)):
                self.remark(f"{key} is left out", prim)
        stiffness = value("mjc:stiffness") or 0.0
        self.refs[joint.name] = self.rest(prim, "mjc:ref", turns)
        own = {
            "FV": damping, "FS": (value(*_FRICTION) or 0.0) * effort,
            "IA": (value(*_ARMATURE) or 0.0) * inertia, "spring": stiffness,
            "neutral": self.rest(prim, "mjc:springref", turns) if stiffness else 0.0,
        }  # fmt: skip
        return replace(joint, limits=held, drive=own, mimic=self.mimic(prim, angle))

    def rest(self, prim: Any, key: str, turns: bool) -> float:
        """A position of MuJoCo, which its compiler's setting has in degrees or radians."""
        units = {str(x.GetAttribute("mjc:compiler:angle").Get()) for x in self.scenes
                 if x.GetAttribute("mjc:compiler:angle")}  # fmt: skip
        rest = number(prim.GetAttribute(key), self.source.fault) or 0.0
        return math.radians(rest) if turns and "radian" not in units else rest

    def mimic(self, prim: Any, angle: float) -> Mimic | None:
        """Newton's q = coef0 + coef1 q', or PhysX's q + gearing q' + offset = 0."""
        ways = [("newton:mimicJoint", "newton:mimicCoef1", "newton:mimicCoef0", 1.0)]
        for axis in _FREEDOMS:
            start = f"physxMimicJoint:{axis}:"
            ways.append((f"{start}referenceJoint", f"{start}gearing", f"{start}offset", -1.0))
        for relation, ratio, offset, sign in ways:
            targets = prim.GetRelationship(relation).GetForwardedTargets()
            if targets and prim.GetAttribute("newton:mimicEnabled").Get() is not False:
                one, zero = (
                    number(prim.GetAttribute(key), self.source.fault) for key in (ratio, offset)
                )
                leader = self.names.get(str(targets[0]), shown(targets[0]))
                one = 1.0 if one is None else one
                return Mimic(leader, sign * one, sign * (zero or 0.0) * angle)
        return None

    # the robot

    def chosen(self, joints: list[JointElement], body: str) -> tuple[str, set[str]] | None:
        """Name and links of the robot: the only bodies that joints move, or those named."""
        groups: list[set[str]] = []
        for path in self.bodies:
            if all(self.names[path] not in group for group in groups):
                groups.append(_connected(self.names[path], joints))
        moving = [
            group for group in groups
            if any(x.type != "fixed" and {x.parent, x.child} & group for x in joints)
        ] or groups  # fmt: skip
        names = [self.label(group) for group in groups]
        picked = [
            group for group, name in zip(groups, names, strict=True)
            if name == body or body in group
        ] if body else moving  # fmt: skip
        if len(picked) == 1:
            for path, prim in self.bodies.items():
                if self.names[path] not in picked[0]:
                    self.remark("bodies beside the robot are left out; body= reads one", prim)
            return names[groups.index(picked[0])], picked[0]
        listed = ", ".join(f"'{names[groups.index(group)]}'" for group in moving[:8])
        if body:
            words = f"there is no robot '{shown(body)}' in the stage: there are {listed or 'none'}"
        elif moving:
            example = names[groups.index(moving[0])]
            words = f"the stage holds {len(moving)} robots, {listed}: name the one to read,"
            words += f" load(path, body='{example}') or --body {example}"
        else:
            words = "no prim of the stage has a PhysicsRigidBodyAPI: open the file of a robot with"
            words += " its physics"
        self.source.fault(words)
        return None

    def label(self, group: set[str]) -> str:
        """The name of the articulation, or else of the first body."""
        api = library()[4].ArticulationRootAPI
        roots = _names(prim for prim in self.prims if prim.HasAPI(api))
        for path in self.bodies:
            if self.names[path] not in group:
                continue
            for own, name in roots.items():
                if path == own or path.startswith(f"{own}/"):
                    return self.names.get(own, name)
        return next(name for path in self.bodies if (name := self.names[path]) in group)

    def tree(
        self, chosen: tuple[str, set[str]], joints: list[JointElement], merge: bool
    ) -> Robot | None:
        """The links and joints as those of a URDF."""
        from lxml import etree

        name, group = chosen
        own = [joint for joint in joints if {joint.parent, joint.child} & group]
        stacked = any(
            x.GetAttribute(_STACKED).Get() for x in self.prims if x.HasAttribute(_STACKED)
        )
        inner = [
            joint for joint in own if joint.name not in self.excluded
            and (stacked or joint.name in self.of_mujoco)
        ]  # fmt: skip
        serial = _one_after_another(inner)
        own = [serial.get(joint.name, joint) for joint in own]
        own = [_shifted(joint, self.refs.get(joint.name, 0.0)) for joint in own]
        own.sort(key=lambda joint: joint.name in self.excluded)
        links = [
            LinkElement(self.names[path], 0, self.masses.of(prim, self.is_body))
            for path, prim in self.bodies.items() if self.names[path] in group
        ]  # fmt: skip
        tied = any("world" in (joint.parent, joint.child) for joint in own)
        tree, closing = trees(own, "" if tied else self.root(group, own))
        joints = []
        for joint in tree:
            parts = [joint]
            if joint.type == "ball":
                axes = rod_axes(joint, closing).T
                parts = chain(joint, [("continuous", axis) for axis in axes])
            joints += parts
        known = {link.name for link in links} | {"world"}
        between = [x for joint in joints for x in (joint.parent, joint.child) if x not in known]
        links += [LinkElement(link, 0) for link in dict.fromkeys(between)]
        urdf = etree.Element("robot", name=name)
        for prim in self.joints:
            if str(prim.GetPath()) in self.driven:
                etree.SubElement(urdf, "joint", name=self.name(prim), independent="true")
        self.frames(links, joints, group)
        default = self.stage.GetDefaultPrim()
        title = _label(default) if default else name
        hanging = {joint.child for joint in joints}
        root = next((link.name for link in links if link.name not in hanging), "world")
        T = np.eye(4) if tied else self.pose(self.bodies[self.path(root)])
        elements = Elements(
            urdf, title, links, joints, [_loop(joint) for joint in closing], self.gravity(T), _WAY
        )
        robot = robot_of(elements, self.source, merge, True)
        if robot is None or tied:
            return robot
        Z = tuple(decimal_value(float(x), 0.0) for x in T.ravel())
        return replace(robot, base=replace(robot.base, kind="floating", Z=Z))

    def is_body(self, prim: Any) -> bool:
        return bool(prim.HasAPI(library()[4].RigidBodyAPI))

    def path(self, name: str) -> str:
        return next(path for path in self.bodies if self.names[path] == name)

    def root(self, group: set[str], joints: list[JointElement]) -> str:
        """The link that leads: an articulation's own, or else one that is no child."""
        names = [self.names[path] for path in self.bodies if self.names[path] in group]
        for name in names:
            if self.bodies[self.path(name)].HasAPI(library()[4].ArticulationRootAPI):
                return name
        children = {joint.child for joint in joints}
        return next((name for name in names if name not in children), names[0])

    def frames(self, links: list[LinkElement], joints: list[JointElement], group: set[str]) -> None:
        """Transforms without any shape, and sites, on the bodies of the robot: links without
        mass."""
        _, _, _, UsdGeom, _, _ = library()
        taken = {link.name for link in links}
        shapes = {str(x.GetPath()) for x in self.prims if x.IsA(UsdGeom.Gprim)}
        full = {path[:k] for path in shapes for k, c in enumerate(path) if c == "/"}
        for prim in self.prims:
            path, schemas = str(prim.GetPath()), _schemas(prim)
            site = any(schema in schemas for schema in _SITES)
            plain = str(prim.GetTypeName()) == "Xform" and path not in full
            owner = prim.GetParent()
            while owner and str(owner.GetPath()) not in self.bodies:
                owner = owner.GetParent()
            if path in self.bodies or not (site or plain) or not owner:
                continue
            link, name = self.names[str(owner.GetPath())], _label(prim)
            if link in group and name not in taken:
                taken.add(name)
                T = inverse(self.pose(owner)) @ self.pose(prim)
                links.append(LinkElement(name, 0))
                joints.append(weld(f"{name}_frame", link, name, T))

    def gravity(self, T: Array) -> tuple[Any, ...]:
        """The acceleration of gravity in the frame of the base."""
        _, _, _, UsdGeom, UsdPhysics, _ = library()
        up = _UNIT.get(str(UsdGeom.GetStageUpAxis(self.stage)), _UNIT["Z"])
        g = -_G * up
        if self.scenes:
            scene = UsdPhysics.Scene(self.scenes[0])
            direction = vector(scene.GetGravityDirectionAttr(), self.source.fault)
            size = number(scene.GetGravityMagnitudeAttr(), self.source.fault)
            if direction is None or not direction.any():
                direction = -up
            size = _G if size is None or size < 0 else size * self.metre
            g = size * direction / np.linalg.norm(direction)
        g = T[:3, :3].T @ g
        largest = float(np.abs(g).max())
        return tuple(0 if abs(x) < 1e-13 * largest else decimal_value(float(x), 0.0) for x in g)


_Part = tuple[str, str, tuple[str, str], str]  # type, axis, its limits, its drive


def _short(x: float) -> float:
    """The shortest decimal of a number of single precision that was multiplied by a unit."""
    shorter = (float(f"{x:.{digits}g}") for digits in range(1, 9))
    return next((y for y in shorter if abs(y - x) <= 1.2e-7 * abs(x)), x)


def _label(prim: Any) -> str:
    return shown(prim.GetMetadata("displayName") or prim.GetName())


def _schemas(prim: Any) -> list[str]:
    """The names of its schemas, those that the library does not know among them."""
    listed = prim.GetMetadata("apiSchemas")
    return [] if listed is None else [str(name) for name in listed.GetAppliedItems()]


def _names(prims: Iterable[Any]) -> dict[str, str]:
    """Short names by path: of prims of one name, with those of the prims above."""
    names: dict[str, str] = {}
    taken = {"world"}
    for prim in prims:
        name, at = _label(prim), prim
        while name in taken and not at.IsPseudoRoot():
            name = at.GetName() if at == prim else f"{at.GetName()}/{name}"
            at = at.GetParent()
        taken.add(name)
        names[str(prim.GetPath())] = name
    return names


def _connected(link: str, joints: list[JointElement]) -> set[str]:
    """A link and those that joints tie to it, not by way of the world."""
    group, size = {link}, 0
    while len(group) > size:
        size = len(group)
        for joint in joints:
            ends = {joint.parent, joint.child} - {"world"}
            if ends & group:
                group |= ends
    return group


def _one_after_another(joints: Iterable[JointElement]) -> dict[str, JointElement]:
    """Joints of one freedom between the same two bodies that move these one after the other."""
    together: dict[tuple[str, str], list[JointElement]] = {}
    for joint in joints:
        if joint.type in ("revolute", "prismatic"):
            together.setdefault((joint.parent, joint.child), []).append(joint)
    serial = {}
    for (parent, child), several in together.items():
        place, above = several[0].placement, parent
        for joint in several:
            below = child if joint is several[-1] else f"{child}_{joint.name}"
            serial[joint.name] = replace(joint, parent=above, child=below, placement=place)
            above, place = below, np.eye(4)
    return serial


def _shifted(joint: JointElement, ref: float) -> JointElement:
    """A joint whose frames coincide at a position that is not zero."""
    if not ref or joint.type == "ball":
        return joint
    R = about(joint.axis, -ref) if joint.type == "revolute" else np.eye(3)
    step = joint.point - R @ joint.point if joint.type == "revolute" else -ref * joint.axis
    return replace(joint, placement=joint.placement @ frame(R, step))


def _loop(joint: JointElement) -> LoopElement:
    """A joint that closes a loop: its frame in both links."""
    T = frame(np.eye(3), joint.point)
    kind = {"continuous": "revolute", "ball": "spherical"}.get(joint.type, joint.type)
    T = along_axis(T, joint.axis) if kind in ("revolute", "prismatic") else T
    ends = (joint.child, joint.parent)
    return LoopElement(joint.name, joint.line, kind, ends, T, joint.placement @ T)
