"""Checks of volumes that files are projected into."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.core.pod.validation.environment import VOLUME_FIELDS, field_ref, resource_field_ref
from pybernetes.api.core.pod.validation.go_structs import selector, show
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names
from pybernetes.api.validation.selectors import validate_label_selector

_DUPLICATE = "conflicting duplicate paths"
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_LONGEST, _LONGEST_KUBERNETES = 91 * 24 * 3600, 24 * 3600
_CERTIFICATE_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")


def _mode(holder: Object, path: Path, errors: Errors) -> None:
    if "mode" in holder:
        checks.file_mode(holder["mode"], path / "mode", errors)


def validate_items(items: Iterable[Object], path: Path, errors: Errors) -> None:
    """Check which keys of a map become which files."""
    for index, item in enumerate(items):
        _item(item, path[index], errors)


def _item(item: Object, path: Path, errors: Errors) -> None:
    checks.present(item, ("key", "path"), path, errors)
    checks.local_path(item.get("path", ""), path / "path", errors)
    _mode(item, path, errors)


def validate_downward_items(items: Iterable[Object], path: Path, errors: Errors) -> None:
    """Check which fields of the pod become which files; the errors name the volume, not the item."""
    for item in items:
        checks.present(item, ("path",), path, errors)
        checks.local_path(item.get("path", ""), path / "path", errors)
        if "fieldRef" in item:
            field_ref(item["fieldRef"], VOLUME_FIELDS, path / "fieldRef", errors)
            if "resourceFieldRef" in item:
                text = "fieldRef and resourceFieldRef can not be specified simultaneously"
                errors.invalid(path, "resource", text)
        elif "resourceFieldRef" in item:
            resource_field_ref(item["resourceFieldRef"], path / "resourceFieldRef", errors, volume=True)
        else:
            errors.required(path, "one of fieldRef and resourceFieldRef is required")
        _mode(item, path, errors)


class _Taken:
    """The file paths that earlier sources of a volume have taken."""

    def __init__(self, path: Path, errors: Errors) -> None:
        self.paths: set[str] = set()
        self.path, self.errors = path, errors

    def add(self, path: str, shown: str) -> None:
        if path in self.paths:
            self.errors.invalid(self.path, shown, _DUPLICATE)
        self.paths.add(path)


def validate_projected(source: Object, path: Path, errors: Errors) -> None:
    """Check a volume into which several sources are projected."""
    if "defaultMode" in source:
        checks.file_mode(source["defaultMode"], path / "defaultMode", errors)
    taken = _Taken(path, errors)
    for index, part in enumerate(source.get("sources", ())):
        here = (path / "sources")[index]
        for key in ("secret", "configMap"):
            if key in part:
                name = part[key].get("name", "")
                if not name:
                    errors.required(here / key / "name")
                for position, item in enumerate(part[key].get("items", ())):
                    _item(item, (here / key / "items")[position], errors)
                    if item.get("path"):
                        taken.add(item["path"], name)
        for item in part.get("downwardAPI", {}).get("items", ()):
            validate_downward_items((item,), here / "downwardAPI", errors)
            if item.get("path"):
                taken.add(item["path"], item["path"])
        if "serviceAccountToken" in part:
            _token(part["serviceAccountToken"], here / "serviceAccountToken", path, errors)
        if "clusterTrustBundle" in part:
            bundle = part["clusterTrustBundle"]
            _trust_bundle(bundle, here / "clusterTrustBundle", errors)
            taken.add(bundle.get("path", ""), bundle.get("path", ""))
        if "podCertificate" in part:
            _certificate(part["podCertificate"], taken, here / "podCertificate", errors)
        if len(part) > 1:
            errors.forbidden(here, "may not specify more than 1 volume type per source")


def _token(token: Object, path: Path, volume: Path, errors: Errors) -> None:
    seconds = token.get("expirationSeconds")
    if seconds is None:
        errors.required(path / "expirationSeconds")
    elif seconds < 600:
        errors.invalid(path / "expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    elif seconds > 1 << 32:
        text = "may not specify a duration larger than 2^32 seconds"
        errors.invalid(path / "expirationSeconds", seconds, text)
    if not token.get("path"):
        errors.required(volume / "path")
    else:
        checks.local_path(token["path"], volume / "path", errors)


def _trust_bundle(bundle: Object, path: Path, errors: Errors) -> None:
    name, signer = bundle.get("name"), bundle.get("signerName")
    if name is not None and signer is not None:
        shown = show("ClusterTrustBundleProjection", bundle)
        errors.invalid(path, shown, "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            errors.required(path / "name", "must be a valid object name")
        _, colon, last = name.rpartition(":")
        for problem in names.dns_subdomain(last if colon else name):
            errors.invalid(path / "name", name, f"not a valid clustertrustbundlename: {problem}")
        if "labelSelector" in bundle:
            text = "labelSelector must be unset if name is specified"
            errors.invalid(path / "labelSelector", selector(bundle["labelSelector"]), text)
    elif signer is not None:
        if not signer:
            errors.required(path / "signerName", "must be a valid signer name")
        checks.signer_name(signer, path / "signerName", errors)
        validate_label_selector(bundle.get("labelSelector"), path / "labelSelector", errors)
    else:
        errors.required(path, "either name or signerName must be specified")
    checks.present(bundle, ("path",), path, errors)
    checks.local_path(bundle.get("path", ""), path / "path", errors)


def _certificate(certificate: Object, taken: _Taken, path: Path, errors: Errors) -> None:
    signer = certificate.get("signerName", "")
    checks.signer_name(signer, path / "signerName", errors)
    if "userAnnotations" in certificate:
        checks.user_annotations(certificate["userAnnotations"], path / "userAnnotations", errors)
    checks.one_of(certificate.get("keyType", ""), _KEY_TYPES, path / "keyType", errors)
    seconds = certificate.get("maxExpirationSeconds")
    if seconds is not None:
        here = path / "maxExpirationSeconds"
        domain = signer.partition("/")[0]
        kubernetes = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
        longest = _LONGEST_KUBERNETES if kubernetes else _LONGEST
        if seconds < 3600:
            errors.invalid(here, seconds, "if provided, maxExpirationSeconds must be >= 3600")
        if seconds > longest:
            errors.invalid(here, seconds, f"if provided, maxExpirationSeconds must be <= {longest}")
    given = [key for key in _CERTIFICATE_PATHS if certificate.get(key)]
    for key in given:
        checks.local_path(certificate[key], path / key, errors)
        taken.add(certificate[key], certificate[key])
    if not given:
        text = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        errors.required(path, text)
