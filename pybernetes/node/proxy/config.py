"""The configuration of kube-proxy: KubeProxyConfiguration v1alpha1."""

from __future__ import annotations

import ipaddress
import logging
from pathlib import Path
from typing import Any

from pybernetes.api import strict_types
from pybernetes.api.resource import Object
from pybernetes.lib import discover
from pybernetes.lib.flags import duration

log = logging.getLogger(__name__)
GROUP = "kubeproxy.config.k8s.io"
API_VERSION = f"{GROUP}/v1alpha1"
KIND = "KubeProxyConfiguration"
HEALTHZ_PORT, METRICS_PORT = 10256, 10249
_PERIODS = {"syncPeriod": "30s", "minSyncPeriod": "1s"}

# Upstream's defaults.
DEFAULTS: Object = {
    "bindAddress": "0.0.0.0",
    "bindAddressHardFail": False,
    "clientConnection": {
        "acceptContentTypes": "", "burst": 10, "contentType": "application/json", "kubeconfig": "", "qps": 5.0,
    },
    "clusterCIDR": "",
    "configSyncPeriod": "15m0s",
    "conntrack": {
        "maxPerCore": 32768, "min": 131072, "tcpBeLiberal": False, "tcpCloseWaitTimeout": "1h0m0s",
        "tcpEstablishedTimeout": "24h0m0s", "udpStreamTimeout": "0s", "udpTimeout": "0s",
    },
    "detectLocal": {"bridgeInterface": "", "interfaceNamePrefix": ""},
    "detectLocalMode": "",
    "enableProfiling": False,
    "featureGates": {},
    "healthzBindAddress": "",
    "hostnameOverride": "",
    "iptables": {"localhostNodePorts": True, "masqueradeAll": False, "masqueradeBit": 14, **_PERIODS},
    "ipvs": {
        "excludeCIDRs": [], "scheduler": "", "strictARP": False, "tcpFinTimeout": "0s", "tcpTimeout": "0s",
        "udpTimeout": "0s", "syncPeriod": "30s", "minSyncPeriod": "0s",
    },
    "logging": {},
    "metricsBindAddress": "",
    "mode": "",
    "nftables": {"masqueradeAll": False, "masqueradeBit": 14, **_PERIODS},
    "nodePortAddresses": [],
    "oomScoreAdj": -999,
    "portRange": "",
    "showHiddenMetricsForVersion": "",
    "windowsRunAsService": False,
    "winkernel": {},
}  # fmt: skip
MODES = "pybernetes.node.proxy"  # the package with a folder for each mode
DEFAULT_MODE = "iptables"
LOCAL_MODES = ("ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix")


# Fields that change nothing here, whatever they say, and why. The log tells when one is set.
WITHOUT_EFFECT = {
    "clientConnection.acceptContentTypes": "the API server is spoken to in JSON, which says the same",
    "clientConnection.contentType": "the API server is spoken to in JSON, which says the same",
    "configSyncPeriod": "objects are watched, and listed again only when a watch breaks",
    "portRange": "nothing is proxied in user space by ports, as upstream",
    "showHiddenMetricsForVersion": "no metric is hidden",
    "windowsRunAsService": "this is no Windows",
    "winkernel": "this is no Windows",
}
# Fields of which only one value is true here, and why.
REFUSED = {"enableProfiling": (False, "there are no profiles to be had")}
_SCHEME = "pkg/proxy/apis/config/scheme/scheme.go:30"


class ConfigurationError(ValueError):
    """The configuration has an unknown field or an impossible value; the text names the field."""


