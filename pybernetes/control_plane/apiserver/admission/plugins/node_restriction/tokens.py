"""Tokens of service accounts: for pods on the node, for audiences that their volumes need."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.authorization_checks import verdict
from pybernetes.control_plane.apiserver.admission.plugins.node_restriction.lookups import Lookups

# Volume types that CSI drivers have taken over.
_MIGRATED = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "azureFile": "file.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
    "vsphereVolume": "csi.vsphere.vmware.com",
}


async def check(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Refuse tokens that no pod on the node needs."""
    if attributes.operation != CREATE or attributes.subresource != "token":
        return
    spec = (attributes.obj or {}).get("spec", {})
    bound = spec.get("boundObjectRef") or {}
    if (bound.get("apiVersion"), bound.get("kind")) != ("v1", "Pod") or not bound.get("name"):
        attributes.refuse("node requested token not bound to a pod")
    if not bound.get("uid"):
        attributes.refuse("node requested token with a pod binding without a uid")
    pod = lookups.pods.get(attributes.namespace, bound["name"])
    if pod is None:
        raise errors.not_found("", "pod", bound["name"])
    if bound["uid"] != pod["metadata"].get("uid"):
        attributes.refuse(
            f"the UID in the bound object reference ({bound['uid']}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
    if pod["spec"].get("nodeName") != node:
        attributes.refuse("node requested token bound to a pod scheduled on a different node")
    await _audience(lookups, attributes, pod, spec.get("audiences") or [])


async def _audience(lookups: Lookups, attributes: Attributes, pod: Object, audiences: list[str]) -> None:
    if len(audiences) > 1:
        attributes.refuse("node may only request 0 or 1 audiences")
    audience = audiences[0] if audiences else ""
    problems: list[str] = []
    if any(_needs(lookups, pod, volume, audience, problems) for volume in pod["spec"].get("volumes") or ()):
        return
    if problems:
        unique = list(dict.fromkeys(problems))
        listed = unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
        attributes.refuse(f"error validating audience {go_format.quote(audience)}: {listed}")
    user, resource = attributes.user, attributes.resource
    verb = "request-serviceaccounts-token-audience"
    answer = await verdict(
        lookups.context, user, verb, resource.group, audience, attributes.name, version=resource.version,
        namespace=attributes.namespace,
    )  # fmt: skip
    if not answer.allowed:
        attributes.refuse(
            f"{user.name} is not authorized to request tokens for audience {go_format.quote(audience)}"
        )


def _needs(lookups: Lookups, pod: Object, volume: dict[str, Any], audience: str, problems: list[str]) -> bool:
    """Return whether a volume needs a token for an audience; what cannot be found out is noted."""
    for source in (volume.get("projected") or {}).get("sources") or ():
        token = source.get("serviceAccountToken")
        if token is not None and token.get("audience", "") == audience:
            return True
    meta = pod["metadata"]
    try:
        name = _driver(lookups, meta.get("namespace", ""), meta.get("name", ""), volume)
        if not name:
            return False
        driver = lookups.drivers.get("", name)
        if driver is None:
            raise errors.not_found("storage.k8s.io", "csidriver", name)
    except errors.StatusError as error:
        problems.append(error.message)
        return False
    requests = driver.get("spec", {}).get("tokenRequests") or ()
    return any(request.get("audience", "") == audience for request in requests)


def _driver(lookups: Lookups, namespace: str, pod: str, volume: dict[str, Any]) -> str:
    """Return the CSI driver behind a volume of a pod, or nothing."""
    if (volume.get("ephemeral") or {}).get("volumeClaimTemplate") is not None:
        return _driver_of_claim(lookups, namespace, f"{pod}-{volume.get('name', '')}")
    if volume.get("persistentVolumeClaim") is not None:
        return _driver_of_claim(lookups, namespace, volume["persistentVolumeClaim"].get("claimName", ""))
    return _driver_of_source(volume)


def _driver_of_claim(lookups: Lookups, namespace: str, name: str) -> str:
    claim = lookups.claims.get(namespace, name)
    if claim is None:
        raise errors.not_found("", "persistentvolumeclaim", name)
    volume_name = claim.get("spec", {}).get("volumeName", "")
    volume = lookups.volumes.get("", volume_name)
    if volume is None:
        raise errors.not_found("", "persistentvolume", volume_name)
    return _driver_of_source(volume.get("spec", {}))


def _driver_of_source(source: dict[str, Any]) -> str:
    if source.get("csi") is not None:
        return source["csi"].get("driver", "")
    return next((driver for type_, driver in _MIGRATED.items() if source.get(type_) is not None), "")
