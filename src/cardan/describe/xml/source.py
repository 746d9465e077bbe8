"""Files in XML: text from anywhere -> a tree of elements, with a fault for everything wrong.

The parser is given no rope: a DOCTYPE (and with it every entity) is refused before the XML library
sees the text, and nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import Fault
from ..frames import SNAP_ANGLE

LARGEST_FILE = 8_000_000  # bytes
MOST_JOINTS = 5_000
LARGEST_NUMBER = 1e50  # squares and products of what a file gives must stay finite

_SHOWN = 5  # names in a warning
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECLARATION = re.compile(r"\A\s*<\?xml\s[^>]*?\?>")
_ENCODING = re.compile(rb"^\s*<\?xml\b[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_PROLOG = re.compile(r"\s+|<!--.*?-->|<\?.*?\?>", re.DOTALL)
_ENCODINGS = {
    **dict.fromkeys(("utf-8", "utf8", "us-ascii", "ascii"), "utf-8-sig"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1"), "latin-1"),
    "iso-8859-15": "iso-8859-15",
    "windows-1252": "cp1252",
    "utf-16": "utf-16",
}


@dataclass(eq=False)
class Source:
    """A file that is being read, and everything found to be wrong with it."""

    file: str
    snap: float = SNAP_ANGLE  # angles this near to a multiple of π/12 are that multiple
    faults: list[Fault] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)  # by what elements call their line

    def fault(self, message: str, line: int = 0, link: str = "", severity: str = "error") -> None:
        self.faults.append(Fault(message, *self.place(line), link, severity))

    def place(self, line: int | None) -> tuple[str, int]:
        """The file and line of an element; of an expanded one, those that it comes from."""
        return self.places[line or 0] if self.places else (self.file, line or 0)

    @property
    def errors(self) -> list[Fault]:
        return [fault for fault in self.faults if fault.severity == "error"]

    @property
    def failed(self) -> bool:
        return bool(self.errors)

    def number(self, text: str, what: str, line: int = 0, link: str = "") -> float | None:
        """The finite number that a text is; None beside a fault."""
        text = text.strip()
        if len(text) > 100 or not _NUMBER.fullmatch(text):
            self.fault(f"{what} is '{shown(text)}', not a finite number", line, link)
            return None
        value = float(text)
        if abs(value) > LARGEST_NUMBER:
            self.fault(f"{what} is {shown(text)}: beyond {LARGEST_NUMBER:.0e}", line, link)
            return None
        return value

    def numbers(
        self, text: str, count: int, what: str, line: int = 0, link: str = ""
    ) -> list[float] | None:
        """So many numbers, 0: any; None beside a fault."""
        parts = text.split()
        if count and len(parts) != count:
            words = f"{what} has {len(parts)} numbers, not {count}: '{shown(text)}'"
            self.fault(words, line, link)
            return None
        values = [self.number(part, what, line, link) for part in parts]
        numbers = [x for x in values if x is not None]
        return numbers if len(numbers) == len(parts) else None


def shown(text: object) -> str:
    """Text of the file fit for a message: printable, short."""
    clean = "".join(c if c.isprintable() else "?" for c in str(text)[:61])
    return clean if len(clean) <= 60 else clean[:57] + "..."


def summaries(remarks: Mapping[str, Sequence[Fault]]) -> Iterator[Fault]:
    """Of each kind of remark one fault: how many, the first few names, and why the first. A remark
    has its name as its only detail, and as its message why it was made."""
    for kind, places in remarks.items():
        names = list(dict.fromkeys(at.details[0] for at in places if at.details[0]))
        listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        count = f"{len(names)}: " if listed else f"{len(places)} times"
        words = f" ({count}{listed})" if listed or len(places) > 1 else ""
        first = places[0]
        why = f": {first.message}" if first.message else ""
        details = tuple(
            ": ".join(x for x in (f"{at.file}:{at.line}", *at.details, at.message) if x)
            for at in places
        )
        link = first.link if len(places) == 1 else ""
        yield replace(first, message=kind + words + why, link=link, details=details)


class _Refused(Exception):
    """Text that is not read: why, and its line."""


def parsed(content: bytes | str, source: Source, expected: str = "") -> Any:
    """The root element of a file, or of the characters of one; None beside a fault."""
    try:
        text = content if isinstance(content, str) else _characters(content, expected)
        return _root(text)
    except _Refused as refused:
        source.fault(*refused.args)
        return None


def _characters(data: bytes, expected: str) -> str:
    """The characters of the file, after the checks that need no XML."""
    if len(data) > LARGEST_FILE:
        size, most = f"{len(data) / 1e6:.0f} MB", f"{LARGEST_FILE / 1e6:.0f} MB"
        raise _Refused(f"the file has {size}; at most {most} are read")
    if not data.strip():
        raise _Refused(f"the file is empty; {expected}")
    encoding = "utf-8-sig"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif declared := _ENCODING.match(data[:200]):
        name = declared[1].decode("ascii")
        if name.lower() not in _ENCODINGS:
            raise _Refused(f"encoding '{name}' is not read; save the file as UTF-8", 1)
        encoding = _ENCODINGS[name.lower()]
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        words = f"not text in {encoding.removesuffix('-sig')}: is this a robot file?"
        raise _Refused(words, line) from None
    _check_prolog(text, expected)
    if not text.lstrip().startswith("<?xml"):
        return text
    # the declared encoding no longer holds; the line count must
    return _DECLARATION.sub(lambda match: "\n" * match[0].count("\n"), text.lstrip(), count=1)


def _check_prolog(text: str, expected: str) -> None:
    """Nothing but comments and instructions may precede the root element."""
    place = 0
    while match := _PROLOG.match(text, place):
        place = match.end()
    line = text.count("\n", 0, place) + 1
    if text.startswith("<!--", place):
        raise _Refused("malformed XML: a comment is not closed", line)
    if text.startswith("<!", place):
        words = "a DOCTYPE or an entity is not allowed in a robot file; remove the declaration"
        raise _Refused(words, line)
    if not text.startswith("<", place):
        raise _Refused(f"this is not XML; {expected}", line)


def _root(text: str) -> Any:
    from lxml import etree

    # huge_tree: bodies in bodies, 2048 levels instead of 256. What it also lifts is bounded before:
    # the size of the file, and entities, which no file may declare
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=True, recover=False, remove_comments=True, remove_pis=True, encoding="utf-8",
    )  # fmt: skip
    try:
        root = etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        line = getattr(error, "lineno", 0) or 0
        message = str(getattr(error, "msg", None) or error)
        if "Excessive depth" in message:
            raise _Refused(
                "elements nest too deeply: 2000 levels are read; write a chain this long as .urdf,"
                " where bodies do not nest, or as .toml",
                line,
            ) from None
        raise _Refused(f"malformed XML: {re.sub(r', line .*', '', message)}", line) from None
    if getattr(root.getroottree().docinfo, "doctype", ""):
        raise _Refused("a DOCTYPE is not allowed in a robot file; remove the declaration")
    return root
