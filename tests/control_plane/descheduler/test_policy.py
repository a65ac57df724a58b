"""DeschedulerPolicy: what is read, what is refused, and in which words."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.descheduler.plugin import BALANCE, FILTER, PRE_EVICTION_FILTER
from pybernetes.control_plane.descheduler.policy import PolicyError, load, parse
from pybernetes.control_plane.descheduler.profile import Profile
from pybernetes.control_plane.descheduler.registry import known_plugins
from tests.control_plane.descheduler.worlds import cluster, evictions, node, pod, policy

WHOLE = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
nodeSelector: "node=node1"
maxNoOfPodsToEvictPerNode: 40
maxNoOfPodsToEvictPerNamespace: 100
maxNoOfPodsToEvictTotal: 500
gracePeriodSeconds: 60
evictionFailureEventNotification: true
metricsProviders:
- source: KubernetesMetrics
profiles:
- name: ProfileName
  pluginConfig:
  - name: DefaultEvictor
    args: {nodeFit: true, minReplicas: 2, minPodAge: 1m30s, priorityThreshold: {value: 10000}}
  - name: LowNodeUtilization
    args:
      thresholds: {cpu: 20, memory: 20, pods: 20}
      targetThresholds: {cpu: 50, memory: 50.5, pods: 50}
  - name: RemoveFailedPods
  plugins:
    balance:
      enabled: [LowNodeUtilization]
    deschedule:
      enabled: [RemoveFailedPods]
"""


def test_the_plugins() -> None:
    assert list(known_plugins()) == [
        "DefaultEvictor",
        "HighNodeUtilization",
        "LowNodeUtilization",
        "PodLifeTime",
        "RemoveDuplicates",
        "RemoveFailedPods",
        "RemovePodsHavingTooManyRestarts",
        "RemovePodsViolatingInterPodAntiAffinity",
        "RemovePodsViolatingNodeAffinity",
        "RemovePodsViolatingNodeTaints",
        "RemovePodsViolatingTopologySpreadConstraint",
    ]


def test_a_whole_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(WHOLE)
    whole = load(path)
    assert (whole.most_per_node, whole.most_per_namespace, whole.most_in_total) == (40, 100, 500)
    assert (whole.node_selector, whole.grace_period_seconds) == ("node=node1", 60)
    assert whole.reports_failures and whole.collects_metrics and whole.prometheus is None
    [profile] = whole.profiles
    assert profile.plugins[FILTER] == profile.plugins[PRE_EVICTION_FILTER] == ["DefaultEvictor"]
    assert profile.arguments["DefaultEvictor"]["minPodAge"] == 90
    assert profile.arguments["RemoveFailedPods"] == {"minPodLifetimeSeconds": 3600}
    assert [plugin.name for plugin in Profile(profile).strategies[BALANCE]] == ["LowNodeUtilization"]


def test_the_evictor_is_always_there() -> None:
    [profile] = parse(policy_of({"name": "p"})).profiles
    assert profile.plugins[FILTER] == ["DefaultEvictor"] and profile.arguments == {"DefaultEvictor": {}}


def policy_of(*profiles: Any, **more: Any) -> Any:
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": list(profiles),
        **more,
    }


def with_arguments(name: str, arguments: Any) -> Any:
    return policy_of({"name": "p", "pluginConfig": [{"name": name, "args": arguments}]})


