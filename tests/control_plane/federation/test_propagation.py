from __future__ import annotations

from pybernetes.control_plane.federation.propagation import is_shown, merged


def test_a_status_grows_turns_and_stays() -> None:
    first = merged(None, 1, "", {"b": "", "a": "CreationFailed"}, {}, updated=False, now="t1")
    assert first == {
        "observedGeneration": 1,
        "conditions": [
            {"type": "Propagation", "status": "False", "reason": "CheckClusters", "lastTransitionTime": "t1", "lastUpdateTime": "t1"}
        ],
        "clusters": [{"name": "a", "status": "CreationFailed"}, {"name": "b"}],
    }  # fmt: skip
    assert merged(first, 1, "", {"a": "CreationFailed", "b": ""}, {}, updated=False, now="t2") is None
    second = merged(first, 1, "", {"a": "", "b": ""}, {}, updated=True, now="t3")
    assert second is not None
    assert second["conditions"] == [
        {"type": "Propagation", "status": "True", "lastTransitionTime": "t3", "lastUpdateTime": "t3"}
    ]
    assert merged(second, 1, "", {"a": "", "b": ""}, {}, updated=False, now="t4") is None
    third = merged(second, 2, "", {"a": "", "b": ""}, {}, updated=True, now="t5")
    assert third is not None and third["observedGeneration"] == 2
    assert third["conditions"][0]["lastTransitionTime"] == "t3"
    assert third["conditions"][0]["lastUpdateTime"] == "t5"


def test_no_cluster_is_no_list_and_another_reason_wins() -> None:
    status = merged(None, 3, "NamespaceNotFederated", {}, {}, updated=False, now="t")
    assert status is not None and "clusters" not in status
    assert status["conditions"][0]["reason"] == "NamespaceNotFederated"


def test_the_status_of_others_is_collected_and_conditions_of_others_stay() -> None:
    before = {"conditions": [{"type": "Other", "status": "True"}]}
    status = merged(before, 1, "", {"a": ""}, {"a": {"replicas": 2}}, updated=False, now="t")
    assert status is not None
    assert status["clusters"] == [{"name": "a", "remoteStatus": {"replicas": 2}}]
    assert [row["type"] for row in status["conditions"]] == ["Other", "Propagation"]


def test_a_large_status_of_a_member_is_left_out() -> None:
    assert is_shown({"replicas": 1})
    assert (
        not is_shown({"text": "x" * 20_000}) and not is_shown({}) and not is_shown([1]) and not is_shown(None)
    )
