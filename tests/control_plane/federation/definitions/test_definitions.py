"""What kubefed's webhooks refuse, the definitions do."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.errors import Invalid
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation.kinds import (
    CONFIG_NAME,
    FEDERATED_TYPE_CONFIGS,
    KUBEFED_CLUSTERS,
    KUBEFED_CONFIGS,
    NAMESPACE,
)
from pybernetes.tools.federation import installing
from tests.cluster import Cluster

_TARGET = {"kind": "A", "version": "v1", "pluralName": "as", "scope": "Namespaced", "group": "example.com"}
_OWN = {**_TARGET, "group": "types.kubefed.io"}
_PLACE = {"apiEndpoint": "https://h", "secretRef": {"name": "s"}}
REFUSED: list[tuple[Ref, dict[str, Any], str]] = [
    (KUBEFED_CLUSTERS, {**_PLACE, "disabledTLSValidations": ["*", "SubjectName"]}, r"when \* is specified"),
    (KUBEFED_CLUSTERS, {**_PLACE, "disabledTLSValidations": ["Anything"]}, "disabledTLSValidations"),
    (KUBEFED_CLUSTERS, {**_PLACE, "apiEndpoint": ""}, "apiEndpoint"),
    (KUBEFED_CLUSTERS, {**_PLACE, "secretRef": {"name": ""}}, "secretRef"),
    (FEDERATED_TYPE_CONFIGS, {"targetType": _TARGET, "propagation": "Enabled", "federatedType": {**_OWN, "group": "nodot"}}, "group"),
    (FEDERATED_TYPE_CONFIGS, {"targetType": {**_TARGET, "pluralName": "../as"}, "propagation": "Enabled", "federatedType": _OWN}, "pluralName"),
    (FEDERATED_TYPE_CONFIGS, {"targetType": {**_TARGET, "scope": "All"}, "propagation": "Enabled", "federatedType": _OWN}, "scope"),
    (FEDERATED_TYPE_CONFIGS, {"targetType": _TARGET, "propagation": "Perhaps", "federatedType": _OWN}, "propagation"),
    (KUBEFED_CONFIGS, {"scope": "Cluster", "featureGates": [{"name": "Magic", "configuration": "Enabled"}]}, "featureGates"),
    (KUBEFED_CONFIGS, {"scope": "Cluster", "featureGates": [{"name": "PushReconciler", "configuration": "Enabled"}] * 2}, "Duplicate"),
    (KUBEFED_CONFIGS, {"scope": "Cluster", "clusterHealthCheck": {"failureThreshold": 0}}, "failureThreshold"),
    (KUBEFED_CONFIGS, {"scope": "Cluster", "syncController": {"adoptResources": "Maybe"}}, "adoptResources"),
]  # fmt: skip


async def test_what_makes_no_sense_is_refused() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await installing.install(client, NAMESPACE)
        for kind, spec, message in REFUSED:
            with pytest.raises(Invalid, match=message):
                await client.create(kind, {"metadata": {"name": "as.example.com"}, "spec": spec}, NAMESPACE)
        good = {"targetType": _TARGET, "propagation": "Enabled", "federatedType": _OWN}
        await client.create(
            FEDERATED_TYPE_CONFIGS, {"metadata": {"name": "as.example.com"}, "spec": good}, NAMESPACE
        )
        alone = {**_PLACE, "disabledTLSValidations": ["*"]}
        await client.create(KUBEFED_CLUSTERS, {"metadata": {"name": "one"}, "spec": alone}, NAMESPACE)
        with pytest.raises(Invalid, match="immutable"):
            await client.patch(KUBEFED_CONFIGS, CONFIG_NAME, {"spec": {"scope": "Namespaced"}}, NAMESPACE)
