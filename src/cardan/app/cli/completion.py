"""What a shell offers when a word is completed: robots, models, languages and other names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

Completion = Callable[[str], list[str]]


def names(*words: str) -> Completion:
    """A fixed list of words."""
    return lambda incomplete: _beginning(incomplete, words)


def robots(incomplete: str) -> list[str]:
    """Bundled robots, and files that may describe one."""
    from ...describe.bundled import robots as bundled
    from ...describe.files import READABLE

    head = Path(incomplete)
    folder = head if incomplete.endswith("/") else head.parent
    try:
        beside = sorted(folder.iterdir())
    except OSError:
        beside = []
    prefix = incomplete[: len(incomplete) - len("" if incomplete.endswith("/") else head.name)]
    files = [
        f"{prefix}{path.name}{'/' if path.is_dir() else ''}"
        for path in beside
        if path.suffix.lower() in READABLE or (path.is_dir() and incomplete)
    ]
    return _beginning(incomplete, [*bundled(), *files])


def models(incomplete: str) -> list[str]:
    """Names of the menu."""
    from ...catalogue import MENU

    return _beginning(incomplete, MENU)


def languages(incomplete: str) -> list[str]:
    """Languages that programs are printed in."""
    from ...emit import languages as known

    return _beginning(incomplete, known())


def packages(incomplete: str) -> list[str]:
    """Kinds of packages."""
    from ...package import KINDS

    return _beginning(incomplete, KINDS)


def laws(incomplete: str) -> list[str]:
    """Control laws."""
    from ...control.names import LAWS

    return _beginning(incomplete, (*LAWS, "prescribed"))


def profiles(incomplete: str) -> list[str]:
    """Time laws of a motion."""
    from ...motion.piecewise import LAWS

    return _beginning(incomplete, (*LAWS, "time-optimal"))


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
