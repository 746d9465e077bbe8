"""skidy at work, in a process of its own: numbers of a chain on stdin, C into a folder."""

from __future__ import annotations

import json
import sys
from typing import Any


def main(folder: str) -> None:
    import skidy  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import sympy  # type: ignore[import-untyped, import-not-found, unused-ignore]

    data = json.load(sys.stdin)
    bodies, count = data["bodies"], len(data["bodies"])
    system = skidy.SymbolicKinDyn(
        gravity_vector=sympy.Matrix(data["gravity"]),
        ee=sympy.eye(4),
        body_ref_config=[sympy.Matrix(body["frame"]) for body in bodies],
        joint_screw_coord=[_screw(sympy, body["slides"]) for body in bodies],
        config_representation="body_fixed",
        Mb=[_inertia(sympy, body) for body in bodies],
        parent=list(range(count)),
        child=[[k + 1] for k in range(1, count)] + [[]],
        support=[list(range(1, k + 1)) for k in range(1, count + 1)],
        ee_parent=count,
    )
    q, qd, qdd = skidy.generalized_vectors(count, startindex=1)
    system.closed_form_kinematics_body_fixed(q, qd, qdd, simplify=False)
    system.closed_form_inv_dyn_body_fixed(q, qd, qdd, WEE=sympy.zeros(6, 1), simplify=False)
    system.generate_code(
        python=False, C=True, folder=folder, use_global_vars=True, name="plant", project="Peer"
    )


def _screw(sympy: Any, slides: bool) -> Any:
    """(angular, linear) along z."""
    return sympy.Matrix([0, 0, 0, 0, 0, 1] if slides else [0, 0, 1, 0, 0, 0])


def _inertia(sympy: Any, body: dict[str, Any]) -> Any:
    """The inertia of (angular, linear) velocities, about the origin of the frame."""
    x, y, z = body["first"]
    first = sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    upper = sympy.Matrix(body["inertia"]).row_join(first)
    return upper.col_join((-first).row_join(body["mass"] * sympy.eye(3)))


if __name__ == "__main__":
    main(sys.argv[1])
