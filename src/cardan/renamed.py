"""Import paths of the first edition: they work for one release, and say where things are now.

A finder stands before Python's own ones, which would find a second copy of a module where the room
itself has another name; it answers for old names only."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# old room: {new room: modules that are called there as they were}
_SAME = {
    "describe": {"describe.values": "expression parser polynomial units variable"},
    "inverse": {
        "inverse.chain": "fold arm_angle",
        "inverse.closed_form": "paul relation roots equation matrices polynomial shadow branches"
        " spell text latex collect",
        "inverse.general": "held extended kept",
    },
    "use": {
        "motion": "trajectory piecewise paths taskspace torques plots joints frames coordinates"
        " derived tables animate",
        "simulation": "integrate friction contact plant simulate singular scene statespace modal",
        "control": "compare linear tabulated",
    },
    "use.identification": {
        "identification.read": "logs bags series checks naming signals",
        "identification.model": "columns equations ties",
        "identification.fit": "solve consistent bodies suspicion",
        "identification.report": "result",
    },
}
_OTHER = {
    "closure": "loops",
    "mechanism.parallel": "mechanism.platform",
    "build.inverse": "inverse.method",
    "emit.kernel": "kernel.language",
    "emit.kernel_llvm": "run.llvm.kernel",
    "emit.llvm": "run.llvm.program",
    "inverse.polish": "inverse.chain.differences",
    "inverse.closed": "inverse.closed_form.batch",
    "inverse.general_held": "inverse.general.held_kernel",
    "inverse.general_eigen": "kernel.linalg",
    "use.simulation": "simulation.result",
    "use.simulation_plot": "simulation.result",
    "use.reduction": "simulation.craig_bampton",
    "use.flexible_motion": "simulation.stiff",
    "use.flexible_simulation": "simulation.stiff",
    "use.flexible_plots": "simulation.shapes",
    "simulation.flexible": "simulation",
    "simulation.flexible.motion": "simulation.stiff",
    "simulation.flexible.simulation": "simulation.stiff",
    "simulation.flexible.plots": "simulation.shapes",
    "use.control": "control.laws",
    "use.driving": "control.compare",
    "control.driving": "control.compare",
    "use.adaptive": "control.adaptation",
    "use.reduce": "control.reduced",
    "use.sweep": "sweeps.sweep",
    "use.sweep_random": "sweeps.draws",
    "use.bench": "bench",
    "use.identification": "identification",
    "use.identification.report": "identification.report.page",
    "use.identification.jumps": "identification.read.checks",
    "use.identification.closing": "identification.read.series",
    "use.identification.assembly": "identification.identify",
    "use.identification.reach": "identification.excite",
    "describe.mjcf_loops": "describe.mjcf.equality",
    "describe.mjcf_couplings": "describe.mjcf.equality",
    "describe.mjcf_xml": "describe.mjcf.model",
    "describe.urdf_xml": "describe.urdf.elements",
    "describe.urdf_motors": "describe.urdf.drives",
    "describe.numeral": "describe.values.expression",
    "describe.about": "describe.inertia",
    "describe.dh_inertia": "describe.inertia",
    "build.closed_base": "build.observe",
    "build.closed_dynamic": "build.dynamic",
    "build.closed_free": "build.equations",
    "build.closed_reactions": "build.reactions",
    "build.flexible_closure": "build.flexible.closure",
    "build.flexible_step": "build.flexible.step",
    "models.formulation": "formulate.formulation",
    "models.inertia_matrix": "models.composite",
    "models.direct_dynamics": "models.articulated",
    "models.flexible_tree": "models.motion",
    "models.flexible.tree": "models.motion",
    "models.flexible_dynamics": "models.articulated",
    "models.flexible.dynamics": "models.articulated",
}
_PACKAGES = ("use", "closure", "simulation.flexible")  # they had modules below them
_PREFIX = {
    "describe.toml_": "describe.toml.",
    "describe.par_": "describe.par.",
    "describe.urdf_": "describe.urdf.",
    "describe.mjcf_": "describe.mjcf.",
    "models.flexible_": "models.flexible.",
    "closure.": "loops.",
    "emit.kernel_": "kernel.",
    "emit.llvm_": "run.llvm.",
    "inverse.general_": "inverse.general.",
    "inverse.numeric_": "inverse.numeric.",
    "use.sweep_": "sweeps.",
    "use.bench.": "bench.",
    "use.identification.": "identification.",
    "package.fmu_": "package.fmu.",
}


def successor(name: str) -> str | None:
    """The module that an old one is now, both below `cardan`; None for names that never were."""
    room, _, leaf = name.rpartition(".")
    for new, leaves in _SAME.get(room, {}).items():
        if leaf in leaves.split():
            return f"{new}.{leaf}"
    if name in _OTHER:
        return _OTHER[name]
    for old, new in _PREFIX.items():
        if name.startswith(old):
            return new + name[len(old) :]
    return None


class _Successor(Loader):
    """Loads the new module in place of the old one."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__.removeprefix("cardan.")
        if name == "use":
            return  # a room that is no more: only its modules have successors
        new = f"cardan.{successor(name)}"
        warnings.warn(
            f"cardan.{name} is {new} now; the old path goes with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        sys.modules[module.__name__] = import_module(new)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("cardan."):
            return None
        name = fullname.removeprefix("cardan.")
        if name != "use" and successor(name) is None:
            return None
        return ModuleSpec(fullname, _Successor(), is_package=name in _PACKAGES)


def install() -> None:
    """Answer for old paths."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def names_of(package: str, module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package that was a module: its names, which `module` has now."""

    def attribute(name: str) -> Any:
        if not name.startswith("__"):
            now = import_module(f"{package}.{module}")
            if hasattr(now, name):
                warnings.warn(
                    f"{package}.{name} is {package}.{module}.{name} now; the old path goes with the"
                    " next release",
                    DeprecationWarning,
                    stacklevel=2,
                )
                return getattr(now, name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return attribute
