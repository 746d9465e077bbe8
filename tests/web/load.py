"""Many users at once: `python -m tests.web.load --users 20 --seconds 300`.

Every user is what a browser is to the server: an HTTP session with its cookies and a WebSocket. He
opens the page, moves sliders, derives models that are in the cache, loads files, looks at the
gallery, leaves and comes back. Printed: answers of 500 and above, the 95th percentile of the
requests that are served from the cache, and how much the server's memory grew after a warm-up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.web.conftest import TOKEN, Server, free_port

_BUTTON = re.compile(r'"(\d+)":\{"tag":"q-btn"[^{}]*"props":\{[^{}]*"label":"Derive"[^{}]*\}'
                     r',"events":\[\{"listener_id":"([^"]+)"')  # fmt: skip
_SLIDER = re.compile(r'"(\d+)":\{"tag":"q-slider".*?"listener_id":"[^"]+".*?"listener_id":'
                     r'"([^"]+)","type":"update:modelValue"')  # fmt: skip
_SCENE = re.compile(r'"(\d+)":\{"tag":"nicegui-scene.*?"listener_id":"([^"]+)","type":"init"')
_FILES = ("nicegui.js", "vue.global.prod.js", "quasar.umd.prod.js", "nicegui.css")


class Tally:
    """What was measured."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}
        self.faults: list[str] = []
        self.warm = False

    def add(self, kind: str, seconds: float) -> None:
        if self.warm:
            self.times.setdefault(kind, []).append(seconds)


class User:
    """One browser."""

    def __init__(self, address: str, tally: Tally, seed: int) -> None:
        import httpx

        self.address, self.tally = address, tally
        self.rng = random.Random(seed)
        self.http = httpx.AsyncClient(base_url=address, follow_redirects=True, timeout=60)
        self.answered = asyncio.Event()
        self.wanted = ""
        self.heard = 0  # messages, which a browser confirms now and then

    async def get(self, path: str, kind: str) -> str:
        start = time.perf_counter()
        found = await self.http.get(path)
        self.tally.add(kind, time.perf_counter() - start)
        if found.status_code >= 500:
            self.tally.faults.append(f"{found.status_code} {path}")
        return str(found.text)

    async def visit(self, until: float) -> None:
        """A page from opening to closing."""
        gallery = self.rng.random() < 0.15
        page = await self.get(f"{'/gallery' if gallery else '/'}?token={TOKEN}", "page")
        match = re.search(r"'client_id': '([^']+)'", page)
        button, slider, scene = (x.search(page) for x in (_BUTTON, _SLIDER, _SCENE))
        if not match or not (gallery or (button and slider and scene)):
            self.tally.faults.append("the page could not be read")
            return
        self.heard = 0
        client = await self._connected(match[1])
        try:
            if gallery:
                await asyncio.sleep(self.rng.uniform(1, 5))
                return
            await self._event(client, match[1], scene, ["null"], "run_methods", "scene")
            while time.perf_counter() < until:
                await self._act(client, match[1], button, slider)
                ack = {"client_id": match[1], "next_message_id": self.heard}
                await client.emit("ack", ack)
                await asyncio.sleep(self.rng.uniform(0.5, 3.0))
        finally:
            await client.disconnect()

    async def _connected(self, id: str) -> Any:
        """The WebSocket of a page."""
        import socketio

        client = socketio.AsyncClient(reconnection=False)
        client.on("*", self._heard)
        query = (f"client_id={id}&tab_id={self.rng.random()}&document_id=1"
                 "&next_message_id=0&implicit_handshake=true")  # fmt: skip
        cookies = "; ".join(f"{k}={v}" for k, v in self.http.cookies.items())
        await client.connect(
            f"{self.address}?{query}", headers={"Cookie": cookies}, transports=["websocket"],
            socketio_path="/_nicegui_ws/socket.io", wait_timeout=30,
        )  # fmt: skip
        return client

    async def _act(self, client: Any, id: str, button: Any, slider: Any) -> None:
        act = self.rng.choice(("file", "slider", "slider", "derive"))
        if act == "file":
            name = self.rng.choice(_FILES)
            await self.get(f"/_nicegui/{_version()}/static/{name}", "file")
        elif act == "slider":
            value = json.dumps(self.rng.uniform(-1, 1))
            await self._event(client, id, slider, [value], "run_methods", "slider")
        else:
            await self._event(client, id, button, [], "derived in", "model")

    async def _event(
        self, client: Any, id: str, where: Any, args: list[str], wanted: str, kind: str
    ) -> None:
        self.wanted = wanted
        self.answered.clear()
        start = time.perf_counter()
        message = {"id": int(where[1]), "client_id": id, "listener_id": where[2], "args": args}
        await client.emit("event", message)
        try:
            await asyncio.wait_for(self.answered.wait(), 60)
        except TimeoutError:
            self.tally.faults.append(f"no answer: {kind}")
            return
        self.tally.add(kind, time.perf_counter() - start)

    async def _heard(self, event: str, data: Any) -> None:
        if isinstance(data, dict):
            self.heard = max(self.heard, data.get("_id", -1) + 1)
        if not self.answered.is_set() and self.wanted in json.dumps(data):
            self.answered.set()


