"""Ingress: how requests from outside reach services."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.networking import _backends
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import addresses, checks, names

_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_SPEC = Path("spec")
_SHOWN_HOSTS = 3


def default(obj: Object) -> None:
    """Fill what is always written."""
    obj.setdefault("spec", {})
    for rule in obj["spec"].get("rules", ()):
        for path in rule.get("http", {}).get("paths", ()):
            _backends.default(path.setdefault("backend", {}))
    if "defaultBackend" in obj["spec"]:
        _backends.default(obj["spec"]["defaultBackend"])
    obj.setdefault("status", {}).setdefault("loadBalancer", {})


def prepare_create(obj: Object) -> None:
    """Start without an address."""
    obj["status"] = {"loadBalancer": {}}


def validate(obj: Object, errors: Errors) -> None:
    """Check hosts, paths, backends and certificates."""
    spec = obj.get("spec", {})
    rules = spec.get("rules", [])
    if not rules and "defaultBackend" not in spec:
        errors.invalid(_SPEC, rules or None, "either `defaultBackend` or `rules` must be specified")
    if "defaultBackend" in spec:
        _backends.validate(spec["defaultBackend"], _SPEC / "defaultBackend", errors)
    for index, rule in enumerate(rules):
        _rule(rule, (_SPEC / "rules")[index], errors)
    for index, entry in enumerate(spec.get("tls", ())):
        _tls(entry, (_SPEC / "tls")[index], errors)
    name = spec.get("ingressClassName")
    if name is not None:
        checks.name(names.dns_subdomain, name, _SPEC / "ingressClassName", errors)


def validate_create(obj: Object, errors: Errors) -> None:
    """Check that the old annotation does not contradict the class."""
    name = get(obj, ".spec.ingressClassName")
    annotated = obj["metadata"].get("annotations", {}).get(_CLASS_ANNOTATION, name)
    if name is not None and annotated != name:
        text = "must match `ingressClassName` when both are specified"
        errors.invalid(Path("annotations") / _CLASS_ANNOTATION, annotated, text)


def _host(host: str, path: Path, errors: Errors) -> None:
    check = names.wildcard_subdomain if "*" in host else names.dns_subdomain
    for problem in check(host):
        errors.invalid(path, host, problem)


def _rule(rule: Object, path: Path, errors: Errors) -> None:
    host = rule.get("host", "")
    if host:
        if addresses.parse_sloppy(host) is not None:
            errors.invalid(path / "host", host, "must be a DNS name, not an IP address")
        _host(host, path / "host", errors)
    if "http" in rule:
        paths = rule["http"].get("paths", [])
        here = path / "http" / "paths"
        if not paths:
            errors.required(here)
        for index, entry in enumerate(paths):
            _backends.validate_path(entry, here[index], errors)


def _tls(entry: Object, path: Path, errors: Errors) -> None:
    for index, host in enumerate(entry.get("hosts", ())):
        _host(host, (path / "hosts")[index], errors)
    secret = entry.get("secretName", "")
    if secret:
        checks.name(names.dns_subdomain, secret, path / "secretName", errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the addresses at which it is reached."""
    path = Path("status") / "loadBalancer" / "ingress"
    known = [entry.get("ip", "") for entry in get(old, ".status.loadBalancer.ingress", ())]
    for index, entry in enumerate(get(new, ".status.loadBalancer.ingress", ())):
        if entry.get("ip"):
            addresses.legacy_ip(entry["ip"], path[index] / "ip", errors, known)
        host = entry.get("hostname", "")
        if host:
            checks.name(names.dns_subdomain, host, path[index] / "hostname", errors)
            if addresses.parse_sloppy(host) is not None:
                errors.invalid(path[index] / "hostname", host, "must be a DNS name, not an IP address")


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about the annotation that a field has replaced."""
    annotated = _CLASS_ANNOTATION in new["metadata"].get("annotations", {})
    if old is None and annotated and get(new, ".spec.ingressClassName") is None:
        return [
            f"annotation \"{_CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"
        ]
    return []


def _hosts(obj: Object, now: float) -> str:
    rules = get(obj, ".spec.rules", [])
    hosts = [rule["host"] for rule in rules if rule.get("host")]
    shown = hosts[:_SHOWN_HOSTS]
    if not shown:
        return "*"
    # What follows the rule that filled the list counts as more, even if it names no host.
    more = len(rules) > _filled(rules)
    return ",".join(shown) + (f" + {len(rules) - _SHOWN_HOSTS} more..." if more else "")


def _filled(rules: list[Object]) -> int:
    """Return how many rules it takes to fill the list of hosts that is shown."""
    count = 0
    for index, rule in enumerate(rules):
        count += bool(rule.get("host"))
        if count == _SHOWN_HOSTS:
            return index + 1
    return len(rules)


def _address(obj: Object, now: float) -> str:
    entries = get(obj, ".status.loadBalancer.ingress", ())
    return ",".join(sorted({entry.get("ip") or entry.get("hostname") or "" for entry in entries} - {""}))


RESOURCE = Resource(
    group="networking.k8s.io",
    version="v1",
    kind="Ingress",
    plural="ingresses",
    short_names=("ing",),
    subresources=("status",),
    storage_path="ingress",
    generation=True,
    columns=(
        NAME,
        Column("Class", lambda obj, now: get(obj, ".spec.ingressClassName", "<none>")),
        Column("Hosts", _hosts),
        Column("Address", _address),
        Column("Ports", lambda obj, now: "80, 443" if get(obj, ".spec.tls") else "80"),
        AGE,
    ),
    default=default,
    prepare_create=prepare_create,
    validate=validate,
    validate_create=validate_create,
    validate_status_update=validate_status_update,
    warnings=warnings,
)
