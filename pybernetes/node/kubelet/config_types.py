"""The fields of KubeletConfiguration v1beta1 as v1.37 has them, and what may stand in each."""

from __future__ import annotations

from pybernetes.api.strict_types import (
    BOOL,
    DURATION,
    FLOAT,
    INT32,
    INT64,
    RAW,
    STRING,
    STRINGS,
    ByName,
    Many,
    Struct,
    Value,
)

_TEXTS = ByName(STRING, "map[string]string")
_UINT32 = Value("uint32", (int,), (0, 2**32 - 1))


class _TimeOrNumber(Value):
    """A duration, or how many nanoseconds it has."""

    def read(self, value: object, path: str, unknown: list[str], root: str) -> object:
        return (
            value
            if isinstance(value, int) and not isinstance(value, bool)
            else DURATION.read(value, path, unknown, root)
        )


def _struct(name: str, **fields: object) -> Struct:
    return Struct(f"v1beta1.{name}", fields)


_AUTHENTICATION = _struct(
    "KubeletAuthentication",
    x509=_struct("KubeletX509Authentication", clientCAFile=STRING),
    webhook=_struct("KubeletWebhookAuthentication", enabled=BOOL, cacheTTL=DURATION),
    anonymous=_struct("KubeletAnonymousAuthentication", enabled=BOOL),
)
_AUTHORIZATION = _struct(
    "KubeletAuthorization",
    mode=STRING,
    webhook=_struct(
        "KubeletWebhookAuthorization", cacheAuthorizedTTL=DURATION, cacheUnauthorizedTTL=DURATION
    ),
)
_SPLIT = {"splitStream": BOOL, "infoBufferSize": RAW}
_LOGGING = Struct("v1.LoggingConfiguration", {
    "format": STRING, "flushFrequency": _TimeOrNumber("string", (str, int)), "verbosity": _UINT32, "vmodule": RAW,
    "options": Struct("v1.FormatOptions", {"text": Struct("v1.TextOptions", _SPLIT), "json": Struct("v1.JSONOptions", _SPLIT)}),
})  # fmt: skip
_TRACING = Struct("v1.TracingConfiguration", {"endpoint": STRING, "samplingRatePerMillion": INT32})
_TAINT = Struct("v1.Taint", {"key": STRING, "value": STRING, "effect": STRING, "timeAdded": STRING})

_BY_TYPE = (
    (BOOL, """enableServer rotateCertificates serverTLSBootstrap enableDebuggingHandlers enableContentionProfiling
              cgroupsPerQOS singleProcessOOMKill runOnce cpuCFSQuota serializeImagePulls mergeDefaultEvictionSettings
              enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains failSwapOn kernelMemcgNotification
              enableSystemLogHandler enableSystemLogQuery enableProfilingHandler enableDebugFlagsHandler seccompDefault
              registerNode localStorageCapacityIsolation failCgroupV1"""),
    (STRING, """staticPodPath podLogsDir staticPodURL address tlsCertFile tlsPrivateKeyFile tlsMinVersion
                imagePullCredentialsVerificationPolicy healthzBindAddress clusterDomain kubeletCgroups systemCgroups cgroupRoot
                cgroupDriver cpuManagerPolicy memoryManagerPolicy topologyManagerPolicy topologyManagerScope hairpinMode podCIDR
                resolvConf contentType containerLogMaxSize configMapAndSecretChangeDetectionStrategy reservedSystemCPUs
                showHiddenMetricsForVersion systemReservedCgroup kubeReservedCgroup volumePluginDir providerID
                memoryReservationPolicy containerRuntimeEndpoint imageServiceEndpoint"""),
    (DURATION, """syncFrequency fileCheckFrequency httpCheckFrequency streamingConnectionIdleTimeout nodeStatusUpdateFrequency
                  nodeStatusReportFrequency imageMinimumGCAge imageMaximumGCAge volumeStatsAggPeriod cpuManagerReconcilePeriod
                  runtimeRequestTimeout cpuCFSQuotaPeriod evictionPressureTransitionPeriod containerLogMonitorInterval
                  shutdownGracePeriod shutdownGracePeriodCriticalPods"""),
    (INT32, """port readOnlyPort registryPullQPS registryBurst eventRecordQPS eventBurst healthzPort oomScoreAdj
               nodeLeaseDurationSeconds imageGCHighThresholdPercent imageGCLowThresholdPercent maxPods nodeStatusMaxImages
               kubeAPIQPS kubeAPIBurst maxParallelImagePulls evictionMaxPodGracePeriod podsPerCore iptablesMasqueradeBit
               iptablesDropBit containerLogMaxFiles containerLogMaxWorkers"""),
    (INT64, "podPidsLimit maxOpenFiles"),
    (FLOAT, "memoryThrottlingFactor"),
    (STRINGS, """tlsCipherSuites preloadedImagesVerificationAllowlist clusterDNS enforceNodeAllocatable
                 allowedUnsafeSysctls"""),
    (Many(INT32), "tlsCurvePreferences"),
    (_TEXTS, """cpuManagerPolicyOptions topologyManagerPolicyOptions qosReserved evictionHard evictionSoft
                evictionSoftGracePeriod evictionMinimumReclaim systemReserved kubeReserved defaultPodSysctls"""),
    (ByName(BOOL, "map[string]bool"), "featureGates"),
    (ByName(STRINGS, "map[string][]string"), "staticPodURLHeader"),
)  # fmt: skip

CONFIGURATION = Struct("KubeletConfiguration", {
    **{name: sort for sort, names in _BY_TYPE for name in names.split()},
    "authentication": _AUTHENTICATION,
    "authorization": _AUTHORIZATION,
    "memorySwap": _struct("MemorySwapConfiguration", swapBehavior=STRING),
    "logging": _LOGGING,
    "shutdownGracePeriodByPodPriority": Many(
        _struct("ShutdownGracePeriodByPodPriority", priority=INT32, shutdownGracePeriodSeconds=INT64)
    ),
    "crashLoopBackOff": _struct("CrashLoopBackOffConfig", maxContainerRestartPeriod=DURATION),
    "reservedMemory": Many(_struct("MemoryReservation", numaNode=INT32, limits=ByName(RAW, "v1.ResourceList"))),
    "registerWithTaints": Many(_TAINT),
    "tracing": _TRACING,
    "userNamespaces": _struct("UserNamespaces", idsPerPod=INT64),
})  # fmt: skip
