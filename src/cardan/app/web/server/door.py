"""How a browser is told the address, and the token in it, without telling other users.

The arguments of a program can be read by everyone on the machine, so that the browser is started on
a file that only its user can read, which leads to the address. It is removed when the browser has
come in, and at the latest when the server ends.
"""

from __future__ import annotations

import os
import tempfile
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from .security import leading_page

_STALE = 3600.0  # seconds after which a file of a server that was killed is removed


class Door:
    """The file that leads in, in a private folder beside the projects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "open"
        self.path: Path | None = None

    def open(self, address: str) -> None:
        """Start a browser on the address."""
        try:
            self.path = self._written(address)
        except OSError:  # the address was printed: it can be opened by hand
            return
        webbrowser.open(self.path.as_uri())

    def _written(self, address: str) -> Path:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        for old in self.folder.glob("*.html"):
            with suppress(OSError):
                if time.time() - old.lstat().st_mtime > _STALE:
                    old.unlink()
        handle, name = tempfile.mkstemp(suffix=".html", dir=self.folder)  # of mode 600
        with os.fdopen(handle, "wb") as file:
            file.write(leading_page(address))
        return Path(name).resolve()

    def shut(self) -> None:
        """Take the file away."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            self.path = None

    def __enter__(self) -> Door:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.shut()
