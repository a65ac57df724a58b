"""The official Python client and lightkube, unchanged."""

from __future__ import annotations

import threading
from typing import Any

import kubernetes
import pytest
from kubernetes.client import ApiException
from kubernetes.dynamic import DynamicClient
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.apps_v1 import DeploymentSpec
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Namespace, Node
from lightkube.types import PatchType

from tests.api.examples import example
from tests.servers import Server

_APPLY = "application/apply-patch+yaml"


@pytest.fixture
def official(server: Server) -> kubernetes.client.ApiClient:
    return kubernetes.config.new_client_from_config(str(server.kubeconfig))


def test_official_typed(official: kubernetes.client.ApiClient, namespace: str) -> None:
    core: Any = kubernetes.client.CoreV1Api(official)
    apps: Any = kubernetes.client.AppsV1Api(official)
    made = apps.create_namespaced_deployment(namespace, example("apps/v1", "Deployment"))
    assert (
        made.metadata.creation_timestamp is not None and made.spec.strategy.rolling_update.max_surge == "25%"
    )
    made.spec.replicas = 3
    changed = apps.replace_namespaced_deployment("example", namespace, made)
    assert changed.metadata.generation == 2
    with pytest.raises(ApiException) as stale:
        apps.replace_namespaced_deployment("example", namespace, made)
    assert stale.value.status == 409
    scale = apps.patch_namespaced_deployment_scale("example", namespace, {"spec": {"replicas": 5}})
    assert scale.spec.replicas == 5 and scale.status.selector == "app=web"
    apps.patch_namespaced_deployment_status("example", namespace, {"status": {"observedGeneration": 3}})
    listed = apps.list_deployment_for_all_namespaces(field_selector=f"metadata.namespace={namespace}")
    assert [item.status.observed_generation for item in listed.items] == [3]
    for number in range(5):
        core.create_namespaced_secret(
            namespace, {"metadata": {"name": f"s{number}"}, "stringData": {"a": "b"}}
        )
    page = core.list_namespaced_secret(namespace, limit=2)
    assert len(page.items) == 2 and page.metadata.remaining_item_count == 3
    rest = core.list_namespaced_secret(namespace, limit=10, _continue=page.metadata._continue)
    assert [item.metadata.name for item in rest.items] == ["s2", "s3", "s4"] and rest.items[0].data == {
        "a": "Yg=="
    }
    core.delete_collection_namespaced_secret(namespace)
    assert core.list_namespaced_secret(namespace).items == []
    status = apps.delete_namespaced_deployment("example", namespace, propagation_policy="Background")
    assert status["status"] == "Success"
    with pytest.raises(ApiException) as missing:
        apps.read_namespaced_deployment("example", namespace)
    assert missing.value.status == 404 and missing.value.reason == "Not Found"


@pytest.mark.parametrize(
    ("media_type", "patch"),
    [
        ("application/json-patch+json", [{"op": "add", "path": "/data/b", "value": "2"}]),
        ("application/merge-patch+json", {"data": {"b": "2"}}),
        ("application/strategic-merge-patch+json", {"data": {"b": "2"}}),
        (_APPLY, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"b": "2"}}),
    ],
)
def test_official_patches(
    official: kubernetes.client.ApiClient, namespace: str, media_type: str, patch: Any
) -> None:
    core: Any = kubernetes.client.CoreV1Api(official)
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    options = {"field_manager": "test", "force": True} if media_type == _APPLY else {}
    result = core.patch_namespaced_config_map("c", namespace, patch, _content_type=media_type, **options)
    assert result.data == {"a": "1", "b": "2"}


def test_official_watch(official: kubernetes.client.ApiClient, namespace: str) -> None:
    core: Any = kubernetes.client.CoreV1Api(official)
    version = core.list_namespaced_config_map(namespace).metadata.resource_version

    def write() -> None:
        core.create_namespaced_config_map(namespace, {"metadata": {"name": "w"}, "data": {"a": "1"}})
        core.patch_namespaced_config_map("w", namespace, {"data": {"a": "2"}})
        core.delete_namespaced_config_map("w", namespace)

    writer = threading.Thread(target=write)
    writer.start()
    watch, seen = kubernetes.watch.Watch(), []
    for event in watch.stream(
        core.list_namespaced_config_map, namespace, resource_version=version, timeout_seconds=60
    ):
        seen.append((event["type"], event["object"].data["a"]))
        if event["type"] == "DELETED":
            watch.stop()
    writer.join()
    assert seen == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


