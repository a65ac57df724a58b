"""The configuration of a kubelet: KubeletConfiguration v1beta1, overlaid with flags."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from pybernetes.api import strict_types
from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration
from pybernetes.node.kubelet.config_fields import DEFAULTS, WITHOUT_EFFECT, defaults
from pybernetes.node.kubelet.config_types import CONFIGURATION

API_VERSION, KIND = "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"
_SCHEME = "pkg/kubelet/apis/config/scheme/scheme.go:33"
log = logging.getLogger(__name__)

_DURATIONS = tuple(name for name, sort in CONFIGURATION.fields.items() if sort is strict_types.DURATION)
# An empty value of these means the default: programs that write configurations write every field.
_EMPTY_IS_DEFAULT = (
    *_DURATIONS, "address", "port", "healthzBindAddress", "clusterDomain", "cgroupDriver", "podLogsDir", "maxPods",
    "containerRuntimeEndpoint", "imagePullCredentialsVerificationPolicy", "containerLogMaxSize", "nodeLeaseDurationSeconds", "maxOpenFiles", "contentType",
    "cpuManagerPolicy", "memoryManagerPolicy", "topologyManagerPolicy", "topologyManagerScope", "hairpinMode",
    "registryBurst", "eventBurst", "memoryReservationPolicy", "kubeAPIBurst", "configMapAndSecretChangeDetectionStrategy", "volumePluginDir",
)  # fmt: skip


class ConfigurationError(ValueError):
    """The configuration says something impossible or unknown."""


def merged(given: Object) -> Object:
    """Return a configuration with its defaults; fields that have no effect here are kept and logged."""
    result = defaults()
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


def remarks(given: Object) -> list[str]:
    """Return remarks for the author of a configuration: unknown fields, and fields that have no effect."""
    unknown: list[str] = []
    CONFIGURATION.read(given, "", unknown, KIND)
    texts = [f'strict decoding error: unknown field "{path}"' for path in unknown]
    for key, value in given.items():
        if key in WITHOUT_EFFECT and not _is(value, WITHOUT_EFFECT[key][0]):
            texts.append(f"{key} changes nothing here: {WITHOUT_EFFECT[key][1]}")
    return texts


def _is(value: Any, default: Any) -> bool:
    return value is None or value == default or _same_duration(value, default)


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
        CONFIGURATION.read(configuration, "", [], KIND)
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
    return configuration


def validate(configuration: Object) -> None:
    """Reject impossible values and wrong types; ConfigurationError names the fields."""
    from pybernetes.node.kubelet.config_validation import problems

    try:
        CONFIGURATION.read(configuration, "", [], KIND)
    except strict_types.Problem as problem:  # of a flag
        raise ConfigurationError(f"invalid configuration: {problem}") from None
    wrong = problems(configuration)
    if wrong:
        raise ConfigurationError(
            f"failed to validate kubelet configuration, error: {strict_types.aggregate(wrong)}"
        )
