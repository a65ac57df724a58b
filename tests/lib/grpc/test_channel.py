"""The client with grpcio's server on the other side, which knows nothing of ours."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from pybernetes.lib.grpc.channel import Channel, RpcError, StatusCode
from pybernetes.lib.tls import tls
from tests.lib.grpc.peers import grpcio_server, raw, unary

SECONDS = 60.0


def run(test: Any) -> None:
    """Run a test with a deadline."""

    async def limited() -> None:
        async with asyncio.timeout(SECONDS):
            await test

    asyncio.run(limited())


@pytest.mark.parametrize("size", [0, 1, 16384 - 5, 16384, 70_000, 3_000_000])
def test_messages_of_any_size(tmp_path: Path, size: int) -> None:
    """Frames, windows and the limits of both sides are kept to: the whole message comes back."""

    async def test() -> None:
        async with grpcio_server(f"unix:{tmp_path}/s") as _:
            channel = Channel(f"unix://{tmp_path}/s")
            message = bytes(range(256)) * (size // 256 + 1)
            assert await unary(channel, "Echo")(message[:size], timeout=SECONDS) == message[:size]
            await channel.close()

    run(test())


def test_many_calls_share_a_connection() -> None:
    """A hundred large calls at once: each gets its own answer."""

    async def test() -> None:
        async with grpcio_server("127.0.0.1:0") as (_, port):
            channel = Channel(f"127.0.0.1:{port}")
            call = unary(channel, "Echo")
            messages = [b"%d" % number * 20_000 for number in range(100)]
            answers = await asyncio.gather(*(call(message, timeout=SECONDS) for message in messages))
            assert answers == messages
            await channel.close()

    run(test())


def test_an_error_has_its_code_and_words() -> None:
    """What the server says arrives, with characters that travel escaped."""

    async def test() -> None:
        async with grpcio_server("127.0.0.1:0") as (_, port):
            channel = Channel(f"127.0.0.1:{port}")
            with pytest.raises(RpcError) as failure:
                await unary(channel, "Fail")(b"", timeout=SECONDS)
            assert (failure.value.code, failure.value.details) == (
                StatusCode.NOT_FOUND,
                "no such thing: ü % ☂",
            )
            with pytest.raises(RpcError) as failure:
                await unary(channel, "Missing")(b"", timeout=SECONDS)
            assert failure.value.code is StatusCode.UNIMPLEMENTED
            await channel.close()

    run(test())


def test_a_deadline_ends_the_call_on_both_sides() -> None:
    """The caller gets DEADLINE_EXCEEDED, the server hears that nobody waits, and the connection goes on."""

    async def test() -> None:
        async with grpcio_server("127.0.0.1:0") as (service, port):
            channel = Channel(f"127.0.0.1:{port}")
            seconds = 0.05
            while not service.begun.is_set():  # the time may be up before the server has the call
                with pytest.raises(RpcError) as failure:
                    await unary(channel, "Hang")(b"", timeout=seconds)
                assert failure.value.code is StatusCode.DEADLINE_EXCEEDED
                seconds *= 2
            await service.cancelled.wait()
            assert await unary(channel, "Echo")(b"on", timeout=SECONDS) == b"on"
            await channel.close()

    run(test())


def test_a_cancelled_task_cancels_its_call() -> None:
    """The server hears of it at once, without a deadline."""

    async def test() -> None:
        async with grpcio_server("127.0.0.1:0") as (service, port):
            channel = Channel(f"127.0.0.1:{port}")
            await unary(channel, "Echo")(b"")
            task = asyncio.create_task(unary(channel, "Hang")(b""))
            await service.begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await service.cancelled.wait()
            await channel.close()

    run(test())


def test_streams_both_ways() -> None:
    """A stream of answers larger than a window, and a conversation."""

    async def test() -> None:
        async with grpcio_server("127.0.0.1:0") as (_, port):
            channel = Channel(f"127.0.0.1:{port}", most_bytes=100_000)
            count = channel.unary_stream("/test.Service/Count", raw, raw)
            sizes = [len(message) async for message in count(b"300 9000")]
            assert sizes == [9000] * 300
            talk = channel.stream_stream("/test.Service/Talk", raw, raw)()
            for word in (b"one", b"two"):
                await talk.write(word)
                assert await talk.read() == word.upper()
            talk.cancel()
            with pytest.raises(RpcError) as failure:
                await talk.read()
            assert failure.value.code is StatusCode.CANCELLED
            await channel.close()

    run(test())


def test_metadata_and_deadline_travel() -> None:
    """What a caller adds, and how long it waits, is known to the server."""

    async def test() -> None:
        async with grpcio_server("127.0.0.1:0") as (service, port):
            channel = Channel(f"127.0.0.1:{port}")
            long = "x" * 300
            await unary(channel, "Echo")(b"", metadata=[("namespace", "k8s.io"), ("long", long)], timeout=5)
            assert {"namespace": "k8s.io", "long": long}.items() <= dict(service.metadata).items()
            await channel.close()

    run(test())


def test_a_server_that_restarts_is_found_again(tmp_path: Path) -> None:
    """While it is away a call fails at once, or waits if it is told to; then it works, on the same channel."""

    async def test() -> None:
        channel = Channel(f"unix://{tmp_path}/s")
        for _ in range(2):
            with pytest.raises(RpcError) as failure:
                await unary(channel, "Echo")(b"", timeout=SECONDS)
            assert failure.value.code is StatusCode.UNAVAILABLE
            waiting = asyncio.create_task(unary(channel, "Echo")(b"a", timeout=SECONDS, wait_for_ready=True))
            async with grpcio_server(f"unix:{tmp_path}/s"):
                assert await waiting == b"a"
                hanging = asyncio.create_task(unary(channel, "Hang")(b"", timeout=SECONDS))
                assert await unary(channel, "Echo")(b"b", timeout=SECONDS) == b"b"
            with pytest.raises(RpcError):
                await hanging
            (tmp_path / "s").unlink(missing_ok=True)
        with pytest.raises(RpcError) as failure:
            await unary(channel, "Echo")(b"a", timeout=0.2, wait_for_ready=True)
        assert failure.value.code is StatusCode.DEADLINE_EXCEEDED
        await channel.close()
        with pytest.raises(RpcError) as failure:
            await unary(channel, "Echo")(b"a", timeout=SECONDS)
        assert failure.value.code is StatusCode.CANCELLED

    run(test())


def test_tls_is_verified(tmp_path: Path) -> None:
    """With the right authority and a client certificate it works; a server of another authority is refused."""
    authority, stranger = tls.create_authority("ours"), tls.create_authority("another")
    pair = tls.issue(authority, "server", names=["localhost", "127.0.0.1"], server=True)
    client = tls.issue(authority, "client", client=True)
    for name, data in {"ca": authority.certificate, "crt": client.certificate, "key": client.key}.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "stranger").write_bytes(stranger.certificate)

    async def test() -> None:
        credentials = grpc.ssl_server_credentials(
            [(pair.key, pair.certificate)], authority.certificate, require_client_auth=True
        )
        async with grpcio_server("127.0.0.1:0", credentials) as (_, port):
            context = tls.client_context(tmp_path / "ca", certificate=tmp_path / "crt", key=tmp_path / "key")
            channel = Channel(f"127.0.0.1:{port}", context=context)
            assert await unary(channel, "Echo")(b"a" * 100_000, timeout=SECONDS) == b"a" * 100_000
            await channel.close()
            other = Channel(f"127.0.0.1:{port}", context=tls.client_context(tmp_path / "stranger"))
            with pytest.raises(RpcError) as failure:
                await unary(other, "Echo")(b"", timeout=SECONDS)
            assert failure.value.code is StatusCode.UNAVAILABLE
            await other.close()

    run(test())


@pytest.mark.parametrize("address", ["", "host", ":1", "host:", "host:a"])
def test_addresses_that_are_none(address: str) -> None:
    """They are refused when the channel is made."""
    with pytest.raises(ValueError, match="must look like"):
        Channel(address)


def test_a_call_can_begin_at_once_and_tell_when_it_has_ended() -> None:
    """Without a connection there is nothing to begin; with one there is no task and no timer."""

    async def test() -> None:
        async with grpcio_server("127.0.0.1:0") as (service, port):
            channel = Channel(f"127.0.0.1:{port}")
            echo, outcomes = unary(channel, "Echo"), asyncio.Queue[Any]()
            assert echo.begin(b"a", SECONDS, lambda stream: outcomes.put_nowait(stream.outcome())) is None
            assert await echo(b"b", timeout=SECONDS) == b"b"
            assert echo.begin(b"c", SECONDS, lambda stream: outcomes.put_nowait(stream.outcome())) is not None
            assert await outcomes.get() == (b"c", None)
            hanging = unary(channel, "Hang").begin(
                b"", SECONDS, lambda stream: outcomes.put_nowait(stream.outcome())
            )
            await service.begun.wait()
            assert hanging is not None
            hanging.expire()
            message, error = outcomes.get_nowait()
            assert (message, error.code) == (b"", StatusCode.DEADLINE_EXCEEDED)
            await service.cancelled.wait()
            await channel.close()

    run(test())


def test_whoever_comes_when_the_connection_has_just_been_made_gets_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the same turn of the loop: they looked for it over and over, and the loop never had another turn."""

    async def test() -> None:
        async with grpcio_server("127.0.0.1:0") as (_, port):
            channel = Channel(f"127.0.0.1:{port}")
            connect, begin = channel._connected, channel.begin
            made, tries = asyncio.Event(), 0

            async def connected() -> Any:
                connection = await connect()
                # Who waits for this goes on when the dialing has ended, and before anybody can be told of that.
                asyncio.get_running_loop().call_soon(made.set)
                await asyncio.sleep(0)
                return connection

            def counted(*arguments: Any) -> bool:
                nonlocal tries
                tries += 1
                assert tries < 100
                return begin(*arguments)

            async def later() -> Any:
                await made.wait()
                return await unary(channel, "Echo")(b"b", timeout=SECONDS)

            monkeypatch.setattr(channel, "_connected", connected)
            monkeypatch.setattr(channel, "begin", counted)
            second = asyncio.create_task(later())
            await asyncio.sleep(0)
            assert await unary(channel, "Echo")(b"a", timeout=SECONDS) == b"a"
            assert await second == b"b"
            await channel.close()

    run(test())
