"""The ROS 2 package: compiled and run with stand-ins of the interface, Eigen and pluginlib."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.package.building import STRICT, STUBS, built, robot_called, run, tool
from tests.package.test_package_write import HOSTILE

import cardan
from cardan.describe.robot import Base
from cardan.errors import ModelError

FLAGS = [*STRICT, "-std=c++17", "-isystem", STUBS / "ros"]


def with_friction() -> cardan.Robot:
    robot = cardan.load("puma560-numeric")
    joints = tuple(replace(joint, FV=k, FS=2 * k) for k, joint in enumerate(robot.joints, 1))
    return replace(robot, joints=joints, name="arm")


def test_plugin_and_tests_compile_and_run(tmp_path: Path) -> None:
    gpp = tool("g++")
    models = ["inverse-dynamics", "transform"]
    folder = built(with_friction(), models, "ros2", tmp_path, effort="plain")
    flags = [*FLAGS, "-I", folder / "include"]
    run(gpp, *flags, "-shared", "-fPIC", folder / "src" / "solver.cpp", "-o", tmp_path / "lib.so")
    for name in ("test_solver", "test_arm"):
        run(gpp, *flags, folder / "test" / f"{name}.cpp", "-o", tmp_path / name)
        assert "0 numbers differ" in run(tmp_path / name)


def test_closed_loops(tmp_path: Path) -> None:
    """The vectors are of the driven joints, and the plugin finds the others."""
    gpp, robot = tool("g++"), cardan.load("fivebar")
    joints = tuple(replace(x, FV=k, FS=2 * k) if x.active else x for k, x in
                   enumerate(robot.joints, 1))  # fmt: skip
    robot = replace(robot, joints=joints, name="arm")
    folder = built(robot, ["inverse-dynamics"], "ros2", tmp_path, effort="plain")
    flags = [*FLAGS, "-fsanitize=address,undefined", "-I", folder / "include"]
    for name in ("test_solver", "test_arm"):
        run(gpp, *flags, folder / "test" / f"{name}.cpp", "-o", tmp_path / name)
        assert "0 numbers differ" in run(tmp_path / name)
    run(gpp, *flags, "-c", folder / "src" / "controller.cpp", "-o", tmp_path / "controller.o")
    text = (folder / "test" / "test_solver.cpp").read_text()
    assert "n = 2;" in text
    assert "q[5][n]" in text


def test_the_files_name_one_another(tmp_path: Path) -> None:
    folder = built(robot_called(HOSTILE), ["gravity"], "ros2", tmp_path, name="arm")
    package = ElementTree.parse(folder / "package.xml").getroot()
    assert package.get("format") == "3"
    assert package.findtext("name") == "arm"
    assert package.findtext("export/build_type") == "ament_cmake"
    depends = {element.text for element in package.findall("depend")}
    plugin = ElementTree.parse(folder / "plugin.xml").getroot()
    found = plugin.find("class")
    assert found is not None
    assert found.get("type") == "arm::Solver"
    base = str(found.get("base_class_type"))
    assert base.split("::")[0] in depends
    text = (folder / "CMakeLists.txt").read_text()
    assert "pluginlib_export_plugin_description_file(inverse_dynamics_solver plugin.xml)" in text
    assert f"add_library({plugin.get('path')} SHARED" in text
    assert base in (folder / "src" / "solver.cpp").read_text()
    assert "not part" in (folder / "README.md").read_text(encoding="utf-8")


def test_what_the_interface_does_not_know_is_refused(tmp_path: Path) -> None:
    robot = robot_called("planar")
    pushed = replace(robot, links=(replace(robot.links[0], FX=1), robot.links[1]))
    elastic = replace(robot, joints=(robot.joints[0], replace(robot.joints[1], elastic=True)))
    floating = replace(robot, base=Base(kind="floating"))
    loops = cardan.load("fivebar")
    rubbing = replace(loops, joints=(*loops.joints[:3], replace(loops.joints[3], FV=1)))
    bending = cardan.load("flexible2r")
    for wrong, words in (
        (rubbing, "friction"),
        (bending, "bend"),
        (pushed, "wrenches"),
        (elastic, "elastic"),
        (floating, "floating"),
    ):
        with pytest.raises(ModelError, match=words):
            built(wrong, ["inverse-dynamics"], "ros2", tmp_path)
    with pytest.raises(ModelError, match="leave the options"):
        built(robot, ["inverse-dynamics"], "ros2", tmp_path, symbolic=True)


HOLD = """
#include <arm/controller.hpp>
#include <cstdio>

std::unique_ptr<controller_interface::ControllerInterface> stub_create();

int main()
{{
    auto hand = stub_create();
    const rclcpp_lifecycle::State state;
    hand->on_init();
    hand->on_configure(state);
    hand->state_interfaces_.resize(2 * {n});
    hand->command_interfaces_.resize({n});
    const double q[] = {{{q}}};
    for (std::size_t i = 0; i < {n}; ++i)
        hand->state_interfaces_[2 * i].value = q[i];
    hand->on_activate(state);
    for (std::size_t i = 0; i < {n}; ++i)
        hand->state_interfaces_[2 * i].value += 0.01;
    hand->update({{}}, {{}});
    for (const auto &x : hand->command_interfaces_)
        std::printf("%.17g\\n", x.value);
    std::printf("%s %zu\\n", hand->state_interface_configuration().names[0].c_str(),
                hand->command_interface_configuration().names.size());
}}
"""


def test_the_controller_holds_a_position(tmp_path: Path) -> None:
    """Computed torque of a small error, against the library."""
    gpp, robot = tool("g++"), replace(cardan.load("ur5"), name="arm")
    folder = built(robot, ["inverse-dynamics"], "ros2", tmp_path, effort="plain")
    q = np.array([0.3, -1.0, 0.5, 0.2, -0.4, 0.9])
    text = HOLD.format(n=6, q=", ".join(map(repr, q.tolist())))
    (tmp_path / "hold.cpp").write_text(text)
    sources = [tmp_path / "hold.cpp", folder / "src" / "controller.cpp"]
    run(gpp, *FLAGS, "-I", folder / "include", *sources, "-o", tmp_path / "hold")
    *torques, names = run(tmp_path / "hold").splitlines()
    zero = np.zeros(6)
    law = cardan.model(robot, "inverse-dynamics")
    expected = law.evaluate(q=q + 0.01, qd=zero, qdd=zero - 100 * 0.01)
    np.testing.assert_allclose([float(x) for x in torques], expected, rtol=1e-9, atol=1e-9)
    assert names == f"{robot.joints[0].name}/position 6"
    plugin = ElementTree.parse(folder / "controller.xml").getroot()
    assert f"add_library({plugin.get('path')} SHARED" in (folder / "CMakeLists.txt").read_text()
