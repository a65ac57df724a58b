"""hollow-node: nodes on which nothing runs, for trying out and measuring everything but nodes."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd._program import run, until_signal

if TYPE_CHECKING:
    from pybernetes.lib.tls.serving_certificates import CABundle, KeyPair

SUMMARY = "Pretend to be nodes: pods bound to them become ready and obey deletion, and nothing runs"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="hollow-node", description=SUMMARY, allow_abbrev=False)
    result.add_argument(
        "--kubeconfig", default="", help="file that says where the API server is and who this is"
    )
    result.add_argument("--nodes", type=int, default=1, help="how many nodes to be")
    result.add_argument("--name", default="hollow", help="what their names begin with")
    result.add_argument("--stages", type=Path, help="file that says what happens to pods, instead of our own")
    result.add_argument(
        "--start-seconds", type=float, default=0.0, help="how long a pod takes to become ready"
    )
    add = result.add_argument_group("kubelets").add_argument
    add(
        "--address",
        default="",
        help="address to serve logs, exec and metrics at; without one nothing is served",
    )
    add(
        "--port",
        type=int,
        default=10250,
        help="port of the first node; the others have those behind it; 0 for any",
    )
    add("--tls-cert-file", default="", metavar="FILE", help="certificate for that address")
    add("--tls-private-key-file", default="", metavar="FILE", help="its key")
    add(
        "--client-ca-file",
        default="",
        metavar="FILE",
        help="callers with a certificate of this authority are known",
    )
    add("--usage", type=Path, help="file that says what pods use, instead of our own")
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    return result


def main(argv: list[str]) -> int:
    """Run hollow nodes until told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    return run("hollow-node", _run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes import KUBERNETES_VERSION
    from pybernetes.client import kubeconfig
    from pybernetes.tools.local.hollow import hollow_kubelet, stages, usage
    from pybernetes.tools.local.hollow.hollow_ports import HollowPorts

    serving = _serving(arguments)
    used = usage.HollowUsage(usage.read(arguments.usage) if arguments.usage else None)
    plan = stages.read(arguments.stages) if arguments.stages else None
    names = [f"{arguments.name}-{number}" for number in range(arguments.nodes)]
    ready = asyncio.Event()
    announcing = asyncio.create_task(_announce(ready, names))
    async with kubeconfig.load(arguments.kubeconfig or None).client(user_agent="hollow-node") as client:
        ports = None
        if serving is not None:
            ports = HollowPorts(client, used, names, *serving)
            await ports.start(arguments.address, arguments.port)
        work = hollow_kubelet.run(
            client,
            names,
            version=KUBERNETES_VERSION,
            plan=plan,
            start_seconds=arguments.start_seconds,
            ready=ready,
            usage=used if ports is not None else None,
            place=ports.place if ports is not None else None,
        )
        try:
            await until_signal(work)
        finally:
            announcing.cancel()
            if ports is not None:
                await ports.stop()
    return 0


def _serving(arguments: argparse.Namespace) -> tuple[KeyPair, CABundle] | None:
    """Return the certificate that kubelets serve with and who vouches for clients; None if they serve nothing; ValueError for what does not fit together."""
    from pybernetes.lib.tls.serving_certificates import CABundle, KeyPair

    files = (arguments.tls_cert_file, arguments.tls_private_key_file, arguments.client_ca_file)
    if not arguments.address:
        if any(files) or arguments.usage:
            raise ValueError(
                "--tls-cert-file, --tls-private-key-file, --client-ca-file and --usage need --address"
            )
        return None
    if not all(files):
        raise ValueError("--address needs --tls-cert-file, --tls-private-key-file and --client-ca-file")
    if arguments.port and not 0 < arguments.port <= 65536 - arguments.nodes:
        raise ValueError(f"--port: {arguments.nodes} nodes have no ports from {arguments.port} on")
    certificate, key, authority = map(Path, files)
    return KeyPair(certificate, key), CABundle(authority)


async def _announce(ready: asyncio.Event, names: list[str]) -> None:
    await ready.wait()
    print(f"hollow-node is {len(names)} nodes, {names[0]} and so on", flush=True)
