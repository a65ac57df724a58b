"""cloud-provider-grpc: the node groups of a local cluster for any cluster-autoscaler, by upstream's external gRPC protocol."""

from __future__ import annotations

import argparse

from pybernetes.cmd._program import run, stop_event

SUMMARY = (
    "Let a cluster-autoscaler drive the node groups of a local cluster (upstream's externalgrpc protocol)"
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="cloud-provider-grpc", description=SUMMARY, allow_abbrev=False)
    add = result.add_argument
    add("--cluster", default="", metavar="NAME", help="name of the cluster")
    add("--address", default="127.0.0.1:8086", help="where to listen (default: 127.0.0.1:8086)")
    add("--key-cert", default="", metavar="FILE", help="key of the server's certificate")
    add("--cert", default="", metavar="FILE", help="the server's certificate")
    add("--cacert", default="", metavar="FILE", help="authority of the certificates that clients need")
    return result


def main(argv: list[str]) -> int:
    """Serve until told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib import logs
    from pybernetes.tools.local.paths import ClusterError

    logs.set_up(0)
    return run("cloud-provider-grpc", _serve(arguments), ClusterError)


async def _serve(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from pybernetes.control_plane.autoscaler.externalgrpc.server import CloudServer
    from pybernetes.tools.local import paths
    from pybernetes.tools.local.nodes.node_group_cloud import NodeGroupCloud

    files = (arguments.key_cert, arguments.cert, arguments.cacert)
    if any(files) != all(files):
        raise ValueError("--key-cert, --cert and --cacert are needed together")
    host = arguments.address.rpartition(":")[0]
    if not any(files) and host not in ("127.0.0.1", "localhost", "[::1]"):
        raise ValueError("--address: without certificates only this machine may connect; give 127.0.0.1:PORT")
    cloud = NodeGroupCloud(paths.find(arguments.cluster))
    server = CloudServer(cloud)
    key, certificate, authority = (Path(name).read_bytes() if name else b"" for name in files)
    port = server.listen(arguments.address, (key, certificate, authority) if key else None)
    await server.start()
    print(f"cloud-provider-grpc serves on port {port}", flush=True)
    await stop_event().wait()
    await server.stop()
    await cloud.close()
    return 0
