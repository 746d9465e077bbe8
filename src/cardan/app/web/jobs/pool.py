"""Work in processes of its own, so that a page never waits for a model.

A job is a function of `work` with plain data in and out, run by `worker` in a process of its own
with limits on time and memory, which may wait for it already; it can be cancelled; its result is
kept for the next who asks the same. Large parts of a result stay the bytes that came: browsers
fetch them, other jobs are handed them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import secrets
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ....errors import CardanError
from ....version import __version__

_KEPT = 64  # results
_KEPT_BYTES = 48_000_000
_PATIENCE = 10  # times the processor time that a job may take by the clock, on a busy machine


@dataclass(frozen=True)
class Limits:
    """What a job may use: seconds of processor time, and ten times as many by the clock."""

    seconds: float = 120.0
    megabytes: int = 4096
    result_bytes: int = 64_000_000


class JobError(CardanError):
    """A job failed, was cancelled or reached a limit."""


@dataclass(frozen=True)
class Result:
    """What a job said: a little data, and large parts as JSON."""

    text: bytes
    parts: dict[str, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.text) + sum(map(len, self.parts.values()))


class Jobs:
    """Runs jobs, a few at a time; the others wait their turn."""

    def __init__(self, limits: Limits | None = None, at_once: int = 0, warm: bool = False) -> None:
        """warm: a process that has imported what it needs waits for the next job."""
        self.warm = warm
        self._spare: asyncio.Task[asyncio.subprocess.Process] | None = None
        self.limits = limits or Limits()
        self.name = secrets.token_hex(4)  # of this run of the server
        self.at_work: set[tuple[str, str]] = set()  # panels of projects
        self.closing = False
        self._turn = asyncio.Semaphore(at_once or max(1, os.cpu_count() or 1))
        self._results: OrderedDict[str, Result] = OrderedDict()
        self._running: set[asyncio.subprocess.Process] = set()

    @staticmethod
    def key(function: str, **data: Any) -> str:
        """The name of a result."""
        question = json.dumps([__version__, function, data], sort_keys=True)
        return hashlib.sha256(question.encode()).hexdigest()

    async def run(
        self, function: str, say: Callable[[str], None] = lambda text: None,
        hints: dict[str, Any] | None = None, attached: bytes | None = None,
        seconds: float | None = None, **data: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """The result of a function of `work`. Cancelling the task kills the process.

        `hints` and `attached` (JSON) may save work; the result does not depend on them. `seconds`
        of processor time, where they are not those of the limits, stop it. Whatever
        else goes wrong is a `JobError`: a page must never wait for a job that is dead."""
        key = self.key(function, **data)
        if self.keeps(key):
            return self.kept(key)
        if self._turn.locked():
            say("waiting for other work to end")
        async with self._turn:
            if self.keeps(key):  # another page asked the same while this one waited
                return self.kept(key)
            question = json.dumps({**data, **(hints or {})}).encode()
            result = await self._fresh(
                function, question, attached, say, seconds or self.limits.seconds
            )
        self._keep(key, result)
        return {**json.loads(result.text), "key": key}

    def keeps(self, key: str) -> bool:
        return key in self._results

    def kept(self, key: str) -> dict[str, Any]:
        """A result that is kept."""
        self._results.move_to_end(key)
        return {**json.loads(self._results[key].text), "key": key, "cached": True}

    def part(self, key: str, name: str) -> bytes | None:
        """A part of a result as JSON, if it is still kept."""
        result = self._results.get(key)
        return result.parts.get(name) if result else None

    def result(self, key: str) -> Result | None:
        """A whole result, if it is still kept."""
        return self._results.get(key)

    def restore(self, key: str, result: Result) -> None:
        """A result of an earlier run of the server."""
        if not self.keeps(key):
            self._keep(key, result)

    async def _fresh(
        self, function: str, question: bytes, attached: bytes | None, say: Callable[[str], None],
        seconds: float,
    ) -> Result:  # fmt: skip
        data = b'{"function": "%s", "seconds": %g, "data": %s, "attached": %s}' % (
            function.encode(), seconds, question, attached or b"null"
        )  # fmt: skip
        try:
            return await self._answered(data, say, seconds)
        except CardanError:
            raise
        except Exception as error:
            logging.getLogger("cardan").exception("a job failed")
            raise JobError(f"stopped: the work could not be run ({error}); start again") from None

    async def _answered(self, data: bytes, say: Callable[[str], None], seconds: float) -> Result:
        process = await self._ready()
        self._running.add(process)
        try:
            result = await asyncio.wait_for(self._talk(process, data, say), _PATIENCE * seconds)
            if result is None:
                raise JobError(await self._death(process, seconds))
            return result
        except TimeoutError:
            raise JobError(_too_long(_PATIENCE * seconds, "")) from None
        finally:
            await _kill(process)
            self._running.discard(process)
            self.warm_up()

    async def _started(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "cardan.app.web.jobs.worker", str(self.limits.megabytes),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=self.limits.result_bytes,
            start_new_session=os.name != "nt",
        )  # fmt: skip

    def warm_up(self) -> None:
        """Start a process for the next job, unless one waits already."""
        if self.warm and not self.closing and self._spare is None:
            self._spare = asyncio.ensure_future(self._started())

    async def _ready(self) -> asyncio.subprocess.Process:
        """The process that waits, if it is alive; else a new one."""
        spare, self._spare = self._spare, None
        if spare is not None:
            try:
                process = await asyncio.shield(spare)
            except asyncio.CancelledError:
                self._spare = spare  # for the next one
                raise
            except OSError:
                return await self._started()
            if process.returncode is None:
                return process
        return await self._started()

    async def _talk(
        self, process: asyncio.subprocess.Process, data: bytes, say: Callable[[str], None]
    ) -> Result | None:
        """What the process answers; None where it ends without an answer."""
        assert process.stdin is not None
        assert process.stdout is not None
        # a process that is dead already says so below, by its silence; uvloop's pipes then raise
        # RuntimeError where asyncio's raise ConnectionError
        with contextlib.suppress(OSError, RuntimeError):
            process.stdin.write(data)
            await process.stdin.drain()
        with contextlib.suppress(OSError, RuntimeError):
            process.stdin.close()
        parts: dict[str, bytes] = {}
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                raise JobError("stopped: the result is too large to be shown") from None
            if not line:
                return None
            kind, _, rest = line.rstrip().partition(b" ")
            if kind == b"say":
                say(json.loads(rest))
            elif kind == b"part":
                name, _, part = rest.partition(b" ")
                parts[name.decode()] = part
            elif kind == b"error":
                raise JobError(json.loads(rest))
            elif kind == b"result":
                return Result(rest, parts)

    async def _death(self, process: asyncio.subprocess.Process, seconds: float) -> str:
        """What to say of a process that ended without an answer."""
        # at most for a moment: it may have closed its output and live on
        await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=2.0)
        status, limit = process.returncode, f"more than {self.limits.megabytes} MB"
        if os.name != "nt" and status == -signal.SIGXCPU:
            return _too_long(seconds, " of processor time")
        if status is not None and status < 0:
            with contextlib.suppress(ValueError):
                name = signal.Signals(-status).name
                return (
                    f"stopped: the process of this work was killed ({name}); start again, unless "
                    f"it needed {limit}"
                )
        return f"stopped: the work ended without a result; it may have needed {limit}; start again"

    def _keep(self, key: str, result: Result) -> None:
        self._results[key] = result
        size = sum(other.size for other in self._results.values())
        while len(self._results) > 1 and (len(self._results) > _KEPT or size > _KEPT_BYTES):
            size -= self._results.popitem(last=False)[1].size

    async def close(self) -> None:
        """The server stops: what is at work is left undone."""
        self.closing = True
        if self._spare is not None:
            with contextlib.suppress(OSError):
                await _kill(await self._spare)
        for process in list(self._running):
            await _kill(process)


def _too_long(seconds: float, kind: str) -> str:
    return f"stopped: it took more than {seconds:g} s{kind}; Help > Limits of work allows more"


async def _kill(process: asyncio.subprocess.Process) -> None:
    """End the process and whatever it started."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        await process.wait()
