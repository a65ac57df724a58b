"""Published flaws of Kubernetes that were about rights: each was done to this server, and is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_plane.apiserver.authz.users import RBAC, As, grant
from tests.servers import TOKEN, Server, running
from tests.support import until

Object = dict[str, Any]
MERGE, JSON, STRATEGIC, APPLY = (
    "application/merge-patch+json", "application/json-patch+json", "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)  # fmt: skip
BASE = "/api/v1/namespaces/default"
THINGS = "/apis/example.com/v1"
USERS = f"""{TOKEN},admin,admin,"system:masters"
alice,alice,u1,""
kubelet,system:node:n1,u3,"system:nodes"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server with service accounts and a kubelet, with what the flaws were about."""
    directory = tmp_path_factory.mktemp("published-flaws")
    users = directory / "users.csv"
    users.write_text(USERS)
    flags = ("--storage-backend=memory", f"--token-auth-file={users}", "--enable-admission-plugins=DenyServiceExternalIPs")  # fmt: skip
    with running(directory, *flags) as started:
        admin = As(started, TOKEN)
        for scope, plural, kind in (("Cluster", "wholes", "Whole"), ("Namespaced", "parts", "Part")):
            names = {"plural": plural, "kind": kind, "singular": kind.lower(), "listKind": f"{kind}List"}
            schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
            versions = [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": schema,
                    "subresources": {"status": {}},
                }
            ]
            spec = {"group": "example.com", "scope": scope, "names": names, "versions": versions}
            body = {"metadata": {"name": f"{plural}.example.com"}, "spec": spec}
            assert admin("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)[0] == 201
        until(lambda: admin("GET", f"{THINGS}/wholes")[0] == admin("GET", f"{THINGS}/parts")[0] == 200)
        assert admin("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})[0] == 201
        assert admin("POST", "/api/v1/nodes", {"metadata": {"name": "n2"}})[0] == 201
        account = {"metadata": {"name": "default"}}
        assert admin("POST", f"{BASE}/serviceaccounts", account)[0] == 201
        yield started


@pytest.fixture
def alice(server: Server, admin: As) -> Iterator[As]:
    """Yield somebody who may do everything in the namespace ``default``, and nothing elsewhere."""
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    grant(admin, "own-namespace", everything, to={"kind": "User", "name": "alice"}, namespace="default")
    yield As(server, "alice")
    admin("DELETE", f"{RBAC}/namespaces/default/rolebindings/own-namespace")
    admin("DELETE", f"{RBAC}/clusterroles/own-namespace")


@pytest.fixture
def kubelet(server: Server) -> As:
    return As(server, "kubelet")


def part(kind: str, name: str, **more: Any) -> Object:
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name}, **more}


def test_cluster_scoped_objects_are_not_reached_through_a_namespace(admin: As, alice: As) -> None:
    """A namespace's administrator reached cluster-scoped custom resources by a namespaced path (CVE-2019-11247)."""
    assert admin("POST", f"{THINGS}/wholes", part("Whole", "w"))[0] == 201
    path = f"{THINGS}/namespaces/default/wholes"
    try:
        for method, where, body, kind in (
            ("GET", f"{path}/w", None, ""), ("GET", path, None, ""), ("GET", f"{path}/w/status", None, ""),
            ("PUT", f"{path}/w", part("Whole", "w", x=1), "application/json"),
            ("PATCH", f"{path}/w", {"x": 1}, MERGE), ("PATCH", f"{path}/w/status", {"status": {"x": 1}}, MERGE),
            ("PATCH", f"{path}/new?fieldManager=m", part("Whole", "new"), APPLY),
            ("POST", path, part("Whole", "new"), "application/json"),
            ("DELETE", f"{path}/w", None, ""), ("DELETE", path, None, ""),
        ):  # fmt: skip
            status, answer = alice(method, where, body, kind)
            assert status == 404, (method, where, answer)
        assert alice("GET", f"{THINGS}/wholes/w")[0] == 403
        assert [item["metadata"]["name"] for item in admin("GET", f"{THINGS}/wholes")[1]["items"]] == ["w"]
        assert "x" not in admin("GET", f"{THINGS}/wholes/w")[1]
    finally:
        admin("DELETE", f"{THINGS}/wholes/w")


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "%2e%2e",
        "..%2f..%2fwholes",
        "%2e%2e%2fother%2fsecret",
        "a%2fb",
        "..%2F",
        "%252e%252e",
        "x%00",
        "..;",
    ],
)
def test_names_do_not_lead_elsewhere(admin: As, alice: As, name: str) -> None:
    """A name with dots and slashes in it read objects of another kind or namespace (CVE-2022-3162, CVE-2015-5305)."""
    assert admin("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})[0] in (201, 409)
    secret = {"metadata": {"name": "secret"}, "stringData": {"word": "do-not-tell"}}
    assert admin("POST", "/api/v1/namespaces/other/secrets", secret)[0] in (201, 409)
    for place in (f"{THINGS}/namespaces/default/parts", f"{BASE}/configmaps", f"{BASE}/secrets"):
        for user in (admin, alice):
            for query in ("", "?watch=1&timeoutSeconds=1"):
                status, answer = user("GET", f"{place}/{name}{query}")
                assert status in (400, 403, 404), (place, name, status)
                assert "do-not-tell" not in str(answer)


def test_statuses_are_for_those_who_may_write_them(server: Server, admin: As) -> None:
    """Who wrote a service's status drew others' traffic to an address of choice (CVE-2020-8554)."""
    verbs = ["get", "create", "update", "patch", "delete"]
    rule = {"apiGroups": [""], "resources": ["services"], "verbs": verbs}
    grant(admin, "services", rule, to={"kind": "User", "name": "alice"}, namespace="default")
    user = As(server, "alice")
    ports = [{"port": 80}]
    service = {"metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "ports": ports}}
    wanted = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}
    try:
        status, made = user("POST", f"{BASE}/services", {**service, **wanted})
        assert status == 201 and not made["status"]["loadBalancer"], made
        assert user("PATCH", f"{BASE}/services/s/status", wanted, MERGE)[0] == 403
        assert not user("PATCH", f"{BASE}/services/s", wanted, MERGE)[1]["status"]["loadBalancer"]
        external = {"spec": {"externalIPs": ["192.0.2.1"]}}
        for method, path, body, kind in (
            ("PATCH", f"{BASE}/services/s", external, MERGE),
            ("PATCH", f"{BASE}/services/s", external, STRATEGIC),
            ("PATCH", f"{BASE}/services/t?fieldManager=m", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "t"}, "spec": {"ports": ports, **external["spec"]}}, APPLY),
            ("PUT", f"{BASE}/services/t", {"metadata": {"name": "t"}, "spec": {"ports": ports, **external["spec"]}}, "application/json"),
        ):  # fmt: skip
            status, answer = user(method, path, body, kind)
            assert status == 403 and "Use of external IPs is denied" in answer["message"], (
                method,
                path,
                answer,
            )
    finally:
        admin("DELETE", f"{BASE}/services/s")
        admin("DELETE", f"{RBAC}/namespaces/default/rolebindings/services")
        admin("DELETE", f"{RBAC}/clusterroles/services")


