"""The objects that a pod or a volume needs on its node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pybernetes.api.resource import Object

MIRROR = "kubernetes.io/config.mirror"
# Volume types that name a secret, and how.
_SECRET_REFERENCES = {
    "azureFile": "secretName",
    "cephfs": "secretRef",
    "cinder": "secretRef",
    "flexVolume": "secretRef",
    "rbd": "secretRef",
    "secret": "secretName",
    "scaleIO": "secretRef",
    "iscsi": "secretRef",
    "storageos": "secretRef",
    "csi": "nodePublishSecretRef",
}
_CSI_SECRETS = ("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef")
# In volumes of these types a secret without a namespace is in that of the claim.
_CLAIM_NAMESPACE = ("azureFile", "cephfs", "flexVolume", "rbd", "scaleIO", "iscsi")


def of_pod(pod: Object) -> set[tuple[str, str]]:
    """Return what a pod refers to in its namespace: resource and name.

    A mirror pod gives its node nothing: the node itself could have made it.
    """
    if MIRROR in (pod["metadata"].get("annotations") or {}):
        return set()
    return {(resource, name) for resource, name in named_by_pod(pod) if name}


def named_by_pod(pod: Object) -> Iterator[tuple[str, str]]:
    """Return the resources and names in a pod; a name may be empty."""
    spec, status = pod.get("spec", {}), pod.get("status", {})
    yield "serviceaccounts", spec.get("serviceAccountName", "")
    for reference in spec.get("imagePullSecrets", ()):
        yield "secrets", reference.get("name", "")
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(kind, ()):
            yield from _of_container(container)
    for volume in spec.get("volumes", ()):
        yield from _of_volume(volume, pod["metadata"]["name"])
    if "resourceClaims" in spec:
        generated = {entry.get("name"): entry for entry in status.get("resourceClaimStatuses", ())}
        for claim in spec["resourceClaims"]:
            if "resourceClaimName" not in claim and "resourceClaimTemplateName" in claim:
                claim = generated.get(claim.get("name"), {})
            yield "resourceclaims", claim.get("resourceClaimName", "")
    if "extendedResourceClaimStatus" in status:
        yield "resourceclaims", status["extendedResourceClaimStatus"].get("resourceClaimName", "")


def _of_container(container: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for source in container.get("envFrom", ()):
        yield "secrets", source.get("secretRef", {}).get("name", "")
        yield "configmaps", source.get("configMapRef", {}).get("name", "")
    for variable in container.get("env", ()):
        source = variable.get("valueFrom")
        if source:
            yield "secrets", source.get("secretKeyRef", {}).get("name", "")
            yield "configmaps", source.get("configMapKeyRef", {}).get("name", "")


def _of_volume(volume: dict[str, Any], pod: str) -> Iterator[tuple[str, str]]:
    if "configMap" in volume:
        yield "configmaps", volume["configMap"].get("name", "")
    for source in volume.get("projected", {}).get("sources", ()):
        if "secret" in source:
            yield "secrets", source["secret"].get("name", "")
        if "configMap" in source:
            yield "configmaps", source["configMap"].get("name", "")
    for type_ in volume:
        if type_ in _SECRET_REFERENCES:
            reference = volume[type_].get(_SECRET_REFERENCES[type_], "")
            yield "secrets", reference if isinstance(reference, str) else reference.get("name", "")
    if "persistentVolumeClaim" in volume:
        yield "persistentvolumeclaims", volume["persistentVolumeClaim"].get("claimName", "")
    elif "ephemeral" in volume:
        yield "persistentvolumeclaims", f"{pod}-{volume.get('name', '')}"


def of_volume(volume: Object) -> set[tuple[str, str]]:
    """Return the secrets that a node needs to mount a persistent volume: namespace and name."""
    spec = volume.get("spec", {})
    claimed_in = spec.get("claimRef", {}).get("namespace", "")
    secrets: set[tuple[str, str]] = set()
    for type_, source in spec.items():
        if type_ == "azureFile":
            secrets.add((source.get("secretNamespace") or claimed_in, source.get("secretName", "")))
        elif type_ in _SECRET_REFERENCES and type_ != "secret":
            for field in _CSI_SECRETS if type_ == "csi" else ("secretRef",):
                reference = source.get(field, {})
                namespace = reference.get("namespace", "")
                if not namespace and type_ in _CLAIM_NAMESPACE:
                    namespace = claimed_in
                secrets.add((namespace, reference.get("name", "")))
    return {(namespace, name) for namespace, name in secrets if name}
