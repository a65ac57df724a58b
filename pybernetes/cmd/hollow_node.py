"""hollow-node: nodes that only pretend, for trying out and measuring everything but nodes."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path

SUMMARY = "Pretend to be nodes: pods bound to them become ready and obey deletion, and nothing runs"


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
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
    """Pretend until told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    try:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_run(arguments))
    except (OSError, ValueError) as error:
        print(f"hollow-node: {error}", file=sys.stderr)
        return 1


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes import KUBERNETES_VERSION
    from pybernetes.client import kubeconfig
    from pybernetes.tools.local.hollow import hollow_kubelet, stages

    plan = stages.read(arguments.stages) if arguments.stages else None
    names = [f"{arguments.name}-{number}" for number in range(arguments.nodes)]
    ready = asyncio.Event()
    async with kubeconfig.load(arguments.kubeconfig or None).client(user_agent="hollow-node") as client:
        work = asyncio.ensure_future(
            hollow_kubelet.run(
                client,
                names,
                version=KUBERNETES_VERSION,
                plan=plan,
                start_seconds=arguments.start_seconds,
                ready=ready,
            )
        )
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, work.cancel)
        said = asyncio.ensure_future(ready.wait())
        await asyncio.wait([work, said], return_when=asyncio.FIRST_COMPLETED)
        if ready.is_set():
            print(f"hollow-node is {len(names)} nodes, {names[0]} and so on", flush=True)
        said.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
    return 0
