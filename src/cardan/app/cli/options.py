"""Options of the models on the command line, read from the catalogue: nothing is listed here.

`cardan generate ROBOT MODEL... --name value` mixes the command's own options with those of models.
The models' are taken out first, by their tables, wherever they stand; typer then parses the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from ...errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from ...catalogue import Option

__all__ = ["ModelCommand", "PrintCommand", "flag_of", "options_of", "values_of"]

_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")
_META = "cardan.model_options"


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
    given: dict[str, str] = ctx.meta.get(_META, {})
    return {name: _value(name, table[name], text) for name, text in given.items()}


class ModelCommand(TyperCommand):
    """A command ROBOT MODEL... that takes the options of the models too (see `values_of`)."""

    def shared(self) -> dict[str, Option]:
        """What is given like an option of a model, and goes with every model."""
        return {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {
            flag: not getattr(parameter, "is_flag", False)
            for parameter in self.params
            for flag in (*parameter.opts, *parameter.secondary_opts)
            if flag.startswith("-")
        }
        reader = _Words(ctx, args, {**own, "--help": False}, self.shared())
        rest = list(reader.rest())
        ctx.meta[_META] = reader.given
        return super().parse_args(ctx, rest)


class PrintCommand(ModelCommand):
    """A command that prints models: each of them with or without intermediate variables."""

    def shared(self) -> dict[str, Option]:
        from ...catalogue import MENU

        return {"expanded": MENU["transform"].options["expanded"]}


class _Words:
    """The words of a command line: `rest` are the command's own, `given` those of the model."""

    def __init__(
        self, ctx: Any, args: list[str], own: dict[str, bool], shared: dict[str, Option]
    ) -> None:
        self.ctx = ctx
        self.words = list(args)
        self.own = own  # flag -> does it take a value?
        self.given: dict[str, str] = {}
        self.models = self.places()[1:]
        self.table: dict[str, Option] = {}
        for k, model in enumerate(self.models):
            if k == 0 or model in _names():  # the command itself refuses other words
                self.table = {**options_of(model), **self.table}
        self.table = {**self.table, **shared}

    def places(self) -> list[str]:
        """The words that are neither options nor their values. A name that takes a value in one
        model takes one in all, or this could not be told before the model is known."""
        from ...catalogue import MENU

        valued = {flag for flag, value in self.own.items() if value}
        for entry in MENU.values():
            valued |= {flag_of(k) for k, option in entry.options.items() if option.kind != "flag"}
        found, skip = [], False
        for word in self.words:
            if not skip and (word == "-" or not word.startswith("-")):
                found.append(word)
            skip = not skip and _canonical(word) in valued
        return [word for word in found if word.lower() not in _TRUE + _FALSE]

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
    number = type(option.default)
    if number in (int, float):
        try:
            return number(text)
        except ValueError:
            raise InputError(f"{flag_of(name)} {text}: expected a number") from None
    return text
