"""Parts that schemas of several kinds have in common, and what makes a definition of one."""

from __future__ import annotations

from pybernetes.api.resource import Object

GROUP = "gateway.networking.k8s.io"
VERSION, CHANNEL = "v1.6.1", "standard"
_APPROVED = "https://github.com/kubernetes-sigs/gateway-api/pull/4530"  # the API server wants it of groups below k8s.io
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
STRING: Object = {"type": "string"}


def text(most: int, least: int = 1, pattern: str = "", **more: object) -> Object:
    """Return the schema of a text of some length."""
    schema: Object = {"type": "string", "maxLength": most}
    return schema | ({"minLength": least} if least else {}) | ({"pattern": pattern} if pattern else {}) | more


def one_of(*values: str, default: str = "") -> Object:
    """Return the schema of a text that is one of some words."""
    return {"type": "string", "enum": list(values)} | ({"default": default} if default else {})


def integer(
    least: int | None = None, most: int | None = None, format_: str = "int32", **more: object
) -> Object:
    """Return the schema of a number."""
    bounds = {"minimum": least, "maximum": most}
    return {
        "type": "integer",
        "format": format_,
        **{name: bound for name, bound in bounds.items() if bound is not None},
        **more,
    }


def object_(properties: Object, *required: str, rules: tuple[Object, ...] = (), **more: object) -> Object:
    """Return the schema of an object."""
    schema: Object = {"type": "object", "properties": properties, **more}
    if required:
        schema["required"] = list(required)
    return schema | ({"x-kubernetes-validations": list(rules)} if rules else {})


def list_(
    items: Object, most: int, least: int = 0, *, keys: tuple[str, ...] = (), kind: str = "atomic",
    rules: tuple[Object, ...] = (), **more: object,
) -> Object:  # fmt: skip
    """Return the schema of a list: one value, or a map by the named keys."""
    schema: Object = {"type": "array", "items": items, "maxItems": most, **more}
    schema["x-kubernetes-list-type"] = "map" if keys else kind
    if keys:
        schema["x-kubernetes-list-map-keys"] = list(keys)
    if least:
        schema["minItems"] = least
    return schema | ({"x-kubernetes-validations": list(rules)} if rules else {})


def texts(values: Object, most: int) -> Object:
    """Return the schema of a map from texts to texts."""
    return {"type": "object", "additionalProperties": values, "maxProperties": most}


def rule(expression: str, message: str) -> Object:
    """Return a validation in CEL."""
    return {"rule": expression, "message": message}


PORT = integer(1, 65535)
NAME = text(253)
SECTION = text(253, pattern=f"^{_SUBDOMAIN}$")
NAMESPACE = text(63, pattern=f"^{_LABEL}$")
KIND = text(63, pattern="^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$")
API_GROUP = text(253, 0, f"^$|^{_SUBDOMAIN}$")
HOSTNAME = text(253, pattern=rf"^(\*\.)?{_SUBDOMAIN}$")
PRECISE_HOSTNAME = text(253, pattern=f"^{_SUBDOMAIN}$")
CONTROLLER = text(253, pattern=rf"^{_SUBDOMAIN}\/[A-Za-z0-9\/\-._~%!$&'()*+,;=:]+$")
HEADER_NAME = text(256, pattern=r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$")
DURATION: Object = {"type": "string", "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"}


def reference(group: str | None = None, kind: str | None = None, **more: Object) -> Object:
    """Return the fields of a reference; group and kind have a default, or are required by the caller."""
    of_group = API_GROUP if group is None else API_GROUP | {"default": group}
    return {
        "group": of_group,
        "kind": KIND if kind is None else KIND | {"default": kind},
        "name": NAME,
        **more,
    }


def backend(*, weighted: bool = True, filters: Object | None = None) -> Object:
    """Return the schema of a reference to a backend."""
    fields = reference("", "Service", namespace=NAMESPACE, port=PORT)
    if weighted:
        fields["weight"] = integer(0, 1_000_000, default=1)
    if filters is not None:
        fields["filters"] = filters
    service = rule(
        "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true",
        "Must have port for Service reference",
    )
    return object_(fields, "name", rules=(service,))


def selector() -> Object:
    """Return the schema of a label selector."""
    values = {"type": "array", "items": STRING, "x-kubernetes-list-type": "atomic"}
    expression = object_({"key": STRING, "operator": STRING, "values": values}, "key", "operator")
    expressions = {"type": "array", "items": expression, "x-kubernetes-list-type": "atomic"}
    labels = {"type": "object", "additionalProperties": STRING}
    return object_({"matchExpressions": expressions, "matchLabels": labels}) | {
        "x-kubernetes-map-type": "atomic"
    }


def conditions(*waiting: str, least: int = 0) -> Object:
    """Return the schema of conditions; those that are named wait for a controller at first."""
    subdomain = rf"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.{_LABEL})*/)?"
    condition = object_(
        {
            "type": text(316, 0, rf"^{subdomain}(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"),
            "status": one_of("True", "False", "Unknown"),
            "reason": text(1024, 1, "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"),
            "message": text(32768, 0),
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "observedGeneration": integer(0, format_="int64"),
        },
        "lastTransitionTime", "message", "reason", "status", "type",
    )  # fmt: skip
    schema = list_(condition, 8, least, keys=("type",))
    return schema | ({"default": pending(*waiting)} if waiting else {})


def pending(*types: str) -> list[Object]:
    """Return the conditions of an object that no controller has looked at."""
    wait = {"status": "Unknown", "reason": "Pending", "message": "Waiting for controller"}
    return [{"type": type_, **wait, "lastTransitionTime": "1970-01-01T00:00:00Z"} for type_ in types]


def definition(
    kind: str, schema: Object, *, versions: tuple[str, ...] = ("v1",), stored: str = "v1", short: str = "",
    columns: tuple[tuple[str, str], ...] = (), namespaced: bool = True,
) -> Object:  # fmt: skip
    """Return the definition of a kind whose versions are all alike."""
    plural = f"{kind.lower()}es" if kind.endswith("s") else f"{kind.lower()}s"
    meta = {"apiVersion": STRING, "kind": STRING, "metadata": {"type": "object"}}
    whole = object_({**meta, **schema}, "spec")
    shown = [
        *({"name": name, "type": "string", "jsonPath": path} for name, path in columns),
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    version = {"served": True, "additionalPrinterColumns": shown, "schema": {"openAPIV3Schema": whole}}
    if "status" in schema:
        version["subresources"] = {"status": {}}
    names = {
        "kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(), "categories": ["gateway-api"],
    } | ({"shortNames": [short]} if short else {})  # fmt: skip
    annotations = {
        "api-approved.kubernetes.io": _APPROVED,
        f"{GROUP}/bundle-version": VERSION,
        f"{GROUP}/channel": CHANNEL,
    }
    return {
        "metadata": {"name": f"{plural}.{GROUP}", "annotations": annotations},
        "spec": {
            "group": GROUP, "scope": "Namespaced" if namespaced else "Cluster", "names": names,
            "versions": [{**version, "name": name, "storage": name == stored} for name in versions],
        },
    }  # fmt: skip
