"""Writes past what should judge them, and numbers that no reader expects."""

from __future__ import annotations

import json

from tests.attacks._target import ApiServer, Attack, Target, until

_MAPS = "/api/v1/namespaces/default/configmaps"
_POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
_RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}


def _deny(server: ApiServer) -> None:
    policy = {"matchConstraints": {"resourceRules": [_RULE]}, "validations": [{"expression": "false"}]}
    assert server.call("POST", _POLICIES, {"metadata": {"name": "nothing"}, "spec": policy})[0] == 201
    binding = {"policyName": "nothing", "validationActions": ["Deny"]}
    assert server.call("POST", _BINDINGS, {"metadata": {"name": "nothing"}, "spec": binding})[0] == 201
    refused = until(lambda: server.call("POST", _MAPS, {"metadata": {"generateName": "x-"}})[0] == 422)
    assert refused, "the policy does not come into force"


def _unchanged(target: Target) -> str:
    with target.api_server(target.folder / "writes") as server:
        status, text = server.call("POST", _MAPS, {"metadata": {"name": "a"}, "data": {"b": "c"}})
        assert status == 201, text
        _deny(server)
        through = []
        put = server.call("PUT", f"{_MAPS}/a", json.loads(text))[0]
        patch = server.call("PATCH", f"{_MAPS}/a", {"data": {"b": "c"}}, "application/merge-patch+json")[0]
        through = [name for name, status in (("update", put), ("patch", patch)) if status == 200]
    return f"a policy that denies everything let through: {', '.join(through)}" if through else ""


def _number(target: Target) -> str:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: 0x" + "f" * 20_000 + "}\n"
    with target.api_server(target.folder / "number") as server:
        status, _ = server.call("POST", _MAPS, text, "application/yaml")
    return f"answered with {status}" if status >= 500 else ""


ATTACKS: dict[str, Attack] = {
    "10 a write that changes nothing": _unchanged,
    "12 YAML of a long number": _number,
}
