"""Selectors as Go prints them in messages."""

from __future__ import annotations

from pybernetes.api.resource import Object


def printed(selector: Object) -> str:
    """Return a LabelSelector as Go prints it."""
    labels = "".join(
        f"{name}: {value}," for name, value in sorted((selector.get("matchLabels") or {}).items())
    )
    return f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{}},}}"