def load(path: Path) -> Object:
    """Return the configuration of a file, without defaults."""
    try:
        raw = strict_types.read_file(str(path))
        value, duplicates = strict_types.read_object(raw, {(API_VERSION, KIND)}, _SCHEME)
    except (OSError, strict_types.Problem) as error:
        raise ConfigurationError(f"failed to load config file {path}: {error}") from None
    configuration = {key: field for key, field in value.items() if key not in ("kind", "apiVersion")}
    unknown: list[str] = []
    try:
        known = strict_types.of_defaults(KIND, DEFAULTS).read(configuration, "", unknown, KIND)
    except strict_types.Problem as problem:
        raise ConfigurationError(f"failed to load config file {path}: failed to decode: {problem}") from None
    complaints = [*duplicates, *(f'unknown field "{field}"' for field in unknown)]
    if complaints:  # as upstream, for as long as this is v1alpha1
        log.warning(
            "Using lenient decoding as strict decoding failed: strict decoding error: %s",
            ", ".join(complaints),
        )
    return known


def remarks(given: Object) -> list[str]:
    """Return which fields that are given change nothing, and why."""
    texts = []
    for path, why in WITHOUT_EFFECT.items():
        value: Any = given
        default: Any = DEFAULTS
        for name in path.split("."):
            value, default = (value or {}).get(name), default[name]
        if isinstance(value, dict) and isinstance(default, dict):  # what is empty is not said
            value = {
                key: item
                for key, item in value.items()
                if item not in (None, "", 0, "0s", False) and item != default.get(key)
            }
            default = {}
        if value not in (None, "", "0s", default):
            texts.append(f"{path} changes nothing here: {why}")
    return texts


def table() -> str:
    """Return what becomes of each field, as a table of Markdown."""
    rows = {}
    for name, default in DEFAULTS.items():
        for path in (
            [f"{name}.{inner}" for inner in default] if isinstance(default, dict) and default else [name]
        ):
            rows[path] = ("effective", "")
            why = WITHOUT_EFFECT.get(path) or WITHOUT_EFFECT.get(name)
            if why:
                rows[path] = ("accepted without effect", why)
            elif path in REFUSED:
                rows[path] = (f"only `{str(REFUSED[path][0]).lower()}`, others refused", REFUSED[path][1])
    lines = [f"| `{path}` | {verdict} | {why} |" for path, (verdict, why) in sorted(rows.items())]
    return "\n".join(("| field | here | because |", "|---|---|---|", *lines)) + "\n"


def completed(given: Object) -> Object:
    """Return a configuration with its defaults; ConfigurationError if it is invalid."""
    unknown = given.keys() - DEFAULTS.keys()
    if unknown:
        raise ConfigurationError(f'unknown field "{sorted(unknown)[0]}"')
    result: Object = {}
    for key, default in DEFAULTS.items():
        value = given.get(key)
        if isinstance(default, dict) and default:
            inner = value or {}
            unknown_inner = inner.keys() - default.keys()
            if unknown_inner:
                raise ConfigurationError(f'unknown field "{key}.{sorted(unknown_inner)[0]}"')
            result[key] = {**default, **{name: field for name, field in inner.items() if field is not None}}
        else:
            result[key] = default if value is None else value
    ipv6 = ":" in str(result["bindAddress"])
    result["healthzBindAddress"] = _with_port(
        result["healthzBindAddress"] or ("[::]" if ipv6 else "0.0.0.0"), HEALTHZ_PORT
    )
    result["metricsBindAddress"] = _with_port(
        result["metricsBindAddress"] or ("[::1]" if ipv6 else "127.0.0.1"), METRICS_PORT
    )
    validate(result)
    return result


