"""A server of the benchmark's own, in a folder that goes with it."""

import os
import shlex
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from bench.harness.kubeconfig import Target, load_target
from bench.harness.server import ServerProcess


class OwnServer(ServerProcess):
    """The control plane in one process with a durable store, or the API server alone."""

    def __init__(self, *arguments: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pyb-bench-")
        self.kubeconfig = str(Path(self._folder.name, "kubeconfig"))
        paths = os.pathsep.join(filter(None, sys.path))
        words = ("env", f"PYTHONPATH={paths}", sys.executable, "-m", "bench.harness.held_control_plane")
        super().__init__(shlex.join((*words, self._folder.name, *arguments)), self.kubeconfig, None)

    @property
    def target(self) -> Target:
        """Where it is, and as whom to come."""
        return load_target(self.kubeconfig)

    def __enter__(self) -> "OwnServer":
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._folder.cleanup()
