"""Flexible links as described: a beam, or any body given by the integrals of its shape functions.

A link with `flexible` deforms: its position field in frame j is r0 + Φ_d q_e, [BK13] (3), and its
elastic coordinates q_e join the robot's coordinates after the joint variables, link by link. The
inertial parameters of the link itself (XX .. M) stay what they were: a rigid hub at its root.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .values.expression import Value, divide, multiply, number, power
from .values.parser import to_value

MOTIONS = ("axial", "bending-y", "bending-z", "torsion")
SHAPES = ("elements", "clamped", "pinned", "polynomials")
THEORIES = ("euler-bernoulli", "timoshenko")
AXES = ("x", "y", "z")
LARGEST = 200  # elements or modes of one link

_DAMPING = ("mass_damping", "stiffness_damping", "damping_ratio")
_NUMBERS = (
    "length", "start", "young", "shear", "poisson", "density", "area", "Iy", "Iz", "torsion",
    "ky", "kz", "width", "height", "radius", "thickness",
    *_DAMPING,
)  # fmt: skip
BEAM_KEYS = (
    "kind", *_NUMBERS, "section", "motions", "elements", "shapes", "modes", "theory", "rotary",
    "stiffening", "along",
)  # fmt: skip
_SECTIONS = {
    "rectangle": ("width", "height"),
    "circle": ("radius",),
    "tube": ("radius", "thickness"),
    "given": (),
}


@dataclass(frozen=True)
class Beam:
    """A straight prismatic beam along an axis of frame j, from `start` to `start + length`.

    Section axes follow the beam's axis cyclically (along x: y and z). Iz = ∫y² dA resists bending
    in the plane (axis, y), Iy = ∫z² dA in the plane (axis, z)."""

    length: Value
    young: Value
    density: Value
    area: Value
    Iy: Value = 0
    Iz: Value = 0
    torsion: Value = 0  # Saint-Venant's constant
    shear: Value = 0  # modulus G
    ky: Value = 1  # share of the area that carries shear, Timoshenko
    kz: Value = 1
    start: Value = 0
    along: str = "x"
    motions: tuple[str, ...] = MOTIONS
    elements: int = 1
    shapes: str = "elements"
    modes: int = 2  # shapes per motion, where they are not finite elements
    theory: str = "euler-bernoulli"
    rotary: bool = True  # rotary inertia of the sections in bending
    stiffening: bool = True  # the foreshortening ½∫v'²: a spinning beam stiffens, a strut buckles
    mass_damping: Value = 0  # D = mass_damping M + stiffness_damping K
    stiffness_damping: Value = 0
    damping_ratio: Value = 0  # of every mode of the link clamped at its root

    @property
    def coordinates(self) -> int:
        """Number of elastic coordinates."""
        per_motion = [2 if motion.startswith("bending") else 1 for motion in self.motions]
        if self.shapes == "elements":
            return self.elements * sum(per_motion)
        return self.modes * len(self.motions)

    def values(self) -> Iterator[Value]:
        """The values a model depends on."""
        for f in fields(self):
            value = getattr(self, f.name)
            if not isinstance(value, str | bool | tuple) and f.name not in ("elements", "modes"):
                yield value


@dataclass(frozen=True)
class ElasticPoint:
    """A place where links attach: its position and shape functions (a triple per coordinate)."""

    position: tuple[Value, ...]
    displacement: tuple[tuple[Value, ...], ...]
    rotation: tuple[tuple[Value, ...], ...] = ()


@dataclass(frozen=True)
class ElasticBody:
    """Any flexible body by its shape integrals, [BK13] (4); rows per coordinate k.

    MS_de[k] = ∫φ_k dm, MS_re[k] = ∫r0×φ_k dm; dI[k] (six entries) and ddI[k][l] make the inertia
    I + Σ q_k dI_k + ΣΣ q_k q_l ddI_kl; dMS_re[l][k] the coupling MS_re_k + Σ q_l dMS_re_lk;
    ddMS[k][l] the second-order first moments ½ΣΣ q_k q_l ddMS_kl (geometric stiffening)."""

    mass: Value
    MS: tuple[Value, ...]
    inertia: tuple[Value, ...]
    MS_de: tuple[Any, ...]
    MS_re: tuple[Any, ...]
    M_ee: tuple[Any, ...]
    K_ee: tuple[Any, ...]
    D_ee: tuple[Any, ...] = ()
    dI: tuple[Any, ...] = ()
    ddI: tuple[Any, ...] = ()
    dMS_re: tuple[Any, ...] = ()
    ddMS: tuple[Any, ...] = ()
    points: tuple[ElasticPoint, ...] = ()

    def __post_init__(self) -> None:
        """Lists and arrays become tuples: a description is frozen."""
        for f in fields(self):
            object.__setattr__(self, f.name, _frozen(getattr(self, f.name)))

    @property
    def coordinates(self) -> int:
        """Number of elastic coordinates."""
        return len(self.M_ee)

    def values(self) -> Iterator[Value]:
        """The values a model depends on."""
        for f in fields(self):
            yield from _leaves(getattr(self, f.name))


BODY_KEYS = ("kind", "mass", "MS", "inertia", "MS_de", "MS_re", "M_ee", "K_ee", "D_ee", "dI",
             "ddI", "dMS_re", "ddMS", "points")  # fmt: skip
_POINT_KEYS = ("position", "displacement", "rotation")


def _frozen(item: Any) -> Any:
    item = item.tolist() if hasattr(item, "tolist") else item
    return tuple(map(_frozen, item)) if isinstance(item, list | tuple) else item


def _leaves(item: Any) -> Iterator[Value]:
    if isinstance(item, tuple):
        for part in item:
            yield from _leaves(part)
    elif isinstance(item, ElasticPoint):
        yield from _leaves((item.position, item.displacement, item.rotation))
    else:
        yield item


def read_flexible(reader: Any, table: Any) -> Beam | ElasticBody | None:
    """The `flexible` table of a link; faults go to the reader."""
    if table is None:
        return None
    if not isinstance(table, Mapping):
        reader.report("flexible must be a table { length = ..., ... }", "flexible")
        return None
    kind = reader.text(table, "kind", "beam")
    if kind == "body":
        return _read_body(reader, table)
    if kind != "beam":
        reader.report(f"flexible kind {kind!r:.30}; allowed: beam, body", "flexible")
        return None
    return _read_beam(reader, table)


def _read_beam(reader: Any, table: Mapping[str, Any]) -> Beam | None:
    reader.known(table, BEAM_KEYS)
    before = len(reader.faults)
    x = {key: reader.number(table, key) for key in _NUMBERS if key in table}
    missing = [key for key in ("length", "young", "density") if key not in x]
    if missing:
        reader.report(f"a flexible beam needs {' and '.join(missing)}", "flexible")
        return None
    rest: dict[str, Any] = {
        key: _word(reader, table, key, allowed, default)
        for key, allowed, default in (
            ("shapes", SHAPES, "elements"),
            ("theory", THEORIES, "euler-bernoulli"),
            ("along", AXES, "x"),
        )
    }
    rest["motions"] = _motions(reader, table.get("motions", list(MOTIONS)))
    rest |= {key: _count(reader, table, key, n) for key, n in (("elements", 1), ("modes", 2))}
    rest |= {key: reader.flag(table, key, True) for key in ("rotary", "stiffening")}
    rest |= _section(reader, table, x)
    if len(reader.faults) > before:
        return None
    rest |= {key: x[key] for key in ("ky", "kz", "start", *_DAMPING) if key in x}
    beam = Beam(x["length"], x["young"], x["density"], **rest)
    return beam if _is_complete(reader, beam) else None


def _word(reader: Any, table: Any, key: str, allowed: Sequence[str], default: str) -> str:
    word: str = reader.text(table, key, default)
    if word not in allowed:
        reader.report(f"{key} = {word!r:.30}; allowed: {', '.join(allowed)}", "flexible")
        return default
    return word


def _motions(reader: Any, motions: Any) -> tuple[str, ...]:
    names = [motions] if isinstance(motions, str) else motions
    if not isinstance(names, Sequence) or not names or any(x not in MOTIONS for x in names):
        reader.report(f"motions must be some of: {', '.join(MOTIONS)}", "flexible")
        return MOTIONS
    return tuple(motion for motion in MOTIONS if motion in names)


def _count(reader: Any, table: Any, key: str, default: int) -> int:
    count = table.get(key, default)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= LARGEST:
        reader.report(f"{key} must be a whole number from 1 to {LARGEST}", "flexible")
        return default
    return count


def _section(reader: Any, table: Any, x: dict[str, Value]) -> dict[str, Value]:
    """Area and second moments, given or those of a usual section."""
    default = "given" if "area" in x else "rectangle"
    kind = _word(reader, table, "section", tuple(_SECTIONS), default)
    needed = _SECTIONS[kind] or ("area",)
    lacking = [key for key in needed if key not in x]
    if lacking:
        reader.report(f"a {kind} section needs {' and '.join(lacking)}", "flexible")
        return {"area": 0}
    section = usual_section(kind, x)
    section.update({key: x[key] for key in ("area", "Iy", "Iz", "torsion") if key in x})
    section["shear"] = x.get("shear", 0)
    if "poisson" in x:
        section["shear"] = divide(x["young"], multiply(2, 1 + x["poisson"]))
    return section


def usual_section(kind: str, x: Mapping[str, Value]) -> dict[str, Value]:
    """Area, second moments and torsion constant of a rectangle, a circle, a tube."""
    from ..exact import pi

    if kind == "rectangle":
        b, h = x["width"], x["height"]  # along y and z
        product = multiply(b, h)
        Iz = divide(multiply(product, power(b, 2)), 12)
        Iy = divide(multiply(product, power(h, 2)), 12)
        return {"area": product, "Iy": Iy, "Iz": Iz, "torsion": _rectangle_torsion(b, h)}
    if kind in ("circle", "tube"):
        r = x["radius"]
        inner = r - x["thickness"] if kind == "tube" else 0
        area = multiply(pi, power(r, 2) - power(inner, 2))
        moment = divide(multiply(pi, power(r, 4) - power(inner, 4)), 4)
        return {"area": area, "Iy": moment, "Iz": moment, "torsion": multiply(2, moment)}
    return {"area": x["area"]}


def _rectangle_torsion(b: Value, h: Value) -> Value:
    """Saint-Venant's constant by his series; 3/10 b³h³/(b² + h²) where the sides are symbols."""
    sides = sorted(x for x in (number(b), number(h)) if x is not None)
    if len(sides) < 2 or sides[0] <= 0:
        cubes = multiply(3, multiply(power(b, 3), power(h, 3)))
        return divide(cubes, multiply(10, power(b, 2) + power(h, 2)))
    thin, wide = sides
    series = sum(math.tanh(n * math.pi * wide / (2 * thin)) / n**5 for n in range(1, 40, 2))
    return to_value(wide * thin**3 / 3 * (1 - 192 / math.pi**5 * thin / wide * series))


