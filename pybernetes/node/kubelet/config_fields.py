"""What becomes of the fields of KubeletConfiguration v1beta1: effective, accepted without effect, or refused, and why.

The table of docs/kubelet.md is made of these.
"""

from __future__ import annotations

import json
from typing import Any

from pybernetes.api.resource import Object

# Upstream's defaults of the fields that have an effect here.
DEFAULTS: Object = {
    "address": "0.0.0.0",
    "port": 10250,
    "readOnlyPort": 0,
    "healthzPort": 10248,
    "healthzBindAddress": "127.0.0.1",
    "staticPodPath": "",
    "staticPodURL": "",
    "staticPodURLHeader": {},
    "syncFrequency": "1m0s",
    "fileCheckFrequency": "20s",
    "httpCheckFrequency": "20s",
    "registerNode": True,
    "registerWithTaints": [],
    "nodeStatusUpdateFrequency": "10s",
    "nodeStatusReportFrequency": "5m0s",
    "nodeStatusMaxImages": 50,
    "nodeLeaseDurationSeconds": 40,
    "clusterDomain": "cluster.local",
    "clusterDNS": [],
    "resolvConf": "/etc/resolv.conf",
    "maxPods": 110,
    "podsPerCore": 0,
    "podPidsLimit": -1,
    "podCIDR": "",
    "providerID": "",
    "cgroupDriver": "cgroupfs",
    "cgroupRoot": "/",
    "cpuCFSQuota": True,
    "cpuCFSQuotaPeriod": "100ms",
    "seccompDefault": False,
    "singleProcessOOMKill": False,
    "failSwapOn": True,
    "failCgroupV1": False,  # upstream has given up version 1, this kubelet has not
    "serializeImagePulls": True,
    "maxParallelImagePulls": 0,
    "imagePullCredentialsVerificationPolicy": "NeverVerifyPreloadedImages",
    "preloadedImagesVerificationAllowlist": [],
    "imageGCHighThresholdPercent": 85,
    "imageGCLowThresholdPercent": 80,
    "imageMinimumGCAge": "2m0s",
    "imageMaximumGCAge": "0s",
    "containerLogMaxSize": "10Mi",
    "containerLogMaxFiles": 5,
    "containerLogMonitorInterval": "10s",
    "evictionHard": {
        "memory.available": "100Mi",
        "nodefs.available": "10%",
        "nodefs.inodesFree": "5%",
        "imagefs.available": "15%",
        "imagefs.inodesFree": "5%",
    },
    "evictionSoft": {},
    "evictionSoftGracePeriod": {},
    "evictionMinimumReclaim": {},
    "evictionPressureTransitionPeriod": "5m0s",
    "evictionMaxPodGracePeriod": 0,
    "mergeDefaultEvictionSettings": False,
    "localStorageCapacityIsolation": True,
    "enforceNodeAllocatable": ["pods"],
    "systemReserved": {},
    "kubeReserved": {},
    "systemReservedCgroup": "",
    "kubeReservedCgroup": "",
    "reservedSystemCPUs": "",
    "allowedUnsafeSysctls": [],
    "userNamespaces": None,
    "rotateCertificates": False,
    "serverTLSBootstrap": False,
    "tlsCertFile": "",
    "tlsPrivateKeyFile": "",
    "tlsCipherSuites": [],
    "tlsMinVersion": "",
    "authentication": {
        "anonymous": {"enabled": False},
        "webhook": {"enabled": True, "cacheTTL": "2m0s"},
        "x509": {"clientCAFile": ""},
    },
    "authorization": {
        "mode": "Webhook",
        "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"},
    },
    "enableDebuggingHandlers": True,
    "enableSystemLogHandler": True,
    "enableServer": True,
    "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    "imageServiceEndpoint": "",
    "podLogsDir": "/var/log/pods",
    "crashLoopBackOff": {},
    "oomScoreAdj": -999,
    "maxOpenFiles": 1000000,
    "volumeStatsAggPeriod": "1m0s",
    "featureGates": {},
    "logging": {},
    "tracing": None,
    "eventRecordQPS": 50,
    "eventBurst": 100,
    "kubeAPIQPS": 0,  # no limit, unless one is given
    "kubeAPIBurst": 100,
    "registryPullQPS": 5,
    "registryBurst": 10,
    "runtimeRequestTimeout": "2m0s",
    "protectKernelDefaults": False,
    "containerLogMaxWorkers": 1,
}

