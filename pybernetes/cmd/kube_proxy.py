"""kube-proxy: has the addresses of Services lead to their pods on a node."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from pybernetes.lib import flags

SUMMARY = "Have the addresses of Services lead to their pods on this node"

# Flags that say the same as a field of KubeProxyConfiguration; with --config the file's word counts.
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
    "iptables-sync-period": "iptables.syncPeriod", "kube-api-burst": "clientConnection.burst",
    "kube-api-content-type": "clientConnection.contentType", "kube-api-qps": "clientConnection.qps",
    "kubeconfig": "clientConnection.kubeconfig", "masquerade-all": "iptables.masqueradeAll",
    "metrics-bind-address": "metricsBindAddress", "nodeport-addresses": "nodePortAddresses",
    "oom-score-adj": "oomScoreAdj", "pod-bridge-interface": "detectLocal.bridgeInterface",
    "pod-interface-name-prefix": "detectLocal.interfaceNamePrefix", "profiling": "enableProfiling",
    "proxy-mode": "mode", "show-hidden-metrics-for-version": "showHiddenMetricsForVersion",
}  # fmt: skip
# What upstream's command lines carry and what means nothing here.
_IGNORED = ("feature-gates", "ipvs-sync-period", "ipvs-min-sync-period", "ipvs-scheduler", "ipvs-exclude-cidrs",
            "ipvs-strict-arp", "ipvs-tcp-timeout", "ipvs-tcpfin-timeout", "ipvs-udp-timeout", "healthz-port",
            "metrics-port", "logging-format", "log-flush-frequency", "vmodule", "logtostderr", "udp-timeout")  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """The command line, with upstream's names and defaults."""
    from pybernetes.node.proxy.config import DEFAULTS

    result = argparse.ArgumentParser(prog="kube-proxy", description=SUMMARY, allow_abbrev=False)
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
        default = (DEFAULTS[section] if section else DEFAULTS)[field]
        kind: Any = str
        more: dict[str, Any] = {}
        if isinstance(default, bool):
            kind, more = flags.boolean, {"nargs": "?", "const": True}
        elif isinstance(default, int):
            kind = float if name == "kube-api-qps" else int
        elif isinstance(default, list):
            kind = flags.strings
        group.add_argument(f"--{name}", dest=f"field_{path}", type=kind, default=None, **more)
    ignored = result.add_argument_group("accepted and ignored")
    for name in _IGNORED:
        ignored.add_argument(f"--{name}", nargs="?", help=argparse.SUPPRESS)
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    return result


def configuration(arguments: argparse.Namespace) -> dict[str, Any]:
    """The KubeProxyConfiguration: the file's, or else the flags'."""
    from pybernetes.node.proxy import config

    given: dict[str, Any] = {}
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
    return config.completed(given)


def main(argv: list[str]) -> int:
    """Runs kube-proxy until it is told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs
    from pybernetes.node.proxy.commands import CommandError
    from pybernetes.node.proxy.config import ConfigurationError

    logs.set_up(arguments.v)
    try:
        return asyncio.run(_run(arguments))
    except (OSError, ConfigurationError, ConfigError, CommandError, ValueError) as error:
        print(f"kube-proxy: {error}", file=sys.stderr)
        return 1


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes.node.proxy import config, conntrack, proxy_server

    settings = configuration(arguments)
    if arguments.write_config_to:
        Path(arguments.write_config_to).write_text(config.written(settings))
        return 0
    if arguments.cleanup:
        await proxy_server.cleanup()
        return 0
    if arguments.init_only:
        conntrack.limit(settings["conntrack"])
        return 0
    from pybernetes.api.zpages import flags_of
    from pybernetes.client import kubeconfig

    _resist(settings["oomScoreAdj"])
    connection = settings["clientConnection"]
    access = kubeconfig.load(connection["kubeconfig"] or None)
    if arguments.master:
        access.server = arguments.master
    client = access.client(user_agent="kube-proxy", qps=connection["qps"], burst=connection["burst"])
    name = (settings["hostnameOverride"] or socket.gethostname()).strip().lower()
    work = asyncio.ensure_future(
        proxy_server.run(client, settings, name, flags=flags_of(arguments, parser()))
    )
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        pass
    finally:
        await client.close()
    return 0


def _resist(score: int) -> None:
    """Says how readily the kernel ends this process when memory is short, as far as it may."""
    try:
        Path("/proc/self/oom_score_adj").write_text(str(score))
    except OSError as error:
        logging.getLogger(__name__).warning("oomScoreAdj %d: %s", score, error)
