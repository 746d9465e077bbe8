"""The exception tree: everything a user can cause is one of these kinds.

    CardanError
    ├── DescriptionError     a robot description is at fault (holds every fault, with its place)
    │   └── ExpressionError  one formula of a description cannot be read
    ├── UnknownNameError     no robot, model, language or option of that name
    ├── ModelError           this model cannot be derived for this robot
    ├── InputError           arrays or values given to a program do not fit
    ├── ProgramError         a program is malformed (verifier, JSON)
    └── MissingExtraError    an optional dependency is not installed; says the command to type

and CardanWarning, for what can be used but should be looked at.

Every message says where, what was found, what is allowed, and one remedy. The remedy is data too
(`remedy`, in the words of Python): a face that offers the same in another way looks up `action` in
its own table of words (`told`). What readers, solvers and libraries raise on the way is turned into
one of these kinds by `translated`.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

# what helps, by name: every face has its own words for it
ACTIONS = {
    "values": "robot.with_values({...}) gives symbols values",
    "tree": "robot.tree() is the robot with its loops cut open",
    "drop": "write_urdf(robot, drop=True) leaves out what URDF cannot hold",
    "force": "force=True replaces what is there",
    "fresh": "fresh=True forgets an earlier run",
    "free": "free=[...] names joints whose values are given, cardan.inverse_kinematics finds one"
    " configuration",
    "limits": "limits={name: (least, greatest)} gives a joint limits",
    "springs": "give joints=, the stiffness of each drive",
    "prescribed": "cardan.simulate(robot, motion=...) prescribes the motion",
}


class CardanError(Exception):
    """Root of the tree; catching it catches everything a user can cause.

    what    what is wrong, without its place and the remedy
    where   the place: a file and line, a joint, an input; "" where it is the call as a whole
    remedy  what helps, in the words of Python
    action  a name of `ACTIONS`, where the remedy is one of them

    >>> try:
    ...     cardan.load("no-such-robot")
    ... except cardan.CardanError as error:
    ...     print(type(error).__name__)
    UnknownNameError"""

    def __init__(self, what: str, *, where: str = "", remedy: str = "", action: str = "") -> None:
        self.what, self.where, self.action = what, where, action
        self.remedy = remedy or ACTIONS.get(action, "")
        super().__init__(self.told({}))

    def told(self, words: Mapping[str, str]) -> str:
        """The message, with the remedy in the words that a face has for its action.

        >>> error = cardan.ModelError("a file is in the way", action="force")
        >>> error.told({"force": "press Replace"})
        'a file is in the way; press Replace'"""
        named = self.what.startswith(self.where)  # the sentence says where
        place = "" if named else f"{self.where}: "
        return place + _with_remedy(self.what, words.get(self.action, self.remedy))


def _with_remedy(what: str, remedy: str) -> str:
    """One text; a remedy of several sentences stands behind a full stop, that of a list of faults
    below it."""
    gap = "\n" if "\n" in what else ". " if remedy[:1].isupper() else "; "
    return gap.join(part for part in (what, remedy) if part)


class CardanWarning(UserWarning):
    """A description can be used, but something in it should be looked at.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     robot = cardan.load("puma560-numeric")
    >>> issued[0].category.__name__
    'CardanWarning'"""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a description, and where."""

    message: str
    file: str = ""
    line: int = 0
    link: str = ""
    severity: str = "error"  # "error", or "warning": the description can still be used
    details: tuple[str, ...] = ()  # every place, where the message sums several up
    remedy: str = ""  # and its action: see CardanError
    action: str = ""

    @property
    def where(self) -> str:
        """The file and line, as far as they are known."""
        return ":".join(str(part) for part in (self.file, self.line) if part)

    def __str__(self) -> str:
        return self.told({})

    def told(self, words: Mapping[str, str]) -> str:
        """Place and message, with the remedy in the words that a face has for its action."""
        what = "" if not self.link or " of loop " in self.link else "link "
        message = _with_remedy(self.message, words.get(self.action, self.remedy))
        text = ": ".join(part for part in (self.where, what + self.link, message) if part)
        return f"{text} (warning)" if self.severity == "warning" else text


MOST_FAULTS = 1000  # of one description; more are counted
MOST_ALIKE = 4  # lines of one message; `faults` and `cardan check` have all places


def further(count: int, file: str, severity: str = "error") -> Fault:
    """The last fault of a list that was cut."""
    what = "faults; correct these first" if severity == "error" else "warnings"
    return Fault(f"and {count} more {what}", file, severity=severity)


