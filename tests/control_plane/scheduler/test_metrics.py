"""What the scheduler tells of its plugins and of the pods' resources, after real decisions."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from pybernetes.client.refs import PODS
from pybernetes.control_plane.scheduler import resource_metrics
from pybernetes.lib.metrics.exposition import Exposition
from tests.cluster import Cluster
from tests.control_plane.scheduler.helpers import add_node, is_on, message, scheduling
from tests.scheduling.builders import node, pod
from tests.support import eventually


async def test_plugins_and_points_are_timed_and_resources_told() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        async with scheduling(client) as scheduler:
            times = scheduler.cycles["default-scheduler"].times
            times.random = lambda: 0.0  # each decision is one of ten
            await add_node(client, node("small", cpu="2"))
            first = pod("first", cpu="500m")
            first["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "1", "memory": "1Gi"}
            await client.create(PODS, first)
            await eventually(lambda: is_on(client, "first", "small"))
            await client.create(PODS, pod("large", cpu="3"))
            await eventually(lambda: message(client, "large"))
            await eventually(lambda: ("Bind", "Success") in times.points)
            text = Exposition()
            scheduler.metrics.write(text, scheduler)
            page = Exposition()
            pods = resource_metrics.known(scheduler.informers.pods)
            await resource_metrics.write(page, pods, scheduler.resources)
    families = {family.name: family for family in text_string_to_metric_families(text.render().decode())}

    def labels(name: str, *keys: str) -> set[tuple[str, ...]]:
        return {tuple(sample.labels[key] for key in keys) for sample in families[name].samples}

    assert {("PreFilter", "Success"), ("Filter", "Success"), ("Filter", "Unschedulable"), ("Score", "Success"),
            ("PostFilter", "Unschedulable"), ("Reserve", "Success"), ("Permit", "Success"), ("PreBind", "Success"),
            ("Bind", "Success")} <= labels("scheduler_framework_extension_point_duration_seconds", "extension_point", "status")  # fmt: skip
    fit = {"NodeResourcesFit"} & {plugin for plugin, _ in labels("scheduler_plugin_execution_duration_seconds", "plugin", "status")}  # fmt: skip
    assert fit
    evaluated = {
        (sample.labels["plugin"], sample.labels["extension_point"]): sample.value
        for sample in families["scheduler_plugin_evaluation"].samples
    }
    assert evaluated["NodeResourcesFit", "Filter"] >= 2 and evaluated["NodeResourcesFit", "Score"] == 1
    assert families["scheduler_permit_wait_duration_seconds"].type == "histogram"
    resources = {
        (family.name, sample.labels["pod"], sample.labels["resource"], sample.labels["unit"], sample.labels["node"]): sample.value
        for family in text_string_to_metric_families(page.render().decode())
        for sample in family.samples
    }  # fmt: skip
    assert resources["kube_pod_resource_request", "first", "cpu", "cores", "small"] == 0.5
    assert resources["kube_pod_resource_limit", "first", "memory", "bytes", "small"] == 1 << 30
    assert resources["kube_pod_resource_request", "large", "cpu", "cores", ""] == 3
