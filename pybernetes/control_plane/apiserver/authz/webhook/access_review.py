"""The question that webhooks are asked, and that match conditions see."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request_info import RequestInfo

_OPERATORS = {"in": "In", "notin": "NotIn", "exists": "Exists", "!": "DoesNotExist"}
# A question longer than this is not remembered.
MOST_CACHED = 10_000


def spec(user: User, info: RequestInfo) -> dict[str, Any]:
    """Return the spec of a SubjectAccessReview; what is empty is left out, as Go does."""
    asked: dict[str, Any] = {}
    if info.is_resource:
        asked["resourceAttributes"] = _filled(
            namespace=info.namespace, verb=info.verb, group=info.group, version=info.version,
            resource=info.resource, subresource=info.subresource, name=info.name, **_selectors(info),
        )  # fmt: skip
    else:
        asked["nonResourceAttributes"] = _filled(path=info.path, verb=info.verb)
    extra = {key: list(values) for key, values in user.extra.items()}
    return {**asked, **_filled(user=user.name, groups=list(user.groups), extra=extra, uid=user.uid)}


def visible(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the question as match conditions see it: texts that are empty are there."""
    shown: dict[str, Any] = {"user": "", "groups": [], "extra": {}, "uid": "", **asked}
    if "resourceAttributes" in asked:
        names = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
        shown["resourceAttributes"] = {**dict.fromkeys(names, ""), **asked["resourceAttributes"]}
    if "nonResourceAttributes" in asked:
        shown["nonResourceAttributes"] = {"path": "", "verb": "", **asked["nonResourceAttributes"]}
    return shown


def _filled(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}


def _selectors(info: RequestInfo) -> dict[str, Any]:
    fields = [
        {"key": name, "operator": "In" if equal else "NotIn", "values": [value]}
        for name, value, equal in info.fields
    ]
    labels = [
        {"key": item.key, "operator": _OPERATORS[item.operator], **_filled(values=list(item.values))}
        for item in info.labels
        if item.operator in _OPERATORS
    ]
    return _filled(
        fieldSelector={"requirements": fields} if fields else None,
        labelSelector={"requirements": labels} if labels else None,
    )
