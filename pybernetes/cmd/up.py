"""up: starts a local cluster."""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

SUMMARY = "Start a local cluster, or bring back one that is stopped"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="pyb up", description=SUMMARY, allow_abbrev=False)
    result.add_argument("name", nargs="?", default="", help="name of the cluster (default: pybernetes)")
    result.add_argument("--cluster", default="", metavar="NAME", help="name of the cluster")
    add = result.add_argument
    add("--nodes", type=int, metavar="N", help="so many nodes with real containers (default: 1; needs root)")
    add(
        "--hollow",
        type=int,
        metavar="N",
        help="so many nodes that only pretend; no real node unless --nodes is given",
    )
    add("--zones", type=int, metavar="N", help="put nodes into so many zones, by turns (default: 1)")
    add(
        "--hollow-usage",
        metavar="FILE",
        help="file that says what pods on hollow nodes use, instead of our own",
    )
    add(
        "--proxy-mode",
        metavar="MODE",
        help="how services are reached: iptables (default), another mode of kube-proxy, or none",
    )
    add("--cni", metavar="NETWORK", help="how nodes are joined: vxlan (default), host-gw, cloud, none")
    add(
        "--host-network",
        action="store_true",
        default=None,
        help="put the single node on the host's own network",
    )
    add(
        "--ip-family",
        metavar="FAMILY",
        help="addresses of pods, services and nodes: ipv4 (default), dual for both families, ipv6",
    )
    add("--pod-cidr", metavar="RANGE", help="addresses of pods (default: 10.244.0.0/16)")
    add("--service-cidr", metavar="RANGE", help="addresses of services (default: 10.96.0.0/16)")
    add(
        "--encrypt",
        action="store_true",
        default=None,
        help="encrypt secrets on the disk, with a key made once",
    )
    add(
        "--cluster-network-policy",
        action="store_true",
        default=None,
        help="serve ClusterNetworkPolicy, which the nodes enforce",
    )
    add(
        "--dns",
        metavar="SERVER",
        help="who answers names: built-in (default), or none for another name server",
    )
    add(
        "--node-local-dns",
        action="store_true",
        default=None,
        help="have a cache of names on each node, at 169.254.20.10",
    )
    add(
        "--gateway",
        action="store_true",
        default=None,
        help="carry out Ingresses and the Gateway API, with Envoy",
    )
    add("--audit", action="store_true", default=None, help="note requests in an audit log")
    add(
        "--deny-service-external-ips",
        action="store_true",
        default=None,
        help="refuse services that claim addresses for themselves (spec.externalIPs)",
    )
    add(
        "--registry-mirror",
        action="append",
        metavar="REGISTRY=URL",
        help="pull from there first; * is for all",
    )
    add("--insecure-registry", action="append", metavar="HOST", help="a registry without TLS, or unverified")
    add("--runtime", metavar="NAMES", help="run containers with these programs as well: crun, runsc")
    add(
        "--autoscaler",
        action="store_true",
        default=None,
        help="let node groups grow and shrink by themselves",
    )
    add(
        "--control-planes",
        type=int,
        metavar="N",
        help="so many control planes on machines of their own, which kubeadm installs, beside --nodes workers",
    )
    add("--etcd", metavar="WHERE", help="with --control-planes: stacked on them (default) or external")
    add(
        "--load-balancer",
        metavar="FORM",
        help="with --control-planes: what HAProxy balances: connections (l4, default) or requests (l7)",
    )
    add("--config", metavar="FILE", help="a file with the settings; flags win over it")
    add(
        "--wait",
        nargs="?",
        type=float,
        const=120.0,
        default=0.0,
        metavar="SECONDS",
        help="wait until nodes are ready",
    )
    add(
        "--dashboard",
        action="store_true",
        help="then serve the dashboard, until interrupted; the cluster stays up",
    )
    return result


def read(argv: list[str]) -> argparse.Namespace:
    """Parse the command line; a word after --wait that is no number is the name of the cluster."""
    words = list(argv)
    if "--wait" in words:
        after = words.index("--wait") + 1
        if after < len(words) and not words[after].replace(".", "", 1).isdecimal():
            words[after - 1] = "--wait=120"
    return parser().parse_args(words)


