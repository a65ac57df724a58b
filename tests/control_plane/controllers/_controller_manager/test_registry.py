"""The names of all controllers, which people write on command lines."""

import asyncio
from pathlib import Path

import pytest

from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.control_plane.controllers._controller_manager import registry
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag
from pybernetes.runtime import Manager
from tests.added_files import added_file
from tests.cluster import Cluster
from tests.support import eventually

# Name, aliases, and whether it runs unless it is asked for.
NAMES = {
    "bootstrap-signer-controller": (("bootstrapsigner",), False),
    "certificatesigningrequest-approving-controller": (("csrapproving",), True),
    "certificatesigningrequest-cleaner-controller": (("csrcleaner",), True),
    "certificatesigningrequest-signing-controller": (("csrsigning",), True),
    "clusterrole-aggregation-controller": (("clusterrole-aggregation",), True),
    "cronjob-controller": (("cronjob",), True),
    "daemonset-controller": (("daemonset",), True),
    "deployment-controller": (("deployment",), True),
    "disruption-controller": (("disruption",), True),
    "endpoints-controller": (("endpoint",), True),
    "endpointslice-controller": (("endpointslice",), True),
    "endpointslice-mirroring-controller": (("endpointslicemirroring",), True),
    "ephemeral-volume-controller": (("ephemeral-volume",), True),
    "garbage-collector-controller": (("garbagecollector",), True),
    "horizontal-pod-autoscaler-controller": (("horizontalpodautoscaling",), True),
    "job-controller": (("job",), True),
    "kube-apiserver-serving-clustertrustbundle-publisher-controller": ((), True),
    "legacy-serviceaccount-token-cleaner-controller": (("legacy-service-account-token-cleaner",), True),
    "namespace-controller": (("namespace",), True),
    "node-ipam-controller": (("nodeipam",), True),
    "node-lifecycle-controller": (("nodelifecycle",), True),
    "persistentvolume-binder-controller": (("persistentvolume-binder",), True),
    "persistentvolume-protection-controller": (("pv-protection",), True),
    "persistentvolumeclaim-protection-controller": (("pvc-protection",), True),
    "pod-garbage-collector-controller": (("podgc",), True),
    "podcertificaterequest-cleaner-controller": ((), True),
    "replicaset-controller": (("replicaset",), True),
    "replicationcontroller-controller": (("replicationcontroller",), True),
    "resourcequota-controller": (("resourcequota",), True),
    "root-ca-certificate-publisher-controller": (("root-ca-cert-publisher",), True),
    "service-cidr-controller": ((), True),
    "serviceaccount-controller": (("serviceaccount",), True),
    "serviceaccount-token-controller": (("serviceaccount-token",), True),
    "statefulset-controller": (("statefulset",), True),
    "storage-version-migrator-controller": ((), True),
    "taint-eviction-controller": ((), True),
    "token-cleaner-controller": (("tokencleaner",), False),
    "ttl-after-finished-controller": (("ttl-after-finished",), True),
    "ttl-controller": (("ttl",), True),
    "validatingadmissionpolicy-status-controller": ((), True),
    "volumeattributesclass-protection-controller": ((), True),
}


def test_every_controller_has_the_names_of_upstream() -> None:
    names = {
        name: (descriptor.aliases, descriptor.enabled) for name, descriptor in registry.descriptors().items()
    }
    assert names == NAMES


def test_flags_agree() -> None:
    names = [flag.name for flag in registry.flags(registry.descriptors())]
    assert len(names) == len(set(names))
    assert {"concurrent-gc-syncs", "node-monitor-grace-period", "terminated-pod-gc-threshold"} <= set(names)


