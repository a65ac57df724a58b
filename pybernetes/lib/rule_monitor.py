"""Notices when others remove rules of ours: the kernel reports every change of nftables rules.

The rules of iptables are among them, except those of iptables-legacy, of which the kernel reports nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
from collections.abc import Callable, Iterator

from pybernetes.lib.commands import recent

log = logging.getLogger(__name__)
_NETLINK_NETFILTER, _SOL_NETLINK, _ADD, _DROP, _GROUP_NFTABLES = 12, 270, 1, 2, 7
_NFTABLES = 10
_NEW_GENERATION = 15
_DELETIONS = frozenset((2, 5, 8, 11, 14))  # of a table, chain, rule, set, element
_RECEIVE_BUFFER_FORCE = 33
_PAUSE = 1.0
_HEADER = struct.Struct("=IHHII")


class Reader:
    """Joins the kernel's messages: deletions, then one that ends the change.

    Each carries the number of the socket that asked for the change, which is the number of the process that opened it, as this
    process knows it. (The number of the process that the last one names beside it is the machine's: in a container ours differ.)

    What is ours has one of some words in its name, or in the name of its table.
    """

    def __init__(self, words: tuple[bytes, ...]) -> None:
        self._words = words
        self._deleted = False

    def read(self, data: bytes) -> Iterator[int]:
        """Yield the numbers of the sockets through which something of ours was removed."""
        if not self._deleted and not any(word in data for word in self._words):
            return  # others change a lot: no message of theirs is looked at
        position = 0
        while position + _HEADER.size <= len(data):
            length, kind, _, _, port = _HEADER.unpack_from(data, position)
            if length < _HEADER.size:
                return
            message = data[position : position + length]
            if kind == _NFTABLES << 8 | _NEW_GENERATION:
                if self._deleted:
                    yield port
                self._deleted = False
            elif kind >> 8 == _NFTABLES and kind & 0xFF in _DELETIONS:
                self._deleted = self._deleted or any(word in message for word in self._words)
            position += (length + 3) & ~3


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
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER)
            self._socket.setblocking(False)
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, 4 << 20)
            self._socket.bind((0, 0))
            self._listen(True)
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
            self._socket.setsockopt(_SOL_NETLINK, _ADD if on else _DROP, _GROUP_NFTABLES)

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
        self._later, self._next = None, asyncio.get_running_loop().time() + _PAUSE
        log.warning("rules of %s were removed by others; all of them are written again", self._owner)
        self._on_removal()
