"""Options of the models on the command line, read from the catalogue: nothing is listed here.

`cardan generate ROBOT MODEL... --name value` mixes the command's own options with those of models.
The models' are taken out first, by their tables, wherever they stand; typer then parses the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import typer

from ...errors import InputError, UnknownNameError
from .command import Command

if TYPE_CHECKING:
    from ...catalogue import Option

_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")
_META, _INPUTS, _MODELS = "cardan.model_options", "cardan.inputs", "cardan.models"
_KINDS = {"flag": "true | false", "frame": "name of a frame, or number", "vector": "x,y,z",
          "rows": "names: 'x y rz'", "number": "a whole number"}  # fmt: skip


def options_of(model: str) -> dict[str, Option]:
    """Every option that a model takes."""
    from ...catalogue import MENU

    if model not in MENU:
        raise UnknownNameError.of("model", model, MENU)
    return dict(MENU[model].options)


def _names() -> Collection[str]:
    from ...catalogue import MENU

    return MENU


def flag_of(name: str) -> str:
    """base_parameters -> --base-parameters"""
    return "--" + name.replace("_", "-")


def values_of(ctx: typer.Context, *models: str) -> dict[str, Any]:
    """The options given for models, as the values that `cardan.model` takes."""
    table: dict[str, Option] = {}
    if isinstance(ctx.command, ModelCommand):
        table = ctx.command.shared()
    for model in models:
        table = {**options_of(model), **table}
    texts: dict[str, str] = ctx.meta.get(_META, {})
    return {name: _value(name, table[name], text) for name, text in texts.items()}


class ModelCommand(Command):
    """A command ROBOT MODEL... that takes the options of the models too (see `values_of`)."""

    def shared(self) -> dict[str, Option]:
        """What is given like an option of a model, and goes with every model."""
        return {}

    free = False  # does an option that no model has name an input?

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = self.current(ctx, args)
        if ctx.resilient_parsing:  # a shell that completes a line: it may be unfinished
            return super().parse_args(ctx, words)
        own = {
            flag: not getattr(parameter, "is_flag", False)
            for parameter in self.params
            for flag in (*parameter.opts, *parameter.secondary_opts)
            if flag.startswith("-")
        }
        own |= {"--help": False, "-h": False}
        wanted = "--help" in words or "-h" in words
        reader = _Words(ctx, words, own, self.shared(), free=self.free, help=wanted)
        ctx.meta[_MODELS] = [model for model in reader.models if model in _names()]
        rest = ["--help"] if wanted else list(reader.rest())
        ctx.meta[_META], ctx.meta[_INPUTS] = reader.given, reader.inputs
        return super().parse_args(ctx, rest)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        for model in ctx.meta.get(_MODELS, ()):
            rows = [
                (f"{flag_of(key)} {allowed(option)}", _meaning(option))
                for key, option in {**options_of(model), **self.shared()}.items()
            ]
            with formatter.section(f"Options of {model}"):
                formatter.write_dl(rows)


def _meaning(option: Option) -> str:
    word = default(option)
    return f"{option.summary} (default {word})" if word else option.summary


def default(option: Option) -> str:
    """The value of an option that is not given, as it is written."""
    return "" if option.default is None else str(option.default).lower()


def allowed(option: Option) -> str:
    """What an option may be."""
    if option.choices is not None:
        return " | ".join(map(str, option.choices))
    return _KINDS.get(option.kind, option.kind)


class EvalCommand(ModelCommand):
    """A command that takes the inputs of the model too, as --name values (see `inputs_of`)."""

    free = True


def inputs_of(ctx: typer.Context) -> dict[str, str]:
    """The inputs that were given, as they were written."""
    inputs: dict[str, str] = ctx.meta.get(_INPUTS, {})
    return inputs


class PrintCommand(ModelCommand):
    """A command that prints models: each of them with or without intermediate variables."""

    def shared(self) -> dict[str, Option]:
        from ...catalogue import MENU

        return {"expanded": MENU["transform"].options["expanded"]}


class _Words:
    """The words of a command line: `rest` are the command's own, `given` those of the model."""

    def __init__(
        self, ctx: Any, args: list[str], own: dict[str, bool], shared: dict[str, Option], *,
        free: bool = False, help: bool = False,
    ) -> None:  # fmt: skip
        self.ctx = ctx
        self.free = free
        self.inputs: dict[str, str] = {}
        self.words = list(args)
        self.own = own  # flag -> does it take a value?
        self.given: dict[str, str] = {}
        self.models = self.places()[1:]
        self.table: dict[str, Option] = {}
        for k, model in enumerate(self.models):
            # the command itself refuses other words
            if (k == 0 and not help) or model in _names():
                self.table = {**options_of(model), **self.table}
        self.table = {**self.table, **shared}

    def places(self) -> list[str]:
        """The words that are neither options nor their values. A name that takes a value in one
        model takes one in all, or this could not be told before the model is known."""
        from ...catalogue import MENU

        valued = {flag for flag, value in self.own.items() if value}
        for entry in MENU.values():
            valued |= {flag_of(k) for k, option in entry.options.items() if option.kind != "flag"}
        words, skip = [], False
        known = {*self.own, *(flag_of(k) for entry in MENU.values() for k in entry.options)}
        for word in self.words:
            flag = _canonical(word)
            if self.free and flag.startswith("--") and "=" not in flag:
                off = flag.startswith("--no-") and flag_of(flag[5:]) in known
                valued |= set() if flag in known or off else {flag}  # an input
            if not skip and (word == "-" or not word.startswith("-")):
                words.append(word)
            skip = not skip and _canonical(word) in valued
        return [word for word in words if word.lower() not in _TRUE + _FALSE]

    def rest(self) -> Iterator[str]:
        while self.words:
            word = self.words.pop(0)
            flag = word.partition("=")[0]
            if word == "--" or not self.models:
                yield from (word, *self.words)
                return
            if not flag.startswith("--") or flag in self.own:
                yield word
                if self.own.get(word) and self.words:
                    yield self.words.pop(0)
                continue
            self.take(word)

    def take(self, word: str) -> None:
        """One option of the model; its value may be the next word."""
        flag, equals, text = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        positive = name.removeprefix("no_")
        if name not in self.table and positive in self._flags() and not equals:
            self.given[positive] = _FALSE[0]
            return
        if name not in self.table and self.free:
            if not equals and not self.words:
                self.ctx.fail(f"{flag} needs values: numbers with commas")
            self.inputs[flag.removeprefix("--")] = text if equals else self.words.pop(0)
            return
        if name not in self.table:
            names = [*map(flag_of, self.table)]
            words = f"option of '{', '.join(x for x in self.models if x in _names())}'"
            self.ctx.fail(str(UnknownNameError.of(words, flag, names)))
        option = self.table[name]
        if not equals and option.kind == "flag":
            follows = bool(self.words) and self.words[0].lower() in _TRUE + _FALSE
            text = self.words.pop(0) if follows else _TRUE[0]
        elif not equals and not self.words:
            self.ctx.fail(f"{flag} needs a value: {option.summary}")
        elif not equals:
            text = self.words.pop(0)
        self.given[name] = text

    def _flags(self) -> list[str]:
        return [name for name, option in self.table.items() if option.kind == "flag"]


def _canonical(word: str) -> str:
    return flag_of(word.removeprefix("--")) if word.startswith("--") else word


def _value(name: str, option: Option, text: str) -> Any:
    """The value a text stands for; one that is not allowed is left for the model to refuse."""
    if option.choices is not None:
        return {str(choice): choice for choice in option.choices}.get(text, text)
    if option.kind == "flag":
        if text.lower() not in _TRUE + _FALSE:
            raise InputError(f"{flag_of(name)} {text}: expected true or false")
        return text.lower() in _TRUE
    if option.kind == "frame":
        return text  # a file may call a frame "3"; digits that no frame bears are a number
    if option.kind == "vector":
        return tuple(part.strip() for part in text.strip("()[] ").split(","))
    number = int if option.kind == "number" else type(option.default)
    if number in (int, float):
        try:
            return number(text)
        except ValueError:
            raise InputError(f"{flag_of(name)} {text}: expected a number") from None
    return text
