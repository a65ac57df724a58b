"""ReplicationController: the elder of ReplicaSet."""

from __future__ import annotations

from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.core.pod.validation import validate_pod_template
from pybernetes.api.core.pod.validation.warnings import pod_template_warnings
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource, Scale
from pybernetes.api.table import AGE, NAME, container_cells, format_labels
from pybernetes.api.validation import names

_SPEC, _STATUS = Path("spec"), Path("status")
_TEMPLATE = _SPEC / "template"
_NEGATIVE = "must be greater than or equal to 0"
_COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")


def default(obj: Object) -> None:
    """Ask for one replica; the labels of the template serve as selector and as the controller's own."""
    spec = obj.setdefault("spec", {})
    if "template" in spec:
        default_pod_template(spec["template"])
        labels = spec["template"].get("metadata", {}).get("labels")
        if labels:
            if not spec.get("selector"):
                spec["selector"] = dict(labels)
            if not obj["metadata"].get("labels"):
                obj["metadata"]["labels"] = dict(labels)
    spec.setdefault("replicas", 1)
    obj.setdefault("status", {}).setdefault("replicas", 0)


def prepare_create(obj: Object) -> None:
    """Start without pods."""
    obj["status"] = {"replicas": 0}


def validate(obj: Object, errors: Errors) -> None:
    """Check the counts, the selector and the template that it must fit."""
    spec = obj.get("spec", {})
    selector, template = spec.get("selector", {}), spec.get("template")
    if spec.get("minReadySeconds", 0) < 0:
        errors.invalid(_SPEC / "minReadySeconds", spec["minReadySeconds"], _NEGATIVE)
    if not selector:
        errors.required(_SPEC / "selector")
    if "replicas" not in spec:
        errors.required(_SPEC / "replicas")
    elif spec["replicas"] < 0:
        errors.invalid(_SPEC / "replicas", spec["replicas"], _NEGATIVE)
    if template is None:
        errors.required(_TEMPLATE)
        return
    labels = template.get("metadata", {}).get("labels", {})
    if any(labels.get(key) != value for key, value in selector.items()):
        text = "`selector` does not match template `labels`"
        errors.invalid(_TEMPLATE / "metadata" / "labels", labels or None, text)
    validate_pod_template(template, _TEMPLATE, errors)
    pod = template.get("spec", {})
    if pod.get("restartPolicy") != "Always":
        errors.unsupported(_TEMPLATE / "spec" / "restartPolicy", pod.get("restartPolicy", ""), ("Always",))
    if "activeDeadlineSeconds" in pod:
        text = "activeDeadlineSeconds in ReplicationController is not Supported"
        errors.forbidden(_TEMPLATE / "spec" / "activeDeadlineSeconds", text)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the counts fit together."""
    status = new.get("status", {})
    count = {key: status.get(key, 0) for key in _COUNTS}
    for key in _COUNTS:
        if count[key] < 0:
            errors.invalid(_STATUS / key, count[key], _NEGATIVE)
    for key in ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"):
        if count[key] > count["replicas"]:
            errors.invalid(_STATUS / key, count[key], "cannot be greater than status.replicas")
    if count["availableReplicas"] > count["readyReplicas"]:
        errors.invalid(
            _STATUS / "availableReplicas", count["availableReplicas"], "cannot be greater than readyReplicas"
        )


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about a name that pods cannot have as host name, and about odd pods."""
    problems = names.dns_label(obj["metadata"].get("name", "")) if old is None else []
    messages = [
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
        f"a DNS label is recommended: [{' '.join(problems)}]"
    ]
    if old is None or old.get("spec") != obj.get("spec"):
        template = obj.get("spec", {}).get("template", {})
        return (messages if problems else []) + pod_template_warnings(template, _TEMPLATE)
    return []


def _containers(obj: Object) -> tuple[str, str]:
    return container_cells(obj.get("spec", {}).get("template", {}).get("spec", {}).get("containers"))


RESOURCE = Resource(
    group="",
    version="v1",
    kind="ReplicationController",
    plural="replicationcontrollers",
    short_names=("rc",),
    categories=("all",),
    subresources=("scale", "status"),
    scale=Scale(selector=".spec.selector"),
    storage_path="controllers",
    generation=True,
    propagation="Orphan",
    columns=(
        NAME,
        Column("Desired", lambda obj, now: obj.get("spec", {}).get("replicas", 0), "integer"),
        Column("Current", lambda obj, now: obj.get("status", {}).get("replicas", 0), "integer"),
        Column("Ready", lambda obj, now: obj.get("status", {}).get("readyReplicas", 0), "integer"),
        AGE,
        Column("Containers", lambda obj, now: _containers(obj)[0], priority=1),
        Column("Images", lambda obj, now: _containers(obj)[1], priority=1),
        Column("Selector", lambda obj, now: format_labels(obj.get("spec", {}).get("selector")), priority=1),
    ),
    selectable={"status.replicas": lambda obj: str(obj.get("status", {}).get("replicas", 0))},
    default=default,
    prepare_create=prepare_create,
    validate=validate,
    validate_status_update=validate_status_update,
    warnings=warnings,
)
