"""Sphinx: how the pages of the site are read and set. `make docs` runs it on what build.py stages.

Formulas are set as MathML by Cardan itself, with its own font, so that the site needs no network.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from cardan import __version__
from cardan.document.formula import formula
from cardan.document.spelling import mathml

sys.path.insert(0, str(Path(__file__).parent))
from docstrings import as_rst, plain_types

project = "Cardan"
author = "The Cardan developers"
copyright = author
version = release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton"]
highlight_language = "none"
default_role = "code"

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "Cardan"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_math_renderer = "cardan"
html_copy_source = False
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {"index": [], "gallery": []}  # pages without a section
html_theme_options = {
    "logo": {"text": "Cardan"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["mystnb.unknown_mime_type"]


def setup(app: Any) -> None:
    """Register how formulas are set and how docstrings are read."""
    app.add_html_math_renderer("cardan", (_inline, None), (_block, None))
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-process-signature", _signature)
    app.connect("build-finished", _font)


def _inline(writer: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(f"<math>{mathml(formula(node.astext()))}</math>")
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    text = f'<math display="block">{mathml(formula(node.astext().strip()))}</math>'
    writer.body.append(f'<div class="equations">{text}</div>')
    raise SkipNode


def _docstring(app: Any, kind: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_rst(lines)


def _signature(
    app: Any, kind: str, name: str, item: Any, options: Any, words: str | None, gives: str | None
) -> tuple[str | None, str | None]:
    return (words and plain_types(words)), (gives and plain_types(gives))


def _font(app: Any, error: Exception | None) -> None:
    """The mathematics font of the sheets, beside the style that asks for it."""
    if error is None and app.builder.format == "html":
        import cardan.document

        font = Path(cardan.document.__file__).parent / "font"
        for name in ("stix-two-math.woff2", "OFL.txt"):
            shutil.copy(font / name, Path(app.outdir) / "_static" / name)
