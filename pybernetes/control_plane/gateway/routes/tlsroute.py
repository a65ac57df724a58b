"""TLSRoute: connections by the name that their first message asks for."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.backends import Backends
from pybernetes.control_plane.gateway.cluster_view import ClusterView
from pybernetes.control_plane.gateway.routes.translated import Translated, weighted

KIND = "TLSRoute"


def translate(obj: Object, view: ClusterView) -> Translated:
    """Return what a TLSRoute becomes."""
    spec = obj["spec"]
    backends = Backends(view, KIND, obj["metadata"]["namespace"])
    references = [reference for rule in spec["rules"] for reference in rule["backendRefs"]]
    targets = weighted(references, backends)
    return Translated(
        KIND,
        tuple(spec["hostnames"]),
        backends=targets,
        clusters=backends.clusters,
        unresolved=backends.problem,
    )
