"""Keeps the programs of a local cluster running: starts again what dies, turns their logs over.

One small process per cluster, woken only by what its programs do or write and by signals: SIGHUP has it look
at the settings again, SIGTERM has it stop everything, last started first. Its programs die with it, so that
two sets of them never run at once; containers go on without.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from pybernetes.tools.local.processes import ProcessSpec

LOG_BYTES = 10 * 1024 * 1024
LOG_FILES = 3
_BACKOFF = (0.2, 30.0)  # seconds before a program that died is started again, doubling
_STEADY_SECONDS = 60.0  # one that ran for so long starts at once the next time
_STOP_SECONDS = 30.0
_SET_DEATH_SIGNAL = 1
_LIBC = ctypes.CDLL(None)


class RotatedLog:
    """A log file that moves aside when it is large; the oldest of a few goes."""

    def __init__(self, path: Path, limit: int = LOG_BYTES, files: int = LOG_FILES) -> None:
        self.path, self.limit, self.files = path, limit, files
        self._open()

    def _open(self) -> None:
        self._file = self.path.open("ab", buffering=0)
        self._size = self._file.tell()

    def write(self, data: bytes) -> None:
        """Append; a line that begins before the limit may end behind it."""
        if self._size and self._size + len(data) > self.limit:
            self._file.close()
            for number in range(self.files - 1, 0, -1):
                older = self.path.with_name(f"{self.path.name}.{number}")
                newer = self.path if number == 1 else self.path.with_name(f"{self.path.name}.{number - 1}")
                with contextlib.suppress(FileNotFoundError):
                    os.replace(newer, older)
            self._open()
        self._file.write(data)
        self._size += len(data)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Running:
    """A program that is wanted, whether it runs at the moment or waits to be started again."""

    def __init__(self, program: ProcessSpec, log: RotatedLog) -> None:
        self.program, self.log = program, log
        self.process: subprocess.Popen[bytes] | None = None
        self.restarts = 0
        self.delay = _BACKOFF[0]
        self.started = 0.0
        self.due = 0.0  # when it is to be started, by the monotonic clock


class Supervisor:
    """The programs, and the loop that watches them. ``wanted`` says what should run and whether it is paused."""

    def __init__(
        self, wanted: Callable[[], tuple[list[ProcessSpec], bool]], log: Callable[[str], Path], state: Path
    ) -> None:
        self.wanted, self.log, self.state = wanted, log, state
        self.running: dict[str, Running] = {}
        self.paused = False
        self._selector = selectors.DefaultSelector()
        self._signals: set[int] = set()  # those that came and were not looked at yet

    def run(self) -> None:
        """Run until SIGTERM."""
        ear, mouth = socket.socketpair()
        for end in (ear, mouth):
            end.setblocking(False)
        signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
        for each in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(each, lambda number, frame: None)
        self._selector.register(ear, selectors.EVENT_READ)
        self.refresh()
        while not self._signals & {signal.SIGTERM, signal.SIGINT}:
            self._take(0.0 if self._signals else self._until_due())
            numbers, self._signals = self._signals, self._signals - {signal.SIGCHLD, signal.SIGHUP}
            if signal.SIGCHLD in numbers:
                self._reap()
            if signal.SIGHUP in numbers:
                self.refresh()
            self._start_due()
        self._stop(list(self.running))

    def _take(self, seconds: float | None) -> None:
        """Wait for something to happen; takes what programs wrote and notes the signals that came."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._signals.update(key.fileobj.recv(64))  # type: ignore[union-attr]
            else:
                self._read(key.fileobj, key.data)

    def refresh(self) -> None:
        """Make what runs match what is wanted."""
        programs, paused = self.wanted()
        names = {program.name for program in programs}
        self._stop([name for name in self.running if name not in names])
        for program in programs:
            if program.name not in self.running:
                self.running[program.name] = Running(program, RotatedLog(self.log(program.name)))
        self._start_due()
        if paused != self.paused:
            self.paused = paused
            self._signal_all(signal.SIGSTOP if paused else signal.SIGCONT)
        self._write_state()

    def _until_due(self) -> float | None:
        times = [each.due for each in self.running.values() if each.process is None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _start_due(self) -> None:
        now, changed = time.monotonic(), False
        for each in self.running.values():
            if each.process is None and each.due <= now:
                self._start(each)
                changed = True
        if changed:
            self._write_state()

    def _start(self, each: Running) -> None:
        each.started = time.monotonic()
        try:
            process = subprocess.Popen(
                each.program.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=_die_with_parent,
            )  # fmt: skip
        except OSError as error:
            each.log.write(f"{each.program.command[0]}: {error}\n".encode())
            self._again(each)
            return
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, each)
        each.process = process

    def _read(self, stream: object, each: Running) -> None:
        data = stream.read(65536)  # type: ignore[attr-defined]
        if data:
            each.log.write(data)
        elif data == b"":
            self._selector.unregister(stream)  # type: ignore[arg-type]
            stream.close()  # type: ignore[attr-defined]

    def _reap(self) -> None:
        for each in self.running.values():
            if each.process is not None and each.process.poll() is not None:
                code = each.process.returncode
                each.log.write(f"the program ended with {code} and is started again\n".encode())
                each.restarts += 1
                self._again(each)
        self._write_state()

    def _again(self, each: Running) -> None:
        lived = time.monotonic() - each.started
        each.process = None
        each.delay = _BACKOFF[0] if lived > _STEADY_SECONDS else min(each.delay * 2, _BACKOFF[1])
        each.due = time.monotonic() + each.delay

    def _stop(self, names: list[str]) -> None:
        """Stop programs one after the other, the last started first: each may need those before it."""
        for name in reversed(names):
            each = self.running.pop(name)
            if each.process is not None and each.process.poll() is None:
                each.process.send_signal(signal.SIGCONT)
                each.process.terminate()
                self._wait(each)
            self._drain(each)
            each.log.close()
        self._reap()

    def _wait(self, each: Running) -> None:
        """Wait for an end, and takes what the program writes meanwhile, so that it cannot block on it."""
        assert each.process is not None
        deadline = time.monotonic() + _STOP_SECONDS
        while each.process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                each.process.kill()
                each.process.wait()
                return
            self._take(left)

    def _drain(self, each: Running) -> None:
        stream = each.process.stdout if each.process is not None else None
        if stream is not None and not stream.closed:
            self._selector.unregister(stream)
            with contextlib.suppress(OSError):
                each.log.write(stream.read() or b"")
            stream.close()

    def _signal_all(self, number: int) -> None:
        for each in self.running.values():
            # A paused container runtime would also stop the output of containers that go on.
            if each.process is not None and not each.program.name.startswith("containerd-"):
                each.process.send_signal(number)

    def _write_state(self) -> None:
        state = {
            name: {"pid": each.process.pid if each.process else 0, "restarts": each.restarts}
            for name, each in self.running.items()
        }
        temporary = self.state.with_suffix(".new")
        temporary.write_text(json.dumps(state))
        os.replace(temporary, self.state)


def _die_with_parent() -> None:
    _LIBC.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    for each in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
