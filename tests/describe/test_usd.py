"""USD with UsdPhysics against MJCF of the same robots, against the library's own masses, and in
every unit; hostile files end in a fault. Numbers are exact in single precision."""

import importlib.util
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.describe.mechanics import same_mechanics

import cardan
from cardan.describe.files import read, read_bytes

usd = pytest.mark.skipif(importlib.util.find_spec("pxr") is None, reason="usd-core")

# centimetres, y up, a scaled body, a joint in degrees written from the child to the parent, one
# whose bodies are drawn elsewhere than at zero, and the forearm from another file
ARM = """#usda 1.0
( defaultPrim = "Arm"
  metersPerUnit = 0.01
  upAxis = "Y" )
def PhysicsScene "scene" {}
def Xform "Arm" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] )
{
  double3 xformOp:translate = (25, 0, 50)
  uniform token[] xformOpOrder = ["xformOp:translate"]
  def Xform "base" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = 4
    float3 physics:diagonalInertia = (1, 1, 1)
    def Xform "camera" { double3 xformOp:translate = (0, 25, 0)
      uniform token[] xformOpOrder = ["xformOp:translate"] }
  }
  def Xform "upper" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = 2
    point3f physics:centerOfMass = (6.25, 12.5, 0)
    float3 physics:diagonalInertia = (625, 1250, 1250)
    quatf physics:principalAxes = (0.5, 0.5, 0.5, 0.5)
    double3 xformOp:scale = (2, 2, 2)
    uniform token[] xformOpOrder = ["xformOp:scale"]
  }
  def "lower" ( prepend references = @./part.usda@ ) { double3 xformOp:translate = (7, 8, 9)
    uniform token[] xformOpOrder = ["xformOp:translate"] }
  def PhysicsFixedJoint "foot" { rel physics:body1 = </Arm/base>
    point3f physics:localPos0 = (25, 0, 50) }
  def PhysicsRevoluteJoint "shoulder" ( prepend apiSchemas = ["PhysicsDriveAPI:angular"] ) {
    rel physics:body0 = </Arm/upper>
    rel physics:body1 = </Arm/base>
    uniform token physics:axis = "Y"
    point3f physics:localPos1 = (0, 50, 0)
    float physics:lowerLimit = -90
    float physics:upperLimit = 180
    float drive:angular:physics:maxForce = 10000
    float physxJoint:armature = 2500
    float newton:damping = 1.7453292
  }
  def PhysicsPrismaticJoint "slide" {
    rel physics:body0 = </Arm/upper>
    rel physics:body1 = </Arm/lower>
    uniform token physics:axis = "X"
    point3f physics:localPos0 = (12.5, 0, 0)
    quatf physics:localRot0 = (0.70710677, 0, 0, 0.70710677)
    float physics:lowerLimit = 0
    float physics:upperLimit = 50
  }
  def PhysicsFixedJoint "disabled" { rel physics:body1 = </Arm/lower>
    bool physics:jointEnabled = 0 }
}
"""
PART = """#usda 1.0
( defaultPrim = "part" )
def Xform "part" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
  float physics:mass = 0.5
  float3 physics:diagonalInertia = (50, 25, 50)
  point3f physics:centerOfMass = (0, 0, 2)
}
"""
ARM_MJCF = """<mujoco><compiler autolimits="true"/><option gravity="0 -9.81 0"/><worldbody>
<body name="base" pos="0.25 0 0.5"><inertial pos="0 0 0" mass="4" diaginertia="1 1 1"/>
<body name="upper" pos="0 0.5 0"><joint name="shoulder" axis="0 -1 0" range="-90 180" damping="0.01"
armature="0.25"/><inertial pos="0.125 0.25 0" quat="0.5 0.5 0.5 0.5" mass="2"
diaginertia="0.0625 0.125 0.125"/>
<body name="lower" pos="0.25 0 0" quat="0.7071067811865476 0 0 0.7071067811865476">
<joint name="slide" type="slide" axis="1 0 0" range="0 0.5"/><inertial pos="0 0 0.02" mass="0.5"
diaginertia="0.005 0.0025 0.005"/></body></body></body></worldbody></mujoco>"""


def text(short):
    """A closing bracket stands at the beginning of a line."""
    return short.replace("}", "\n}")


def body(name, more="", inner=""):
    return f"""def Xform "{name}" ( prepend apiSchemas = ["PhysicsRigidBodyAPI",
      "PhysicsMassAPI"] ) {{ float physics:mass = 1
      float3 physics:diagonalInertia = (0.25, 0.5, 0.5)
      {more}
      {inner} }}\n"""


