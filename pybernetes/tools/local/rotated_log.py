"""A log file that is rotated when it is large."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

LOG_BYTES = 10 * 1024 * 1024
LOG_FILES = 3


class RotatedLog:
    """A log file that is renamed when it is large; the oldest of a few is removed."""

    def __init__(self, path: Path, limit: int = LOG_BYTES, files: int = LOG_FILES) -> None:
        self.path, self.limit, self.files = path, limit, files
        self._open()

    def _open(self) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(descriptor, "ab", buffering=0)
        self._size = self._file.tell()

    def write(self, data: bytes) -> None:
        """Append data; a line that begins before the limit may end behind it."""
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
