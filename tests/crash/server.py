"""The scripted reader as a loopback server that logs every hit and can keep a reply waiting."""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from revereval.pair.annotations import reader_task
from revereval.provider.reader import ReaderSettings, ReaderTask
from revereval.provider.scripted import ScriptedApp
from revereval.provider.scripted_server import serve
from revereval.tasks.spec import load_task, task_ids

WAIT_S = 60.0


@cache
def _known(tasks: Path) -> list[ReaderTask]:
    return [reader_task(load_task(tasks, task_id)) for _, task_id in task_ids(tasks)]


class LoggedApp(ScriptedApp):
    """Counts requests from 1 on, in the order in which they were received whole."""

    def __init__(self, tasks: Path, settings: ReaderSettings) -> None:
        super().__init__(_known(tasks), settings)
        self.url = ""
        self._changed = threading.Condition()
        self._hits: list[str] = []
        self._held: set[int] = set()
        self._answers: dict[int, tuple[int, bytes]] = {}
        self._dropped: set[int] = set()

    def respond(self, path: str, body: bytes) -> tuple[int, bytes]:
        with self._changed:
            self._hits.append(hashlib.sha256(body).hexdigest())
            number = len(self._hits)
            self._changed.notify_all()
            # computed first: the work is done, and billed, whether the reply is read or not
            reply = self._answers.get(number) or super().respond(path, body)
            assert self._changed.wait_for(lambda: number not in self._held, WAIT_S)
        if number in self._dropped:
            raise ConnectionResetError
        return reply

    def hold(self, number: int) -> None:
        """Keep the reply to this request back until `release`."""
        self._held.add(number)

    def release(self) -> None:
        with self._changed:
            self._held.clear()
            self._changed.notify_all()

    def drop(self, number: int) -> None:
        """Close the connection in place of a reply to this request."""
        self._dropped.add(number)

    def answer(self, number: int, status: int, body: bytes) -> None:
        """Reply so to this request instead of asking the reader."""
        self._answers[number] = (status, body)

    def wait_for(self, number: int, seconds: float = WAIT_S) -> None:
        """Return once this request has been received whole."""
        with self._changed:
            received = self._changed.wait_for(lambda: len(self._hits) >= number, seconds)
        assert received, f"request {number} has not come"

    def forget(self, number: int) -> None:
        """Leave the first hits out of the log: they were another run's."""
        with self._changed:
            del self._hits[:number]

    @property
    def hits(self) -> list[str]:
        """The SHA-256 of each received body; a body names its position by its length."""
        with self._changed:
            return list(self._hits)

    @property
    def received_twice(self) -> list[str]:
        return [digest for digest, times in Counter(self.hits).items() if times > 1]


@contextmanager
def running(app: LoggedApp) -> Iterator[LoggedApp]:
    with serve(app, "127.0.0.1", 0) as server:
        app.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield app
        finally:
            app.release()
            server.shutdown()
            thread.join()
