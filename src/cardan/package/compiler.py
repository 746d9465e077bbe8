"""The C compiler of this machine, if there is one."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_PROCESSORS = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64", "i386": "x86", "i686": "x86"}
_SYSTEMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("windows", ".dll")}
_LIMIT = 600  # s


def platform_tuple() -> str:
    """This machine in the words of FMI 3.0: x86_64-linux; '' if it has none."""
    system = _SYSTEMS.get(sys.platform, ("", ""))[0]
    machine = platform.machine().lower()
    return f"{_PROCESSORS.get(machine, machine)}-{system}" if system and machine else ""


def second_platform() -> str:
    """This machine in the words of FMI 2.0: linux64; '' if it has none."""
    systems = {"linux": "linux", "darwin": "darwin", "windows": "win"}
    machine, _, system = platform_tuple().partition("-")
    return f"{systems[system]}64" if machine == "x86_64" and system else ""


def build_shared(
    name: str, sources: Mapping[str, str], definitions: tuple[str, ...] = ()
) -> tuple[str, bytes] | str:
    """(file name, bytes) of the shared library of C sources, or why there is none."""
    compiler = _compiler()
    if not compiler or not platform_tuple():
        return "no C compiler was found"
    with tempfile.TemporaryDirectory(prefix="cardan-") as folder:
        for path, text in sources.items():
            Path(folder, path).write_text(text, encoding="utf-8")
        library = name + _SYSTEMS[sys.platform][1]
        command = [
            *compiler, "-std=c99", "-O2", "-shared", "-fvisibility=hidden", "-o", library,
            *([] if sys.platform == "win32" else ["-fPIC"]),
            *(f"-D{x}" for x in definitions), *(x for x in sources if x.endswith(".c")), "-lm",
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_LIMIT, check=False,
                stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace",
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"the C compiler {compiler[0]} failed: {type(error).__name__}"
        if done.returncode != 0:
            first = next((x for x in done.stderr.splitlines() if "error" in x), "no message")
            return f"the C compiler {compiler[0]} failed: {first.strip()}"
        return library, Path(folder, library).read_bytes()


def _compiler() -> list[str]:
    """The command of the C compiler: $CC, or what is usually there."""
    try:
        wanted = shlex.split(os.environ.get("CC", ""))
    except ValueError:
        wanted = []
    for words in (wanted, ["cc"], ["gcc"], ["clang"]):
        if words and shutil.which(words[0]):
            return words
    return []
