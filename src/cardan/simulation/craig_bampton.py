"""Flexible bodies from finite element meshes: the reduction of Craig and Bampton (1968).

A mesh clamped at its root and held at its attachments is described by the static shapes of unit
motions of the attachments and the lowest modes between them. The result is an `ElasticBody` for
`Link.flexible`: mass, coupling, stiffness and the integrals of its deformation."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..describe.flexible import ElasticBody, ElasticPoint
from ..describe.toml.read import read_dict
from ..errors import CardanWarning, DescriptionError, InputError, MissingExtraError
from ..models.flexible.modes import eigen

Array = np.ndarray
_ROUNDED = 1e-3  # of the size of a matrix: what the digits of a file leave


def craig_bampton(
    M: Any, K: Any, nodes: Any, *, root: Sequence[int], attachments: Sequence[Sequence[int]],
    modes: int = 4, damping_ratio: float = 0.0,
) -> ElasticBody:  # fmt: skip
    """A flexible body from a mesh: M and K sparse or dense, nodes (N, 3) in the link's frame.

    3 or 6 degrees of freedom per node, node by node. root: nodes that move with the frame;
    attachments: for each place where links attach, the nodes that move rigidly with it. The
    elastic coordinates are the six motions of each attachment (displacements, rotations about the
    mean of its nodes; three where it is one node without rotations), then the modes."""
    sparse = _scipy()
    places = np.asarray(nodes, float)
    M, K = sparse.csc_matrix(M), sparse.csc_matrix(K)
    size = M.shape[0] // max(len(places), 1)
    if size not in (3, 6) or M.shape != (size * len(places),) * 2 or K.shape != M.shape:
        raise InputError(
            f"M {M.shape}, K {K.shape} for {len(places)} nodes; allowed: 3 or 6 rows per node"
        )
    if not attachments:
        raise InputError("a flexible body needs one attachment at least")
    _require_mesh(M, K, places, size)
    T, points = _shapes(M, K, places, size, root, attachments, modes)
    mass, stiffness = T.T @ (M @ T), T.T @ (K @ T)
    return _body(M, places, size, T, mass, stiffness, points, damping_ratio)


def _require_mesh(M: Any, K: Any, places: Array, size: int) -> None:
    """Both matrices whole, and K that of a free mesh at these nodes: rigid motions strain nothing,
    to the digits of a file."""
    for name, matrix in (("M", M), ("K", K)):
        largest = abs(matrix).max()
        if not np.isfinite(largest) or not largest > 0:
            raise InputError(f"{name} has entries that are not finite, or none but zeros")
        if abs(matrix - matrix.T).max() > _ROUNDED * largest:
            raise InputError(
                f"{name} is not symmetric; where one triangle is stored, give both of them"
            )
    rigid = _rigid(places, size, range(len(places)), places.mean(axis=0))
    left = np.abs(K @ rigid).max(axis=0) / (abs(K) @ np.abs(rigid)).max(axis=0).clip(1e-300)
    if left.max() > _ROUNDED:
        warnings.warn(
            f"K resists rigid motions of the mesh ({left.max():.1g} of its size): are the nodes in"
            " the order and the unit of K, and is the mesh free, its root and attachments too?",
            CardanWarning,
            stacklevel=3,
        )


def _scipy() -> Any:
    try:
        import scipy.sparse
    except ImportError:
        raise MissingExtraError.of("scipy", "sim", "reducing a finite element mesh") from None
    return scipy.sparse


def _shapes(
    M: Any, K: Any, places: Array, size: int, root: Sequence[int],
    attachments: Sequence[Sequence[int]], modes: int,
) -> tuple[Array, list[ElasticPoint]]:  # fmt: skip
    """(T over all degrees of freedom, attachment points)."""
    from scipy.sparse.linalg import eigsh, splu

    def freedoms(some: Sequence[int]) -> list[int]:
        return [size * node + k for node in some for k in range(size)]

    held = [f for some in attachments for f in freedoms(some)]
    fixed = set(freedoms(root)) | set(held)
    inside = [f for f in range(M.shape[0]) if f not in fixed]
    if set(freedoms(root)) & set(held):
        raise InputError("a node is both root and attachment; separate them")
    blocks = [_rigid(places, size, some, about) for some, about in _centres(places, attachments)]
    width = sum(block.shape[1] for block in blocks)
    T = np.zeros((M.shape[0], width + modes))
    at = 0
    for some, block in zip(attachments, blocks, strict=True):
        T[freedoms(some), at : at + block.shape[1]] = block
        at += block.shape[1]
    inner = K[inside][:, inside].tocsc()
    try:
        factors = splu(inner)
    except RuntimeError:  # exactly singular
        raise InputError(
            "the mesh moves between its root and its attachments without strain: K is singular"
            " there; is a part of it not connected?"
        ) from None
    T[inside, :width] = -factors.solve(K[inside][:, held] @ T[held, :width])
    if modes:
        count = min(modes, len(inside) - 2)
        if count < modes:
            warnings.warn(
                f"{modes} modes were asked for, but the mesh has {count} between its root and its"
                " attachments: these are taken",
                CardanWarning,
                stacklevel=4,
            )
        found = eigsh(inner, count, M[inside][:, inside].tocsc(), sigma=0)
        T = T[:, : width + count]
        T[inside, width:] = found[1][:, np.argsort(found[0])]
    points, at = [], 0
    for (_, about), block in zip(_centres(places, attachments), blocks, strict=True):
        points.append(_point(about, at, block.shape[1], T.shape[1]))
        at += block.shape[1]
    return T, points


def _centres(places: Array, attachments: Sequence[Sequence[int]]) -> list[tuple[Any, Array]]:
    return [(some, places[list(some)].mean(axis=0)) for some in attachments]


def _rigid(places: Array, size: int, some: Sequence[int], about: Array) -> Array:
    """Motions of nodes by unit displacements and rotations of the place they belong to."""
    rows = []
    for node in some:
        arm = places[node] - about
        turn = np.array([[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]])
        block = np.hstack([np.eye(3), turn])
        if size == 6:
            block = np.vstack([block, np.hstack([np.zeros((3, 3)), np.eye(3)])])
        rows.append(block)
    modes = np.vstack(rows)
    return modes if size == 6 or len(some) > 2 else modes[:, :3]


def _point(about: Array, at: int, width: int, total: int) -> ElasticPoint:
    displacement, rotation = np.zeros((total, 3)), np.zeros((total, 3))
    displacement[at : at + 3] = np.eye(3)
    if width == 6:
        rotation[at + 3 : at + 6] = np.eye(3)
    return ElasticPoint(_tuples(about), _tuples(displacement), _tuples(rotation))


def _body(
    M: Any, places: Array, size: int, T: Array, mass: Array, stiffness: Array,
    points: list[ElasticPoint], ratio: float,
) -> ElasticBody:  # fmt: skip
    """The integrals of the shapes: rigid motions give the coupling, translations the rest."""
    count = len(places)
    rigid = np.vstack([_rigid(places, size, range(count), np.zeros(3))])
    whole = rigid.T @ (M @ rigid)
    coupling = rigid.T @ (M @ T)
    spread = sum(M[k::size][:, k::size] for k in range(3)) / 3  # scalar mass between nodes
    moved = np.stack([T[k::size] for k in range(3)])  # (3, nodes, coordinates)
    weighted = np.stack([spread @ moved[b] for b in range(3)])
    P1 = np.einsum("na,bnk->kab", places, weighted)
    P2 = np.einsum("ank,bnm->kmab", moved, weighted)
    both = (P2 + P2.swapaxes(2, 3)) / 2
    J = whole[3:, 3:]
    c2 = np.stack([P2[..., 1, 2] - P2[..., 2, 1], P2[..., 2, 0] - P2[..., 0, 2],
                   P2[..., 0, 1] - P2[..., 1, 0]], axis=-1)  # fmt: skip
    return ElasticBody(
        mass=_tuples(whole[:1, 0])[0],
        MS=_tuples(np.array([whole[2, 4] * -1, whole[2, 3], whole[1, 3] * -1])),
        inertia=_tuples(np.array([J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])),
        MS_de=_tuples(coupling[:3].T), MS_re=_tuples(coupling[3:].T),
        M_ee=_tuples((mass + mass.T) / 2), K_ee=_tuples((stiffness + stiffness.T) / 2),
        D_ee=_tuples(_damping(mass, stiffness, ratio)) if ratio else (),
        dI=_tuples(_inertias(P1 + P1.swapaxes(1, 2))), ddI=_tuples(_inertias(both)),
        dMS_re=_tuples(c2), points=tuple(points),
    )  # fmt: skip


def _inertias(P: Array) -> Array:
    """The six entries of tr(P) 1 - P."""
    x, y, z = P[..., 0, 0], P[..., 1, 1], P[..., 2, 2]
    parts = [y + z, -P[..., 0, 1], -P[..., 0, 2], x + z, -P[..., 1, 2], x + y]
    return np.stack(parts, axis=-1)


def _damping(mass: Array, stiffness: Array, ratio: float) -> Array:
    squares, V = eigen(stiffness, mass)
    matrix: Array = mass @ V @ np.diag(2 * ratio * np.sqrt(np.abs(squares))) @ V.T @ mass
    return matrix


def _tuples(a: Array) -> Any:
    scale = float(np.abs(a).max(initial=0))
    small = np.where(np.abs(a) <= 1e-13 * scale, 0.0, a)

    def nested(x: Any) -> Any:
        return tuple(map(nested, x)) if isinstance(x, list) else (0 if x == 0 else x)

    return nested(small.tolist())


def load_body(path: str | Path) -> ElasticBody:
    """A flexible body from a file: .json with the fields of `ElasticBody`, or .npz of its arrays.

    In an .npz the points are arrays: positions (p, 3), displacements and rotations (p, n, 3)."""
    file = Path(path)
    try:
        if file.suffix == ".npz":
            with np.load(file, allow_pickle=False) as arrays:
                table = {key: arrays[key].tolist() for key in arrays.files}
            rows = zip(table.pop("positions", []), table.pop("displacements", []),
                       table.pop("rotations", []), strict=True)  # fmt: skip
            table["points"] = [
                {"position": p, "displacement": d, "rotation": r} for p, d, r in rows
            ]
        else:
            table = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as a flexible body: {error}") from None
    return _read(table, str(path))


def _read(table: Any, file: str) -> ElasticBody:
    if not isinstance(table, Mapping):
        raise InputError(f"{file}: a flexible body is a table of its fields")
    robot, faults = read_dict({"link": [{"flexible": {**table, "kind": "body"}}]}, file)
    errors = [fault for fault in faults if fault.severity == "error"]
    if robot is None or errors:
        raise DescriptionError(errors)
    body: ElasticBody = robot.links[0].flexible
    return body
