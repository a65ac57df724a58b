"""A client's body turned into an object of a kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pybernetes.api import errors, schema
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import DecodeError, Decoder
from pybernetes.api.schema.decode import json_name
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.codec.bodies import Body, read_body
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.discarding import discard, discard_later

# What Go reads the kind and the version of an object into.
HEAD = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
# Versions that upstream no longer serves but still knows.
_BETA = re.compile(r"v\d+(beta|alpha)\d+")


def decode(resource: Resource, body: Body, validation: str, request: Request) -> Object:
    """Decode the body as an object of the kind; warn of unknown and duplicate fields, or refuse them, as asked."""
    if body.problem:
        raise _unrecognized(resource, body, body.problem)
    value = body.value if body.value is not None else {}
    if not isinstance(value, dict):
        name = json_name(value)
        text = f"json: cannot unmarshal {name} into Go value of type {HEAD}"
        raise _unrecognized(resource, body, f"couldn't get version/kind; json parse error: {text}")
    if problem := untyped(value):
        raise _unrecognized(resource, body, f"couldn't get version/kind; json parse error: {problem}")
    version = value.get("apiVersion") or ""
    if version.count("/") > 1:
        raise _unrecognized(resource, body, f"unexpected GroupVersion string: {version}")
    _check_type(resource, value)
    decoder = Decoder(counting=validation != "Ignore")
    obj = convert(resource, value, decoder)
    if validation != "Ignore":
        # Keys below unknown fields were not counted, but then the slow parse is due anyway.
        complaints = body.complaints(decoder.keys, decoder.noted)
        if complaints:
            report(resource, complaints, validation, request)
    if request.audit is not None:
        request.audit.sent(resource, obj)
    return obj


async def read_object(
    resource: Resource, request: Request, validation: str, default: tuple[str, str, str] = ("", "v1", "")
) -> Object:
    """Return the object of a request's body; a large one is read beside the event loop."""
    size = request.weight
    if size <= off_loop.LARGE:
        return _read(resource, request, validation, default)
    obj = await off_loop.run(size, _read, resource, request, validation, default)
    discard_later(size, obj)
    return obj


def _read(resource: Resource, request: Request, validation: str, default: tuple[str, str, str]) -> Object:
    body = read_body(request, default)
    try:
        return decode(resource, body, validation, request)
    except errors.StatusError as error:
        raise error.with_traceback(None) from None  # which holds the value
    finally:
        value = body.take()
        if len(request.body) > off_loop.LARGE:
            discard([value])


def untyped(value: Mapping[str, Any]) -> str:
    """Return what is wrong with a kind or version that is no text."""
    for key in ("apiVersion", "kind"):
        given = value.get(key)
        if type(given) is not str and given is not None:
            name = json_name(given)
            return f"json: cannot unmarshal {name} into Go struct field .{key} of type string"
    return ""


def _unrecognized(resource: Resource, body: Body, why: str) -> errors.StatusError:
    return errors.bad_request(
        f"the object provided is unrecognized (must be of type {resource.kind}): {why} ({body.summary()})"
    )


def convert(
    resource: Resource, value: dict[str, Any], decoder: Decoder, before: Object | None = None
) -> Object:
    """Decode a value by the kind's type, with kind, apiVersion and metadata in place; 400 if it does not fit.

    ``before`` is the stored object if the value was made of it, sharing what did not change.
    """
    try:
        return fit(resource, value, decoder, before)
    except DecodeError as error:
        raise _cannot_be_handled(resource.kind, resource.version, resource, str(error)) from None


def fit(resource: Resource, value: dict[str, Any], decoder: Decoder, before: Object | None = None) -> Object:
    """Do what ``convert`` does; DecodeError if the value does not fit."""
    if resource.decode is not None:
        obj = resource.decode(value, decoder)
    elif before is not None:
        obj = decoder.decode_patched(resource.type, value, before)
    else:
        obj = decoder.decode(resource.type, value)
    obj["kind"], obj["apiVersion"] = resource.kind, resource.api_version
    if obj.get("metadata") is None:
        obj["metadata"] = {}
    return obj


def _cannot_be_handled(kind: str, version: str, resource: Resource, why: str) -> errors.StatusError:
    return errors.bad_request(
        f"{kind} in version {go_format.quote(version)} cannot be handled as a {resource.kind}: {why}"
    )


def report(resource: Resource, problems: list[str], validation: str, request: Request) -> None:
    """Warn of unknown and duplicate fields, or refuse them when the client asked to be strict."""
    if not problems:
        return
    if validation == "Strict":
        why = "strict decoding error: " + ", ".join(problems)
        raise _cannot_be_handled(resource.kind, resource.version, resource, why)
    for problem in problems:
        request.warn(problem)


def check_type(resource: Resource, value: dict[str, Any]) -> None:
    """Refuse a body that says it is of another kind or version; what it does not say is taken from the path."""
    if problem := untyped(value):
        raise errors.bad_request(problem)
    _check_type(resource, value)


def _check_type(resource: Resource, value: dict[str, Any]) -> None:
    kind = value.get("kind") or resource.kind
    api_version = value.get("apiVersion") or resource.api_version
    if kind == resource.kind and api_version == resource.api_version:
        return
    if resource.decode is not None:
        _check_custom_type(resource, kind, api_version)
    group, _, version = api_version.rpartition("/")
    known = schema.is_kind(group, version, kind)
    if kind == resource.kind and (
        known or (group in (resource.group, "extensions") and _BETA.match(version))
    ):
        raise errors.bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    raise _cannot_be_handled(kind, version, resource, of_another_kind(resource, kind, api_version))


def of_another_kind(resource: Resource, kind: str, api_version: str) -> str:
    """Return the text that says why an object of another kind or version does not fit."""
    group, _, version = api_version.rpartition("/")
    if schema.is_kind(group, version, kind):
        target = f"{resource.group.partition('.')[0] or 'core'}.{resource.kind}"
        return f"converting ({version}.{kind}) to ({target}): unknown conversion"
    scheme = "pkg/api/legacyscheme/scheme.go:30"  # how upstream calls the list of its kinds
    start = f"no kind {go_format.quote(kind)} is registered for version {go_format.quote(api_version)}"
    return f"{start} in scheme {go_format.quote(scheme)}"


def _check_custom_type(resource: Resource, kind: str, api_version: str) -> None:
    if api_version != resource.api_version:
        raise errors.bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    problems = Errors()
    problems.invalid("kind", kind, f"must be {resource.kind}")
    raise errors.invalid(resource.group, resource.kind, "", problems)
