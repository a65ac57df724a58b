"""coredns: DNS as clusters of kubeadm run it, told by a Corefile what to do."""

from __future__ import annotations

import argparse
from pathlib import Path

from pybernetes.cmd._program import run, until_signal

SUMMARY = "Answer for the names of services and pods, as a Corefile says"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="coredns", description=SUMMARY, allow_abbrev=False)
    result.add_argument("-conf", type=Path, default=Path("Corefile"), help="the Corefile to load")
    result.add_argument(
        "--kubeconfig", default="", help="how to reach the API server; by default that of the pod"
    )
    return result


def main(argv: list[str]) -> int:
    """Answer until told to stop."""
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs

    arguments = parser().parse_args(argv)
    logs.set_up(0)
    return run("coredns", _serve(arguments), ConfigError)


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.lib import gc_tuning
    from pybernetes.lib.file_follower import FileFollower
    from pybernetes.node.dns import config, corefile
    from pybernetes.node.dns.kube_dns import KubeDns

    options = corefile.options(corefile.parse(arguments.conf.read_text()))
    async with kubeconfig.load(arguments.kubeconfig or None).client(user_agent="coredns") as client:
        kube_dns = KubeDns(client, options)

        async def look() -> None:
            now = corefile.options(corefile.parse(arguments.conf.read_text()))
            kube_dns.forwarder.configure(config.Configuration(now.nameservers, now.stubs))

        follower = FileFollower(arguments.conf, look)
        await kube_dns.start()
        follower.start()
        gc_tuning.tune()
        print(f"coredns answers on port {kube_dns.server.port}", flush=True)
        await until_signal(kube_dns.run())
        await follower.close()
        await kube_dns.stop()
    return 0