def _is_complete(reader: Any, beam: Beam) -> bool:
    """Does every motion have the stiffness it needs?"""
    needs = {"bending-y": ("Iz",), "bending-z": ("Iy",), "torsion": ("torsion", "shear")}
    lacking = [
        (motion, key)
        for motion in beam.motions
        for key in needs.get(motion, ())
        if getattr(beam, key) == 0
    ]
    if beam.theory == "timoshenko" and beam.shear == 0:
        lacking.append(("timoshenko", "shear"))
    for motion, key in lacking:
        hint = " (or poisson)" if key == "shear" else ""
        reader.report(f"{motion} needs {key}{hint}; or leave it out of motions", "flexible")
    return not lacking


def _read_body(reader: Any, table: Mapping[str, Any]) -> ElasticBody | None:
    reader.known(table, BODY_KEYS)
    missing = [key for key in ("mass", "MS_de", "MS_re", "M_ee", "K_ee") if key not in table]
    if missing:
        reader.report(f"a flexible body needs {' and '.join(missing)}", "flexible")
        return None
    n = len(table["M_ee"]) if isinstance(table["M_ee"], Sequence) else 0
    shapes = {"MS_de": (n, 3), "MS_re": (n, 3), "M_ee": (n, n), "K_ee": (n, n), "D_ee": (n, n),
              "dI": (n, 6), "ddI": (n, n, 6), "dMS_re": (n, n, 3), "ddMS": (n, n, 3)}  # fmt: skip
    before = len(reader.faults)
    arrays = {
        key: _array(reader, key, table[key], shape)
        for key, shape in shapes.items()
        if _is_given(table.get(key))
    }
    points = tuple(_point(reader, part, n) for part in table.get("points", ()))
    if not n or len(reader.faults) > before:
        return None
    return ElasticBody(
        reader.number(table, "mass"), reader.vector(table, "MS", 3),
        reader.vector(table, "inertia", 6), **arrays, points=points,
    )  # fmt: skip