def joint(kind, name, first, second, more="", driven=False):
    ends = "".join(
        f"rel physics:body{k} = </{end}>\n" for k, end in enumerate((first, second)) if end
    )
    head = '( prepend apiSchemas = ["PhysicsDriveAPI:angular"] )' if driven else ""
    return f'def {kind} "{name}" {head} {{ {ends} {more} }}\n'


def stage(*parts, head="( metersPerUnit = 1 )"):
    return text(f"#usda 1.0\n{head}\n{''.join(parts)}").encode()


def loaded(data):
    robot, faults = read_bytes(data, "x.usda")
    assert robot is not None, [str(fault) for fault in faults]
    return robot, [str(fault) for fault in faults]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "arm.usda").write_text(text(ARM))
    (tmp_path / "part.usda").write_text(text(PART))
    (tmp_path / "arm.xml").write_text(ARM_MJCF)
    return tmp_path


def test_the_command_to_type_where_the_library_is_missing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(cardan.MissingExtraError, match=r"cardan\[usd\]"):
        cardan.load(folder / "arm.usda")


@usd
def test_an_arm_in_two_formats(folder):
    with pytest.warns(cardan.CardanWarning, match="not enabled"):
        robot = cardan.load(folder / "arm.usda")
    other = cardan.load(folder / "arm.xml")
    assert [x.name for x in robot.joints] == [x.name for x in other.joints]
    assert {"base", "upper", "lower", "camera"} <= {frame.name for frame in robot.frames}
    assert robot.gravity == other.gravity
    q = [0.5, 0.25]
    assert same_mechanics(robot, other, q, q) < 1e-15
    for one, two in zip(robot.joints, other.joints, strict=True):
        assert (one.IA, one.FV) == (two.IA, two.FV)
        assert (one.limits.lower, one.limits.upper) == (two.limits.lower, two.limits.upper)
    assert robot.joints[0].limits.effort == 1
    values = dict.fromkeys(("q", "qd", "qdd"), np.array([0.5, 0.25]))
    torques = [
        cardan.model(x, "inverse-dynamics", effort="plain").evaluate(**values)
        for x in (robot, other)
    ]
    np.testing.assert_allclose(*torques, rtol=1e-13)


@usd
def test_text_packed_and_zipped_files_are_one(folder):
    from pxr import Sdf, UsdUtils

    Sdf.Layer.FindOrOpen(str(folder / "arm.usda")).Export(str(folder / "arm.usdc"))
    assert UsdUtils.CreateNewUsdzPackage(str(folder / "arm.usda"), str(folder / "arm.usdz"))
    robots = [read(str(folder / f"arm.{kind}"))[0] for kind in ("usda", "usdc", "usdz")]
    assert len({repr(replace(robot, source="")) for robot in robots}) == 1
    assert robots[0].n == 2


FOUR_BAR = (
    body("ground"), body("crank", "point3f physics:centerOfMass = (0.125, 0, 0)"),
    body("rod", "point3f physics:centerOfMass = (0.25, 0, 0)"),
    body("lever", "point3f physics:centerOfMass = (0, 0.125, 0)"),
    joint("PhysicsFixedJoint", "foot", "", "ground"),
    joint("PhysicsRevoluteJoint", "a", "ground", "crank", 'uniform token physics:axis = "Z"', True),
    joint("PhysicsRevoluteJoint", "c", "rod", "lever", 'uniform token physics:axis = "Z"\n'
          "bool physics:excludeFromArticulation = 1\npoint3f physics:localPos0 = (0.5, 0, 0)\n"
          "point3f physics:localPos1 = (0, 0.25, 0)"),
    joint("PhysicsRevoluteJoint", "b", "crank", "rod", 'uniform token physics:axis = "Z"\n'
          "point3f physics:localPos0 = (0.25, 0, 0)"),
    joint("PhysicsRevoluteJoint", "d", "lever", "ground", 'uniform token physics:axis = "Z"\n'
          "point3f physics:localPos1 = (0.5, 0, 0)"),
)  # fmt: skip
FOUR_BAR_MJCF = """<mujoco><option gravity="0 -9.81 0"/><worldbody><body name="crank">
<joint name="a"/><inertial pos="0.125 0 0" mass="1" diaginertia="0.25 0.5 0.5"/>
<body name="rod" pos="0.25 0 0"><joint name="b"/><site name="s" pos="0.5 0 0"/>
<inertial pos="0.25 0 0" mass="1" diaginertia="0.25 0.5 0.5"/></body></body>
<body name="lever" pos="0.5 0 0"><joint name="d" axis="0 0 -1"/><site name="t" pos="0 0.25 0"/>
<inertial pos="0 0.125 0" mass="1" diaginertia="0.25 0.5 0.5"/></body></worldbody>
<equality><connect site1="s" site2="t"/></equality>
<actuator><motor joint="a"/></actuator></mujoco>"""


