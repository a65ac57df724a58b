"""Guards: writes that are judged by what they grant or point to."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.errors import StatusError
from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz import write_checks
from pybernetes.control_plane.apiserver.authz.authorization import Authorization
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Rules, Verdict
from pybernetes.control_plane.apiserver.authz.write_checks import (
    pod_certificate_requests,
    policy_parameters,
    resource_claims,
)
from pybernetes.control_plane.apiserver.authz.write_checks.escalation import only_collected
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo, parse
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.apiserver.subresources import proxy
from pybernetes.control_plane.apiserver.subresources._streams import require_create
from pybernetes.control_plane.store.open import open_store
from pybernetes.lib.discover import names
from tests.support import run

Object = dict[str, Any]
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/one/resourceclaims"


class Allows:
    """An authorizer that allows what it was told, as "verb group/resource/subresource namespace name"."""

    name = "Test"

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def start(self) -> None: ...

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        what = "/".join(filter(None, (info.group, info.resource, info.subresource)))
        question = f"{info.verb} {what} {info.namespace or '-'} {info.name or '-'}"
        return ALLOWED if question in self.allowed else NO_OPINION

    def rules(self, user: User, namespace: str) -> Rules:
        return Rules()


def request(method: str, path: str, user: User) -> Request:
    connection: Any = None
    made = Request(connection, method, path, "", {}, b"")
    made.request_info, made.user = parse(method, path, False), user
    return made


ANN = User("ann", "u1", ("dev",), {"k": ("v", "w")})
SHOWN = "&{ann u1 [dev] map[k:[v w]]}"


async def refusal(
    context: ServerContext, path: str, new: Object, old: Object | None, user: User = ANN
) -> str:
    """Return what the check says after validation, empty if nothing."""
    asked = request("POST" if old is None else "PUT", path, user)
    kind = context.kinds.find(asked.request_info.group, asked.request_info.resource)
    try:
        await context.check_write(kind, asked, {"metadata": {"name": "x"}, **new}, old, valid=True)
    except StatusError as error:
        assert error.code == 422
        return error.message.partition("is invalid: ")[2]
    return ""


def judged(
    path: str,
    new: Object,
    old: Object | None,
    *allowed: str,
    user: User = ANN,
    stored: dict[str, bytes] | None = None,
) -> str:
    async def go() -> str:
        store = open_store("memory", stamp=stamp)
        await store.start()
        for key, value in (stored or {}).items():
            await store.create(key, value)
        context = new_context(store, Kinds(builtin()), authorization=Authorization([Allows(*allowed)]))
        for module in (policy_parameters, pod_certificate_requests, resource_claims):
            context.write_checks |= module.write_checks(context)
        try:
            return await refusal(context, path, new, old, user)
        finally:
            await store.close()

    return run(go())


def test_the_write_checks_that_there_are() -> None:
    assert names(write_checks.__name__) == [
        "escalation",
        "pod_certificate_requests",
        "policy_parameters",
        "resource_claims",
    ]


def policy(kind: str | None = "ConfigMap", version: str = "v1") -> Object:
    return {"spec": {"paramKind": {"apiVersion": version, "kind": kind}} if kind else {}}


READ_MAPS = "get configmaps * *"


@pytest.mark.parametrize(
    ("new", "old", "allowed", "why"),
    [
        (policy(None), None, [], ""),
        (policy(), None, [READ_MAPS], ""),
        (policy(), policy(), [], ""),
        (policy(), policy("Secret"), [READ_MAPS], ""),
        (policy(), policy(None), [], "(kind=ConfigMap, apiVersion=v1)"),
        (policy(), None, ["get configmaps one x"], "(kind=ConfigMap, apiVersion=v1)"),
        (policy("Foo", "example.com/v1"), None, ["get example.com/* * *"], ""),
        (policy("Foo", "example.com/v1"), None, [READ_MAPS], "(kind=Foo, apiVersion=example.com/v1)"),
    ],
)
def test_parameters_of_a_policy(new: Object, old: Object | None, allowed: list[str], why: str) -> None:
    expected = f'spec.paramKind: Forbidden: user {SHOWN} must have "get" permission on all objects of the referenced paramKind {why}'
    assert judged(POLICIES if old is None else f"{POLICIES}/x", new, old, *allowed) == (
        expected if why else ""
    )
    assert judged(POLICIES, new, old, user=User("root", groups=("system:masters",))) == ""


def binding(**reference: Any) -> Object:
    return {"spec": {"policyName": "p", "paramRef": reference}}


MAP_POLICY = {
    "/registry/validatingadmissionpolicies/p": b'{"kind":"ValidatingAdmissionPolicy","apiVersion":"admissionregistration.k8s.io/v1","metadata":{"name":"p"},'
    b'"spec":{"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}}}'
}
FOO_POLICY = {key: value.replace(b"ConfigMap", b"Foo") for key, value in MAP_POLICY.items()}
UNKNOWN = f'to determine minimum required permissions and user {SHOWN} does not have "get" permission for all groups, versions and resources'


@pytest.mark.parametrize(
    ("new", "stored", "allowed", "why"),
    [
        (binding(name="x", namespace="one"), MAP_POLICY, ["get configmaps one x"], ""),
        (binding(name="x"), MAP_POLICY, ["get configmaps one x"], f'user {SHOWN} does not have "get" permission on the object referenced by paramRef'),
        (binding(selector={}), MAP_POLICY, ["list configmaps - -"], ""),
        (binding(selector={}), MAP_POLICY, [READ_MAPS], f'user {SHOWN} does not have "list" permission on the object referenced by paramRef'),
        (binding(name="x"), {}, ["get */* - x"], ""),
        (binding(name="x"), {}, [], f"unable to get policy p {UNKNOWN}"),
        (binding(name="x"), FOO_POLICY, [], f"unable to resolve paramKind &{{v1 Foo}} {UNKNOWN}"),
        ({"spec": {"policyName": "p"}}, {}, [], ""),
    ],
)  # fmt: skip
def test_parameters_of_a_binding(new: Object, stored: dict[str, bytes], allowed: list[str], why: str) -> None:
    assert judged(BINDINGS, new, None, *allowed, stored=stored) == (
        f"spec.paramRef: Forbidden: {why}" if why else ""
    )
    assert judged(f"{BINDINGS}/x", new, new, stored=stored) == ""


def test_only_signers_write_the_status_of_certificate_requests() -> None:
    path = "/apis/certificates.k8s.io/v1/namespaces/one/podcertificaterequests/x"
    old = {"metadata": {"name": "x"}, "spec": {"signerName": "example.com/a"}}
    new = {**old, "status": {"x": 1}}
    why = 'spec.signerName: Forbidden: User "ann" is not permitted to "sign" for signer "example.com/a"'
    assert judged(f"{path}/status", new, old) == why
    assert judged(f"{path}/status", old, old) == ""
    assert judged(path, new, old) == ""
    for signer in ("example.com/a", "example.com/*"):
        assert judged(f"{path}/status", new, old, f"sign certificates.k8s.io/signers - {signer}") == ""


def claim(**status: Any) -> Object:
    return {"metadata": {"name": "x"}, "spec": {}, "status": status}


DEVICE = {"driver": "d", "pool": "p", "device": "1"}
ALLOCATION = {
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    }
}
ROBOT = User("system:serviceaccount:one:driver", extra={"authentication.kubernetes.io/node-name": ("n1",)})
BIND = "update resource.k8s.io/resourceclaims/binding - -"
NEAR, FAR = (
    f"{where}-node:update resource.k8s.io/resourceclaims/driver one d"
    for where in ("associated", "arbitrary")
)


@pytest.mark.parametrize(
    ("user", "new", "old", "allowed", "problems"),
    [
        (ANN, claim(allocation=ALLOCATION), claim(), [BIND], []),
        (ANN, claim(allocation=ALLOCATION), claim(), [], ["status.allocation"]),
        (ANN, claim(allocation=ALLOCATION, reservedFor=[1]), claim(allocation=ALLOCATION), [], ["status.allocation"]),
        (ANN, claim(allocation=ALLOCATION, devices=[DEVICE]), claim(allocation=ALLOCATION), [FAR], []),
        (ANN, claim(allocation=ALLOCATION, devices=[DEVICE]), claim(allocation=ALLOCATION), [NEAR], ["status.devices"]),
        (ROBOT, claim(allocation=ALLOCATION, devices=[DEVICE]), claim(allocation=ALLOCATION), [NEAR], []),
        (ROBOT, claim(allocation=ALLOCATION, devices=[DEVICE]), claim(allocation=ALLOCATION), [FAR], []),
        (ROBOT, claim(allocation=ALLOCATION), claim(allocation=ALLOCATION, devices=[DEVICE]), [], ["status.devices"]),
        (ANN, claim(allocation=ALLOCATION, devices=[DEVICE]), claim(), [], ["status.allocation", "status.devices"]),
        (ANN, claim(devices=[DEVICE]), claim(), [], []),
    ],
)  # fmt: skip
def test_status_of_a_claim(
    user: User, new: Object, old: Object, allowed: list[str], problems: list[str]
) -> None:
    message = judged(f"{CLAIMS}/x/status", new, old, *allowed, user=user)
    assert [
        part for part in ("status.allocation", "status.devices") if f"{part}: Forbidden: changing " in message
    ] == problems
    if problems == ["status.allocation"]:
        assert message.endswith(
            'requires resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: '
            'User "ann" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope'
        )


def test_admin_access_is_for_namespaces_with_the_label() -> None:
    asks = {
        "spec": {"devices": {"requests": [{"name": "a"}, {"name": "b", "exactly": {"adminAccess": True}}]}}
    }
    label = b'{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"one","labels":{"resource.kubernetes.io/admin-access":"true"}}}'
    why = "spec.devices.requests[1].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"
    for path, obj in ((CLAIMS, asks), (CLAIMS.replace("claims", "claimtemplates"), {"spec": asks})):
        assert judged(path, obj, None) == why
        assert judged(path, obj, None, stored={"/registry/namespaces/one": label}) == ""


@pytest.mark.parametrize(
    ("allocation", "node"),
    [
        (ALLOCATION, "n1"),
        ({}, ""),
        ({"nodeSelector": {"nodeSelectorTerms": ALLOCATION["nodeSelector"]["nodeSelectorTerms"] * 2}}, ""),
        ({"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}]}}, ""),
        ({"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{}], "matchFields": [{}]}]}}, ""),
    ],
)  # fmt: skip
def test_the_node_of_an_allocation(allocation: Object, node: str) -> None:
    assert resource_claims.node_of(allocation) == node


def test_reading_is_not_enough_for_a_stream() -> None:
    context = new_context(
        open_store("memory"), Kinds(), authorization=Authorization([Allows("create pods/exec one p")])
    )
    path = "/api/v1/namespaces/one/pods/p"
    run(require_create(context, request("GET", f"{path}/exec", ANN)))
    run(require_create(context, request("POST", f"{path}/attach", ANN)))
    with pytest.raises(StatusError, match='pods "p" is forbidden: '):
        run(require_create(context, request("GET", f"{path}/attach", ANN)))


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("exec/one/p/c", True), ("/exec/one/p/c", True), ("attach/one/p/c", True), ("portForward/one/p", True),
        ("run/one/p/c", True), ("metrics", False), ("pods", False), ("containerLogs/one/p/exec", False),
    ],
)  # fmt: skip
def test_looking_at_a_node_is_no_right_to_run_something_there(path: str, refused: bool) -> None:
    """The kubelet takes this server's word: with get on nodes/proxy one could run commands in every pod."""
    for allowed in ("get nodes/proxy - n", "create nodes/proxy - n"):
        context = new_context(
            open_store("memory"), Kinds(builtin()), authorization=Authorization([Allows(allowed)])
        )
        asked = request("GET", f"/api/v1/nodes/n/proxy/{path}", ANN)
        with pytest.raises(StatusError) as error:
            run(proxy._node(context, asked, context.kinds.find("", "nodes")))
        # Whoever gets through finds that there is no such node.
        assert error.value.code == (403 if refused and allowed.startswith("get") else 404), str(error.value)


@pytest.mark.parametrize(
    ("metadata", "same"),
    [
        ({"finalizers": ["x"], "ownerReferences": [{}], "managedFields": []}, True),
        ({"labels": {"a": "b"}}, False),
        ({"annotations": {"a": "b"}}, False),
    ],
)
def test_what_the_garbage_collector_changes(metadata: Object, same: bool) -> None:
    old = {"metadata": {"name": "r"}, "rules": []}
    assert only_collected({**old, "metadata": {"name": "r", **metadata}}, old) is same
    assert not only_collected({**old, "rules": [{}]}, old)
