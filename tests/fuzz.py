"""Fuzz the readers: mutated formulas and files end in a CardanError or a valid robot, quickly.

    python -m tests.fuzz --expressions 100000 --files 20000 --tables 2000 --seed 0

Nothing but that may happen: another exception, a case over one second of CPU, or any access to a
file, a process or the network (an audit hook forbids it after set-up) ends the run with the case
printed. Tables of numbers (.npz, .parquet, .arrow, .csv, .mat) are files and are read as such: they
end in a CardanError or in columns.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cardan.describe.bundled import robots, snake
from cardan.describe.dh.tables import COLUMNS, read_dh_table
from cardan.describe.files import dumps, load, read_bytes
from cardan.describe.show import as_text
from cardan.describe.values.parser import parse
from cardan.describe.values.units import parse_quantity
from cardan.errors import CardanError

SLOWEST = 1.0
FORMATS = ("toml", "par", "symoro+", "urdf", "xml", "xacro", "sdf", "usda", "csv")
FORBIDDEN = ("open", "exec", "compile", "os.", "subprocess", "socket", "shutil", "urllib", "ctypes")

EXPRESSIONS = [
    "-a + q2", "d12*cos(g12)", "-Pi/2 + q2", "atan2(a, -b)/3", "sqrt(x^2 + y**2)", "1.5e-8*L1",
    "(a + b)*(c - d)/(2*pi)", "x^-2 + x^(1/2)", "min(a, max(b, 3))", "-(-(-x))", "2^3^2", "E*I/N",
    "sin(pi/6) + cos(-pi/3)*tan(t)", "0.1 + 0.2", "1/3 - 22/7*pi", "90 deg", "431.8 mm", "3 kg*m^2",
    "abs(sign(x) - asin(0.5))", "1 + pi", "9^64*9^64", "1e308/1e-308", "((((((x))))))",
]  # fmt: skip
TOKENS = [
    "+", "-", "*", "/", "^", "**", "(", ")", ",", "pi", "Pi", "x", "q1", "sin(", "atan2(", "0", "1",
    "0.5", "64", "1e308", "1e-330", "9" * 50, " ", ".", "e", "é", "\n", "nan", "inf", "{", "}", "=",
    '"', "'", "[", "]", "[[link]]\n", "(*", "*)", "#", "<", ">", "&", "\\", "-1", "2", "true",
    "__import__('os')", "1_000", "${", "$(find x)", "$(arg n)",
    "${m}", "xacro:", "\x00", "\ud83d".encode("utf-8", "replace").decode(), "deg", "mm",
]  # fmt: skip


MJCF = [
    """<mujoco model="m"><compiler settotalmass="9" boundmass="0.1" balanceinertia="true"/>
    <option density="1"><flag gravity="disable"/></option><default><joint damping="1 2"/>
    <default class="c"><geom type="capsule" size="0.1 0.2"/><motor armature="1" gear="2"/></default>
    </default><asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="1 -1 2"/></asset>
    <worldbody><body name="a" childclass="c"><joint name="j" springdamper="0.1 1"/><geom/>
    <frame pos="1 0 0" euler="10 20 30"><replicate count="3" offset="0 1 0" euler="9 0 0" sep="-">
    <body name="b"><joint name="k" type="slide"/><geom type="mesh" mesh="t"/></body></replicate>
    <body name="d" gravcomp="1"><joint/><geom type="box" mesh="t"/></body></frame></body>
    <body name="e"><joint name="l"/><geom size="1" shellinertia="true"/><attach body="d"
    prefix="p"/></body></worldbody><equality><joint joint1="j" joint2="l" polycoef="0 2 0 0 0"/>
    <connect body1="a" body2="e" anchor="0 0 0"/></equality><tendon><fixed name="f" armature="1">
    <joint joint="j" coef="2"/></fixed></tendon><actuator><motor joint="k" class="c"/>
    <position tendon="f" armature="2"/></actuator></mujoco>""",
    """<mujoco><compiler inertiafromgeom="true" inertiagrouprange="1 2" angle="radian"/><worldbody>
    <body name="t" quat="1 2 3 4"><freejoint/><geom type="ellipsoid" size="1 2 3" group="1"/><body
    pos="0 0 1" xyaxes="1 0 0 0 0 1"><joint axis="0 1 0" ref="1" range="-1 1"/><inertial pos="0 0 1"
    mass="1" fullinertia="1 2 2 0 0.1 0"/></body></body></worldbody><sensor><gyro site="x"/>
    </sensor></mujoco>""",
    """<mujoco><worldbody><body name="box"><freejoint/><geom size="1"/></body><body name="h"
    mocap="true"/><body name="c"><joint name="c" axis="0 1 0"/><geom size="1"/><body name="rod"
    pos="1 0 0"><joint name="ball" type="ball" damping="1" range="0 90"/><geom type="capsule"
    size="0.1" fromto="0 0 0 1 1 1"/><site name="s" fromto="0 0 0 0 1 0"/></body></body>
    <body name="r" pos="2 0 0"><joint name="r" axis="0 1 0" stiffness="3" springref="9"/><geom
    size="1"/></body></worldbody><tendon><fixed name="t"><joint joint="c" coef="1"/><joint joint="r"
    coef="1"/></fixed></tendon><equality><connect body1="rod" body2="r" anchor="1 1 1"/><weld
    body1="h" body2="c"/><weld body1="box" body2="r"/></equality><actuator><motor tendon="t"/>
    </actuator></mujoco>""",
    """<mujoco><include file="a.xml"/><asset><mesh name="s" file="s.stl"/><mesh name="o"
    file="o.obj" inertia="exact"/><model name="m" file="m.xml"/></asset><worldbody><body><joint/>
    <geom type="mesh" mesh="s"/><geom type="mesh" mesh="o"/><frame pos="0 0 1"><attach model="m"
    body="a" prefix="x_"/></frame></body></worldbody></mujoco>""",
]
CORNERS = (bytes(12), *(bytes(4 * k) + b"\0\0\x80\x3f" + bytes(8 - 4 * k) for k in range(3)))
STL = bytes(80) + b"\x04\0\0\0" + b"".join(
    bytes(12) + b"".join(CORNERS[k] for k in face) + b"\0\0"
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
)  # fmt: skip
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

XACRO = [
    """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="n"
    default="1"/><xacro:property name="m" value="${2*k+1}"/><xacro:property name="k" value="0.5"/>
    <xacro:property name="o"><origin xyz="0 0 ${k}" rpy="${pi/2} 0 0"/></xacro:property>
    <xacro:macro name="link" params="i mass:=^|3 up:='base' *b **c"><link name="l${i}"><inertial>
    <xacro:insert_block name="b"/><mass value="${mass if i &lt; 2 else radians(90)}"/><inertia
    ixx="1" ixy="0" ixz="0" iyy="${1.0/max(1, k)}" iyz="0" izz="${sqrt(4)-1}"/></inertial></link>
    <joint name="j${i}" type="revolute"><parent link="${up}"/><child link="l${i}"/>
    <xacro:insert_block name="o"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <xacro:if value="${i &lt; 3}"><xacro:link i="${i+1}" up="l${i}"><origin
    xyz="$(arg n) 0 0"/><c/></xacro:link></xacro:if><xacro:unless
    value="${not i in [1, 2]}"><xacro:insert_block name="c"/>
    </xacro:unless></xacro:macro><link name="base"/><xacro:link i="1" mass="${m}"><origin
    xyz="$(eval 1+1) 0 0"/><c/></xacro:link></robot>""",
    """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="t"
    value="${dict(a=[1, 2, dict(x=3)], b='y')}"/><xacro:macro name="a" params="n"><xacro:if
    value="${n > 0}"><xacro:a n="${n-1}"/><xacro:a n="${n-1}"/><link name="l_${n}"/></xacro:if>
    </xacro:macro><xacro:a n="${t['a'][2]['x']}"/><xacro:call macro="a" n="1"/><xacro:include
    filename="$(find p)/../x.xacro" optional="true"/><xacro:element xacro:name="link"
    name="${t.b.upper()}"><xacro:attribute name="z" value="1"/></xacro:element></robot>""",
]

SDF = [
    """<sdf version="1.9"><model name="m" canonical_link="b"><pose>0 0 1 0 0 0.5</pose><link
    name="a"><pose>0 0 0 1 0 0</pose></link><frame name="f" attached_to="a"><pose relative_to="b"
    degrees="true">1 0 0 9 0 0</pose></frame><link name="b"><inertial><pose>0 0 1 0 0 0</pose><mass>
    2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link><joint name="w"
    type="fixed"><parent>world</parent><child>a</child></joint><joint name="j" type="revolute"><pose
    relative_to="f">0 1 0 0 0 0</pose><parent>a</parent><child>b</child><axis><xyz
    expressed_in="__model__">0 1 1</xyz><limit><lower>-1</lower><effort>0</effort></limit><dynamics>
    <damping>1</damping><spring_stiffness>2</spring_stiffness></dynamics></axis></joint><model
    name="n" placement_frame="l"><link name="l"/></model><joint name="k" type="prismatic"><parent>b
    </parent><child>n::l</child><axis><mimic joint="j"><multiplier>2</multiplier></mimic></axis>
    </joint><joint name="loop" type="revolute"><parent>a</parent><child>n::l</child></joint>
    <include><uri>model://x</uri><pose/></include></model></sdf>""",
    """<sdf version="1.4"><world name="w"><gravity>0 0 -9</gravity><model name="m"><link name="a"/>
    <link name="b"><velocity_decay><linear>1</linear></velocity_decay><gravity>0</gravity></link>
    <joint name="j" type="continuous"><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>
    <use_parent_model_frame>1</use_parent_model_frame></axis></joint></model><model name="box">
    <static>true</static><link name="x"/></model></world></sdf>""",
]

