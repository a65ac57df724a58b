"""Hosts with routes, as Envoy has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pybernetes.control_plane.gateway.envoy.messages import ROUTES, Message, message, packed, seconds
from pybernetes.control_plane.gateway.model import (
    Action,
    Backend,
    Changes,
    Cors,
    HeaderChanges,
    Match,
    Redirect,
    Replacement,
    Route,
    Value,
)

NOWHERE = "nowhere"  # a cluster that does not exist; what goes there is answered with 500
_CODES = {
    301: "MOVED_PERMANENTLY",
    302: "FOUND",
    303: "SEE_OTHER",
    307: "TEMPORARY_REDIRECT",
    308: "PERMANENT_REDIRECT",
}
_PORTS = {"http": 80, "https": 443}
_OTHER = "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"
_CORS = "envoy.extensions.filters.http.cors.v3.CorsPolicy"
Fields = dict[str, Any]


def route_configuration(name: str, hosts: Mapping[str, list[Route]], *, port: int, is_tls: bool) -> Message:
    """Return the routes of a chain; redirects need to know by which port and scheme clients come."""
    scheme = "https" if is_tls else "http"
    virtual = [
        {"name": host, "domains": [host], "routes": [_route(route, scheme, port) for route in routes]}
        for host, routes in hosts.items()
    ]
    return message(ROUTES, {
        "name": name, "virtual_hosts": virtual, "ignore_port_in_host_matching": True,
        "max_direct_response_body_size_bytes": {"value": 4096},
    })  # fmt: skip


def _route(route: Route, scheme: str, port: int) -> Fields:
    action, match = route.action, route.match
    fields: Fields = {"match": _match(match), **_headers(action.changes)}
    if action.changes.redirect is not None:
        fields["redirect"] = _redirect(action.changes.redirect, match, scheme, port)
    elif not action.backends:
        fields["direct_response"] = {"status": 500}
    else:
        fields["route"] = _forward(action, match)
    if action.changes.cors is not None:
        fields["typed_per_filter_config"] = {"envoy.filters.http.cors": _cors(action.changes.cors)}
    return fields


def _match(match: Match) -> Fields:
    fields: Fields = {}
    prefix = match.path.rstrip("/")
    if match.path_type == "exact":
        fields["path"] = match.path
    elif match.path_type == "regex":
        fields["safe_regex"] = {"regex": match.path}
    elif prefix:
        fields["path_separated_prefix"] = prefix
    else:
        fields["prefix"] = "/"
    if match.headers or match.method:
        fields["headers"] = [_value(header) for header in match.headers]
        if match.method:
            fields["headers"].append({"name": ":method", "string_match": {"exact": match.method}})
    if match.parameters:
        fields["query_parameters"] = [_value(parameter) for parameter in match.parameters]
    return fields


def _value(wanted: Value) -> Fields:
    text = {"safe_regex": {"regex": wanted.value}} if wanted.is_regex else {"exact": wanted.value}
    return {"name": wanted.name, "string_match": text}


def _forward(action: Action, match: Match) -> Fields:
    changes = action.changes
    fields: Fields = {
        "cluster_not_found_response_code": "INTERNAL_SERVER_ERROR",
        "timeout": seconds(action.seconds or 0),
    }
    plain = len(action.backends) == 1 and action.backends[0].changes == Changes()
    if plain:
        fields["cluster"] = action.backends[0].cluster or NOWHERE
    else:
        fields["weighted_clusters"] = {"clusters": [_weighted(backend) for backend in action.backends]}
    fields["retry_policy"] = _retries()
    if action.backend_seconds:
        fields["retry_policy"]["per_try_timeout"] = seconds(action.backend_seconds)
        if not action.seconds:
            fields["timeout"] = seconds(action.backend_seconds)
    if changes.rewrite is not None:
        if changes.rewrite.host:
            fields["host_rewrite_literal"] = changes.rewrite.host
        if changes.rewrite.path is not None:
            fields["regex_rewrite"] = _replaced(changes.rewrite.path, match)
    if changes.mirrors:
        fields["request_mirror_policies"] = [
            {
                "cluster": mirror.cluster,
                "runtime_fraction": {
                    "default_value": {"numerator": round(mirror.numerator * 1_000_000 / mirror.denominator), "denominator": "MILLION"}
                },
            }
            for mirror in changes.mirrors
        ]  # fmt: skip
    return fields


def _retries() -> Fields:
    """Return when another endpoint is tried: the first one has not seen anything of the request, as when a pod is ending."""
    return {
        "retry_on": "connect-failure,refused-stream,reset-before-request", "num_retries": {"value": 2},
        "retry_host_predicate": [{"name": "envoy.retry_host_predicates.previous_hosts", "typed_config": packed(_OTHER)}],
        "host_selection_retry_max_attempts": 5,
    }  # fmt: skip


def _weighted(backend: Backend) -> Fields:
    return {
        "name": backend.cluster or NOWHERE, "weight": {"value": backend.weight}, **_headers(backend.changes)
    }  # fmt: skip


def _headers(changes: Changes) -> Fields:
    fields: Fields = {}
    for side, wanted in (("request", changes.request), ("response", changes.response)):
        options = _header_options(wanted)
        if options:
            fields[f"{side}_headers_to_add"] = options
        if wanted.remove:
            fields[f"{side}_headers_to_remove"] = list(wanted.remove)
    return fields


def _header_options(wanted: HeaderChanges) -> list[Fields]:
    # A percent sign begins a command, by which values could tell what the proxy knows.
    return [
        {"header": {"key": name, "value": value.replace("%", "%%")}, "append_action": action}
        for action, pairs in (
            ("OVERWRITE_IF_EXISTS_OR_ADD", wanted.set),
            ("APPEND_IF_EXISTS_OR_ADD", wanted.add),
        )
        for name, value in pairs
    ]


def _redirect(redirect: Redirect, match: Match, scheme: str, port: int) -> Fields:
    fields: Fields = {"response_code": _CODES[redirect.code]}
    target = redirect.scheme or scheme
    if redirect.scheme:
        fields["scheme_redirect"] = redirect.scheme
    if redirect.host:
        fields["host_redirect"] = redirect.host
    wanted = redirect.port or (_PORTS[target] if redirect.scheme else port)
    if wanted != _PORTS[target]:
        fields["port_redirect"] = wanted
    if redirect.path is not None and redirect.path.is_prefix:
        fields["regex_rewrite"] = _replaced(redirect.path, match)
    elif redirect.path is not None:
        fields["path_redirect"] = redirect.path.value
    return fields


def _replaced(replacement: Replacement, match: Match) -> Fields:
    """Return how a path becomes another; the slash between what is replaced and the rest stays single."""
    value = replacement.value.replace("\\", "\\\\")
    if not replacement.is_prefix:
        return {"pattern": {"regex": "^/.*$"}, "substitution": value}
    prefix, value = re.escape(match.path.rstrip("/")), value.rstrip("/")
    if not value:
        return {"pattern": {"regex": f"^{prefix}/*"}, "substitution": "/"}
    if not prefix:
        return {"pattern": {"regex": "^/+"}, "substitution": f"{value}/"}
    return {"pattern": {"regex": f"^{prefix}"}, "substitution": value}


def _cors(cors: Cors) -> Message:
    def origin(text: str) -> Fields:
        if "*" not in text:
            return {"exact": text}
        # A wildcard is for labels of a host name, and never reaches over the end of one.
        labels = re.escape(text).replace(r"\*", "[-A-Za-z0-9.]+")
        return {"safe_regex": {"regex": ".*" if text == "*" else labels}}

    return packed(_CORS, {
        "allow_origin_string_match": [origin(text) for text in cors.origins],
        "allow_methods": ", ".join(cors.methods), "allow_headers": ", ".join(cors.headers),
        "expose_headers": ", ".join(cors.exposed), "max_age": str(cors.max_age),
        "allow_credentials": {"value": cors.credentials},
        "forward_not_matching_preflights": {"value": False},  # a backend might allow what the route does not
    })  # fmt: skip
