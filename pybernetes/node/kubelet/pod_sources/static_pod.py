"""Static pods: the pod of a manifest, with what the API server would have added."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson

from pybernetes.api.core.pod.defaults import default_pod_spec
from pybernetes.api.core.pod.prepare import app_armor_fields
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.pod_kinds import HASH, SEEN, SOURCE


def parse_static_pod(text: str, path: Path | str, node: str, now: str, source: str = "file") -> Object:
    """Return the pod of a file or URL, with what the API server would have added; raise ValueError if there is none."""
    import yaml

    try:
        pod = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"couldn't parse as pod: {error}") from None
    if not isinstance(pod, dict) or pod.get("kind") != "Pod" or not isinstance(pod.get("spec"), dict):
        raise ValueError("couldn't parse as pod: it is not a Pod")
    meta = pod.setdefault("metadata", {})
    if not meta.get("name"):
        raise ValueError("the pod has no name")
    _reject_api_references(pod["spec"])
    if meta.get("uid"):
        identity = str(meta["uid"])
    else:
        digest = hashlib.md5(orjson.dumps(pod, option=orjson.OPT_SORT_KEYS), usedforsecurity=False)
        digest.update(f"host:{node}file:{path}".encode() if source == "file" else f"url:{path}".encode())
        identity = digest.hexdigest()
    meta["uid"] = identity
    meta["name"] = f"{meta['name']}-{node.lower()}"
    meta.setdefault("namespace", "default")
    meta["annotations"] = {
        **(meta.get("annotations") or {}), HASH: identity, SEEN: now, SOURCE: source,
    }  # fmt: skip
    spec = pod["spec"]
    default_pod_spec(spec)
    app_armor_fields(meta["annotations"], spec)
    spec["nodeName"] = node
    spec.setdefault("enableServiceLinks", True)
    if source == "file":
        spec["tolerations"] = [*spec.get("tolerations", []), {"operator": "Exists", "effect": "NoExecute"}]
    pod["status"] = {"phase": "Pending"}
    return pod


_VOLUMES = {
    "configMap": "configmaps (via configmap volumes)", "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)", "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
}  # fmt: skip
_PROJECTED = {
    "configMap": "configmaps (via projected volumes)", "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)", "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}  # fmt: skip


def api_reference(spec: Object) -> str:
    """Return the kind of the first API object that a pod refers to, empty if there is none."""
    if spec.get("serviceAccountName") or spec.get("serviceAccount"):
        return "serviceaccounts"
    if spec.get("imagePullSecrets"):
        return "secrets"
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(group) or ():
            for variable in [*(container.get("env") or ()), *(container.get("envFrom") or ())]:
                source = {**variable, **(variable.get("valueFrom") or {})}
                if "secretKeyRef" in source or "secretRef" in source:
                    return "secrets"
                if "configMapKeyRef" in source or "configMapRef" in source:
                    return "configmaps"
    if spec.get("resourceClaims"):
        return "resourceclaims"
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            for name, kind in _PROJECTED.items():
                if name in source:
                    return kind
        for name, kind in _VOLUMES.items():
            if name in volume:
                return kind
    return ""


def _reject_api_references(spec: Object) -> None:
    """Reject a static pod that needs an API server."""
    if spec.get("ephemeralContainers"):
        raise ValueError("static pods can not have ephemeralContainers")
    kind = api_reference(spec)
    if kind:
        raise ValueError(f"static pods may not reference {kind}")