# Fields that change nothing here, whatever they say: the default, and why. The log tells when one is set.
WITHOUT_EFFECT: dict[str, tuple[Any, str]] = {
    "configMapAndSecretChangeDetectionStrategy": ("Watch", "config maps and secrets are always watched, the newest way to know them"),
    "contentType": ("application/vnd.kubernetes.protobuf", "the API server is spoken to in JSON, which says the same"),
    "cpuManagerReconcilePeriod": ("10s", "nothing is to be reconciled with the CPU manager policy none, nor is it upstream"),
    "enableDebugFlagsHandler": (True, "there is no handler: the log's level is a flag's"),
    "enableProfilingHandler": (True, "there is no handler"),
    "hairpinMode": ("promiscuous-bridge", "the CNI plugins decide, as upstream"),
    "iptablesDropBit": (15, "nothing is marked, as upstream"),
    "iptablesMasqueradeBit": (14, "nothing is marked, as upstream"),
    "makeIPTablesUtilChains": (True, "no chain is made: kube-proxy makes its own"),
    "showHiddenMetricsForVersion": ("", "no metric is hidden"),
    "streamingConnectionIdleTimeout": ("4h0m0s", "the runtime ends silent streams, as upstream"),
    "topologyManagerScope": ("container", "nothing is to be aligned with the policies that there are"),
    "volumePluginDir": ("/usr/libexec/kubernetes/kubelet-plugins/volume/exec/", "there are no flex volumes; a pod with one says so"),
}  # fmt: skip

_SHUTDOWN = "a shutdown of the machine is not waited for"
_CPUS, _MEMORY = "CPUs are not given out one by one", "memory is not protected by quality of service"
# Fields that ask for what is not there, without which the node would not be the one that was asked for: what they may
# say (the default first), and why nothing else. The kubelet does not start with anything else.
REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "cgroupsPerQOS": ((True,), "pods are always in the groups of their quality of service"),
    "cpuManagerPolicy": (("none", ""), "there is no static CPU manager"),
    "cpuManagerPolicyOptions": (({},), _CPUS),
    "defaultPodSysctls": (({},), "pods get the sysctls that they name"),
    "enableContentionProfiling": ((False,), "there is no profile of locks"),
    "enableControllerAttachDetach": ((True,), "the attach-detach controller attaches volumes"),
    "enableSystemLogQuery": ((False,), "the journal is not queried"),
    "kernelMemcgNotification": ((False,), "memory is looked at with the other signals"),
    "kubeletCgroups": (("",), "the kubelet stays in the group that it was started in"),
    "memoryManagerPolicy": (("None", ""), "there is no static memory manager"),
    "memoryReservationPolicy": (("None", ""), _MEMORY),
    "memorySwap": (({}, {"swapBehavior": ""}, {"swapBehavior": "NoSwap"}), "there is no swap for containers"),
    "memoryThrottlingFactor": ((0.9,), "memory is not throttled before its limit"),
    "qosReserved": (({},), _MEMORY),
    "reservedMemory": (([],), "memory is not given out by NUMA node"),
    "runOnce": ((False,), "Runonce mode has been deprecated and should not be set"),
    "shutdownGracePeriod": (("0s",), _SHUTDOWN),
    "shutdownGracePeriodByPodPriority": (([],), _SHUTDOWN),
    "shutdownGracePeriodCriticalPods": (("0s",), _SHUTDOWN),
    "systemCgroups": (("",), "processes of the system are left where they are"),
    "tlsCurvePreferences": (([],), "OpenSSL chooses curves"),
    "topologyManagerPolicy": (("none", "", "best-effort"), "resources are not aligned"),
    "topologyManagerPolicyOptions": (({},), "resources are not aligned"),
}  # fmt: skip


def defaults() -> Object:
    """Return the default of every field that has one."""
    return {
        **{name: fine[0] for name, (fine, _) in REFUSED.items() if fine[0] is not None},
        **{name: default for name, (default, _) in WITHOUT_EFFECT.items()},
        **DEFAULTS,
    }


def table() -> str:
    """Return what becomes of each field, as a table of Markdown."""
    rows = {name: ("effective", "") for name in DEFAULTS}
    rows |= {name: ("accepted without effect", why) for name, (_, why) in WITHOUT_EFFECT.items()}
    for name, (fine, why) in REFUSED.items():
        shown = " or ".join(f"`{json.dumps(value)}`" for value in fine)
        rows[name] = (f"only {shown}, others refused", why)
    lines = [f"| `{name}` | {verdict} | {why} |" for name, (verdict, why) in sorted(rows.items())]
    return "\n".join(("| field | here | because |", "|---|---|---|", *lines)) + "\n"
