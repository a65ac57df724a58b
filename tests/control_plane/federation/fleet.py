"""A federation inside of a test: API servers of a host and of members, and the control plane between them."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import yaml

from pybernetes.client.client import Client
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation import config
from pybernetes.control_plane.federation.federation import Federation
from pybernetes.control_plane.federation.kinds import NAMESPACE
from pybernetes.runtime.manager import Manager
from pybernetes.tools.federation import installing, kubefedctl
from pybernetes.tools.federation.session import Session
from tests.cluster import TOKEN, Cluster
from tests.support import eventually

FEDERATED_NAMESPACES = Ref("types.kubefed.io", "v1beta1", "federatednamespaces", "FederatedNamespace")
FEDERATED_CONFIG_MAPS = Ref("types.kubefed.io", "v1beta1", "federatedconfigmaps", "FederatedConfigMap")
FEDERATED_DEPLOYMENTS = Ref("types.kubefed.io", "v1beta1", "federateddeployments", "FederatedDeployment")
# Quick enough for a test, slow enough for a machine that is busy.
HEALTH = {"period": "200ms", "timeout": "30s", "failureThreshold": 1}


class Fleet:
    """A host, members by their names, and a control plane that can be stopped and started."""

    def __init__(self, *members: str, spec: dict[str, Any] | None = None) -> None:
        self.host = Cluster()
        self.members = {name: Cluster() for name in members}
        self._spec = {"scope": "Cluster", "clusterHealthCheck": HEALTH, **(spec or {})}
        self.federation: Federation = None  # type: ignore[assignment]
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None

    async def __aenter__(self) -> Fleet:
        await asyncio.gather(*(cluster.start() for cluster in (self.host, *self.members.values())))
        self.kubeconfig = self._write_kubeconfig()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()
        for cluster in (*self.members.values(), self.host):
            await cluster.__aexit__(*exc)

    def _write_kubeconfig(self) -> Path:
        names = {"host": self.host, **self.members}
        path = self.host.directory / "fleet.kubeconfig"
        value = {
            "apiVersion": "v1", "kind": "Config", "current-context": "host",
            "clusters": [
                {"name": name, "cluster": {"server": cluster.url, "certificate-authority": str(cluster.directory / "ca.crt")}}
                for name, cluster in names.items()
            ],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": "admin"}} for name in names],
        }  # fmt: skip
        path.write_text(yaml.safe_dump(value))
        return path

    # -- what a user does --------------------------------------------------------------------------------

    async def kubefedctl(self, *argv: str) -> str:
        """Run a verb of kubefedctl, and return what it prints; what goes wrong is raised."""
        line = kubefedctl.plain([*argv, "--kubeconfig", str(self.kubeconfig)])
        arguments = kubefedctl.parser().parse_args(line)
        out = io.StringIO()
        async with Session(arguments, out) as session:
            await arguments.run(session)
        return out.getvalue()

    async def install(self, *types: str) -> None:
        """Make the host a host, and federate kinds."""
        await installing.install(
            self.host.client, NAMESPACE, one_namespace=self._spec["scope"] == "Namespaced"
        )
        for name in types:
            await self.kubefedctl("enable", name)

    async def join(self, *names: str) -> None:
        """Join members, all of them unless some are named."""
        for name in names or self.members:
            await self.kubefedctl("join", name)

    async def start(self) -> None:
        """Start the control plane."""
        self._client = self.host.rest_client()
        manager = Manager(self._client)
        settings = config.read({"spec": self._spec})
        self.federation = Federation(manager, settings, NAMESPACE)
        self._task = asyncio.create_task(self.federation.run())

    async def stop(self) -> None:
        """Stop the control plane."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    # -- what a user looks at ----------------------------------------------------------------------------

    async def status(self, kind: Ref, name: str, namespace: str) -> dict[str, str]:
        """Return how a federated object does: its condition as ``*``, and the status in every cluster."""
        obj = await self.host.client.get(kind, name, namespace)
        status = obj.get("status") or {}
        if status.get("observedGeneration") != obj["metadata"]["generation"]:
            return {}
        row: dict[str, Any] = next(
            (row for row in status.get("conditions") or () if row["type"] == "Propagation"), {}
        )
        clusters = {entry["name"]: entry.get("status", "") for entry in status.get("clusters") or ()}
        return {"*": f"{row.get('status')} {row.get('reason', '')}".strip(), **clusters}

    async def settles(self, kind: Ref, name: str, namespace: str, **expected: str) -> None:
        """Wait until a federated object does as expected; ``all_`` is its condition, ``True`` unless given."""
        wanted = {"*": expected.pop("all_", "True"), **expected}

        async def there() -> bool:
            return await self.status(kind, name, namespace) == wanted

        try:
            await eventually(there)
        except AssertionError:
            now = await self.status(kind, name, namespace)
            raise AssertionError(f"{kind.kind} {name} is {now}, not {wanted}") from None


def federated(kind: Ref, name: str, namespace: str, template: Any = None, **spec: Any) -> dict[str, Any]:
    """Return a federated object, in all clusters unless it is placed elsewhere."""
    placed = {"placement": {"clusterSelector": {}}, **spec}
    if template is not None:
        placed["template"] = template
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": placed,
    }
