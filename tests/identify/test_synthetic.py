"""Identification finds the parameters that made the recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.identify.synthetic import arm, motion, recorded, torques, truth, without

import cardan
from cardan.describe.check import check
from cardan.describe.files import read_bytes
from cardan.describe.values.parser import to_value
from cardan.errors import CardanError
from cardan.identification import identify
from cardan.identification.fit.bodies import is_consistent
from cardan.identification.model import equations
from cardan.identification.read.signals import lowpass, settling, two_poles
from cardan.identification.report import page


def error(result: Any, robot: cardan.Robot) -> float:
    expected = truth(robot, result.names)
    return float(np.abs(result.K - expected).max() / np.abs(expected).max())


def test_all_base_parameters_without_noise() -> None:
    robot = arm()
    result = identify(robot, recorded(robot), consistent=False)
    expected = truth(robot, result.names)
    seen = np.abs(expected) > 1e-6
    near(result.K[seen], expected[seen], 1e-8, each=True)
    assert np.abs(result.K[~seen]).max() < 1e-10
    kept = cardan.model(robot, "base-parameters").kept
    assert len(result.names) == len(kept) + 9  # FV, FS, offset of three joints


def test_a_six_axis_robot_without_noise() -> None:
    robot = cardan.load("ur10")
    result = identify(robot, recorded(robot), consistent=False)
    assert error(result, robot) < 1e-8


@pytest.mark.parametrize("rate", [100, 500])
def test_positions_and_torques_alone_are_enough(rate: int) -> None:
    robot = arm()
    log = without(recorded(robot, rate=rate), "qd", "qdd")
    assert error(identify(robot, log, consistent=False), robot) < 1e-8


@pytest.mark.parametrize(
    ("model", "bound"), [("filtered", 1e-8), ("power", 1e-3), ("energy", 1e-4)]
)
def test_models_without_accelerations_find_the_same(model: str, bound: float) -> None:
    """The scalar models integrate a friction that jumps: they are as good as the sampling."""
    robot = arm()
    log = without(recorded(robot, rate=500), "qdd")
    result = identify(robot, log, {"fit": {"model": model}}, consistent=False)
    assert error(result, robot) < bound


# a recipe that leaves nothing to be chosen
SAID: dict[str, dict[str, Any]] = {
    "fit": {"motor_inertia": True}, "friction": {"smooth": 0}, "filter": {"cutoff": "none"},
}  # fmt: skip


@pytest.mark.parametrize(("weights", "seeds"), [("joint", 50), ("covariance", 40)])
def test_the_truth_is_within_three_sigma(weights: str, seeds: int) -> None:
    """And within the intervals of 95 % as often as these say. A sample; bench.three_sigma takes 200
    recordings."""
    robot = arm()
    inside, covered = [], []
    for seed in range(seeds):
        log = recorded(robot, noise=0.01, seed=seed)
        recipe = {**SAID, "fit": {**SAID["fit"], "weights": weights, "folds": 0}}
        result = identify(robot, log, recipe, consistent=False)
        true = truth(robot, result.names)
        inside.append(np.abs(result.K - true) <= 3 * result.sigma)
        low, high = np.array(list(result.intervals().values())).T
        covered.append((low <= true) & (true <= high))
    assert 0.93 <= np.mean(covered) <= 0.97
    assert np.mean(inside) >= 0.99
    assert np.mean(inside, axis=0).min() > 0.92


def test_the_truth_of_six_joints_is_within_three_sigma() -> None:
    """A sample; bench.three_sigma takes 200 recordings: 99.65 %, the worst parameter 98.5 %."""
    robot, inside = cardan.load("ur10"), []
    for seed in range(6):
        log = recorded(robot, noise=0.01, seed=seed)
        recipe = {**SAID, "fit": {**SAID["fit"], "folds": 0}}
        result = identify(robot, log, recipe, consistent=False)
        inside.append(np.abs(result.K - truth(robot, result.names)) <= 3 * result.sigma)
    assert np.mean(inside) >= 0.98


def test_pieces_of_a_long_recording_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regressors filtered in pieces with margins give what filtering them at once gives."""
    log = without(recorded(arm(), rate=500, duration=20, noise=0.01), "qd", "qdd")
    for model in ("dynamic", "filtered", "power", "energy"):
        recipe = {"fit": {"model": model, "folds": 0},
                  "filter": {"cutoff": 20, "parallel": 8, "decimate": 10}}  # fmt: skip
        found = []
        for samples in (1 << 30, 1000):
            monkeypatch.setattr(equations, "_SAMPLES", samples)
            found.append(identify(arm(), log, recipe, consistent=False).K)
        np.testing.assert_allclose(found[1], found[0], atol=1e-10 * np.abs(found[0]).max())


