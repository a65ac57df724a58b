"""AdmissionReviews: what webhooks and policies get to see of a write, and what webhooks answer."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api import errors
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.api.schema.decode import json_name
from pybernetes.api.text import go_format, json_reader
from pybernetes.control_plane.apiserver.admission.attributes import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
)
from pybernetes.control_plane.apiserver.admission.dynamic.matching import (
    GroupVersionResource,
    namespace_of,
    resource_of,
)
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.discovery import subresource_kinds
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.store.protocol import Record

_GROUP = "admission.k8s.io"
_OPTIONS = {"apiVersion": "meta.k8s.io/v1"}
KNOWN_VERSIONS = ("v1", "v1beta1")


class Unusable(Exception):
    """An answer that is no proper AdmissionReview."""


@dataclass(slots=True)
class Shown:
    """A write as it is shown at one version of its resource."""

    place: GroupVersionResource
    kind: dict[str, str]
    obj: Object | None
    old: Object | None


def kind_at(kind: Kind, subresource: str) -> dict[str, str]:
    """Return the kind of the object that is sent to a resource or subresource."""
    resource = kind.resource
    if not subresource:
        return {"group": resource.group, "version": resource.version, "kind": resource.kind}
    described = subresource_kinds.describe(resource, subresource)
    return {
        "group": described.group or resource.group,
        "version": described.version or resource.version,
        "kind": described.kind,
    }


async def show(context: ServerContext, attributes: Attributes, own: Kind, target: Kind) -> Shown:
    """Return the write as one of the target, which serves the same objects as its own kind."""
    resource = target.resource
    place = GroupVersionResource(resource.group, resource.version, resource.plural)
    kind = kind_at(target, attributes.subresource)
    return Shown(
        place,
        kind,
        await _seen(context, attributes, attributes.obj, own, target),
        await _seen(context, attributes, attributes.old, own, target),
    )


async def _seen(
    context: ServerContext, attributes: Attributes, obj: Object | None, own: Kind, target: Kind
) -> Object | None:
    if obj is None:
        return None
    if attributes.subresource == "scale" and own.resource.scale is not None:
        from pybernetes.control_plane.apiserver.subresources.scale import scale_of

        return scale_of(own.resource.scale, obj)
    if own is target or obj.get("kind") != own.resource.kind:
        return obj
    return await converted(context, obj, own, target)


async def converted(context: ServerContext, obj: Object, own: Kind, target: Kind) -> Object:
    """Return an object of one version as another that is stored at the same place shows it."""
    record = Record("", await own.encode(obj), 0)
    await target.convert((record,))
    shown = target.object(record)
    if "resourceVersion" in obj["metadata"]:
        shown["metadata"]["resourceVersion"] = obj["metadata"]["resourceVersion"]
    return shown


def options(attributes: Attributes) -> Object | None:
    """Return the options of a write as an object."""
    if attributes.operation == CONNECT or attributes.request is None:
        return None
    request = attributes.request
    shown: Object
    if attributes.operation == DELETE:
        given = attributes.options
        shown = {"kind": "DeleteOptions", **_OPTIONS}
        if given is not None:
            conditions = {"uid": given.uid, "resourceVersion": given.resource_version}
            shown |= {
                "gracePeriodSeconds": given.grace,
                "propagationPolicy": given.policy,
                "orphanDependents": given.orphan,
                "preconditions": {key: value for key, value in conditions.items() if value} or None,
                "dryRun": ["All"] if given.dry_run else None,
            }
        return {key: value for key, value in shown.items() if value is not None}
    # By what is done, not by how it was asked for: a patch creates or updates.
    name = {CREATE: "CreateOptions", UPDATE: "UpdateOptions"}[attributes.operation]
    shown = {"kind": name, **_OPTIONS}
    for parameter in ("fieldManager", "fieldValidation"):
        if value := request.parameter(parameter):
            shown[parameter] = value
    if attributes.dry_run:
        shown["dryRun"] = ["All"]
    return shown


def request_of(attributes: Attributes, shown: Shown, own: Kind, uid: str) -> Object:
    """Return the AdmissionRequest, without the objects."""
    request_place = resource_of(attributes)
    request: Object = {
        "uid": uid,
        "kind": shown.kind,
        "resource": _resource(shown.place),
        "requestKind": kind_at(own, attributes.subresource),
        "requestResource": _resource(request_place),
        "operation": attributes.operation,
        "userInfo": attributes.user.info(),
        "dryRun": attributes.dry_run,
        "options": options(attributes),
    }
    name = attributes.name
    for key, value in (
        ("subResource", attributes.subresource),
        ("requestSubResource", attributes.subresource),
        ("name", name),
        ("namespace", namespace_of(attributes)),
    ):
        if value:
            request[key] = value
    return request


def _resource(place: GroupVersionResource) -> dict[str, str]:
    return {"group": place.group, "version": place.version, "resource": place.plural}


def review(request: Object, shown: Shown, version: str) -> Object:
    """Return the AdmissionReview that is sent."""
    request = {**request, "object": shown.obj, "oldObject": shown.old}
    return {"kind": "AdmissionReview", "apiVersion": f"{_GROUP}/{version}", "request": request}


@dataclass(slots=True)
class Answer:
    """What a webhook said."""

    allowed: bool
    status: Object = field(default_factory=dict)
    patch: Any = None
    patch_size: int = 0  # in bytes
    annotations: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def answer(value: Object, uid: str, version: str, mutating: bool) -> Answer:
    """Return the answer in a review; Unusable if it is none."""
    response = value.get("response")
    if not isinstance(response, dict):
        raise Unusable("webhook response was absent")
    strict = version == "v1"
    if strict:
        if response.get("uid", "") != uid:
            raise Unusable(
                f"expected response.uid={go_format.quote(uid)}, got {go_format.quote(str(response.get('uid', '')))}"
            )
        given = value.get("apiVersion", ""), value.get("kind", "")
        if given != (f"{_GROUP}/v1", "AdmissionReview"):
            raise Unusable(
                f"expected webhook response of {_GROUP}/v1, Kind=AdmissionReview, got "
                f"{given[0] if '/' in given[0] else '/' + given[0]}, Kind={given[1]}"
            )
    patch, patch_type = response.get("patch") or "", response.get("patchType")
    _check_patch(patch, patch_type, strict, mutating)
    annotations, warnings = response.get("auditAnnotations") or {}, response.get("warnings") or []
    return Answer(
        response.get("allowed") is True,
        response.get("status") or {},
        _patch(patch) if mutating and patch else None,
        len(patch),
        {str(key): str(text) for key, text in annotations.items()},
        [str(text) for text in warnings],
    )


def _check_patch(patch: str, patch_type: str | None, strict: bool, mutating: bool) -> None:
    if not strict:
        return
    if not mutating:
        if patch:
            raise Unusable("validating webhook may not return response.patch")
        if patch_type is not None:
            raise Unusable("validating webhook may not return response.patchType")
        return
    if patch and patch_type is None:
        raise Unusable("webhook returned response.patch but not response.patchType")
    if not patch and patch_type is not None:
        raise Unusable("webhook returned response.patchType but not response.patch")
    if patch_type == "":
        raise Unusable('webhook returned invalid response.patchType of ""')


class Undecodable(Exception):
    """A patch that is no JSON patch."""


def _patch(text: str) -> Any:
    try:
        patch = json_reader.loads(base64.b64decode(text))
    except json_reader.JsonError as error:
        raise Undecodable(error.plain) from None
    for value, wanted, name in (
        (patch, list, "jsonpatch.Patch"),
        *((item, dict, "jsonpatch.Operation") for item in patch or () if isinstance(patch, list)),
    ):
        if value is not None and not isinstance(value, wanted):
            raise Undecodable(f"json: cannot unmarshal {json_name(value)} into Go value of type {name}")
    return patch


def denial(name: str, status: Object) -> StatusError:
    """Return the refusal that a webhook's answer means."""
    message = f"admission webhook {go_format.quote(name)} denied the request"
    reason = status.get("reason") or ""
    if status.get("message"):
        message += f": {status['message']}"
    elif reason:
        message += f": {reason}"
    else:
        message += " without explanation"
    code = status.get("code") or 0
    if code > 999:  # which HTTP does not have
        code = 500
    return StatusError(max(400, code), reason, message, status.get("details"))


def no_dry_run(name: str) -> StatusError:
    """Return the refusal of a dry run by a webhook that cannot do without side effects."""
    return errors.bad_request(f"admission webhook {go_format.quote(name)} does not support dry run")
