"""What names of frames mean, against Pinocchio and MuJoCo: a name is the frame of the file."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import among

import cardan
from cardan.describe.check import check
from cardan.describe.files import dumps, read_bytes
from cardan.describe.robot import Frame, Robot
from cardan.errors import ModelError, UnknownNameError
from cardan.exact import exact, pi
from cardan.mechanism.frames import frame_of, with_frames
from cardan.models.bodies import bodies
from cardan.models.jacobian import jacobian
from cardan.motion.frames import link_frames

ROBOTS = Path(__file__).resolve().parents[3] / "shared/robots"
URDFS = sorted((ROBOTS / "urdf").glob("*.urdf"))
UR5 = ROBOTS / "urdf/ur5_robot.urdf"
# 12 digits of an angle, as many files have them, are read as the multiple of pi they stand for
ANGLES = {"1.57079632679": repr(np.pi / 2), "3.14159265359": repr(np.pi),
          "1.570796327": repr(np.pi / 2)}  # fmt: skip


def load(path: Path, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cardan.load(path, **options)


def text_of(path: Path) -> str:
    """A URDF with all digits of its right angles, so that both readers see the same numbers."""
    digits = "|".join(map(re.escape, ANGLES))
    return re.sub(rf"(?<![\d.])({digits})(?!\d)", lambda x: ANGLES[x[1]], path.read_text())


def read(text: str, form: str = "urdf", **options: Any) -> Robot:
    robot, faults = read_bytes(text.encode(), f"robot.{form}", **options)
    assert robot is not None, faults
    return robot


class Peer:
    """A URDF in Pinocchio, in the order of our joints."""

    def __init__(self, text: str, robot: Robot) -> None:
        self.pin = pytest.importorskip("pinocchio")
        self.model = self.pin.buildModelFromXML(text)
        self.data = self.model.createData()
        self.ids = [self.model.getJointId(x.name) for x in robot.joints if x.sigma != 2]

    def at(self, q: np.ndarray) -> None:
        x = self.pin.neutral(self.model)
        for value, k in zip(q, self.ids, strict=True):
            joint = self.model.joints[k]
            own = [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
            x[joint.idx_q : joint.idx_q + joint.nq] = own
        self.pin.computeJointJacobians(self.model, self.data, x)
        self.pin.updateFramePlacements(self.model, self.data)

    def frame(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """T, and J with the axes of the root."""
        k = self.model.getFrameId(name, self.pin.FrameType.BODY)
        world = self.pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = self.pin.getFrameJacobian(self.model, self.data, k, world)
        columns = [self.model.joints[i].idx_v for i in self.ids]
        return self.data.oMf[k].homogeneous, J[:, columns]


@pytest.mark.parametrize("fixed", ["merge", "keep"])
@pytest.mark.parametrize("path", URDFS, ids=lambda p: p.stem)
def test_every_frame_of_a_urdf_is_pinocchios(path: Path, fixed: str) -> None:
    text = text_of(path)
    robot = read(text, fixed=fixed)
    peer = Peer(text, robot)
    names = [frame.name for frame in robot.frames]
    bodies_of_file = [f.name for f in peer.model.frames if f.type == peer.pin.FrameType.BODY]
    root = {robot.base.link.name, "universe", "root_joint"}
    assert set(names) | root >= set(bodies_of_file)
    q = np.random.default_rng(1).uniform(-3, 3, robot.n)
    _agrees(robot, peer, q)


def _agrees(robot: Robot, peer: Peer, q: np.ndarray) -> None:
    names = [frame.name for frame in robot.frames]
    peer.at(q)
    extended, numbers = with_frames(robot, names)
    placed = link_frames(extended, q)
    scene = bodies(extended, {}.__getitem__)
    for name, j in zip(names, numbers, strict=True):
        T, J = peer.frame(name)
        np.testing.assert_allclose(placed[j], T, atol=1e-12, err_msg=name)
        own = np.array(jacobian(scene, list(q), j, 0, 0).rows(), float)
        np.testing.assert_allclose(own, J, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("path", URDFS, ids=lambda p: p.stem)
def test_a_urdf_written_again_has_the_same_frames(path: Path) -> None:
    """The text that we write, in Pinocchio, against the robot that was read."""
    robot = read(text_of(path))
    text = dumps(robot, "urdf")
    again = read(text)
    assert [(x.name, x.link, x.kind) for x in again.frames if x.kind == "link"] == [
        (x.name, x.link, x.kind) for x in robot.frames if x.kind == "link"
    ]
    assert frame_of(again).name == frame_of(robot).name
    _agrees(robot, Peer(text, robot), np.random.default_rng(2).uniform(-3, 3, robot.n))


@pytest.mark.parametrize("fixed", ["merge", "keep"])
@pytest.mark.parametrize("name", ["base", "base_link", "tool0", "ee_link", "forearm_link", None])
def test_models_of_named_frames_are_pinocchios(name: str | None, fixed: str) -> None:
    if not UR5.exists():
        pytest.skip("the collection of robots is not here")
    text = text_of(UR5)
    robot = read(text, fixed=fixed)
    peer = Peer(text, robot)
    q = np.array([0.3, -1.2, 1.5, 0.4, 0.9, -0.7])
    peer.at(q)
    T, J = peer.frame(name or "ee_link")
    program = cardan.model(robot, "transform", frame=name)
    np.testing.assert_allclose(program.evaluate(q=q), T, atol=1e-12)
    B = peer.frame("base")[0]
    seen = cardan.model(robot, "transform", frame=name, reference="base")
    np.testing.assert_allclose(seen.evaluate(q=q), np.linalg.inv(B) @ T, atol=1e-12)
    for axes, R in (("world", np.eye(3)), ("base", B[:3, :3]), ("base_link", np.eye(3))):
        own = cardan.model(robot, "jacobian", frame=name, projection=axes).evaluate(q=q)
        turned = np.vstack([R.T @ J[:3], R.T @ J[3:]])
        np.testing.assert_allclose(own, turned, atol=1e-12)


def test_jdot_qdot_of_a_named_frame_is_the_slope_of_its_jacobian() -> None:
    robot = _arm()
    q, qd, h = np.array([0.3, -0.8]), np.array([0.7, -1.1]), 1e-6
    J = cardan.model(robot, "jacobian", frame="tip", projection="mount")
    slope = (J.evaluate(q=q + h * qd) - J.evaluate(q=q - h * qd)) @ qd / (2 * h)
    own = cardan.model(robot, "jdot-qdot", frame="tip", projection="mount")
    np.testing.assert_allclose(own.evaluate(q=q, qd=qd), slope, atol=1e-8)


def _with_tip(name: str, link: int) -> tuple[Robot, np.ndarray]:
    """A bundled robot with a frame "tip" on a link, and its placement there."""
    robot = cardan.load(name)
    tip = Frame("tip", link, tuple(map(exact, ("0.1", "-0.2", "0.3"))), (0, 0, pi / 2))
    T = np.array([[0, -1, 0, 0.1], [1, 0, 0, -0.2], [0, 0, 1, 0.3], [0, 0, 0, 1]])
    return replace(robot, frames=(tip,)), T


@pytest.mark.parametrize(("name", "link"), [("fivebar", 2), ("delta", 5), ("tree", 4)])
def test_named_frames_of_closed_and_branched_robots(name: str, link: int) -> None:
    """A point of a moving frame: its velocity and acceleration by the textbook."""
    robot, E = _with_tip(name, link)
    rng = np.random.default_rng(3)
    q = rng.uniform(-1, 1, robot.n)
    T, own = (cardan.model(robot, "transform", frame=x).evaluate(q=q) for x in (link, "tip"))
    np.testing.assert_allclose(own, T @ E, atol=1e-14)
    J, moved = (cardan.model(robot, "jacobian", frame=x).evaluate(q=q) for x in (link, "tip"))
    p = T[:3, :3] @ E[:3, 3]
    shifted = J[:3] + np.cross(J[3:], p, axisa=0, axisc=0)
    np.testing.assert_allclose(moved, np.vstack([shifted, J[3:]]), atol=1e-12)
    qd = rng.uniform(-1, 1, J.shape[1])
    w = J[3:] @ qd
    a, b = (cardan.model(robot, "jdot-qdot", frame=x).evaluate(q=q, qd=qd) for x in (link, "tip"))
    linear = a[:3] + np.cross(a[3:], p) + np.cross(w, np.cross(w, p))
    np.testing.assert_allclose(b, [*linear, *a[3:]], atol=1e-11)


def test_named_frames_of_flexible_robots() -> None:
    robot, E = _with_tip("flexible1r", 2)
    q = np.random.default_rng(3).uniform(-0.1, 0.1, robot.n + robot.ne)
    T, own = (cardan.model(robot, "transform", frame=x).evaluate(q=q) for x in (2, "tip"))
    np.testing.assert_allclose(own, T @ E, atol=1e-14)
    J, moved = (cardan.model(robot, "jacobian", frame=x).evaluate(q=q) for x in (2, "tip"))
    shifted = J[:3] + np.cross(J[3:], T[:3, :3] @ E[:3, 3], axisa=0, axisc=0)
    np.testing.assert_allclose(moved, np.vstack([shifted, J[3:]]), atol=1e-13)


def test_frames_of_loops_stay_where_they_are() -> None:
    """They are numbered after the links, of which a named frame is one more."""
    robot, _ = _with_tip("akr3000", 3)
    extended, numbers = with_frames(robot, ["tip"])
    n = len(robot.links)
    assert numbers == [n + 1]
    for old, new in zip(robot.loops, extended.loops, strict=True):
        for x, y in ((old.cut, new.cut), (old.twin, new.twin)):
            assert y.antecedent == x.antecedent + (x.antecedent > n)
    assert not [x for x in check(extended) if x.severity == "error"]


ARM = """<robot name="arm">
  <link name="world"/> <link name="mount"/> <link name="upper"/> <link name="lower"/>
  <link name="flange"/> <link name="tip"/>
  <joint name="m" type="fixed"><parent link="world"/><child link="mount"/>
    <origin xyz="0 0 0.5" rpy="0 0 3.141592653589793"/></joint>
  <joint name="a" type="continuous"><parent link="mount"/><child link="upper"/>
    <origin xyz="0.1 0 0.2" rpy="0.3 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0.1 0.4" rpy="0 0.2 0"/><axis xyz="1 0 0"/></joint>
  <joint name="f" type="fixed"><parent link="lower"/><child link="flange"/>
    <origin xyz="0 0 0.3" rpy="0 0 0.7"/></joint>
  <joint name="t" type="fixed"><parent link="flange"/><child link="tip"/>
    <origin xyz="0.01 0 0.1" rpy="0.1 1.570796327 0"/></joint>
