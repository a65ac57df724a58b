"""CustomResourceDefinition: a kind that users bring."""

from __future__ import annotations

from urllib.parse import urlsplit

from pybernetes.api.apiextensions import GROUP
from pybernetes.api.apiextensions._schema import clean
from pybernetes.api.apiextensions._versions import validate_shared, validate_versions
from pybernetes.api.apiextensions._warnings import warnings
from pybernetes.api.customresource import names as names_given
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import NAME, PLAIN, get
from pybernetes.api.validation import meta, names, webhook

_SPEC = Path("spec")
_STORED = Path("status") / "storedVersions"
_APPROVED = "api-approved.kubernetes.io"


def default(obj: Object) -> None:
    """Complete the names and the conversion."""
    spec = obj.setdefault("spec", {})
    given = spec.setdefault("names", {})
    if not given.get("singular") and given.get("kind"):
        given["singular"] = given["kind"].lower()
    if not given.get("listKind") and given.get("kind"):
        given["listKind"] = given["kind"] + "List"
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    service = get(conversion, "webhook.clientConfig.service")
    if service is not None:
        service.setdefault("port", 443)
    for version in spec.get("versions", ()):
        schema = version.get("schema", {}).get("openAPIV3Schema")
        if schema is not None:
            clean(schema)


def _stored(obj: Object) -> None:
    """Note that objects may from now on be stored in the storage version."""
    stored = obj.setdefault("status", {}).get("storedVersions", [])
    for version in obj.get("spec", {}).get("versions", ()):
        if version.get("storage"):
            if version.get("name", "") not in stored:
                obj["status"] = {**obj["status"], "storedVersions": [*stored, version.get("name", "")]}
            return


def prepare_create(obj: Object) -> None:
    """Start the list of versions in which objects have been stored."""
    obj["status"] = {"acceptedNames": {"kind": "", "plural": ""}}
    _stored(obj)


def prepare_update(new: Object, old: Object) -> None:
    """Continue the list of versions in which objects have been stored."""
    new["status"] = old.get("status", {})
    _stored(new)


def validate(obj: Object, errors: Errors) -> None:
    """Check the names, the versions and the conversion."""
    spec = obj.get("spec", {})
    group, given, versions = spec.get("group", ""), spec.get("names", {}), spec.get("versions", [])
    if obj["metadata"].get("name") and obj["metadata"]["name"] != f"{given.get('plural', '')}.{group}":
        text = 'must be spec.names.plural+"."+spec.group'
        errors.invalid(Path("metadata") / "name", obj["metadata"]["name"], text)
    _group(group, errors)
    scope = spec.get("scope", "")
    if not scope:
        errors.required(_SPEC / "scope")
    elif scope not in ("Cluster", "Namespaced"):
        errors.unsupported(_SPEC / "scope", scope, ("Cluster", "Namespaced"))
    validate_versions(spec.get("versions"), errors)
    for key in ("plural", "singular", "kind", "listKind"):
        if not given.get(key):
            errors.required(_SPEC / "names" / key)
    _names(given, _SPEC / "names", errors)
    validate_shared(versions, errors)
    _conversion(spec.get("conversion", {}), spec.get("preserveUnknownFields", False), errors)
    status = obj.get("status", {})
    _names(status.get("acceptedNames", {}), Path("status") / "acceptedNames", errors)
    _stored_versions(status.get("storedVersions", []), versions, errors)
    if group.endswith((".k8s.io", ".kubernetes.io")) or group in ("k8s.io", "kubernetes.io"):
        _approval(obj["metadata"].get("annotations", {}).get(_APPROVED, ""), errors)
    if spec.get("preserveUnknownFields"):
        text = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true "
            "in spec.versions[*].schema instead"
        )
        errors.invalid(_SPEC / "preserveUnknownFields", True, text)


def _group(group: str, errors: Errors) -> None:
    problems = names.dns_subdomain(group) if group else []
    if not group:
        errors.required(_SPEC / "group")
    elif problems:
        errors.invalid(_SPEC / "group", group, ",".join(problems))
    elif "." not in group:
        errors.invalid(_SPEC / "group", group, "should be a domain with at least one dot")


def _names(given: Object, path: Path, errors: Errors) -> None:
    for key in ("plural", "singular", "kind", "listKind"):
        text = given.get(key, "")
        mixed = key in ("kind", "listKind")
        problems = names.dns1035_label(text.lower() if mixed else text) if text else []
        if problems:
            start = "may have mixed case, but should otherwise match: " if mixed else ""
            errors.invalid(path / key, text, start + ",".join(problems))
    for index, text in enumerate(given.get("shortNames", ())):
        problems = names.dns1035_label(text)
        if problems:
            errors.invalid((path / "shortNames")[index], text, ",".join(problems))
    if given.get("kind") and given["kind"] == given.get("listKind"):
        errors.invalid(path / "listKind", given["kind"], "kind and listKind may not be the same")
    for index, text in enumerate(given.get("categories", ())):
        problems = names.dns1035_label(text)
        if problems:
            errors.invalid((path / "categories")[index], text, ",".join(problems))