USD = [
    """#usda 1.0
( defaultPrim = "a"
 metersPerUnit = 0.01
 upAxis = "Y" )
def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
 float physics:mass = 2
 double3 xformOp:scale = (2, 2, 1)
 uniform token[] xformOpOrder = ["xformOp:scale"]
}
def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"] ) {
 def Mesh "m" ( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"] ) {
  point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
  int[] faceVertexCounts = [3, 3, 3, 3]
  int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
  float physics:density = 100
 }
}
def PhysicsRevoluteJoint "j" ( prepend apiSchemas = ["PhysicsDriveAPI:angular"] ) {
 rel physics:body0 = </a>
 rel physics:body1 = </b>
 point3f physics:localPos0 = (1, 0, 0)
 quatf physics:localRot1 = (0.5, 0.5, 0.5, 0.5)
 float physics:lowerLimit = -90
}
""",
    """#usda 1.0
def PhysicsScene "scene" { vector3f physics:gravityDirection = (0, 1, 0)
}
class Xform "p" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
 def Capsule "c" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
  double radius = 1
  double height = 2
  uniform token axis = "X"
 }
}
def "a" ( instanceable = true
 prepend inherits = </p> ) {
}
def "b" ( prepend inherits = </p>
 prepend payload = </p> ) {
}
def PhysicsJoint "d" {
 rel physics:body1 = </a>
 float limit:transX:physics:low = 1
 float limit:transX:physics:high = -1
 float limit:rotX:physics:high = 1
}
def PhysicsSphericalJoint "s" {
 rel physics:body0 = </a>
 rel physics:body1 = </b>
 rel newton:mimicJoint = </d>
}
def PhysicsRevoluteJoint "l" {
 rel physics:body0 = </b>
 bool physics:excludeFromArticulation = 1
}
""",
]

