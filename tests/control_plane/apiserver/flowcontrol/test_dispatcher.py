"""Flow control as clients meet it: headers, objects, and 429 where there is no room."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.flowcontrol.priority_level import PriorityLevel
from tests.hook_server import allow, hook_server
from tests.servers import Server, running
from tests.support import require_program, until

BASE = "/apis/flowcontrol.apiserver.k8s.io/v1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    require_program("kubectl")
    with running(tmp_path_factory.mktemp("flow"), "--storage-backend=memory") as running_server:
        yield running_server


def headers(
    server: Server, user: str, path: str = "/api/v1/namespaces/default/pods"
) -> tuple[int, dict[str, str]]:
    connection = server.connection()
    try:
        sent = {"Authorization": "Bearer the-administrators-token", "Impersonate-User": user}
        connection.request("GET", path, headers=sent)
        response = connection.getresponse()
        response.read()
        return response.status, {name.lower(): value for name, value in response.getheaders()}
    finally:
        connection.close()


def uid(server: Server, plural: str, name: str) -> str:
    return server.call("GET", f"{BASE}/{plural}/{name}")[1]["metadata"]["uid"]


def test_every_cluster_has_levels_and_schemas(server: Server) -> None:
    shown = server.kubectl("get", "flowschemas")
    for name in ("exempt", "catch-all", "global-default", "system-leader-election", "probes"):
        assert name in shown
    until(lambda: "?" not in server.kubectl("get", "flowschemas", "--no-headers"))
    assert "workload-low" in server.kubectl("get", "prioritylevelconfigurations")


def test_answers_name_the_flow(server: Server) -> None:
    _, answer_headers = headers(server, "mia")
    assert answer_headers["x-kubernetes-pf-flowschema-uid"] == uid(server, "flowschemas", "global-default")
    assert answer_headers["x-kubernetes-pf-prioritylevel-uid"] == uid(
        server, "prioritylevelconfigurations", "global-default"
    )
    _, answer_headers = headers(server, "mia", "/healthz")
    assert answer_headers["x-kubernetes-pf-flowschema-uid"] == uid(server, "flowschemas", "probes")


def test_a_level_without_queues_refuses_what_it_has_no_seat_for(server: Server) -> None:
    level = {
        "metadata": {"name": "narrow"},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 1, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}}},
    }  # fmt: skip
    rule = {
        "subjects": [{"kind": "User", "user": {"name": "noisy"}}],
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}],
    }  # fmt: skip
    schema = {
        "metadata": {"name": "narrow"},
        "spec": {"priorityLevelConfiguration": {"name": "narrow"}, "matchingPrecedence": 50, "rules": [rule]},
    }
    assert server.call("POST", f"{BASE}/flowschemas", schema)[0] == 201
    missing = until(
        lambda: server.call("GET", f"{BASE}/flowschemas/narrow")[1].get("status", {}).get("conditions")
    )
    assert missing[0]["status"] == "True"  # its level does not exist yet
    assert server.call("POST", f"{BASE}/prioritylevelconfigurations", level)[0] == 201
    wanted = uid(server, "flowschemas", "narrow")
    until(lambda: headers(server, "noisy")[1]["x-kubernetes-pf-flowschema-uid"] == wanted)
    until(
        lambda: (
            server.call("GET", f"{BASE}/flowschemas/narrow")[1]["status"]["conditions"][0]["status"]
            == "False"
        )
    )
    _fill_and_refuse(server)


def _fill_and_refuse(server: Server) -> None:
    """Requests that hang in a webhook keep their seats; the next one is refused, and others are not."""
    release = threading.Event()

    def hang(path: str, review: dict[str, Any]) -> Any:
        release.wait(60)
        return allow(review)

    role = {"metadata": {"name": "noisy"}, "rules": [{"apiGroups": [""], "resources": ["*"], "verbs": ["*"]}]}
    binding = {
        "metadata": {"name": "noisy"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "noisy"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "noisy"}],
    }
    for plural, obj in (("clusterroles", role), ("clusterrolebindings", binding)):
        assert server.call("POST", f"/apis/rbac.authorization.k8s.io/v1/{plural}", obj)[0] == 201
    seats = 3  # one share of 271 for 600 seats
    with hook_server(server.directory) as hooks:
        hooks.respond = hang
        hook = {
            "name": "hang.example.com", "clientConfig": hooks.client("/"), "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 30,
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
        }  # fmt: skip
        kind = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        assert server.call("POST", kind, {"metadata": {"name": "hang"}, "webhooks": [hook]})[0] == 201
        results: list[int] = []

        def create(number: int) -> None:
            body = {"metadata": {"name": f"c{number}"}}
            asked = server.call(
                "POST", "/api/v1/namespaces/default/configmaps", body, headers={"Impersonate-User": "noisy"}
            )
            results.append(asked[0])

        threads = [threading.Thread(target=create, args=(number,)) for number in range(seats)]
        for thread in threads:
            thread.start()
        try:
            # Before that, a question of ours could take a seat of theirs.
            until(lambda: len(hooks.asked) == seats)
            status, answer_headers = until(lambda: _refused(server))
            assert status == 429 and answer_headers["retry-after"] == "1"
            assert headers(server, "quiet")[0] == 403  # has its turn, and no rights
        finally:
            release.set()
            for thread in threads:
                thread.join()
            server.call("DELETE", f"{kind}/hang")
    assert results == [201] * seats
    assert headers(server, "noisy")[0] == 200
    text = server.call("GET", "/metrics")[1]
    assert 'apiserver_flowcontrol_rejected_requests_total{flow_schema="narrow"' in text


def _refused(server: Server) -> tuple[int, dict[str, str]] | None:
    status, answer_headers = headers(server, "noisy")
    return (status, answer_headers) if status == 429 else None


def test_waiting_is_counted(server: Server) -> None:
    assert headers(server, "wanda")[0] == 403
    lines = server.call("GET", "/metrics")[1].splitlines()
    name = "apiserver_flowcontrol_request_wait_duration_seconds_count"
    labels = 'execute="true",flow_schema="global-default",priority_level="global-default"'
    (line,) = (line for line in lines if line.startswith(f"{name}{{{labels}}}"))
    assert int(line.rpartition(" ")[2]) >= 1


def test_a_level_counts_how_long_requests_waited() -> None:
    level = PriorityLevel("a", "uid")
    for seconds, started in ((0.01, True), (40.0, True), (15.0, False)):
        level.waited("s", seconds, started)
    assert level.waits["s", True].counts[2] == 1 and level.waits["s", True].counts[-1] == 1
    assert sum(level.waits["s", False].counts) == 1 and level.waits["s", True].total == 40.01
