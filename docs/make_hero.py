"""The picture of README.md: equations, the robot and code, side by side.

python docs/make_hero.py        with a Chromium on the PATH

The counts are those of README's table, without friction; the file carries them as text too, where a
test reads them.
"""

from __future__ import annotations

import base64
import io
import shutil
import tempfile
from html import escape
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import scene
from PIL import Image, PngImagePlugin
from playwright.sync_api import sync_playwright

import cardan
from cardan.app.cli.sources import stripped
from cardan.document.html import fragment
from cardan.document.reading import parts_of

FILE = Path(__file__).parent / "pictures" / "hero.png"
ROBOT = "puma560"
POSE = (0.4, 1.2, -2.2, 0.4, 0.9, 0.0)
FONT = Path(cardan.__file__).parent / "document" / "font" / "stix-two-math.woff2"
PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
@font-face {{ font-family: "STIX Two Math"; src: url(data:font/woff2;base64,{font}) }}
body {{ margin: 0; width: 1280px; background: #fff; color: #1c2730;
        font: 15px/1.4 "Helvetica Neue", Arial, sans-serif }}
main {{ display: grid; grid-template-columns: 450px 360px 470px; height: 480px }}
section {{ overflow: hidden; padding: 14px 20px; position: relative }}
section + section {{ border-left: 1px solid #d5dbe0 }}
h2 {{ font-size: 14px; font-weight: 600; color: #3d6a8f; margin: 0 0 8px; letter-spacing: .02em }}
h3 {{ font-size: 12px; font-weight: 600; margin: 8px 0 2px; color: #51606c }}
math {{ font-family: "STIX Two Math"; font-size: 13.5px }}
.equations {{ margin: 2px 0 }} .equations math {{ text-align: left }} 
pre {{ font: 11.5px/1.42 "DejaVu Sans Mono", monospace; margin: 0; white-space: pre }}
.fade:after {{ content: ""; position: absolute; left: 0; right: 0; bottom: 0; height: 70px;
        background: linear-gradient(transparent, #fff) }}
.middle {{ text-align: center }}
.middle img {{ max-width: 320px; max-height: 360px; margin-top: 6px }}
.counts {{ font-size: 13px; margin-top: 6px }} b {{ color: #b4570f }}
</style><main>
<section class="fade"><h2>equations</h2>{equations}</section>
<section class="middle"><h2>robot</h2><img src="data:image/png;base64,{robot}">
<div class="counts">inverse dynamics:<br><b>{mul}</b> multiplications,
<b>{add}</b> additions</div></section>
<section class="fade"><h2>code: C, one of {languages} languages</h2>
<pre>{code}</pre></section></main>"""


def inverse_dynamics() -> cardan.Program:
    return cardan.model(stripped(cardan.load(ROBOT)), "inverse-dynamics")


def counts() -> str:
    """Multiplications / additions, as README's table has them."""
    cost = inverse_dynamics().cost
    return f"{cost.mul + cost.div} / {cost.add}"


def page() -> str:
    """The three columns as HTML."""
    program = inverse_dynamics()
    text = fragment(parts_of(program.equations(to="latex")), 3)
    text = text[text.index("Link 2<") - 4 :]
    body = program.emit("c").split("double tau[6])\n{")[1]
    lines = [line[4:] for line in body.splitlines() if "= p[" not in line and line.strip()]
    return PAGE.format(
        font=base64.b64encode(FONT.read_bytes()).decode(), equations=text,
        robot=base64.b64encode(picture()).decode(), mul=program.cost.mul, add=program.cost.add,
        code=escape("\n".join(lines[:44])), languages=len(cardan.languages()),
    )  # fmt: skip


def picture() -> bytes:
    """The robot, shaded."""
    robot = cardan.load(ROBOT).with_values({"d3": 0.45, "r3": 0.15, "d4": 0.02, "r4": 0.43})
    figure, axes = plt.subplots(figsize=(3.2, 3.9))
    scene.draw(axes, robot, POSE)
    out = io.BytesIO()
    figure.savefig(out, dpi=200, bbox_inches="tight", pad_inches=0.02)
    plt.close(figure)
    return out.getvalue()


def main() -> None:
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hero.html"
        path.write_text(page(), encoding="utf-8")
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 480}, device_scale_factor=1.5)
        tab.goto(path.as_uri())
        image = Image.open(io.BytesIO(tab.screenshot()))
        browser.close()
    words = PngImagePlugin.PngInfo()
    words.add_text("counts", counts())
    image.save(FILE, pnginfo=words, optimize=True)


if __name__ == "__main__":
    main()
