"""The process of one job: `python -m cardan.app.web.jobs.worker MEGABYTES`.

It may be started long before its question comes, as JSON on stdin; lines "say ...", then
"error ..." or "part NAME ..." and "result ...", go to stdout."""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import sys
import threading
import time
import warnings
from typing import Any

from ....errors import CardanError
from .. import WORDS


def main() -> int:
    gc.set_threshold(100_000)  # a job makes much that stays, and ends: seldom look through it
    megabytes = sys.argv[1]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not be taken for an answer
    _limit(int(megabytes))
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()

    def answer(kind: str, value: Any) -> None:
        answers.write(f"{kind} {json.dumps(value)}\n")
        answers.flush()

    last = ""

    def say(text: str) -> None:
        """Steps by the thousand say the same: the server hears it once."""
        nonlocal last
        if text != last:
            last = text
            answer("say", text)

    warnings.simplefilter("ignore")
    from .work import FUNCTIONS

    try:
        question = json.load(sys.stdin)
        _limit_time(float(question["seconds"]))
        function = FUNCTIONS[question["function"]]
        data = {**question["data"], "attached": question["attached"]}
        result = function(data, say)
    except CardanError as error:
        answer("error", error.told(WORDS))
    except MemoryError:
        answer("error", f"stopped: it needed more than {megabytes} MB")
    except Exception as error:
        answer("error", f"Cardan failed on this, which is a fault of Cardan: {error!r}")
    else:
        for part, value in result.pop("parts", {}).items():
            answer(f"part {part}", value)
        answer("result", result)
    return 0


def _watch(parent: int) -> None:
    """A server that was killed cannot end its jobs: they end themselves, with all they started."""
    while os.name != "nt":
        time.sleep(1.0)
        if os.getppid() != parent:
            os.killpg(os.getpgid(0), signal.SIGKILL)


def _limit(megabytes: int) -> None:
    """Let the system itself stop a job, should the server not live to do it."""
    if os.name == "nt":
        return
    import resource

    os.nice(5)  # the page comes first
    size = megabytes << 20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _limit_time(seconds: float) -> None:
    """Of the processor, from now on: what came before was waiting for the question."""
    if os.name == "nt":
        return
    import resource

    most = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))


if __name__ == "__main__":
    raise SystemExit(main())
