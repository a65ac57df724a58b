"""Whether quotas have room, in the words of Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import quantity
from pybernetes.api.quota.decide import QuotaError, Write, charge
from pybernetes.api.quota.evaluator import Evaluator
from pybernetes.api.quota.persistent_volume_claims import VolumeClaimEvaluator
from pybernetes.api.quota.pods import PodEvaluator
from pybernetes.api.quota.services import ServiceEvaluator
from pybernetes.api.resource import Object

NOW = 1_700_000_000.0


def quota(hard: Object, name: str = "q", **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": spec, "status": {"hard": hard}}


def pod(**requests: str) -> Object:
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": requests} if requests else {}}]},
    }


def create(obj: Object) -> Write:
    return Write("CREATE", "", obj)


def test_what_is_used_after_a_write() -> None:
    quotas = [quota({"pods": "5", "cpu": "2"}), quota({"memory": "1Gi"}, "m"), quota({"services": "1"}, "s")]
    used = [{"pods": "1", "cpu": "500m"}, {"memory": "0"}, {"services": "0"}]
    after = charge(quotas, used, PodEvaluator(), create(pod(cpu="1", memory="512Mi")), NOW)
    assert after == [{"pods": "2", "cpu": "1500m"}, {"memory": "512Mi"}, {"services": "0"}]
    assert after[2] is used[2] and used[0] == {"pods": "1", "cpu": "500m"}


@pytest.mark.parametrize(
    ("hard", "used", "obj", "message"),
    [
        (
            {"pods": "2"},
            {"pods": "2"},
            pod(),
            "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2",
        ),
        (
            {"pods": "9", "cpu": "1", "memory": "1Gi"},
            {"pods": "1", "cpu": "0.5", "memory": "512Mi"},
            pod(cpu="600m", memory="1Gi"),
            "exceeded quota: q, requested: cpu=600m,memory=1Gi, used: cpu=0.5,memory=512Mi, limited: cpu=1,memory=1Gi",
        ),
        ({"cpu": "1"}, {"cpu": "0"}, pod(), "failed quota: q: must specify cpu for: c"),
        (
            {"pods": "2", "count/pods": "3"},
            {},
            pod(),
            "status unknown for quota: q, resources: count/pods,pods",
        ),
        (
            {"cpu": "1"},
            {"cpu": "0"},
            pod(cpu="-1"),
            "quota usage is negative for resource(s): cpu,requests.cpu",
        ),
    ],
)
def test_refusals(hard: Object, used: Object, obj: Object, message: str) -> None:
    with pytest.raises(QuotaError) as caught:
        charge([quota(hard)], [used], PodEvaluator(), create(obj), NOW)
    assert caught.value.message == message and caught.value.forbidden


def test_quotas_that_hold_for_something_else() -> None:
    used = [{"pods": "0"}]
    assert (
        charge([quota({"pods": "0"}, scopes=["NotBestEffort"])], used, PodEvaluator(), create(pod()), NOW)
        == used
    )
    assert charge([quota({"pods": "0"})], used, Evaluator("", "secrets"), create({}), NOW) == used
    with pytest.raises(QuotaError):
        charge([quota({"pods": "0"}, scopes=["BestEffort"])], used, PodEvaluator(), create(pod()), NOW)


def service(type_: str, ports: int = 1) -> Object:
    return {"metadata": {"name": "s"}, "spec": {"type": type_, "ports": [{"port": 80}] * ports}}


def test_updates_are_charged_for_what_is_more() -> None:
    hard = {"services": "1", "services.nodeports": "2"}
    used = [{"services": "1", "services.nodeports": "1"}]

    def update(new: Object, old: Object) -> Any:
        return charge([quota(hard)], used, ServiceEvaluator(), Write("UPDATE", "", new, old), NOW)

    assert update(service("NodePort", 2), service("NodePort")) == [
        {"services": "1", "services.nodeports": "2"}
    ]
    assert update(service("ClusterIP"), service("NodePort"))[0] is used[0], "only the controller gives back"
    with pytest.raises(QuotaError, match=r"requested: services.nodeports=2, used: services.nodeports=1"):
        update(service("NodePort", 3), service("NodePort"))


def test_a_quota_that_comes_to_hold_is_charged_in_full() -> None:
    old, new = pod(cpu="1"), pod(cpu="1")
    new["spec"]["activeDeadlineSeconds"] = 5
    quotas = [
        quota({"pods": "1", "cpu": "3"}, "t", scopes=["Terminating"]),
        quota({"pods": "1", "cpu": "3"}, "all"),
    ]
    used = [{"pods": "0", "cpu": "0"}, {"pods": "1", "cpu": "1"}]
    after = charge(quotas, used, PodEvaluator(), Write("UPDATE", "", new, old), NOW)
    assert after == [{"pods": "1", "cpu": "1"}, {"pods": "1", "cpu": "1"}]


def test_a_status_may_exceed() -> None:
    old = {"metadata": {}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    new = {**old, "status": {"allocatedResources": {"storage": "5Gi"}}}
    write = Write("UPDATE", "status", new, old)
    after = charge(
        [quota({"requests.storage": "2Gi"})],
        [{"requests.storage": "1Gi"}],
        VolumeClaimEvaluator(),
        write,
        NOW,
    )
    assert after == [{"requests.storage": "5Gi"}]


GOLD = "gold.storageclass.storage.k8s.io/requests.storage"
LIMITED: list[Object] = [
    {"resource": "persistentvolumeclaims", "matchContains": [GOLD]},
    {
        "resource": "pods",
        "matchScopes": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}],
    },
]


def test_what_may_only_be_used_under_a_quota() -> None:
    claim = {
        "metadata": {},
        "spec": {"resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "gold"},
    }
    with pytest.raises(QuotaError) as caught:
        charge([], [], VolumeClaimEvaluator(), create(claim), NOW, LIMITED)
    assert caught.value.message == f"insufficient quota to consume: {GOLD}"
    after = charge([quota({GOLD: "2Gi"})], [{GOLD: "0"}], VolumeClaimEvaluator(), create(claim), NOW, LIMITED)
    assert after == [{GOLD: "1Gi"}]
    important = pod()
    important["spec"]["priorityClassName"] = "high"
    with pytest.raises(QuotaError) as caught:
        charge([], [], PodEvaluator(), create(important), NOW, LIMITED)
    expected = "insufficient quota to match these scopes: [{PriorityClass In [high]}]"
    assert caught.value.message == expected and not caught.value.forbidden
    scoped = quota({"pods": "1"}, scopes=["PriorityClass"])
    assert charge([scoped], [{"pods": "0"}], PodEvaluator(), create(important), NOW, LIMITED) == [
        {"pods": "1"}
    ]
    assert charge([], [], PodEvaluator(), create(pod()), NOW, LIMITED) == []


@given(amounts=st.lists(st.integers(0, 3000), max_size=30), most=st.integers(0, 20_000))
def test_what_is_charged_never_exceeds(amounts: list[int], most: int) -> None:
    limit = quantity.canonical(f"{most}m")
    quotas, used = [quota({"cpu": limit, "pods": "20"})], [{"cpu": "0", "pods": "0"}]
    admitted: list[int] = []
    for amount in amounts:
        text = quantity.canonical(f"{amount}m")
        fits = len(admitted) < 20 and sum(admitted) + amount <= most
        try:
            used = charge(quotas, used, PodEvaluator(), create(pod(cpu=text)), NOW)
        except QuotaError:
            # What asks for nothing more fits even where too much is used.
            assert not fits
        else:
            assert fits
            admitted.append(amount)
        assert quantity.milli(used[0]["cpu"]) == sum(admitted) and int(used[0]["pods"]) == len(admitted)
