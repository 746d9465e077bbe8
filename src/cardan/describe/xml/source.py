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
NO_LIMIT = 1e9  # where a format must give a limit, this size and more mean none
LARGEST_NUMBER = 1e50  # squares and products of what a file gives must stay finite

_SHOWN = 5  # names in a warning
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECLARATION = re.compile(r"<\?xml\s[^>]*?\?>")
# what libraries of robots read past, so that files have it: prefixes that nothing declares, "--" in
# a comment, a declaration below the first line, text behind the root
_HARMLESS = re.compile("NS_|ERR_HYPHEN_IN_COMMENT|ERR_MISPLACED_CDATA_END|ERR_RESERVED_XML_NAME")
_BEHIND = "ERR_DOCUMENT_END"
_ENCODING = re.compile(
    rb"(?:\s|<!--.*?-->)*<\?xml\b[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']", re.DOTALL
)
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


def is_no_limit(text: str) -> bool:
    """Whether a limit says that there is none: infinite, 1e16, the largest number of a machine."""
    text = text.strip()
    infinite = text.lower().lstrip("+-") in ("inf", "infinity")
    return infinite or (bool(_NUMBER.fullmatch(text)) and abs(float(text)) >= NO_LIMIT)


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
        return _root(text, source)
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
    elif declared := _ENCODING.match(data[:4000]):
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
    # the declared encoding no longer holds; the line count must
    return _DECLARATION.sub(lambda match: "\n" * match[0].count("\n"), text, count=1)


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


def _root(text: str, source: Source) -> Any:
    from lxml import etree

    # huge_tree: bodies in bodies, 2048 levels instead of 256. What it also lifts is bounded before:
    # the size of the file, and entities, which no file may declare
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=True, recover=True, remove_comments=True, remove_pis=True, encoding="utf-8",
    )  # fmt: skip
    try:
        root = etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _malformed(str(error), getattr(error, "lineno", 0) or 0) from None
    for entry in parser.error_log:
        if entry.type_name == _BEHIND and root is not None:
            words = f"what follows </{shown(root.tag)}> is left out: a file has one root"
            source.fault(words, entry.line, severity="warning")
        elif not _HARMLESS.match(entry.type_name):
            raise _malformed(entry.message, entry.line)
    if root is None:
        raise _Refused("malformed XML: there is no element")
    if getattr(root.getroottree().docinfo, "doctype", ""):
        raise _Refused("a DOCTYPE is not allowed in a robot file; remove the declaration")
    _name_spaces(root)
    return root


def _malformed(message: str, line: int) -> _Refused:
    if "Excessive depth" in message:
        words = "elements nest too deeply: 2000 levels are read; write a chain this long as .urdf,"
        return _Refused(f"{words} where bodies do not nest, or as .toml", line)
    return _Refused(f"malformed XML: {re.sub(r', line .*', '', message.strip())}", line)


def _name_spaces(root: Any) -> None:
    """A default namespace is none, and a prefix that nothing declares its own namespace."""
    for element in root.iter():
        if element.prefix is None and (tag := _in_space(element.tag)) != element.tag:
            element.tag = tag
        for key in [key for key in element.attrib if ":" in key and key[0] != "{"]:
            element.set(_in_space(key), element.attrib.pop(key))


def _in_space(name: str) -> str:
    if name.startswith("{"):
        return name.rpartition("}")[2]
    prefix, _, plain = name.partition(":")
    plain = plain.strip(":")
    if not plain or not prefix:
        return name
    if prefix == "xacro":
        raise _Refused('xmlns:xacro="http://www.ros.org/wiki/xacro" is missing in <robot>')
    return f"{{{prefix}}}{plain}"
