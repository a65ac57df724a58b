"""What discovery and OpenAPI say of a subresource: the kind that it speaks and the verbs that it has."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api.resource import Resource


class SubresourceKind(NamedTuple):
    """A subresource of one resource; an empty group and version mean those of the resource."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


_READ_WRITE = ("get", "patch", "update")
_CONNECT = ("create", "get")  # exec and the like: both open the same stream
_PROXY = ("create", "delete", "get", "patch", "update")

# name: kind ("{kind}" is the resource's own), verbs, group, version
_KNOWN: dict[str, tuple[str, tuple[str, ...], str, str]] = {
    "approval": ("{kind}", _READ_WRITE, "", ""),
    "attach": ("{kind}AttachOptions", _CONNECT, "", ""),
    "binding": ("Binding", ("create",), "", ""),
    "ephemeralcontainers": ("{kind}", _READ_WRITE, "", ""),
    "eviction": ("Eviction", ("create",), "policy", "v1"),
    "exec": ("{kind}ExecOptions", _CONNECT, "", ""),
    "finalize": ("{kind}", ("update",), "", ""),
    "log": ("{kind}", ("get",), "", ""),
    "portforward": ("{kind}PortForwardOptions", _CONNECT, "", ""),
    "proxy": ("{kind}ProxyOptions", _PROXY, "", ""),
    "resize": ("{kind}", _READ_WRITE, "", ""),
    "scale": ("Scale", _READ_WRITE, "autoscaling", "v1"),
    "status": ("{kind}", _READ_WRITE, "", ""),
    "token": ("TokenRequest", ("create",), "authentication.k8s.io", "v1"),
}
_UNKNOWN = ("{kind}", _READ_WRITE, "", "")
# Subresources that carry a stream or another program's answer instead of an object.
CONNECTS = frozenset({"attach", "exec", "portforward", "proxy"})


def verbs(name: str) -> tuple[str, ...]:
    """Return what can be done with a subresource."""
    return _KNOWN.get(name, _UNKNOWN)[1]


def describe(resource: Resource, name: str) -> SubresourceKind:
    """Return what a subresource of a resource speaks; one that is not known reads and writes the resource's kind."""
    kind, verbs, group, version = _KNOWN.get(name, _UNKNOWN)
    return SubresourceKind(name, kind.format(kind=resource.kind), verbs, group, version)


def of(resource: Resource) -> list[SubresourceKind]:
    """Return every subresource of a resource, by name."""
    return [describe(resource, name) for name in sorted(resource.subresources)]
