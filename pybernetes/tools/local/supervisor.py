"""Keeps the processes of a local cluster running: restarts what dies, rotates their logs.

One small process per cluster, woken only by what its processes do or write and by signals: after SIGHUP it reads
the settings again, after SIGTERM it stops everything, last started first. Its processes die with it, so that two
sets of them never run at once; containers continue without it.
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
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pybernetes.lib.processes import privileges
from pybernetes.tools.local.processes import ProcessSpec
from pybernetes.tools.local.rotated_log import RotatedLog

_BACKOFF = (0.2, 30.0)  # seconds before a process that died is restarted, doubling
_STEADY_SECONDS = 60.0  # one that ran for this long is restarted with the first delay
_STOP_SECONDS = 30.0
_SET_DEATH_SIGNAL = 1
_LIBC = ctypes.CDLL(None)


class SupervisedProcess:
    """A process that should run, whether it does at the moment or waits to be restarted."""

    def __init__(self, spec: ProcessSpec, log: RotatedLog) -> None:
        self.spec, self.log = spec, log
        self.process: subprocess.Popen[bytes] | None = None
        self.restarts = 0
        self.delay = _BACKOFF[0]
        self.started = 0.0
        self.began = ""  # the same by the clock on the wall
        self.due = 0.0  # when it is to be started, by the monotonic clock


class Supervisor:
    """The processes, and the loop that watches them. ``desired`` says what should run and whether it is paused."""

    def __init__(
        self, desired: Callable[[], tuple[list[ProcessSpec], bool]], log: Callable[[str], Path], state: Path
    ) -> None:
        self.desired, self.log, self.state = desired, log, state
        self.running: dict[str, SupervisedProcess] = {}
        self.paused = False
        self._selector = selectors.DefaultSelector()
        self._signals: set[int] = set()  # those that came and were not handled yet

    def run(self) -> None:
        """Run until SIGTERM."""
        receiver, sender = socket.socketpair()
        for end in (receiver, sender):
            end.setblocking(False)
        signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: None)
        self._selector.register(receiver, selectors.EVENT_READ)
        self.refresh()
        while not self._signals & {signal.SIGTERM, signal.SIGINT}:
            self._wait_for_event(0.0 if self._signals else self._until_due())
            numbers, self._signals = self._signals, self._signals - {signal.SIGCHLD, signal.SIGHUP}
            if signal.SIGCHLD in numbers:
                self._reap()
            if signal.SIGHUP in numbers:
                self._refresh_or_keep()
            self._start_due()
        self._stop(list(self.running))

    def _wait_for_event(self, seconds: float | None) -> None:
        """Wait for something to happen, read what processes wrote and note the signals that came."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._signals.update(key.fileobj.recv(64))  # type: ignore[union-attr]
            else:
                self._read(key.fileobj, key.data)

    def refresh(self) -> None:
        """Make what runs match what should run."""
        specs, paused = self.desired()
        names = {spec.name for spec in specs}
        self._stop([name for name in self.running if name not in names])
        for spec in specs:
            if spec.name not in self.running:
                self.running[spec.name] = SupervisedProcess(spec, RotatedLog(self.log(spec.name)))
        self._start_due()
        if paused != self.paused:
            self.paused = paused
            self._signal_all(signal.SIGSTOP if paused else signal.SIGCONT)
        self._write_state()

    def _refresh_or_keep(self) -> None:
        """Go on as before when the settings cannot be read, as those of a newer version: a cluster must not end by that."""
        try:
            self.refresh()
        except (OSError, TypeError, ValueError, KeyError) as error:
            print(f"the settings cannot be used, what runs goes on: {error!r}", file=sys.stderr, flush=True)

    def _until_due(self) -> float | None:
        times = [supervised.due for supervised in self.running.values() if supervised.process is None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _start_due(self) -> None:
        now, changed = time.monotonic(), False
        for supervised in self.running.values():
            if supervised.process is None and supervised.due <= now:
                self._start(supervised)
                changed = True
        if changed:
            self._write_state()

    def _start(self, supervised: SupervisedProcess) -> None:
        supervised.started = time.monotonic()
        supervised.began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        spec = supervised.spec
        surplus = privileges.surplus(spec.capabilities) if spec.capabilities is not None else None
        kept = privileges.numbers(spec.capabilities or ())
        try:
            process = subprocess.Popen(
                spec.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True, umask=spec.umask, preexec_fn=lambda: _prepare(spec.user, surplus, kept),
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            supervised.log.write(f"{supervised.spec.command[0]}: {error}\n".encode())
            self._schedule_restart(supervised)
            return
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, supervised)
        supervised.process = process

    def _read(self, stream: object, supervised: SupervisedProcess) -> None:
        data = stream.read(65536)  # type: ignore[attr-defined]
        if data:
            supervised.log.write(data)
        elif data == b"":
            self._selector.unregister(stream)  # type: ignore[arg-type]
            stream.close()  # type: ignore[attr-defined]

    def _reap(self) -> None:
        for supervised in self.running.values():
            if supervised.process is not None and supervised.process.poll() is not None:
                code = supervised.process.returncode
                supervised.log.write(f"the program ended with {code} and is started again\n".encode())
                supervised.restarts += 1
                self._schedule_restart(supervised)
        self._write_state()

    def _schedule_restart(self, supervised: SupervisedProcess) -> None:
        seconds = time.monotonic() - supervised.started
        supervised.process = None
        supervised.delay = (
            _BACKOFF[0] if seconds > _STEADY_SECONDS else min(supervised.delay * 2, _BACKOFF[1])
        )
        supervised.due = time.monotonic() + supervised.delay

    def _stop(self, names: list[str]) -> None:
        """Stop processes one after the other, the last started first: each may need those before it."""
        for name in reversed(names):
            supervised = self.running.pop(name)
            if supervised.process is not None and supervised.process.poll() is None:
                supervised.process.send_signal(signal.SIGCONT)
                supervised.process.terminate()
                self._wait_for_end(supervised)
            self._drain(supervised)
            supervised.log.close()
        self._reap()

    def _wait_for_end(self, supervised: SupervisedProcess) -> None:
        """Wait until a process has ended, and read what it writes meanwhile, so that it cannot block."""
        assert supervised.process is not None
        deadline = time.monotonic() + _STOP_SECONDS
        while supervised.process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                supervised.process.kill()
                supervised.process.wait()
                return
            self._wait_for_event(left)

    def _drain(self, supervised: SupervisedProcess) -> None:
        stream = supervised.process.stdout if supervised.process is not None else None
        if stream is not None and not stream.closed:
            self._selector.unregister(stream)
            with contextlib.suppress(OSError):
                supervised.log.write(stream.read() or b"")
            stream.close()

    def _signal_all(self, number: int) -> None:
        for supervised in self.running.values():
            # A paused container runtime would also stop the output of containers that go on.
            if supervised.process is not None and not supervised.spec.name.startswith("containerd-"):
                supervised.process.send_signal(number)

    def _write_state(self) -> None:
        state = {
            name: {
                "pid": supervised.process.pid if supervised.process else 0,
                "restarts": supervised.restarts,
                "started": supervised.began,
            }
            for name, supervised in self.running.items()
        }
        temporary = self.state.with_suffix(".new")
        temporary.write_text(json.dumps(state))
        os.replace(temporary, self.state)


def _prepare(user: int, surplus: tuple[int, ...] | None, kept: tuple[int, ...]) -> None:
    """Have a new process die with its parent and lose rights, before it becomes the program."""
    if surplus is not None:
        privileges.drop(surplus)
    if user:
        privileges.become(user, kept)
    # After that: whoever becomes another user is forgotten.
    _LIBC.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
