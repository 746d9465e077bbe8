"""Jobs and projects: limits hold, nothing is left running, nothing is lost."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import among

import cardan
from cardan.app.web.jobs import studies, work
from cardan.app.web.jobs.pool import JobError, Jobs, Limits, Result
from cardan.app.web.jobs.questions import driven
from cardan.app.web.scene.continuation import follow
from cardan.app.web.scene.holding import Holding
from cardan.app.web.server.state import Page
from cardan.app.web.server.store import Store
from cardan.describe.files import dumps
from cardan.describe.frames import roll_pitch_yaw
from cardan.describe.robot import Base
from cardan.describe.values.expression import number
from cardan.errors import CardanError
from cardan.loops.numeric import equations, skeleton
from cardan.loops.standing import assembled, standing
from cardan.mechanism.tree import Tree
from cardan.motion.frames import centres_of_mass, link_frames
from cardan.sheets.solids import examples

VALUES = {"planar2r": dict.fromkeys(cardan.load("planar2r").parameters, "0.5")}
RX90 = dumps(cardan.load("rx90"), "toml")


def run(jobs: Jobs, function: str, **data: Any) -> dict[str, Any]:
    async def job() -> dict[str, Any]:
        return await jobs.run(function, **data)

    return asyncio.run(job())


def alive(process: str) -> bool:
    """Whether it runs: a process that has ended may stay in the list until it is waited for."""
    try:
        state = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_model_is_derived_and_kept() -> None:
    jobs, question = Jobs(), {"robot": RX90, "model": "inverse-dynamics", "options": {}}
    first = run(jobs, "derive", hints={"language": "c"}, **question)
    program = cardan.model(cardan.load("rx90"), "inverse-dynamics")
    assert json.loads(jobs.part(first["key"], "code.c")) == program.emit("c")
    assert first["cost"]["mul"] == program.cost.mul
    assert json.loads(jobs.part(first["key"], "lines"))[-1][0].startswith("tau")
    assert run(jobs, "derive", hints={"language": "rust"}, **question)["cached"]


def test_assemblies_of_a_platform_are_told_by_poses() -> None:
    robot = cardan.load("stewart")
    q = cardan.LoopGeometry.of(robot).home.tolist()
    data = {"robot": dumps(robot, "toml"), "q": q}
    answer = work.FUNCTIONS["assemblies"](data, lambda text: None)
    assert answer["says"].startswith("8 poses of the platform, 512 arrangements of the legs")
    assert answer["says"].endswith("these are all")
    away = np.array(answer["configurations"])[:, :6] - q[:6]
    assert np.abs(away).max(axis=1).min() < 1e-9  # where the platform stands is among them
    assert len(answer["configurations"]) == 8


def test_another_language_does_not_derive_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"robot": RX90, "model": "direct-dynamics", "options": {}}
    program = work.derive(data, lambda text: None)["parts"]["program"]
    expected = cardan.model(cardan.load("rx90"), "direct-dynamics")
    monkeypatch.setattr(work, "model", None)  # whoever derives fails
    for language in ("c", "python", "latex", "matlab"):
        question = {**data, "language": language, "attached": program}
        found = work.code(question, lambda text: None)["parts"]
        assert found == {f"code.{language}": expected.emit(language)}


def test_parts_are_handed_to_other_jobs() -> None:
    jobs, question = Jobs(), {"robot": RX90, "model": "gravity", "options": {}}
    derived = run(jobs, "derive", **question)
    attached = jobs.part(derived["key"], "program")
    found = run(jobs, "code", attached=attached, language="julia", **question)
    expected = cardan.model(cardan.load("rx90"), "gravity").emit("julia")
    assert json.loads(jobs.part(found["key"], "code.julia")) == expected
    assert jobs.part(found["key"], "nothing") is None
    assert jobs.part("0" * 64, "code.julia") is None


def test_what_is_kept_is_bounded() -> None:
    jobs = Jobs()
    for k in range(200):
        jobs._keep(str(k), Result(b"{}", {"lines": b"x" * 1_000_000}))
    assert sum(result.size for result in jobs._results.values()) <= 48_000_000
    assert jobs.keeps("199")
    for k in range(200):
        jobs._keep(f"small{k}", Result(b"{}"))
    assert len(jobs._results) == 64


def test_a_users_fault_is_one_message() -> None:
    with pytest.raises(JobError, match="there is no model"):
        run(Jobs(), "derive", robot=RX90, model="nonsense", options={})


@pytest.mark.skipif(os.name == "nt", reason="looks in /proc")
def test_an_endless_job_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It waits for ever, and so does a process that it started."""
    started = tmp_path / "started"
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib, subprocess, sys, time\n"
        "if 'cardan.app.web.jobs.worker' in sys.orig_argv:\n"
        "    child = subprocess.Popen(['sleep', '1000'])\n"
        f"    pathlib.Path({str(started)!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        "    time.sleep(1000)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with pytest.raises(JobError, match=r"more than 5\.5 s"):
        run(Jobs(Limits(seconds=0.55)), "derive", robot=RX90, model="gravity", options={})
    processes = started.read_text().split()
    for _ in range(100):
        if not any(map(alive, processes)):
            break
        time.sleep(0.1)
    assert [process for process in processes if alive(process)] == []


