"""Nodes and pods for the tests of nodes that are in trouble."""

from __future__ import annotations

from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import PODS
from tests.cluster import pod


async def run_pod(client: Client, name: str, node: str, *tolerations: dict[str, Any]) -> None:
    made = pod(name)
    made["spec"] |= {"nodeName": node, "tolerations": list(tolerations)}
    await client.create(PODS, made)
    ready = {"type": "Ready", "status": "True"}
    await client.patch(
        PODS, name, {"status": {"phase": "Running", "conditions": [ready]}}, "default", subresource="status"
    )
