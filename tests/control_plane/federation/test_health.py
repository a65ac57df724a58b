from __future__ import annotations

import pytest

from pybernetes.control_plane.federation import health
from pybernetes.control_plane.federation.health import Judgement, Probe, judge

WELL = Probe(healthy=True, reachable=True)
ILL = Probe(reachable=True)
GONE = Probe(message="refused")


def shown(judgement: Judgement) -> list[tuple[str, str]]:
    return [(row["type"], row["status"]) for row in judgement.conditions]


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        (WELL, [("Ready", "True")]),
        (ILL, [("Ready", "False"), ("Offline", "False")]),
        (GONE, [("Offline", "True")]),
        (Probe(usable=False, message="no token"), [("ClusterConfigMalformed", "True")]),
    ],
)
def test_the_first_probe_is_believed(probe: Probe, expected: list[tuple[str, str]]) -> None:
    assert shown(judge(Judgement(), probe, 3, 1, "t1")) == expected


def test_a_change_needs_so_many_probes_in_a_row() -> None:
    state = judge(Judgement(), WELL, 3, 2, "t1")
    state = judge(state, GONE, 3, 2, "t2")
    assert shown(state) == [("Ready", "True")] and state.conditions[0]["lastProbeTime"] == "t2"
    state = judge(judge(state, WELL, 3, 2, "t3"), GONE, 3, 2, "t4")
    state = judge(state, ILL, 3, 2, "t5")
    assert shown(state) == [("Ready", "True")] and state.conditions[0]["lastTransitionTime"] == "t1"
    state = judge(state, GONE, 3, 2, "t6")
    assert shown(state) == [("Offline", "True")] and state.conditions[0]["lastTransitionTime"] == "t6"
    state = judge(state, GONE, 3, 2, "t7")
    assert state.conditions[0]["lastTransitionTime"] == "t6"
    state = judge(state, WELL, 3, 2, "t8")
    assert shown(state) == [("Offline", "True")]
    assert shown(judge(state, WELL, 3, 2, "t9")) == [("Ready", "True")]


def test_zones_and_region() -> None:
    nodes = [
        {health.ZONE: "b", health.REGION: "north"},
        {"failure-domain.beta.kubernetes.io/zone": "a"},
        {health.ZONE: "b"},
        {},
    ]
    assert health.places(nodes) == (["a", "b"], "north")
    assert health.places([]) == ([], "")
    hostile = [{health.ZONE: f"{number}" * 100, health.REGION: "r" * 1000} for number in range(100)]
    zones, region = health.places(hostile)
    assert len(zones) == 64 and max(map(len, zones)) == 63 == len(region)


def test_ready() -> None:
    assert health.is_ready({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    assert not health.is_ready({"status": {"conditions": [{"type": "Offline", "status": "True"}]}})
    assert not health.is_ready({})
