"""Flags of the process itself, each with its effect on a running server."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.api import protobuf
from pybernetes.cmd.kube_apiserver import parser
from pybernetes.control_plane.apiserver.assembly.setup import settings, strict_transport_security
from tests.servers import TOKEN, running

POD = {
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "i", "securityContext": {"privileged": True}}]},
}
EVENT = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}}


def test_effects(tmp_path: Path) -> None:
    flags = ("--profiling=false", "--strict-transport-security-directives=max-age=10,includeSubDomains")
    with running(tmp_path, *flags) as server:
        status, answer = server.call("POST", "/api/v1/namespaces/default/pods", POD)
        assert status == 422 and answer["message"] == (
            'Pod "p" is invalid: spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy'
        )
        assert server.call("GET", "/debug/pprof/")[0] == 404
        connection = server.connection()
        connection.request("GET", "/version", headers={"Authorization": f"Bearer {TOKEN}"})
        header = connection.getresponse().headers["Strict-Transport-Security"]
        assert header == "max-age=10; includeSubDomains"
        connection.close()


def test_privileged_pods_where_they_are_allowed(tmp_path: Path) -> None:
    with running(tmp_path, "--allow-privileged", "--event-ttl=2s") as server:
        assert server.call("POST", "/api/v1/namespaces/default/pods", POD)[0] == 201
        assert server.call("POST", "/api/v1/namespaces/default/events", EVENT)[0] == 201


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--request-timeout=0s", "--request-timeout can not be negative"),
        ("--min-request-timeout=-1", "--min-request-timeout can not be negative"),
        ("--strict-transport-security-directives=other", "allowed values: max-age=expireTime, includeSubDomains, preload"),
        ("--storage-media-type=application/yaml", 'invalid, allowed values: application/json, application/vnd.kubernetes.protobuf'),
        ("--emulated-version=1.30", "--emulated-version: .* is not supported: the API of v1.37 alone is served"),
        ("--watch-cache=maybe", ""),
    ],
)  # fmt: skip
def test_bad_values(flag: str, message: str, tmp_path: Path) -> None:
    if not message:
        with pytest.raises(SystemExit):
            parser().parse_args([flag])
        return
    with pytest.raises(ValueError, match=message):
        settings(parser().parse_args([flag, f"--cert-dir={tmp_path}"]))


def test_numbers_go_where_they_are_used(tmp_path: Path) -> None:
    given = [
        "--request-timeout=90s",
        "--min-request-timeout=60",
        "--event-ttl=30m",
        "--etcd-readycheck-timeout=5s",
    ]
    made = settings(parser().parse_args([*given, f"--cert-dir={tmp_path}"]))
    assert (made.request_seconds, made.watch_seconds, made.health_seconds) == (90.0, 60, (2.0, 5.0))
    assert {resource.ttl for resource in made.resources if resource.kind == "Event"} == {1800}


@pytest.mark.parametrize(
    ("given", "stored"), [("", "application/json"), (protobuf.MEDIA_TYPE, protobuf.MEDIA_TYPE)]
)
def test_media_types_of_storage(given: str, stored: str, tmp_path: Path) -> None:
    """Upstream's scripts give the flag without a value."""
    arguments = parser().parse_args([f"--storage-media-type={given}", f"--cert-dir={tmp_path}"])
    assert settings(arguments).storage_media_type == stored


def test_directives() -> None:
    assert strict_transport_security(()) == ""
    assert strict_transport_security(("max-age=1", "preload")) == "max-age=1; preload"
