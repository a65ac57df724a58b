"""A server behind the server: an extension API server of our own, reached through the API of the first by kubectl."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from pybernetes.lib.tls import tls
from tests.servers import Server, running
from tests.support import end, require_program, until
from tests.upgraded import Upgraded

GROUP, VERSION = "wardle.example.com", "v1alpha1"
NAME = f"{VERSION}.{GROUP}"
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {"reference": {"type": "string", "description": "what it is about"}},
        }
    },
}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"flunders.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "flunders", "singular": "flunder", "kind": "Flunder", "shortNames": ["fl"]},
        "versions": [
            {"name": VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
        ],
    },
}
FLUNDER = {
    "apiVersion": f"{GROUP}/{VERSION}",
    "kind": "Flunder",
    "metadata": {"name": "one"},
    "spec": {"reference": "x"},
}


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    require_program("kubectl")
    with running(tmp_path_factory.mktemp("front")) as server:
        yield server


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory, front: Server) -> Iterator[Server]:
    """Yield the extension server: it believes the first one who its users are, and nobody else."""
    folder = tmp_path_factory.mktemp("behind")
    authority = tls.create_authority("extension")
    pair = tls.issue(authority, "extension", names=["api.default.svc", "127.0.0.1", "localhost"], server=True)
    for name, data in (
        ("ca.crt", authority.certificate),
        ("tls.crt", pair.certificate),
        ("tls.key", pair.key),
    ):
        tls.write_atomically(folder / name, data, 0o600)
    (folder / "certs").mkdir()
    (folder / "certs" / "ca.crt").write_bytes(authority.certificate)
    with running(
        folder, f"--tls-cert-file={folder / 'tls.crt'}", f"--tls-private-key-file={folder / 'tls.key'}",
        f"--requestheader-client-ca-file={front.directory / 'certs' / 'front-proxy-ca.crt'}",
        "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-allowed-names=front-proxy-client",
        "--storage-backend=memory",
    ) as server:  # fmt: skip
        status, answer = server.call(
            "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION
        )
        assert status == 201, answer
        until(lambda: server.call("GET", f"/apis/{GROUP}/{VERSION}")[0] == 200)
        yield server


def condition(server: Server, name: str = NAME) -> tuple[str, str]:
    status, service = server.call("GET", f"/apis/apiregistration.k8s.io/v1/apiservices/{name}")
    if status != 200:
        return "", ""
    conditions = service.get("status", {}).get("conditions") or [{}]
    return conditions[0].get("status", ""), conditions[0].get("reason", "")


@pytest.fixture
def joined(front: Server, behind: Server) -> Server:
    """Return the first server, told about the second; again if the test before took that back."""
    if condition(front) != ("True", "Passed"):
        join(front, behind)
    return front


def join(front: Server, behind: Server) -> None:
    bundle = base64.b64encode((behind.directory / "ca.crt").read_bytes()).decode()
    reference = {"namespace": "default", "name": "api", "port": behind.port}
    body = {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": NAME},
        "spec": {"group": GROUP, "version": VERSION, "groupPriorityMinimum": 2000, "versionPriority": 200,
                 "caBundle": bundle, "service": reference},
    }  # fmt: skip
    front.kubectl("create", "-f", "-", given=json.dumps(body))
    until(lambda: condition(front) == ("False", "ServiceNotFound"))
    assert "503" in str(front.call("GET", f"/apis/{GROUP}/{VERSION}"))
    service = {
        "metadata": {"name": "api"},
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": behind.port}]},
    }
    assert front.call("POST", "/api/v1/namespaces/default/services", service)[0] == 201
    until(lambda: condition(front) == ("True", "Passed"))


def test_kubectl_works_on_it(joined: Server) -> None:
    assert f"{NAME}" in joined.kubectl("get", "apiservices")
    assert "flunders" in joined.kubectl("api-resources", f"--api-group={GROUP}")
    assert f"{GROUP}/{VERSION}" in joined.kubectl("api-versions")
    joined.kubectl("apply", "-f", "-", given=json.dumps(FLUNDER))
    assert "one" in joined.kubectl("get", "fl")
    joined.kubectl("patch", "flunder", "one", "--type=merge", "-p", '{"spec":{"reference":"y"}}')
    assert joined.kubectl("get", "flunder", "one", "-o", "jsonpath={.spec.reference}") == "y"
    assert "what it is about" in joined.kubectl("explain", "flunder.spec.reference")
    joined.kubectl("delete", "flunder", "one")
    missing = joined.kubectl("get", "flunder", "one", fails=True)
    assert f'flunders.{GROUP} "one" not found' in missing


def test_watches_pass_through(joined: Server) -> None:
    command = ["kubectl", f"--kubeconfig={joined.kubeconfig}", "get", "flunders", "-w", "-o", "name"]
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        joined.kubectl("create", "-f", "-", given=json.dumps({**FLUNDER, "metadata": {"name": "watched"}}))
        assert watch.stdout is not None
        assert watch.stdout.readline().strip() == f"flunder.{GROUP}/watched"
    finally:
        end(watch)
        joined.kubectl("delete", "flunder", "watched")


def test_watches_by_websocket_pass_through(joined: Server) -> None:
    path = f"/apis/{GROUP}/{VERSION}/namespaces/default/flunders"
    client = Upgraded(joined, f"{path}?watch=1")
    try:
        assert client.head[0].startswith("HTTP/1.1 101"), client.head
        for name in ("first", "second"):
            status, answer = joined.call("POST", path, {**FLUNDER, "metadata": {"name": name}})
            assert status == 201, answer
            kind, text = client.message()
            assert kind == 0x81 and json.loads(text)["object"]["metadata"]["name"] == name
    finally:
        client.close()
        joined.call("DELETE", path)


def test_the_server_behind_knows_who_asks(joined: Server, behind: Server) -> None:
    # The extension server lets only administrators in, and the first server says who is one.
    path = f"/apis/{GROUP}/{VERSION}/namespaces/default/flunders"
    role = {"metadata": {"name": "all"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mia"}
    binding = {
        "metadata": {"name": "all"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "all"},
        "subjects": [subject],
    }
    base = "/apis/rbac.authorization.k8s.io/v1"
    assert joined.call("POST", f"{base}/clusterroles", role)[0] == 201
    assert joined.call("POST", f"{base}/clusterrolebindings", binding)[0] == 201
    status, answer = joined.call("GET", path, headers={"Impersonate-User": "mia"})
    assert status == 403 and 'User "mia" cannot list resource "flunders"' in answer["message"]
    assert joined.call("GET", path)[0] == 200
    # Headers that a client sends itself are not passed on.
    forged = {"Impersonate-User": "mia", "X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    assert joined.call("GET", path, headers=forged)[0] == 403
    # And nobody else is believed.
    assert behind.call("GET", path, headers={"X-Remote-User": "root"}, token="")[0] in (401, 403)


def test_documents_are_merged(joined: Server) -> None:
    accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    groups = joined.call("GET", "/apis", headers=accept)[1]
    items = {item["metadata"]["name"]: item for item in groups["items"]}
    version = items[GROUP]["versions"][0]
    assert version["freshness"] == "Current" and version["resources"][0]["resource"] == "flunders"
    assert f"apis/{GROUP}/{VERSION}" in joined.call("GET", "/openapi/v3")[1]["paths"]
    v2 = joined.call("GET", "/openapi/v2")[1]
    assert f"com.example.wardle.{VERSION}.Flunder" in v2["definitions"]
    assert f"/apis/{GROUP}/{VERSION}/namespaces/{{namespace}}/flunders" in v2["paths"]


def test_one_that_goes_away_is_missed(joined: Server) -> None:
    joined.kubectl("delete", "service", "api")
    until(lambda: condition(joined) == ("False", "ServiceNotFound"))
    status, answer = joined.call("GET", f"/apis/{GROUP}/{VERSION}/namespaces/default/flunders")
    assert (status, answer["message"]) == (503, "service unavailable")
    joined.kubectl("delete", "apiservice", NAME)
    until(lambda: joined.call("GET", f"/apis/{GROUP}")[0] == 404)
    assert GROUP not in joined.kubectl("api-versions")


def test_objects_of_the_server_itself_come_back(front: Server) -> None:
    front.kubectl("delete", "apiservice", "v1.apps")
    until(lambda: front.call("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps")[0] == 200)


def test_definitions_of_the_server_itself_are_local(front: Server) -> None:
    group = "local.example.com"
    definition = {
        **DEFINITION,
        "metadata": {"name": f"flunders.{group}"},
        "spec": {**DEFINITION["spec"], "group": group},
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert front.call("POST", path, definition)[0] == 201
    name = f"{VERSION}.{group}"
    until(lambda: condition(front, name) == ("True", "Local"))
    front.kubectl("delete", "crd", f"flunders.{group}")
    until(lambda: front.call("GET", f"/apis/apiregistration.k8s.io/v1/apiservices/{name}")[0] == 404)


def test_the_key_is_its_owners_alone(front: Server) -> None:
    key = front.directory / "certs" / "front-proxy-client.key"
    assert key.stat().st_mode & 0o777 == 0o600
