"""Checks of what steers a pod to nodes: affinity, tolerations, topology spread, gates."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names
from pybernetes.api.validation.selectors import (
    validate_label_selector,
    validate_node_selector,
    validate_node_selector_term,
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RANGE = "must be in the range 1-100"


def validate_affinity(affinity: Object, path: Path, errors: Errors) -> None:
    """Check node affinity and affinity to, and away from, other pods."""
    if "nodeAffinity" in affinity:
        _node_affinity(affinity["nodeAffinity"], path / "nodeAffinity", errors)
    for key in ("podAffinity", "podAntiAffinity"):
        if key in affinity:
            _pod_affinity(affinity[key], path / key, errors)


def _node_affinity(affinity: Object, path: Path, errors: Errors) -> None:
    if _REQUIRED in affinity:
        validate_node_selector(affinity[_REQUIRED], path / _REQUIRED, errors)
    for index, term in enumerate(affinity.get(_PREFERRED, ())):
        here = (path / _PREFERRED)[index]
        _weight(term, here, errors)
        preference = term.get("preference", {})
        validate_node_selector_term(preference, here / "preference", errors, allow_invalid_values=True)


def _weight(term: Object, path: Path, errors: Errors) -> None:
    weight = term.get("weight", 0)
    if not 0 < weight <= 100:
        errors.invalid(path / "weight", weight, _RANGE)


def _pod_affinity(affinity: Object, path: Path, errors: Errors) -> None:
    for index, term in enumerate(affinity.get(_REQUIRED, ())):
        _term(term, (path / _REQUIRED)[index], errors)
    for index, weighted in enumerate(affinity.get(_PREFERRED, ())):
        here = (path / _PREFERRED)[index]
        _weight(weighted, here, errors)
        _term(weighted.get("podAffinityTerm", {}), here / "podAffinityTerm", errors)


def _term(term: Object, path: Path, errors: Errors) -> None:
    for key in ("labelSelector", "namespaceSelector"):
        validate_label_selector(term.get(key), path / key, errors)
    for namespace in term.get("namespaces", ()):
        checks.name(names.dns_label, namespace, path / "namespace", errors)
    _label_keys(term, path, errors)
    key = term.get("topologyKey", "")
    if not key:
        errors.required(path / "topologyKey", "can not be empty")
    checks.name(names.qualified_name, key, path / "topologyKey", errors)


def _label_keys(term: Object, path: Path, errors: Errors) -> None:
    """Check the keys of labels whose values are taken from the pod itself."""
    selector = term.get("labelSelector")
    match, mismatch = term.get("matchLabelKeys", ()), term.get("mismatchLabelKeys", ())
    for field, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            errors.forbidden(path / field, "must not be specified when labelSelector is not set")
            continue
        for index, key in enumerate(keys):
            checks.name(names.qualified_name, key, (path / field)[index], errors)
    if selector is not None and match:
        places = {key: index for index, key in enumerate(match)}
        # The selector already holds one requirement for each of the keys: a second one is the client's.
        seen = set(selector.get("matchLabels", ()))
        for expression in selector.get("matchExpressions", ()):
            key = expression.get("key", "")
            if key in places and key in seen:
                errors.invalid(path[places[key]], key, "exists in both matchLabelKeys and labelSelector")
            seen.add(key)
    for index, key in enumerate(match):
        if key in mismatch:
            text = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.invalid((path / "matchLabelKeys")[index], key, text)


def validate_tolerations(tolerations: list[Object], path: Path, errors: Errors) -> None:
    """Check the taints that a pod tolerates."""
    for index, toleration in enumerate(tolerations):
        here = path[index]
        key, operator = toleration.get("key", ""), toleration.get("operator", "")
        value, effect = toleration.get("value", ""), toleration.get("effect", "")
        if key:
            checks.name(names.qualified_name, key, here / "key", errors)
        elif operator != "Exists":
            text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            errors.invalid(here / "operator", operator, text)
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            errors.invalid(
                here / "effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"
            )
        if operator in ("", "Equal"):
            problems = names.label_value(value)
            if problems:
                errors.invalid(here / "operator", value, ";".join(problems))
        elif operator == "Exists":
            if value:
                errors.invalid(here / "operator", value, "value must be empty when `operator` is 'Exists'")
        else:
            known = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else ("Equal", "Exists")
            errors.unsupported(here / "operator", operator, known)
        if effect:
            checks.one_of(effect, _EFFECTS, here / "effect", errors)


def validate_topology_spread(constraints: list[Object], path: Path, errors: Errors) -> None:
    """Check how pods are spread over the values of a node label."""
    pairs = [(item.get("topologyKey", ""), item.get("whenUnsatisfiable", "")) for item in constraints]
    last = {pair: index for index, pair in enumerate(pairs)}
    for index, constraint in enumerate(constraints):
        here = path[index]
        key, action = pairs[index]
        checks.positive(constraint.get("maxSkew", 0), here / "maxSkew", errors)
        if not key:
            errors.required(here / "topologyKey", "can not be empty")
        checks.one_of(action, ("DoNotSchedule", "ScheduleAnyway"), here / "whenUnsatisfiable", errors)
        if last[pairs[index]] > index:
            errors.duplicate(here / "{topologyKey, whenUnsatisfiable}", f"{{{key}, {action}}}")
        domains = constraint.get("minDomains")
        if domains is not None:
            checks.positive(domains, here / "minDomains", errors)
            if action != "DoNotSchedule":
                text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
                errors.invalid(here / "minDomains", domains, text)
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if policy in constraint:
                checks.one_of(constraint[policy], ("Honor", "Ignore"), here / policy, errors)
        _label_keys({**constraint, "mismatchLabelKeys": ()}, here, errors)
        validate_label_selector(constraint.get("labelSelector"), here / "labelSelector", errors)


def validate_gates(spec: Object, path: Path, errors: Errors) -> None:
    """Check readiness gates and scheduling gates."""
    for index, gate in enumerate(spec.get("readinessGates", ())):
        here = (path / "readinessGates")[index] / "conditionType"
        checks.name(names.qualified_name, gate.get("conditionType", ""), here, errors)
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates", ())):
        name = gate.get("name", "")
        here = (path / "schedulingGates")[index]
        checks.name(names.qualified_name, name, here, errors)
        if name in seen:
            errors.duplicate(here, name)
        seen.add(name)
