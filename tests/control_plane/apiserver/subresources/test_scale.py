"""Replicas, in one form for every kind that has them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.subresources.scale import _set
from tests.servers import Server

MERGE = {"Content-Type": "application/merge-patch+json"}


def test_scale(server: Server, namespace: str) -> None:
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    server.call("POST", deployments, {"metadata": {"name": "d"}, "spec": spec})
    _, scale = server.call("GET", f"{deployments}/d/scale")
    assert scale["spec"] == {"replicas": 2} and scale["status"]["selector"] == "a=b"
    scale["spec"]["replicas"] = 5
    assert server.call("PUT", f"{deployments}/d/scale", scale)[1]["spec"] == {"replicas": 5}
    _, deployment = server.call("GET", f"{deployments}/d")
    assert deployment["spec"]["replicas"] == 5 and deployment["metadata"]["generation"] == 2
    status, answer = server.call("PATCH", f"{deployments}/d/scale", {"spec": {"replicas": -1}}, headers=MERGE)
    assert status == 422 and "must be greater than or equal to 0" in answer["message"]


@pytest.mark.parametrize(("spec", "where"), [("text", ".spec"), ([1], ".spec"), ({"a": "text"}, ".spec.a")])
def test_objects_that_are_older_than_their_scale(spec: Any, where: str) -> None:
    with pytest.raises(errors.StatusError) as raised:
        _set({"spec": spec}, ".spec.a.replicas", 3)
    assert raised.value.code == 500
    assert raised.value.message == f"value cannot be set because {where} is not a map[string]interface{{}}"
