"""Faults of what surrounds a server: too few file descriptors, a process that is ended without a word, names that lie."""

from __future__ import annotations

import resource
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.control_plane.apiserver.verbs.config_maps import path
from tests.hook_server import hook_server
from tests.servers import running
from tests.support import until

DESCRIPTORS = 60


def test_a_server_without_file_descriptors_recovers(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
        descriptors = Path(f"/proc/{server.process.pid}/fd")
        with ExitStack() as stack:
            for _ in range(2 * DESCRIPTORS):
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            until(lambda: len(list(descriptors.iterdir())) >= DESCRIPTORS - 1)
        until(lambda: len(list(descriptors.iterdir())) < DESCRIPTORS // 2)
        assert server.call("POST", path("default"), {"metadata": {"name": "after"}})[0] == 201
        until(lambda: server.call("GET", "/readyz")[0] == 200)


def test_a_killed_server_has_what_it_acknowledged(tmp_path: Path) -> None:
    """What a memory limit does to a process is the same."""
    acknowledged = 0
    for _ in range(3):
        with running(tmp_path) as server:
            names = {item["metadata"]["name"] for item in server.call("GET", path("default"))[1]["items"]}
            assert {f"m{number}" for number in range(acknowledged)} <= names
            for _ in range(20):
                assert (
                    server.call("POST", path("default"), {"metadata": {"name": f"m{acknowledged}"}})[0] == 201
                )
                acknowledged += 1
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(60)


@pytest.mark.parametrize(("names", "status"), [((), 500), (("hook.default.svc",), 201)])
def test_a_name_that_leads_elsewhere_is_found_out(
    tmp_path: Path, names: tuple[str, ...], status: int
) -> None:
    """A service that leads to another host, as a DNS that lies would: the certificate has to be the service's."""
    with hook_server(tmp_path, names) as hooks, running(tmp_path) as server:
        service = {
            "metadata": {"name": "hook"},
            "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": hooks.port}]},
        }
        assert server.call("POST", "/api/v1/namespaces/default/services", service)[0] == 201
        target = {"namespace": "default", "name": "hook", "path": "/", "port": hooks.port}
        rule = {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["configmaps"],
        }
        hook = {
            "name": "hook.example.com", "clientConfig": {"service": target, "caBundle": hooks.bundle}, "rules": [rule],
            "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
        }  # fmt: skip
        where = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        assert server.call("POST", where, {"metadata": {"name": "hook"}, "webhooks": [hook]})[0] == 201
        answered, body = server.call("POST", path("default"), {"metadata": {"name": "a"}})
        assert answered == status, body
        assert len(hooks.asked) == (status == 201)
        assert status == 201 or "certificate" in body["message"]
