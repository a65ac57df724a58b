"""What a cluster gets of a service of many clusters."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation.multicluster import imports
from pybernetes.control_plane.federation.multicluster.exports import shared
from pybernetes.control_plane.federation.multicluster.kinds import LOCAL_SERVICE, SERVICE_NAME, SOURCE_CLUSTER
from tests.control_plane.federation.multicluster.test_exports import export, port


def slice_of(name: str, *addresses: str) -> dict[str, Any]:
    endpoints = [
        {
            "addresses": [address],
            "conditions": {"ready": True},
            "nodeName": "n",
            "targetRef": {"kind": "Pod"},
            "zone": "z",
        }
        for address in addresses
    ]
    ports = [{"name": "http", "port": 8080, "protocol": "TCP"}]
    return {"metadata": {"name": name}, "addressType": "IPv4", "endpoints": endpoints, "ports": ports}


def test_an_import_has_the_addresses_of_its_service() -> None:
    service = shared([export("one", 1, {"exportedLabels": {"a": "b"}}, ports=[port("http", 80)])])
    assert service is not None
    derived = imports.derived_service("team", "web", service)
    assert "selector" not in derived["spec"] and derived["spec"]["ports"] == [port("http", 80)]
    derived["spec"] |= {"clusterIPs": ["10.9.0.1"], "ipFamilies": ["IPv4"]}
    made = imports.service_import("team", "web", service, derived)
    assert made["spec"]["ips"] == ["10.9.0.1"] and made["metadata"]["labels"]["a"] == "b"


def test_slices_of_two_clusters() -> None:
    service = shared([export("one", ports=[port("http", 80)]), export("two", ports=[port("http", 80)])])
    assert service is not None
    made = imports.slices(
        "team",
        "web",
        service,
        {"one": [slice_of("web-1", "10.1.0.1")], "two": [slice_of("web-1", "10.2.0.1")]},
    )
    assert len(made) == 2  # although their own have one name
    for cluster, obj in zip(("one", "two"), made.values(), strict=True):
        labels = obj["metadata"]["labels"]
        assert (labels[SERVICE_NAME], labels[SOURCE_CLUSTER]) == ("web", cluster)
        assert labels[LOCAL_SERVICE] == imports.derived_name("team", "web")
        assert set(obj["endpoints"][0]) == {"addresses", "conditions"}
    headless = shared([export("one", clusterIP="None")])
    assert headless is not None
    listed = imports.slices("team", "web", headless, {"one": [slice_of("a", "10.1.0.1")]})
    assert all(LOCAL_SERVICE not in obj["metadata"]["labels"] for obj in listed.values())


def test_endpoints_do_not_serve_a_port_that_has_another_number_in_their_cluster() -> None:
    old = export("one", 2, ports=[port("http", 80), port("more", 81)])
    service = shared([old, export("two", 1, ports=[port("http", 4242, targetPort=8080), port("more", 81)])])
    assert service is not None and service.strays == {"one": frozenset(), "two": frozenset(("http",))}
    given = slice_of("web-1", "10.2.0.1")
    given["ports"].append({"name": "more", "port": 8081, "protocol": "TCP"})
    made = imports.slices("team", "web", service, {"one": [given], "two": [given]})
    served = [[entry["name"] for entry in obj["ports"]] for obj in made.values()]
    assert served == [["http", "more"], ["more"]]


WANTED = {"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"ports": [{"port": 80}], "type": "b"}}


@pytest.mark.parametrize(
    ("existing", "same"),
    [
        (WANTED, True),
        ({**WANTED, "metadata": {"name": "a", "uid": "u", "labels": {"x": "y", "more": "z"}}}, True),
        ({**WANTED, "metadata": {"name": "a", "labels": {}}}, False),
        (
            {**WANTED, "spec": {"ports": [{"port": 80, "targetPort": 80}], "type": "b", "clusterIP": "c"}},
            True,
        ),
        ({**WANTED, "spec": {"ports": [{"port": 81}], "type": "b"}}, False),
        ({**WANTED, "spec": {"ports": [{"port": 80}, {"port": 81}], "type": "b"}}, False),
        ({**WANTED, "spec": {"ports": [{"port": 80}]}}, False),
    ],
)
def test_what_is_written_again(existing: dict[str, Any], same: bool) -> None:
    assert imports.is_as(existing, WANTED) is same


def written(**parts: dict[str, str]) -> dict[str, Any]:
    """Return metadata whose parts we wrote, beside those of somebody else."""
    fields: dict[str, Any] = {
        f"f:{part}": {f"f:{key}": {} for key in values} for part, values in parts.items()
    }
    entry = {"manager": "kubefed-controller-manager", "fieldsV1": {"f:metadata": fields}}
    return {
        "name": "a",
        "resourceVersion": "7",
        **{part: {**values, "others": "stays"} for part, values in parts.items()},
        "managedFields": [entry],
    }


def test_what_is_no_longer_exported_goes_and_what_others_wrote_stays() -> None:
    existing = {
        "metadata": written(labels={"x": "y", "old": "1"}, annotations={"note": "2"}),
        "spec": {"type": "b", "sessionAffinityConfig": {}, "trafficDistribution": "PreferClose", "ports": [{"port": 80}]},
    }  # fmt: skip
    assert not imports.is_as(existing, WANTED)
    assert imports.patch(existing, WANTED) == {
        "metadata": {
            "name": "a",
            "resourceVersion": "7",
            "labels": {"x": "y", "old": None},
            "annotations": {"note": None},
        },
        "spec": {
            "ports": [{"port": 80}],
            "type": "b",
            "sessionAffinityConfig": None,
            "trafficDistribution": None,
        },
    }
