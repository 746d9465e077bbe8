"""Connections that ask for nothing: a bound on their time and on their number.

Whoever can reach the port can open connections and send half a request, without any token. uvicorn
waits for the other half for ever, until no descriptor is left for anyone else (slowloris). Here a
connection without a request at work has so many seconds to send the next one whole; where too many
wait at once, the one that has waited longest is closed. One that rests between two requests is left
to uvicorn, which closes it after `timeout_keep_alive`.
"""

from __future__ import annotations

from typing import Any

_SECONDS = 20.0  # for the headers of a request
_WAITING = 100  # connections without a whole request
_HEADERS = 65_536  # bytes of the first request until its headers are whole


def bounded(seconds: float = _SECONDS, waiting: int = _WAITING) -> Any:
    """The protocol of uvicorn, for its option `http`, with these bounds."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    base: Any = AutoHTTPProtocol
    timers: dict[Any, Any] = {}  # of those that wait, longest first

    class Bounded(base):  # type: ignore[misc]
        """A connection that is closed if it keeps the server waiting."""

        _bytes = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._at_work():
                self._rest()
            else:
                self._wait()
                self._bytes += len(data)
                if self.cycle is None and self._bytes > _HEADERS:
                    self._close()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def _at_work(self) -> bool:
            """A request is being answered, or the connection has become a WebSocket."""
            cycle = self.cycle
            answering = cycle is not None and not cycle.response_complete
            return answering or self.transport.get_protocol() is not self

        def _wait(self) -> None:
            if self in timers or self.transport.is_closing():
                return
            timers[self] = self.loop.call_later(seconds, self._close)
            if len(timers) > waiting:
                next(iter(timers))._close()

        def _rest(self) -> None:
            timer = timers.pop(self, None)
            if timer is not None:
                timer.cancel()

        def _close(self) -> None:
            self._rest()
            if not self._at_work():
                self.transport.abort()  # what was not asked for is not waited for either

    return Bounded
