"""hollow-node: nodes on which nothing runs, for trying out and measuring everything but nodes."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from pybernetes.cmd._program import run, until_signal

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
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    return result


def main(argv: list[str]) -> int:
    """Be hollow nodes until told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    return run("hollow-node", _run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes import KUBERNETES_VERSION
    from pybernetes.client import kubeconfig
    from pybernetes.tools.local.hollow import hollow_kubelet, stages

    plan = stages.read(arguments.stages) if arguments.stages else None
    names = [f"{arguments.name}-{number}" for number in range(arguments.nodes)]
    ready = asyncio.Event()
    announcing = asyncio.create_task(_announce(ready, names))
    async with kubeconfig.load(arguments.kubeconfig or None).client(user_agent="hollow-node") as client:
        work = hollow_kubelet.run(
            client,
            names,
            version=KUBERNETES_VERSION,
            plan=plan,
            start_seconds=arguments.start_seconds,
            ready=ready,
        )
        try:
            await until_signal(work)
        finally:
            announcing.cancel()
    return 0


async def _announce(ready: asyncio.Event, names: list[str]) -> None:
    await ready.wait()
    print(f"hollow-node is {len(names)} nodes, {names[0]} and so on", flush=True)
