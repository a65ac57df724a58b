"""The loops of the cloud controller manager inside a test, with a cloud in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import EVENTS, NODES, SERVICES
from pybernetes.control_plane.cloud.calls import CloudCalls
from pybernetes.control_plane.cloud.provider import CloudProvider
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag
from pybernetes.runtime import Manager
from pybernetes.runtime.controller_manager.descriptor import Descriptor
from tests.control_plane.controllers.managers import running

TAINT = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}


@asynccontextmanager
async def loops(
    client: Client, cloud: CloudProvider, *descriptors: Descriptor, clock: Any = None, seconds: float = 60.0, **options: Any
) -> AsyncIterator[Manager]:  # fmt: skip
    """Run loops with a cloud that has so many seconds for each call."""
    manager = Manager(client, clock=clock)
    known = [flag for descriptor in descriptors for flag in descriptor.flags]
    more = (Flag("cloud", None), Flag("cloud-calls", None))
    calls = CloudCalls(seconds)
    given = flags.defaults([*known, *more], cloud=cloud, cloud_calls=calls, **options)
    manager.metrics.more.append(calls.write)
    async with running(manager, descriptors, given):
        yield manager


def node(name: str, *taints: Object, ready: str = "True", **spec: Any) -> Object:
    """Return a Node as a kubelet registers it."""
    status = {
        "conditions": [{"type": "Ready", "status": ready}],
        "addresses": [{"type": "Hostname", "address": name}],
    }
    return {"metadata": {"name": name}, "spec": {"taints": list(taints), **spec}, "status": status}


def service(name: str = "web", **spec: Any) -> Object:
    """Return a Service of type LoadBalancer."""
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "type": "LoadBalancer",
            "selector": {"app": name},
            "ports": [{"port": 80, "protocol": "TCP"}],
            **spec,
        },
    }


async def set_ready(client: Client, name: str, status: str) -> None:
    """Let a node say whether it is ready."""
    await client.patch_status(NODES, name, {"status": {"conditions": [{"type": "Ready", "status": status}]}})


async def addresses(client: Client, name: str = "web") -> list[str]:
    """Return where a service says that its load balancer is."""
    status = (await client.get(SERVICES, name, "default")).get("status") or {}
    return [entry.get("ip", "") for entry in (status.get("loadBalancer") or {}).get("ingress") or ()]


async def reasons(client: Client, name: str) -> list[str]:
    """Return the reasons of all events about an object."""
    events = (await client.list(EVENTS, fields=f"involvedObject.name={name}")).items
    return [event["reason"] for event in events]


async def messages(client: Client, name: str, reason: str) -> list[str]:
    """Return the messages of events about an object."""
    events = (await client.list(EVENTS, fields=f"involvedObject.name={name},reason={reason}")).items
    return [event["message"] for event in events]
