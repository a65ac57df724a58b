"""A client's body turned into an object of a kind."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors, go
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import DecodeError, Decoder
from pybernetes.control_plane.apiserver.http.messages import Request
from pybernetes.control_plane.apiserver.negotiation import Body


def decode(resource: Resource, body: Body, validation: str, request: Request) -> Object:
    """The body as an object of the kind; unknown and duplicate fields are warned of or refused as asked."""
    value = body.value
    if not isinstance(value, dict):
        raise errors.bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            "couldn't get version/kind; json parse error: json: cannot unmarshal "
            f"{_json_name(value)} into Go value of type struct"
        )
    check_type(resource, value)
    decoder = Decoder(counting=validation != "Ignore")
    obj = convert(resource, value, decoder)
    if validation != "Ignore":
        problems = [f"unknown field {go.quote(path)}" for path in decoder.unknown]
        # Keys below unknown fields were not counted, but then the slow parse is due anyway.
        problems += [f"duplicate field {go.quote(path)}" for path in body.duplicates(decoder.keys)]
        report(resource, problems, validation, request)
    return obj


def convert(resource: Resource, value: dict[str, Any], decoder: Decoder) -> Object:
    """The value through the kind's type, with kind, apiVersion and metadata in place; 400 if it does not fit."""
    try:
        obj = decoder.decode(resource.type, value)
    except DecodeError as error:
        raise cannot_be_handled(resource, str(error)) from None
    obj["kind"], obj["apiVersion"] = resource.kind, resource.api_version
    if "metadata" not in obj:
        obj["metadata"] = {}
    return obj


def cannot_be_handled(resource: Resource, why: str) -> errors.StatusError:
    """The answer to a body that does not fit its kind."""
    return errors.bad_request(
        f"{resource.kind} in version {go.quote(resource.version)} cannot be handled as a {resource.kind}: {why}"
    )


def report(resource: Resource, problems: list[str], validation: str, request: Request) -> None:
    """Warns of unknown and duplicate fields, or refuses them when the client asked to be strict."""
    if not problems:
        return
    if validation == "Strict":
        raise cannot_be_handled(resource, "strict decoding error: " + ", ".join(problems))
    for problem in problems:
        request.warn(problem)


def check_type(resource: Resource, value: dict[str, Any]) -> None:
    """Refuses a body that says it is of another kind or version."""
    version, kind = value.get("apiVersion"), value.get("kind")
    if (kind and kind != resource.kind) or (version and version != resource.api_version):
        if not isinstance(kind, str) or not isinstance(version, str):
            raise errors.bad_request(
                "the object provided is unrecognized: kind and apiVersion must be strings"
            )
        group, _, name = version.rpartition("/")
        if kind == resource.kind:
            raise errors.bad_request(
                f"the API version in the data ({version}) does not match the expected API version "
                f"({resource.api_version})"
            )
        what = f"{kind} in version {go.quote(name)}"
        raise errors.bad_request(
            f"{what} cannot be handled as a {resource.kind}: "
            f"converting ({group}.{kind}) to ({resource.group}.{resource.kind}): unknown conversion"
        )


def _json_name(value: Any) -> str:
    names = {str: "string", bool: "bool", list: "array", int: "number", float: "number"}
    return names.get(type(value), "null")
