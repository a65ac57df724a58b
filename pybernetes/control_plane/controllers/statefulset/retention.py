"""Who owns a volume claim, which decides whether it goes with the set, with its pod, or stays."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client.refs import PODS, STATEFUL_SETS, Ref
from pybernetes.control_plane.controllers.statefulset.identity import (
    claim_name,
    ordinal,
    ordinals,
)
from pybernetes.runtime.owned_objects import owner_reference

Lookup = Callable[[str], Object | None]  # a claim by its name


def _policy(stateful_set: Object) -> tuple[bool, bool]:
    """Return whether claims go when the set is deleted, and when it is scaled down."""
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenDeleted") == "Delete", policy.get("whenScaled") == "Delete"


def claims(stateful_set: Object, pod: Object, lookup: Lookup) -> list[Object]:
    """Return the claims of a pod that exist."""
    number = ordinal(pod)
    templates = stateful_set["spec"].get("volumeClaimTemplates") or ()
    claims = [lookup(claim_name(stateful_set, template, number)) for template in templates]
    return [claim for claim in claims if claim is not None]


def _names(reference: Object, owner: Object, kind: Ref) -> bool:
    """Return whether a reference is to an object of that kind and name, whatever its uid."""
    return (
        reference["apiVersion"] == kind.api_version
        and reference["kind"] == kind.kind
        and reference["name"] == owner["metadata"]["name"]
    )


def _references(claim: Object) -> list[Object]:
    return claim["metadata"].get("ownerReferences") or []


def _is_stale(claim: Object, owner: Object, kind: Ref) -> bool:
    """Return whether a claim belongs to a former object of the same name, with which it is deleted."""
    uid = owner["metadata"].get("uid", "")
    return any(_names(reference, owner, kind) and reference["uid"] != uid for reference in _references(claim))


def is_waiting(stateful_set: Object, pod: Object, lookup: Lookup) -> bool:
    """Return whether a pod must wait because a claim is still being deleted with its predecessor."""
    if not _policy(stateful_set)[1]:
        return False
    return any(_is_stale(claim, pod, PODS) for claim in claims(stateful_set, pod, lookup))


def has_stranger(claim: Object, stateful_set: Object, pod: Object) -> bool:
    """Return whether another controller owns a claim, which is then left alone."""
    if not any(_policy(stateful_set)):
        return False
    for reference in _references(claim):
        for owner, kind in ((stateful_set, STATEFUL_SETS), (pod, PODS)):
            if _names(reference, owner, kind):
                if reference["uid"] != owner["metadata"].get("uid", ""):
                    return True
                break
        else:
            if reference.get("controller"):
                return True
    return False


def owners(claim: Object, stateful_set: Object, pod: Object) -> list[Object] | None:
    """Return the owner references that a claim is to have; None if it has them."""
    if _is_stale(claim, stateful_set, STATEFUL_SETS) or _is_stale(claim, pod, PODS):
        return None
    ours = {stateful_set["metadata"]["uid"], pod["metadata"].get("uid", "")}
    present = [reference for reference in _references(claim) if reference["uid"] in ours]
    others = [reference for reference in _references(claim) if reference["uid"] not in ours]
    if has_stranger(claim, stateful_set, pod):
        return others if present else None
    with_set, when_scaled = _policy(stateful_set)
    condemned = when_scaled and ordinal(pod) not in ordinals(stateful_set)
    wanted: list[Object] = []
    if condemned:
        wanted = [owner_reference(pod, PODS)]
    elif with_set:
        wanted = [owner_reference(stateful_set, STATEFUL_SETS)]
    if [reference["uid"] for reference in present] == [reference["uid"] for reference in wanted] and all(
        reference.get("controller") for reference in present
    ):
        return None
    return others + wanted
