"""ProvisioningRequests: what they ask for, what is said of them and when. Pure."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pybernetes.api.core.pod.defaults import default_pod
from pybernetes.api.resource import Object
from pybernetes.client.refs import Ref
from pybernetes.control_plane.autoscaler.scale_up.estimator import Equivalents
from pybernetes.lib import rfc3339
from pybernetes.scheduling.pods import Pod, PodReader

PROVISIONING_REQUESTS = Ref("autoscaling.x-k8s.io", "v1", "provisioningrequests", "ProvisioningRequest")
CHECK_CAPACITY = "check-capacity.autoscaling.x-k8s.io"
BEST_EFFORT_ATOMIC = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
RESERVATION_SECONDS = 600.0
EXPIRATION_SECONDS = KEPT_SECONDS = 7 * 86400.0
MOST_PODS = 10_000  # of one request: what is imagined of each costs memory
_NEVER = float("inf")


class Condition(NamedTuple):
    """What is said of a request."""

    type: str
    status: str
    reason: str
    message: str


ACCEPTED = Condition("Accepted", "True", "Accepted", "ProvisioningRequest is accepted by ClusterAutoscaler")
CAPACITY_FOUND = Condition("Provisioned", "True", "CapacityIsFound", "Capacity is found in the cluster")
CAPACITY_PROVISIONED = Condition(
    "Provisioned", "True", "CapacityIsProvisioned", "Capacity is found in the cluster"
)
NOT_FOUND_YET = Condition(
    "Provisioned", "False", "CapacityIsNotFound", "Capacity is not found, CA will try to find it later."
)
NOT_FOUND = Condition("Failed", "True", "CapacityIsNotFound", "CA could not find requested capacity")
RESERVATION_EXPIRED = Condition(
    "BookingExpired", "True", "CapacityReservationTimeExpired", "Capacity reservation time is expired"
)
CONSUMED = Condition(
    "BookingExpired", "True", "CapacityBookingConsumed", "Capacity booking consumed: all pods scheduled"
)
EXPIRED = Condition("Failed", "True", "Expired", "ProvisioningRequest is expired")


class NoPods(ValueError):
    """There are no pods to be made of a request; the text says why."""


def supported(request: Object, instance: str = "") -> bool:
    """Return whether a request is this autoscaler's; ``instance`` is the only one whose capacity checks it does, if set."""
    spec = request["spec"]
    name = spec["provisioningClassName"]
    if name == BEST_EFFORT_ATOMIC:
        return not instance
    wanted = (spec.get("parameters") or {}).get("processorInstance", "")
    if instance and not wanted:
        return bool(name == instance + CHECK_CAPACITY)
    return bool(name == CHECK_CAPACITY and wanted == instance)


def checks_only(request: Object) -> bool:
    """Return whether a request wants to know about capacity, and no more of it."""
    return bool(request["spec"]["provisioningClassName"] != BEST_EFFORT_ATOMIC)


def refusal(request: Object) -> Condition:
    """Return what is said of a request for which there is no capacity."""
    never = checks_only(request) and (request["spec"].get("parameters") or {}).get("noRetry") == "true"
    return NOT_FOUND if never else NOT_FOUND_YET


# -- conditions ------------------------------------------------------------------------------------------


def condition(request: Object, kind: str) -> Object:
    """Return a condition of a request; empty if it has none."""
    listed = (request.get("status") or {}).get("conditions") or ()
    return next((entry for entry in listed if entry.get("type") == kind), {})


def _is(request: Object, *kinds: str) -> bool:
    return any(condition(request, kind).get("status") == "True" for kind in kinds)


def with_condition(request: Object, said: Condition, now: float) -> list[Object]:
    """Return the conditions of a request with one more, or another in its place."""
    made: Object = {**said._asdict(), "lastTransitionTime": rfc3339.seconds(now)}
    made["observedGeneration"] = request["metadata"].get("generation", 0)
    listed = list((request.get("status") or {}).get("conditions") or ())
    for position, entry in enumerate(listed):
        if entry.get("type") == said.type:
            listed[position] = made
            return listed
    return [*listed, made]


# -- time ------------------------------------------------------------------------------------------------


def _since(request: Object, kind: str) -> float:
    text = condition(request, kind).get("lastTransitionTime")
    return rfc3339.parse(text) if text else _NEVER


