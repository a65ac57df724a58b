import pytest

from pybernetes.api.core.pod import pod_level_resources
from pybernetes.api.resource import Object


def container(policy: str = "", **requests: str) -> Object:
    return {"resources": {"requests": requests}, **({"restartPolicy": policy} if policy else {})}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container(cpu="100m"), container(cpu="1")]}, 1.1),
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="3")]}, 3),
        ({"containers": [container(cpu="1")], "initContainers": [container("Always", cpu="3")]}, 4),
        ({"containers": [container(cpu="1")],
          "initContainers": [container("Always", cpu="3"), container(cpu="2")]}, 5),
        ({"containers": [container(cpu="1")],
          "initContainers": [container(cpu="2"), container("Always", cpu="3")]}, 4),
    ],
)  # fmt: skip
def test_aggregate(spec: Object, cpu: float) -> None:
    assert float(pod_level_resources.aggregate(spec, "requests")["cpu"]) == cpu


def test_default_pod_level() -> None:
    limits = {"cpu": "1", "memory": "1Gi"}
    spec = {
        "containers": [{"resources": {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": limits}}],
        "resources": {"requests": {"cpu": "2"}},
    }
    pod_level_resources.default_pod_level(spec)
    assert spec["resources"] == {
        "requests": {"cpu": "2", "memory": "1Gi"},
        "limits": {"cpu": "2", "memory": "1Gi"},
    }
