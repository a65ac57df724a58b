"""What a running server notes of requests, in a file and at a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.client.errors import StatusError
from pybernetes.client.refs import CONFIG_MAPS, PODS
from tests.cluster import Cluster
from tests.hook_server import hook_server
from tests.support import eventually

Object = dict[str, Any]
MAPS = "/api/v1/namespaces/default/configmaps"
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitManagedFields": True,
    "rules": [
        {"level": "None", "users": ["system:apiserver"]},
        {"level": "Metadata", "resources": [{"group": "", "resources": ["secrets"]}]},
        {"level": "RequestResponse", "resources": [{"group": "", "resources": ["configmaps"]}]},
        {"level": "Request", "omitStages": ["RequestReceived"]},
    ],
}


@asynccontextmanager
async def audited(directory: Path, *flags: str) -> AsyncIterator[Cluster]:
    (directory / "policy.yaml").write_text(yaml.safe_dump(POLICY))
    backend = flags or (f"--audit-log-path={directory / 'audit.log'}",)
    tokens = "joes,joe,7\n"
    async with Cluster(f"--audit-policy-file={directory / 'policy.yaml'}", *backend, tokens=tokens) as made:
        yield made


def events(directory: Path, **wanted: str) -> list[Object]:
    """Return the events of the file that have certain values."""
    noted = [json.loads(line) for line in (directory / "audit.log").read_text().splitlines()]
    return [event for event in noted if all(event.get(key) == value for key, value in wanted.items())]


async def test_a_write_with_its_object_and_its_answer(tmp_path: Path) -> None:
    async with audited(tmp_path) as cluster:
        client = cluster.rest_client()
        await client.create(
            CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}, "data": {"k": "v"}}
        )
        begun, done = events(tmp_path, verb="create", requestURI=MAPS)
        assert (begun["stage"], done["stage"]) == ("RequestReceived", "ResponseComplete")
        assert begun["auditID"] == done["auditID"]
        assert "requestObject" not in begun
        assert done["level"] == "RequestResponse"
        assert done["user"]["username"] == "administrator"
        assert done["sourceIPs"] == ["127.0.0.1"]
        assert done["objectRef"] == {
            "resource": "configmaps", "namespace": "default", "name": "a", "apiVersion": "v1",
        }  # fmt: skip
        assert done["requestObject"]["data"] == {"k": "v"}
        assert done["responseStatus"] == {"metadata": {}, "code": 201}
        assert done["responseObject"]["metadata"]["uid"]
        assert "managedFields" not in done["responseObject"]["metadata"]
        assert done["annotations"]["authorization.k8s.io/decision"] == "allow"
        assert done["requestReceivedTimestamp"] <= done["stageTimestamp"]


async def test_levels_and_stages(tmp_path: Path) -> None:
    async with audited(tmp_path) as cluster:
        client = cluster.rest_client()
        body = {"metadata": {"name": "s"}, "stringData": {"password": "hidden"}}
        await client.call("POST", "/api/v1/namespaces/default/secrets", body=body)
        await client.list(PODS)
        assert "hidden" not in (tmp_path / "audit.log").read_text()
        secret = events(tmp_path, verb="create", stage="ResponseComplete", level="Metadata")
        assert [event["objectRef"]["name"] for event in secret] == ["s"]
        listed = events(tmp_path, verb="list", level="Request")
        assert [event["stage"] for event in listed] == ["ResponseComplete"]


async def test_those_who_are_refused(tmp_path: Path) -> None:
    async with audited(tmp_path) as cluster:
        with pytest.raises(StatusError, match="forbidden"):
            await cluster.rest_client("joes").list(CONFIG_MAPS)
        refused = events(tmp_path, stage="ResponseComplete", verb="list", level="RequestResponse")[-1]
        assert refused["user"]["username"] == "joe"
        assert refused["responseStatus"]["reason"] == "Forbidden"
        assert refused["responseStatus"]["code"] == 403
        assert refused["annotations"]["authorization.k8s.io/decision"] == "forbid"
        with pytest.raises(StatusError, match="Unauthorized"):
            await cluster.rest_client("nobodys").list(CONFIG_MAPS)
        unknown = [event for event in events(tmp_path) if event.get("responseStatus", {}).get("code") == 401]
        assert {event["stage"] for event in unknown} == {"ResponseStarted"}
        assert unknown[0]["user"] == {}


async def test_a_patch_a_deletion_and_another_name(tmp_path: Path) -> None:
    async with audited(tmp_path) as cluster:
        client = cluster.rest_client()
        await client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
        await client.patch(CONFIG_MAPS, "a", {"data": {"k": "v"}}, "default")
        patched = events(tmp_path, verb="patch", stage="ResponseComplete")
        assert [event["requestObject"] for event in patched] == [{"data": {"k": "v"}}]
        headers = {"Impersonate-User": "jane", "Impersonate-Group": "system:masters"}
        raw = await asyncio.create_subprocess_exec(
            "kubectl", f"--kubeconfig={cluster.kubeconfig()}", "--as=jane", "--as-group=system:masters", "delete",
            "configmap", "a", stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert await raw.wait() == 0
        deleted = events(tmp_path, verb="delete", stage="ResponseComplete")[-1]
        assert deleted["user"]["username"] == "administrator"
        assert deleted["impersonatedUser"]["username"] == headers["Impersonate-User"]
        assert deleted["userAgent"].startswith("kubectl/")
        assert deleted["responseStatus"]["status"] == "Success"


@pytest.mark.parametrize("local", [True, False], ids=["in this process", "over the network"])
async def test_a_watch_is_noted_when_it_begins_and_when_it_ends(tmp_path: Path, local: bool) -> None:
    async with audited(tmp_path) as cluster:
        client = cluster.client if local else cluster.rest_client()
        async with client.watch(CONFIG_MAPS, "default", initial=True) as changes:
            assert await changes.batch()
            (started,) = events(tmp_path, verb="watch", stage="ResponseStarted")
            assert started["responseStatus"]["code"] == 200
            assert not events(tmp_path, verb="watch", stage="ResponseComplete")
        await eventually(lambda: events(tmp_path, verb="watch", stage="ResponseComplete"))
        assert len(events(tmp_path, verb="watch")) == 3


async def test_the_id_of_a_request_is_in_its_answer(tmp_path: Path) -> None:
    async with audited(tmp_path) as cluster:
        reader, writer = await asyncio.open_connection("127.0.0.1", cluster.port, ssl=_trusting())
        given = "Authorization: Bearer nobodys\r\nHost: x\r\n"
        for extra in ("Audit-ID: mine\r\n", ""):
            writer.write(f"GET {MAPS} HTTP/1.1\r\n{given}{extra}\r\n".encode())
        text = b""
        async with asyncio.timeout(60):
            while text.count(b"Audit-Id: ") < 2:
                text += await reader.read(65536)
        writer.close()
        ids = [
            line.removeprefix(b"Audit-Id: ") for line in text.split(b"\r\n") if line.startswith(b"Audit-Id")
        ]
        assert ids[0] == b"mine"
        assert len(ids[1]) == 36
        assert {event["auditID"] for event in events(tmp_path)} >= {audit_id.decode() for audit_id in ids}


def _trusting() -> Any:
    import ssl

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def test_nobody_is_served_whom_a_strict_log_cannot_note(tmp_path: Path) -> None:
    flags = (f"--audit-log-path={tmp_path / 'audit.log'}", "--audit-log-mode=blocking-strict")
    async with audited(tmp_path, *flags) as cluster:
        client = cluster.rest_client()
        await client.list(CONFIG_MAPS)
        output = cluster.server.settings.auditor.backends[0]._output  # type: ignore[union-attr]
        output.close()
        with pytest.raises(StatusError, match="failed to store audit event"):
            await client.list(CONFIG_MAPS)
        output.open()
        await client.list(CONFIG_MAPS)
        metrics = await client.call("GET", "/metrics")
        assert "apiserver_audit_requests_rejected_total 1" in metrics
        assert 'apiserver_audit_error_total{plugin="log"}' in metrics


@pytest.mark.parametrize(("mode", "secure"), [("batch", True), ("blocking", True), ("batch", False)])
async def test_events_go_to_a_server(tmp_path: Path, mode: str, secure: bool) -> None:
    with hook_server(tmp_path, secure=secure) as hooks:
        hooks.respond = lambda path, events: {}
        trust = {"certificate-authority-data": hooks.bundle} if secure else {}
        config = {
            "clusters": [
                {
                    "name": "a",
                    "cluster": {
                        "server": f"http{'s' if secure else ''}://127.0.0.1:{hooks.port}/audit",
                        **trust,
                    },
                }
            ],
            "users": [{"name": "a", "user": {"token": "secret"}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "current-context": "a",
        }
        (tmp_path / "hook.yaml").write_text(yaml.safe_dump(config))
        flags = (f"--audit-webhook-config-file={tmp_path / 'hook.yaml'}", f"--audit-webhook-mode={mode}",
                 "--audit-webhook-batch-max-wait=50ms")  # fmt: skip
        async with audited(tmp_path, *flags) as cluster:
            await cluster.rest_client().list(CONFIG_MAPS)

            def arrived() -> list[Object]:
                lists = [body for path, body in hooks.asked if path == "/audit"]
                assert all(body["kind"] == "EventList" for body in lists)
                sent = [event for body in lists for event in body["items"]]
                return [event for event in sent if event["requestURI"].startswith("/api/v1/configmaps")]

            if mode == "batch":
                await eventually(lambda: len(arrived()) == 2)
            stages = [event["stage"] for event in arrived()]
            assert stages == ["RequestReceived", "ResponseComplete"]


async def test_what_admission_has_to_say(tmp_path: Path) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    rules = [
        {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    ]
    policy = {
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": rules},
            "validations": [{"expression": "!has(object.data.bad)", "message": "bad data"}],
            "auditAnnotations": [{"key": "size", "valueExpression": "string(size(object.data))"}],
        },
    }
    binding = {"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Audit"]}}
    async with audited(tmp_path) as cluster:
        client = cluster.rest_client()
        await client.call("POST", f"{group}/validatingadmissionpolicies", body=policy)
        await client.call("POST", f"{group}/validatingadmissionpolicybindings", body=binding)

        async def noted() -> Object:
            body = {"metadata": {"generateName": "a-"}, "data": {"bad": "x", "k": "v"}}
            await client.call("POST", MAPS, body=body)
            event = events(tmp_path, verb="create", stage="ResponseComplete", requestURI=MAPS)[-1]
            return event["annotations"] if "p/size" in event["annotations"] else {}

        annotations = await eventually(noted)
        assert annotations["p/size"] == "2"
        (failure,) = json.loads(annotations["validation.policy.admission.k8s.io/validation_failure"])
        assert failure["message"] == "bad data"
        assert (failure["policy"], failure["binding"]) == ("p", "b")
