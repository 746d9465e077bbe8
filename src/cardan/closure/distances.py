"""Direct geometry of a platform held at distances: five-bar, Delta, Orthoglide, planar 3-RRR.

With the active joints given, leg i turns about a point E_i, and holds the platform's point H_i at a
distance l_i from it:

    |H_i(x) - E_i|² = l_i²,   i = 1, 2 (, 3)

A point of a plane: two circles. A platform that does not turn: two differences are linear, the rest
is a quadratic (three spheres, two places). A platform that moves in a plane and turns by phi: the
differences give its position as a quotient of trigonometric polynomials, and the last equation one
of degree 5 in phi, whose roots on the unit circle e^(i phi) are the places: six at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..describe.robot import PRISMATIC, REVOLUTE
from ..errors import ModelError
from ..mechanism.parallel import Leg, Parallel
from .analysis import Analysis
from .analytic import Chain, meeting

__all__ = ["Distances"]

Array = np.ndarray
_MOTIONS = {
    (PRISMATIC, PRISMATIC): "point",
    (PRISMATIC, PRISMATIC, PRISMATIC): "space",
    (PRISMATIC, PRISMATIC, REVOLUTE): "plane",
}


@dataclass(frozen=True, eq=False)
class Distances:
    """Legs, and how the platform moves: without turning in "space" or as a "point" of a plane, or
    in a "plane" with a turn."""

    parallel: Parallel
    motion: str
    idle: tuple[int, ...] = ()

    @classmethod
    def of(cls, analysis: Analysis) -> Distances | None:
        link = analysis.connection
        try:
            parallel = Parallel.of(link, "loop-geometry")
        except ModelError:
            return None
        kinds = tuple(link.tree.sigma[j] for j in parallel.coordinates)
        motion = _MOTIONS.get(kinds)
        if motion is None or len(parallel.legs) != len(kinds):
            return None
        chain = Chain.of(link.robot, analysis.samples[0].values)
        frames = chain.frames(analysis.samples[0].q[0])
        if any(_centre(chain, frames, leg, analysis.idle) is None for leg in parallel.legs):
            return None
        return cls(parallel, motion, analysis.idle)

    def places(self, q: Array, values: Mapping[str, float]) -> list[Array]:
        """The platform's coordinates for the active positions in q."""
        chain = Chain.of(self.parallel.connection.robot, values)
        start = q.copy()
        start[[chain.column(j) for j in self.parallel.coordinates]] = 0
        frames = chain.frames(start)
        E, H, square = [], [], []
        for leg in self.parallel.legs:
            centre = _centre(chain, frames, leg, self.idle)
            if centre is None:
                return []
            reach = frames[leg.end][1] - centre
            E.append(centre)
            H.append(frames[leg.hold][1])
            square.append(float(reach @ reach))
        axes = np.column_stack([frames[j][0][:, 2] for j in self.parallel.coordinates])
        if self.motion == "space":
            return _spheres(np.array(E) - np.array(H), np.array(square), axes)
        if self.motion == "point":
            return _two_circles(np.array(E) - np.array(H), np.array(square), axes)
        origin = frames[self.parallel.coordinates[-1]][1]
        plane = axes[:, :2]
        turn = float(np.sign(np.cross(plane[:, 0], plane[:, 1]) @ axes[:, 2]))
        h = (np.array(H) - origin) @ plane
        e = (np.array(E) - origin) @ plane
        off = ((np.array(E) - np.array(H)) - (e - h) @ plane.T) @ axes[:, 2]
        return _circles(e, h, np.array(square) - off**2, turn)


def _centre(
    chain: Chain, frames: list[tuple[Array, Array]], leg: Leg, idle: Sequence[int]
) -> Array | None:
    """The point about which the passive joints of a leg turn, or None."""
    active = chain.connection.active
    passive = [j for j in leg.joints if j not in (*active, *idle)]
    if leg.kind in ("prismatic", "cylindrical"):
        return None
    if any(chain.sigma[j - 1] != REVOLUTE for j in passive):
        return None
    movers = [frames[j] for j in passive if j not in chain.still[leg.name]]
    if len(movers) == 1 and leg.kind == "revolute":
        return movers[0][1]
    if len(movers) == 2:
        (R, P), (S, Q) = movers
        return meeting(P, R[:, 2], Q, S[:, 2])
    return None