def changes(arguments: argparse.Namespace, new: bool) -> dict[str, Any]:
    """Return the settings that the command line changes; a new cluster has a node unless it says otherwise."""
    from pybernetes.tools.local import settings, settings_file

    result = settings_file.read(Path(arguments.config)) if arguments.config else {}
    names = (
        "nodes",
        "hollow",
        "zones",
        "hollow_usage",
        "proxy_mode",
        "cni",
        "host_network",
        "ip_family",
        "encrypt",
        "audit",
        "cluster_network_policy",
        "dns",
        "node_local_dns",
        "gateway",
        "autoscaler",
        "control_planes",
        "etcd",
        "load_balancer",
    )
    for name in names:
        if getattr(arguments, name) is not None:
            result[name] = getattr(arguments, name)
    if result.get("hollow_usage"):
        from pybernetes.tools.local.hollow import usage

        path = Path(result["hollow_usage"]).absolute()
        try:
            usage.read(path)  # now, where somebody sees what is wrong with it
        except (OSError, ValueError, KeyError) as error:
            raise settings.SettingsError(f"{path}: {error}") from None
        result["hollow_usage"] = str(path)
    lists = {
        "registry_mirrors": arguments.registry_mirror,
        "insecure_registries": arguments.insecure_registry,
        "runtimes": arguments.runtime and arguments.runtime.split(","),
        "deny_external_ips": arguments.deny_service_external_ips,
        "pod_range": arguments.pod_cidr,
        "service_range": arguments.service_cidr,
    }
    result |= {name: value for name, value in lists.items() if value is not None}
    if new and not {"nodes", "hollow", "node_groups", "control_planes"} & result.keys():
        result["nodes"] = 1
    return result


class Progress:
    """A line for each step; on a terminal a line at the end says what is being done and for how long."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()
        self._began = time.monotonic()
        self._doing = ""
        self._over = threading.Event()
        if self.live:
            threading.Thread(target=self._tick, daemon=True).start()

    def __call__(self, done: str, doing: str, seconds: float) -> None:
        """Print that a step is done, and remember what comes next."""
        self._doing = doing
        if done:
            mark = "\r\x1b[K\x1b[32m✔\x1b[0m " if self.live else ""
            print(f"{mark}{seconds:6.2f} s  {done}", flush=True)

    def _tick(self) -> None:
        while not self._over.wait(0.1):
            if self._doing:
                sys.stdout.write(f"\r\x1b[K  {time.monotonic() - self._began:6.1f} s  {self._doing} …")
                sys.stdout.flush()

    def close(self) -> None:
        """Remove the last line."""
        self._over.set()
        if self.live:
            sys.stdout.write("\r\x1b[K")


def main(argv: list[str]) -> int:
    """Start the cluster and print each step with its time."""
    arguments = read(argv)
    from pybernetes.node.containerd.requirements import RuntimeMissing
    from pybernetes.tools.local import lifecycle, paths
    from pybernetes.tools.local.network import server_address

    progress = Progress()
    try:
        cluster = paths.Cluster(arguments.name or arguments.cluster or paths.DEFAULT)
        asked = changes(arguments, new=not cluster.settings.exists())
        settings = lifecycle.up(cluster, asked, progress, arguments.wait)
    except RuntimeMissing as error:
        print(
            f"pyb up: {error}\npyb up --hollow 1 needs neither root nor programs: its node only pretends",
            file=sys.stderr,
        )
        return 1
    except (paths.ClusterError, ValueError, OSError) as error:
        print(f"pyb up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("pyb up: interrupted; pyb up goes on from here, pyb delete removes it", file=sys.stderr)
        return 130
    finally:
        progress.close()
    other = "" if cluster.name == paths.DEFAULT else f" {cluster.name}"
    print(f"\nThe cluster {cluster.name} is up at {server_address.server_of(settings)}. What next:")
    kubectl = "kubectl" if shutil.which("kubectl") else "pyb kubectl"
    print(f"  {kubectl} get nodes\n  pyb status{other}\n  pyb delete{other}", flush=True)
    if not arguments.dashboard:
        return 0
    from pybernetes.cmd import dashboard

    print()
    return dashboard.main(["--kubeconfig", str(cluster.kubeconfig)])