def test_the_picture_of_a_role() -> None:
    result = identify(arm(), recorded(arm(), noise=0.01), consistent=False)
    assert len(result.plot().axes) == 3
    with pytest.raises(CardanError, match="no role 'validation'"):
        result.plot("validation")


def test_filtered_equations_know_that_their_noise_is_not_independent() -> None:
    robot = arm()
    recipe = {"filter": {"cutoff": 20, "parallel": 5, "decimate": 1}, "fit": {"folds": 0},
              "friction": {"coulomb": False}}  # fmt: skip
    smooth = replace(robot, joints=tuple(replace(j, FS=0) for j in robot.joints))
    inside = []
    for seed in range(15):
        log = without(recorded(smooth, noise=0.01, seed=seed), "qd", "qdd")
        result = identify(smooth, log, recipe, consistent=False)
        inside.append(np.abs(result.K - truth(smooth, result.names)) <= 3 * result.sigma)
    assert np.mean(inside) >= 0.98


def test_rounding_is_not_essential() -> None:
    log = recorded(arm())
    result = identify(arm(), log, consistent=False)
    kept = dict(zip(result.essential.names, result.essential.K, strict=True))
    assert not [name for name in kept if name.startswith("offset")]
    assert min(map(abs, kept.values())) > 1e-6
    assert result.essential.errors["fit"] < 1e-8


def test_parameters_without_effect_are_not_essential() -> None:
    robot = arm()
    result = identify(robot, recorded(robot, noise=0.01), consistent=False)
    assert "ZZ1R" in result.essential.names
    assert {"FV1", "FS2", "MX3"} <= {name.rstrip("R") for name in result.essential.names}
    assert "offset2" not in result.essential.names
    assert len(result.essential.names) < len(result.names)
    assert result.essential.errors["fit"] < 1.1 * result.errors["fit"]


def test_outliers_are_outvoted() -> None:
    robot = arm()
    log = recorded(robot, noise=0.01)
    rng = np.random.default_rng(1)
    bad = rng.random(log["tau"].shape) < 0.03
    log["tau"] = log["tau"] + bad * 50.0
    plain = identify(robot, log, consistent=False)
    robust = identify(robot, log, {"fit": {"robust": True}}, consistent=False)
    assert error(robust, robot) < 0.3 * error(plain, robot)


def test_smooth_coulomb_friction_is_fitted_with_its_width() -> None:
    robot = replace(arm(), joints=tuple(replace(joint, FS=0) for joint in arm().joints))
    log = recorded(robot)
    log["tau"] = log["tau"] + 3.0 * log["qd"] / np.hypot(log["qd"], 0.12)
    recipe = {"friction": {"smooth": "fit"}}
    result = identify(robot, log, recipe, consistent=False)
    near([result.shape[f"VS{j}"] for j in (1, 2, 3)], 0.12, 1e-4, 1e-8, each=True)
    near([result.values[f"FS{j}"] for j in (1, 2, 3)], 3.0, 1e-4, 1e-8, each=True)


def test_stribeck_friction_is_fitted_with_its_velocity() -> None:
    log = recorded(arm())
    log["tau"] = log["tau"] + 1.2 * np.sign(log["qd"]) / (1 + (log["qd"] / 0.3) ** 2)
    result = identify(arm(), log, {"friction": {"stribeck": True}}, consistent=False)
    for j in (1, 2, 3):
        assert result.shape[f"VB{j}"] == pytest.approx(0.3, rel=1e-3)
        assert result.values[f"FB{j}"] == pytest.approx(1.2, rel=1e-3)
        assert result.values[f"FS{j}"] == pytest.approx(2.5, rel=1e-3)


