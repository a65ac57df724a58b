"""What rules say, and the queries that are made of them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.selectors import parse_labels
from pybernetes.client.refs import BUILTIN
from pybernetes.control_plane.metrics_adapter.config import ConfigurationError, read
from pybernetes.control_plane.metrics_adapter.queries import (
    GroupResource,
    Resources,
    matcher,
    query,
    quoted,
    selector_matchers,
)

RULE: dict[str, Any] = {
    "seriesQuery": 'http_requests_total{pod!=""}',
    "resources": {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}},
    "name": {"matches": "^(.*)_total", "as": "${1}_per_second"},
    "metricsQuery": "sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)",
}
RESOURCES = Resources([GroupResource(ref.group, ref.plural, ref.kind, ref.namespaced) for ref in BUILTIN])
PODS = GroupResource("", "pods", "Pod", True)


def rule(**changes: Any) -> dict[str, Any]:
    return {"rules": [{**RULE, **changes}]}


@pytest.mark.parametrize(
    ("name", "series", "metric"),
    [
        ({"matches": "^(.*)_total", "as": "${1}_per_second"}, "a_total", "a_per_second"),
        ({"matches": "^(.*)_total", "as": "$1"}, "a_total", "a"),
        ({"matches": "^(.*)_total$"}, "a_total", "a"),
        ({"matches": "_total$"}, "a_total", "a_total"),
        ({"as": "other"}, "a_total", "other"),
        ({}, "a_total", "a_total"),
        ({"matches": "^b"}, "a_total", None),
        ({"matches": "^(a)", "as": "${7}x"}, "a_total", "x"),
    ],
)
def test_names(name: dict[str, str], series: str, metric: str | None) -> None:
    assert read(rule(name=name))[0][0].metric_name(series) == metric


def test_filters() -> None:
    made = read(rule(seriesFilters=[{"is": "^container_"}, {"isNot": "_seconds"}]))[0][0]
    names = ("container_a", "container_seconds", "pod_a")
    assert [made.takes(name) for name in names] == [True, False, False]


def test_resources_of_series() -> None:
    made = read(rule())[0][0]
    resources = RESOURCES.of_series(made, {"pod": "a", "namespace": "b", "other": "c"})
    assert [str(resource) for resource in resources] == ["namespaces", "pods"]
    made = read(rule(resources={"template": "kube_<<.Group>>_<<.Resource>>"}))[0][0]
    resources = RESOURCES.of_series(made, {"kube_apps_deployment": "a", "kube__pod": "b"})
    assert sorted(map(str, resources)) == ["deployments.apps", "pods"]
    assert RESOURCES.label_of(made, PODS) == "kube__pod"


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([], "no map"),
        ({"other": []}, "unknown field 'other'"),
        ({"resourceRules": {"cpu": {}}}, "resourceRules are not supported"),
        (rule(seriesQuery=""), "seriesQuery is missing"),
        (rule(metricsQuery=""), "metricsQuery is missing"),
        (
            rule(metricsQuery="<<range .LabelValuesByName>>"),
            "only <<.Series>>, <<.LabelMatchers>>, <<.GroupBy>>",
        ),
        (rule(metricsQuery="<<.Other>>"), "only <<.Series>>"),
        (rule(resources={}), "needs overrides or a template"),
        (rule(seriesFilters=[{"is": "a", "isNot": "b"}]), "either is or isNot"),
        (rule(name={"matches": "("}), "no regular expression"),
        (rule(extra=1), "unknown field 'extra'"),
    ],
)
def test_what_cannot_be_used(document: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        read(document)


def test_queries_hold_what_clients_send() -> None:
    made = read(rule())[0][0]
    assert query(made, "http_requests_total", ['namespace="a"', matcher("pod", ["x", "y"])], "pod") == (
        'sum(rate(http_requests_total{namespace="a",pod=~"x|y"}[2m])) by (pod)'
    )
    assert quoted('a"} or vector(1) #\n\\') == '"a\\"} or vector(1) #\\n\\\\"'
    assert matcher("pod", ["a.b", "c"]) == 'pod=~"a\\\\.b|c"'


@pytest.mark.parametrize(
    ("text", "matchers"),
    [
        ("a=b", ['a="b"']),
        ("a!=b", ['a!="b"']),
        ("a in (b,c)", ['a=~"b|c"']),
        ("a notin (b,c)", ['a!~"b|c"']),
        ("a", ['a!=""']),
        ("!a", ['a=""']),
        ("", []),
    ],
)
def test_selectors(text: str, matchers: list[str]) -> None:
    assert selector_matchers(parse_labels(text)) == matchers


@pytest.mark.parametrize("text", ["a.b=c", "a/b=c", "a>5"])
def test_selectors_that_prometheus_has_not(text: str) -> None:
    with pytest.raises(ValueError):
        selector_matchers(parse_labels(text))
