"""What is noted of one request, in upstream's form (audit.k8s.io/v1)."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import quote

import orjson

from pybernetes.api.text import json_reader, yaml_reader
from pybernetes.control_plane.apiserver.inprocess.objects import Objects
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import attributes
from pybernetes.lib.http.messages import Response

Event = dict[str, Any]
_USER_AGENT_CHARACTERS = 1024
_REFERENCE = (
    "resource",
    "namespace",
    "name",
    "uid",
    "apiGroup",
    "apiVersion",
    "resourceVersion",
    "subresource",
)
# The parts of a Status that are noted; the rest of it could be of any size.
_STATUS = ("status", "message", "reason", "details", "code")
# Characters that a path may hold as they are.
_PLAIN = "/:@!$&'()*+,;=~"


def begin(request: Request, level: str, received: str) -> Event:
    """Return what is known of a request once it is known who sent it."""
    info = attributes(request)
    uri = quote(request.path, safe=_PLAIN)
    event: Event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level,
        "auditID": request.audit_id.decode("latin-1"),
        "stage": "",
        "requestURI": f"{uri}?{request.query_text}" if request.query_text else uri,
        "verb": info.verb,
        "user": request.user.info() if request.user is not None else {},
        "sourceIPs": sources(request),
        "requestReceivedTimestamp": received,
        "stageTimestamp": received,
    }
    if agent := request.header(b"user-agent"):
        long = len(agent) > _USER_AGENT_CHARACTERS
        event["userAgent"] = agent[:_USER_AGENT_CHARACTERS] + "...TRUNCATED" if long else agent
    if info.is_resource:
        reference = (
            info.resource, info.namespace, info.name, "", info.group, info.version, "", info.subresource,
        )  # fmt: skip
        event["objectRef"] = {key: value for key, value in zip(_REFERENCE, reference, strict=True) if value}
    return event


def sources(request: Request) -> list[str]:
    """Return where a request came from: what proxies say, then the address that it really came from."""
    addresses = []
    forwarded = request.header(b"x-forwarded-for")
    real = request.header(b"x-real-ip")
    for text in (*forwarded.split(","), *((real,) if real not in forwarded else ())):
        try:
            addresses.append(str(ipaddress.ip_address(text.strip())))
        except ValueError:
            continue
    peer = request.connection.transport.get_extra_info("peername")
    if peer and (not addresses or addresses[-1] != peer[0]):
        addresses.append(peer[0])
    return addresses


def refer(event: Event, obj: dict[str, Any]) -> None:
    """Add to the reference what only the object in a request tells: for instance the name of a new one."""
    reference = event.setdefault("objectRef", {})
    metadata = obj.get("metadata")
    for key in ("namespace", "name", "uid", "resourceVersion"):
        value = metadata.get(key) if isinstance(metadata, dict) else None
        if value and key not in reference:
            reference[key] = value


def value_of(answer: Any) -> Any:
    """Return the object that an answer holds, or None if it is something else."""
    if isinstance(answer, Objects):
        return answer.value
    if not isinstance(answer, Response) or not answer.body:
        return None
    if any(name.lower() == b"content-encoding" for name, _ in answer.headers):
        return None
    try:
        if answer.content_type.startswith(b"application/json"):
            return json_reader.loads(answer.body)
        if answer.content_type.startswith(b"application/yaml"):
            return yaml_reader.loads(answer.body)[0]
    except (json_reader.JsonError, yaml_reader.YamlError):
        pass
    return None


def status_of(answer: Any, code: int) -> dict[str, Any]:
    """Return what became of a request: the code, and what a Status says beside it."""
    if isinstance(answer, Response) and b'"Status"' in answer.body[:200]:
        value = value_of(answer)
        if isinstance(value, dict) and value.get("kind") == "Status":
            return {"metadata": {}, **{key: value[key] for key in _STATUS if key in value}, "code": code}
    return {"metadata": {}, "code": code}


def without_managed_fields(value: Any) -> Any:
    """Return a copy of an object, a list or a table without the notes on who set which field."""
    if not isinstance(value, dict):
        return value
    copy = dict(value)
    metadata = copy.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        copy["metadata"] = {key: field for key, field in metadata.items() if key != "managedFields"}
    if isinstance(copy.get("items"), list):
        copy["items"] = [without_managed_fields(item) for item in copy["items"]]
    if copy.get("kind") == "Table":
        copy["rows"] = [
            {**row, "object": without_managed_fields(row.get("object"))} for row in copy.get("rows") or ()
        ]
    return copy


def encode(event: Event) -> bytes:
    """Return an event as one line of JSON."""
    return orjson.dumps(event, option=orjson.OPT_NON_STR_KEYS)


def copied(value: Any) -> Any:
    """Return a copy of a JSON value: whoever goes on with the original may change it."""
    return orjson.loads(orjson.dumps(value))