def _expires(request: Object) -> float:
    """Return until when capacity is looked for."""
    created = rfc3339.parse(request["metadata"]["creationTimestamp"])
    text = (request["spec"].get("parameters") or {}).get("ValidUntilSeconds", "")
    valid = float(text) if text.isdecimal() and len(text) < 10 else EXPIRATION_SECONDS
    return created + min(valid, EXPIRATION_SECONDS)


def is_booked(request: Object) -> bool:
    """Return whether capacity is kept for a request."""
    return _is(request, "Provisioned") and not _is(request, "Failed", "BookingExpired", "CapacityRevoked")


def is_open(request: Object) -> bool:
    """Return whether capacity is still to be found for a request."""
    return not _is(request, "Failed", "Provisioned", "CapacityRevoked")


def due(request: Object, now: float) -> Condition | None:
    """Return what is to be said of a request because its time is up."""
    if is_booked(request) and _since(request, "Provisioned") + RESERVATION_SECONDS < now:
        return RESERVATION_EXPIRED
    if is_open(request) and _expires(request) < now:
        return EXPIRED
    return None


def try_at(request: Object, retry: float) -> float:
    """Return when capacity is looked for, the next time ``retry`` seconds after the last."""
    if not is_open(request):
        return _NEVER
    last = _since(request, "Provisioned")
    return 0.0 if last == _NEVER else last + retry


def gone_at(request: Object) -> float:
    """Return when a request that has come to an end is deleted."""
    return min(_since(request, "Provisioned"), _since(request, "Failed")) + KEPT_SECONDS


def next_moment(request: Object, retry: float) -> float:
    """Return when something is to be done about a request, if nothing happens before."""
    if is_booked(request):
        return _since(request, "Provisioned") + RESERVATION_SECONDS
    if is_open(request):
        return min(try_at(request, retry), _expires(request))
    return gone_at(request)


# -- pods ------------------------------------------------------------------------------------------------


def count(request: Object) -> int:
    """Return how many pods a request is about."""
    return sum(int(pod_set["count"]) for pod_set in request["spec"]["podSets"])


def template_names(request: Object) -> list[str]:
    """Return the templates that a request names, each once."""
    return list(dict.fromkeys(pod_set["podTemplateRef"]["name"] for pod_set in request["spec"]["podSets"]))


def pods_of(request: Object, templates: Mapping[str, Object], reader: PodReader) -> list[Equivalents]:
    """Return the pods of a request, one list for each of its sets; NoPods if they cannot be made."""
    sets: Sequence[Object] = request["spec"]["podSets"]
    missing = [name for name in template_names(request) if name not in templates]
    if missing:
        raise NoPods(
            f"missing pod templates, {len(sets)} pod templates were referenced, {len(missing)} templates were missing: "
            + ",".join(missing)
        )
    if count(request) > MOST_PODS:
        raise NoPods(
            f"{count(request)} pods are asked for, and no more than {MOST_PODS} are looked at together"
        )
    meta = request["metadata"]
    result = []
    for number, pod_set in enumerate(sets):
        first = _pod(meta, number, templates[pod_set["podTemplateRef"]["name"]], reader)
        more = (
            Pod(
                first.namespace,
                f"{meta['name']}-{number}-{index}",
                f"{meta['uid']}/{number}/{index}",
                first.shape,
            )
            for index in range(1, int(pod_set["count"]))
        )
        result.append([first, *more])
    return result


def _pod(meta: Object, number: int, template: Object, reader: PodReader) -> Pod:
    body = copy.deepcopy(template.get("template") or {})
    owner = {
        "apiVersion": PROVISIONING_REQUESTS.api_version, "kind": PROVISIONING_REQUESTS.kind, "name": meta["name"],
        "uid": meta["uid"], "controller": True,
    }  # fmt: skip
    obj: Object = {
        "metadata": {
            "namespace": meta["namespace"], "name": f"{meta['name']}-{number}-0", "uid": f"{meta['uid']}/{number}/0",
            "labels": (body.get("metadata") or {}).get("labels") or {}, "ownerReferences": [owner],
        },
        "spec": {**(body.get("spec") or {}), "nodeName": ""},
    }  # fmt: skip
    try:
        default_pod(obj)
        return reader.read(obj)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NoPods(
            f"the pods of the template {template['metadata']['name']} cannot be made: {error!r}"
        ) from None
