"""Checks of selectors inside objects."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, meta, names


def validate_label_selector(
    selector: Object | None, path: Path, errors: Errors, *, allow_invalid_values: bool = False
) -> None:
    """Check a LabelSelector; ``allow_invalid_values`` is for objects that already hold such values."""
    if not selector:
        return
    if "matchLabels" in selector:
        meta.check_labels(selector["matchLabels"], path / "matchLabels", errors)
    for index, expression in enumerate(selector.get("matchExpressions", ())):
        _requirement(expression, (path / "matchExpressions")[index], errors, allow_invalid_values)


def _requirement(expression: Object, path: Path, errors: Errors, allow_invalid_values: bool) -> None:
    operator, values = expression.get("operator", ""), expression.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            errors.required(path / "values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.forbidden(
                path / "values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            )
    else:
        errors.invalid(path / "operator", operator, "not a valid selector operator")
    key = expression.get("key", "")
    checks.name(names.qualified_name, key, path / "key", errors)
    if allow_invalid_values:
        return
    for index, value in enumerate(values):
        checks.name(names.label_value, value, (path / "values")[index], errors)


def validate_node_selector(selector: Object, path: Path, errors: Errors) -> None:
    """Check a NodeSelector, whose terms are alternatives."""
    terms = selector.get("nodeSelectorTerms")
    if not terms:
        errors.required(path / "nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms or ()):
        validate_node_selector_term(term, (path / "nodeSelectorTerms")[index], errors)


def validate_node_selector_term(
    term: Object, path: Path, errors: Errors, *, allow_invalid_values: bool = False
) -> None:
    """Check one term of a NodeSelector."""
    for index, expression in enumerate(term.get("matchExpressions", ())):
        _node_requirement(expression, (path / "matchExpressions")[index], errors, allow_invalid_values)
    for index, expression in enumerate(term.get("matchFields", ())):
        _node_field(expression, (path / "matchFields")[index], errors)


def _node_requirement(expression: Object, path: Path, errors: Errors, allow_invalid_values: bool) -> None:
    operator, values = expression.get("operator", ""), expression.get("values", ())
    if operator in ("Gt", "Lt"):
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.required(path / "values", text)
        expression = {**expression, "operator": "In", "values": values or ["0"]}
    _requirement(expression, path, errors, allow_invalid_values)


def _node_field(expression: Object, path: Path, errors: Errors) -> None:
    operator, key, values = (
        expression.get("operator", ""),
        expression.get("key", ""),
        expression.get("values", ()),
    )
    if operator not in ("In", "NotIn"):
        errors.invalid(path / "operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.required(path / "values", text)
    if key != "metadata.name":
        errors.invalid(path / "key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        checks.name(names.dns_subdomain, value, (path / "values")[index], errors)
