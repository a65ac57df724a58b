"""Exports of several clusters become one service; the oldest decides."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.federation.multicluster.exports import Export, conditions, shared

NOW = "2030-01-01T00:00:00Z"


def export(cluster: str, age: int = 0, spec: dict[str, Any] | None = None, **service: Any) -> Export:
    """Return an export; the higher its age, the older."""
    meta = {
        "name": "web",
        "namespace": "team",
        "creationTimestamp": f"20{50 - age:02}-01-01T00:00:00Z",
        "generation": 3,
    }
    return Export(
        cluster, {"metadata": meta, "spec": spec or {}}, {"spec": {"clusterIP": "10.96.0.1", **service}}
    )


def port(name: str, number: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "protocol": "TCP", "port": number, **more}


def test_one_cluster() -> None:
    made = shared(
        [export("one", ports=[port("http", 80, targetPort=8080, nodePort=30080)], ipFamilies=["IPv4"])]
    )
    assert made is not None and made.conflicts == () and made.clusters == ("one",)
    assert made.spec == {
        "type": "ClusterSetIP", "ipFamilies": ["IPv4"], "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
        "ports": [{"name": "http", "protocol": "TCP", "port": 80}],
    }  # fmt: skip


def test_ports_are_those_of_all_and_the_oldest_wins() -> None:
    old = export("two", 2, ports=[port("http", 80)])
    new = export("one", 1, ports=[port("http", 81), port("more", 90), port("same", 80)])
    made = shared([new, old])
    assert made is not None
    assert [(entry["name"], entry["port"]) for entry in made.spec["ports"]] == [("http", 80), ("more", 90)]
    assert [reason for reason, _ in made.conflicts] == ["PortConflict"]


def test_what_the_oldest_decides() -> None:
    old = export(
        "two", 2, sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 9}}
    )
    new = export("one", 1, clusterIP="None", trafficDistribution="PreferClose", internalTrafficPolicy="Local")
    made = shared([new, old])
    assert made is not None and made.spec["type"] == "ClusterSetIP"
    assert made.spec["sessionAffinity"] == "ClientIP" and "trafficDistribution" not in made.spec
    assert [reason for reason, _ in made.conflicts] == [
        "TypeConflict", "SessionAffinityConflict", "SessionAffinityConfigConflict", "InternalTrafficPolicyConflict",
        "TrafficDistributionConflict",
    ]  # fmt: skip


def test_labels_and_annotations_that_are_exported() -> None:
    old = export("two", 2, {"exportedLabels": {"a": "b"}, "exportedAnnotations": {"c": "d"}})
    made = shared([old, export("one", 1)])
    assert made is not None and (made.labels, made.annotations) == ({"a": "b"}, {"c": "d"})
    assert [reason for reason, _ in made.conflicts] == ["LabelsConflict", "AnnotationsConflict"]


def test_what_cannot_be_exported() -> None:
    missing, external = export("one")._replace(service=None), export("two", type="ExternalName")
    assert shared([missing, external]) is None and shared([]) is None
    rows = {row["type"]: row for row in conditions(missing, None, NOW)}
    assert (rows["Valid"]["status"], rows["Valid"]["reason"]) == ("False", "NoService")
    assert conditions(external, None, NOW)[0]["reason"] == "InvalidServiceType"
    made = shared([missing, export("three")])
    assert made is not None and made.clusters == ("three",)


def test_conditions_keep_their_times_and_those_of_others() -> None:
    first = export("one", ports=[port("http", 80)])
    made = shared([first])
    rows = conditions(first, made, NOW)
    assert [(row["type"], row["status"], row["reason"]) for row in rows] == [
        ("Valid", "True", "Valid"), ("Ready", "True", "Exported"), ("Conflict", "False", "NoConflicts"),
    ]  # fmt: skip
    other = {"type": "Other", "status": "True"}
    known = first._replace(export={**first.export, "status": {"conditions": [*rows, other]}})
    assert conditions(known, made, "2040-01-01T00:00:00Z") == [*rows, other]
    conflicting = shared([first, export("two", ports=[port("http", 81)])])
    row = conditions(known, conflicting, "2040-01-01T00:00:00Z")[2]
    assert (row["status"], row["reason"], row["lastTransitionTime"]) == (
        "True",
        "PortConflict",
        "2040-01-01T00:00:00Z",
    )
    assert row["observedGeneration"] == 3
