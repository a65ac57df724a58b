"""The configuration of a kubelet: KubeletConfiguration v1beta1, overlaid with flags."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

from pybernetes.api import strict_types
from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration
from pybernetes.node.kubelet.config_fields import ABSENT, DEFAULTS, UNUSED

API_VERSION, KIND = "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"
_SCHEME = "pkg/kubelet/apis/config/scheme/scheme.go:33"
log = logging.getLogger(__name__)

_DURATIONS = (
    "syncFrequency", "fileCheckFrequency", "httpCheckFrequency", "nodeStatusUpdateFrequency",
    "nodeStatusReportFrequency", "imageMinimumGCAge", "imageMaximumGCAge", "containerLogMonitorInterval",
    "evictionPressureTransitionPeriod", "volumeStatsAggPeriod",
)  # fmt: skip
_USERS = 65536  # a range of users has a multiple of this many
_ENFORCED = ("none", "pods", "system-reserved", "kube-reserved", "system-reserved-compressible", "kube-reserved-compressible")  # fmt: skip


# An empty value of these means the default: programs that write configurations write every field.
_EMPTY_IS_DEFAULT = (
    *_DURATIONS, "address", "port", "healthzBindAddress", "clusterDomain", "cgroupDriver", "podLogsDir", "maxPods",
    "containerRuntimeEndpoint", "imagePullCredentialsVerificationPolicy", "containerLogMaxSize", "nodeLeaseDurationSeconds", "maxOpenFiles", "contentType",
    "cpuManagerPolicy", "memoryManagerPolicy", "topologyManagerPolicy", "topologyManagerScope", "hairpinMode",
    "cpuManagerReconcilePeriod", "runtimeRequestTimeout", "streamingConnectionIdleTimeout", "registryBurst",
    "eventBurst", "kubeAPIBurst", "configMapAndSecretChangeDetectionStrategy", "volumePluginDir",
)  # fmt: skip


class ConfigurationError(ValueError):
    """The configuration says something impossible or unknown."""


def merged(given: Object) -> Object:
    """Return a configuration with its defaults; fields that have no effect here are kept and logged."""
    result = {**{name: default for name, (default, _) in UNUSED.items() if default is not None}, **DEFAULTS}
    for key, value in given.items():
        if value is None:
            continue
        if key in ("authentication", "authorization"):
            value = {part: {**DEFAULTS[key].get(part, {}), **item} if isinstance(item, dict) else item
                     for part, item in {**DEFAULTS[key], **value}.items()}  # fmt: skip
        if key == "evictionHard" and given.get("mergeDefaultEvictionSettings"):
            value = {**DEFAULTS[key], **value}
        result[key] = value
    return result


def overlaid(base: Object, over: Object) -> Object:
    """Return a configuration overlaid with another one: objects are merged, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        before = result.get(key)
        result[key] = (
            overlaid(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
        )
    return result


def remarks(given: Object) -> list[str]:
    """Return remarks for the author of a configuration: unknown fields, and fields that have no effect."""
    texts = []
    for key, value in given.items():
        if key in UNUSED:
            if value is not None and value != UNUSED[key][0] and not _same_duration(value, UNUSED[key][0]):
                texts.append(f"{key} changes nothing here: {UNUSED[key][1]}")
        elif key not in DEFAULTS and key not in ABSENT:
            texts.append(f'strict decoding error: unknown field "{key}"')
    return texts


def _is_empty(key: str, value: Any) -> bool:
    if key not in _EMPTY_IS_DEFAULT or key == "imageMaximumGCAge":
        return False
    return (
        value is None
        or value in ("", 0)
        or ((key in _DURATIONS or str(value) == "0s") and _same_duration(value, "0s"))
    )


def _same_duration(first: Any, second: Any) -> bool:
    try:
        return float(duration(str(first))) == float(duration(str(second)))
    except ValueError:
        return False


def _not_loaded(path: Path, why: str) -> str:
    return f"failed to load kubelet config file, path: {path}, error: {why}"


@lru_cache(maxsize=1)
def _types() -> strict_types.Struct:
    """Return the sorts of the fields, which follow from their defaults."""
    unused = {name: default for name, (default, _) in UNUSED.items()}
    absent = {name: fine[0] for name, (fine, _) in ABSENT.items()}
    return strict_types.of_defaults(KIND, {**absent, **unused, **DEFAULTS})


def load(path: Path) -> Object:
    """Return the configuration of a file; raise ConfigurationError if it is malformed."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        why = f'failed to read kubelet config file "{path}", error: open {path}: {(error.strerror or "").lower()}'
        raise ConfigurationError(_not_loaded(path, why)) from None
    if not raw:
        raise ConfigurationError(_not_loaded(path, f'kubelet config file "{path}" was empty'))
    try:
        value, duplicates = strict_types.read_object(raw, {(API_VERSION, KIND)}, _SCHEME)
        configuration = {
            key: item for key, item in value.items() if key not in ("kind", "apiVersion", "metadata")
        }
        # Unknown fields get a remark, as upstream's lenient reading gives.
        _types().read(configuration, "", [], KIND)
    except strict_types.Problem as problem:
        raise ConfigurationError(_not_loaded(path, f"failed to decode: {problem}")) from None
    for duplicate in duplicates:
        log.warning("KubeletConfiguration: strict decoding error: %s", duplicate)
    configuration = {key: item for key, item in configuration.items() if not _is_empty(key, item)}
    for part, names in (
        ("authentication", ("cacheTTL",)),
        ("authorization", ("cacheAuthorizedTTL", "cacheUnauthorizedTTL")),
    ):
        webhook = (configuration.get(part) or {}).get("webhook") or {}
        for name in names:
            if name in webhook and _same_duration(webhook[name], "0s"):
                del webhook[name]
    validate(configuration)
    return configuration


def validate(configuration: Object) -> None:
    """Reject impossible values; ConfigurationError names the field."""
    for key in _DURATIONS:
        if key in configuration:
            try:
                duration(str(configuration[key]))
            except ValueError as error:
                raise ConfigurationError(f"invalid configuration: {key}: {error}") from None
    for key, (fine, what) in ABSENT.items():
        if configuration.get(key) is not None and configuration[key] not in fine:
            raise ConfigurationError(f"invalid configuration: {key}: {what} is not supported by this kubelet")
    if configuration.get("cgroupDriver", "cgroupfs") not in ("cgroupfs", "systemd"):
        raise ConfigurationError("invalid configuration: cgroupDriver must be cgroupfs or systemd")
    for key in ("port", "healthzPort", "readOnlyPort"):
        if not 0 <= int(configuration.get(key, 0)) <= 65535:
            raise ConfigurationError(f"invalid configuration: {key} must be between 0 and 65535")
    for key in ("maxPods", "podsPerCore", "nodeStatusMaxImages"):
        if int(configuration.get(key, 1)) < (-1 if key == "nodeStatusMaxImages" else 0):
            raise ConfigurationError(f"invalid configuration: {key} must not be a negative number")
    _validate_isolation(configuration)
    _validate_thresholds(configuration)
    _validate_reservations(configuration)


def _validate_isolation(configuration: Object) -> None:
    from pybernetes.node.kubelet.images import pull_verification
    from pybernetes.node.kubelet.pod_admission import sysctl_allowlist

    for pattern in configuration.get("allowedUnsafeSysctls") or ():
        try:
            sysctl_allowlist.validate_pattern(pattern)
        except ValueError as error:
            raise ConfigurationError(f"invalid configuration: allowedUnsafeSysctls: {error}") from None
    policy = (
        configuration.get("imagePullCredentialsVerificationPolicy")
        or DEFAULTS["imagePullCredentialsVerificationPolicy"]
    )
    for text in pull_verification.problems(
        policy, configuration.get("preloadedImagesVerificationAllowlist") or []
    ):
        raise ConfigurationError(f"invalid configuration: {text}")
    users = int((configuration.get("userNamespaces") or {}).get("idsPerPod") or _USERS)
    for wrong, text in (
        (users < _USERS, f"must not be less than {_USERS}"),
        (users % _USERS, f"must be a multiple of {_USERS}"),
        (users >= 2**32, f"must not be more than {2**32 - 1}"),
    ):
        if wrong:
            raise ConfigurationError(f"invalid configuration: userNamespaces.idsPerPod {text}")


def _validate_thresholds(configuration: Object) -> None:
    from pybernetes.api import quantity
    from pybernetes.node.kubelet.eviction import thresholds

    every = {**DEFAULTS, **configuration}
    high, low = (int(every[f"imageGC{level}ThresholdPercent"]) for level in ("High", "Low"))
    for name, value in (("High", high), ("Low", low)):
        if not 0 <= value <= 100:
            raise ConfigurationError(
                f"invalid configuration: imageGC{name}ThresholdPercent {value} must be between 0 and 100, inclusive"
            )
    if low >= high:
        raise ConfigurationError(
            f"invalid configuration: imageGCLowThresholdPercent {low} must be less than"
            f" imageGCHighThresholdPercent {high}"
        )
    if int(configuration.get("containerLogMaxFiles", 2)) <= 1:
        raise ConfigurationError("invalid configuration: containerLogMaxFiles must be greater than 1")
    try:
        if quantity.parse(configuration.get("containerLogMaxSize", "10Mi")) <= 0:
            raise ValueError("must be positive")
        thresholds.parse(configuration)
    except ValueError as error:
        raise ConfigurationError(f"invalid configuration: {error}") from None


def _validate_reservations(configuration: Object) -> None:
    from pybernetes.api import quantity

    enforced = configuration.get("enforceNodeAllocatable") or ()
    for name in enforced:
        if name not in _ENFORCED:
            raise ConfigurationError(
                f'invalid configuration: option "{name}" specified for enforceNodeAllocatable (--enforce-node-allocatable);'
                f" valid options are {', '.join(_ENFORCED)}"
            )
        for part in ("system", "kube"):
            if name.startswith(f"{part}-reserved") and not configuration.get(f"{part}ReservedCgroup"):
                raise ConfigurationError(
                    f"invalid configuration: {part}ReservedCgroup (--{part}-reserved-cgroup) must be specified when"
                    f' "{name}" is included in enforceNodeAllocatable'
                )
    if "none" in enforced and len(enforced) > 1:
        raise ConfigurationError(
            "invalid configuration: enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional"
            " enforcements when none is specified"
        )
    for part in ("systemReserved", "kubeReserved"):
        for name, value in (configuration.get(part) or {}).items():
            if name not in ("cpu", "memory", "ephemeral-storage", "pid"):
                raise ConfigurationError(f'invalid configuration: {part}: cannot reserve "{name}" resource')
            try:
                if quantity.parse(value) < 0:
                    raise ConfigurationError(f"invalid configuration: {part}: {name} cannot be negative")
            except quantity.QuantityError as error:
                raise ConfigurationError(f"invalid configuration: {part}: {name}: {error}") from None
