"""What kinds that keep sets of pods have in common: a selector, a template and counts."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api import selectors
from pybernetes.api.core.pod.validation.spec import validate_pod_template
from pybernetes.api.core.pod.validation.warnings import pod_template_warnings
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object
from pybernetes.api.table import AGE, NAME, container_cells, format_selector, get
from pybernetes.api.text import go_format
from pybernetes.api.validation import names, numbers
from pybernetes.api.validation.meta import IMMUTABLE
from pybernetes.api.validation.selectors import validate_label_selector

SPEC, STATUS = Path("spec"), Path("status")
TEMPLATE = SPEC / "template"
_NAME_WARNING = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
    "a DNS label is recommended: "
)


def ordered(selector: Object | None) -> go_format.Struct | None:
    """Return a label selector as messages show it."""
    if selector is None:
        return None
    return go_format.Struct(
        {key: selector[key] for key in ("matchLabels", "matchExpressions") if key in selector}
    )


def check_selector(selector: Object | None, kind: str, errors: Errors, path: Path = SPEC) -> bool:
    """Check the selector, and return whether pods can be matched with it."""
    if selector is None:
        return True
    before = len(errors)
    validate_label_selector(selector, path / "selector", errors)
    if not selector:
        errors.invalid(path / "selector", go_format.Struct(), f"empty selector is invalid for {kind}")
    return len(errors) == before or not selector


def check_match(selector: Object | None, template: Object, path: Path, errors: Errors) -> None:
    """Report an error if the selector does not match the labels of the template; no selector matches nothing."""
    labels = template.get("metadata", {}).get("labels", {})
    if not selectors.from_object(selector).matches(labels):
        text = "`selector` does not match template `labels`"
        errors.invalid(path / "metadata" / "labels", labels or None, text)


def check_template(template: Object, kind: str, errors: Errors) -> None:
    """Check the template of pods that are kept running for good."""
    validate_pod_template(template, TEMPLATE, errors)
    check_forever(template, kind, errors)


def check_forever(template: Object, kind: str, errors: Errors) -> None:
    """Report a pod that would come to an end."""
    spec = template.get("spec", {})
    policy = spec.get("restartPolicy", "")
    if policy != "Always":
        errors.unsupported(TEMPLATE / "spec" / "restartPolicy", policy, ("Always",))
    if "activeDeadlineSeconds" in spec:
        text = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.forbidden(TEMPLATE / "spec" / "activeDeadlineSeconds", text)


def check_replicated(spec: Object, errors: Errors) -> None:
    """Check the selector and the template of a Deployment or a ReplicaSet, of which upstream says the same."""
    selector, template = spec.get("selector"), spec.get("template", {})
    if selector is None:
        errors.required(SPEC / "selector")
    if check_selector(selector, "deployment", errors):
        check_match(selector, template, TEMPLATE, errors)
        check_template(template, "ReplicaSet", errors)
    else:
        errors.invalid(SPEC / "selector", ordered(selector), "invalid label selector")


def check_immutable_selector(new: Object, old: Object, errors: Errors) -> None:
    """Report an error if an update changes the selector."""
    after, before = get(new, ".spec.selector"), get(old, ".spec.selector")
    if after != before:
        errors.invalid(SPEC / "selector", ordered(after), IMMUTABLE)


def check_at_most(
    status: Object, keys: Iterable[str], errors: Errors, ready_name: str = "readyReplicas"
) -> None:
    """Report counts that are above the number of pods, and pods available that are not ready."""
    replicas, available, ready = (
        status.get(key, 0) for key in ("replicas", "availableReplicas", "readyReplicas")
    )
    for key in keys:
        if status.get(key, 0) > replicas:
            errors.invalid(STATUS / key, status.get(key, 0), "cannot be greater than status.replicas")
    if available > ready:
        errors.invalid(STATUS / "availableReplicas", available, f"cannot be greater than {ready_name}")


def check_replica_counts(status: Object, keys: Iterable[str], errors: Errors) -> None:
    """Check the counts of a ReplicaSet or a ReplicationController: none is negative, and they fit together."""
    numbers.nonnegative_fields(status, keys, STATUS, errors)
    check_at_most(status, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), errors)


def start_without_pods(obj: Object) -> None:
    """Start with no replicas, whatever the client sent."""
    obj["status"] = {"replicas": 0}


def check_collisions(new: Object, old: Object, errors: Errors) -> None:
    """Report an error if the count of name collisions goes back."""
    after, before = get(new, ".status.collisionCount"), get(old, ".status.collisionCount")
    if before is not None and (after is None or after < before):
        errors.invalid(STATUS / "collisionCount", after or 0, "cannot be decremented")


def name_warnings(new: Object, old: Object | None) -> list[str]:
    """Advise a name that pods can have as their host name."""
    problems = names.dns_label(new["metadata"].get("name", "")) if old is None else []
    return [f"{_NAME_WARNING}[{' '.join(problems)}]"] if problems else []


def template_warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about the pods of a workload that is new or changed."""
    if old is not None and old.get("spec") == new.get("spec"):
        return []
    return pod_template_warnings(get(new, ".spec.template", {}), TEMPLATE)


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about the name and about the pods."""
    return name_warnings(new, old) + template_warnings(new, old)


def _containers(obj: Object, path: str) -> tuple[str, str]:
    return container_cells(get(obj, f"{path}.spec.containers"))


def template_columns(path: str = ".spec.template") -> tuple[Column, ...]:
    """Return the wide columns with the containers of the template."""
    return (
        Column("Containers", lambda obj, now: _containers(obj, path)[0], priority=1),
        Column("Images", lambda obj, now: _containers(obj, path)[1], priority=1),
    )


def selector_column(path: str = ".spec.selector") -> Column:
    """Return the wide column with the selector."""
    return Column("Selector", lambda obj, now: format_selector(get(obj, path)), priority=1)


def number(name: str, path: str) -> Column:
    """Return a column with a count that is 0 when it is absent."""
    return Column(name, lambda obj, now: get(obj, path, 0), type="integer")


# What a ReplicaSet and a ReplicationController show before their selectors.
REPLICA_COLUMNS = (
    NAME,
    number("Desired", ".spec.replicas"),
    number("Current", ".status.replicas"),
    number("Ready", ".status.readyReplicas"),
    AGE,
    *template_columns(),
)
