"""PodDisruptionBudget v1beta1, in which an empty selector selects nothing."""

from __future__ import annotations

from pybernetes.api.older_versions._older_version import OlderVersion, Table
from pybernetes.api.resource import Object

_LABEL = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
_ALL = {"matchExpressions": [{"key": _LABEL, "operator": "DoesNotExist"}]}
_NONE = {"matchExpressions": [{"key": _LABEL, "operator": "Exists"}]}


def convert(obj: Object) -> Object:
    """Say in v1's words what the selector selects."""
    spec = obj.get("spec") or {}
    selector = spec.get("selector")
    if selector is None:
        return obj
    present = {key: value for key, value in selector.items() if value}
    if not present:
        spec["selector"] = _NONE
    elif present == _ALL:
        spec["selector"] = {}
    else:
        _strip(selector)
    return obj


def _strip(selector: Object) -> None:
    """Take the label that stands for all or nothing out of a selector that says more."""
    if selector.get("matchLabels"):
        selector["matchLabels"].pop(_LABEL, None)
    if selector.get("matchExpressions"):
        selector["matchExpressions"] = [
            rule for rule in selector["matchExpressions"] if rule["key"] != _LABEL
        ]


OLDER: Table = {("policy/v1beta1", "PodDisruptionBudget"): OlderVersion("policy/v1", convert)}