def _conversion(conversion: Object, preserve: bool, errors: Errors) -> None:
    path, strategy = _SPEC / "conversion", conversion.get("strategy", "")
    if strategy != "None" and preserve:
        text = "must be None if spec.preserveUnknownFields is true"
        errors.invalid(path / "strategy", strategy, text)
    if not strategy:
        errors.required(path / "strategy")
    elif strategy not in ("None", "Webhook"):
        errors.unsupported(path / "strategy", strategy, ("None", "Webhook"))
    hook = conversion.get("webhook", {})
    config, versions = hook.get("clientConfig"), hook.get("conversionReviewVersions", [])
    where, listed = path / "webhookClientConfig", path / "conversionReviewVersions"
    if strategy != "Webhook":
        text = "should not be set when strategy is not set to Webhook"
        if config is not None:
            errors.forbidden(where, text)
        if versions:
            errors.forbidden(listed, text)
        return
    if config is None:
        errors.required(where, "required when strategy is set to Webhook")
    else:
        webhook.client_config(config, where, errors, swapped=True)
    if versions:
        webhook.review_versions(versions, listed, errors)
    else:
        errors.required(listed)


def _stored_versions(stored: list[str], versions: list[Object], errors: Errors) -> None:
    if not stored:
        errors.invalid(_STORED, None, "must have at least one stored version")
        return
    left = dict.fromkeys(stored)
    for version in versions:
        name = version.get("name", "")
        if version.get("storage") and name not in left:
            errors.invalid(_STORED, stored, f"must have the storage version {name}")
        left.pop(name, None)
    for index, name in enumerate(stored):
        if name in left:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and "
                f"removes {name} from status.storedVersions"
            )
            errors.invalid(_STORED[index], name, text)


def _approval(value: str, errors: Errors) -> None:
    """Check the annotation without which nobody brings kinds into the groups of the Kubernetes project."""
    path = (Path("metadata") / "annotations")[_APPROVED]
    start = f'protected groups must have approval annotation "{_APPROVED}"'
    see = ", see https://github.com/kubernetes/enhancements/pull/1111"
    if not value:
        errors.required(path, start + see)
        return
    try:
        parts = urlsplit(value)
        approved = bool(parts.scheme and parts.netloc)
    except ValueError:
        approved = False
    if not approved and not value.startswith("unapproved"):
        text = ' with either a URL or a reason starting with "unapproved"'
        errors.invalid(path, value, start + text + see)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the group and the names stay, once objects can be made of it."""
    if _established(old, 0):
        for key in ("scope", "names.kind"):
            _keep(new, old, key, errors)
    for key in ("group", "names.plural"):
        _keep(new, old, key, errors)


def _keep(new: Object, old: Object, key: str, errors: Errors) -> None:
    after, before = get(new, f".spec.{key}", ""), get(old, f".spec.{key}", "")
    meta.immutable(after, before, _SPEC / key, errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the names that it got."""
    accepted = new.get("status", {}).get("acceptedNames", {})
    _names(accepted, Path("status") / "acceptedNames", errors)


def _versions(obj: Object, now: float) -> str:
    return ",".join(
        sorted(
            version.get("name", "") + ("(storage)" if version.get("storage") else "")
            for version in get(obj, ".spec.versions", ())
            if version.get("served")
        )
    )


def _established(obj: Object, now: float) -> bool:
    conditions = obj.get("status", {}).get("conditions") or ()
    return any(item.get("type") == "Established" and item.get("status") == "True" for item in conditions)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    namespaced=False,
    subresources=("status",),
    storage_path="apiextensions.k8s.io/customresourcedefinitions",
    generation=True,
    unconditional_update=False,
    compiles=True,
    columns=(
        NAME,
        Column("Scope", lambda obj, now: get(obj, ".spec.scope", "")),
        Column("Versions", _versions, description="The versions that are served."),
        PLAIN[1],
        Column("Group", lambda obj, now: get(obj, ".spec.group", ""), priority=1),
        Column("Kind", lambda obj, now: get(obj, ".spec.names.kind", ""), priority=1),
        Column("ShortNames", lambda obj, now: ",".join(get(obj, ".spec.names.shortNames", ())), priority=1),
        Column("Established", _established, type="boolean", priority=1),
    ),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
    warnings=warnings,
    begin_deletion=names_given.begin_deletion,
)
