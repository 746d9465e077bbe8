"""A USD file and the layers that it names -> a composed stage, and its numbers.

Composition is done by Pixar's library, which opens what a layer refers to. So the layers are gone
through before: those outside the folder of the file are refused, unless the user trusts the file,
and those that are missing are named. Single precision is read as the shortest decimal that it is:
0.1f is 0.1, and 0.70710677 of a quaternion the rotation by a quarter turn."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtraError
from ..frames import Array, frame, of_quaternion, roll_pitch_yaw, rotation_of_rpy
from ..xml.source import LARGEST_NUMBER, Source, shown

EXTENSIONS = (".usd", ".usda", ".usdc", ".usdz")
_MOST_LAYERS = 500
_PLACE = re.compile(r":(\d+):\d+: ([^\n]*)")  # in an error of the parser of text
_SNAP = 1e-6  # rad: what quaternions of single precision miss


def library() -> Any:
    """The modules of usd-core."""
    try:
        from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdUtils
    except ImportError:
        raise MissingExtraError.of("usd-core", "usd", "a USD file") from None
    return Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdUtils


@contextmanager
def quiet() -> Iterator[None]:
    """What the library would print is dropped."""
    delegate = library()[5].CoalescingDiagnosticDelegate()
    try:
        yield
    finally:
        delegate.TakeUncoalescedDiagnostics()
        del delegate


def opened(data: bytes | None, source: Source, path: Path, trusted: bool) -> Any:
    """The stage of a file, or of the text of one; None beside a fault. Packed files are opened by
    their path alone: damaged ones make the library ask for any amount of memory."""
    _, Sdf, Usd, _, _, _ = library()
    if data is not None and data.lstrip()[:5] != b"#usda":
        words = "is read by its path alone: open it so, or save it as text, `usdcat -o x.usda`"
        source.fault(f"a packed USD file {words}")
        return None
    try:
        if data is None:
            layer = Sdf.Layer.FindOrOpen(str(path))
        else:
            layer = Sdf.Layer.CreateAnonymous(".usda")
            layer.ImportFromString(data.decode("utf-8", "replace"))
        if layer is None:
            raise InputError("")
        if _dependencies(layer, source, None if data else path.parent, trusted, Sdf):
            return Usd.Stage.Open(layer)
    except Exception as error:  # of the library's own kinds
        where = _PLACE.search(str(error))
        line, why = (int(where[1]), f": {shown(where[2])}") if where else (0, "")
        why = "" if "pxrInternal" in why else why  # a rule of its grammar
        words = f"it is no USD file that can be read{why}"
        source.fault(words if where else f"{words}: export it again as .usda, which is text", line)
    return None


def _dependencies(layer: Any, source: Source, folder: Path | None, trusted: bool, Sdf: Any) -> bool:
    """May every layer be opened that a layer and those below it name?"""
    inside = None if folder is None else os.path.realpath(folder)
    layers, names = [layer], {layer.identifier}
    missing: list[str] = []
    while layers:
        layer = layers.pop()
        for asset in layer.GetCompositionAssetDependencies():
            name = Sdf.ComputeAssetPathRelativeToLayer(layer, asset) if asset else ""
            if name and not os.path.isabs(name) and inside is not None:  # it is nowhere
                name = os.path.join(os.path.dirname(layer.realPath), name)
            if not name or name in names:
                continue
            names.add(name)
            if inside is None:
                words = "is needed: open the main file by its path, beside that one"
                source.fault(f"'{shown(asset)}' {words}")
                return False
            real = os.path.realpath(name.partition("[")[0])
            if not trusted and not Path(real).is_relative_to(inside):
                source.fault(
                    f"'{shown(asset)}' is not in the folder of the file: put it there, or, where"
                    " you trust the file, load(path, trust_includes=True) or --trust-includes"
                )
                return False
            below = Sdf.Layer.FindOrOpen(name) if os.path.isfile(real) else None
            if below is None:
                missing.append(shown(asset))
            elif len(names) > _MOST_LAYERS:
                source.fault(f"more than {_MOST_LAYERS} layers are named")
                return False
            else:
                layers.append(below)
    if missing:
        listed = ", ".join(f"'{name}'" for name in missing[:5])
        source.fault(f"files that it names are not there: {listed}; put them beside it")
    return not missing


def number(attribute: Any, fault: Callable[[str], None]) -> float | None:
    """A finite number of an attribute; None where there is none, or an infinite one."""
    value = attribute.Get() if attribute else None
    if isinstance(value, bool) or not isinstance(value, int | float) or np.isinf(value):
        return None
    return _finite(np.array([value]), attribute, fault)[0]


def vector(attribute: Any, fault: Callable[[str], None]) -> Array | None:
    """Three finite numbers of an attribute; None where there are none, or infinite ones."""
    values = array(attribute.Get() if attribute else None, fault, attribute)
    if values.shape != (3,) or np.isinf(values).any():
        return None
    return np.array(_finite(values, attribute, fault))


def array(value: Any, fault: Callable[[str], None], attribute: Any) -> Array:
    """The numbers of a value, which may be of any kind."""
    try:
        return np.array([] if value is None else value, dtype=float)
    except (TypeError, ValueError):
        name, prim = attribute.GetName(), attribute.GetPrim().GetName()
        fault(f"{shown(name)} of '{shown(prim)}' holds no numbers")
        return np.zeros(0)


def rotation(attribute: Any, fault: Callable[[str], None]) -> Array | None:
    """The rotation of a quaternion; None of no or a zero one."""
    value: Any = attribute.Get() if attribute else None
    if value is None or not hasattr(value, "GetImaginary"):
        return None
    quaternion = [value.GetReal(), *value.GetImaginary()]
    size = float(np.linalg.norm(_finite(np.array(quaternion), attribute, fault)))
    if size < 1e-10:
        return None
    return snapped(of_quaternion([x / size for x in quaternion]))


def snapped(R: Array) -> Array:
    """A rotation of single precision; at pitch ±π/2 roll is nothing."""
    rpy = roll_pitch_yaw(R)
    if math.hypot(R[0, 0], R[1, 0]) < _SNAP:
        rpy = (0.0, math.copysign(math.pi / 2, -R[2, 0]), math.atan2(-R[0, 1], R[1, 1]))
    return rotation_of_rpy(rpy, _SNAP)


def _finite(values: Array, attribute: Any, fault: Callable[[str], None]) -> list[float]:
    kind = str(attribute.GetTypeName())
    single = "float" in kind or kind.rstrip("[]").endswith(("f", "h"))
    numbers = [float(str(np.float32(x))) if single else float(x) for x in values]
    if not all(abs(x) <= LARGEST_NUMBER for x in numbers):
        name, prim = attribute.GetName(), attribute.GetPrim().GetName()
        fault(f"{shown(name)} of '{shown(prim)}' is not a finite number")
        return [0.0] * len(numbers)
    return numbers


def placement(matrix: Any, unit: float) -> tuple[Array, Array]:
    """(rigid placement, scale) of a matrix of the library, which has its vectors in rows. The
    scale, also a shear or a mirror, stands before the rotation."""
    M = np.array(matrix, dtype=float).T
    A = M[:3, :3]
    U, sizes, V = np.linalg.svd(A)
    R = U @ V
    if np.linalg.det(R) < 0:
        R = -R
    R = snapped(R) if sizes.min() > 0 else np.eye(3)
    return frame(R, M[:3, 3] * unit), R.T @ A
