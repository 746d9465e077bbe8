"""Xacro -> URDF: properties, macros, conditions and includes replaced by what they stand for.

[The wiki page of xacro of ROS: properties are evaluated where they are used first; a macro sees the
names of its caller; $(arg ...) and $(find ...) as in launch files.] Expressions are those of
`expression`, so that no file can run anything; $(env ...) is refused. What an expansion may cost is
bounded: elements, depth, characters.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ...errors import CardanError, ExpressionError, InputError, MissingExtraError
from ..xml.source import LARGEST_FILE, Source, parsed, shown
from .expression import LONGEST_VALUE, evaluated
from .packages import Among, Packages

MOST_STEPS = 40_000  # elements, made or looked at; a hundred characters count as one
DEEPEST = 120
_MOST_FILES = 200
_PIECE = re.compile(r"\$\$+[{(]|\$\{[^}]*\}|\$\([^)]*\)|[^$]+|\$")
_PARAMETER = re.compile(
    r"\s*([^\s:=]+?)\s*:?=\s*(\^\|?)?(\$\{.*?\}|\$\(.*?\)|(?:'.*?'|\".*?\"|[^\s'\"]+)+|)(?:\s+|\Z)"
    r"|\s*(\S+)(?:\s+|\Z)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_UNITS = {
    "!radians": 1.0, "!degrees": math.pi / 180, "!meters": 1.0, "!millimeters": 0.001,
    "!foot": 0.3048, "!inches": 0.0254,
}  # fmt: skip
_ELSE = "what ROS's own program makes of it is read: xacro in.xacro > out.urdf"


_DIRECTIVES = (
    "arg", "attribute", "call", "element", "if", "include", "insert_block", "macro", "property",
    "unless",
)  # fmt: skip


def is_xacro(root: Any, file: str = "") -> bool:
    """Whether elements or expressions of xacro stand in a file. In a .urdf, calls of macros alone
    are what an expansion left."""
    return "xacro" in root.nsmap and any(
        (e.prefix == "xacro" and (e.tag.rpartition("}")[2] in _DIRECTIVES or file[-5:] != ".urdf"))
        or any("${" in x or "$(" in x for x in e.attrib.values())
        for e in root.iter()
    )


def expanded(
    root: Any, source: Source, files: Packages | Among, arguments: Mapping[str, str]
) -> Any:
    """The root of the URDF that a xacro file stands for; None beside a fault. The elements bear
    the numbers of their places in the source."""
    expansion = _Expansion(source, files, dict(arguments))
    try:
        return expansion.document(root)
    except _Wrong as wrong:
        message, element = wrong.args
        file, line = expansion.place(element)
        names = ", in macro ".join(shown(x) for x in reversed(expansion.calls[-3:]))
        where = f" (in macro {names})" if names else ""
        Source.fault(Source(file, faults=source.faults), f"{message}{where}", line)
        return None


class _Wrong(Exception):
    """What cannot be expanded: why, and the element."""


@dataclass(eq=False)
class _Scope:
    """Names with their values; lazy: those that are text still, evaluated where first used."""

    parent: _Scope | None
    space: bool = False  # of a file included with ns=
    values: dict[str, Any] = field(default_factory=dict)
    lazy: set[str] = field(default_factory=set)

    def holder(self, name: str) -> _Scope | None:
        scope: _Scope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.parent
        return scope

    def top(self) -> _Scope:
        return self if self.parent is None else self.parent.top()


@dataclass(frozen=True, eq=False)
class _Space:
    """A namespace in an expression: ns.name."""

    expansion: _Expansion
    scope: _Scope

    def value(self, name: str) -> Any:
        return self.expansion.value(name, self.scope)


@dataclass(frozen=True, eq=False)
class _Macro:
    name: str
    parameters: list[tuple[str, bool, str | None]]  # name, forwarded from the caller?, default
    body: Any


@dataclass(frozen=True, eq=False)
class _Block:
    """Elements under a name; raw: they are expanded where they are inserted."""

    elements: list[Any]
    raw: bool


class _Expansion:
    """One file that is being expanded."""

    def __init__(self, source: Source, files: Packages | Among, arguments: dict[str, str]) -> None:
        self.source, self.files, self.arguments = source, files, arguments
        self.names: dict[Any, str] = {}  # of the files, by their roots
        self.opened = [str(files.main) if isinstance(files, Packages) else source.file]
        self.calls: list[str] = []
        self.resolving: list[str] = []
        self.depth: int = 0
        self.included: int = 0
        self.steps: float = 0.0
        self.source.places = [(source.file, 0)]
        self.functions = {
            "load_yaml": self.yaml, "xacro.load_yaml": self.yaml, "xacro.arg": self.argument,
            "xacro.abs_filename": self.path, "xacro.dotify": lambda x: x,
            "dotify": lambda x: x, "xacro.warning": lambda *x: "", "xacro.message": lambda *x: "",
            "xacro.error": lambda *x: "", "xacro.fatal": _fatal,
        }  # fmt: skip

    def document(self, root: Any) -> Any:
        self.names[root] = self.source.file
        scope = _Scope(None)
        target = self.started(root, None, scope)
        self.content(root, target, scope, {})
        return target

    def place(self, element: Any) -> tuple[str, int]:
        """The file of an element and its line."""
        root = element.getroottree().getroot()
        return self.names.get(root, self.source.file), element.sourceline or 0

    # elements

    def started(self, element: Any, parent: Any, scope: _Scope, tag: str = "") -> Any:
        """A new element with the attributes evaluated."""
        from lxml import etree

        name = tag or element.tag
        target: Any = etree.Element(name) if parent is None else etree.SubElement(parent, name)
        for key, value in element.attrib.items():
            if "xacro" not in key.partition("}")[0]:
                target.set(key, self.string(value, scope, element))
        self.source.places.append(self.place(element))
        target.sourceline = len(self.source.places) - 1
        return target

    def content(self, element: Any, target: Any, scope: _Scope, macros: dict[str, Any]) -> None:
        """What stands in an element, expanded, at the end of the target."""
        if self.depth > DEEPEST:
            words = f"macros and elements nest deeper than {DEEPEST} levels: a macro calls itself?"
            raise _Wrong(words, element)
        self.depth += 1
        if element.text and element.text.strip():
            target.text = (target.text or "") + self.string(element.text, scope, element)
        for child in element:
            if isinstance(child.tag, str):
                self.child(child, target, scope, macros)
        self.depth -= 1

    def child(self, element: Any, target: Any, scope: _Scope, macros: dict[str, Any]) -> None:
        self.step(1, element)
        if element.prefix != "xacro":
            self.content(element, self.started(element, target, scope), scope, macros)
            return
        name = element.tag.rpartition("}")[2]
        if name in ("if", "unless"):
            text = self.required(element, "value")
            if self.truth(self.text(text, scope, element), element) == (name == "if"):
                self.content(element, target, scope, macros)
        elif name == "property":
            self.property(element, scope)
        elif name == "macro":
            self.macro(element, macros)
        elif name == "arg":
            key = self.required(element, "name")
            if key not in self.arguments and element.get("default") is not None:
                self.arguments[key] = self.string(element.get("default"), scope, element)
        elif name == "include":
            self.include(element, target, scope, macros)
        elif name == "insert_block":
            self.insert(element, target, scope, macros)
        elif name == "attribute":
            key, value = (
                self.string(self.required(element, x), scope, element) for x in ("name", "value")
            )
            target.set(self.valid(key, element), value)
        elif name == "element":
            keys = [key for key in element.attrib if key.rpartition("}")[2] == "name"]
            tag = self.string(element.get(keys[0]) if keys else "", scope, element)
            inner = self.started(element, target, scope, self.valid(tag, element))
            self.content(element, inner, scope, macros)
        else:
            self.call(element, name, target, scope, macros)

    def step(self, count: float, element: Any) -> None:
        """Nothing grows without end."""
        self.steps += count
        if self.steps > MOST_STEPS:
            words = f"the file expands to more than {MOST_STEPS} elements, or to as much text"
            raise _Wrong(words, element)

    def valid(self, name: str, element: Any) -> str:
        if not re.match(r"[A-Za-z_][\w.-]{0,100}\Z", name):
            raise _Wrong(f"'{shown(name)}' is no name of an element or an attribute", element)
        return name

    def required(self, element: Any, key: str) -> str:
        value = element.get(key)
        if value is None:
            raise _Wrong(f"<xacro:{element.tag.rpartition('}')[2]}> has no {key}=", element)
        return str(value)

    # macros

    def macro(self, element: Any, macros: dict[str, Any]) -> None:
        name = self.required(element, "name").removeprefix("xacro:")
        rest, parameters = element.get("params", ""), []
        while rest.strip():
            match = _PARAMETER.match(rest)
            if match is None or match.end() == 0:
                raise _Wrong(f"the params of macro '{shown(name)}' cannot be read", element)
            key, forwarded, default, plain = match.groups()
            parameters.append((plain or key, bool(forwarded), default or None))
            rest = rest[match.end() :]
        macros[name] = _Macro(name, parameters, element)

    def call(
        self, element: Any, name: str, target: Any, scope: _Scope, macros: dict[str, Any]
    ) -> None:
        """<xacro:name a="" b=""> ... blocks ...</xacro:name>"""
        from lxml import etree

        values = dict(element.attrib)
        if name == "call":
            name = self.string(values.pop("macro", ""), scope, element)
        macro, spaces, around = macros.get(name), macros, scope
        if macro is None and "." in name:
            *path, last = name.split(".")
            for part in path:
                spaces, inner = spaces.get(part, {}), around.holder(part)
                space = inner.values[part] if inner is not None else None
                around = space.scope if isinstance(space, _Space) else around
                spaces = spaces if isinstance(spaces, dict) else {}
            macro = spaces.get(last)
        if not isinstance(macro, _Macro):
            raise _Wrong(f"there is no macro '{shown(name)}'", element)
        inner = _Scope(around)
        holder = etree.Element("blocks")
        self.content(element, holder, scope, macros)
        blocks = list(holder)
        known = {key for key, _, _ in macro.parameters}
        for key, value in values.items():
            if key not in known:
                raise _Wrong(f"macro '{shown(name)}' has no parameter '{shown(key)}'", element)
            self.set(inner, key, self.text(value, scope, element), lazy=False)
        for key, forwarded, default in macro.parameters:
            if key in values:
                continue
            if key.startswith("*"):
                if not blocks:
                    raise _Wrong(f"macro '{shown(name)}' needs the block '{shown(key)}'", element)
                block = blocks.pop(0)
                inner.values[key] = _Block(list(block) if key.startswith("**") else [block], False)
            elif forwarded and scope.holder(key) is not None:
                self.set(inner, key, self.value(key, scope), lazy=False)
            elif default is not None:
                self.set(inner, key, self.text(default, scope, element), lazy=False)
            else:
                raise _Wrong(f"macro '{shown(name)}' needs a value of '{shown(key)}'", element)
        if blocks:
            raise _Wrong(f"macro '{shown(name)}' has no block for <{blocks[0].tag}>", element)
        self.calls.append(name)
        self.content(macro.body, target, inner, dict(spaces))
        self.calls.pop()

    def insert(self, element: Any, target: Any, scope: _Scope, macros: dict[str, Any]) -> None:
        name = self.required(element, "name")
        for key in ("**" + name, "*" + name):
            holder = scope.holder(key)
            block = holder.values[key] if holder is not None else None
            if isinstance(block, _Block):
                break
        else:
            raise _Wrong(f"there is no block '{shown(name)}'", element)
        for one in block.elements:
            if block.raw:
                self.child(one, target, scope, macros)
            else:
                copy = deepcopy(one)
                self.step(sum(1 for _ in copy.iter()), element)
                target.append(copy)

    # properties

    def property(self, element: Any, scope: _Scope) -> None:
        name = self.string(self.required(element, "name"), scope, element)
        if not _IDENTIFIER.match(name) or name.startswith("__"):
            raise _Wrong(f"'{shown(name)}' is no name of a property", element)
        if self.truth(self.text(element.get("remove", "false"), scope, element), element):
            holder = scope.holder(name)
            if holder is not None:
                del holder.values[name]
            return
        value: Any = element.get("value")
        if value is None and element.get("default") is not None:
            if scope.holder(name) is not None:
                return
            value = element.get("default")
        lazy = self.truth(self.text(element.get("lazy_eval", "true"), scope, element), element)
        target = scope
        if element.get("scope") == "global":
            target, lazy = scope.top(), False
        elif element.get("scope") == "parent" and scope.parent is not None:
            target, lazy = scope.parent, False
            while target.space and not scope.space and target.parent is not None:
                target = target.parent
        if value is None:
            inner = [x for x in element if isinstance(x.tag, str)]
            target.values["**" + name] = _Block(inner, raw=True)
            return
        self.set(target, name, value if lazy else self.text(value, scope, element), lazy)

    def set(self, scope: _Scope, name: str, value: Any, lazy: bool) -> None:
        value = _literal(value)
        scope.values[name] = value
        if lazy and isinstance(value, str):
            scope.lazy.add(name)
        else:
            scope.lazy.discard(name)

    def value(self, name: str, scope: _Scope) -> Any:
        """The value of a name; KeyError where it has none."""
        holder = scope.holder(name)
        if holder is None:
            raise KeyError(name)
        if name in holder.lazy:
            if name in self.resolving:
                chain = " -> ".join(shown(x) for x in (*self.resolving, name))
                raise ExpressionError(f"properties are defined by each other: {chain}")
            if len(self.resolving) > DEEPEST // 4:
                raise ExpressionError("properties lean on each other in too long a chain")
            self.resolving.append(name)
            value = _literal(self.pieces(holder.values[name], holder))
            self.resolving.pop()
            holder.values[name] = value
            holder.lazy.discard(name)
        return holder.values[name]

    # text

    def text(self, text: str, scope: _Scope, element: Any) -> Any:
        """The value of a text with ${...} and $(...) in it: of one alone, its own."""
        try:
            return self.pieces(text, scope)
        except MissingExtraError:
            raise
        except CardanError as error:
            remedy = f"; {_ELSE}" if isinstance(error, ExpressionError) else ""
            raise _Wrong(f"{error}{remedy}", element) from None

    def string(self, text: str, scope: _Scope, element: Any) -> str:
        value = self.text(text, scope, element)
        if isinstance(value, list | tuple | dict | _Space):
            raise _Wrong(f"'{shown(text)}' is a list or a table, not a text", element)
        return str(value)

    def pieces(self, text: str, scope: _Scope) -> Any:
        if "$" not in text:
            return text
        parts: list[Any] = []
        for piece in _PIECE.findall(text):
            if piece.startswith("$$"):
                parts.append(piece[1:])
            elif piece.startswith("${"):
                inner = str(self.pieces(piece[2:-1], scope))
                parts.append(evaluated(inner, lambda name: self.value(name, scope), self.functions))
            elif piece.startswith("$("):
                parts.append(self.substitution(str(self.pieces(piece[2:-1], scope)), scope))
            else:
                parts.append(piece)
        if len(parts) == 1:
            return parts[0]
        if any(isinstance(x, list | tuple | dict | _Space) for x in parts):
            raise ExpressionError(f"'{shown(text)}': a list or a table is no text")
        joined = "".join(map(str, parts))
        self.steps += len(joined) / 100
        if len(joined) > LONGEST_VALUE or self.steps > MOST_STEPS:
            raise ExpressionError(f"'{shown(text)}' grows beyond what is read")
        return joined

    def substitution(self, text: str, scope: _Scope) -> Any:
        """$(arg x), $(find package), $(dirname), $(eval ...)"""
        word, _, rest = text.strip().partition(" ")
        rest = rest.strip()
        if word == "arg":
            return self.argument(rest)
        if word == "find":
            return self.files.find(rest)
        if word == "dirname":
            return os.path.dirname(self.opened[-1])
        if word == "optenv":
            return rest.partition(" ")[2]
        if word == "eval":
            names = {key: _literal(value) for key, value in self.arguments.items()}
            functions = {**self.functions, "arg": self.argument, "find": self.files.find}
            return evaluated(rest, names.__getitem__, functions)
        raise InputError(f"'$({shown(text)})' is not read: arg, find, dirname, eval and optenv are")

    def argument(self, name: str) -> Any:
        if name not in self.arguments:
            raise InputError(
                f"the argument '{shown(name)}' has no value: load(path, arguments="
                f"{{'{shown(name)}': ...}}) or --arg {shown(name)}:=..."
            )
        return self.arguments[name]

    def truth(self, value: Any, element: Any) -> bool:
        if isinstance(value, str):
            word = value.strip()
            if word in ("true", "True", "false", "False"):
                return word in ("true", "True")
            try:
                return bool(int(word))
            except ValueError:
                raise _Wrong(f"'{shown(value)}' is neither true nor false", element) from None
        return bool(value)

    # files

    def path(self, name: str) -> str:
        return os.path.join(os.path.dirname(self.opened[-1]), name)

    def data(self, name: str) -> bytes:
        self.included += 1
        if self.included > _MOST_FILES:
            raise InputError(f"more than {_MOST_FILES} files are included")
        try:
            data = self.files(name)
        except (OSError, ValueError) as error:
            raise InputError(f"'{shown(name)}' cannot be read: {error}") from None
        self.steps += len(data) / 1000
        if len(data) > LARGEST_FILE or self.steps > MOST_STEPS:
            raise InputError(f"'{shown(name)}': more is included than is read")
        return data

    def include(self, element: Any, target: Any, scope: _Scope, macros: dict[str, Any]) -> None:
        name = self.string(self.required(element, "filename"), scope, element)
        path = self.path(name)
        optional = self.truth(element.get("optional", "false"), element)
        try:
            data = self.data(path)
        except InputError as error:
            if optional:
                return
            raise _Wrong(str(error), element) from None
        label = os.path.relpath(path, os.path.dirname(self.opened[0]) or ".")
        source = Source(shown(label) if len(label) < 60 else shown(os.path.basename(path)))
        root = parsed(data, source, "an included file has a <robot> element")
        if root is None:
            raise _Wrong(f"'{shown(name)}': {source.faults[0].message}", element)
        self.names[root] = source.file
        if space := element.get("ns"):
            space = self.string(space, scope, element)
            macros[space], inner = {}, _Scope(scope, space=True)
            scope.values[space] = _Space(self, inner)
            scope, macros = inner, macros[space]
        self.opened.append(path)
        self.content(root, target, scope, macros)
        self.opened.pop()

    def yaml(self, name: str) -> Any:
        try:
            import yaml
        except ImportError:
            raise MissingExtraError(
                "a xacro file that reads YAML needs PyYAML", remedy="type  pip install pyyaml"
            ) from None

        class Loader(yaml.SafeLoader):  # type: ignore[misc]
            """Tables, lists and scalars, with the units of xacro."""

            def flatten_mapping(self, node: Any) -> None:
                """Without merges (<<), which can grow without bound."""

        def measure(loader: Any, suffix: str, node: Any) -> float:
            if "!" + suffix not in _UNITS:
                raise InputError(f"'!{shown(suffix)}' is no unit of xacro")
            value = evaluated(loader.construct_scalar(node), _nothing, {})
            return float(value) * _UNITS["!" + suffix]

        Loader.add_multi_constructor("!", measure)
        data = self.data(self.path(name))
        try:
            return yaml.load(data, Loader)
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            words = " ".join(str(error).split())[:200]
            raise InputError(f"'{shown(name)}' is not YAML that is read: {words}") from None


def _nothing(name: str) -> Any:
    raise KeyError(name)


def _fatal(*words: Any) -> Any:
    raise InputError(f"the file itself says: {shown(' '.join(map(str, words)))}")


def _literal(value: Any) -> Any:
    """A number or a truth value where a text spells one; quotes around a text go."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" in value or len(value) > 100:
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)
