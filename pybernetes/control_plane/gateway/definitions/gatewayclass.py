"""GatewayClass: whose controller looks after the Gateways that name it."""

from __future__ import annotations

from pybernetes.control_plane.gateway.definitions import _schema as schema
from pybernetes.control_plane.gateway.definitions._schema import list_, object_, rule

_PARAMETERS = object_(schema.reference(namespace=schema.NAMESPACE), "group", "kind", "name")
_CONTROLLER = schema.CONTROLLER | {
    "x-kubernetes-validations": [rule("self == oldSelf", "field is immutable")]
}
_FEATURE = object_({"name": schema.STRING}, "name")
DEFINITION = schema.definition(
    "GatewayClass",
    {
        "spec": object_(
            {
                "controllerName": _CONTROLLER,
                "description": schema.text(64, 0),
                "parametersRef": _PARAMETERS,
            },
            "controllerName",
        ),
        "status": object_(
            {
                "conditions": schema.conditions("Accepted"),
                "supportedFeatures": list_(_FEATURE, 64, keys=("name",)),
            },
            default={"conditions": schema.pending("Accepted")},
        ),
    },
    versions=("v1", "v1beta1"),
    short="gc",
    namespaced=False,
    columns=(
        ("Controller", ".spec.controllerName"),
        ("Accepted", '.status.conditions[?(@.type=="Accepted")].status'),
    ),
)
