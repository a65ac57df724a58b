"""Heads of requests: headers, targets, selectors and lists of media types, from a client that has not authenticated."""

from __future__ import annotations

import asyncio

from bench.harness.attacked import Attack, Attacked


async def _repeated_header(server: Attacked) -> None:
    await server.send(server.head() + b"X-A: " + b"a" * 1000 + b"\r\n", *[b"X-A: " + b"a" * 1000 + b"\r\n"] * 950,
                      b"\r\n")  # fmt: skip


async def _many_headers(server: Attacked) -> None:
    await server.send(server.head() + b"".join(b"X-%d: a\r\n" % number for number in range(900)) + b"\r\n")


async def _dripping_header(server: Attacked) -> None:
    await server.send(server.head() + b"X: ", *[b"a" * 100] * 10_000, b"\r\n\r\n")


async def _long_path(server: Attacked) -> None:
    # A path of its own each time: nothing of it is to be remembered.
    await server.send(
        server.head(f"/api/v1/{asyncio.get_running_loop().time()}/" + "a" * 1_000_000) + b"\r\n"
    )


async def _many_segments(server: Attacked) -> None:
    await server.send(server.head("/api/v1/namespaces" + "/a" * 500_000) + b"\r\n")


async def _many_parameters(server: Attacked) -> None:
    await server.send(server.head("/api/v1/pods?watch=1&timeout=1s" + "&a=b" * 240_000) + b"\r\n")


async def _label_selector(server: Attacked) -> None:
    await server.send(server.head("/api/v1/pods?labelSelector=" + "a," * 490_000 + "a") + b"\r\n")


async def _field_selector(server: Attacked) -> None:
    await server.send(server.head("/api/v1/pods?fieldSelector=" + "a%3D%5C%5C" * 100_000) + b"\r\n")


async def _allowed_label_selector(server: Attacked) -> None:
    target = "/api/v1/pods?labelSelector=a+in+(" + ",".join(map(str, range(12_000))) + ")"
    await server.send(server.head(target, known=True) + b"\r\n")


async def _accept(server: Attacked) -> None:
    await server.send(server.head("/api/v1/pods") + b"Accept: " + b"a;q=0.1," * 120_000 + b"\r\n\r\n")


async def _chunk_extensions(server: Attacked) -> None:
    chunk = b"1;" + b"x" * 16_000 + b"\r\na\r\n"
    await server.send(server.head(method="POST") + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 1000)


async def _upgrade_on_a_watch(server: Attacked) -> None:
    head = server.head("/api/v1/pods?watch=1", known=True)
    await server.send(head + b"Connection: Upgrade\r\nUpgrade: other\r\n\r\n", *[b"a" * 65536] * 500)


async def _nothing_but_line_ends(server: Attacked) -> None:
    await server.send(*[b"\r\n" * 32_000] * 30)


async def _slow_heads(server: Attacked) -> None:
    opened = [await server.connect() for _ in range(50)]
    for _, writer in opened:
        writer.write(server.head())
    await asyncio.sleep(1)
    for _, writer in opened:
        writer.transport.abort()


async def _small_records(server: Attacked) -> None:
    """Send a body in TLS records of one byte each."""
    head = server.head("/api/v1/namespaces/default/configmaps", "POST") + b"Content-Length: 3000000\r\n\r\n"
    _, writer = await server.connect()
    try:
        writer.write(head)
        for _ in range(20):
            for _ in range(1000):  # asyncio makes a record of each write
                writer.write(b"x")
            await writer.drain()
    finally:
        writer.transport.abort()


ATTACKS: dict[str, Attack] = {
    "TLS records of one byte": _small_records,
    "a header that is repeated": _repeated_header,
    "many headers": _many_headers,
    "a header in small pieces": _dripping_header,
    "a long path": _long_path,
    "a path of many segments": _many_segments,
    "many query parameters": _many_parameters,
    "a label selector": _label_selector,
    "a field selector": _field_selector,
    "a label selector of one who may list": _allowed_label_selector,
    "an Accept list": _accept,
    "extensions of chunks": _chunk_extensions,
    "an upgrade of a watch": _upgrade_on_a_watch,
    "line ends and no request": _nothing_but_line_ends,
    "heads that do not end": _slow_heads,
}
