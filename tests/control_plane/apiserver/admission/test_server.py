"""Admission in a running server, as a client sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import TOKEN, Server, running

Object = dict[str, Any]
POD: Object = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server with its usual plugins."""
    flags = ("--storage-backend=memory", "--disable-admission-plugins=")
    with running(tmp_path_factory.mktemp("admission"), *flags) as server:
        yield server


@pytest.fixture
def namespace(server: Server) -> str:
    """Return a namespace with its default account."""
    status, made = server.call("POST", "/api/v1/namespaces", {"metadata": {"generateName": "test-"}})
    assert status == 201
    name = made["metadata"]["name"]
    assert (
        server.call("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})[
            0
        ]
        == 201
    )
    return name


def warnings(server: Server, method: str, path: str, body: Object) -> tuple[int, list[str]]:
    connection = server.connection()
    try:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        if method == "PATCH":
            headers["Content-Type"] = "application/merge-patch+json"
        connection.request(method, path, json.dumps(body), headers)
        response = connection.getresponse()
        response.read()
        return response.status, response.headers.get_all("Warning") or []
    finally:
        connection.close()


def test_a_pod_is_completed_and_its_writer_owns_only_what_it_wrote(server: Server, namespace: str) -> None:
    status, made = server.call("POST", f"/api/v1/namespaces/{namespace}/pods", POD)
    assert status == 201
    spec = made["spec"]
    assert spec["serviceAccountName"] == "default" and spec["priority"] == 0 and len(spec["tolerations"]) == 2
    assert spec["volumes"][0]["name"].startswith("kube-api-access-")
    (entry,) = made["metadata"]["managedFields"]
    owned = entry["fieldsV1"]["f:spec"]
    assert "f:containers" in owned and "f:dnsPolicy" in owned
    for field in ("f:tolerations", "f:volumes", "f:serviceAccountName", "f:priority"):
        assert field not in owned


def test_a_name_is_generated_after_plugins_had_their_say(server: Server, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    bad = {"metadata": {"generateName": "web-"}, "spec": {**POD["spec"], "serviceAccountName": "nope"}}
    status, refused = server.call("POST", path, bad)
    assert status == 403 and refused["message"] == (
        f'pods "web-" is forbidden: error looking up service account {namespace}/nope: serviceaccount "nope" not found'
    )
    assert refused["details"] == {"name": "web-", "kind": "pods"}
    status, made = server.call("POST", path, {**bad, "spec": POD["spec"]})
    assert status == 201 and len(made["metadata"]["name"]) == len("web-") + 5


def test_pod_security_warns_and_refuses(server: Server, namespace: str) -> None:
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}
    host = {"metadata": {"name": "h"}, "spec": {**POD["spec"], "hostPID": True}}
    assert server.call("POST", f"/api/v1/namespaces/{namespace}/pods", host)[0] == 201
    status, texts = warnings(server, "PATCH", f"/api/v1/namespaces/{namespace}", label)
    assert status == 200 and texts == [
        f'299 - "existing pods in namespace \\"{namespace}\\" violate the new PodSecurity enforce level '
        '\\"baseline:latest\\""',
        '299 - "h: host namespaces"',
    ]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": host["spec"]}
    deployment = {
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    status, texts = warnings(server, "POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment)
    assert status == 201 and texts == [
        '299 - "would violate PodSecurity \\"baseline:latest\\": host namespaces (hostPID=true)"'
    ]
    complaint = server.kubectl("run", "k", f"--namespace={namespace}", "--image=i", "--overrides",
                               json.dumps({"spec": {"hostPID": True}}), fails=True)  # fmt: skip
    assert complaint == (
        'Error from server (Forbidden): pods "k" is forbidden: violates PodSecurity "baseline:latest": host namespaces '
        "(hostPID=true)\n"
    )


def test_system_priority_classes_are_there(server: Server) -> None:
    names = server.kubectl(
        "get", "priorityclasses", "-o", "custom-columns=N:.metadata.name,V:.value", "--no-headers"
    )
    assert [line.split() for line in names.splitlines()] == [
        ["system-cluster-critical", "2000000000"],
        ["system-node-critical", "2000001000"],
    ]
    assert "[+]poststarthook/scheduling/bootstrap-system-priority-classes ok" in server.kubectl(
        "get", "--raw", "/readyz?verbose"
    )


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--enable-admission-plugins=Nonsense", 'enable-admission-plugins plugin "Nonsense" is unknown'),
        ("--admission-control-config-file=/nowhere", "unable to read admission control configuration"),
    ],
)
def test_flags_that_make_no_sense_stop_the_start(tmp_path: Path, flag: str, message: str) -> None:
    command = [sys.executable, "-m", "pybernetes.cmd.main", "kube-apiserver", "--bind-address=127.0.0.1",
               "--secure-port=0", "--storage-backend=memory", f"--cert-dir={tmp_path}", flag]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and message in done.stderr
