"""What the models are for: evaluate, inverse geometry, motions, simulation, identification."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from .state import Page

__all__ = ["using"]


def using(page: Page, view: Any) -> None:
    """The panels of the tab."""
    ui.label("")
