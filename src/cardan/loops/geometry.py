"""`loop-geometry`: positions of the passive joints that close the loops, [KC97] 3.4, [K10] (3).

    solve(q_a)          every assembly found, within the limits of the joints
    solve(q_a, guess)   the one nearest to a configuration
    both of a batch (..., na): `Configurations`, or (..., n)

Loops with few unknowns are solved in closed form where `analytic` has one; the others by Newton's
method: from the guess, by continuation when the guess itself is closed, or from many starts. What
many starts find may not be all: `solve(q_a).complete` tells, and `.poses` has the distinct poses of
a platform among the assemblies."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra.ranks import conditioning
from ..arguments import named_arguments
from ..describe.limits import limits_of
from ..describe.robot import Robot
from ..document.notebook import (
    FORMS,
    equations_page,
    equations_shown,
    notebook_html,
    notebook_latex,
)
from ..document.structure import Part
from ..errors import CardanWarning, InputError, ModelError, UnknownNameError
from ..mechanism.coordinates import Coordinates, holonomic
from ..mechanism.platform import Modules, Parallel
from .analysis import Analysis, analyse, independent
from .analytic import Answers, Step, run_plan, steps_of
from .batch import many
from .closing import CLOSED
from .continuation import FAR, LEAST, STEP, ByEquations, carried
from .distances import Distances
from .formulas import Formulas, formulas_of
from .hexapod import Hexapod
from .kernels import MOST
from .numeric import (
    Array,
    Equations,
    closing_geometry,
    difference,
    equations,
    geometry_symbols,
    loop_symbols,
    numeric,
    ordered,
    unique,
    wrapped,
)
from .poses import NOT_PROVEN, Assemblies, Poses, poses_of
from .search import least_gap, searched
from .standing import standing

TRIED = 12  # configurations of each sample on which a closed form is tried
REGULAR = 1e-4  # of singular(q): below it assemblies meet, or one is a whole family
NEAR = 1e-4  # a configuration this near is given back
_CLOSED_GUESS = 1e-6  # residual of a guess that is carried on

ClosedForm = tuple[Step, ...] | Distances


@dataclass(frozen=True, eq=False)
class LoopGeometry:
    """The geometric constraint equations of a robot's loops.

    The symbols of its loops (`parameters`) need values: robot.with_values, or p of solve.

    >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
    >>> geometry
    LoopGeometry(Planar five-bar: mobility 2, 1 loops; q2, q4 of q1, q3)"""

    robot: Robot
    analysis: Analysis
    given: tuple[int, ...]  # links whose joints are given: the active ones, unless for `legs`
    # of a robot with flexible links: configurations (k, n) of the undeformed one and elastic
    # coordinates -> (k, n + ne), the passive joints of the deformed one
    bend: Callable[[Array, Any], Array] | None = None

    @classmethod
    def of(cls, robot: Robot) -> LoopGeometry:
        """The loop geometry of a robot whose loops close and whose active joints drive it.

        >>> cardan.LoopGeometry.of(cardan.load("fivebar")).mobility
        2"""
        robot, words = closing_geometry(independent(holonomic(robot)))
        if words:
            warnings.warn(words, CardanWarning, stacklevel=2)
        found = analyse(robot)
        found.require_driven()
        return cls(robot, found, found.coordinates.active)

    @cached_property
    def legs(self) -> LoopGeometry:
        """Of a parallel robot the inverse: solve(x) takes the platform's coordinates; of parallel
        modules in series those of all, then the active joints between them.

        >>> legs = cardan.model(cardan.load("delta"), "loop-geometry").legs
        >>> legs.solve([0.0, 0.0, -0.6]).shape
        (8, 12)"""
        modules = Modules.of(self.coordinates, "loop-geometry")
        joints = [j for part in modules.parts for j in part.joints]
        return LoopGeometry(self.robot, self.analysis, (*joints, *modules.between), self.bend)

    @property
    def coordinates(self) -> Coordinates:
        """Which joints are active, passive, led and idle.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> geometry.coordinates.active
        (1, 3)"""
        return self.analysis.coordinates

    @property
    def mobility(self) -> int:
        """How many joint velocities are independent.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> geometry.mobility
        2"""
        return self.analysis.mobility

    @cached_property
    def _columns(self) -> tuple[list[int], list[int]]:
        """Those of the given joints, then of what follows them by couplings; those to be found."""
        link = self.coordinates
        index = link.moving.index
        known = list(self.given)
        known += link.led_by(known)
        rest = [index(j) for j in link.moving if j not in (*known, *self.analysis.idle)]
        return [index(j) for j in known], rest

    @cached_property
    def steps(self) -> tuple[Step, ...] | None:
        """The closed-form solution loop by loop, or None where there is none that gives back
        every configuration it was tried on.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> [step.order for step in geometry.steps]
        [(2, 4)]"""
        plan = steps_of(self.analysis, (*self.given, *self.analysis.idle))
        return None if plan is None or self._loses(plan) else plan

    @cached_property
    def formulas(self) -> Formulas | None:
        """Each unknown as a formula, by Paul's types, or None where the closed form has none.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> [formula.kind for formula in geometry.formulas.formulas]
        ['type 2', 'type 3']
        >>> geometry.formulas.program.evaluate(q_a=[2.2, 0.9]).q.shape
        (2, 4)"""
        return formulas_of(self)

    @cached_property
    def platform(self) -> Distances | None:
        """The direct geometry of a platform held at three distances, or None.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> geometry.platform is None
        True"""
        if self.given != self.coordinates.active:
            return None
        platform = Distances.of(self.analysis)
        return None if platform is None or self._loses(platform) else platform

    @cached_property
    def hexapod(self) -> Hexapod | None:
        """The direct geometry of a platform with six freedoms on six legs, or None.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> geometry.hexapod is None
        True"""
        if self.given != self.coordinates.active:
            return None
        hexapod = Hexapod.of(self.analysis)
        return None if hexapod is None or self._loses(hexapod.steps) else hexapod

    def complex_poses(
        self, q_a: Any, p: Any = None, *, values: Mapping[str, float] | None = None
    ) -> Any:
        """All poses of a platform on six legs, T (k, 4, 4) in complex numbers: 40 in general, fewer
        where points coincide or legs are alike: `PlatformPoses`, of a batch (N, 6) a list.

        >>> geometry = cardan.model(cardan.load("stewart"), "loop-geometry")
        >>> poses = geometry.complex_poses([0.6, 0.62, 0.64, 0.61, 0.65, 0.63])
        >>> poses.complete, len(poses) == poses.paths - poses.infinite
        (True, True)"""
        if self.hexapod is None:
            raise ModelError(
                f"'{self.robot.name}' has no complex poses: they are those of a platform with six"
                " freedoms on six legs, each of which holds a point at a distance",
                remedy="solve(q_a) lists the assemblies",
            )
        system = self.system(p, values=values)
        q = self._given_rows(system, self._checked(q_a, len(self.given)))
        every = self.hexapod.poses(system.chain, np.atleast_2d(q))
        return every if q.ndim > 1 else every[0]

    def _loses(self, form: ClosedForm) -> bool:
        """Does a closed form lose a configuration that Newton's method has closed?"""
        back: list[bool] = []
        for sample in self.analysis.samples:
            q = sample.q.reshape(-1, sample.equations.n)[:TRIED]
            q = q[self._conditioned(sample.equations, q) > REGULAR]
            back += self._given_back(form, sample.equations, q)
        lost = back.count(False)
        if lost:
            warnings.warn(
                f"the closed form of the loops of '{self.robot.name}' lost {lost} of {len(back)}"
                " configurations it was tried on: its assemblies are searched for instead",
                CardanWarning,
                stacklevel=2,
            )
        return lost > 0

    def _given_back(self, form: ClosedForm, system: Equations, q: Array) -> list[bool]:
        """Is each of these closed configurations (N, n) among those of a closed form? Where there
        are more than it has room for, every loop is tried by itself."""
        every = self._solved(form, system, q, limited=False)
        unit = system.unit * system.gain
        apart = [difference(every[k], x, system.periodic) / unit for k, x in enumerate(q)]
        back = np.array([(np.abs(own) < NEAR).all(axis=-1).any() for own in apart], bool)
        if every.more.any():
            parts = form.steps if isinstance(form, Distances) else form
            alone = [self._given_back((step,), system, q[every.more]) for step in parts]
            back[every.more] = np.all(alone, axis=0)
        return [bool(x) for x in back]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The symbols of the loops, in the order of a vector p.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> geometry.parameters
        ()"""
        return loop_symbols(self.robot)

    def system(self, p: Any = None, *, values: Mapping[str, float] | None = None) -> Equations:
        """The loop equations as numbers; p: values of the loops' symbols, by name or in order.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> geometry.system().n
        4"""
        if p is None and not values:
            return self._system
        return equations(self.robot, {**(values or {}), **self._values(p)})

    @cached_property
    def _system(self) -> Equations:
        return equations(self.robot)

    def residual(self, q: Any, p: Any = None, *, values: Mapping[str, float] | None = None) -> Any:
        """How far the loops are open: the largest distance, by the robot's size, or angle, rad.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> q = geometry.solve([0.5, 2.5])[0]
        >>> geometry.residual(q) < 1e-9
        True"""
        found = self.system(p, values=values).error(self._whole(q))
        return found if np.ndim(q) > 1 else float(found[0])

    def solve(
        self, q_a: Any, guess: Any = None, *, p: Any = None, report: bool = False,
        values: Mapping[str, float] | None = None, threads: int | None = None, q_e: Any = None,
    ) -> Any:  # fmt: skip
        """q of the whole tree: (k, n) for all assemblies, (n,) for the one nearest to a guess.

        `q_e`: elastic coordinates of a robot with flexible links. The passive joints are then those
        of the deformed robot, and q holds the elastic coordinates too, (k, n + ne) or (n + ne,), as
        its other models take it; without it q is that of the undeformed links, of their joints.

        All assemblies are an array with the attributes `poses`, the distinct poses of a platform,
        and `complete`: are they known to be all? Newton's method from many starts cannot tell.
        `guess` is an earlier answer, all joints of the tree, or the passive ones alone. Idle joints
        stay where the guess has them, or at zero. A batch
        (..., na), or report=True, gives `Configurations`: padded with NaN and counted; with a
        guess (n) or (..., n) it gives (..., n), NaN where the loops cannot be closed. p: values
        of the symbols of the loops (`parameters`), by name or in order; threads: of a batch, one
        unless told otherwise, 0 for all cores.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> every = geometry.solve([0.5, 2.5])
        >>> every.shape, every.complete
        ((2, 4), True)
        >>> nearest = geometry.solve([0.6, 2.5], every[0])
        >>> bool(np.abs(nearest - every[0]).max() < 0.5)
        True"""
        if q_e is not None:
            if self.bend is None or np.ndim(q_a) > 1 or report:
                raise InputError(
                    f"q_e of '{self.robot.name}': elastic coordinates belong to flexible links, and"
                    " to one configuration of the active joints",
                    remedy="leave q_e out, or ask for the configurations one by one",
                )
            if np.shape(guess) == (self.robot.n + np.size(q_e),):  # an answer: its joints
                guess = guess[: self.robot.n]
            every = self.solve(q_a, guess, p=p, values=values)
            bent = self.bend(np.atleast_2d(np.asarray(every)), q_e)
            return bent if guess is None else bent[0]
        system = self.system(p, values=values)
        given = self._checked(q_a, len(self.given))
        q = self._given_rows(system, given)
        if given.ndim > 1 or report:
            return many(self, system, q, guess, threads)
        if guess is not None:
            return self._nearest(system, q, self._guess(guess, q))
        every, full, told = self._assemblies(system, q)
        if not len(every):
            self._refuse(system, q)
        poses = self.poses(every, system=system)
        return Assemblies.of(every, poses, self.complete and not full, told)

    def _given_rows(self, system: Equations, given: Array) -> Array:
        """q (..., n) with the given joints and what follows them by couplings, zero elsewhere."""
        active = self._columns[0][: len(self.given)]
        q = np.zeros((*given.shape[:-1], system.n))
        q[..., active] = given
        return np.asarray(system.followed(q, active)[0])

    @cached_property
    def complete(self) -> bool:
        """Is `solve` known to find all assemblies? A closed form is, and so are all complex poses
        of a platform on six legs; many starts are not.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> geometry.complete
        True"""
        forms = (self.steps, self.platform, self.hexapod)
        return any(form is not None for form in forms) or not self._columns[1]

    @cached_property
    def _parallel(self) -> Parallel | None:
        try:
            return Parallel.of(self.coordinates, "loop-geometry")
        except ModelError:
            return None

    def poses(self, q: Any, p: Any = None, *, system: Equations | None = None) -> Poses | None:
        """The distinct poses of the platform among configurations (k, n) of a parallel robot, with
        the arrangements of the legs of each; None of a robot without a platform.

        >>> geometry = cardan.model(cardan.load("delta"), "loop-geometry")
        >>> every = geometry.solve([0.3, 0.3, 0.3])
        >>> len(every), len(geometry.poses(every).T)
        (2, 2)"""
        if self._parallel is None:
            return None
        return poses_of(self._parallel, system or self.system(p), self._whole(q))

    def follow(
        self, path: Any, guess: Any, *, p: Any = None, values: Mapping[str, float] | None = None
    ) -> Array:
        """q along a path of active joints (N, na), each the continuation of the one before.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> first = geometry.solve([0.5, 2.5])[0]
        >>> geometry.follow([[0.5, 2.5], [0.55, 2.5], [0.6, 2.5]], first).shape
        (3, 4)"""
        system = self.system(p, values=values)
        active, passive = self._columns
        given = self._checked(path, len(self.given))
        whole = self._given_rows(system, given)
        q = np.full(whole.shape, np.nan)
        k = 0
        while k < len(q):
            q[k] = self.solve(given[k], guess if k == 0 else q[k - 1], p=p, values=values)
            k += 1
            if system.fits and k < len(q):
                way = (STEP, FAR, LEAST)
                points = whole[None, k:, active]
                ahead, count, _ = system.carried(q[k - 1 : k], points, active, passive, way)
                q[k : k + count[0]] = ahead[0, : count[0]]
                k += int(count[0])
        return q

    def singular(self, q: Any, p: Any = None, *, values: Mapping[str, float] | None = None) -> Any:
        """Smallest over largest singular value of W_p: 0 where the active joints lose control
        (type 2, or a branching of assemblies); lengths in units of the robot's size.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> geometry.singular(geometry.solve([0.5, 2.5])[0]) > 0.01
        True"""
        system = self.system(p, values=values)
        found = self._conditioned(system, self._whole(q))
        return found if np.ndim(q) > 1 else float(found[0])

    def _conditioned(self, system: Equations, q: Array) -> Array:
        J = system.balanced(system.J(q) * system.unit)[..., self._columns[1]]
        if not J.shape[-1]:
            return np.ones(len(q))
        return conditioning(J)

    @cached_property
    def home(self) -> Array:
        """q (n) where the robot stands: joints at their homes, the loops closed.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> len(geometry.home)
        4"""
        return standing(self.robot)

    @named_arguments
    def equations(self, form: str = "text") -> str:
        """The equations of every loop, and how they are solved; form 'text', 'latex', 'markdown'
        or 'html'.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> print(geometry.equations().splitlines()[0])
        Planar five-bar: mobility 2, active q1, q3; passive q2, q4"""
        if form not in ("text", "latex"):
            title = f"Loop geometry of {self.robot.name}"
            return equations_page(title, "", self.equations("latex"), form)
        from .text import text_of

        return text_of(self, form)

    def emit(
        self, language: str, function: str = "loop_geometry", *, p: Any = None, **options: Any
    ) -> str:
        """Self-contained code of `solve` where it has a closed form: c, cpp, python, matlab or
        rust; as text, latex, markdown or html the equations.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> "loop_geometry" in geometry.emit("c")
        True"""
        for key in options:
            raise UnknownNameError.of("option of emit for loop geometry", key, ("function", "p"))
        if language in FORMS:
            return self.equations(language)
        from .code import emitted

        return emitted(self, language, function, p)

    def code(self, language: str, function: str = "loop_geometry", *, p: Any = None) -> str:
        """`emit` under its name of the first edition; it goes with the next release.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as issued:
        ...     warnings.simplefilter("always")
        ...     text = geometry.code("c")
        >>> issued[0].category.__name__
        'DeprecationWarning'"""
        words = "LoopGeometry.code is emit now; the old name goes with the next release"
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        return self.emit(language, function, p=p)

    def _parts(self) -> tuple[str, Sequence[Part]]:
        """What a notebook shows: a line on the solution, and its equations."""
        return repr(self), equations_shown(self.equations("latex"), "print(geometry.equations())")

    def _repr_html_(self) -> str:
        return notebook_html(*self._parts())

    def _repr_latex_(self) -> str:
        return notebook_latex(*self._parts())

    def __repr__(self) -> str:
        link = self.coordinates
        rest = tuple(link.moving[k] for k in self._columns[1])
        return (
            f"LoopGeometry({self.robot.name}: mobility {self.mobility}, {len(link.loops)} loops;"
            f" {link.named(rest)} of {link.named(self.given)})"
        )

    def _values(self, p: Any) -> dict[str, float]:
        """The symbols' values from a mapping, or a vector in the order of `parameters`."""
        if p is None:
            return {}
        if not isinstance(p, Mapping):
            vector = numeric("p", p)
            if vector.shape != (len(self.parameters),):
                raise InputError(
                    f"p has shape {vector.shape}; expected ({len(self.parameters)},):"
                    f" {', '.join(self.parameters) or 'the loops have no symbols'}"
                )
            p = dict(zip(self.parameters, vector, strict=True))
        known = geometry_symbols(self.robot)
        for name, value in p.items():
            if name not in known:
                raise UnknownNameError.of("symbol of the geometry", name, known)
            if not np.isfinite(numeric(f"p: {name}", value)):
                raise InputError(f"p: {name} = {value} is not finite")
        return {name: float(value) for name, value in p.items()}

    @property
    def _given_name(self) -> str:
        """What the given joints are, for messages."""
        return "q_a" if self.given == self.coordinates.active else "the platform's position"

    def _whole(self, q: Any) -> Array:
        """Configurations (N, n) of the whole tree."""
        found, n = numeric("q", q), len(self.coordinates.moving)
        if found.ndim not in (1, 2) or found.shape[-1] != n:
            raise InputError(
                f"q has shape {found.shape}; expected ({n},) or (N, {n}):"
                f" {self.coordinates.named(self.coordinates.moving)}"
            )
        return np.atleast_2d(found)

    def _checked(self, given: Any, size: int) -> Array:
        found = numeric(self._given_name, given)
        names = self.coordinates.named(self.given)
        if found.ndim < 1 or found.shape[-1] != size:
            raise InputError(
                f"{self._given_name} has shape {found.shape}; expected ({size},) or (..., {size}):"
                f" {names}"
            )
        bad = np.argwhere(~np.isfinite(found))
        if len(bad):
            *place, k = (int(i) for i in bad[0])
            where = f" at {tuple(place)} of the batch" if place else ""
            raise InputError(
                f"{self._given_name}: {names.split(', ')[k]} = {found[tuple(bad[0])]}{where} is not"
                " finite; give finite numbers"
            )
        return found

    def _guess(self, guess: Any, q: Array) -> Array:
        found = numeric("guess", guess)
        if not np.isfinite(found).all():
            raise InputError("guess has values that are not finite")
        if found.shape == (len(q),):
            return found.copy()
        held = (*self.given, *self.analysis.idle)
        passive = [k for k, j in enumerate(self.coordinates.moving) if j not in held]
        if found.shape != (len(passive),):
            raise InputError(
                f"guess has shape {found.shape}; expected ({len(q)},), the whole tree, or"
                f" ({len(passive)},), the passive joints"
            )
        whole = q.copy()
        whole[passive] = found
        return whole

    def _nearest(self, system: Equations, q: Array, guess: Array) -> Array:
        """The assembly nearest to a guess (n) at the given columns of q (n)."""
        best: Array = self.nearest(system, q[None], guess[None])[0]
        if np.isnan(best).any():
            self._refuse(system, q)
        return best

    def nearest(
        self, system: Equations, q: Array, guess: Array, threads: int | None = None
    ) -> Array:
        """(N, n) the assemblies nearest to guesses (N, n) at the given columns of q (N, n): carried
        from a guess that is closed, else closed next to it, else the nearest of all; NaN where the
        loops cannot be closed.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> q = geometry.solve([0.5, 2.5])
        >>> bool(np.allclose(geometry.nearest(geometry.system(), q, q + 0.01), q))
        True"""
        active, passive = self._columns
        best = np.full(q.shape, np.nan)
        closed = system.error(guess) < _CLOSED_GUESS
        if closed.any():
            by = ByEquations(system, active, passive, threads)
            ends, share = carried(by, guess[closed], q[closed][:, active])
            best[closed] = np.where(share[:, None] == 1, ends, np.nan)
        start = guess.copy()
        start[:, active] = q[:, active]
        rest = np.flatnonzero(np.isnan(best).any(axis=1))
        if len(rest):
            ends, closed = system.close(start[rest], passive, threads=threads)
            closed &= np.abs((ends - start[rest]) / system.pace).max(axis=1) < 1.0
            best[rest[closed]] = ends[closed]
            rest = rest[~closed]
        if len(rest):
            solved = self.in_closed_form(system, start[rest], threads)
            for m, k in enumerate(rest):
                every = self._assemblies(system, start[k])[0] if solved is None else solved[m]
                if len(every):
                    apart = difference(every, start[k], system.periodic)
                    best[k] = start[k] + apart[int(np.argmin(np.linalg.norm(apart, axis=1)))]
        return best

    def continued(self, system: Equations, start: Array, q: Array) -> Array | None:
        """The assembly of a closed configuration followed to where the active columns are those of
        q; None where it ends on the way.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> first = geometry.solve([0.5, 2.5])[0]
        >>> there = geometry.solve([0.6, 2.5])[0]
        >>> geometry.continued(geometry.system(), first, there) is None
        False"""
        active, passive = self._columns
        found, share = carried(ByEquations(system, active, passive), start[None], q[None, active])
        return np.asarray(found[0]) if share[0] == 1 else None

    def _assemblies(self, system: Equations, q: Array) -> tuple[Array, bool, str]:
        """(all assemblies found, are there or may there be more?, what is known of them): in closed
        form, by all complex poses of a platform, or part by part from many starts."""
        solved = self.in_closed_form(system, q[None])
        if solved is not None:
            full = bool(solved.more[0])
            return solved[0], full, f"{MOST} of more: the kernel has no room for others" * full
        if not self._columns[1]:  # everything is given, or follows by couplings
            return q[None][system.error(q[None]) < CLOSED], False, ""
        if self.hexapod is not None:
            return self._posed(system, q[None])[0]
        return self._within(searched(system, q, self._columns[1])), False, ""

    def _listed(self, system: Equations, q: Array, threads: int | None) -> list[Array]:
        """The assemblies at each of many active positions (N, n), without a closed form."""
        if self.hexapod is not None:
            return [every for every, *_ in self._posed(system, q, threads)]
        return [self._assemblies(system, x)[0] for x in q]

    def _posed(
        self, system: Equations, q: Array, threads: int | None = None
    ) -> list[tuple[Array, bool, str]]:
        """The same at many active positions (N, n): poses of a platform, the legs at each."""
        assert self.hexapod is not None
        try:
            every = self.hexapod.poses(system.chain, q, threads)
        except ModelError as error:
            words = f"{NOT_PROVEN}; {error}"
            return [(self._within(searched(system, x, self._columns[1])), True, words) for x in q]
        columns, answers = self.hexapod.columns, []
        for x, own in zip(q, every, strict=True):
            rows = np.repeat(x[None], int(own.real.sum()), axis=0)
            rows[:, columns] = self.hexapod.placed(system.chain, own.T[own.real].real)
            rows = unique(rows, system.periodic)  # poses that meet are there several times
            legs = self._solved(self.hexapod.steps, system, rows)
            q_all = np.concatenate([x[None][:0], *(legs[k] for k in range(len(rows)))])
            answers.append((q_all, not own.complete or bool(legs.more.any()), str(own)))
        return answers

    def in_closed_form(
        self, system: Equations, q: Array, threads: int | None = None
    ) -> Answers | None:
        """The assemblies at each of many active positions (N, n); None: there is no closed form.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> q = geometry.solve([0.5, 2.5])[:1]
        >>> every = geometry.in_closed_form(geometry.system(), q)
        >>> len(every[0]), every.more.tolist()
        (2, [False])"""
        form = self.steps if self.steps is not None else self.platform
        if form is None:
            return None
        every = self._solved(form, system, q, threads=threads)
        if every.more.any():
            self._warn_of_more()
        return every

    def _solved(
        self, form: ClosedForm, system: Equations, q: Array, limited: bool = True,
        threads: int | None = None,
    ) -> Answers:  # fmt: skip
        """The assemblies at each of many active positions (N, n), loop by loop or the platform
        first; Newton's method where roots are close."""
        every = self._roots(form, system, wrapped(q, system.periodic), limited, threads)
        for k in np.flatnonzero(every.rough).tolist():
            closer = ordered([every[k]], system, self._columns[1])[0]
            every.q[k], every.residual[k], every.flat[k] = np.nan, np.nan, 1.0
            every.count[k] = len(closer)
            every.q[k, : len(closer)] = closer
            every.residual[k, : len(closer)] = system.error(closer)
            every.flat[k, : len(closer)] = 0.0
        return every

    def _roots(
        self, form: ClosedForm, system: Equations, q: Array, limited: bool,
        threads: int | None = None,
    ) -> Answers:  # fmt: skip
        """What a closed form gives, as it gives it."""
        if isinstance(form, Distances):
            idle = [self.coordinates.moving.index(j) for j in self.analysis.idle]
            every = form.solved(system.chain, q[:, self._columns[0]], limited, threads)
            every.q[..., idle] = q[:, None, idle]
            return every
        looped = {system.chain.column(j) for step in form for j in step.order}
        known = [k for k in range(system.n) if k not in looped]
        return run_plan(system.chain, form, known, q[:, known], limited, threads)

    def about(self, system: Equations, q: Array, limited: bool = False) -> list[Array]:
        """Configurations (k, n) at each of many rows q (N, n) whose given columns are set. Where
        given joints are tied to each other, loops are closed as nearly as these are right. limited:
        where there are more than there is room for, those within the limits of the joints.

        >>> geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
        >>> q = geometry.solve([0.5, 2.5])[:1]
        >>> [len(every) for every in geometry.about(geometry.system(), q)]
        [2]"""
        given, rest = self._columns
        q = system.followed(system.turned(q, given), given)[0]
        if self.steps is not None:
            roots = self._roots(self.steps, system, q, limited=False)
            every, more = [roots[k] for k in range(len(q))], roots.more
            if limited and more.any():
                rows = np.flatnonzero(more)
                fewer = self._roots(self.steps, system, q[rows], limited=True)
                for m, k in enumerate(rows):
                    every[k] = fewer[m]
                more = fewer.more
            if more.any():
                self._warn_of_more()
        elif rest:
            every = [searched(system, x, rest) for x in q]
        else:  # everything is given, or follows by couplings
            every = [x[None] for x in q]
        return [system.turned(rows, range(system.n)) for rows in every]

    def _warn_of_more(self) -> None:
        warnings.warn(
            f"the loops of '{self.robot.name}' have more than {MOST} assemblies: {MOST} of"
            " them are given; limits of the joints make them fewer",
            CardanWarning,
            stacklevel=4,
        )

    @cached_property
    def _limited(self) -> dict[int, tuple[float, float]]:
        """The limits of the joints that are found, by column, where there are any."""
        moving, joints = self.coordinates.moving, self.robot.joints
        limits = {k: limits_of(joints[moving[k] - 1]) for k in self._columns[1]}
        return {k: pair for k, pair in limits.items() if np.isfinite(pair).any()}

    def _within(self, q: Array) -> Array:
        """Configurations within the limits of the joints that were found, where there are any."""
        good = np.ones(len(q), bool)
        for column, (low, high) in self._limited.items():
            good &= (q[:, column] > low - 1e-9) & (q[:, column] < high + 1e-9)
        return np.asarray(q[good])

    def _refuse(self, system: Equations, q: Array) -> None:
        """Say how far the loops stay open, or that limits leave nothing."""
        active, passive = self._columns
        gap = least_gap(system, q, passive)
        at = np.array2string(q[active[: len(self.given)]], precision=4)
        where, what = f"q_a = {at}", "active positions"
        if self.given != self.coordinates.active:
            where = f"the platform's position ({self.coordinates.named(self.given)}) = {at}"
            what = "a position of the platform"
        if gap.value < 1e-8 and not self._limited:
            raise ModelError(
                f"the loops of '{self.robot.name}' close at {where} in no separate assemblies: some"
                " joint may have any value there; give a guess, or other positions"
            )
        if gap.value < 1e-8:
            raise ModelError(
                f"every assembly of '{self.robot.name}' at {where} is outside the limits of its"
                f" joints; choose {what} within them"
            )
        raise ModelError(
            f"the loops of '{self.robot.name}' cannot be closed at {where}: {gap.what}"
            f" stays open by {gap.text} at best; choose {what} within reach"
        )
