"""Defaults of a pod's volumes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pybernetes.api.core.pod import image_names
from pybernetes.api.defaults.claims import default_claim_spec
from pybernetes.api.resource import Object

# Fields of features that are off (mode of an emptyDir, users of files) are dropped on the way.


def _mode(source: Object) -> None:
    source.setdefault("defaultMode", 0o644)
    source.pop("defaultUser", None)
    _items(source.get("items", ()))


def _items(items: Iterable[Object]) -> None:
    for item in items:
        item.pop("user", None)
        reference = item.get("fieldRef")
        if reference is not None and not reference.get("apiVersion"):
            reference["apiVersion"] = "v1"


def _projected(source: Object) -> None:
    _mode(source)
    for projection in source.get("sources", ()):
        for part in projection.values():
            part.pop("user", None)
            _items(part.get("items", ()))
        if "serviceAccountToken" in projection:
            projection["serviceAccountToken"].setdefault("expirationSeconds", 3600)


def _image(source: Object) -> None:
    if not source.get("pullPolicy"):
        source["pullPolicy"] = image_names.default_pull_policy(source.get("reference", ""))


def _unset(values: Object) -> Any:
    """Return a function that fills what is absent or empty."""

    def fill(source: Object) -> None:
        for key, value in values.items():
            if not source.get(key):
                source[key] = value

    return fill


def _azure_disk(source: Object) -> None:
    for key, value in (
        ("cachingMode", "ReadWrite"),
        ("fsType", "ext4"),
        ("readOnly", False),
        ("kind", "Shared"),
    ):
        source.setdefault(key, value)


def _ephemeral(source: Object) -> None:
    template = source.get("volumeClaimTemplate")
    if template is not None:
        template.setdefault("metadata", {})
        default_claim_spec(template.setdefault("spec", {}))


# PersistentVolumes share some of these sources: the keys are the fields of both.
SOURCES = {
    "emptyDir": lambda source: source.pop("mode", None),
    "configMap": _mode,
    "secret": _mode,
    "downwardAPI": _mode,
    "projected": _projected,
    "image": _image,
    "ephemeral": _ephemeral,
    "hostPath": lambda source: source.setdefault("type", ""),
    "iscsi": _unset({"iscsiInterface": "default"}),
    "rbd": _unset({"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}),
    "azureDisk": _azure_disk,
    "scaleIO": _unset({"storageMode": "ThinProvisioned", "fsType": "xfs"}),
}


def default_volume(volume: Object) -> None:
    """Complete one volume; one without a source is an emptyDir."""
    has_source = False
    for key in volume:
        if key != "name":
            has_source = True
            fill = SOURCES.get(key)
            if fill:
                fill(volume[key])
    if not has_source:
        volume["emptyDir"] = {}
