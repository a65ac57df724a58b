"""StatefulSet: pods with names and volumes of their own."""

from __future__ import annotations

from pybernetes.api import quantity, workload
from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.core.pod.validation import go_structs
from pybernetes.api.defaults.claims import default_claim_spec
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource, Scale
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, meta, names, numbers
from pybernetes.api.validation.claims import validate_claim_spec
from pybernetes.api.workload import SPEC, STATUS, TEMPLATE

_COUNTS = (
    "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration",
    "collisionCount",
)  # fmt: skip
_FIXED = ("serviceName", "podManagementPolicy")
_RETENTION = ("Retain", "Delete")
_REVISIONS_WARNING = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"


def default(obj: Object) -> None:
    """Ask for one replica, and let pods come and go in order, unless told otherwise."""
    spec = obj.setdefault("spec", {})
    if not spec.get("podManagementPolicy"):
        spec["podManagementPolicy"] = "OrderedReady"
    spec.setdefault("serviceName", "")
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
        strategy["rollingUpdate"].setdefault("maxUnavailable", 1)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    for key in ("whenDeleted", "whenScaled"):
        if not retention.get(key):
            retention[key] = "Retain"
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    default_pod_template(spec.setdefault("template", {}))
    for claim in spec.get("volumeClaimTemplates", ()):
        _default_claim(claim)
    status = obj.setdefault("status", {})
    status.setdefault("replicas", 0)
    status.setdefault("availableReplicas", 0)


def _default_claim(claim: Object) -> None:
    claim.update(kind="PersistentVolumeClaim", apiVersion="v1")
    claim.setdefault("metadata", {})
    default_claim_spec(claim.setdefault("spec", {}))
    status = claim.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"


def prepare_create(obj: Object) -> None:
    """Start without pods."""
    obj["status"] = {"replicas": 0, "availableReplicas": 0}


def validate(obj: Object, errors: Errors) -> None:
    """Check the policies, the counts, the selector and the template."""
    spec = obj.get("spec", {})
    management = spec.get("podManagementPolicy", "")
    if management not in ("OrderedReady", "Parallel"):
        errors.invalid(SPEC / "podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'")
    _strategy(spec.get("updateStrategy", {}), SPEC / "updateStrategy", errors)
    for key in ("whenDeleted", "whenScaled"):
        value = spec.get("persistentVolumeClaimRetentionPolicy", {}).get(key, "Retain")
        if value not in _RETENTION:
            errors.unsupported(SPEC / "persistentVolumeClaimRetentionPolicy" / key, value, _RETENTION)
    numbers.nonnegative_fields(spec, ("replicas", "minReadySeconds"), SPEC, errors)
    numbers.nonnegative(spec.get("ordinals", {}).get("start", 0), SPEC / "ordinals.start", errors)
    selector, template = spec.get("selector"), spec.get("template", {})
    if selector is None:
        errors.required(SPEC / "selector")
    if workload.check_selector(selector, "statefulset", errors):
        workload.check_match(selector, template, TEMPLATE, errors)
        workload.validate_pod_template(_with_claims(spec, template), TEMPLATE, errors)
    else:
        errors.invalid(SPEC / "selector", workload.ordered(selector), "")
    workload.check_forever(template, "StatefulSet", errors)


def _with_claims(spec: Object, template: Object) -> Object:
    """Return the template as its pods will be: host names and claims are the controller's matter."""
    claims = [claim.get("metadata", {}).get("name", "") for claim in spec.get("volumeClaimTemplates", ())]
    pod = template.get("spec", {})
    if not claims and not pod.get("hostname") and not pod.get("subdomain"):
        return template
    pod = {key: value for key, value in pod.items() if key not in ("hostname", "subdomain")}
    if claims:
        own = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(claims)]
        pod["volumes"] = own + [item for item in pod.get("volumes", ()) if item.get("name", "") not in claims]
    return {**template, "spec": pod}


