"""Emitted code, compiled and run, gives what `solve` gives."""

from __future__ import annotations

import importlib.util
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.errors import UnknownNameError

from .arms import ARMS, arm, wrapped

SKEW = arm("five joints", [(0, 0, 0, 0, 0.3), (0, 1.1, 0.2, 0.4, 0.1), (1, -0.8, 0.3, 0.2, 0.2),
                           (0, 0.9, 0.1, 0.5, 0.25), (0, -1.3, 0.2, 0.1, 0.1)])  # fmt: skip
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    **{name: (name, {}) for name in
       ["puma560-numeric", "rx90", "ur5", "scara", "iiwa14", "ortho offset arm", "5R"]},
    "arm angle": ("iiwa14", {"free": "arm-angle"}),
    "general": ("ur5", {"method": "general"}),
    "general, slides": ("RPRPRP", {"method": "general"}),
    "general, a joint given": ("panda", {"method": "general", "free": "q7"}),
    "general, few joints": (SKEW, {"method": "general"}),
}  # fmt: skip
LENGTHS = {"D2": 0.4, "D3": 0.3, "RL4": 0.45}


@pytest.fixture(scope="module", params=CASES)
def case(request: Any) -> tuple[Any, np.ndarray, list[np.ndarray], list[float]]:
    """An inverse geometry, a few poses, their configurations and the further arguments."""
    name, options = CASES[request.param]
    robot = name if not isinstance(name, str) else ARMS.get(name) or cardan.load(name)
    ik = cardan.model(robot, "inverse-geometry", **options)
    p = {key: LENGTHS[key] for key in ik.chain.parameters}
    chain = ik.chain.numeric(p)
    rng = np.random.default_rng(3)
    q = rng.uniform(-np.pi, np.pi, (6, chain.n))
    if ik.free:
        q[:, ik.free] = 0.4
    right = rng.integers(-2, 3, (4, chain.n)) * np.pi / 2  # where equations vanish
    right[:, ik.free] = 0.4
    T = chain.pose(np.concatenate([q, right]))
    T[len(q) - 1, 0, 3] += 50  # out of reach
    given = bool(ik.free) or ik.plane
    answers = [ik.solve(x, p=p, report=True, **({"free": 0.4} if given else {})) for x in T]
    found = [(x.q[: x.count], x.singular[: x.count]) for x in answers]
    names = ik.program.parameters if ik.derivation else ()
    extra = [0.4] if given else [p[key] for key in names]
    return ik, T, found, extra


def emitted(ik: Any, language: str) -> str:
    """The text; of an arm of few joints with the general method, which its closed form asks."""
    return ik.emit(language, function="f", complete=ik.chain.n - len(ik.free) < 6)


def same(ik: Any, got: np.ndarray, expected: np.ndarray, singular: np.ndarray) -> None:
    """The same configurations in any order; of a family other members may have been found."""
    assert got.shape == expected.shape or singular.any()
    assert bool(len(got)) == bool(len(expected))
    sigma = np.array([joint.sigma for joint in ik.chain.joints])
    apart = np.abs(wrapped(got[:, None] - expected[~singular], sigma)).max(-1)
    assert apart.min(0, initial=9).max(initial=0) < 1e-6  # half the digits at a double root


def compiled(path: Path, text: str, compiler: str, main: str, suffix: str) -> list[np.ndarray]:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not here")
    source = path / f"ik.{suffix}"
    source.write_text(text + main)
    flags = ["-std=c99", "-pedantic"] if compiler == "gcc" else ["-std=c++17"]
    program = path / "ik"
    subprocess.run(
        [compiler, *flags, "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program),
         "-lm"], check=True,
    )  # fmt: skip
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return rows(out)


def rows(out: str) -> list[np.ndarray]:
    found: list[list[list[float]]] = []
    for line in out.splitlines():
        if line.startswith("pose"):
            found.append([])
        elif line.strip():
            found[-1].append([float(x) for x in line.split()])
    return [np.array(x) for x in found]


def main_of(ik: Any, T: np.ndarray, extra: list[float], header: str) -> str:
    k, n = getattr(ik.solver, "kmax", 16), ik.chain.n
    values = ", ".join(repr(float(x)) for x in T.ravel())
    more = f", (const double[]){{{', '.join(map(repr, extra))}}}" if extra else ""
    if "cstdio" in header:
        more = ", extra" if extra else ""
    declared = f"static const double extra[] = {{{', '.join(map(repr, extra))}}};" if extra else ""
    if "cstdio" not in header:
        declared = ""
    return f"""
{header}
static const double poses[] = {{{values}}};
{declared}
int main(void)
{{
    double q[{k * n}];
    for (int i = 0; i < {len(T)}; i++) {{
        int count = f(poses + 16*i{more}, q);
        printf("pose\\n");
        for (int b = 0; b < count; b++) {{
            for (int j = 0; j < {n}; j++)
                printf("%.17g ", q[b*{n} + j]);
            printf("\\n");
        }}
    }}
    return 0;
}}
"""


