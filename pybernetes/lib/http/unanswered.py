"""Requests that came in, or are coming in, and have no answer yet: how much memory they hold, and who is sent away."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from pybernetes.lib.http.unread import Holder

# Connections that hold no more than this are not counted: nearly all of them.
SMALL = 16 * 1024


class Sender(Holder, Protocol):
    """A connection with requests that have no answer."""

    def address(self) -> str:
        """Return where the client is."""


class Unanswered:
    """What all connections of a server hold of requests.

    Nobody knows who sends a request before it is read, so that bodies are counted by the address they come from. If all
    together is too much, the one that began first goes, of the address that holds most. The last one of all stays.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._sizes: dict[Sender, int] = {}
        self._address_of: dict[Sender, str] = {}
        self._addresses: dict[str, dict[Sender, None]] = {}
        self._held: Counter[str] = Counter()
        self.size = 0
        self.ended = 0

    def hold(self, sender: Sender, size: int) -> bool:
        """Note how much a connection holds from now on; return whether that counts."""
        if size <= SMALL:
            self.release(sender)
            return False
        if sender not in self._sizes:
            address = sender.address()
            self._sizes[sender], self._address_of[sender] = 0, address
            self._addresses.setdefault(address, {})[sender] = None
        self._add(sender, size - self._sizes[sender])
        while self.size > self._most and len(self._sizes) > 1:
            self._end(max(self._held, key=self._held.__getitem__))
        return sender in self._sizes

    def _add(self, sender: Sender, size: int) -> None:
        self._sizes[sender] += size
        self._held[self._address_of[sender]] += size
        self.size += size

    def release(self, sender: Sender) -> None:
        """Note that a connection holds nothing any more."""
        if sender not in self._sizes:
            return
        self._add(sender, -self._sizes[sender])
        address = self._address_of.pop(sender)
        del self._sizes[sender], self._addresses[address][sender]
        if not self._addresses[address]:
            del self._addresses[address], self._held[address]

    def _end(self, address: str) -> None:
        slowest = next(iter(self._addresses[address]))
        self.release(slowest)
        self.ended += 1
        slowest.abort()
