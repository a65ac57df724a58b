"""What a request asks for: verb, resource and name, read off its method and path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
# Subresources of a namespace itself; anything else below a namespace is a resource in it.
_NAMESPACE_SUBRESOURCES = ("status", "finalize")


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The parts of a request that authorization, routing and metrics look at."""

    verb: str
    path: str
    is_resource: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    # What follows the subresource: the path that a proxy request is for.
    rest: str = ""


@lru_cache(maxsize=8192)
def parse(method: str, path: str, watch: bool) -> RequestInfo:
    """Reads a request; ``watch`` says whether the query asks for a watch."""
    verb = _VERBS.get(method, method.lower())
    plain = RequestInfo(verb, path)
    parts = path[1:].split("/")
    if parts and parts[-1] == "":
        parts.pop()
    if len(parts) >= 3 and parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return RequestInfo(method.lower(), path)
    if rest[0] == "watch" and len(rest) > 1:  # the old form of a watch, still served upstream
        watch, rest = True, rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    if "" in rest[:3]:
        return plain
    resource = rest[0]
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    if verb == "get" and subresource == "" and (watch or not name):
        verb = "watch" if watch else "list"
    elif verb == "delete" and not name:
        verb = "deletecollection"
    return RequestInfo(
        verb=verb, path=path, is_resource=True, group=group, version=version, resource=resource,
        subresource=subresource, namespace=namespace, name=name, rest="/".join(rest[3:]),
    )  # fmt: skip
