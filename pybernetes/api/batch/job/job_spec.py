"""The spec of a job, which a CronJob has as a template."""

from __future__ import annotations

from pybernetes.api.batch.job import index_sets, pod_failure_policy
from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.core.pod.validation.spec import validate_pod_template
from pybernetes.api.core.pod.validation.warnings import pod_template_warnings
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import numbers
from pybernetes.api.validation.domains import domain_prefixed_path

_COUNTS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_MODES = ("NonIndexed", "Indexed")
_MAX_PARALLELISM = _MAX_FAILED_INDEXES = _MANY_COMPLETIONS = 100_000
_LIMIT_FOR_MANY = 10_000
_MAX_MANAGED_BY = 63
_MAX_RULES = 20
_MAX_INDEXES_TEXT = 64 * 1024
_MANY_WARNING = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes "
    "might not be able to track completedIndexes when a big number of indexes fail"
)


def default_template(spec: Object) -> None:
    """Complete what is nested in the spec of a job."""
    for rule in spec.get("podFailurePolicy", {}).get("rules", ()):
        for pattern in rule.get("onPodConditions", ()):
            if not pattern.get("status"):
                pattern["status"] = "True"
    default_pod_template(spec.setdefault("template", {}))


def drop_disabled(spec: Object, old: Object) -> None:
    """Drop the scheduling as a group, a feature that is off."""
    if "scheduling" not in old:
        spec.pop("scheduling", None)


def validate(spec: Object, path: Path, errors: Errors) -> None:
    """Check a job's spec, defaults applied."""
    numbers.nonnegative_fields(spec, _COUNTS, path, errors)
    if "managedBy" in spec:
        domain_prefixed_path(spec["managedBy"], path / "managedBy", errors)
        if len(spec["managedBy"].encode()) > _MAX_MANAGED_BY:
            errors.too_long(path / "managedBy", _MAX_MANAGED_BY)
    mode = spec.get("completionMode")
    if mode is not None and mode not in _MODES:
        errors.unsupported(path / "completionMode", mode, _MODES)
    if mode == "Indexed":
        _indexed(spec, path, errors)
    elif mode in (None, "NonIndexed"):
        for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if key in spec:
                errors.invalid(path / key, spec[key], "requires indexed completion mode")
    if "podFailurePolicy" in spec:
        pod_failure_policy.validate(spec, path / "podFailurePolicy", errors)
    if "successPolicy" in spec:
        _success(spec, path / "successPolicy", errors)
    replacement = spec.get("podReplacementPolicy")
    allowed = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
    if replacement is not None and replacement not in allowed:
        errors.unsupported(path / "podReplacementPolicy", replacement, allowed)
    template = spec.get("template", {})
    validate_pod_template(template, path / "template", errors)
    _restart_policy(spec, template.get("spec", {}).get("restartPolicy", ""), path, errors)
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        errors.required(path / "backoffLimitPerIndex", "when maxFailedIndexes is specified")


def _indexed(spec: Object, path: Path, errors: Errors) -> None:
    completions, parallelism, failed = (
        spec.get(key) for key in ("completions", "parallelism", "maxFailedIndexes")
    )
    if completions is None:
        errors.required(path / "completions", "when completion mode is Indexed")
    if parallelism is not None and parallelism > _MAX_PARALLELISM:
        text = f"must be less than or equal to {_MAX_PARALLELISM} when completion mode is Indexed"
        errors.invalid(path / "parallelism", parallelism, text)
    if completions is not None and failed is not None and failed > completions:
        errors.invalid(path / "maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > _MAX_FAILED_INDEXES:
        errors.invalid(
            path / "maxFailedIndexes", failed, f"must be less than or equal to {_MAX_FAILED_INDEXES}"
        )
    if completions is None or completions <= _MANY_COMPLETIONS or "backoffLimitPerIndex" not in spec:
        return
    if failed is None:
        text = f"must be specified when completions is above {_MANY_COMPLETIONS}"
        errors.required(path / "maxFailedIndexes", text)
    text = (
        f"must be less than or equal to {_LIMIT_FOR_MANY} when completions are above {_MANY_COMPLETIONS} "
        "and used with backoff limit per index"
    )
    if parallelism is not None and parallelism > _LIMIT_FOR_MANY:
        errors.invalid(path / "parallelism", parallelism, text)
    if failed is not None and failed > _LIMIT_FOR_MANY:
        errors.invalid(path / "maxFailedIndexes", failed, text)


def shown_success(policy: Object | None) -> go_format.Struct | None:
    """Return the policy of success as messages show it."""
    if policy is None:
        return None
    rules = [
        go_format.Struct(
            SucceededIndexes=rule.get("succeededIndexes"), SucceededCount=rule.get("succeededCount")
        )
        for rule in policy.get("rules", ())
    ]
    return go_format.Struct(Rules=rules or None)


def _success(spec: Object, path: Path, errors: Errors) -> None:
    rules = spec["successPolicy"].get("rules", [])
    if spec.get("completionMode") != "Indexed":
        shown = [
            go_format.Struct(
                SucceededIndexes=rule.get("succeededIndexes"), SucceededCount=rule.get("succeededCount")
            )
            for rule in rules
        ]
        errors.invalid(path, go_format.Struct(Rules=shown or None), "requires indexed completion mode")
        return
    if not rules:
        text = "at least one rules must be specified when the successPolicy is specified"
        errors.required(path / "rules", text)
    if len(rules) > _MAX_RULES:
        errors.too_many(path / "rules", len(rules), _MAX_RULES)
    for index, rule in enumerate(rules):
        _success_rule(rule, spec.get("completions"), (path / "rules")[index], errors)


def _success_rule(rule: Object, completions: int | None, path: Path, errors: Errors) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        errors.required(path, "at least one of succeededCount or succeededIndexes must be specified")
    if completions is None:
        return  # which is an error of its own
    total = 0
    if indexes is not None:
        here = path / "succeededIndexes"
        if len(indexes.encode()) > _MAX_INDEXES_TEXT:
            errors.too_long(here, _MAX_INDEXES_TEXT)
        try:
            total = index_sets.count(indexes, completions)
        except ValueError as error:
            errors.invalid(here, indexes, f"error parsing succeededIndexes: {error}")
    if count is not None:
        here = path / "succeededCount"
        numbers.nonnegative(count, here, errors)
        text = "must be less than or equal to {} (the number of {})"
        if count > completions:
            errors.invalid(here, count, text.format(completions, "specified completions"))
        if indexes is not None and count > total:
            noun = "indexes in the specified succeededIndexes field"
            errors.invalid(here, count, text.format(total, noun))


def _restart_policy(spec: Object, policy: str, path: Path, errors: Errors) -> None:
    here = path / "template" / "spec" / "restartPolicy"
    if policy in ("", "Always"):
        errors.required(here, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        errors.unsupported(here, policy, ("OnFailure", "Never"))
    elif "podFailurePolicy" in spec and policy != "Never":
        errors.invalid(here, policy, 'only "Never" is supported when podFailurePolicy is specified')


def warnings(spec: Object, path: Path) -> list[str]:
    """Warn about jobs so large that their indexes may get lost, and about their pods."""
    many = spec.get("completions", 0) > _MANY_COMPLETIONS and spec.get("parallelism", 0) > _LIMIT_FOR_MANY
    messages = [f"{path}: {_MANY_WARNING}"] if many and spec.get("completionMode") == "Indexed" else []
    return messages + pod_template_warnings(spec.get("template", {}), path / "template")
