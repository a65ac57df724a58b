"""What a KubeletConfiguration may not say: upstream's rules in upstream's words, and what is refused here."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from pybernetes.api import quantity, tracing_configuration
from pybernetes.api.field import Path
from pybernetes.api.resource import Object
from pybernetes.api.text.go_format import quote
from pybernetes.lib.flags import duration
from pybernetes.node.kubelet.config_fields import REFUSED, defaults

_USERS = 65536  # a range of users has a multiple of this many
_ENFORCED = ("pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible", "none")  # fmt: skip
# Fields with the flags of the same meaning, and the least and the most that they may be (None: whatever).
_NOT_NEGATIVE = {
    "eventBurst": "event-burst", "eventRecordQPS": "event-qps", "kubeAPIBurst": "kube-api-burst",
    "kubeAPIQPS": "kube-api-qps", "maxOpenFiles": "max-open-files", "maxPods": "max-pods",
    "podsPerCore": "pods-per-core", "registryBurst": "registry-burst", "registryPullQPS": "registry-qps",
}  # fmt: skip
_BETWEEN = {
    "imageGCHighThresholdPercent": ("image-gc-high-threshold", 0, 100),
    "imageGCLowThresholdPercent": ("image-gc-low-threshold", 0, 100),
    "iptablesDropBit": ("iptables-drop-bit", 0, 31),
    "iptablesMasqueradeBit": ("iptables-masquerade-bit", 0, 31),
    "oomScoreAdj": ("oom-score-adj", -1000, 1000),
    "healthzPort": ("healthz-port", 0, 65535),
    "port": ("port", 0, 65535),
    "readOnlyPort": ("read-only-port", 0, 65535),
}
_LEAST_SHOWN = {"healthzPort": 1, "port": 1}  # 0 is off, or one that the kernel chooses
_CHOICES = {
    "configMapAndSecretChangeDetectionStrategy": ("Get", "Cache", "Watch"),
    "topologyManagerScope": ("container", "pod"),
    "hairpinMode": ("none", "hairpin-veth", "promiscuous-bridge"),
}


def problems(configuration: Object) -> list[str]:
    """Return what is wrong with a configuration whose fields are of the right types, each with its field."""
    every = {**defaults(), **{key: value for key, value in configuration.items() if value is not None}}
    texts = [f"invalid configuration: {text}" for rule in _RULES for text in rule(every)]
    return list(dict.fromkeys(texts))


def _refused(every: Object) -> Iterator[str]:
    for key, (fine, why) in REFUSED.items():
        value = every.get(key)
        if value is not None and value not in fine and not _zero_like(value, fine[0]):
            yield f"{key}: {_shown(value)} is not supported by this kubelet: {why}"


def _zero_like(value: Any, default: Any) -> bool:
    """Return whether a duration is the default, written in another way."""
    try:
        return isinstance(default, str) and duration(str(value)) == duration(default)
    except ValueError:
        return False


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return quote(value) if isinstance(value, str) else str(value)


def _numbers(every: Object) -> Iterator[str]:
    for key, flag in _NOT_NEGATIVE.items():
        if every[key] < 0:
            yield f"{key} (--{flag}) {every[key]} must not be a negative number"
    for key, (flag, least, most) in _BETWEEN.items():
        if not least <= every[key] <= most:
            yield f"{key} (--{flag}) {every[key]} must be between {_LEAST_SHOWN.get(key, least)} and {most}, inclusive"
    low, high = (every[f"imageGC{level}ThresholdPercent"] for level in ("Low", "High"))
    if low >= high:
        yield (
            f"imageGCLowThresholdPercent (--image-gc-low-threshold) {low} must be less than"
            f" imageGCHighThresholdPercent (--image-gc-high-threshold) {high}"
        )
    if every["nodeLeaseDurationSeconds"] <= 0:
        yield "nodeLeaseDurationSeconds must be greater than 0"
    if every["nodeStatusMaxImages"] < -1:
        yield f"nodeStatusMaxImages (--node-status-max-images) {every['nodeStatusMaxImages']} must be -1 or greater"
    parallel = every["maxParallelImagePulls"]
    if parallel < 0:
        yield f"maxParallelImagePulls {parallel} must be a positive number"
    if every["serializeImagePulls"] and parallel > 1:
        yield (
            "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls)"
            " is set to false"
        )
    if every["containerLogMaxWorkers"] < 1:
        yield "containerLogMaxWorkers must be greater than or equal to 1"
    if every["containerLogMaxFiles"] <= 1:
        yield "containerLogMaxFiles must be greater than 1"


def _durations(every: Object) -> Iterator[str]:
    for key in ("imageMinimumGCAge", "imageMaximumGCAge"):
        if duration(every[key]) < 0:
            yield f"{key} {every[key]} must not be negative"
    least, most = duration(every["imageMinimumGCAge"]), duration(every["imageMaximumGCAge"])
    if 0 < most <= least:
        yield f"imageMaximumGCAge {every['imageMaximumGCAge']} must be greater than imageMinimumGCAge {every['imageMinimumGCAge']}"
    if not 0.001 <= duration(every["cpuCFSQuotaPeriod"]) <= 1:
        yield f"cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {every['cpuCFSQuotaPeriod']} must be between 1ms and 1sec, inclusive"
    if duration(every["containerLogMonitorInterval"]) < 3:
        yield "containerLogMonitorInterval must be a positive time duration greater than or equal to 3s"
    crash = (every["crashLoopBackOff"] or {}).get("maxContainerRestartPeriod")
    if crash is not None and not 1 <= duration(crash) <= 300:
        yield (
            f"CrashLoopBackOff.MaxContainerRestartPeriod (got: {float(duration(crash)):g} seconds) must be set between"
            " 1s and 300s"
        )


def _texts(every: Object) -> Iterator[str]:
    for key, choices in _CHOICES.items():
        if every[key] not in choices:
            yield f"{key} {quote(every[key])} must be one of: {', '.join(map(quote, choices))}"
    if every["cgroupDriver"] not in ("cgroupfs", "systemd"):
        yield "cgroupDriver must be cgroupfs or systemd"
    folder = every["podLogsDir"]
    if not folder.startswith("/"):
        yield f"pod logs path {quote(folder)} must be absolute path"
    if any(part in ("", ".", "..") for part in folder[1:].split("/")) and folder != "/":
        yield f"pod logs path {quote(folder)} must be normalized"
    if not folder.isascii():
        yield f"pod logs path {quote(folder)} mut contains ASCII characters only"
    for address in every["clusterDNS"]:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            yield f"clusterDNS: {quote(address)} is no IP address"
    if every["authorization"].get("mode", "Webhook") not in ("AlwaysAllow", "Webhook"):
        yield f"authorization.mode: unknown authorization mode {every['authorization']['mode']}"
    for taint in every["registerWithTaints"]:
        if not taint.get("key") or taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
            yield f"invalid taint: {taint}"
        if taint.get("timeAdded") is not None:
            yield "taint.TimeAdded is not nil"


def _logging(every: Object) -> Iterator[str]:
    logging = every["logging"] or {}
    if logging.get("format") not in (None, "", "text"):
        yield f"logging.format: {_shown(logging['format'])} is not supported by this kubelet: the log is text"
    if logging.get("vmodule"):
        yield "logging.vmodule: is not supported by this kubelet: there is one level for all modules"
    for form, options in (logging.get("options") or {}).items():
        options = options or {}
        if options.get("splitStream") or str(options.get("infoBufferSize") or "0") != "0":
            yield f"logging.options.{form}: is not supported by this kubelet: there is one stream"


def _tracing(every: Object) -> Iterator[str]:
    yield from map(str, tracing_configuration.problems(every["tracing"] or {}, Path("tracing")))


def _isolation(every: Object) -> Iterator[str]:
    from pybernetes.node.kubelet.images import pull_verification
    from pybernetes.node.kubelet.pod_admission import sysctl_allowlist

    for pattern in every["allowedUnsafeSysctls"]:
        try:
            sysctl_allowlist.validate_pattern(pattern)
        except ValueError as error:
            yield f"allowedUnsafeSysctls: {error}"
    yield from pull_verification.problems(
        every["imagePullCredentialsVerificationPolicy"], every["preloadedImagesVerificationAllowlist"]
    )
    users = int((every.get("userNamespaces") or {}).get("idsPerPod") or _USERS)
    for wrong, text in (
        (users < _USERS, f"must not be less than {_USERS}"),
        (users % _USERS, f"must be a multiple of {_USERS}"),
        (users >= 2**32, f"must not be more than {2**32 - 1}"),
    ):
        if wrong:
            yield f"userNamespaces.idsPerPod {text}"
            return


def _thresholds(every: Object) -> Iterator[str]:
    from pybernetes.node.kubelet.eviction import thresholds

    try:
        if quantity.parse(every["containerLogMaxSize"]) <= 0:
            yield "containerLogMaxSize must be positive"
        thresholds.parse(every)
    except ValueError as error:
        yield str(error)


def _reservations(every: Object) -> Iterator[str]:
    enforced = every["enforceNodeAllocatable"]
    option = "enforceNodeAllocatable (--enforce-node-allocatable)"
    for part in ("system", "kube"):
        both = (f"{part}-reserved", f"{part}-reserved-compressible")
        if all(name in enforced for name in both):
            yield f'both "{both[0]}" and "{both[1]}" cannot be specified together in {option}'
        if any(name in enforced for name in both) and not every[f"{part}ReservedCgroup"]:
            yield (
                f"{part}ReservedCgroup (--{part}-reserved-cgroup) must be specified when"
                f' "{both[0]}" or "{both[1]}" included in {option}'
            )
        for name, value in every[f"{part}Reserved"].items():
            if name not in ("cpu", "memory", "ephemeral-storage", "pid"):
                yield f'{part}Reserved: cannot reserve "{name}" resource'
                continue
            try:
                if quantity.parse(value) < 0:
                    yield f"{part}Reserved: {name} cannot be negative"
            except quantity.QuantityError as error:
                yield f"{part}Reserved: {name}: {error}"
    for name in enforced:
        if name not in _ENFORCED:
            valid = ", ".join(f'"{known}"' for known in _ENFORCED[:-1])
            yield f'option "{name}" specified for {option}. Valid options are {valid} or "none"'
        elif enforced.count(name) > 1:
            yield f'duplicated enforcements "{name}" in {option}'
    if "none" in enforced and len(enforced) > 1:
        yield f'{option} may not contain additional enforcements when "none" is specified'
    if every["reservedSystemCPUs"] and (every["systemReservedCgroup"] or every["kubeReservedCgroup"]):
        yield (
            "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup)"
            " or kubeReservedCgroup (--kube-reserved-cgroup)"
        )


_RULES = (_refused, _numbers, _durations, _texts, _logging, _tracing, _isolation, _thresholds, _reservations)
