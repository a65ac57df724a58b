"""Logging to stderr in the line format of klog; ``--v`` says how much."""

from __future__ import annotations

import logging
import os
import sys
import time
from typing import TextIO

from pybernetes.lib.printable import printable

# Python has no levels between INFO and DEBUG; klog's -v=1…3 are still news, 4 and more are for debugging.
DEBUG_FROM = 4
_MOST = 16_384  # characters of a message
_LETTERS = {
    logging.DEBUG: "I",
    logging.INFO: "I",
    logging.WARNING: "W",
    logging.ERROR: "E",
    logging.CRITICAL: "F",
}


class KlogFormatter(logging.Formatter):
    """``I0131 12:00:00.123456   4242 server.py:33] message``.

    Messages hold what others sent. So that nobody writes lines of our log, only a head stands at the beginning of a line:
    what follows of a message or a traceback is indented, and what is not printable is escaped.
    """

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    def format(self, record: logging.LogRecord) -> str:
        """Format one record; a traceback follows on lines of its own."""
        moment = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        micros = int(record.created % 1 * 1_000_000)
        letter = _LETTERS.get(record.levelno, "I")
        head = f"{letter}{moment}.{micros:06d} {self._process:>7} {record.filename}:{record.lineno}]"
        message = record.getMessage()
        if record.exc_info:
            message = f"{message}\n{self.formatException(record.exc_info)}"
        return f"{head} {message if message.isprintable() and len(message) <= _MOST else _tame(message)}"


def _tame(message: str) -> str:
    """Return a message without characters that do more than show themselves, and not without end."""
    left_out = len(message) - _MOST
    if left_out > 0:
        message = f"{message[: _MOST // 2]} […{left_out} characters left out…] {message[-_MOST // 2 :]}"
    lines = message.split("\n")
    return "\n\t".join(map(printable, lines))


def level_of(verbosity: int) -> int:
    """Return the level of Python's logging for a klog verbosity."""
    return logging.DEBUG if verbosity >= DEBUG_FROM else logging.INFO


def set_up(verbosity: int = 0, stream: TextIO | None = None) -> None:
    """Send the log of this process to a stream, by default stderr. A second call replaces the first."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(KlogFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level_of(verbosity))
    # Chatty libraries log what they send, which may be secret; their own debugging is not ours.
    for name in ("asyncio", "aetcd", "grpc", "urllib3"):
        logging.getLogger(name).setLevel(logging.WARNING)
