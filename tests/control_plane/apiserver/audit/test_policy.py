"""Audit policies: which rule fits which request, and what is wrong with files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.audit import policy
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request_info import parse

JANE = User("jane", groups=("devs", "system:authenticated"))
HEAD = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy"}
POD = "/api/v1/namespaces/shop/pods/web"


def level(rule: dict[str, Any], method: str, path: str, user: User | None = JANE) -> str:
    policy_ = policy.read({**HEAD, "rules": [{"level": "Request", **rule}]})
    watch = path.endswith("?watch")
    return policy.LEVELS[policy_.depth(user, parse(method, path.removesuffix("?watch"), watch)).level]


def pods(**more: Any) -> dict[str, Any]:
    return {"resources": [{"group": "", "resources": ["pods"], **more}]}


@pytest.mark.parametrize(
    ("rule", "method", "path", "fits"),
    [
        ({}, "GET", POD, True),
        ({}, "GET", "/version", True),
        ({"users": ["jane"]}, "GET", POD, True),
        ({"users": ["joe"]}, "GET", POD, False),
        ({"userGroups": ["ops", "devs"]}, "GET", POD, True),
        ({"userGroups": ["ops"]}, "GET", POD, False),
        ({"verbs": ["watch"]}, "GET", "/api/v1/pods?watch", True),
        ({"verbs": ["watch"]}, "GET", POD, False),
        ({"namespaces": ["shop"]}, "GET", POD, True),
        ({"namespaces": ["shop"]}, "GET", "/api/v1/namespaces/other/pods", False),
        ({"namespaces": [""]}, "GET", "/api/v1/nodes", True),
        ({"namespaces": [""]}, "GET", "/version", False),
        (pods(), "GET", POD, True),
        (pods(), "GET", f"{POD}/log", False),
        (pods(), "GET", "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods", False),
        (pods(group="*"), "GET", "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods", True),
        (pods(resources=["pods/log"]), "GET", f"{POD}/log", True),
        (pods(resources=["pods/*"]), "GET", f"{POD}/log", True),
        (pods(resources=["pods/*"]), "GET", POD, True),
        (pods(resources=["*/log"]), "GET", f"{POD}/log", True),
        (pods(resources=["*/log"]), "GET", f"{POD}/exec", False),
        (pods(resources=["*"]), "GET", f"{POD}/exec", True),
        (pods(resources=[]), "GET", "/api/v1/nodes", True),
        (pods(resourceNames=["web"]), "GET", POD, True),
        (pods(resourceNames=["db"]), "GET", POD, False),
        ({"nonResourceURLs": ["/healthz*"]}, "GET", "/healthz/etcd", True),
        ({"nonResourceURLs": ["/healthz"]}, "GET", "/healthz/etcd", False),
        ({"nonResourceURLs": ["*"]}, "GET", "/version", True),
        ({"nonResourceURLs": ["*"]}, "GET", POD, False),
    ],
)
def test_what_a_rule_fits(rule: dict[str, Any], method: str, path: str, fits: bool) -> None:
    assert level(rule, method, path) == ("Request" if fits else "None")


def test_rules_about_users_do_not_fit_those_whom_nobody_knows() -> None:
    assert level({"users": ["jane"]}, "GET", POD, None) == "None"
    assert level({"userGroups": ["devs"]}, "GET", POD, None) == "None"
    assert level({}, "GET", POD, None) == "Request"


def test_the_first_rule_that_fits_decides_and_adds_to_what_all_omit() -> None:
    rules = [
        {"level": "Metadata", "users": ["joe"]},
        {"level": "RequestResponse", "omitStages": ["ResponseStarted"], "omitManagedFields": False},
        {"level": "None"},
    ]
    policy_ = policy.read(
        {**HEAD, "omitStages": ["RequestReceived"], "omitManagedFields": True, "rules": rules}
    )
    info = parse("GET", POD, False)
    assert policy_.depth(JANE, info) == policy.Depth(
        policy.REQUEST_RESPONSE, frozenset(("RequestReceived", "ResponseStarted")), True
    )
    assert policy_.depth(User("joe"), info) == policy.Depth(
        policy.METADATA, frozenset(("RequestReceived",)), False
    )


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, "Object 'Kind' is missing"),
        ({**HEAD, "apiVersion": "audit.k8s.io/v1beta1"}, "unknown group version field"),
        (HEAD, "loaded illegal policy with 0 rules"),
        ({**HEAD, "rules": [{}]}, "rules[0].level: Required value"),
        ({**HEAD, "rules": [{"level": "All"}]}, 'rules[0].level: Unsupported value: "All"'),
        (
            {**HEAD, "rules": [{"level": "None", "nonResourceURLs": ["x"]}]},
            "non-resource URL rules must begin with a '/' character",
        ),
        (
            {**HEAD, "rules": [{"level": "None", "nonResourceURLs": ["/a*b"]}]},
            "non-resource URL wildcards '*' must be the final character of the rule",
        ),
        (
            {**HEAD, "rules": [{"level": "None", "nonResourceURLs": ["/a"], "namespaces": ["a"]}]},
            "rules cannot apply to both regular resources and non-resource URLs",
        ),
        (
            {**HEAD, "rules": [{"level": "None", "resources": [{"group": "apps/v1"}]}]},
            "rules[0].resources.group: Invalid value",
        ),
        (
            {**HEAD, "rules": [{"level": "None", "resources": [{"resourceNames": ["a"]}]}]},
            "using resourceNames requires at least one resource",
        ),
        (
            {**HEAD, "omitStages": ["Now"], "rules": [{"level": "None"}]},
            "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic",
        ),
    ],
)
def test_what_is_wrong_with_a_policy(document: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError) as told:
        policy.read(document)
    assert problem in str(told.value)


def test_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="failed to read file path"):
        policy.load(str(tmp_path / "none"))
    path = tmp_path / "policy.yaml"
    path.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n")
    assert policy.load(str(path)).otherwise.level == policy.NONE
    path.write_text("a: [")
    with pytest.raises(ValueError, match="failed decoding"):
        policy.load(str(path))
