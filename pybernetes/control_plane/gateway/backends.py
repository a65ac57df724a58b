"""References to backends become clusters, or a reason why they cannot."""

from __future__ import annotations

from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import grants
from pybernetes.control_plane.gateway.cluster_view import ClusterView
from pybernetes.control_plane.gateway.model import NO_CLUSTER, Cluster

_HTTP2 = ("kubernetes.io/h2c", "grpc")
_UNSUPPORTED = ("https", "tls", "kubernetes.io/wss")


@dataclass(slots=True)
class Backends:
    """Resolves the references of one route and remembers what they came to."""

    view: ClusterView
    kind: str  # of the route
    namespace: str
    is_http2: bool = False  # whether all of its backends speak HTTP/2: gRPC
    clusters: dict[str, Cluster] = field(default_factory=dict)
    problem: tuple[str, str] | None = None  # the first reason, and a message

    def resolve(self, reference: Object) -> str:
        """Return the name of the cluster of a reference to a backend, or that of none."""
        group, kind, name = reference.get("group", ""), reference.get("kind", "Service"), reference["name"]
        namespace = reference.get("namespace") or self.namespace
        if (group, kind) != ("", "Service"):
            return self._fail("InvalidKind", f"backends of kind {kind} in group {group!r} are not supported")
        if namespace != self.namespace and not grants.permitted(
            self.view.grants(namespace), self.kind, self.namespace, (group, kind, name)
        ):
            return self._fail(
                "RefNotPermitted", f"no ReferenceGrant of {namespace} permits Service {namespace}/{name}"
            )
        service = self.view.service(f"{namespace}/{name}")
        if service is None:
            return self._fail("BackendNotFound", f"Service {namespace}/{name} does not exist")
        return self.of_port(service, reference.get("port"))

    def of_port(self, service: Object, wanted: int | str | None) -> str:
        """Return the name of the cluster of a port of a service, by number or name."""
        meta, spec = service["metadata"], service["spec"]
        key = f"{meta['namespace']}/{meta['name']}"
        if spec.get("type") == "ExternalName":
            # It could name anything that the proxy reaches and the user does not.
            return self._fail(
                "BackendNotFound", f"Service {key} is of type ExternalName, which is not supported"
            )
        for port in spec.get("ports") or ():
            if wanted in (port["port"], port.get("name")) and port.get("protocol", "TCP") == "TCP":
                protocol = port.get("appProtocol", "")
                if protocol in _UNSUPPORTED:
                    return self._fail(
                        "UnsupportedProtocol", f"Service {key}: appProtocol {protocol} is not supported"
                    )
                is_http2 = self.is_http2 or protocol in _HTTP2
                cluster = Cluster(
                    meta["namespace"], meta["name"], port.get("name", ""), port["port"], is_http2
                )
                self.clusters[cluster.name] = cluster
                return cluster.name
        return self._fail("BackendNotFound", f"Service {key} has no TCP port {wanted}")

    def _fail(self, reason: str, message: str) -> str:
        if self.problem is None:
            self.problem = reason, message
        return NO_CLUSTER
