"""The flags of kube-controller-manager as the KubeControllerManagerConfiguration that ``/configz`` shows."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.text.durations import show_duration
from pybernetes.lib.flags import Seconds

NAME = "kubecontrollermanager.config.k8s.io"
# Where in the configuration each flag stands.
_PLACES = {
    "Generic": {
        "bind_address": "Address", "secure_port": "Port", "controllers": "Controllers",
        "kube_api_qps": "ClientConnection.qps", "kube_api_burst": "ClientConnection.burst",
        "kube_api_content_type": "ClientConnection.contentType", "kubeconfig": "ClientConnection.kubeconfig",
        "leader_elect": "LeaderElection.leaderElect", "leader_elect_lease_duration": "LeaderElection.leaseDuration",
        "leader_elect_renew_deadline": "LeaderElection.renewDeadline",
        "leader_elect_retry_period": "LeaderElection.retryPeriod",
        "leader_elect_resource_lock": "LeaderElection.resourceLock",
        "leader_elect_resource_name": "LeaderElection.resourceName",
        "leader_elect_resource_namespace": "LeaderElection.resourceNamespace",
        "profiling": "Debugging.enableProfiling", "enable_leader_migration": "LeaderMigrationEnabled",
    },
    "KubeCloudShared": {
        "use_service_account_credentials": "UseServiceAccountCredentials", "cluster_name": "ClusterName",
        "cluster_cidr": "ClusterCIDR", "allocate_node_cidrs": "AllocateNodeCIDRs",
        "cidr_allocator_type": "CIDRAllocatorType", "node_monitor_period": "NodeMonitorPeriod",
        "cloud_provider": "CloudProvider.Name", "cloud_config": "CloudProvider.CloudConfigFile",
    },
    "CSRSigningController": {
        "cluster_signing_cert_file": "ClusterSigningCertFile", "cluster_signing_key_file": "ClusterSigningKeyFile",
        "cluster_signing_kubelet_serving_cert_file": "KubeletServingSignerConfiguration.CertFile",
        "cluster_signing_kubelet_serving_key_file": "KubeletServingSignerConfiguration.KeyFile",
        "cluster_signing_kubelet_client_cert_file": "KubeletClientSignerConfiguration.CertFile",
        "cluster_signing_kubelet_client_key_file": "KubeletClientSignerConfiguration.KeyFile",
        "cluster_signing_kube_apiserver_client_cert_file": "KubeAPIServerClientSignerConfiguration.CertFile",
        "cluster_signing_kube_apiserver_client_key_file": "KubeAPIServerClientSignerConfiguration.KeyFile",
        "cluster_signing_legacy_unknown_cert_file": "LegacyUnknownSignerConfiguration.CertFile",
        "cluster_signing_legacy_unknown_key_file": "LegacyUnknownSignerConfiguration.KeyFile",
        "cluster_signing_duration": "ClusterSigningDuration",
    },
    "CronJobController": {"concurrent_cron_job_syncs": "ConcurrentCronJobSyncs"},
    "DaemonSetController": {"concurrent_daemonset_syncs": "ConcurrentDaemonSetSyncs"},
    "DeploymentController": {"concurrent_deployment_syncs": "ConcurrentDeploymentSyncs"},
    "DisruptionController": {"concurrent_disruption_syncs": "ConcurrentDisruptionSyncs"},
    "EndpointController": {
        "concurrent_endpoint_syncs": "ConcurrentEndpointSyncs",
        "endpoint_updates_batch_period": "EndpointUpdatesBatchPeriod",
    },
    "EndpointSliceController": {
        "concurrent_service_endpoint_syncs": "ConcurrentServiceEndpointSyncs",
        "max_endpoints_per_slice": "MaxEndpointsPerSlice",
        "endpointslice_updates_batch_period": "EndpointUpdatesBatchPeriod",
    },
    "EndpointSliceMirroringController": {
        "mirroring_concurrent_service_endpoint_syncs": "MirroringConcurrentServiceEndpointSyncs",
        "mirroring_max_endpoints_per_subset": "MirroringMaxEndpointsPerSubset",
        "mirroring_endpointslice_updates_batch_period": "MirroringEndpointUpdatesBatchPeriod",
    },
    "EphemeralVolumeController": {"concurrent_ephemeralvolume_syncs": "ConcurrentEphemeralVolumeSyncs"},
    "GarbageCollectorController": {
        "enable_garbage_collector": "EnableGarbageCollector", "concurrent_gc_syncs": "ConcurrentGCSyncs",
    },
    "HPAController": {
        "concurrent_horizontal_pod_autoscaler_syncs": "ConcurrentHorizontalPodAutoscalerSyncs",
        "horizontal_pod_autoscaler_sync_period": "HorizontalPodAutoscalerSyncPeriod",
        "horizontal_pod_autoscaler_downscale_stabilization": "HorizontalPodAutoscalerDownscaleStabilizationWindow",
        "horizontal_pod_autoscaler_tolerance": "HorizontalPodAutoscalerTolerance",
        "horizontal_pod_autoscaler_cpu_initialization_period": "HorizontalPodAutoscalerCPUInitializationPeriod",
        "horizontal_pod_autoscaler_initial_readiness_delay": "HorizontalPodAutoscalerInitialReadinessDelay",
    },
    "JobController": {"concurrent_job_syncs": "ConcurrentJobSyncs"},
    "LegacySATokenCleaner": {"legacy_service_account_token_clean_up_period": "CleanUpPeriod"},
    "NamespaceController": {
        "concurrent_namespace_syncs": "ConcurrentNamespaceSyncs", "namespace_sync_period": "NamespaceSyncPeriod",
    },
    "NodeIPAMController": {
        "service_cluster_ip_range": "ServiceCIDR", "node_cidr_mask_size": "NodeCIDRMaskSize",
        "node_cidr_mask_size_ipv4": "NodeCIDRMaskSizeIPv4", "node_cidr_mask_size_ipv6": "NodeCIDRMaskSizeIPv6",
    },
    "NodeLifecycleController": {
        "node_monitor_grace_period": "NodeMonitorGracePeriod", "node_startup_grace_period": "NodeStartupGracePeriod",
        "node_eviction_rate": "NodeEvictionRate", "secondary_node_eviction_rate": "SecondaryNodeEvictionRate",
        "large_cluster_size_threshold": "LargeClusterSizeThreshold", "unhealthy_zone_threshold": "UnhealthyZoneThreshold",
    },
    "PersistentVolumeBinderController": {
        "pvclaimbinder_sync_period": "PVClaimBinderSyncPeriod",
        "enable_dynamic_provisioning": "VolumeConfiguration.EnableDynamicProvisioning",
    },
    "PodGCController": {"terminated_pod_gc_threshold": "TerminatedPodGCThreshold"},
    "ReplicaSetController": {"concurrent_replicaset_syncs": "ConcurrentRSSyncs"},
    "ReplicationController": {"concurrent_rc_syncs": "ConcurrentRCSyncs"},
    "ResourceQuotaController": {
        "concurrent_resource_quota_syncs": "ConcurrentResourceQuotaSyncs",
        "resource_quota_sync_period": "ResourceQuotaSyncPeriod",
    },
    "SAController": {
        "service_account_private_key_file": "ServiceAccountKeyFile", "root_ca_file": "RootCAFile",
        "concurrent_serviceaccount_token_syncs": "ConcurrentSATokenSyncs",
    },
    "StatefulSetController": {"concurrent_statefulset_syncs": "ConcurrentStatefulSetSyncs"},
    "TTLAfterFinishedController": {"concurrent_ttl_after_finished_syncs": "ConcurrentTTLSyncs"},
}  # fmt: skip


def configuration(options: Namespace) -> Object:
    """Return the configuration that flags stand for; files of keys are named, not read."""
    result: Object = {
        "kind": "KubeControllerManagerConfiguration",
        "apiVersion": "kubecontrollermanager.config.k8s.io/v1alpha1",
    }
    for section, places in _PLACES.items():
        for attribute, place in places.items():
            if hasattr(options, attribute):
                group, _, name = f"{section}.{place}".rpartition(".")
                holder = result
                for part in group.split("."):
                    holder = holder.setdefault(part, {})
                holder[name] = _shown(getattr(options, attribute))
    return result


def _shown(value: Any) -> Any:
    if isinstance(value, Seconds):
        return show_duration(value)
    return list(value) if isinstance(value, tuple) else value
