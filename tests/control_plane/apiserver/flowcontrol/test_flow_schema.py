"""Which flow schema a request belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.apiserver import request_info
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, MASTERS, UNAUTHENTICATED, User
from pybernetes.control_plane.apiserver.flowcontrol import defaults, flow_schema
from pybernetes.control_plane.apiserver.flowcontrol.configuration import dangling

SCHEMAS = flow_schema.ordered(
    flow_schema.compiled({**obj, "metadata": {**obj["metadata"], "uid": "u"}})
    for obj in defaults.objects(defaults.SCHEMAS)
)
ADMIN = User("admin", groups=(MASTERS, AUTHENTICATED))
NODE = User("system:node:n", groups=("system:nodes", AUTHENTICATED))
MIA = User("mia", groups=(AUTHENTICATED,))
NOBODY = User("system:anonymous", groups=(UNAUTHENTICATED,))
MANAGER = User("system:kube-controller-manager", groups=(AUTHENTICATED,))
SYSTEM_POD = User("system:serviceaccount:kube-system:x", groups=("system:serviceaccounts", AUTHENTICATED))
POD = User("system:serviceaccount:default:x", groups=("system:serviceaccounts", AUTHENTICATED))
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a"


@pytest.mark.parametrize(
    ("user", "method", "path", "schema", "flow"),
    [
        (ADMIN, "GET", "/api/v1/pods", "exempt", ""),
        (NOBODY, "GET", "/healthz", "probes", ""),
        (NOBODY, "GET", "/healthz/ping", "global-default", "system:anonymous"),
        (NODE, "PATCH", "/api/v1/nodes/n/status", "system-node-high", "system:node:n"),
        (NODE, "PUT", LEASE, "system-node-high", "system:node:n"),
        (NODE, "GET", "/api/v1/nodes/n/proxy", "system-nodes", "system:node:n"),
        (MANAGER, "PUT", LEASE, "system-leader-election", "system:kube-controller-manager"),
        (MANAGER, "PATCH", LEASE, "kube-controller-manager", "kube-system"),
        (SYSTEM_POD, "GET", "/api/v1/namespaces/a/pods", "kube-system-service-accounts", "a"),
        (POD, "GET", "/api/v1/namespaces/a/pods", "service-accounts", POD.name),
        (MIA, "GET", "/api/v1/namespaces/a/pods", "global-default", "mia"),
        (MIA, "GET", "/version", "global-default", "mia"),
    ],
)
def test_the_schemas_of_every_cluster(user: User, method: str, path: str, schema: str, flow: str) -> None:
    asked = request_info.parse(method, path, False)
    matching = next(candidate for candidate in SCHEMAS if candidate.matches(user, asked))
    assert (matching.name, matching.flow(user, asked)) == (schema, flow)


def rule(**more: Any) -> flow_schema.FlowSchema:
    resource = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["a"], **more}
    subjects = [{"kind": "User", "user": {"name": "*"}}]
    spec = {
        "priorityLevelConfiguration": {"name": "l"},
        "matchingPrecedence": 1000,
        "rules": [{"subjects": subjects, "resourceRules": [resource]}],
    }
    return flow_schema.compiled({"metadata": {"name": "s", "uid": "u"}, "spec": spec})


@pytest.mark.parametrize(
    ("more", "path", "matches"),
    [
        ({}, "/api/v1/namespaces/a/pods/x", True),
        ({}, "/api/v1/namespaces/b/pods/x", False),
        ({}, "/api/v1/namespaces/a/pods/x/status", False),
        ({"resources": ["pods/status"]}, "/api/v1/namespaces/a/pods/x/status", True),
        ({}, "/apis/apps/v1/namespaces/a/pods/x", False),
        ({"resources": ["nodes"]}, "/api/v1/nodes/x", False),
        ({"resources": ["nodes"], "clusterScope": True}, "/api/v1/nodes/x", True),
        ({"namespaces": ["*"]}, "/api/v1/namespaces/b/pods/x", True),
    ],
)
def test_rules(more: dict[str, Any], path: str, matches: bool) -> None:
    assert rule(**more).matches(MIA, request_info.parse("GET", path, False)) is matches


def test_a_schema_says_whether_its_level_is_missing() -> None:
    schema = {"metadata": {"name": "s"}, "spec": {"priorityLevelConfiguration": {"name": "l"}}}
    first = dangling(schema, False, "one")
    assert first is not None and first["status"]["conditions"][0]["status"] == "True"
    assert dangling(first, False, "two") is None
    second = dangling(first, True, "two")
    assert second is not None and second["status"]["conditions"][0]["reason"] == "Found"
    assert second["status"]["conditions"][0]["lastTransitionTime"] == "two"
