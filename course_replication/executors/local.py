"""Jobs by processes of this machine."""

import os
import signal
import threading
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait

from course_replication.jobs import answer, lost


class Processes:
    """Processes that are handed one job at a time, and do not outlive their parent."""

    elsewhere = False

    def __init__(self):
        self._context = get_context("spawn")
        self._idle: list[tuple[Connection, object]] = []
        self._busy: dict[Connection, tuple[object, str]] = {}

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_) -> None:
        processes = [process for _, process in self._idle] + [process for process, _ in self._busy.values()]
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()

    def start(self, name: str, job: str) -> None:
        connection, process = self._idle.pop() if self._idle else self._new()
        self._busy[connection] = (process, name)
        with suppress(ConnectionError):  # a process that has died meanwhile is found out by `finished`
            connection.send_bytes(job.encode())

    def finished(self, seconds: float | None) -> dict[str, str]:
        answers = {}
        for connection in wait([*self._busy], seconds):
            process, name = self._busy.pop(connection)
            try:
                answers[name] = connection.recv_bytes().decode()
                self._idle.append((connection, process))
            except (EOFError, ConnectionError):
                process.join()
                answers[name] = lost(f"its process ended with exit code {process.exitcode}")
        return answers

    def _new(self) -> tuple[Connection, object]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs,), daemon=True)
        process.start()
        theirs.close()  # so that the pipe ends when the process does
        return ours, process


def _work(connection: Connection) -> None:
    """Answer what comes; the parent alone hears Ctrl-C, and with it this process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, ConnectionError):
        while True:
            connection.send_bytes(answer(connection.recv_bytes().decode()).encode())


def _end_with_parent() -> None:
    """However the parent ended, nobody waits for the run: what is stored and its checkpoint are there for the next."""
    parent_process().join()
    os._exit(1)
