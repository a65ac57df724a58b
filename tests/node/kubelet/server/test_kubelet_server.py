"""The kubelet's server: who gets what on which port, and requests that nobody gets anything for."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import Clock, ManualClock
from pybernetes.lib.tls import tls
from pybernetes.lib.tracing import Spans, Tracer, TracingSettings
from pybernetes.node.kubelet.config import merged
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.options import Options
from pybernetes.node.kubelet.server.kubelet_server import KubeletServer
from tests.lib.http import malformed_requests
from tests.lib.span_collector import attributes, collecting


def kubelet(**settings: Any) -> Any:
    """Return what the server needs of a kubelet that has no pods."""
    configuration = merged({"authorization": {"mode": "AlwaysAllow"}, **settings})
    ready = asyncio.Event()
    ready.set()
    options = Options("node", configuration=configuration)
    return SimpleNamespace(
        options=options,
        client=None,
        clock=ManualClock(),
        ready=ready,
        workers={},
        statuses={},
        find=lambda *names: None,
        context=SimpleNamespace(spans=Spans(), metrics=KubeletMetrics()),
    )


@asynccontextmanager
async def serving(port: str, **settings: Any) -> AsyncIterator[int]:
    """Yield one of the ports without TLS, on a free number."""
    server = KubeletServer(kubelet(**settings))
    listening = {"health": server._health, "read-only": server._open, "main": server._server}[port]
    try:
        yield await listening.start("127.0.0.1", 0)
    finally:
        await server.stop()


async def ask(port: int, path: str, method: str = "GET", headers: str = "") -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body


@pytest.mark.parametrize(
    ("port", "method", "path", "status"),
    [
        ("health", "GET", "/healthz", 200),
        ("health", "GET", "/pods", 404),
        ("health", "GET", "/debug/pprof/", 404),
        ("health", "GET", "/configz", 404),
        ("read-only", "GET", "/pods", 200),
        ("read-only", "POST", "/pods", 404),
        ("read-only", "GET", "/configz", 404),
        ("read-only", "POST", "/checkpoint/default/pod/container", 404),
        ("read-only", "GET", "/debug/pprof/heap", 404),
        ("read-only", "GET", "/run/default/pod/container", 404),
        ("read-only", "GET", "/exec/default/pod/container", 404),
        ("main", "GET", "/pods", 200),
        ("main", "GET", "/nothing", 404),
        ("main", "GET", "/containerLogs/default/pod/container", 404),
        ("main", "POST", "/exec/default/pod/container", 404),
    ],
)
async def test_who_gets_what(port: str, method: str, path: str, status: int) -> None:
    """CVE-2019-11248, CVE-2025-0426, CVE-2015-7528: no profiles on the health port, no checkpoints on the read-only one,
    no logs of containers that a pod does not have."""
    anonymous = {"authentication": {"anonymous": {"enabled": True}}}
    async with serving(port, **anonymous) as number:
        assert (await ask(number, path, method))[0] == status


async def test_nobody_gets_in_without_credentials() -> None:
    async with serving("main", authentication={"anonymous": {"enabled": False}}) as port:
        assert await ask(port, "/pods") == (401, b"Unauthorized")
        assert await ask(port, "/pods", headers="Authorization: Bearer x\r\n") == (401, b"Unauthorized")


async def test_pods() -> None:
    async with serving("read-only") as port:
        status, body = await ask(port, "/pods")
        assert (status, json.loads(body)["items"]) == (200, [])


async def test_the_body_of_a_request_is_not_the_next_one() -> None:
    """A server that does not know chunks would read the chunk as a request of its own."""
    async with serving("read-only") as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        inner = b"GET /pods HTTP/1.1\r\nHost: a\r\n\r\n"
        head = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(inner), inner))
        answer = await reader.read()
        writer.close()
        assert answer.count(b"HTTP/1.1 ") == 1 and answer.endswith(b"ok")


async def test_malformed_requests() -> None:
    """CVE-2020-8551: the node's ports have the API server's bounds."""
    async with serving("main") as port:
        await malformed_requests.check(port)


def _client(folder: Path, name: str, authority: tls.Pair, days: int = 1, client: bool = True) -> Path:
    own = tls.issue(
        authority, "kubernetes-admin", organizations=["ops"], client=client, server=not client, days=days
    )
    file = folder / f"{name}.pem"
    file.write_bytes(own.certificate + own.key)
    return file


async def _ask_as(server: KubeletServer, certificate: Path | None) -> tuple[int, bytes]:
    context = tls.client_context(verify=False)
    if certificate is not None:
        context.load_cert_chain(certificate)
    reader, writer = await asyncio.open_connection("127.0.0.1", server._kubelet.port, ssl=context)
    writer.write(b"GET /pods HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    seen = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return int(head.split()[1]), seen if head.startswith(b"HTTP/1.1 200") else body


def _with_tls(folder: Path, *, anonymous: bool = False) -> tuple[KubeletServer, tls.Pair]:
    """Return a kubelet's server with an authority for its clients."""
    certificate, key = tls.ensure_authority(folder)
    authentication = {"anonymous": {"enabled": anonymous}, "x509": {"clientCAFile": str(certificate)}}
    node = kubelet(address="127.0.0.1", port=0, authentication=authentication)
    node.options.certificates = folder / "pki"
    node.options.certificates.mkdir()
    node.addresses = ("127.0.0.1",)
    node.clock = Clock()
    return KubeletServer(node), tls.Pair(certificate.read_bytes(), key.read_bytes())


