"""Files that are opened: read, never run; their names tell the format, and nothing else."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from ...describe.files import accepted, read_bytes
from ...errors import CardanError
from .cells import say
from .state import Page

__all__ = ["open_file"]

_LARGEST = 8_000_000  # bytes of an upload


def open_file(page: Page) -> None:
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("Open a robot: .toml, .par, .urdf").classes("text-lg")
        ui.label("A URDF is drawn from its frames: meshes are other files, which it only names.") \
            .classes("hint")  # fmt: skip
        faults = ui.label("").classes("listing error").props("role=alert")

        async def take(event: Any) -> None:
            data = await event.file.read()
            suffix = event.file.name.rpartition(".")[2].lower()[:8]
            name = f"upload.{suffix}" if suffix.isalnum() else "upload"
            try:
                robot = accepted(*read_bytes(data, name), name)
            except CardanError as error:
                faults.set_text(str(error))
                uploader.reset()
                return
            dialog.close()
            page.q = page.q[:0]
            say(page.change(robot))

        uploader = ui.upload(
            on_upload=take, auto_upload=True, max_file_size=_LARGEST, max_files=1,
            on_rejected=lambda: faults.set_text("the file is too large: 8 MB are allowed"),
        ).classes("w-full")  # fmt: skip
        ui.button("Close", on_click=dialog.close).props("flat no-caps")
    dialog.on("hide", dialog.delete)
    dialog.open()
