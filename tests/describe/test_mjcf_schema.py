"""MJCF is read as MuJoCo reads it, or a fault names what is not: element by element."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.describe.mujoco_peer import difference, drives_differ, torque_limit
from tests.mjcf_schema import unaccounted

import cardan
from cardan.describe.files import read, read_bytes
from cardan.describe.mjcf.schema import meaning
from cardan.errors import Fault, InputError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "robots" / "mjcf"


def arm(head: str = "", first: str = "", second: str = "", tail: str = "", more: str = "") -> str:
    """Two hinges; attributes of the joints, elements in the file and in the second body."""
    return f"""<mujoco>{head}<worldbody>
      <body name="a" pos="0 0.1 0.3" euler="20 10 40"><joint name="j" axis="0 1 0.2" {first}/>
        <geom type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.03"/>
        <body name="b" pos="0.3 0.1 0"><joint name="k" axis="1 0 0" {second}/>
          <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0"/>{more}</body></body>
      </worldbody>{tail}</mujoco>"""


MESH = '<asset><mesh name="m" vertex="{v}" {more}/></asset>'
TETRA = "0 0 0  0.3 0 0  0 0.2 0  0.05 0.05 0.4"
CUBE = " ".join(f"{x} {y} {z}" for x in (0, 0.1) for y in (0, 0.2) for z in (0, 0.35))
FACES = "0 2 1  0 1 3  0 3 2  1 2 3"
SHAPES = {
    "sphere": "0.1", "capsule": "0.05 0.1", "cylinder": "0.05 0.1",
    "ellipsoid": "0.1 0.2 0.05", "box": "0.1 0.2 0.05",
}  # fmt: skip
ACTUATOR = '<actuator><{tag} joint="k" armature="0.1" gear="3" {more}/></actuator>'

CASES = {
    "settotalmass": arm('<compiler settotalmass="14"/>', more="<body><geom size='0.1'/></body>"),
    "settotalmass and scenery": arm('<compiler settotalmass="14"/>').replace(
        "<worldbody>", "<worldbody><geom size='1'/><body><geom size='0.2'/></body>"
    ),
    "no gravity": arm('<option gravity="1 2 3"><flag gravity="disable"/></option>'),
    "groups": arm(
        '<compiler inertiagrouprange="2 3"/><default><geom group="2"/></default>',
        more='<geom size="0.2" group="1"/><geom size="0.1" group="3" pos="0 0 0.1"/>',
    ),
    "springs": arm('<default><joint springref="20"/></default>', first='stiffness="3" ref="30"',
                   second='stiffness="0.4" damping="0.1"'),
    "springdamper": arm(first='springdamper="0.1 0.7" ref="30"', second='armature="0.2"'),
    "springdamper of a class": arm(
        '<compiler settotalmass="3"/><default><joint springdamper="0.2 1" damping="5"/></default>'
    ),
    "springs of joints": arm(
        '<default><joint stiffness="3" springref="20"/></default>', second='ref="10" damping="1"'
    ),
    "springdamper on a floating base": arm(first='springdamper="0.1 0.7"')
    .replace('<joint name="j"', '<freejoint/><geom size="0.1"/><body name="c"><joint name="j"')
    .replace("</worldbody>", "</body></worldbody>"),
    "frame around geoms": arm(
        more='<frame pos="0.1 0 0.2" euler="10 20 30"><frame quat="1 2 3 4"><geom size="0.1"/>'
        '<geom type="cylinder" size="0.02" fromto="0 0 0 0.1 0.2 0"/></frame></frame>'
    ),
    "frame around joints and bodies": arm(
        '<default><default class="c"><joint armature="0.3"/><geom density="300"/></default>'
        "</default>",
        more='<frame pos="0.1 0 0.2" euler="10 20 30" childclass="c"><body name="f" pos="0 0.1 0">'
        '<frame axisangle="1 0 0 30" pos="0 0 0.1"><joint name="l" axis="0 1 0" pos="0.1 0 0"/>'
        '<geom size="0.1" pos="0.2 0 0"/></frame></body></frame>',
    ),
    "frame around an inertial": arm(
        more='<body name="f"><joint name="l"/><frame pos="0.2 0.1 0" euler="30 0 10"><inertial'
        ' mass="2" pos="0 0 0.1" diaginertia="0.1 0.2 0.25"/></frame></body>'
    ),
    "replicated geoms": arm(
        more='<replicate count="11" offset="0.01 0.02 0" euler="10 20 5"><geom size="0.02"'
        ' pos="0.2 0 0"/></replicate>'
    ),
    "replicated bodies": arm(
        more='<replicate count="2" sep="-" offset="0.1 0 0" euler="0 30 0"><replicate count="3"'
        ' offset="0 0.2 0" euler="20 0 0"><body name="r" pos="0.05 0 0"><joint name="s"'
        ' axis="0 1 0"/><geom size="0.05" pos="0.1 0 0"/></body></replicate></replicate>',
        tail='<actuator><motor joint="s" armature="0.2"/><motor joint="j" armature="0.4"/>'
        "</actuator>",
    ),
    "boundmass": arm('<compiler boundmass="3"/>', more='<body name="e" pos="0.1 0.2 0"/>'),
    "boundinertia": arm(
        '<compiler boundinertia="0.01" boundmass="0.2"/>', more='<body pos="0.1 0.2 0.1"/>'
    ),
    "balanceinertia": arm(
        '<compiler balanceinertia="true"/>',
        more='<body name="f"><joint name="l"/><inertial pos="0.1 0 0" euler="10 20 30" mass="1"'
        ' diaginertia="0.1 0.2 0.5"/></body>',
    ),
    **{
        f"hollow {kind}": arm(
            more=f'<geom type="{kind}" size="{size}" shellinertia="true" {given} pos="0 0.1 0"/>'
        )
        for kind, size in SHAPES.items() for given in ("", 'mass="1.3"')
    },
    **{
        f"armature of {tag}": arm(tail=ACTUATOR.format(tag=tag, more=more))
        for tag, more in {
            "motor": 'damping="0.2"', "position": 'kp="3"', "velocity": "", "general": "",
            "dcmotor": 'motorconst="0.05 0.05" resistance="2"',
        }.items()
    },
    "armature by a class of another actuator": arm(
        '<default><motor armature="0.1" gear="2"/></default>',
        tail='<actuator><position joint="k" kp="3"/><motor jointinparent="j"/></actuator>',
    ),
    "armature of a tendon": arm(
        tail='<tendon><fixed name="t" armature="0.3"><joint joint="k" coef="-2"/></fixed></tendon>'
        '<actuator><motor tendon="t" armature="0.1" gear="3"/></actuator>'
    ),
    "damping that grows": arm(
        second='damping="1 0.4 0"',
        tail='<actuator><motor joint="j" gear="-2" damping="0.1 0.3"/></actuator>',
    ),
    "a tendon of several joints": arm(
        second='damping="0.2"',
        tail='<tendon><fixed name="t" armature="0.3" damping="0.4 0.2" frictionloss="0.1"><joint'
        ' joint="k" coef="-2"/><joint joint="j" coef="0.5"/></fixed><fixed name="u" damping="0.3"'
        ' frictionloss="0.7"><joint joint="k" coef="-3"/></fixed></tendon><actuator><motor'
        ' tendon="t" armature="0.1" gear="3" damping="0.05 0.01"/></actuator>',
    ),
    "names that are taken": arm(
        more='<body><joint/><geom size="0.1"/><body name="body3"><joint name="joint3"/><geom'
        ' size="0.1"/></body></body>'
    ),
    "corners": arm(
        MESH.format(v=TETRA, more=f'face="{FACES}" refpos="0.1 0 0" refquat="1 2 3 4"'),
        more='<geom type="mesh" mesh="m" pos="0 0.1 0" euler="10 20 30"/>',
    ),
    "a mirrored mesh": arm(
        MESH.format(v=TETRA, more=f'face="{FACES}" inertia="exact" scale="1 -2 0.5"'),
        more='<geom type="mesh" mesh="m" density="700"/>',
    ),
    **{
        f"a {kind} hull": arm(
            MESH.format(v=CUBE, more=f'inertia="{kind}"'), more='<geom type="mesh" mesh="m"/>'
        )
        for kind in ("convex", "exact", "legacy", "shell")
    },
    **{
        f"a fitted {kind}": arm(
            f'<compiler fitaabb="{bounds}"/>' + MESH.format(v=CUBE, more=""),
            more=f'<geom type="{kind}" mesh="m" fitscale="1.2" euler="10 20 30" mass="1"/>',
        )
        for kind in SHAPES for bounds in ("false", "true")
    },
    "a massless visual mesh": arm(more='<geom type="mesh" mesh="n" mass="0"/>').replace(
        "<worldbody>", f'<asset><mesh name="n" vertex="{TETRA}"/></asset><worldbody>'
    ),
    **{
        f"{own.partition('=')[0]} over {given.partition('=')[0]}": arm(
            f'<default><default class="y"><geom {given}/><default class="z"><geom {own}/></default>'
            "</default></default>",
            more=f'<geom class="z" type="box" size="0.1 0.2 0.3"/><geom class="y" {own} type="box"'
            ' size="0.1 0.2 0.1"/>',
        )
        for given, own in (
            ('quat="1 2 3 4"', 'euler="10 20 30"'), ('euler="10 20 30"', 'quat="1 2 3 4"'),
            ('zaxis="1 1 0"', 'axisangle="1 2 3 40"'),
        )
    },
    "short lists over those of a class": arm(
        '<default><geom size="0.3 0.2 0.1"/><joint damping="3 0 0"/><general gear="4 5"/><default'
        ' class="c"><geom size="0.1" type="box"/><joint damping="2"/></default></default>',
        second='class="c"', more='<geom class="c"/><geom type="cylinder" size="0.25"/>',
        tail='<actuator><motor joint="k" gear="2" armature="1"/></actuator>',
    ),
    "two blocks of defaults": arm(
        '<default><joint armature="3"/></default><default><default class="c"/><joint damping="2"/>'
        "</default>"
    ),
    "scenery after a floating base": """<mujoco><worldbody><body name="t"><freejoint/><geom
        size="0.1"/><body name="l" pos="1 0 0"><joint name="h"/><geom size="0.1" pos="1 0 0"/>
        </body></body><body name="table"><geom size="1"/></body></worldbody></mujoco>""",
    "armature of a free joint without gravity": """<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="t"><joint type="free" armature="2"/><geom size="0.1" pos="0.1 0 0"/><body
        name="l" pos="1 0 0"><joint name="h"/><geom size="0.1" pos="1 0 0"/></body></body>
        </worldbody></mujoco>""",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_mujoco(case: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot, faults = read_bytes(CASES[case].encode(), "x.xml")
    assert robot is not None, faults
    model = mujoco.MjModel.from_xml_string(CASES[case])
    assert robot.n == model.nv - 6 * (robot.base.kind == "floating")
    # MuJoCo's principal axes leave 2e-8 of the moments between them
    assert difference(robot, model, states=2) <= (1e-8 if "mesh" in case else 1e-9)
    assert drives_differ(robot, model) <= 1e-9


EFFORTS = {
    "of an actuator": ("", '<motor joint="k" forcerange="-3 3" gear="-2"/>', 6),
    "of the control": ("", '<motor joint="k" ctrlrange="-2 2" gear="5"/>', 10),
    "of both": ("", '<general joint="k" gainprm="4" ctrlrange="-2 2" forcerange="-3 3"/>', 3),
    "of a filtered control": ("", '<general joint="k" ctrlrange="-2 2" dyntype="filter"/>', 2),
    "of an integrator": ("", '<general joint="k" ctrlrange="-2 2" dyntype="integrator"/>', None),
    "of feedback": ("", '<position joint="k" kp="2" ctrlrange="-1 1" forcerange="-5 5"/>', 5),
    "of feedback alone": ("", '<position joint="k" kp="2" ctrlrange="-1 1"/>', None),
    "of a joint": ('actuatorfrcrange="-7 7"', "", 7),
    "of a joint with a motor": ('actuatorfrcrange="-7 7"', '<motor joint="k"/>', 7),
    "of two": ("", '<motor joint="k" ctrlrange="-1 1"/><motor joint="k" forcerange="-3 2"/>', 3),
    "of two, one endless": ("", '<motor joint="k" ctrlrange="-1 1"/><motor joint="k"/>', None),
    "of a tendon": ("", '<motor tendon="t" ctrlrange="-3 3" gear="2"/>', 12),
    "of a tendon with bounds": ("", '<motor tendon="t" ctrlrange="-5 5" gear="2"/>', 16),
    "of a tendon pulled twice": (
        "", '<motor tendon="t" ctrlrange="-1 1"/><motor tendon="t" ctrlrange="-2 2"/>', 6
    ),
    "that is off": ("", '<motor joint="k" ctrlrange="-1 1" ctrllimited="false"/>', None),
    "that falls": ("", '<motor joint="k" forcerange="2 -2"/>', None),
    "to one side": ("", '<motor joint="k" ctrlrange="0 1"/>', None),
    "of a damper": ("", '<damper joint="k" kv="2" ctrlrange="0 1"/>', None),
}  # fmt: skip


@pytest.mark.parametrize("case", EFFORTS)
def test_torque_limits_are_those_of_mujoco(case: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    joint, motors, effort = EFFORTS[case]
    tendon = '<tendon><fixed name="t" actuatorfrcrange="-4 4"><joint joint="k" coef="-2"/></fixed>'
    text = arm(second=joint, tail=f"{tendon}</tendon><actuator>{motors}</actuator>")
    robot, faults = read_bytes(text.encode(), "x.xml")
    assert robot is not None, faults
    k = next(joint for joint in robot.joints if joint.name == "k")
    assert k.limits.effort == effort
    limit = torque_limit(mujoco.MjModel.from_xml_string(text), 1)
    assert limit == pytest.approx(np.inf if effort is None else effort)
    told = [f.message for f in faults if "feedback" not in f.message]
    sides = {"of two": "differ by direction", "to one side": "one direction alone"}
    assert [sides.get(case, "") in x for x in told] == [True] * (case in sides)


def test_ranges_that_do_not_rise_limit_nothing() -> None:
    for ends, limits in (("0 0", (None, None)), ("1 0", (None, None)), ("-180 0", (-180, 0))):
        robot, _ = read_bytes(arm(second=f'range="{ends}"').encode(), "x.xml")
        assert robot is not None
        k = next(joint for joint in robot.joints if joint.name == "k").limits
        assert (k.lower is None, k.upper is None) == tuple(x is None for x in limits)


def test_replicas_have_the_names_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(CASES["replicated bodies"])
    robot, _ = read_bytes(CASES["replicated bodies"].encode(), "x.xml")
    assert robot is not None
    names = {model.joint(k).name for k in range(model.njnt)}
    assert {joint.name for joint in robot.joints} == names
    assert {link.name for link in robot.links} == {model.body(k + 1).name for k in range(8)}


CHILD = """<mujoco model="child"><compiler angle="radian" boundmass="0.5"/>
  <option gravity="0 0 -3"/>
  <default><joint armature="0.2"/><geom density="500"/>
    <default class="c"><joint damping="0.3"/><geom type="mesh"/></default></default>
  <asset><mesh name="m" vertex="0 0 0  0.3 0 0  0 0.2 0  0.05 0.05 0.4"/></asset>
  <worldbody><geom size="0.1" pos="0.2 0 0"/>
    <frame name="f" euler="0.3 0.2 0.1"><body name="x" pos="0.1 0 0" childclass="c">
      <joint name="p" axis="0 1 0" range="-1 2"/><geom mesh="m"/>
      <body name="y" pos="0 0 0.2"><joint name="q" class="main"/><geom type="box" size="0.1 0.1 0.2"
        pos="0.2 0 0"/></body></body></frame>
    <body name="z" pos="1 0 0"><joint name="s" type="slide"/><geom size="0.2"/></body></worldbody>
  <tendon><fixed name="t" armature="2"><joint joint="q" coef="2"/></fixed></tendon>
  <equality><joint joint1="q" joint2="p" polycoef="0.1 2 0 0 0"/>
    <connect body1="y" body2="z" anchor="0 0 0" active="false"/></equality>
  <actuator><motor joint="p" armature="0.1" gear="2"/><motor tendon="t" armature="1"/>
    <motor joint="s"/></actuator></mujoco>"""


@pytest.mark.parametrize("what", ["", 'body="x"', 'frame="f"', 'body="z"'])
def test_attached_models(what: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    head = '<asset><model name="n" file="parts/child.xml"/></asset>'
    more = f"""<frame pos="0 0.1 0" euler="0 40 0"><attach model="n" prefix="one_" {what}/></frame>
        <attach model="n" prefix="two_" {what}/>"""
    text = arm(head + "<default><joint armature='0.7'/></default>", more=more)
    files = {"parts/child.xml": CHILD.encode()}
    robot, faults = read_bytes(text.encode(), "x.xml", beside=files.__getitem__)
    assert robot is not None, faults
    model = mujoco.MjModel.from_xml_string(text, files)
    names = {model.joint(k).name for k in range(model.njnt)}
    assert {joint.name for joint in robot.joints} == names
    assert len(robot.couplings) == model.neq - sum(model.eq_active0 == 0)
    assert difference(robot, model, states=2) <= 1e-9
    assert drives_differ(robot, model) <= 1e-9
    limits = {joint.name: joint.limits.upper for joint in robot.joints}
    assert limits.get("one_p", 2) == 2


def test_files_of_files() -> None:
    """A model attached to an attached one, which includes a file that has a mesh beside it."""
    mujoco = pytest.importorskip("mujoco")
    solid = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0.05, 0.05, 0.4]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    middle = """<mujoco model="m"><compiler angle="degree" meshdir="mm"/><asset><model name="g"
        file="q/grand.xml"/></asset><default><mesh scale="2 1 1"/></default><worldbody><body
        name="o" euler="30 20 10"><joint name="oj"/><geom type="mesh" mesh="t"/><replicate count="2"
        offset="0 0.1 0"><attach model="g" body="x" prefix="g_"/></replicate></body></worldbody>
        <include file="i/part.xml"/></mujoco>"""
    files = {
        "p/middle.xml": middle.encode(),
        "p/q/grand.xml": CHILD.encode(),
        "p/i/part.xml": b"<mujoco><asset><mesh name='t' file='t.stl'/></asset></mujoco>",
        "p/i/mm/t.stl": stl(solid[faces]),
    }
    head = '<asset><model name="n" file="p/middle.xml"/></asset>'
    text = arm(head, more='<attach model="n" prefix="n_"/>')

    def beside(name: str) -> bytes:
        if name not in files:
            raise InputError(f"{name} did not come")
        return files[name]

    robot, faults = read_bytes(text.encode(), "x.xml", beside=beside)
    assert robot is not None, faults
    model = mujoco.MjModel.from_xml_string(text, files)
    assert {joint.name for joint in robot.joints} == {
        model.joint(k).name for k in range(model.njnt)
    }
    assert difference(robot, model, states=2) <= 1e-8
    assert drives_differ(robot, model) <= 1e-9


def test_a_part_of_the_file_itself_is_attached_again() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = arm(tail='<actuator><motor joint="k" armature="0.2"/></actuator>').replace(
        "</worldbody>",
        '<body name="e"><joint name="l"/><geom size="0.1" pos="0.1 0 0"/><frame pos="0.2 0 0">'
        '<attach body="b" prefix="again_"/></frame></body></worldbody>',
    )
    robot, faults = read_bytes(text.encode(), "x.xml")
    assert robot is not None, faults
    assert difference(robot, mujoco.MjModel.from_xml_string(text), states=2) <= 1e-9
    assert robot.joints[-1].name == "again_k"


def stl(x: np.ndarray) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *t.ravel(), 0) for t in x.astype("f4"))
    return bytes(80) + struct.pack("<I", len(x)) + rows


def msh(x: np.ndarray, faces: np.ndarray) -> bytes:
    counts = np.array([len(x), 0, 0, len(faces)], "<i4").tobytes()
    return counts + x.astype("<f4").tobytes() + faces.astype("<i4").tobytes()


def obj(x: np.ndarray, faces: np.ndarray) -> bytes:
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in x.tolist()]
    lines += [f"f {a}//1 {b}//1 {c}//1" for a, b, c in (faces + 1).tolist()]
    return "\n".join(lines).encode()


@pytest.mark.parametrize("kind", ["stl", "msh", "obj"])
@pytest.mark.parametrize("inertia", ["legacy", "exact", "convex", "shell"])
def test_files_of_meshes(kind: str, inertia: str) -> None:
    """A concave solid: a cube whose top is pushed in."""
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("scipy")
    x = np.array([[a, b, c] for a in (0, 0.11) for b in (0, 0.2) for c in (0, 0.35)], float)
    x = np.vstack((x, [0.05, 0.1, 0.1]))
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    faces += [(a, b, 8) for a, b in ((1, 5), (5, 7), (7, 3), (3, 1))]
    triangles = np.array(faces)
    data = {"stl": stl(x[triangles]), "msh": msh(x, triangles), "obj": obj(x, triangles)}[kind]
    head = '<compiler meshdir="assets"/><asset><mesh file="m.{}" inertia="{}" scale="1 1 0.5"/>'
    text = arm(head.format(kind, inertia) + "</asset>", more='<geom type="mesh" mesh="m"/>')
    files = {f"assets/m.{kind}": data}
    robot, faults = read_bytes(text.encode(), "x.xml", beside=files.__getitem__)
    assert robot is not None, faults
    model = mujoco.MjModel.from_xml_string(text, files)
    assert difference(robot, model, states=2) <= 1e-9


FREE = """<mujoco><worldbody><body name="a"><joint name="j"/><geom size="0.1" pos="1 0 0"/></body>
  <body name="ball"><joint type="free"/><geom size="0.1"/><body name="on" pos="0 0 1"><geom
  size="0.1"/><body name="top"><joint name="t"/><geom size="0.1"/></body></body></body></worldbody>
  </mujoco>"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FREE, "name the one to read, load(path, body='world')"),
        (arm(second='class="typo"'), "there is no class 'typo' of defaults"),
        (arm(more='<body name="e"><joint/><geom size="0.1" mass="0"/></body>'), "no mass"),
        (arm(more='<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="0 0 0"/></body>'),
         "bodies that move have no mass or inertia"),
        (arm(more='<frame childclass="typo"/>'), "there is no class 'typo'"),
        (arm(tail='<actuator><motor joint="j" class="x"/></actuator>'), "no class 'x'"),
        (arm('<default class="x"/>'), "is called 'main'"),
        (
            arm("<default><default class='c'/><default class='c'/></default>"),
            "'c' of defaults is already defined",
        ),
        (arm(more='<geom type="mesh" mesh="m"/>'), "body b: no mesh"),
        (
            arm('<asset><mesh file="m.stl"/></asset>', more='<geom type="mesh" mesh="m"/>'),
            "mass in meshes which is not known: give them <inertial> (1: b): 'm': 'm.stl'",
        ),
        (arm(MESH.format(v=TETRA, more='builtin="x"'), more='<geom type="mesh" mesh="m"/>'), "(1"),
        (arm(tail='<actuator><motor joint="nope" armature=".3"/></actuator>'),
         "<motor> moves joint 'nope', which is not in this file"),
        (arm(tail='<actuator><position tendon="nope"/></actuator>'), "moves tendon 'nope'"),
        (arm(tail='<tendon><fixed name="t"><joint joint="no" coef="1"/></fixed></tendon>'),
         "<fixed> moves joint 'no'"),
        (arm(second='actuatorfrclimited="true"'), "needs actuatorfrcrange, from low"),
        (arm(more='<jiont name="x"/>'), "there is no element <jiont> in <body>"),
        (arm(more='<composite type="cable"/>'), "there is no element <composite>"),
        (arm(more='<flexcomp name="x"/>'), "<flexcomp> makes bodies of body 'b'"),
        (arm(more='<frame scale="2"/>'), "a <frame> that scales is not read"),
        (arm(more='<replicate count="0"/>'), "needs a positive count"),
        (arm(more='<replicate count="2"><joint/></replicate>'), "put it in a <body>"),
        (arm(more='<replicate count="9999999"><geom/></replicate>'), "makes more than"),
        (arm(more='<attach model="x" prefix="y"/>'), "there is no <model> 'x'"),
        (arm(more='<attach body="a" prefix="y"/>'), "no body 'a' to attach"),
        (arm('<asset><model file="x.xml"/></asset>'), "'x.xml' is needed"),
        (arm(more='<geom size="1" mass="-1"/>'), "the mass of a geom must not be negative"),
        (arm('<compiler angle="turns"/>'), "angle of <compiler> is 'turns', not radian or degree"),
        (arm('<option><flag gravity="off"/></option>'), "gravity of <flag> is 'off'"),
        (
            arm(more='<body name="c"><inertial pos="0 0 0" mass="1" euler="1 2 3"'
                ' fullinertia="1 1 1 0 0 0"/></body>'),
            "no rotation of its own",
        ),
        (arm(more='<geom type="box" size="1"/>'), "a box has 3 positive sizes"),
        (arm('<compiler coordinate="global"/>'), "global coordinates are not read"),
        (arm(second='type="fixed"'), "'fixed' is no type of joint"),
        (
            arm(tail="<tendon><spatial name='t' armature='1'><site site='s'/></spatial></tendon>"),
            "the armature of tendon 't', which runs over sites, has no place",
        ),
        (
            CASES["scenery after a floating base"].replace('"table">', '"table"><joint/>'),
            "the file holds 2 robots, world (1 joint), t (floating, 1 joint)",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, words: str) -> None:
    robot, faults = read_bytes(text.encode(), "x.xml")
    assert robot is None
    told = [
        str(fault).replace("there is no mesh 'm' in <asset>", "body b: no mesh") for fault in faults
    ]
    assert any(words in text for text in told), told


