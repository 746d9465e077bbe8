"""What an identification gives: parameters, deviations, errors, and the identified robot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...describe.files import dumps, write_atomic
from ...describe.parser import to_value
from ...describe.robot import FIXED, INERTIA, Robot
from ...describe.urdf_write import write_urdf
from ...errors import DescriptionError, InputError, UnknownNameError
from .columns import Model
from .consistent import FullParameters
from .recipe import Recipe
from .signals import Plan
from .solve import Estimate, relative_error

__all__ = ["Curves", "Essential", "Identification", "together"]

Array = np.ndarray
SIGNIFICANT = 0.1  # relative deviation: below, a parameter is well identified
SIGNED = ("IA", "FV", "FS")  # of real drives they are not negative
_DIGITS = 12


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
class Identification:
    """The result of `identify`. K, sigma: base parameters with friction, in the order of names."""

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
        found = dict(self.recipe.payload.known) if self.loaded else {}
        found |= {name[:-1]: x for name, x in self.values.items() if name.endswith("L")}
        return {key: found[key] for key in INERTIA if key in found}

    @property
    def loaded(self) -> bool:
        return any(block.payload for block in self.model.blocks)

    @property
    def joint_errors(self) -> dict[str, Array]:
        """Relative torque errors of every joint, by role."""
        found = {}
        for role in dict.fromkeys(curves.role for curves in self.curves):
            pair = together(self.curves, role)
            assert pair is not None
            W, y = pair
            joints = range(y.shape[1])
            found[role] = np.array([relative_error(W[:, j], y[:, j], self.K) for j in joints])
        return found

    @property
    def base_robot(self) -> Robot:
        """The robot that carries the base parameters: the same torques, not real bodies."""
        columns = dict(zip(self.model.base.names, self.model.base.kept, strict=True))
        table = {columns[name]: x for name, x in self.values.items() if name in columns}
        full = {f"{name}{j}": x for (name, j), x in table.items()}
        return self._carrying(full)

    @property
    def robot(self) -> Robot:
        """The identified robot: real bodies, or else the one that carries the base parameters."""
        if self.consistent is None:
            return self.base_robot
        return self._carrying(self.consistent.values)

    def _carrying(self, found: Mapping[str, float]) -> Robot:
        """The robot with these inertial parameters, and the identified friction."""

        def value(key: str, default: float = 0.0) -> Any:
            x = found.get(key, self.values.get(key, default))
            return to_value(float(f"{x:.{_DIGITS}g}"))

        links, joints = [], []
        for j, (link, joint) in enumerate(
            zip(self.original.links, self.original.joints, strict=True), 1
        ):
            inertia: Any = {key: value(f"{key}{j}") for key in INERTIA}
            links.append(replace(link, **inertia))
            drive: Any = {key: value(f"{key}{j}") for key in SIGNED}
            joints.append(joint if joint.sigma == FIXED else replace(joint, **drive))
        loops = []
        for j, loop in enumerate(self.original.loops, len(links) + 1):
            cut: Any = {key: value(f"{key}{j}") for key in SIGNED}
            loops.append(replace(loop, cut=replace(loop.cut, **cut)))
        notes = f"{self.original.notes}\n{self._left_out()}".strip()
        return replace(
            self.original, links=tuple(links), joints=tuple(joints), loops=tuple(loops), notes=notes
        )

    def _left_out(self) -> str:
        """What a robot description has no word for, as its notes."""
        carried = {f"{key}{j}" for j in self.model.ties.numbers for key in SIGNED}
        inertial = set(self.model.base.names)
        rest = [
            f"{name} = {x:.6g}"
            for name, x in self.values.items()
            if name not in carried and name not in inertial
        ]
        rest += [f"{name} = {x:.4g}" for name, x in self.shape.items()]
        fit = f"Identified by Cardan; relative torque error {self.errors['fit']:.2%}."
        return f"{fit} Beside it: {', '.join(rest)}." if rest else fit

    def predict(self, q: Any, qd: Any, qdd: Any) -> Array:
        """Torques (rows, n) of the identified model, with friction, offsets and couplings.

        With closed loops: q (rows, n) of all joints, closed; qd, qdd and the torques of the driven
        ones."""
        from .equations import full_matrix
        from .signals import states

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
        kept = set(self.essential.names)
        rows = []
        for name, x, s, r in zip(self.names, self.K, self.sigma, self.relative_sigma, strict=True):
            words = ["well identified"] if r <= SIGNIFICANT else []
            words += ["essential"] if name in kept else ["not significant"]
            words += ["negative: not physical"] if name[:2] in SIGNED and x < -3 * s else []
            rows.append((name, float(x), float(s), 100 * float(r), ", ".join(words)))
        return rows

    def __repr__(self) -> str:
        head = [f"{len(self.names)} parameters of {self.original.name}"]
        head += [f"  {name}: {error:.2%}" for name, error in self.errors.items()]
        rows = [
            f"  {name:10s} {x:14.6g} +- {s:<12.4g} {r:8.3g} %  {word}"
            for name, x, s, r, word in self.table()
        ]
        rows += [f"  {name:10s} {x:14.6g}  (shape)" for name, x in self.shape.items()]
        return "\n".join([*head, *rows, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        from .report import body

        return body(self)

    def plot(self, role: str = "fit") -> Any:
        """Measured and predicted torques of every joint, as a matplotlib figure.

        role: "fit", "held out" or "validation"."""
        from .report import torques_figure

        roles = [curve.role for curve in self.curves]
        if role not in roles:
            raise UnknownNameError.of("role", role, dict.fromkeys(roles))
        return torques_figure(self, roles.index(role))

    def report(self, path: str | Path) -> None:
        """Write the report: .html (self-contained, with pictures) or .md."""
        from .report import html, markdown

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
            "joint_errors": {role: x.tolist() for role, x in self.joint_errors.items()},
            "parameters": [
                {"name": name, "value": x, "sigma": s, "relative_sigma_percent": r, "remark": word}
                for name, x, s, r, word in self.table()
            ],
            "shape": dict(self.shape),
            "essential": list(self.essential.names),
            "essential_errors": dict(self.essential.errors),
            "consistent": None if full is None else dict(full.values),
            "condition": self.estimate.condition,
            "notes": list(self.notes),
        }

    def save(self, folder: str | Path) -> list[Path]:
        """Report, parameters and robot files in a folder; the paths written. A format that cannot
        hold the robot is left out, and the report says so."""
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made a folder: {error.strerror}") from None
        robot, told = self.robot, self
        texts = {"robot.toml": dumps(robot, "toml")}
        try:
            texts["robot.par"] = dumps(robot, "par")
        except DescriptionError as error:
            lost = f"robot.par is not written: {error}".replace("\n", "; ")
            told = replace(self, notes=(*self.notes, lost))
        texts["robot.urdf"] = write_urdf(robot, drop=True)
        texts["parameters.json"] = json.dumps(told.to_dict(), indent=2, allow_nan=True) + "\n"
        if self.consistent is not None:
            texts["robot-base.toml"] = dumps(self.base_robot, "toml")
        written = []
        for name, text in texts.items():
            write_atomic(target / name, text)
            written.append(target / name)
        for name in ("report.html", "report.md"):
            told.report(target / name)
            written.append(target / name)
        return written
