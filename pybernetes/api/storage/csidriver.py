"""CSIDriver: what the cluster must know of a volume driver."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import meta

_SPEC = Path("spec")
_DEFAULTS = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
    "preventPodSchedulingIfMissing": False,
}
_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_MODES = ("Persistent", "Ephemeral")
_TOKENS_IN_ATTRIBUTES = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, "
    "set to true to prevent possible logging of tokens in volume attributes"
)


def default(obj: Object) -> None:
    """Complete the driver's properties."""
    spec = obj.setdefault("spec", {})
    for key, value in _DEFAULTS.items():
        spec.setdefault(key, value)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def prepare_update(new: Object, old: Object) -> None:
    """Count changes of the spec, though a new driver starts without a generation."""
    if new.get("spec") != old.get("spec"):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def validate(obj: Object, errors: Errors) -> None:
    """Check the policies, the modes and the tokens that the driver asks for."""
    spec = obj.get("spec", {})
    for key in ("attachRequired", "podInfoOnMount", "storageCapacity"):
        if key not in spec:
            errors.required(_SPEC / ("attachedRequired" if key == "attachRequired" else key))
    policy = spec.get("fsGroupPolicy")
    if policy is not None and policy not in _GROUP_POLICIES:
        errors.unsupported(_SPEC / "fsGroupPolicy", policy, _GROUP_POLICIES)
    tokens = spec.get("tokenRequests", [])
    _tokens(tokens, _SPEC / "tokenRequests", errors)
    for mode in spec.get("volumeLifecycleModes", ()):
        if mode not in _MODES:
            errors.unsupported(_SPEC / "volumeLifecycleModes", mode, _MODES)
    if "seLinuxMount" not in spec:
        errors.required(_SPEC / "seLinuxMount")
    period = spec.get("nodeAllocatableUpdatePeriodSeconds", 10)
    if period < 10:
        text = "must be greater than or equal to 10 seconds"
        errors.invalid(_SPEC / "nodeAllocatableUpdatePeriodSeconds", period, text)
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not tokens:
        text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.invalid(_SPEC / "serviceAccountTokenInSecrets", in_secrets, text)
    if "preventPodSchedulingIfMissing" not in spec:
        errors.required(_SPEC / "preventPodSchedulingIfMissing")


def _tokens(requests: list[Object], path: Path, errors: Errors) -> None:
    audiences: set[str] = set()
    for index, request in enumerate(requests):
        audience = request.get("audience", "")
        if audience in audiences:
            errors.duplicate(path[index] / "audience", audience)
            continue
        audiences.add(audience)
        seconds = request.get("expirationSeconds")
        if seconds is None:
            continue
        if seconds < 600:
            text = "may not specify a duration less than 10 minutes"
            errors.invalid(path[index] / "expirationSeconds", seconds, text)
        if seconds > 1 << 32:
            text = "may not specify a duration larger than 2^32 seconds"
            errors.invalid(path[index] / "expirationSeconds", seconds, text)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check what pods rely on: whether volumes are attached, and the modes."""
    after, before = new.get("spec", {}), old.get("spec", {})
    for key, name in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes",) * 2):
        meta.immutable(after.get(key), before.get(key), _SPEC / name, errors)


def warnings(new: Object, old: Object | None) -> list[str]:
    """Advise to pass tokens in secrets."""
    spec = new.get("spec", {})
    tokens = spec.get("tokenRequests")
    changed = old is None or old.get("spec", {}).get("tokenRequests") != tokens
    return (
        [_TOKENS_IN_ATTRIBUTES] if tokens and changed and "serviceAccountTokenInSecrets" not in spec else []
    )


def _audiences(obj: Object, now: float) -> str:
    requests = get(obj, ".spec.tokenRequests")
    return "<unset>" if requests is None else ",".join(request.get("audience", "") for request in requests)


RESOURCE = Resource(
    group="storage.k8s.io",
    version="v1",
    kind="CSIDriver",
    plural="csidrivers",
    namespaced=False,
    unconditional_update=False,
    columns=(
        NAME,
        Column("AttachRequired", lambda obj, now: get(obj, ".spec.attachRequired", True), type="boolean"),
        Column("PodInfoOnMount", lambda obj, now: get(obj, ".spec.podInfoOnMount", False), type="boolean"),
        Column("StorageCapacity", lambda obj, now: get(obj, ".spec.storageCapacity", False), type="boolean"),
        Column("TokenRequests", _audiences),
        Column(
            "RequiresRepublish", lambda obj, now: get(obj, ".spec.requiresRepublish", False), type="boolean"
        ),
        Column("Modes", lambda obj, now: ",".join(get(obj, ".spec.volumeLifecycleModes", ())) or "<none>"),
        AGE,
    ),
    default=default,
    prepare_update=prepare_update,
    validate=validate,
    validate_update=validate_update,
    warnings=warnings,
)
