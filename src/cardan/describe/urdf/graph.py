"""Joints between any two links -> the tree of joints that a URDF would have, and those that close
its loops; joints of several freedoms as hinges that meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...algebra.so3 import along
from ..frames import Array, inverse
from .elements import JointElement

TWO = ("universal", "revolute2")  # hinges, about two axes


def chain(joint: JointElement, parts: Sequence[tuple[str, Array]]) -> list[JointElement]:
    """A joint as joints one after the other, each of a type and along an axis in the frame of the
    child: NAME_1, NAME_2, ..., with links between."""
    joints, parent, placement = [], joint.parent, joint.placement
    title, last = joint.name, joint.child
    for k, (kind, axis) in enumerate(parts, 1):
        name = f"{title}_{k}"
        child = last if k == len(parts) else f"{last}_{name}"
        joint = replace(joint, name=name, type=kind, parent=parent, child=child, axis=axis)
        joints.append(replace(joint, placement=placement))
        parent, placement = child, np.eye(4)
    return joints


def rod_axes(joint: JointElement, closing: Sequence[JointElement]) -> Array:
    """Axes of a ball joint, z along the rod from it to a joint that closes a loop."""
    R = np.eye(3)
    for other in closing:
        for end, point in ((other.child, other.point), (other.parent, in_parent(other))):
            rod = along(point - joint.point) if end == joint.child else None
            R = R if rod is None else rod
    return R


def trees(
    joints: Sequence[JointElement], root: str = ""
) -> tuple[list[JointElement], list[JointElement]]:
    """Joints that hang links on links, and those that close loops. A joint to a link that hangs
    already, from one of another tree, hangs that tree up: the joints above it are turned round.
    root: the link that is to lead its tree."""
    at: dict[str, int] = {}  # of the links, the joints from which they hang
    tree, closing = dict(enumerate(joints)), []

    def above(link: str) -> list[str]:
        """The link, and those from which it hangs."""
        links = [link]
        while links[-1] in at:
            links.append(tree[at[links[-1]]].parent)
        return links

    def hang(link: str) -> None:
        """Make a link the root of its tree."""
        path = above(link)
        ways = [at.pop(name) for name in path[:-1]]
        for way, name in zip(ways, path[1:], strict=True):
            tree[way], at[name] = turned(tree[way]), way

    for k, joint in enumerate(joints):
        links = above(joint.parent)
        if above(joint.child)[-1] == links[-1]:
            closing.append(tree.pop(k))
        elif joint.child in at and links[-1] != "world":
            hang(joint.parent)
            tree[k], at[joint.parent] = turned(joint), k
        else:
            hang(joint.child)
            at[joint.child] = k
    if root:
        hang(root)
    return list(tree.values()), closing


def turned(joint: JointElement) -> JointElement:
    """A joint that hangs its parent on its child, with the same positions."""
    T = joint.placement
    axis, second = (-T[:3, :3] @ x for x in (joint.axis, joint.second))
    first, second = (second, axis) if joint.type in TWO else (axis, second)
    return replace(
        joint, parent=joint.child, child=joint.parent, placement=inverse(T), axis=first,
        second=second, point=in_parent(joint),
    )  # fmt: skip


def in_parent(joint: JointElement) -> Array:
    """The point of the joint's axis in the frame of its parent, with the joint at zero."""
    return np.asarray(joint.placement[:3, :3] @ joint.point + joint.placement[:3, 3])


def weld(name: str, parent: str, child: str, T: Array) -> JointElement:
    return JointElement(name, 0, "fixed", parent, child, T, np.array([0.0, 0.0, 1.0]))
