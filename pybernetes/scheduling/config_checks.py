"""What must hold in a KubeSchedulerConfiguration, with upstream's paths and words."""

from __future__ import annotations

from pybernetes.api.field import ROOT, Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names
from pybernetes.api.validation.selectors import validate_node_selector, validate_node_selector_term
from pybernetes.lib import flags

# Plugins that once were: naming them is an error, not a plugin that is unknown.
_REMOVED = frozenset(("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"))
_POINTS = frozenset(
    [
        "multiPoint",
        "preEnqueue",
        "queueSort",
        "preFilter",
        "filter",
        "postFilter",
        "preScore",
        "score",
        "reserve",
        "permit",
        "preBind",
        "bind",
        "postBind",
    ]
)
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
    for index, config in enumerate(profile.get("pluginConfig") or ()):
        where = (path / "pluginConfig")[index]
        plugin = config.get("name", "")
        if plugin in seen:
            errors.duplicate(where, plugin)
        seen.add(plugin)
        if plugin in _REMOVED:
            _removed(path / "pluginConfig", index, plugin, errors)
        elif plugin in _ARGUMENTS:
            _ARGUMENTS[plugin](config.get("args") or {}, where / "args", errors)


def _removed(path: Path, index: int, name: str, errors: Errors) -> None:
    version = "kubescheduler.config.k8s.io/v1"
    text = f'was invalid in version "{version}" (KubeSchedulerConfiguration is version "{version}")'
    errors.invalid(path[index], name, text)


# -- arguments of plugins --------------------------------------------------------------------------------


