"""Checks that several kinds share."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names

FEATURE_GATES = {"RootlessControlPlane": False}
_PULL_POLICIES = ("", "Always", "IfNotPresent", "Never")
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_REPOSITORY = re.compile(rf"(?:{_HOST}(?:\.{_HOST})*(?::[0-9]+)?/)?{_PART}(?:/{_PART})*/name:tag\Z")
_PLAIN_HOST = re.compile(rf"{_HOST}(?:\.{_HOST})*(?::[0-9]+)?/name:tag\Z")


def absolute_path(errors: Errors, value: str, path: Path) -> None:
    """Collect a path that is not absolute."""
    if not PurePosixPath(value).is_absolute():
        errors.invalid(path, value, "path is not absolute")


def image_repository(errors: Errors, value: str, path: Path) -> None:
    """Collect a text that no image's name can begin with."""
    if len(value) > 255 or not (
        _REPOSITORY.match(f"{value}/name:tag") or _PLAIN_HOST.match(f"{value}/name:tag")
    ):
        errors.invalid(path, value, "invalid image repository format")


def extra_args(errors: Errors, arguments: Iterable[Object] | None, path: Path) -> None:
    """Collect arguments without a name."""
    for index, argument in enumerate(arguments or ()):
        if not argument.get("name"):
            errors.invalid(path, f"index {index}", "argument has no name")


def alternative_names(errors: Errors, values: Iterable[str] | None, path: Path) -> None:
    """Collect names that no certificate can be for."""
    for value in values or ():
        plain, wildcard = names.dns_subdomain(value), names.wildcard_subdomain(value)
        if plain and wildcard and not is_address(value):
            text = f"{'; '.join(plain)}; {'; '.join(wildcard)}"
            errors.invalid(
                path,
                value,
                f"altname is not a valid IP address, DNS label or a DNS label with subdomain wildcards: {text}",
            )


def is_address(value: str) -> bool:
    """Return whether a text is an IP address."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def api_endpoint(errors: Errors, endpoint: Object, path: Path) -> None:
    """Collect what is wrong with the address of an API server."""
    address = endpoint.get("advertiseAddress", "")
    if not is_address(address):
        errors.invalid(path / "advertiseAddress", address, "ip address is not valid")
    if not 1 <= endpoint["bindPort"] <= 65535:
        errors.invalid(path / "bindPort", endpoint["bindPort"], "port number is not valid")


def certificate_key(errors: Errors, key: str, path: Path) -> None:
    """Collect a key that is no AES key in hexadecimal digits."""
    if not key:
        return
    for character in key:
        if character not in "0123456789abcdefABCDEF":
            text = f"certificate key decoding error: encoding/hex: invalid byte: U+{ord(character):04X} '{character}'"
            errors.invalid(path, key, text)
            return
    if len(key) % 2:
        errors.invalid(path, key, "certificate key decoding error: encoding/hex: odd length hex string")
    elif len(key) != 64:
        text = f"invalid certificate key size {len(key) // 2}, the key must be an AES key of size 32"
        errors.invalid(path, key, text)


def feature_gates(errors: Errors, gates: Object, path: Path) -> None:
    """Collect names of features that are not known."""
    for name in sorted(gates):
        if name not in FEATURE_GATES:
            errors.invalid(path, gates, f"{name} is not a valid feature name.")
        elif gates[name]:
            errors.invalid(path, gates, f"{name} is not supported: the control plane runs as root here")


def pull_policy(errors: Errors, value: str, path: Path) -> None:
    """Collect a policy that is none."""
    if value not in _PULL_POLICIES:
        errors.invalid(path, value, "invalid pull policy")


def socket_path(errors: Errors, value: str, path: Path) -> None:
    """Collect what is no address of a container runtime."""
    if not value:
        errors.invalid(path, value, "empty CRI socket")
        return
    scheme = urlsplit(value).scheme
    if scheme != "unix":
        errors.invalid(path, value, f'only URL scheme "unix" is supported, got "{scheme}"')


def registration(errors: Errors, node: Object, path: Path) -> None:
    """Collect what is wrong with how a node registers."""
    if not node.get("name"):
        errors.required(
            path,
            "--node-name or .nodeRegistration.name in the config file is a required value. It seems like this value couldn't "
            "be automatically detected in your environment, please specify the desired value using the CLI or config file.",
        )
    else:
        for problem in names.dns_subdomain(node["name"]):
            errors.invalid(path / "name", node["name"], problem)
    socket_path(errors, node.get("criSocket", ""), path / "criSocket")
    extra_args(errors, node.get("kubeletExtraArgs"), path / "kubeletExtraArgs")
    pull_policy(errors, node["imagePullPolicy"], path / "imagePullPolicy")
