"""What holds for every kind: folders appear whole, names are safe, numbers come from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.package.building import STRICT, built, robot_called, run, tool

import cardan
from cardan.errors import InputError, ModelError, UnknownNameError
from cardan.package import KINDS, write_package
from cardan.package import folder as folder_module
from cardan.package.folder import fill
from cardan.package.plan import make_plan
from cardan.package.write import checked_name, package_name

HOSTILE = 'a */ \\evil @NAME@ ]]> <b> --> "\'\'\'""" $(rm) | `x` (* %{ #= coding:utf-7 é ??/'


def models_of(kind: str) -> list[Any]:
    return ["direct-dynamics" if kind == "fmu" else "inverse-dynamics"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_is_the_same_every_time(kind: str, tmp_path: Path) -> None:
    robot = robot_called(HOSTILE)
    first = write_package(robot, models_of(kind), kind, tmp_path / "a", effort="plain")
    second = write_package(robot, models_of(kind), kind, tmp_path / "b", effort="plain")
    assert first.files == second.files
    for name in first.files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    found = [p.relative_to(tmp_path / "a").as_posix() for p in (tmp_path / "a").rglob("*")
             if p.is_file()]  # fmt: skip
    assert sorted(found) == sorted(first.files)
    assert "README.md" in found
    assert any("test" in name for name in found)


def test_the_readme_has_the_numbers_of_the_reference(tmp_path: Path) -> None:
    robot = robot_called("planar")
    page = (built(robot, ["gravity"], "c", tmp_path) / "README.md").read_text()
    example = make_plan(robot, "planar", ["gravity"], {}).functions[0].examples[0]
    expected = cardan.model(robot, "gravity").evaluate(q=example.inputs["q"])
    near(expected, example.outputs["Q"], 1e-12, 1e-8, each=True)
    assert ", ".join(f"{x:.12g}" for x in expected) in page
    assert "parameters kept as symbols" in page


@pytest.mark.parametrize(
    ("robot", "model", "options", "words"),
    [
        ("ur5", "inverse-dynamics", {}, "Lagrange"),
        ("ur5", "inverse-dynamics", {"method": "lagrange"}, "before the search"),
        ("rx90", "inverse-dynamics", {}, "Lagrange's equations, parameters folded in"),
        ("ur5", "inverse-dynamics", {"base_parameters": True}, "Lagrange"),
        ("ur5", "direct-dynamics", {"method": "recursive"}, "method inertia-matrix"),
        ("ur5", "direct-dynamics", {"method": "inertia-matrix"}, "method recursive"),
        ("ur5", "inertia-matrix", {"symbolic": True}, "parameters folded in"),
        ("ur5", "lagrange", {}, "renaud"),
        ("scara", "regressor", {"base_parameters": True}, "before the search"),
        ("rx90", "transform", {}, "folded in"),
    ],
)
def test_the_numbers_come_by_another_route(
    robot: str, model: str, options: dict[str, Any], words: str
) -> None:
    plan = make_plan(cardan.load(robot), "x", [model], options)
    function = plan.functions[0]
    assert words in function.reference.route
    assert function.reference.program.code.nodes != function.program.code.nodes
    assert len(function.examples) == 5


def test_a_model_that_is_wrong_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cardan.package import reference

    exact = reference.arrays_of

    def wrong(program: Any, state: Any) -> Any:
        found = exact(program, state)
        return {k: x * (1 + 1e-6) if "q" in program.inputs and program.parameters else x
                for k, x in found.items()}  # fmt: skip

    monkeypatch.setattr(reference, "arrays_of", wrong)
    with pytest.raises(ModelError, match="two derivations agree on 0"):
        write_package(robot_called("planar"), ["gravity"], "c", tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    robot, folder = robot_called("planar"), tmp_path / "out"
    folder.mkdir()
    write_package(robot, "gravity", "c", folder)  # empty: fine
    (folder / "mine.txt").write_text("mine")
    (folder / "README.md").write_text("old")
    with pytest.raises(InputError, match="not empty"):
        write_package(robot, "gravity", "c", folder)
    assert (folder / "README.md").read_text() == "old"
    write_package(robot, "gravity", "c", folder, force=True)
    assert (folder / "mine.txt").read_text() == "mine"
    assert (folder / "README.md").read_text() != "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    with pytest.raises(InputError, match="a file of this name"):
        write_package(robot, "gravity", "c", folder / "mine.txt", force=True)


def test_nothing_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_module.Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        write_package(robot_called("planar"), "gravity", "c", tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("RX90", "rx90"), ("Planar 2R", "planar_2r"), ("1st", "robot_1st"), ("", "robot"),
        ("α", "robot"), ("double", "double_robot"), ("math", "math_robot"), ("a", "a_robot"),
        ("x" * 99, "x" * 28), ("../../etc", "etc"), ("numpy", "numpy_robot"), ("a__b", "a_b"),
        ("class", "class_robot"), ("test", "test_robot"), ("sin", "sin_robot"),
    ],
)  # fmt: skip
def test_names_are_made_safe(given: str, name: str) -> None:
    assert package_name(given) == name
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["RX90", "a b", "../x", "double", "x" * 29, "a__b", "_a", "1a"])
def test_names_given_are_checked(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="would do"):
        write_package(robot_called("planar"), "gravity", "c", tmp_path / "out", name=name)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    robot, out = robot_called("planar"), tmp_path / "out"
    with pytest.raises(UnknownNameError, match="package kind 'cobol'"):
        write_package(robot, "gravity", "cobol", out)
    with pytest.raises(UnknownNameError, match="did you mean 'gravity'"):
        write_package(robot, "gravty", "c", out)
    with pytest.raises(UnknownNameError, match="option 'frame' of these models"):
        write_package(robot, "gravity", "c", out, frame=1)
    with pytest.raises(InputError, match="at least one model"):
        write_package(robot, [], "c", out)
    with pytest.raises(ModelError, match="is no program"):
        write_package(robot, "base-parameters", "c", out)
    with pytest.raises(InputError, match="path of a folder"):
        write_package(robot, "gravity", "c", "")
    with pytest.raises(InputError, match="or \\(name, options\\)"):
        write_package(robot, [("gravity", "effort")], "c", out)
    with pytest.raises(ModelError, match="'direct-dynamics' alone"):
        write_package(robot, ["gravity", "direct-dynamics"], "fmu", out)
    with pytest.raises(ModelError, match="no start value"):
        write_package(cardan.load("planar2r"), "direct-dynamics", "fmu", out)
    with pytest.raises(ModelError, match="symbols without a value"):
        write_package(cardan.load("planar2r"), "inverse-dynamics", "ros2", out)
    assert not out.exists()


def test_options_go_to_the_models_that_know_them() -> None:
    robot = cardan.load("ur5")
    wanted = ["gravity", ("transform", {"frame": 2}), ("transform", {"frame": 3})]
    plan = make_plan(robot, "ur5", wanted, {"effort": "plain"})
    assert [f.name for f in plan.functions] == ["ur5_gravity", "ur5_transform", "ur5_transform_2"]
    one, two = (f.examples[0].outputs["T"] for f in plan.functions[1:])
    assert not np.allclose(one, two)


def test_a_model_twice_in_a_package_builds(tmp_path: Path) -> None:
    wanted = [("transform", {"frame": 2}), ("transform", {"frame": 3})]
    target = write_package(cardan.load("planar3r"), wanted, "c", tmp_path / "c").folder
    sources = [*target.glob("src/*.c"), *target.glob("test/*.c")]
    program = tmp_path / "test"
    run(tool("gcc"), *STRICT, f"-I{target / 'include'}", *sources, "-o", program, "-lm")
    run(program)
    text = (target / "README.md").read_text()
    assert "`T` of `transform` | 4 x 4: of frame 2" in text
    assert "`T` of `transform_2` | 4 x 4: of frame 3" in text
    assert "`p` of `transform_2` | 2: free parameters, SI units: L1, L2" in text


def test_what_fills_a_place_is_not_filled_again() -> None:
    assert fill("@A@ @B@", a="@B@", b="x") == "@B@ x"
