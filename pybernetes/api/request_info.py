"""What a request asks for: verb, resource and name, read off its method and path.

Authorization and routing look at the same reading of the path, so that no spelling of it can mean one thing to the
one and another to the other. A path that looks like a resource and can be none keeps an empty version, which no
kind has: it is authorized as it looks, then refused.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from pybernetes.api import selectors
from pybernetes.api.verbs import VERB_OF_METHOD
from pybernetes.lib.memory.forgetting import forgotten

# Subresources of a namespace itself; anything else below a namespace is a resource in it.
_NAMESPACE_SUBRESOURCES = ("status", "finalize")
# The one list of what goes on for as long as the client likes: no time limit, no seat, two entries in the audit log.
_LONG_RUNNING_VERBS = frozenset(("watch", "proxy"))
_LONG_RUNNING_SUBRESOURCES = frozenset(("attach", "exec", "log", "portforward", "proxy"))
# Clients ask for the same few over and over. Paths are what they make up: longer ones are read each time, so that what is
# kept has a bound in bytes.
_LONGEST_KNOWN = 200


class RequestInfo(NamedTuple):
    """The parts of a request that authorization, routing and metrics look at.

    ``fields`` (field, value, whether they must be equal) and ``labels`` are conditions that narrow the objects; they
    are there in what ``attributes`` gives.
    """

    verb: str
    path: str = ""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    # What follows the subresource: the path that a proxy request is for.
    rest: str = ""
    # Whether the verb is in the path, as in /api/v1/watch/pods.
    verb_in_path: bool = False
    fields: tuple[tuple[str, str, bool], ...] = ()
    labels: tuple[selectors.Requirement, ...] = ()

    @property
    def long_running(self) -> bool:
        """Whether the answer goes on: a watch, or a stream from or to a pod, a node or a service."""
        return self.verb in _LONG_RUNNING_VERBS or self.subresource in _LONG_RUNNING_SUBRESOURCES


def parse(method: str, path: str, watch: bool) -> RequestInfo:
    """Read a request; ``watch`` says whether the query asks for a watch."""
    return (_known if len(path) <= _LONGEST_KNOWN else _read)(method, path, watch)


def _read(method: str, path: str, watch: bool) -> RequestInfo:
    parts = path.strip("/").split("/")
    if len(parts) >= 3 and parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        group, version, rest = parts[1], parts[2] if parts[1] else "", parts[3:]
    else:
        return RequestInfo(method.lower(), path)
    if not path.startswith(("/api/", "/apis/")):
        version = ""
    verb = VERB_OF_METHOD.get(method, "")
    # The old forms of a watch, still served upstream, and of a proxy, which is not.
    verb_in_path = rest[0] in ("watch", "proxy") and len(rest) > 1
    if verb_in_path:
        verb, rest = rest[0], rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    resource = rest[0]
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 and verb != "proxy" else ""
    if verb == "get" and not name:
        verb = "watch" if watch else "list"
    elif verb == "delete" and not name:
        verb = "deletecollection"
    below = "/".join(rest[3:]) if len(rest) > 3 else ""
    # By their places, which is the quickest: every request comes this way.
    return RequestInfo(
        verb, path, True, group, version, resource, subresource, namespace, name, below, verb_in_path
    )


_known = forgotten(lru_cache(maxsize=2000)(_read))
