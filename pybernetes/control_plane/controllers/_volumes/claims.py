"""What controllers ask about volume claims, and about pods that use them. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pybernetes.api.resource import Object

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
NAME, EPHEMERAL = "claim", "ephemeral"


def class_of(obj: Object) -> str:
    """Return the storage class of a claim or of a volume; an empty string if it has none."""
    annotations = obj["metadata"].get("annotations") or {}
    if BETA_CLASS in annotations:
        return annotations[BETA_CLASS]
    return obj["spec"].get("storageClassName") or ""


def names_class(claim: Object) -> bool:
    """Return whether a claim says which class it wants, which may be none."""
    annotations = claim["metadata"].get("annotations") or {}
    return BETA_CLASS in annotations or claim["spec"].get("storageClassName") is not None


def claims_of(pod: Object) -> Iterator[tuple[str, str]]:
    """Return the claims that a pod uses: their names, and ``claim`` or ``ephemeral``."""
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"], NAME
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}", EPHEMERAL


def by_claim(pod: Object) -> list[str]:
    """Index pods by the keys of the claims that they use."""
    namespace = pod["metadata"]["namespace"]
    return [f"{namespace}/{name}" for name, _ in claims_of(pod)]


def is_made_for(claim: Object, pod: Object) -> bool:
    """Return whether a claim belongs to an ephemeral volume of a pod."""
    uid = pod["metadata"]["uid"]
    return any(
        reference["uid"] == uid and reference.get("controller")
        for reference in claim["metadata"].get("ownerReferences") or ()
    )


def uses(pod: Object, claim: Object) -> bool:
    """Return whether a pod uses a claim."""
    for name, how in claims_of(pod):
        if name == claim["metadata"]["name"]:
            if how == NAME or is_made_for(claim, pod):
                return True
    return False


def keeps(pod: Object, claim: Object) -> bool:
    """Return whether a pod keeps a claim from deletion: only a pod on a node can use its volume."""
    if not pod["spec"].get("nodeName"):
        return False
    for name, how in claims_of(pod):
        if name == claim["metadata"]["name"]:
            if how == NAME or (not is_shut_down(pod) and is_made_for(claim, pod)):
                return True
    return False


def is_shut_down(pod: Object) -> bool:
    """Return whether the kubelet is done with a pod, so that only finalizers keep it."""
    meta = pod["metadata"]
    return "deletionTimestamp" in meta and meta.get("deletionGracePeriodSeconds") == 0
