"""A server of its own and a real browser for the tests of the page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TOKEN = "a-token-for-the-tests"
PATIENCE = 300_000  # ms: no more than a guard against waiting for ever; the machine may be busy
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


class Server:
    """`cardan serve` as a process."""

    def __init__(self, folder: Path, port: int, **more: str) -> None:
        """more: of the environment."""
        self.folder, self.port, self.more = folder, port, more
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "server.log"
        self.start()

    def start(self) -> None:
        environment = {**os.environ, "CARDAN_DATA": str(self.folder), **self.more}
        words = ["serve", "--port", str(self.port), "--token", TOKEN, "--no-browser"]
        self.started = time.perf_counter()
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", "from cardan.app.cli.main import main; main()", *words],
                env=environment, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        self.wait()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait(self) -> None:
        """Until it answers, however slow the machine is, or has ended."""
        while self.process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.address}/", timeout=300)
            except urllib.error.HTTPError:
                return  # it asks for the token
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"the server did not start: {self.log.read_text(errors='replace')}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(300)


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    pytest.importorskip("nicegui")
    found = Server(tmp_path_factory.mktemp("data"), free_port())
    yield found
    found.stop()
    assert "Traceback" not in found.log.read_text(errors="replace"), found.log.read_text()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # not longer than a module: playwright keeps an event loop running in this thread
    if CHROMIUM is None:
        pytest.skip("no chromium here: .ci/run installs it")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(server: Server, browser: Any) -> Iterator[Any]:
    """A fresh browser profile on the main page; errors of the page's scripts fail the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    found = context.new_page()
    faults: list[str] = []
    found.on("pageerror", lambda error: faults.append(str(error)))
    found.goto(f"{server.address}/?token={TOKEN}")
    found.get_by_role("tab", name="Geometry").wait_for()
    yield found
    context.close()
    assert faults == []