def test_editors_do_not_write_endpoints(admin: As) -> None:
    """Who may edit a namespace sent others' traffic to endpoints of choice (CVE-2021-25740)."""
    spec: Object = {"user": "eve", "groups": ["editors"]}
    binding = {"metadata": {"name": "editors"}, "roleRef": {"kind": "ClusterRole", "name": "edit"},
               "subjects": [{"kind": "Group", "name": "editors"}]}  # fmt: skip
    assert admin("POST", f"{RBAC}/namespaces/default/rolebindings", binding)[0] == 201
    try:
        for group, resource, verb, allowed in (
            ("", "services", "create", True), ("", "endpoints", "get", True), ("", "endpoints", "create", False),
            ("", "endpoints", "update", False), ("", "endpoints", "patch", False), ("", "endpoints", "delete", False),
            ("discovery.k8s.io", "endpointslices", "create", False), ("discovery.k8s.io", "endpointslices", "update", False),
            ("", "services/status", "update", False), ("networking.k8s.io", "ingresses/status", "patch", False),
        ):  # fmt: skip
            resource, _, subresource = resource.partition("/")
            attributes = {"group": group, "resource": resource, "subresource": subresource, "verb": verb, "namespace": "default"}  # fmt: skip
            review = {"spec": {**spec, "resourceAttributes": attributes}}
            answer = admin("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)[1]
            assert answer["status"]["allowed"] is allowed, attributes
    finally:
        admin("DELETE", f"{RBAC}/namespaces/default/rolebindings/editors")


@pytest.fixture
def guarded(admin: As) -> Iterator[None]:
    """Have a service account that may mount one secret, and a pod that runs as it."""
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    account = {"metadata": {"name": "guarded", "annotations": annotations}, "secrets": [{"name": "mine"}]}
    assert admin("POST", f"{BASE}/serviceaccounts", account)[0] == 201
    spec = {"serviceAccountName": "guarded", "containers": [{"name": "c", "image": "i"}]}
    assert admin("POST", f"{BASE}/pods", {"metadata": {"name": "guarded"}, "spec": spec})[0] == 201
    yield
    admin("DELETE", f"{BASE}/pods/guarded?gracePeriodSeconds=0")
    admin("DELETE", f"{BASE}/serviceaccounts/guarded")


def key_of(secret: str) -> Object:
    return {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}}]}


