"""`InverseGeometry`: what cardan.model(robot, "inverse-geometry") gives.

ik = cardan.model(robot, "inverse-geometry")
ik.method, ik.reason        which method solves this robot, and why
ik.solve(T)                 all configurations of a pose: (k, n)
print(ik.equations())       the derivation, as a tree of branches
ik.emit("c")                self-contained code
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import floats, named_arguments
from ..describe.robot import REVOLUTE
from ..document.notebook import (
    FORMS,
    equations_page,
    equations_shown,
    notebook_html,
    notebook_latex,
)
from ..document.structure import Part
from ..errors import InputError, ModelError, UnknownNameError
from ..program import Program
from .answer import Configurations
from .chain.arm_angle import arm_angle, require_arm_plane
from .chain.chain import Chain, NumericChain
from .choice import chosen
from .closed_form.batch import Closed
from .doubt import Found
from .general.method import GeneralSolver
from .general.polynomial import Eliminant, eliminant
from .partial import Partial, is_partial, partial
from .poses import asked, poses
from .reach import Reach, reach
from .single import Single, single

Array = NDArray[np.float64]
VALUES = 8  # sets of values of the symbols for which single poses are prepared


@dataclass(frozen=True)
class InverseGeometry:
    """All configurations of a chain for a pose, as equations, as code and as numbers. With closed
    loops, or couplings that move the frame, an answer has all joints of the tree.

    >>> ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
    >>> ik.method
    'paul'"""

    chain: Chain
    method: str  # paul, pieper or general
    reason: str
    solver: Any  # Closed, or the general solver
    free: tuple[int, ...] = ()  # joints (from 0) whose values are given
    plane: bool = False  # the arm angle is given
    derivation: Any = None
    defaults: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()  # what was done to the geometry or the method, and why
    closure: Any = None  # with closed loops: what gives the other joints (loops/inverse.py)
    origin: Any = field(default=None, repr=False, compare=False)  # (function, arguments) of this
    _kept: dict[Any, NumericChain] = field(default_factory=dict, repr=False, compare=False)
    _partials: dict[int, Partial] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _ready: dict[Any, list[Single]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _texts: dict[bool, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __reduce__(self) -> Any:
        """Pickled as the robot and the options: derived again where it is loaded."""
        if self.origin is None:
            raise TypeError("an InverseGeometry without its robot cannot be pickled")
        return self.origin

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the joint variables, in the order of an answer.

        >>> ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
        >>> ik.variables
        ('q1', 'q2', 'q3', 'q4', 'q5', 'q6')"""
        return self.chain.names if self.closure is None else tuple(self.closure.variables)

    @property
    def program(self) -> Program:
        """All branches as a straight-line program (closed forms only).

        >>> ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
        >>> ik.program.inputs
        {'T': (4, 4)}"""
        if not isinstance(self.solver, Closed):
            raise UnknownNameError(f"method '{self.method}' is not a straight-line program")
        return self.solver.program

    def solve(
        self, T: Any, guess: Any = None, limits: bool = False, report: bool = False,
        free: Any = None, p: Any = None, tolerance: float | None = None,
    ) -> Any:  # fmt: skip
        """All real configurations of a pose (4, 4): an array (k, n), k = 0 out of reach.

        In place of a pose, a point (3) asks for the position of the frame alone, and (6) for its
        position and the direction of its axis z: of an arm of at most three, or five joints. A
        batch (..., 4, 4), or report=True, gives `Configurations`. guess (n), or (..., n) one per
        pose: nearest first; where a joint may have any value, the guess's is taken (else 0).
        limits=True: only those within the joint limits, turned into them by whole turns, as near to
        the guess as they allow. free: values (...) of the free joint. p: values of the symbols in
        the geometry, by name. tolerance: how far (m, rad) an arm with fewer than six joints may
        miss a pose; the default is rounding, 1e-6 for poses in single precision.

        >>> ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
        >>> T = cardan.model(cardan.load("ur5"), "transform").evaluate(q=[0.1, -1, 1, 0.2, 0.3, 0])
        >>> ik.solve(T).shape
        (8, 6)
        >>> np.allclose(ik.solve(T, guess=[0, -1, 1, 0, 0, 0])[0], [0.1, -1, 1, 0.2, 0.3, 0])
        True
        >>> ik.solve(np.stack([T, T])).count.tolist()
        [8, 8]"""
        if self.closure is not None:
            return self.closure.solve(T, guess, limits, report, free, p, tolerance)
        if tolerance is None and report is False and (limits is False or limits is True):
            rows = self._one(T, free, guess, p, limits)
            if rows is not None:
                return rows
        values = self._values(p)
        numeric, allowed = self._numeric(values), _tolerance(tolerance, T)
        if allowed is not None:
            numeric = replace(numeric, tolerance=allowed)
        limits = asked(limits)
        part = partial(self, T) if is_partial(T) else None
        pose = poses(T) if part is None else part.poses(T)
        start = None if guess is None else self._guess(guess)
        given = self._free(free, start, numeric)
        lead = _together(poses=pose[..., 0, 0], free=given, guess=start)
        flat = _rows(pose, lead, 4, 4)
        given = None if given is None else _rows(given, lead, given.shape[-1])
        start = None if start is None else _rows(start, lead, self.chain.n)
        if part is not None:
            found = self._of_longer(part, flat, given, values, numeric)
        else:
            found = self._run(flat, given, values, numeric, start)
        if numeric.unit != 1 and part is None:  # residuals were weighed
            gap = np.abs(numeric.pose(found.q) - flat[:, None]).max((-2, -1))
            found = replace(found, residual=gap)
        if limits or start is not None:
            found = chosen(found, numeric, start, limits)
        answer = Configurations(
            *(x.reshape((*lead, *x.shape[1:])) for x in
              (found.q, found.count, found.residual, found.singular, found.multiplicity))
        )  # fmt: skip
        return answer if report or lead else answer[()]

    def _of_longer(
        self, part: Partial, T: Array, free: Array | None, values: dict[str, float],
        numeric: NumericChain,
    ) -> Found:  # fmt: skip
        """Answers of partial poses, which the longer arm has for poses T."""
        longer = part.longer
        chain = longer._numeric(values)
        if numeric.tolerance is not None:
            chain = replace(chain, tolerance=numeric.tolerance)
        whole = longer._run(T, free, values, chain, None)
        return part.answers(whole, T, numeric)

    def _one(self, T: Any, free: Any, guess: Any, p: Any, limits: bool) -> Array | None:
        """The configurations of one pose, by what earlier calls have prepared; None where this is
        no such pose, or the first one with values p. Each thread takes arrays for itself."""
        try:
            values = () if p is None else tuple(p.items())
            ready = self._ready.get(values)
        except (AttributeError, TypeError):
            return None
        if ready is None:
            if len(self._ready) > VALUES:
                self._ready.clear()
            ready = self._ready[values] = []
            if values:
                return None
        try:
            solve = ready.pop()
        except IndexError:
            if type(T) is not np.ndarray or T.ndim != 2:
                return None
            solve = single(self, self._values(p))
        rows = solve(T, free, guess, limits)
        ready.append(solve)
        return rows

    def _run(
        self, T: Array, free: Array | None, values: dict[str, float], numeric: NumericChain,
        guess: Array | None,
    ) -> Found:  # fmt: skip
        unit = numeric.unit if self.chain.parameters else 1.0
        if (
            unit != 1
        ):  # equations with symbols are of no size: the robot is solved in units of its own
            smaller = {name: value / unit for name, value in values.items()}
            other = replace(self.chain.numeric(smaller), tolerance=numeric.tolerance)
            if _is_larger(numeric, other, unit):
                length = np.where(numeric.sigma == REVOLUTE, 1.0, unit)
                T = T.copy()
                T[:, :3, 3] /= unit
                free = None if free is None or self.plane else free / length[list(self.free)]
                guess = None if guess is None else guess / length
                found = self._run(T, free, smaller, other, guess)
                return replace(found, q=found.q * length)
        names = self.solver.program.parameters if isinstance(self.solver, Closed) else ()
        p = np.array([values[name] for name in names]) if names else None
        answer: Found = self.solver.solve(T, free, p, numeric, guess)
        if isinstance(self.solver, Closed):
            answer = self._doubted(answer, T, free, p, numeric)
        return answer

    def _doubted(
        self, answer: Found, T: Array, free: Array | None, p: Array | None, numeric: NumericChain
    ) -> Found:
        """Where a closed form has no answer though its equations have roots, or is that of an arm
        nearby and at the edge of its reach: the answers of the general method, unless it has fewer
        where all are regular."""
        six = self.chain.n - len(self.free) == 6
        if self.plane or not (six or self.solver.general):
            return answer
        doubtful = self.solver.is_close(T, free, p, numeric, answer.count)
        none = np.flatnonzero(answer.count == 0)
        if six and len(none):
            given = None if free is None else free[none]
            doubtful[none] |= self.solver.is_strange(T[none], given, p, numeric)
        rows = np.flatnonzero(doubtful)
        if not len(rows):
            return answer
        try:
            general = self.solver.general_of_six if six else self.solver.general
            given = None if free is None else free[rows]
            other = general.solve(T[rows], given, None, numeric, None)
        except ModelError:
            return answer
        regular = ~answer.singular[rows].any(1)  # beside a family the general method tells more
        enough = (other.count > 0) & ~(regular & (other.count < answer.count[rows]))
        return answer.put_wide(rows[enough], other.of_rows(enough)) if enough.any() else answer

    def _numeric(self, values: dict[str, float]) -> NumericChain:
        """The chain in floats; the last one is kept."""
        key = tuple(sorted(values.items()))
        if key not in self._kept:
            self._kept.clear()
            self._kept[key] = self.chain.numeric(values)
        return self._kept[key]

    def _values(self, p: Any) -> dict[str, float]:
        values = dict(self.defaults)
        if p is None:
            return values
        if not isinstance(p, Mapping):
            raise InputError(
                f"p is {type(p).__name__}; expected values by name, as p={{'D3': 0.4}}"
            )
        for name, value in p.items():
            if name not in self.chain.parameters:
                raise UnknownNameError.of("symbol of the geometry", name, self.chain.parameters)
            values[name] = _finite(name, value)
        return values

    def _guess(self, guess: Any) -> Array:
        try:
            found = floats(guess)
        except (TypeError, ValueError):
            found = np.full((), np.nan)
        if found.shape[-1:] != (self.chain.n,) or not np.isfinite(found).all():
            what = (
                f"shape {found.shape}" if np.isfinite(found).all() else "a value that is no number"
            )
            raise InputError(
                f"guess has {what}; expected {self.chain.n} finite values, or"
                f" (..., {self.chain.n}) with one guess per pose"
            )
        return found

    def _free(self, free: Any, guess: Array | None, numeric: NumericChain) -> Array | None:
        """The values (..., f) of the free joints, or of the arm angle."""
        count = 1 if self.plane else len(self.free)
        if not count:
            if free is not None:
                raise InputError("free is given, but no joint of this solution is free")
            return None
        if free is None:
            start = np.zeros(self.chain.n) if guess is None else guess
            if not self.plane:
                return start[..., list(self.free)]
            return np.zeros(1) if guess is None else arm_angle(numeric, start)[..., None]
        try:
            found = floats(free)
        except (TypeError, ValueError):
            found = np.full((), np.nan)
        if count == 1:
            found = found[..., None]
        if found.shape[-1:] != (count,):
            raise InputError(f"free has shape {np.shape(free)}; expected (..., {count})")
        if not np.isfinite(found).all():
            raise InputError("free has a value that is not a finite number; expected rad or m")
        return found

    def reach(self, T: Any, free: Any = None, p: Any = None) -> Reach:
        """The configuration nearest to a pose (4, 4), what it misses of it, and in words why; the
        `text` is empty where the pose is reached.

        >>> ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
        >>> far = np.eye(4)
        >>> far[0, 3] = 5.0
        >>> print(ik.reach(far).text)
        the position is too far by 4.05 m, whatever its orientation"""
        if self.closure is not None:
            closed: Reach = self.closure.reach(T, free, p)
            return closed
        numeric = self._numeric(self._values(p))
        held, values = np.zeros(self.chain.n, bool), np.zeros(self.chain.n)
        if not self.plane:
            held[list(self.free)] = True
            given = self._free(free, None, numeric)
            values[held] = 0.0 if given is None else given
        return reach(numeric, poses(T), held, values)

    def arm_angle(self, q: Any, p: Any = None) -> Array:
        """The arm angle of configurations (..., 7) of an arm with an arm plane.

        >>> ik = cardan.model(cardan.load("iiwa14"), "inverse-geometry", free="arm-angle")
        >>> ik.arm_angle([0, 0.5, 0.3, -1, 0, 0.5, 0]).round(6).tolist()
        0.172064"""
        if not self.plane:
            require_arm_plane(self.chain)
        return arm_angle(self.chain.numeric(self._values(p)), q)

    @named_arguments
    def equations(self, form: str = "text") -> str:
        """The derivation as a tree of branches; form 'text', 'latex', 'markdown' or 'html'.

        >>> ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
        >>> ik.equations().startswith("Inverse geometry of Universal Robots UR5")
        True"""
        if form not in ("text", "latex"):
            title = f"Inverse geometry of {self.chain.robot}"
            return equations_page(title, "", self.equations("latex"), form)
        if self.closure is not None:
            return str(self.closure.equations(form))
        if self.derivation is None:
            found: str = self.solver.equations(form)
            return found
        from .closed_form.text import derivation_text

        return derivation_text(self, form)

    def polynomial(self, T: Any, p: Any = None) -> Eliminant:
        """The polynomial of the general method at a pose (4, 4), of degree 16 for six revolute
        joints in general: `coefficients` from the constant one on, in x = tan(joint/2). Its real
        roots are the values of `joint` in the configurations of the pose. p: as for `solve`.

        >>> robot = cardan.load("general6r")
        >>> robot = robot.with_values({name: 0.2 + 0.1 * (k % 7) for k, name in
        ...                            enumerate(robot.parameters)})
        >>> T = cardan.model(robot, "transform").evaluate(q=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        >>> cardan.model(robot, "inverse-geometry", method="general").polynomial(T).degree
        16"""
        if not isinstance(self.solver, GeneralSolver):
            raise ModelError(
                f"the polynomial is one of the general method, for six joints; '{self.chain.robot}'"
                f" is solved by '{self.method}': use method='general'"
            )
        made = self.solver.prepared(self._numeric(self._values(p)))
        pose = poses(T)
        if pose.shape != (4, 4):
            raise InputError(f"T has shape {pose.shape}; expected one pose (4, 4)")
        return eliminant(made, pose, self.chain.names, self.chain.robot)

    @named_arguments
    def emit(self, language: str, function: str = "inverse_geometry", **options: Any) -> str:
        """Self-contained code of a function that gives all configurations; as text, latex,
        markdown or html the equations.

        >>> ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
        >>> "inverse_geometry" in ik.emit("python")
        True"""
        if language in FORMS:
            return self.equations(language)
        if self.closure is not None:
            return str(self.closure.emit(language, function, **options))
        from .code import emitted

        return emitted(self, language, function, **options)

    def compile(self) -> InverseGeometry:
        """Compile now what `solve` would compile at its first call.

        >>> ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
        >>> ik.compile() is ik
        True"""
        if self.closure is not None:
            self.closure.arm.compile()
        elif isinstance(self.solver, Closed):
            _ = self.solver.function
        return self

    def _parts(self) -> tuple[str, Sequence[Part]]:
        """What a notebook shows: a line on the solution, and its equations."""
        return repr(self), equations_shown(self.equations("latex"), "print(ik.equations())")

    def _repr_html_(self) -> str:
        return notebook_html(*self._parts())

    def _repr_latex_(self) -> str:
        return notebook_latex(*self._parts())

    def __repr__(self) -> str:
        given = ["arm angle"] if self.plane else [self.chain.names[j] for j in self.free]
        free = f"; {', '.join(given)} given" if given else ""
        return f"InverseGeometry({self.chain.robot}: method {self.method}{free}; {self.reason})"


