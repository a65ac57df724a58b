"""Limit ranges: what containers get, and what is too little or too much."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import quantity
from pybernetes.api.quota.limit_ranges import ANNOTATION, claim_problems, default_pod, pod_problems
from pybernetes.api.resource import Object


def limit_range(type_: str = "Container", **lists: dict[str, str]) -> Object:
    return {"spec": {"limits": [{"type": type_, **lists}]}}


def container(name: str, requests: Object | None = None, limits: Object | None = None, **more: Any) -> Object:
    given = {key: value for key, value in (("requests", requests), ("limits", limits)) if value}
    return {"name": name, "resources": given, **more}


def pod(*containers: Object, **spec: Any) -> Object:
    return {"metadata": {"name": "p"}, "spec": {"containers": list(containers), **spec}}


def test_containers_get_what_they_do_not_ask_for() -> None:
    made = pod(container("a"), container("b", {"cpu": "1"}), initContainers=[{"name": "i"}])
    default_pod(limit_range(default={"memory": "1Gi", "cpu": "2"}, defaultRequest={"cpu": "100m"}), made)
    spec = made["spec"]
    both = {"memory": "1Gi", "cpu": "2"}
    assert spec["containers"][0]["resources"] == {"requests": {"cpu": "100m"}, "limits": both}
    assert spec["containers"][1]["resources"] == {"requests": {"cpu": "1"}, "limits": both}
    assert spec["initContainers"][0]["resources"] == {"requests": {"cpu": "100m"}, "limits": both}
    assert made["metadata"]["annotations"][ANNOTATION] == (
        "LimitRanger plugin set: cpu request for container a; cpu, memory limit for container a; cpu, memory limit for "
        "container b; cpu request for init container i; cpu, memory limit for init container i"
    )


@pytest.mark.parametrize(
    "given", [limit_range("Pod", default={"cpu": "1"}), limit_range(max={"cpu": "1"}), {"spec": {}}, {}]
)
def test_nothing_to_fill_in_changes_nothing(given: Object) -> None:
    made = pod(container("a"))
    default_pod(given, made)
    assert made == pod(container("a"))


@pytest.mark.parametrize(
    ("given", "asked", "problems"),
    [
        (limit_range(min={"cpu": "100m"}), container("a"),
         ["minimum cpu usage per Container is 100m.  No request is specified"]),
        (limit_range(min={"cpu": "100m"}), container("a", {"cpu": "50m"}),
         ["minimum cpu usage per Container is 100m, but request is 50m"]),
        (limit_range(min={"cpu": "100m"}), container("a", {"cpu": "100m"}, {"cpu": "50m"}),
         ["minimum cpu usage per Container is 100m, but limit is 50m"]),
        (limit_range(min={"cpu": "100m"}), container("a", {"cpu": "0.1"}), []),
        (limit_range(max={"cpu": "1"}), container("a"), ["maximum cpu usage per Container is 1.  No limit is specified"]),
        (limit_range(max={"cpu": "1"}), container("a", limits={"cpu": "1001m"}),
         ["maximum cpu usage per Container is 1, but limit is 1001m"]),
        (limit_range(max={"cpu": "1"}), container("a", {"cpu": "2"}, {"cpu": "1"}),
         ["maximum cpu usage per Container is 1, but request is 2"]),
        (limit_range(max={"memory": "16Ei"}), container("a", limits={"memory": "1Gi"}), []),
        (limit_range(maxLimitRequestRatio={"cpu": "4"}), container("a", {"cpu": "1"}),
         ["cpu max limit to request ratio per Container is 4, but no limit is specified or limit is 0"]),
        (limit_range(maxLimitRequestRatio={"cpu": "4"}), container("a", limits={"cpu": "1"}),
         ["cpu max limit to request ratio per Container is 4, but no request is specified or request is 0"]),
        (limit_range(maxLimitRequestRatio={"cpu": "4"}), container("a", {"cpu": "100m"}, {"cpu": "450m"}),
         ["cpu max limit to request ratio per Container is 4, but provided ratio is 4.500000"]),
        (limit_range(maxLimitRequestRatio={"cpu": "4500m"}), container("a", {"cpu": "100m"}, {"cpu": "450m"}), []),
    ],
)  # fmt: skip
def test_containers(given: Object, asked: Object, problems: list[str]) -> None:
    assert list(pod_problems(given, pod(asked))) == problems
    assert list(pod_problems(given, pod(initContainers=[asked]))) == problems


def test_pods_as_a_whole() -> None:
    given = limit_range("Pod", max={"cpu": "2"}, min={"memory": "3Gi"})
    asked = pod(container("a", {"cpu": "1", "memory": "1Gi"}, {"cpu": "1"}),
                container("b", {"cpu": "1", "memory": "1Gi"}, {"cpu": "1500m"}))  # fmt: skip
    assert list(pod_problems(given, asked)) == [
        "minimum memory usage per Pod is 3Gi, but request is 2Gi",
        "maximum cpu usage per Pod is 2, but limit is 2500m",
    ]
    asked["spec"]["resources"] = {"requests": {"memory": "4Gi"}, "limits": {"cpu": "2"}}
    assert list(pod_problems(given, asked)) == []


@pytest.mark.parametrize(
    ("size", "problems"),
    [
        ("1Gi", []),
        ("5Gi", []),
        ("500Mi", ["minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"]),
        ("6Gi", ["maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi"]),
        (None, ["minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified",
                "maximum storage usage per PersistentVolumeClaim is 5Gi.  No request is specified"]),
    ],
)  # fmt: skip
def test_claims(size: str | None, problems: list[str]) -> None:
    given = limit_range("PersistentVolumeClaim", min={"storage": "1Gi"}, max={"storage": "5Gi"})
    claim = {"spec": {"resources": {"requests": {"storage": size}} if size else {}}}
    assert list(claim_problems(given, claim)) == problems


AMOUNTS = st.integers(1, 4000).map(lambda number: quantity.canonical(f"{number}m"))


@given(request=AMOUNTS, limit=AMOUNTS, least=AMOUNTS, most=AMOUNTS)
def test_what_is_within_has_no_problems(request: str, limit: str, least: str, most: str) -> None:
    asked = pod(container("a", {"cpu": request}, {"cpu": limit}))
    numbers = [quantity.milli(amount) for amount in (request, limit)]
    within = quantity.milli(least) <= min(numbers) and max(numbers) <= quantity.milli(most)
    problems = list(pod_problems(limit_range(min={"cpu": least}, max={"cpu": most}), asked))
    assert bool(problems) != within


def test_many_resources_times_many_containers_are_not_gone_through() -> None:
    """Whoever looks at the first problems alone pays for them alone."""
    looked_at = 0

    class Counted(dict[str, str]):
        def items(self) -> Any:
            nonlocal looked_at
            for pair in super().items():
                looked_at += 1
                yield pair

    given = limit_range(min=Counted({f"example.com/r{number}": "1" for number in range(20_000)}))
    asked = {"spec": {"containers": [{"name": f"c{number}"} for number in range(100)]}}
    assert len(list(islice(pod_problems(given, asked), 100))) == 100
    assert looked_at <= 101
