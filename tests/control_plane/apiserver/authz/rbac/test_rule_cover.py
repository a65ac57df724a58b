"""Escalation is sound: rules that are covered by others allow nothing that the others do not."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.authz.rbac.rule_cover import missing_rules
from tests.control_plane.apiserver.authz.rbac.generated import Generator, every_question
from tests.control_plane.apiserver.authz.rbac.model import Question, covers

Object = dict[str, Any]
STARS = [
    Question("*", group, resource, subresource, name=name)
    for group in ("*", "", "apps")
    for resource in ("*", "pods")
    for subresource in ("", "*", "scale")
    for name in ("", "*", "x")
]
QUESTIONS = [*every_question(), *STARS]


def part_of(rule: Object, generator: Generator) -> Object:
    """Return a rule with less in it, or with a star in the place of something."""
    pick, part = generator.random, {}
    for field, values in rule.items():
        part[field] = pick.sample(values, pick.randint(1, len(values)))
        if pick.random() < 0.08:
            part[field] = ["*"]
    if "resources" in part and pick.random() < 0.1:
        part["resources"] = [pick.choice(("pods/*", "*/scale", "*/*", "pods"))]
    if "resourceNames" in part and pick.random() < 0.2:
        del part["resourceNames"]
    elif "resources" in part and pick.random() < 0.3:
        part["resourceNames"] = pick.sample(("x", "y", "*", "w"), 2)
    return part


def test_what_is_covered_allows_nothing_more() -> None:
    generator = Generator(21)
    counts = {True: 0, False: 0}
    for _ in range(700):
        owned = [generator.rule(urls=True) for _ in range(generator.random.randint(1, 4))]
        wanted = [
            part_of(generator.random.choice(owned), generator) for _ in range(generator.random.randint(1, 2))
        ]
        covered = not missing_rules(owned, wanted)
        more = [
            question
            for question in generator.random.sample(QUESTIONS, 600)
            if any(covers(rule, question) for rule in wanted)
            and not any(covers(rule, question) for rule in owned)
        ]
        assert not (covered and more), (owned, wanted, more[:3])
        counts[covered] += 1
    assert min(counts.values()) > 100, counts


def test_rules_cover_themselves() -> None:
    generator = Generator(22)
    for _ in range(300):
        rules = [generator.rule(urls=True) for _ in range(3)]
        assert missing_rules(rules, list(reversed(rules))) == []
        assert (
            missing_rules([*rules, {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}], rules[:1]) == []
        )
