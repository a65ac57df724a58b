"""Webhooks that say what users may, and the chain of AuthorizationConfiguration."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.control_plane.apiserver.authz import configuration
from tests.control_plane.apiserver.review_webhooks.review_server import ReviewServer, reviewing
from tests.control_plane.apiserver.test_config_reloads import failed_reloads
from tests.servers import Server, running
from tests.support import until

pytestmark = pytest.mark.slow
PODS = "/api/v1/namespaces/default/pods"
SECRETS = "/api/v1/namespaces/default/secrets"


def webhook(file: Path | str, **changes: Any) -> dict[str, Any]:
    """Return the settings of a webhook."""
    return {
        "authorizedTTL": "30s", "unauthorizedTTL": "30s", "timeout": "3s", "subjectAccessReviewVersion": "v1",
        "matchConditionSubjectAccessReviewVersion": "v1", "failurePolicy": "NoOpinion",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": str(file)}, **changes,
    }  # fmt: skip


def document(*authorizers: dict[str, Any]) -> str:
    """Return a configuration."""
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
    return yaml.safe_dump({**head, "authorizers": list(authorizers)})


def decide(review: dict[str, Any]) -> dict[str, Any]:
    """Allow pods to jane, deny secrets to everybody, and have no opinion on the rest."""
    asked = review["spec"].get("resourceAttributes", {})
    if asked.get("resource") == "secrets":
        return {"allowed": False, "denied": True, "reason": "secrets are secret"}
    return {"allowed": review["spec"]["user"] == "jane" and asked.get("resource") == "pods"}


@pytest.fixture(name="reviews", scope="module")
def review_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewServer]:
    """Yield the webhook."""
    with reviewing(tmp_path_factory.mktemp("reviews"), decide) as server:
        yield server


def as_jane(server: Server, path: str) -> tuple[int, Any]:
    """Return what jane gets."""
    return server.call("GET", path, headers={"Impersonate-User": "jane"})


def test_the_mode_webhook(tmp_path: Path, reviews: ReviewServer) -> None:
    flags = ["--storage-backend=memory", "--authorization-mode=Webhook,RBAC",
             f"--authorization-webhook-config-file={reviews.kubeconfig}", "--authorization-webhook-version=v1"]  # fmt: skip
    with running(tmp_path, *flags) as server:
        before = len(reviews.asked)
        assert as_jane(server, PODS)[0] == 200
        assert as_jane(server, PODS)[0] == 200
        assert len(reviews.asked) == before + 1, "the second answer was remembered"
        (review,) = reviews.asked[before:]
        assert (
            review["apiVersion"] == "authorization.k8s.io/v1"
            and reviews.tokens[-1] == "Bearer of-the-api-server"
        )
        assert review["spec"]["resourceAttributes"] == {
            "namespace": "default", "verb": "list", "version": "v1", "resource": "pods",
        }  # fmt: skip
        status, answer = as_jane(server, SECRETS)
        assert status == 403 and answer["message"].endswith(": secrets are secret")
        assert as_jane(server, "/api/v1/nodes")[0] == 403
        assert (
            'apiserver_authorization_webhook_evaluations_total{name="default",result="success"}'
            in server.call("GET", "/metrics")[1]
        )


def test_a_chain_with_match_conditions_and_its_reload(tmp_path: Path, reviews: ReviewServer) -> None:
    """As the example of the documentation has it: only requests for resources, not of the system's own, reach the webhook."""
    path = tmp_path / "authorization.yaml"
    conditions = [
        {"expression": "has(request.resourceAttributes)"},
        {"expression": "request.resourceAttributes.namespace == 'default'"},
        {"expression": "!('system:serviceaccounts:kube-system' in request.groups)"},
    ]
    hook = {
        "type": "Webhook",
        "name": "hook.example",
        "webhook": webhook(reviews.kubeconfig, failurePolicy="Deny", matchConditions=conditions),
    }
    path.write_text(document(hook, {"type": "RBAC", "name": "rbac"}))
    with running(tmp_path, "--storage-backend=memory", f"--authorization-config={path}") as server:
        assert as_jane(server, PODS)[0] == 200
        assert as_jane(server, "/api/v1/namespaces/other/pods")[0] == 403
        assert as_jane(server, SECRETS)[0] == 403
        path.write_text("nonsense")
        until(lambda: failed_reloads(server, "authorization"))
        assert as_jane(server, PODS)[0] == 200
        path.write_text(document({"type": "RBAC", "name": "rbac"}))
        until(lambda: as_jane(server, PODS)[0] == 403)
        assert 'status="success"} 1' in server.call("GET", "/metrics")[1]


