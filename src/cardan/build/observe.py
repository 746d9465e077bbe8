"""The parameters that a closed-loop robot shows through its active joints: the rank of G^T D.

    tau_a = G^T D(q, qd_tr, qdd_tr) K                                 [KC97] 6.4 refs 30, 33

The transfers of a tree hold for its loops too; what depends beyond them shows in the rank of G^T D
at consistent states. Coefficients that change with the lengths are found as products of powers of
them. A parallelogram has a second, crossed assembly, with more base parameters: the assembly with
the fewest is taken, and said; but not one in which a joint stands still that others move, as a kite
folded onto its crank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ..algebra.ranks import conditioning, ranks
from ..describe.robot import Robot
from ..describe.values.expression import multiply, power, symbol, symbols
from ..describe.values.parser import to_value
from ..ir.interpret import interpret
from ..loops.numeric import Equations, equations, geometry_symbols
from ..models.bodies import Bodies
from ..models.newton_euler import inverse_dynamics as newton_euler
from ..models.regressor import Columns
from ..models.regressor import regressor as regressor_model
from .common import Arrays, flat
from .derivation import Candidate, Derivation, Result
from .mechanism import Mechanism

Need = tuple[int, int]  # of an assembly: passive joints that stand still in it, rank
_ZERO = 1e-9  # singular values below it, of the largest, are zero
_DOUBT = 1e-12  # those between the two: of too short a motion


@dataclass(frozen=True)
class _Look:
    """G^T D at many states: D of the tree and G are programs, their product is made here."""

    mechanism: Mechanism
    columns: Columns

    @cached_property
    def tree(self) -> Candidate:
        inputs: dict[str, tuple[int, ...]] = dict.fromkeys(("q", "qd", "qdd"), (self.mechanism.n,))

        def run(scene: Bodies, x: Arrays) -> Result:
            bare, state = scene.unloaded(), (x["q"], x["qd"], x["qdd"])
            D = regressor_model(bare, *state, newton_euler(bare, *state), self.columns)
            return Result({"D": ((self.mechanism.n, len(self.columns)), flat(D))})

        return Derivation(self.mechanism.tree, "regressor", inputs).trace(run)

    @cached_property
    def loops(self) -> Candidate:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint, _, qdd = self.mechanism.motion(scene, x)
            G = constraint.G()
            rows = flat([G[j] for j in self.mechanism.coordinates.moving])
            n, na = self.mechanism.n, self.mechanism.na
            return Result({"G": ((n, na), rows), "psi": ((n,), qdd)})

        inputs = self.mechanism.inputs("q", "qd")
        return Derivation(self.mechanism.tree, "loop-kinematics", inputs).trace(run)

    def velocities(self, values: Mapping[str, float], q: np.ndarray) -> np.ndarray:
        """G (N, n, na) at configurations (N, n): velocities of all joints by the active ones'."""
        x = {"q": q, "qd": np.zeros((len(q), self.mechanism.na))}
        if self.loops.parameters:
            x["p"] = np.array([values[name] for name in self.loops.parameters])
        return np.asarray(interpret(self.loops.code, x)["G"])

    def __call__(self, values: Mapping[str, float], q: np.ndarray, seed: int = 0) -> np.ndarray:
        """The rows of all states below each other."""
        rng = np.random.default_rng(100 + seed)
        qd, qdd = rng.normal(size=(2, len(q), self.mechanism.na))
        names = self.mechanism.robot.parameters
        known = dict(zip(names, rng.uniform(0.3, 1.7, len(names)), strict=True)) | dict(values)

        def run(traced: Candidate, **x: np.ndarray) -> dict[str, np.ndarray]:
            p = {"p": np.array([known[k] for k in traced.parameters])} if traced.parameters else {}
            return interpret(traced.code, {**x, **p})

        loops = run(self.loops, q=q, qd=qd)
        G = loops["G"]
        full = np.einsum("bna,ba->bn", G, qdd) + loops["psi"]
        D = run(self.tree, q=q, qd=np.einsum("bna,ba->bn", G, qd), qdd=full)["D"]
        own = np.einsum("bna,bnc->bac", G, D)
        own = own[np.isfinite(own).all(axis=(1, 2))].reshape(-1, len(self.columns))
        # rows of one length: near a singularity G is large, and one state would hide the others
        length = np.abs(own).max(axis=1, keepdims=True, initial=0)
        rows: np.ndarray = own[length[:, 0] > 0] / length[length[:, 0] > 0]
        return rows