@pytest.mark.skipif(os.name == "nt", reason="processes have no parents there")
def test_a_job_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    question = json.dumps({"robot": dumps(cardan.load("snake30"), "toml"), "model": "lagrange",
                           "options": {}})  # fmt: skip
    script = (
        "import asyncio, json, sys\nfrom cardan.app.web.jobs.pool import Jobs\n"
        "asyncio.run(Jobs().run('derive', lambda text: print(text, flush=True),"
        " **json.loads(sys.argv[1])))"
    )
    server = subprocess.Popen([sys.executable, "-c", script, question], stdout=subprocess.PIPE)
    assert server.stdout is not None
    server.stdout.readline()  # it is at work
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    server.kill()
    server.wait()
    server.stdout.close()
    for _ in range(100):
        if not any(map(alive, children)):
            break
        time.sleep(0.1)
    assert children
    assert [child for child in children if alive(child)] == []


@pytest.mark.parametrize(
    ("name", "count"), [("fivebar", 2), ("delta", 8), ("flexible2r", 1), ("prrrp", 2)]
)
def test_all_configurations_of_closed_and_flexible_robots(name: str, count: int) -> None:
    """Each has the pose that was asked for, and closes the loops."""
    robot = cardan.load(name)
    bare = skeleton(robot)
    q = assembled(bare, np.full(robot.n, 0.4)) if robot.loops else np.full(robot.n, 0.4)
    data = {"robot": dumps(robot, "toml"), "q": q.tolist()}
    found = np.array(work.FUNCTIONS["inverse"](data, lambda text: None)["configurations"])
    last = Tree.of(robot).last
    T = link_frames(bare, found)[:, last]
    if name != "delta":  # whose platform only shifts
        there = np.broadcast_to(link_frames(bare, q)[last], T.shape)
        assert pytest.approx(there, abs=1e-6) == T
    if robot.loops:
        assert equations(bare).error(found).max() < 1e-6
    assert len(found) == count


@pytest.mark.parametrize("name", ["puma560-numeric", "flexible2r"])
def test_configurations_of_a_pose(name: str) -> None:
    """In closed form and by a search: those of a pose that is given as numbers."""
    from cardan.describe.frames import roll_pitch_yaw

    robot = cardan.load(name)
    bare, q = skeleton(robot), np.linspace(0.3, 0.9, robot.n)
    last = Tree.of(robot).last
    T = link_frames(bare, q)[last]
    pose = [*T[:3, 3].tolist(), *roll_pitch_yaw(T[:3, :3])]
    data = {"robot": dumps(robot, "toml"), "q": [0.0] * robot.n, "pose": pose}
    found = np.array(work.FUNCTIONS["inverse"](data, lambda text: None)["configurations"])
    assert len(found) == (8 if robot.n == 6 else 1)
    for row in found:
        assert link_frames(bare, row)[last] == pytest.approx(T, abs=1e-6)
    away = work.FUNCTIONS["inverse"]({**data, "pose": [9.0] * 6}, lambda text: None)
    assert np.size(away["configurations"]) == 0
    assert name == "flexible2r" or "too far by" in away["fails"]


