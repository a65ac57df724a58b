"""Notices when others remove rules of ours: the kernel reports every change of nftables rules.

The rules of iptables are among them, except those of iptables-legacy, of which the kernel reports nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterator

from pybernetes.lib.kernel import rule_messages
from pybernetes.lib.kernel.rule_messages import PAUSE, Reader
from pybernetes.lib.processes.commands import recent

log = logging.getLogger(__name__)


class RuleMonitor:
    """Calls back when somebody else removes rules of ours, in the network namespace of the caller's thread."""

    def __init__(self, owner: str, words: tuple[bytes, ...], on_removal: Callable[[], None]) -> None:
        self._owner, self._on_removal = owner, on_removal
        self._socket: socket.socket | None = None
        self._reader = Reader(words)
        self._busy = False
        self._next = 0.0
        self._later: asyncio.TimerHandle | None = None
        self._ports: set[int] = set()

    def start(self) -> None:
        """Begin to listen, unless it does so already; without the permission it stays silent."""
        if self._socket is not None:
            return
        try:
            self._socket = rule_messages.open_socket()
            self._socket.setblocking(False)
        except OSError as error:
            log.warning("rules that others remove will not be noticed: %s", error)
            self.stop()
            return
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._readable)

    def stop(self) -> None:
        """Stop listening; what was not told yet counts no more."""
        self._ports.clear()
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None

    @contextlib.contextmanager
    def own_change(self, large: bool) -> Iterator[None]:
        """Ignore what our programs change inside of the context; the kernel does not even report a large change."""
        self._busy = True
        if large:
            self._listen(False)
        try:
            yield
        finally:
            self._read()
            self._busy = False
            # A program of ours may end before its number is known here: who it was counts when our change is over.
            others, self._ports = self._ports.difference(recent), set()
            if large:
                self._listen(True)
            if others:
                self._removed()

    def _listen(self, on: bool) -> None:
        if self._socket is not None:
            rule_messages.listen(self._socket, on)

    def _read(self) -> None:
        while self._socket is not None:
            try:
                self._ports.update(self._reader.read(self._socket.recv(1 << 16)))
            except BlockingIOError:
                break
            except OSError:
                # The buffer was too small for a change. If it was not ours, nobody knows what it was.
                if not self._busy:
                    self._ports.add(0)

    def _readable(self) -> None:
        self._read()
        if not self._busy and self._ports:
            self._ports.clear()
            self._removed()

    def _removed(self) -> None:
        loop = asyncio.get_running_loop()
        if self._later is None:
            self._later = loop.call_at(max(loop.time(), self._next), self._tell)

    def _tell(self) -> None:
        """Say so, once a second at most: whoever removes what we write each time must not keep us busy."""
        self._later, self._next = None, asyncio.get_running_loop().time() + PAUSE
        log.warning("rules of %s were removed by others; all of them are written again", self._owner)
        self._on_removal()
