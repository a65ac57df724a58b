"""Spans of a real server at a real OTLP receiver, and files that say no such thing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.api.request_info import parse
from pybernetes.control_plane.apiserver.observability import tracing
from pybernetes.control_plane.apiserver.observability.tracing import TracedHttpClient, Tracer, TracingSettings
from pybernetes.lib.http.client import Peer
from pybernetes.lib.http.dialer import direct
from tests.lib.span_collector import collecting
from tests.servers import TOKEN, running

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADER = {"traceparent": f"00-{TRACE}-{PARENT}-01"}


def configuration(directory: Path, **fields: Any) -> str:
    lines = ["apiVersion: apiserver.config.k8s.io/v1", "kind: TracingConfiguration"]
    (directory / "tracing.yaml").write_text(
        "\n".join([*lines, *(f"{name}: {value}" for name, value in fields.items())])
    )
    return str(directory / "tracing.yaml")


def test_spans_of_a_server(tmp_path: Path) -> None:
    with collecting() as (collector, endpoint):
        file = configuration(tmp_path, endpoint=endpoint, samplingRatePerMillion=1000000)
        (tmp_path / "more.csv").write_text(f'{TOKEN},admin,admin,"system:masters"\nbobs-token,bob,bob\n')
        with running(
            tmp_path, f"--tracing-config-file={file}", f"--token-auth-file={tmp_path / 'more.csv'}"
        ) as server:
            for token, body in ((TOKEN, '{"metadata":{"name":"a"}}'), ("bobs-token", "{}")):
                connection = server.connection()
                headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **HEADER}
                connection.request("POST", "/api/v1/namespaces/default/configmaps", body, headers)
                connection.getresponse().read()
                connection.close()
        name = "POST /api/v1/namespaces/{:namespace}/configmaps"
        own, other = sorted(collector.named(name), key=lambda span: span.trace_id.hex() != TRACE)
        assert own.trace_id.hex() == TRACE and own.parent_span_id.hex() == PARENT
        codes = [
            {item.key: item.value for item in span.attributes}["http.response.status_code"].int_value
            for span in (own, other)
        ]
        assert codes == [201, 403]
        assert own.span_id in [span.parent_span_id for span in collector.named("Create etcd3")]
        assert not collector.named("Admission")  # of kinds whose writes are not timed
        # Others than administrators get spans of their own, linked to theirs.
        assert other.trace_id.hex() != TRACE and not other.parent_span_id
        assert [link.trace_id.hex() for link in other.links] == [TRACE]


def test_admission_of_a_pod_is_a_span_of_its_own(tmp_path: Path) -> None:
    with collecting() as (collector, endpoint):
        file = configuration(tmp_path, endpoint=endpoint, samplingRatePerMillion=1000000)
        with running(tmp_path, f"--tracing-config-file={file}") as server:
            connection = server.connection()
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            body = '{"metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
            connection.request("POST", "/api/v1/namespaces/default/pods", body, headers)
            assert connection.getresponse().status == 201
            connection.close()
        (request,) = collector.named("POST /api/v1/namespaces/{:namespace}/pods")
        (admission,) = collector.named("Admission")
        assert (admission.parent_span_id, admission.trace_id) == (request.span_id, request.trace_id)


async def test_calls_of_other_servers_are_told_of_the_span() -> None:
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    with collecting() as (collector, endpoint):
        tracer = Tracer(TracingSettings(endpoint, 1_000_000), "server")
        client = TracedHttpClient(tracer, direct)
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            peer = Peer("127.0.0.1", server.sockets[0].getsockname()[1], None)
            with tracer.part("Call webhook", {}):
                await client.send(peer, "POST", "/review?timeout=5s", b"", {}, 10)
            client.close()
        await asyncio.to_thread(tracer.close)
        call, whole = collector.named("HTTP POST")[0], collector.named("Call webhook")[0]
    assert call.parent_span_id == whole.span_id
    assert f"traceparent: 00-{call.trace_id.hex()}-{call.span_id.hex()}-0".encode() in heads[0]


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/version", "GET"),
        ("GET", "/api/v1/nodes/n", "GET /api/v1/nodes/{:name}"),
        ("PUT", "/apis/apps/v1/namespaces/a/deployments/b/scale", "PUT /apis/apps/v1/namespaces/{:namespace}/deployments/{:name}/scale"),
    ],
)  # fmt: skip
def test_names_of_spans(method: str, path: str, name: str) -> None:
    request: Any = SimpleNamespace(method=method, request_info=parse(method, path, False))
    assert tracing.span_name(request) == name


def test_the_defaults(tmp_path: Path) -> None:
    assert tracing.load(configuration(tmp_path)) == TracingSettings("localhost:4317", 0)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"samplingRatePerMillion": -1}, 'samplingRatePerMillion: Invalid value: -1: sampling rate must be positive'),
        ({"samplingRatePerMillion": 1000001}, 'samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million'),
        ({"endpoint": "https://a"}, 'endpoint: Invalid value: "https://a": unsupported scheme: https'),
        ({"endpoints": "a"}, 'strict decoding error: unknown field "endpoints"'),
        ({"samplingRatePerMillion": "many"}, "unable to decode tracing configuration data"),
    ],
)  # fmt: skip
def test_files_that_make_no_sense(fields: dict[str, Any], problem: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="tracing config") as error:
        tracing.load(configuration(tmp_path, **fields))
    assert problem in str(error.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"unable to read tracing configuration from .*no such file"):
        tracing.load(str(tmp_path / "nothing"))
