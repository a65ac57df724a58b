"""The flags of cluster-autoscaler with upstream's names and defaults; what cannot be is refused by name."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from pybernetes.control_plane.autoscaler.cluster.cluster import Schedulers
from pybernetes.control_plane.autoscaler.cluster.cluster_state import Health
from pybernetes.control_plane.autoscaler.cluster.taint_rules import TaintRules
from pybernetes.control_plane.autoscaler.provider import GroupOptions
from pybernetes.control_plane.autoscaler.scale_down import actuator, drain_rules, scale_down
from pybernetes.control_plane.autoscaler.scale_up import expander
from pybernetes.control_plane.autoscaler.scale_up.balancing import Ratios
from pybernetes.control_plane.autoscaler.scale_up.scale_up import Limits
from pybernetes.lib.flags import LOG_FLAGS, Flag, Repeated, Seconds

PROVIDERS = ("externalgrpc",)
MAIN = (
    Flag("kubeconfig", "", "how to reach the API server"),
    Flag("cloud-provider", "externalgrpc", f"the cloud: {', '.join(PROVIDERS)}"),
    Flag("cloud-config", "", "file that says where the cloud is"),
    Flag("namespace", "kube-system", "namespace of the status and of the priorities"),
    Flag("scan-interval", Seconds(10), "the longest pause while there is something to do"),
    Flag(
        "address",
        ":8085",
        "where metrics and health are served, without TLS as upstream does; empty serves none",
    ),
    Flag("user-agent", "cluster-autoscaler", "how the API server knows this program"),
    Flag("kube-client-qps", 0.0, "limit on calls per second; 0: none"),
    Flag("kube-client-burst", 0, "calls at once beyond that limit"),
    Flag("write-status-configmap", True, "write the status into a ConfigMap"),
    Flag("status-config-map-name", "cluster-autoscaler-status", "name of that ConfigMap"),
    Flag("emit-per-nodegroup-metrics", False, "metrics of each group"),
    Flag("max-inactivity", Seconds(600), "how long a pass may take before this program is no longer healthy"),
    Flag(
        "max-startup-time",
        Seconds(1200),
        "for how long there may be no pass that succeeds, until there was one",
    ),
    Flag("max-failing-time", Seconds(900), "the same for how long all passes may fail"),
    Flag("scheduler-config-file", "", "the scheduler's configuration, if it is not the default"),
)
SCALE_UP = (
    Flag("estimator", "binpacking", "how the need for nodes is told; only binpacking"),
    Flag(
        "expander",
        "least-waste",
        "which group grows: random, most-pods, least-waste, price, priority, or several",
    ),
    Flag("max-nodes-total", 0, "most nodes of the cluster; 0: any number"),
    Flag("cores-total", "0:320000", "least and most cores of the cluster"),
    Flag("memory-total", "0:6400000", "least and most gigabytes of memory of the cluster"),
    Flag("max-nodes-per-scaleup", 1000, "most nodes that one decision adds"),
    Flag("max-nodegroup-binpacking-duration", Seconds(10), "how long one group may be thought about"),
    Flag("max-binpacking-time", Seconds(300), "how long all groups together may be thought about"),
    Flag("max-node-provision-time", Seconds(900), "how long a machine may take to become a node"),
    Flag("max-node-startup-time", Seconds(900), "how long a node may take to become ready"),
    Flag("new-pod-scale-up-delay", Seconds(0), "how old a pod must be to matter"),
    Flag(
        "allowed-scheduler-names",
        (),
        "pods of these schedulers alone matter, separated by commas; none: of all",
    ),
    Flag("bypassed-scheduler-names", (), "schedulers that are not waited for: their pods matter at once"),
    Flag("expendable-pods-priority-cutoff", -10, "pods of lower priority do not matter"),
    Flag("balance-similar-node-groups", False, "share new nodes among groups that are alike"),
    Flag("balancing-ignore-label", Repeated(), "a label in which similar groups may differ"),
    Flag("balancing-label", Repeated(), "a label that alone says which groups are similar"),
    Flag("memory-difference-ratio", 0.015, "how much memory of similar groups may differ"),
    Flag("max-free-difference-ratio", 0.05, "how much free resources of similar groups may differ"),
    Flag("max-allocatable-difference-ratio", 0.05, "how much resources of similar groups may differ"),
    Flag(
        "initial-node-group-backoff-duration", Seconds(300), "how long a group rests after its first failure"
    ),
    Flag("max-node-group-backoff-duration", Seconds(1800), "how long it rests at most"),
    Flag("node-group-backoff-reset-timeout", Seconds(10800), "after how long failures are forgotten"),
    Flag("scale-up-from-zero", True, "add nodes when none is ready"),
    Flag("enforce-node-group-min-size", False, "give groups their minimum"),
    Flag("max-total-unready-percentage", 45.0, "share of unready nodes beyond which nothing is done"),
    Flag("ok-total-unready-count", 3, "unready nodes that are always fine"),
    Flag(
        "startup-taint",
        Repeated(),
        "a taint that new nodes have only while they start: until then they are not ready",
    ),
    Flag("startup-taint-prefix", Repeated(), "how the names of such taints begin"),
    Flag("ignore-taint", Repeated(), "the same, by its older name"),
    Flag("status-taint", Repeated(), "a taint that says nothing about new nodes"),
)
SCALE_DOWN = (
    Flag("scale-down-enabled", True, "remove nodes at all"),
    Flag("scale-down-utilization-threshold", 0.5, "share of requests below which a node may go"),
    Flag("scale-down-gpu-utilization-threshold", 0.5, "told to the cloud; no cloud here has GPUs"),
    Flag("scale-down-unneeded-time", Seconds(600), "how long a node must not be needed"),
    Flag("scale-down-unready-time", Seconds(1200), "the same for a node that is not ready"),
    Flag("scale-down-unready-enabled", True, "remove nodes that are not ready"),
    Flag("scale-down-delay-after-add", Seconds(600), "pause after nodes were added"),
    Flag("scale-down-delay-after-delete", Seconds(0), "pause after a node was removed"),
    Flag("scale-down-delay-after-failure", Seconds(180), "pause after a node could not be removed"),
    Flag("scale-down-delay-type-local", False, "these pauses are of the group alone where it happened"),
    Flag("scale-down-non-empty-candidates-count", 30, "nodes with pods to move that are looked at in a pass"),
    Flag("scale-down-candidates-pool-ratio", 0.1, "of them, share of all nodes that were needed the pass before"),
    Flag("scale-down-candidates-pool-min-count", 50, "the least number that this share stands for"),
    Flag("scale-down-simulation-timeout", Seconds(30), "how long a pass may look for such nodes"),
    Flag("max-scale-down-parallelism", 10, "nodes that are removed at once"),
    Flag("max-drain-parallelism", 1, "of them, nodes with pods to move"),
    Flag("max-graceful-termination-sec", 600, "how long pods may take to end"),
    Flag("max-pod-eviction-time", Seconds(120), "how long an eviction is tried"),
    Flag("node-delete-delay-after-taint", Seconds(5), "pause after a node was closed"),
    Flag("node-deletion-delay-timeout", Seconds(120), "how long a node is kept that others want to be kept by an annotation"),
    Flag("node-deletion-candidate-ttl", Seconds(0), "how old a soft taint may be to be believed after a start; 0: none is"),
    Flag("cordon-node-before-terminating", True, "cordon a node before it goes"),
    Flag("daemonset-eviction-for-empty-nodes", False, "end pods of daemon sets on empty nodes"),
    Flag("daemonset-eviction-for-occupied-nodes", True, "end pods of daemon sets on other nodes"),
    Flag("ignore-daemonsets-utilization", False, "pods of daemon sets do not count as use"),
    Flag("ignore-mirror-pods-utilization", False, "static pods do not count as use"),
    Flag("skip-nodes-with-system-pods", True, "keep nodes with pods of kube-system"),
    Flag("skip-nodes-with-local-storage", True, "keep nodes with pods that have local storage"),
    Flag("skip-nodes-with-custom-controller-pods", True, "keep nodes with pods of unknown controllers"),
    Flag("blocking-system-pod-distruption-timeout", Seconds(3600), "age at which pods of kube-system may be moved"),
    Flag("min-replica-count", 0, "replicas that a controller must have for its pods to be moved"),
    Flag("unremovable-node-recheck-timeout", Seconds(300), "how long a node is left alone that cannot go"),
    Flag("max-bulk-soft-taint-count", 10, "nodes that get or lose the soft taint in a pass; 0: none do"),
    Flag("max-bulk-soft-taint-time", Seconds(3), "how long a pass may take for that"),
)  # fmt: skip
PROVISIONING = (
    Flag("enable-provisioning-requests", False, "find and keep capacity for ProvisioningRequests; their definition must be there"),
    Flag("provisioning-request-initial-backoff-time", Seconds(60), "pause after the first time that there was no capacity"),
    Flag("provisioning-request-max-backoff-time", Seconds(600), "the longest such pause"),
    Flag("provisioning-request-max-backoff-cache-size", 1000, "requests whose pauses are remembered"),
    Flag("check-capacity-batch-processing", False, "look at several requests of check-capacity in a pass"),
    Flag("check-capacity-provisioning-request-max-batch-size", 10, "how many"),
    Flag("check-capacity-provisioning-request-batch-timebox", Seconds(10), "how long a pass may take for them"),
    Flag("check-capacity-processor-instance", "", "look at requests of check-capacity that name this instance, and at no others"),
)  # fmt: skip
# Flags of upstream's command line that mean nothing here, and why.
_LOG = "the log is plain text on stderr, line by line"
IGNORED = {
    **dict.fromkeys(
        ("add-dir-header", "alsologtostderr", "log-backtrace-at", "log-dir", "log-file", "log-file-max-size", "one-output",
         "skip-headers", "skip-log-headers", "stderrthreshold"), _LOG),
    **{name: reason for name, reason in LOG_FLAGS.items() if name != "logging-format"},
    "cluster-name": "no cloud here looks for groups by the name of a cluster",
    "cluster-snapshot-parallelism": "all nodes are looked at together, in columns",
    "debugging-snapshot-enabled": "there is no page with a snapshot",
    "frequent-loops-enabled": "a pass begins when something happened, not by the clock alone",
    "kube-api-content-type": "JSON is spoken with the API server",
    "node-info-cache-expire-time": "templates of nodes follow the nodes",
    "predicate-parallelism": "all nodes are looked at together, in columns",
    "profiling": "its port has no authentication, so no profiles are served there",
    "record-duplicated-events": "events that repeat are one event with a count",
}  # fmt: skip
IGNORED |= {
    **dict.fromkeys(
        ("aws-use-static-instance-list", "bulk-mig-instances-listing-enabled", "clusterapi-cloud-config-authoritative",
         "gce-concurrent-refreshes", "gce-mig-instances-min-refresh-wait-time"), "it is of another cloud"),
    "capacity-buffer-pod-dry-run-enabled": "there are no capacity buffers",
    "fastpath-binpacking-enabled": "pods that are alike are packed together in any case",
    "pod-injection-limit": "no pods are made up",
    "salvo-scale-up-budget": "what others need is looked at in the next pass, which follows at once",
    "scheduler-verbosity": "the scheduler's rules have no log of their own",
}  # fmt: skip
# Flags of upstream's that ask for what is absent, and the only values that are taken.
ABSENT = {
    "capacity-buffer-controller-enabled": "capacity buffers are not supported",
    "capacity-buffer-pod-injection-enabled": "capacity buffers are not supported",
    "capacity-quotas-enabled": "capacity quotas are not supported",
    "drain-priority-config": "pods are evicted together, not by priority",
    "async-node-groups": "node groups are not created by the autoscaler",
    "enable-proactive-scaleup": "pods that do not exist yet are not planned for",
    "enable-csi-node-aware-scheduling": "volume limits of nodes that do not exist are not known",
    "force-ds": "groups that are too small for daemon sets are not left out",
    "force-delete-unregistered-nodes": "groups are kept at their minimum",
    "force-delete-failed-nodes": "groups are kept at their minimum",
    "grpc-expander-url": "expanders outside of this process are not supported",
    "grpc-expander-cert": "expanders outside of this process are not supported",
    "gpu-total": "there are no limits by GPU",
    "kubernetes": "the API server is named by --kubeconfig",
    "nodes": "the cloud has the sizes of its groups",
    "node-group-auto-discovery": "the cloud has its groups",
    "parallel-scale-up": "groups grow one after the other",
    "regional": "no cloud here has regions",
    "scale-from-unschedulable": "cordoned nodes never are templates",
    "node-deletion-batcher-interval": "nodes are deleted one by one",
    "dynamic-node-delete-delay-after-taint-enabled": "the pause after a taint is --node-delete-delay-after-taint",
    "enable-dynamic-resource-allocation": "devices of nodes that do not exist are not known",
    "enable-graceful-degradation": "all pods are looked at",
    "max-node-skip-eval-time-tracker-enabled": "there is no such metric",
    "node-removal-latency-tracking-enabled": "there is no such metric",
    "pending-pods-batching-timeout": "all pods are looked at",
    "salvo-scale-up": "one group grows in a pass, and the next pass follows at once",
    "scaleup-simulation-for-skipped-node-groups-enabled": "groups that cannot grow are left out",
    "feature-gates": "there are no features to turn on",
}


class Settings(NamedTuple):
    """What the flags say, in the parts that need it."""

    options: GroupOptions
    limits: Limits
    ratios: Ratios
    health: Health
    down: scale_down.Rules
    removal: actuator.Settings
    taints: TaintRules
    schedulers: Schedulers


def _range(text: str, flag: str) -> tuple[int, int]:
    least, colon, most = text.partition(":")
    if not colon or not least.isdecimal() or not most.isdecimal() or int(least) > int(most):
        raise ValueError(f"--{flag}: wrong format: {text!r} is no MIN:MAX")
    return int(least), int(most)


def check(options: argparse.Namespace) -> Settings:
    """Return the settings; ValueError, which names the flag, if they cannot be."""
    for name, why in ABSENT.items():
        value = getattr(options, name.replace("-", "_"))
        if value not in (None, "false", ""):
            raise ValueError(f"--{name}: {why}")
    if options.estimator != "binpacking":
        raise ValueError(f"--estimator: unknown estimator: {options.estimator}")
    expander.chain(options.expander)
    if options.balancing_label and options.balancing_ignore_label:
        raise ValueError("--balancing-label cannot be combined with --balancing-ignore-label")
    for name in ("scan_interval", "max_node_provision_time"):
        if getattr(options, name) <= 0:
            raise ValueError(f"--{name.replace('_', '-')}: must be longer than nothing")
    if options.allowed_scheduler_names and (
        missing := set(options.bypassed_scheduler_names) - set(options.allowed_scheduler_names)
    ):
        text = "--bypassed-scheduler-names should be a subset of --allowed-scheduler-names"
        raise ValueError(f"{text}: {', '.join(sorted(missing))} is not there")
    least_cores, most_cores = _range(options.cores_total, "cores-total")
    least_memory, most_memory = _range(options.memory_total, "memory-total")
    return Settings(
        GroupOptions(
            options.scale_down_utilization_threshold, options.scale_down_gpu_utilization_threshold,
            options.scale_down_unneeded_time, options.scale_down_unready_time, options.max_node_provision_time,
            ignores_daemon_sets=options.ignore_daemonsets_utilization,
        ),
        Limits(
            options.max_nodes_total, most_cores, most_memory << 30, options.max_nodes_per_scaleup, least_cores,
            least_memory << 30,
        ),
        Ratios(
            options.memory_difference_ratio, options.max_allocatable_difference_ratio, options.max_free_difference_ratio
        ),
        Health(options.ok_total_unready_count, options.max_total_unready_percentage),
        scale_down.Rules(
            drain_rules.Options(
                options.skip_nodes_with_system_pods, options.skip_nodes_with_local_storage,
                options.skip_nodes_with_custom_controller_pods, options.min_replica_count,
                options.blocking_system_pod_distruption_timeout,
            ),
            options.ignore_daemonsets_utilization, options.ignore_mirror_pods_utilization,
            options.scale_down_unready_enabled, options.unremovable_node_recheck_timeout,
            options.scale_down_non_empty_candidates_count, options.scale_down_candidates_pool_ratio,
            options.scale_down_candidates_pool_min_count, options.scale_down_simulation_timeout,
            least_cores * 1000, least_memory << 30,
        ),
        actuator.Settings(
            options.node_delete_delay_after_taint, options.cordon_node_before_terminating,
            options.max_graceful_termination_sec, options.max_pod_eviction_time,
            options.daemonset_eviction_for_empty_nodes, options.daemonset_eviction_for_occupied_nodes,
            options.max_bulk_soft_taint_count, options.max_bulk_soft_taint_time, options.node_deletion_delay_timeout,
        ),
        TaintRules(
            frozenset((*options.startup_taint, *options.ignore_taint)), tuple(options.startup_taint_prefix),
            frozenset(options.status_taint),
        ),
        Schedulers(frozenset(options.allowed_scheduler_names), frozenset(options.bypassed_scheduler_names)),
    )  # fmt: skip
