"""The command lines of a local cluster's parts, as if each were a process: what they run with, and what is shown of them."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.lib.tls import ciphers
from pybernetes.tools.local.addons import addons
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

HEALTH_PORTS = CONTROLLER_MANAGER_PORT, SCHEDULER_PORT = 10257, 10259
# Suites with authenticated encryption: none of CBC's, and none without forward secrecy.
CIPHERS = ",".join(
    name for name in sorted(ciphers.PREFERRED) if "_CBC_" not in name and not name.endswith("POLY1305")
)
_ADMISSION = "--enable-admission-plugins="


def health_address(settings: Settings) -> str:
    """Return where the controller manager and the scheduler show their health."""
    return "127.0.0.1" if settings.address == "0.0.0.0" else settings.address


def apiserver(cluster: Cluster, settings: Settings, more: Sequence[str] = ()) -> list[str]:
    """Return the flags of the API server; those that the user gives win over ours and over ``more``."""
    certificates = cluster.certificates
    return [
        f"--bind-address={settings.address}",
        f"--secure-port={settings.port}",
        f"--cert-dir={certificates}",
        f"--data-dir={cluster.data}",
        f"--service-cluster-ip-range={settings.service_range}",
        "--authorization-mode=Node,RBAC",
        "--enable-bootstrap-token-auth=true",
        "--allow-privileged=true",
        f"--tls-cipher-suites={CIPHERS}",
        "--profiling=false",
        # For whoever gives --audit-log-path: as long as benchmarks want logs to be kept.
        "--audit-log-maxage=30",
        "--audit-log-maxbackup=10",
        "--audit-log-maxsize=100",
        f"--kubelet-client-certificate={certificates / addons.KUBELET_CLIENT}.crt",
        f"--kubelet-client-key={certificates / addons.KUBELET_CLIENT}.key",
        f"--kubelet-certificate-authority={certificates / 'ca.crt'}",
        "--kubelet-preferred-address-types=InternalIP,Hostname",
        *more,
        *_with_admission(settings),
    ]


def _with_admission(settings: Settings) -> list[str]:
    """Return the user's own flags, and the admission plugins of theirs and ours in one."""
    plugins = ["NodeRestriction"]  # on anyway; scanners and audit-security read flags
    if settings.deny_external_ips:
        plugins.append("DenyServiceExternalIPs")
    own = []
    for argument in settings.apiserver_arguments:
        if argument.startswith(_ADMISSION):
            plugins += [name for name in argument.removeprefix(_ADMISSION).split(",") if name not in plugins]
        else:
            own.append(argument)
    return [_ADMISSION + ",".join(plugins), *own]


def controller_manager(cluster: Cluster, settings: Settings) -> list[str]:
    """Return the flags of the controller manager; those that the user gives win."""
    certificates = cluster.certificates
    return [
        f"--bind-address={health_address(settings)}",
        f"--secure-port={CONTROLLER_MANAGER_PORT}",
        f"--tls-cert-file={certificates / 'apiserver.crt'}",
        f"--tls-private-key-file={certificates / 'apiserver.key'}",
        f"--tls-cipher-suites={CIPHERS}",
        f"--client-ca-file={certificates / 'ca.crt'}",
        "--allocate-node-cidrs=true",
        f"--cluster-cidr={settings.pod_range}",
        f"--service-cluster-ip-range={settings.service_range}",
        f"--root-ca-file={certificates / 'ca.crt'}",
        f"--cluster-signing-cert-file={certificates / 'ca.crt'}",
        f"--cluster-signing-key-file={certificates / 'ca.key'}",
        f"--service-account-private-key-file={certificates / 'sa.key'}",
        "--use-service-account-credentials=true",
        "--leader-elect=false",  # there is one, in the API server's own process
        "--profiling=false",
        *settings.controller_arguments,
    ]


def scheduler(cluster: Cluster, settings: Settings) -> list[str]:
    """Return the flags of the scheduler."""
    certificates = cluster.certificates
    return [
        f"--bind-address={health_address(settings)}",
        f"--secure-port={SCHEDULER_PORT}",
        f"--tls-cert-file={certificates / 'apiserver.crt'}",
        f"--tls-private-key-file={certificates / 'apiserver.key'}",
        f"--tls-cipher-suites={CIPHERS}",
        f"--client-ca-file={certificates / 'ca.crt'}",
        "--leader-elect=false",
        "--profiling=false",
    ]


def kube_proxy(settings: Settings, node: str) -> list[str]:
    """Return the flags of a node's kube-proxy; small clusters can do with less waiting than upstream's."""
    return [
        f"--proxy-mode={settings.proxy_mode}",
        f"--cluster-cidr={settings.pod_range}",
        f"--hostname-override={node}",
        "--iptables-min-sync-period=100ms",
        # Load balancers ask by every family whether a node is well.
        *(["--healthz-bind-address=[::]"] if settings.node_range_v6 else ()),
        *settings.proxy_arguments,
    ]
