"""ABAC: the examples of the documentation behave as written there, and a line that is wrong is named."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.control_plane.apiserver.authz.modes import abac
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from tests.servers import running


def line(**spec: Any) -> str:
    return json.dumps({"apiVersion": abac.VERSION, "kind": abac.KIND, "spec": spec})


# What the documentation gives as examples: Alice may do everything, the kubelet reads pods and writes events, Bob reads pods
# of one namespace, anybody reads all paths that are no resources.
EXAMPLES = [
    line(user="alice", namespace="*", resource="*", apiGroup="*"),
    line(user="kubelet", namespace="*", resource="pods", readonly=True),
    line(user="kubelet", namespace="*", resource="events"),
    line(user="bob", namespace="projectCaribou", resource="pods", readonly=True),
    line(group="system:authenticated", readonly=True, nonResourcePath="*"),
    line(group="system:unauthenticated", readonly=True, nonResourcePath="/healthz*"),
]
ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))


def user(name: str, *groups: str) -> User:
    return User(name, groups=(*groups, AUTHENTICATED))


def asks(verb: str, resource: str, namespace: str = "", group: str = "") -> RequestInfo:
    return RequestInfo(verb, is_resource=True, resource=resource, namespace=namespace, group=group)


@pytest.mark.parametrize(
    ("who", "what", "allowed"),
    [
        (user("alice"), asks("delete", "deployments", "x", "apps"), True),
        (user("alice"), asks("create", "nodes"), True),
        (user("alice"), RequestInfo("post", path="/made-up"), False),
        (user("kubelet"), asks("watch", "pods"), True),
        (user("kubelet"), asks("create", "pods", "x"), False),
        (user("kubelet"), asks("create", "events", "x"), True),
        (user("kubelet"), asks("create", "events", "x", "events.k8s.io"), False),
        (user("bob"), asks("get", "pods", "projectCaribou"), True),
        (user("bob"), asks("get", "pods", "other"), False),
        (user("bob"), asks("delete", "pods", "projectCaribou"), False),
        (user("bob"), RequestInfo("get", path="/version"), True),
        (user("bob"), RequestInfo("post", path="/version"), False),
        (ANONYMOUS, RequestInfo("get", path="/healthz/ping"), True),
        (ANONYMOUS, RequestInfo("get", path="/version"), False),
        (ANONYMOUS, asks("get", "pods", "projectCaribou"), False),
    ],
)
def test_examples(who: User, what: RequestInfo, allowed: bool, tmp_path: Path) -> None:
    file = tmp_path / "policy"
    file.write_text("# people\n\n" + "\n".join(EXAMPLES) + "\n  \n")
    verdict = abac.Abac(abac.read(file)).authorize(who, what)
    assert verdict.allowed is allowed and not verdict.denied
    assert verdict.reason == ("" if allowed else "No policy matched.")


def test_whom_a_policy_is_for() -> None:
    both = abac.policy(line(user="a", group="g").encode())
    assert (
        both.concerns(user("a", "g")) and not both.concerns(user("a")) and not both.concerns(user("b", "g"))
    )
    assert not abac.policy(line(namespace="*", resource="*").encode()).concerns(user("a"))
    for everybody in (line(user="*"), line(group="*"), line(user="*", group="g")):
        known = abac.policy(everybody.encode())
        assert known.concerns(user("a")) and not known.concerns(ANONYMOUS)


def test_rules_are_listed() -> None:
    rules = abac.Abac([abac.policy(text.encode()) for text in EXAMPLES]).rules(user("bob"), "projectCaribou")
    assert rules.rules == [
        {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods"]},
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "couldn't get version/kind; json parse error"),
        ("[]", "only Policy of abac.authorization.kubernetes.io/v1beta1 is read here"),
        ('{"user":"alice"}', "only Policy of abac.authorization.kubernetes.io/v1beta1 is read here"),
        (line(user=5), "Go struct field PolicySpec.spec.user of type string"),
        (line(user="a", readonly="yes"), "Go struct field PolicySpec.spec.readonly of type bool"),
    ],
)
def test_a_line_that_is_wrong_is_named(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "policy"
    file.write_text(f"{line(user='a')}\n{text}\n")
    with pytest.raises(
        ValueError, match="error reading policy file .*, line 2: .*" + problem.replace(".", r"\.")
    ):
        abac.check(argparse.Namespace(authorization_policy_file=str(file)))


def test_no_file(tmp_path: Path) -> None:
    for path, problem in (
        ("", "policy file not passed"),
        (str(tmp_path / "no"), "no such file or directory"),
    ):
        with pytest.raises(ValueError, match=problem):
            abac.check(argparse.Namespace(authorization_policy_file=path))


def test_a_server_with_policies(tmp_path: Path) -> None:
    (tmp_path / "policy").write_text(line(user="bob", namespace="one", resource="configmaps", readonly=True))
    (tmp_path / "more.csv").write_text(
        'bobs-token,bob,bob\nthe-administrators-token,admin,admin,"system:masters"\n'
    )
    flags = ("--authorization-mode=ABAC", f"--authorization-policy-file={tmp_path / 'policy'}",
             f"--token-auth-file={tmp_path / 'more.csv'}")  # fmt: skip
    with running(tmp_path, *flags) as server:
        path = "/api/v1/namespaces/one/configmaps"
        assert server.call("GET", path, token="bobs-token")[0] == 200
        status, answer = server.call("GET", "/api/v1/namespaces/two/configmaps", token="bobs-token")
        assert status == 403 and answer["message"].endswith("No policy matched.")
        assert server.call("POST", path, {"metadata": {"name": "a"}}, token="bobs-token")[0] == 403
