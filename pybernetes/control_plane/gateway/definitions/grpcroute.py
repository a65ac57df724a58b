"""GRPCRoute: where calls of gRPC go."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.definitions import _filters
from pybernetes.control_plane.gateway.definitions import _routes as routes
from pybernetes.control_plane.gateway.definitions import _schema as schema
from pybernetes.control_plane.gateway.definitions._schema import list_, object_, rule

_TYPES = ("ResponseHeaderModifier", "RequestHeaderModifier", "RequestMirror", "ExtensionRef")
_NAMES = {
    "service": r"^(?i)\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$",
    "method": "^[A-Za-z_][A-Za-z_0-9]*$",
}


def _method() -> Object:
    exact = (
        rule(
            f'(!has(self.type) || self.type == \'Exact\') && has(self.{field}) ? self.{field}.matches(r"""{pattern}""") : true',
            f"{field} must only contain valid characters (matching {pattern})",
        )
        for field, pattern in _NAMES.items()
    )
    some = rule(
        "has(self.type) ? has(self.service) || has(self.method) : true",
        "One or both of 'service' or 'method' must be specified",
    )
    kind = schema.one_of("Exact", "RegularExpression", default="Exact")
    name = schema.text(1024, 0)
    return object_({"type": kind, "service": name, "method": name}, rules=(some, *exact))


def _rules() -> Object:
    filters = _filters.filters(*_TYPES)
    match = object_({"method": _method(), "headers": routes.header_matches()})
    return routes.rules({
        "matches": list_(match, 64), "filters": filters,
        "backendRefs": list_(schema.backend(filters=filters), 16),
    })  # fmt: skip


DEFINITION = routes.route("GRPCRoute", {"rules": _rules()})