@pytest.mark.parametrize("name", ["tree", "iiwa14"])
def test_configurations_are_of_all_joints_and_one_is_where_it_stands(name: str) -> None:
    """Of a tree the other branches stay; a joint too many stays where it is."""
    robot = cardan.load(name)
    bare, q = skeleton(robot), np.linspace(0.3, 0.9, robot.n)
    data = {"robot": dumps(robot, "toml"), "q": q.tolist()}
    found = np.array(work.FUNCTIONS["inverse"](data, lambda text: None)["configurations"])
    among(found, q, 1e-6)
    last = Tree.of(robot).last
    for row in found:
        assert link_frames(bare, row)[last] == pytest.approx(link_frames(bare, q)[last], abs=1e-6)
    away = work.FUNCTIONS["inverse"]({**data, "pose": [9.0] * 6}, lambda text: None)
    assert np.size(away["configurations"]) == 0


def test_flexible_robots_are_evaluated_and_moved() -> None:
    robot = cardan.load("flexible1r")
    data = {"robot": dumps(robot, "toml"), "model": "inverse-dynamics", "options": {}}
    inputs = {"q": [0.3], "qd": [0.0], "qdd": [0.0]}
    found = work.evaluate({**data, "inputs": inputs}, lambda text: None)["values"]["tau"]
    program = cardan.model(robot, "inverse-dynamics")
    wide = {name: np.zeros(shape) for name, shape in program.inputs.items()}
    wide["q"][:1] = inputs["q"]
    assert found == pytest.approx(np.asarray(program.evaluate(**wide)[0]))
    motion = {"from": [0.3], "to": [0.31], "duration": 0.02, "law": "quintic"}
    moved = work.FUNCTIONS["motion"]({**data, **motion}, lambda text: None)
    assert moved["q"][-1] == pytest.approx([0.31], abs=1e-6)
    assert [row["joint"] for row in moved["table"]] == ["q1"]


def test_loop_geometry_is_written_as_code() -> None:
    data = {"robot": dumps(cardan.load("fivebar"), "toml"), "model": "loop-geometry", "options": {}}
    found = work.derive({**data, "language": "c"}, lambda text: None)
    assert found["emits"]
    geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
    assert found["parts"]["code.c"] == geometry.code("c")


def test_a_broken_log_is_explained_without_paths_of_the_server() -> None:
    data = {"robot": RX90, "attached": [["x.csv", "YSxiCjEsMgo="]], "recipe": {}}
    with pytest.raises(cardan.CardanError) as error:
        work.FUNCTIONS["identification"](data, lambda text: None)
    assert str(error.value).startswith("log.csv")


def _loops() -> list[Any]:
    """Makers of event loops: asyncio's, and uvloop's, which the server takes where it is."""
    try:
        import uvloop
    except ImportError:
        return [asyncio.new_event_loop]
    return [asyncio.new_event_loop, uvloop.new_event_loop]


