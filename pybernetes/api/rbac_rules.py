"""The rules of a role, compiled so that asking them costs a few look-ups however many there are.

A rule is spread out into one entry for each verb, group and resource. A question is the handful of entries that would
answer it: the one that it names, and those with a ``*`` in place of a part.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import product

from pybernetes.api.resource import Object as Rule
from pybernetes.lib.memory.bounded_cache import bounded_cache

Key = tuple[str, str, str]
# The names that an entry is limited to; an empty set is no limit.
Names = Set[str]
_ANY: Names = frozenset()
# A rule that would be spread out into more entries than this is kept as it is.
_SPREAD = 2048


@bounded_cache(4 << 20, weight=8)
def keys(verb: str, group: str, resource: str, subresource: str = "") -> tuple[Key, ...]:
    """Return the entries that allow a verb on a resource, the exact one first."""
    resources = [resource, "*"]
    if subresource:
        resources = [f"{resource}/{subresource}", "*", f"*/{subresource}"]
    return tuple(
        dict.fromkeys(
            (a_verb, a_group, a_resource)
            for a_verb in (verb, "*")
            for a_group in (group, "*")
            for a_resource in resources
        )
    )


def rule_keys(verb: str, group: str, resource: str) -> tuple[Key, ...]:
    """Return the entries that cover one entry of another rule, in which ``*`` is a name like any other."""
    return keys(verb, group, *resource.partition("/")[::2])


class RuleSet:
    """Compiled rules."""

    __slots__ = ("large", "rules", "table", "urls", "wild")

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = list(rules)
        self.table: dict[Key, Names] = {}
        self.large: list[tuple[frozenset[str], frozenset[str], frozenset[str], Names]] = []
        self.urls: list[tuple[frozenset[str], frozenset[str], tuple[str, ...]]] = []
        # Whether any entry has a star: if not, only the exact one needs to be looked up.
        self.wild = False
        for rule in self.rules:
            self._add(rule)

    def _add(self, rule: Rule) -> None:
        verbs, groups, resources, names, urls = (
            frozenset(rule.get(part, ()))
            for part in ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
        )
        if urls:
            self.urls.append((verbs, urls, tuple(url.rstrip("*") for url in urls if url.endswith("*"))))
        if len(verbs) * len(groups) * len(resources) > _SPREAD:
            self.large.append((verbs, groups, resources, names))
            return
        for key in product(verbs, groups, resources):
            self._allow(key, names)
        if not self.wild:
            self.wild = (
                "*" in verbs or "*" in groups or any(resource.startswith("*") for resource in resources)
            )

    def _allow(self, key: Key, names: Names) -> None:
        before = self.table.get(key)
        if before is None:
            self.table[key] = names
        elif not (before and names):
            self.table[key] = _ANY
        elif isinstance(before, set):
            before |= names  # thousands of rules may name one object each
        else:
            self.table[key] = {*before, *names}

    def allows(self, wanted: tuple[Key, ...], name: str | None) -> bool:
        """Return whether one of the entries is there for a name; None is covered only where there is no limit."""
        table = self.table
        for key in wanted if self.wild else wanted[:1]:
            names = table.get(key)
            if names is not None and (not names or name in names):
                return True
        return bool(self.large) and self._large_allows(wanted, name)

    def _large_allows(self, wanted: tuple[Key, ...], name: str | None) -> bool:
        return any(
            verb in verbs and group in groups and resource in resources and (not names or name in names)
            for verbs, groups, resources, names in self.large
            for verb, group, resource in wanted
        )

    def allows_url(self, verb: str, path: str) -> bool:
        """Return whether a verb is allowed on a path outside of resources."""
        return any(
            (path in urls or path.startswith(prefixes)) and (verb in verbs or "*" in verbs)
            for verbs, urls, prefixes in self.urls
        )


NO_RULES = RuleSet()
