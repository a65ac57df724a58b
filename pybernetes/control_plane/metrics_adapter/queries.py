"""Which objects a series is about, and the query for a metric of some of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pybernetes.api.selectors import Requirement, Selector
from pybernetes.control_plane.metrics_adapter.config import Rule, fill

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")


class GroupResource(NamedTuple):
    """A resource by its group and plural."""

    group: str
    plural: str
    kind: str
    namespaced: bool

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


class Resources:
    """The resources that labels can name, by group and by plural or singular."""

    def __init__(self, known: Sequence[GroupResource]) -> None:
        self._known: dict[tuple[str, str], GroupResource] = {}
        for resource in known:
            for name in (resource.plural, resource.kind.lower()):
                self._known.setdefault((resource.group, name), resource)

    def find(self, group: str, name: str) -> GroupResource | None:
        """Return the resource of a name, plural or singular."""
        return self._known.get((group, name))

    def label_of(self, rule: Rule, resource: GroupResource) -> str | None:
        """Return the label that a rule has for a resource."""
        for label, (group, name) in rule.overrides.items():
            if self.find(group, name) == resource:
                return label
        if not rule.label_template:
            return None
        singular = resource.kind.lower()
        return fill(rule.label_template, {"Group": resource.group.replace(".", "_"), "Resource": singular})

    def of_series(self, rule: Rule, labels: Mapping[str, str]) -> list[GroupResource]:
        """Return the resources that the labels of a series name."""
        resources = [
            resource
            for label, (group, name) in rule.overrides.items()
            if label in labels and (resource := self.find(group, name)) is not None
        ]
        if rule.label_template:
            resources += [
                resource for resource in dict.fromkeys(self._known.values())
                if resource not in resources and self.label_of(rule, resource) in labels
            ]  # fmt: skip
        return resources


def quoted(text: str) -> str:
    """Return a text as PromQL has it; nothing that a client sends can end it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def matcher(label: str, names: Sequence[str]) -> str:
    """Return the condition that a label has one of some values."""
    if len(names) == 1:
        return f"{label}={quoted(names[0])}"
    return f"{label}=~{quoted('|'.join(re.escape(name) for name in names))}"


def selector_matchers(selector: Selector) -> list[str]:
    """Return the conditions of a selector; ValueError for one that PromQL does not have."""
    return [_requirement(requirement) for requirement in selector.requirements]


def _requirement(requirement: Requirement) -> str:
    key, values = requirement.key, sorted(requirement.values)
    if not _NAME.match(key):
        raise ValueError(f"{key!r} is no name of a label")
    pattern = quoted("|".join(re.escape(value) for value in values))
    if requirement.operator in ("=", "==", "In", "in"):
        return matcher(key, values) if values else f'{key}=""'
    if requirement.operator in ("!=", "NotIn", "notin"):
        return f"{key}!={quoted(values[0])}" if len(values) == 1 else f"{key}!~{pattern}"
    if requirement.operator in ("Exists", "exists"):
        return f'{key}!=""'
    if requirement.operator in ("DoesNotExist", "!"):
        return f'{key}=""'
    raise ValueError(f"the operator {requirement.operator} is not supported for metrics")


def query(rule: Rule, series: str, matchers: Sequence[str], group_by: str) -> str:
    """Return the query of a rule."""
    return fill(
        rule.metrics_query, {"Series": series, "LabelMatchers": ",".join(matchers), "GroupBy": group_by}
    )
