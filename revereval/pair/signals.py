"""SIGINT and SIGTERM: they end a wait at once and anything else at its next dispatch."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class SignalledError(Exception):
    """The process was asked to end."""

    def __init__(self, number: int, *, waiting: bool) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.exit_code = 128 + number
        self.waiting = waiting
        """It ended a wait that had begun."""


class Signals:
    """Holds a signal back while the ledger is written, so that no paid reply is lost to it."""

    def __init__(self) -> None:
        self._received: int | None = None
        self._waiting = False

    def install(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def check(self) -> None:
        """Raises SignalledError when a signal has come."""
        if self._received is not None:
            raise SignalledError(self._received, waiting=False)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Raises SignalledError as soon as a signal comes, or has come."""
        self._waiting = True
        try:
            self.check()
            yield
        finally:
            self._waiting = False

    def _receive(self, number: int, _: FrameType | None) -> None:
        self._received = number
        if self._waiting:
            self._waiting = False
            raise SignalledError(number, waiting=True)
