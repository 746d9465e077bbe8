"""Files that are opened: read by a job, never run; names tell which is which, and nothing else."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
from typing import Any

from nicegui import ui

from ....describe.files import accepted, read_bytes
from ....errors import CardanError, InputError
from ..files.uploads import LISTED
from ..server.state import Page
from .cells import say as tell
from .menus import choose_from

_LARGEST = 64_000_000  # bytes of an upload
# a file input with its label: Quasar's own is a button in a button, without a name
_HEAD = """
<label class="upload-head">
  <q-spinner v-if="props.isUploading" size="18px" /><q-icon v-else name="upload_file" size="18px" />
  <span>%s</span>
  <input class="q-uploader__input" type="file" :multiple="%s"
    @change="props.addFiles([...$event.target.files])" />
</label>
"""


async def packed(files: list[Any], largest: int = _LARGEST) -> tuple[str, bytes]:
    """Uploaded files for a job: a digest of them, and all of them as JSON [[name, base64] ...]."""
    if sum(file.size() for file in files) > largest:
        raise InputError(f"too large: {largest // 1_000_000} MB are allowed")
    contents = [(str(file.name)[-300:], await file.read()) for file in files]

    def pack() -> tuple[str, bytes]:
        digest = hashlib.sha256()
        for name, content in contents:
            digest.update(f"{len(name)} {name} {len(content)} ".encode() + content)
        listed = [[name, base64.b64encode(content).decode()] for name, content in contents]
        return digest.hexdigest(), json.dumps(listed).encode()

    return await asyncio.to_thread(pack)


def uploader(label: str, **more: Any) -> Any:
    """A place to drop files on, or to choose them by pointer or keys."""
    place = ui.upload(auto_upload=True, **more).classes("w-full upload").props("flat bordered")
    place.add_slot("header", _HEAD % (label, str(more.get("multiple", False)).lower()))
    return place


def open_file(page: Page) -> None:
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label(f"Open a robot: {LISTED}").classes("text-lg")
        ui.label("URDF, xacro and MJCF (.xml) are drawn with their meshes (.stl, .obj with .mtl, "
                 ".dae) if these come with them; xacro, MJCF and SDFormat may include other files: "
                 "choose all of them, or a .zip of the folder.").classes("hint narrow")  # fmt: skip
        status = ui.label("").classes("hint").props("role=status")
        faults = ui.label("").classes("listing error narrow").props("role=alert")

        async def take(event: Any) -> None:
            faults.set_text("")
            status.set_text("reading")
            try:
                message = await _opened(page, event.files, status.set_text)
            except CardanError as error:
                message = str(error)
            except Exception as error:  # whatever it is, the dialog must not wait for ever
                logging.getLogger("cardan").exception("a file could not be opened")
                message = f"Cardan failed on this, which is a fault of Cardan: {error!r}"
            if page.closed or dialog.is_deleted:
                return
            status.set_text("")
            if message:
                faults.set_text(message)
                files.reset()
            else:
                dialog.close()

        files = uploader(
            "Drop files here, or choose them", on_multi_upload=take, multiple=True,
            max_total_size=_LARGEST,
            on_rejected=lambda: faults.set_text("too large: 64 MB are allowed"),
        )  # fmt: skip
        with ui.row().classes("w-full justify-end"):
            ui.button("Close", on_click=dialog.close).props("flat no-caps")
    dialog.on("hide", dialog.delete)
    dialog.open()


async def _opened(page: Page, files: list[Any], say: Any) -> str:
    """Show the robot of the files, of several the one that is chosen; a message where there is
    none."""
    digest, attached = await packed(files)
    answer = await page.ask("opened", say, files=digest, attached=attached)
    if "several" in answer:

        async def take(name: str) -> None:
            try:
                chosen = await page.ask("opened", lambda text: None, files=digest, choice=name,
                                        attached=attached)  # fmt: skip
                message = await _shown(page, chosen)
            except CardanError as error:
                message = str(error)
            tell(message)

        names = dict.fromkeys(answer["several"], "")
        choose_from(f"{len(names)} robots among the files", names, take)
        return ""
    return await _shown(page, answer)


async def _shown(page: Page, answer: dict[str, Any]) -> str:
    """Open the robot that a job has read, with its surfaces."""
    surfaces = []
    for link, name, colour in answer["meshes"]:
        part = page.jobs.part(answer["key"], name)
        if part and page.shapes:
            await asyncio.to_thread(_keep, page.shapes, name, part)
            surfaces.append([link, name, colour])
    robot, _ = read_bytes(answer["robot"].encode(), "robot.toml")
    message = page.open(accepted(robot, []), surfaces)
    if not message:
        _note("Doubtful", answer["doubts"])
        _note("Not drawn", answer["notes"])
    return message


def _note(title: str, lines: list[str]) -> None:
    if lines:
        few = "; ".join(lines[:6]) + (f" and {len(lines) - 6} more" if len(lines) > 6 else "")
        ui.notify(f"{title}: {few}", type="warning", position="bottom-left", multi_line=True,
                  close_button=True, timeout=12000)  # fmt: skip


def _keep(shapes: Any, digest: str, part: bytes) -> None:
    shapes.add(digest, base64.b64decode(json.loads(part)))
