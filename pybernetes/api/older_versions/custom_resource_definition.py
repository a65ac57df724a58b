"""CustomResourceDefinition v1beta1, which kube-apiserver v1.37 still stores."""

from __future__ import annotations

import orjson

from pybernetes.api.older_versions._older_version import OlderVersion, Table
from pybernetes.api.resource import Object

# As much as a request may have, by which every definition came that any API server of today has stored.
MOST_BYTES = 3 << 20
_GROUP = "apiextensions.k8s.io"
_PACKAGE = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1"
# What v1beta1 can say once for all versions, and the field of a version that says it in v1.
_SHARED = {
    "validation": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


def convert(obj: Object) -> Object:
    """Give a definition the form of v1; what v1beta1 says once for all versions goes into one more, the last."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("scope", "Namespaced")
    name = spec.pop("version", "")
    versions = spec.get("versions") or ([{"name": name, "served": True, "storage": True}] if name else [])
    shared = {field: spec.pop(old) for old, field in _SHARED.items() if spec.get(old)}
    # Absent means true in v1beta1; v1 leaves out what is false.
    if spec.get("preserveUnknownFields") is False:
        del spec["preserveUnknownFields"]
    else:
        spec["preserveUnknownFields"] = True
    spec["versions"] = [*map(_without_nulls, versions), shared]
    for version in spec["versions"]:
        if version.get("additionalPrinterColumns"):
            version["additionalPrinterColumns"] = [
                {"jsonPath" if key == "JSONPath" else key: value for key, value in column.items()}
                for column in version["additionalPrinterColumns"]
            ]
    if spec.get("conversion"):
        spec["conversion"] = _conversion(spec["conversion"])
    status = obj.setdefault("status", {})
    if not status.get("storedVersions"):
        status["storedVersions"] = [
            version["name"] for version in spec["versions"] if version.get("storage")
        ][:1]
    return obj


def complete(obj: Object) -> Object:
    """Say in every version what was said once for all of them, which was decoded once as well."""
    versions = obj["spec"]["versions"]
    last = versions.pop()
    shared = {field: last[field] for field in _SHARED.values() if field in last}
    size = len(orjson.dumps(shared)) * len(versions)
    if size > MOST_BYTES:
        raise ValueError(f"its versions would be {size} bytes of {_GROUP}/v1: the limit is {MOST_BYTES}")
    obj["spec"]["versions"] = [{**shared, **version} for version in versions]
    return obj


def _without_nulls(version: Object) -> Object:
    return {key: value for key, value in version.items() if value is not None}


def _conversion(old: Object) -> Object:
    new = {"strategy": old.get("strategy", "None")}
    webhook = {}
    if old.get("webhookClientConfig"):
        webhook["clientConfig"] = old["webhookClientConfig"]
    if old.get("conversionReviewVersions"):
        webhook["conversionReviewVersions"] = old["conversionReviewVersions"]
    if webhook:
        new["webhook"] = {"conversionReviewVersions": ["v1beta1"], **webhook}
    return new


OLDER: Table = {
    (f"{_GROUP}/v1beta1", "CustomResourceDefinition"): OlderVersion(
        f"{_GROUP}/v1", convert, f"{_PACKAGE}.CustomResourceDefinition", complete
    )
}
