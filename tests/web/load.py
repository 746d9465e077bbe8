"""Many users at once: `python -m tests.web.load --users 20 --seconds 300`.

Every user is what a browser is to the server: an HTTP session with its cookies and a WebSocket. He
opens the page, moves sliders, types into cells, derives models that are in the cache, loads files,
looks at the gallery, leaves and comes back. What he sends is what the scripts of the page would
emit: it is read from their text and from the elements that the server sent, so that a change of
the page is followed or refused, never waited for. Printed: faults (answers of 500 and above, and
what was not answered), what was done, the 95th percentile of the requests that are served from the
cache, and how much the server's memory grew after a warm-up.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
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

from cardan.app.web.panels import page
from cardan.app.web.panels.models import spoken

_PARTS = Path(page.__file__).parents[1] / "parts"
_ACTS = ("file", "slider", "slider", "cell", "derive")  # of a round, in any order
_CACHED = ("file", "slider", "cell", "model", "lines")
_MODELS = ("inverse-dynamics", "gravity", "jacobian", "inertia-matrix")
_FILES = ("nicegui.js", "socket.io.min.js", "quasar.umd.prod.js", "nicegui.css")


def emitted(part: str, event: str, known: dict[str, Any]) -> Any:
    """What a component of the page sends with an event, for these values of its expressions."""
    text = (_PARTS / f"{part}.js").read_text(encoding="utf-8")
    match = re.search(rf"""\$emit\((?:['"]{event}['"]|what), """, text)
    if match is None:
        raise LookupError(f"{part}.js emits no {event}")
    argument, depth = "", 1
    for letter in text[match.end() :]:
        depth += (letter in "([") - (letter in ")]")
        if depth == 0:
            break
        argument += letter
    listed = argument.startswith("[")
    words = re.split(r",\s*(?![^(]*\))", argument[1:-1] if listed else argument)
    strange = [word for word in words if word not in known]
    if strange:
        raise LookupError(f"{part}.js emits {event} with {strange[0]}: teach this tool what it is")
    values = [known[word] for word in words]
    return values if listed else values[0]


class Tally:
    """What was measured."""

    def __init__(self) -> None:
        self.done: dict[str, int] = {}  # answered, from the start
        self.times: dict[str, list[float]] = {}
        self.faults: list[str] = []
        self.memory: list[float] = []
        self.warm = False

    def add(self, kind: str, seconds: float) -> None:
        if kind != "lag":
            self.done[kind] = self.done.get(kind, 0) + 1
        if self.warm:
            self.times.setdefault(kind, []).append(seconds)


class User:
    """One browser."""

    def __init__(self, address: str, tally: Tally, seed: int, patience: float = 60.0) -> None:
        import httpx

        self.address, self.tally, self.patience = address, tally, patience
        self.rng = random.Random(seed)
        self.http = httpx.AsyncClient(base_url=address, follow_redirects=True, timeout=patience)
        self.answered = asyncio.Event()
        self.wanted = self.answer = self.id = ""
        self.model = _MODELS[0]  # which the tab begins with
        self.acts: list[str] = []  # that are left of this round
        self.rounds = 0
        self.elements: dict[str, Any] = {}
        self.heard = 0  # messages, which a browser confirms now and then

    async def get(self, path: str, kind: str) -> str:
        start = time.perf_counter()
        found = await self.http.get(path)
        if found.status_code >= 400:
            self.tally.faults.append(f"{found.status_code} {path.partition('?')[0]}")
        else:
            self.tally.add(kind, time.perf_counter() - start)
        return str(found.text)

    async def visit(self, until: float) -> None:
        """A page from opening to closing; the first one is not left before a round is done."""
        gallery = self.rounds > 0 and self.rng.random() < 0.15
        client = await self.entered(f"{'/gallery' if gallery else '/'}?token={TOKEN}")
        try:
            if gallery:
                await self.get("/gallery/cards", "file")
                await asyncio.sleep(self.rng.uniform(1, 5))
                return
            await self.look(client)
            while time.perf_counter() < until or self.rounds == 0:
                await self._act(client)
                await client.emit("ack", {"client_id": self.id, "next_message_id": self.heard})
                await asyncio.sleep(self.rng.uniform(0.5, 3.0))
        finally:
            await client.disconnect()

    async def entered(self, path: str) -> Any:
        """The WebSocket of a page that was opened."""
        page = await self.get(path, "page")
        match = re.search(r"'client_id': '([^']+)'", page)
        if not match:
            raise LookupError("the page could not be read")
        self.id, self.heard, self.elements = match[1], 0, _elements(page)
        return await self._connected(match[1])

    async def look(self, client: Any) -> None:
        """The picture is drawn, and the tab of the models is open."""
        await self.event(client, "scene", "init", None, "run_methods", "scene")
        if not self._listener("Derive", "click"):
            await self.event(client, "q-tabs", "update:modelValue", "Models", "Derive", "tab")

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

    async def _act(self, client: Any) -> None:
        if not self.acts:
            self.acts = self.rng.sample(_ACTS, len(_ACTS))
        act = self.acts.pop()
        if act == "file":
            name = self.rng.choice(_FILES)
            await self.get(f"/_nicegui/{_version()}/static/{name}", "file")
        elif act == "slider":
            count = len(self._props("sliders")["joints"])
            known = {"k": self.rng.randrange(count), "value": self.rng.uniform(-1, 1)}
            place = emitted("sliders", "slide", known)
            await self.event(client, "sliders", "slide", place, "run_methods", "slider")
        elif act == "cell":
            text = self.rng.choice(("pi/", "pi/2", "2*D3", "(")) + " " * self.rng.randrange(9)
            draft = emitted("grid", "draft", {**self._cell(), "value": text})
            await self.event(client, "grid", "draft", draft, "judge", "cell")
        else:
            await self._choose(client)
            await self.event(client, "Derive", "click", {}, "derived in", "model")
            key = re.search(r"/result/[0-9a-f]+/lines", self.answer)
            if key:
                await self.get(key[0], "lines")
        self.rounds += not self.acts

    def _cell(self) -> dict[str, Any]:
        """Any cell that takes an expression, in the words of grid.js."""
        cells = [
            {"b": b, "r": r, "c": c, "this.cell(this.key(b, r, c))?.label": cell["label"]}
            for b, block in enumerate(self._props("grid")["blocks"])
            for r, row in enumerate(block["rows"])
            for c, cell in enumerate(row)
            if cell["kind"] == "text"
        ]
        return self.rng.choice(cells)

    def _props(self, name: str) -> Any:
        """The properties of the element of that tag."""
        return next(x["props"] for x in self.elements.values()
                    if re.search(rf"(^|-){name}", x.get("tag", "")))  # fmt: skip

    async def _choose(self, client: Any) -> None:
        """Another model than the last one: that would stay as it is shown."""
        self.model = self.rng.choice([name for name in _MODELS if name != self.model])
        menus = next(x["props"]["menus"] for x in self.elements.values()
                     if "menus" in x.get("props", {}))  # fmt: skip
        items = [item for menu in menus for item in menu["items"] if item]
        wanted = next(item for item in items if item["words"] == spoken(self.model).capitalize())
        choice = emitted("menus", "choose", {"item.id": wanted["id"]})
        await self.event(client, "menus", "choose", choice, wanted["hint"], "choice")

    async def event(
        self, client: Any, name: str, event: str, argument: Any, wanted: str, kind: str
    ) -> None:
        """What a browser sends, and the time until what is wanted comes back."""
        where = self._listener(name, event)
        if where is None:
            self.tally.faults.append(f"the page has no {name} with {event}")
            return
        self.wanted = wanted
        self.answered.clear()
        start = time.perf_counter()
        id, listener = where
        message = {"id": id, "client_id": self.id, "listener_id": listener}
        await client.emit("event", {**message, "args": [json.dumps(argument)]})
        try:
            await asyncio.wait_for(self.answered.wait(), self.patience)
        except TimeoutError:
            self.tally.faults.append(f"no answer: {kind}")
            return
        self.tally.add(kind, time.perf_counter() - start)

    def _listener(self, name: str, event: str) -> tuple[int, str] | None:
        """The element of that tag or label, and who listens to that event."""
        for id, element in self.elements.items():
            label = element.get("props", {}).get("label")
            if name != label and not re.search(rf"(^|-){name}", element.get("tag", "")):
                continue
            for listener in element.get("events", []):
                if listener["type"] == event:
                    return int(id), str(listener["listener_id"])
        return None

    async def _heard(self, event: str, data: Any) -> None:
        if isinstance(data, dict):
            self.heard = max(self.heard, data.get("_id", -1) + 1)
        if event == "update":
            self.elements |= {id: x for id, x in data.items() if isinstance(x, dict)}
        text = "" if self.answered.is_set() else json.dumps(data)
        if text and self.wanted in text:
            self.answer = text
            self.answered.set()


def _elements(page: str) -> dict[str, Any]:
    """The elements that a page begins with, as its script reads them."""
    match = re.search(r"parseElements\(String\.raw`(.*?)`\)", page, re.DOTALL)
    text = match[1] if match else "{}"
    for mark, meaning in (("&#36;", "$"), ("&#96;", "`"), ("&gt;", ">"), ("&lt;", "<"),
                          ("&amp;", "&")):  # fmt: skip
        text = text.replace(mark, meaning)
    found: dict[str, Any] = json.loads(text)
    return found


def _version() -> str:
    import nicegui

    return str(nicegui.__version__)


def memory(pid: int) -> float:
    """MB that the process holds, of what it shares its share."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"Pss:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def processor(pid: int) -> float:
    """Seconds of processor time that the process used, without those of its jobs."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))] if values else float("nan")


async def _life(user: User, start: float, seconds: float) -> None:
    await asyncio.sleep(user.rng.uniform(0, min(5, seconds / 4)))
    until, mishaps = start + seconds, 0
    while (time.perf_counter() < until or user.rounds == 0) and mishaps < 10:
        try:
            await user.visit(min(until, time.perf_counter() + user.rng.uniform(15, 40)))
        except Exception as error:  # what goes wrong is the result
            user.tally.faults.append(repr(error))
            mishaps += 1
            await asyncio.sleep(1)
    await user.http.aclose()


async def _lag(tally: Tally, pid: int) -> None:
    """How late this process itself wakes up: what the machine, not the server, adds."""
    for k in itertools.count():
        if k % 200 == 0:
            tally.memory.append(round(memory(pid), 1))
        start = time.perf_counter()
        await asyncio.sleep(0.05)
        tally.add("lag", time.perf_counter() - start - 0.05)


async def load(
    address: str, pid: int, users: int, seconds: float, patience: float = 60.0
) -> dict[str, Any]:
    """The whole test against a server; patience: seconds to wait for one answer."""
    tally, start = Tally(), time.perf_counter()
    crowd = [User(address, tally, k, patience) for k in range(users)]
    lives = [asyncio.ensure_future(_life(user, start, seconds)) for user in crowd]
    lag = asyncio.ensure_future(_lag(tally, pid))
    await asyncio.sleep(seconds / 3)
    tally.warm, before, began = True, memory(pid), processor(pid)
    warm = time.perf_counter()
    await asyncio.gather(*lives)
    await asyncio.sleep(min(6, seconds / 10))  # pages that were left are forgotten some time later
    lag.cancel()
    after, used = memory(pid), processor(pid)
    cached = [x for kind in _CACHED for x in tally.times.get(kind, [])]
    answered = sum(len(x) for kind, x in tally.times.items() if kind != "lag")
    return {
        "users": users, "seconds": seconds, "faults": tally.faults,
        "done": tally.done, "rounds": [user.rounds for user in crowd],
        "requests": {kind: len(x) for kind, x in tally.times.items()},
        "p95_ms": {kind: round(1000 * p95(x), 1) for kind, x in tally.times.items()},
        "cached_p95_ms": round(1000 * p95(cached), 1),
        "memory_MB": [round(before, 1), round(after, 1)], "memory_every_10_s": tally.memory,
        "processor_s": {"server": round(used, 1), "users": round(time.process_time(), 1)},
        "server_ms_per_request": round(1000 * (used - began) / max(answered, 1), 1),
        "server_cores": round((used - began) / (time.perf_counter() - warm), 3),
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