def _spheres(C: Array, square: Array, axes: Array) -> list[Array]:
    """x with |axes x - C_i|² = l_i²."""
    A = 2 * (C[1:] - C[0])
    b = (C[1:] ** 2).sum(axis=1) - (C[0] ** 2).sum() - (square[1:] - square[0])
    if np.linalg.matrix_rank(A, tol=1e-9) < 2:
        return []
    start = np.linalg.lstsq(A, b, rcond=None)[0]
    along = np.cross(A[0], A[1])
    along /= np.linalg.norm(along)
    gap = start - C[0]
    half = float(gap @ along)
    root = half**2 - float(gap @ gap) + square[0]
    if root < -1e-9:
        return []
    steps = [-half + s * np.sqrt(max(root, 0.0)) for s in (1, -1)]
    return [np.asarray(np.linalg.solve(axes, start + t * along)) for t in steps]


def _two_circles(C: Array, square: Array, axes: Array) -> list[Array]:
    """x with |axes x - C_i|² = l_i² in a plane, whose distance from each C_i is known."""
    normal = np.cross(axes[:, 0], axes[:, 1])
    normal /= np.linalg.norm(normal)
    c = C - np.outer(C @ normal, normal)
    square = square - (C @ normal) ** 2
    apart = c[1] - c[0]
    far = float(apart @ apart)
    if far < 1e-18:
        return []
    along = (far + square[0] - square[1]) / (2 * far)
    root = square[0] / far - along**2
    if root < -1e-9:
        return []
    across = np.cross(normal, apart) * np.sqrt(max(root, 0.0))
    ends = [c[0] + along * apart + s * across for s in (1, -1)]
    return [np.linalg.lstsq(axes, x, rcond=None)[0] for x in ends]


def _circles(E: Array, H: Array, square: Array, turn: float) -> list[Array]:
    """(x, y, phi) with |(x, y) + R(phi) H_i - E_i|² = l_i²."""
    count = 32
    phi = 2 * np.pi * np.arange(count) / count
    X, D, _ = _position(E, H, square, phi)
    G = _turned(H[0], phi) - E[0]
    value = (X**2).sum(1) + 2 * D * (X * G).sum(1) + D**2 * ((G**2).sum(1) - square[0])
    spectrum = np.fft.fft(value) / count
    degree = 5
    coefficients = [spectrum[k] for k in range(degree, -degree - 1, -1)]
    found = []
    for z in np.roots(coefficients):
        if abs(abs(z) - 1) < 1e-4:
            angle = np.array([np.angle(z)])
            X, D, _ = _position(E, H, square, angle)
            if abs(D[0]) > 1e-10:
                found.append(np.array([*(X[0] / D[0]), turn * angle[0]]))
    return found


def _turned(h: Array, phi: Array) -> Array:
    c, s = np.cos(phi), np.sin(phi)
    return np.stack([c * h[0] - s * h[1], s * h[0] + c * h[1]], -1)


def _position(E: Array, H: Array, square: Array, phi: Array) -> tuple[Array, Array, Array]:
    """(N, D): x, y = N / D from the differences of the equations, at each phi."""
    G = [_turned(h, phi) - e for h, e in zip(H, E, strict=True)]
    rest = [(g**2).sum(1) - l for g, l in zip(G, square, strict=True)]
    a, b = 2 * (G[1] - G[0]), 2 * (G[2] - G[0])
    u, v = rest[0] - rest[1], rest[0] - rest[2]
    D = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    N = np.stack([u * b[:, 1] - v * a[:, 1], a[:, 0] * v - b[:, 0] * u], -1)
    return N, D, phi