DH = [
    """gravity = 0 0 -9.81
name,sigma,d,a,alpha,theta,M,Z,IXX,G,Jm,FS,FSA,lower
base,2,0.5,0,0,0,,,,,,,,
one,revolute,0,0.4,pi/2,theta1 + pi/2,2,0.1,0.2,-100,1e-4,1,0.2,-90 deg
two,P,d2,0,-pi/2,90 deg,m2,0.1,J,50,2e-4,1,0,
tool,2,0.1,0,0,0,,,,,,,,
""",
    "sigma;r;d;alpha;theta\n0;1;0;0;q1\n1;L;0;1;0\n",
]

NESTS = [
    (b"(", b")"), (b"-", b""), (b"[", b"]"), (b"{a=", b"}"), (b"sin(", b")"), (b"x+", b""),
    (b"<link>", b"</link>"), (b"(*", b"*)"), (b"x^", b""), (b"a.", b""),
]  # fmt: skip


def mutate(data: bytes, rng: random.Random) -> bytes:
    """A few random changes of the bytes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        data = rng.choice(MUTATORS)(data, rng)
    return data[:200_000]


def _span(data: bytes, rng: random.Random, most: int = 40) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(1, most))


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _remove(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _duplicate(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng, 200)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS).encode() + data[at:]


def _replace(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng, 6)
    return data[:start] + rng.choice(TOKENS).encode() + data[end:]


def _swap_words(data: bytes, rng: random.Random) -> bytes:
    words = data.split(b" ")
    i, j = rng.randrange(len(words)), rng.randrange(len(words))
    words[i], words[j] = words[j], words[i]
    return b" ".join(words)


def _swap_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _nest(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    n = rng.choice((3, 99, 101, 1000, 20_000))
    opening, closing = rng.choice(NESTS)
    return data[:at] + opening * n + b"1" + closing * n + data[at:]


def _huge_number(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    n = rng.choice((10, 300, 401, 5000, 20_000))
    form = rng.choice((b"%s", b"0.%s", b"1e%s", b"-%s", b"1/%s", b"9^64^%s"))
    return data[:at] + form % (b"9" * n) + data[at:]


MUTATORS: list[Callable[[bytes, random.Random], bytes]] = [
    _flip, _truncate, _remove, _duplicate, _insert, _insert, _replace, _replace, _swap_words,
    _swap_lines, _nest, _huge_number,
]  # fmt: skip


def try_expression(data: bytes, _: random.Random) -> bool:
    """Was the formula good? A good one must read back equal."""
    text = data.decode("utf-8", "replace")
    with contextlib.suppress(CardanError):
        parse_quantity(text)
    value = parse(text)
    assert parse(str(value)) == value, f"{value} reads back different"
    return True


def file_trial(format: str) -> Callable[[bytes, random.Random], bool]:
    """The trial for a file of a format: a good robot must print, and save and read back equal."""
    name = "x.par" if format == "symoro+" else f"x.{format}"
    parts = [*file_seeds(format), STL, OBJ] if format in ("xml", "xacro", "sdf") else []

    def trial(data: bytes, rng: random.Random) -> bool:
        def beside(_: str) -> bytes:
            return mutate(rng.choice(parts), rng)

        if format == "csv":
            text, convention = data.decode("utf-8", "replace"), rng.choice([*COLUMNS])
            robot, faults = read_dh_table(text, convention, "x.csv")
        else:
            robot, faults = read_bytes(data, name, beside=beside if parts else None)
        assert robot is not None or faults, "neither a robot nor a fault"
        if robot is None or any(fault.severity == "error" for fault in faults):
            return False
        as_text(robot)
        if format not in ("urdf", "xml", "xacro", "sdf", "usda"):
            again, found = read_bytes(dumps(robot, "toml").encode(), "x.toml")
            assert again == robot, f"saved as .toml it reads back different: {found}"
        return True

    return trial


class Guard:
    """An audit hook that, while armed, forbids files, processes, sockets and code."""

    def __init__(self) -> None:
        self.armed = False
        sys.addaudithook(self.hook)

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if self.armed and event.startswith(FORBIDDEN):
            self.armed = False
            raise RuntimeError(f"forbidden: {event} {args!r:.200}")


def run(
    what: str, seeds: list[bytes], trial: Callable[[bytes, random.Random], bool],
    count: int, seed: int, guard: Guard,
) -> None:  # fmt: skip
    """Try `count` mutations of the seeds; raise on the first that misbehaves."""
    rng = random.Random(f"{what} {seed}")
    for data in seeds:  # warm up: lazy imports happen here
        with contextlib.suppress(CardanError):
            trial(data, rng)
    good, worst = 0, 0.0
    for i in range(count):
        data = mutate(rng.choice(seeds), rng)
        begin = time.process_time()
        guard.armed = True
        try:
            good += trial(data, rng)
        except CardanError:
            pass
        except BaseException:
            guard.armed = False
            print(f"{what}, case {i}, seed {seed}: {data[:3000]!r}", file=sys.stderr)
            raise
        guard.armed = False
        spent = time.process_time() - begin
        worst = max(worst, spent)
        if spent > SLOWEST:
            raise TimeoutError(f"{what}, case {i}: {spent:.1f} s: {data[:3000]!r}")
    print(f"{what}: {count} cases, {good} valid, slowest {worst * 1000:.1f} ms")


def file_seeds(format: str) -> list[bytes]:
    """Small files of a format, from the bundled robots."""
    texts = {"xacro": XACRO, "sdf": SDF, "usda": USD, "csv": DH}
    if format == "usda" and find_spec("pxr") is None:
        return []
    if format in texts:
        return [text.encode() for text in texts[format]]
    if format == "xml":
        return [text.encode() for text in MJCF] + [dumps(load("ur5"), format).encode()]
    chosen = [load(name) for name in robots() if name not in ("snake30",)] + [snake(2)]
    seeds = []
    for robot in chosen:
        try:
            data = dumps(robot, format).encode()
        except CardanError:  # formats that cannot hold symbols or loops
            continue
        if len(data) < 10_000:
            seeds.append(data)
    return seeds


def table_seeds(folder: Path) -> dict[str, list[bytes]]:
    """Small tables of every kind, packed and not, as bytes."""
    import numpy as np
    import pyarrow
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet
    from scipy.io import savemat

    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=40) for name in ("q1", "qd1", "qdd1")}
    table = pyarrow.table(columns)
    np.savez(folder / "0.npz", **columns)  # type: ignore[arg-type]
    np.savez_compressed(folder / "1.npz", **columns)  # type: ignore[arg-type]
    parquet.write_table(table, folder / "0.parquet")
    parquet.write_table(table, folder / "1.parquet", compression="zstd", use_dictionary=False)
    feather.write_feather(table, folder / "0.arrow", compression="uncompressed")
    feather.write_feather(table, folder / "1.arrow", compression="lz4")
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (folder / "0.csv").write_text("\n".join([",".join(columns), *rows]))
    (folder / "1.csv").write_text("\n".join(['q1;"qd1";qdd1', *rows]).replace(",", ";"))
    savemat(folder / "0.mat", columns)
    savemat(folder / "1.mat", {"log": columns}, do_compression=True)
    kinds = ("npz", "parquet", "arrow", "csv", "mat")
    return {kind: [(folder / f"{k}.{kind}").read_bytes() for k in range(2)] for kind in kinds}


def run_tables(count: int, seed: int) -> None:
    """Damaged tables, given to a sweep and to identification; of .mat, a process each, fewer."""
    from cardan.catalogue import model
    from cardan.identification import read_recording
    from cardan.sweeps.sweep import sweep

    robot = load({"cardan": 1, "name": "x", "link": [{"joint": "revolute", "ZZ": 1}]})
    program = model(robot, "inverse-dynamics")
    with tempfile.TemporaryDirectory() as place:
        for kind, seeds in table_seeds(Path(place)).items():
            rng = random.Random(f"{kind} {seed}")
            path, good = Path(place) / f"x.{kind}", 0
            cases = max(1, count // 20) if kind == "mat" else count
            for i in range(cases):
                data = rng.choice(seeds)
                data = mutate(data, rng) if rng.random() < 0.5 else _flip(_flip(data, rng), rng)
                path.write_bytes(data)
                readers: list[Callable[[], Any]] = []
                if kind != "mat":
                    readers.append(lambda path=path: sweep(program, path))  # type: ignore[misc]
                if kind != "arrow":
                    readers.append(lambda path=path: read_recording(path))  # type: ignore[misc]
                for read in readers:
                    try:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            read()
                        good += 1
                    except CardanError:
                        pass
                    except BaseException:
                        print(f"{kind}, case {i}, seed {seed}: {data[:3000]!r}", file=sys.stderr)
                        raise
            print(f"{kind}: {cases} cases, {good} read")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--expressions", type=int, default=100_000)
    options.add_argument("--files", type=int, default=20_000)
    options.add_argument("--tables", type=int, default=2000)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    if given.tables:  # before the hook: it stays, and these are files
        run_tables(given.tables, given.seed)
    guard = Guard()
    seeds = [text.encode() for text in EXPRESSIONS]
    run("expressions", seeds, try_expression, given.expressions, given.seed, guard)
    for format in FORMATS:
        seeds = file_seeds(format)
        if seeds:
            run(format, seeds, file_trial(format), given.files, given.seed, guard)


if __name__ == "__main__":
    main()