def descriptors() -> dict[str, Descriptor]:
    return {
        name: Descriptor(name=name, build=lambda *_: None, identity=name, aliases=(alias,), enabled=enabled)
        for name, alias, enabled in (
            ("job-controller", "job", True), ("ttl-controller", "ttl", True),
            ("token-cleaner-controller", "tokencleaner", False),
        )
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("*", ["job-controller", "ttl-controller"]),
        ("*,tokencleaner", ["job-controller", "ttl-controller", "token-cleaner-controller"]),
        ("*,-ttl", ["job-controller"]),
        ("job", ["job-controller"]),
        ("job-controller,token-cleaner-controller", ["job-controller", "token-cleaner-controller"]),
        ("-job", []),
        ("-job,*", ["ttl-controller"]),
    ],
)
def test_selection(asked: str, expected: list[str]) -> None:
    assert [descriptor.name for descriptor in registry.select(asked.split(","), descriptors())] == expected


def test_unknown_controllers_are_refused() -> None:
    with pytest.raises(ValueError, match='"nope" is not in the list of known controllers'):
        registry.select(["*", "-nope"], descriptors())


def test_workload_controllers_have_upstreams_names() -> None:
    known = registry.descriptors()
    ours = {
        "cronjob-controller": "cronjob-controller",
        "daemonset-controller": "daemon-set-controller",
        "deployment-controller": "deployment-controller",
        "job-controller": "job-controller",
        "replicaset-controller": "replicaset-controller",
        "replicationcontroller-controller": "replication-controller",
        "statefulset-controller": "statefulset-controller",
        "ttl-after-finished-controller": "ttl-after-finished-controller",
    }
    assert {name: known[name].identity for name in ours} == ours
    assert {name for name in ours if known[name].aliases != (name.removesuffix("-controller"),)} == set()


def test_flags_of_workload_controllers() -> None:
    by_name = {flag.name: flag for flag in registry.flags(registry.descriptors())}
    assert by_name["concurrent-daemonset-syncs"].default == 2
    assert by_name["concurrent-cron-job-syncs"] == Flag(
        "concurrent-cron-job-syncs", 5, by_name["concurrent-cron-job-syncs"].help
    )


LABELER = '''
"""Labels every ConfigMap; in a file of its own and named nowhere else."""

from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib.flags import Flag
from pybernetes.runtime import Controller, split_key


class LabelController(Controller):
    name = "label-controller"
    kind = CONFIG_MAPS
    label = ""

    async def reconcile(self, key):
        obj = self.objects.get(key)
        if obj is not None and "by" not in (obj["metadata"].get("labels") or {}):
            namespace, name = split_key(key)
            await self.client.patch(CONFIG_MAPS, name, {"metadata": {"labels": {"by": self.label}}}, namespace)


def build(runtime, options):
    controller = LabelController(runtime)
    controller.label = options.label_value
    return controller


CONTROLLER = Descriptor(
    name=LabelController.name,
    aliases=("label",),
    identity="label-controller",
    build=build,
    flags=(Flag("label-value", "nobody", "the value of the label"),),
)
'''


async def test_a_controller_is_added_by_adding_a_file(tmp_path: Path) -> None:
    with added_file(registry.PACKAGE, tmp_path, "label", LABELER):
        known = registry.descriptors()
        options = flags.defaults(registry.flags(known), label_value="me")
        async with Cluster() as cluster:
            manager = Manager(cluster.client)
            assert registry.add_all(manager, registry.select(["label"], known), options) == [
                "label-controller"
            ]
            task = asyncio.create_task(manager.run())
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "c", "namespace": "default"}})

            async def is_labeled() -> bool:
                obj = await cluster.client.get(CONFIG_MAPS, "c", "default")
                return obj["metadata"].get("labels") == {"by": "me"}

            await eventually(is_labeled)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    assert "label-controller" not in registry.descriptors()


def test_controllers_of_upstream_that_are_not_here_say_why() -> None:
    known = registry.descriptors()
    with pytest.raises(ValueError, match='"attachdetach" is not there: volumes of drivers'):
        registry.select(["*", "attachdetach"], known)
    assert registry.select(["-attachdetach"], known) == []
    assert not set(registry.ABSENT) & set(known)
