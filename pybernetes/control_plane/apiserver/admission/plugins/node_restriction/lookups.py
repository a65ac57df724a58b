"""What the checks look up."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.context import ServerContext


class Lookups:
    """The objects that tell whether something is a node's own."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context
        self.pods = Lookup(context, "", "pods", keep=False)
        self.nodes = Lookup(context, "", "nodes")
        self.accounts = Lookup(context, "", "serviceaccounts")
        self.claims = Lookup(context, "", "persistentvolumeclaims")
        self.volumes = Lookup(context, "", "persistentvolumes")
        self.drivers = Lookup(context, "storage.k8s.io", "csidrivers")
