"""The loops closed along the rows of a recording, and what to say where they cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...errors import InputError
from ..model.ties import Ties
from ..recipe import Recipe
from .checks import Names
from .logs import Recording

__all__ = ["closed_rows"]

Array = np.ndarray
_NOTED, _REFUSED = 0.02, 0.2  # rad, or of the robot's size: measured from closed positions
_CLOSABLE = 1e-8


def closed_rows(
    ties: Ties, recording: Recording, recipe: Recipe, names: Names, q_a: Array,
    measured: Mapping[int, Array], rows: Array, *, timed: bool,
) -> tuple[Array, list[str]]:  # fmt: skip
    """(q (rows, n) closed, notes) of the driven positions (rows, na) in these rows of a recording;
    measured: positions of joints that follow, by column: they say how the loops are closed first,
    and are compared then. timed: each row follows the one before."""
    guess = ties.home(recipe.assembly.q, q_a[0])
    if measured and not recipe.assembly.q:
        guess[ties.active] = q_a[0]
        for k, x in measured.items():
            guess[k] = x[0]
    q, count = (ties.along if timed else ties.each)(q_a, guess)
    if count < len(q):
        told = _open(ties, q_a, count, recording.row(int(rows[count])))
        listed = ", ".join(f"'{name}'" for name in names.position)
        raise InputError(f"{recording.name}: columns {listed}, {told}")
    notes: list[str] = []
    faults: list[str] = []
    for away, text in _apart(ties, recording, names, q, measured, rows):
        strict = recipe.log.check_units and away > _REFUSED
        (faults if strict else notes).append(f"{recording.name}: {text}")
    if faults:
        faults.append(
            "check units, signs and offsets of these columns, and [assembly] q (if it is right: "
            "[log] check_units = false)"
        )
        raise InputError("\n".join(faults))
    return q, notes


def _open(ties: Ties, q_a: Array, row: int, where: str) -> str:
    """Why the loops cannot be closed in a row."""
    name, gap = ties.robot.name, ties.gap(q_a[row])
    if gap.value < _CLOSABLE:
        return (
            f"{where}: the loops of '{name}' close there, but not in the assembly of the rows "
            "before: a singular configuration lies between them, or [assembly] q is of another "
            "assembly than the recording"
        )
    return (
        f"{where}: {gap.what} of '{name}' cannot be closed at these positions: it stays open by "
        f"{gap.text} at best; check [position] unit, sign and offset, and the lengths of the robot"
    )


def _apart(
    ties: Ties, recording: Recording, names: Names, q: Array, measured: Mapping[int, Array],
    rows: Array,
) -> Iterator[tuple[float, str]]:  # fmt: skip
    """(distance, text) of measured positions that are not those which close the loops."""
    for column, x in measured.items():
        whole = q.copy()
        whole[:, column] = x
        away = np.abs(ties.apart(whole, q))[:, column]
        if away.max() > _NOTED:
            k = int(np.argmax(away > _NOTED))
            told = (
                f"column '{names.passive[column]}', {recording.row(int(rows[k]))}: "
                f"{x[k]:.6g} was measured, but the loops close at {q[k, column]:.6g} with the "
                f"driven joints there ({int((away > _NOTED).sum())} rows like it)"
            )
            yield float(away.max()), told
