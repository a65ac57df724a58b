"""Admission webhooks of a running server, answered by programs on loopback."""

from __future__ import annotations

import threading
from typing import Any

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import (
    MAPS,
    create,
    hook,
    registered,
)
from tests.hook_server import HookServer, Object, allow, answer, deny
from tests.servers import Server


def test_a_webhook_sees_the_write_and_may_refuse_it(
    server: Server, hooks: HookServer, namespace: str
) -> None:
    hooks.respond = lambda path, review: deny(review, message="too late", code=403, reason="Forbidden")
    with registered(server, namespace, hook(hooks)):
        status, said = create(server, namespace, data={"a": "b"})
        assert (status, said["reason"]) == (403, "Forbidden")
        assert said["message"] == 'admission webhook "hook.example.com" denied the request: too late'
        (_, review) = hooks.asked[0]
        request = review["request"]
        assert request["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
        assert request["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
        assert (request["operation"], request["namespace"], request["name"]) == ("CREATE", namespace, "m")
        assert request["object"]["data"] == {"a": "b"} and request["oldObject"] is None
        assert request["userInfo"]["username"] and request["dryRun"] is False
        assert request["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
        assert server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/m")[0] == 404
        hooks.respond = lambda path, review: answer(review, allowed=False)
        status, said = create(server, namespace)
        assert status == 400
        assert (
            said["message"] == 'admission webhook "hook.example.com" denied the request without explanation'
        )


def test_a_hook_that_hangs_or_is_not_there(server: Server, hooks: HookServer, namespace: str) -> None:
    gate = threading.Event()
    hooks.respond = lambda path, review: (gate.wait(30), allow(review))[1]
    try:
        with registered(server, namespace, hook(hooks, timeoutSeconds=1)):
            status, said = create(server, namespace)
            assert status == 500
            assert said["message"].endswith(
                f'failed to call webhook: Post "https://127.0.0.1:{hooks.port}/?timeout=1s": context deadline exceeded'
            )
        with registered(server, namespace, hook(hooks, timeoutSeconds=30)):
            status, said = create(server, namespace, query={"timeout": "200ms"})
            assert (status, said["reason"]) == (504, "Timeout")
            assert said["message"].startswith("Timeout: request did not complete within requested timeout")
        with registered(server, namespace, hook(hooks, timeoutSeconds=1, failurePolicy="Ignore")):
            assert create(server, namespace)[0] == 201
    finally:
        gate.set()
    away = hook(hooks, clientConfig={"service": {"namespace": "default", "name": "away", "path": "/x"}})
    with registered(server, namespace, away):
        _, said = create(server, namespace, "n")
        assert said["message"].endswith(
            'Post "https://away.default.svc:443/x?timeout=10s": service "away" not found'
        )
    untrusted = hook(hooks, clientConfig={"url": f"https://127.0.0.1:{hooks.port}/"})
    with registered(server, namespace, untrusted):
        _, said = create(server, namespace, "n")
        assert "x509: certificate signed by unknown authority" in said["message"]


def test_validating_hooks_are_asked_at_once_on_kept_connections(
    server: Server, hooks: HookServer, namespace: str
) -> None:
    together = threading.Barrier(3, timeout=20)
    hooks.respond = lambda path, review: (together.wait(), allow(review))[1]
    webhooks = [hook(hooks, f"/{n}", f"n{n}.example.com") for n in range(3)]
    with registered(server, namespace, *webhooks):
        for n in range(4):
            assert create(server, namespace, f"m{n}")[0] == 201
        assert len(hooks.asked) == 12 and hooks.connections == 3


def test_connections_are_seen_with_their_options(server: Server, hooks: HookServer, namespace: str) -> None:
    server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    pod = {"metadata": {"name": "p"}, "spec": spec}
    assert server.call("POST", f"/api/v1/namespaces/{namespace}/pods", pod)[0] == 201
    hooks.respond = lambda path, review: deny(review, message="not this one")
    rule = {**MAPS, "operations": ["CONNECT"], "resources": ["pods/*"]}
    with registered(server, namespace, hook(hooks, rules=[rule])):
        path = f"/api/v1/namespaces/{namespace}/pods/p"
        status, said = server.call("POST", f"{path}/attach", query={"container": "c", "stdin": "true"})
        assert status == 400 and said["message"].endswith("not this one")
        request = hooks.asked[-1][1]["request"]
        assert request["kind"]["kind"] == "PodAttachOptions" and request["operation"] == "CONNECT"
        assert request["object"] == {
            "kind": "PodAttachOptions",
            "apiVersion": "v1",
            "stdin": True,
            "container": "c",
        }
        query = {"container": "c", "command": ["ls", "-l"], "stdout": "1"}
        assert server.call("POST", f"{path}/exec", query=query)[0] == 400
        assert hooks.asked[-1][1]["request"]["object"]["command"] == ["ls", "-l"]
        assert server.call("GET", f"{path}/proxy/some/path")[0] == 400
        assert hooks.asked[-1][1]["request"]["object"] == {
            "kind": "PodProxyOptions",
            "apiVersion": "v1",
            "path": "/some/path",
        }


def test_a_webhook_sends_nobody_elsewhere(server: Server, hooks: HookServer, namespace: str) -> None:
    """A webhook's redirect made the API server ask, and log what it got, from where only it could (CVE-2020-8561)."""
    elsewhere = {"Location": f"https://127.0.0.1:{hooks.port}/elsewhere"}
    for status in (301, 302, 303, 307, 308):

        def respond(path: str, review: Object, status: int = status) -> Any:
            return (status, b"", elsewhere) if path == "/" else allow(review)

        hooks.respond = respond
        with registered(server, namespace, hook(hooks)):
            answered, said = create(server, namespace)
            assert (answered, said["reason"]) == (500, "InternalError"), (status, said)
    assert {path for path, _ in hooks.asked} == {"/"}


def test_two_who_apply_the_same_new_object(server: Server, hooks: HookServer, namespace: str) -> None:
    """Both are about to create it; who comes second changes what the first one made."""
    both = threading.Barrier(2)
    hooks.respond = lambda path, review: (both.wait(60), allow(review))[1]
    path = f"/api/v1/namespaces/{namespace}/configmaps/shared"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"}}
    answers = []

    def apply(manager: str) -> None:
        headers = {"Content-Type": "application/apply-patch+yaml"}
        wanted = {**body, "data": {manager: "x"}}
        answers.append(server.call("PATCH", path, wanted, headers=headers, query={"fieldManager": manager}))

    with registered(
        server, namespace, hook(hooks, rules=[{**MAPS, "operations": ["CREATE"]}], timeoutSeconds=30)
    ):
        threads = [threading.Thread(target=apply, args=(manager,)) for manager in ("ann", "bob")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(status for status, _ in answers) == [200, 201], answers
    assert server.call("GET", path)[1]["data"] == {"ann": "x", "bob": "x"}
