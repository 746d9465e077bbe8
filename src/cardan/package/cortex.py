"""What a C library in single precision takes on Cortex-M4F and Cortex-M7: a startup, a linker
script and a Makefile that builds the functions with arm-none-eabi-gcc, runs their test in QEMU and
counts. Where these tools are installed the figures stand in the README."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from .folder import template
from .language import Language, called
from .plan import Plan

TOOLS = ("make", "arm-none-eabi-gcc", "qemu-system-arm")
_LIMIT = 300  # s
_HEAD = """\
| processor | function | flash, bytes | stack, bytes | instructions a call |
|---|---|---|---|---|
"""


def files(plan: Plan, language: Language) -> dict[str, str]:
    """The folder `cortex-m` of a package."""
    calls, table = [], []
    for function in plan.functions:
        body = "\n".join(called(plan, language, function))
        calls.append(f"static void call_{function.name}(void)\n{{\n{body}\n}}\n")
        table.append(f'    {{"{function.name}", call_{function.name}}},')
    return {
        "cortex-m/Makefile": template("cortex/Makefile.txt", name=plan.name),
        "cortex-m/link.ld": template("cortex/link.ld"),
        "cortex-m/startup.c": template("cortex/startup.c"),
        "cortex-m/measure.c": template(
            "cortex/measure.c", name=plan.name, calls="\n".join(calls), table="\n".join(table)
        ),
    }


def section(package: Mapping[str, str]) -> str:
    """What the README says of microcontrollers."""
    figures = rows(package)
    missing = ", ".join(name for name in TOOLS if not shutil.which(name))
    words = f"Not measured when this was written: {missing or 'the build'} was missing or failed."
    return template("cortex/readme.md", figures=_HEAD + figures if figures else f"{words}\n")


def rows(package: Mapping[str, str]) -> str:
    """The rows of the table, measured; '' where a tool is missing or fails."""
    if not all(map(shutil.which, TOOLS)):
        return ""
    with tempfile.TemporaryDirectory(prefix="cardan-") as folder:
        for name, text in package.items():
            path = Path(folder, PurePosixPath(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run(
                ["make", "-s", "-C", str(Path(folder, "cortex-m"))], capture_output=True,
                text=True, timeout=_LIMIT, check=False, stdin=subprocess.DEVNULL,
                encoding="utf-8", errors="replace",
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return ""
    return done.stdout if done.returncode == 0 else ""
