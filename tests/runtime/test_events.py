"""Events: what is counted, combined and dropped, and what arrives at the server."""

from __future__ import annotations

from typing import Any

from pybernetes.client.refs import EVENTS, NEW_EVENTS, PODS
from pybernetes.lib.clock import ManualClock
from pybernetes.runtime import Recorder, SeriesRecorder
from pybernetes.runtime.correlation import Correlator, Names
from pybernetes.runtime.events import Sender
from tests.cluster import Cluster, pod

NODE = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1", "uid": "u-1"}}


def event(message: str, reason: str = "Reason", name: str = "n1") -> dict[str, Any]:
    return {
        "metadata": {"name": f"{name}.1", "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": name, "uid": f"uid-{name}"},
        "source": {"component": "test"},
        "reason": reason,
        "message": message,
        "type": "Normal",
        "count": 1,
        "firstTimestamp": "then",
    }


async def test_the_same_event_is_counted() -> None:
    correlator = Correlator(ManualClock())
    counts = [correlator.correlate(event("same")) for _ in range(3)]
    assert [(correlated[0]["count"], correlated[1]) for correlated in counts if correlated] == [
        (1, False),
        (2, True),
        (3, True),
    ]
    other = correlator.correlate(event("same", reason="Other"))
    assert other is not None and other[0]["count"] == 1


async def test_many_alike_are_combined() -> None:
    clock = ManualClock()
    correlator = Correlator(clock)
    results = [correlator.correlate(event(f"message {number}")) for number in range(12)]
    texts = [result[0]["message"] for result in results if result]
    assert texts[8] == "message 8"
    assert texts[9] == "(combined from similar events): message 9"
    assert [(result[0]["count"], result[1]) for result in results[9:] if result] == [
        (1, False),
        (2, True),
        (3, True),
    ]
    await clock.advance(601)
    fresh = correlator.correlate(event("message 20"))
    assert fresh is not None and fresh[0]["message"] == "message 20"


async def test_a_flood_is_dropped() -> None:
    clock = ManualClock()
    correlator = Correlator(clock)
    assert sum(correlator.correlate(event("same")) is not None for _ in range(100)) == 25
    assert correlator.correlate(event("same", name="n2")) is not None
    await clock.advance(301)
    assert correlator.correlate(event("same")) is not None
    assert correlator.correlate(event("same")) is None


def test_what_is_gone_is_not_remembered() -> None:
    gone: set[str] = set()
    correlator = Correlator(ManualClock(), is_gone=lambda about: about["name"] in gone)
    assert correlator.correlate(event("same", name="stays")) is not None
    for number in range(500):
        assert correlator.correlate(event("same", name=f"n{number}")) is not None
        gone.add(f"n{number}")
        assert len(correlator) < 40
    counted = correlator.correlate(event("same", name="stays"))
    assert counted is not None and counted[1], "what is still there is counted on"


def test_so_many_objects_are_remembered_at_most() -> None:
    correlator = Correlator(ManualClock())
    for number in range(1500):
        assert correlator.correlate(event("same", name=f"n{number}")) is not None
    assert len(correlator) == 1024


async def test_events_arrive() -> None:
    async with Cluster() as cluster:
        recorder = Recorder(cluster.client, "test-controller")
        obj = await cluster.client.create(PODS, pod("web"))
        recorder.normal(obj, "Created", "made it")
        recorder.normal(obj, "Created", "made it")
        recorder.warning(NODE, "Broken", "it broke")
        await recorder.sender.flush()
        about_pod = (await cluster.client.list(EVENTS, "default", fields="involvedObject.kind=Pod")).items
        assert len(about_pod) == 1
        assert about_pod[0]["count"] == 2 and about_pod[0]["source"] == {"component": "test-controller"}
        assert about_pod[0]["involvedObject"]["uid"] == obj["metadata"]["uid"]
        about_node = (await cluster.client.list(EVENTS, "default", fields="involvedObject.kind=Node")).items
        assert [(event_["type"], event_["reason"]) for event_ in about_node] == [("Warning", "Broken")]


async def test_a_series() -> None:
    async with Cluster() as cluster:
        clock = ManualClock(1_800_000_000)
        sender = Sender(cluster.client, clock)
        recorder = SeriesRecorder(cluster.client, "default-scheduler", clock=clock, sender=sender)
        obj = await cluster.client.create(PODS, pod("web"))
        for _ in range(4):
            recorder.event(obj, "Warning", "FailedScheduling", "Scheduling", "no node fits")
        await sender.flush()
        (written,) = (await cluster.client.list(NEW_EVENTS, "default")).items
        assert written["series"]["count"] == 2 and written["note"] == "no node fits"
        clock.jump(-3600)  # which is no reason to wait for an hour
        await clock.advance(361)  # the series has ended: the final count is written
        await sender.flush()
        (written,) = (await cluster.client.list(NEW_EVENTS, "default")).items
        assert written["series"]["count"] == 4
        assert written["reportingController"] == "default-scheduler"


def test_names_of_events() -> None:
    names = Names()
    made = [names.make("web", 1_800_000_000.0) for _ in range(3)]
    assert made[0] == "web.18fae27693b40000" and len(set(made)) == 3
    assert len(names.make("system:node", 1.0)) == 36  # no event can be named like that
