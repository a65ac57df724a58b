"""The settings of a node that the configurations of its containers depend on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pybernetes.node.kubelet.cgroups.linux_resources import PERIOD
from pybernetes.node.kubelet.config import DEFAULTS
from pybernetes.node.kubelet.containers.resolv_conf import ClusterDns, ResolvConf, parse_resolv_conf
from pybernetes.node.kubelet.options import Options
from pybernetes.node.stats import host

_LOG_LINKS = Path("/var/log/containers")  # beside the usual folder of logs


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What sandboxes and containers depend on besides their pod."""

    root: Path
    logs: Path
    dns: ClusterDns
    memory_capacity: int = 0
    seccomp_default: bool = False
    cfs_quota: bool = True
    cfs_period: int = PERIOD  # microseconds
    oom_group: bool = False  # whether all processes of a container are killed when its memory runs out
    log_links: Path | None = None  # where logs have the names that log collectors look for
    dead_runs: int = 1  # how many earlier runs of a container are kept for their logs

    @property
    def seccomp_root(self) -> Path:
        """The folder of local seccomp profiles."""
        return self.root / "seccomp"


def node_settings(options: Options) -> NodeSettings:
    """Return the settings that a kubelet's options stand for on this machine."""
    settings = options.configuration
    resolv = Path(settings["resolvConf"]) if settings["resolvConf"] else None
    own = parse_resolv_conf(resolv.read_text()) if resolv is not None and resolv.exists() else ResolvConf()
    unified = Path("/sys/fs/cgroup/cgroup.controllers").exists()
    return NodeSettings(
        root=options.root,
        logs=Path(settings["podLogsDir"]),
        dns=ClusterDns(tuple(settings["clusterDNS"]), settings["clusterDomain"], own),
        memory_capacity=host.memory_total(),
        seccomp_default=bool(settings["seccompDefault"]),
        cfs_quota=bool(settings["cpuCFSQuota"]),
        cfs_period=int(options.seconds("cpuCFSQuotaPeriod") * 1e6),
        oom_group=unified and not settings["singleProcessOOMKill"],
        log_links=_LOG_LINKS if settings["podLogsDir"] == DEFAULTS["podLogsDir"] else None,
        dead_runs=options.dead_runs,
    )
