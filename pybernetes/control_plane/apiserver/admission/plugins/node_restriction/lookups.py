"""What the checks look up."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.api import Api


class Lookups:
    """The objects that tell whether something is a node's own."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.pods = Lookup(api, "", "pods", keep=False)
        self.nodes = Lookup(api, "", "nodes")
        self.accounts = Lookup(api, "", "serviceaccounts")
        self.claims = Lookup(api, "", "persistentvolumeclaims")
        self.volumes = Lookup(api, "", "persistentvolumes")
        self.drivers = Lookup(api, "storage.k8s.io", "csidrivers")
