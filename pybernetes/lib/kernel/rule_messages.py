"""What the kernel reports about changes of nftables rules: the messages, and a socket that gets them."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator

_NETLINK_NETFILTER, _SOL_NETLINK, _ADD, _DROP, _GROUP_NFTABLES = 12, 270, 1, 2, 7
_NFTABLES = 10
_NEW_GENERATION = 15
_DELETIONS = frozenset((2, 5, 8, 11, 14))  # of a table, chain, rule, set, element
_RECEIVE_BUFFER_FORCE = 33
_HEADER = struct.Struct("=IHHII")
PAUSE = 1.0  # between two times that rules are written again: whoever removes them each time must not keep us busy


def open_socket() -> socket.socket:
    """Return a socket that hears of changes in the network namespace of this thread; OSError without the permission."""
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER)
    try:
        with contextlib.suppress(OSError):
            opened.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, 4 << 20)
        opened.bind((0, 0))
        listen(opened, True)
    except OSError:
        opened.close()
        raise
    return opened


def listen(opened: socket.socket, on: bool) -> None:
    """Have the kernel report changes, or not."""
    opened.setsockopt(_SOL_NETLINK, _ADD if on else _DROP, _GROUP_NFTABLES)


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
