"""kube-dns: answers for the names of services and pods."""

from __future__ import annotations

import argparse

from pybernetes.cmd._program import run, until_signal

SUMMARY = "Answer for the names of services and pods over DNS"


def main(argv: list[str]) -> int:
    """Answer until told to stop."""
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs
    from pybernetes.node.dns import flags

    arguments = flags.parser(SUMMARY).parse_args(argv)
    logs.set_up(arguments.v)
    return run("kube-dns", _serve(arguments), ConfigError)


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.lib.memory import gc_tuning
    from pybernetes.node.dns import flags
    from pybernetes.node.dns.kube_dns import KubeDns

    options = flags.options(arguments)
    async with kubeconfig.load(arguments.kubeconfig or None).client(user_agent="kube-dns") as client:
        kube_dns = KubeDns(client, options)
        await kube_dns.start()
        gc_tuning.tune()
        print(f"kube-dns answers on port {kube_dns.server.port}", flush=True)
        await until_signal(kube_dns.run())
        await kube_dns.stop()
    return 0