@pytest.mark.parametrize(("policy", "status"), [("Deny", 500), ("NoOpinion", 200)])
def test_a_webhook_that_fails(tmp_path: Path, policy: str, status: int) -> None:
    path = tmp_path / "authorization.yaml"
    with reviewing(tmp_path, lambda review: (503, b"broken")) as broken:
        hook = {
            "type": "Webhook",
            "name": "broken",
            "webhook": webhook(broken.kubeconfig, failurePolicy=policy),
        }
        path.write_text(document(hook, {"type": "AlwaysAllow", "name": "alwaysallow"}))
        with running(tmp_path, "--storage-backend=memory", f"--authorization-config={path}") as server:
            assert as_jane(server, PODS)[0] == status


@pytest.mark.parametrize(
    ("authorizers", "text"),
    [
        ([], "authorizers: Required value: at least one authorization mode must be defined"),
        ([{"name": "a"}], "authorizers[0].type: Required value"),
        ([{"type": "Magic", "name": "a"}], 'authorizers[0].type: Unsupported value: "Magic": supported values: "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"'),
        ([{"type": "RBAC", "name": "rbac"}, {"type": "RBAC", "name": "two"}], 'authorizers[1].type: Duplicate value: "RBAC"'),
        ([{"type": "RBAC", "name": "other"}], "expected name rbac for authorizer RBAC instead of other"),
        ([{"type": "Webhook", "name": "a"}], "authorizers[0].webhook: Required value: required when type=Webhook"),
        ([{"type": "RBAC", "name": "rbac", "webhook": {}}], 'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook'),
        ([{"type": "Webhook", "name": "a", "webhook": webhook("FILE", timeout="31s")}], 'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s'),
        ([{"type": "Webhook", "name": "a", "webhook": webhook("FILE", failurePolicy="Maybe")}], 'authorizers[0].failurePolicy: Unsupported value: "Maybe": supported values: "NoOpinion", "Deny"'),
        ([{"type": "Webhook", "name": "a", "webhook": webhook("relative")}], 'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "relative": must be an absolute path'),
        ([{"type": "Webhook", "name": "a", "webhook": webhook("FILE", matchConditionSubjectAccessReviewVersion="", matchConditions=[{"expression": "true"}])}],
         "authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified"),
        ([{"type": "Webhook", "name": "a", "webhook": webhook("FILE", matchConditions=[{"expression": "request.user"}])}],
         'authorizers[0].matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string'),
        ([{"type": "Webhook", "name": "a", "webhook": webhook("FILE", matchConditions=[{"expression": "true"}, {"expression": "true"}])}],
         'authorizers[0].matchConditions[1].expression: Duplicate value: "true"'),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_chain(tmp_path: Path, authorizers: list[dict[str, Any]], text: str) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text("")
    for entry in authorizers:
        info = entry.get("webhook", {}).get("connectionInfo", {})
        if info.get("kubeConfigFile") == "FILE":
            entry["webhook"] = {**entry["webhook"], "connectionInfo": {**info, "kubeConfigFile": str(file)}}
    path = tmp_path / "authorization.yaml"
    path.write_text(document(*authorizers))
    with pytest.raises(ValueError) as error:
        configuration.load(str(path), ["AlwaysAllow", "AlwaysDeny", "Node", "RBAC"])
    assert str(error.value) == text


def test_the_file_and_the_flags_exclude_each_other(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pybernetes.cmd.main",
        "kube-apiserver",
        "--authorization-config=/x",
        "--authorization-mode=RBAC",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (
        done.returncode == 1
        and "--authorization-config can not be specified when --authorization-mode" in done.stderr
    )
