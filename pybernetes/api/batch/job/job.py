"""Job: pods that run until enough of them have succeeded."""

from __future__ import annotations

import copy

from pybernetes.api import selectors, workload
from pybernetes.api.batch.job import job_spec, job_status, pod_failure_policy
from pybernetes.api.core.pod.validation import go_structs
from pybernetes.api.field import Errors, Path
from pybernetes.api.metadata import keep
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, epoch, get
from pybernetes.api.text.durations import human_duration
from pybernetes.api.validation import meta, names
from pybernetes.api.validation.selectors import validate_label_selector

_SPEC = Path("spec")
_TEMPLATE = _SPEC / "template"
_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_FIXED = ("completionMode", "backoffLimitPerIndex", "managedBy")
_SHOWN = {"podFailurePolicy": pod_failure_policy.shown, "successPolicy": job_spec.shown_success}


def default(obj: Object) -> None:
    """Run one pod, and try it again six times."""
    spec = obj.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)
    job_spec.default_template(spec)
    _take_labels(obj)
    obj.setdefault("status", {})


def _take_labels(obj: Object) -> None:
    labels = get(obj, ".spec.template.metadata.labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = dict(labels)


def prepare_create(obj: Object) -> None:
    """Make the selector and the labels that distinguish this job's pods from all others."""
    spec = obj["spec"]
    obj["status"] = {}
    if not spec.get("manualSelector"):
        # Labels that were taken from the template follow it.
        shared = obj["metadata"].get("labels") == get(spec, ".template.metadata.labels")
        _generate_selector(obj)
        if shared:
            obj["metadata"].pop("labels", None)
    _take_labels(obj)
    job_spec.drop_disabled(spec, {})


def _generate_selector(obj: Object) -> None:
    name, uid = obj["metadata"].get("name", ""), obj["metadata"].get("uid", "")
    labels = obj["spec"]["template"].setdefault("metadata", {}).setdefault("labels", {})
    for key in _NAME_LABELS:
        labels.setdefault(key, name)
    for key in _UID_LABELS:
        labels.setdefault(key, uid)
    selector = obj["spec"].setdefault("selector", {})
    selector.setdefault("matchLabels", {}).setdefault(_UID_LABELS[1], uid)


def prepare_update(new: Object, old: Object) -> None:
    """Drop what is of features that are off."""
    job_spec.drop_disabled(new.get("spec", {}), old.get("spec", {}))


def validate(obj: Object, errors: Errors) -> None:
    """Check the spec, and that the selector matches the template."""
    spec = obj.get("spec", {})
    job_spec.validate(spec, _SPEC, errors)
    selector = spec.get("selector")
    if selector is None:
        errors.required(_SPEC / "selector")
    before = len(errors)
    validate_label_selector(selector, _SPEC / "selector", errors)
    if len(errors) == before:
        workload.check_match(selector, spec.get("template", {}), _TEMPLATE, errors)
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0:
        name = obj["metadata"].get("name", "")
        host = f"{name}-{completions - 1}"
        if names.dns_label(host):
            text = f"will not able to create pod with invalid DNS label: {host}"
            errors.invalid(Path("metadata") / "name", name, text)


def validate_create(obj: Object, errors: Errors) -> None:
    """Check that the template has the labels of this job and no other's."""
    spec = obj.get("spec", {})
    if spec.get("manualSelector") or "selector" not in spec:
        return
    name, uid = obj["metadata"].get("name", ""), obj["metadata"].get("uid", "")
    labels = get(spec, ".template.metadata.labels", {})
    expected = {_UID_LABELS[0]: uid, _NAME_LABELS[0]: name, _UID_LABELS[1]: uid, _NAME_LABELS[1]: name}
    for key, value in expected.items():
        path = (_TEMPLATE / "metadata" / "labels")[key]
        if key not in labels:
            errors.required(path, f"must be '{value}'")
        elif labels[key] != value:
            errors.invalid(path, labels, f"must be '{value}'")
    selector_errors = Errors()
    validate_label_selector(spec["selector"], _SPEC, selector_errors)
    if not selector_errors and not selectors.from_object(spec["selector"]).matches(expected):
        errors.invalid(
            _SPEC / "selector", workload.ordered(spec["selector"]), "`selector` not auto-generated"
        )


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that what pods were made from stays; a job that waits may still be changed a little."""
    spec, before = new.get("spec", {}), old.get("spec", {})
    if spec.get("completionMode") != "Indexed":
        meta.immutable(spec.get("completions"), before.get("completions"), _SPEC / "completions", errors)
    elif "completions" in spec and spec["completions"] != before.get("completions"):
        if spec["completions"] != spec.get("parallelism"):
            text = "can only be modified in tandem with spec.parallelism"
            errors.invalid(_SPEC / "completions", spec["completions"], text)
    workload.check_immutable_selector(new, old, errors)
    _template(spec.get("template", {}), old, errors)
    for key in _FIXED:
        meta.immutable(spec.get(key), before.get(key), _SPEC / key, errors)
    for key, shown in _SHOWN.items():
        meta.immutable(shown(spec.get(key)), shown(before.get(key)), _SPEC / key, errors)


def _template(after: Object, old: Object, errors: Errors) -> None:
    before = get(old, ".spec.template", {})
    if after == before:
        return
    suspended = get(old, ".spec.suspend", False)
    status = old.get("status", {})
    idle = not status.get("startTime") or job_status.is_true(old, "Suspended")
    if not (suspended and idle and not status.get("active")):
        shown = go_structs.show("PodTemplateSpec", after)
        errors.invalid(_TEMPLATE, shown, meta.IMMUTABLE)
        return
    allowed = copy.deepcopy(before)
    _allow_scheduling(allowed, after)
    pod, wanted = allowed.get("spec", {}), after.get("spec", {})
    for key in ("containers", "initContainers"):
        mine, theirs = pod.get(key, []), wanted.get(key, [])
        if len(mine) == len(theirs):
            for ours, given in zip(mine, theirs, strict=True):
                if ours.get("name") == given.get("name"):
                    keep(ours, given, "resources")
    if pod != wanted:
        errors.invalid(_SPEC / "template.spec", go_structs.show("PodSpec", wanted), meta.IMMUTABLE)


def _allow_scheduling(allowed: Object, after: Object) -> None:
    """Take over where pods may run, which a job that waits may change."""
    pod, wanted = allowed.setdefault("spec", {}), after.get("spec", {})
    affinity = {**pod.get("affinity", {})}
    keep(affinity, wanted.get("affinity", {}), "nodeAffinity")
    if affinity or "affinity" in wanted:
        pod["affinity"] = affinity
    else:
        pod.pop("affinity", None)
    keep(pod, wanted, "nodeSelector", "tolerations", "schedulingGates")


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about names and numbers that bring surprises."""
    changed = old is None or old.get("spec") != new.get("spec")
    messages = job_spec.warnings(new.get("spec", {}), _SPEC) if changed else []
    return workload.name_warnings(new, old) + messages


def _state(obj: Object, now: float) -> str:
    for kind in ("Complete", "Failed"):
        if job_status.is_true(obj, kind):
            return kind
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if job_status.is_true(obj, kind):
            return kind
    return "Running"


def _completions(obj: Object, now: float) -> str:
    spec, done = obj.get("spec", {}), get(obj, ".status.succeeded", 0)
    if "completions" in spec:
        return f"{done}/{spec['completions']}"
    parallelism = spec.get("parallelism", 0)
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _duration(obj: Object, now: float) -> str:
    start, end = get(obj, ".status.startTime"), get(obj, ".status.completionTime")
    return human_duration((epoch(end) if end else now) - epoch(start)) if start else ""


RESOURCE = Resource(
    group="batch",
    version="v1",
    kind="Job",
    plural="jobs",
    categories=("all",),
    subresources=("status",),
    generation=True,
    propagation="Orphan",
    deletion_warning=(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them "
        "or set propagationPolicy=Orphan to suppress this warning"
    ),
    columns=(
        NAME,
        Column("Status", _state),
        Column("Completions", _completions),
        Column("Duration", _duration),
        AGE,
        *workload.template_columns(),
        workload.selector_column(),
    ),
    selectable={"status.successful": lambda obj: str(get(obj, ".status.succeeded", 0))},
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=validate,
    validate_create=validate_create,
    validate_update=validate_update,
    validate_status_update=job_status.validate,
    warnings=warnings,
)