LEFT = {
    "gravity compensation (gravcomp) is left out (1: c)": arm(
        more='<body name="c" gravcomp="1"><geom size="0.1"/></body>'
    ),
    "springs of higher order than linear are left out (1: k)": arm(second='stiffness="1 0.5"'),
    "springs that yield are taken as elastic ones (1: k)": arm(
        second='stiffness="1" springyield="2"'
    ),
    "springs of ball joints are left out (1: k)": arm(second='type="ball" stiffness="1"'),
    "damping of higher order than quadratic is left out (1: k)": arm(second='damping="1 0 0.5"'),
    "springs of tendons are left out (1: t)": arm(
        tail='<tendon><fixed name="t" stiffness="2"><joint joint="j" coef="1"/></fixed></tendon>'
    ),
    "damping of tendons over sites is left out": arm(
        "<default><tendon damping='1'/></default>",
        more='<site name="s"/>',
        tail='<tendon><spatial name="t"><site site="s"/></spatial></tendon>',
    ),
    "friction of tendons over sites is left out": arm(
        tail='<tendon><spatial frictionloss="2"><site site="s"/></spatial></tendon>'
    ),
    "feedback and bias of actuators (kp, kv, biasprm) are left out: torques are inputs (4: ": arm(
        '<default><default class="c"><position kp="3"/></default></default>',
        tail="""<actuator>
        <position joint="j"/><velocity name="w" joint="k" kv="2"/><general class="c" joint="k"/>
        <damper name="d" joint="j" kv="2" ctrlrange="0 1"/><motor class="c" joint="k"/><general
        joint="k" gainprm="3"/></actuator>""",
    ),
    "the forces of the fluid around (density, viscosity)": arm('<option density="1.2"/>'),
    "<plugin> is left out": arm(more='<plugin plugin="x"/>'),
    "<flexcomp> is left out": arm().replace("</worldbody>", "<flexcomp name='x'/></worldbody>"),
    "<equality><tendon> is left out": arm(tail='<equality><tendon tendon1="x"/></equality>'),
    "the attribute 'amature' of <joint> is not known": arm(second='amature="1"'),
    "<actutor> in <mujoco> is not known": arm(tail="<actutor/>"),
    "<body> in <mujoco> is not known": arm(tail='<body name="x"><joint/></body>'),
    'conflict="merge" is left out': arm(
        '<compiler conflict="merge"/><asset><model file="c.xml"/></asset>'
    ),
    "the damping of a free joint is left out": CASES["scenery after a floating base"].replace(
        "<freejoint/>", '<joint type="free" damping="1"/>'
    ),
}


