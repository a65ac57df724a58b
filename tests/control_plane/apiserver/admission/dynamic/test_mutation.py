"""What webhooks change is decoded and completed."""

from __future__ import annotations

import json

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import (
    MAPS,
    create,
    hook,
    registered,
)
from tests.hook_server import HookServer, patch
from tests.servers import TOKEN, Server


def test_changes_are_decoded_completed_and_owned_by_nobody(
    server: Server, hooks: HookServer, namespace: str
) -> None:
    label = {"op": "add", "path": "/metadata/labels", "value": {"by": "hook"}}
    extra = {"op": "add", "path": "/spec/containers/-", "value": {"name": "more", "image": "i"}}
    unknown = {"op": "add", "path": "/spec/nonsense", "value": 1}
    hooks.respond = lambda path, review: patch(review, label, extra, unknown, warnings=["changed"])
    rule = {**MAPS, "resources": ["pods"], "operations": ["CREATE"]}
    server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    with registered(server, namespace, hook(hooks, rules=[rule]), sort="mutating"):
        pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        connection = server.connection()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request("POST", f"/api/v1/namespaces/{namespace}/pods", json.dumps(pod), headers)
        response = connection.getresponse()
        made = json.loads(response.read())
        connection.close()
        assert response.status == 201, made
        assert response.headers.get_all("Warning") == ['299 - "changed"']
        assert made["metadata"]["labels"] == {"by": "hook"}
        more = made["spec"]["containers"][1]
        assert more["terminationMessagePath"] == "/dev/termination-log" and "nonsense" not in made["spec"]
        owned = json.dumps(made["metadata"]["managedFields"])
        assert "by" not in owned and '{\\"name\\":\\"more\\"}' not in owned and "f:image" in owned


def test_fields_keep_their_owners_when_a_hook_makes_nonsense_of_them(
    server: Server, hooks: HookServer, namespace: str
) -> None:
    hooks.respond = lambda path, review: patch(
        review, {"op": "replace", "path": "/metadata/managedFields/0/operation", "value": "Nonsense"}
    )
    with registered(server, namespace, hook(hooks), sort="mutating"):
        status, made = create(server, namespace, data={"a": "b"})
        assert status == 201 and made["metadata"]["managedFields"][0]["operation"] == "Update"
