"""The filters of routes: a field for each type, of which exactly the one that the type names is set."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.definitions import _schema as schema
from pybernetes.control_plane.gateway.definitions._schema import list_, object_, rule


def _headers() -> Object:
    header = object_({"name": schema.HEADER_NAME, "value": schema.text(4096)}, "name", "value")
    named = list_(header, 16, keys=("name",))
    return object_({"set": named, "add": named, "remove": list_(schema.STRING, 16, kind="set")})


def _mirror() -> Object:
    fraction = object_(
        {"numerator": schema.integer(0), "denominator": schema.integer(1, default=100)}, "numerator",
        rules=(rule("self.numerator <= self.denominator", "numerator must be less than or equal to denominator"),),
    )  # fmt: skip
    fields = {
        "backendRef": schema.backend(weighted=False),
        "percent": schema.integer(0, 100),
        "fraction": fraction,
    }
    only = rule(
        "!(has(self.percent) && has(self.fraction))",
        "Only one of percent or fraction may be specified in HTTPRequestMirrorFilter",
    )
    return object_(fields, "backendRef", rules=(only,))


def _path() -> Object:
    rules: list[Object] = []
    for type_ in ("ReplaceFullPath", "ReplacePrefixMatch"):
        field = type_[0].lower() + type_[1:]
        rules += [
            rule(
                f"self.type == '{type_}' ? has(self.{field}) : true",
                f"{field} must be specified when type is set to '{type_}'",
            ),
            rule(
                f"has(self.{field}) ? self.type == '{type_}' : true",
                f"type must be '{type_}' when {field} is set",
            ),
        ]
    value = schema.text(1024, 0)
    kinds = schema.one_of("ReplaceFullPath", "ReplacePrefixMatch")
    return object_(
        {"type": kinds, "replaceFullPath": value, "replacePrefixMatch": value}, "type", rules=tuple(rules)
    )


def _redirect() -> Object:
    code = {"type": "integer", "enum": [301, 302, 303, 307, 308], "default": 302}
    return object_({
        "scheme": schema.one_of("http", "https"), "hostname": schema.PRECISE_HOSTNAME, "path": _path(),
        "port": schema.PORT, "statusCode": code,
    })  # fmt: skip


def _cors() -> Object:
    def alone(items: Object, most: int, field: str, others: str) -> Object:
        only = rule(
            "!('*' in self && self.size() > 1)", f"{field} cannot contain '*' alongside other {others}"
        )
        return list_(items, most, kind="set", rules=(only,))

    methods = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "*")
    origin = r"(^\*$)|(^(http(s)?):\/\/(((\*\.)?([a-zA-Z0-9\-]+\.)*[a-zA-Z0-9-]+|\*)(:([0-9]{1,5}))?)$)"
    return object_({
        "allowOrigins": alone(schema.text(253, pattern=origin), 64, "AllowOrigins", "origins"),
        "allowCredentials": {"type": "boolean"},
        "allowMethods": alone(schema.one_of(*methods), 9, "AllowMethods", "methods"),
        "allowHeaders": alone(schema.HEADER_NAME, 64, "AllowHeaders", "methods"),
        "exposeHeaders": list_(schema.HEADER_NAME, 64, kind="set"),
        "maxAge": schema.integer(1, default=5),
    })  # fmt: skip


def _fields() -> dict[str, Object]:
    return {
        "RequestHeaderModifier": _headers(),
        "ResponseHeaderModifier": _headers(),
        "RequestMirror": _mirror(),
        "RequestRedirect": _redirect(),
        "URLRewrite": object_({"hostname": schema.PRECISE_HOSTNAME, "path": _path()}),
        "ExtensionRef": object_(schema.reference(), "group", "kind", "name"),
        "CORS": _cors(),
    }


def field_of(type_: str) -> str:
    """Return the field that a type of filter is configured in."""
    return {"URLRewrite": "urlRewrite", "CORS": "cors"}.get(type_, type_[0].lower() + type_[1:])


def filters(*types: str) -> Object:
    """Return the schema of filters of some types, in the order of the definition; all of them if none is named."""
    chosen = {type_: made for type_, made in _fields().items() if not types or type_ in types}
    pairs: list[Object] = []
    for type_ in chosen:
        field = field_of(type_)
        pairs += [
            rule(f"!(has(self.{field}) && self.type != '{type_}')",
                 f"filter.{field} must be nil if the filter.type is not {type_}"),
            rule(f"!(!has(self.{field}) && self.type == '{type_}')",
                 f"filter.{field} must be specified for {type_} filter.type"),
        ]  # fmt: skip
    fields = {field_of(type_): made for type_, made in chosen.items()}
    one = object_({"type": schema.one_of(*chosen), **fields}, "type", rules=tuple(pairs))
    once = [
        rule(f"self.filter(f, f.type == '{type_}').size() <= 1", f"{type_} filter cannot be repeated")
        for type_ in chosen
        if type_ not in ("RequestMirror", "ExtensionRef")
    ]
    if "URLRewrite" in chosen:
        both = "!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))"
        word = (
            "May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both"
        )
        once.insert(0, rule(both, word))
    return list_(one, 16, rules=tuple(once))
