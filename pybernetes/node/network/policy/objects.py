"""What policies need of pods, and nothing else: a node remembers the pods of the whole cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from sys import intern
from typing import NamedTuple

from pybernetes.api.resource import Object

_MIRROR = "kubernetes.io/config.mirror"
PROTOCOLS = ("tcp", "udp", "sctp")
_FINISHED = ("Succeeded", "Failed")


class Port(NamedTuple):
    """A named port of a container."""

    name: str
    protocol: str  # in nftables' words: tcp, udp, sctp
    number: int


class Pod(NamedTuple):
    """A pod as policies see it; one that has finished or is on its node's network has no address."""

    namespace: str
    name: str
    uid: str
    node: str
    labels: Mapping[str, str]
    addresses: tuple[str, ...]
    ports: tuple[Port, ...]
    on_host: bool = False
    finished: bool = False

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


def pod(obj: Object) -> Pod:
    """Return what a Pod object says; a static pod has the identity that its kubelet gave it."""
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    on_host = bool(spec.get("hostNetwork"))
    entries = status.get("podIPs") or ([{"ip": status["podIP"]}] if status.get("podIP") else [])
    finished = status.get("phase") in _FINISHED
    return Pod(
        intern(meta["namespace"]),
        meta["name"],
        (meta.get("annotations") or {}).get(_MIRROR) or meta.get("uid") or "",
        intern(spec.get("nodeName") or ""),
        {intern(key): intern(value) for key, value in (meta.get("labels") or {}).items()},
        () if on_host or finished else parse_addresses(entry.get("ip") for entry in entries),
        tuple(_ports(spec)),
        on_host,
        finished,
    )


def parse_addresses(texts: Iterable[str | None]) -> tuple[str, ...]:
    """Return addresses as nftables writes them; what is none is left out: it came from a kubelet or a plugin."""
    addresses = []
    for text in texts:
        try:
            address = ip_address(text or "")
        except ValueError:
            continue
        if getattr(address, "scope_id", None) is None:  # a scope may be any text
            addresses.append(str(address))
    return tuple(addresses)


def _ports(spec: Object) -> Iterable[Port]:
    # Containers that start first and stay are containers as well.
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        for port in container.get("ports") or ():
            protocol = (port.get("protocol") or "TCP").lower()
            if port.get("name") and port.get("containerPort") and protocol in PROTOCOLS:
                yield Port(intern(port["name"]), intern(protocol), int(port["containerPort"]))


def slim_pod(obj: Object) -> Object:
    """Return a Pod object for an informer's cache: its key, its version, and what policies need."""
    meta = obj["metadata"]
    return {
        "metadata": {
            "namespace": meta["namespace"],
            "name": meta["name"],
            "resourceVersion": meta.get("resourceVersion"),
        },
        "pod": pod(obj),
    }


def slim_namespace(obj: Object) -> Object:
    """Return a Namespace object for an informer's cache: its labels are all that policies ask for."""
    meta = obj["metadata"]
    return {
        "metadata": {
            "name": meta["name"],
            "resourceVersion": meta.get("resourceVersion"),
            "labels": meta.get("labels") or {},
        }
    }