@pytest.mark.parametrize("words", LEFT)
def test_what_is_left_out_is_said_once(words: str) -> None:
    files = {"c.xml": b"<mujoco/>"}
    robot, faults = read_bytes(LEFT[words].encode(), "x.xml", beside=files.__getitem__)
    assert robot is not None, faults
    assert [words in str(fault) for fault in faults].count(True) == 1, faults


def test_what_does_nothing_is_not_said() -> None:
    text = arm(
        '<option density="0" wind="1 0 0"><flag spring="disable" damper="disable"/></option>'
        '<default><joint stiffness="3" damping="2 3"/></default>',
        second='springdamper="0 1"',
        more='<body name="c" gravcomp="0"/>',
    )
    robot, faults = read_bytes(text.encode(), "x.xml")
    assert faults == []
    assert robot is not None
    assert all(joint.FV == joint.spring == 0 for joint in robot.joints)


def test_equality_switched_off_ties_nothing() -> None:
    tie = '<equality><joint joint1="j" joint2="k"/></equality>'
    for flag, count in (("contact", 1), ("equality", 0), ("constraint", 0)):
        head = f'<option><flag {flag}="disable"/></option>'
        robot, _ = read_bytes(arm(head, tail=tie).encode(), "x.xml")
        assert robot is not None
        assert len(robot.couplings) == count


