"""Import paths of the first edition work for one release, and say where things are now."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cardan.renamed import successor

OLD = {
    "use.simulate": "simulation.simulate",
    "use.flexible_motion": "simulation.stiff",
    "simulation.flexible.motion": "simulation.stiff",
    "simulation.flexible.plots": "simulation.shapes",
    "use.identification.identify": "identification.identify",
    "use.identification.logs": "identification.read.logs",
    "use.adaptive": "control.adaptation",
    "use.sweep_table": "sweeps.table",
    "use.bench.report": "bench.report",
    "closure.geometry": "loops.geometry",
    "closure": "loops",
    "describe.expression": "describe.values.expression",
    "describe.toml_write": "describe.toml.write",
    "emit.llvm_sincos": "run.llvm.sincos",
    "emit.kernel_text": "kernel.text",
    "inverse.general_tables": "inverse.general.tables",
    "models.flexible_rigid": "models.flexible.rigid",
}


@pytest.mark.parametrize("old", OLD)
def test_an_old_path_gives_the_new_module_and_says_so(old: str) -> None:
    script = f"""
import importlib, sys, warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    old = importlib.import_module("cardan.{old}")
new = importlib.import_module("cardan.{OLD[old]}")
assert old is new, (old, new)
assert new.__spec__.name == "cardan.{OLD[old]}"
assert any("cardan.{OLD[old]}" in str(w.message) for w in said), [str(w.message) for w in said]
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_names_that_never_were_are_not_found() -> None:
    assert successor("use.nothing") is None
    with pytest.raises(ModuleNotFoundError):
        __import__("cardan.use.nothing")
    with pytest.raises(ModuleNotFoundError):
        __import__("cardan.nothing")


def test_a_package_where_a_module_was_still_has_its_names() -> None:
    from cardan.describe.mjcf import read_mjcf
    from cardan.describe.par import read_par
    from cardan.describe.toml import read_toml
    from cardan.describe.urdf import read_urdf, write_urdf
    from cardan.inverse.numeric import inverse_kinematics

    names = (read_mjcf, read_par, read_toml, read_urdf, write_urdf, inverse_kinematics)
    assert all(map(callable, names))