def test_the_filters_of_kc97() -> None:
    """(45), (46): F and F' of a sine against their frequency response; and the equations behind
    them, which need no acceleration."""
    rate, cutoff, w = 1000.0, 5.0, 12.0
    t = np.arange(0, 4, 1 / rate)
    s, a = 1j * w, 2 * np.pi * cutoff
    for slope, gain in ((False, a**2 / (s + a) ** 2), (True, a**2 * s / (s + a) ** 2)):
        found = two_poles(np.sin(w * t), cutoff, rate, slope=slope)
        expected = (gain * np.exp(s * t)).imag
        near(found[2000:], expected[2000:], 2e-4)
    log = without(recorded(arm()), "qdd")
    recipe = {"fit": {"model": "filtered"}, "filter": {"kind": "kc97", "parallel": 5, "trim": 0.5}}
    result = identify(arm(), log, recipe, consistent=False)
    assert result.errors["fit"] < 5e-3
    assert "F and F′ of" in page.markdown(result)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("cutoff", [5.0, 20.0, 45.0])
def test_the_low_pass_is_that_of_scipy(order: int, cutoff: float) -> None:
    signal = pytest.importorskip("scipy.signal")
    x = 50 + np.random.default_rng(order).normal(size=(900, 2, 2)).cumsum(axis=0)
    sections = signal.butter(order, cutoff / 50, output="sos")
    pad = int(300 / cutoff) + 9 * order
    expected = signal.sosfiltfilt(sections, x, axis=0, padlen=pad)
    assert np.abs(lowpass(x, cutoff, 100.0, order) - expected).max() < 1e-12 * np.abs(x).max()
    poles = signal.butter(order, cutoff / 50, output="zpk")[1]
    slowest = np.log(np.abs(poles).max())
    assert settling(order, cutoff / 50) == np.ceil(np.log(np.finfo(float).eps / 16) / slowest)


@pytest.mark.parametrize("model", ["dynamic", "filtered", "energy"])
def test_a_spring_beside_a_motor(model: str) -> None:
    """Its stiffness, and its preload in the offset, by models with and without accelerations."""
    first, *others = arm().joints

    def sprung(spring: str, neutral: str, FO: str) -> cardan.Robot:
        fields = {"spring": spring, "neutral": neutral, "FO": FO}
        own = replace(first, **{key: to_value(x) for key, x in fields.items()})
        return replace(arm(), joints=(own, *others))

    log = without(recorded(sprung("8", "0.4", "0.2"), rate=500), *["qdd"] * (model != "dynamic"))
    guess = sprung("1", "0", "0")
    result = identify(guess, log, {"fit": {"model": model}}, consistent=False)
    bound = {"dynamic": 1e-8, "filtered": 1e-7, "energy": 1e-3}[model]
    assert result.values["spring1"] == pytest.approx(8, rel=bound)
    assert result.values["offset1"] == pytest.approx(0.2 - 8 * 0.4, rel=bound)
    texts, _ = result.robot_files()
    springs = {}
    for name in ("robot.toml", "robot.par"):
        robot, _ = read_bytes(texts[name].encode(), name)
        assert robot is not None
        springs[name] = robot.joints[0].spring
    assert float(springs["robot.toml"]) == pytest.approx(8, rel=max(bound, 1e-6))
    assert springs["robot.par"] == 0  # whose law of friction and offset is fitted again without


def test_coupled_parameters_of_the_recipe() -> None:
    log = recorded(arm())
    log["tau"] = log["tau"].copy()
    log["tau"][:, 1] += 0.3 * log["qdd"][:, 2] + 0.7 * np.sign(log["qd"][:, 1] + log["qd"][:, 2])
    log["tau"][:, 2] += 0.3 * log["qdd"][:, 1] + 0.7 * np.sign(log["qd"][:, 1] + log["qd"][:, 2])
    slip = "sign(qd2 + qd3)"
    recipe = {
        "coupled": {"Iam3": {"tau2": "qdd3", "tau3": "qdd2"}, "Fsm3": {"tau2": slip, "tau3": slip}}
    }
    result = identify(arm(), log, recipe, consistent=False)
    assert result.values["Iam3"] == pytest.approx(0.3, rel=1e-8)
    assert result.values["Fsm3"] == pytest.approx(0.7, rel=1e-8)


def test_real_bodies_are_found_whatever_the_noise() -> None:
    robot = arm()
    for noise, bound in ((0.0, 1e-3), (0.05, 0.06)):
        for distance in ("quadratic", "entropic"):
            recipe = {"consistent": {"prior": "none", "distance": distance}}
            result = identify(robot, recorded(robot, noise=noise), recipe)
            assert result.consistent is not None
            assert is_consistent(result.robot)
            assert check(result.robot) == []
            own = result.errors["fit, base parameters"]
            assert result.errors["fit"] < max(bound, 1.2 * own)


