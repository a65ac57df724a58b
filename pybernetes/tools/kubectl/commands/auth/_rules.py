"""Rules of roles taken apart, to see what one role grants and another does not."""

from __future__ import annotations

from pybernetes.api.text.go_printf import plain
from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


_RULE = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
_SUBJECT = ("kind", "apiGroup", "name", "namespace")
_GO_NAMES = {"verbs": "Verbs", "apiGroups": "APIGroups", "resources": "Resources", "resourceNames": "ResourceNames",
             "nonResourceURLs": "NonResourceURLs", "kind": "Kind", "apiGroup": "APIGroup", "name": "Name",
             "namespace": "Namespace"}  # fmt: skip


def not_covered(owner: list[Object], wanted: list[Object]) -> list[Object]:
    """Return what the wanted rules grant and the owned ones do not, verbs of one resource put together."""
    owned = [part for rule in owner for part in _parts(rule)]
    missing = [
        part
        for rule in wanted
        for part in _parts(rule)
        if not any(_covers(owned_rule, part) for owned_rule in owned)
    ]
    rules: list[Object] = []
    for part in missing:
        same = [rule for rule in rules if _but_verbs(rule) == _but_verbs(part)]
        if same:
            same[0]["verbs"] += [verb for verb in part["verbs"] if verb not in same[0]["verbs"]]
        else:
            rules.append(part)
    return rules


def _but_verbs(rule: Object) -> list[Any]:
    return [rule.get(key) for key in _RULE[1:]]


def _parts(rule: Object) -> list[Object]:
    parts: list[Object] = []
    for verb in rule.get("verbs") or ():
        parts += [{"verbs": [verb], "nonResourceURLs": [url]} for url in rule.get("nonResourceURLs") or ()]
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                part = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
                names = rule.get("resourceNames") or ()
                parts += [{**part, "resourceNames": [name]} for name in names] or [part]
    return parts


def _covers(owned: Object, part: Object) -> bool:
    if ("nonResourceURLs" in owned) != ("nonResourceURLs" in part):
        return False
    if not _matches(owned["verbs"][0], part["verbs"][0]):
        return False
    if "nonResourceURLs" in part:
        mine, theirs = owned["nonResourceURLs"][0], part["nonResourceURLs"][0]
        return mine == theirs or (mine.endswith("*") and theirs.startswith(mine[:-1]))
    if owned.get("resourceNames") not in (None, part.get("resourceNames")):
        return False
    mine, theirs = owned["resources"][0], part["resources"][0]
    star = mine.startswith("*/") and theirs.partition("/")[2] == mine[2:]
    return _matches(owned["apiGroups"][0], part["apiGroups"][0]) and (_matches(mine, theirs) or star)


def _matches(owned: str, wanted: str) -> bool:
    return owned in ("*", wanted)


def shown(value: Object, rule: bool) -> str:
    """Return a rule or a subject as Go prints it."""
    fields = (
        f"{_GO_NAMES[key]}:{plain(value.get(key) or ([] if rule else ''))}"
        for key in (_RULE if rule else _SUBJECT)
    )
    return "{" + " ".join(fields) + "}"
