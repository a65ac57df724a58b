"""Roles and bindings."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, shown

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


def role(writer: Writer, value: Object) -> None:
    """Write a role: a line for each resource, verbs put together."""
    writer.name(value, namespace=False)
    writer.marks(value)
    writer.line("PolicyRule:")
    writer.heading("Resources", "Non-Resource URLs", "Resource Names", "Verbs")
    for rule in _compact(value.get("rules") or []):
        cells = [
            _resource(rule),
            *(shown(rule.get(key) or []) for key in ("nonResourceURLs", "resourceNames", "verbs")),
        ]
        writer.line("\t".join(cells), 1)


def _compact(rules: list[Object]) -> list[Object]:
    """Return one rule for each resource of each group; rules that differ only in their verbs become one."""
    single: list[Object] = []
    for rule in rules:
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                for verb in rule.get("verbs") or ():
                    part: Object = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                    names = rule.get("resourceNames") or []
                    single += [{**part, "resourceNames": [name]} for name in names] if names else [part]
        for url in rule.get("nonResourceURLs") or ():
            single += [{"nonResourceURLs": [url], "verbs": [verb]} for verb in rule.get("verbs") or ()]
    merged: dict[Any, Object] = {}
    result: list[Object] = []
    for rule in single:
        if "resources" in rule:
            key = (rule["apiGroups"][0], rule["resources"][0], tuple(rule.get("resourceNames", ())))
            if key in merged:
                merged[key]["verbs"] += [verb for verb in rule["verbs"] if verb not in merged[key]["verbs"]]
            else:
                merged[key] = {**rule, "verbs": list(rule["verbs"])}
                result.append(merged[key])
        else:
            url = ("url", rule["nonResourceURLs"][0])
            if url in merged:
                merged[url]["verbs"] += [verb for verb in rule["verbs"] if verb not in merged[url]["verbs"]]
            else:
                merged[url] = {**rule, "verbs": list(rule["verbs"])}
                result.append(merged[url])
    return sorted(result, key=_order)


def _order(rule: Object) -> str:
    """Return the text by which the original sorts rules."""
    keys = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    titles = ("Verbs", "APIGroups", "Resources", "ResourceNames", "NonResourceURLs")
    return "".join(
        f"{title}:[{' '.join(rule.get(key) or ())}]," for title, key in zip(titles, keys, strict=True)
    )


def _resource(rule: Object) -> str:
    if not rule.get("resources"):
        return ""
    name, slash, subresource = rule["resources"][0].partition("/")
    group = (rule.get("apiGroups") or [""])[0]
    return f"{name}.{group}{slash}{subresource}" if group else f"{name}{slash}{subresource}"


def binding(writer: Writer, value: Object) -> None:
    """Write a binding and whom it binds."""
    reference = value.get("roleRef") or {}
    writer.name(value, namespace=False)
    writer.marks(value)
    writer.line("Role:")
    writer.field("Kind", reference.get("kind", ""), 1)
    writer.field("Name", reference.get("name", ""), 1)
    writer.line("Subjects:")
    writer.heading("Kind", "Name", "Namespace")
    for subject in value.get("subjects") or ():
        writer.line(
            f"{subject.get('kind', '')}\t{subject.get('name', '')}\t{subject.get('namespace', '')}", 1
        )
