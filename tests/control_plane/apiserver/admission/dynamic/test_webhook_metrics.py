"""Calls to webhooks are counted."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import (
    create,
    hook,
    registered,
)
from tests.hook_server import HookServer, deny
from tests.servers import Server


def test_calls_are_counted(server: Server, hooks: HookServer, namespace: str) -> None:
    hooks.respond = lambda path, review: deny(review, message="no", code=403)
    with registered(server, namespace, hook(hooks, name="counted.example.com")):
        create(server, namespace)
        text = server.call("GET", "/metrics")[1]
        labels = 'name="counted.example.com",operation="CREATE",rejected="true",type="validating"'
        assert f'apiserver_admission_webhook_request_total{{code="403",{labels}}} 1' in text
        assert f"apiserver_admission_webhook_admission_duration_seconds_count{{{labels}}} 1" in text
        assert 'apiserver_admission_webhook_rejection_count{error_type="no_error",name="counted' in text
