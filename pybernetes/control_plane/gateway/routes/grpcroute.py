"""GRPCRoute: calls by service and method, which are paths of HTTP/2."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import checks, filters
from pybernetes.control_plane.gateway.backends import Backends
from pybernetes.control_plane.gateway.cluster_view import ClusterView
from pybernetes.control_plane.gateway.model import Action, Match
from pybernetes.control_plane.gateway.routes.httproute import values
from pybernetes.control_plane.gateway.routes.translated import Translated, of_rules, weighted

KIND = "GRPCRoute"
_ANY = "[^/]+"


def _match(config: Object) -> Match:
    headers, method = values(config.get("headers")), config.get("method")
    if not method:
        return Match(headers=headers)
    service, name = method.get("service", ""), method.get("method", "")
    if method.get("type", "Exact") == "RegularExpression":
        parts = (checks.pattern(part) if part else _ANY for part in (service, name))
        return Match("regex", checks.pattern("/({})/({})".format(*parts)), headers=headers)
    if service and name:
        return Match("exact", checks.path(f"/{service}/{name}"), headers=headers)
    if service:
        return Match("prefix", checks.path(f"/{service}/"), headers=headers)
    checks.path(f"/{name}")
    return Match("regex", checks.pattern(f"/{_ANY}/{name}"), headers=headers)


def _action(rule: Object, backends: Backends) -> Action:
    changes = filters.changes(rule.get("filters") or (), backends.resolve)
    return Action(weighted(rule.get("backendRefs") or (), backends), changes)


def translate(obj: Object, view: ClusterView) -> Translated:
    """Return what a GRPCRoute becomes."""
    return of_rules(obj, Backends(view, KIND, obj["metadata"]["namespace"], is_http2=True), _match, _action)
