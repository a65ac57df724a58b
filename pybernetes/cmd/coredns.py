"""coredns: DNS as clusters of kubeadm run it, told by a Corefile what to do."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
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
    from pybernetes.lib.files.file_follower import FileFollower
    from pybernetes.lib.memory import gc_tuning
    from pybernetes.node.dns import corefile
    from pybernetes.node.dns.name_server import NameServer

    path: Path = arguments.conf
    async with contextlib.AsyncExitStack() as stack:
        client = None
        if any(block.find("kubernetes") for block in corefile.parse(path.read_text())):
            loaded = kubeconfig.load(arguments.kubeconfig or None)
            client = await stack.enter_async_context(loaded.client(user_agent="coredns"))
        server = NameServer(client)
        await server.load(path.read_text())

        async def reload() -> None:
            if server.reload_seconds:
                await server.reload(path.read_text())

        follower = FileFollower(path, reload, server.reload_seconds or 30.0)
        follower.start()
        gc_tuning.tune()
        print(f"coredns answers on port {server.port}", flush=True)
        await until_signal(_forever())
        await follower.close()
        await server.stop()
    return 0


async def _forever() -> None:
    await asyncio.Event().wait()
