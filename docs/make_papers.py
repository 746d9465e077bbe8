"""Writes docs/papers.md from the table of tests/papers/claims.py:  python docs/make_papers.py"""

# ruff: noqa: E501  lines of the page

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from tests.papers.claims import CLAIMS, PAPERS, Claim  # noqa: E402  on the path from here on

from cardan.files import write_atomic  # noqa: E402

__all__ = ["text"]

HEAD = """# The five papers

Every section, equation, table and figure of the papers that Cardan rests on: what one types for it, and what shows that the answer is right. The
table is `tests/papers/claims.py`; a test runs it, and this page is written from it (`python docs/make_papers.py`).

A number is the largest relative error that the test allows, against an independent route: random trees whose link poses are series in time, with
virtual power for torques and multipliers for loops (`tests/loops/oracle.py`), or a closed form (`tests/papers/comparisons.py`). A name is the test that compares, with the largest error it allows
where it is one number. Where nothing can be compared, it says why. A test sees to it that no numbered section, equation, table or figure is left out.

Four lines say less than they seem to:

- Table II of [BK13] is reproduced with a modulus, a density, rotary inertia, locked actuators and no gravity that were chosen because they reproduce it;
  the paper prints none of them. The match shows that such values exist.
- Counts called "SYMORO+" are those of the form that SYMORO+ gives its equations, counted with a port of it; table 2 of [KC97] is lost in the scan.
- 611 products and 521 sums of [BK13] stand beside 477 and 331 with the numbers of the robot folded in, and 527 and 370 with symbols (214 and 112 more
  once per parameter set): which of these the paper counts is not said.
- A base floats under any robot but vehicles on wheels and closed loops of flexible links: `--floating` refuses `car`, `unicycle`,
  `differential-drive`, `mobile-manipulator` and `prrrp` (`--tree` opens the loops of the last).
"""


def text() -> str:
    """The page."""
    parts = [HEAD]
    for key, title in PAPERS.items():
        rows = [_row(claim) for claim in CLAIMS if claim.paper == key]
        head = "| place | says | how | shown by |\n|---|---|---|---|"
        parts.append(f"## [{key}]\n\n{title}.\n\n" + "\n".join([head, *rows]) + "\n")
    return "\n".join(parts)


def _row(claim: Claim) -> str:
    check = claim.check
    if callable(check):
        shown = f"at most {claim.bound:g}"
    else:
        shown = f"`{check.removeprefix('tests/')}`" if "::" in check else check
        shown += f", {claim.bound:g}" if claim.bound else ""
    return f"| {claim.place} | {claim.says} | {claim.call} | {shown} |"


if __name__ == "__main__":
    write_atomic(DOCS / "papers.md", text())
