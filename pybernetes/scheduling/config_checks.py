"""What must hold in a KubeSchedulerConfiguration, with upstream's paths and words."""

from __future__ import annotations

from pybernetes.api.field import ROOT, Errors, Path
from pybernetes.api.resource import Object
from pybernetes.lib import flags
from pybernetes.scheduling.plugin import POINTS
from pybernetes.scheduling.registry import known_plugins

# Plugins that once were: naming them is an error, not a plugin that is unknown.
_REMOVED = frozenset(("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"))
_POINTS = frozenset(["multiPoint", *POINTS])
_TOP = frozenset(
    [
        "kind",
        "apiVersion",
        "parallelism",
        "leaderElection",
        "clientConnection",
        "enableProfiling",
        "enableContentionProfiling",
        "percentageOfNodesToScore",
        "podInitialBackoffSeconds",
        "podMaxBackoffSeconds",
        "profiles",
        "extenders",
        "delayCacheUntilActive",
    ]
)
_PROFILE = frozenset(["schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"])


def check(config: Object, errors: Errors) -> None:
    """Collect what is wrong with a configuration."""
    _unknown(config, _TOP, ROOT, errors)
    _election(config.get("leaderElection") or {}, errors)
    if config.get("parallelism", 16) <= 0:
        errors.invalid("parallelism", config["parallelism"], "should be an integer value greater than zero")
    seen: dict[str, int] = {}
    profiles = config.get("profiles") or []
    for index, profile in enumerate(profiles):
        path = (ROOT / "profiles")[index]
        name = profile.get("schedulerName", "default-scheduler" if len(profiles) == 1 else "")
        _profile(profile, name, path, errors)
        if name in seen:
            errors.duplicate(path / "schedulerName", str((ROOT / "profiles")[seen[name]] / "schedulerName"))
        seen.setdefault(name, index)
    _percentage(config, ROOT, errors)
    initial = config.get("podInitialBackoffSeconds", 1)
    longest = config.get("podMaxBackoffSeconds", 10)
    if initial <= 0:
        errors.invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if longest < initial:
        errors.invalid(
            "podMaxBackoffSeconds", longest, "must be greater than or equal to PodInitialBackoffSeconds"
        )


def _unknown(value: Object, known: frozenset[str], path: Path, errors: Errors) -> None:
    for name in value:
        if name not in known:
            errors.invalid(path / name, name, "unknown field")


def _election(election: Object, errors: Errors) -> None:
    path = ROOT / "leaderElection"
    lock = election.get("resourceLock", "leases")
    if election.get("leaderElect", True) and lock != "leases":
        errors.invalid(path / "resourceLock", lock, 'resourceLock value must be "leases"')
    seconds: dict[str, float] = {}
    for name, default in (("leaseDuration", "15s"), ("renewDeadline", "10s"), ("retryPeriod", "2s")):
        try:
            seconds[name] = flags.duration(election.get(name, default))
        except (ValueError, TypeError):
            errors.invalid(path / name, election[name], "must be a duration such as 15s")
            return
        if seconds[name] <= 0:
            errors.invalid(path / name, election.get(name, default), "must be greater than zero")
    if seconds["leaseDuration"] <= seconds["renewDeadline"]:
        text = "LeaseDuration must be greater than RenewDeadline"
        errors.invalid(path / "leaseDuration", election.get("renewDeadline", "10s"), text)


def _percentage(value: Object, path: Path, errors: Errors) -> None:
    percentage = value.get("percentageOfNodesToScore")
    if percentage is not None and not 0 <= percentage <= 100:
        errors.invalid(path / "percentageOfNodesToScore", percentage, "not in valid range [0-100]")


def _profile(profile: Object, name: str, path: Path, errors: Errors) -> None:
    _unknown(profile, _PROFILE, path, errors)
    if not name:
        errors.required(path / "schedulerName")
    _percentage(profile, path, errors)
    for point, sets in (profile.get("plugins") or {}).items():
        if point not in _POINTS:
            errors.invalid(path / "plugins" / point, point, "unknown field")
            continue
        for index, plugin in enumerate(sets.get("enabled") or ()):
            if plugin.get("name") in _REMOVED:
                _removed(path / "plugins" / point / "enabled", index, plugin["name"], errors)
    seen: set[str] = set()
    known = known_plugins()
    for index, config in enumerate(profile.get("pluginConfig") or ()):
        where = (path / "pluginConfig")[index]
        plugin = config.get("name", "")
        if plugin in seen:
            errors.duplicate(where, plugin)
        seen.add(plugin)
        if plugin in _REMOVED:
            _removed(path / "pluginConfig", index, plugin, errors)
        elif plugin in known:
            known[plugin].check_arguments(config.get("args") or {}, where / "args", errors)


def _removed(path: Path, index: int, name: str, errors: Errors) -> None:
    version = "kubescheduler.config.k8s.io/v1"
    text = f'was invalid in version "{version}" (KubeSchedulerConfiguration is version "{version}")'
    errors.invalid(path[index], name, text)