</robot>"""


def _arm(**options: Any) -> Robot:
    return read(ARM, **options)


def test_an_absent_base_is_refused_and_the_choices_are_named() -> None:
    robot = _arm()
    for model, option in (
        ("transform", "frame"), ("transform", "reference"), ("jacobian", "projection"),
        ("inverse-geometry", "reference"),
    ):  # fmt: skip
        with pytest.raises(UnknownNameError, match=r"no frame 'base'.*mount.*world"):
            cardan.model(robot, model, **{option: "base"})
    np.testing.assert_array_equal(
        cardan.model(robot, "transform", frame="world").evaluate(q=[0, 0]), np.eye(4)
    )
    plain = cardan.load("planar2r")
    assert frame_of(plain, "base").link == 0
    with pytest.raises(UnknownNameError, match="did you mean 'flange'"):
        frame_of(robot, "flang")
    with pytest.raises(ModelError, match="frames are 0"):
        frame_of(robot, 3)


def test_khalils_frames_have_names_of_their_own() -> None:
    robot = _arm()
    q = np.array([0.4, -0.3])
    numbered = cardan.model(robot, "transform", frame=2)
    for name in ("2", "khalil:2", "khalil:lower"):
        found = cardan.model(robot, "transform", frame=name).evaluate(q=q)
        np.testing.assert_array_equal(found, numbered.evaluate(q=q))
    own = cardan.model(robot, "transform", frame="lower")
    assert np.abs(own.evaluate(q=q) - numbered.evaluate(q=q)).max() > 0.1
    assert "frame 2 (khalil:lower)" in numbered.meaning["T"]
    assert "frame lower in" in own.meaning["T"]
    assert "khalil:" in repr(robot)


def test_a_frame_almost_along_its_link_keeps_its_digits() -> None:
    """The common normal of the two z axes is far away: six parameters alone would lose it."""
    robot = cardan.load({"link": [{"d": "1"}], "frame": [
        {"name": "near", "link": 1, "xyz": ["0.3", "0.2", "0.1"], "rpy": ["2e-10", "1e-9", "0.3"]}
    ]})  # fmt: skip
    T = cardan.model(robot, "transform", frame="near", reference=1).evaluate(q=[0.0])
    np.testing.assert_allclose(T[:3, 3], [0.3, 0.2, 0.1], atol=1e-15)
    np.testing.assert_allclose(T[2, :2], [-1e-9, 2e-10], atol=1e-15)


def test_formulas_place_a_frame_too() -> None:
    values = {"x": 0.3, "y": -0.2, "z": 0.5, "r": 0.4, "p": -0.7, "w": 1.1}
    frame = {"name": "tool", "xyz": ["x", "y", "z"], "rpy": ["r", "p", "w"]}
    robot = cardan.load({"link": [{}], "frame": [frame], "end_effector": "tool"})
    assert set(values) <= set(robot.parameters)
    program = cardan.model(robot, "transform")
    p = [values[name] for name in program.parameters]
    number = cardan.model(robot.with_values(values), "transform")
    np.testing.assert_allclose(program.evaluate(q=[0.2], p=p), number.evaluate(q=[0.2]), atol=1e-14)


def test_saving_keeps_the_frames() -> None:
    for robot in (_arm(), _arm(fixed="keep")):
        again, faults = read_bytes(dumps(robot, "toml").encode(), "arm.toml")
        assert again == robot, faults
    assert robot.with_values({}) == robot
    assert robot.tree().frames == robot.frames


def test_a_pose_of_a_named_frame_returns_the_configuration() -> None:
    if not UR5.exists():
        pytest.skip("the collection of robots is not here")
    robot = load(UR5)
    q = np.array([0.3, -1.2, 1.5, 0.4, 0.9, -0.7])
    for frame, reference in (("tool0", 0), ("tool0", "base"), (None, "base_link"), (6, "world")):
        T = cardan.model(robot, "transform", frame=frame, reference=reference).evaluate(q=q)
        solution = cardan.model(robot, "inverse-geometry", frame=frame, reference=reference)
        assert solution.method == "paul"
        rows = solution.solve(T)
        among(np.exp(1j * rows), np.exp(1j * q), 1e-9)
    found = cardan.inverse_kinematics(robot, T_of(robot, "tool0", q), "tool0", guess=q + 0.1)
    np.testing.assert_allclose(found.q, q, atol=1e-8)
    with pytest.raises(ModelError, match="fixed on the base"):
        cardan.model(robot, "inverse-geometry", reference="forearm_link")


def T_of(robot: Robot, frame: str, q: np.ndarray) -> np.ndarray:
    return np.asarray(cardan.model(robot, "transform", frame=frame).evaluate(q=q))


MJCF = """<mujoco><compiler angle="radian"/><worldbody>
  <site name="origin" pos="1 2 3" euler="0.1 0.2 0.3"/>
  <body name="pedestal" pos="0.1 0 0.5" euler="0 0 0.4">
    <body name="upper" pos="0 0 0.3" euler="0.2 0 0">
      <joint name="a" axis="0 1 0" pos="0.05 0 0.1" ref="0.3"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <site name="upper" pos="0 0 0.2"/>
      <body name="lower" pos="0 0.1 0.4">
        <joint name="b" type="slide" axis="1 0 1"/><joint name="c" axis="1 0 0"/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <body name="hand" pos="0 0 0.3" euler="0 0 1"><site name="grip" pos="0.1 0 0"/></body>
      </body>
    </body>
  </body></worldbody></mujoco>"""


def _scenes() -> list[Any]:
    return [MJCF, *sorted((ROBOTS / "mjcf").glob("*/*.xml"))]


@pytest.mark.parametrize("scene", _scenes(), ids=lambda x: getattr(x, "stem", "written"))
def test_bodies_and_sites_of_mjcf_are_mujocos(scene: Any) -> None:
    mujoco = pytest.importorskip("mujoco")
    try:
        robot = load(scene) if isinstance(scene, Path) else read(scene, "xml")
    except cardan.CardanError as error:
        pytest.skip(str(error)[:80])
    try:
        text = str(scene)
        peer = (mujoco.MjModel.from_xml_path if isinstance(scene, Path)
                else mujoco.MjModel.from_xml_string)(text)  # fmt: skip
    except ValueError as error:  # meshes that are not here
        pytest.skip(str(error)[:80])
    _agrees_with_mujoco(robot, peer)


@pytest.mark.parametrize("form", ["xml", "urdf"])
def test_mjcf_written_again_has_the_same_frames(form: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = read(MJCF, "xml")
    again = read(dumps(robot, form), form)
    assert {x.name for x in robot.frames} <= {x.name for x in again.frames}
    assert frame_of(again).name == "hand"
    if form == "xml":
        _agrees_with_mujoco(robot, mujoco.MjModel.from_xml_string(dumps(robot, form)))
    q = np.array([0.3, 0.1, -0.8])
    for frame in robot.frames:
        old, new = (cardan.model(x, "transform", frame=frame.name) for x in (robot, again))
        np.testing.assert_allclose(old.evaluate(q=q), new.evaluate(q=q), atol=1e-14)


def test_frames_of_a_floating_base_are_those_of_the_robot() -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = read(FLOATING, "xml")
    assert [x.name for x in robot.frames] == ["shell", "leg", "eye", "foot"]
    assert frame_of(robot).name == "leg"
    _agrees_with_mujoco(robot, mujoco.MjModel.from_xml_string(FLOATING))


FLOATING = """<mujoco><worldbody>
  <body name="trunk" pos="0.1 0.2 1" euler="10 20 30"><freejoint/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <site name="eye" pos="0.2 0 0"/>
    <body name="shell" pos="0 0 0.1" euler="0 45 0"/>
    <body name="leg" pos="0 0.1 -0.2" euler="5 0 0"><joint name="hip" axis="0 1 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="foot" pos="0 0 -0.4"/></body>
  </body>
  <body name="table" pos="1 1 0"/>
