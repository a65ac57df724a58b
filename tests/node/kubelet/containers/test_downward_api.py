"""The fields and resources of the downward API."""

from __future__ import annotations

import pytest

from pybernetes.node.kubelet.containers import downward_api
from tests.node.kubelet.pods import pod


def test_fields_and_resources() -> None:
    assert downward_api.field_value(pod(), "metadata.annotations") == 'x="q\\"\\n"'
    definition = pod({"resources": {"requests": {"memory": "10Mi"}, "limits": {"cpu": "250m"}}})
    container = definition["spec"]["containers"][0]

    def amount(resource: str, divisor: str = "0") -> str:
        return downward_api.resource_value(
            definition, {"resource": resource, "divisor": divisor}, container, {"memory": "1Gi"}
        )

    assert (amount("limits.cpu"), amount("limits.cpu", "1m")) == ("1", "250")
    assert (amount("requests.memory", "1Mi"), amount("limits.memory", "1Mi")) == ("10", "1024")
    with pytest.raises(downward_api.FieldError):
        downward_api.field_value(pod(), "spec.unknown")