@usd
def test_a_loop_by_the_joint_that_the_articulation_excludes():
    y = 'def PhysicsScene "s" { vector3f physics:gravityDirection = (0, -1, 0) }\n'
    robot, faults = loaded(stage(*FOUR_BAR, y))
    assert not faults
    assert [joint.name for joint in robot.joints if joint.active] == ["a"]
    assert [loop.name for loop in robot.loops] == ["c"]
    other, _ = read_bytes(FOUR_BAR_MJCF.encode(), "x.xml")
    assert other is not None
    answers = []
    for one in (robot, other):
        names = [joint.name for joint in one.joints]
        solutions = cardan.model(one, "loop-geometry").solve([1.5])
        crossed = [dict(zip(names, q, strict=True)) for q in solutions]
        q = max(crossed, key=lambda q: q["b"])
        values = {"q": [q[name] for name in names], "qd": [0.5], "qdd": [0.25]}
        model = cardan.model(one, "inverse-dynamics", effort="plain")
        answers.append((q, model.evaluate(**values)))
    assert answers[0][0] == pytest.approx(answers[1][0], abs=1e-9)
    np.testing.assert_allclose(answers[0][1], answers[1][1], rtol=1e-9)


def shapes(*inner, more="", head="( metersPerUnit = 1 )"):
    """A free body with these colliders, and what the library says that it weighs."""
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

    data = stage(
        f"""def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI",
        "PhysicsMassAPI"] ) {{ {more}\n {"".join(inner)} }}\n""",
        MATERIAL,
        head=head,
    )
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(data.decode())
    opened = Usd.Stage.Open(layer)
    body = opened.GetPrimAtPath("/b")

    def unit(prim):
        """Of a shape that is not scaled: what it has at a density of 1."""
        volume, tensor, centre = UNIT[prim.GetName()]
        T = UsdGeom.Xformable(prim).GetLocalTransformation()
        info = UsdPhysics.RigidBodyAPI.MassInformation()
        info.volume, info.inertia = volume, Gf.Matrix3f(*np.diag(tensor).ravel().tolist())
        info.centerOfMass = Gf.Vec3f(*centre)
        info.localPos = Gf.Vec3f(T.ExtractTranslation())
        info.localRot = Gf.Quatf(T.ExtractRotationQuat())
        return info

    return loaded(data), UsdPhysics.RigidBodyAPI(body).ComputeMassProperties(unit)


def shape(kind, name, values, more="", apis=("PhysicsCollisionAPI", "PhysicsMassAPI")):
    listed = ", ".join(f'"{api}"' for api in apis)
    return f'''def {kind} "{name}" ( prepend apiSchemas = [{listed}] ) {{ {values}
      double3 xformOp:translate = (0.5, 0.25, -0.125)
      quatf xformOp:orient = (0.5, 0.5, 0.5, 0.5)
      uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
      {more} }}\n'''


MATERIAL = """def Material "metal" ( prepend apiSchemas = ["PhysicsMaterialAPI"] ) {
  float physics:density = 4000 }
"""
BALL = 4 / 3 * np.pi / 8
UNIT = {
    "cube": (1, np.ones(3) / 6, (0, 0, 0)),
    "ball": (BALL, np.ones(3) * BALL / 10, (0, 0, 0)),
    "rod": (np.pi / 4, np.pi / 4 * np.array([7 / 48, 7 / 48, 1 / 8]), (0, 0, 0)),
    "cone": (np.pi / 12, np.pi / 12 * np.ones(3) * 6 / 80, (-0.25, 0, 0)),
    "mesh": (1 / 6, np.ones(3) / 80, (0.25, 0.25, 0.25)),
}
CUBE = shape("Cube", "cube", "double size = 1", "float physics:mass = 3")
BALL_OF_OIL = shape("Sphere", "ball", "double radius = 0.5", "float physics:density = 800")
ROD = shape("Cylinder", "rod", "double radius = 0.5\ndouble height = 1")
CONE = shape("Cone", "cone", 'uniform token axis = "X"\ndouble radius = 0.5\ndouble height = 1',
             "rel material:binding:physics = </metal>",
             ("PhysicsCollisionAPI", "MaterialBindingAPI"))  # fmt: skip


