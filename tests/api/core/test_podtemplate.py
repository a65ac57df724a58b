"""PodTemplate."""

from __future__ import annotations

from pybernetes.api import table
from pybernetes.api.core import podtemplate
from tests.api.core.pod.pods import CONTAINER

NOW = table.epoch("2026-01-01T01:00:00Z")


def test_pod_template_row() -> None:
    obj = {"metadata": {"name": "t"}, "template": {
        "metadata": {"labels": {"b": "2", "a": "1"}}, "spec": {"containers": [CONTAINER, {"name": "b", "image": "c"}]},
    }}  # fmt: skip
    assert table.cells(podtemplate.RESOURCE.columns, obj, NOW) == ["t", "a,b", "nginx:1,c", "a=1,b=2"]
    assert table.cells(podtemplate.RESOURCE.columns, {"metadata": {"name": "t"}}, NOW)[1:] == [
        "",
        "",
        "<none>",
    ]
