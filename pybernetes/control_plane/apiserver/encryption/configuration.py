"""EncryptionConfiguration: read strictly and checked, in upstream's words."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from pybernetes.api.field import Errors, Path
from pybernetes.api.strict_types import (
    STRING,
    STRINGS,
    Many,
    Problem,
    Struct,
    aggregate,
    read_document,
    read_file,
)
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.encryption import providers
from pybernetes.control_plane.apiserver.encryption.provider import ProviderType
from pybernetes.control_plane.apiserver.encryption.providers.kms.kms import DEFAULT_SECONDS
from pybernetes.lib.discover import discover

VERSION, KIND = "apiserver.config.k8s.io/v1", "EncryptionConfiguration"
_SCHEME = "k8s.io/apiserver/pkg/server/options/encryptionconfig/config.go:136"
# As Go has them, which is how messages list them.
_NAMES = {
    "AESGCM": "aesgcm",
    "AESCBC": "aescbc",
    "Secretbox": "secretbox",
    "Identity": "identity",
    "KMS": "kms",
}
_NO_API = ("apiserveripinfo", "serviceipallocations", "servicenodeportallocations")
GroupResource = tuple[str, str]
ANY: GroupResource = ("*", "*")


@cache
def provider_types() -> dict[str, ProviderType]:
    """Return every provider in the folder of providers, by the name that the configuration has for it."""
    return discover(providers.__name__, "PROVIDER", key=lambda provider: provider.name)


@cache
def _document() -> Struct:
    known = {name: provider.type for name, provider in provider_types().items()}
    provider = Struct("v1.ProviderConfiguration", known)
    entry = Struct("v1.ResourceConfiguration", {"resources": STRINGS, "providers": Many(provider)})
    return Struct(
        "v1.EncryptionConfiguration", {"kind": STRING, "apiVersion": STRING, "resources": Many(entry)}
    )


def load(path: str, *, reload: bool = False) -> tuple[list[Mapping[str, Any]], str]:
    """Return the entries of a file, and the hash of its content; ValueError tells what is wrong with it."""
    begin = "error while parsing file: "
    try:
        raw = read_file(path)
    except OSError as error:
        shown = go_format.quote(path)
        text = (
            f"error while loading file: error reading encryption provider configuration file {shown}: {error}"
        )
        raise ValueError(begin + text) from None
    if not raw:
        text = f"encryption provider configuration file {go_format.quote(path)} is empty"
        raise ValueError(f"{begin}error while loading file: {text}")
    try:
        document = read_document(raw, {(VERSION, KIND): _document()}, _SCHEME)
    except Problem as error:
        shown = go_format.quote(path)
        text = f"error decoding encryption provider configuration file {shown}: {error}"
        raise ValueError(begin + text) from None
    if problems := check(document, reload=reload):
        raise ValueError(begin + aggregate([str(problem) for problem in problems]))
    return document["resources"], f"sha256:{hashlib.sha256(raw).hexdigest()}"


def parse_resource(text: str) -> GroupResource:
    """Return group and resource of what the configuration lists: ``secrets``, ``deployments.apps``, ``*.``."""
    resource, _, group = text.partition(".")
    return group, resource


def show_resource(resource: GroupResource) -> str:
    """Return group and resource as the configuration lists them."""
    group, name = resource
    return f"{name}.{group}" if group or name == "*" else name


# -- what is wrong with a configuration --------------------------------------------------------------------


def check(document: Mapping[str, Any], *, reload: bool = False) -> Errors:
    """Return everything that is wrong with a document that could be decoded."""
    problems, root = Errors(), Path("resources")
    entries = document.get("resources") or []
    if not entries:
        problems.required(root, "at least one resources is required")
    names: set[str] = set()
    for index, entry in enumerate(entries):
        listed, given = root[index] / "resources", root[index] / "providers"
        resources = entry.get("resources") or []
        if not resources:
            problems.required(listed, f"at least one {listed} is required")
        _check_overlap(resources, listed, problems)
        for position, resource in enumerate(resources):
            if problem := _resource_problem(resource):
                problems.invalid(listed[position], resource, problem)
        if not entry.get("providers"):
            problems.required(given, f"at least one {given} is required")
        for position, provider in enumerate(entry.get("providers") or ()):
            _check_provider(provider, given[position], problems, names, reload)
    return problems


def _check_overlap(resources: list[str], path: Path, problems: Errors) -> None:
    parsed = [parse_resource(resource) for resource in resources]
    duplicate = overlap = False
    for index, one in enumerate(parsed):
        for position, other in enumerate(parsed):
            if index == position:
                continue
            if one == other and not duplicate:
                duplicate = True
            elif one == ANY or (one[0] == other[0] and "*" in (one[1], other[1])):
                overlap = True
    if duplicate:
        problems.invalid(path, resources, "the same resource cannot be specified multiple times")
    if overlap:
        problems.invalid(
            path, resources,
            "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
        )  # fmt: skip


def _resource_problem(resource: str) -> str:
    group, name = parse_resource(resource)
    if resource.lower() != resource:
        return "resource name should not contain capital letters"
    if resource == "*":
        return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
    if resource in _NO_API:
        return "resources which do not have REST API/s cannot be encrypted"
    if group == "events.k8s.io":
        return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
    if group == "extensions":
        return "'extensions' group has been removed and cannot be used for encryption"
    if group == "*" and name != "*":
        return "encrypting the same resource across groups is not supported"
    return ""


def _check_provider(
    provider: Mapping[str, Any], path: Path, problems: Errors, names: set[str], reload: bool
) -> None:
    if len(provider) != 1:
        shown = go_format.Struct(
            {go: "REDACTED" if name in provider else None for go, name in _NAMES.items()}
        )
        text = (
            "more than one provider specified in a single element, should split into different list elements"
            if provider
            else "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"
        )
        problems.invalid(path, shown, text)
    if "kms" in provider:
        _check_kms(provider["kms"], path / "kms", problems, names, reload)
        names.add(provider["kms"].get("name", ""))
        return
    for name in ("aesgcm", "aescbc", "secretbox"):
        if name in provider:
            sizes = provider_types()[name].key_sizes
            _check_keys(provider[name].get("keys") or [], path / name / "keys", problems, sizes)
            return


def _check_keys(keys: list[Mapping[str, str]], path: Path, problems: Errors, sizes: tuple[int, ...]) -> None:
    if not keys:
        problems.required(path, "at least one keys is required")
    for index, key in enumerate(keys):
        if not key.get("name"):
            problems.required(path[index] / "name", "name is a mandatory field for a key")
        if not key.get("secret"):
            problems.required(path[index] / "secret", "secret is a mandatory field for a key")
            continue
        try:
            # Go leaves out line ends, and nothing else.
            secret = base64.b64decode(key["secret"].replace("\r", "").replace("\n", ""), validate=True)
        except (binascii.Error, ValueError):
            problems.invalid(path[index] / "secret", "REDACTED", "secrets must be base64 encoded")
            continue
        if len(secret) not in sizes:
            wanted = " ".join(map(str, sizes))
            text = f"secret is not of the expected length, got {len(secret)}, expected one of [{wanted}]"
            problems.invalid(path[index] / "secret", "REDACTED", text)


def _check_kms(kms: Mapping[str, Any], path: Path, problems: Errors, names: set[str], reload: bool) -> None:
    name, version = kms.get("name", ""), kms.get("apiVersion") or "v1"
    if not name:
        problems.required(path / "name", "name is a mandatory field for a provider")
    if version != "v1" and ":" in name:
        problems.invalid(path / "name", name, f"invalid KMS provider name {name}, must not contain ':'")
    if (reload or version != "v1") and name in names:
        problems.invalid(path / "name", name, f"duplicate KMS provider name {name}, names must be unique")
    if (seconds := kms.get("timeout", DEFAULT_SECONDS)) <= 0:
        problems.invalid(path / "timeout", f"{seconds:g}s", "timeout should be a positive value")
    _check_endpoint(kms.get("endpoint", ""), path / "endpoint", problems)
    size = kms.get("cachesize")
    if version != "v1" and size is not None:
        problems.invalid(path / "cachesize", size, "cachesize is not supported in v2")
    elif version == "v1" and size == 0:
        problems.invalid(
            path / "cachesize", size, "cachesize should be a positive value, or negative to disable"
        )
    if version not in ("v1", "v2"):
        problems.invalid(
            path / "apiVersion", version,
            "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported",
        )  # fmt: skip


def _check_endpoint(endpoint: str, path: Path, problems: Errors) -> None:
    if not endpoint:
        problems.invalid(path, "", "endpoint is a mandatory field for a kms")
        return
    try:
        scheme = urlsplit(endpoint).scheme
    except ValueError as error:
        problems.invalid(path, endpoint, f"invalid endpoint for kms provider, error: {error}")
        return
    if scheme != "unix":
        shown = go_format.quote(scheme)
        problems.invalid(
            path, endpoint, f"unsupported scheme {shown} for KMS provider, only unix is supported"
        )