def _preemption(args: Object, path: Path, errors: Errors) -> None:
    percentage = args.get("minCandidateNodesPercentage", 10)
    absolute = args.get("minCandidateNodesAbsolute", 100)
    where, other = path / "minCandidateNodesPercentage", path / "minCandidateNodesAbsolute"
    if not 0 <= percentage <= 100:
        errors.invalid(where, percentage, "not in valid range [0, 100]")
    if absolute < 0:
        errors.invalid(other, absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        errors.invalid(where, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute")
        errors.invalid(other, absolute, "cannot be zero at the same time as minCandidateNodesPercentage")


def _inter_pod_affinity(args: Object, path: Path, errors: Errors) -> None:
    weight = args.get("hardPodAffinityWeight", 1)
    if not 0 <= weight <= 100:
        errors.invalid(path / "hardPodAffinityWeight", weight, "not in valid range [0, 100]")


def _node_affinity(args: Object, path: Path, errors: Errors) -> None:
    added = args.get("addedAffinity") or {}
    required = added.get("requiredDuringSchedulingIgnoredDuringExecution")
    where = path / "addedAffinity"
    if required is not None:
        validate_node_selector(required, where / "requiredDuringSchedulingIgnoredDuringExecution", errors)
    for index, term in enumerate(added.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        place = (where / "preferredDuringSchedulingIgnoredDuringExecution")[index]
        validate_node_selector_term(term.get("preference") or {}, place, errors)


def _spread(args: Object, path: Path, errors: Errors) -> None:
    kind, constraints = args.get("defaultingType") or "System", args.get("defaultConstraints") or []
    if kind not in ("System", "List"):
        errors.unsupported(path / "defaultingType", kind, ["System", "List"])
    elif kind == "System" and constraints:
        errors.invalid(path / "defaultingType", kind, "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        where = (path / "defaultConstraints")[index]
        key, action = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
        if constraint.get("maxSkew", 0) <= 0:
            errors.invalid(where / "maxSkew", constraint.get("maxSkew", 0), "not in valid range (0, inf)")
        if not key:
            errors.required(where / "topologyKey", "can not be empty")
        else:
            for problem in names.qualified_name(key):
                errors.invalid(where / "topologyKey", key, problem)
        if not action:
            errors.required(where / "whenUnsatisfiable", "can not be empty")
        elif action not in ("DoNotSchedule", "ScheduleAnyway"):
            errors.unsupported(where / "whenUnsatisfiable", action, ["DoNotSchedule", "ScheduleAnyway"])
        if constraint.get("labelSelector") is not None:
            text = "constraint must not define a selector, as they deduced for each pod"
            errors.forbidden(where / "labelSelector", text)
        if (key, action) in seen:
            errors.duplicate(where, f"{{{key}, {action}}}")
        seen.add((key, action))


def _shape(shape: list[Object], path: Path, errors: Errors) -> None:
    if not shape:
        errors.required(path, "at least one point must be specified")
        return
    for index in range(1, len(shape)):
        if shape[index - 1].get("utilization", 0) >= shape[index].get("utilization", 0):
            where = path[index] / "utilization"
            errors.invalid(
                where, shape[index].get("utilization", 0), "values must be sorted in increasing order"
            )
            break
    for index, point in enumerate(shape):
        for name, most in (("utilization", 100), ("score", 10)):
            if not 0 <= point.get(name, 0) <= most:
                errors.invalid(path[index] / name, point[name], f"not in valid range [0, {most}]")


def _fit(args: Object, path: Path, errors: Errors) -> None:
    for index, name in enumerate(args.get("ignoredResources") or ()):
        for problem in names.qualified_name(name):
            errors.invalid((path / "ignoredResources")[index], name, problem)
    for index, group in enumerate(args.get("ignoredResourceGroups") or ()):
        where = (path / "ignoredResourceGroups")[index]
        if "/" in group:
            errors.invalid(where, group, "resource group name can't contain '/'")
        for problem in names.qualified_name(group):
            errors.invalid(where, group, problem)
    strategy, where = args.get("scoringStrategy"), path / "scoringStrategy"
    if strategy is None:
        return
    known = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]
    if strategy.get("type") not in known:
        errors.unsupported(where / "type", strategy.get("type", ""), known)
    for index, resource in enumerate(strategy.get("resources") or ()):
        weight = resource.get("weight") or 1
        if not 0 < weight <= 100:
            text = f"resource weight of {resource.get('name')} not in valid range (0, 100]"
            errors.invalid((where / "resources")[index] / "weight", weight, text)
    ratio, at = strategy.get("requestedToCapacityRatio"), where / "requestedToCapacityRatio"
    if strategy.get("type") == "RequestedToCapacityRatio":
        if ratio is None:
            errors.required(at, "must be specified when type is RequestedToCapacityRatio")
        else:
            _shape(ratio.get("shape") or [], at / "shape", errors)
    elif ratio is not None:
        errors.forbidden(at, "must be nil when type is not RequestedToCapacityRatio")


def _balanced(args: Object, path: Path, errors: Errors) -> None:
    seen: set[str] = set()
    for index, resource in enumerate(args.get("resources") or ()):
        where = (path / "resources")[index]
        if resource.get("name") in seen:
            errors.duplicate(where / "name", resource.get("name"))
        seen.add(resource.get("name", ""))
        if (resource.get("weight") or 1) != 1:
            errors.invalid(where / "weight", resource["weight"], "must be 1")


def _volume_binding(args: Object, path: Path, errors: Errors) -> None:
    seconds = args.get("bindTimeoutSeconds", 600)
    if seconds < 0:
        text = "invalid BindTimeoutSeconds, should not be a negative value"
        errors.invalid(path / "bindTimeoutSeconds", seconds, text)
    if args.get("shape") is not None:
        _shape(args["shape"], path / "shape", errors)


_ARGUMENTS = {
    "DefaultPreemption": _preemption,
    "InterPodAffinity": _inter_pod_affinity,
    "NodeAffinity": _node_affinity,
    "NodeResourcesBalancedAllocation": _balanced,
    "NodeResourcesFit": _fit,
    "PodTopologySpread": _spread,
    "VolumeBinding": _volume_binding,
}
