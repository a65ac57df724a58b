"""Expressions whose values are small to keep and large to walk through."""

from __future__ import annotations

from tests.attacks._target import Attack, Target, until

_MAPS = "/api/v1/namespaces/default/configmaps"
_POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
_RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
_STEPS = 36


def _shared(target: Target) -> str:
    """Compare a list with itself whose parts are one and the same list, whose parts are, and so on."""
    steps = range(1, _STEPS)
    variables = [{"name": "v0", "expression": "[1]"}] + [
        {"name": f"v{step}", "expression": f"[variables.v{step - 1}, variables.v{step - 1}]"}
        for step in steps
    ]
    last = f"variables.v{_STEPS - 1}"
    policy = {
        "matchConstraints": {"resourceRules": [_RULE]}, "variables": variables,
        "validations": [{"expression": f"{last} != {last}"}],
    }  # fmt: skip
    with target.api_server(target.folder / "expressions") as server:
        status, text = server.call("POST", _POLICIES, {"metadata": {"name": "shared"}, "spec": policy})
        assert status == 201, text
        binding = {"policyName": "shared", "validationActions": ["Deny"]}
        assert server.call("POST", _BINDINGS, {"metadata": {"name": "shared"}, "spec": binding})[0] == 201
        try:
            until(lambda: server.call("POST", _MAPS, {"metadata": {"generateName": "x-"}})[0] == 422)
            server.call("GET", _MAPS)
        except TimeoutError:
            return "the server answers nobody any more"
    return ""


ATTACKS: dict[str, Attack] = {"5 an expression that compares without end": _shared}
