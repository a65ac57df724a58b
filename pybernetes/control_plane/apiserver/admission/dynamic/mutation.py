"""An object that was changed from outside, put in the place of the one that is written: decoded and completed."""

from __future__ import annotations

from operator import eq
from typing import Any

from pybernetes.api import errors
from pybernetes.api.apply import managed_fields
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Decoder, kind_type
from pybernetes.api.schema.decode import DecodeError, json_name
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.dynamic import admission_review
from pybernetes.control_plane.apiserver.admission.dynamic.admission_review import Shown
from pybernetes.control_plane.apiserver.admission.dynamic.matching import resource_of
from pybernetes.control_plane.apiserver.codec.decoding import HEAD, fit, of_another_kind
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.lib.event_loop import off_loop

_INVALID_FIELDS = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests: "
)


async def take(context: ServerContext, attributes: Attributes, shown: Shown, value: Any, size: int) -> bool:
    """Make a changed object, which is so much work, the one that is written; return whether it differs from before."""
    assert attributes.obj is not None
    if not isinstance(value, dict):
        problem = f"json: cannot unmarshal {json_name(value)} into Go value of type {HEAD}"
        raise errors.internal(f"couldn't get version/kind; json parse error: {problem}")
    own, target = context.kinds.get(*resource_of(attributes)), context.kinds.get(*shown.place)
    if own is None or target is None:
        raise errors.internal(f"unable to convert to {shown.place}: unknown kind")
    if attributes.subresource == "scale" and own.resource.scale is not None:
        return _scale(attributes, own.resource.scale.replicas, value)
    if attributes.obj.get("kind") != own.resource.kind:
        new = _of_another_kind(shown, value)
    else:
        try:
            new = await off_loop.run(size, _completed, target.resource, value)
        except DecodeError as error:
            raise errors.internal(str(error)) from None
        if target is not own:
            new = await admission_review.converted(context, new, target, own)
    _keep_fields(attributes, new)
    if await off_loop.run(size, eq, new, attributes.obj):
        return False
    attributes.obj.clear()
    attributes.obj.update(new)
    return True


def _completed(resource: Resource, value: Object) -> Object:
    new = _decoded(resource, value)
    if resource.default is not None:
        resource.default(new)
    return new


def _decoded(resource: Resource, value: Object) -> Object:
    kind, version = value.get("kind") or resource.kind, value.get("apiVersion") or resource.api_version
    if (kind, version) != (resource.kind, resource.api_version) and resource.decode is None:
        raise DecodeError(of_another_kind(resource, str(kind), str(version)))
    return fit(resource, value, Decoder())


def _keep_fields(attributes: Attributes, new: Object) -> None:
    """Put back who owns what, if the change made nonsense of it."""
    assert attributes.obj is not None
    before = attributes.obj.get("metadata", {}).get("managedFields")
    after = new.get("metadata", {}).get("managedFields")
    if after == before or not after:
        return
    try:
        managed_fields.decode(after)
    except ValueError as error:
        attributes.warn(_INVALID_FIELDS + str(error))
        new["metadata"].pop("managedFields")
        if before:
            new["metadata"]["managedFields"] = before


def _of_another_kind(shown: Shown, value: Object) -> Object:
    """Return what is sent to a subresource and is no object of the resource: an eviction, a binding."""
    kind = shown.kind
    try:
        new = Decoder().decode(kind_type(kind["group"], kind["version"], kind["kind"]), value)
    except KeyError:
        return value  # the options of a connection, which have no schema
    except DecodeError as error:
        raise errors.internal(str(error)) from None
    new.setdefault("metadata", {})
    return new


def _scale(attributes: Attributes, path: str, value: Object) -> bool:
    replicas = (value.get("spec") or {}).get("replicas", 0)
    if type(replicas) is not int:
        raise errors.internal(
            "json: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32"
        )
    *parents, last = path.strip(".").split(".")
    place: Any = attributes.obj
    for part in parents:
        place = place.setdefault(part, {})
    if place.get(last, 0) == replicas:
        return False
    place[last] = replicas
    return True