@pytest.mark.parametrize("prior", ["auto", "none"])
def test_real_bodies_have_exactly_the_base_parameters(prior: str, tmp_path: Any) -> None:
    """Without noise, and with a little: what is written back gives the torques to rounding."""
    robot = arm()
    noise = 0.005 if prior == "none" else 0.0
    log = recorded(robot, noise=noise)
    recipe = {"consistent": {"prior": prior}, "friction": {"offset": False}}
    result = identify(robot, log, recipe)
    assert result.consistent is not None
    assert result.consistent.exact
    assert result.consistent.smallest > 0
    near(result.consistent.K, result.K, absolute=1e-12, each=True)
    expected = result.predict(log["q"], log["qd"], log["qdd"])
    for name in ("robot.toml", "robot.par", "robot.urdf"):
        result.robot.save(tmp_path / name)
        tau = torques(cardan.load(tmp_path / name), log)
        near(tau, expected, 1e-9, what=str(name))


def test_what_no_drive_has_is_called_so() -> None:
    log = recorded(arm(), noise=0.01)
    log["tau"] = log["tau"] - 4 * log["qd"]
    rows = {row[0]: row for row in identify(arm(), log, consistent=False).table()}
    assert "not physical" in rows["FV1"][-1]
    assert "not physical" not in rows["FS1"][-1]


def test_friction_that_noise_makes_negative_is_zero_and_the_rest_fits_best() -> None:
    still: Any = {"FV": 0, "FS": 0}
    robot = replace(arm(), joints=tuple(replace(j, **still) for j in arm().joints))
    result = identify(robot, recorded(robot, noise=0.01))
    full = result.consistent
    assert full is not None
    assert full.exact
    assert full.raised
    assert result.values[full.raised[0]] < 0
    assert all(full.values[name] == 0 for name in full.raised)
    assert any(full.raised[0] in note for note in result.notes)
    assert result.errors["fit"] < 1.01 * result.errors["fit, base parameters"]


def test_bodies_that_cannot_be_are_approached_and_the_distance_is_told() -> None:
    """A link whose first moment is beyond any body of its inertia."""
    last = replace(arm().links[2], MX=to_value(3.0))
    robot = replace(arm(), links=(*arm().links[:2], last))
    result = identify(robot, recorded(robot, noise=0.001))
    assert result.consistent is not None
    assert not result.consistent.exact
    assert is_consistent(result.robot)
    assert any("standard deviations" in note for note in result.notes)


def test_the_robots_own_bodies_are_the_prior() -> None:
    robot = arm()
    result = identify(robot, recorded(robot))
    masses = [float(link.M) for link in result.robot.links]  # type: ignore[arg-type]
    near(masses, [5, 4, 2], 1e-3, 1e-8, each=True)


@pytest.mark.filterwarnings("ignore:.*no body has this inertia")  # of base parameters
def test_the_identified_robot_gives_the_torques(tmp_path: Any) -> None:
    robot = arm()
    log = recorded(robot, noise=0.002)
    result = identify(robot, log)
    result.save(tmp_path)
    clean = recorded(robot)["tau"]
    for name in ("robot.toml", "robot.par", "robot.urdf", "robot-base.toml"):
        read = cardan.load(tmp_path / name)
        tau = torques(read, log)
        assert np.linalg.norm(tau - clean) < 0.005 * np.linalg.norm(clean), name
    assert is_consistent(cardan.load(tmp_path / "robot.urdf"))
    tau = result.predict(log["q"], log["qd"], log["qdd"])
    assert np.linalg.norm(tau - clean) < 0.005 * np.linalg.norm(clean)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") >= 2
    assert "http" not in page
    assert '<td class="text">N m s/rad</td>' in page
    assert "| ZZ1R |" in (tmp_path / "report.md").read_text(encoding="utf-8")


PAYLOAD = {"XX": 0.02, "XY": 0.001, "XZ": -0.002, "YY": 0.03, "YZ": 0.001, "ZZ": 0.025,
           "MX": 0.1, "MY": -0.05, "MZ": 0.2, "M": 3.0}  # fmt: skip


def loaded_arm() -> cardan.Robot:
    robot = arm()
    last = robot.links[-1]
    more: Any = {key: to_value(x) + getattr(last, key) for key, x in PAYLOAD.items()}
    return replace(robot, links=(*robot.links[:-1], replace(last, **more)))


