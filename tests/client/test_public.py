"""The public names and references, pinned: a change here is a change for people who write operators."""

from __future__ import annotations

import pytest

from pybernetes import client, runtime
from pybernetes.api import registry
from pybernetes.api.apps.deployment import RESOURCE as DEPLOYMENT
from pybernetes.client import refs
from pybernetes.client.errors import from_answer
from pybernetes.client.refs import DEPLOYMENTS, NODES, PODS, Ref, as_ref, builtin_ref, path_of


def test_client_names() -> None:
    assert client.__all__ == [
        "AlreadyExists", "Client", "Conflict", "Event", "Expired", "Forbidden", "Invalid", "NotFound", "Object",
        "Page", "Ref", "StatusError", "TooManyRequests", "Transport", "Unauthorized", "Watch", "copy",
    ]  # fmt: skip


def test_runtime_names() -> None:
    assert runtime.__all__ == [
        "Cache", "Controller", "Election", "Elector", "Informer", "Informers", "LostLease", "Manager", "Metrics",
        "Queue", "Recorder", "Runtime", "SeriesRecorder", "by_controller", "by_labels", "by_namespace", "by_owner",
        "key_of", "split_key",
    ]  # fmt: skip


def test_there_is_a_constant_for_every_builtin_kind() -> None:
    """Others are of kinds that are served when somebody asks for them."""
    constants = set(refs.BUILTIN)
    assert {as_ref(resource) for resource in registry.builtin()} <= constants
    assert constants <= {as_ref(resource) for resource in registry.everything()}


def test_references() -> None:
    assert as_ref(DEPLOYMENT) == DEPLOYMENTS and hash(as_ref(DEPLOYMENT)) == hash(DEPLOYMENTS)
    assert str(DEPLOYMENTS) == "deployments.apps" and str(PODS) == "pods"
    assert builtin_ref("apps/v1", "Deployment") == DEPLOYMENTS and builtin_ref("v2", "Pod") is None


WIDGETS = Ref("example.com", "v1", "widgets", "Widget")


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ((PODS,), "/api/v1/pods"),
        ((PODS, "a"), "/api/v1/namespaces/a/pods"),
        ((PODS, "a", "b"), "/api/v1/namespaces/a/pods/b"),
        ((PODS, "a", "b", "log"), "/api/v1/namespaces/a/pods/b/log"),
        ((NODES, "", "n"), "/api/v1/nodes/n"),
        ((NODES, "ignored", "n", "status"), "/api/v1/nodes/n/status"),
        ((DEPLOYMENT, "a", "b"), "/apis/apps/v1/namespaces/a/deployments/b"),
        ((WIDGETS, "a", "b"), "/apis/example.com/v1/namespaces/a/widgets/b"),
        ((refs.CLUSTER_ROLES, "", "system:node-proxier"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node-proxier"),
        ((refs.CLUSTER_ROLES, "", "a b/c%?"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%20b%2Fc%25%3F"),
    ],
)  # fmt: skip
def test_paths(arguments: tuple[object, ...], path: str) -> None:
    assert path_of(*arguments) == path  # type: ignore[arg-type]


def test_a_name_without_its_namespace_is_refused() -> None:
    with pytest.raises(ValueError, match="is in a namespace"):
        path_of(PODS, "", "web")


@pytest.mark.parametrize(
    ("code", "value", "cls", "reason"),
    [
        (
            404,
            {"kind": "Status", "reason": "NotFound", "message": "m", "code": 404},
            client.NotFound,
            "NotFound",
        ),
        (
            409,
            {"kind": "Status", "reason": "AlreadyExists", "code": 409},
            client.AlreadyExists,
            "AlreadyExists",
        ),
        (409, {"kind": "Status", "reason": "Conflict", "code": 409}, client.Conflict, "Conflict"),
        (410, {"kind": "Status", "reason": "Expired", "code": 410}, client.Expired, "Expired"),
        (410, {"kind": "Status", "reason": "Gone", "code": 410}, client.Expired, "Gone"),
        (
            500,
            {"kind": "Status", "reason": "InternalError", "code": 500},
            client.StatusError,
            "InternalError",
        ),
        (403, "no entry", client.Forbidden, "Forbidden"),
        (409, None, client.Conflict, "Conflict"),
        (418, {"kind": "Teapot"}, client.StatusError, ""),
    ],
)
def test_errors(code: int, value: object, cls: type, reason: str) -> None:
    error = from_answer(code, value)
    assert type(error) is cls and (error.code, error.reason) == (code, reason) and error.message
