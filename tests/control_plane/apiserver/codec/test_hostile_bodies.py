"""Bodies that are meant to stall the server: each is answered with a client's error, and none holds the event loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Server, longest_turn, running

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
CONFIG_MAPS, PODS = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/pods"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
# Far more than a turn may take, and far less than each of these took: the machine may be busy.
MOST_SECONDS = 0.35


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server whose event loop is watched."""
    flags = ("--storage-backend=memory", "--event-loop-watchdog=20ms")
    with running(tmp_path_factory.mktemp("watched"), *flags) as server:
        yield server


def filled(start: bytes, part: bytes, end: bytes = b"", size: int = 3 << 20) -> bytes:
    """Return a text of a size, made of repeated parts."""
    return start + part * ((size - len(start) - len(end)) // len(part)) + end


BODIES: dict[str, tuple[str, str, Callable[[], bytes], int]] = {
    "duplicate keys": (CONFIG_MAPS, JSON, lambda: filled(b'{"data":{', b'"a":"",', b'"a":""}}', 600_000), 422),
    "duplicate keys below a long one": (
        CONFIG_MAPS, JSON,
        lambda: filled(b'{"data":{"a":"b"},"' + b"k" * 65_000 + b'":[', b'{"a":1,"a":1},', b"1]}", 400_000), 422,
    ),
    "many duplicate keys": (CONFIG_MAPS, JSON, lambda: filled(b'{"data":{', b'"a":"",', b'"a":""}}'), 422),
    "many objects": (CONFIG_MAPS, JSON, lambda: filled(b'{"data":[', b"{},", b"1]}"), 400),
    "many items": (CONFIG_MAPS, JSON, lambda: filled(b'{"data":[', b"1,", b"1]}"), 400),
    "too many objects": (CONFIG_MAPS, JSON, lambda: filled(b'{"data":{},"x":[', b"[],", b"1]}"), 400),
    "many objects inside of a text": (CONFIG_MAPS, JSON, lambda: filled(b'{"metadata":{"name":"y"},"data":{"a":"', b"[],", b'"}}'), 422),
    "many messages of protobuf": (PODS, PROTOBUF, lambda: filled(b"k8s\0\x12\x84\x89\x7a\x12\x80\x89\x7a", b"\x12\0", b"", 2_000_000 + 12), 400),
    "malformed": (CONFIG_MAPS, JSON, lambda: filled(b"[", b"[1],", b"x"), 400),
    "nested": (CONFIG_MAPS, JSON, lambda: b'{"data":' + b"[" * 10_000 + b"]" * 10_000 + b"}", 400),
    "nested without an end": (CONFIG_MAPS, JSON, lambda: b"[" * (3 << 20), 400),
    "a number without an end": (CONFIG_MAPS, JSON, lambda: b'{"data":{"a":1' + b"0" * 100_000 + b"}}", 400),
    "no numbers": (CONFIG_MAPS, JSON, lambda: b'{"data":{"a":[NaN,Infinity,-Infinity]}}', 400),
    "halves of characters": (CONFIG_MAPS, JSON, lambda: filled(b'{"data":{"a":"', b"\\ud800", b'"}}', 300_000), 422),
    "a long key": (CONFIG_MAPS, JSON, lambda: filled(b'{"metadata":{"name":"x"},"data":{"', b"k", b'":""}}'), 422),
    "NUL": (CONFIG_MAPS, JSON, lambda: b'{"metadata":{"name":"a\\u0000b"}}', 422),
    "YAML": (CONFIG_MAPS, YAML, lambda: filled(b"", b"- a\n", b"", 200_000), 400),
    "YAML of aliases of aliases": (
        CONFIG_MAPS, YAML,
        lambda: b"a0: &a0 [x,x]\n" + b"".join(b"a%d: &a%d [%b]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)),
        400,
    ),
    "YAML of aliases of a long text": (CONFIG_MAPS, YAML, lambda: b"a: &a " + b"x" * 50_000 + b"\nb: [" + b"*a, " * 20_000 + b"]", 400),
    "YAML of directives": (CONFIG_MAPS, YAML, lambda: filled(b"", b"%TAG !a! b\n", b"--- 1\n"), 400),
    "YAML of a long number": (CONFIG_MAPS, YAML, lambda: b"data: {a: 0x" + b"f" * 1_000_000 + b"}\n", 422),
    "protobuf of empty fields": (PODS, PROTOBUF, lambda: filled(b"k8s\0\x12\xc0\xde\x34", b"\x12\0", b"", 400_000), 400),
    "containers": (PODS, JSON, lambda: filled(b'{"metadata":{"name":"x"},"spec":{"containers":[', b"{},", b"{}]}}", 100_000), 422),
    "owners": (PODS, JSON, lambda: filled(b'{"metadata":{"name":"x","ownerReferences":[', b'{"controller":true},', b"{}]}}", 400_000), 422),
    "a quantity": (
        PODS, JSON,
        lambda: b'{"metadata":{"name":"x"},"spec":{"overhead":{"cpu":"' + b"1" * 1_000_000 + b'"},"containers":[]}}', 400,
    ),
    "an exponent": (PODS, JSON, lambda: b'{"metadata":{"name":"x"},"spec":{"overhead":{"cpu":"1e999999999"}}}', 400),
    "YAML that merges one map again and again": (
        CONFIG_MAPS, YAML, lambda: b"a: &a {" + b",".join(b"k%d: 1" % n for n in range(900)) + b"}\nb:\n" + b"- <<: *a\n" * 880, 400,
    ),
    "a small text of many containers": (
        PODS, JSON, lambda: filled(b'{"metadata":{"name":"x"},"spec":{"containers":[', b"{},", b"{}]}}", 16_000), 422,
    ),
    "a review": (REVIEWS, JSON, lambda: filled(b'{"spec":{"resourceAttributes":{"verb":"', b"a", b'"}}}'), 201),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_it_is_refused_and_holds_nobody_up(watched: Server, name: str) -> None:
    """CVE-2019-11253 (aliases of YAML), CVE-2022-3064 (its size), CVE-2020-8552 and the like."""
    path, media, make, wanted = BODIES[name]
    status, answer = watched.call("POST", path, make(), headers={"Content-Type": media})
    assert status == wanted, str(answer)[:500]
    assert longest_turn(watched) < (MOST_SECONDS, "")


def test_a_patch_of_many_operations_holds_nobody_up(watched: Server) -> None:
    """CVE-2019-1002100: a JSON patch costs as much as its bytes say."""
    data = {f"k{number}": "" for number in range(30_000)}
    assert watched.call("POST", CONFIG_MAPS, {"metadata": {"name": "large"}, "data": data})[0] == 201
    operations: list[dict[str, Any]] = [
        {"op": "add", "path": f"/data/n{number}", "value": ""} for number in range(10_000)
    ]
    patch = {"Content-Type": "application/json-patch+json"}
    target = f"{CONFIG_MAPS}/large"
    assert watched.call("PATCH", target, operations, headers=patch, query={"dryRun": "All"})[0] == 200
    assert watched.call("PATCH", target, [*operations, operations[0]], headers=patch)[0] == 413
    copies = [{"op": "copy", "from": "/data", "path": f"/data{number}"} for number in range(20)]
    assert watched.call("PATCH", target, copies, headers=patch)[0] == 422
    assert longest_turn(watched) < (MOST_SECONDS, "")


def test_a_strategic_merge_of_many_deletions_holds_nobody_up(watched: Server) -> None:
    addresses = [{"ip": f"10.0.{number >> 8}.{number & 255}", "hostnames": ["a"]} for number in range(5_000)]
    containers = [{"name": "a", "image": "a"}]
    pod = {"metadata": {"name": "x"}, "spec": {"containers": containers, "hostAliases": addresses}}
    assert watched.call("POST", PODS, pod)[0] == 201
    deletions = [{"$patch": "delete", "ip": address["ip"]} for address in addresses]
    headers = {"Content-Type": "application/strategic-merge-patch+json"}
    patch = json.dumps({"spec": {"hostAliases": deletions}})
    status, _ = watched.call("PATCH", f"{PODS}/x", patch, headers=headers)
    assert status == 422  # of a pod nothing but a few fields may change
    assert longest_turn(watched) < (MOST_SECONDS, "")


def test_what_is_large_and_right_is_stored(watched: Server, tmp_path: Path) -> None:
    """A definition of a custom resource of a megabyte is an everyday thing."""
    text = "x" * 1_000_000
    made = {"metadata": {"name": "text"}, "data": {"a": text}}
    assert watched.call("POST", CONFIG_MAPS, made)[0] == 201
    status, stored = watched.call("GET", f"{CONFIG_MAPS}/text")
    assert status == 200 and stored["data"]["a"] == text
    stored["data"]["b"] = "c"
    status, stored = watched.call("PUT", f"{CONFIG_MAPS}/text", stored)
    assert status == 200 and stored["data"]["b"] == "c"
    assert stored["metadata"]["managedFields"]
