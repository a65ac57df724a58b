"""DeschedulerPolicy descheduler/v1alpha2: read, checked, completed with defaults."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pybernetes.api.resource import Object
from pybernetes.api.selectors import SelectorError, parse_labels
from pybernetes.api.text import yaml_reader
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    INT64,
    RAW,
    STRING,
    STRINGS,
    UINT,
    Many,
    Problem,
    Struct,
    aggregate,
)
from pybernetes.control_plane.descheduler.plugin import BALANCE, DESCHEDULE, FILTER, PRE_EVICTION_FILTER
from pybernetes.control_plane.descheduler.registry import known_plugins

API_VERSION, KIND = "descheduler/v1alpha2", "DeschedulerPolicy"
EVICTOR = "DefaultEvictor"
POINTS = (DESCHEDULE, BALANCE, FILTER, PRE_EVICTION_FILTER)
_SET = Struct("v1alpha2.PluginSet", {"enabled": STRINGS, "disabled": STRINGS})
_SECRET = Struct("v1alpha2.SecretReference", {"namespace": STRING, "name": STRING})
_PROMETHEUS = Struct(
    "v1alpha2.Prometheus",
    {"url": STRING, "authToken": Struct("v1alpha2.AuthToken", {"secretReference": _SECRET})},
)
_PROFILE = Struct(
    "v1alpha2.DeschedulerProfile",
    {
        "name": STRING,
        "pluginConfig": Many(Struct("v1alpha2.PluginConfig", {"name": STRING, "args": RAW})),
        "plugins": Struct("v1alpha2.Plugins", dict.fromkeys(("presort", "sort", *POINTS), _SET)),
    },
)
_POLICY = Struct(
    "v1alpha2.DeschedulerPolicy",
    {
        "kind": STRING,
        "apiVersion": STRING,
        "profiles": Many(_PROFILE),
        "nodeSelector": STRING,
        "maxNoOfPodsToEvictPerNode": UINT,
        "maxNoOfPodsToEvictPerNamespace": UINT,
        "maxNoOfPodsToEvictTotal": UINT,
        "evictionFailureEventNotification": BOOL,
        "metricsCollector": Struct("v1alpha2.MetricsCollector", {"enabled": BOOL}),
        "metricsProviders": Many(
            Struct("v1alpha2.MetricsProvider", {"source": STRING, "prometheus": _PROMETHEUS})
        ),
        "gracePeriodSeconds": INT64,
    },
)


class PolicyError(ValueError):
    """The policy cannot be used; the message says why."""


@dataclass
class ProfilePolicy:
    """One profile: which plugins work at which point, and with which arguments."""

    name: str = ""
    plugins: dict[str, list[str]] = field(default_factory=dict)
    arguments: dict[str, Object] = field(default_factory=dict)


@dataclass
class Policy:
    """What the descheduler is told; None stands for no limit."""

    profiles: list[ProfilePolicy] = field(default_factory=list)
    node_selector: str = ""
    most_per_node: int | None = None
    most_per_namespace: int | None = None
    most_in_total: int | None = None
    reports_failures: bool = False
    collects_metrics: bool = False  # from the metrics API
    prometheus: Object | None = None
    grace_period_seconds: int | None = None


def load(path: Path) -> Policy:
    """Read the policy from a file."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise PolicyError(f'failed to read policy config file "{path}": {error}') from None
    try:
        value, _ = yaml_reader.loads(raw)
    except yaml_reader.YamlError as error:
        raise PolicyError(f'failed decoding descheduler\'s policy config "{path}": {error}') from None
    return parse(value, str(path))


