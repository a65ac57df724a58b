"""Bodies of requests, as large as they may be, from a client that may write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from bench.harness.attacked import Attack, Attacked
from bench.harness.shared_server import ADMIN

_SIZE = 3 << 20
_CONFIG_MAPS, _PODS = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/pods"
_SERVICES, _THINGS = "/api/v1/namespaces/default/services", "/apis/bench.example/v1/namespaces/default/things"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"


def _filled(start: bytes, part: bytes, end: bytes, size: int = _SIZE) -> bytes:
    return start + part * ((size - len(start) - len(end)) // len(part)) + end


async def _send(server: Attacked, method: str, path: str, media: str, body: bytes) -> bytes:
    head = replace(server, token=ADMIN).head(path, method, known=True)
    fields = f"Content-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
    return await server.send(head + fields.encode() + body)


def _post(path: str, media: str, make: Callable[[], bytes]) -> Attack:
    made = cache(make)

    async def attack(server: Attacked) -> None:
        await _send(server, "POST", path, media, made())

    return attack


def _config_map(name: str, size: int) -> bytes:
    data = {f"k{number}": "" for number in range(size)}
    return json.dumps({"metadata": {"name": name}, "data": data}).encode()


def _service(name: str, size: int) -> bytes:
    ports = [{"name": f"p{number}", "port": number % 65535 + 1} for number in range(size)]
    return json.dumps({"metadata": {"name": name}, "spec": {"ports": ports}}).encode()


@cache
def _json_patch() -> bytes:
    operations = [{"op": "add", "path": f"/data/n{number}", "value": "v"} for number in range(10_000)]
    return json.dumps(operations).encode()


async def _patched(server: Attacked) -> None:
    await _send(server, "POST", _CONFIG_MAPS, JSON, _config_map("large", 60_000))
    await _send(
        server, "PATCH", f"{_CONFIG_MAPS}/large?dryRun=All", "application/json-patch+json", _json_patch()
    )


async def _merged(server: Attacked) -> None:
    await _send(server, "POST", _SERVICES, JSON, _service("large", 20_000))
    deletions = [{"$patch": "delete", "port": number} for number in range(20_000)]
    patch = json.dumps({"spec": {"ports": deletions}}).encode()
    await _send(
        server, "PATCH", f"{_SERVICES}/large?dryRun=All", "application/strategic-merge-patch+json", patch
    )


async def _applied(server: Attacked) -> None:
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}}
    data = {f"k{number}": "" for number in range(60_000)}
    body = json.dumps({**wanted, "data": data}).encode()
    target = f"{_CONFIG_MAPS}/applied?fieldManager=bench&force=true&dryRun=All"
    await _send(server, "PATCH", target, "application/apply-patch+yaml", body)


_LOOPS = "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))"
_THING = {
    "metadata": {"name": "things.bench.example"},
    "spec": {
        "group": "bench.example",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object",
            "properties": {
                "free": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
                "spec": {
                    "type": "object",
                    "properties": {"l": {"type": "array", "maxItems": 60, "items": {"type": "integer"}}},
                    "x-kubernetes-validations": [{"rule": _LOOPS}],
                },
            },
        }}}],
    },
}  # fmt: skip


async def _deleted(server: Attacked) -> None:
    await _send(server, "POST", _CONFIG_MAPS, JSON, _config_map("deleted", 100_000))
    deletions = (_send(server, "DELETE", f"{_CONFIG_MAPS}/deleted", JSON, b"{}") for _ in range(8))
    await asyncio.gather(*deletions)


def _containers(size: int) -> bytes:
    """Return a pod of empty containers in protobuf, which take two bytes each."""
    spec = b"\x12" + _varint(2 * size) + b"\x12\0" * size
    return b"k8s\0\x12" + _varint(len(spec)) + spec


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


async def _custom(server: Attacked, body: bytes) -> None:
    await _send(server, "POST", _DEFINITIONS, JSON, json.dumps(_THING).encode())
    await _send(server, "POST", f"{_THINGS}?dryRun=All", JSON, body)


def _custom_object(field: str, value: object) -> bytes:
    head = {"apiVersion": "bench.example/v1", "kind": "Thing", "metadata": {"generateName": "x-"}}
    return json.dumps({**head, field: value}).encode()


_NAMED = b'{"metadata":{"name":"x"},'
_ALIASES = b"a: &a " + b"x" * 50_000 + b"\nb: [" + b"*a, " * 500_000 + b"]\n"
ATTACKS: dict[str, Attack] = {
    "duplicate keys": _post(
        _CONFIG_MAPS, JSON, lambda: _filled(_NAMED + b'"data":{', b'"a":"",', b'"a":""}}')
    ),
    "duplicate keys below a long one": _post(
        _CONFIG_MAPS,
        JSON,
        lambda: _filled(b'{"' + b"k" * 65_000 + b'":[', b'{"a":1,"a":1},', b"1]}", 1 << 20),
    ),
    "malformed JSON": _post(_CONFIG_MAPS, JSON, lambda: _filled(b"[", b"[1],", b"x")),
    "JSON of many objects": _post(_CONFIG_MAPS, JSON, lambda: _filled(b'{"data":[', b"{},", b"1]}")),
    "JSON of many keys": _post(_CONFIG_MAPS, JSON, lambda: _config_map("x", 200_000)),
    "JSON without an end": _post(_CONFIG_MAPS, JSON, lambda: b"[" * _SIZE),
    "YAML": _post(_CONFIG_MAPS, YAML, lambda: _filled(b"", b"- a\n", b"")),
    "YAML of aliases": _post(_CONFIG_MAPS, YAML, lambda: _ALIASES),
    "YAML of directives": _post(_CONFIG_MAPS, YAML, lambda: _filled(b"", b"%TAG !a! b\n", b"--- 1\n")),
    "protobuf of empty fields": _post(
        _PODS, PROTOBUF, lambda: _filled(b"k8s\0\x12\xf8\xff\xbf\x01", b"\x12\0", b"")
    ),
    "protobuf of many containers": _post(_PODS, PROTOBUF, lambda: _containers(1_500_000)),
    "a pod of many containers": _post(
        _PODS, JSON, lambda: _filled(_NAMED + b'"spec":{"containers":[', b"{},", b"{}]}}")
    ),
    "a pod of many owners": _post(
        _PODS,
        JSON,
        lambda: _filled(b'{"metadata":{"name":"x","ownerReferences":[', b'{"controller":true},', b"{}]}}"),
    ),
    "a review of many fields": _post(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        JSON,
        lambda: _filled(b'{"spec":{"extra":{', b'"a":["b"],', b'"c":[]}}}'),
    ),
    "a JSON patch of a large map": _patched,
    "a strategic merge of many deletions": _merged,
    "an apply of many fields": _applied,
    "deletions of a large object": _deleted,
    "a custom resource of many objects": partial(_custom, body=_custom_object("free", [{}] * 400_000)),
    "a custom resource's set": partial(_custom, body=_custom_object("set", list(range(300_000)))),
    "a custom resource's rule": partial(_custom, body=_custom_object("spec", {"l": [1] * 60})),
}
