"""The files that an identification writes are as good as its report says, each on its own.

Those of the recordings of real robots are in test_recordings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.identify import closed, synthetic
from tests.identify.files import FILES, as_written

from cardan.identification import Identification, identify

SMOOTH = {"friction": {"smooth": "fit"}}
BARE = {"smooth": 0.0, "offset": False, "quadratic": False, "asymmetry": False, "stribeck": False}
WIDTHS, OFFSETS = [0.1, 0.2, 0.3], [2.0, -3.0, 1.0]


@cache
def rubbing(split: float = 0.3) -> tuple[dict[str, Any], Identification]:
    """A recording with friction FS qd / sqrt(qd^2 + VS^2) and offsets, which URDF has no word for,
    and its identification."""
    arm = synthetic.arm()
    log = synthetic.motion(arm.n, duration=12.0)
    frictionless = replace(arm, joints=tuple(replace(x, FS=0) for x in arm.joints))
    tau = synthetic.torques(frictionless, log)
    tau += 6.0 * log["qd"] / np.hypot(log["qd"], WIDTHS) + OFFSETS
    rng = np.random.default_rng(3)
    log |= {"tau": tau + 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape)}
    return log, identify(arm, log, {**SMOOTH, "fit": {"split": split}})


def test_files_have_the_error_that_is_printed(tmp_path: Path) -> None:
    _, result = rubbing()
    assert result.errors["fit"] < 0.011  # the law finds all but the noise
    as_written(result, tmp_path)
    law, file = result.law_errors, result.file_errors["robot.toml"]
    assert set(law) == set(file) == {"fit", "held out"}
    assert file == pytest.approx(law, abs=1e-5)
    assert result.not_held == {}
    assert result.file_errors["robot.urdf"]["fit"] > 2 * law["fit"]  # it has FV and FS alone
    joints = result.robot.joints
    assert [float(x.VS) for x in joints] == pytest.approx(WIDTHS, rel=0.05)  # type: ignore[arg-type]
    assert [float(x.FO) for x in joints] == pytest.approx(OFFSETS, abs=0.2)  # type: ignore[arg-type]
    report = (tmp_path / "report.md").read_text()
    assert "robot.par and robot.urdf hold FV qd + FS sign(qd) alone" in report


def test_formats_with_less_are_fitted_again_with_what_they_hold() -> None:
    """By a second route: the fit of a recipe that has FV qd + FS sign(qd) alone."""
    log, result = rubbing()
    arm = result.original
    again = identify(arm, log, {"friction": BARE, "fit": {"split": 0.3, "motor_inertia": True},
                                "filter": _filters(result)})  # fmt: skip
    assert again.plain is None
    for one, other in zip(result.plain_robot.joints, again.robot.joints, strict=True):
        assert pytest.approx([other.FV, other.FS, other.IA], rel=1e-6) == [one.FV, one.FS, one.IA]
    assert result.file_errors["robot.urdf"] == pytest.approx(again.file_errors["robot.toml"])


def _filters(result: Identification) -> dict[str, Any]:
    plan = result.plans[0]
    return {"cutoff": plan.cutoff or "none", "parallel": plan.parallel or "none",
            "decimate": plan.decimate, "delay": result.recipe.filter.delay}  # fmt: skip


def test_friction_is_found_without_a_recipe() -> None:
    """Widths and offsets are tried and chosen, and said; what does not help is left out."""
    log, _ = rubbing()
    result = identify(synthetic.arm(), log, consistent=False)
    assert result.recipe.friction.smooth == "fit"
    assert result.recipe.friction.quadratic is False
    near([result.shape[f"VS{j}"] for j in (1, 2, 3)], WIDTHS, 0.1)
    assert any("qd / sqrt(qd^2 + VS^2)" in choice for choice in result.choices)
    assert any("without FQ" in choice for choice in result.choices)
    assert result.to_dict()["choices"] == list(result.choices)
    assert result.file_errors["robot.toml"] == pytest.approx(result.law_errors, abs=1e-5)


def test_a_delay_is_found_without_a_recipe() -> None:
    arm = synthetic.arm()
    log = synthetic.recorded(arm, noise=0.01)
    dt = float(log["t"][1] - log["t"][0])
    late = {**log, "tau": np.roll(log["tau"], 4, axis=0)}
    late = {key: x[4:] for key, x in late.items()}
    result = identify(arm, late, consistent=False)
    assert result.recipe.filter.delay == pytest.approx(4 * dt)
    assert any(choice.startswith("delay of the torques") for choice in result.choices)


def test_a_file_that_holds_all_has_the_error_of_the_law() -> None:
    arm = synthetic.arm()
    log = synthetic.recorded(arm, noise=0.02)
    result = identify(arm, log, {"friction": {"offset": False}})
    assert result.not_held == {}
    for name in FILES:
        assert result.file_errors[name]["fit"] == pytest.approx(result.errors["fit"], abs=1e-5)
    assert not any("lost" in note for note in result.notes)


def test_parameters_that_no_field_holds_are_named(tmp_path: Path) -> None:
    """A coupled parameter of the recipe; a fixed width and a Stribeck curve have fields."""
    arm = synthetic.arm()
    log = synthetic.recorded(arm, noise=0.01)
    log["tau"][:, 1] += 0.3 * log["qdd"][:, 2]
    recipe = {"friction": {"smooth": 0.02, "stribeck": True}, "coupled": {"Iam3": {"tau2": "qdd3"}}}
    result = identify(arm, log, recipe, consistent=False)
    assert set(result.not_held) == {"Iam3"}
    assert pytest.approx(0.02) == result.robot.joints[0].VS
    assert result.robot.joints[0].VB != 0
    (note,) = [note for note in result.notes if "no field of a robot file holds" in note]
    assert "Iam3" in note
    assert "Iam3 = " in result.robot.notes
    as_written(result, tmp_path, ("robot.toml",))


def test_a_payload_is_not_of_the_file(tmp_path: Path) -> None:
    """The file is of the robot alone, and judged on the recordings without the load."""
    arm = synthetic.arm()
    empty = synthetic.recorded(arm, noise=0.01)
    heavy = replace(arm, links=(*arm.links[:2], replace(arm.links[2], M=float(arm.links[2].M) + 3)))
    loaded = synthetic.recorded(heavy, noise=0.01, seed=1)
    result = identify(arm, empty, payload=loaded, consistent=False)
    assert len(result.tracks) == 1
    as_written(result, tmp_path, ("robot.toml",))
    assert result.file_errors["robot.toml"]["fit"] < 0.02


def test_files_of_a_tree_with_names_of_its_own(tmp_path: Path) -> None:
    """URDF may list joints in another order, .par has no names for them."""
    arm = synthetic.arm()
    named = [
        replace(x, name=name) for x, name in zip(arm.joints, ("zeta", "alpha", "mu"), strict=True)
    ]
    tree = replace(arm, joints=(*named[:2], replace(named[2], antecedent=1)))
    result = identify(tree, synthetic.recorded(tree, noise=0.01), {"friction": BARE})
    as_written(result, tmp_path, ("robot.toml", "robot.par"))
    assert result.file_errors["robot.urdf"] == pytest.approx(result.file_errors["robot.toml"])


@pytest.mark.parametrize("name", ["five-bar", "geared"])
def test_files_of_closed_loops(name: str, tmp_path: Path) -> None:
    """Cut joints rub too, and gears tie joints: the file and its model have both."""
    log = closed.log_of(closed.recorded(name, noise=0.01))
    result = identify(closed.robot_of(name), log, {"friction": {"smooth": 0.05}})
    as_written(result, tmp_path, ("robot.toml",))


def test_the_command_prints_the_error_of_each_file(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from cardan.app.cli.main import app

    log, _ = rubbing()
    arm = synthetic.arm()
    arm.save(tmp_path / "arm.toml")
    np.savez(tmp_path / "log.npz", **log)
    words = ["identify", str(tmp_path / "arm.toml"), str(tmp_path / "log.npz"), "--base-only"]
    shown = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "report")])
    assert shown.exit_code == 0, shown.output
    assert "relative torque error of the identified robot" in shown.output
    assert "relative torque error of the file" in shown.output
    assert "robot.toml" in shown.output
