"""What controllers ask about volume claims, and about pods that use them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
NAME, EPHEMERAL = "claim", "ephemeral"


def class_of(obj: Object) -> str:
    """The storage class of a claim or of a volume; nothing if it has none."""
    annotations = obj["metadata"].get("annotations") or {}
    if BETA_CLASS in annotations:
        return annotations[BETA_CLASS]
    return obj["spec"].get("storageClassName") or ""


def names_class(claim: Object) -> bool:
    """Whether a claim says which class it wants, be it none."""
    annotations = claim["metadata"].get("annotations") or {}
    return BETA_CLASS in annotations or claim["spec"].get("storageClassName") is not None


def claims_of(pod: Object) -> Iterator[tuple[str, str]]:
    """The names of the claims that a pod uses, and whether each is made for it: ``claim`` or ``ephemeral``."""
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"], NAME
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}", EPHEMERAL


def by_claim(pod: Object) -> list[str]:
    """Index: the keys of the claims that a pod uses."""
    namespace = pod["metadata"]["namespace"]
    return [f"{namespace}/{name}" for name, _ in claims_of(pod)]


def is_made_for(claim: Object, pod: Object) -> bool:
    """Whether a claim is the one of an ephemeral volume of a pod."""
    uid = pod["metadata"]["uid"]
    return any(
        each["uid"] == uid and each.get("controller")
        for each in claim["metadata"].get("ownerReferences") or ()
    )


def uses(pod: Object, claim: Object) -> bool:
    """Whether a pod uses a claim."""
    for name, how in claims_of(pod):
        if name == claim["metadata"]["name"]:
            if how == NAME or is_made_for(claim, pod):
                return True
    return False


def keeps(pod: Object, claim: Object) -> bool:
    """Whether a claim must stay because of a pod: only what has a node can have its volume in use."""
    if not pod["spec"].get("nodeName"):
        return False
    for name, how in claims_of(pod):
        if name == claim["metadata"]["name"]:
            if how == NAME or (not is_shut_down(pod) and is_made_for(claim, pod)):
                return True
    return False


def is_shut_down(pod: Object) -> bool:
    """Whether whoever ran a pod is done with it, so that only finalizers keep it."""
    meta = pod["metadata"]
    return "deletionTimestamp" in meta and meta.get("deletionGracePeriodSeconds") == 0
