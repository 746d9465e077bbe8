"""Assemblies of parallel robots by the pose of the platform, and what is known of them."""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.loops import search
from cardan.loops.poses import NOT_PROVEN, Assemblies
from cardan.motion.frames import link_frames


@lru_cache
def geometry(name: str) -> Any:
    return cardan.model(cardan.load(name), "loop-geometry")


def arranged(name: str, shift: float) -> np.ndarray:
    """Every arrangement of the legs at a pose of the platform near its home."""
    own = geometry(name)
    index = own.coordinates.moving.index
    x = own.home[[index(j) for j in own.legs.given]]
    x[0] += shift
    return np.asarray(own.legs.solve(x))


@pytest.mark.parametrize("name", ["stewart", "delta"])
def test_arrangements_of_the_legs_are_one_pose(name: str) -> None:
    own = geometry(name)
    parts = [arranged(name, shift) for shift in (0, 0.02, 0.05)]
    order = np.random.default_rng(0).permutation(sum(map(len, parts)))
    q = np.concatenate(parts)[order]
    poses = own.poses(q)
    assert len(poses) == 3
    assert sorted(map(len, poses.arrangements)) == sorted(map(len, parts))
    assert str(poses) == f"3 poses of the platform, {len(q)} arrangements of the legs"
    frames = link_frames(own.robot, q)
    body = own._parallel.body
    for k, (T, rows) in enumerate(zip(poses.T, poses.arrangements, strict=True)):
        np.testing.assert_allclose(frames[rows, body], np.broadcast_to(T, (len(rows), 4, 4)),
                                   atol=1e-9)  # fmt: skip
        assert (poses.owner[rows] == k).all()


def test_a_closed_form_is_complete_and_many_starts_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    own = geometry("delta")
    found = own.solve([0.3, 0.3, 0.3])
    assert found.complete
    assert found.note == ""
    assert len(found.poses) == len(found) == 2
    monkeypatch.setattr(search, "_ROUNDS", 1)
    monkeypatch.setattr(search, "_STARTS", 24)
    stewart = cardan.LoopGeometry.of(cardan.load("stewart"))
    vars(stewart)["hexapod"] = None  # as a robot without a complete method
    columns = [stewart.coordinates.moving.index(j) for j in stewart.given]
    few = stewart.solve(stewart.home[columns])
    assert not few.complete
    assert few.note == NOT_PROVEN
    assert sum(map(len, few.poses.arrangements)) == len(few)
    assert geometry("fivebar").solve([2.2, 0.9]).poses is None


def test_the_answer_is_an_array() -> None:
    found = geometry("delta").solve([0.3, 0.3, 0.3])
    assert isinstance(found, np.ndarray)
    assert isinstance(found, Assemblies)
    assert found[0].poses is None  # a part is not the set of all
    assert (found + 0).poses is None
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    np.testing.assert_array_equal(again, found)
    assert str(again.poses) == str(found.poses)
    assert again.complete


def test_the_command_line_counts_poses() -> None:
    def printed(*words: str) -> str:
        result = CliRunner().invoke(app, ["loops", *words])
        assert result.exit_code == 0, result.output
        return str(result.output)

    own = geometry("delta").solve([0.3, 0.3, 0.3])
    assert str(own.poses) in printed("delta", "--q", "0.3,0.3,0.3")
    assert '"complete": true' in printed("delta", "--q", "0.3,0.3,0.3", "--json")
    assert "2 assemblies" in printed("fivebar", "--q", "2.2,0.9")
    told = printed("stewart", "--q", "0.6,0.62,0.64,0.61,0.65,0.63")
    gone = "(the other 12 of 40 are at infinity for this geometry)"
    words = f"28 complex solutions followed {gone}: 8 real poses; these are all"
    assert words in " ".join(told.split())
    assert "8 poses of the platform, 512 arrangements of the legs" in " ".join(told.split())
