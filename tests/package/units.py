"""Units of FMI 2.0 and 3.0 by their functions, through FMPy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

__all__ = ["instance", "jacobian", "set_values", "start", "values"]


@contextmanager
def instance(path: Path) -> Iterator[tuple[Any, dict[str, int]]]:
    """An instance for model exchange, and the value references by name."""
    fmpy = pytest.importorskip("fmpy")
    described = fmpy.read_model_description(str(path))
    folder = fmpy.extract(str(path))
    module = __import__(f"fmpy.fmi{described.fmiVersion[0]}", fromlist=["fmi"])
    kind = {"2": "FMU2Model", "3": "FMU3Model"}[described.fmiVersion[0]]
    model = getattr(module, kind)(
        guid=described.guid, unzipDirectory=folder, instanceName="test",
        modelIdentifier=described.modelExchange.modelIdentifier,
    )  # fmt: skip
    model.instantiate()
    try:
        yield model, {x.name: x.valueReference for x in described.modelVariables}
    finally:
        model.terminate()
        model.freeInstance()
        shutil.rmtree(folder, ignore_errors=True)


def start(model: Any) -> None:
    """Through initialization into continuous time."""
    if hasattr(model, "setupExperiment"):
        model.setupExperiment()
    model.enterInitializationMode()
    model.exitInitializationMode()
    model.enterContinuousTimeMode()


def set_values(model: Any, names: Mapping[str, int], values: Mapping[str, float]) -> None:
    write = getattr(model, "setReal", None) or model.setFloat64
    write([names[x] for x in values], list(values.values()))


def values(model: Any, names: Mapping[str, int], wanted: Sequence[str]) -> np.ndarray:
    read = getattr(model, "getReal", None) or model.getFloat64
    return np.array(read([names[x] for x in wanted]))


def jacobian(
    model: Any, names: Mapping[str, int], unknowns: Sequence[str], knowns: Sequence[str]
) -> np.ndarray:
    """Directional derivatives, a column for each known."""
    rows = [names[x] for x in unknowns]
    return np.array([model.getDirectionalDerivative(rows, [names[x]], [1.0]) for x in knowns]).T
