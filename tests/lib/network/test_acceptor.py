"""Who knocks at a listening socket is let in, a few in a turn of the event loop."""

from __future__ import annotations

import asyncio
import errno
import socket

import pytest
import uvloop

from pybernetes.lib.network import acceptor
from pybernetes.lib.network.acceptor import Acceptor
from tests.support import eventually


class Counting(asyncio.Protocol):
    """Counts who was let in in each turn of the loop."""

    def __init__(self, turns: list[int]) -> None:
        self._turns = turns

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not self._turns[-1]:
            asyncio.get_running_loop().call_soon(self._turns.append, 0)
        self._turns[-1] += 1


def _listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_few_in_a_turn(new_loop: object) -> None:
    """A hundred that wait already are let in bit by bit, and all of them are."""

    async def test() -> None:
        listening, turns = _listening(), [0]
        listening.listen(1024)
        clients = [socket.create_connection(listening.getsockname()) for _ in range(100)]
        door = Acceptor(listening, lambda: Counting(turns))
        await eventually(lambda: sum(turns) == 100)
        assert max(turns) <= 2 * acceptor._AT_ONCE
        await door.close()
        for client in clients:
            client.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(test())


class Exhausted:
    """A listening socket for which there are no descriptors left at first."""

    def __init__(self, real: socket.socket) -> None:
        self._real, self.refusals = real, 1

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def accept(self) -> tuple[socket.socket, object]:
        if self.refusals:
            self.refusals -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return self._real.accept()


async def test_nobody_is_let_in_for_a_while_without_descriptors(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Who has to wait is let in afterwards; the loop does not ask again and again meanwhile."""
    monkeypatch.setattr(acceptor, "_REST_SECONDS", 0.01)
    listening, turns = _listening(), [0]
    door = Acceptor(Exhausted(listening), lambda: Counting(turns))  # type: ignore[arg-type]
    client = socket.create_connection(listening.getsockname())
    await eventually(lambda: sum(turns) == 1)
    assert "Too many open files" in caplog.text
    await door.close()
    client.close()


async def test_who_was_let_in_has_a_protocol_at_the_end() -> None:
    """Nobody who was accepted is left without anybody who could serve or drop them."""
    listening, turns = _listening(), [0]
    door = Acceptor(listening, lambda: Counting(turns))
    client = socket.create_connection(listening.getsockname())
    door._accept()
    await door.close()
    assert sum(turns) == 1
    await door.close()  # once more does no harm
    client.close()