@dataclass(frozen=True)
class Observed:
    """A closed-loop robot seen through G^T D, for several draws of its lengths."""

    mechanism: Mechanism
    values: tuple[dict[str, float], ...]
    states: tuple[Any, ...]  # q of each draw, in the assembly with the fewest parameters
    several: bool  # do other assemblies need more parameters?
    look: _Look

    def matrix(self, k: int, wanted: Columns) -> np.ndarray:
        """G^T D at the states of draw k, rows of all states below each other."""
        look = self.look if self.look.columns == wanted else _Look(self.mechanism, wanted)
        return look(self.values[k], self.states[k], k)

    def proportional(self) -> dict[int, tuple[int, Any]]:
        """Passive joints that move as another joint does, in every state, and by which factor: the
        two of a parallelogram."""
        link = self.mechanism.coordinates
        order = [*link.active, *(j for j in link.passive if j not in link.led)]
        G = [self.look.velocities(*own) for own in zip(self.values, self.states, strict=True)]
        pairs: dict[int, tuple[int, Any]] = {}
        for at, j in enumerate(order):
            for k in order[:at] if j in link.passive else ():
                rows = [(x[:, link.moving.index(j)], x[:, link.moving.index(k)]) for x in G]
                factor = None if k in pairs else _factor(rows)
                if factor is not None:
                    pairs[j] = k, factor
                    break
        return pairs

    def formula(self, values: Sequence[float]) -> Any:
        """A coefficient as a number times powers of the lengths, or None."""
        names = list(self.values[0])
        logs = np.array([[np.log(v[name]) for name in names] for v in self.values])
        monomial = _exponents(logs, np.asarray(values, float))
        if monomial is None:
            return None
        scale, exponents = monomial
        result = to_value(scale)
        for name, k in zip(names, exponents, strict=True):
            if k:
                result = multiply(result, power(symbol(name), int(k)))
        return result


def _factor(rows: Sequence[tuple[np.ndarray, np.ndarray]]) -> Any:
    """c with x = c y for all pairs (x, y), a simple fraction, or None."""
    factors = []
    for x, y in rows:
        square = float((y * y).sum())
        factors.append(float((x * y).sum()) / square if square > 0 else 0.0)
        if not np.abs(x - factors[-1] * y).max(initial=0) <= 1e-9 * np.abs(x).max(initial=0):
            return None
    number = _simple(abs(factors[0]))
    if not number or np.ptp(factors) > 1e-9:
        return None
    return to_value(number if factors[0] > 0 else f"-{number}")


def _exponents(logs: np.ndarray, values: np.ndarray) -> tuple[str, list[int]] | None:
    """(number, exponents) with values = number * product of lengths^exponents, small integers."""
    if np.abs(values).min() < 1e-9 or len(set(np.sign(values))) > 1:
        return None
    y = np.log(np.abs(values))
    sign = "-" if values[0] < 0 else ""
    used = range(logs.shape[1])
    for first, second in product((None, *used), used):
        for i, k in product((1, -1, 2, -2), repeat=2):
            exponents = np.zeros(logs.shape[1], int)
            if first is not None:
                exponents[first] += i
            exponents[second] += k
            rest = y - logs @ exponents
            if np.ptp(rest) < 1e-7:
                number = _simple(float(np.exp(rest[0])))
                if number:
                    return sign + number, [int(e) for e in exponents]
    return None


def _simple(x: float) -> str:
    for denominator in (1, 2, 3, 4):
        whole = round(x * denominator)
        if whole and abs(x * denominator - whole) < 1e-6:
            return f"{whole}/{denominator}"
    return ""


