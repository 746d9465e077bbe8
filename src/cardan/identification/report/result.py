"""What an identification gives: parameters, deviations, errors, and the identified robot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...arguments import named_arguments
from ...describe.files import accepted, dumps, read_bytes
from ...describe.robot import DRIVE, FIXED, FRICTION, FURTHER, INERTIA, Joint, Robot
from ...describe.urdf.write import write_urdf
from ...describe.values.expression import number
from ...describe.values.parser import to_value
from ...document.notebook import notebook_html, notebook_latex
from ...errors import CardanError, DescriptionError, InputError, UnknownNameError
from ...files import write_atomic
from ..fit.consistent import FullParameters
from ..fit.diagnosis import negative
from ..fit.evaluation import ROLES, Track, described_errors
from ..fit.gains import Gains
from ..fit.solve import Estimate, relative_error
from ..model.columns import Model
from ..model.equations import full_matrix
from ..read.signals import Plan, states
from ..recipe import Recipe
from .page import folded, html, markdown, torques_figure

Array = np.ndarray
SIGNIFICANT = 0.1  # relative deviation: below, a parameter is well identified
_DIGITS = 12
_SEEN = 5e-5  # of the torques: a difference of errors that the digits of a report show


@dataclass(frozen=True)
class Curves:
    """Torques y (rows, n) of a stretch and what predicts them, W K; role: fit, held out,
    validation."""

    role: str
    name: str
    t: Array
    y: Array
    W: Array = field(repr=False)
    valid: Array = field(repr=False)  # torques that can be believed

    @property
    def pair(self) -> tuple[Array, Array]:
        """(W, y), zero where the torques cannot be believed."""
        return self.W * self.valid[..., None], self.y * self.valid


def percents(errors: Mapping[str, float]) -> str:
    """Errors by role, in words."""
    return ", ".join(f"{role} {100 * x:.2f} %" for role, x in errors.items())


def together(curves: Sequence[Curves], role: str) -> tuple[Array, Array] | None:
    """(W, y) of all stretches of a role, or None where there is none."""
    pairs = [c.pair for c in curves if c.role == role]
    if not pairs:
        return None
    return np.concatenate([W for W, _ in pairs]), np.concatenate([y for _, y in pairs])


@dataclass(frozen=True)
class Essential:
    """The parameters that are left when those without significant effect have gone."""

    names: tuple[str, ...]
    K: Array
    sigma: Array
    errors: Mapping[str, float]


@dataclass(frozen=True)
class Held:
    """What robot files hold, fitted as such."""

    model: Model
    estimate: Estimate
    consistent: FullParameters | None
    shape: Mapping[str, float]
    width: float = 0.0  # of Coulomb friction, where it was not fitted

    @property
    def values(self) -> dict[str, float]:
        """Parameters by the names of their fields, with the widths of the friction."""
        own = dict(zip(self.model.names, self.estimate.K.tolist(), strict=True))
        for j in (*self.model.ties.numbers, *self.model.robot.driving) if self.width else ():
            own[f"VS{j}"] = self.width
        return {**own, **self.shape}


def base_values(held: Held) -> dict[str, float]:
    """Base parameters by the names of the fields that hold them."""
    columns = dict(zip(held.model.base.names, held.model.base.kept, strict=True))
    table = {columns[name]: x for name, x in held.values.items() if name in columns}
    return {f"{name}{j}": x for (name, j), x in table.items()}


def carrying(original: Robot, held: Held, found: Mapping[str, float]) -> Robot:
    """The robot with these inertial parameters, and the friction that was fitted with them."""
    values = held.values

    def value(key: str, default: float = 0.0) -> Any:
        return rounded(found.get(key, values.get(key, default)))

    def rounded(x: float) -> Any:
        return to_value(float(f"{x:.{_DIGITS}g}"))

    def driven(j: int, joint: Joint) -> Joint:
        drive: Any = {key: value(f"{key}{j}") for key in (*DRIVE, *FURTHER)}
        preload = float(drive["spring"]) * float(number(joint.neutral) or 0.0)
        offset = found.get(f"offset{j}", values.get(f"offset{j}", 0.0)) + preload
        drive |= {"neutral": joint.neutral if preload else 0, "FO": rounded(offset)}
        return replace(joint, **drive)

    links, joints = [], []
    for j, (link, joint) in enumerate(zip(original.links, original.joints, strict=True), 1):
        inertia: Any = {key: value(f"{key}{j}") for key in INERTIA}
        links.append(replace(link, **inertia))
        joints.append(joint if joint.sigma == FIXED else driven(j, joint))
    loops = []
    for j, loop in enumerate(original.loops, len(links) + 1):
        loops.append(replace(loop, cut=driven(j, loop.cut)))
    drives = tuple(
        replace(x, **{key: value(f"{key}{j}") for key in ("IA", *FRICTION)})
        for j, x in held.model.robot.driving.items()
    )
    return replace(
        original, links=tuple(links), joints=tuple(joints), loops=tuple(loops),
        drives=drives,
    )  # fmt: skip


@dataclass(frozen=True)
class Identification:
    """The result of `identify`. K, sigma: base parameters with friction, in the order of names.

    errors: of the identified robot, with real bodies where they were fitted and all that the law
    has; then ("fit, base parameters" ...) of W K, which need not be those of real bodies;
    file_errors: of each file that `save` writes, by its name: that of robot.toml is the error
    reported, unless `not_held` names what a file cannot hold."""

    original: Robot
    recipe: Recipe
    model: Model = field(repr=False)
    shape: Mapping[str, float]
    estimate: Estimate = field(repr=False)
    errors: Mapping[str, float]
    essential: Essential
    consistent: FullParameters | None
    curves: tuple[Curves, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()
    held: Held | None = field(default=None, repr=False)  # None: all that was identified
    plain: Held | None = field(default=None, repr=False)  # of .par and .urdf; None: as held
    tracks: tuple[Track, ...] = field(default=(), repr=False)
    file_errors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    choices: tuple[str, ...] = ()  # what the recipe left open: what was chosen, and why
    gains: Gains | None = None  # of the drives, where they were fitted
    diagnosis: tuple[str, ...] = ()  # why parameters are negative: the tests, and what they say

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.names

    @property
    def K(self) -> Array:
        return self.estimate.K

    @property
    def sigma(self) -> Array:
        """Standard deviations of K."""
        return self.estimate.sigma

    @named_arguments
    def intervals(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """(low, high) of each parameter: Student's intervals, as wide as the residuals say.

        They hold the truth as often as they say where noise of the torques is all that is wrong."""
        from scipy.special import stdtrit

        if not 0 < confidence < 1:
            raise InputError(f"confidence = {confidence}; expected a number between 0 and 1")
        free = max(self.estimate.independent - len(self.K), 1.0)
        half = float(stdtrit(free, (1 + confidence) / 2)) * self.sigma
        bounds = zip((self.K - half).tolist(), (self.K + half).tolist(), strict=True)
        return dict(zip(self.names, bounds, strict=True))

    @property
    def relative_sigma(self) -> Array:
        """sigma / |K|; infinite for a zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.sigma / np.abs(self.K))

    @property
    def values(self) -> dict[str, float]:
        """The identified parameters by name."""
        return dict(zip(self.names, self.K.tolist(), strict=True))

    @property
    def payload(self) -> dict[str, float]:
        """The payload's parameters, in the frame of its link; empty without one."""
        values = dict(self.recipe.payload.known) if self.loaded else {}
        values |= {name[:-1]: x for name, x in self.values.items() if name.endswith("L")}
        return {key: values[key] for key in INERTIA if key in values}

    @property
    def loaded(self) -> bool:
        return any(block.payload for block in self.model.blocks)

    @property
    def joint_errors(self) -> dict[str, Array]:
        """Relative torque errors of every joint, by role."""
        errors = {}
        for role in dict.fromkeys(curves.role for curves in self.curves):
            pair = together(self.curves, role)
            assert pair is not None
            W, y = pair
            joints = range(y.shape[1])
            errors[role] = np.array([relative_error(W[:, j], y[:, j], self.K) for j in joints])
        return errors

    @cached_property
    def base_robot(self) -> Robot:
        """The robot that carries base parameters: the same torques, not real bodies."""
        return self._basic(self._held)

    def _basic(self, held: Held) -> Robot:
        return self._carrying(held, base_values(held))

    @cached_property
    def robot(self) -> Robot:
        """The identified robot: real bodies, or else the one that carries the base parameters.

        It has the whole law of friction, widths and offsets included. Where the identified law has
        more (`not_held`), the parameters are fitted again without it."""
        full = self._held.consistent
        return self.base_robot if full is None else self._carrying(self._held, full.values)

    @cached_property
    def plain_robot(self) -> Robot:
        """The robot for programs that know FV and FS alone of the friction: fitted again so."""
        held = self.plain
        if held is None:
            return self.robot
        full = held.consistent
        return self._basic(held) if full is None else self._carrying(held, full.values)

    @property
    def _held(self) -> Held:
        smooth = self.recipe.friction.smooth
        width = 0.0 if isinstance(smooth, str) else smooth
        own = Held(self.model, self.estimate, self.consistent, self.shape, width)
        return self.held or own

    @property
    def not_held(self) -> dict[str, float]:
        """Identified parameters that no field of a robot file holds: coupled ones of the recipe."""
        names = [name for name, _ in self.recipe.coupled]
        rest = {name: x for name, x in self.values.items() if name in names}
        return rest | {k: x for k, x in self.shape.items() if k.removeprefix("VS.") in names}

    def _carrying(self, held: Held, found: Mapping[str, float]) -> Robot:
        robot = carrying(self.original, held, found)
        notes = f"{self.original.notes}\n{self._story(robot)}".strip()
        return replace(robot, notes=notes)

    def _story(self, robot: Robot) -> str:
        """How good a description is, and what it has no word for, as its notes."""
        own = described_errors(robot, self.model.ties, self.tracks)
        told = f"Identified by Cardan; relative torque error of this robot: {percents(own)}."
        rest = [f"{name} = {x:.6g}" for name, x in self.not_held.items()]
        if rest:
            told += (
                f" The identified law has more than a robot file can hold, {', '.join(rest)}, and "
                f"an error of {percents(self.law_errors)}."
            )
        return told

    @property
    def law_errors(self) -> dict[str, float]:
        """Errors of the identified law by role; with the real bodies, where they were fitted."""
        return {role: self.errors[role] for role in ROLES if role in self.errors}

    def robot_files(self) -> tuple[dict[str, str], list[str]]:
        """Texts of the robot files by name, and what is to be said of them: a format that cannot
        hold the robot is left out."""
        robot, told = self.plain_robot, []
        texts = {"robot.toml": dumps(self.robot, "toml")}
        try:
            texts["robot.par"] = dumps(robot, "par")
        except DescriptionError as error:
            told.append(f"robot.par is not written: {error}".replace("\n", "; "))
        try:
            texts["robot.urdf"] = write_urdf(robot, drop=True)
        except DescriptionError as error:
            told.append(f"robot.urdf is not written: {error}".replace("\n", "; "))
        if self.consistent is not None:
            texts["robot-base.toml"] = dumps(self.base_robot, "toml")
        return texts, told

    def with_files(self) -> Identification:
        """The result with the errors of the robot files, each read again and evaluated along the
        recordings."""
        errors: dict[str, Mapping[str, float]] = {}
        told: list[str] = []
        for name, text in self.robot_files()[0].items():
            errors[name], trouble = self.file_error(text.encode(), name)
            told += trouble
        notes = [*self._loss(errors.get("robot.toml", {})), *told]
        return replace(self, file_errors=errors, notes=(*self.notes, *notes))

    def file_error(self, content: bytes, name: str) -> tuple[dict[str, float], list[str]]:
        """Errors by role of a robot file, or none and why there are none."""
        try:
            robot, faults = read_bytes(content, name)
            robot = accepted(robot, [x for x in faults if x.severity == "error"], name)
            return described_errors(robot, self.model.ties, self.tracks), []
        except CardanError as error:
            return {}, [f"{name} cannot be evaluated: {error}".replace("\n", "; ")]

    def _loss(self, errors: Mapping[str, float]) -> list[str]:
        """What the fields of the files cost, where it can be seen."""
        worse = {role: errors[role] - x for role, x in self.law_errors.items() if role in errors}
        if not self.not_held or max(map(abs, worse.values()), default=0.0) < _SEEN:
            return []
        return [
            f"no field of a robot file holds {', '.join(self.not_held)}: the parameters of the "
            "files were fitted again without them. Error of "
            f"robot.toml: {percents(errors)}; of the identified law: {percents(self.law_errors)}; "
            f"lost by the file's fields: {percents(worse)} (percentage points)"
        ]

    def predict(self, q: Any, qd: Any, qdd: Any) -> Array:
        """Torques (rows, n) of the identified model, with friction, offsets and couplings.

        With closed loops: q (rows, n) of all joints, closed; qd, qdd and the torques of the driven
        ones."""
        arrays = [np.atleast_2d(np.asarray(x, float)) for x in (q, qd, qdd)]
        ties, rows = self.model.ties, len(arrays[0])
        n, na = self.original.n, len(ties.active)
        if [x.shape for x in arrays] != [(rows, n), (rows, na), (rows, na)]:
            wanted = f"(rows, {n})" if n == na else f"(rows, {n}), (rows, {na}), (rows, {na})"
            raise InputError(f"q, qd, qdd must be {wanted}; found {[x.shape for x in arrays]}")
        motion = ties.moving(arrays[0], states(*arrays))
        D = full_matrix(self.model, motion, self.shape)[..., list(self.model.kept)]
        return np.asarray(D @ self.K)

    def table(self) -> list[tuple[str, float, float, float, str]]:
        """Rows (parameter, value, sigma, relative sigma in %, remark)."""
        essential = set(self.essential.names)
        below = {self.names[k] for k in negative(self.names, self.K, self.sigma)}
        rows = []
        for name, x, s, r in zip(self.names, self.K, self.sigma, self.relative_sigma, strict=True):
            words = ["well identified"] if r <= SIGNIFICANT else []
            words += ["essential"] if name in essential else ["not significant"]
            words += ["negative: not physical"] if name in below else []
            rows.append((name, float(x), float(s), 100 * float(r), ", ".join(words)))
        return rows

    def __repr__(self) -> str:
        head = [f"{len(self.names)} parameters of {self.original.name}"]
        head += [f"  {name}: {error:.2%}" for name, error in self.errors.items()]
        head += [f"  file {name}: {percents(errors)}" for name, errors in self.file_errors.items()]
        rows = [
            f"  {name:10s} {x:14.6g} +- {s:<12.4g} {r:8.3g} %  {word}"
            for name, x, s, r, word in self.table()
        ]
        rows += [f"  {name:10s} {x:14.6g}  (shape)" for name, x in self.shape.items()]
        told = [f"chosen: {choice}" for choice in self.choices]
        told += [f"diagnosis: {words}" for words in self.diagnosis]
        return "\n".join([*head, *rows, *told, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return notebook_html(f"Identification of {self.original.name}", folded(self, pictures=True))

    def _repr_latex_(self) -> str:
        title = f"Identification of {self.original.name}"
        return notebook_latex(title, folded(self, pictures=False))

    def plot(self, role: str = "fit") -> Any:
        """Measured and predicted torques of every joint, as a matplotlib figure.

        role: "fit", "held out" or "validation"."""
        roles = [curve.role for curve in self.curves]
        if role not in roles:
            raise UnknownNameError.of("role", role, dict.fromkeys(roles))
        return torques_figure(self, roles.index(role))

    @named_arguments
    def report(self, path: str | Path) -> None:
        """Write the report: .html (self-contained, with pictures) or .md."""
        suffix = Path(path).suffix.lower()
        if suffix not in (".html", ".md"):
            raise InputError(f"{path}: a report is written as .html or .md")
        write_atomic(path, html(self) if suffix == ".html" else markdown(self))

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data, for JSON."""
        full = self.consistent
        return {
            "robot": self.original.name,
            "errors": dict(self.errors),
            "file_errors": {name: dict(errors) for name, errors in self.file_errors.items()},
            "not_held": self.not_held,
            "joint_errors": {role: x.tolist() for role, x in self.joint_errors.items()},
            "parameters": [
                {"name": name, "value": x, "sigma": s, "relative_sigma_percent": r, "remark": word}
                for name, x, s, r, word in self.table()
            ],
            "intervals_95_percent": {k: list(x) for k, x in self.intervals().items()},
            "shape": dict(self.shape),
            "essential": list(self.essential.names),
            "essential_errors": dict(self.essential.errors),
            "consistent": None if full is None else dict(full.values),
            "condition": self.estimate.condition,
            "choices": list(self.choices),
            "gains": None if self.gains is None else self.gains.factors.tolist(),
            "diagnosis": list(self.diagnosis),
            "notes": list(self.notes),
        }

    @named_arguments
    def save(self, folder: str | Path) -> list[Path]:
        """Report, parameters and robot files in a folder; the paths written. A format that cannot
        hold the robot is left out, and the report says so. The errors that the report prints are
        those of these texts, read again."""
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made a folder: {error.strerror}") from None
        written = []
        texts, lost = self.robot_files()
        for name, text in texts.items():
            write_atomic(target / name, text)
            written.append(target / name)
        told = replace(self, notes=(*self.notes, *lost))
        path = target / "parameters.json"
        write_atomic(path, json.dumps(told.to_dict(), indent=2, allow_nan=True) + "\n")
        written.append(path)
        for name in ("report.html", "report.md"):
            told.report(target / name)
            written.append(target / name)
        return written
