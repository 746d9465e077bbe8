"""Text with the characters that LaTeX gives a meaning taken literally."""

from __future__ import annotations

_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}  # fmt: skip
_TABLE = str.maketrans(_SPECIAL)


def escaped(text: str) -> str:
    """The text as LaTeX sets it in words, in any of its fonts.

    >>> escaped("50% of a_b^c")
    '50\\\\% of a\\\\_b\\\\textasciicircum{}c'
    """
    return text.translate(_TABLE)
