"""Plugins that complete and judge pods, one table each."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.admission.world import Object, World, pod, requests
from tests.support import run

FORBIDDEN = 'pods "p" is forbidden: '
NOT_READY = {
    "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300
}  # fmt: skip
UNREACHABLE = {**NOT_READY, "key": "node.kubernetes.io/unreachable"}
PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}


def namespace(**metadata: Any) -> Object:
    return {"metadata": {"name": "one", **metadata}}


def spec_after(plugin: str, given: Object, *objects: tuple[str, str, Object], **configuration: Any) -> Object:
    async def test() -> Object:
        async with World() as world:
            for group, plural, obj in objects:
                await world.add(group, plural, obj)
            chain = world.chain(plugin, **configuration)
            return (await world.admit(chain, "pods", given))["spec"]

    return run(test())


def refusal(
    plugin: str, given: Object, *objects: tuple[str, str, Object], old: Object | None = None, **more: Any
) -> str:
    async def test() -> str:
        async with World() as world:
            for group, plural, obj in objects:
                await world.add(group, plural, obj)
            configuration = {plugin: more.pop("configuration")} if "configuration" in more else {}
            return await world.refusal(world.chain(plugin, **configuration), "pods", given, old, **more)

    return run(test())


# -- Priority --------------------------------------------------------------------------------------------

HIGH = (
    "scheduling.k8s.io",
    "priorityclasses",
    {"metadata": {"name": "high"}, "value": 9, "preemptionPolicy": "Never"},
)
DEFAULT = ("scheduling.k8s.io", "priorityclasses", {"metadata": {"name": "usual"}, "value": 5, "globalDefault": True,
                                                    "preemptionPolicy": "PreemptLowerPriority"})  # fmt: skip
LESS = ("scheduling.k8s.io", "priorityclasses", {"metadata": {"name": "less"}, "value": 3, "globalDefault": True,
                                                 "preemptionPolicy": "PreemptLowerPriority"})  # fmt: skip


@pytest.mark.parametrize(
    ("given", "classes", "expected"),
    [
        ({}, [HIGH], {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}),
        ({"priorityClassName": "high"}, [HIGH], {"priority": 9, "preemptionPolicy": "Never"}),
        ({"priorityClassName": "high", "priority": 9}, [HIGH], {"priority": 9}),
        ({}, [DEFAULT], {"priorityClassName": "usual", "priority": 5}),
        ({}, [DEFAULT, LESS], {"priorityClassName": "less", "priority": 3}),
    ],
)
def test_priority(given: Object, classes: list[Any], expected: Object) -> None:
    spec = spec_after("Priority", pod(**given), *classes)
    assert spec | expected == spec


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"priorityClassName": "nope"}, "no PriorityClass with name nope was found"),
        (
            {"priorityClassName": "high", "priority": 4},
            "the integer value of priority (4) must not be provided in pod spec; priority admission controller "
            "computed 9 from the given PriorityClass name",
        ),
        (
            {"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"},
            "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority "
            "admission controller computed Never from the given PriorityClass name",
        ),
    ],
)
def test_priority_refuses(given: Object, message: str) -> None:
    assert refusal("Priority", pod(**given), HIGH) == FORBIDDEN + message


def test_priority_stays_and_there_is_one_default() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("Priority")
            old = pod(priority=9, preemptionPolicy="Never")
            assert (await world.admit(chain, "pods", pod(), old))["spec"]["priority"] == 9
            resource = "priorityclasses.scheduling.k8s.io"
            assert not await world.refusal(chain, resource, DEFAULT[2])
            await world.add(*DEFAULT)
            message = (
                'priorityclasses.scheduling.k8s.io "less" is forbidden: PriorityClass usual is already marked as '
                "default. Only one default can exist"
            )
            assert await world.refusal(chain, resource, LESS[2]) == message
            assert not await world.refusal(chain, resource, DEFAULT[2], DEFAULT[2])

    run(test())


# -- tolerations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, [NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists"}], [{"operator": "Exists"}]),
        ([{**NOT_READY, "tolerationSeconds": 1}], [{**NOT_READY, "tolerationSeconds": 1}, UNREACHABLE]),
        ([{**NOT_READY, "effect": "NoSchedule"}], [{**NOT_READY, "effect": "NoSchedule"}, NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists", "effect": "NoSchedule"}],
         [{"operator": "Exists", "effect": "NoSchedule"}, NOT_READY, UNREACHABLE]),
    ],
)  # fmt: skip
def test_default_toleration_seconds(given: list[Object] | None, expected: list[Object]) -> None:
    spec = spec_after("DefaultTolerationSeconds", pod(**({"tolerations": given} if given else {})))
    assert spec["tolerations"] == expected


def test_default_toleration_seconds_are_set_by_flags() -> None:
    spec = spec_after("DefaultTolerationSeconds", pod(), flags={"default_not_ready_toleration_seconds": 7})
    assert [each["tolerationSeconds"] for each in spec["tolerations"]] == [7, 300]


def test_extended_resource_toleration() -> None:
    asked = requests({"example.com/b": "1", "example.com/a": "1", "cpu": "1"})
    old = {"key": "example.com/b", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 3}
    spec = spec_after("ExtendedResourceToleration", pod(container=asked, tolerations=[old]))
    wanted = {"operator": "Exists", "effect": "NoSchedule"}
    assert spec["tolerations"] == [{"key": "example.com/b", **wanted}, {"key": "example.com/a", **wanted}]


DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
PERMITTED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"


@pytest.mark.parametrize(
    ("annotations", "given", "expected"),
    [
        ({}, pod(), [{"key": "cluster", "operator": "Exists"}]),
        ({DEFAULTS: ""}, pod(), None),
        ({DEFAULTS: '[{"key":"k","operator":"Exists"}]'}, pod(), [{"key": "k", "operator": "Exists"}]),
        ({DEFAULTS: ""}, pod(container=requests({"cpu": "1"})), [PRESSURE]),
    ],
)
def test_pod_toleration_restriction(annotations: dict[str, str], given: Object, expected: Any) -> None:
    objects = ("", "namespaces", namespace(annotations=annotations))
    configuration = {"default": [{"key": "cluster", "operator": "Exists"}]}
    spec = spec_after("PodTolerationRestriction", given, objects, PodTolerationRestriction=configuration)
    assert spec.get("tolerations") == expected


@pytest.mark.parametrize(
    ("annotations", "configuration", "message"),
    [
        ({PERMITTED: '[{"key":"k","operator":"Exists"}]'}, None, "conflict with its namespace whitelist"),
        ({}, {"whitelist": [{"key": "k", "operator": "Exists"}]}, "conflict with its cluster whitelist"),
        ({PERMITTED: "["}, None, "unexpected end of data"),
        ({PERMITTED: "[1]"}, None, "is no list of tolerations"),
        ({PERMITTED: ""}, {"whitelist": [{"key": "k", "operator": "Exists"}]}, ""),
        ({PERMITTED: '[{"operator":"Exists"}]'}, None, ""),
    ],
)
def test_pod_toleration_restriction_refuses(annotations: Any, configuration: Any, message: str) -> None:
    given = pod(tolerations=[{"key": "z", "operator": "Exists"}])
    objects = ("", "namespaces", namespace(annotations=annotations))
    found = refusal("PodTolerationRestriction", given, objects, configuration=configuration)
    assert message in found and bool(found) == bool(message)


# -- node selectors and topology -------------------------------------------------------------------------

SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
SELECTORS = {
    "podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "zone=a", "one": "zone=a,disk=ssd"}
}


@pytest.mark.parametrize(
    ("annotations", "given", "expected"),
    [
        ({}, {}, {"zone": "a"}),
        ({}, {"disk": "ssd"}, {"zone": "a", "disk": "ssd"}),
        ({SELECTOR: "disk=ssd"}, {}, {"disk": "ssd"}),
        ({SELECTOR: "disk = ssd , zone=a"}, {}, {"disk": "ssd", "zone": "a"}),
    ],
)
def test_pod_node_selector(annotations: Any, given: Object, expected: Object) -> None:
    objects = ("", "namespaces", namespace(annotations=annotations))
    spec = spec_after("PodNodeSelector", pod(nodeSelector=given), objects, PodNodeSelector=SELECTORS)
    assert spec["nodeSelector"] == expected


@pytest.mark.parametrize(
    ("annotations", "given", "message"),
    [
        (
            {},
            {"zone": "b"},
            FORBIDDEN + "pod node label selector conflicts with its namespace node label selector",
        ),
        ({}, {"x": "y"}, FORBIDDEN + "pod node label selector labels conflict with its namespace whitelist"),
        ({SELECTOR: "zone"}, {}, "invalid selector: [zone]"),
        ({SELECTOR: "a b=c"}, {}, "invalid selector: [a b c]: name part must consist of"),
    ],
)
def test_pod_node_selector_refuses(annotations: Any, given: Object, message: str) -> None:
    objects = ("", "namespaces", namespace(annotations=annotations))
    found = refusal("PodNodeSelector", pod(nodeSelector=given), objects, configuration=SELECTORS)
    assert found.startswith(message)


def test_hard_anti_affinity_is_for_hosts_alone() -> None:
    def given(key: str) -> Object:
        terms = [{"topologyKey": key, "labelSelector": {}}]
        return pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})

    plugin = "LimitPodHardAntiAffinityTopology"
    assert not refusal(plugin, given("kubernetes.io/hostname")) and not refusal(plugin, pod())
    assert refusal(plugin, given("zone")) == (
        FORBIDDEN + "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key "
        "kubernetes.io/hostname is allowed"
    )


def test_pods_get_the_topology_of_their_node() -> None:
    zone = {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"}

    async def test() -> None:
        async with World() as world:
            await world.add("", "nodes", {"metadata": {"name": "n", "labels": {**zone, "x": "y"}}})
            chain = world.chain("PodTopologyLabels")
            made = await world.admit(chain, "pods", pod(nodeName="n", metadata={"labels": {"a": "b"}}))
            assert made["metadata"]["labels"] == {"a": "b", **zone}
            assert "labels" not in (await world.admit(chain, "pods", pod(nodeName="gone")))["metadata"]
            binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
            bound = await world.admit(chain, "pods", binding, subresource="binding")
            assert bound["metadata"]["labels"] == zone
            binding["target"] = {"kind": "Other", "name": "n"}
            assert (
                "labels" not in (await world.admit(chain, "pods", binding, subresource="binding"))["metadata"]
            )

    run(test())


# -- RuntimeClass ----------------------------------------------------------------------------------------

CLASS = ("node.k8s.io", "runtimeclasses", {
    "metadata": {"name": "rc"}, "handler": "h", "overhead": {"podFixed": {"cpu": "100m"}},
    "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}]},
})  # fmt: skip
PLAIN = ("node.k8s.io", "runtimeclasses", {"metadata": {"name": "plain"}, "handler": "h"})


def test_runtime_class() -> None:
    tolerations = [{"key": "k", "operator": "Equal", "value": "v"}]
    given = pod(
        runtimeClassName="rc", overhead={"cpu": "0.1"}, nodeSelector={"x": "y"}, tolerations=tolerations
    )
    spec = spec_after("RuntimeClass", given, CLASS)
    assert spec["overhead"] == {"cpu": "100m"} and spec["nodeSelector"] == {"x": "y", "a": "b"}
    assert spec["tolerations"] == [{"key": "k", "operator": "Exists"}]
    assert (
        spec_after("RuntimeClass", pod(runtimeClassName="plain"), PLAIN)
        == pod(runtimeClassName="plain")["spec"]
    )


MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
WITHOUT = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"runtimeClassName": "nope"}, 'pod rejected: RuntimeClass "nope" not found'),
        ({"runtimeClassName": "rc", "overhead": {"cpu": "1"}}, MISMATCH),
        ({"overhead": {"cpu": "1"}}, WITHOUT),
        ({"runtimeClassName": "plain", "overhead": {"cpu": "1"}}, WITHOUT),
        (
            {"runtimeClassName": "rc", "nodeSelector": {"a": "c"}},
            "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c",
        ),
    ],
)
def test_runtime_class_refuses(given: Object, message: str) -> None:
    assert refusal("RuntimeClass", pod(**given), CLASS, PLAIN) == FORBIDDEN + message


# -- AlwaysPullImages ------------------------------------------------------------------------------------


def test_always_pull_images() -> None:
    volumes = [
        {"name": "v", "image": {"reference": "r", "pullPolicy": "Never"}},
        {"name": "w", "emptyDir": {}},
    ]
    given = pod(
        container={"imagePullPolicy": "Never"}, initContainers=[{"name": "i", "image": "i"}], volumes=volumes
    )
    spec = spec_after("AlwaysPullImages", given)
    assert (
        spec["containers"][0]["imagePullPolicy"] == spec["initContainers"][0]["imagePullPolicy"] == "Always"
    )
    assert spec["volumes"][0]["image"]["pullPolicy"] == "Always"

    async def test() -> None:
        async with World() as world:
            chain = world.chain("AlwaysPullImages")
            old = pod(container={"imagePullPolicy": "Never"})
            assert (await world.admit(chain, "pods", old, old))["spec"] == old["spec"]
            new = pod(container={"imagePullPolicy": "Never", "image": "new"})
            changed = await world.admit(chain, "pods", new, old)
            assert changed["spec"]["containers"][0]["imagePullPolicy"] == "Always"

    run(test())


# -- resizing --------------------------------------------------------------------------------------------

GB = {
    "allocatable": {"cpu": "2", "memory": "1Gi"},
    "declaredFeatures": ["InPlacePodLevelResourcesVerticalScaling"],
}


def resized(generation: int = 2, **more: Any) -> Object:
    return pod(nodeName="n", metadata={"generation": generation}, **more)


@pytest.mark.parametrize(
    ("labels", "new", "message"),
    [
        ({}, resized(container=requests({"cpu": "2", "memory": "1Gi"})), ""),
        ({}, resized(1, container=requests({"cpu": "9"})), ""),
        ({}, pod(metadata={"generation": 2}, container=requests({"cpu": "9"})), ""),
        (
            {},
            resized(container=requests({"cpu": "2100m", "memory": "2Gi"})),
            "node didn't have enough allocatable resources: cpu, requested: 2100, allocatable: 2000; memory, "
            "requested: 2147483648, allocatable: 1073741824",
        ),
        (
            {"kubernetes.io/os": "windows"},
            resized(),
            'pod resize is only supported on linux nodes, node "n" is "windows"',
        ),
    ],
)
def test_pod_resize_validator(labels: dict[str, str], new: Object, message: str) -> None:
    node = ("", "nodes", {"metadata": {"name": "n", "labels": labels}, "status": GB})
    found = refusal("PodResizeValidator", new, node, old=resized(1), subresource="resize")
    assert found == (FORBIDDEN + message if message else "")
    if not new["spec"].get("nodeName") or new["metadata"]["generation"] == 1:
        return
    assert (
        refusal("PodResizeValidator", new, old=resized(1), subresource="resize")
        == FORBIDDEN + 'node "n" not found'
    )


def _memory(size: str) -> Object:
    return {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": size}}]}


def _init(cpu: str, **more: Any) -> Object:
    return {"initContainers": [{"name": "i", "image": "i", **requests({"cpu": cpu}), **more}]}


@pytest.mark.parametrize(
    ("new", "old", "missing"),
    [
        ({}, {}, ""),
        ({"resources": {"requests": {"cpu": "1"}}}, {}, ""),
        (_memory("1Gi"), _memory("1024Mi"), ""),
        (_memory("1Gi"), _memory("2Gi"), "InPlacePodVerticalScalingMemoryBackedVolumes"),
        (_init("1"), _init("2"), "InPlacePodVerticalScalingInitContainers"),
        (_init("1", restartPolicy="Always"), _init("2", restartPolicy="Always"), ""),
        (
            {**_init("1"), **_memory("1Gi")},
            {**_init("2"), **_memory("2Gi")},
            "InPlacePodVerticalScalingInitContainers, InPlacePodVerticalScalingMemoryBackedVolumes",
        ),
    ],
)
def test_node_declared_feature_validator(new: Object, old: Object, missing: str) -> None:
    node = ("", "nodes", {"metadata": {"name": "n"}, "status": GB})
    found = refusal("NodeDeclaredFeatureValidator", resized(**new), node, old=resized(1, **old))
    text = f'pod update requires features {missing} which are not available on node "n"'
    assert found == (FORBIDDEN + text if missing else "")
