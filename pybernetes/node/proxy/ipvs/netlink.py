"""Netlink: many requests in one message to the kernel, whose answers are told apart by their numbers."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

ROUTE, GENERIC = 0, 16
REQUEST, ACKNOWLEDGE, DUMP, EXCLUSIVE, CREATE = 0x1, 0x4, 0x300, 0x200, 0x400
_ERROR, _DONE = 2, 3
_SOL_NETLINK, _SHORT_ERRORS = 270, 10
_HEADER, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=HH")
_NUMBER = struct.Struct("=i")
_NESTED, _NUMBERS_OF_TYPES = 0x8000, 0x3FFF
# What is under way at once: the answers to it have to fit into the socket's buffer, or the kernel drops them.
_AT_ONCE, _BYTES_AT_ONCE = 64, 16 << 10
_LARGEST = 1 << 16
_SECONDS = 30.0  # the kernel answers at once; this is for one that does not


class Request(NamedTuple):
    """What the kernel is to do: the type of the message, its flags, and what follows the header."""

    kind: int
    flags: int
    body: bytes


def attribute(number: int, value: bytes) -> bytes:
    """Return an attribute with what fills it up to four bytes."""
    return _ATTRIBUTE.pack(len(value) + 4, number) + value + bytes(-len(value) % 4)


def nested(number: int, *attributes: bytes) -> bytes:
    """Return an attribute that is made of others."""
    return attribute(number | _NESTED, b"".join(attributes))


def attributes(data: bytes) -> dict[int, bytes]:
    """Return attributes by their numbers; what is cut off is not among them."""
    values, at = {}, 0
    while at + 4 <= len(data):
        length, number = _ATTRIBUTE.unpack_from(data, at)
        if length < 4 or at + length > len(data):
            break
        values[number & _NUMBERS_OF_TYPES] = data[at + 4 : at + length]
        at += length + 3 & ~3
    return values


class Socket:
    """Asks the kernel about the network namespace of the thread that makes it. What it does not answer is an OSError."""

    def __init__(self, protocol: int, opened: socket.socket | None = None) -> None:
        if opened is None:
            opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
            opened.bind((0, 0))
            with contextlib.suppress(OSError):  # an error need not repeat what was asked
                opened.setsockopt(_SOL_NETLINK, _SHORT_ERRORS, 1)
        opened.settimeout(_SECONDS)
        self._socket = opened
        self._numbers = (number & 0xFFFFFFFF for number in itertools.count(1))

    def close(self) -> None:
        """Close it; what was asked for stays."""
        self._socket.close()

    def carry_out(self, requests: Sequence[Request]) -> list[int]:
        """Carry out all requests in this order, and return the number of the error of each, 0 for none."""
        errors: list[int] = []
        while len(errors) < len(requests):
            errors += self._some(requests[len(errors) : len(errors) + _AT_ONCE])
        return errors

    def _some(self, requests: Sequence[Request]) -> list[int]:
        """Carry out as many as fit into one message; at least one."""
        waiting: dict[int, int] = {}
        message = bytearray()
        for request in requests:
            if waiting and len(message) + len(request.body) > _BYTES_AT_ONCE:
                break
            number = next(self._numbers)
            waiting[number] = len(waiting)
            message += _encoded(request, ACKNOWLEDGE, number)
        errors = [0] * len(waiting)
        self._socket.send(message)
        while waiting:
            for kind, number, body in self._received():
                if kind == _ERROR and number in waiting:
                    errors[waiting.pop(number)] = -_NUMBER.unpack_from(body)[0]
        return errors

    def ask(self, request: Request) -> list[bytes]:
        """Return what the kernel answers, without the headers; OSError with its number if it refuses."""
        number = next(self._numbers)
        bodies: list[bytes] = []
        several = request.flags & DUMP == DUMP
        self._socket.send(_encoded(request, 0 if several else ACKNOWLEDGE, number))
        while True:
            for kind, answered, body in self._received():
                if answered != number:
                    continue  # of something that was given up
                if kind in (_ERROR, _DONE):
                    error = -_NUMBER.unpack_from(body)[0] if len(body) >= 4 else 0
                    if error:
                        raise OSError(error, os.strerror(error))
                    return bodies
                bodies.append(body)

    def _received(self) -> Iterator[tuple[int, int, bytes]]:
        data, at = self._socket.recv(_LARGEST), 0
        while at + _HEADER.size <= len(data):
            length, kind, _, number, _ = _HEADER.unpack_from(data, at)
            if length < _HEADER.size:
                return
            yield kind, number, data[at + _HEADER.size : at + length]
            at += length + 3 & ~3


def _encoded(request: Request, flags: int, number: int) -> bytes:
    length = _HEADER.size + len(request.body)
    return (
        _HEADER.pack(length, request.kind, request.flags | flags | REQUEST, number, 0)
        + request.body
        + bytes(-length % 4)
    )