def test_official_watch_of_a_lost_version(official: kubernetes.client.ApiClient, namespace: str) -> None:
    """The client lists again by itself when its version is gone; what it cannot read it raises."""
    core: Any = kubernetes.client.CoreV1Api(official)
    with pytest.raises(ApiException) as error:
        watch = kubernetes.watch.Watch()
        for _ in watch.stream(
            core.list_namespaced_config_map, namespace, resource_version="x", timeout_seconds=5
        ):
            pass
    assert error.value.status == 400


def test_official_dynamic(official: kubernetes.client.ApiClient, namespace: str) -> None:
    client = DynamicClient(official)
    for version, kind in (("v1", "Service"), ("networking.k8s.io/v1", "Ingress"), ("batch/v1", "CronJob"),
                          ("policy/v1", "PodDisruptionBudget"), ("coordination.k8s.io/v1", "Lease")):  # fmt: skip
        resource = client.resources.get(api_version=version, kind=kind)
        assert resource.create(body=example(version, kind), namespace=namespace).metadata.uid
        applied = resource.server_side_apply(
            body=example(version, kind), namespace=namespace, field_manager="dynamic", force_conflicts=True
        )
        assert applied.metadata.managedFields[0].manager == "dynamic"
        assert resource.get(namespace=namespace).kind == f"{kind}List"
        resource.delete(name="example", namespace=namespace)
    assert client.resources.get(kind="Pod", api_version="v1").subresources["log"].verbs == ["get"]


@pytest.fixture
def light(server: Server, namespace: str) -> Client:
    return Client(config=KubeConfig.from_file(server.kubeconfig), namespace=namespace, field_manager="light")


def test_lightkube(light: Client, namespace: str) -> None:
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels={"app": "a"}), spec=PodSpec(containers=[Container(name="a", image="b")])
    )
    spec = DeploymentSpec(replicas=1, selector=LabelSelector(matchLabels={"app": "a"}), template=template)
    made = light.create(Deployment(metadata=ObjectMeta(name="d"), spec=spec))
    assert made.metadata is not None and made.metadata.namespace == namespace
    light.patch(Deployment.Scale, "d", {"spec": {"replicas": 4}}, patch_type=PatchType.MERGE)
    deployment = light.get(Deployment, "d")
    assert deployment.spec is not None and deployment.spec.replicas == 4
    deployment.spec.template.spec = PodSpec(containers=[Container(name="a", image="c")])
    assert light.replace(deployment).metadata.generation == 3  # type: ignore[union-attr]
    applied = light.apply(ConfigMap(metadata=ObjectMeta(name="c", labels={"x": "y"}), data={"a": "1"}))
    assert applied.data == {"a": "1"}
    assert [item.metadata.name for item in light.list(ConfigMap, labels={"x": "y"})] == ["c"]  # type: ignore[union-attr]
    assert {"default", namespace} <= {item.metadata.name for item in light.list(Namespace)}  # type: ignore[union-attr]
    assert list(light.list(Node, chunk_size=1)) == []
    light.delete(Deployment, "d")
    with pytest.raises(ApiError) as error:
        light.get(Deployment, "d")
    assert error.value.status.code == 404 and error.value.status.reason == "NotFound"


def test_lightkube_watch(light: Client) -> None:
    light.create(ConfigMap(metadata=ObjectMeta(name="w"), data={"a": "1"}))
    seen = []
    for kind, obj in light.watch(ConfigMap, resource_version="0", server_timeout=60):
        seen.append((kind, obj.data))
        if len(seen) == 1:
            light.patch(ConfigMap, "w", {"data": {"a": "2"}})
        elif len(seen) == 2:
            light.delete(ConfigMap, "w")
        else:
            break
    assert seen == [("ADDED", {"a": "1"}), ("MODIFIED", {"a": "2"}), ("DELETED", {"a": "2"})]


def test_lightkube_generic(light: Client) -> None:
    Lease = create_namespaced_resource("coordination.k8s.io", "v1", "Lease", "leases")
    body = Lease(metadata=ObjectMeta(name="l"), spec={"holderIdentity": "me"})
    assert light.create(body)["spec"] == {"holderIdentity": "me"}
