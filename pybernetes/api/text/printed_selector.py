"""Selectors as Go prints them in messages and tables."""

from __future__ import annotations

from pybernetes.api.resource import Object


def printed(selector: Object) -> str:
    """Return a LabelSelector as Go prints it."""
    labels = "".join(
        f"{name}: {value}," for name, value in sorted((selector.get("matchLabels") or {}).items())
    )
    rules = "".join(map(_requirement, selector.get("matchExpressions") or ()))
    return f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{rules}}},}}"


def _requirement(rule: Object) -> str:
    values = " ".join(rule.get("values") or ())
    return f"LabelSelectorRequirement{{Key:{rule.get('key', '')},Operator:{rule.get('operator', '')},Values:[{values}],}},"