def _with_port(address: str, port: int) -> str:
    if address.startswith("[") or address.count(":") == 1:
        return address if address.rpartition("]")[2].count(":") else f"{address}:{port}"
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def validate(config: Object) -> None:
    """Check every field; ConfigurationError names the first that is wrong."""
    for name, (only, why) in REFUSED.items():
        if config[name] != only:
            raise ConfigurationError(
                f"{name}: Invalid value: {str(config[name]).lower()}: is not supported: {why}"
            )
    if (config["logging"] or {}).get("format") not in (None, "", "text"):
        raise ConfigurationError("logging.format: Invalid value: only text is supported")
    try:
        ipaddress.ip_address(config["bindAddress"])
    except ValueError:
        raise ConfigurationError(
            f"bindAddress: Invalid value: {config['bindAddress']!r}: not a valid textual representation of an IP address"
        ) from None
    if not -1000 <= config["oomScoreAdj"] <= 1000:
        raise ConfigurationError(
            f"oomScoreAdj: Invalid value: {config['oomScoreAdj']}: must be within the range [-1000, 1000]"
        )
    for name in ("maxPerCore", "min"):
        if config["conntrack"][name] < 0:
            raise ConfigurationError(
                f"conntrack.{name}: Invalid value: {config['conntrack'][name]}: must be greater than or equal to 0"
            )
    if config["clientConnection"]["burst"] < 0:
        raise ConfigurationError(
            f"clientConnection.burst: Invalid value: {config['clientConnection']['burst']}: must be greater than or equal to 0"
        )
    mode, modes = mode_of(config), mode_names()
    if mode not in modes:
        raise ConfigurationError(f"mode: Invalid value: {mode!r}: must be one of {', '.join(modes)}")
    if config["detectLocalMode"] and config["detectLocalMode"] not in LOCAL_MODES:
        raise ConfigurationError(
            f"detectLocalMode: Invalid value: {config['detectLocalMode']!r}: must be one of {', '.join(LOCAL_MODES)}"
        )
    for section in ("iptables", "nftables"):
        if not 0 <= config[section]["masqueradeBit"] <= 31:
            raise ConfigurationError(
                f"{section}.masqueradeBit: Invalid value: must be within the range [0, 31]"
            )
    for section in ("iptables", "ipvs", "nftables"):
        for name in (
            *_PERIODS,
            *(("tcpTimeout", "tcpFinTimeout", "udpTimeout") if section == "ipvs" else ()),
        ):
            _duration(f"{section}.{name}", config[section][name])
    for excluded in config["ipvs"]["excludeCIDRs"]:
        _network("ipvs.excludeCIDRs", excluded)
    for name in ("tcpEstablishedTimeout", "tcpCloseWaitTimeout", "udpTimeout", "udpStreamTimeout"):
        _duration(f"conntrack.{name}", config["conntrack"][name])
    for cluster_range in cluster_ranges(config):
        _network("clusterCIDR", cluster_range)
    for selector in config["nodePortAddresses"]:
        if selector not in ("primary", "localhost", "all"):
            _network("nodePortAddresses", selector)
    if len(config["nodePortAddresses"]) > 1 and "all" in config["nodePortAddresses"]:
        raise ConfigurationError("nodePortAddresses: Invalid value: all may not be combined with others")
    for name in ("healthzBindAddress", "metricsBindAddress"):
        if not config[name].rpartition(":")[2].isdigit():
            raise ConfigurationError(f"{name}: Invalid value: {config[name]!r}: must be IP:port")


def _duration(name: str, value: object) -> None:
    try:
        if duration(str(value)) < 0:
            raise ValueError("must be greater than or equal to 0")
    except ValueError as error:
        raise ConfigurationError(f"{name}: Invalid value: {value!r}: {error}") from None


def _network(name: str, value: str) -> None:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise ConfigurationError(f"{name}: Invalid value: {value!r}: must be a valid CIDR") from None


def mode_names() -> list[str]:
    """Return the names of all modes, without importing them."""
    return discover.names(MODES, folders=True)


def mode_of(config: Object) -> str:
    """Return the name of the mode to use."""
    return config["mode"] or DEFAULT_MODE


def cluster_ranges(config: Object) -> list[str]:
    """Return the ranges of pods, one for each address family."""
    return [text.strip() for text in str(config["clusterCIDR"]).split(",") if text.strip()]


def address_of(text: str) -> tuple[str, int]:
    """Return the host and the port of an address to listen on."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def to_yaml(config: Object) -> str:
    """Return a configuration as it is written in a file."""
    import yaml

    return yaml.safe_dump({"apiVersion": API_VERSION, "kind": KIND, **config}, sort_keys=True)
