"""KubeSchedulerConfiguration v1: read, completed with defaults, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from pybernetes.api import strict_types
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.lib import flags
from pybernetes.scheduling import config_checks
from pybernetes.scheduling.registry import known_plugins

GROUP, VERSION, KIND = "kubescheduler.config.k8s.io", "v1", "KubeSchedulerConfiguration"
_SCHEME = "pkg/scheduler/apis/config/scheme/scheme.go:30"
DEFAULT_SCHEDULER = "default-scheduler"
# Upstream's default plugins in their order, with their weights.
DEFAULT_PLUGINS: tuple[tuple[str, int], ...] = (
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeName", 0),
    ("NodeUnschedulable", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("VolumeBinding", 0),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
)
# Upstream's plugins that are on by default there and that are not here yet; turning them off is fine.
ABSENT_PLUGINS = frozenset(("NodeVolumeLimits", "DynamicResources", "NodeDeclaredFeatures"))


class ConfigurationError(ValueError):
    """The configuration cannot be used; the message says why."""


@dataclass
class ProfileConfig:
    """One profile: which plugins work at which point, and with which arguments."""

    scheduler_name: str = DEFAULT_SCHEDULER
    percentage_of_nodes_to_score: int = 0
    # What is turned on and off at each point and for all points at once ("multiPoint"), in the file's words.
    plugins: dict[str, dict[str, list[Object]]] = field(default_factory=dict)
    arguments: dict[str, Object] = field(default_factory=dict)


@dataclass
class Configuration:
    """What the scheduler is told; upstream's defaults."""

    profiles: list[ProfileConfig] = field(default_factory=lambda: [profile_config({}, 0)])
    pod_initial_backoff_seconds: float = 1
    pod_max_backoff_seconds: float = 10
    kubeconfig: str = ""
    qps: float = 0  # 0: no limit of our own
    burst: int = 0
    leader_elect: bool = True
    lease_name: str = "kube-scheduler"
    lease_namespace: str = "kube-system"
    lease_seconds: float = 15
    renew_seconds: float = 10
    retry_seconds: float = 2


def load(path: FilePath) -> Configuration:
    """Read the configuration from a file."""
    try:
        value, duplicates = strict_types.read_object(
            strict_types.read_file(str(path)), {(f"{GROUP}/{VERSION}", KIND)}, _SCHEME
        )
    except (OSError, strict_types.Problem) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    if duplicates:
        raise ConfigurationError(f"{path}: strict decoding error: {', '.join(duplicates)}")
    return parse(value, str(path))


def parse(value: Any, name: str = "the configuration") -> Configuration:
    """Turn an object into a configuration; raise ConfigurationError if it is invalid."""
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise ConfigurationError(f"couldn't decode {name} as {KIND}, got {_kind(value)}")
    if value.get("apiVersion") != f"{GROUP}/{VERSION}":
        raise ConfigurationError(f"{name}: {value.get('apiVersion')!r} is not known; use {GROUP}/{VERSION}")
    problems = Errors()
    config_checks.check(value, problems)
    if problems:
        raise ConfigurationError("\n".join(f"{name}: {problem}" for problem in problems))
    if value.get("extenders"):
        raise ConfigurationError(f"{name}: extenders: extenders are not supported yet")
    election, connection = value.get("leaderElection") or {}, value.get("clientConnection") or {}
    percentage = value.get("percentageOfNodesToScore") or 0
    profiles = value.get("profiles") or [{}]
    return Configuration(
        profiles=[profile_config(profile, percentage) for profile in profiles],
        pod_initial_backoff_seconds=value.get("podInitialBackoffSeconds", 1),
        pod_max_backoff_seconds=value.get("podMaxBackoffSeconds", 10),
        kubeconfig=connection.get("kubeconfig", ""),
        qps=connection.get("qps", 0),
        burst=connection.get("burst", 0),
        leader_elect=election.get("leaderElect", True),
        lease_name=election.get("resourceName", "kube-scheduler"),
        lease_namespace=election.get("resourceNamespace", "kube-system"),
        lease_seconds=flags.duration(election.get("leaseDuration", "15s")),
        renew_seconds=flags.duration(election.get("renewDeadline", "10s")),
        retry_seconds=flags.duration(election.get("retryPeriod", "2s")),
    )


def _kind(value: Any) -> str:
    return repr(value.get("kind", "")) if isinstance(value, dict) else type(value).__name__


def profile_config(value: Object, percentage: int) -> ProfileConfig:
    """Return a profile with its defaults."""
    own = value.get("percentageOfNodesToScore")
    arguments = {name: default_arguments(name, {}) for name, _ in DEFAULT_PLUGINS}
    for plugin in value.get("pluginConfig") or ():
        arguments[plugin["name"]] = default_arguments(plugin["name"], plugin.get("args") or {})
    return ProfileConfig(
        scheduler_name=value.get("schedulerName", DEFAULT_SCHEDULER),
        percentage_of_nodes_to_score=percentage if own is None else own,
        plugins={
            point: {key: list(sets.get(key) or ()) for key in ("enabled", "disabled")}
            for point, sets in (value.get("plugins") or {}).items()
        },
        arguments=arguments,
    )


def default_arguments(plugin: str, given: Object) -> Object:
    """Return the arguments of a plugin with its defaults."""
    own = {key: value for key, value in given.items() if key not in ("kind", "apiVersion")}
    known = known_plugins().get(plugin)
    return own if known is None else known.default_arguments(own)


def multi_point(profile: ProfileConfig) -> list[tuple[str, int]]:
    """Return the plugins that are enabled at all of their points: the defaults, as the file changes them."""
    sets = profile.plugins.get("multiPoint", {})
    disabled = {plugin["name"] for plugin in sets.get("disabled", ())}
    enabled = {plugin["name"]: plugin.get("weight") or 0 for plugin in sets.get("enabled", ())}
    result: list[tuple[str, int]] = []
    if "*" not in disabled:
        for name, weight in DEFAULT_PLUGINS:
            if name not in disabled:
                # A default plugin that is named again keeps its place.
                result.append((name, enabled.pop(name) if name in enabled else weight))
    return result + list(enabled.items())


def at_point(profile: ProfileConfig, point: str, has: Callable[[str], bool]) -> list[tuple[str, int]]:
    """Return the plugins of one point in order with their weights; ``has`` tells whether a plugin has the point."""
    sets = profile.plugins.get(point, {})
    disabled = {plugin["name"] for plugin in sets.get("disabled", ())}
    own = {plugin["name"]: plugin.get("weight") or 0 for plugin in sets.get("enabled", ())}
    for name in own:
        if not has(name):
            raise ConfigurationError(f'plugin "{name}" does not extend {point[0].upper()}{point[1:]} plugin')
    if "*" in disabled:
        return list(own.items())
    general = [(name, weight) for name, weight in multi_point(profile) if has(name) and name not in disabled]
    weights = dict(general)
    override = [(name, weight or weights[name]) for name, weight in own.items() if name in weights]
    rest = [(name, weight) for name, weight in own.items() if name not in weights]
    return override + [(name, weight) for name, weight in general if name not in own] + rest
