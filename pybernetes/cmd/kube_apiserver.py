"""kube-apiserver: serves the Kubernetes API."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

SUMMARY = "Serve the Kubernetes API from an embedded store or from etcd"


def parser() -> argparse.ArgumentParser:
    """Return the command line, with upstream's names and defaults; parts with many flags add their own."""
    from pybernetes.control_plane.apiserver.aggregation import proxy
    from pybernetes.control_plane.apiserver.assembly import secure_serving
    from pybernetes.control_plane.apiserver.audit import setup as audit
    from pybernetes.control_plane.apiserver.authn import setup as authentication
    from pybernetes.control_plane.apiserver.flowcontrol import priority_level
    from pybernetes.control_plane.apiserver.proxy import kubelets
    from pybernetes.lib import flags

    result = argparse.ArgumentParser(prog="kube-apiserver", description=SUMMARY, allow_abbrev=False)
    flags.add(result.add_argument_group("serving"), secure_serving.FLAGS)
    storage = result.add_argument_group("storage")
    storage.add_argument("--storage-backend", default="", choices=("", "sqlite", "memory", "etcd3"))
    storage.add_argument("--data-dir", default="", help="where the embedded store keeps its data")
    storage.add_argument("--etcd-servers", default="", help="comma-separated addresses; implies etcd3")
    storage.add_argument("--etcd-prefix", default="/registry", help="only /registry is supported")
    storage.add_argument("--etcd-cafile", default="")
    storage.add_argument("--etcd-certfile", default="")
    storage.add_argument("--etcd-keyfile", default="")
    compaction = flags.Flag(
        "etcd-compaction-interval", flags.Seconds(300), "how often history is let go; 0 keeps it"
    )
    flags.add(storage, [compaction])
    flags.add(result.add_argument_group("authentication"), authentication.flags())
    flags.add(result.add_argument_group("audit"), audit.FLAGS)
    flags.add(result.add_argument_group("nodes"), kubelets.FLAGS)
    flags.add(result.add_argument_group("aggregation"), proxy.FLAGS)
    flags.add(result.add_argument_group("flow control"), priority_level.FLAGS)
    gate = result.add_argument_group("authorization")
    gate.add_argument(
        "--authorization-mode",
        default="Node,RBAC",
        help="ordered list of authorizers: AlwaysAllow, AlwaysDeny, Node, RBAC",
    )
    admission = result.add_argument_group("admission")
    for verb, which in (("enable", "that are off"), ("disable", "that are on")):
        admission.add_argument(
            f"--{verb}-admission-plugins",
            action="append",
            default=[],
            metavar="NAMES",
            help=f"{verb} admission plugins {which} by default, separated by commas",
        )
    admission.add_argument("--admission-control-config-file", default="", help="configuration of the plugins")
    for problem in ("not-ready", "unreachable"):
        admission.add_argument(
            f"--default-{problem}-toleration-seconds",
            type=int,
            default=300,
            help=f"how long pods stay on a node that is {problem} unless they say",
        )
    services = result.add_argument_group("services")
    services.add_argument("--service-cluster-ip-range", default="10.0.0.0/24")
    services.add_argument("--service-node-port-range", default="30000-32767")
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    return result


def main(argv: list[str]) -> int:
    """Run the server until it is told to stop."""
    from pybernetes.lib import gc_tuning, logs

    gc_tuning.pause()
    arguments = parser().parse_args(argv)
    logs.set_up(arguments.v)
    try:
        return _run(arguments)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"kube-apiserver: {error}", file=sys.stderr)
        return 1


def _run(arguments: argparse.Namespace) -> int:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(arguments))


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
    from pybernetes.control_plane.apiserver.assembly.setup import settings, store
    from pybernetes.lib import gc_tuning

    server = ApiServer(store(arguments), settings(arguments))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    await server.start()
    gc_tuning.tune()
    print(f"kube-apiserver is serving on https://{arguments.bind_address}:{server.port}", flush=True)
    await stop.wait()
    await server.stop()
    return 0
