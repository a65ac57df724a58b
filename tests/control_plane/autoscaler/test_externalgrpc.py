"""Upstream's protocol to clouds: our client against our server, over TLS, and what may go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf import descriptor_pool

from pybernetes.control_plane.autoscaler.externalgrpc import config, messages
from pybernetes.control_plane.autoscaler.externalgrpc.client import ExternalGrpcProvider
from pybernetes.control_plane.autoscaler.externalgrpc.config import CloudConfig
from pybernetes.control_plane.autoscaler.externalgrpc.server import CloudServer
from pybernetes.control_plane.autoscaler.provider import (
    CREATING,
    RUNNING,
    CloudError,
    GroupOptions,
    Instance,
    NodeGroup,
    NodeReference,
    NotImplementedByCloud,
)
from pybernetes.lib.tls import tls
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup


@asynccontextmanager
async def served(cloud: Any, keys: Any = None) -> AsyncIterator[int]:
    server = CloudServer(cloud)
    port = server.listen("127.0.0.1:0", keys)
    await server.start()
    try:
        yield port
    finally:
        await server.stop()


async def test_everything_that_is_said_arrives() -> None:
    cloud = FakeCloud(a=FakeGroup(1, 5, 2, labels={"x": "y"}), b=FakeGroup())
    cloud.give("a", 2)
    broken = Instance("fake://broken", CREATING, "QUOTA", "no more", 1)
    cloud.groups["a"].instances.append(broken)
    async with served(cloud) as port:
        client = ExternalGrpcProvider(CloudConfig(f"127.0.0.1:{port}"))
        await client.refresh()
        assert await client.node_groups() == [NodeGroup("a", 1, 5), NodeGroup("b", 0, 5)]
        assert await client.group_of(NodeReference("n", "id", {"group": "a"})) == "a"
        assert await client.group_of(NodeReference("n", "id")) == ""
        assert await client.target_size("a") == 2
        assert await client.instances("a") == [
            Instance("fake://a-0", RUNNING), Instance("fake://a-1", RUNNING), broken
        ]  # fmt: skip
        template = await client.template("a")
        assert template is not None
        assert template["metadata"]["labels"]["x"] == "y"
        assert template["status"]["allocatable"]["cpu"] == "2"
        assert await client.options("a", GroupOptions(unneeded_seconds=7)) == GroupOptions(unneeded_seconds=7)
        await client.increase("b", 2)
        await client.delete_nodes("a", [NodeReference("n", "fake://a-0")])
        with pytest.raises(CloudError, match="there are such machines"):
            await client.decrease_target("b", -1)
        with pytest.raises(CloudError, match="must be positive"):
            await client.increase("b", 0)
        with pytest.raises(NotImplementedByCloud):
            await client.node_price(NodeReference("n"), 3600)
        cloud.down = "on fire"
        with pytest.raises(CloudError, match="desc = on fire"):
            await client.refresh()
        await client.close()
    assert cloud.calls == [("increase", "b", 2), ("delete", "a", ["fake://a-0"]), ("decrease", "b", -1)]


async def test_only_who_has_a_certificate_of_the_authority_is_heard(tmp_path: Path) -> None:
    authority, other = tls.create_authority("clouds"), tls.create_authority("others")
    server = tls.issue(authority, "cloud", names=["localhost"], server=True)
    cloud = FakeCloud(a=FakeGroup())
    async with served(cloud, (server.key, server.certificate, authority.certificate)) as port:
        for issuer, heard in ((authority, True), (other, False)):
            own = tls.issue(issuer, "autoscaler", client=True)
            for name, data in (
                ("key", own.key),
                ("cert", own.certificate),
                ("cacert", authority.certificate),
            ):
                (tmp_path / name).write_bytes(data)
            file = tmp_path / "cloud.yaml"
            names = "".join(f"{name}: {tmp_path / name}\n" for name in ("key", "cert", "cacert"))
            file.write_text(f"address: localhost:{port}\n{names}grpc_timeout: 10s\n")
            client = ExternalGrpcProvider(config.read(file))
            if heard:
                assert len(await client.node_groups()) == 1
            else:
                with pytest.raises(CloudError):
                    await client.node_groups()
            await client.close()
        plain = ExternalGrpcProvider(CloudConfig(f"localhost:{port}", seconds=10))
        with pytest.raises(CloudError):
            await plain.node_groups()
        await plain.close()


async def test_a_cloud_that_is_not_there_or_lies_is_an_error() -> None:
    nobody = ExternalGrpcProvider(CloudConfig("127.0.0.1:1", seconds=2))
    with pytest.raises(CloudError):
        await nobody.refresh()
    await nobody.close()
    async with served(FakeCloud(a=FakeGroup(5, 1))) as port:
        liar = ExternalGrpcProvider(CloudConfig(f"127.0.0.1:{port}"))
        with pytest.raises(CloudError, match="a group that cannot be"):
            await liar.node_groups()
        await liar.close()


def _options(**fields: Any) -> Any:
    answer = messages.response("NodeGroupGetOptions")()
    chosen = messages.CLASSES["NodeGroupAutoscalingOptions"](**fields)
    answer.nodeGroupAutoscalingOptions.CopyFrom(chosen)
    return answer


def _groups(*groups: tuple[str, int, int]) -> Any:
    made = [
        messages.CLASSES["NodeGroup"](id=name, minSize=least, maxSize=most) for name, least, most in groups
    ]
    return messages.response("NodeGroups")(nodeGroups=made)


def _machines(*ids: str) -> Any:
    made = [messages.CLASSES["Instance"](id=name) for name in ids]
    return messages.response("NodeGroupNodes")(instances=made)


def _size(size: int) -> Any:
    return messages.response("NodeGroupTargetSize")(targetSize=size)


@pytest.mark.parametrize(
    ("method", "arguments", "answer", "complaint"),
    [
        ("node_groups", (), _groups(("a", -1, 5)), "a group that cannot be"),
        ("node_groups", (), _groups(("a", 0, 5), ("a", 0, 9)), "two groups with the name a"),
        ("node_groups", (), _groups(("", 0, 5)), "without a name"),
        ("node_groups", (), _groups(("a" * 2000, 0, 5)), "longer than 1024"),
        ("node_groups", (), _groups(*((f"g{number}", 0, 5) for number in range(2001))), "more than 2000 groups"),
        ("target_size", ("a",), _size(-3), "a size of a that cannot be: -3"),
        ("target_size", ("a",), _size(2**31 - 1), "a size of a that cannot be"),
        ("instances", ("a",), _machines("i", "i"), "two machines of a with the name i"),
        ("instances", ("a",), _machines("i", ""), "without a name"),
        ("instances", ("a",), _machines(*(f"machine-{number:0170}" for number in range(100_000))), "RESOURCE_EXHAUSTED"),
        ("options", ("a", GroupOptions()), _options(scaleDownUtilizationThreshold=float("nan")), "options of a that cannot"),
        ("options", ("a", GroupOptions()), _options(scaleDownUtilizationThreshold=-1), "options of a that cannot be"),
        ("options", ("a", GroupOptions()), _options(zeroOrMaxNodeScaling=True), "zeroOrMaxNodeScaling is not supported"),
        ("template", ("a",), messages.response("NodeGroupTemplateNodeInfo")(nodeBytes=b"\xff" * 99), "is no Node"),
        ("target_size", ("slow",), None, "DEADLINE_EXCEEDED"),
        ("node_groups", (), b"\xff\xff\xff\xff", "what the cloud answers to NodeGroups cannot be read"),
        ("instances", ("a",), b"\x0a\x03\x0a\x01\xff", "what the cloud answers to NodeGroupNodes cannot be read"),
    ],
)  # fmt: skip
async def test_a_hostile_cloud_is_refused(method: str, arguments: Any, answer: Any, complaint: str) -> None:
    server = grpc.aio.server()

    async def say(request: Any, context: Any) -> Any:
        return answer if answer is not None else await asyncio.Event().wait()

    handlers = {
        name: grpc.unary_unary_rpc_method_handler(
            say,
            request_deserializer=messages.request(name).FromString,
            response_serializer=lambda said: said if isinstance(said, bytes) else said.SerializeToString(),
        )
        for name in messages.METHODS
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(messages.SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    client = ExternalGrpcProvider(CloudConfig(f"127.0.0.1:{port}", seconds=0.2 if answer is None else 30.0))
    try:
        with pytest.raises(CloudError, match=complaint) as error:
            await getattr(client, method)(*arguments)
        assert len(str(error.value)) < 1024
    finally:
        await client.close()
        await server.stop(0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("address: host", "failed to parse address"),
        ("address: [", "can't parse YAML"),
        ("adress: host:1", "unknown field 'adress'"),
        ("address: host:1\ncert: /none\nkey: /none\ncacert: /none", "No such file"),
        ("address: host:1\ngrpc_timeout: soon", "invalid duration"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "cloud.yaml"
    file.write_text(text)
    with pytest.raises((ValueError, OSError), match=complaint):
        config.read(file)


def test_messages_have_upstreams_numbers() -> None:
    node = messages.CLASSES["ExternalGrpcNode"](providerID="p", name="n", labels={"a": "b"})
    assert node.SerializeToString() == b"\n\x01p\x12\x01n\x1a\x06\n\x01a\x12\x01b"
    message = descriptor_pool.Default().FindMessageTypeByName(
        f"{messages.PACKAGE}.NodeGroupTemplateNodeInfoResponse"
    )
    assert message.fields_by_name["nodeBytes"].number == 2
    assert len(messages.METHODS) == 15
