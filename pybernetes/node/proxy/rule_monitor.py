"""Notices when others take kube-proxy's rules away: the kernel tells of every change of nftables' rules.

The rules of iptables are among them, unless it is the old kind (iptables-legacy), of which the kernel tells nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
from collections.abc import Callable, Iterator

from pybernetes.node.proxy.commands import recent

log = logging.getLogger(__name__)
_NETLINK_NETFILTER, _SOL_NETLINK, _ADD, _DROP, _GROUP_NFTABLES = 12, 270, 1, 2, 7
_NFTABLES = 10
_NEW_GENERATION, _GENERATION_PROCESS = 15, 2
_DELETIONS = frozenset((2, 5, 8, 11, 14))  # of a table, chain, rule, set, element
_RECEIVE_BUFFER_FORCE = 33
_OURS = (b"KUBE-", b"kube-proxy\0")
_HEADER = struct.Struct("=IHHII")


class Reader:
    """Puts the kernel's messages together: deletions, then one that says which process made them."""

    def __init__(self) -> None:
        self._deleted = False

    def read(self, data: bytes) -> Iterator[int]:
        """The processes that removed something of ours."""
        position = 0
        while position + _HEADER.size <= len(data):
            length, kind, *_ = _HEADER.unpack_from(data, position)
            if length < _HEADER.size:
                return
            message = data[position : position + length]
            if kind == _NFTABLES << 8 | _NEW_GENERATION:
                if self._deleted:
                    yield _process(message)
                self._deleted = False
            elif kind >> 8 == _NFTABLES and kind & 0xFF in _DELETIONS:
                self._deleted = self._deleted or any(each in message for each in _OURS)
            position += (length + 3) & ~3


def _process(message: bytes) -> int:
    """The process of a message that ends a change; 0 if it does not say."""
    position = _HEADER.size + 4
    while position + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, position)
        if length < 4:
            break
        if kind & 0x3FFF == _GENERATION_PROCESS:
            return int.from_bytes(message[position + 4 : position + length], "big")
        position += (length + 3) & ~3
    return 0


class RuleMonitor:
    """Calls back when rules of ours go that we did not remove."""

    def __init__(self, gone: Callable[[], None]) -> None:
        self._gone = gone
        self._socket: socket.socket | None = None
        self._reader = Reader()
        self._busy = False
        self._culprits: set[int] = set()

    def start(self) -> None:
        """Begins to listen; without the right to do so it stays silent."""
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
        """Listens no more."""
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None

    @contextlib.contextmanager
    def aside(self, deaf: bool) -> Iterator[None]:
        """For the time of a change of our own; of a large one the kernel need not tell at all."""
        self._busy = True
        if deaf:
            self._listen(False)
        try:
            yield
        finally:
            self._busy = False
            self._readable()
            if deaf:
                self._listen(True)

    def _listen(self, on: bool) -> None:
        if self._socket is not None:
            self._socket.setsockopt(_SOL_NETLINK, _ADD if on else _DROP, _GROUP_NFTABLES)

    def _readable(self) -> None:
        while self._socket is not None:
            try:
                self._culprits.update(self._reader.read(self._socket.recv(1 << 16)))
            except BlockingIOError:
                break
            except OSError:
                # More was changed than there was room for. If not by us, nobody knows what.
                if not self._busy:
                    self._culprits.add(0)
        # A program of ours may be done before we know its number: that is known when the change is over.
        if not self._busy and self._culprits:
            others = self._culprits.difference(recent)
            self._culprits = set()
            if others:
                log.warning("rules of kube-proxy were removed by others; all of them are written again")
                self._gone()
