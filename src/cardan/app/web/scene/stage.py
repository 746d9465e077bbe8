"""The scene in the browser: its background follows the theme, its size the page, and it can be
saved as a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from nicegui import ui

_FOV = 34.0  # degrees, upwards
_MARGIN = 1.14
_READY = """
const view = getElement(%d);
if (view?.renderer) {
  view.renderer.setClearColor(0x000000, 0);
  for (const light of view.scene.children.filter((x) => x.isLight)) { // rounder than as it comes
    light.intensity = Math.PI * (light.isAmbientLight ? 0.5 : 0.62);
    if (!light.isAmbientLight) light.position.set(8, -14, 24);
  }
  view.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
  const fit = () => { // as much is seen to the sides as upwards, also where it is narrow
    view.resize();
    const up = Math.tan(Math.PI * %g / 360), aspect = Math.min(1, view.camera.aspect || 1);
    view.camera.fov = 360 / Math.PI * Math.atan(up / aspect);
    view.camera.updateProjectionMatrix();
  };
  new ResizeObserver(fit).observe(view.$el);
  fit();
}
"""
# what was drawn is gone after a frame: draw once more, then take it, with the names above it
_PICTURE = """
const view = getElement(%d);
view.renderer.stale = true;
view.renderer.render(view.scene, view.camera);
const source = view.renderer.domElement, sheet = document.createElement('canvas');
sheet.width = source.width; sheet.height = source.height;
const pen = sheet.getContext('2d'), box = source.getBoundingClientRect();
const scale = source.width / box.width, style = getComputedStyle(view.$el);
pen.fillStyle = style.backgroundColor;
pen.fillRect(0, 0, sheet.width, sheet.height);
pen.drawImage(source, 0, 0);
pen.fillStyle = style.color;
pen.font = `${11 * scale}px sans-serif`;
for (const label of view.$el.children[1].children) {
  if (label.style.display === 'none') continue;
  const at = label.getBoundingClientRect();
  pen.fillText(label.textContent, (at.left - box.left) * scale, (at.bottom - box.top) * scale);
}
const link = document.createElement('a');
link.href = sheet.toDataURL('image/png');
link.download = %s;
link.click();
"""


def stage(on_drag_end: Any) -> Any:
    """An empty scene that fills the room it is given."""
    scene = ui.scene(
        640, 460, grid=False, on_drag_end=on_drag_end, fps=30,
        camera=ui.scene.perspective_camera(fov=_FOV, near=0.005, far=500),
    ).classes("scene w-full")  # fmt: skip
    scene.props('role=img aria-label="The robot in three dimensions"')
    scene.on("init", lambda: ui.run_javascript(_READY % (scene.id, _FOV)))
    return scene


def together(scene: Any) -> AbstractContextManager[None]:
    """What is changed inside goes to the browser as one message, in order, also when nested."""
    if getattr(scene, "_batched_calls", None) is not None:
        return nullcontext()
    batch: AbstractContextManager[None] = getattr(scene, "_batch_calls", nullcontext)()
    return batch


def fit(scene: Any, points: np.ndarray, around: float, direction: Sequence[float]) -> None:
    """Look from a direction at all points (N, 3) and so much around them: from as near as they all
    are in sight."""
    near = np.asarray(direction, float) / np.linalg.norm(direction)
    right = np.cross([0.0, 0.0, 1.0], near)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(near, right), near])
    seen = points @ axes.T
    low, high = seen.min(axis=0) - around, seen.max(axis=0) + around
    middle = (low + high) / 2
    corners = np.concatenate([seen - around, seen + around]) - middle
    aside = np.abs(corners[:, :2]).max(axis=1)
    far = _MARGIN * float((aside / np.tan(np.radians(_FOV / 2)) + corners[:, 2]).max())
    middle = axes.T @ middle
    x, y, z = (middle + far * near).tolist()
    scene.move_camera(
        x=x, y=y, z=z, look_at_x=float(middle[0]), look_at_y=float(middle[1]),
        look_at_z=float(middle[2]), duration=0,
    )  # fmt: skip


def save_picture(scene: Any, name: str) -> None:
    """Let the browser save the scene as a PNG file."""
    ui.run_javascript(_PICTURE % (scene.id, json.dumps(name)))
