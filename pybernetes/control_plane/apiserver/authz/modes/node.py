"""Node: what a kubelet may do, as the user ``system:node:NAME`` of the group ``system:nodes``.

It reads what the pods bound to its node need, and writes what is its own. Where the authorizer cannot see whose an
object is (on create, or in the body), the NodeRestriction admission plugin looks.
"""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.rbac_rules import RuleSet, keys
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.authorizer import Mode
from pybernetes.control_plane.apiserver.authz.bootstrap_policy.defaults import node_rules
from pybernetes.control_plane.apiserver.authz.node.graph import Graph
from pybernetes.control_plane.apiserver.authz.node.populator import Populator
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Rules, Verdict
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request_info import RequestInfo

_PREFIX, _GROUP = "system:node:", "system:nodes"
_LEASES = "kube-node-lease"
_OWN_VERBS = ("get", "create", "update", "patch", "delete")


def node_of(user: User) -> str | None:
    """Return the node that a user is, or None; an empty string is a node without a name."""
    if not user.name.startswith(_PREFIX) or _GROUP not in user.groups:
        return None
    return user.name.removeprefix(_PREFIX)


class NodeAuthorizer:
    """The authorizer."""

    name = "Node"

    def __init__(self, context: ServerContext) -> None:
        self._graph = Graph()
        self._populator = Populator(context.store, context.kinds, self._graph)
        self._static = RuleSet(node_rules())
        self._special: dict[tuple[str, str], Callable[[str, RequestInfo], Verdict]] = {
            ("", "secrets"): self._read,
            ("", "configmaps"): self._read,
            ("", "persistentvolumeclaims"): self._claim,
            ("", "persistentvolumes"): self._get,
            ("resource.k8s.io", "resourceclaims"): self._get,
            ("storage.k8s.io", "volumeattachments"): self._get,
            ("", "serviceaccounts"): self._service_account,
            ("coordination.k8s.io", "leases"): self._lease,
            ("storage.k8s.io", "csinodes"): self._csi_node,
            ("resource.k8s.io", "resourceslices"): self._resource_slice,
            ("", "nodes"): self._node,
            ("", "pods"): self._pod,
            ("certificates.k8s.io", "podcertificaterequests"): self._certificate_request,
        }

    def start(self) -> None:
        """Build the graph."""
        self._populator.start()

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Decide for nodes only, and only on what concerns this one; have no opinion otherwise."""
        node = node_of(user)
        if node is None:
            return NO_OPINION
        if not node:
            return Verdict(reason=f"unknown node for user {go_format.quote(user.name)}")
        if not info.is_resource:
            return ALLOWED if self._static.allows_url(info.verb, info.path) else NO_OPINION
        special = self._special.get((info.group, info.resource))
        if special is not None:
            return special(node, info)
        wanted = keys(info.verb, info.group, info.resource, info.subresource)
        return ALLOWED if self._static.allows(wanted, info.name) else NO_OPINION

    def rules(self, user: User, namespace: str) -> Rules:
        """Return that the list is incomplete: what a node may do depends on its pods."""
        if node_of(user) is None:
            return Rules()
        return Rules(incomplete=True, problems=["node authorizer does not support user rule resolution"])

    # --- by relation to the node

    def _related(self, node: str, info: RequestInfo) -> Verdict:
        if not info.name:
            return Verdict(reason="No Object name found")
        if self._graph.reaches(node, (info.resource, info.namespace, info.name)):
            return ALLOWED
        return Verdict(reason=f"no relationship found between node '{node}' and this object")

    def _get(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb != "get":
            return Verdict(reason="can only get individual resources of this type")
        if info.subresource:
            return Verdict(reason="cannot get subresource")
        return self._related(node, info)

    def _read(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb not in ("get", "list", "watch"):
            return Verdict(reason="can only read resources of this type")
        if info.subresource:
            return Verdict(reason="cannot read subresource")
        if not info.namespace:
            return Verdict(reason="can only read namespaced object of this type")
        return self._related(node, info)

    def _claim(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource != "status":
            return self._get(node, info)
        if info.verb not in ("update", "patch"):
            return Verdict(reason="can only get/update/patch this type")
        return self._related(node, info)

    def _service_account(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb == "get" and not info.subresource:
            return self._read(node, info)
        if info.verb != "create" or not info.name:
            return Verdict(reason="can only create tokens for individual service accounts")
        if info.subresource != "token":
            return Verdict(reason="can only create token subresource of serviceaccount")
        return self._related(node, info)

    # --- by name of the node

    def _lease(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb not in _OWN_VERBS:
            return Verdict(reason="can only get, create, update, patch, or delete a node lease")
        if info.namespace != _LEASES:
            return Verdict(
                reason=f"can only access leases in the {go_format.quote(_LEASES)} system namespace"
            )
        if info.verb != "create" and info.name != node:
            return Verdict(reason="can only access node lease with the same name as the requesting node")
        return ALLOWED

    def _csi_node(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource == "status":
            return Verdict(reason="CSINode status access requires CSIVolumeHealth feature")
        if info.subresource:
            return Verdict(reason="cannot authorize CSINode subresources")
        if info.verb not in _OWN_VERBS:
            return Verdict(reason="can only get, create, update, patch, or delete a CSINode")
        if info.verb != "create" and info.name != node:
            return Verdict(reason="can only access CSINode with the same name as the requesting node")
        return ALLOWED

    def _node(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource == "status":
            return ALLOWED if info.verb in ("update", "patch") else NO_OPINION
        if info.subresource:
            return NO_OPINION
        if info.verb in ("create", "update", "patch"):
            return ALLOWED
        if info.verb not in ("get", "list", "watch"):
            return NO_OPINION
        if info.name == node:
            return ALLOWED
        what = f"'{info.name}'" if info.name else "all nodes"
        return Verdict(reason=f"node '{node}' cannot read {what}, only its own Node object")

    # --- by selector

    def _resource_slice(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource:
            return Verdict(reason="cannot authorize ResourceSlice subresources")
        if info.verb == "create":
            return ALLOWED
        if info.verb in ("get", "update", "patch", "delete"):
            return self._related(node, info)
        if info.verb not in ("watch", "list", "deletecollection"):
            return Verdict(
                reason="only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update,"
                " patch, delete, deletecollection"
            )
        if _selects(info, node):
            return ALLOWED
        return Verdict(
            reason="can only list/watch/deletecollection resourceslices with nodeName field selector"
        )

    def _pod(self, node: str, info: RequestInfo) -> Verdict:
        match info.subresource, info.verb:
            case "", "get":
                return self._related(node, info)
            case "", "list" | "watch":
                if _selects(info, node):
                    return ALLOWED
                if info.name:
                    return self._related(node, info)
                return Verdict(reason="can only list/watch pods with spec.nodeName field selector")
            case ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create"):
                return ALLOWED
        return NO_OPINION

    def _certificate_request(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource:
            return Verdict(reason="nodes may not access the status subresource of PodCertificateRequests")
        if info.verb == "create":
            return ALLOWED
        if info.verb == "get":
            return self._related(node, info)
        if info.verb in ("list", "watch"):
            if _selects(info, node):
                return ALLOWED
            return Verdict(reason="can only list/watch podcertificaterequests with nodeName field selector")
        return Verdict(reason=f"nodes may not {info.verb} podcertificaterequests")


def _selects(info: RequestInfo, node: str) -> bool:
    """Return whether the request is limited to objects of the node."""
    return ("spec.nodeName", node, True) in info.fields


MODE = Mode("Node", lambda context, arguments: NodeAuthorizer(context))