def check(case: Any, got: list[np.ndarray]) -> None:
    ik, _, expected, _ = case
    assert len(got) == len(expected)
    for x, (y, singular) in zip(got, expected, strict=True):
        same(ik, x.reshape(-1, ik.chain.n), y, singular)


def test_c(case: Any, tmp_path: Path) -> None:
    ik, T, _, extra = case
    main = main_of(ik, T, extra, "#include <stdio.h>")
    check(case, compiled(tmp_path, emitted(ik, "c"), "gcc", main, "c"))


def test_cpp(case: Any, tmp_path: Path) -> None:
    ik, T, _, extra = case
    main = main_of(ik, T, extra, "#include <cstdio>\nusing std::printf;")
    check(case, compiled(tmp_path, emitted(ik, "cpp"), "g++", main, "cpp"))


def test_python(case: Any, tmp_path: Path) -> None:
    ik, T, _, extra = case
    path = tmp_path / "emitted.py"
    path.write_text(emitted(ik, "python"))
    spec = importlib.util.spec_from_file_location("emitted", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    more = [np.array(extra)] if extra else []
    with np.errstate(all="ignore"):
        check(case, [np.array(module.f(x, *more)) for x in T])


def test_matlab(case: Any, tmp_path: Path) -> None:
    if shutil.which("octave") is None:
        pytest.skip("octave is not here")
    ik, T, found, extra = case
    # Octave is slow: one pose out of reach, and singular ones, which take seconds, of closed forms;
    # the one beside a family for one robot
    some = (
        [0, 5] if ik.method == "general" else [0, 5, 6, 8] if ik.chain.robot == "ur5" else [0, 5, 6]
    )
    some = some if len(T) > max(some) else list(range(len(T)))
    T, found = T[some], [found[k] for k in some]
    (tmp_path / "f.m").write_text(emitted(ik, "matlab"))
    more = f", [{' '.join(map(repr, extra))}]" if extra else ""
    lines = []
    for x in T:
        matrix = "; ".join(" ".join(repr(float(v)) for v in row) for row in x)
        lines += [f"q = f([{matrix}]{more});", 'printf("pose\\n");', "for i = 1:size(q, 1)",
                  '  printf("%.17g ", q(i, :)); printf("\\n");', "end"]  # fmt: skip
    (tmp_path / "run.m").write_text("\n".join(lines))
    out = subprocess.run(
        ["octave", "--no-gui", "--quiet", "run.m"], cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    check((ik, T, found, extra), rows(out.stdout))


def test_other_languages_get_the_branches() -> None:
    ik = cardan.model(cardan.load("planar3r").with_values({}), "inverse-geometry")
    assert "margin" in ik.emit("julia")


@pytest.mark.parametrize("method", ["auto", "general"])
def test_equations_are_emitted_as_text_and_latex(method: str) -> None:
    ik = cardan.model(cardan.load("ur5"), "inverse-geometry", method=method)
    for form in ("text", "latex"):
        assert ik.emit(form) == ik.equations(form)
    with pytest.raises(UnknownNameError, match="Allowed: c, "):
        ik.emit("klingon")


def test_documents_of_the_branches_name_no_function() -> None:
    ik = cardan.model(cardan.load("scara"), "inverse-geometry")
    assert "<html" in ik.emit("html")
    assert "$" in ik.emit("markdown")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ur5", {}),
        ("iiwa14", {"free": "q3"}),
        ("ur5", {"method": "general"}),
        ("puma560-numeric", {"symbolic": True}),
    ],
)
def test_solutions_can_be_pickled(name: str, options: dict[str, Any]) -> None:
    ik = cardan.model(cardan.load(name), "inverse-geometry", **options)
    again = pickle.loads(pickle.dumps(ik))  # noqa: S301
    assert repr(again) == repr(ik)
    q = np.full(ik.chain.n, 0.3)
    T = ik.chain.numeric(ik.defaults).pose(q[None])[0]
    np.testing.assert_allclose(again.solve(T), ik.solve(T), atol=1e-9)
