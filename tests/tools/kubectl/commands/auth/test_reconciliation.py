"""What a role or a binding must become so that it holds what a file says."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.commands.auth._reconciliation import plan

_GET = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
_LIST = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
_ANN, _BOB = ({"kind": "User", "name": name} for name in ("ann", "bob"))
_READER, _WRITER = ({"kind": "Role", "name": name} for name in ("reader", "writer"))
_OPTED_OUT = {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}


def role(*rules: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "ClusterRole", "metadata": {"name": "r"}, "rules": list(rules), **more}


def binding(reference: Any, *subjects: Any) -> dict[str, Any]:
    return {
        "kind": "RoleBinding",
        "metadata": {"name": "b"},
        "roleRef": reference,
        "subjects": list(subjects),
    }


def selecting(*names: str) -> dict[str, Any]:
    return {"clusterRoleSelectors": [{"matchLabels": {"name": name}} for name in names]}


@pytest.mark.parametrize(
    ("live", "wanted", "remove", "operation", "missing", "extra", "changed"),
    [
        (None, role(_GET), False, "create", [_GET], [], {}),
        (role(_GET), role(_GET), False, "", [], [], {}),
        (role(_GET), role(_GET, _LIST), False, "update", [_LIST], [], {"rules": [_GET, _LIST]}),
        (role(_GET, _LIST), role(_GET), False, "", [], [_LIST], {}),
        (role(_GET, _LIST), role(_GET), True, "update", [], [_LIST], {"rules": [_GET]}),
        (None, binding(_READER, _ANN), False, "create", [_ANN], [], {}),
        (binding(_READER, _ANN), binding(_READER, _BOB, _BOB), False, "update", [_BOB], [_ANN], {"subjects": [_ANN, _BOB]}),
        (binding(_READER, _ANN), binding(_READER, _BOB), True, "update", [_BOB], [_ANN], {"subjects": [_BOB]}),
        (binding(_READER, _ANN), binding(_WRITER, _ANN), False, "recreate", [], [], {"roleRef": _WRITER}),
        (role(aggregationRule=selecting("a")), role(aggregationRule=selecting("b")), False, "update", [], [],
         {"aggregationRule": selecting("a", "b")}),
        (role(aggregationRule=selecting("a")), role(aggregationRule=selecting("b")), True, "update", [], [],
         {"aggregationRule": selecting("b")}),
        (role(_GET, aggregationRule=selecting("a")), role(aggregationRule=selecting("a")), True, "", [], [], {}),
        (role(_GET, metadata={"labels": {"a": "old"}}), role(_GET, metadata={"labels": {"a": "new", "b": "c"}}), False,
         "update", [], [], {"metadata": {"labels": {"a": "old", "b": "c"}}}),
    ],
)  # fmt: skip
def test_plan(
    live: Any, wanted: Any, remove: bool, operation: str, missing: Any, extra: Any, changed: dict[str, Any]
) -> None:
    chosen = plan(live, wanted, remove)
    assert (chosen.operation, chosen.missing, chosen.extra) == (operation, missing, extra)
    assert {key: chosen.object[key] for key in changed} == changed
    assert not chosen.protected


def test_a_role_that_is_not_aggregated_any_more() -> None:
    chosen = plan(role(aggregationRule=selecting("a")), role(_GET), False)
    assert chosen.operation == "update" and "aggregationRule" not in chosen.object


@pytest.mark.parametrize("wanted", [role(_LIST), binding(_WRITER)])
def test_one_that_has_opted_out_is_protected(wanted: Any) -> None:
    live = {**(binding(_READER) if wanted["kind"] == "RoleBinding" else role(_GET)), "metadata": _OPTED_OUT}
    assert plan(live, wanted, True).protected
