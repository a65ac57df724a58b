"""Compiled rules: what they allow, and what covers what."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.rbac_rules import RuleSet, keys
from pybernetes.control_plane.apiserver.authz.rbac import rule_cover


def rule(verbs: str, groups: str, resources: str, names: str = "") -> dict[str, Any]:
    """Return a rule from words; "-" is the core group."""
    result: dict[str, Any] = {
        "verbs": verbs.split(),
        "apiGroups": ["" if group == "-" else group for group in groups.split()],
        "resources": resources.split(),
    }
    return result | ({"resourceNames": names.split()} if names else {})


def urls(verbs: str, paths: str) -> dict[str, Any]:
    return {"verbs": verbs.split(), "nonResourceURLs": paths.split()}


@pytest.mark.parametrize(
    ("given", "question", "allowed"),
    [
        (rule("get", "-", "pods"), ("get", "", "pods", "", "x"), True),
        (rule("get", "-", "pods"), ("list", "", "pods", "", ""), False),
        (rule("get", "-", "pods"), ("get", "apps", "pods", "", "x"), False),
        (rule("get", "-", "pods"), ("get", "", "pods", "log", "x"), False),
        (rule("get", "-", "pods/log"), ("get", "", "pods", "log", "x"), True),
        (rule("get", "-", "pods/log"), ("get", "", "pods", "", "x"), False),
        (rule("get", "-", "pods/log"), ("get", "", "pods/log", "", "x"), True),
        (rule("get", "-", "*/log"), ("get", "", "pods", "log", "x"), True),
        (rule("get", "-", "*/log"), ("get", "", "pods", "", "x"), False),
        (rule("get", "*", "*/scale"), ("get", "apps", "deployments", "scale", "x"), True),
        (rule("get", "*", "*/scale"), ("update", "apps", "deployments", "scale", "x"), False),
        (rule("get", "-", "*"), ("get", "", "pods", "log", "x"), True),
        (rule("get", "-", "pods/*"), ("get", "", "pods", "log", "x"), False),
        (rule("*", "*", "*"), ("anything", "any.group", "what", "ever", ""), True),
        (rule("*", "-", "pods"), ("escalate", "", "pods", "", ""), True),
        (rule("get", "-", "secrets", "one two"), ("get", "", "secrets", "", "one"), True),
        (rule("get", "-", "secrets", "one two"), ("get", "", "secrets", "", "three"), False),
        (rule("get list", "-", "secrets", "one"), ("list", "", "secrets", "", ""), False),
        (rule("*", "*", "*", "one"), ("list", "", "secrets", "", "two"), False),
        (rule("get", "-", "Pods"), ("get", "", "pods", "", "x"), False),
        (urls("get", "/api"), ("get", "", "pods", "", "x"), False),
        ({"verbs": ["get"]}, ("get", "", "pods", "", "x"), False),
        ({}, ("get", "", "pods", "", "x"), False),
    ],
)
def test_resources(given: dict[str, Any], question: tuple[str, ...], allowed: bool) -> None:
    assert RuleSet([given]).allows(keys(*question[:4]), question[4]) is allowed


@pytest.mark.parametrize(
    ("given", "verb", "path", "allowed"),
    [
        (urls("get", "/healthz"), "get", "/healthz", True),
        (urls("get", "/healthz"), "get", "/healthz/", False),
        (urls("get", "/healthz"), "post", "/healthz", False),
        (urls("get", "/api/*"), "get", "/api/v1", True),
        (urls("get", "/api/*"), "get", "/api", False),
        (urls("get", "/api/*"), "get", "/apis", False),
        (urls("get", "/api*"), "get", "/apis/apps", True),
        (urls("get", "/a**"), "get", "/abc", True),
        (urls("get", "*/b"), "get", "/a/b", False),
        (urls("get", "*"), "get", "/anything", True),
        (urls("*", "*"), "delete", "/anything", True),
        (rule("*", "*", "*"), "get", "/anything", False),
    ],
)
def test_urls(given: dict[str, Any], verb: str, path: str, allowed: bool) -> None:
    assert RuleSet([given]).allows_url(verb, path) is allowed


def test_names_of_several_rules_add_up() -> None:
    limited = [rule("get", "-", "secrets", "one"), rule("get", "-", "secrets", "two")]
    both = RuleSet(limited)
    wanted = keys("get", "", "secrets")
    assert [both.allows(wanted, name) for name in ("one", "two", "three", None)] == [True, True, False, False]
    for open_to_all in (
        RuleSet([*limited, rule("get", "-", "secrets")]),
        RuleSet([rule("get", "-", "secrets"), *limited]),
    ):
        assert open_to_all.allows(wanted, "three") and open_to_all.allows(wanted, None)


def test_a_rule_with_very_many_combinations_is_not_spread_out() -> None:
    many = " ".join(f"r{number}" for number in range(100))
    rules = RuleSet([rule(many + " *", many, many + " */scale", "x")])
    assert not rules.table
    assert rules.allows(keys("get", "r1", "r99"), "x")
    assert rules.allows(keys("get", "r1", "pods", "scale"), "x")
    assert not rules.allows(keys("get", "r1", "r99"), "y")
    assert not rules.allows(keys("get", "apps", "r99"), "x")
    assert not rules.allows(keys("get", "r1", "pods"), "x")


@pytest.mark.parametrize(
    ("owned", "wanted", "missing"),
    [
        ([rule("get list", "-", "pods")], [rule("get", "-", "pods")], []),
        ([rule("get", "-", "pods")], [rule("get list", "-", "pods")], [rule("list", "-", "pods")]),
        ([rule("*", "-", "pods")], [rule("get", "-", "pods")], []),
        ([rule("get", "-", "pods")], [rule("*", "-", "pods")], [rule("*", "-", "pods")]),
        ([rule("get", "*", "pods")], [rule("get", "apps", "pods")], []),
        ([rule("get", "apps", "pods")], [rule("get", "*", "pods")], [rule("get", "*", "pods")]),
        ([rule("get", "-", "*")], [rule("get", "-", "pods/log")], []),
        ([rule("get", "-", "*/log")], [rule("get", "-", "pods/log")], []),
        ([rule("get", "-", "pods")], [rule("get", "-", "pods/log")], [rule("get", "-", "pods/log")]),
        ([rule("get", "-", "pods/log")], [rule("get", "-", "*/log")], [rule("get", "-", "*/log")]),
        ([rule("get", "-", "pods", "a")], [rule("get", "-", "pods", "a b")], [rule("get", "-", "pods", "b")]),
        ([rule("get", "-", "pods", "a")], [rule("get", "-", "pods")], [rule("get", "-", "pods")]),
        ([rule("get", "-", "pods")], [rule("get", "-", "pods", "a")], []),
        ([urls("get", "/a/*")], [urls("get", "/a/b /c")], [urls("get", "/c")]),
        ([urls("get", "/a")], [urls("get", "/a*")], [urls("get", "/a*")]),
        ([urls("*", "*")], [urls("get post", "/a /b/*")], []),
        ([rule("*", "*", "*")], [urls("get", "/a")], [urls("get", "/a")]),
        ([], [{"verbs": [], "apiGroups": [""], "resources": ["pods"]}], []),
    ],
)
def test_what_is_missing(owned: list[Any], wanted: list[Any], missing: list[Any]) -> None:
    assert rule_cover.missing_rules(owned, wanted) == missing


def test_missing_permissions_are_put_together_by_verb() -> None:
    parts = [
        *rule_cover.entries(
            [
                rule("get list", "apps -", "pods", "a b"),
                urls("get post", "/x"),
                rule("watch get", "-", "nodes"),
            ]
        )
    ]
    assert sorted(rule_cover.describe(one) for one in rule_cover.compact(parts)) == [
        '{APIGroups:[""], Resources:["nodes"], Verbs:["watch" "get"]}',
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["pods"], ResourceNames:["b"], Verbs:["get" "list"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
        '{NonResourceURLs:["/x"], Verbs:["post"]}',
    ]


def test_combinations_are_counted_before_they_are_made() -> None:
    rules = [rule("get list", "- apps", "pods nodes", "a b c"), urls("get", "/a /b")]
    assert rule_cover.count(rules) == len(list(rule_cover.entries(rules))) == 26
