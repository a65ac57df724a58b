"""Whether rules cover other rules: all that the others allow, they allow too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from pybernetes.api.rbac_rules import RuleSet, rule_keys
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.authz.verdict import Rule

# (verb, URL), (verb, group, resource) or (verb, group, resource, name): the smallest parts that a rule consists of.
Entry = tuple[str, ...]


def entries(rules: Iterable[Rule]) -> Iterator[Entry]:
    """Return the smallest parts of rules, in order."""
    for rule in rules:
        verbs, names = rule.get("verbs", ()), rule.get("resourceNames", ())
        for group, resource, verb in product(rule.get("apiGroups", ()), rule.get("resources", ()), verbs):
            if names:
                for name in names:
                    yield verb, group, resource, name
            else:
                yield verb, group, resource
        for url, verb in product(rule.get("nonResourceURLs", ()), verbs):
            yield verb, url


def count(rules: Iterable[Rule]) -> int:
    """Return how many smallest parts there are, at most."""
    return sum(
        len(rule.get("verbs", ()))
        * (
            len(rule.get("apiGroups", ()))
            * len(rule.get("resources", ()))
            * max(1, len(rule.get("resourceNames", ())))
            + len(rule.get("nonResourceURLs", ()))
        )
        for rule in rules
    )


def covers(owned: RuleSet, entry: Entry) -> bool:
    """Return whether a set of rules covers one part."""
    if len(entry) == 2:
        return owned.allows_url(*entry)
    return owned.allows(rule_keys(*entry[:3]), entry[3] if len(entry) > 3 else None)


def as_rule(entry: Entry) -> Rule:
    """Return one part as a rule of its own."""
    if len(entry) == 2:
        return {"verbs": [entry[0]], "nonResourceURLs": [entry[1]]}
    rule = {"verbs": [entry[0]], "apiGroups": [entry[1]], "resources": [entry[2]]}
    if len(entry) > 3:
        rule["resourceNames"] = [entry[3]]
    return rule


def missing_rules(owned: list[Rule], wanted: list[Rule]) -> list[Rule]:
    """Return the parts of the wanted rules that the owned ones do not cover, each as a rule."""
    if owned == wanted:
        return []
    compiled = RuleSet(owned)
    return [as_rule(entry) for entry in entries(wanted) if not covers(compiled, entry)]


def compact(parts: Iterable[Entry]) -> list[Rule]:
    """Return parts as rules, those that differ by their verb alone put together."""
    alone: list[Rule] = []
    together: dict[Entry, Rule] = {}
    for entry in parts:
        if len(entry) == 2:
            alone.append(as_rule(entry))
        elif entry[1:] in together:
            together[entry[1:]]["verbs"].append(entry[0])
        else:
            together[entry[1:]] = as_rule(entry)
    return alone + list(together.values())


def described(parts: Iterable[Entry]) -> list[str]:
    """Return parts as upstream's messages list them."""
    return sorted({describe(rule) for rule in compact(parts)})


def describe(rule: Rule) -> str:
    """Return a rule as upstream's messages show it: ``{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}``."""
    shown = (
        ("APIGroups", "apiGroups"),
        ("Resources", "resources"),
        ("NonResourceURLs", "nonResourceURLs"),
        ("ResourceNames", "resourceNames"),
        ("Verbs", "verbs"),
    )
    parts = [f"{name}:{quoted(rule[field])}" for name, field in shown if rule.get(field)]
    return "{" + ", ".join(parts) + "}"


def quoted(texts: Iterable[str]) -> str:
    """Return texts as Go's ``%q`` prints a slice."""
    return "[" + " ".join(go_format.quote(text) for text in texts) + "]"
