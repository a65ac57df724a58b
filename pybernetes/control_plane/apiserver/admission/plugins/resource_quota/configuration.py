"""The configuration: resources that may only be used where a quota covers them."""

from __future__ import annotations

from typing import Any

from pybernetes.api.quota.decide import Limited

_VERSIONS = {
    "apiserver.config.k8s.io/v1": "ResourceQuotaConfiguration",
    "resourcequota.admission.k8s.io/v1beta1": "Configuration",
    "resourcequota.admission.k8s.io/v1alpha1": "Configuration",
}


def limited_resources(document: Any) -> list[Limited]:
    """Return the limited resources that a configuration names; ValueError if it is none."""
    if not document:
        return []
    version, kind = document.get("apiVersion"), document.get("kind")
    if _VERSIONS.get(version) != kind:
        expected = "ResourceQuotaConfiguration of apiserver.config.k8s.io/v1"
        raise ValueError(f"ResourceQuota: expected a {expected}, not {kind} of {version}")
    limited = document.get("limitedResources") or []
    for index, resource in enumerate(limited):
        if not resource.get("resource"):
            raise ValueError(f"ResourceQuota: limitedResources[{index}].resource: Required value")
    return limited