@pytest.mark.skipif(os.name == "nt", reason="there are no signals there")
@pytest.mark.parametrize("loop", _loops())
@pytest.mark.parametrize("before", [True, False], ids=["at its start", "while it is written to"])
def test_a_worker_that_is_killed_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, loop: Any, before: bool
) -> None:
    """Not only ConnectionError is raised by the pipe of a dead process, and every page must hear
    that the work is over. The second worker never reads, so that the pipe is full when it dies."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, time\n"
        "if 'cardan.app.web.jobs.worker' in sys.orig_argv:\n    time.sleep(1000)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    start = asyncio.create_subprocess_exec

    async def killed(*words: Any, **options: Any) -> Any:
        process = await start(*words, **options)
        if before:
            process.kill()
            await process.wait()
        else:
            drain = process.stdin.drain

            async def dies() -> None:
                process.kill()
                await drain()

            monkeypatch.setattr(process.stdin, "drain", dies)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", killed)
    jobs = Jobs()

    async def job() -> None:
        large = {"values": {}, "attached": b'"%s"' % (b"x" * 5_000_000)}
        with pytest.raises(JobError, match=r"killed \(SIGKILL\); start again"):
            await jobs.run("derive", robot=RX90, model="gravity", options={}, **large)
        assert jobs._running == set()

    running = loop()
    try:
        running.run_until_complete(job())
    finally:
        running.close()


def test_a_worker_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*words: Any, **options: Any) -> Any:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refused)
    with pytest.raises(JobError, match="temporarily unavailable"):
        run(Jobs(), "derive", robot=RX90, model="gravity", options={})


@pytest.mark.skipif(os.name == "nt", reason="no limits on memory there")
def test_memory_is_limited() -> None:
    with pytest.raises(JobError, match="MB"):
        run(Jobs(Limits(megabytes=60)), "derive", robot=RX90, model="direct-dynamics", options={})


def test_cancelling_kills() -> None:
    async def scenario() -> None:
        jobs = Jobs()
        task = asyncio.ensure_future(
            jobs.run("derive", robot=RX90, model="direct-dynamics", options={"effort": "max"})
        )
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert jobs._running == set()

    asyncio.run(scenario())


def test_packages_come_as_zip() -> None:
    robot = dumps(cardan.load("ur5"), "toml")
    found = work.package(
        {"robot": robot, "model": "gravity", "options": {}, "kind": "c"}, lambda text: None
    )
    assert found["name"].endswith(".zip")


def test_evaluate() -> None:
    robot = dumps(cardan.load("ur5"), "toml")
    data = {"robot": robot, "model": "gravity", "options": {}, "inputs": {"q": [0.1] * 6}}
    found = work.evaluate(data, lambda text: None)
    expected = cardan.model(cardan.load("ur5"), "gravity").evaluate(q=[0.1] * 6)
    assert found["values"]["Q"] == pytest.approx(expected)
    data |= {"model": "inverse-dynamics", "options": {"f_e": True}}
    wrench, q = [0.0] * 32 + [1, 0, 0, 0], [0.1] * 6
    found = work.evaluate({**data, "inputs": {"q": [0.1], "f_e": wrench}}, lambda text: None)
    program = cardan.model(cardan.load("ur5"), "inverse-dynamics", f_e=True)
    expected = program.evaluate(
        q=q, qd=np.zeros(6), qdd=np.zeros(6), f_e=np.reshape(wrench, (6, 6))
    )
    assert found["values"]["tau"] == pytest.approx(expected)
    assert found["zero"] == {"qd": 6, "qdd": 6}
    for inputs, words in (({"qd": [1.0] * 5}, "qd: 5 numbers"), ({"wind": [1.0]}, "no input")):
        with pytest.raises(cardan.CardanError, match=words):
            work.evaluate({**data, "inputs": inputs}, lambda text: None)


@pytest.mark.parametrize(
    ("name", "drive", "numbers"),
    [
        ("fivebar", "free", []),
        ("fivebar", "computed-torque", [0.2, -0.1]),
        ("fivebar", "pd", [0.2, -0.1]),
        ("flexible2r", "prescribed", [0.3, 0.2]),
        ("prrrp", "torque", [1.0, 1.0]),
        ("planar2r", "torque", [0.5, 0.1]),
        ("planar2r", "adaptive", [0.5, 0.1]),
    ],
)
def test_all_kinds_of_robots_are_simulated(name: str, drive: str, numbers: list) -> None:
    robot = cardan.load(name)
    q = np.zeros(robot.n)
    if robot.loops:
        q = assembled(skeleton(robot), q)
    data = {"robot": dumps(robot, "toml"), "q": q.tolist(), "drive": drive, "numbers": numbers,
            "to": numbers, "duration": 0.1, "values": VALUES.get(name, {})}  # fmt: skip
    found = work.FUNCTIONS["simulation"](data, lambda text: None)
    moved = np.array(found["q"])
    assert moved.shape[1] == robot.n
    assert np.abs(moved[-1] - moved[0]).max() > 1e-5
    bent = [x for x in found["charts"] if x["title"] == "elastic coordinates"]
    assert sum(len(x["curves"]) for x in bent) == robot.ne
    assert bool(found["curves"]) == bool(robot.ne)
    if robot.loops:
        assert equations(skeleton(robot)).error(moved)[-1] < (0.05 if robot.ne else 1e-6)
    if drive == "prescribed":
        assert moved[-1] == pytest.approx(numbers, abs=1e-6)


def test_a_simulation_is_that_of_the_library() -> None:
    """The same law, from the same positions and velocities, as `cardan simulate` takes them."""
    from cardan.control import laws as control
    from cardan.motion.trajectory import move
    from cardan.simulation.simulate import simulate

    robot, q, qd, to = cardan.load("ur5"), [0.1] * 6, [0.2, 0, 0, 0, -0.3, 0], [0.4] * 6
    data = {"robot": dumps(robot, "toml"), "q": q, "qd": qd, "drive": "pd-gravity", "to": to,
            "duration": 0.2, "bandwidth": 15.0}  # fmt: skip
    found = work.FUNCTIONS["simulation"](data, lambda text: None)
    law = control.pd_gravity(robot, move(q, to, 0.2), *control.gains(robot, 15.0, "pd-gravity", q))
    expected = simulate(robot, q, qd, duration=0.2, dt=0.2 / 500, law=law, rtol=1e-8)
    assert found["q"][-1] == pytest.approx(expected.q[-1], abs=1e-9)
    first = found["charts"][1]["curves"].values()
    assert [x[0] for x in first] == qd


def test_a_floating_base_moves() -> None:
    robot = cardan.load("ur5")
    body = replace(robot.links[1], name="base")
    free = replace(robot, base=replace(robot.base, kind="floating", link=body))
    twist = [0.3, 0, 0, 0, 0, 1.0]
    data = {"robot": dumps(free, "toml"), "q": [0.0] * 6, "drive": "free", "duration": 0.1,
            "twist": twist}  # fmt: skip
    found = work.FUNCTIONS["simulation"](data, lambda text: None)
    base = np.array(found["base"])
    assert base[0] == pytest.approx(np.eye(4))
    assert base[-1, 2, 3] == pytest.approx(-9.81 * 0.1**2 / 2, abs=0.01)
    with pytest.raises(cardan.CardanError, match="is not for a robot"):
        work.FUNCTIONS["simulation"](
            {**data, "drive": "pd-gravity", "to": [0.0] * 6}, lambda text: None
        )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"qd": [1.0]}, "6 finite ones"),
        ({"drive": "nonsense", "numbers": [0.0] * 6}, "no drive"),
        ({"drive": "pd", "to": [0.0] * 6, "bandwidth": -1}, "bandwidth"),
        ({"duration": 1e6}, "at most 60"),
    ],
)
def test_a_simulation_that_cannot_be(wrong: dict[str, Any], words: str) -> None:
    data = {"robot": dumps(cardan.load("ur5"), "toml"), "q": [0.0] * 6, "drive": "free",
            "duration": 0.1}  # fmt: skip
    with pytest.raises(cardan.CardanError, match=words):
        work.FUNCTIONS["simulation"]({**data, **wrong}, lambda text: None)


@pytest.mark.parametrize("name", ["ur5", "fivebar"])
def test_torques_of_a_motion(name: str) -> None:
    robot = cardan.load(name)
    q = assembled(skeleton(robot), np.zeros(robot.n)) if robot.loops else np.zeros(robot.n)
    to = [0.3] * (2 if robot.loops else robot.n)
    data = {"robot": dumps(robot, "toml"), "from": q.tolist(), "to": to, "duration": 1.0,
            "law": "quintic"}  # fmt: skip
    jobs = Jobs()
    found = run(jobs, "motion", **data)
    assert len(found["charts"]) == len(to)
    for chart in found["charts"]:
        total, *shares = (np.array(x) for x in chart["curves"].values())
        assert total.shape == (len(found["t"]),)
        assert sum(shares) == pytest.approx(total)


def _ur5(function: str, **data: Any) -> dict[str, Any]:
    question = {"robot": dumps(cardan.load("ur5"), "toml"), "q": [0.1, -0.8, 0.9, 0.2, 0.7, 0.1]}
    return work.FUNCTIONS[function]({**question, **data}, lambda text: None)


def _csv(answer: dict[str, Any], name: str) -> dict[str, np.ndarray]:
    lines = base64.b64decode(answer["parts"][name]).decode().splitlines()
    rows = np.array([line.split(",") for line in lines[1:]], float)
    return dict(zip(lines[0].split(","), rows.T, strict=True))


def test_a_motion_goes_through_points_and_along_a_line() -> None:
    """The file of the answer, read again: where it passes, and that the tool goes straight."""
    robot, start = cardan.load("ur5"), [0.1, -0.8, 0.9, 0.2, 0.7, 0.1]
    points = [[0.2] * 6, [0.4, -0.5, 0.7, 0.1, 0.5, 0.0]]
    moved = _ur5("motion", **{"from": start}, path="points", points=points, duration=1.0)
    table = _csv(moved, "torques.csv")
    q = np.column_stack([table[f"q{j}"] for j in range(1, 7)])
    assert q[[0, -1]] == pytest.approx(np.array([start, points[1]]))
    assert np.abs(q - points[0]).max(axis=1).min() < 1e-3
    T = cardan.model(robot, "transform").evaluate(q=np.array(start))
    pose = [*(T[:3, 3] + [0.02, 0.01, -0.03]), *roll_pitch_yaw(T[:3, :3])]
    along = _ur5("motion", **{"from": start}, path="line", pose=pose, duration=1.0, law="quintic")
    places = link_frames(robot, np.array(along["q"]))[:, -1, :3, 3] - T[:3, 3]
    assert places[-1] == pytest.approx([0.02, 0.01, -0.03], abs=1e-6)
    assert np.cross(places, [0.02, 0.01, -0.03]) == pytest.approx(
        np.zeros((len(places), 3)), abs=1e-6
    )
    again = _ur5(
        "motion",
        **{"from": start},
        path="file",
        attached=[["a.csv", moved["parts"]["torques.csv"]]],
    )
    peaks = [[row["peak"] for row in answer["table"]] for answer in (moved, again)]
    assert peaks[1] == pytest.approx(peaks[0], rel=1e-6)


def test_studies_say_what_the_library_says() -> None:
    robot, q = cardan.load("ur5"), [0.1, -0.8, 0.9, 0.2, 0.7, 0.1]
    system = cardan.linearise(robot, q)
    answer = _ur5("linear")
    assert answer["values"]["A"] == pytest.approx(system.A)
    assert _csv(answer, "transfer.csv")["denominator"] == pytest.approx(system.transfer()[1])
    assert _ur5("linear", control="pd", bandwidth=20.0)["values"]["A"] != answer["values"]["A"]
    factors = [row[:3] for row in _ur5("singular")["tables"][0]["rows"]]
    listed = cardan.singularities(robot).factors
    assert factors == [[x.name, x.text, x.zero] for x in listed]
    swept = _csv(_ur5("sweep", model="gravity", states=20), "sweep.csv")
    states = np.column_stack([swept[f"q{j}"] for j in range(1, 7)])
    torques = np.column_stack([swept[f"Q{j}"] for j in range(1, 7)])
    assert torques == pytest.approx(cardan.model(robot, "gravity").evaluate(q=states))
    mapped = _csv(_ur5("workspace", samples=200), "workspace.csv")
    assert np.column_stack([mapped[x] for x in "xyz"]) == pytest.approx(
        cardan.workspace(robot, 200).points
    )
    answer = _ur5("workspace", samples=200, measure="dexterity")
    dexterity = cardan.workspace(robot, 200).measure("dexterity")
    assert _csv(answer, "workspace.csv")["dexterity"] == pytest.approx(dexterity)
    assert [x["title"] for x in answer["maps"]] == ["x and y", "x and z"]
    flat = {"robot": dumps(cardan.load("fivebar"), "toml"), "frame": "tip", "samples": 200}
    maps = work.FUNCTIONS["workspace"](flat, lambda text: None)["maps"]
    assert [x["title"] for x in maps] == ["x and y"]  # the plane it moves in
    assert answer["maps"][0]["value"] == "dexterity"


def test_a_reduced_model_needs_numbers() -> None:
    question = {"q": [0.0, 0.0], "to": [0.5, 0.5], "duration": 1.0}
    with pytest.raises(CardanError, match="a reduced model of 'Planar 2R' needs numbers; 12"):
        studies.reduction(cardan.load("planar2r"), question, print)


def test_modes_are_shapes_of_the_robot() -> None:
    data = {"robot": dumps(cardan.load("flexible2r"), "toml"), "q": [0, 0], "size": 2.0}
    found = work.FUNCTIONS["modes"](data, lambda text: None)
    first = found["modes"]["locked"][0]
    assert first["frequency"] == pytest.approx(2.518, abs=1e-3)
    ends = np.concatenate([np.array(line) for line in first["amplitude"]])
    assert np.linalg.norm(ends, axis=1).max() == pytest.approx(0.3)
    assert np.array(first["rest"][0]).shape == np.array(first["amplitude"][0]).shape


def test_projects_survive(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.new_name()
    project = store.project(name)
    project.change(cardan.load("ur5"))
    project.remember(q=[1, 2])
    project.change(cardan.load("panda"))
    project.undo()
    again = Store(tmp_path).project(name)
    assert again.robot == cardan.load("ur5")
    assert again.page == {"q": [1, 2]}
    assert again.can_redo
    again.redo()
    assert again.robot == cardan.load("panda")


def test_a_damaged_project_is_set_aside(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.new_name()
    (tmp_path / "projects" / f"{name}.json").write_text("{")
    assert store.project(name).robot == cardan.load("rx90")
    assert list((tmp_path / "projects").glob("*.damaged"))


@pytest.mark.parametrize("name", ["", "../x", "a" * 31, "A" * 32, "a" * 32 + "/"])
def test_project_names_name_no_paths(tmp_path: Path, name: str) -> None:
    with pytest.raises(cardan.CardanError):
        Store(tmp_path).project(name)


@pytest.mark.skipif(os.name == "nt", reason="there are no signals there")
def test_a_process_waits_for_the_next_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each job has its own; one that died while it waited is not asked."""
    start, pids = asyncio.create_subprocess_exec, []

    async def counted(*words: Any, **options: Any) -> Any:
        process = await start(*words, **options)
        pids.append(process.pid)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted)

    async def scenario() -> None:
        jobs = Jobs(warm=True)
        question = {"robot": RX90, "model": "transform", "options": {}}
        await jobs.run("program", **question)
        assert jobs._spare is not None
        waiting = await jobs._spare
        assert pids == [pids[0], waiting.pid]
        await jobs.run("program", **question, values={"D3": 1})
        assert waiting.returncode is not None  # it was used, and ended with its job
        assert jobs._spare is not None
        waiting = await jobs._spare
        waiting.kill()
        await waiting.wait()
        await jobs.run("program", **question, values={"D3": 2})
        assert jobs._spare is not None
        waiting = await jobs._spare
        await jobs.close()
        assert len(pids) == 5
        assert waiting.returncode is not None
        assert jobs._running == set()

    asyncio.run(scenario())