@pytest.mark.parametrize("anonymous", [False, True])
def test_a_bad_certificate_is_answered_and_not_reset(tmp_path: Path, anonymous: bool) -> None:
    """Of another authority, past its end, or not for clients: 401, as upstream, also where strangers are let in."""

    async def check() -> None:
        server, authority = _with_tls(tmp_path, anonymous=anonymous)
        stranger = tls.create_authority("somebody-else")
        certificates = {
            "good": _client(tmp_path, "good", authority),
            "foreign": _client(tmp_path, "foreign", stranger),
            "ended": _client(tmp_path, "ended", authority, days=0),
            "server": _client(tmp_path, "server", authority, client=False),
        }
        await server.start()
        try:
            codes = {name: (await _ask_as(server, file))[0] for name, file in certificates.items()}
            assert codes == {"good": 200, "foreign": 401, "ended": 401, "server": 401}
            assert (await _ask_as(server, None))[0] == (200 if anonymous else 401)
        finally:
            await server.stop()

    asyncio.run(check())


def test_a_renewed_certificate_is_served_at_once(tmp_path: Path) -> None:
    async def check() -> None:
        server, authority = _with_tls(tmp_path)
        own = _client(tmp_path, "good", authority)
        await server.start()
        try:
            _, before = await _ask_as(server, own)
            pem = tmp_path / "pki" / "kubelet-server-current.pem"
            tls.ensure_joined_pair(pem, authority, "system:node:node", ["node", "127.0.0.1"])
            server.reload(pem)
            _, after = await _ask_as(server, own)
            assert after != before and after == ssl.PEM_cert_to_DER_cert(
                pem.read_text().partition("-----BEGIN EC")[0].strip()
            )
            tls.ensure_joined_pair(pem, authority, "system:node:node", ["node", "127.0.0.1", "another"])
            assert (await _ask_as(server, own))[1] not in (before, after)  # files are followed by themselves
        finally:
            await server.stop()

    asyncio.run(check())


async def test_requests_have_spans_of_their_own() -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    with collecting() as (collector, endpoint):
        node = kubelet(authentication={"anonymous": {"enabled": True}})
        node.context.spans = Tracer(
            TracingSettings(endpoint, 1_000_000), {"service.name": "kubelet"}, "a test"
        )
        server = KubeletServer(node)
        port = await server._server.start("127.0.0.1", 0)
        told = f"traceparent: 00-{trace}-b7ad6b7169203331-01\r\n"
        for path in ("/pods", "/containerLogs/default/pod/container", "/nothing"):
            await ask(port, path, headers=told)
        await server.stop()
        await asyncio.to_thread(node.context.spans.close)
    assert len(collector.spans) == 2
    (pods,) = collector.named("/pods")
    (logs,) = collector.named("/containerLogs/{podNamespace}/{podID}/{containerName}")
    codes = [
        {item.key: item.value.int_value for item in span.attributes}["http.response.status_code"]
        for span in (pods, logs)
    ]
    assert codes == [200, 404] and attributes(logs)["url.path"] == "/containerLogs/default/pod/container"
    # The client's span is linked and not gone on with: it does not decide what is recorded here.
    assert pods.trace_id.hex() != trace and not pods.parent_span_id
    assert [link.trace_id.hex() for link in pods.links] == [trace]


async def test_requests_are_counted_under_names_of_ours() -> None:
    node = kubelet(authentication={"anonymous": {"enabled": False}})
    server = KubeletServer(node)
    port, opened = await server._server.start("127.0.0.1", 0), await server._open.start("127.0.0.1", 0)
    for number, path, method in (
        (port, "/pods", "GET"),
        (port, "/a%22b/c", "OPTIONS"),
        (opened, "/pods", "GET"),
        (port, "/exec/a/b/c", "POST"),
    ):
        await ask(number, path, method)
    await server.stop()
    counted = {
        tuple(dict(labels).values()): count
        for labels, count in node.context.metrics.counters["kubelet_http_requests_total"].items()
    }
    assert counted == {
        ("false", "GET", "pods", "readwrite"): 1,
        ("false", "other", "other", "readwrite"): 1,
        ("false", "GET", "pods", "readonly"): 1,
        ("true", "POST", "exec", "readwrite"): 1,
    }