def all_of(secret: str) -> Object:
    return {"envFrom": [{"secretRef": {"name": secret}}]}


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("source", [key_of, all_of])
def test_secrets_that_an_account_may_not_mount(admin: As, source: Any) -> None:
    """Ephemeral containers, and ``envFrom``, read secrets that the account may not mount (CVE-2023-2728, CVE-2024-3177)."""
    debugger = {"name": "d", "image": "i", **source("others")}
    for method, body, kind in (
        ("PATCH", {"spec": {"ephemeralContainers": [debugger]}}, STRATEGIC),
        ("PATCH", {"spec": {"ephemeralContainers": [debugger]}}, MERGE),
        ("PATCH", [{"op": "add", "path": "/spec/ephemeralContainers", "value": [debugger]}], JSON),
    ):
        status, answer = admin(method, f"{BASE}/pods/guarded/ephemeralcontainers", body, kind)
        assert status == 403 and "does not reference that secret" in answer["message"], answer
    for group in ("containers", "initContainers"):
        plain = {"name": "c", "image": "i"}
        spec: Object = {
            "serviceAccountName": "guarded",
            "containers": [plain],
            group: [{**plain, **source("others")}],
        }
        if group == "initContainers":
            spec[group][0]["name"] = "i"
        status, answer = admin("POST", f"{BASE}/pods", {"metadata": {"name": "bad"}, "spec": spec})
        assert status == 403 and "does not reference that secret" in answer["message"], answer
    allowed = {"spec": {"ephemeralContainers": [{**debugger, **source("mine")}]}}
    assert admin("PATCH", f"{BASE}/pods/guarded/ephemeralcontainers", allowed, STRATEGIC)[0] == 200


