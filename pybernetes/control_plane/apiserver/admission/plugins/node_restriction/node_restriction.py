"""NodeRestriction: a kubelet writes its own node and what belongs to the pods on it, and nothing else.

The Node authorizer decides by what is in the path of a request; this plugin looks into the body as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pybernetes.api import errors
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, DELETE, UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope
from pybernetes.control_plane.apiserver.admission.plugins.node_restriction import (
    certificates,
    nodes,
    others,
    pods,
    tokens,
)
from pybernetes.control_plane.apiserver.admission.plugins.node_restriction.lookups import Lookups
from pybernetes.control_plane.apiserver.authz.modes.node import node_of

Check = Callable[[Lookups, str, Attributes], "Awaitable[None] | None"]
_CHECKS: dict[str, Check] = {
    "pods": pods.check,
    "nodes": nodes.check,
    "persistentvolumeclaims": others.claim,
    "serviceaccounts": tokens.check,
    "podcertificaterequests.certificates.k8s.io": certificates.pod_request,
    "leases.coordination.k8s.io": others.lease,
    "csinodes.storage.k8s.io": others.csi_node,
    "resourceslices.resource.k8s.io": others.resource_slice,
    "certificatesigningrequests.certificates.k8s.io": certificates.request,
}


class NodeRestriction(Plugin):
    """The plugin."""

    name = "NodeRestriction"
    order = 80
    # Upstream leaves it to the administrator, as it does the Node authorizer, which is on here and relies on it.
    on_by_default = True
    scope = Scope(operations=(CREATE, UPDATE, DELETE), resources=tuple(_CHECKS), subresources=None)

    def __init__(self, inputs: PluginInputs) -> None:
        self._lookups = Lookups(inputs.context)

    def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse to nodes what is not theirs."""
        user = attributes.user
        node = node_of(user)
        if node is None:
            return None
        if not node:
            attributes.refuse(f"could not determine node from user {go_format.quote(user.name)}")
        resource = errors.qualified(attributes.resource.group, attributes.resource.plural)
        return _CHECKS[resource](self._lookups, node, attributes)


PLUGIN = NodeRestriction