def test_many_are_one_line_with_all_in_its_details() -> None:
    many = "".join(
        f'<body name="s{k}" gravcomp="1"><joint/><geom size="0.1"/></body>' for k in range(40)
    )
    _, faults = read_bytes(arm(more=many).encode(), "x.xml")
    (fault,) = [fault for fault in faults if "gravcomp" in str(fault)]
    assert "(40: s0, s1, s2, s3, s4, ...)" in str(fault)
    assert len(fault.details) == 40
    assert fault.details[-1].endswith("s39")


def test_nested_includes_lie_beside_the_main_or_the_including_file(tmp_path: Path) -> None:
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    body = "<body name='{0}'><joint name='{0}'/><geom size='0.1'/>{1}</body>"
    (tmp_path / "main.xml").write_text(
        "<mujoco><worldbody><include file='parts/one.xml'/></worldbody></mujoco>"
    )
    one = body.format("one", "<include file='deep/two.xml'/>")
    two = body.format("two", "<include file='../three.xml'/><include file='four.xml'/>")
    texts = {"one": one, "deep/two": two, "three": body.format("three", "")}
    for name, text in texts.items():
        path = tmp_path / "parts" / f"{name}.xml"
        path.write_text(f"<mujocoinclude>{text}</mujocoinclude>")
    (tmp_path / "four.xml").write_text(f"<mujoco>{body.format('four', '')}</mujoco>")
    robot = cardan.load(tmp_path / "main.xml")
    assert [joint.name for joint in robot.joints] == ["one", "two", "three", "four"]
    mujoco = pytest.importorskip("mujoco")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "main.xml")).njnt == 4