def test_an_unknown_payload() -> None:
    log, heavy = recorded(arm()), recorded(loaded_arm(), seed=3)
    result = identify(arm(), log, payload=heavy, consistent=False)
    assert error(result, arm()) < 3.1  # XXL .. have no truth in the arm itself
    assert set(result.payload) == set(PAYLOAD)
    for key, x in PAYLOAD.items():
        assert result.payload[key] == pytest.approx(x, abs=1e-7)


def test_a_payload_of_known_mass() -> None:
    log, heavy = recorded(arm(), noise=0.01), recorded(loaded_arm(), noise=0.01, seed=5)
    recipe = {"payload": {"known": {"M": 3.0}}}
    result = identify(arm(), log, recipe, payload=heavy)
    assert result.payload["M"] == 3.0
    assert "ML" not in result.names
    assert result.payload["MX"] == pytest.approx(0.1, abs=0.02)
    assert result.errors["fit"] < 0.02


def test_held_out_rows_and_other_recordings_are_predicted() -> None:
    robot = arm()
    log = recorded(robot, noise=0.01)
    other = recorded(robot, noise=0.01, seed=9)
    result = identify(robot, log, {"fit": {"split": 0.3}}, validation=other, consistent=False)
    assert set(result.joint_errors) == {"fit", "held out", "validation"}
    assert all(0.002 < result.errors[role] < 0.02 for role in ("fit", "held out", "validation"))
    assert result.estimate.rows == 3 * 700


def test_several_recordings_are_fitted_together() -> None:
    robot = arm()
    logs = [recorded(robot, noise=0.01, seed=k) for k in (1, 2)]
    both = identify(robot, logs, consistent=False)
    assert both.estimate.rows == 6000
    one = identify(robot, logs[0], consistent=False)
    assert np.median(both.sigma / one.sigma) == pytest.approx(0.707, abs=0.1)


def test_states_without_time() -> None:
    robot = arm()
    rng = np.random.default_rng(0)
    x = {key: rng.uniform(-2, 2, (300, 3)) for key in ("q", "qd", "qdd")}
    x["tau"] = torques(robot, x)
    assert error(identify(robot, x, consistent=False), robot) < 1e-10


def test_prismatic_joints_trees_and_fixed_frames() -> None:
    from tests.random_robots import random_robot

    for seed in (3, 11):
        robot = random_robot(seed, 5, wrenches=False, base_motion=False)
        log = motion(robot.n, seed=seed)
        log["tau"] = torques(robot, log)
        result = identify(robot, log, {"log": {"check_units": False}})
        assert result.errors["fit"] < 1e-10
        tau = result.predict(log["q"], log["qd"], log["qdd"])
        near(tau, log["tau"], 1e-5, 1e-8 * np.abs(log["tau"]).max(), each=True)
        assert is_consistent(result.robot)


def test_what_the_motion_does_not_excite_is_left_out_by_name() -> None:
    robot = arm()
    log = motion(3)
    for key, x in (("q", 0.4), ("qd", 0.0), ("qdd", 0.0)):
        log[key][:, 0] = x
    log["tau"] = torques(robot, log)
    result = identify(robot, log, {"log": {"constant": "allow"}})
    assert any("does not excite" in note and "FV1" in note for note in result.notes)
    assert result.errors["fit, base parameters"] < 1e-8
    assert result.errors["fit"] < 1e-4
    assert is_consistent(result.robot)
    tau = torques(result.robot, log)
    assert np.linalg.norm(tau - log["tau"]) < 1e-3 * np.linalg.norm(log["tau"])


def test_noisy_positions_are_filtered_by_default() -> None:
    robot = arm()
    log = without(recorded(robot, rate=500, noise=0.01), "qd", "qdd")
    rng = np.random.default_rng(2)
    log["q"] = log["q"] + 1e-5 * rng.normal(size=log["q"].shape)
    result = identify(robot, log, consistent=False)
    assert result.plans[0].cutoff is not None
    assert result.plans[0].decimate > 1
    expected = truth(robot, result.names)
    seen = np.abs(expected) > 0.3
    near(result.K[seen] / expected[seen], 1, absolute=0.15)


def test_a_motion_that_turns_round_at_its_ends_does_not_rest_there() -> None:
    """The recording of the tutorial begins with no velocity and in full acceleration: what the
    low-pass spoils there is left out."""
    folder = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
    files = (folder / "arm.toml", folder / "recording.csv")
    result = cardan.identify(*files, validation=[folder / "check.csv"])
    assert result.errors["fit"] < 0.006
    assert result.errors["validation"] < 0.008