def test_a_node_does_not_give_itself_owners(admin: As, kubelet: As) -> None:
    """A node got itself deleted, and made anew without its taints, by naming an owner that is gone (CVE-2025-5187)."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "gone"}
    node = admin("GET", "/api/v1/nodes/n1")[1]
    owned = {**node, "metadata": {**node["metadata"], "ownerReferences": [owner]}}
    apply = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "ownerReferences": [owner]}}
    for path in ("/api/v1/nodes/n1", "/api/v1/nodes/n1/status"):
        for method, where, body, kind in (
            ("PUT", path, owned, "application/json"),
            ("PATCH", path, {"metadata": {"ownerReferences": [owner]}}, MERGE),
            ("PATCH", path, {"metadata": {"ownerReferences": [owner]}}, STRATEGIC),
            ("PATCH", path, [{"op": "add", "path": "/metadata/ownerReferences", "value": [owner]}], JSON),
            ("PATCH", f"{path}?fieldManager=m&force=true", apply, APPLY),
        ):
            status, answer = kubelet(method, where, body, kind)
            assert status == 403 and "is not allowed to modify ownerReferences" in answer["message"], answer
    assert kubelet("DELETE", "/api/v1/nodes/n1")[0] == 403
    assert kubelet("DELETE", "/api/v1/nodes")[0] == 403


def test_a_mirror_pod_refers_to_no_devices(admin: As, kubelet: As) -> None:
    """A node read claims for devices that are not its own by a mirror pod that names them (CVE-2025-4563)."""
    uid = admin("GET", "/api/v1/nodes/n1")[1]["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": uid, "controller": True}
    metadata = {"name": "m", "annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [owner]}
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}
    claims = {"resourceClaims": [{"name": "r", "resourceClaimName": "others"}]}
    for more, what in (
        (claims, "can not create pods that reference resourceclaims"),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
            "reference persistentvolumeclaims",
        ),
        ({"serviceAccountName": "default"}, "may not reference service accounts"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "others"}}]}, "may not reference secrets"),
        ({"imagePullSecrets": [{"name": "others"}]}, "may not reference secrets"),
    ):
        status, answer = kubelet("POST", f"{BASE}/pods", {"metadata": metadata, "spec": {**spec, **more}})
        assert status == 403 and what in answer["message"], answer
        applied = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**spec, **more}}
        assert kubelet("PATCH", f"{BASE}/pods/m?fieldManager=m", applied, APPLY)[0] == 403
    assert kubelet("POST", f"{BASE}/pods", {"metadata": metadata, "spec": spec})[0] == 201
    claimed = {"status": {"resourceClaimStatuses": [{"name": "r", "resourceClaimName": "others"}]}}
    answer = kubelet("PATCH", f"{BASE}/pods/m/status", claimed, MERGE)
    assert answer[0] == 403 and "cannot update resource claim statues" in answer[1]["message"]
    assert kubelet("GET", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/others")[0] == 403
    assert kubelet("DELETE", f"{BASE}/pods/m?gracePeriodSeconds=0")[0] == 200


POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"


@pytest.mark.parametrize(
    ("stored", "written", "expression"),
    [
        ({"spec": {"unschedulable": True}}, {"spec": {"unschedulable": False}}, "oldObject.spec.?unschedulable.orValue(false)"),
        ({"spec": {"providerID": "a"}}, {"spec": {"providerID": "a", "unschedulable": True}}, "!oldObject.spec.?unschedulable.orValue(false)"),
        ({"metadata": {"labels": {"team": "a"}}}, {"metadata": {"labels": {"team": "b"}}}, "oldObject.metadata.labels['team'] == 'a'"),
        ({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, {"spec": {"taints": []}}, "oldObject.spec.taints[0].key == 'a'"),
        ({"metadata": {"annotations": {"k": "a"}}}, {"metadata": {"annotations": {"k": "b"}}}, "oldObject.metadata.annotations['k'] == 'a' && object.metadata.annotations['k'] == 'b'"),
    ],
)  # fmt: skip
def test_admission_sees_a_node_as_it_was(admin: As, stored: Object, written: Object, expression: str) -> None:
    """Validation changed the old node before validating admission saw it (CVE-2021-25735)."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["nodes"]}
    spec: Object = {
        "matchConstraints": {"resourceRules": [rule], "objectSelector": {"matchLabels": {"watched": "yes"}}},
        # Refused if admission sees what was stored.
        "validations": [{"expression": f"!({expression})", "message": "seen as it was"}],
    }
    node = {"metadata": {"name": "watched", "labels": {"watched": "yes"}}}
    metadata = {**node["metadata"], **stored.get("metadata", {})}
    metadata["labels"] = {**metadata.get("labels", {}), "watched": "yes"}
    assert admin("POST", "/api/v1/nodes", {**stored, "metadata": metadata})[0] == 201
    binding = {"metadata": {"name": "watch"}, "spec": {"policyName": "watch", "validationActions": ["Deny"]}}
    try:
        assert admin("POST", POLICY, {"metadata": {"name": "watch"}, "spec": spec})[0] == 201
        assert admin("POST", f"{POLICY.removesuffix('ies')}ybindings", binding)[0] == 201

        def seen() -> bool:
            status, answer = admin("PATCH", "/api/v1/nodes/watched?dryRun=All", written, MERGE)
            return status == 422 and "seen as it was" in answer["message"]

        until(seen)
        current = admin("GET", "/api/v1/nodes/watched")[1]
        replaced = {**current, **written, "metadata": {**current["metadata"], **written.get("metadata", {})}}
        replaced["metadata"]["labels"] = {**replaced["metadata"].get("labels", {}), "watched": "yes"}
        status, answer = admin("PUT", "/api/v1/nodes/watched", replaced)
        assert status == 422 and "seen as it was" in answer["message"], answer
    finally:
        admin("DELETE", f"{POLICY.removesuffix('ies')}ybindings/watch")
        admin("DELETE", f"{POLICY}/watch")
        admin("DELETE", "/api/v1/nodes/watched")


def test_patched_objects_pass_admission(admin: As) -> None:
    """Objects that were patched passed by admission (CVE-2016-1905)."""
    service = {"metadata": {"name": "patched"}, "spec": {"ports": [{"port": 80}]}}
    assert admin("POST", f"{BASE}/services", service)[0] == 201
    try:
        for body, kind in (
            ({"spec": {"externalIPs": ["192.0.2.1"]}}, MERGE),
            ({"spec": {"externalIPs": ["192.0.2.1"]}}, STRATEGIC),
            ([{"op": "add", "path": "/spec/externalIPs", "value": ["192.0.2.1"]}], JSON),
            ({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "patched"}, "spec": {"externalIPs": ["192.0.2.1"]}}, APPLY),
        ):  # fmt: skip
            assert admin("PATCH", f"{BASE}/services/patched?fieldManager=m", body, kind)[0] == 403, kind
    finally:
        admin("DELETE", f"{BASE}/services/patched")