def _together(poses: Array, **others: Array | None) -> tuple[int, ...]:
    """The leading axes of poses, values of free joints and guesses."""
    lead = poses.shape
    for name, values in others.items():
        try:
            lead = lead if values is None else np.broadcast_shapes(lead, values.shape[:-1])
        except ValueError:
            assert values is not None
            raise InputError(
                f"{name} {values.shape[:-1]} and poses {poses.shape} do not fit together"
            ) from None
    return lead


def _rows(x: Array, lead: tuple[int, ...], *shape: int) -> Array:
    """x for every pose, leading axes as one."""
    full = np.broadcast_to(x, (*lead, *shape)).reshape(prod(lead), *shape)
    return np.ascontiguousarray(full)


def _is_larger(numeric: NumericChain, other: NumericChain, unit: float) -> bool:
    """Is a chain the other one with its lengths so many times as large?"""
    ends = [
        (x[:3, 3], y[:3, 3]) for x, y in ((numeric.base, other.base), (numeric.tool, other.tool))
    ]
    lengths = [(numeric.d, other.d), (numeric.r, other.r), *ends]
    return all(
        np.allclose(x, unit * y, rtol=1e-12, atol=1e-15 * numeric.span) for x, y in lengths
    ) and all(
        np.allclose(x, y, rtol=0, atol=1e-12)
        for x, y in (
            (numeric.alpha, other.alpha),
            (numeric.theta, other.theta),
            (numeric.beta, other.beta),
        )
    )


def _finite(name: str, value: Any) -> float:
    """The value of a symbol of the geometry."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise InputError(f"p['{name}'] = {value!r}; expected a finite number, rad or m")
    return found


def _tolerance(tolerance: float | None, T: Any) -> float | None:
    if tolerance is None:
        return 1e-6 if getattr(T, "dtype", None) in (np.float16, np.float32) else None
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float | np.number) or not (
        0 < tolerance <= 1e-3
    ):  # fmt: skip
        raise InputError(
            f"tolerance = {tolerance!r}; expected a number of m and rad, more than 0, at most 1e-3"
        )
    return float(tolerance)
