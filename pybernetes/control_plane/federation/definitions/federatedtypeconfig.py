"""FederatedTypeConfig: which kind is federated, and as which."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.kinds import FEDERATED_TYPE_CONFIGS
from pybernetes.control_plane.federation.schemas import ENABLED, INTEGER, SCOPE, definition, object_, rules

# They become parts of paths.
_LABEL: Object = {"type": "string", "maxLength": 63, "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$"}
_KIND: Object = {**_LABEL, "pattern": "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$"}
_PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_GROUP: Object = {"type": "string", "maxLength": 253, "pattern": rf"^({_PART}(\.{_PART})*)?$"}
_OWN_GROUP: Object = {**_GROUP, "pattern": rf"^{_PART}(\.{_PART})+$"}


def _resource(group: Object, *required: str) -> Object:
    names = {"version": _LABEL, "kind": _KIND, "pluralName": _LABEL, "scope": SCOPE}
    return object_({"group": group, **names}, "version", "kind", "scope", *required)


_NAMED = rules(
    (
        "!has(self.spec.targetType.pluralName) || self.metadata.name == self.spec.targetType.pluralName"
        " + (has(self.spec.targetType.group) && self.spec.targetType.group != '' ? '.' + self.spec.targetType.group : '')",
        "name must be 'TARGET_PLURAL_NAME(.TARGET_GROUP_NAME)'",
    )
)
_RUNNING = {"type": "string", "enum": ["Running", "NotRunning"]}
DEFINITION = definition(
    FEDERATED_TYPE_CONFIGS.group, FEDERATED_TYPE_CONFIGS.version, FEDERATED_TYPE_CONFIGS.kind,
    FEDERATED_TYPE_CONFIGS.plural,
    {
        "spec": object_(
            {
                "targetType": _resource(_GROUP),
                "propagation": ENABLED,
                "federatedType": _resource(_OWN_GROUP, "group"),
                "statusType": _resource(_OWN_GROUP, "group"),
                "statusCollection": ENABLED,
            },
            "targetType", "propagation", "federatedType",
        ),
        "status": object_(
            {
                "observedGeneration": INTEGER,
                "propagationController": _RUNNING,
                "statusController": _RUNNING,
            },
            "observedGeneration", "propagationController",
        ),
    },
    short=("ftc",),
    checks=_NAMED,
)  # fmt: skip
