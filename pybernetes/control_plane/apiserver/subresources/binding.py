"""binding: a pod is given its node."""

from __future__ import annotations

import time

import orjson

from pybernetes.api import errors
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.codec.decoding import read_object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import KEEP, Outcome, modify
from pybernetes.control_plane.apiserver.storage.options import write_options
from pybernetes.lib.http.messages import Response

_SUCCESS = orjson.dumps(
    {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
)


async def handle(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Bind the pod of the path, or of the body when it is posted to the collection of bindings."""
    if request.request_info.verb != "create":
        raise errors.method_not_allowed()
    negotiation.plain(request)
    bindings = context.kinds.get("", "v1", "bindings")
    pods = context.kinds.get("", "v1", "pods")
    assert bindings is not None and pods is not None
    options = write_options(request, "CreateOptions")
    binding = await read_object(bindings.resource, request, options.validation)
    name = request.request_info.name or binding["metadata"].get("name", "")
    if binding["metadata"].get("name", "") != name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    problems = Errors()
    if bindings.resource.validate is not None:
        bindings.resource.validate(binding, problems)
    if problems:
        raise errors.invalid("", "Binding", name, problems)
    attributes = context.admission.attributes(
        "CREATE", pods.resource, request, binding, None, options.dry_run
    )
    attributes.subresource = "binding"
    admission = time.monotonic()
    await context.admission.admit(attributes)
    write = time.monotonic()
    bound: Object = {}

    def change(pod: Object | None) -> Object | Outcome:
        nonlocal bound
        if pod is None:
            raise errors.not_found("", "pods", name)
        bound = pod
        assign(pod, binding, context.timestamp())
        return KEEP if options.dry_run else pod

    await modify(context.store, pods, pods.key(request.request_info.namespace, name), change)
    times = context.times(pods)
    if times is not None and not options.dry_run:
        times.changed(bound, request, admission, write)
    return Response(_SUCCESS, 201)


def assign(pod: Object, binding: Object, now: str) -> None:
    """Put the node into the pod; 409 if it has one or can have none."""
    meta, spec = pod["metadata"], pod["spec"]
    name = meta["name"]
    given = binding["metadata"]
    if given.get("uid") and given["uid"] != meta.get("uid"):
        raise _conflict(name, f"Precondition failed: UID in precondition: {given['uid']}, "
                              f"UID in object meta: {meta.get('uid')}")  # fmt: skip
    if given.get("resourceVersion") and given["resourceVersion"] != meta["resourceVersion"]:
        raise _conflict(name, errors.MODIFIED)
    if meta.get("deletionTimestamp"):
        raise _conflict(name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise _conflict(name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise _conflict(name, f"pod {name} has non-empty .spec.schedulingGates")
    spec["nodeName"] = binding["target"]["name"]
    for field in ("annotations", "labels"):
        if given.get(field):
            meta[field] = {**meta.get(field, {}), **given[field]}
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)  # the nomination has served its purpose
    conditions = status.setdefault("conditions", [])
    conditions[:] = [condition for condition in conditions if condition.get("type") != "PodScheduled"]
    conditions.append(
        {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    )


def _conflict(name: str, why: str) -> errors.StatusError:
    return errors.conflict("", "pods/binding", name, why)
