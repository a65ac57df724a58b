"""PersistentVolumeClaims: their number and the storage that they ask for, in all and by storage class."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from pybernetes.api import quantity
from pybernetes.api.quota.evaluator import Evaluator, selects
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList

_NAMES = ("persistentvolumeclaims", "requests.storage")
_BY_CLASS = ".storageclass.storage.k8s.io/"
_SUFFIXES = tuple(_BY_CLASS + name for name in _NAMES)
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def storage_class(claim: Object) -> str:
    """Return the storage class of a claim, by its field or by the annotation that came before the field."""
    annotations = claim["metadata"].get("annotations") or {}
    if BETA_CLASS in annotations:
        return annotations[BETA_CLASS]
    return claim.get("spec", {}).get("storageClassName") or ""


def _allocated(claim: Object) -> str | None:
    return (claim.get("status", {}).get("allocatedResources") or {}).get("storage")


def _storage(claim: Object) -> str | None:
    """Return what is asked for, or more if an expansion under way needs more, in whole bytes."""
    requested = ((claim.get("spec", {}).get("resources") or {}).get("requests") or {}).get("storage")
    allocated = _allocated(claim)
    if requested is None:
        return None
    if allocated is not None and quantity.parse(allocated) > quantity.parse(requested):
        requested = allocated
    if quantity.is_integer(requested):
        return requested
    return quantity.format_like(Fraction(quantity.integer(requested)), requested)


def _attributes_classes(claim: Object) -> set[str]:
    status = claim.get("status", {})
    named = (
        claim.get("spec", {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    )
    return {name for name in named if name}


class VolumeClaimEvaluator(Evaluator):
    """Measures claims."""

    def __init__(self) -> None:
        super().__init__("", "persistentvolumeclaims")
        self.names |= set(_NAMES)

    subresources = ("status",)

    def handles(self, operation: str, subresource: str, new: Object, old: Object | None) -> bool:
        if subresource == "status":
            return old is not None and self.gives_back(new, old, 0)
        return not subresource and operation in ("CREATE", "UPDATE")

    def matching(self, names: Iterable[str]) -> list[str]:
        return sorted(name for name in names if name in self.names or name.endswith(_SUFFIXES))

    def in_scope(self, scope: Object, obj: Object) -> bool:
        return scope.get("scopeName") == "VolumeAttributesClass" and selects(scope, _attributes_classes(obj))

    def usage(self, obj: Object, now: float) -> ResourceList:
        result = {self.count: "1", "persistentvolumeclaims": "1"}
        storage, class_ = _storage(obj), storage_class(obj)
        if storage is not None:
            result["requests.storage"] = storage
        if class_:
            result |= {class_ + _BY_CLASS + name: result[name] for name in _NAMES if name in result}
        return result

    def gives_back(self, new: Object, old: Object, now: float) -> bool:
        return _allocated(new) != _allocated(old) or _attributes_classes(new) != _attributes_classes(old)
