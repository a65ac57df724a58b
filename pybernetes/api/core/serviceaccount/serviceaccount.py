"""ServiceAccount: who a pod is towards the API server."""

from __future__ import annotations

from pybernetes.api.resource import Object, Resource
from pybernetes.api.table import AGE, NAME

_ENFORCE = "kubernetes.io/enforce-mountable-secrets"


def prepare_create(obj: Object) -> None:
    """Reduce references to secrets to their names."""
    if "secrets" in obj:
        obj["secrets"] = [{"name": ref["name"]} if ref.get("name") else {} for ref in obj["secrets"]]


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about the deprecated annotation."""
    if old is not None and _ENFORCE in (old["metadata"].get("annotations") or {}):
        return []
    if _ENFORCE not in (obj["metadata"].get("annotations") or {}):
        return []
    return [
        f"metadata.annotations[{_ENFORCE}]: deprecated in v1.32+; "
        "prefer separate namespaces to isolate access to mounted secrets"
    ]


RESOURCE = Resource(
    group="",
    version="v1",
    kind="ServiceAccount",
    plural="serviceaccounts",
    short_names=("sa",),
    subresources=("token",),
    columns=(NAME, AGE),
    prepare_create=prepare_create,
    prepare_update=lambda new, old: prepare_create(new),
    warnings=warnings,
)
