"""HTTPRoute: rules with matches, filters, backends and timeouts."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import checks, filters
from pybernetes.control_plane.gateway.backends import Backends
from pybernetes.control_plane.gateway.cluster_view import ClusterView
from pybernetes.control_plane.gateway.model import Action, Match, PathType, Value
from pybernetes.control_plane.gateway.routes.translated import Translated, of_rules, weighted

KIND = "HTTPRoute"
_PATHS: dict[str, PathType] = {"Exact": "exact", "PathPrefix": "prefix", "RegularExpression": "regex"}


def values(entries: list[Object] | None) -> tuple[Value, ...]:
    """Return what headers or parameters have to be; of several with one name, the first counts."""
    result: dict[str, Value] = {}
    for entry in entries or ():
        name, is_regex = checks.header_name(entry["name"]), entry.get("type") == "RegularExpression"
        value = checks.pattern(entry["value"]) if is_regex else checks.header_value(entry["value"])
        result.setdefault(name.lower(), Value(name, value, is_regex))
    return tuple(result.values())


def _match(config: Object) -> Match:
    path = config.get("path") or {}
    kind = _PATHS[path.get("type", "PathPrefix")]
    text = path.get("value", "/")
    text = checks.pattern(text) if kind == "regex" else checks.path(text)
    return Match(
        kind, text, config.get("method", ""), values(config.get("headers")), values(config.get("queryParams"))
    )


def _action(rule: Object, backends: Backends) -> Action:
    timeouts = {field: checks.duration(text) for field, text in (rule.get("timeouts") or {}).items()}
    return Action(
        weighted(rule.get("backendRefs") or (), backends),
        filters.changes(rule.get("filters") or (), backends.resolve),
        timeouts.get("request"),
        timeouts.get("backendRequest"),
    )


def translate(obj: Object, view: ClusterView) -> Translated:
    """Return what an HTTPRoute becomes."""
    return of_rules(obj, Backends(view, KIND, obj["metadata"]["namespace"]), _match, _action)