class DescriptionError(CardanError):
    """A robot description is at fault; `faults` lists everything that was found, in file order.

    >>> try:
    ...     cardan.load({"name": "arm", "link": [{"mass": -1}]})
    ... except cardan.DescriptionError as error:
    ...     for fault in error.faults:
    ...         print(fault.link, fault.message)
    link1 mass -1 is negative; a mass is 0 or more"""

    def __init__(
        self, faults: Sequence[Fault] | str, *, remedy: str = "", action: str = ""
    ) -> None:
        self.faults = [Fault(faults)] if isinstance(faults, str) else list(faults)
        what = "\n".join(fault.message for fault in self.faults)
        super().__init__(what, remedy=remedy, action=action)
        self.where = next((fault.where for fault in self.faults if fault.where), "")

    def told(self, words: Mapping[str, str]) -> str:
        """The faults, each with its own place, and the remedy of all in the words of a face.

        >>> error = cardan.DescriptionError("the file is empty", remedy="open another")
        >>> error.told({})
        'the file is empty; open another'"""
        told: list[str] = []
        kinds = Counter((fault.severity, fault.message) for fault in self.faults)
        seen: Counter[tuple[str, str]] = Counter()
        for fault in self.faults:
            kind = fault.severity, fault.message
            seen[kind] += 1
            if kinds[kind] <= MOST_ALIKE or seen[kind] < MOST_ALIKE:
                told.append(fault.told(words))
            elif seen[kind] == MOST_ALIKE:
                told.append(f"and {kinds[kind] - seen[kind] + 1} more places: {fault.message}")
        return _with_remedy("\n".join(told), words.get(self.action, self.remedy))

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), remedy=self.remedy, action=self.action), (self.faults,)


class ExpressionError(DescriptionError):
    """A formula cannot be read.

    >>> try:
    ...     cardan.load("planar2r").with_values({"L1": "0.5 +"})
    ... except cardan.ExpressionError as error:
    ...     print(str(error).partition(";")[0])
    formula '0.5 +', column 6: found the end"""


class UnknownNameError(CardanError):
    """No robot, model, language, option or symbol of that name.

    >>> try:
    ...     cardan.load("ur55")
    ... except cardan.UnknownNameError as error:
    ...     print(str(error).partition("?")[0])
    there is no robot 'ur55'; did you mean 'ur5'"""

    @classmethod
    def of(cls, kind: str, name: object, allowed: Iterable[str]) -> UnknownNameError:
        """'kind' called 'name' is not among 'allowed': say which are, nearest first.

        The name stands behind its noun: of kind "option of 'gravity'" there is "no option '--x' of
        'gravity'".

        >>> print(cardan.UnknownNameError.of("colour", "geen", ["red", "green"]))
        there is no colour 'geen'; did you mean 'green'? Allowed: red, green"""
        names = list(allowed)
        same = [x for x in names if x.lower() == str(name).lower()]
        near = same or difflib.get_close_matches(str(name), names, n=1)
        shown = ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")
        noun, *place = re.split(r"(?= (?:of|in) )", kind, maxsplit=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        listed = f"Allowed: {shown}" if shown else "There is none at all"
        return cls(f"there is no {noun} '{name}'{''.join(place)}", remedy=hint + listed)


class ModelError(CardanError):
    """This model cannot be derived for this robot.

    >>> try:
    ...     cardan.model(cardan.load("planar2r"), "platform-inverse-dynamics")
    ... except cardan.ModelError as error:
    ...     print(str(error).partition(":")[0])
    'platform-inverse-dynamics' of 'Planar 2R'"""


class InputError(CardanError):
    """Arrays or values given to a program do not fit it.

    >>> try:
    ...     cardan.model(cardan.load("ur5"), "gravity").evaluate(q=[1, 2])
    ... except cardan.InputError as error:
    ...     print(error)
    input 'q' has shape (2,); expected (..., 6)"""


class ProgramError(CardanError):
    """A program is malformed.

    >>> try:
    ...     cardan.Program.from_json("{}")
    ... except cardan.ProgramError as error:
    ...     print(error)
    not a saved program: KeyError('cardan-program')"""


class MissingExtraError(CardanError):
    """An optional dependency is not installed.

    >>> issubclass(cardan.MissingExtraError, cardan.CardanError)
    True"""

    @classmethod
    def of(cls, package: str, extra: str, purpose: str) -> MissingExtraError:
        """The error that a purpose needs a package, which an extra of Cardan installs.

        >>> print(cardan.MissingExtraError.of("SciPy", "sim", "a simulation"))
        a simulation needs SciPy; type  pip install "cardan[sim]"
        """
        return cls(f"{purpose} needs {package}", remedy=f'type  pip install "cardan[{extra}]"')


# what numbers and files can cause inside a call; TypeError, KeyError and the like are ours to mend
FOREIGN: tuple[type[Exception], ...] = (
    OSError, ArithmeticError, ValueError, MemoryError, RecursionError, EOFError,
)  # fmt: skip


@contextmanager
def translated(
    what: str, kind: type[CardanError] = InputError, *, remedy: str = "",
    of: tuple[type[Exception], ...] = FOREIGN,
) -> Iterator[None]:  # fmt: skip
    """What others raise inside becomes an error of ours: what went wrong, why, and the remedy.

    Around the call of a library that reads or solves, `of` is (Exception,). Errors of ours, an
    interrupt and the end of the process pass; a panic of a library in Rust, which is no Exception,
    does not. The original is the `__cause__`. Works as a decorator too."""
    try:
        yield
    except CardanError:
        raise
    except of as error:
        raise kind(f"{what}: {_reason(error)}", remedy=remedy) from error
    except BaseException as error:
        if type(error).__module__ != "pyo3_runtime":
            raise
        raise kind(f"{what}: {_reason(error)}", remedy=remedy) from error


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OverflowError | ZeroDivisionError | FloatingPointError):
        return f"numbers leave the range that can be computed with ({error})"
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(words.split())[:500] or type(error).__name__
