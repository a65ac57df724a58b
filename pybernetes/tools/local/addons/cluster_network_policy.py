"""The definition of ClusterNetworkPolicy (policy.networking.k8s.io/v1alpha2, its standard channel), as an addon."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, Ref
from pybernetes.tools.local.addons.definition_schema import conditions
from pybernetes.tools.local.addons.definition_schema import described as _object

_GROUP, _PLURAL = "policy.networking.k8s.io", "clusternetworkpolicies"
_APPROVED = "api-approved.kubernetes.io"  # the API server wants it of groups below k8s.io
_MOST = 25  # rules, peers and ports


def _list(items: Object, least: int = 1) -> Object:
    schema: Object = {"type": "array", "items": items, "maxItems": _MOST, "x-kubernetes-list-type": "atomic"}
    return schema | ({"minItems": least} if least else {})


def _texts() -> Object:
    return {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"}


def _selector() -> Object:
    expression = _object(
        {"key": {"type": "string"}, "operator": {"type": "string"}, "values": _texts()}, "key", "operator"
    )
    expressions = {"type": "array", "items": expression, "x-kubernetes-list-type": "atomic"}
    labels = {"type": "object", "additionalProperties": {"type": "string"}}
    return _object({"matchExpressions": expressions, "matchLabels": labels}) | {
        "x-kubernetes-map-type": "atomic"
    }


def _pods() -> Object:
    both = _object({"namespaceSelector": _selector(), "podSelector": _selector()}, "podSelector")
    return {"namespaces": _selector(), "pods": both}


def _protocols() -> Object:
    number = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535}
    range_ = _object({"start": number, "end": number}, "start", "end")
    range_["x-kubernetes-validations"] = [
        {"rule": "self.start < self.end", "message": "Start port must be less than End port"}
    ]
    port = _object({"number": number, "range": range_}, one=True)
    protocol = _object({"destinationPort": port}) | {"minProperties": 1}
    names = dict.fromkeys(("tcp", "udp", "sctp"), protocol)
    return _list(_object({**names, "destinationNamedPort": {"type": "string"}}, one=True))


def _rules(word: str, peer: Object) -> Object:
    rule = {
        "name": {"type": "string", "maxLength": 100},
        "action": {"type": "string", "enum": ["Accept", "Deny", "Pass"]},
        word: _list(_object(peer, one=True)),
        "protocols": _protocols(),
    }
    return _list(_object(rule, "action", word), least=0)


def _spec() -> Object:
    network = {
        "type": "string",
        "maxLength": 43,
        "x-kubernetes-validations": [{"rule": "isCIDR(self)", "message": "Invalid CIDR format provided"}],
    }
    networks = {**_list(network), "x-kubernetes-list-type": "set"}
    return _object(
        {
            "tier": {"type": "string", "enum": ["Admin", "Baseline"]},
            "priority": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 1000},
            "subject": _object(_pods(), one=True),
            "ingress": _rules("from", _pods()),
            "egress": _rules("to", {**_pods(), "networks": networks}),
        },
        "tier", "priority", "subject",
    )  # fmt: skip


def definition() -> list[tuple[Ref, Object]]:
    """Return the objects of the addon."""
    schema = _object({
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
        "spec": _spec(), "status": _object({"conditions": conditions()}, "conditions"),
    }, "metadata", "spec")  # fmt: skip
    columns = [
        {"name": "Tier", "type": "string", "jsonPath": ".spec.tier"},
        {"name": "Priority", "type": "string", "jsonPath": ".spec.priority"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    version = {
        "name": "v1alpha2", "served": True, "storage": True, "subresources": {"status": {}},
        "additionalPrinterColumns": columns, "schema": {"openAPIV3Schema": schema},
    }  # fmt: skip
    names = {
        "kind": "ClusterNetworkPolicy", "listKind": "ClusterNetworkPolicyList", "plural": _PLURAL,
        "singular": "clusternetworkpolicy", "shortNames": ["cnp"],
    }  # fmt: skip
    approval = "https://github.com/kubernetes-sigs/network-policy-api/pull/347"
    meta = {"name": f"{_PLURAL}.{_GROUP}", "annotations": {_APPROVED: approval}}
    spec = {"group": _GROUP, "scope": "Cluster", "names": names, "versions": [version]}
    return [(CUSTOM_RESOURCE_DEFINITIONS, {"metadata": meta, "spec": spec})]
