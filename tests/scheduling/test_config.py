"""KubeSchedulerConfiguration: defaults, plugins on and off, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.scheduling import config
from pybernetes.scheduling.config import ConfigurationError, ProfileConfig, parse, profile_config
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.plugins.default_preemption import DefaultPreemption
from pybernetes.scheduling.profile import Profile, nodes_to_find
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.snapshot import Snapshot

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def profile(value: dict[str, Any] | None = None) -> Profile:
    made: ProfileConfig = profile_config(value or {}, 0)
    return Profile(made, Handle(Snapshot(Resources()), Listers()))


def test_defaults() -> None:
    made = profile()
    assert made.names["filter"] == [
        "NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
        "VolumeRestrictions", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
    ]  # fmt: skip
    assert {weighted.plugin.name: weighted.weight for weighted in made.scores} == {
        "TaintToleration": 3, "NodeAffinity": 2, "NodeResourcesFit": 1, "VolumeBinding": 1, "PodTopologySpread": 2,
        "InterPodAffinity": 2, "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1,
    }  # fmt: skip
    (preemption,) = made.post_filters
    assert isinstance(preemption, DefaultPreemption)
    assert preemption.candidates(5000) == 500 and preemption.candidates(50) == 50


def test_plugins_are_turned_on_and_off_and_weighted() -> None:
    made = profile(
        {
            "plugins": {
                "multiPoint": {
                    "disabled": [{"name": "ImageLocality"}],
                    "enabled": [{"name": "TaintToleration", "weight": 7}],
                },
                "score": {
                    "disabled": [{"name": "InterPodAffinity"}],
                    "enabled": [{"name": "NodeAffinity", "weight": 50}, {"name": "NodeResourcesFit"}],
                },
                "postFilter": {"disabled": [{"name": "*"}]},
                "filter": {"disabled": [{"name": "NodeVolumeLimits"}, {"name": "NodePorts"}]},
            }
        }
    )
    # What is configured for a point comes first there, with its own weight if it says one.
    assert [(weighted.plugin.name, weighted.weight) for weighted in made.scores] == [
        ("NodeAffinity", 50), ("NodeResourcesFit", 1), ("TaintToleration", 7), ("VolumeBinding", 1),
        ("PodTopologySpread", 2), ("NodeResourcesBalancedAllocation", 1),
    ]  # fmt: skip
    assert made.post_filters == [] and "NodePorts" not in made.names["filter"]
    assert "InterPodAffinity" in made.names["filter"]


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        ({"multiPoint": {"enabled": [{"name": "Odd"}]}}, 'profile "default-scheduler": plugin "Odd" does not exist'),
        ({"filter": {"enabled": [{"name": "DynamicResources"}]}},
         'profile "default-scheduler": plugin "DynamicResources" is not supported yet'),
        ({"score": {"enabled": [{"name": "NodePorts"}]}}, 'plugin "NodePorts" does not extend Score plugin'),
        ({"bind": {"disabled": [{"name": "*"}]}},
         'at least one bind plugin is needed for profile with scheduler name "default-scheduler"'),
        ({"queueSort": {"disabled": [{"name": "*"}]}},
         'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0'),
    ],
)  # fmt: skip
def test_profiles_that_cannot_be(plugins: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        profile({"plugins": plugins})
    assert str(error.value) == message


def args(plugin: str, **arguments: Any) -> dict[str, Any]:
    return {"profiles": [{"pluginConfig": [{"name": plugin, "args": arguments}]}]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"parallelism": 0}, "parallelism: Invalid value: 0: should be an integer value greater than zero"),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
        ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"),
        ({"podMaxBackoffSeconds": 0},
         "podMaxBackoffSeconds: Invalid value: 0: must be greater than or equal to PodInitialBackoffSeconds"),
        ({"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]},
         'profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName"'),
        ({"profiles": [{"schedulerName": "a"}, {}]}, "profiles[1].schedulerName: Required value"),
        ({"leaderElection": {"resourceLock": "endpoints"}},
         'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"'),
        ({"profile": []}, 'profile: Invalid value: "profile": unknown field'),
        (args("InterPodAffinity", hardPodAffinityWeight=101),
         "profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"),
        (args("NodeResourcesFit", scoringStrategy={"type": "Odd"}),
         'profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: "Odd": supported values: '
         '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'),
        (args("NodeResourcesFit", ignoredResourceGroups=["a/b"]),
         "profiles[0].pluginConfig[0].args.ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name "
         "can't contain '/'"),
        (args("PodTopologySpread", defaultConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]),
         'profiles[0].pluginConfig[0].args.defaultingType: Invalid value: "System": when .defaultConstraints are not empty'),
        (args("DefaultPreemption", minCandidateNodesPercentage=-1),
         "profiles[0].pluginConfig[0].args.minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]"),
        ({"extenders": [{"urlPrefix": "http://x"}]}, "extenders: extenders are not supported yet"),
    ],
)  # fmt: skip
def test_what_is_refused(value: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse({**HEAD, **value}, "f")
    assert f"f: {message}" in str(error.value).splitlines()


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({**HEAD, "leaderElection": {"leaderElect": False, "leaseDuration": "30s"},
                                    "clientConnection": {"kubeconfig": "/etc/k", "qps": 5}}))  # fmt: skip
    loaded = config.load(path)
    assert (loaded.leader_elect, loaded.lease_seconds, loaded.kubeconfig, loaded.qps) == (
        False,
        30.0,
        "/etc/k",
        5,
    )
    for text, message in (
        ("kind: Pod", "Object 'apiVersion' is missing in"),
        (yaml.safe_dump({**HEAD, "parallelism": 1}) + "parallelism: 2\n", "already set"),
        ("{", "error converting YAML to JSON"),
        (
            yaml.safe_dump({**HEAD, "apiVersion": "kubescheduler.config.k8s.io/v1beta3"}),
            "no kind .* is registered for version",
        ),
    ):
        path.write_text(text)
        with pytest.raises(ConfigurationError, match=message):
            config.load(path)
    with pytest.raises(ConfigurationError, match="no such file"):
        config.load(tmp_path / "missing")


@pytest.mark.parametrize(
    ("percentage", "nodes", "count"),
    [(0, 5000, 0), (100, 5000, 0), (50, 60, 0), (10, 5000, 500), (1, 5000, 100)],
)
def test_how_many_nodes_are_enough(percentage: int, nodes: int, count: int) -> None:
    assert nodes_to_find(percentage, nodes) == count


def test_a_plugin_checks_its_own_arguments() -> None:
    value = {
        **HEAD,
        "profiles": [
            {"pluginConfig": [{"name": "DefaultPreemption", "args": {"minCandidateNodesAbsolute": -1}}]}
        ],
    }
    with pytest.raises(ConfigurationError, match=r"not in valid range \[0, inf\)"):
        parse(value)
