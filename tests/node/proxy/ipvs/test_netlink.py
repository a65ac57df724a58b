"""Many requests in one message, against a socket whose other end is this test in the place of the kernel."""

from __future__ import annotations

import contextlib
import errno
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from pybernetes.node.proxy.ipvs import netlink
from pybernetes.node.proxy.ipvs.netlink import DUMP, Request, Socket, attribute, attributes, nested

_HEADER = struct.Struct("=IHHII")


class Kernel:
    """Refuses what is in ``errors``, by the bodies, and answers questions with ``listed``."""

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened
        self.errors: dict[bytes, int] = {}
        self.listed: list[bytes] = []
        self.messages: list[list[tuple[int, bytes]]] = []  # flags and bodies of each message that came
        self.backwards = False

    def run(self) -> None:
        """Answer until the other end is closed."""
        with contextlib.suppress(ConnectionResetError):  # closed with answers in it that nobody has read
            self._run()

    def _run(self) -> None:
        while data := self._socket.recv(1 << 18):
            answers, got, at = [], [], 0
            while at < len(data):
                length, kind, flags, number, _ = _HEADER.unpack_from(data, at)
                body = data[at + 16 : at + length]
                got.append((flags, body))
                answers.append(self._acknowledged(0xFFFFFFF0, -errno.EIO))  # to somebody who gave up
                if flags & DUMP == DUMP:
                    answers += [self._message(kind, number, entry) for entry in self.listed]
                    answers.append(self._message(3, number, struct.pack("=i", -self.errors.get(body, 0))))
                else:
                    answers.append(self._acknowledged(number, -self.errors.get(body, 0)))
                at += length + 3 & ~3
            self.messages.append(got)
            for answer in reversed(answers) if self.backwards else answers:
                self._socket.send(answer)

    def _message(self, kind: int, number: int, body: bytes) -> bytes:
        length = 16 + len(body)
        return _HEADER.pack(length, kind, 2, number, 1) + body + bytes(-length % 4)

    def _acknowledged(self, number: int, error: int) -> bytes:
        return self._message(2, number, struct.pack("=i", error) + bytes(16))


@contextlib.contextmanager
def _kernel() -> Iterator[tuple[Socket, Kernel]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kernel = Kernel(theirs)
    thread = threading.Thread(target=kernel.run)
    thread.start()
    try:
        yield Socket(netlink.GENERIC, ours), kernel
    finally:
        ours.close()
        thread.join()
        theirs.close()


@pytest.mark.parametrize("backwards", [False, True])
def test_each_request_gets_its_own_error(backwards: bool) -> None:
    with _kernel() as (opened, kernel):
        kernel.errors, kernel.backwards = {b"17": errno.EEXIST, b"150": errno.ENOENT}, backwards
        requests = [Request(32, 0x600, str(number).encode()) for number in range(200)]
        errors = opened.carry_out(requests)
        assert {at: error for at, error in enumerate(errors) if error} == {
            17: errno.EEXIST,
            150: errno.ENOENT,
        }
        assert len(errors) == 200
        assert [body for message in kernel.messages for _, body in message] == [
            request.body for request in requests
        ]
        assert {flags for message in kernel.messages for flags, _ in message} == {0x605}
        assert len(kernel.messages) == 4, "64 at a time, so that the answers fit into the socket's buffer"
        assert opened.carry_out([]) == []


def test_large_requests_are_fewer_at_a_time() -> None:
    with _kernel() as (opened, kernel):
        opened.carry_out([Request(32, 0, bytes([number]) * 6000) for number in range(5)])
        assert [len(message) for message in kernel.messages] == [2, 2, 1]


def test_what_is_listed_comes_in_order_and_an_error_is_one() -> None:
    with _kernel() as (opened, kernel):
        kernel.listed = [b"one", b"three", b"four"]
        assert opened.ask(Request(32, DUMP, b"all")) == [b"one", b"three", b"four"]
        kernel.errors[b"gone"] = errno.ESRCH
        with pytest.raises(OSError) as caught:
            opened.ask(Request(32, DUMP, b"gone"))
        assert caught.value.errno == errno.ESRCH
        kernel.errors[b"single"] = errno.ENOENT
        with pytest.raises(OSError) as caught:
            opened.ask(Request(32, 0, b"single"))
        assert caught.value.errno == errno.ENOENT


def test_attributes_are_read_as_they_were_written() -> None:
    data = attribute(1, b"\1\2\3") + nested(2, attribute(3, b"four"), attribute(4, b""))
    assert len(data) % 4 == 0
    parts = attributes(data)
    assert parts[1] == b"\1\2\3" and attributes(parts[2]) == {3: b"four", 4: b""}
    assert (
        attributes(data[:9]) == {1: b"\1\2\3"} and attributes(b"\2\0\1\0") == {} and attributes(b"\1") == {}
    )
