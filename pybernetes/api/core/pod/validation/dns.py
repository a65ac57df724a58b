"""Checks of how a pod resolves names and what it is called."""

from __future__ import annotations

import re

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names
from pybernetes.api.validation.addresses import legacy_ip
from pybernetes.lib.memory.bounded_cache import bounded_cache

_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH = rf"{_LABEL}(\.{_LABEL})*"
_search = re.compile(_SEARCH + r"\Z")
_SEARCH_TEXT = names.regex(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character",
    _SEARCH,
    "example.com",
)


@bounded_cache()
def _search_problems(name: str) -> tuple[str, ...]:
    problems = [names.max_length(253)] if len(name.encode()) > 253 else []
    if not _search.match(name):
        problems.append(_SEARCH_TEXT)
    return tuple(problems)


def validate_dns_policy(spec: Object, path: Path, errors: Errors) -> None:
    """Check the policy, which is wrong only rarely, apart from the configuration."""
    policy = spec.get("dnsPolicy", "")
    if policy not in _POLICIES:
        checks.required_one_of(policy, _POLICIES, path / "dnsPolicy", errors)


def validate_dns_config(spec: Object, path: Path, errors: Errors) -> None:
    """Check the name servers, search paths and options that a pod brings."""
    path = path / "dnsConfig"
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            errors.required(path / "nameservers", text)
            return
    if config is None:
        return
    servers, searches = config.get("nameservers", []), config.get("searches", [])
    if len(servers) > 3:
        errors.invalid(path / "nameservers", servers, "must not have more than 3 nameservers")
    for index, server in enumerate(servers):
        legacy_ip(server, (path / "nameservers")[index], errors)
    if len(searches) > 32:
        errors.invalid(path / "searches", searches, "must not have more than 32 search paths")
    if len(" ".join(searches).encode()) > 2048:
        text = "must not have more than 2048 characters (including spaces) in the search list"
        errors.invalid(path / "searches", searches, text)
    for index, search in enumerate(searches):
        if search != ".":
            checks.name(_search_problems, search.removesuffix("."), (path / "searches")[index], errors)
    for index, option in enumerate(config.get("options", ())):
        if not option.get("name"):
            errors.required((path / "options")[index], "must not be empty")


def validate_host_aliases(aliases: list[Object], path: Path, errors: Errors) -> None:
    """Check the lines that a pod adds to its hosts file."""
    for index, alias in enumerate(aliases):
        legacy_ip(alias.get("ip", ""), path[index] / "ip", errors)
        for position, name in enumerate(alias.get("hostnames", ())):
            checks.name(names.dns_subdomain, name, (path[index] / "hostnames")[position], errors)


def validate_hostname_override(spec: Object, path: Path, errors: Errors) -> None:
    """Check the full host name that a pod can give itself."""
    name = spec["hostnameOverride"]
    path = path / "hostnameOverride"
    if spec.get("setHostnameAsFQDN"):
        errors.forbidden(path, "may not be specified when setHostnameAsFQDN is true")
    if spec.get("hostNetwork"):
        errors.forbidden(path, "may not be specified when hostNetwork is true")
    if len(name.encode()) > 64:
        errors.too_long(path, 64)
    checks.name(names.dns_subdomain, name, path, errors)