</worldbody></mujoco>"""


def _agrees_with_mujoco(robot: Robot, peer: Any) -> None:
    import mujoco

    data = mujoco.MjData(peer)
    q = np.random.default_rng(2).uniform(-0.5, 0.5, robot.n)
    moving = [joint.name for joint in robot.joints if joint.sigma != 2]
    floating = robot.base.kind == "floating"
    for i, name in enumerate(moving):
        k = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_JOINT, name)
        if k < 0 or peer.jnt_type[k] == mujoco.mjtJoint.mjJNT_BALL:  # three hinges stand for it
            q[i] = 0
        else:
            data.qpos[peer.jnt_qposadr[k]] = q[i]
    mujoco.mj_kinematics(peer, data)
    extended, numbers = with_frames(robot, [frame.name for frame in robot.frames])
    Z = np.array([float(x) for x in robot.base.Z]).reshape(4, 4) if floating else np.eye(4)
    placed = link_frames(extended, q, Z)
    kinds = set()
    for frame, j in zip(robot.frames, numbers, strict=True):
        kinds.add(frame.kind)
        P, R = _mujocos(mujoco, peer, data, frame)
        np.testing.assert_allclose(placed[j][:3, 3], P, atol=1e-9, err_msg=frame.name)
        np.testing.assert_allclose(placed[j][:3, :3], R, atol=1e-9, err_msg=frame.name)
    assert "body" in kinds or not robot.n  # a flying body alone is the base


def _mujocos(mujoco: Any, peer: Any, data: Any, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    if frame.kind == "site":
        k = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_SITE, frame.name.removeprefix("site:"))
        return data.site_xpos[k], data.site_xmat[k].reshape(3, 3)
    k = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_BODY, frame.name)
    assert k >= 0, frame
    return data.xpos[k], data.xmat[k].reshape(3, 3)


def test_the_last_body_of_mjcf_is_the_end_effector() -> None:
    robot = read(MJCF, "xml")
    assert frame_of(robot).name == "hand"
    assert {"origin", "site:upper", "grip"} <= {frame.name for frame in robot.frames}


def test_rows_of_a_standard_table_are_its_own_frames() -> None:
    from cardan.describe.dh.tables import from_dh

    rows = [(0, 0.3, 0.1, "pi/2"), (0, 0, 0.4, 0), (0, 0.05, 0.02, "-pi/2"), (0, 0.4, 0.1, 0.3)]
    robot = from_dh(rows, "standard")
    q, T = np.array([0.3, -0.4, 0.5, 0.8]), np.eye(4)
    values = [(0, 0.3, 0.1, np.pi / 2), (0, 0, 0.4, 0), (0, 0.05, 0.02, -np.pi / 2),
              (0, 0.4, 0.1, 0.3)]  # fmt: skip
    for j, ((_, d, a, alpha), x) in enumerate(zip(values, q, strict=True), 1):
        c, s, ca, sa = np.cos(x), np.sin(x), np.cos(alpha), np.sin(alpha)
        T = T @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d],
                 [0, 0, 0, 1]]  # fmt: skip
        own = cardan.model(robot, "transform", frame=f"link{j}")
        np.testing.assert_allclose(own.evaluate(q=q), T, atol=1e-14)
    np.testing.assert_allclose(cardan.model(robot, "transform").evaluate(q=q), T, atol=1e-14)
