"""eviction: a pod is deleted if its disruption budget allows it."""

from __future__ import annotations

import orjson

from pybernetes.api import errors, schema, selectors
from pybernetes.api.field import Errors
from pybernetes.api.policy.poddisruptionbudget import (
    SEVERAL_BUDGETS,
    VIOLATION,
    not_allowed,
    unhealthy_may_go,
    violation_cause,
)
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.codec.decoding import read_object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import deletion
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import KEEP, Outcome, modify
from pybernetes.control_plane.apiserver.storage.options import DeleteOptions, delete_options, write_options
from pybernetes.lib.http.messages import Response

_EVICTION = Resource(group="policy", version="v1", kind="Eviction", plural="evictions",
                     own_type=schema.kind_type("policy", "v1", "Eviction"))  # fmt: skip
_SUCCESS = orjson.dumps(
    {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
)
_MOST_DISRUPTED = 2000
_CONDITION = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


async def handle(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Evict the pod of the path."""
    info = request.request_info
    if info.verb != "create":
        raise errors.method_not_allowed()
    negotiation.plain(request)
    options = write_options(request, "CreateOptions")
    eviction = await read_object(_EVICTION, request, options.validation)
    if eviction["metadata"].get("name", info.name) != info.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    wanted = delete_options(request, eviction.get("deleteOptions", {}))
    if wanted.ignore_read_error:
        problems = Errors()
        path = "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential"
        problems.invalid(path, True, "can not be set for pod eviction, try after removing the option")
        raise errors.invalid("policy", "Eviction", info.name, problems)
    wanted.dry_run = wanted.dry_run or options.dry_run
    attributes = context.admission.attributes(
        "CREATE", kind.resource, request, eviction, None, wanted.dry_run
    )
    await context.admission.admit(attributes)
    await evict(context, kind, info.namespace, info.name, wanted)
    return Response(_SUCCESS, 201)


async def evict(
    context: ServerContext, pods: Kind, namespace: str, name: str, options: DeleteOptions
) -> None:
    """Delete the pod, taking the disruption from its budget first."""
    await context.fresh()
    record = context.store.get(pods.key(namespace, name))
    if record is None:
        raise errors.not_found("", "pods", name)
    pod = pods.object(record)
    phase = pod.get("status", {}).get("phase")
    ended = phase in ("Succeeded", "Failed") or bool(pod["metadata"].get("deletionTimestamp"))
    guarded = False
    if not ended and phase != "Pending":
        guarded = await _take(context, pod, namespace, options.dry_run)
    mine = options.resource_version is None and not ended and (guarded or phase == "Pending")
    if mine:
        # A pod that was free to go must not have become one that counts in the meantime.
        options.resource_version = pod["metadata"]["resourceVersion"]
    try:
        await _mark_and_delete(context, pods, namespace, name, options)
    except errors.StatusError as error:
        if error.reason == "Conflict" and mine and guarded:
            raise _busy(name) from None
        raise


async def _mark_and_delete(
    context: ServerContext, pods: Kind, namespace: str, name: str, options: DeleteOptions
) -> None:
    key = pods.key(namespace, name)

    def mark(pod: Object | None) -> Object:
        if pod is None:
            raise errors.not_found("", "pods", name)
        deletion.preconditions(pods, pod, options)
        conditions = pod.setdefault("status", {}).setdefault("conditions", [])
        conditions[:] = [condition for condition in conditions if condition.get("type") != "DisruptionTarget"]
        conditions.append({**_CONDITION, "lastProbeTime": None, "lastTransitionTime": context.timestamp()})
        return pod

    if not options.dry_run:
        record = await modify(context.store, pods, key, mark)
        if options.resource_version is not None and record is not None:
            options.resource_version = str(record.revision)
    await deletion.delete(context, pods, key, name, options)


async def _take(context: ServerContext, pod: Object, namespace: str, dry_run: bool) -> bool:
    """Take one disruption from the pod's budget; return True if the pod needs none, being unhealthy."""
    kind = context.kinds.find("policy", "poddisruptionbudgets")
    records = [
        record
        for record in context.store.list(kind.collection(namespace)).records
        if _covers(kind.shared(record), pod)
    ]
    if not records:
        return False
    if len(records) > 1:
        raise errors.StatusError(500, "", SEVERAL_BUDGETS)
    needs_none = False

    def take(budget: Object | None) -> Object | Outcome:
        nonlocal needs_none
        if budget is None or not _covers(budget, pod):
            return KEEP  # it no longer protects the pod
        needs_none = not _ready(pod) and unhealthy_may_go(budget)
        if needs_none:
            return KEEP
        decrement(budget, pod["metadata"]["name"], context.timestamp())
        return KEEP if dry_run else budget

    await modify(context.store, kind, records[0].key, take)
    return needs_none


def _covers(budget: Object, pod: Object) -> bool:
    selector = selectors.from_object(budget.get("spec", {}).get("selector"))
    return selector.matches(pod["metadata"].get("labels"))


def _ready(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)


def decrement(budget: Object, pod: str, now: str) -> None:
    """Take a disruption from the budget in place, or raise what upstream answers when there is none."""
    status, name = budget.setdefault("status", {}), budget["metadata"]["name"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _busy(name)
    allowed = status.get("disruptionsAllowed", 0)
    prefix = not_allowed(name)
    if allowed < 0:
        raise _forbidden(
            name, "pdb disruptions allowed is negative", f"{prefix}: pdb disruptions allowed is negative"
        )
    if len(status.get("disruptedPods", {})) > _MOST_DISRUPTED:
        raise _forbidden(
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            f"{prefix}: too many pending evictions not confirmed by PDB controller",
        )
    if allowed == 0:
        error = errors.StatusError(
            429, "TooManyRequests", VIOLATION, {"causes": [_cause(violation_cause(budget))]}
        )
        raise error
    status["disruptionsAllowed"] = allowed - 1
    status.setdefault("disruptedPods", {})[pod] = now


def _cause(message: str) -> dict[str, str]:
    return {"reason": "DisruptionBudget", "message": message}


def _busy(name: str) -> errors.StatusError:
    cause = _cause(f"The disruption budget {name} is still being processed by the server.")
    return errors.too_many_requests(VIOLATION, 10, causes=[cause])


def _forbidden(name: str, why: str, message: str) -> errors.StatusError:
    error = errors.forbidden("policy", "poddisruptionbudget", name, why)
    error.details = {**(error.details or {}), "causes": [_cause(message)]}
    return error