DECODING = 'failed decoding descheduler\'s policy config "policy": '
BOTH = {"include": ["a"], "exclude": ["b"]}
BAD = {"matchExpressions": [{"key": "a", "operator": "Is"}]}
EMPTY = {"matchExpressions": [{"key": "a", "operator": "In"}]}
ONLY_ONE = "in profile p: only one of Include/Exclude namespaces can be set"
LEVEL = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], DECODING + "couldn't get version/kind; json parse error: json: cannot unmarshal into Go value"),
        ({"kind": "DeschedulerPolicy"}, DECODING + "Object 'apiVersion' is missing in '{\"kind\":\"DeschedulerPolicy\"}'"),
        ({"kind": "DeschedulerPolicy", "apiVersion": "descheduler/v1alpha1"},
         DECODING + 'no kind "DeschedulerPolicy" is registered for version "descheduler/v1alpha1"'),
        (policy_of(strategies={}), DECODING + 'strict decoding error: unknown field "strategies"'),
        (policy_of({"name": "p", "plugins": {"balance": {"on": []}}}),
         DECODING + 'strict decoding error: unknown field "profiles[0].plugins.balance.on"'),
        (policy_of({"name": 3}),
         DECODING + "json: cannot unmarshal number into Go struct field DeschedulerProfile.profiles.name of type string"),
        (policy_of(maxNoOfPodsToEvictPerNode=-1),
         DECODING + "json: cannot unmarshal number -1 into Go struct field "
         "DeschedulerPolicy.maxNoOfPodsToEvictPerNode of type uint"),
        (policy_of(maxNoOfPodsToEvictTotal=True),
         DECODING + "json: cannot unmarshal bool into Go struct field "
         "DeschedulerPolicy.maxNoOfPodsToEvictTotal of type uint"),
        (with_arguments("PodLifeTime", {"maxLife": 1}),
         DECODING + 'strict decoding error: unknown field "maxLife"'),
        (with_arguments("DefaultEvictor", {"minPodAge": "soon"}), DECODING + 'time: invalid duration "soon"'),
        (with_arguments("Unknown", {}), "in profile p: plugin Unknown in pluginConfig not registered"),
        (with_arguments("RemoveDuplicates", {"namespaces": BOTH}), ONLY_ONE),
        (with_arguments("RemoveFailedPods", {"namespaces": BOTH}), ONLY_ONE),
        (with_arguments("RemoveFailedPods", {"labelSelector": BAD}),
         'in profile p: failed to get label selectors from strategy\'s params: "Is" is not a valid label selector operator'),
        (with_arguments("RemoveFailedPods", {"labelSelector": EMPTY}),
         "in profile p: failed to get label selectors from strategy's params: values: Invalid value: []: "
         "for 'in', 'notin' operators, values set can't be empty"),
        (with_arguments("RemovePodsViolatingInterPodAntiAffinity", {"namespaces": BOTH}), ONLY_ONE),
        (with_arguments("RemovePodsViolatingNodeAffinity", {}), "in profile p: nodeAffinityType needs to be set"),
        (with_arguments("RemovePodsViolatingNodeTaints", {"includedTaints": ["a"], "excludedTaints": ["b"]}),
         "in profile p: either includedTaints or excludedTaints can be set, but not both"),
        (with_arguments("RemovePodsViolatingTopologySpreadConstraint", {"constraints": ["Maybe"]}),
         "in profile p: constraint Maybe is not one of map[DoNotSchedule:{} ScheduleAnyway:{}]"),
        (with_arguments("RemovePodsHavingTooManyRestarts", {"states": ["Lost"]}),
         "in profile p: [invalid PodsHavingTooManyRestarts threshold, "
         "states must be one of [CrashLoopBackOff Running]]"),
        (with_arguments("PodLifeTime", {}),
         "in profile p: at least one filtering criterion must be specified (maxPodLifeTimeSeconds, states, "
         "conditions, or exitCodes)"),
        (with_arguments("PodLifeTime", {"states": ["Running"], "conditions": [{}], "ownerKinds": BOTH}),
         "in profile p: [only one of Include/Exclude ownerKinds can be set, conditions[0]: at least one of type, status, "
         "reason, or minTimeSinceLastTransitionSeconds must be set]"),
        (with_arguments("LowNodeUtilization", {}),
         "in profile p: thresholds config is not valid: no resource threshold is configured"),
        (with_arguments("LowNodeUtilization", {**LEVEL, "targetThresholds": {"cpu": 101}}),
         "in profile p: targetThresholds config is not valid: cpu threshold not in [0, 100] range"),
        (with_arguments("LowNodeUtilization", {**LEVEL, "targetThresholds": {"pods": 50}}),
         "in profile p: thresholds and targetThresholds configured different resources"),
        (with_arguments("LowNodeUtilization", {**LEVEL, "targetThresholds": {"cpu": 10}}),
         "in profile p: thresholds' cpu percentage is greater than targetThresholds'"),
        (with_arguments("LowNodeUtilization", {**LEVEL, "evictableNamespaces": {"include": ["a"]}}),
         "in profile p: only Exclude namespaces can be set, inclusion is not supported"),
        (with_arguments("LowNodeUtilization", {**LEVEL, "metricsUtilization": {"source": "Prometheus"}}),
         'in profile p: prometheus query is required when metrics source is set to "Prometheus"'),
        (with_arguments("LowNodeUtilization",
                        {**LEVEL, "metricsUtilization": {"source": "KubernetesMetrics", "metricsServer": True}}),
         'in profile p: it is not allowed to set both "KubernetesMetrics" source and metricsServer'),
        (with_arguments("LowNodeUtilization", {**LEVEL, "metricsUtilization": {"source": "Prometheus",
                                                                              "prometheus": {"query": "q"}}}),
         'in profile p: thresholds are expected to specify a single instance of "MetricResource" resource, got [cpu] '
         "instead"),
        (with_arguments("HighNodeUtilization", {"thresholds": {"cpu": -1}}),
         "in profile p: cpu threshold not in [0, 100] range"),
        (with_arguments("HighNodeUtilization", {"thresholds": {"cpu": 1}, "evictionModes": ["All"]}),
         "in profile p: invalid eviction mode All"),
        (with_arguments("DefaultEvictor", {"priorityThreshold": {"value": 1, "name": "n"}}),
         "in profile p: priority threshold misconfigured, only one of priorityThreshold fields can be set"),
        (with_arguments("DefaultEvictor", {"labelSelector": BAD, "nodeSelector": "a in"}),
         'in profile p: [could not get selector from labelSelector: "Is" is not a valid label selector operator, '
         "could not parse nodeSelector: unable to parse requirement: found '' expected: '(']"),
        (with_arguments("DefaultEvictor", {"noEvictionPolicy": "Never"}),
         'in profile p: noEvictionPolicy accepts only ["Preferred" "Mandatory"] values'),
        (with_arguments("DefaultEvictor", {"ignorePvcPods": True, "podProtections": {"extraEnabled": ["PodsWithPVC"]}}),
         "in profile p: cannot use Deprecated fields alongside PodProtections.ExtraEnabled or "
         "PodProtections.DefaultDisabled"),
        (with_arguments("DefaultEvictor", {"podProtections": {"extraEnabled": ["DaemonSetPods"]}}),
         'in profile p: invalid pod protection policy in ExtraEnabled: "DaemonSetPods". Valid options are: '
         "[PodsWithPVC PodsWithoutPDB PodsWithResourceClaims]"),
        (with_arguments("DefaultEvictor", {"podProtections": {"defaultDisabled": ["DaemonSetPods", "DaemonSetPods"]}}),
         "in profile p: PodProtections.DefaultDisabled contains duplicate entries"),
        (policy_of(metricsProviders=[{"source": "KubernetesMetrics"}, {"source": "KubernetesMetrics"}]),
         'metric provider "KubernetesMetrics" is already configured, each source can be configured only once'),
        (policy_of(metricsProviders=[{"source": "KubernetesMetrics"}], metricsCollector={"enabled": True}),
         "it is not allowed to combine metrics provider when metrics collector is enabled"),
        (policy_of(metricsProviders=[{"source": "Prometheus"}]),
         "prometheus configuration is required when prometheus source is enabled"),
        (policy_of(metricsProviders=[{"source": "Prometheus", "prometheus": {"url": "http://a:b"}}]),
         'error parsing prometheus URL: parse "http://a:b": Port could not be cast to integer value as \'b\''),
        (policy_of(metricsProviders=[{"source": "Prometheus", "prometheus": {"url": "file:///etc/passwd"}}]),
         'error parsing prometheus URL: parse "file:///etc/passwd": not a URL of http or https'),
        (policy_of(metricsProviders=[{"source": "Prometheus", "prometheus": {"authToken": {}}}]),
         "[prometheus URL is required when prometheus is enabled, "
         "prometheus authToken secret is expected to be set when authToken field is]"),
    ],
)  # fmt: skip
def test_what_cannot_be(value: Any, message: str) -> None:
    with pytest.raises(PolicyError) as raised:
        parse(value)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"plugins": {"balance": {"enabled": ["PodLifeTime", "Nobody"]}}},
         'unable to create "p" profile: profile "p" configures balance extension point of non-existing plugins: '
         "map[Nobody:{} PodLifeTime:{}]"),
        ({"plugins": {"balance": {"enabled": ["RemoveDuplicates"]}}},
         'unable to create "p" profile: unable to build RemoveDuplicates plugin: '
         'unable to find "RemoveDuplicates" plugin config'),
    ],
)  # fmt: skip
def test_profiles_that_cannot_be(profile: Any, message: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Profile(parse(policy_of({"name": "p", **profile})).profiles[0])
    assert str(raised.value) == message


def test_files(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="failed to read policy config file"):
        load(tmp_path / "none")
    (tmp_path / "bad").write_text("a: [")
    with pytest.raises(PolicyError, match="failed decoding descheduler's policy config"):
        load(tmp_path / "bad")


@pytest.mark.parametrize(
    ("word", "meaning"),
    [("y", True), ("Yes", True), ("on", True), ("n", False), ("no", False), ("OFF", False), ("~", False)],
)
def test_words_of_files_mean_what_they_mean_upstream(word: str, meaning: bool, tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(WHOLE.replace("Notification: true", f"Notification: {word}"))
    assert load(path).reports_failures is meaning
    path.write_text(WHOLE.replace("Notification: true", f"Notification: '{word}'"))
    with pytest.raises(PolicyError, match="cannot unmarshal string into Go struct field"):
        load(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
PLACES = [
    (), ("profiles",), ("profiles", 0), ("profiles", 0, "name"), ("profiles", 0, "plugins"),
    ("profiles", 0, "plugins", "balance", "enabled"), ("profiles", 0, "pluginConfig"), ("profiles", 0, "pluginConfig", 0),
    ("nodeSelector",), ("maxNoOfPodsToEvictTotal",), ("metricsProviders",), ("metricsProviders", 0, "source"), ("kind",),
]  # fmt: skip
NEEDED: dict[str, Any] = {
    "PodLifeTime": {"maxPodLifeTimeSeconds": 60},
    "LowNodeUtilization": {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}},
    "HighNodeUtilization": {"thresholds": {"cpu": 20}},
    "RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 1},
    "RemovePodsViolatingNodeAffinity": {
        "nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]
    },
}
GOOD = yaml.safe_load(WHOLE)
ARGUMENTS = [
    (name, argument)
    for name, plugin in known_plugins().items()
    for argument in ("", *plugin.arguments_type.fields)
]


@given(st.sampled_from(PLACES), VALUES)
def test_anything_anywhere_is_taken_or_refused(place: tuple[Any, ...], value: Any) -> None:
    whole = copy.deepcopy(GOOD)
    at = whole
    for part in place[:-1]:
        at = at[part]
    if place:
        at[place[-1]] = value
    try:
        for profile in parse(whole if place else value).profiles:
            Profile(profile)
    except PolicyError:
        pass


@given(st.sampled_from(ARGUMENTS), VALUES)
def test_any_arguments_are_refused_or_work(place: tuple[str, str], value: Any) -> None:
    name, argument = place
    given_ = {**NEEDED.get(name, {}), argument: value} if argument else value
    try:
        if name == "DefaultEvictor":
            rules = policy({"PodLifeTime": NEEDED["PodLifeTime"]}, given_)
        else:
            rules = policy({name: given_})
    except PolicyError as error:
        assert str(error)
        return
    evictions(cluster([node("n1"), node("n2")], [pod("a"), pod("b", "n2"), pod("c")]), rules)