def test_torques_that_hold_the_robot_are_those_of_the_model(tmp_path: Path) -> None:
    ur5, told, said = cardan.load("ur5"), [], []

    async def scenario() -> tuple[list[Any], list[Any], list[Any]]:
        page = Page(Store(tmp_path).project("b" * 32), Jobs())
        holding = Holding(page, lambda: told.append(True), said.append)
        await holding.renew()  # of the RX90, whose symbols have no values
        before = holding.torques()
        page.open(ur5)
        await holding.renew()
        page.q = np.array([0.3, -1.0, 1.2, 0.4, 0.9, -0.3])
        torques = holding.torques()
        page.change(replace(ur5, gravity=(0, 0, 0)))
        return before, torques, holding.torques()  # the last is of another robot

    before, torques, after = asyncio.run(scenario())
    gravity = cardan.model(ur5, "gravity").evaluate(q=[0.3, -1.0, 1.2, 0.4, 0.9, -0.3])
    assert (before, after, told) == ([], [], [True])
    assert torques == pytest.approx(gravity.tolist())
    assert "no value: " in said[0]
    assert len(said) == 1


def test_torques_that_hold_a_closed_robot_are_the_slopes_of_its_energy(tmp_path: Path) -> None:
    """Another route: the drives one after the other, by a little, with the loops closed."""
    said: list[str] = []

    async def scenario() -> tuple[Page, list[Any]]:
        page = Page(Store(tmp_path).project("b" * 32), Jobs())
        page.open(cardan.load("fivebar"))
        page.set_values(examples(page.robot))
        page.q = assembled(page.drawn(), standing(page.drawn()))
        holding = Holding(page, lambda: None, said.append)
        await holding.renew()
        torques = holding.torques()
        page.open(cardan.load("flexible1r"))
        await holding.renew()
        page.open(replace(cardan.load("ur5"), base=Base(kind="floating")))
        await holding.renew()
        page.open(cardan.load("fivebar"))
        return page, torques

    page, torques = asyncio.run(scenario())
    page.set_values(examples(page.robot))
    robot, drawn = page.numeric(), page.drawn()
    assert robot is not None
    start = assembled(drawn, standing(drawn))
    g = np.array([number(x) for x in robot.gravity], float)

    def energy(k: int, by: float) -> float:
        wanted = start.copy()
        wanted[k] += by
        _, moments = centres_of_mass(robot, link_frames(drawn, follow(drawn, start, wanted)))
        return -float((moments @ g).sum())

    for k in range(robot.n):
        if k in driven(robot):
            slope = (energy(k, 1e-4) - energy(k, -1e-4)) / 2e-4
            assert torques[k] == pytest.approx(slope, abs=1e-5)
        else:
            assert torques[k] is None
    assert any(abs(x) > 0.1 for x in torques if x is not None)
    assert "bend" in said[0]
    assert "floats" in said[1]


def test_tables_beside_the_model() -> None:
    from cardan.control.table_code import side_by_side

    link = {"mass": 1, "com": [0.2, 0, 0], "inertia_com": [0.01, 0, 0, 0.01, 0, 0.01]}
    robot = cardan.load(
        {"name": "two", "gravity": [0, -9.81, 0], "link": [link, {**link, "d": 0.4}]}
    )
    data = {"robot": dumps(robot, "toml"), "points": 4, "degree": "1"}
    answer = work.FUNCTIONS["tables"](data, lambda text: None)
    rows = answer["tables"][0]["rows"]
    listed = side_by_side(robot, [4, 8], degree=1)
    assert [row[0] for row in rows] == ["exact", "reduced, 0.01", "4 points", "8 points"]
    assert [int(row[2]) for row in rows] == [row["operations"] for row in listed]
    assert "double" in base64.b64decode(answer["parts"]["tables.c"]).decode()