def _version() -> str:
    import nicegui

    return str(nicegui.__version__)


def memory(pid: int) -> float:
    """MB that the process holds."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def processor(pid: int) -> float:
    """Seconds of processor time that the process used, without those of its jobs."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))] if values else float("nan")


async def _life(address: str, tally: Tally, seed: int, until: float) -> None:
    user = User(address, tally, seed)
    await asyncio.sleep(user.rng.uniform(0, 5))
    while time.perf_counter() < until:
        try:
            await user.visit(min(until, time.perf_counter() + user.rng.uniform(15, 40)))
        except Exception as error:  # what goes wrong is the result
            tally.faults.append(repr(error))
            await asyncio.sleep(1)
    await user.http.aclose()


async def _lag(tally: Tally) -> None:
    """How late this process itself wakes up: what the machine, not the server, adds."""
    while True:
        start = time.perf_counter()
        await asyncio.sleep(0.05)
        tally.add("lag", time.perf_counter() - start - 0.05)


async def load(address: str, pid: int, users: int, seconds: float) -> dict[str, Any]:
    """The whole test against a server."""
    tally, start = Tally(), time.perf_counter()
    lives = [asyncio.ensure_future(_life(address, tally, k, start + seconds)) for k in range(users)]
    lag = asyncio.ensure_future(_lag(tally))
    await asyncio.sleep(seconds / 3)
    tally.warm, before = True, memory(pid)
    await asyncio.gather(*lives)
    await asyncio.sleep(6)  # pages that were left are forgotten after some seconds
    lag.cancel()
    after, used = memory(pid), processor(pid)
    cached = [x for kind in ("file", "slider", "model") for x in tally.times.get(kind, [])]
    return {
        "users": users, "seconds": seconds, "faults": tally.faults,
        "requests": {kind: len(x) for kind, x in tally.times.items()},
        "p95_ms": {kind: round(1000 * p95(x), 1) for kind, x in tally.times.items()},
        "cached_p95_ms": round(1000 * p95(cached), 1),
        "memory_MB": [round(before, 1), round(after, 1)],
        "processor_s": {"server": round(used, 1), "users": round(time.process_time(), 1)},
        "growth_percent": round(100 * (after / before - 1), 1),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), free_port())
        try:
            found = asyncio.run(
                load(server.address, server.process.pid, words.users, words.seconds)
            )
        finally:
            server.stop()
    print(json.dumps(found, indent=1))
    good = not found["faults"] and found["cached_p95_ms"] <= 300 and found["growth_percent"] <= 10
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
