"""Starts an API server and takes the time until it is ready."""

import shlex
import subprocess
import time
from types import TracebackType

from bench.harness.connection import call
from bench.harness.kubeconfig import Target, load_target


class ServerProcess:
    """A server that the benchmark starts, restarts and stops itself."""

    def __init__(self, command: str, kubeconfig: str, context: str | None, limit: float = 120) -> None:
        self._command = shlex.split(command)
        self._kubeconfig = kubeconfig
        self._context = context
        self._limit = limit
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process that was started last."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Start the server and return the seconds until /readyz said ok."""
        begin = time.perf_counter()
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        target: Target | None = None
        while True:
            try:
                # The server may have to write its certificate, or the whole kubeconfig, first.
                target = target or load_target(self._kubeconfig, self._context)
                call(target, "GET", "/readyz", timeout=5)
                return time.perf_counter() - begin
            except Exception as error:
                if isinstance(error, OSError) and not isinstance(error, ConnectionError):
                    target = None  # what was read may be of an earlier start
                if self._process.poll() is not None:
                    raise RuntimeError(f"the server ended with {self._process.returncode}") from error
                if time.perf_counter() - begin > self._limit:
                    raise TimeoutError(f"not ready after {self._limit:.0f} s: {error}") from error
                time.sleep(0.005)

    def stop(self) -> None:
        """End the server as an init system would."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
