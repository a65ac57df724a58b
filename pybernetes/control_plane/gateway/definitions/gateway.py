"""Gateway: addresses and ports that traffic comes in by, and whose routes may say where it goes."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.definitions import _schema as schema
from pybernetes.control_plane.gateway.definitions._schema import list_, object_, rule

_OPTION = schema.text(4096, 0)
_HOSTS = schema.HOSTNAME["pattern"]
_KIND = object_({"group": schema.API_GROUP | {"default": schema.GROUP}, "kind": schema.KIND}, "kind")


def _address(*required: str, least: int) -> Object:
    ip = {
        "properties": {
            "type": {"enum": ["IPAddress"]},
            "value": {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
        }
    }
    other = {"properties": {"type": {"not": {"enum": ["IPAddress"]}}}}
    kinds = rf"^Hostname|IPAddress|NamedAddress|{schema.CONTROLLER['pattern'][1:]}"
    host = rule(
        f'self.type == \'Hostname\' ? (!has(self.value) || self.value.matches(r"""{_HOSTS}""")) : true',
        f"Hostname value must be empty or contain only valid characters (matching {_HOSTS})",
    )
    return object_(
        {"type": schema.text(253, pattern=kinds, default="IPAddress"), "value": schema.text(253, least)},
        *required, rules=(host,), oneOf=[ip, other],
    )  # fmt: skip


def _addresses() -> Object:
    unique = (
        rule(
            f"self.all(a1, a1.type == '{kind}' && has(a1.value) ? "
            "self.exists_one(a2, a2.type == a1.type && has(a2.value) && a2.value == a1.value) : true)",
            f"{kind} values must be unique",
        )
        for kind in ("IPAddress", "Hostname")
    )
    return list_(_address(least=0), 16, rules=tuple(unique))


def _namespaces(*words: str, default: str) -> Object:
    fields = {"from": schema.one_of(*words, default=default), "selector": schema.selector()}
    return object_(fields, default={"from": default})


def _tls() -> Object:
    secret = object_(schema.reference("", "Secret", namespace=schema.NAMESPACE), "name")
    needed = rule(
        "self.mode == 'Terminate' ? size(self.certificateRefs) > 0 || size(self.options) > 0 : true",
        "certificateRefs or options must be specified when mode is Terminate",
    )
    return object_({
        "mode": schema.one_of("Terminate", "Passthrough", default="Terminate"),
        "certificateRefs": list_(secret, 64), "options": schema.texts(_OPTION, 16),
    }, rules=(needed,))  # fmt: skip


def _listeners() -> Object:
    allowed = object_(
        {"namespaces": _namespaces("All", "Selector", "Same", default="Same"), "kinds": list_(_KIND, 8)},
        default={"namespaces": {"from": "Same"}},
    )
    protocol = r"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]+$"
    listener = object_(
        {
            "name": schema.SECTION, "hostname": schema.HOSTNAME, "port": schema.PORT,
            "protocol": schema.text(255, pattern=protocol), "tls": _tls(), "allowedRoutes": allowed,
        },
        "name", "port", "protocol",
    )  # fmt: skip
    rules = (
        rule("self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
             "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']"),
        rule("self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
             "tls mode must be Terminate for protocol HTTPS"),
        rule("self.all(l, l.protocol == 'TLS' ? has(l.tls) && has(l.tls.mode) && l.tls.mode != '' : true)",
             "tls mode must be set for protocol TLS"),
        rule("self.all(l, l.protocol in ['TCP', 'UDP'] ? (!has(l.hostname) || l.hostname == '') : true)",
             "hostname must not be specified for protocols ['TCP', 'UDP']"),
        rule("self.all(l1, self.exists_one(l2, l1.name == l2.name))", "Listener name must be unique within the Gateway"),
        rule("self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && "
             "(has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))",
             "Combination of port, protocol and hostname must be unique for each listener"),
    )  # fmt: skip
    return list_(listener, 64, 1, keys=("name",), rules=rules)


def _frontend() -> Object:
    authority = object_(schema.reference(namespace=schema.NAMESPACE), "group", "kind", "name")
    modes = schema.one_of("AllowValidOnly", "AllowInsecureFallback", default="AllowValidOnly")
    validation = object_({"caCertificateRefs": list_(authority, 16, 1), "mode": modes}, "caCertificateRefs")
    config = object_({"validation": validation})
    port = object_({"port": schema.PORT, "tls": config}, "port", "tls")
    unique = rule(
        "self.all(t1, self.exists_one(t2, t1.port == t2.port))",
        "Port for TLS configuration must be unique within the Gateway",
    )
    return object_(
        {"default": config, "perPort": list_(port, 64, keys=("port",), rules=(unique,))}, "default"
    )


def _spec() -> Object:
    value = schema.text(63, 0, "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")
    key = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"
    keys = {
        "x-kubernetes-validations": [
            rule(f'self.all(key, key.matches(r"""{key}"""))',
                 "keys must be in the form of an optional DNS subdomain prefix followed by a required name segment of up to 63 characters."),
            rule('self.all(key, key.split("/")[0].size() < 253)',
                 "If specified, the key's prefix must be a DNS subdomain not longer than 253 characters in total."),
        ]
    }  # fmt: skip
    infrastructure = object_({
        "labels": schema.texts(value, 8) | keys, "annotations": schema.texts(_OPTION, 16) | keys,
        "parametersRef": object_(schema.reference(), "group", "kind", "name"),
    })  # fmt: skip
    client = object_(schema.reference("", "Secret", namespace=schema.NAMESPACE), "name")
    tls = object_({"backend": object_({"clientCertificateRef": client}), "frontend": _frontend()})
    allowed = object_({"namespaces": _namespaces("All", "Selector", "Same", "None", default="None")})
    return object_(
        {
            "gatewayClassName": schema.NAME, "listeners": _listeners(), "addresses": _addresses(),
            "infrastructure": infrastructure, "allowedListeners": allowed, "tls": tls,
        },
        "gatewayClassName", "listeners",
    )  # fmt: skip


def _status() -> Object:
    listener = object_(
        {
            "name": schema.SECTION, "supportedKinds": list_(_KIND, 8), "attachedRoutes": schema.integer(),
            "conditions": schema.conditions(),
        },
        "attachedRoutes", "conditions", "name",
    )  # fmt: skip
    waiting = ("Accepted", "Programmed")
    return object_(
        {
            "addresses": list_(_address("value", least=1), 16), "attachedListenerSets": schema.integer(),
            "conditions": schema.conditions(*waiting), "listeners": list_(listener, 64, keys=("name",)),
        },
        default={"conditions": schema.pending(*waiting)},
    )  # fmt: skip


DEFINITION = schema.definition(
    "Gateway",
    {"spec": _spec(), "status": _status()},
    versions=("v1", "v1beta1"),
    short="gtw",
    columns=(
        ("Class", ".spec.gatewayClassName"),
        ("Address", ".status.addresses[*].value"),
        ("Programmed", '.status.conditions[?(@.type=="Programmed")].status'),
    ),
)