def test_faults_bear_the_file_that_they_are_in(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(
        "<mujocoinclude><worldbody><body name='p'><joint/><geom size='0.1'/></body></worldbody>"
        "</mujocoinclude>"
    )
    main = tmp_path / "main.xml"
    main.write_text(
        "<mujoco><include file='part.xml'/><worldbody><body name='x'><joint axis='0 0 0'/>"
        "<geom size='0.1'/></body></worldbody></mujoco>"
    )
    _, faults = read(main)
    assert [Path(fault.file).name for fault in faults] == ["main.xml"]


def test_faults_of_attached_models_are_told() -> None:
    head = '<asset><model name="n" file="n.xml"/></asset>'
    text = arm(head, more='<attach model="n" prefix="y"/>')
    flat = '<body name="x"><joint name="j" axis="0 0 0"/></body>'
    files = {"n.xml": f"<mujoco><worldbody>{flat}</worldbody></mujoco>".encode()}
    robot, faults = read_bytes(text.encode(), "x.xml", beside=files.__getitem__)
    assert robot is None
    wanted = "n.xml:1: link yx: the axis of joint 'yj' has length 0"
    assert [str(fault) for fault in faults] == [wanted]


def test_models_that_attach_themselves_are_refused(tmp_path: Path) -> None:
    text = arm(
        '<asset><model name="m" file="self.xml"/></asset>', more='<attach model="m" prefix="p"/>'
    )
    (tmp_path / "self.xml").write_text(text)
    robot, faults = read(tmp_path / "self.xml")
    assert robot is None
    assert any("is attached to itself" in str(fault) for fault in faults)
    (tmp_path / "main.xml").write_text(text.replace("self.xml", "../x.xml"))
    _, faults = read(tmp_path / "main.xml")
    assert any("is not in the folder of the main file" in str(fault) for fault in faults)


def test_every_element_and_attribute_of_the_schema_is_accounted_for() -> None:
    pytest.importorskip("mujoco")
    assert unaccounted() == []


def test_the_table_says_what_becomes_of_them() -> None:
    assert meaning("body/joint", "armature") == "read"
    assert meaning("worldbody/body/frame/geom", "rgba") == "harmless"
    assert meaning("body", "gravcomp") == "left out"
    assert meaning("default/default/joint", "springyield") == "left out"
    assert meaning("body/joint", "amature") == meaning("body/nothing") == ""


@pytest.mark.parametrize(
    "name", ["iit_softfoot/scene", "wonik_allegro/left_hand", "robotiq_2f85/2f85"]
)
def test_public_files(name: str) -> None:
    """Attached models, and hands whose mass is in meshes."""
    mujoco = pytest.importorskip("mujoco")
    path = SHARED / f"{name}.xml"
    if not path.exists():
        pytest.skip("no such file here")
    robot, faults = read(path)
    assert robot is not None, faults
    assert difference(robot, mujoco.MjModel.from_xml_path(str(path)), states=1) <= 1e-9


def missing(name: str) -> Any:
    raise InputError(f"{name} did not come")


def test_meshes_that_do_not_come_are_named() -> None:
    text = arm('<asset><mesh file="m.stl"/></asset>', more='<geom type="mesh" mesh="m"/>')
    robot, faults = read_bytes(text.encode(), "x.xml", beside=missing)
    assert robot is None
    assert isinstance(faults[0], Fault)
    assert "m.stl did not come" in str(faults[0])
