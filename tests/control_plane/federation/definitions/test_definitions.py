"""What kubefed's webhooks refuse, the definitions do."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.errors import Invalid
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation import config
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
    (KUBEFED_CONFIGS, {"scope": "Cluster", "leaderElect": {"renewDeadline": "20s"}}, "leaseDuration must be greater than renewDeadline"),
    (KUBEFED_CONFIGS, {"scope": "Cluster", "leaderElect": {"leaseDuration": "1m", "renewDeadline": "6s"}}, r"must be greater than retryPeriod\*JitterFactor"),
    (FEDERATED_TYPE_CONFIGS, {"targetType": {**_TARGET, "group": "other.com"}, "propagation": "Enabled", "federatedType": _OWN}, "name must be 'TARGET_PLURAL_NAME"),
    (FEDERATED_TYPE_CONFIGS, {"targetType": {**_TARGET, "group": ""}, "propagation": "Enabled", "federatedType": _OWN}, "name must be 'TARGET_PLURAL_NAME"),
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


async def test_settings_that_nobody_gave_are_shown() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await installing.install(client, NAMESPACE)
        made = await client.get(KUBEFED_CONFIGS, CONFIG_NAME, NAMESPACE)
        spec = made["spec"]
        assert spec["clusterHealthCheck"] == {
            "period": "10s", "timeout": "3s", "failureThreshold": 3, "successThreshold": 1,
        }  # fmt: skip
        assert spec["leaderElect"]["leaseDuration"] == "15s"
        assert spec["syncController"]["adoptResources"] == "Enabled"
        assert {gate["name"]: gate["configuration"] for gate in spec["featureGates"]} == {
            "PushReconciler": "Enabled", "RawResourceStatusCollection": "Disabled", "SchedulerPreferences": "Enabled",
        }  # fmt: skip
        assert config.read(made) == config.Config()
        changed = {
            "metadata": {"name": "other"},
            "spec": {"scope": "Cluster", "clusterHealthCheck": {"period": "5s"}},
        }
        other = await client.create(KUBEFED_CONFIGS, changed, NAMESPACE)
        assert (
            other["spec"]["clusterHealthCheck"]["period"] == "5s"
            and other["spec"]["clusterHealthCheck"]["timeout"] == "3s"
        )