def _strategy(strategy: Object, path: Path, errors: Errors) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    shown = None
    if rolling is not None:
        counts = (rolling.get("partition", 0), rolling.get("maxUnavailable"))
        shown = go_format.Struct(zip(("Partition", "MaxUnavailable"), counts, strict=True))
    if kind == "OnDelete":
        if rolling is not None:
            errors.invalid(path / "rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")
    elif kind != "RollingUpdate":
        text = "must be 'RollingUpdate' or 'OnDelete'"
        errors.invalid(path, go_format.Struct(Type=kind, RollingUpdate=shown), text)
    elif rolling is not None:
        here = path / "rollingUpdate"
        numbers.nonnegative(rolling.get("partition", 0), here / "partition", errors)
        unavailable = rolling.get("maxUnavailable")
        if unavailable is not None:
            numbers.int_or_percent(unavailable, here / "maxUnavailable", errors)
            if not numbers.int_or_percent_value(unavailable):
                errors.invalid(here / "maxUnavailable", unavailable, "cannot be 0")
            numbers.at_most_100_percent(unavailable, here / "maxUnavailable", errors)


def validate_create(obj: Object, errors: Errors) -> None:
    """Check what stays as it is: the claims and the name of the service."""
    spec = obj.get("spec", {})
    for index, claim in enumerate(spec.get("volumeClaimTemplates", ())):
        validate_claim_spec(claim.get("spec", {}), (SPEC / "volumeClaimTemplates")[index] / "spec", errors)
    service = spec.get("serviceName", "")
    if service:
        checks.name(names.dns_label, service, SPEC / "serviceName", errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that what names pods and volumes stays."""
    workload.check_immutable_selector(new, old, errors)
    claims = get(new, ".spec.volumeClaimTemplates", [])
    if claims != get(old, ".spec.volumeClaimTemplates", []):
        shown = [go_structs.show("PersistentVolumeClaim", claim) for claim in claims]
        errors.invalid(SPEC / "volumeClaimTemplates", shown or None, meta.IMMUTABLE)
    for key in _FIXED:
        meta.immutable(get(new, f".spec.{key}"), get(old, f".spec.{key}"), SPEC / key, errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the counts fit together."""
    status = new.get("status", {})
    numbers.nonnegative_fields(status, _COUNTS, STATUS, errors)
    checked = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    workload.check_at_most(status, checked, errors, "status.readyReplicas")
    workload.check_collisions(new, old, errors)


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about the pods and claims, and about a history that is never cut."""
    messages = workload.template_warnings(new, old)
    for index, claim in enumerate(get(new, ".spec.volumeClaimTemplates", ())):
        path = (SPEC / "volumeClaimTemplates")[index]
        # Upstream's paths leave the spec out, or spell it so.
        messages += _claim_warnings(claim.get("spec", {}), path if old is None else path / "Spec")
    return messages + ([_REVISIONS_WARNING] if get(new, ".spec.revisionHistoryLimit", 0) < 0 else [])


def _claim_warnings(spec: Object, path: Path) -> list[str]:
    messages = []
    for key in ("requests", "limits"):
        amount = spec.get("resources", {}).get(key, {}).get("storage", "0")
        if quantity.milli(amount) % 1000:
            here = (path / "resources" / key)["storage"]
            messages.append(f'{here}: fractional byte value "{amount}" is invalid, must be an integer')
    return messages


def _ready(obj: Object, now: float) -> str:
    return f"{get(obj, '.status.readyReplicas', 0)}/{get(obj, '.spec.replicas', 0)}"


RESOURCE = Resource(
    group="apps",
    version="v1",
    kind="StatefulSet",
    plural="statefulsets",
    short_names=("sts",),
    categories=("all",),
    subresources=("scale", "status"),
    scale=Scale(selector=".spec.selector"),
    generation=True,
    columns=(NAME, Column("Ready", _ready), AGE, *workload.template_columns()),
    name_errors=names.dns_label,
    default=default,
    prepare_create=prepare_create,
    validate=validate,
    validate_create=validate_create,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
    warnings=warnings,
)
