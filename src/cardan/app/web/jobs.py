"""Work in processes of its own, so that a page never waits for a model.

A job is a function of `work` with plain data in and out, run by `worker` in a fresh process with
limits on time and memory; it can be cancelled; its result is kept for the next who asks the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import CardanError
from ...version import __version__

__all__ = ["JobError", "Jobs", "Limits"]

_KEPT = 64  # results
_KEPT_BYTES = 48_000_000


@dataclass(frozen=True)
class Limits:
    """What a job may use."""

    seconds: float = 120.0
    megabytes: int = 4096
    result_bytes: int = 64_000_000


class JobError(CardanError):
    """A job failed, was cancelled or reached a limit."""


class Jobs:
    """Runs jobs, a few at a time; the others wait their turn."""

    def __init__(self, limits: Limits | None = None, at_once: int = 0) -> None:
        self.limits = limits or Limits()
        self._turn = asyncio.Semaphore(at_once or max(1, os.cpu_count() or 1))
        self._results: OrderedDict[str, str] = OrderedDict()
        self._running: set[asyncio.subprocess.Process] = set()

    async def run(
        self, function: str, say: Callable[[str], None] = lambda text: None, **data: Any
    ) -> dict[str, Any]:
        """The result of a function of `work`. Cancelling the task kills the process."""
        question = json.dumps([__version__, function, data], sort_keys=True)
        key = hashlib.sha256(question.encode()).hexdigest()
        if key in self._results:
            return self._kept(key)
        if self._turn.locked():
            say("waiting for other work to end")
        async with self._turn:
            if key in self._results:  # another page asked the same while this one waited
                return self._kept(key)
            text = await self._fresh(function, data, say)
        self._keep(key, text)
        found: dict[str, Any] = json.loads(text)
        return found

    def _kept(self, key: str) -> dict[str, Any]:
        self._results.move_to_end(key)
        found: dict[str, Any] = json.loads(self._results[key])
        return {**found, "cached": True}

    async def _fresh(self, function: str, data: dict[str, Any], say: Callable[[str], None]) -> str:
        limits = self.limits
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "cardan.app.web.worker", function, str(limits.seconds),
            str(limits.megabytes), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=limits.result_bytes,
            start_new_session=os.name != "nt",
        )  # fmt: skip
        self._running.add(process)
        try:
            talk = self._talk(process, json.dumps(data).encode(), say)
            return await asyncio.wait_for(talk, limits.seconds)
        except TimeoutError:
            raise JobError(f"stopped: it took more than {limits.seconds:g} s") from None
        finally:
            await _kill(process)
            self._running.discard(process)

    async def _talk(
        self, process: asyncio.subprocess.Process, data: bytes, say: Callable[[str], None]
    ) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.write(data)
            await process.stdin.drain()
        process.stdin.close()
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                raise JobError("stopped: the result is too large to be shown") from None
            if not line:
                raise JobError(
                    "stopped: the work ended without a result; it may have needed more than "
                    f"{self.limits.megabytes} MB"
                )
            kind, _, rest = line.decode().partition(" ")
            if kind == "say":
                say(json.loads(rest))
            elif kind == "error":
                raise JobError(json.loads(rest))
            elif kind == "result":
                return rest

    def _keep(self, key: str, text: str) -> None:
        self._results[key] = text
        while len(self._results) > _KEPT or sum(map(len, self._results.values())) > _KEPT_BYTES:
            self._results.popitem(last=False)

    async def close(self) -> None:
        for process in list(self._running):
            await _kill(process)


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
