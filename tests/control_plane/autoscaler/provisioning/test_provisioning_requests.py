"""What is said of ProvisioningRequests and when, and which pods they stand for."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.provisioning import provisioning_requests as requests
from pybernetes.control_plane.autoscaler.provisioning.provisioning_requests import (
    BEST_EFFORT_ATOMIC,
    CHECK_CAPACITY,
    NoPods,
)
from pybernetes.lib import rfc3339
from tests.control_plane.autoscaler import fakes

CREATED = 1_800_000_000.0
DAY = 86400.0


def request(
    *conditions: tuple[str, str, float], name: str = CHECK_CAPACITY, count: int = 2, **parameters: str
) -> Object:
    """Return a request; a condition is its type, status, and seconds after the creation."""
    listed = [
        {"type": kind, "status": status, "lastTransitionTime": rfc3339.seconds(CREATED + seconds)}
        for kind, status, seconds in conditions
    ]
    meta = {"name": "r", "namespace": "default", "uid": "u", "generation": 1}
    return {
        "metadata": {**meta, "creationTimestamp": rfc3339.seconds(CREATED)},
        "spec": {
            "provisioningClassName": name,
            "parameters": parameters,
            "podSets": [{"count": count, "podTemplateRef": {"name": "t"}}],
        },
        "status": {"conditions": listed},
    }


@pytest.mark.parametrize(
    ("name", "instance", "wanted", "supported"),
    [
        (CHECK_CAPACITY, "", "", True),
        (CHECK_CAPACITY, "", "other", False),
        (CHECK_CAPACITY, "mine", "mine", True),
        (CHECK_CAPACITY, "mine", "other", False),
        (CHECK_CAPACITY, "mine", "", False),
        ("mine" + CHECK_CAPACITY, "mine", "", True),
        (BEST_EFFORT_ATOMIC, "", "", True),
        (BEST_EFFORT_ATOMIC, "mine", "", False),
        ("queued.example.com", "", "", False),
    ],
)
def test_whose_a_request_is(name: str, instance: str, wanted: str, supported: bool) -> None:
    assert requests.supported(request(name=name, processorInstance=wanted), instance) is supported


@pytest.mark.parametrize(
    ("made", "seconds", "said"),
    [
        (request(), 1, None),
        (request(), 7 * DAY + 1, requests.EXPIRED),
        (request(ValidUntilSeconds="60"), 61, requests.EXPIRED),
        (request(ValidUntilSeconds="60"), 59, None),
        (request(ValidUntilSeconds="soon"), DAY, None),
        (request(("Provisioned", "False", 10)), 7 * DAY + 1, requests.EXPIRED),
        (request(("Provisioned", "True", 10)), 609, None),
        (request(("Provisioned", "True", 10)), 611, requests.RESERVATION_EXPIRED),
        (request(("Provisioned", "True", 10), ("BookingExpired", "True", 611)), 700, None),
        (request(("Provisioned", "True", 10), ("CapacityRevoked", "True", 20)), 700, None),
        (request(("Failed", "True", 10)), 8 * DAY, None),
    ],
)
def test_what_time_brings(made: Object, seconds: float, said: requests.Condition | None) -> None:
    assert requests.due(made, CREATED + seconds) == said


@pytest.mark.parametrize(
    ("made", "booked", "tried", "moment"),
    [
        (request(), False, 0.0, 0.0),
        (request(("Accepted", "True", 1), ("Provisioned", "False", 1)), False, CREATED + 61, CREATED + 61),
        (request(("Provisioned", "True", 1)), True, float("inf"), CREATED + 601),
        (
            request(("Provisioned", "True", 1), ("BookingExpired", "True", 2)),
            False,
            float("inf"),
            CREATED + 1 + 7 * DAY,
        ),
        (request(("Failed", "True", 5)), False, float("inf"), CREATED + 5 + 7 * DAY),
    ],
)
def test_when_something_is_done(made: Object, booked: bool, tried: float, moment: float) -> None:
    assert requests.is_booked(made) is booked
    assert requests.try_at(made, 60) == tried
    assert requests.next_moment(made, 60) == moment


def test_conditions_take_the_place_of_their_like() -> None:
    made = request(("Accepted", "True", 1), ("Provisioned", "False", 1))
    said = requests.with_condition(made, requests.CAPACITY_FOUND, CREATED + 9)
    assert [entry["type"] for entry in said] == ["Accepted", "Provisioned"]
    assert said[1] == {
        "type": "Provisioned", "status": "True", "reason": "CapacityIsFound", "observedGeneration": 1,
        "message": "Capacity is found in the cluster", "lastTransitionTime": rfc3339.seconds(CREATED + 9),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (request(), requests.NOT_FOUND_YET),
        (request(noRetry="true"), requests.NOT_FOUND),
        (request(noRetry="maybe"), requests.NOT_FOUND_YET),
        (request(name=BEST_EFFORT_ATOMIC, noRetry="true"), requests.NOT_FOUND_YET),
    ],
)
def test_what_is_said_where_there_is_no_capacity(made: Object, said: requests.Condition) -> None:
    assert requests.refusal(made) == said


def test_pods_are_those_of_the_template() -> None:
    cluster = fakes.cluster_of()
    container = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "500m"}}}
    spec = {"containers": [container], "nodeSelector": {"a": "b"}, "nodeName": "somewhere"}
    template = {"metadata": {"name": "t"}, "template": {"metadata": {"labels": {"x": "y"}}, "spec": spec}}
    ((first, second),) = requests.pods_of(request(), {"t": template}, cluster.pod_reader)
    assert (first.key, second.key, first.node) == ("default/r-0-0", "default/r-0-1", "")
    assert first.uid != second.uid and first.shape is second.shape
    assert first.requests.amount(0) == 500  # a limit is a request, as of every pod


@pytest.mark.parametrize(
    ("made", "templates", "text"),
    [
        (
            request(),
            {},
            "missing pod templates, 1 pod templates were referenced, 1 templates were missing: t",
        ),
        (request(count=2**31 - 1), {"t": {"metadata": {"name": "t"}, "template": {}}}, "no more than 10000"),
        (
            request(),
            {"t": {"metadata": {"name": "t"}, "template": {"spec": {"containers": 5}}}},
            "cannot be made",
        ),
    ],
)
def test_requests_without_pods(made: Object, templates: dict[str, Any], text: str) -> None:
    with pytest.raises(NoPods, match=text):
        requests.pods_of(made, templates, fakes.cluster_of().pod_reader)
