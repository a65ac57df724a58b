"""Forms of answers: tables, metadata alone, YAML."""

from __future__ import annotations

from typing import Any

import yaml

from tests.servers import Server


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def test_tables_and_metadata(server: Server, namespace: str) -> None:
    server.call("POST", path(namespace), config_map("t", a="1", b="2"))
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    _, table = server.call("GET", path(namespace), headers=accept)
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    row = next(row for row in table["rows"] if row["cells"][0] == "t")
    assert row["cells"][1] == 2 and row["object"]["kind"] == "PartialObjectMetadata"
    accept = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
    _, listed = server.call("GET", path(namespace), headers=accept)
    assert listed["kind"] == "PartialObjectMetadataList" and "data" not in listed["items"][0]
    assert server.call("GET", path(namespace), headers={"Accept": "application/xml"})[0] == 406


def test_yaml_bodies_and_answers(server: Server, namespace: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: '1'}\n"
    status, _ = server.call("POST", path(namespace), text, headers={"Content-Type": "application/yaml"})
    assert status == 201
    _, answer = server.call("GET", path(namespace, "yaml"), headers={"Accept": "application/yaml"})
    assert "data:\n  a: '1'\n" in answer


def test_yaml_has_no_anchors(server: Server, namespace: str) -> None:
    made = {"metadata": {"name": "y"}, "data": {"a": "1", "b": "2"}}
    status, text = server.call("POST", path(namespace), made, headers={"Accept": "application/yaml"})
    assert status == 201 and "&id" not in text, text


def test_large_objects_in_every_form(server: Server, namespace: str) -> None:
    """They are written beside the event loop."""
    data = {f"k{number}": "x" * 30 for number in range(8000)}
    made = config_map("large", **data)
    yaml_form, table = (
        {"Accept": "application/yaml"},
        {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
    )
    status, text = server.call("POST", path(namespace), made, headers=yaml_form)
    assert status == 201 and yaml.safe_load(text)["data"] == data
    assert yaml.safe_load(server.call("GET", path(namespace, "large"), headers=yaml_form)[1])["data"] == data
    listed = yaml.safe_load(server.call("GET", path(namespace), headers=yaml_form)[1])
    assert data in [item.get("data") for item in listed["items"]]
    assert server.call("GET", path(namespace, "large"), headers=table)[1]["rows"][0]["cells"][:2] == [
        "large",
        8000,
    ]
