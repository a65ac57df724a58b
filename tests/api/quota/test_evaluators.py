"""What objects count for under a quota, by kind, and how usage is added up."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.quota.evaluator import Evaluator, scopes_of, selects
from pybernetes.api.quota.evaluators import IGNORED, Evaluators
from pybernetes.api.quota.persistent_volume_claims import VolumeClaimEvaluator
from pybernetes.api.quota.pods import PodEvaluator
from pybernetes.api.quota.resource_claims import ResourceClaimEvaluator
from pybernetes.api.quota.services import ServiceEvaluator
from pybernetes.api.quota.usage import calculate
from pybernetes.api.resource import Object

NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z


class Cluster:
    """The objects that the usage of claims depends on."""

    def __init__(self, classes: Any = (), pods: Any = (), claims: Any = ()) -> None:
        self._classes, self._pods, self._claims = classes, pods, claims

    def device_classes(self) -> Any:
        return self._classes

    def pod(self, namespace: str, name: str) -> Object | None:
        return next((candidate for candidate in self._pods if candidate["metadata"]["name"] == name), None)

    def claims(self, namespace: str) -> Any:
        return self._claims


def pod(
    requests: Object | None = None, limits: Object | None = None, status: Object | None = None, **spec: Any
) -> Object:
    resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value}
    meta = spec.pop("metadata", {})
    container = {"name": "c", "resources": resources}
    return {
        "metadata": {"name": "p", **meta},
        "spec": {"containers": [container], **spec},
        "status": status or {},
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (pod(), {"pods": "1"}),
        (
            pod({"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi"}, {"cpu": "2", "ephemeral-storage": "3Gi"}),
            {
                "pods": "1", "cpu": "1", "requests.cpu": "1", "limits.cpu": "2", "memory": "1Gi",
                "requests.memory": "1Gi", "ephemeral-storage": "2Gi", "requests.ephemeral-storage": "2Gi",
                "limits.ephemeral-storage": "3Gi",
            },
        ),
        (
            pod({"hugepages-2Mi": "4Mi", "example.com/gpu": "2", "deviceclass.resource.kubernetes.io/x": "1"}),
            {
                "pods": "1", "hugepages-2Mi": "4Mi", "requests.hugepages-2Mi": "4Mi", "requests.example.com/gpu": "2",
                "requests.deviceclass.resource.kubernetes.io/x": "1",
            },
        ),
        (pod({"cpu": "1"}, status={"phase": "Succeeded"}), {}),
        (pod({"cpu": "1"}, status={"phase": "Failed"}), {}),
        (pod(metadata={"deletionTimestamp": "2023-11-14T22:13:00Z", "deletionGracePeriodSeconds": 10}), {}),
        (pod(metadata={"deletionTimestamp": "2023-11-14T22:13:00Z", "deletionGracePeriodSeconds": 30}), {"pods": "1"}),
        (pod(metadata={"deletionTimestamp": "2023-11-14T22:13:00Z"}), {"pods": "1"}),
    ],
)  # fmt: skip
def test_pods(given: Object, expected: Object) -> None:
    assert PodEvaluator().usage(given, NOW) == {"count/pods": "1", **expected}


def scope(name: str, operator: str = "Exists", *values: str) -> Object:
    return {"scopeName": name, "operator": operator, "values": list(values)}


CROSSING = {"topologyKey": "z", "namespaces": ["x"]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (pod(), {"NotTerminating", "BestEffort"}),
        (pod({"cpu": "1"}), {"NotTerminating", "NotBestEffort"}),
        (pod(activeDeadlineSeconds=0), {"Terminating", "BestEffort"}),
        (pod(priorityClassName="x"), {"NotTerminating", "BestEffort", "PriorityClass"}),
        (
            pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [CROSSING]}}),
            {"NotTerminating", "BestEffort", "CrossNamespacePodAffinity"},
        ),
        (
            pod(affinity={"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"podAffinityTerm": {"topologyKey": "z", "namespaceSelector": {}}}]}}),
            {"NotTerminating", "BestEffort", "CrossNamespacePodAffinity"},
        ),
        (
            pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]}}),
            {"NotTerminating", "BestEffort"},
        ),
    ],
)  # fmt: skip
def test_scopes_of_pods(given: Object, expected: set[str]) -> None:
    names = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
             "CrossNamespacePodAffinity", "VolumeAttributesClass", "Nonsense")  # fmt: skip
    assert {name for name in names if PodEvaluator().in_scope(scope(name), given)} == expected


@pytest.mark.parametrize(
    ("operator", "values", "given", "expected"),
    [
        ("In", ["a", "b"], ["a"], True),
        ("In", ["a"], ["c"], False),
        ("In", ["a"], [], False),
        ("NotIn", ["a"], ["c"], True),
        ("NotIn", ["a"], [], True),
        ("NotIn", ["a"], ["a"], False),
        ("Exists", [], ["c"], True),
        ("Exists", [], [], False),
        ("DoesNotExist", [], [], True),
        ("DoesNotExist", [], ["c"], False),
        ("In", ["a"], ["c", "a"], True),
    ],
)
def test_scope_selectors(operator: str, values: list[str], given: list[str], expected: bool) -> None:
    assert selects(scope("x", operator, *values), given) is expected


def test_scopes_of_quotas() -> None:
    expressions = [scope("PriorityClass", "In", "x")]
    quota = {"spec": {"scopes": ["BestEffort"], "scopeSelector": {"matchExpressions": expressions}}}
    assert scopes_of(quota) == [{"scopeName": "BestEffort", "operator": "Exists"}, *expressions]
    assert scopes_of({}) == []


@pytest.mark.parametrize(
    ("required", "given", "expected"),
    [
        (["cpu"], pod({"cpu": "1"}), ""),
        (["pods", "requests.ephemeral-storage"], pod(), ""),
        (["cpu"], pod(), "must specify cpu for: c"),
        (["limits.memory", "cpu"], pod(), "must specify cpu for: c; limits.memory for: c"),
        (
            ["cpu"],
            pod({"cpu": "1"}, initContainers=[{"name": "a"}, {"name": "b"}]),
            "must specify cpu for: a,b",
        ),
        (["cpu"], pod(resources={"requests": {"cpu": "1"}}), ""),
    ],
)
def test_what_pods_must_specify(required: list[str], given: Object, expected: str) -> None:
    assert PodEvaluator().constraint(required, given) == expected


def test_what_pods_match() -> None:
    names = [
        "cpu",
        "services",
        "hugepages-1Gi",
        "requests.example.com/x",
        "limits.example.com/x",
        "count/pods",
        "pods",
    ]
    matched = PodEvaluator().matching(names)
    assert matched == ["count/pods", "cpu", "hugepages-1Gi", "pods", "requests.example.com/x"]


def ended(phase: str = "Succeeded") -> Object:
    return pod(status={"phase": phase})


@pytest.mark.parametrize(
    ("operation", "subresource", "new", "old", "expected"),
    [
        ("CREATE", "", pod(), None, True),
        ("UPDATE", "", pod(), pod(), False),
        ("UPDATE", "", pod(activeDeadlineSeconds=1), pod(), True),
        ("UPDATE", "resize", pod(), pod(), True),
        ("UPDATE", "status", ended(), pod(), False),
        ("CREATE", "binding", pod(), None, False),
    ],
)
def test_which_writes_of_pods_matter(
    operation: str, subresource: str, new: Any, old: Any, expected: bool
) -> None:
    assert PodEvaluator().handles(operation, subresource, new, old) is expected


def test_which_updates_of_pods_give_something_back() -> None:
    evaluator = PodEvaluator()
    assert evaluator.gives_back(ended(), pod(), NOW) and not evaluator.gives_back(pod(), pod(), NOW)
    assert not evaluator.gives_back(ended(), ended("Failed"), NOW)
    assert evaluator.gives_back(pod(activeDeadlineSeconds=1), pod(), NOW)
    smaller, larger = (
        pod(status={"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]})
        for cpu in "12"
    )
    assert evaluator.gives_back(smaller, larger, NOW)


def service(type_: str = "ClusterIP", ports: int = 2, **spec: Any) -> Object:
    given = [{"port": number, **({"nodePort": 30000} if number == 0 else {})} for number in range(ports)]
    return {"metadata": {"name": "s"}, "spec": {"type": type_, "ports": given, **spec}}


@pytest.mark.parametrize(
    ("given", "node_ports", "balancers"),
    [
        (service(), "0", "0"),
        (service("ExternalName", 0), "0", "0"),
        (service("NodePort"), "2", "0"),
        (service("LoadBalancer"), "2", "1"),
        (service("LoadBalancer", allocateLoadBalancerNodePorts=False), "1", "1"),
    ],
)
def test_services(given: Object, node_ports: str, balancers: str) -> None:
    evaluator = ServiceEvaluator()
    counted = {"count/services": "1", "services": "1"}
    expected = {**counted, "services.nodeports": node_ports, "services.loadbalancers": balancers}
    assert evaluator.usage(given, NOW) == expected
    assert evaluator.handles("UPDATE", "", given, given) and not evaluator.handles(
        "UPDATE", "status", given, given
    )
    assert evaluator.gives_back(service(), given, NOW) is (node_ports != "0" or balancers != "0")


def claim(
    size: str = "1Gi", class_: str | None = None, *, status: Object | None = None, **spec: Any
) -> Object:
    asked = {
        "resources": {"requests": {"storage": size}},
        **({"storageClassName": class_} if class_ else {}),
        **spec,
    }
    return {"metadata": {"name": "c"}, "spec": asked, "status": status or {}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (claim(), {"requests.storage": "1Gi"}),
        (claim("1500m"), {"requests.storage": "2"}),
        (claim(status={"allocatedResources": {"storage": "2Gi"}}), {"requests.storage": "2Gi"}),
        (claim("3Gi", status={"allocatedResources": {"storage": "2Gi"}}), {"requests.storage": "3Gi"}),
        (
            claim(class_="gold"),
            {
                "requests.storage": "1Gi",
                "gold.storageclass.storage.k8s.io/requests.storage": "1Gi",
                "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
            },
        ),
    ],
)
def test_volume_claims(given: Object, expected: Object) -> None:
    evaluator = VolumeClaimEvaluator()
    counted = {"count/persistentvolumeclaims": "1", "persistentvolumeclaims": "1"}
    assert evaluator.usage(given, NOW) == {**counted, **expected}
    assert evaluator.matching([*evaluator.usage(given, NOW), "pods"]) == sorted(evaluator.usage(given, NOW))


def test_volume_claims_by_their_attributes() -> None:
    evaluator = VolumeClaimEvaluator()
    of_gold = scope("VolumeAttributesClass", "In", "gold")
    statuses: list[Object] = [
        {"currentVolumeAttributesClassName": "gold"},
        {"modifyVolumeStatus": {"targetVolumeAttributesClassName": "gold"}},
    ]
    for given in (claim(volumeAttributesClassName="gold"), *(claim(status=status) for status in statuses)):
        assert evaluator.in_scope(of_gold, given) and evaluator.in_scope(
            scope("VolumeAttributesClass"), given
        )
        assert evaluator.handles("UPDATE", "status", given, claim())
    assert not evaluator.in_scope(of_gold, claim()) and not evaluator.in_scope(scope("BestEffort"), claim())
    assert not evaluator.handles("UPDATE", "status", claim(), claim()) and evaluator.handles(
        "CREATE", "", claim(), None
    )


def devices(*requests: Object, **meta: Any) -> Object:
    named = [{"name": f"r{index}", **request} for index, request in enumerate(requests)]
    return {"metadata": {"name": "d", "namespace": "one", **meta}, "spec": {"devices": {"requests": named}}}


def exactly(class_: str = "gpu", **more: Any) -> Object:
    return {"exactly": {"deviceClassName": class_, "allocationMode": "ExactCount", "count": 1, **more}}


DEVICES = "gpu.deviceclass.resource.k8s.io/devices"
IMPLICIT = "requests.deviceclass.resource.kubernetes.io/gpu"
GPU = {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (devices(exactly()), "1"),
        (devices(exactly(count=3), exactly()), "4"),
        (devices(exactly(allocationMode="All")), "32"),
        (devices(exactly(allocationMode="Odd")), "0"),
        (devices({"firstAvailable": [exactly(count=2)["exactly"], exactly(count=5)["exactly"]]}), "5"),
    ],
)
def test_claims_for_devices(given: Object, number: str) -> None:
    usage = ResourceClaimEvaluator(Cluster()).usage(given, NOW)
    implicit = {} if number == "0" else {IMPLICIT: number}
    assert usage == {"count/resourceclaims.resource.k8s.io": "1", DEVICES: number, **implicit}


def test_devices_are_extended_resources_too() -> None:
    evaluator = ResourceClaimEvaluator(Cluster([GPU]))
    assert evaluator.usage(devices(exactly(count=2)), NOW)["requests.example.com/gpu"] == "2"
    names = [DEVICES, IMPLICIT, "requests.example.com/gpu", "requests.example.com/other", "cpu",
             "requests.deviceclass.resource.kubernetes.io/other"]  # fmt: skip
    assert evaluator.matching(names) == sorted([DEVICES, IMPLICIT, "requests.example.com/gpu"])


def owned(name: str = "d", made: str = "2", uid: str = "u") -> Object:
    owner = {"controller": True, "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid}
    annotations = {"resource.kubernetes.io/extended-resource-claim": "true"}
    meta = {"name": name, "annotations": annotations, "ownerReferences": [owner], "creationTimestamp": made}
    return devices(exactly(count=3), **meta)


@pytest.mark.parametrize(
    ("claim_", "others", "status", "expected"),
    [
        (owned(), [], {}, "1"),
        (owned(uid="z"), [], {}, "3"),
        (owned(), [owned("other", "1")], {}, "3"),
        (owned(), [owned("other", "3")], {}, "1"),
        (owned(), [owned("a", "2")], {}, "3"),
        (owned(), [owned("other", "1")], {"extendedResourceClaimStatus": {"resourceClaimName": "d"}}, "1"),
        (owned(), [], {"extendedResourceClaimStatus": {"resourceClaimName": "other"}}, "3"),
    ],
)
def test_what_the_pod_is_charged_for_the_claim_is_not(
    claim_: Object, others: Any, status: Any, expected: str
) -> None:
    owner = pod({"example.com/gpu": "2"}, status=status, metadata={"uid": "u"})
    evaluator = ResourceClaimEvaluator(Cluster([GPU], [owner], [claim_, *others]))
    assert evaluator.usage(claim_, NOW)["requests.example.com/gpu"] == expected


def test_everything_else_is_counted() -> None:
    evaluators = Evaluators(Cluster())
    deployments = evaluators.get("apps", "deployments")
    assert deployments is not None
    assert deployments.usage({}, NOW) == {"count/deployments.apps": "1"}
    assert deployments.handles("CREATE", "", {}, None) and not deployments.handles("UPDATE", "", {}, {})
    assert not deployments.in_scope(scope("BestEffort"), {}) and not deployments.gives_back({}, {}, NOW)
    secrets = evaluators.get("", "secrets")
    assert secrets is not None and secrets.usage({}, NOW) == {"count/secrets": "1", "secrets": "1"}
    assert all(evaluators.get(*key) is None for key in IGNORED)
    measuring = {evaluator.plural for evaluator in evaluators.measuring()}
    assert measuring >= {"pods", "services", "secrets"} and "deployments" not in measuring


def test_usage_of_a_namespace() -> None:
    evaluators: list[Evaluator] = [PodEvaluator(), ServiceEvaluator(), Evaluator("", "secrets", "secrets")]
    objects = {
        "pods": [pod({"cpu": "1"}), pod({"cpu": "500m"}), pod(), ended()],
        "services": [service("NodePort")],
    }
    hard = {"pods": "9", "cpu": "9", "services.nodeports": "9", "secrets": "9", "unknown": "1"}
    used = calculate({}, hard, evaluators, lambda evaluator: objects.get(evaluator.plural, []), NOW)
    assert used == {"pods": "3", "cpu": "1500m", "services.nodeports": "2", "secrets": "0"}
    scoped = {"spec": {"scopes": ["BestEffort"]}}
    used = calculate(
        scoped, {"pods": "9"}, evaluators, lambda evaluator: objects.get(evaluator.plural, []), NOW
    )
    assert used == {"pods": "1"}
