"""The command line of kube-proxy, with upstream's names and defaults, and the configuration that it means."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

from pybernetes.api import feature_gates
from pybernetes.api.resource import Object
from pybernetes.lib import flags
from pybernetes.node.proxy import config

log = logging.getLogger(__name__)
# Flags that mean the same as a field of KubeProxyConfiguration; with --config the file wins.
FIELDS = {
    "bind-address": "bindAddress", "bind-address-hard-fail": "bindAddressHardFail", "cluster-cidr": "clusterCIDR",
    "config-sync-period": "configSyncPeriod", "conntrack-max-per-core": "conntrack.maxPerCore",
    "conntrack-min": "conntrack.min", "conntrack-tcp-be-liberal": "conntrack.tcpBeLiberal",
    "conntrack-tcp-timeout-close-wait": "conntrack.tcpCloseWaitTimeout",
    "conntrack-tcp-timeout-established": "conntrack.tcpEstablishedTimeout",
    "conntrack-udp-timeout": "conntrack.udpTimeout", "conntrack-udp-timeout-stream": "conntrack.udpStreamTimeout",
    "detect-local-mode": "detectLocalMode", "healthz-bind-address": "healthzBindAddress",
    "iptables-localhost-nodeports": "iptables.localhostNodePorts",
    "iptables-masquerade-bit": "iptables.masqueradeBit", "iptables-min-sync-period": "iptables.minSyncPeriod",
    "iptables-sync-period": "iptables.syncPeriod", "ipvs-exclude-cidrs": "ipvs.excludeCIDRs",
    "ipvs-min-sync-period": "ipvs.minSyncPeriod", "ipvs-scheduler": "ipvs.scheduler",
    "ipvs-strict-arp": "ipvs.strictARP", "ipvs-sync-period": "ipvs.syncPeriod",
    "ipvs-tcp-timeout": "ipvs.tcpTimeout", "ipvs-tcpfin-timeout": "ipvs.tcpFinTimeout",
    "ipvs-udp-timeout": "ipvs.udpTimeout", "kube-api-burst": "clientConnection.burst",
    "kube-api-content-type": "clientConnection.contentType", "kube-api-qps": "clientConnection.qps",
    "kubeconfig": "clientConnection.kubeconfig", "masquerade-all": "iptables.masqueradeAll",
    "metrics-bind-address": "metricsBindAddress", "nodeport-addresses": "nodePortAddresses",
    "oom-score-adj": "oomScoreAdj", "pod-bridge-interface": "detectLocal.bridgeInterface",
    "pod-interface-name-prefix": "detectLocal.interfaceNamePrefix", "profiling": "enableProfiling",
    "proxy-mode": "mode", "show-hidden-metrics-for-version": "showHiddenMetricsForVersion",
}  # fmt: skip
# Flags of upstream's command lines that mean nothing here, and why.
_IGNORED = {
    **{name: flags.LOG_FLAGS[name] for name in ("logging-format", "log-flush-frequency", "vmodule", "logtostderr")},
    "healthz-port": "upstream removed it: see --healthz-bind-address",
    "metrics-port": "upstream removed it: see --metrics-bind-address",
    "udp-timeout": "of the mode userspace, which upstream removed",
}  # fmt: skip


def parser(summary: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="kube-proxy", description=summary, allow_abbrev=False)
    result.add_argument("--config", default="", help="file with a KubeProxyConfiguration")
    result.add_argument("--hostname-override", default="", help="the name of the node, also over the file")
    result.add_argument("--master", default="", help="address of the API server, instead of the kubeconfig's")
    result.add_argument(
        "--write-config-to", default="", help="write the default configuration to a file and exit"
    )
    for name, text in (("cleanup", "remove all rules of all modes and exit"),
                       ("init-only", "set what only root can set, and exit")):  # fmt: skip
        result.add_argument(f"--{name}", type=flags.boolean, nargs="?", const=True, default=False, help=text)
    group = result.add_argument_group("fields of KubeProxyConfiguration, where no file is given")
    for name, path in FIELDS.items():
        section, _, field = path.rpartition(".")
        default = (config.DEFAULTS[section] if section else config.DEFAULTS)[field]
        kind: Any = str
        options: dict[str, Any] = {}
        if isinstance(default, bool):
            kind, options = flags.boolean, {"nargs": "?", "const": True}
        elif isinstance(default, int | float):
            kind = float if name == "kube-api-qps" else int
        elif isinstance(default, list):
            kind = flags.strings
        group.add_argument(f"--{name}", dest=f"field_{path}", type=kind, default=None, **options)
    flags.add(group, [feature_gates.FLAG])
    flags.add_ignored(result, _IGNORED)
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    return result


def configuration(arguments: argparse.Namespace) -> Object:
    """Return the KubeProxyConfiguration of the file, or else of the flags."""
    given: Object = {}
    if arguments.config:
        given = config.load(Path(arguments.config))
    else:
        for name, value in vars(arguments).items():
            if name.startswith("field_") and value is not None:
                section, _, field = name.removeprefix("field_").rpartition(".")
                holder = given.setdefault(section, {}) if section else given
                holder[field] = list(value) if isinstance(value, tuple) else value
        # The flags named after iptables are those of the mode that is used.
        if given.get("mode") == "nftables":
            given["nftables"] = {key: value for key, value in given.get("iptables", {}).items()
                                 if key != "localhostNodePorts"}  # fmt: skip
    if arguments.hostname_override:
        given["hostnameOverride"] = arguments.hostname_override
    if not arguments.config and arguments.feature_gates:
        given["featureGates"] = feature_gates.parse(arguments.feature_gates)
    feature_gates.decide(given.get("featureGates") or {})
    flags.warn_ignored(arguments, _IGNORED)
    for remark in config.remarks(given):
        log.warning("KubeProxyConfiguration: %s", remark)
    return config.completed(given)
