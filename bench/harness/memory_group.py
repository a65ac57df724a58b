"""A control group with a limit on memory, of either version, for a process that is to be short of it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType

_MOUNT = Path("/sys/fs/cgroup")


class MemoryGroup:
    """A group of its own below the root, removed with its end. Needs root."""

    def __init__(self, name: str, megabytes: int) -> None:
        self._unified = (_MOUNT / "cgroup.controllers").exists()
        self.path = (_MOUNT if self._unified else _MOUNT / "memory") / f"{name}-{os.getpid()}"
        self._bytes = megabytes << 20

    def __enter__(self) -> MemoryGroup:
        if self._unified:
            (_MOUNT / "cgroup.subtree_control").write_text("+memory")
        self.path.mkdir()
        self.limit(self._bytes)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in range(100):  # a process that ended stays in its group for a moment
            try:
                return self.path.rmdir()
            except OSError:
                time.sleep(0.1)
        self.path.rmdir()

    def limit(self, size: int) -> None:
        """Let the group have so many bytes, and no swap."""
        names = ("memory.max", "memory.swap.max") if self._unified else ("memory.limit_in_bytes",)
        for name, value in zip(names, (size, 0), strict=False):
            if (self.path / name).exists():  # a kernel may have no swap
                (self.path / name).write_text(str(value))

    def command(self, words: list[str]) -> list[str]:
        """Return the command that runs a command in the group."""
        return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(self.path), *words]

    @property
    def most_megabytes(self) -> float:
        """The most that the group has used, files that were read and written included."""
        name = "memory.peak" if self._unified else "memory.max_usage_in_bytes"
        return int((self.path / name).read_text()) / (1 << 20)

    @property
    def kills(self) -> int:
        """How many processes the kernel has killed for want of memory."""
        name = "memory.events" if self._unified else "memory.oom_control"
        fields = dict(line.split() for line in (self.path / name).read_text().splitlines())
        return int(fields["oom_kill"])
