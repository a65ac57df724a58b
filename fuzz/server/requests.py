"""Requests for an API server: every verb on every kind, bodies and parameters nearly right, as bytes for one connection."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import quote

import orjson
import yaml

from fuzz.engine import mutations
from fuzz.server.values import mutated
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Resource
from tests.api.examples import every_example

NAMESPACES = ("fuzz", "fuzz-other")
# Names that objects get: few, so that what is written is found again.
_NAMES = tuple(f"fuzz-{number}" for number in range(24))
# What would change how the server answers everything else is only tried, never stored.
_ONLY_TRIED = frozenset((
    "admissionregistration.k8s.io", "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io", "apiextensions.k8s.io",
    "rbac.authorization.k8s.io",
))  # fmt: skip
_ONLY_TRIED_KINDS = frozenset(("Namespace", "ResourceQuota", "LimitRange", "ServiceCIDR", "IPAddress"))
_PATCHES = (
    b"application/json-patch+json", b"application/merge-patch+json", b"application/strategic-merge-patch+json",
    b"application/apply-patch+yaml",
)  # fmt: skip
_ACCEPTS = (
    b"application/json", b"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", b"*/*", b"application/yaml", b"",
    b"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", b"application/vnd.kubernetes.protobuf", b"a/b;q=x,,;",
)  # fmt: skip
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "limit": ("1", "0", "-1", "5", "x", "9223372036854775808"),
    "continue": ("a", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0", "%00"),
    "resourceVersion": ("0", "1", "5", "-1", "x"),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "labelSelector": ("a=b", "a in (b,c),!d", "a==", "((", "a notin ()", "é=1", "x" * 300, ",".join(f"k{n}=v" for n in range(50))),
    "fieldSelector": ("metadata.name=fuzz-0", "metadata.namespace!=x", "spec.x=1", "a\\", "=", "status.phase=Running"),
    "dryRun": ("All", "x", ""),
    "fieldManager": ("fuzz", "", "x" * 200, "é\n"),
    "fieldValidation": ("Strict", "Warn", "Ignore", "x"),
    "force": ("true", "false", "x"),
    "gracePeriodSeconds": ("0", "-1", "30", "x"),
    "propagationPolicy": ("Orphan", "Background", "Foreground", "x"),
    "pretty": ("true", "x"),
    "timeout": ("1s", "0", "-1s", "x", "1000h"),
    "includeObject": ("Metadata", "None", "x"),
    "sendInitialEvents": ("true", "x"),
    "allowWatchBookmarks": ("true",),
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """A request as bytes, and what to make of its answer."""

    data: bytes
    method: str
    title: str


class Maker:
    """Makes requests; the same seed gives the same ones."""

    def __init__(self, seed: int, token: str) -> None:
        self.random = Random(f"requests {seed}")
        self._token = token.encode()
        self._resources = {(resource.api_version, resource.kind): resource for resource in builtin()}
        self._examples = [
            example
            for example in every_example()
            if (example["apiVersion"], example["kind"]) in self._resources
        ]

    def next(self) -> Request:
        """Return a request whose framing is right."""
        random = self.random
        example = random.choice(self._examples)
        resource = self._resources[example["apiVersion"], example["kind"]]
        verb = random.choice(_VERBS)
        namespace = random.choice(NAMESPACES)
        name = random.choice(_NAMES)
        query = self._query()
        if self._is_only_tried(resource) and verb not in ("get", "list"):
            query = "dryRun=All" + (f"&{query.replace('dryRun', 'x')}" if query else "")
        if verb == "create":
            body, kind = self._body(resource, example, namespace, name)
            return self._request("POST", self._path(resource, namespace), query, body, kind)
        if verb == "list":
            return self._request("GET", self._path(resource, random.choice((namespace, ""))), query)
        path = f"{self._path(resource, namespace)}/{name if random.random() < 0.97 else self._strange_name()}{self._subresource(resource, verb)}"
        if verb == "get":
            return self._request(random.choice(("GET", "GET", "GET", "HEAD")), path, query)
        if verb == "delete":
            body = orjson.dumps(mutated(random, _DELETE, self._examples)) if random.random() < 0.5 else b""
            return self._request("DELETE", path, query, body)
        if verb == "update":
            body, kind = self._body(resource, example, namespace, name)
            return self._request("PUT", path, query, body, kind)
        media = random.choice(_PATCHES)
        if media == _PATCHES[3]:
            query += f"{'&' if query else ''}fieldManager=fuzz&force=true"
        return self._request("PATCH", path, query, self._patch(media, example), media)

    def odd(self) -> bytes:
        """Return bytes that begin as a request and are changed anywhere, their framing included."""
        requests = [self.next().data for _ in range(3)]
        return mutations.mutate(self.random, requests, _WORDS, 32 << 10)

    def clean_up(self) -> list[Request]:
        """Return requests that delete what the others may have made."""
        return [
            self._request("DELETE", self._path(resource, namespace), "gracePeriodSeconds=0")
            for resource in self._resources.values()
            if "deletecollection" in resource.verbs and not self._is_only_tried(resource)
            for namespace in (NAMESPACES if resource.namespaced else ("",))
        ]

    def _is_only_tried(self, resource: Resource) -> bool:
        return resource.group in _ONLY_TRIED or resource.kind in _ONLY_TRIED_KINDS

    def _path(self, resource: Resource, namespace: str) -> str:
        root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
        inside = f"/namespaces/{namespace}" if resource.namespaced and namespace else ""
        return f"{root}{inside}/{resource.plural}"

    def _subresource(self, resource: Resource, verb: str) -> str:
        if self.random.random() < 0.85:
            return ""
        return "/" + self.random.choice(
            (
                "status",
                "scale",
                "status",
                "approval",
                "eviction",
                "binding",
                "token",
                "finalize",
                "resize",
                "x",
            )
        )

    def _strange_name(self) -> str:
        return quote(self.random.choice(("..", "é", "a b", "%", "x" * 300, "A", "system:node", "\x00")))

    def _query(self) -> str:
        random = self.random
        if random.random() < 0.6:
            return ""
        names = random.sample(sorted(_PARAMETERS), random.choice((1, 1, 2, 3)))
        return "&".join(f"{name}={quote(random.choice(_PARAMETERS[name]))}" for name in names)

    def _body(self, resource: Resource, example: Any, namespace: str, name: str) -> tuple[bytes, bytes]:
        random = self.random
        value = mutated(random, example, self._examples) if random.random() < 0.8 else dict(example)
        meta = value.get("metadata") if isinstance(value, dict) else None
        if isinstance(meta, dict):
            meta = value["metadata"] = {
                key: item for key, item in meta.items() if key not in ("generateName", "finalizers")
            }
            if resource.kind != "CustomResourceDefinition":
                meta["name"] = name
            if resource.namespaced and random.random() < 0.95:
                meta["namespace"] = namespace
        choice = random.random()
        try:
            data = orjson.dumps(value)
        except TypeError:
            data = b"{}"
        if choice < 0.05:
            return mutations.mutate(random, [data], _WORDS, 32 << 10), b"application/json"
        if choice < 0.08:
            return yaml.dump(orjson.loads(data), Dumper=_DUMPER).encode(), b"application/yaml"
        if choice < 0.1:
            return mutations.mutate(
                random, [b"k8s\0\n\x0e\n\x02v1\x12\x03Pod\x12\x05\n\x03\n\x01a"], _WORDS, 4096
            ), b"application/vnd.kubernetes.protobuf"
        return data, b"application/json"

    def _patch(self, media: bytes, example: Any) -> bytes:
        random = self.random
        if media == _PATCHES[0]:
            operations = [
                {"op": random.choice(("add", "replace", "remove", "test", "copy", "move", "x")), "path": random.choice(_POINTERS),
                 "from": random.choice(_POINTERS), "value": _value(random, example)}
                for _ in range(random.choice((1, 1, 2, 5)))
            ]  # fmt: skip
            return orjson.dumps(operations)
        value = mutated(random, example, self._examples)
        if isinstance(value, dict) and isinstance(value.get("metadata"), dict):
            value["metadata"].pop("finalizers", None)
            if media != _PATCHES[3]:
                value["metadata"].pop("name", None)
        data = orjson.dumps(value)
        if random.random() < 0.2:
            data = data.replace(
                b'"name":',
                random.choice(
                    (
                        b'"$patch":"delete","name":',
                        b'"$patch":"replace","name":',
                        b'"$retainKeys":["name"],"name":',
                    )
                ),
                2,
            )
        return data

    def _request(
        self, method: str, path: str, query: str = "", body: bytes = b"", media: bytes = b"application/json"
    ) -> Request:
        random = self.random
        target = f"{path}?{query}" if query else path
        lines = [
            f"{method} {target} HTTP/1.1".encode(),
            b"Host: fuzz",
            b"Authorization: Bearer " + self._token,
        ]
        accept = random.choice(_ACCEPTS) if random.random() < 0.15 else _ACCEPTS[0]
        lines.append(b"Accept: " + accept)
        if random.random() < 0.05:
            lines.append(random.choice(_HEADERS))
        if body or method in ("POST", "PUT", "PATCH"):
            lines += [
                b"Content-Type: " + (media if random.random() < 0.98 else b"text/x"),
                b"Content-Length: %d" % len(body),
            ]
        return Request(b"\r\n".join(lines) + b"\r\n\r\n" + body, method, f"{method} {target}")


def _value(random: Random, example: Any) -> Any:
    return (
        mutated(random, {"value": example.get("spec", "x")}, [example])
        if random.random() < 0.5
        else random.choice(_SIMPLE)
    )


_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_SIMPLE: tuple[Any, ...] = (None, 1, "a", [], {}, True, {"a": "b"}, "x" * 100)
_VERBS = ("create",) * 6 + ("patch",) * 5 + ("update",) * 4 + ("get",) * 2 + ("list",) + ("delete",) * 2
_DELETE = {
    "kind": "DeleteOptions",
    "apiVersion": "v1",
    "gracePeriodSeconds": 0,
    "preconditions": {"uid": "a"},
    "propagationPolicy": "Background",
}
_POINTERS = (
    "", "/", "/metadata", "/metadata/labels", "/metadata/labels/a", "/metadata/name", "/metadata/annotations", "/spec", "/spec/containers/0/image",
    "/spec/containers/-", "/spec/template/spec", "/data/key", "/status", "/kind", "/metadata/ownerReferences", "/~1", "/spec/ports/0", "/x/y/z",
    "/metadata/managedFields", "/metadata/managedFields/0", "/metadata/resourceVersion", "/metadata/uid", "/metadata/creationTimestamp",
)  # fmt: skip
_HEADERS = (
    b"Impersonate-User: somebody", b"Impersonate-User:", b"Impersonate-Group: a", b"Impersonate-Uid: x", b"Impersonate-Extra-A: b",
    b"If-None-Match: *", b"Accept-Encoding: gzip", b"User-Agent: " + b"x" * 500, b"Audit-ID: \xff", b"X-Remote-User: root", b"Range: bytes=0-1",
    b"Accept: application/json", b"Connection: keep-alive", b"Cookie: a=b", b"Priority: u=1",
)  # fmt: skip
_WORDS = (
    b"\r\n", b"\r\n\r\n", b"HTTP/1.1", b"HTTP/1.0", b"Content-Length: 9\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: a\r\n", b"watch=true&timeoutSeconds=1",
    b"/api/v1/", b"?", b"&", b"=", b"%2f", b"%00", b"{", b"}", b"[", b'"', b":", b"null", b"\0", b"Upgrade: websocket\r\nConnection: upgrade\r\n", b"0\r\n\r\n",
    b"/openapi/v2", b"/metrics", b"/apis", b"/readyz?verbose", b"/version", b"POST", b"GET", b"DELETE", b"OPTIONS", b"CONNECT",
)  # fmt: skip
