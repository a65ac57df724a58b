"""kube-proxy: makes the addresses of Services reach their pods on a node."""

from __future__ import annotations

import argparse
import logging
import socket
from pathlib import Path

from pybernetes.cmd._program import add_version, run, until_signal

SUMMARY = "Make the addresses of Services reach their pods on this node"


def main(argv: list[str]) -> int:
    """Run kube-proxy until it is told to stop."""
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs
    from pybernetes.lib.processes.commands import CommandError
    from pybernetes.node.proxy import flags

    parser = flags.parser(SUMMARY)
    add_version(parser)
    arguments = parser.parse_args(argv)
    logs.set_up(arguments.v)
    return run("kube-proxy", _run(arguments, parser), ConfigError, CommandError)


async def _run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from pybernetes.lib import logs
    from pybernetes.node.proxy import config, conntrack, flags, proxy_server

    configuration = flags.configuration(arguments)
    verbosity = (configuration["logging"] or {}).get("verbosity") or 0
    if verbosity > arguments.v:
        logs.set_up(verbosity)
    if arguments.write_config_to:
        Path(arguments.write_config_to).write_text(config.to_yaml(configuration))
        return 0
    if arguments.cleanup:
        await proxy_server.cleanup()
        return 0
    if arguments.init_only:
        conntrack.set_limits(configuration["conntrack"])
        return 0
    from pybernetes.api.zpages import flags_of
    from pybernetes.client import kubeconfig

    _set_oom_score(configuration["oomScoreAdj"])
    connection = configuration["clientConnection"]
    access = kubeconfig.load(connection["kubeconfig"] or None)
    if arguments.master:
        access.server = arguments.master
    name = (configuration["hostnameOverride"] or socket.gethostname()).strip().lower()
    async with access.client(
        user_agent="kube-proxy", qps=connection["qps"], burst=connection["burst"]
    ) as client:
        given = flags_of(arguments, parser)
        await until_signal(proxy_server.run(client, configuration, name, flags=given))
    return 0


def _set_oom_score(score: int) -> None:
    """Tell the kernel how readily it may kill this process when memory is short, if that is permitted."""
    try:
        Path("/proc/self/oom_score_adj").write_text(str(score))
    except OSError as error:
        logging.getLogger(__name__).warning("oomScoreAdj %d: %s", score, error)