def parse(value: Any, name: str = "policy") -> Policy:
    """Turn an object into a policy; raise PolicyError if it is invalid."""
    try:
        given = _decoded(value)
        profiles = [_arguments(profile) for profile in given.get("profiles") or ()]
    except Problem as problem:
        raise PolicyError(f'failed decoding descheduler\'s policy config "{name}": {problem}') from None
    problems = _check_profiles(profiles) + _check_providers(given)
    if problems:
        raise PolicyError(aggregate(problems))
    selector = given.get("nodeSelector", "")
    try:
        parse_labels(selector)
    except SelectorError as error:
        raise PolicyError(f"failed to parse nodeSelector: {error}") from None
    sources = {provider.get("source", ""): provider for provider in given.get("metricsProviders") or ()}
    return Policy(
        profiles=[_completed(profile) for profile in profiles],
        node_selector=selector,
        most_per_node=given.get("maxNoOfPodsToEvictPerNode"),
        most_per_namespace=given.get("maxNoOfPodsToEvictPerNamespace"),
        most_in_total=given.get("maxNoOfPodsToEvictTotal"),
        reports_failures=given.get("evictionFailureEventNotification", False),
        collects_metrics=(given.get("metricsCollector") or {}).get("enabled", False)
        or "KubernetesMetrics" in sources,
        prometheus=(sources.get("Prometheus") or {}).get("prometheus"),
        grace_period_seconds=given.get("gracePeriodSeconds"),
    )


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        raise Problem("couldn't get version/kind; json parse error: json: cannot unmarshal into Go value")
    for key, name in (("kind", "Kind"), ("apiVersion", "apiVersion")):
        if not value.get(key):
            shown = json.dumps(value, default=str, skipkeys=True, separators=(",", ":"))
            raise Problem(f"Object '{name}' is missing in '{shown}'")
    kind, version = value["kind"], value["apiVersion"]
    if (kind, version) != (KIND, API_VERSION):
        raise Problem(f'no kind "{kind}" is registered for version "{version}"')
    return _POLICY.decode(value)


def _arguments(profile: Object) -> ProfilePolicy:
    """Read the arguments of a profile's plugins; those of unknown plugins are complained about later."""
    known = known_plugins()
    result = ProfilePolicy(profile.get("name", ""))
    plugins = profile.get("plugins") or {}
    result.plugins = {point: list((plugins.get(point) or {}).get("enabled") or ()) for point in POINTS}
    for config in profile.get("pluginConfig") or ():
        name = config.get("name", "")
        # The first of a name counts, as upstream's.
        arguments = config.get("args") or {}
        if name in known:
            arguments = known[name].arguments_type.decode(arguments)
        result.arguments.setdefault(name, arguments)
    return result


def _check_profiles(profiles: list[ProfilePolicy]) -> list[str]:
    known, problems = known_plugins(), []
    for profile in profiles:
        for name, arguments in profile.arguments.items():
            if name not in known:
                problems.append(f"in profile {profile.name}: plugin {name} in pluginConfig not registered")
                continue
            wrong = known[name].check(arguments)
            if wrong:
                problems.append(f"in profile {profile.name}: {aggregate(wrong)}")
    return problems


def _check_providers(given: Object) -> list[str]:
    problems: list[str] = []
    sources: dict[str, Object] = {}
    for provider in given.get("metricsProviders") or ():
        source = provider.get("source", "")
        if source in sources:
            text = (
                f'metric provider "{source}" is already configured, each source can be configured only once'
            )
            problems.append(text)
        sources.setdefault(source, provider)
    if "KubernetesMetrics" in sources and (given.get("metricsCollector") or {}).get("enabled"):
        problems.append("it is not allowed to combine metrics provider when metrics collector is enabled")
    if "Prometheus" not in sources:
        return problems
    prometheus = sources["Prometheus"].get("prometheus")
    if prometheus is None:
        return [*problems, "prometheus configuration is required when prometheus source is enabled"]
    if not prometheus.get("url"):
        problems.append("prometheus URL is required when prometheus is enabled")
    elif problem := _url_problem(prometheus["url"]):
        problems.append(f"error parsing prometheus URL: {problem}")
    if "authToken" in prometheus:
        secret = prometheus["authToken"].get("secretReference")
        if secret is None:
            problems.append("prometheus authToken secret is expected to be set when authToken field is")
        elif not secret.get("name") or not secret.get("namespace"):
            problems.append("prometheus authToken secret reference does not set both namespace and name")
    return problems


def _url_problem(url: str) -> str:
    """Return why a URL cannot be asked; nothing if it can."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError as error:
        return f'parse "{url}": {error}'
    return "" if known else f'parse "{url}": not a URL of http or https'


def _completed(profile: ProfilePolicy) -> ProfilePolicy:
    """Add the evictor, which always has a say, and the defaults of arguments."""
    known = known_plugins()
    profile.arguments.setdefault(EVICTOR, {})
    for point in (FILTER, PRE_EVICTION_FILTER):
        if EVICTOR not in profile.plugins[point]:
            profile.plugins[point].insert(0, EVICTOR)
    for name, arguments in profile.arguments.items():
        profile.arguments[name] = known[name].complete(arguments)
    return profile
