"""The MATLAB package: run in Octave, with its MEX gateways; blocks in a stand-in of Simulink."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.package.building import STRICT, STUBS, built, robot_called, run, tool
from tests.package.test_package_write import HOSTILE

import cardan
from cardan.package.plan import make_plan

MODELS = ["inverse-dynamics", "transform", "energies", "lagrange"]


def octave(folder: Path, script: str) -> str:
    return run(tool("octave-cli"), "--quiet", "--no-init-file", "--eval", script, cwd=folder)


def mex(folder: Path, function: str) -> None:
    """Build the gateway for Octave: its own tool needs headers that few machines have."""
    source, target = folder / "src" / f"{function}_mex.c", folder / f"{function}_mex.mex"
    flags = [*STRICT, "-std=c99", "-shared", "-fPIC", "-I", STUBS]
    run(tool("gcc"), *flags, source, "-lm", "-o", target)


def test_functions_and_gateways_in_octave(tmp_path: Path) -> None:
    folder = built("tree", MODELS, "matlab", tmp_path, name="arm", f_e=True, effort="plain")
    for model in MODELS:
        mex(folder, f"arm_{model.replace('-', '_')}")
    wrong = """
    for x = {[1 2 3], single(ones(4, 1)), ones(4, 1)*i}
      try, arm_transform_mex(x{1}), catch e, disp(e.message), end
    end
    try, arm_transform_mex(), catch e, disp(e.message), end"""
    text = octave(folder, f"test_arm; {wrong}")
    assert "all results agree" in text
    assert text.count("_mex: tested") == 4
    assert text.count("_dynamics: tested") == 1
    assert text.count("full real double array") == 2
    assert "has 3 elements; expected" in text
    assert "takes 1 arguments" in text


def test_hostile_names_in_octave(tmp_path: Path) -> None:
    folder = built(robot_called(HOSTILE), ["gravity"], "matlab", tmp_path, name="arm")
    assert "all results agree" in octave(folder, "test_arm")


def test_the_test_of_a_package_can_fail(tmp_path: Path) -> None:
    folder = built(robot_called("planar"), ["gravity"], "matlab", tmp_path)
    path = folder / "planar_gravity.m"
    path.write_text(path.read_text().replace("Q(1) = ", "Q(1) = 1 + "))
    with pytest.raises(AssertionError, match="results differ"):
        octave(folder, "test_planar")


@pytest.mark.parametrize("name", ["rx90", "ur5"])
def test_blocks_of_simulink(name: str, tmp_path: Path) -> None:
    gcc, robot = tool("gcc"), cardan.load(name)
    models: list[Any] = ["inverse-dynamics", "inertia-matrix", "energies"]
    folder = built(robot, models, "matlab", tmp_path, name="arm", effort="plain")
    for function in make_plan(robot, "arm", models, {"effort": "plain"}).functions:
        block = tmp_path / function.name
        source = folder / "src" / f"{function.name}_sfun.c"
        run(gcc, *STRICT, "-std=c99", "-I", STUBS, source, "-lm", "-o", block)
        example = function.examples[0]
        p = example.inputs.get("p", np.array([]))
        ports = [x for key, x in example.inputs.items() if key != "p"]
        given = [len(p), *p, *np.concatenate(ports)]
        lines = run(block, input=" ".join(map(str, given))).splitlines()
        for line, array in zip(lines, function.outputs, strict=True):
            rows, columns, *values = map(float, line.split())
            expected = example.outputs[array.name].reshape(array.shape)
            if rows:
                assert (rows, columns) == array.shape
            near(values, expected.T.ravel(), 1e-9, 1e-9, each=True)


def test_a_block_refuses_wrong_parameters(tmp_path: Path) -> None:
    gcc = tool("gcc")
    folder = built("planar2r", ["gravity"], "matlab", tmp_path)
    block, source = tmp_path / "block", folder / "src" / "planar_2r_gravity_sfun.c"
    run(gcc, *STRICT, "-std=c99", "-I", STUBS, source, "-lm", "-o", block)
    done = subprocess.run([block], input="2 1 1 0 0", capture_output=True, text=True)
    assert done.returncode == 1
    assert "must be a real vector" in done.stdout
