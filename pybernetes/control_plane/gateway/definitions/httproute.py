"""HTTPRoute: where requests go by host name, path, headers, query and method, and what happens to them on the way."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.definitions import _filters
from pybernetes.control_plane.gateway.definitions import _routes as routes
from pybernetes.control_plane.gateway.definitions import _schema as schema
from pybernetes.control_plane.gateway.definitions._schema import list_, object_, rule

_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH")
_CHARACTERS = r"^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$"
_ALL_PATHS = {"type": "PathPrefix", "value": "/"}


def _path() -> Object:
    literal = "(self.type in ['Exact','PathPrefix'])"
    which = "when type one of ['Exact', 'PathPrefix']"
    begins = rule(
        f"{literal} ? self.value.startsWith('/') : true",
        f"value must be an absolute path and start with '/' {which}",
    )
    without = (
        rule(f"{literal} ? !self.value.contains('{part}') : true", f"must not contain '{part}' {which}")
        for part in ("//", "/./", "/../", "%2f", "%2F", "#")
    )
    ends = (
        rule(f"{literal} ? !self.value.endsWith('{part}') : true", f"must not end with '{part}' {which}")
        for part in ("/..", "/.")
    )
    characters = rule(
        f'{literal} ? self.value.matches(r"""{_CHARACTERS}""") : true',
        f"must only contain valid characters (matching {_CHARACTERS}) for types ['Exact', 'PathPrefix']",
    )
    kind = schema.one_of("Exact", "PathPrefix", "RegularExpression", default="PathPrefix")
    value = schema.text(1024, 0, default="/")
    return object_(
        {"type": kind, "value": value}, rules=(begins, *without, *ends, characters), default=_ALL_PATHS
    )


def _replaces_prefix(field: str) -> str:
    inside = f"f.{field}.path"
    return (
        f"exists_one(f, has(f.{field}) && has({inside}) && {inside}.type == 'ReplacePrefixMatch' "
        f"&& has({inside}.replacePrefixMatch))"
    )


def _rule_checks() -> list[Object]:
    one = "(size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true"
    needs = "filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified"
    checks = [
        rule("(has(self.backendRefs) && size(self.backendRefs) > 0) ? (!has(self.filters) || "
             "self.filters.all(f, !has(f.requestRedirect))) : true",
             "RequestRedirect filter must not be used together with backendRefs"),
    ]  # fmt: skip
    for field, word in (("requestRedirect", "RequestRedirect"), ("urlRewrite", "URLRewrite")):
        replaces = _replaces_prefix(field)
        checks.append(
            rule(
                f"(has(self.filters) && self.filters.{replaces}) ? ({one}) : true",
                f"When using {word} {needs}",
            )
        )
        in_backend = (
            f"has(self.backendRefs) && self.backendRefs.exists_one(b, has(b.filters) && b.filters.{replaces})"
        )
        checks.append(
            rule(f"({in_backend}) ? ({one}) : true", f"Within backendRefs, when using {word} {needs}")
        )
    return checks


def _rules() -> Object:
    filters = _filters.filters()
    match = object_({
        "path": _path(), "headers": routes.header_matches(), "queryParams": routes.header_matches(1024),
        "method": schema.one_of(*_METHODS),
    })  # fmt: skip
    longer = rule(
        "!(has(self.request) && has(self.backendRequest) && duration(self.request) != duration('0s') && "
        "duration(self.backendRequest) > duration(self.request))",
        "backendRequest timeout cannot be longer than request timeout",
    )
    timeouts = object_({"request": schema.DURATION, "backendRequest": schema.DURATION}, rules=(longer,))
    everything = [{"path": _ALL_PATHS}]
    return routes.rules(
        {
            "matches": list_(match, 64, default=everything), "filters": filters, "timeouts": timeouts,
            "backendRefs": list_(schema.backend(filters=filters), 16),
        },
        *_rule_checks(),
        minItems=1, default=[{"matches": everything}],
    )  # fmt: skip


DEFINITION = routes.route("HTTPRoute", {"rules": _rules()}, versions=("v1", "v1beta1"))