def _is_given(array: Any) -> bool:
    return array is not None and not (isinstance(array, Sequence) and len(array) == 0)


def _array(reader: Any, key: str, values: Any, shape: tuple[int, ...]) -> Any:
    """Nested tuples of that shape."""
    if not shape:
        return reader.value(key, values)
    good = isinstance(values, Sequence) and not isinstance(values, str) and len(values) == shape[0]
    if not good:
        size = " x ".join(map(str, shape))
        reader.report(f"{key} of the flexible body must be an array {size}", "flexible")
        return ()
    return tuple(_array(reader, key, part, shape[1:]) for part in values)


def _point(reader: Any, table: Any, n: int) -> ElasticPoint:
    if not isinstance(table, Mapping) or not {"position", "displacement"} <= set(table):
        reader.report("each point needs position and displacement", "flexible")
        return ElasticPoint((0, 0, 0), ((0, 0, 0),) * n)
    reader.known(table, _POINT_KEYS)
    rotation = table.get("rotation", [[0, 0, 0]] * n)
    return ElasticPoint(
        reader.vector(table, "position", 3),
        _array(reader, "displacement", table["displacement"], (n, 3)),
        _array(reader, "rotation", rotation, (n, 3)),
    )


def write_flexible(item: Beam | ElasticBody, value: Any, quote: Any) -> list[str]:
    """The lines of the table, for the .toml writer; `value` and `quote` spell TOML values."""

    def spelt(x: Any) -> str:
        if isinstance(x, bool):
            return str(x).lower()
        if isinstance(x, str):
            return str(quote(x))
        if isinstance(x, tuple):
            return f"[{', '.join(map(spelt, x))}]"
        if isinstance(x, ElasticPoint):
            inner = ", ".join(f"{key} = {spelt(getattr(x, key))}" for key in _POINT_KEYS)
            return f"{{ {inner} }}"
        return str(value(x))

    kind = "beam" if isinstance(item, Beam) else "body"
    parts = [f"kind = {quote(kind)}"]
    required = ("length", "young", "density", "area", "mass", "MS", "inertia")
    for f in fields(item):
        x = getattr(item, f.name)
        if f.name in required or x != f.default:
            parts.append(f"{f.name} = {spelt(x)}")
    return ["[link.flexible]", *parts]


def flexible_faults(item: Any, passive_revolute: bool) -> Iterator[str]:
    """What is wrong with a flexible link, however it was made."""
    if not isinstance(item, Beam):
        if not isinstance(item, ElasticBody):
            yield f"flexible is a {type(item).__name__}; allowed: Beam, ElasticBody"
        return
    for key in ("length", "young", "density", "area"):
        size = number(getattr(item, key))
        if size is not None and size <= 0:
            yield f"{key} = {getattr(item, key)} of a flexible beam; it must be positive"
    if item.shapes == "pinned" and not passive_revolute:
        yield (
            "pinned shapes need a passive revolute joint (active = false), whose angle is then"
            " that of the chord; use shapes = 'clamped'"
        )


def flexible_cells(item: Beam | ElasticBody, text: Any) -> tuple[str, ...]:
    """Kind, shapes, length, young, density, motions: a row of a table."""
    if isinstance(item, ElasticBody):
        return ("body", f"{len(item.points)} points", "", "", "", "")
    count = item.elements if item.shapes == "elements" else item.modes
    values = (text(x) for x in (item.length, item.young, item.density))
    return (item.theory, f"{count} {item.shapes}", *values, " ".join(item.motions))
