"""Spelling: programs as source text, one small table-driven printer per language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import InputError, ModelError, UnknownNameError
from .options import checked
from .reading import reading, with_matrices

if TYPE_CHECKING:
    from ..program import Program
    from .options import Options
    from .printer import Printer
    from .reading import Reading

__all__ = ["emit", "languages", "printers", "register", "require_name"]

# language -> the class in the module of that name; a module is imported when it is first asked for
_LANGUAGES = {
    "c": "C", "cpp": "Cpp", "fortran": "Fortran", "matlab": "Matlab", "mathematica": "Mathematica",
    "maple": "Maple", "python": "Python", "jax": "Jax", "torch": "Torch", "julia": "Julia",
    "rust": "Rust", "cuda": "Cuda",
}  # fmt: skip
_READ = ("text", "latex", "markdown", "html")  # equations for people
_registered: dict[str, type[Printer]] = {}
_LARGEST = 100_000  # operations of an expanded form; it grows exponentially with the chain


def languages() -> list[str]:
    """Names of the languages that programs can be printed in.

    >>> "c" in cardan.languages()
    True"""
    return list(dict.fromkeys((*_LANGUAGES, *_READ, *_registered)))


def register(printer: type[Printer]) -> type[Printer]:
    """Add a language, or replace one; can decorate the class."""
    _registered[printer.language] = printer
    return printer


def require_name(language: str, function: str, taken: Iterable[str] = ()) -> None:
    """Refuse what cannot be the name of a function; `taken`: names of others in the same text."""
    if not isinstance(function, str) or not function.isidentifier() or not function.isascii():
        raise InputError(f"'{function}' cannot be the name of a function: letters, digits and _")
    if function in _printer(language).reserved or function in taken:
        raise InputError(
            f"'{function}' has a meaning of its own in the code ({language}): choose another name"
            f" of the function, as {function}_ik"
        )


def emit(program: Program, language: str, **options: Any) -> str:
    """Source text of a program.

    function   name of the function; default <robot>_<model>
    dtype      float64 or float32
    arguments  array, or struct: a structure of inputs and one of outputs (C, C++)
    expanded   True: without intermediate variables; False: with them; default as the model says
    split      default: work on parameters alone is apart, in <function>_setup (p -> h), to be
               called once; <function>_loop takes h and does the work of every state; <function>
               calls both. True: setup and <function>, which takes h. False: one function
    chunk      statements per function; programs above 2000 statements are cut by default; 0: never
    form       of text, LaTeX, Markdown and HTML, which people read: plain, textbook, or cheapest as
               the code of the other languages; default: textbook where that is short, else plain
    """
    if language in _READ and language not in _registered:
        chosen = checked(language, frozenset({"expanded", "form"}), options)
        document = import_module(f".{language}", __package__).document
        return str(document(_page(program, chosen)))
    whole, written = _printers(program, language, options)
    return _printer(language).file(whole, written)


def printers(program: Program, language: str, **options: Any) -> list[Printer]:
    """What prints each function of the text of `emit`: the model's own, or where the work on
    parameters is apart setup, loop and, if it is there, the one that calls both."""
    return _printers(program, language, options)[1]


def _printers(
    program: Program, language: str, options: dict[str, Any]
) -> tuple[Program, list[Printer]]:
    printer = _printer(language)
    chosen = checked(language, printer.honours, options)
    program = _expanded(program, chosen)
    scope = printer.scope()
    name = scope.claim(chosen.function or f"{program.robot}_{program.model}".lower())
    if chosen.function and name != scope.spell(chosen.function):
        raise InputError(
            f"'{chosen.function}' cannot be the name of a function in {language}: letters, digits "
            f"and _, a letter first, no word that has a meaning there; '{name}' would do"
        )
    setup, loop = program.split() if _is_split(program, printer, chosen) else (None, program)
    if setup is None:
        return program, [printer(program, name, chosen, scope.child())]
    loop = replace(loop, expanded=program.expanded)
    names = [scope.claim(f"{name}_setup"), name if chosen.split else scope.claim(f"{name}_loop")]
    written = [
        printer(part, own, chosen, scope.child())
        for part, own in zip((setup, loop), names, strict=True)
    ]
    if not chosen.split:
        whole = printer(program, name, chosen, scope.child())
        whole.pair = (written[0], written[1])
        written.append(whole)
    return program, written


def _page(program: Program, options: Options) -> Reading:
    """What is read of a program; of torques in textbook form their matrices, too."""
    if options.form == "cheapest":
        return reading(_expanded(program, options))
    plain = program.plain
    twin = {"plain": plain}.get(options.form or "") or (
        program.textbook if options.form else program.readable
    )
    page = reading(_expanded(twin, options))
    many = sum(prod(shape) for shape in program.outputs.values()) > 1
    parts = program.matrices if many and twin.code is not plain.code else None
    return with_matrices(page, reading(parts)) if parts else page


def _expanded(program: Program, options: Options) -> Program:
    """The program without intermediate values where they are not wanted."""
    if options.expanded is not None:
        program = replace(program, expanded=options.expanded)
    if program.expanded and program.cost.total > _LARGEST:
        raise ModelError(
            f"'{program.model}' of '{program.robot}' has more than {_LARGEST} operations without "
            "intermediate variables: use expanded=False"
        )
    return program


def _is_split(program: Program, printer: type[Printer], options: Options) -> bool:
    """Is the work on parameters alone a function of its own? By default in every language that has
    a form for it; not in expanded formulas, nor with structures as arguments."""
    if options.split is not None:
        return options.split
    plain = options.arguments == "array" and not program.expanded
    return printer.composes and plain and "p" in program.inputs and len(program.inputs) > 1


def _printer(language: str) -> type[Printer]:
    if language in _registered:
        return _registered[language]
    if language not in _LANGUAGES:
        raise UnknownNameError.of("language", language, languages())
    module = import_module(f".{language}", __package__)
    printer: type[Printer] = getattr(module, _LANGUAGES[language])
    return printer
