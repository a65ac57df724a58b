"""What ordinary writes do to managedFields."""

import copy
from typing import Any

import pytest

from pybernetes.api import schema
from pybernetes.api.apply import managed_fields
from pybernetes.api.resource import Object

CONFIG_MAP = schema.kind_type("", "v1", "ConfigMap")
DEPLOYMENT = schema.kind_type("apps", "v1", "Deployment")


def write(live: Any, new: Any, manager: str, now: str = "t1", **more: Any) -> Object:
    """Return a ConfigMap after a write, with its managedFields."""
    before = copy.deepcopy((live, new))
    entries = managed_fields.update(live, new, CONFIG_MAP, manager=manager, api_version="v1", now=now, **more)
    assert (live, new) == before
    return {**new, "metadata": {**new["metadata"], "managedFields": entries}}


def config(**data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


def deployment(replicas: int) -> Object:
    return {"metadata": {"name": "d"}, "spec": {"replicas": replicas, "paused": True}}


def owners(obj: Object) -> Object:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"]["managedFields"]}


def test_create() -> None:
    assert write(None, config(a="1"), "me")["metadata"]["managedFields"] == [
        {
            "manager": "me",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "t1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:a": {}}},
        }
    ]
    assert list(owners(write(None, config(a="1"), ""))) == ["unknown"]


def test_a_change_takes_the_field() -> None:
    live = write(None, config(a="1", b="2"), "one")
    new = write(live, config(a="1", b="3"), "two", "t2")
    assert owners(new) == {"one": {"f:data": {".": {}, "f:a": {}}}, "two": {"f:data": {"f:b": {}}}}
    assert [entry["time"] for entry in new["metadata"]["managedFields"]] == ["t1", "t2"]


def test_a_removal_drops_the_field_and_empty_entries() -> None:
    live = write(write(None, config(a="1"), "one"), config(a="1", b="2"), "two")
    new = write(live, config(a="1"), "three", "t2")
    assert owners(new) == {"one": {"f:data": {".": {}, "f:a": {}}}}


def test_no_change_gives_the_same_list() -> None:
    live = write(None, config(a="1"), "one")
    entries = managed_fields.update(
        live, copy.deepcopy(live), CONFIG_MAP, manager="two", api_version="v1", now="t2"
    )
    assert entries is live["metadata"]["managedFields"]
    assert write(live, config(a="1"), "two", "t2") == live


def test_the_same_writer_again() -> None:
    live = write(None, config(a="1"), "one")
    (entry,) = write(live, config(a="2", b="3"), "one", "t2")["metadata"]["managedFields"]
    assert entry["time"] == "t2"
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:a": {}, "f:b": {}}}


def test_subresources_and_versions_are_other_entries() -> None:
    live = write(None, config(a="1"), "one")
    new = write(live, config(a="2"), "one", "t2", subresource="status")
    assert [entry.get("subresource") for entry in new["metadata"]["managedFields"]] == [None, "status"]
    other = managed_fields.update(new, config(a="3"), CONFIG_MAP, manager="one", api_version="v2", now="t3")
    assert [entry["apiVersion"] for entry in other] == ["v1", "v1", "v2"]


def test_reset_fields_are_not_owned() -> None:
    kwargs: Object = {"manager": "m", "api_version": "apps/v1", "now": "t"}
    live = {
        "metadata": {"managedFields": managed_fields.update(None, deployment(1), DEPLOYMENT, **kwargs)},
        "spec": {},
    }
    new = {"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 1}, "status": {"replicas": 2}}
    reset: Object = {"f:spec": {}, "f:metadata": {"f:labels": {}}}
    entries = managed_fields.update(live, new, DEPLOYMENT, subresource="status", reset=reset, **kwargs)
    assert entries[-1]["fieldsV1"] == {"f:status": {"f:replicas": {}}}
    entries = managed_fields.update(live, new, DEPLOYMENT, reset={"f:status": {}}, **kwargs)
    assert "f:status" not in entries[-1]["fieldsV1"]


def test_only_ten_updaters_are_kept_apart() -> None:
    obj = write(None, config(), "creator", "t00")
    obj = write(None, config(a="1"), "creator", "t00")
    data = {"a": "1"}
    for number in range(12):
        data[f"k{number:02}"] = "v"
        obj = write(obj, config(**data), f"m{number:02}", f"t{number + 1:02}")
    names = [entry["manager"] for entry in obj["metadata"]["managedFields"]]
    assert names == ["ancient-changes", *(f"m{number:02}" for number in range(3, 12))]
    ancient = obj["metadata"]["managedFields"][0]
    assert ancient["fieldsV1"] == {"f:data": {".": {}, "f:a": {}, "f:k00": {}, "f:k01": {}, "f:k02": {}}}
    assert ancient["time"] == "t03"


@pytest.mark.parametrize("sent", [[{}], []])
def test_clients_can_clear_them(sent: Any) -> None:
    live = write(None, config(a="1"), "one")
    new = config(a="2")
    new["metadata"]["managedFields"] = sent
    cleared = write(live, new, "two")
    assert owners(cleared) == {}
    # Nobody is tracked from then on, until an apply.
    assert owners(write(cleared, config(a="3"), "three")) == {}


def test_clients_can_set_them() -> None:
    live = write(None, config(a="1"), "one")
    new = config(a="1")
    entry = {**live["metadata"]["managedFields"][0], "manager": "renamed"}
    new["metadata"]["managedFields"] = [entry]
    assert list(owners(write(live, new, "two"))) == ["renamed"]
    assert list(owners(write(live, new, "two", subresource="status"))) == ["one"]


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "x"},
        {"apiVersion": ""},
        {"fieldsType": ""},
        {"fieldsType": "V2"},
        {"fieldsV1": {"x": {}}},
    ],
)
def test_malformed_ones_are_ignored(change: Object) -> None:
    live = write(None, config(a="1"), "one")
    new = config(a="1")
    new["metadata"]["managedFields"] = [{**live["metadata"]["managedFields"][0], "manager": "x", **change}]
    with pytest.raises(ValueError):
        managed_fields.decode(new["metadata"]["managedFields"])
    assert list(owners(write(live, new, "two"))) == ["one"]