@usd
@pytest.mark.parametrize(
    "more", ["", "float physics:mass = 5", "float physics:density = 500",
             "point3f physics:centerOfMass = (0.25, 0.5, 0.75)",
             "float physics:mass = 5\nfloat3 physics:diagonalInertia = (1, 2, 2.5)"]
)  # fmt: skip
def test_masses_of_colliders_are_those_of_the_library(more):
    (robot, _), (mass, moments, centre, _) = shapes(CUBE, BALL_OF_OIL, ROD, CONE, more=more)
    link = robot.base.link
    assert float(link.M) == pytest.approx(mass, rel=1e-6)
    c = np.array([float(x) / mass for x in (link.MX, link.MY, link.MZ)])
    np.testing.assert_allclose(c, centre, atol=1e-6)
    xx, xy, xz, yy, yz, zz = (float(getattr(link, k)) for k in ("XX", "XY", "XZ", "YY", "YZ", "ZZ"))
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    own = J - mass * (float(c @ c) * np.eye(3) - np.outer(c, c))
    wanted = np.sort(np.array(moments))
    np.testing.assert_allclose(np.linalg.eigvalsh(own), wanted, rtol=2e-5)


@usd
def test_scale_and_units_of_colliders():
    half = "double3 xformOp:scale = (2, 1, 0.5)"
    ball = shape("Sphere", "ball", "double radius = 0.5", half).replace(
        '"xformOp:orient"]', '"xformOp:orient", "xformOp:scale"]'
    )
    (robot, _), *_ = shapes(ball)
    link, mass = robot.base.link, 1000 * BALL
    # an ellipsoid of half axes 1, 1/2, 1/4: turned by the quaternion x -> y -> z
    own = mass / 5 * (np.array([1 / 16, 1, 1 / 4]).sum() - np.array([1 / 16, 1, 1 / 4]))
    assert float(link.M) == pytest.approx(mass, rel=1e-14)
    arm = mass * np.array([1 / 16 + 1 / 64, 1 / 4 + 1 / 64, 1 / 4 + 1 / 16])
    measured = [float(getattr(link, key)) for key in ("XX", "YY", "ZZ")]
    np.testing.assert_allclose(measured, own + arm, rtol=1e-14)
    small = shapes(CUBE.replace("float physics:mass = 3", ""), head="( metersPerUnit = 0.01 )")[0]
    assert float(small[0].base.link.M) == pytest.approx(0.001, rel=1e-14)


TETRAHEDRON = """def Mesh "mesh" ( prepend apiSchemas = ["PhysicsCollisionAPI",
  "PhysicsMeshCollisionAPI"] ) { point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
  int[] faceVertexCounts = [3, 3, 3, 3]
  int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
  uniform token physics:approximation = "KIND" }
"""


@usd
@pytest.mark.parametrize("kind", ["none", "convexHull"])
def test_masses_of_meshes(kind):
    (robot, _), (mass, *_) = shapes(TETRAHEDRON.replace("KIND", kind))
    assert float(robot.base.link.M) == pytest.approx(1000 / 6, rel=1e-12) == pytest.approx(mass)
    assert float(robot.base.link.MX) == pytest.approx(1000 / 24, rel=1e-12)
    assert float(robot.base.link.XX) == pytest.approx(1000 / 30, rel=1e-12)  # 1/60 of y^2, of z^2


@usd
def test_instances_and_several_robots():
    arm = body("base") + body("tip") + joint("PhysicsRevoluteJoint", "j", "arm/base", "arm/tip")
    prototype = f'class Xform "proto" {{ {arm.replace("</arm/", "</proto/")} }}\n'
    copies = "".join(
        f'def Xform "robot{k}" ( instanceable = true\nprepend inherits = </proto> ) {{ }}\n'
        for k in (1, 2)
    )
    robot, faults = read_bytes(stage(prototype, copies), "x.usda")
    assert robot is None
    assert "2 robots, 'base', 'robot2/base': name the one to read" in str(faults[0])
    robot, faults = read_bytes(stage(prototype, copies), "x.usda", body="robot2/base")
    assert robot.n == 1
    assert robot.base.kind == "floating"
    assert "body= reads one (2: base, tip)" in str(faults[0])