def observe(robot: Robot, columns: Columns, draws: int = 4) -> Observed:
    """States of the assembly in which these columns have the smallest rank.

    That assembly is searched for in the first draws of lengths; the others continue it."""
    mechanism = Mechanism.of(robot, "base-parameters")
    names = geometry_symbols(robot)
    varied = bool(names or motion_symbols(robot))  # several draws tell coefficients that change
    look = _Look(mechanism, columns)
    rng = np.random.default_rng(11)
    modes: list[_Draw] = []
    several = False
    for k in range(6 * draws):
        least = min((draw.need for draw in modes), default=(0, 0))
        best = [draw for draw in modes if draw.need == least]
        if len(best) >= (draws if varied else 1) and k >= (2 if names else 1):
            break
        drawn = {name: float(rng.uniform(0.3, 1.7)) for name in names}
        enough = least if k >= 2 else (0, 0)
        draw, needs = _drawn(look, equations(robot, drawn), drawn, best, enough, rng)
        several = several or len(needs) > 1
        if draw is not None:
            modes.append(draw)
    values, states = tuple(draw.values for draw in best), tuple(draw.q for draw in best)
    return Observed(mechanism, values, states, several, look)


@dataclass(frozen=True)
class _Draw:
    """States of one assembly for one draw of lengths, and what it needs there."""

    need: Need
    values: dict[str, float]
    q: np.ndarray


def _drawn(
    look: _Look, system: Equations, values: dict[str, float], known: Sequence[_Draw], enough: Need,
    rng: np.random.Generator,
) -> tuple[_Draw | None, set[Need]]:  # fmt: skip
    """The assembly of least need for these lengths, and the needs met; `enough`: stop there."""
    mechanism, size = look.mechanism, len(look.columns)
    starts = system.consistent(rng, 8)
    if known:  # the assembly found before, its loops closed anew
        near, closed = system.close(known[-1].q[:8], range(system.n), 60)
        starts = np.concatenate([near[closed][:3], starts])
    best: tuple[Need, np.ndarray] | None = None
    needs: set[Need] = set()
    na = max(mechanism.na, 1)
    few, many = 3 * size // (2 * na) + 5, max(40, 4 * size // na + 20)
    for start in starts[_regular(mechanism, system, starts)]:
        need = _need(look, values, _roamed(mechanism, system, start, few, max(6, 24 // na), rng))
        needs.add(need)
        if best is None or need < best[0]:
            best = need, start
        if need <= enough:
            break
    if best is None:
        return None, needs
    for steps in (40, 100):  # farther where the rank is in doubt
        q = _roamed(mechanism, system, best[1], many, max(14, steps // na), rng)
        R = _triangle(look(values, q))
        if ranks(R, _ZERO) == ranks(R, _DOUBT):
            break
    return _Draw((_still(look, q), int(ranks(R, _DOUBT))), values, q), needs


def _need(look: _Look, values: Mapping[str, float], q: np.ndarray) -> Need:
    """(passive joints that stand still, rank) at these states."""
    return _still(look, q), int(ranks(_triangle(look(values, q)), _DOUBT))


def _still(look: _Look, q: np.ndarray) -> int:
    """How many passive joints stand still."""
    moving, following = look.mechanism.coordinates.moving, look.mechanism.analysis.following
    columns = [moving.index(j) for j in following]
    return int((np.ptp(q[:, columns], axis=0) < 1e-9).sum()) if len(q) else 0


def _roamed(
    mechanism: Mechanism, system: Equations, start: np.ndarray, count: int, steps: int,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """States reached from one, those near a singularity left out; at least half of them."""
    q = system.roam(rng, start, count, steps)
    good = _regular(mechanism, system, q)
    return q[good] if 2 * good.sum() >= count else q


def _regular(mechanism: Mechanism, system: Equations, q: np.ndarray) -> np.ndarray:
    """Where do the active joints move everything?"""
    rolled = mechanism.coordinates.rolled  # which wheels move, and loops do not see
    follow = [j for j in mechanism.analysis.following if j not in rolled]
    columns = mechanism.coordinates.places(follow)
    if not columns or not len(q):
        return np.ones(len(q), bool)
    return np.asarray(conditioning(system.balanced(system.J(q))[..., columns]) > 1e-3)


def _triangle(D: np.ndarray) -> np.ndarray:
    """R of the columns of length one: it has their rank, whatever counts as zero."""
    scale = np.linalg.norm(D, axis=0)
    return np.asarray(np.linalg.qr(D[:, scale > 1e-11] / scale[scale > 1e-11], mode="r"))


def motion_symbols(robot: Robot) -> set[str]:
    """The symbols of how the base moves and of gravity."""
    base = robot.base
    motion = (*base.W0, *base.WP0, *base.V0, *base.VP0, *robot.gravity)
    return {name for value in motion for name in symbols(value)}