@usd
def test_joints_of_several_freedoms():
    limits = "".join(
        f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1\n"
        for axis in ("transX", "transY", "rotX", "rotY")
    )
    two = joint("PhysicsJoint", "d6", "", "a", limits)
    ball = joint("PhysicsSphericalJoint", "ball", "a", "b", "point3f physics:localPos0 = (1, 0, 0)")
    robot, faults = loaded(stage(body("a"), body("b"), two, ball))
    assert not faults
    names = ["d6_1", "d6_2", "ball_1", "ball_2", "ball_3"]
    assert [x.name for x in robot.joints if x.sigma != 2] == names
    assert [x.sigma for x in robot.joints if x.sigma != 2] == [1, 0, 0, 0, 0]
    mjcf = """<mujoco><worldbody><body name="a"><joint name="d6_1" type="slide" axis="0 0 1"/>
      <joint name="d6_2" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="0.25 0.5 0.5"/>
      <body name="b" pos="1 0 0"><joint name="ball" type="ball"/><inertial pos="0 0 0" mass="1"
      diaginertia="0.25 0.5 0.5"/></body></body></worldbody></mujoco>"""
    other, _ = read_bytes(mjcf.encode(), "x.xml")
    q = [0.1, 0.2, 0.3, 0.4, 0.5]
    assert same_mechanics(robot, other, q, q, by_name=False) < 1e-14


@usd
def test_followers_and_stacked_joints():
    follower = joint(
        "PhysicsRevoluteJoint", "two", "a", "b",
        "rel newton:mimicJoint = </one>\nfloat newton:mimicCoef1 = -2\n"
        "float newton:mimicCoef0 = 90\nuniform token physics:axis = \"Z\"",
    )  # fmt: skip
    one = joint("PhysicsRevoluteJoint", "one", "", "a")
    robot, _ = loaded(stage(body("a"), body("b"), one, follower))
    coupling = robot.couplings[2]
    assert (coupling.joint, coupling.ratio, float(coupling.offset)) == (1, -2, np.pi / 2)
    slide = joint(
        "PhysicsPrismaticJoint", "up", "", "a", "custom bool newton:jointsAddMobility = 1"
    )
    robot, _ = loaded(stage(body("a"), slide, one))
    assert [x.name for x in robot.joints] == ["up", "one"]
    assert not robot.loops


@usd
def test_what_is_wrong_or_left_out_is_said(folder):
    def faults(*parts, **options):
        robot, listed = read_bytes(stage(*parts, **options), "x.usda")
        assert robot is None or listed
        return "; ".join(str(fault) for fault in listed)

    one = joint("PhysicsRevoluteJoint", "one", "", "a")
    assert "x.usda:3: it is no USD file" in faults("def Xform {")
    assert "no prim of the stage has a PhysicsRigidBodyAPI" in faults()
    assert "'one' holds '/nothing', which is not there" in faults(
        body("a"), one.replace("</a>", "</nothing>")
    )
    assert "distance joints are left out" in faults(
        body("a"), body("b"), one, joint("PhysicsDistanceJoint", "d", "a", "b")
    )
    assert "PhysxPhysicsGearJoint is left out" in faults(
        body("a"), one, joint("PhysxPhysicsGearJoint", "g", "a", "a")
    )
    assert "the mass of 'a' is negative" in faults(body("a").replace("mass = 1", "mass = -1"), one)
    assert "metersPerUnit" in faults(body("a"), one, head="( metersPerUnit = 0 )")
    assert "is not a finite number" in faults(
        body("a", "point3f physics:centerOfMass = (nan, 0, 0)"), one
    )
    weightless = body("a").replace("mass = 1", "mass = 0")
    assert "no link that moves has mass" in faults(weightless, one)
    away = stage('def "x" ( references = @../secret.usda@ ) { }')
    (folder / "away.usda").write_bytes(away)
    (folder.parent / "secret.usda").write_text("#usda 1.0")
    assert "trust_includes=True" in str(read(str(folder / "away.usda"))[1][0])
    robot, listed = read(str(folder / "away.usda"), trust_includes=True)
    assert "no prim of the stage" in str(listed[-1])
    (folder / "part.usda").unlink()
    robot, listed = read(str(folder / "arm.usda"))
    assert "'./part.usda'" in str(listed[0])
    assert robot is None
    assert "is read by its path alone" in str(read_bytes(b"PXR-USDC" + bytes(90), "x.usd")[1][0])
    assert "open the main file by its path" in str(read_bytes(text(ARM).encode(), "x.usda")[1][0])
